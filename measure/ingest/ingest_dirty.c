/* Stores by dirty distance (core/write_backs/write_backs.h) of one process. */
#include "core/write_backs/write_backs.h"
#include "measure/ingest/private.h"

bool pm_ingest_dirty(struct pm_profile *profile, struct pm_raw *raw,
                     const struct pm_module_place *const *places, const char *path,
                     struct pm_error *err) {
    for (size_t i = 0; i < raw->n_dirty; i++) {
        struct pm_raw_histogram *from = &raw->dirty[i];
        const struct pm_module_place *place = places[from->module];
        if (from->group >= place->n_groups)
            return pm_fail(err, "%s: stores of a group that the program does not have", path);
        pm_profile_add_dirty(profile, place->first_group + from->group, &from->histogram);
    }
    return true;
}
