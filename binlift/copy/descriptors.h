/* The tables that the runtime finds in an instrumented file; see descriptors.c.  Private to
 * binlift/copy/. */
#ifndef PM_DESCRIPTORS_H
#define PM_DESCRIPTORS_H

#include "binlift/lifted.h"
#include "core/probe_abi.h"

/* Header, references, scopes and names as they stand at the segment's start, 16-byte aligned in
   size. Traps are put in by pm_instrument.  SCOPE_FLAGS: per scope, enum pm_probe_scope_flags.
   PAYLOAD_SLOTS: of a reference's kind, as its code appends them. The caller frees *BYTES. */
void pm_build_descriptors(const struct pm_lifted *lifted,
                          const struct pm_instrument_options *options, const uint8_t *scope_flags,
                          uint64_t segment_address, uint8_t (*payload_slots)(uint8_t kind),
                          uint8_t **bytes, size_t *n_bytes);

#endif
