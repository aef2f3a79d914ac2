/* What a run did that is in no histogram, although the analysis was asked for: counted, so that it
   can be told how many accesses were left out.  One that reads and writes is a load and a store. In
   routines that are left out an execution of a reference is one access, whatever its kind; else
   string instructions, masked vectors, gathers and calls of the C library are as many as they are
   where they are analysed. */
#ifndef PM_SKIPPED_H
#define PM_SKIPPED_H

enum pm_skipped_reason {
    PM_SKIPPED_STOPPED,   /* measuring was off (markers, --start-at, --stop-after) */
    PM_SKIPPED_LEFT_OUT,  /* in routines that --include and --exclude leave out */
    PM_SKIPPED_UNMATCHED, /* in code that the other builds do not have so (--build) */
    PM_N_SKIPPED,
};

struct pm_skipped_accesses {
    double loads, stores;
    double executions; /* PM_SKIPPED_STOPPED: how often measuring was switched off in a thread;
                          PM_SKIPPED_LEFT_OUT: how often such a routine was entered;
                          PM_SKIPPED_UNMATCHED: 0 */
};

/* What SKIPPED says for this reason, as a sentence that the caller frees; NULL: nothing. */
char *pm_skipped_sentence(const struct pm_skipped_accesses *skipped, enum pm_skipped_reason reason);

#endif
