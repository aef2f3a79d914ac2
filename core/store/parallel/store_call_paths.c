/* The profile store: call paths of all runs.  A path has one number in a store, whatever run it is
   of, so that what is kept by path can be compared from run to run. */
#include <stdlib.h>

#include "core/store/private.h"

bool pm_store_call_paths(struct pm_store *store, struct pm_call_paths *paths,
                         struct pm_error *err) {
    *paths = (struct pm_call_paths){0};
    struct pm_store_rows rows = pm_rows_of(store, PM_CALL_PATHS, PM_ALL_RUNS, err);
    const struct pm_call_path_row *row;
    while ((row = pm_rows_next(&rows))) {
        uint32_t expected = paths->n_sites ? (uint32_t)paths->n_sites : 1;
        bool ok =
            row->id == expected && row->parent < row->id && row->module < PM_NONE &&
            pm_call_paths_add(paths, row->parent, row->module, row->return_address) == expected;
        if (ok)
            pm_call_paths_set_callee(paths, expected, row->callee);
        else
            pm_rows_damaged(&rows);
        pm_row_free(PM_CALL_PATHS, row);
    }
    if (pm_rows_end(&rows))
        return true;
    pm_call_paths_free(paths);
    return false;
}

/* Those from number FIRST on, and callees of those before that have become known. */
static bool put_paths(struct pm_store *store, const struct pm_structure *structure,
                      const struct pm_call_paths *paths, size_t first, const bool *had_callee,
                      struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_to(store, PM_CALL_PATHS, PM_ALL_RUNS, err);
    for (uint32_t path = 1; path < paths->n_sites; path++) {
        const struct pm_call_site *site = &paths->sites[path];
        uint32_t block = pm_call_path_block(structure, paths, path);
        const struct pm_call_path_row row = {
            .id = path,
            .parent = site->parent,
            .module = site->module,
            .return_address = site->return_address,
            .scope = block == PM_NONE ? PM_NONE : structure->blocks[block].scope,
            .callee = paths->callees[path]};
        if (path >= first || (!had_callee[path] && paths->callees[path]))
            pm_rows_put(&rows, &row);
    }
    return pm_rows_end(&rows);
}

uint32_t *pm_store_put_call_paths(struct pm_store *store, const struct pm_structure *structure,
                                  const struct pm_call_paths *paths, struct pm_error *err) {
    struct pm_call_paths all;
    if (!pm_store_call_paths(store, &all, err))
        return NULL;
    size_t n_before = all.n_sites;
    bool *had_callee = pm_alloc(n_before + 1, sizeof *had_callee);
    uint32_t *numbers = pm_alloc(paths->n_sites + 1, sizeof *numbers);
    for (size_t path = 0; path < n_before; path++)
        had_callee[path] = all.callees[path] != NULL;
    for (uint32_t path = 1; path < paths->n_sites; path++) { /* parents come before */
        const struct pm_call_site *site = &paths->sites[path];
        numbers[path] =
            pm_call_paths_add(&all, numbers[site->parent], site->module, site->return_address);
        pm_call_paths_set_callee(&all, numbers[path], paths->callees[path]);
    }
    bool ok = put_paths(store, structure, &all, n_before, had_callee, err);
    free(had_callee);
    pm_call_paths_free(&all);
    if (ok)
        return numbers;
    free(numbers);
    return NULL;
}
