/* Prints what a raw file says of lower bounds: of each nest its number, executions, those that were
   sampled, copies that ran too long or faulted, executions without a copy, seconds of the sampled
   executions, of their copies, and of all.

     bound_times RAW-FILE */
#include <inttypes.h>
#include <stdio.h>

#include "measure/raw/raw.h"

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct pm_raw *raw = argc == 2 ? pm_raw_read(argv[1], &err) : NULL;
    if (!raw) {
        fprintf(stderr, "bound_times: %s\n", argc == 2 ? err.text : "RAW-FILE");
        return 2;
    }
    const struct pm_raw_bounds *bounds = &raw->bounds;
    double seconds = bounds->ticks ? 1e-9 * (double)bounds->ns / (double)bounds->ticks : 0;
    for (size_t i = 0; i < bounds->n_nests; i++) {
        const struct pm_raw_bound *nest = &bounds->nests[i];
        printf("%zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.6f %.6f %.6f\n",
               i, nest->executions, nest->sampled, nest->over, nest->faults, nest->without_memory,
               seconds * (double)nest->sampled_ticks, seconds * (double)nest->copy_ticks,
               seconds * (double)nest->ticks);
    }
    pm_raw_free(raw);
    return 0;
}
