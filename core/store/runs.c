/* The profile store: reading runs back. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/store/private.h"

/* The canonical text "M=13 N=40" back into parameters. */
static bool parse_parameters(struct pm_store *store, const char *text,
                             struct pm_parameters *parameters, struct pm_error *err) {
    char *commas = pm_strdup(text);
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
    sqlite3_stmt *s = pm_store_prepare(store, "SELECT parameters, id FROM run", err);
    if (!s)
        return false;
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err)) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        struct pm_parameters of_run;
        ok = parse_parameters(store, text ? text : "", &of_run, err);
        if (ok && pm_store_is_selected(store))
            ok = pm_store_list_selected(store, sqlite3_column_int64(s, 1), &of_run, &found, err);
        else
            *PM_PUSH(&found, rows) = of_run;
    }
    sqlite3_finalize(s);
    if (!ok) {
        free(found.rows);
        return false;
    }
    PM_SORT(found.rows, found.n_rows, compare_parameters);
    *runs = found.rows;
    *n_runs = found.n_rows;
    return true;
}

int64_t pm_store_find_run(struct pm_store *store, const struct pm_parameters *parameters,
                          struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store, "SELECT id FROM run WHERE parameters = ?", err);
    if (!s)
        return -1;
    sqlite3_bind_text(s, 1, pm_store_run_text(store, parameters), -1, free);
    int status = sqlite3_step(s);
    int64_t run = status == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    if (status != SQLITE_ROW && status != SQLITE_DONE) {
        pm_store_fail(store, err);
        run = -1;
    }
    sqlite3_finalize(s);
    return run;
}

