/* Calls of routines of the C library, from rewritten code to records. */
#ifndef PM_RUNTIME_RECORDS_LIBRARY_CALLS_H
#define PM_RUNTIME_RECORDS_LIBRARY_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/control_block.h"

/* Appends what the routine accesses that block->event names (pm_called_word) with its first three
   arguments; there must be room for 12 words.  True: the buffer is to be emptied now. */
bool pm_called(struct pm_control_block *block, uint64_t first, uint64_t second, uint64_t third);

#endif
