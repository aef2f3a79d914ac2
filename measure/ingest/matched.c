/* The result of one build of a program in the numbers of another. */
#include <stdlib.h>

#include "measure/ingest/ingest.h"
#include "measure/raw/raw.h"

void pm_ingested_match(const struct pm_structure *from, const struct pm_structure *to,
                       struct pm_ingested *ingested, struct pm_build_differences *differences) {
    struct pm_structure_match *match = pm_structure_match(from, to);
    pm_build_differences_list(match, ingested->profile->edge_counts, differences);
    pm_match_profile(match, ingested->profile);
    pm_match_streams(match, &ingested->streams);
    bool *inexact = pm_match_inexact(match, ingested->inexact);
    free(ingested->inexact);
    ingested->inexact = inexact;
    char *note = pm_build_differences_sentence(differences);
    if (note)
        pm_add_note(&ingested->notes, note);
    free(note);
    pm_structure_match_free(match);
}
