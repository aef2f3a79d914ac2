/* Reads the tables of .eh_frame; see eh_frame.h.  Nothing in them is trusted. */
#define _GNU_SOURCE
#include "runtime/unwind/eh_frame.h"

#include <dlfcn.h>
#include <string.h>

#include "core/base/base.h"
#include "runtime/modules.h"
#include "runtime/unwind/unwind.h"

/* ---- fields ---------------------------------------------------------------------------------- */

const uint8_t *pm_read(struct pm_table_reader *table, size_t n) {
    if (table->bad || n > (size_t)(table->end - table->at)) {
        table->bad = true;
        return NULL;
    }
    const uint8_t *bytes = table->at;
    table->at += n;
    return bytes;
}

uint64_t pm_read_unsigned(struct pm_table_reader *table, size_t n) {
    uint64_t value = 0;
    const uint8_t *bytes = pm_read(table, n);
    if (bytes)
        memcpy(&value, bytes, n);
    return value;
}

int64_t pm_read_signed(struct pm_table_reader *table, size_t n) {
    unsigned unused = 64 - 8 * (unsigned)n;
    return (int64_t)(pm_read_unsigned(table, n) << unused) >> unused;
}

static uint64_t take_leb(struct pm_table_reader *table, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    const uint8_t *byte;
    do {
        byte = pm_read(table, 1);
        if (!byte)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(*byte & 0x7f) << shift;
        shift += 7;
    } while (*byte & 0x80);
    if (is_signed && shift < 64 && (*byte & 0x40))
        value |= UINT64_MAX << shift;
    return value;
}

uint64_t pm_read_uleb(struct pm_table_reader *table) { return take_leb(table, false); }
int64_t pm_read_sleb(struct pm_table_reader *table) { return (int64_t)take_leb(table, true); }

/* A pointer in a DW_EH_PE encoding; what is relative to anything but the place is bad. */
uint64_t pm_read_pointer(struct pm_table_reader *table, unsigned encoding) {
    uint64_t place = (uint64_t)table->at, value = 0;
    switch (encoding & 0x0f) {
    case 0x00: /* absolute */
    case 0x04:
    case 0x0c:
        value = pm_read_unsigned(table, 8);
        break;
    case 0x02:
        value = pm_read_unsigned(table, 2);
        break;
    case 0x03:
        value = pm_read_unsigned(table, 4);
        break;
    case 0x0a:
        value = (uint64_t)pm_read_signed(table, 2);
        break;
    case 0x0b:
        value = (uint64_t)pm_read_signed(table, 4);
        break;
    default:
        table->bad = true;
    }
    if ((encoding & 0x70) == 0x10)
        value += place;
    else if ((encoding & 0x70) != 0)
        table->bad = true;
    return value;
}

/* ---- a routine's FDE ------------------------------------------------------------------------- */

/* The rest of an entry of .eh_frame from its length on. */
static struct pm_table_reader entry_at(const uint8_t *at, const uint8_t *limit) {
    struct pm_table_reader table = {at, limit, at >= limit};
    uint64_t length = pm_read_unsigned(&table, 4);
    if (length == 0 || length >= 0xfffffff0 || length > (uint64_t)(limit - table.at))
        table.bad = true;
    else if (!table.bad)
        table.end = table.at + length;
    return table;
}

