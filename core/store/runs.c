/* The profile store: runs, and what is known of each beside its profile. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/store/private.h"

/* ---- looking up ------------------------------------------------------------------------------ */

int64_t pm_store_find_run(struct pm_store *store, const struct pm_parameters *parameters,
                          struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, "SELECT id FROM run WHERE parameters = ?", err);
    bool ok = s != NULL;
    if (ok)
        sqlite3_bind_text(s, 1, pm_store_run_text(store, parameters), -1, free);
    int64_t run = pm_store_next_row(store, s, &ok, err) ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return ok ? run : -1;
}

int64_t pm_store_find_whole_run(struct pm_store *store, const struct pm_parameters *parameters,
                                struct pm_error *err) {
    return pm_store_is_selected(store) ? 0 : pm_store_find_run(store, parameters, err);
}

int64_t pm_store_replace(struct pm_store *store, const struct pm_parameters *parameters,
                         enum pm_table_id first, enum pm_table_id last, struct pm_error *err) {
    int64_t run = pm_store_begin(store, err) ? pm_store_find_run(store, parameters, err) : -1;
    if (run == 0)
        pm_fail(err, "%s: no run of that size", store->path);
    return run > 0 && pm_store_remove_rows(store, first, last, run, err) ? run : 0;
}

/* ROW, with texts that pm_row_free frees; *RUN 0: there is none. */
static bool read_run(struct pm_store *store, const struct pm_parameters *parameters, int64_t *run,
                     struct pm_run_row *row, struct pm_error *err) {
    *row = (struct pm_run_row){0};
    *run = pm_store_find_run(store, parameters, err);
    if (*run <= 0)
        return *run == 0;
    struct pm_store_rows rows = pm_rows_where(store, PM_RUNS, PM_ALL_RUNS, "id = ?2", *run, err);
    const struct pm_run_row *there = pm_rows_next(&rows);
    if (there)
        *row = *there;
    return pm_rows_end(&rows);
}

/* "64,4096" as numbers, which the caller frees; returns how many. */
static size_t parse_sizes(const char *text, uint64_t **sizes) {
    struct {
        PM_ARRAY(uint64_t, sizes);
    } list = {0};
    for (const char *p = text; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        *PM_PUSH(&list, sizes) = strtoull(p, NULL, 10);
    *sizes = list.sizes;
    return list.n_sizes;
}

static char *sizes_text(const uint64_t *sizes, size_t n) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < n; i++)
        pm_append(&text, "%s%llu", i ? "," : "", (unsigned long long)sizes[i]);
    return text;
}

static bool has_size(const uint64_t *sizes, size_t n, uint64_t size) {
    while (n > 0 && sizes[n - 1] != size)
        n--;
    return n > 0;
}

static bool are_settings(const struct pm_run_row *row, const char *settings) {
    return row->settings && strcmp(row->settings, settings) == 0;
}

bool pm_store_has_run(struct pm_store *store, const struct pm_parameters *parameters,
                      const char *settings, const uint64_t *block_sizes, size_t n_block_sizes,
                      bool *found, struct pm_error *err) {
    struct pm_run_row row;
    int64_t run;
    uint64_t *sizes;
    bool ok = read_run(store, parameters, &run, &row, err);
    size_t n = parse_sizes(row.block_sizes, &sizes);
    *found = are_settings(&row, settings);
    for (size_t i = 0; i < n_block_sizes && *found; i++)
        *found = has_size(sizes, n, block_sizes[i]);
    free(sizes);
    pm_row_free(PM_RUNS, &row);
    return ok;
}

bool pm_store_block_sizes(struct pm_store *store, const struct pm_parameters *parameters,
                          const char *settings, struct pm_run_block_sizes *sizes,
                          struct pm_error *err) {
    struct pm_run_row row;
    int64_t run;
    uint64_t *all, *merged;
    *sizes = (struct pm_run_block_sizes){0};
    bool ok = read_run(store, parameters, &run, &row, err);
    size_t n = parse_sizes(row.block_sizes, &all), n_merged = parse_sizes(row.merged, &merged);
    for (size_t i = 0; i < n && are_settings(&row, settings); i++)
        *PM_PUSH(sizes, list) =
            (struct pm_run_block_size){all[i], has_size(merged, n_merged, all[i])};
    free(all);
    free(merged);
    pm_row_free(PM_RUNS, &row);
    return ok;
}

/* The canonical text "M=13 N=40" back into parameters. */
static bool parse_parameters(struct pm_store *store, const char *text,
                             struct pm_parameters *parameters, struct pm_error *err) {
    char *commas = pm_strdup(text ? text : "");
    for (char *c = commas; *c; c++)
        if (*c == ' ')
            *c = ',';
    *parameters = (struct pm_parameters){0};
    bool ok = *commas == '\0' || pm_parameters_parse(commas, parameters, err);
    free(commas);
    return ok || pm_fail_in(err, "%s", store->path);
}

static int compare_parameters(const void *a, const void *b) {
    const struct pm_parameters *x = a, *y = b;
    for (size_t i = 0; i < x->n && i < y->n; i++)
        if (x->values[i] != y->values[i])
            return x->values[i] < y->values[i] ? -1 : 1;
    return 0;
}

