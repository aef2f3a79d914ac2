/* Unwinding information (.eh_frame) and exception tables (.gcc_except_table) as far as control
   flow needs them: which ranges are code, and where exceptions land.  Read with checks, because a
   file may be damaged: a table that makes no sense ends its reading, it never fails. */
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are read one after the other; `bad` stays set once anything reached beyond them. */
struct reader {
    const uint8_t *at, *end;
    uint64_t address; /* of `at` in memory */
    bool bad;
};

static const uint8_t *take(struct reader *reader, uint64_t n) {
    if (reader->bad || n > (uint64_t)(reader->end - reader->at)) {
        reader->bad = true;
        return NULL;
    }
    const uint8_t *bytes = reader->at;
    reader->at += n;
    reader->address += n;
    return bytes;
}

static uint64_t take_integer(struct reader *reader, unsigned n_bytes, bool is_signed) {
    uint64_t value = 0;
    const uint8_t *bytes = take(reader, n_bytes);
    if (!bytes)
        return 0;
    memcpy(&value, bytes, n_bytes);
    unsigned unused = 64 - 8 * n_bytes;
    return is_signed && unused ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static uint64_t take_leb(struct reader *reader, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        const uint8_t *byte = take(reader, 1);
        if (!byte)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(*byte & 0x7f) << shift;
        shift += 7;
        if (*byte & 0x80)
            continue;
        if (is_signed && shift < 64 && (*byte & 0x40))
            value |= UINT64_MAX << shift;
        return value;
    }
}

enum { ENCODING_OMIT = 0xff, ENCODING_PC_RELATIVE = 0x10, ENCODING_INDIRECT = 0x80 };

/* A pointer in a DW_EH_PE encoding.  Relative to anything but the place itself: bad. */
static uint64_t take_encoded(struct reader *reader, uint8_t encoding) {
    uint64_t place = reader->address, value = 0;
    switch (encoding & 0x0f) {
    case 0x00: /* absolute pointer */
    case 0x04:
    case 0x0c:
        value = take_integer(reader, 8, false);
        break;
    case 0x01:
        value = take_leb(reader, false);
        break;
    case 0x02:
        value = take_integer(reader, 2, false);
        break;
    case 0x03:
        value = take_integer(reader, 4, false);
        break;
    case 0x09:
        value = take_leb(reader, true);
        break;
    case 0x0a:
        value = take_integer(reader, 2, true);
        break;
    case 0x0b:
        value = take_integer(reader, 4, true);
        break;
    default:
        reader->bad = true;
    }
    if ((encoding & 0x70) == ENCODING_PC_RELATIVE)
        return value ? value + place : 0;
    if (encoding & 0x70)
        reader->bad = true;
    return value;
}

/* ---- .eh_frame ------------------------------------------------------------------------------ */

struct cie {
    uint8_t pointer_encoding, lsda_encoding;
    bool has_augmentation_data, is_signal;
};

/* READER stands behind the id of a CIE. */
static bool read_cie(struct reader reader, struct cie *cie) {
    *cie = (struct cie){0, ENCODING_OMIT, false, false};
    take(&reader, 1); /* version */
    const char *letters = (const char *)reader.at;
    const uint8_t *letter;
    do
        letter = take(&reader, 1);
    while (letter && *letter);
    if (reader.bad)
        return false;
    take_leb(&reader, false); /* code alignment */
    take_leb(&reader, true);  /* data alignment */
    take_leb(&reader, false); /* return address register */
    if (*letters != 'z')
        return !reader.bad && !*letters;
    cie->has_augmentation_data = true;
    take_leb(&reader, false);
    while (*++letters && !reader.bad) {
        if (*letters == 'R') {
            cie->pointer_encoding = (uint8_t)take_integer(&reader, 1, false);
        } else if (*letters == 'L') {
            cie->lsda_encoding = (uint8_t)take_integer(&reader, 1, false);
        } else if (*letters == 'P') {
            uint8_t encoding = (uint8_t)take_integer(&reader, 1, false);
            take_encoded(&reader, encoding & 0x0f);
        } else if (*letters == 'S') {
            cie->is_signal = true;
        } else if (*letters != 'B' && *letters != 'G') { /* AArch64: signed, tagged */
            return false;
        }
    }
    return !reader.bad;
}

