/* The result of one build of a program in the numbers of another. */
#include <stdlib.h>

#include "measure/ingest/private.h"
#include "measure/matching/matching.h"
#include "measure/raw/raw.h"

/* What the run did in all, as its profile has it: the sum over threads. */
static void list_totals(const struct pm_ingested *ingested,
                        struct pm_build_differences *differences) {
    const struct pm_profile *profile = ingested->profile;
    for (size_t b = 0; b < profile->n_block_sizes; b++)
        *PM_PUSH(differences, totals) =
            (struct pm_program_total){.block_bytes = profile->block_sizes[b]};
    for (size_t i = 0; i < ingested->streams.n_histograms; i++) {
        const struct pm_stream_histogram *of = &ingested->streams.histograms[i];
        for (size_t b = 0; b < differences->n_totals; b++) {
            struct pm_program_total *total = &differences->totals[b];
            if (ingested->streams.streams[of->stream].kind == PM_STREAM_SHARED ||
                total->block_bytes != of->histogram.block_bytes)
                continue;
            total->accesses += pm_histogram_accesses(&of->histogram);
            total->cold += of->histogram.cold_loads + of->histogram.cold_stores;
        }
    }
}

void pm_ingested_match(const struct pm_structure *from, const struct pm_structure *to,
                       struct pm_ingested *ingested, struct pm_build_differences *differences) {
    struct pm_structure_match *match = pm_structure_match(from, to);
    pm_build_differences_list(match, ingested->profile->edge_counts, differences);
    pm_build_work_measure(from, ingested->profile->edge_counts, to, match->holders,
                          &differences->work);
    list_totals(ingested, differences);
    pm_match_profile(match, ingested->profile);
    pm_match_streams(match, &ingested->streams);
    bool *inexact = pm_match_inexact(match, ingested->inexact);
    free(ingested->inexact);
    ingested->inexact = inexact;
    if (ingested->communication)
        pm_communication_of_other_build(ingested->communication, &ingested->notes);
    char *note = pm_build_differences_sentence(differences);
    if (note)
        pm_add_note(&ingested->notes, note);
    free(note);
    pm_structure_match_free(match);
}
