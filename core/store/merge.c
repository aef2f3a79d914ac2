/* The profile store: runs of several stores in one.

   What belongs to a run is found by a rule: every table with a column `run`.  Numbers that are a
   store's own get new ones: runs, and what such rows name in the tables of call paths and kinds of
   intervals. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/store/private.h"

struct merge {
    struct pm_store *to;
    const char *from; /* path of the store that is attached as `other` */
    struct pm_store *other;
    struct pm_structure *structure; /* of it */
    void (*say)(void *context, const char *sentence);
    void *context;
    struct pm_error *err;
};

/* ---- rows by rule ---------------------------------------------------------------------------- */

struct table {
    char *name, *sql;
};
struct tables {
    PM_ARRAY(struct table, list);
};

static void free_tables(struct tables *tables) {
    for (size_t i = 0; i < tables->n_list; i++) {
        free(tables->list[i].name);
        free(tables->list[i].sql);
    }
    free(tables->list);
}

/* One statement, whatever stands behind it in a damaged store. */
static bool run_statement(struct merge *merge, const char *sql) {
    sqlite3_stmt *s = sql ? pm_store_prepare(merge->to, sql, merge->err) : NULL;
    bool ok = s && pm_store_step(merge->to, s, merge->err);
    sqlite3_finalize(s);
    return ok;
}

/* Names that go into statements as they are. */
static bool is_plain_name(const char *name) {
    return name && *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789")];
}

/* Tables of SCHEMA, `main` or `other`, that have a column `run`. */
static bool find_tables(struct merge *merge, const char *schema, struct tables *tables) {
    char *sql = pm_sprintf("SELECT m.name, m.sql FROM %s.sqlite_master AS m WHERE m.type = 'table'"
                           " AND EXISTS (SELECT 1 FROM pragma_table_info(m.name, '%s')"
                           " WHERE name = 'run') ORDER BY m.name",
                           schema, schema);
    sqlite3_stmt *s = pm_store_prepare(merge->to, sql, merge->err);
    bool ok = s != NULL;
    while (ok && pm_store_next_row(merge->to, s, &ok, merge->err)) {
        struct table *table = PM_PUSH(tables, list);
        table->name = pm_store_column_text(s, 0);
        table->sql = pm_store_column_text(s, 1);
        ok = (is_plain_name(table->name) && table->sql) ||
             pm_fail(merge->err, "%s: the store is damaged: it has a table without a name",
                     merge->from);
    }
    sqlite3_finalize(s);
    free(sql);
    return ok;
}

/* The columns of TABLE in SCHEMA, with commas between; numbers of other tables as what they are in
   this store, if MAPPED.  NULL after an error. */
static char *column_list(struct merge *merge, const char *schema, const char *table, bool mapped) {
    static const char *const maps[][3] = {
        {"run", NULL, "merged_run"},
        {"path", "INTEGER", "merged_path"},
        {"kind", "INTEGER", "merged_kind"},
    };
    char *sql = pm_sprintf("SELECT name, type FROM pragma_table_info('%s', '%s')", table, schema);
    sqlite3_stmt *s = pm_store_prepare(merge->to, sql, merge->err);
    bool ok = s != NULL;
    char *list = pm_strdup("");
    while (ok && pm_store_next_row(merge->to, s, &ok, merge->err)) {
        const char *name = (const char *)sqlite3_column_text(s, 0),
                   *type = (const char *)sqlite3_column_text(s, 1), *map = NULL;
        for (size_t i = 0; mapped && i < sizeof maps / sizeof *maps; i++)
            if (strcmp(name, maps[i][0]) == 0 && (!maps[i][1] || strcmp(type, maps[i][1]) == 0))
                map = maps[i][2];
        if (map)
            pm_append(&list, "%s(SELECT new FROM temp.%s WHERE old = t.\"%s\")", *list ? ", " : "",
                      map, name);
        else
            pm_append(&list, "%s%s\"%s\"", *list ? ", " : "", mapped ? "t." : "", name);
    }
    sqlite3_finalize(s);
    free(sql);
    if (ok)
        return list;
    free(list);
    return NULL;
}

