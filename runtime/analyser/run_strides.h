/* How the addresses of references go through memory, level by level of the loops around them.

   Model.  The addresses of a reference, in the order of its executions, are cut into runs: a run
   goes on as long as the next address differs from the last one by the run's stride.  Runs of the
   addresses are level 0, which is what the innermost loop does that moves the reference; runs of
   the first addresses of level 0's runs are level 1, which is the next loop; and so on.  So a level
   has a stride in bytes and a number of elements, whatever routines its loops are in, and
       address = first address + Σ over the levels  number in the run · stride.
   Where the end of a run meets the begin of the next one, as in an array without gaps, two loops
   are one level.  What varies from run to run has the value that most have (of at most
   PM_STRIDE_VALUES kept, by the method of Misra and Gries 1982), and the share that has it.

   Runs that differ because each call, or each pass over the data, has strides of its own are kept
   apart as well, up to PM_STRIDE_VARIANTS kinds of them at each level.

   Assumed: what is true in windows of the thread's accesses is true of all.  A window is
   65,536 to a million words of records, at random places, so that about one word in sixteen is
   looked at; before these, the thread's first two million are.  Where a batch of records begins
   with code that no window has met, one more opens, a million words behind the last one at least:
   so that what is done once is seen, too.  Runs that a window cuts do not count, unless a level has
   no others: then its number of elements is a lower bound.  Above a level where addresses follow no
   stride there is none.

   Costs: docs/log-measuring.md. */
#ifndef PM_RUNTIME_STRIDES_H
#define PM_RUNTIME_STRIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/pmodel_handler.h"

enum { PM_STRIDE_LEVELS = 6, PM_STRIDE_VALUES = 4, PM_STRIDE_VARIANTS = 16 };

/* Values and their weights, in no order; weight 0: none. */
struct pm_frequent_values {
    int64_t values[PM_STRIDE_VALUES];
    uint64_t weights[PM_STRIDE_VALUES];
};

/* Runs of a level that are alike: in their stride, their number of elements and the runs that their
   first elements are. */
struct pm_run_variant {
    uint64_t id, inner; /* INNER: the id of the runs of the level below; 0: not known */
    int64_t stride;
    uint64_t count;
    uint64_t weight;   /* elements of these runs, by the method of Misra and Gries; 0: none */
    uint64_t since;    /* on the thread's clock: the end of the first of them */
    uint64_t n_phases; /* how often one of them came after a run that was another */
    uint64_t lowest, highest; /* of their elements */
};

struct pm_walk_level {
    uint64_t first, last;              /* of the run under way: its first and last element */
    uint64_t n;                        /* its elements so far; 0: none is under way */
    int64_t stride;                    /* its stride, if n > 1 */
    bool is_cut;                       /* the run may have begun before the window */
    uint64_t inner;                    /* id of the run that its first element is; 0: not known */
    struct pm_frequent_values strides; /* by the number of elements that follow them */
    struct pm_frequent_values counts;  /* of elements, by the number of runs */
    uint64_t n_runs, n_elements;       /* of whole runs, in all */
    uint64_t cut_n;                    /* of the longest run that was cut … */
    int64_t cut_stride;                /* … its stride */
    struct pm_run_variant *variants;   /* [PM_STRIDE_VARIANTS]; NULL: no run was seen whole */
    uint64_t last_id;                  /* of the whole run before */
    uint32_t last_variant;             /* where that is or was */
};

/* What the addresses of one reference did, or of several that are apart by constants. */
struct pm_address_walk {
    uint64_t lowest, highest;                       /* addresses */
    uint64_t n;                                     /* executions that were looked at */
    uint32_t window;                                /* in which it has runs under way; 0: none */
    struct pm_walk_level *levels[PM_STRIDE_LEVELS]; /* NULL: there was no element of it */
};

struct pm_strides;

/* Of one thread; NULL: no memory. */
struct pm_strides *pm_strides_new(void);
void pm_strides_free(struct pm_strides *strides);

/* The thread's accesses, if a window is open or opens now.  STREAM tells consecutive accesses from
   those that are analysed at the same time elsewhere: a window is of one stream. */
void pm_strides_accesses(struct pm_strides *strides, uint32_t stream,
                         const struct pmodel_access *batch, size_t count);

/* The same of the records from WORDS up to END, all of known address records (runtime/modules.h),
   or events. */
void pm_strides_records(struct pm_strides *strides, uint32_t stream, const uint64_t *words,
                        const uint64_t *end);

/* What follows in STREAM does not follow what came before: its window ends. */
void pm_strides_interrupt(struct pm_strides *strides, uint32_t stream);

/* Takes in the runs under way, for pm_strides_of; they begin anew behind it. */
void pm_strides_flush(struct pm_strides *strides);

bool pm_strides_have_failed(const struct pm_strides *strides); /* out of memory */

/* What is known of REFERENCE: WALK of itself or of another one, OFFSET bytes away.  False: its
   executions were not looked at. */
bool pm_strides_of(const struct pm_strides *strides, uint32_t reference,
                   const struct pm_address_walk **walk, int64_t *offset);

#endif
