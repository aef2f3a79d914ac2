/* The profile store: how the builds of runs differ from the one whose structure it keeps. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/store/private.h"

/* Kept with a run of another build. */
bool pm_store_put_differences(struct pm_store *store, int64_t run,
                              const struct pm_build_differences *differences,
                              struct pm_error *err) {
    const struct pm_build_work *work = &differences->work;
    const struct pm_work_row all_work = {{work->group_bytes, work->n_groups * sizeof(double)},
                                         {work->iterations, work->n_scopes * sizeof(double)}};
    struct pm_store_rows rows = pm_rows_to(store, PM_DIFFERENCES, run, err);
    for (size_t i = 0; i < differences->n_rows; i++) {
        const struct pm_difference_row row = {differences->rows[i], differences->accesses};
        pm_rows_put(&rows, &row);
    }
    return pm_rows_end(&rows) &&
           pm_store_put_rows(store, PM_JOINS, run, differences->joins, differences->n_joins, err) &&
           pm_store_put_rows(store, PM_TOTALS, run, differences->totals, differences->n_totals,
                             err) &&
           (!work->group_bytes || pm_store_put_rows(store, PM_WORK, run, &all_work, 1, err));
}

/* ---- reading --------------------------------------------------------------------------------- */

static int compare_joins(const void *left, const void *right) {
    const struct pm_group_join *a = left, *b = right;
    int order = PM_COMPARE(a->group, b->group);
    return order ? order : PM_COMPARE(a->with, b->with);
}

/* Ascending, each once. */
static bool read_joins(struct pm_store *store, int64_t run,
                       struct pm_build_differences *differences, struct pm_error *err) {
    if (!PM_READ_ROWS(store, PM_JOINS, run, differences, joins, err))
        return false;
    struct pm_group_join *joins = differences->joins;
    size_t n = differences->n_joins, kept = 0;
    PM_SORT(joins, n, compare_joins);
    for (size_t i = 0; i < n; i++)
        if (!kept || compare_joins(&joins[i], &joins[kept - 1]) != 0)
            joins[kept++] = joins[i];
    differences->n_joins = kept;
    return true;
}

static bool read_rows(struct pm_store *store, int64_t run, struct pm_build_differences *differences,
                      struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_DIFFERENCES, run, err);
    const struct pm_difference_row *row;
    while ((row = pm_rows_next(&rows))) {
        *PM_PUSH(differences, rows) = row->is;
        differences->accesses = row->run_accesses;
        if (!row->is.place || row->is.mismatch >= PM_N_MISMATCHES)
            pm_rows_damaged(&rows);
    }
    return pm_rows_end(&rows);
}

bool pm_store_differences(struct pm_store *store, const struct pm_parameters *parameters,
                          struct pm_build_differences *differences, struct pm_error *err) {
    *differences = (struct pm_build_differences){0};
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return run == 0;
    if (read_rows(store, run, differences, err) && read_joins(store, run, differences, err))
        return true;
    pm_build_differences_free(differences);
    return false;
}

static bool read_work(struct pm_store *store, int64_t run, const struct pm_structure *structure,
                      struct pm_build_work *work, bool *found, struct pm_error *err) {
    struct pm_work_row row;
    if (!pm_store_read_row(store, PM_WORK, run, &row, found, err) || !*found)
        return !*found && err->kind == PM_ERROR_NONE;
    *work = (struct pm_build_work){row.group_bytes.n / sizeof(double),
                                   row.iterations.n / sizeof(double), row.group_bytes.data,
                                   row.iterations.data};
    return (work->n_groups == structure->n_groups && work->n_scopes == structure->n_scopes) ||
           pm_fail(err, "%s: what is known of other builds is damaged: measure into a new store",
                   store->path);
}

/* *RUN: one of the store's build, if the work of all runs of other builds is known; else 0. */
static bool find_base_run(struct pm_store *store, int64_t *run, struct pm_error *err) {
    double number;
    bool ok =
        pm_store_number(store,
                        "SELECT (SELECT id FROM run WHERE id NOT IN (SELECT run FROM build_work)"
                        " AND id NOT IN (SELECT run FROM build_difference) ORDER BY id LIMIT 1)"
                        " WHERE NOT EXISTS (SELECT 1 FROM build_difference"
                        "  WHERE run NOT IN (SELECT run FROM build_work))",
                        0, &number, err);
    *run = (int64_t)number;
    return ok;
}

/* Stores of one build have none: then all is the same. */
static bool has_other_builds(struct pm_store *store, bool *has, struct pm_error *err) {
    double number;
    bool ok = pm_store_number(store,
                              "SELECT EXISTS (SELECT 1 FROM build_difference)"
                              " + EXISTS (SELECT 1 FROM build_join)"
                              " + EXISTS (SELECT 1 FROM build_total)",
                              0, &number, err);
    *has = number > 0;
    return ok;
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
    bool ok = read_rows(store, 0, &all, err) && read_joins(store, 0, &all, err) &&
              pm_build_differences_mark(&all, structure, err) && find_base_run(store, &base, err);
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
static bool read_totals(struct pm_store *store, int64_t run,
                        const struct pm_build_differences *differences, struct pm_profile *profile,
                        struct pm_error *err) {
    if (!PM_READ_ROWS(store, PM_TOTALS, run, profile, totals, err))
        return false;
    if (profile->n_totals == 0 && differences->n_rows == 0) {
        profile->totals = pm_profile_sums(profile);
        profile->n_totals = profile->cap_totals = profile->n_block_sizes;
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
    bool ok = find_base_run(store, &base_run, err) &&
              (!base_run || read_work(store, run, structure, &work, &found, err)) &&
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
    if (!has_other_builds(store, &has, err))
        return false;
    struct pm_structure *structure = has ? pm_store_structure(store, err) : NULL;
    bool ok = (!has || structure) && (!has || read_rows(store, run, &differences, err)) &&
              read_totals(store, run, &differences, profile, err);
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
