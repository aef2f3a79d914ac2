/* Bytes packed with zstd, unpacked without trusting what they say of themselves. */
#ifndef PM_UNPACK_H
#define PM_UNPACK_H

#include <stddef.h>

/* Contents of the zstd frame PACKED, which must state their size; *N_BYTES is that size.  NULL if
   the frame is damaged, or states more than its N_PACKED bytes can hold or memory has room for.
   Owned by the caller (free). */
void *pm_unpack(const void *packed, size_t n_packed, size_t *n_bytes);

#endif