/* READER stands behind the id of an FDE. */
static bool read_fde(struct reader reader, const struct cie *cie, struct pm_unwind_range *range) {
    range->address = take_encoded(&reader, cie->pointer_encoding);
    range->size_bytes = take_encoded(&reader, cie->pointer_encoding & 0x0f);
    range->lsda = 0;
    range->is_signal = cie->is_signal;
    if (cie->has_augmentation_data) {
        take_leb(&reader, false);
        if (cie->lsda_encoding != ENCODING_OMIT && !(cie->lsda_encoding & ENCODING_INDIRECT))
            range->lsda = take_encoded(&reader, cie->lsda_encoding);
    }
    return !reader.bad && range->address && range->size_bytes;
}

static int by_address(const void *a, const void *b) {
    const struct pm_unwind_range *x = a, *y = b;
    return PM_COMPARE(x->address, y->address);
}

void pm_read_unwind_ranges(const struct pm_image *image, struct pm_unwind_ranges *ranges) {
    const struct pm_section *section = pm_image_section(image, ".eh_frame");
    if (!section || section->header.sh_type == SHT_NOBITS)
        return;
    const uint8_t *start = image->bytes + section->header.sh_offset;
    struct reader all = {start, start + section->header.sh_size, section->header.sh_addr, false};
    while (!all.bad && all.end - all.at > 4) {
        uint64_t length = take_integer(&all, 4, false);
        if (length == 0)
            continue; /* a terminator; some linkers leave several */
        if (length == UINT32_MAX)
            length = take_integer(&all, 8, false);
        uint64_t address = all.address;
        const uint8_t *entry = take(&all, length);
        if (!entry)
            break;
        struct reader reader = {entry, entry + length, address, false};
        uint64_t distance = take_integer(&reader, 4, false);
        if (reader.bad || distance == 0 || distance > (uint64_t)(entry - start))
            continue; /* a CIE, or nonsense */
        struct reader at_cie = {entry - distance, all.end, address - distance, false};
        struct cie cie;
        struct pm_unwind_range range;
        take_integer(&at_cie, 4, false); /* its length */
        if (take_integer(&at_cie, 4, false) == 0 && read_cie(at_cie, &cie) &&
            read_fde(reader, &cie, &range))
            *PM_PUSH(ranges, ranges) = range;
    }
    if (ranges->n_ranges)
        qsort(ranges->ranges, ranges->n_ranges, sizeof *ranges->ranges, by_address);
}

/* ---- exception tables ----------------------------------------------------------------------- */

void pm_read_landing_pads(const struct pm_image *image, const struct pm_unwind_range *range,
                          struct pm_addresses *pads) {
    const struct pm_section *section = range->lsda ? pm_image_section_at(image, range->lsda) : NULL;
    if (!section || section->header.sh_type == SHT_NOBITS)
        return;
    uint64_t offset = range->lsda - section->header.sh_addr;
    const uint8_t *start = image->bytes + section->header.sh_offset;
    struct reader reader = {start + offset, start + section->header.sh_size, range->lsda, false};
    uint64_t base = range->address;
    uint8_t encoding = (uint8_t)take_integer(&reader, 1, false);
    if (encoding != ENCODING_OMIT)
        base = take_encoded(&reader, encoding);
    encoding = (uint8_t)take_integer(&reader, 1, false);
    if (encoding != ENCODING_OMIT)
        take_leb(&reader, false);
    encoding = (uint8_t)take_integer(&reader, 1, false);
    uint64_t length = take_leb(&reader, false);
    if (reader.bad || length > (uint64_t)(reader.end - reader.at))
        return;
    reader.end = reader.at + length;
    while (!reader.bad && reader.at < reader.end) {
        take_encoded(&reader, encoding); /* start of the range of calls */
        take_encoded(&reader, encoding); /* its length */
        uint64_t pad = take_encoded(&reader, encoding);
        take_leb(&reader, false); /* action */
        if (!reader.bad && pad)
            *PM_PUSH(pads, addresses) = base + pad;
    }
}
