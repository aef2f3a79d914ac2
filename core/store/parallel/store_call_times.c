/* The profile store: times of calls of MPI in runs that were timed
   (core/call_times/call_times.h). */
#include <stdlib.h>

#include "core/store/private.h"

bool pm_store_put_call_times(struct pm_store *store, const struct pm_structure *structure,
                             const struct pm_parameters *parameters,
                             const struct pm_call_times *times, struct pm_error *err) {
    int64_t run = pm_store_replace(store, parameters, PM_CALL_TIMES, PM_RANK_SPANS, err);
    uint32_t *paths = run ? pm_store_put_call_paths(store, structure, &times->paths, err) : NULL;
    struct pm_store_rows rows = pm_rows_to(store, PM_CALL_TIMES, run, err);
    for (size_t i = 0; paths && i < times->n_calls; i++) {
        struct pm_call_time row = times->calls[i];
        row.path = paths[row.path];
        pm_rows_put(&rows, &row);
    }
    bool ok = pm_rows_end(&rows) && paths &&
              pm_store_put_rows(store, PM_RANK_SPANS, run, times->spans, times->n_spans, err);
    free(paths);
    return pm_store_end(store, ok, err);
}

struct pm_call_times *pm_store_call_times(struct pm_store *store,
                                          const struct pm_parameters *parameters,
                                          struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    if (run <= 0)
        return NULL;
    struct pm_call_times *times = pm_alloc(1, sizeof *times);
    bool ok = PM_READ_ROWS(store, PM_CALL_TIMES, run, times, calls, err) &&
              PM_READ_ROWS(store, PM_RANK_SPANS, run, times, spans, err) &&
              (times->n_calls == 0 || pm_store_call_paths(store, &times->paths, err));
    if (ok && times->n_calls + times->n_spans > 0) {
        if (pm_call_times_are_valid(times, err))
            return times;
        pm_fail_in(err, "%s", store->path);
    }
    pm_call_times_free(times);
    return NULL;
}
