/* The reuse patterns (core/reuse_patterns.h) of one process. */
#include "measure/ingest/private.h"

/* The scope of the whole structure that is SCOPE of its module; false: the module has no such. */
static bool find_scope(const struct pm_module_place *place, uint32_t scope, uint32_t *number) {
    *number = scope == 0 ? 0 : place->first_scope + scope;
    return scope < place->n_scopes;
}

bool pm_ingest_patterns(struct pm_run_patterns *patterns, const struct pm_raw *raw,
                        const struct pm_module_place *const *places, const char *path,
                        struct pm_error *err) {
    for (size_t i = 0; i < raw->n_carried; i++) {
        const struct pm_raw_carried_head *by = &raw->carried[i].by;
        const struct pm_raw_histogram *reuses = &raw->carried[i].reuses;
        const struct pm_module_place *place = places[reuses->module];
        uint32_t source, carrier = PM_NONE;
        if (reuses->group >= place->n_groups ||
            !find_scope(places[by->source_module], by->source_scope, &source) ||
            (by->carrier_module != PM_RAW_OUTSIDE &&
             !find_scope(places[by->carrier_module], by->carrier_scope, &carrier)))
            return pm_fail(err, "%s: reuse between scopes that the program does not have", path);
        pm_run_patterns_add(patterns, place->first_group + reuses->group, source, carrier,
                            by->across, &reuses->histogram);
    }
    return true;
}
