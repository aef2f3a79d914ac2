/* Bytes that are read one after the other, without trust: what reaches beyond their end reads as 0
   and marks the reader.  Numbers are little-endian, as the files are; LEB128 and encoded pointers
   are those of DWARF.  All in the header, for runtime/ too. */
#ifndef PM_READER_H
#define PM_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they stand");

/* PM_READ_TOO_LONG: a LEB128 of more than 64 bits; PM_READ_BAD: by the caller, or an encoding. */
enum pm_read_fault { PM_READ_GOOD = 0, PM_READ_BEYOND, PM_READ_TOO_LONG, PM_READ_BAD };

struct pm_reader {
    const uint8_t *at, *end;
    enum pm_read_fault fault; /* once set, nothing more is read */
};

static inline struct pm_reader pm_reader_of(const void *bytes, size_t n) {
    return (struct pm_reader){bytes, (const uint8_t *)bytes + n, PM_READ_GOOD};
}

static inline size_t pm_bytes_left(const struct pm_reader *reader) {
    return (size_t)(reader->end - reader->at);
}

/* The next N bytes; NULL: there are not so many. */
static inline const void *pm_take(struct pm_reader *reader, uint64_t n) {
    if (reader->fault || n > pm_bytes_left(reader)) {
        if (!reader->fault)
            reader->fault = PM_READ_BEYOND;
        return NULL;
    }
    const uint8_t *bytes = reader->at;
    reader->at += n;
    return bytes;
}

/* The next N bytes into DATA; zeros where there are not so many. */
static inline void pm_take_into(struct pm_reader *reader, void *data, size_t n) {
    const void *bytes = pm_take(reader, n);
    if (bytes)
        memcpy(data, bytes, n);
    else
        memset(data, 0, n);
}

/* A number of N bytes, at most 8. */
static inline uint64_t pm_take_unsigned(struct pm_reader *reader, unsigned n) {
    uint64_t value = 0;
    const void *bytes = pm_take(reader, n);
    if (bytes)
        memcpy(&value, bytes, n);
    return value;
}
static inline int64_t pm_take_signed(struct pm_reader *reader, unsigned n) {
    unsigned unused = 64 - 8 * n;
    return (int64_t)(pm_take_unsigned(reader, n) << unused) >> unused;
}

static inline uint64_t pm_take_leb(struct pm_reader *reader, bool is_signed) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *byte = pm_take(reader, 1);
        if (!byte)
            return 0;
        value |= (uint64_t)(*byte & 0x7f) << shift;
        if (shift == 63 && !is_signed && *byte > 1)
            break;
        if (*byte & 0x80)
            continue;
        if (is_signed && shift < 57 && (*byte & 0x40))
            value |= UINT64_MAX << (shift + 7);
        return value;
    }
    reader->fault = PM_READ_TOO_LONG;
    return 0;
}
static inline uint64_t pm_take_uleb(struct pm_reader *reader) { return pm_take_leb(reader, false); }
static inline int64_t pm_take_sleb(struct pm_reader *reader) {
    return (int64_t)pm_take_leb(reader, true);
}

/* A pointer of .eh_frame in ENCODING (DW_EH_PE), whose first byte is at ADDRESS in memory; 0, which
   no base is added to, is none.  Relative to anything but its own place: a fault.  That it has to
   be loaded from there (DW_EH_PE_indirect) is the caller's to know. */
static inline uint64_t pm_take_pointer(struct pm_reader *reader, unsigned encoding,
                                       uint64_t address) {
    enum { PC_RELATIVE = 0x10, BASES = 0x70, FORMATS = 0x0f };
    uint64_t value = 0;
    switch (encoding & FORMATS) {
    case 0x00: /* absolute */
    case 0x04:
    case 0x0c:
        value = pm_take_unsigned(reader, 8);
        break;
    case 0x01:
    case 0x09:
        value = pm_take_leb(reader, encoding & 8);
        break;
    case 0x02:
    case 0x03:
        value = pm_take_unsigned(reader, 1u << ((encoding & FORMATS) - 1));
        break;
    case 0x0a:
    case 0x0b:
        value = (uint64_t)pm_take_signed(reader, 1u << ((encoding & FORMATS) - 9));
        break;
    default:
        reader->fault = PM_READ_BAD;
    }
    if (encoding & BASES & ~PC_RELATIVE)
        reader->fault = PM_READ_BAD;
    return encoding & PC_RELATIVE && value ? value + address : value;
}

#endif
