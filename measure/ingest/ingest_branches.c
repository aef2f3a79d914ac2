/* Branches and trips of one process (core/behaviour/behaviour.h). */
#include "measure/ingest/private.h"

bool pm_ingest_branches(struct pm_behaviour *behaviour, const struct pm_raw *raw,
                        const struct pm_module_place *const *places, const char *path,
                        struct pm_error *err) {
    for (size_t i = 0; i < raw->n_branches; i++) {
        const struct pm_module_place *place = places[raw->branches[i].module];
        for (size_t k = 0; k < raw->branches[i].n_branches; k++) {
            const struct pm_raw_branch *from = &raw->branches[i].branches[k];
            if (from->block >= place->n_blocks)
                return pm_fail(err, "%s: a branch that the program does not have", path);
            struct pm_measured_branch row = {.block = place->first_block + from->block,
                                             .executions = (double)from->executions,
                                             .taken = (double)from->taken,
                                             .analysed = (double)from->analysed};
            for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
                row.wrong[p] = (double)from->wrong[p];
            pm_behaviour_add_branch(behaviour, &row);
        }
    }
    return true;
}

bool pm_ingest_trips(struct pm_behaviour *behaviour, const struct pm_raw *raw,
                     const struct pm_module_place *const *places, const char *path,
                     struct pm_error *err) {
    for (size_t i = 0; i < raw->n_trips; i++) {
        const struct pm_module_place *place = places[raw->trips[i].module];
        for (size_t k = 0; k < raw->trips[i].n_trips; k++) {
            const struct pm_raw_trips *from = &raw->trips[i].trips[k];
            if (from->block >= place->n_blocks)
                return pm_fail(err, "%s: a way out of a loop that the program does not have", path);
            const struct pm_measured_trips row = {.block = place->first_block + from->block,
                                                  .range = from->range,
                                                  .entries = (double)from->entries,
                                                  .iterations = (double)from->iterations};
            pm_behaviour_add_trips(behaviour, &row);
        }
    }
    return true;
}
