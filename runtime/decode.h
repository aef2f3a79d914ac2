/* Memory records become accesses and events, told to the process's handler. */
#ifndef PM_RUNTIME_DECODE_H
#define PM_RUNTIME_DECODE_H

#include "runtime/threads.h"

/* The records from address FROM up to TO, of BLOCK's buffer.  The caller holds `busy`. */
void pm_decode_records(struct pm_control_block *block, uint64_t from, uint64_t to);

#endif
