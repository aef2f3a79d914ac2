/* The profile store: what is kept with a run beside its profile, as plain tables: measured times of
   scopes and files, lower bounds, profiles of basic blocks, formulas of parameters. */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/store/private.h"

/* ---- times ----------------------------------------------------------------------------------- */

bool pm_store_put_times(struct pm_store *store, const struct pm_parameters *parameters,
                        const struct pm_times *times, struct pm_error *err) {
    int64_t run = pm_store_replace(store, parameters, PM_TIMINGS, PM_RANK_SPANS, err);
    return pm_store_end(
        store,
        run && pm_store_put_rows(store, PM_TIMINGS, run, times, 1, err) &&
            pm_store_put_rows(store, PM_SCOPE_TIMES, run, times->scopes, times->n_scopes, err),
        err);
}

struct pm_times *pm_store_times(struct pm_store *store, const struct pm_parameters *parameters,
                                struct pm_error *err) {
    int64_t run = pm_store_find_whole_run(store, parameters, err);
    if (run <= 0)
        return NULL;
    bool found;
    struct pm_times *times = pm_alloc(1, sizeof *times);
    if (pm_store_read_row(store, PM_TIMINGS, run, times, &found, err) && found &&
        PM_READ_ROWS(store, PM_SCOPE_TIMES, run, times, scopes, err))
        return times;
    pm_times_free(times);
    return NULL;
}

/* Such a run need not be there. */
bool pm_store_put_file_times(struct pm_store *store, const struct pm_parameters *parameters,
                             const struct pm_file_times *times, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0;
    run = pm_store_replace(store, parameters, PM_FILE_TIMES, PM_FILE_TIMES, err);
    return pm_store_end(
        store,
        run && pm_store_put_rows(store, PM_FILE_TIMES, run, times->files, times->n_files, err),
        err);
}

bool pm_store_file_times(struct pm_store *store, const struct pm_parameters *parameters,
                         struct pm_file_times *times, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    return run == 0 || (run > 0 && PM_READ_ROWS(store, PM_FILE_TIMES, run, times, files, err));
}

/* ---- lower bounds ---------------------------------------------------------------------------- */

bool pm_store_put_bounds(struct pm_store *store, const struct pm_parameters *parameters,
                         const struct pm_bounds *bounds, struct pm_error *err) {
    int64_t run = pm_store_replace(store, parameters, PM_BOUNDS, PM_NEST_BOUNDS, err);
    return pm_store_end(
        store,
        run && pm_store_put_rows(store, PM_BOUNDS, run, bounds, 1, err) &&
            pm_store_put_rows(store, PM_NEST_BOUNDS, run, bounds->nests, bounds->n_nests, err),
        err);
}

struct pm_bounds *pm_store_bounds(struct pm_store *store, const struct pm_parameters *parameters,
                                  struct pm_error *err) {
    int64_t run = pm_store_find_whole_run(store, parameters, err);
    if (run <= 0)
        return NULL;
    bool found;
    struct pm_bounds *bounds = pm_alloc(1, sizeof *bounds);
    if (pm_store_read_row(store, PM_BOUNDS, run, bounds, &found, err) && found &&
        PM_READ_ROWS(store, PM_NEST_BOUNDS, run, bounds, nests, err))
        return bounds;
    pm_bounds_free(bounds);
    return NULL;
}

/* ---- profiles of basic blocks ---------------------------------------------------------------- */

static bool put_misses(struct pm_store *store, int64_t run, const struct pm_block_profile *profile,
                       struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, PM_BLOCK_MISSES, run, err);
    for (size_t i = 0; i < profile->n_blocks; i++)
        for (uint32_t level = 0; level < profile->n_levels; level++) {
            const struct pm_profiled_block *block = &profile->blocks[i];
            const struct pm_misses_row row = {block->block, level, block->misses[level]};
            if (row.misses != 0)
                pm_rows_put(&rows, &row);
        }
    return pm_rows_end(&rows);
}

