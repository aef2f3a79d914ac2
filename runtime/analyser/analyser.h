/* The runtime's own event handler: reuse distances per thread, block size and reference group. */
#ifndef PM_RUNTIME_ANALYSER_H
#define PM_RUNTIME_ANALYSER_H

#include "runtime/pmodel_handler.h"
#include "runtime/profiler/profiler.h"
#include "runtime/reuse/carried_reuse/carried_reuse.h"
#include "runtime/reuse/reuse.h"
#include "runtime/reuse/dirty_distances/dirty_distances.h"
#include "runtime/analyser/run_strides.h"
#include "runtime/threads.h"

enum { PM_MAX_BLOCK_SHIFT = 21, PM_MAX_BLOCK_SIZES = PM_MAX_BLOCK_SHIFT + 1 };

/* `begin` reads PM_ENV_BLOCK and PM_ENV_PROFILE; it is not 0 when there is nothing to analyse. */
extern const struct pmodel_handler pm_analyser;

extern unsigned pm_n_block_sizes;

/* PM_ENV_CARRY: it finds what carries each reuse (carried.h), and wants events among the accesses.
 */
extern bool pm_analyser_carries;

/* Is this the process's handler, and does it take address records as they are?  With
                                                                                 PM_ENV_ACCESSES it
   does not. */
bool pm_analyser_takes_records(void);

/* Analyses the address records from WORDS up to END, as far as they are such and known; where
   the first other record is.  WORDS of a thread that is out of memory.  Where carriers are asked
   for it may take records of ITERATION as well. */
const uint64_t *pm_analyser_records(uint32_t thread, const uint64_t *words, const uint64_t *end,
                                    const struct pm_carried_iteration *iteration);

/* Where carriers are asked for: what stands in no batch.  False: it must come in one. */
bool pm_analyser_event(uint32_t thread, enum pm_carried_event event, uint32_t scope);

/* Makes ready what the functions below give. */
void pm_analyser_flush(void);
/* The same for the histograms of one thread, after all its records were analysed. */
void pm_analyser_flush_thread(uint32_t thread);

/* In place of a thread's number: all threads (PM_ENV_SHARED, records.h). */
#define PM_SHARED_STREAM PM_MAX_THREADS

/* ---- pieces (reuse/pieces.h)
   ----------------------------------------------------------------------

   Pieces of a thread's records may be analysed at the same time, each in a stream of its own: a
   number in place of a thread's. */

enum {
    PM_FIRST_PIECE_STREAM = PM_MAX_THREADS + 1,
    PM_PIECE_STREAMS = 256,
    PM_NO_STREAM = 0xffffff
};

/* Is that so?  Where records are wanted in their order (carriers, bytes, samples, all threads as
   one stream, handlers of users) it is not. */
bool pm_analyser_takes_pieces(void);

/* A stream for a piece of THREAD, nobody else's until it is resolved; PM_NO_STREAM: none is left.
 */
uint32_t pm_analyser_take_stream(uint32_t thread);

/* The piece in STREAM is complete. */
void pm_analyser_end_piece(uint32_t stream);

/* Resolves it, all pieces of THREAD before being resolved, and gives the stream back. */
void pm_analyser_resolve_piece(uint32_t thread, uint32_t stream);

/* ---- what was found -------------------------------------------------------------------------- */

/* The analysis of a thread for the block size with ordinal SIZE; NULL if it saw no access or ran
   out of memory. */
const struct pm_reuse *pm_analyser_result(uint32_t thread, unsigned size);

/* The same of what was carried; NULL too if that was not asked for. */
const struct pm_carried *pm_analyser_carried(uint32_t thread, unsigned size);

/* The same of stores by dirty distance (PM_ENV_WRITE_BACKS). */
const struct pm_write_backs *pm_analyser_write_backs(uint32_t thread, unsigned size);

/* The strides of a thread's references; NULL if it saw no access or ran out of memory. */
const struct pm_strides *pm_analyser_strides(uint32_t thread);

/* The bytes that GROUP was the first to touch in a thread; PM_RAW_UNKNOWN_BYTES if nobody asked
   (PM_ENV_BYTES), the thread saw no access or ran out of memory. */
uint64_t pm_analyser_bytes(uint32_t thread, uint32_t group);

/* The profile of a thread's basic blocks; NULL if nobody asked (PM_ENV_PROFILE), it saw no access
   or ran out of memory. */
const struct pm_profiler *pm_analyser_profile(uint32_t thread);

/* The thread is gone; another one that takes over its number begins without blocks. */
void pm_analyser_thread_end(uint32_t thread);

void pm_analyser_after_fork(void);

#endif
