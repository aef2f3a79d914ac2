/* The dump `partition`: the segments that the histograms of a group are cut into, at each size
   their accesses, the mean distance and the ends (partition.c). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "fit/histogram/private.h"

static void put_size(const struct pm_dumping *dumping, const struct pm_parameters *run,
                     const struct pm_histogram_segment *segment, size_t k) {
    char *size = pm_parameters_text(run);
    fprintf(dumping->out, "  %s accesses ", size);
    pm_dump_value(dumping, segment->count[k]);
    if (!isnan(segment->mean[k])) {
        fputs(" distance ", dumping->out);
        pm_dump_value(dumping, segment->mean[k]);
        fprintf(dumping->out, " from %.5g to %.5g", segment->low[k], segment->high[k]);
    }
    fputc('\n', dumping->out);
    free(size);
}

void pm_dump_partition(const struct pm_dumping *dumping, const struct pm_structure *structure,
                       const struct pm_parameters *runs, const struct pm_partition *p,
                       const struct pm_histogram_model *model) {
    if (!pm_dumps(dumping, "partition") || model->group >= structure->n_groups ||
        !pm_dumps_scope(dumping, structure->groups[model->group].scope))
        return;
    fprintf(dumping->out, "group %" PRIu32 " in ", model->group);
    pm_dump_scope(dumping, structure->groups[model->group].scope);
    fprintf(dumping->out, ", blocks of %" PRIu64 " bytes: %zu segments\n", model->block_bytes,
            p->n_segments);
    for (size_t i = 0; i < p->n_segments; i++) {
        fprintf(dumping->out, " segment %zu%s%s\n", i,
                p->segments[i].constant_distance ? ", its distance is constant" : "",
                p->segments[i].takes_rest ? ", takes what is left" : "");
        for (size_t k = 0; k < p->design->n; k++)
            put_size(dumping, &runs[k], &p->segments[i], k);
    }
}
