/* Reuse distances of whole address records (core/probe_abi.h) at once, of one thread for one block
   size.

   An address record is a run of a basic block's references; a record of one has only the addresses
   that differ by more than a constant.  Which blocks an execution touches, in which order, and at
   which distance it touches one again, depends on where in their blocks these addresses lie: it is
   computed once for each such case, and later executions of it only count how often that was.  The
   histograms equal those of the accesses one by one; nothing is rounded or left out.  How:
   record_state.h.
 */
#ifndef PM_RUNTIME_REUSE_ADDRESS_RECORDS_H
#define PM_RUNTIME_REUSE_ADDRESS_RECORDS_H

#include <stdint.h>

struct pm_record_reuse;
struct pm_reuse;

/* The analysis of address records above REUSE, which stays the caller's.  NULL without memory. */
struct pm_record_reuse *pm_record_reuse_new(struct pm_reuse *reuse);
void pm_record_reuse_free(struct pm_record_reuse *address_records);

/* Analyses the records from WORDS up to END, which stand in a buffer with room for PM_RECORD_BASES
   words more: those of known address records up to the first other record.  Where that is. */
const uint64_t *pm_record_reuse_walk(struct pm_record_reuse *address_records, const uint64_t *words,
                                     const uint64_t *end);

/* Touches that are not those of address records come in between. */
void pm_record_reuse_interrupt(struct pm_record_reuse *address_records);

/* Adds to the histograms of `reuse` what sequences account for; they begin to count anew. */
void pm_record_reuse_flush(struct pm_record_reuse *address_records);

#endif
