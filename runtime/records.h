/* Buffers of memory records are consumed: when they are full, and where a thread ends or stops. */
#ifndef PM_RUNTIME_RECORDS_H
#define PM_RUNTIME_RECORDS_H

#include "runtime/threads.h"

/* The C part of the slow path: consumes the records of BLOCK and empties its buffer. */
void pm_consume_records(struct pm_control_block *block);

/* Consumes what THREAD, the calling one, has in its buffers. */
void pm_consume_pending(struct pm_thread *thread);

/* The same for another thread, which may be running: its buffers stay as they are and only what has
   not been consumed yet is.  False if the thread stayed busy. */
bool pm_consume_pending_of(struct pm_thread *thread);

/* A handler of the program that ran on BLOCK, of the calling thread, ended or is jumped out of: its
   records are consumed, and what it had entered counts as left. */
void pm_consume_handler(struct pm_control_block *block);

#endif
