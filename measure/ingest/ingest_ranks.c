/* Which rank each process of a run was, and what is odd in what they say of that.

   Several processes of one rank are fine where all but one began as its children, or ended in an
   exec.  Else several programs ran, or one that made others (MPI_Comm_spawn): then a rank's number
   names no process, and ranks are not told apart. */
#include <stdlib.h>

#include "core/rank_environment.h"
#include "measure/ingest/private.h"

void pm_ingest_rank(struct pm_ranks *ranks, struct pm_rank_oddities *odd, const struct pm_raw *raw,
                    uint32_t process) {
    const struct pm_raw_rank *from = &raw->rank;
    bool is_second = (raw->flags & (PM_RAW_FORKED | PM_RAW_BEFORE_EXEC)) != 0;
    if (from->size == 0)
        return;
    odd->library = from->library;
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        const struct pm_rank *other = &ranks->ranks[i];
        if (other->size != from->size && !odd->differs) {
            odd->differs = true;
            odd->a = *other;
            odd->b = (struct pm_rank){.rank = (uint32_t)from->rank, .size = (uint32_t)from->size};
        }
        odd->repeats |= !is_second && other->rank == from->rank && other->role != PM_NONE;
    }
    /* Until all are read the role says whether it is the rank's own process. */
    *PM_PUSH(ranks, ranks) = (struct pm_rank){.process = process,
                                              .rank = (uint32_t)from->rank,
                                              .size = (uint32_t)from->size,
                                              .host = pm_strdup(from->host),
                                              .role = is_second ? PM_NONE : 0};
}

/* pmodel itself was started as a rank, and the program only has its environment. */
static bool is_of_pmodel(const struct pm_ranks *ranks, uint64_t library_of_rank) {
    uint64_t rank, size, library;
    return pm_ranks_count(ranks, PM_NONE, PM_NONE) == 1 &&
           pm_rank_of_environment(&rank, &size, &library) && rank == ranks->ranks[0].rank &&
           size == ranks->ranks[0].size && library == library_of_rank;
}

void pm_ingest_ranks_end(struct pm_ingested *ingested, const struct pm_rank_oddities *odd,
                         const struct pm_structure *structure, double tolerance) {
    struct pm_ranks *ranks = &ingested->ranks;
    char *note = NULL;
    for (size_t i = 0; i < ranks->n_ranks; i++)
        ranks->ranks[i].role = 0;
    pm_ranks_sort(ranks);
    if (odd->differs)
        note = pm_sprintf("rank %u says that there are %u ranks, rank %u that there are %u: ranks "
                          "are not told apart",
                          odd->a.rank, odd->a.size, odd->b.rank, odd->b.size);
    else if (odd->repeats)
        note = pm_strdup("several processes say that they are the same rank: ranks are not told "
                         "apart");
    if (note || is_of_pmodel(ranks, odd->library))
        pm_ranks_free(ranks);
    if (note)
        pm_add_note(&ingested->notes, note);
    free(note);
    ingested->missing_ranks = pm_ranks_missing(ranks);
    pm_ranks_group_by_edges(ranks, structure, &ingested->streams, ingested->profile->edge_counts,
                            tolerance);
}
