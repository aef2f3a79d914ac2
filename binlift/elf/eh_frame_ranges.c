/* Unwinding information (.eh_frame) and exception tables (.gcc_except_table) as far as control
   flow needs them: which ranges are code, and where exceptions land.  Read with checks, because a
   file may be damaged: a table that makes no sense ends its reading, it never fails. */
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

enum { ENCODING_OMIT = 0xff, ENCODING_INDIRECT = 0x80 };

/* A section of the file, and where its bytes are in memory. */
struct table {
    const uint8_t *start, *end;
    uint64_t address;
};

static struct table table_of(const struct pm_image *image, const struct pm_section *section) {
    const uint8_t *start = image->bytes + section->header.sh_offset;
    return (struct table){start, start + section->header.sh_size, section->header.sh_addr};
}

static uint64_t take_pointer(const struct table *table, struct pm_reader *reader,
                             unsigned encoding) {
    return pm_take_pointer(reader, encoding,
                           table->address + (uint64_t)(reader->at - table->start));
}

/* ---- .eh_frame ------------------------------------------------------------------------------ */

struct cie {
    uint8_t pointer_encoding, lsda_encoding;
    bool has_augmentation_data, is_signal;
};

/* READER stands behind the id of a CIE. */
static bool read_cie(const struct table *table, struct pm_reader reader, struct cie *cie) {
    *cie = (struct cie){0, ENCODING_OMIT, false, false};
    pm_take(&reader, 1); /* version */
    const char *letters = (const char *)reader.at;
    const uint8_t *letter;
    do
        letter = pm_take(&reader, 1);
    while (letter && *letter);
    if (reader.fault)
        return false;
    pm_take_uleb(&reader); /* code alignment */
    pm_take_sleb(&reader); /* data alignment */
    pm_take_uleb(&reader); /* return address register */
    if (*letters != 'z')
        return !reader.fault && !*letters;
    cie->has_augmentation_data = true;
    pm_take_uleb(&reader);
    while (*++letters && !reader.fault) {
        if (*letters == 'R') {
            cie->pointer_encoding = (uint8_t)pm_take_unsigned(&reader, 1);
        } else if (*letters == 'L') {
            cie->lsda_encoding = (uint8_t)pm_take_unsigned(&reader, 1);
        } else if (*letters == 'P') {
            uint8_t encoding = (uint8_t)pm_take_unsigned(&reader, 1);
            take_pointer(table, &reader, encoding & 0x0f);
        } else if (*letters == 'S') {
            cie->is_signal = true;
        } else if (*letters != 'B' && *letters != 'G') { /* AArch64: signed, tagged */
            return false;
        }
    }
    return !reader.fault;
}

/* Whether the first of an FDE's instructions, before any is about a later address, says where the
   frame is or where a register was saved (DWARF 5, section 6.4.2). What a caller enters starts as
   the CIE says. */
static bool states_frame(const uint8_t *first, const uint8_t *end) {
    enum { OFFSET = 0x80, PRIMARY = 0xc0, DEF_CFA = 0x0c, DEF_CFA_OFFSET = 0x0e };
    return first < end &&
           ((*first & PRIMARY) == OFFSET || *first == DEF_CFA || *first == DEF_CFA_OFFSET);
}

/* READER stands behind the id of an FDE. */
static bool read_fde(const struct table *table, struct pm_reader reader, const struct cie *cie,
                     struct pm_unwind_range *range) {
    range->address = take_pointer(table, &reader, cie->pointer_encoding);
    range->size_bytes = take_pointer(table, &reader, cie->pointer_encoding & 0x0f);
    range->lsda = 0;
    range->is_signal = cie->is_signal;
    const uint8_t *instructions = reader.at;
    if (cie->has_augmentation_data) {
        uint64_t length = pm_take_uleb(&reader);
        instructions =
            length < (uint64_t)(reader.end - reader.at) ? reader.at + length : reader.end;
        if (cie->lsda_encoding != ENCODING_OMIT && !(cie->lsda_encoding & ENCODING_INDIRECT))
            range->lsda = take_pointer(table, &reader, cie->lsda_encoding);
    }
    range->starts_in_frame = !reader.fault && states_frame(instructions, reader.end);
    return !reader.fault && range->address && range->size_bytes;
}

static int by_address(const void *a, const void *b) {
    const struct pm_unwind_range *x = a, *y = b;
    return PM_COMPARE(x->address, y->address);
}

void pm_read_unwind_ranges(const struct pm_image *image, struct pm_unwind_ranges *ranges) {
    const struct pm_section *section = pm_image_section(image, ".eh_frame");
    if (!section || section->header.sh_type == SHT_NOBITS)
        return;
    const struct table table = table_of(image, section);
    struct pm_reader all = {table.start, table.end, PM_READ_GOOD};
    while (!all.fault && all.end - all.at > 4) {
        uint64_t length = pm_take_unsigned(&all, 4);
        if (length == 0)
            continue; /* a terminator; some linkers leave several */
        if (length == UINT32_MAX)
            length = pm_take_unsigned(&all, 8);
        const uint8_t *entry = pm_take(&all, length);
        if (!entry)
            break;
        struct pm_reader reader = pm_reader_of(entry, length);
        uint64_t distance = pm_take_unsigned(&reader, 4);
        if (reader.fault || distance == 0 || distance > (uint64_t)(entry - table.start))
            continue; /* a CIE, or nonsense */
        struct pm_reader at_cie = {entry - distance, table.end, PM_READ_GOOD};
        struct cie cie;
        struct pm_unwind_range range;
        pm_take_unsigned(&at_cie, 4); /* its length */
        if (pm_take_unsigned(&at_cie, 4) == 0 && read_cie(&table, at_cie, &cie) &&
            read_fde(&table, reader, &cie, &range))
            *PM_PUSH(ranges, ranges) = range;
    }
    PM_SORT(ranges->ranges, ranges->n_ranges, by_address);
}

/* ---- exception tables ----------------------------------------------------------------------- */

void pm_read_landing_pads(const struct pm_image *image, const struct pm_unwind_range *range,
                          struct pm_addresses *pads) {
    const struct pm_section *section = range->lsda ? pm_image_section_at(image, range->lsda) : NULL;
    if (!section || section->header.sh_type == SHT_NOBITS)
        return;
    const struct table table = table_of(image, section);
    struct pm_reader reader = {table.start + (range->lsda - table.address), table.end,
                               PM_READ_GOOD};
    uint64_t base = range->address;
    uint8_t encoding = (uint8_t)pm_take_unsigned(&reader, 1);
    if (encoding != ENCODING_OMIT)
        base = take_pointer(&table, &reader, encoding);
    encoding = (uint8_t)pm_take_unsigned(&reader, 1);
    if (encoding != ENCODING_OMIT)
        pm_take_uleb(&reader);
    encoding = (uint8_t)pm_take_unsigned(&reader, 1);
    uint64_t length = pm_take_uleb(&reader);
    if (reader.fault || length > (uint64_t)(reader.end - reader.at))
        return;
    reader.end = reader.at + length;
    while (!reader.fault && reader.at < reader.end) {
        take_pointer(&table, &reader, encoding); /* start of the range of calls */
        take_pointer(&table, &reader, encoding); /* its length */
        uint64_t pad = take_pointer(&table, &reader, encoding);
        pm_take_uleb(&reader); /* action */
        if (!reader.fault && pad)
            *PM_PUSH(pads, addresses) = base + pad;
    }
}
