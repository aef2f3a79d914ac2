/* The profile store: how the builds of runs differ from the one whose structure it keeps. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/store/private.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS build_difference (run INTEGER, place TEXT, kind TEXT, id INTEGER,"
    " mismatch INTEGER, accesses REAL, run_accesses REAL);"
    "CREATE INDEX IF NOT EXISTS build_difference_of_run ON build_difference (run);";

static const char *const kinds[PM_N_DIFFERENT] = {[PM_DIFFERENT_SCOPE] = "scope",
                                                  [PM_DIFFERENT_GROUP] = "group",
                                                  [PM_DIFFERENT_STRIDES] = "strides"};

/* Stores of one build have no such table. */
static bool has_table(struct pm_store *store, bool *has, struct pm_error *err) {
    return pm_store_has_table(store, "build_difference", has, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_rows(struct pm_store *store, int64_t run,
                     const struct pm_build_differences *differences, struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "INSERT INTO build_difference (run, place, kind, id,"
                                       " mismatch, accesses, run_accesses) VALUES (?,?,?,?,?,?,?)",
                                       err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < differences->n_rows; i++) {
        const struct pm_build_difference *row = &differences->rows[i];
        sqlite3_clear_bindings(s);
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_text(s, 2, row->place, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, kinds[row->kind], -1, SQLITE_STATIC);
        if (row->index != PM_NONE)
            sqlite3_bind_int64(s, 4, row->index);
        sqlite3_bind_int(s, 5, row->mismatch);
        if (!isnan(row->accesses))
            sqlite3_bind_double(s, 6, row->accesses);
        sqlite3_bind_double(s, 7, differences->accesses);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_remove_differences(struct pm_store *store, int64_t run, struct pm_error *err) {
    return pm_store_remove_build_sources(store, run, err) &&
           pm_store_remove_rows(store, "build_difference", run, err);
}

bool pm_store_put_differences(struct pm_store *store, int64_t run,
                              const struct pm_build_differences *differences,
                              struct pm_error *err) {
    return pm_store_run_sql(store, schema, err) && put_rows(store, run, differences, err) &&
           pm_store_put_build_sources(store, run, differences, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool damaged(const struct pm_store *store, struct pm_error *err) {
    return pm_fail(err, "%s: the differences between builds are damaged: measure into a new store",
                   store->path);
}

static bool read_row(const struct pm_store *store, sqlite3_stmt *s,
                     struct pm_build_differences *differences, struct pm_error *err) {
    const char *place = (const char *)sqlite3_column_text(s, 0);
    const char *name = (const char *)sqlite3_column_text(s, 1);
    uint8_t kind = 0;
    while (kind < PM_N_DIFFERENT && (!name || sqlite3_stricmp(name, kinds[kind]) != 0))
        kind++;
    bool has_index = sqlite3_column_type(s, 2) != SQLITE_NULL;
    int64_t index = sqlite3_column_int64(s, 2), mismatch = sqlite3_column_int64(s, 3);
    if (kind == PM_N_DIFFERENT || !place || mismatch < 0 || mismatch >= PM_N_MISMATCHES ||
        (has_index && (index < 0 || index >= PM_NONE)))
        return damaged(store, err);
    bool has_accesses = sqlite3_column_type(s, 4) != SQLITE_NULL;
    *PM_PUSH(differences, rows) = (struct pm_build_difference){
        .kind = kind,
        .mismatch = (uint8_t)mismatch,
        .index = has_index ? (uint32_t)index : PM_NONE,
        .place = pm_strdup(place),
        .accesses = has_accesses ? sqlite3_column_double(s, 4) : NAN,
    };
    differences->accesses = sqlite3_column_double(s, 5);
    return true;
}

/* Of one run; 0: of all. */
static bool read_rows(struct pm_store *store, int64_t run, struct pm_build_differences *differences,
                      struct pm_error *err) {
    bool has;
    if (!has_table(store, &has, err))
        return false;
    if (!has)
        return true;
    sqlite3_stmt *s =
        pm_store_prepare(store,
                         "SELECT place, kind, id, mismatch, accesses, run_accesses"
                         " FROM build_difference WHERE ?1 = 0 OR run = ?1 ORDER BY rowid",
                         err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    bool ok = true;
    while (pm_store_next_row(store, s, &ok, err))
        ok = read_row(store, s, differences, err);
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_differences(struct pm_store *store, const struct pm_parameters *parameters,
                          struct pm_build_differences *differences, struct pm_error *err) {
    *differences = (struct pm_build_differences){0};
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0;
    if (read_rows(store, run, differences, err) &&
        pm_store_read_joins(store, run, differences, err))
        return true;
    pm_build_differences_free(differences);
    return false;
}

/* What a run of the store's build tells of all others is known at least roughly. */
static void mark_rough(struct pm_structure *structure) {
    for (size_t i = 0; i < structure->n_scopes; i++)
        if (structure->scopes[i].flags & PM_SCOPE_UNMATCHED)
            structure->scopes[i].flags ^= PM_SCOPE_UNMATCHED | PM_SCOPE_ROUGH;
}

bool pm_store_mark_differences(struct pm_store *store, struct pm_structure *structure,
                               struct pm_error *err) {
    struct pm_build_differences all = {0};
    int64_t base = 0;
    bool ok = read_rows(store, 0, &all, err) && pm_store_read_joins(store, 0, &all, err) &&
              pm_build_differences_mark(&all, structure, err) &&
              pm_store_base_run(store, &base, err);
    if (ok && base)
        mark_rough(structure);
    pm_build_differences_free(&all);
    return ok;
}

/* Executed accesses of groups that are about to go. */
static void count_lost(struct pm_profile *profile, const struct pm_structure *structure) {
    bool *is_lost = pm_alloc(structure->n_groups, sizeof *is_lost);
    for (uint32_t g = 0; g < structure->n_groups; g++)
        is_lost[g] = pm_group_holder(structure, g) == PM_NONE;
    pm_skipped_add_groups(structure, profile->edge_counts, is_lost,
                          &profile->skipped[PM_SKIPPED_UNMATCHED]);
    free(is_lost);
}

/* Of a run, DIFFERENCES of its build: all that is in histograms is the whole, unless something was
   dropped before they were kept. */
static bool read_wholes(struct pm_store *store, int64_t run,
                        const struct pm_build_differences *differences, struct pm_profile *profile,
                        struct pm_error *err) {
    if (!pm_store_read_wholes(store, run, profile, err))
        return false;
    if (profile->n_wholes == 0 && differences->n_rows == 0) {
        profile->wholes = pm_profile_sums(profile);
        profile->n_wholes = profile->cap_wholes = profile->n_block_sizes;
    }
    return true;
}

/* Counts of edges in code that the build of RUN does not have so, from a run of the store's build.
 */
static bool scale_edges(struct pm_store *store, int64_t run, const struct pm_structure *structure,
                        const struct pm_build_differences *differences, struct pm_profile *profile,
                        struct pm_error *err) {
    struct pm_build_work work = {0};
    struct pm_profile base = {0};
    int64_t base_run = 0;
    bool found = false;
    bool ok = pm_store_base_run(store, &base_run, err) &&
              (!base_run || pm_store_read_work(store, run, structure->n_groups, structure->n_scopes,
                                               &work, &found, err)) &&
              (!found || pm_store_read_edges(store, base_run, &base, err));
    if (ok && found && base.n_edges == structure->n_edges) {
        bool *differs = pm_alloc(structure->n_scopes, sizeof *differs);
        for (size_t i = 0; i < differences->n_rows; i++)
            if (differences->rows[i].kind == PM_DIFFERENT_SCOPE &&
                differences->rows[i].index < structure->n_scopes)
                differs[differences->rows[i].index] = true;
        pm_build_work_scale(structure, differs, base.edge_counts, &work, profile->edge_counts);
        free(differs);
    }
    free(base.edge_counts);
    pm_build_work_free(&work);
    return ok;
}

bool pm_store_keep_matched(struct pm_store *store, int64_t run, struct pm_profile *profile,
                           struct pm_error *err) {
    bool has;
    struct pm_build_differences differences = {0};
    if (!has_table(store, &has, err))
        return false;
    struct pm_structure *structure = has ? pm_store_structure(store, err) : NULL;
    bool ok = (!has || structure) && (!has || read_rows(store, run, &differences, err)) &&
              read_wholes(store, run, &differences, profile, err);
    if (ok && structure && profile->n_edges == structure->n_edges) {
        count_lost(profile, structure);
        ok = scale_edges(store, run, structure, &differences, profile, err);
        pm_profile_keep_matched(profile, structure);
    }
    if (structure)
        pm_structure_free(structure);
    pm_build_differences_free(&differences);
    return ok;
}
