/* Memory records become accesses and events, told to the process's handler. */
#ifndef PM_RUNTIME_RECORDS_DECODE_H
#define PM_RUNTIME_RECORDS_DECODE_H

#include "runtime/threads.h"

/* The records from address FROM up to TO, of BLOCK's buffer.  The caller holds `busy`. */
void pm_decode_records(struct pm_control_block *block, uint64_t from, uint64_t to);

/* An event of SCOPE (enum pm_carried_event) takes its place among the accesses, for an analysis
   that wants it there (pm_analyser_carries). */
void pm_decode_add_event(struct pm_thread *thread, uint32_t event, uint32_t scope);

/* Hands over what is waiting. */
void pm_decode_flush(struct pm_thread *thread);

#endif
