/* Packing with zstd, and unpacking without trusting what the packed bytes say of themselves. */
#ifndef PM_UNPACK_H
#define PM_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* zstd's working memory, which takes longer to make than a small frame: for those who pack or
   unpack many.  NULL in its place is right, and slower. */
struct pm_packing;
struct pm_packing *pm_packing_new(void);
void pm_packing_free(struct pm_packing *packing); /* NULL is allowed */

/* Packs N_BYTES into TO, which has ROOM (ZSTD_compressBound); how many they became. */
size_t pm_pack(struct pm_packing *packing, void *to, size_t room, const void *bytes,
               size_t n_bytes);

/* *N_BYTES: as many as the zstd frame PACKED states that its contents have.  False: it states none,
   or more than its N_PACKED bytes can hold. */
bool pm_packed_size(const void *packed, size_t n_packed, uint64_t *n_bytes);

/* Contents of the zstd frame PACKED, which must state their size; *N_BYTES is that size.  NULL if
   the frame is damaged, or states more than its N_PACKED bytes can hold or memory has room for.
   Owned by the caller (free). */
void *pm_unpack(const void *packed, size_t n_packed, size_t *n_bytes);
void *pm_unpack_with(struct pm_packing *packing, const void *packed, size_t n_packed,
                     size_t *n_bytes);

#endif
