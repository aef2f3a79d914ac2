/* The profile store: the ranks of a run of an MPI program (core/ranks/ranks.h). */
#include "core/raw_file.h"
#include "core/store/private.h"

/* Such a run need not be there. */
bool pm_store_put_ranks(struct pm_store *store, const struct pm_parameters *parameters,
                        const struct pm_ranks *ranks, struct pm_error *err) {
    int64_t run = ranks->n_ranks ? pm_store_find_run(store, parameters, err) : 0;
    if (run <= 0)
        return run == 0;
    pm_store_forget_roles(store);
    run = pm_store_replace(store, parameters, PM_RANKS, PM_RANKS, err);
    struct pm_store_rows rows = pm_rows_to(store, PM_RANKS, run, err);
    for (size_t i = 0; run && i < ranks->n_ranks; i++)
        pm_rows_put(&rows, &(struct pm_stored_rank){ranks->ranks[i], ranks->tolerance});
    return pm_store_end(store, pm_rows_end(&rows) && run, err);
}

enum { MOST_PROCESSES = 4 * PM_MOST_RANKS }; /* ranks may have forked */

bool pm_store_ranks_of_run(struct pm_store *store, int64_t run, struct pm_ranks *ranks,
                           struct pm_error *err) {
    struct pm_store_rows rows = pm_rows_of(store, PM_RANKS, run, err);
    const struct pm_stored_rank *row;
    while ((row = pm_rows_next(&rows))) {
        const struct pm_rank *is = &row->is;
        struct pm_rank *rank = PM_PUSH(ranks, ranks);
        *rank = *is;
        rank->host = rank->host ? rank->host : pm_strdup("");
        ranks->tolerance = row->tolerance;
        if (is->process > MOST_PROCESSES || is->rank >= is->size || is->size > PM_MOST_RANKS ||
            is->group > is->size)
            pm_rows_damaged(&rows);
    }
    return pm_rows_end(&rows);
}