/* "64,128" has all of SIZES. */
static bool has_block_sizes(const char *text, const uint64_t *sizes, size_t n_sizes) {
    for (size_t i = 0; i < n_sizes; i++) {
        bool found = false;
        for (const char *p = text; p && *p && !found;
             p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
            found = strtoull(p, NULL, 10) == sizes[i];
        if (!found)
            return false;
    }
    return true;
}

bool pm_store_has_run(struct pm_store *store, const struct pm_parameters *parameters,
                      const char *settings, const uint64_t *block_sizes, size_t n_block_sizes,
                      bool *found, struct pm_error *err) {
    *found = false;
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT block_sizes FROM run WHERE parameters = ? AND settings = ?", err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, pm_store_run_text(store, parameters), -1, free);
    sqlite3_bind_text(s, 2, settings, -1, SQLITE_STATIC);
    int status = sqlite3_step(s);
    bool ok = status == SQLITE_ROW || status == SQLITE_DONE || pm_store_fail(store, err);
    if (status == SQLITE_ROW)
        *found =
            has_block_sizes((const char *)sqlite3_column_text(s, 0), block_sizes, n_block_sizes);
    sqlite3_finalize(s);
    return ok;
}

size_t pm_store_parse_sizes(const char *text, uint64_t **sizes) {
    struct {
        PM_ARRAY(uint64_t, sizes);
    } list = {0};
    for (const char *p = text; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        *PM_PUSH(&list, sizes) = strtoull(p, NULL, 10);
    *sizes = list.sizes;
    return list.n_sizes;
}

bool pm_store_read_edges(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "SELECT counts, inexact FROM edges WHERE run = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    size_t count_bytes = 0, n_routines = 0;
    bool row = sqlite3_step(s) == SQLITE_ROW;
    uint64_t *counts = row ? pm_store_read_compressed(s, 0, &count_bytes) : NULL;
    uint8_t *inexact = row ? pm_store_read_compressed(s, 1, &n_routines) : NULL;
    sqlite3_finalize(s);
    bool ok = counts && inexact && count_bytes % sizeof *counts == 0;
    if (ok) {
        profile->n_edges = count_bytes / sizeof *counts;
        profile->edge_counts = pm_alloc(profile->n_edges, sizeof *profile->edge_counts);
        for (size_t i = 0; i < profile->n_edges; i++)
            profile->edge_counts[i] = (double)counts[i];
        for (size_t i = 0; i < n_routines; i++)
            profile->n_inexact_routines += inexact[i] != 0;
    } else {
        pm_fail(err, "%s: the edge counts of run %lld are damaged: run that size again",
                store->path, (long long)run);
    }
    free(counts);
    free(inexact);
    return ok;
}

struct pm_profile *pm_store_profile(struct pm_store *store, const struct pm_parameters *parameters,
                                    struct pm_error *err) {
    sqlite3_stmt *s =
        pm_store_prepare(store, "SELECT id, block_sizes FROM run WHERE parameters = ?", err);
    if (!s)
        return NULL;
    sqlite3_bind_text(s, 1, pm_store_run_text(store, parameters), -1, free);
    int status = sqlite3_step(s);
    struct pm_profile *profile = NULL;
    int64_t run = 0;
    if (status == SQLITE_ROW) {
        profile = pm_alloc(1, sizeof *profile);
        run = sqlite3_column_int64(s, 0);
        profile->n_block_sizes =
            pm_store_parse_sizes((const char *)sqlite3_column_text(s, 1), &profile->block_sizes);
        profile->parameters = *parameters;
        profile->extrapolation = 1;
    } else if (status != SQLITE_DONE) {
        pm_store_fail(store, err);
    }
    sqlite3_finalize(s);
    if (profile && !(pm_store_read_edges(store, run, profile, err) &&
                     pm_store_cut_off(store, parameters, &profile->cut_off, err) &&
                     pm_store_read_skipped(store, run, profile, err) &&
                     pm_store_read_strides(store, run, &profile->strides, err) &&
                     pm_store_read_sums(store, run, profile, err) &&
                     (pm_store_is_selected(store)
                          ? pm_store_take_selected(store, run, parameters, profile, err)
                          : pm_store_read_dirty(store, run, profile, err)) &&
                     pm_store_keep_matched(store, run, profile, err))) {
        pm_profile_free(profile);
        profile = NULL;
    }
    return profile;
}

bool pm_store_run_facts(struct pm_store *store, const struct pm_parameters *parameters,
                        struct pm_run_facts *facts, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT command, started, wall_seconds, cpu_seconds,"
                                       " exit_status, threads, processes, settings, notes"
                                       " FROM run WHERE parameters = ?",
                                       err);
    if (!s)
        return false;
    sqlite3_bind_text(s, 1, pm_store_run_text(store, parameters), -1, free);
    int status = sqlite3_step(s);
    bool ok = status == SQLITE_ROW;
    if (ok)
        *facts = (struct pm_run_facts){
            .command = pm_store_column_text(s, 0),
            .started_unix = sqlite3_column_double(s, 1),
            .wall_seconds = sqlite3_column_double(s, 2),
            .cpu_seconds = sqlite3_column_double(s, 3),
            .exit_status = sqlite3_column_int(s, 4),
            .n_threads = (uint32_t)sqlite3_column_int64(s, 5),
            .n_processes = (uint32_t)sqlite3_column_int64(s, 6),
            .settings = pm_store_column_text(s, 7),
            .notes = pm_store_column_text(s, 8),
        };
    else if (status == SQLITE_DONE)
        pm_fail(err, "%s: no run of that size", store->path);
    else
        pm_store_fail(store, err);
    sqlite3_finalize(s);
    if (ok && !pm_store_cut_off(store, parameters, &facts->cut_off, err)) {
        pm_run_facts_free(facts);
        return false;
    }
    return ok;
}

void pm_run_facts_free(struct pm_run_facts *facts) {
    free(facts->command);
    free(facts->settings);
    free(facts->notes);
    free(facts->cut_off);
}

bool pm_store_run_bytes(struct pm_store *store, const struct pm_parameters *parameters,
                        double *bytes, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0 && pm_fail(err, "%s: no run of that size", store->path);
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "SELECT (SELECT sum(length(counts) + length(inexact)) FROM edges WHERE run = ?1)"
        " + (SELECT ifnull(sum(length(data) + 16), 0) FROM histogram WHERE run = ?1)",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = sqlite3_step(s) == SQLITE_ROW || pm_store_fail(store, err);
    *bytes = ok ? sqlite3_column_double(s, 0) : 0;
    sqlite3_finalize(s);
    return ok;
}