bool pm_store_put_block_profile(struct pm_store *store, const struct pm_parameters *parameters,
                                const struct pm_block_profile *profile, struct pm_error *err) {
    int64_t run = pm_store_replace(store, parameters, PM_PROFILINGS, PM_BLOCK_MISSES, err);
    return pm_store_end(
        store,
        run && pm_store_put_rows(store, PM_PROFILINGS, run, profile, 1, err) &&
            pm_store_put_rows(store, PM_LEVELS, run, profile->levels, profile->n_levels, err) &&
            pm_store_put_rows(store, PM_BLOCK_PROFILES, run, profile->blocks, profile->n_blocks,
                              err) &&
            put_misses(store, run, profile, err),
        err);
}

/* Blocks and misses both come ascending by block. */
static bool read_misses(struct pm_store *store, int64_t run, struct pm_block_profile *profile,
                        struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_BLOCK_MISSES, run, err);
    const struct pm_misses_row *row;
    size_t at = 0;
    for (size_t i = 0; i < profile->n_blocks; i++)
        profile->blocks[i].misses = pm_alloc(profile->n_levels, sizeof(double));
    while ((row = pm_rows_next(&rows))) {
        while (at < profile->n_blocks && profile->blocks[at].block < row->block)
            at++;
        if (at == profile->n_blocks || profile->blocks[at].block != row->block ||
            row->level >= profile->n_levels)
            pm_rows_damaged(&rows);
        else
            profile->blocks[at].misses[row->level] = row->misses;
    }
    return pm_rows_end(&rows);
}

static bool are_known(const struct pm_block_profile *profile) {
    for (size_t i = 0; i < profile->n_levels; i++)
        if (!profile->levels[i].machine || !profile->levels[i].name)
            return false;
    return true;
}

struct pm_block_profile *pm_store_block_profile(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err) {
    int64_t run = pm_store_find_whole_run(store, parameters, err);
    if (run <= 0)
        return NULL;
    bool found;
    struct pm_block_profile *profile = pm_alloc(1, sizeof *profile);
    if (pm_store_read_row(store, PM_PROFILINGS, run, profile, &found, err) && found &&
        PM_READ_ROWS(store, PM_LEVELS, run, profile, levels, err) &&
        (are_known(profile) ||
         pm_fail(err, "%s: a simulated cache in it is damaged", store->path)) &&
        PM_READ_ROWS(store, PM_BLOCK_PROFILES, run, profile, blocks, err) &&
        read_misses(store, run, profile, err))
        return profile;
    pm_block_profile_free(profile);
    return NULL;
}

/* ---- formulas of parameters ------------------------------------------------------------------ */

/* Such a run need not be there. */
bool pm_store_put_formulas(struct pm_store *store, const struct pm_parameters *parameters,
                           const struct pm_given_formulas *formulas, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0;
    run = pm_store_replace(store, parameters, PM_FORMULAS, PM_FORMULAS, err);
    struct pm_store_rows rows = pm_rows_to(store, PM_FORMULAS, run, err);
    for (size_t i = 0; run && i < formulas->n_list; i++) {
        char *name = pm_strdup(formulas->list[i].name);
        pm_rows_put(&rows, &(struct pm_formula_row){name, formulas->list[i].text});
        free(name);
    }
    return pm_store_end(store, pm_rows_end(&rows) && run, err);
}

/* Those of a name that all runs have. */
bool pm_store_formulas(struct pm_store *store, struct pm_given_formulas *formulas,
                       struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT name, min(text) FROM formula GROUP BY name HAVING"
                                       " count(*) = (SELECT count(*) FROM run) ORDER BY name",
                                       err);
    bool ok = s != NULL;
    while (pm_store_next_row(store, s, &ok, err)) {
        char *name = pm_store_column_text(s, 0), *text = pm_store_column_text(s, 1);
        if (name && text)
            pm_given_formulas_add(formulas, name, text);
        free(name);
        free(text);
    }
    sqlite3_finalize(s);
    return ok;
}
