/* Intervals: what a thread does between two calls that end one (core/probe_abi.h), by the call
   paths of both (core/raw_file.h, PM_RAW_INTERVALS).

   At such a call the thread takes what its counters rose by since the last one, and what was noted
   of activations that were left or resumed meanwhile (nonlocal_exits), and adds both to a row of
   the kind of interval that ends there.  Nothing is allocated unless a kind, a row or a counter is
   new. Rows of a kind are bounded: where there would be more, neighbours are joined.  Where there
   is no room for another path or kind the interval just goes on: so whatever happens, all rows
   together are what the thread counted.

   Every thread has its own; who writes the raw file meanwhile takes them one after the other. */
#ifndef PM_RUNTIME_INTERVALS_H
#define PM_RUNTIME_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/raw_output/raw_output.h"
#include "runtime/threads.h"

/* Does the process keep intervals?  It does if a module has calls that end one and no event handler
   of the user's takes their place. */
extern bool pm_intervals_are_kept;

/* To be called once, before the program begins, when the handler is known. */
void pm_intervals_begin(void);

/* In the child of a fork: forgets all. */
void pm_intervals_after_fork(void);

/* The event that BLOCK's thread, the calling one, is in the slow path for ends an interval. Signals
   are blocked, what was recorded before has been consumed. */
void pm_intervals_end(struct pm_control_block *block);

/* So does the end of THREAD, the calling one; signals are blocked, within pm_analysis_enter. */
void pm_intervals_thread_end(struct pm_thread *thread);

/* COUNT more activations of THREAD were left for good, or resumed, at the call of MODULE that
   returns to RETURN_ADDRESS.  Any time, in any signal handler. */
void pm_intervals_note_exit(struct pm_thread *thread, uint32_t module, uint64_t return_address,
                            bool resumed, int64_t count);

/* ---- the file -------------------------------------------------------------------------------- */

/* Takes what all threads did until now, so that what follows belongs together. */
void pm_intervals_take_all(void);

/* What THREAD's counters stood at then, for those below *N; NULL: its counters are to be read. */
const uint64_t *pm_intervals_counts(const struct pm_thread *thread, uint32_t *n);

/* The sections PM_RAW_INTERVALS. */
void pm_intervals_write(struct pm_raw_builder *builder);

#endif
