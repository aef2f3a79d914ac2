/* What each basic block of a thread does with memory: how many references it makes, of how many
   bytes, with which strides, and which level of simulated machines had what they asked for
   (Snavely, Wolter & Carrington 2001, section 5).  With PM_ENV_PROFILE, in place of reuse
   distances.

   Strides.  A reference's address is compared with the last addresses of its basic block, as many
   as the window has.  The stride is the distance from the nearest of them, in elements of the size
   that is accessed: 0, up to 1, 2, 4 or 8, or more, which is random (core/block_profile/).

   Caches.  Every reference touches the blocks that hold its bytes, in ascending order, of each
   machine's caches (simulated_caches.h), of which each thread has its own.  What served it is the
   farthest of the levels that these blocks came from.

   How.  Address records are taken as they are.  An execution whose addresses all moved by as
   much as in the execution before has the strides of that one, as long as no two addresses that
   move apart come near each other: it is only counted.  An execution whose blocks are all the last
   ones of their sets changes no cache: a comparison for each tells. */
#ifndef PM_RUNTIME_PROFILE_H
#define PM_RUNTIME_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/pmodel_handler.h"

enum { PM_STRIDE_CLASSES = 6, PM_MOST_STRIDE_WINDOW = 4096 };

struct pm_profiler;

/* Reads PM_ENV_PROFILE and PM_ENV_SIMULATE, once; false: no profile is asked for. */
bool pm_profiler_wanted(void);

/* Of one thread.  NULL: no memory. */
struct pm_profiler *pm_profiler_new(void);
void pm_profiler_free(struct pm_profiler *profile);
bool pm_profiler_has_failed(const struct pm_profiler *profile); /* out of memory */

/* The thread's accesses. */
void pm_profiler_accesses(struct pm_profiler *profile, const struct pmodel_access *batch,
                          size_t count);

/* The same of the records from WORDS up to END, which stand in a buffer with room for
   PM_RECORD_ADDRESSES words more: those of known address records up to the first other record.
   Where that is. */
const uint64_t *pm_profiler_records(struct pm_profiler *profile, const uint64_t *words,
                                    const uint64_t *end);

/* The caches are empty, and nothing is near, as if a new thread began; counts stay. */
void pm_profiler_forget(struct pm_profiler *profile);

/* Takes in what was only counted, for the sections below. */
void pm_profiler_flush(struct pm_profiler *profile);

/* Adds to a raw file what THREAD's profile has of MODULE: PM_RAW_PROFILE and PM_RAW_LANES. */
struct pm_raw_builder;
void pm_profiler_add(struct pm_raw_builder *builder, const struct pm_profiler *profile,
                     uint32_t module, uint64_t thread);

#endif
