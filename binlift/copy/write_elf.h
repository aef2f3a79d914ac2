/* The instrumented file; see write_elf.c.  Private to binlift/copy/. */
#ifndef PM_WRITE_ELF_H
#define PM_WRITE_ELF_H

#include "binlift/lifted.h"

struct pm_new_section {
    const char *name;
    uint64_t offset, n_bytes; /* in the new segment */
    bool is_code;
};

struct pm_new_segment {
    uint64_t address; /* a page's start, behind all others */
    uint8_t *bytes;
    size_t n_bytes;
    const struct pm_new_section *sections;
    size_t n_sections;
    /* A table of unwinding information that takes the place of the file's own .eh_frame_hdr: where
       it is in the segment; 0 bytes: there is none. */
    uint64_t unwind_header, unwind_header_bytes;
};

/* Where a segment behind all others can start. */
uint64_t pm_segment_address(const struct pm_image *image);

/* Why no segment and no needed library can be added to IMAGE: false with a sentence. */
bool pm_can_be_extended(const struct pm_image *image, struct pm_error *err);

/* Writes PATCHED, a copy of the image's bytes with changes of equal size, with SEGMENT added
   (readable and executable) and the library at RUNTIME_PATH needed first.  Mode bits are the
   original's; the file appears whole or not at all. */
bool pm_write_elf(const struct pm_image *image, const uint8_t *patched,
                  const struct pm_new_segment *segment, const char *runtime_path,
                  const char *out_path, struct pm_error *err);

#endif
