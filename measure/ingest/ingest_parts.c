/* Of one process: stores by dirty distance (core/write_backs/write_backs.h) and sequential touches
   (core/behaviour/behaviour.h), of all its threads. */
#include "core/write_backs/write_backs.h"
#include "measure/ingest/private.h"

static bool is_known(const struct pm_raw_histogram *from,
                     const struct pm_module_place *const *places, const char *what,
                     const char *path, struct pm_error *err) {
    return from->group < places[from->module]->n_groups ||
           pm_fail(err, "%s: %s of a group that the program does not have", path, what);
}

bool pm_ingest_parts(struct pm_profile *profile, struct pm_raw *raw,
                     const struct pm_module_place *const *places, const char *path,
                     struct pm_error *err) {
    for (size_t i = 0; i < raw->n_dirty; i++) {
        struct pm_raw_histogram *from = &raw->dirty[i];
        if (!is_known(from, places, "stores", path, err))
            return false;
        pm_profile_add_dirty(profile, places[from->module]->first_group + from->group,
                             &from->histogram);
    }
    for (size_t i = 0; i < raw->n_sequential; i++) {
        struct pm_raw_histogram *from = &raw->sequential[i];
        if (!is_known(from, places, "sequential touches", path, err))
            return false;
        *PM_PUSH(profile, sequential) = (struct pm_group_histogram){
            places[from->module]->first_group + from->group, from->histogram};
        from->histogram = (struct pm_histogram){0};
    }
    return true;
}
