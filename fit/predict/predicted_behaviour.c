/* Mispredicted branches and trips of entries at one size (fit/fit_branches.c made their models).

   All executions of a branch count as analysed: what the models say is of all of them, at most
   each. */
#include "fit/predict/predict.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/private.h"

/* Entries of the loop that the N ROWS are of, of which EXECUTIONS and EDGES say how many there are
   and how long on average, spread about that as ROWS are about theirs. */
static void predict_trips(const struct pm_structure *structure,
                          const struct pm_measured_trips *rows, size_t n, const double *executions,
                          const double *edges, struct pm_behaviour *behaviour) {
    uint32_t loop = structure->blocks[rows->block].loop;
    double entries = 0, iterations = 0;
    if (loop == PM_NONE || structure->scopes[loop].header == PM_NONE)
        return;
    double entries_here = pm_scope_entries(structure, edges, loop);
    double iterations_here = executions[structure->scopes[loop].header];
    for (size_t i = 0; i < n; i++) {
        entries += rows[i].entries;
        iterations += rows[i].iterations;
    }
    for (size_t i = 0; i < n && entries_here > 0 && iterations_here > 0; i++) {
        struct pm_measured_trips row = rows[i];
        row.entries *= entries_here / entries;
        row.iterations = fmax(row.entries, row.iterations * (iterations_here / iterations));
        pm_behaviour_add_trips(behaviour, &row);
    }
}

static size_t n_of_one_block(const struct pm_measured_trips *rows, size_t n) {
    size_t same = 1;
    while (same < n && rows[same].block == rows[0].block)
        same++;
    return same;
}

bool pm_predict_behaviour(const struct pm_structure *structure,
                          const struct pm_branch_models *branches, struct pm_profile *profile,
                          struct pm_error *err) {
    struct pm_model_point point;
    if (!pm_model_point_at(branches->models, &profile->parameters, &point, err))
        return false;
    double *executions = pm_block_executions(structure, profile->edge_counts);
    for (size_t i = 0; i < branches->n_blocks; i++) {
        uint32_t block = branches->blocks[i];
        if (block >= structure->n_blocks || !(executions[block] > 0))
            continue;
        struct pm_measured_branch row = {
            .block = block, .executions = executions[block], .analysed = executions[block]};
        for (unsigned p = 0; p < PM_N_PREDICTORS; p++) {
            const struct pm_model *model = &branches->models->edges[i * PM_N_PREDICTORS + p];
            row.wrong[p] = fmin(pm_model_value_at(model, &point), row.executions);
        }
        pm_behaviour_add_branch(&profile->behaviour, &row);
    }
    for (size_t i = 0, n; i < branches->n_trips; i += n) {
        const struct pm_measured_trips *rows = &branches->trips[i];
        n = n_of_one_block(rows, branches->n_trips - i);
        if (rows->block < structure->n_blocks && executions[rows->block] > 0)
            predict_trips(structure, rows, n, executions, profile->edge_counts,
                          &profile->behaviour);
    }
    free(executions);
    pm_model_point_free(&point);
    return true;
}