/* The common part, and what its letters say. */
static bool read_cie(const uint8_t *at, const uint8_t *limit, struct pm_fde *fde) {
    struct pm_table_reader cie = entry_at(at, limit);
    if (pm_read_unsigned(&cie, 4) != 0 || cie.bad)
        return false;
    uint64_t version = pm_read_unsigned(&cie, 1);
    const char *letters = (const char *)cie.at;
    const uint8_t *end = cie.bad ? NULL : memchr(cie.at, 0, (size_t)(cie.end - cie.at));
    if ((version != 1 && version != 3) || !end)
        return false;
    cie.at = end + 1;
    fde->code_alignment = pm_read_uleb(&cie);
    fde->data_alignment = pm_read_sleb(&cie);
    uint64_t return_register = version == 1 ? pm_read_unsigned(&cie, 1) : pm_read_uleb(&cie);
    fde->pointer_encoding = 0;
    if (*letters == 'z') {
        uint64_t n_bytes = pm_read_uleb(&cie);
        struct pm_table_reader data = cie;
        pm_read(&cie, n_bytes);
        for (letters++; *letters && !cie.bad; letters++) {
            if (*letters == 'R')
                fde->pointer_encoding = (unsigned)pm_read_unsigned(&data, 1);
            else if (*letters == 'L')
                pm_read(&data, 1);
            else if (*letters == 'P')
                pm_read_pointer(&data, (unsigned)pm_read_unsigned(&data, 1) & 0x7f);
            else if (*letters == 'S')
                fde->is_signal_frame = true;
            else
                return false;
        }
        cie.bad |= data.bad;
    } else if (*letters) {
        return false;
    }
    fde->initial = cie;
    return !cie.bad && return_register == PM_DWARF_RIP;
}

static bool read_fde(const uint8_t *at, const uint8_t *low, const uint8_t *limit,
                     struct pm_fde *fde) {
    struct pm_table_reader table = entry_at(at, limit);
    const uint8_t *place = table.at;
    uint64_t back = pm_read_unsigned(&table, 4);
    if (table.bad || back == 0 || back > (uint64_t)(place - low) ||
        !read_cie(place - back, limit, fde))
        return false;
    fde->begin = pm_read_pointer(&table, fde->pointer_encoding);
    fde->end = fde->begin + pm_read_pointer(&table, fde->pointer_encoding & 0x0f);
    uint64_t n_bytes = pm_read_uleb(&table); /* of augmentation data: where the LSDA is */
    pm_read(&table, n_bytes);
    fde->rows = table;
    return !table.bad;
}

/* Entries of .eh_frame_hdr: where code begins and where its FDE is, both relative to the header. */
struct header_entry {
    int32_t code, fde;
};

/* Where the tables end, whose header is at HEADER.  The C library knows the whole file only if its
   segments touch each other, which they do not in an instrumented one. */
static bool find_limits(const struct dl_find_object *object, const uint8_t *header,
                        const uint8_t **low, const uint8_t **end) {
    *low = object->dlfo_map_start;
    *end = object->dlfo_map_end;
    if (header >= *low && header < *end)
        return true;
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++) {
        *low = pm_modules[i].unwind_low;
        *end = pm_modules[i].unwind_end;
        if (!pm_modules[i].gone && header >= *low && header < *end)
            return true;
    }
    return false;
}

bool pm_find_fde(uint64_t address, struct pm_fde *fde) {
    enum { VERSION = 1, SORTED_BY_OFFSET = 0x3b };
    struct dl_find_object object;
    if (_dl_find_object((void *)address, &object) != 0 || !object.dlfo_eh_frame)
        return false;
    const uint8_t *header = object.dlfo_eh_frame, *low, *limit;
    if (!find_limits(&object, header, &low, &limit))
        return false;
    struct pm_table_reader table = {header, limit, false};
    const uint8_t *fields = pm_read(&table, 4);
    if (!fields || fields[0] != VERSION || fields[3] != SORTED_BY_OFFSET)
        return false;
    pm_read_pointer(&table, fields[1]);
    uint64_t n = pm_read_pointer(&table, fields[2]);
    if (table.bad || n > (uint64_t)(limit - table.at) / sizeof(struct header_entry))
        return false;
    const struct header_entry *entries = (const void *)table.at;
    int64_t offset = (int64_t)(address - (uint64_t)header);
    size_t behind = PM_LOWER_BOUND(n, i, entries[i].code <= offset);
    if (behind == 0)
        return false;
    const uint8_t *at = header + entries[behind - 1].fde;
    return at >= low && at < limit && read_fde(at, low, limit, fde) && address >= fde->begin &&
           address < fde->end;
}
