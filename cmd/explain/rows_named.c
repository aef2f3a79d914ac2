/* Loops by the names that reports give them. */
#include <stdlib.h>

#include "cmd/explain/explain.h"
#include "fit/analysis/analysis.h"

bool pm_add_source_folder(void *to, char *folder, struct pm_error *err) {
    (void)err;
    *PM_PUSH((struct pm_source_folders *)to, folders) = folder;
    return true;
}

static bool is_row(const struct pm_structure *structure, uint32_t scope) {
    return pm_has_own_code(structure, scope) && pm_row_scope(structure, scope) == scope;
}

/* For each scope whether it is in a routine or in inlined code that is NAMED.  The caller frees. */
static bool *in_named_code(const struct pm_structure *structure, const bool *named) {
    bool *inside = pm_alloc(structure->n_scopes, sizeof *inside);
    for (uint32_t s = 1; s < structure->n_scopes; s++) /* parents come before their children */
        inside[s] = inside[structure->scopes[s].parent] ||
                    (named[s] && structure->scopes[s].kind != PM_SCOPE_LOOP);
    return inside;
}

/* Marks the rows of the chosen scopes; inlined code without a loop is in the row of the scope
   around it. */
static uint32_t mark_rows(const struct pm_structure *structure, const bool *chosen,
                          bool with_inlined, bool *rows) {
    uint32_t n = 0;
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        uint32_t row = pm_row_scope(structure, s);
        if (!chosen[s] || !is_row(structure, row) ||
            (structure->scopes[s].kind == PM_SCOPE_INLINED && !with_inlined))
            continue;
        rows[row] = true;
        n++;
    }
    return n;
}

bool *pm_rows_named(const struct pm_structure *structure, const char *loop, const char *store_path,
                    struct pm_error *err) {
    bool *rows = pm_alloc(structure->n_scopes, sizeof *rows);
    uint32_t n_named = 0;
    bool *named = pm_scopes_named(structure, loop ? loop : "*", &n_named);
    bool *inside = in_named_code(structure, named);
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        inside[s] |= named[s];
    if (mark_rows(structure, inside, false, rows) == 0)
        mark_rows(structure, inside, true, rows);
    free(inside);
    free(named);
    if (!loop || n_named)
        return rows;
    free(rows);
    pm_fail(err, "%s: no loop is called \"%s\" (`pmodel report` and `pmodel loops` list them)",
            store_path, loop);
    pm_fail_nearest_scope(err, structure, loop);
    return NULL;
}