static bool has_same_columns(struct merge *merge, const char *table) {
    char *here = column_list(merge, "main", table, false),
         *there = here ? column_list(merge, "other", table, false) : NULL;
    bool ok = there && (strcmp(here, there) == 0 ||
                        pm_fail(merge->err,
                                "%s: its table %s is of another version of pmodel than that of %s: "
                                "measure again with one version",
                                merge->from, table, merge->to->path));
    free(here);
    free(there);
    return ok;
}

/* Makes the table and its indices as the other store has them. */
static bool make_table(struct merge *merge, const struct table *table) {
    bool has, ok = pm_store_has_table(merge->to, table->name, &has, merge->err);
    if (!ok || has)
        return ok;
    ok = run_statement(merge, table->sql);
    sqlite3_stmt *s = pm_store_prepare(merge->to,
                                       "SELECT sql FROM other.sqlite_master WHERE type = 'index'"
                                       " AND tbl_name = ? AND sql IS NOT NULL",
                                       merge->err);
    ok = ok && s;
    if (s)
        sqlite3_bind_text(s, 1, table->name, -1, SQLITE_STATIC);
    while (ok && pm_store_next_row(merge->to, s, &ok, merge->err))
        ok = run_statement(merge, (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return ok;
}

static bool copy_table(struct merge *merge, const struct table *table) {
    if (!make_table(merge, table) || !has_same_columns(merge, table->name))
        return false;
    char *columns = column_list(merge, "other", table->name, false),
         *values = columns ? column_list(merge, "other", table->name, true) : NULL;
    char *sql = values ? pm_sprintf("INSERT INTO main.\"%s\" (%s) SELECT %s FROM other.\"%s\" AS t"
                                    " WHERE t.run IN (SELECT old FROM temp.merged_run)",
                                    table->name, columns, values, table->name)
                       : NULL;
    bool ok = sql && pm_store_run_sql(merge->to, sql, merge->err);
    free(sql);
    free(values);
    free(columns);
    return ok;
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* Runs that go: of a size of which the other store has a newer one.  Runs that come get numbers
   behind those that are there. */
static bool number_runs(struct merge *merge) {
    return pm_store_run_sql(
        merge->to,
        "DELETE FROM temp.merged_run; DELETE FROM temp.replaced_run;"
        "INSERT INTO temp.replaced_run SELECT a.id FROM main.run AS a JOIN other.run AS b"
        " ON a.parameters = b.parameters WHERE b.started > a.started;"
        "INSERT INTO temp.merged_run SELECT b.id, 0 FROM other.run AS b LEFT JOIN main.run AS a"
        " ON a.parameters = b.parameters WHERE a.id IS NULL OR b.started > a.started"
        " ORDER BY b.id;"
        "UPDATE temp.merged_run SET new = rowid + (SELECT ifnull(max(id), 0) FROM main.run);",
        merge->err);
}

static bool number_paths(struct merge *merge) {
    struct pm_call_paths paths;
    if (!pm_store_call_paths(merge->other, &paths, merge->err))
        return false;
    uint32_t *numbers = pm_store_put_call_paths(merge->to, merge->structure, &paths, merge->err);
    sqlite3_stmt *s =
        numbers
            ? pm_store_prepare(merge->to, "INSERT INTO temp.merged_path VALUES (?, ?)", merge->err)
            : NULL;
    bool ok = s != NULL;
    for (size_t path = 0; ok && path < paths.n_sites; path++) {
        sqlite3_bind_int64(s, 1, (int64_t)path);
        sqlite3_bind_int64(s, 2, path ? numbers[path] : 0);
        ok = pm_store_step(merge->to, s, merge->err);
    }
    sqlite3_finalize(s);
    free(numbers);
    pm_call_paths_free(&paths);
    return ok;
}

static bool number_kinds(struct merge *merge) {
    return pm_store_run_sql(
        merge->to,
        "CREATE TEMP TABLE other_kind AS SELECT k.id AS old, b.new AS begin, e.new AS end"
        " FROM other.interval_kind AS k JOIN temp.merged_path AS b ON b.old = k.begin"
        " JOIN temp.merged_path AS e ON e.old = k.end;"
        "INSERT INTO main.interval_kind (begin, end) SELECT begin, end FROM temp.other_kind"
        " EXCEPT SELECT begin, end FROM main.interval_kind;"
        "INSERT INTO temp.merged_kind SELECT o.old, k.id FROM temp.other_kind AS o"
        " JOIN main.interval_kind AS k ON k.begin = o.begin AND k.end = o.end;"
        "DROP TABLE temp.other_kind;",
        merge->err);
}

/* Tables of the store that rows of runs point into; few stores have them. */
static bool number_all(struct merge *merge) {
    static const char *const names[] = {"call_path", "interval_kind"};
    bool (*const number[])(struct merge *) = {number_paths, number_kinds};
    bool ok =
        number_runs(merge) &&
        pm_store_run_sql(merge->to, "DELETE FROM temp.merged_path; DELETE FROM temp.merged_kind;",
                         merge->err);
    for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++) {
        struct table table = {.name = pm_strdup(names[i])};
        sqlite3_stmt *s = pm_store_prepare(
            merge->to, "SELECT sql FROM other.sqlite_master WHERE name = ?", merge->err);
        ok = s != NULL;
        if (s)
            sqlite3_bind_text(s, 1, names[i], -1, SQLITE_STATIC);
        if (ok && pm_store_next_row(merge->to, s, &ok, merge->err))
            table.sql = pm_store_column_text(s, 0);
        sqlite3_finalize(s);
        ok = ok && (!table.sql || (make_table(merge, &table) && has_same_columns(merge, names[i]) &&
                                   number[i](merge)));
        free(table.name);
        free(table.sql);
    }
    return ok;
}

/* ---- what must be equal ---------------------------------------------------------------------- */

/* A word without the folders in it: other places have other folders. */
static void append_word(char **text, const char *word, size_t length) {
    const char *slash = memrchr(word, '/', length);
    size_t skipped = slash && slash + 1 < word + length ? (size_t)(slash + 1 - word) : 0;
    pm_append(text, "%.*s", (int)(length - skipped), word + skipped);
}

/* The settings of a run as they are the same in all places; owned by the caller. */
static char *portable_settings(const char *settings) {
    char *text = pm_strdup("");
    while (*settings) {
        size_t word = strcspn(settings, " \n'=:");
        append_word(&text, settings, word);
        settings += word;
        if (*settings)
            pm_append(&text, "%c", *settings++);
    }
    return text;
}

/* The first line of TEXT that is not in OTHER, at *LENGTH; NULL: all are. */
static const char *differing_line(const char *text, const char *other, size_t *length) {
    for (; *text; text += *length + (text[*length] == '\n')) {
        *length = strcspn(text, "\n");
        const char *line = other;
        while (*line && (strcspn(line, "\n") != *length || strncmp(line, text, *length) != 0)) {
            line += strcspn(line, "\n");
            line += *line == '\n';
        }
        if (!*line)
            return text;
    }
    return NULL;
}

/* Names the first setting that differs. */
static bool fail_differing(struct merge *merge, const char *size, const char *own,
                           const char *other) {
    size_t n = 0, m = 0;
    const char *before = differing_line(own, other, &n), *now = differing_line(other, own, &m);
    char *run = *size ? pm_sprintf("its run of %s", size) : pm_strdup("its run");
    if (now && before && strcspn(now, " ") == strcspn(before, " ") &&
        strncmp(now, before, strcspn(now, " ")) == 0)
        pm_fail(merge->err, "%s: %s was measured with `%.*s`, those before with `%.*s`",
                merge->from, run, (int)m, now, (int)n, before);
    else
        pm_fail(merge->err, "%s: %s was measured with%s `%.*s`, those before were%s", merge->from,
                run, now ? "" : "out", now ? (int)m : (int)n, now ? now : before,
                now ? " not" : "");
    free(run);
    return false;
}

/* Each of the other store's runs has settings that a run here has, if there are any. */
static bool check_settings(struct merge *merge) {
    struct {
        PM_ARRAY(char *, texts);
    } here = {0};
    struct pm_store *to = merge->to;
    sqlite3_stmt *s =
        pm_store_prepare(to, "SELECT DISTINCT settings FROM main.run ORDER BY id", merge->err);
    bool ok = s != NULL;
    while (ok && pm_store_next_row(to, s, &ok, merge->err)) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        *PM_PUSH(&here, texts) = portable_settings(text ? text : "");
    }
    sqlite3_finalize(s);
    s = ok ? pm_store_prepare(to, "SELECT settings, parameters FROM other.run ORDER BY id",
                              merge->err)
           : NULL;
    ok = s != NULL;
    while (ok && here.n_texts && pm_store_next_row(to, s, &ok, merge->err)) {
        const char *text = (const char *)sqlite3_column_text(s, 0),
                   *size = (const char *)sqlite3_column_text(s, 1);
        char *other = portable_settings(text ? text : "");
        bool found = false;
        for (size_t i = 0; !found && i < here.n_texts; i++)
            found = strcmp(here.texts[i], other) == 0;
        if (!found)
            ok = fail_differing(merge, size ? size : "", here.texts[0], other);
        free(other);
    }
    sqlite3_finalize(s);
    for (size_t i = 0; i < here.n_texts; i++)
        free(here.texts[i]);
    free(here.texts);
    return ok;
}

/* ---- one store --------------------------------------------------------------------------------
 */

static int64_t number_of(struct merge *merge, const char *sql) {
    sqlite3_stmt *s = pm_store_prepare(merge->to, sql, NULL);
    int64_t value = s && sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return value;
}

static bool remove_replaced(struct merge *merge) {
    struct tables tables = {0};
    bool ok = find_tables(merge, "main", &tables);
    for (size_t i = 0; ok && i < tables.n_list; i++) {
        char *sql = pm_sprintf("DELETE FROM main.\"%s\" WHERE run IN"
                               " (SELECT id FROM temp.replaced_run)",
                               tables.list[i].name);
        ok = pm_store_run_sql(merge->to, sql, merge->err);
        free(sql);
    }
    free_tables(&tables);
    return ok && pm_store_run_sql(merge->to,
                                  "DELETE FROM main.run WHERE id IN"
                                  " (SELECT id FROM temp.replaced_run)",
                                  merge->err);
}

/* The first column of the table is `id`. */
static bool copy_run_rows(struct merge *merge) {
    static const char id[] = "\"id\"";
    char *columns =
        has_same_columns(merge, "run") ? column_list(merge, "main", "run", false) : NULL;
    bool ok = columns && (strncmp(columns, id, strlen(id)) == 0 ||
                          pm_fail(merge->err, "%s: the store is damaged", merge->from));
    char *sql = ok ? pm_sprintf("INSERT INTO main.run (%s) SELECT m.new%s FROM other.run"
                                " JOIN temp.merged_run AS m ON m.old = id",
                                columns, columns + strlen(id))
                   : NULL;
    ok = ok && pm_store_run_sql(merge->to, sql, merge->err);
    free(sql);
    free(columns);
    return ok;
}

static bool copy_runs(struct merge *merge) {
    struct tables tables = {0};
    bool ok = copy_run_rows(merge) && find_tables(merge, "other", &tables);
    for (size_t i = 0; ok && i < tables.n_list; i++)
        ok = copy_table(merge, &tables.list[i]);
    free_tables(&tables);
    return ok;
}

/* A store with runs that were cut off is of a later version. */
static bool keep_version(struct merge *merge) {
    int64_t here = number_of(merge, "PRAGMA main.user_version"),
            there = number_of(merge, "PRAGMA other.user_version");
    char *sql = pm_sprintf("PRAGMA main.user_version = %lld", (long long)there);
    bool ok = there <= here || pm_store_run_sql(merge->to, sql, merge->err);
    free(sql);
    return ok;
}

/* "b.pmdb: 5 runs, 1 in place of an older one of its size, 2 that were there already". */
static void say_merged(struct merge *merge, int64_t n_there, int64_t n_older) {
    int64_t n = number_of(merge, "SELECT count(*) FROM other.run"),
            replaced = number_of(merge, "SELECT count(*) FROM temp.replaced_run");
    char *sentence = pm_sprintf("%s: %lld run%s", merge->from, (long long)n, n == 1 ? "" : "s");
    if (replaced)
        pm_append(&sentence, ", %lld in place of older ones of the same size", (long long)replaced);
    if (n_older)
        pm_append(&sentence, ", %lld left out for newer ones of the same size", (long long)n_older);
    if (n_there)
        pm_append(&sentence, ", %lld there already", (long long)n_there);
    merge->say(merge->context, sentence);
    free(sentence);
}

static bool attach(struct merge *merge) {
    sqlite3_stmt *s = pm_store_prepare(merge->to, "ATTACH DATABASE ? AS other", merge->err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, merge->from, -1, SQLITE_STATIC);
    bool ok = pm_store_step(merge->to, s, merge->err);
    sqlite3_finalize(s);
    return ok;
}

/* What there is of the program goes along; that of another one is refused. */
static bool put_structure(struct merge *merge) {
    merge->structure = pm_store_structure(merge->other, merge->err);
    return merge->structure && (pm_store_put_structure(merge->to, merge->structure, merge->err) ||
                                pm_fail_in(merge->err, "%s", merge->from));
}

static bool merge_one(struct merge *merge) {
    if (!put_structure(merge) || !attach(merge))
        return false;
    bool ok = number_of(merge, "PRAGMA other.user_version") >= PM_STORE_VERSION ||
              pm_fail(merge->err,
                      "%s: of an earlier version of pmodel: `pmodel run` of one of its sizes makes "
                      "it one of this",
                      merge->from);
    int64_t n_there = number_of(merge, "SELECT count(*) FROM main.run AS a JOIN other.run AS b"
                                       " ON a.parameters = b.parameters"
                                       " WHERE a.started = b.started"),
            n_older = number_of(merge, "SELECT count(*) FROM main.run AS a JOIN other.run AS b"
                                       " ON a.parameters = b.parameters"
                                       " WHERE a.started > b.started");
    if (ok && (ok = pm_store_begin(merge->to, merge->err))) {
        ok = check_settings(merge) && number_all(merge) && remove_replaced(merge) &&
             copy_runs(merge) && keep_version(merge);
        ok = pm_store_end(merge->to, ok, merge->err);
    }
    if (ok)
        say_merged(merge, n_there, n_older);
    sqlite3_exec(merge->to->db, "DETACH DATABASE other", NULL, NULL, NULL);
    return ok;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

/* PATH is where it is made; errors name the store as it will be called. */
static bool merge_all(struct merge *merge, const char *path, const char *name, char *const *from,
                      size_t n_from) {
    merge->to = pm_store_open(path, PM_STORE_CREATE, merge->err);
    if (merge->to) {
        free(merge->to->path);
        merge->to->path = pm_strdup(name);
    }
    bool ok =
        merge->to && pm_store_run_sql(merge->to,
                                      "CREATE TEMP TABLE merged_run (old INTEGER, new INTEGER);"
                                      "CREATE TEMP TABLE replaced_run (id INTEGER);"
                                      "CREATE TEMP TABLE merged_path (old INTEGER, new INTEGER);"
                                      "CREATE TEMP TABLE merged_kind (old INTEGER, new INTEGER);",
                                      merge->err);
    for (size_t i = 0; ok && i < n_from; i++) {
        merge->from = from[i];
        merge->other = pm_store_open(from[i], PM_STORE_READ, merge->err);
        ok = merge->other && merge_one(merge);
        pm_structure_free(merge->structure);
        merge->structure = NULL;
        pm_store_close(merge->other);
    }
    pm_store_close(merge->to);
    return ok;
}

/* The store as it is, before anything is added: all or nothing. */
static bool copy_store(const char *from, const char *to, struct pm_error *err) {
    struct pm_store *store = pm_store_open(from, PM_STORE_CREATE, err);
    sqlite3_stmt *s = store ? pm_store_prepare(store, "VACUUM INTO ?", err) : NULL;
    if (s)
        sqlite3_bind_text(s, 1, to, -1, SQLITE_STATIC);
    bool ok = s && pm_store_step(store, s, err);
    sqlite3_finalize(s);
    pm_store_close(store);
    return ok;
}

bool pm_store_merge(const char *to, char *const *from, size_t n_from,
                    void (*say)(void *context, const char *sentence), void *context,
                    struct pm_error *err) {
    struct merge merge = {.say = say, .context = context, .err = err};
    char *partial = pm_sprintf("%s.part", to);
    unlink(partial);
    bool ok = (access(to, F_OK) != 0 || copy_store(to, partial, err)) &&
              merge_all(&merge, partial, to, from, n_from);
    if (ok && rename(partial, to) != 0)
        ok = pm_fail_errno(err, "%s: cannot be written", to);
    if (!ok)
        unlink(partial);
    free(partial);
    return ok;
}