bool pm_store_runs(struct pm_store *store, struct pm_parameters **runs, size_t *n_runs,
                   struct pm_error *err) {
    struct pm_run_list found = {0};
    struct pm_store_rows rows = pm_rows_of(store, PM_RUNS, PM_ALL_RUNS, err);
    const struct pm_run_row *row;
    while ((row = pm_rows_next(&rows))) {
        struct pm_parameters of_run;
        rows.ok = parse_parameters(store, row->parameters, &of_run, err);
        if (rows.ok && pm_store_is_selected(store))
            rows.ok = pm_store_list_selected(store, (int64_t)row->id, &of_run, &found, err);
        else
            *PM_PUSH(&found, rows) = of_run;
        pm_row_free(PM_RUNS, row);
    }
    if (!pm_rows_end(&rows)) {
        free(found.rows);
        return false;
    }
    PM_SORT(found.rows, found.n_rows, compare_parameters);
    *runs = found.rows;
    *n_runs = found.n_rows;
    return true;
}

/* ---- facts ----------------------------------------------------------------------------------- */

bool pm_store_run_facts(struct pm_store *store, const struct pm_parameters *parameters,
                        struct pm_run_facts *facts, struct pm_error *err) {
    struct pm_run_row row;
    int64_t run;
    if (!read_run(store, parameters, &run, &row, err))
        return false;
    if (run == 0)
        return pm_fail(err, "%s: no run of that size", store->path);
    *facts = (struct pm_run_facts){
        .command = row.command,
        .started_unix = row.started,
        .wall_seconds = row.wall_seconds,
        .cpu_seconds = row.cpu_seconds,
        .exit_status = row.exit_status,
        .n_threads = row.threads,
        .n_processes = row.processes,
        .settings = row.settings,
        .notes = row.notes,
        .truncated = row.truncated,
    };
    free(row.parameters);
    free(row.block_sizes);
    free(row.merged);
    return true;
}

void pm_run_facts_free(struct pm_run_facts *facts) {
    free(facts->command);
    free(facts->settings);
    free(facts->notes);
    free(facts->truncated);
}

bool pm_store_truncation(struct pm_store *store, const struct pm_parameters *parameters, char **how,
                         struct pm_error *err) {
    struct pm_run_row row;
    int64_t run;
    bool ok = read_run(store, parameters, &run, &row, err);
    *how = row.truncated;
    row.truncated = NULL;
    pm_row_free(PM_RUNS, &row);
    return ok;
}

bool pm_store_run_bytes(struct pm_store *store, const struct pm_parameters *parameters,
                        double *bytes, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0 && pm_fail(err, "%s: no run of that size", store->path);
    return pm_store_number(
        store,
        "SELECT (SELECT sum(length(counts) + length(inexact)) FROM edges WHERE run = ?1)"
        " + (SELECT ifnull(sum(length(data) + 16), 0) FROM histogram WHERE run = ?1)",
        run, bytes, err);
}

/* ---- profiles -------------------------------------------------------------------------------- */

struct pm_profile *pm_store_profile(struct pm_store *store, const struct pm_parameters *parameters,
                                    struct pm_error *err) {
    struct pm_run_row row;
    int64_t run;
    if (!read_run(store, parameters, &run, &row, err) || run == 0)
        return NULL;
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->n_block_sizes = parse_sizes(row.block_sizes, &profile->block_sizes);
    profile->parameters = *parameters;
    profile->extrapolation = 1;
    profile->truncated = row.truncated;
    row.truncated = NULL;
    pm_row_free(PM_RUNS, &row);
    if (pm_store_read_profile(store, run, profile, err) &&
        pm_store_read_sums(store, run, profile, err) &&
        (pm_store_is_selected(store) ? pm_store_take_selected(store, run, parameters, profile, err)
                                     : pm_store_read_parts(store, run, profile, err)) &&
        pm_store_keep_matched(store, run, profile, err))
        return profile;
    pm_profile_free(profile);
    return NULL;
}

/* ---- putting in ------------------------------------------------------------------------------ */

static bool put_run(struct pm_store *store, const struct pm_profile *profile,
                    const struct pm_run_facts *facts, int64_t *run, struct pm_error *err) {
    struct pm_run_row row = {
        .parameters = pm_parameters_text(&profile->parameters),
        .command = facts->command,
        .started = facts->started_unix,
        .wall_seconds = facts->wall_seconds,
        .cpu_seconds = facts->cpu_seconds,
        .exit_status = facts->exit_status,
        .threads = facts->n_threads,
        .processes = facts->n_processes,
        .block_sizes = sizes_text(profile->block_sizes, profile->n_block_sizes),
        .merged = sizes_text(facts->merged, facts->n_merged),
        .settings = facts->settings,
        .notes = facts->notes,
        .truncated = facts->truncated,
    };
    bool ok = pm_store_put_rows(store, PM_RUNS, PM_ALL_RUNS, &row, 1, err);
    *run = sqlite3_last_insert_rowid(store->db);
    free(row.parameters);
    free(row.block_sizes);
    free(row.merged);
    return ok;
}

bool pm_store_put_run(struct pm_store *store, const struct pm_profile *profile,
                      const struct pm_streams *streams, const struct pm_run_facts *facts,
                      const bool *inexact_routines, size_t n_routines, struct pm_error *err) {
    int64_t run = 0, old = pm_store_begin(store, err)
                               ? pm_store_find_run(store, &profile->parameters, err)
                               : -1;
    char *remove = pm_sprintf("DELETE FROM run WHERE id = %lld", (long long)old);
    pm_store_forget_roles(store);
    bool ok =
        old >= 0 && pm_store_run_sql(store, remove, err) &&
        put_run(store, profile, facts, &run, err) &&
        pm_store_put_profile(store, run, profile, streams, inexact_routines, n_routines, err) &&
        (!facts->differences || pm_store_put_differences(store, run, facts->differences, err)) &&
        pm_store_put_histograms(store, run, profile, streams, err);
    free(remove);
    return pm_store_end(store, ok, err);
}
