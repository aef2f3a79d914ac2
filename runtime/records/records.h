/* Buffers of memory records are consumed: when they are full, and where a thread ends or stops. */
#ifndef PM_RUNTIME_RECORDS_H
#define PM_RUNTIME_RECORDS_H

#include "runtime/threads.h"

/* With PM_ENV_SHARED the accesses of all threads are also analysed as one stream.

   Every time that a thread's buffer is full, or it ends or calls a routine by which threads wait
   for each other (binlift/code/called.c), the records that any thread has made until then are
   consumed, one thread after the other by their numbers, under one lock.  Buffers are of
   PM_SHARED_QUANTUM_BYTES.  So of two accesses of different threads the one that happened first
   comes first if in between one thread filled its buffer (at most 512 executions of a basic block,
   or 256 single accesses) or called such a routine.  Of accesses that are closer the order is that
   of the threads' numbers.  A thread that waits holds nobody up.  The order of a thread's own
   accesses is always as it was. */
enum { PM_SHARED_QUANTUM_BYTES = 4096 };
extern bool pm_records_are_shared;

/* To be called once, in the first thread, before there are others. */
void pm_records_share(void);

void pm_records_after_fork(void);

/* The C part of the slow path: consumes the records of BLOCK and empties its buffer. */
void pm_consume_records(struct pm_control_block *block);

/* That of pm_branch_path: what is in BLOCK's buffer of branches is analysed, and it is empty again.
 */
void pm_consume_full_branches(struct pm_control_block *block);

/* Consumes what THREAD, the calling one, has in its buffers. */
void pm_consume_pending(struct pm_thread *thread);

/* The same for another thread, which may be running: its buffers stay as they are and only what has
   not been consumed yet is.  False if the thread stayed busy. */
bool pm_consume_pending_of(struct pm_thread *thread);

/* A handler of the program that ran on BLOCK, of the calling thread, ended or is jumped out of: its
   records are consumed, and what it had entered counts as left. */
void pm_consume_handler(struct pm_control_block *block);

/* ---- decoding -------------------------------------------------------------------------------- */

/* The records from address FROM up to TO, of BLOCK's buffer, become accesses and events, which the
   process's handler gets by way of DECODER, the thread's or one for a piece of its records.  The
   caller holds `busy` or has taken them from the thread's queue. */
void pm_decode_records(struct pm_decoder *decoder, struct pm_control_block *block, uint64_t from,
                       uint64_t to);

/* An event of SCOPE (enum pm_carried_event) takes its place among the accesses, for an analysis
   that wants it there (pm_analyser_carries). */
void pm_decode_add_event(struct pm_thread *thread, uint32_t event, uint32_t scope);

/* Hands over what is waiting. */
void pm_decode_flush(struct pm_thread *thread);

#endif
