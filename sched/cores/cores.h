/* Time of a program with several threads on several cores.

       T = T_serial + Σ over parallel parts  max over cores  Σ over the core's threads  T(part,
   thread)

   A parallel part is a routine that threads other than the first enter from code that was not
   measured, with all that it calls: what an OpenMP compiler makes of a parallel region, and what
   pthread_create starts.  Everybody waits at its end for the one that takes longest.  T(part,
   thread) is the prediction of what this thread did there, on a core that has its private levels to
   itself, its share of the shared ones, and its share of the bandwidth (share.c).  What the first
   thread does outside such parts is T_serial, on a machine that it has to itself.

   Loops in which a thread only waits for another are left out (spin_loops.c).  Not in it: beginning
   and ending parallel parts, locks that are held by others, lines that go from core to core. */
#ifndef PM_CORES_H
#define PM_CORES_H

#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "sched/sched.h"

/* As pm_predict, of a PROFILE with threads; OPTIONS have a table of known paths.  Costs of scopes
   are of the threads on the core that takes longest in the part that they belong to, so that they
   add up to the whole. */
struct pm_prediction *pm_predict_cores(const struct pm_structure *structure,
                                       const struct pm_profile *profile,
                                       const struct pm_machine *machine,
                                       const struct pm_predict_options *options,
                                       struct pm_error *err);

/* ---- threads_misses.c ------------------------------------------------------------------------ */

/* The misses of each thread of PROFILE, of the machine and of a core's share of it, together with
   those of both ENDS of its intervals (NULL: none): what is between two uses is looked for once, as
   pm_set_misses does for one thread.  Freed by pm_threads_misses_free. */
struct pm_threads_misses *pm_threads_misses_new(const struct pm_profile *profile,
                                                struct pm_profile *const *ends);
void pm_threads_misses_free(struct pm_threads_misses *misses); /* NULL is allowed */

/* Those of thread T of OF, which is the profile or one of its ends, as pm_predict_options have
   them: into LEVELS, of which the first thread's are for MACHINE, then for SHARE, those of the
   others for SHARE.  THREAD: without waiting (pm_take_out_spin_loops).  The profile's are asked for
   first, all of its threads.  False: they are not known, as of an end on another number of cores.
 */
bool pm_threads_misses_of(struct pm_threads_misses *misses, const struct pm_structure *structure,
                          const struct pm_profile *of, size_t t, const struct pm_profile *thread,
                          const struct pm_machine *machine, const struct pm_machine *share,
                          unsigned n_cores, double **levels);

/* ---- share.c --------------------------------------------------------------------------------- */

/* MACHINE as one of N_CORES at work sees it.  Freed by pm_machine_copy_free. */
struct pm_machine *pm_machine_share(const struct pm_machine *machine, unsigned n_cores);

/* Cores of N_CORES that share LEVEL with each other, put side by side. */
unsigned pm_cores_at_level(const struct pm_level *level, unsigned n_cores);

/* ---- spin_loops.c -------------------------------------------------------------------------- */

/* Takes out of the EDGE_COUNTS of N_THREADS, each of one value an edge, what threads did only while
   they waited for others, and adds these loops to SPIN. */
void pm_take_out_spin_loops(const struct pm_structure *structure, double *const *edge_counts,
                            size_t n_threads, struct pm_spin_loops *spin);

/* ---- parallel_parts.c ------------------------------------------------------------------------ */

struct pm_parts {
    const struct pm_structure *structure;
    PM_ARRAY(uint32_t, routines); /* of each part; PM_NONE: 0, what is serial */
    uint32_t *part_of;            /* per routine: the part that it begins, 0: none */
    bool first_works;             /* the first thread takes part in parallel parts; else it waits */
};

/* Those of PROFILE, which has threads.  Freed by pm_parts_free. */
void pm_parts_find(const struct pm_structure *structure, const struct pm_profile *profile,
                   struct pm_parts *parts);
void pm_parts_free(struct pm_parts *parts);

/* Of what a thread with these EDGE_COUNTS did in each routine the share that it did for each part,
   [routine · n_routines of PARTS + part]; the caller frees.  A routine that several parts call is
   theirs in proportion to their calls, as if all calls were alike. */
double *pm_parts_shares(const struct pm_parts *parts, const double *edge_counts);

#endif
