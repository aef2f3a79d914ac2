/* How a program behaves beside its counts, as measured: properties of the program, on no machine.

   Branches: how often reference predictors of a thread's own are wrong at each conditional branch
   that control goes both ways of inside the program.  There are three, from the publications, each
   with the tables of one processor core: bimodal counters, global history (gshare), and TAGE
   (runtime/branch_outcomes/branch_outcomes.h says their sizes).  What a real core has is not
   published; the strongest is near to what cores of the last fifteen years do.

   Trips: entries of each loop by how many iterations they have, of loops with one way out that each
   iteration comes to, a conditional branch. */
#ifndef PM_BEHAVIOUR_H
#define PM_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/raw_file.h"

/* A branch, by the basic block that it ends, in all threads and processes.  Executions are counted
   all; of these ANALYSED were given to the predictors with tables that were warm, in bursts. */
struct pm_measured_branch {
    uint32_t block;
    double executions, taken; /* taken: went to the branch's target */
    double analysed;
    double wrong[PM_N_PREDICTORS]; /* of the analysed ones, by enum pm_branch_predictor */
};

/* Entries of the innermost loop around BLOCK, whose branch is the only way out of it, with trips in
   RANGE (core/raw_file.h), in all threads and processes.  An iteration is an execution of the
   loop's header.  Entries that are not left by that way, as by exit() or longjmp(), are none, or
   are one with the next entry; those of a recursion within the loop begin the count anew. */
struct pm_measured_trips {
    uint32_t block, range;
    double entries, iterations;
};

/* Of a run.  What is not there was not measured. */
struct pm_behaviour {
    PM_ARRAY(struct pm_measured_branch, branches); /* ascending by block; owned */
    PM_ARRAY(struct pm_measured_trips, trips);     /* ascending by block and range; owned */
};

void pm_behaviour_free(struct pm_behaviour *behaviour); /* what it owns */

/* Adds the counts of FROM, of the same branch. */
void pm_measured_branch_add(struct pm_measured_branch *to, const struct pm_measured_branch *from);

/* Adds ROW to the branches, or the trips, out of order; puts them in order, those of one block, or
   of one block and range, as one. */
void pm_behaviour_add_branch(struct pm_behaviour *behaviour, const struct pm_measured_branch *row);
void pm_behaviour_add_trips(struct pm_behaviour *behaviour, const struct pm_measured_trips *row);
void pm_behaviour_sort(struct pm_behaviour *behaviour);

/* The branch at the end of BLOCK; NULL: none was executed, or measured. */
const struct pm_measured_branch *pm_behaviour_branch(const struct pm_behaviour *behaviour,
                                                     uint32_t block);

/* The *N rows of trips at the end of BLOCK; 0: none were measured. */
const struct pm_measured_trips *pm_behaviour_trips(const struct pm_behaviour *behaviour,
                                                   uint32_t block, size_t *n);

/* Of a loop's entries. */
struct pm_trips_summary {
    double shortest, mean, longest; /* iterations of an entry; the ends are means of their ranges */
    double usual;                   /* half of the iterations are in entries of at most these */
};
/* Of N rows of one block; all NAN: there are none. */
struct pm_trips_summary pm_trips_summary(const struct pm_measured_trips *rows, size_t n);

/* How often PREDICTOR is wrong in all executions of BRANCH, as it is in the analysed ones; NAN:
   none were analysed. */
double pm_branch_mispredictions(const struct pm_measured_branch *branch,
                                enum pm_branch_predictor predictor);

/* ---- sequential touches (sequential.c) --------------------------------------------------------

   Sequential touches: those of a group that go on from one block to the next, as prefetchers follow
   them (runtime/reuse/sequential_touches.h has the definition), each by its own reuse distance, in
   blocks of the smallest size that was measured.  A property of the program, on no machine.

     share(level) = sequential touches that miss / touches that miss

   for a level of any size: both counts are of distances of at least its capacity, or through what a
   shared level serves, and cold ones.  Blocks of the level may be larger than those that were
   followed: then it is the share among the misses of a level of as many bytes in these. */

struct pm_histogram;
struct pm_level;
struct pm_profile;

/* Touches at smaller distances are not looked at; they miss in no cache. */
enum { PM_LEAST_FAR = 16 };

/* Of GROUP's misses in LEVEL; of a level that none of its touches misses the share of those that
   are farthest.  NAN: not measured, or the group has no touches that could miss. */
double pm_sequential_share(const struct pm_profile *profile, uint32_t group,
                           const struct pm_level *level);

/* The histogram of the touches of GROUP that *SEQUENTIAL is a part of; NULL: not measured. */
const struct pm_histogram *pm_sequential_among(const struct pm_profile *profile, uint32_t group,
                                               const struct pm_histogram **sequential);

#endif
