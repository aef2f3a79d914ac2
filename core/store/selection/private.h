/* What the files of this folder share: which processes and intervals of a run are selected. */
#ifndef PM_STORE_SELECTION_PRIVATE_H
#define PM_STORE_SELECTION_PRIVATE_H

#include "core/store/private.h"

/* Of the selection of a store what a run has. */
struct pm_selected {
    const struct pm_selection *selection; /* the store's */
    struct pm_ranks ranks;                /* of the run, if ranks are selected */
    unsigned n_ranks;                     /* selected ones; 0: all, added up */
    uint32_t n_processes;
    bool *takes; /* for each process, if ranks are selected; owned */
};
/* *IS_THERE: whether the run has what is selected, intervals not looked at.  Freed by
   pm_selected_free, also after an error. */
bool pm_selected_find(struct pm_store *store, int64_t run, struct pm_selected *selected,
                      bool *is_there, struct pm_error *err);
void pm_selected_free(struct pm_selected *selected); /* what it owns */
bool pm_selected_takes(const struct pm_selected *selected, uint32_t process);

/* ---- select_intervals.c ---------------------------------------------------------------------- */

/* Intervals of the selected kind and processes with ordinals from FIRST on, before the next one's,
   which are taken together. */
struct pm_ordinals {
    uint64_t first, n; /* the most that a thread has of them */
};
struct pm_ordinal_list {
    PM_ARRAY(struct pm_ordinals, list); /* ascending; owned by the caller (free) */
    uint64_t step;                      /* from one FIRST to the next one */
};
/* None: the run has no such intervals. */
bool pm_selected_ordinals(struct pm_store *store, int64_t run, const struct pm_selected *selected,
                          struct pm_ordinal_list *ordinals, struct pm_error *err);
/* What stands for them as a parameter: the mean of their numbers, which count from 1, because
   models are of sizes above 0. */
double pm_ordinals_value(const struct pm_ordinals *ordinals);

/* By what each of ROWS counts: 1, or, where ordinals are told apart at PARAMETERS, one over how
   many its thread has of them; 0: it is not selected.  The caller frees; NULL after an error. */
double *pm_selected_weights(struct pm_store *store, int64_t run,
                            const struct pm_parameters *parameters,
                            const struct pm_selected *selected, const struct pm_intervals *rows,
                            struct pm_error *err);

#endif
