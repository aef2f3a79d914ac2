/* The profile store: runs of several stores in one.

   Rows of runs are copied table by table, as tables.c declares them.  Numbers that are a store's
   own get new ones on the way: runs, and what columns refer to in other tables. */
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

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* Runs that go: of a size of which the other store has a newer one.  Runs that come get numbers
   behind those that are there. */
static bool number_runs(struct merge *merge) {
    char *sql = pm_sprintf(
        "DELETE FROM temp.renumbered; DELETE FROM temp.replaced_run;"
        "INSERT INTO temp.replaced_run SELECT a.id FROM main.run AS a JOIN other.run AS b"
        " ON a.parameters = b.parameters WHERE b.started > a.started;"
        "INSERT INTO temp.renumbered SELECT %d, b.id, (SELECT ifnull(max(id), 0) FROM main.run)"
        " + row_number() OVER (ORDER BY b.id) FROM other.run AS b LEFT JOIN main.run AS a"
        " ON a.parameters = b.parameters WHERE a.id IS NULL OR b.started > a.started;",
        (int)PM_RUNS);
    bool ok = pm_store_run_sql(merge->to, sql, merge->err);
    free(sql);
    return ok;
}

static bool number_paths(struct merge *merge) {
    struct pm_call_paths paths;
    if (!pm_store_call_paths(merge->other, &paths, merge->err))
        return false;
    uint32_t *numbers = pm_store_put_call_paths(merge->to, merge->structure, &paths, merge->err);
    sqlite3_stmt *s =
        numbers ? pm_store_prepare(merge->to, "INSERT INTO temp.renumbered VALUES (?, ?, ?)",
                                   merge->err)
                : NULL;
    bool ok = s != NULL;
    for (size_t path = 0; ok && (path == 0 || path < paths.n_sites); path++) {
        sqlite3_bind_int64(s, 1, PM_CALL_PATHS);
        sqlite3_bind_int64(s, 2, (int64_t)path);
        sqlite3_bind_int64(s, 3, path ? numbers[path] : PM_NO_PATH);
        ok = pm_store_step(merge->to, s, merge->err);
    }
    sqlite3_finalize(s);
    free(numbers);
    pm_call_paths_free(&paths);
    return ok;
}

static bool number_kinds(struct merge *merge) {
    char *sql = pm_sprintf(
        "CREATE TEMP TABLE other_kind AS SELECT k.id AS old, b.new AS begin, e.new AS end"
        " FROM other.interval_kind AS k"
        " JOIN temp.renumbered AS b ON b.of = %d AND b.old = k.begin"
        " JOIN temp.renumbered AS e ON e.of = %d AND e.old = k.end;"
        "INSERT INTO main.interval_kind (begin, end) SELECT begin, end FROM temp.other_kind"
        " EXCEPT SELECT begin, end FROM main.interval_kind;"
        "INSERT INTO temp.renumbered SELECT %d, o.old, k.id FROM temp.other_kind AS o"
        " JOIN main.interval_kind AS k ON k.begin = o.begin AND k.end = o.end;"
        "DROP TABLE temp.other_kind;",
        (int)PM_CALL_PATHS, (int)PM_CALL_PATHS, (int)PM_INTERVAL_KINDS);
    bool ok = pm_store_run_sql(merge->to, sql, merge->err);
    free(sql);
    return ok;
}

/* With the runs that go all that is of them goes. */
static bool copy_runs(struct merge *merge) {
    bool ok = pm_store_run_sql(
        merge->to, "DELETE FROM main.run WHERE id IN (SELECT id FROM temp.replaced_run)",
        merge->err);
    for (size_t i = PM_RUNS; ok && i < PM_N_TABLES; i++)
        ok = pm_store_copy_rows(merge->to, (enum pm_table_id)i, merge->err);
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
    double number;
    return pm_store_number(merge->to, sql, 0, &number, NULL) ? (int64_t)number : 0;
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
    int64_t n_there = number_of(merge, "SELECT count(*) FROM main.run AS a JOIN other.run AS b"
                                       " ON a.parameters = b.parameters"
                                       " WHERE a.started = b.started"),
            n_older = number_of(merge, "SELECT count(*) FROM main.run AS a JOIN other.run AS b"
                                       " ON a.parameters = b.parameters"
                                       " WHERE a.started > b.started");
    bool ok = pm_store_begin(merge->to, merge->err) && check_settings(merge) &&
              number_runs(merge) && number_paths(merge) && number_kinds(merge) && copy_runs(merge);
    ok = pm_store_end(merge->to, ok, merge->err);
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
    bool ok = merge->to && pm_store_run_sql(merge->to,
                                            "CREATE TEMP TABLE replaced_run (id INTEGER);"
                                            "CREATE TEMP TABLE renumbered (of INTEGER, old INTEGER,"
                                            " new INTEGER, PRIMARY KEY (of, old)) WITHOUT ROWID;",
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
