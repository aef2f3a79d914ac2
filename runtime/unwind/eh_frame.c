/* Reads the tables of .eh_frame; see eh_frame.h.  Nothing in them is trusted. */
#define _GNU_SOURCE
#include "runtime/unwind/eh_frame.h"

#include <dlfcn.h>
#include <string.h>

#include "runtime/modules.h"
#include "runtime/unwind/unwind.h"

/* ---- a routine's FDE ------------------------------------------------------------------------- */

/* Of a table in this process. */
static uint64_t take_pointer(struct pm_reader *table, unsigned encoding) {
    return pm_take_pointer(table, encoding, (uint64_t)table->at);
}

/* The rest of an entry of .eh_frame from its length on. */
static struct pm_reader entry_at(const uint8_t *at, const uint8_t *limit) {
    struct pm_reader table = {at, limit, at >= limit ? PM_READ_BEYOND : PM_READ_GOOD};
    uint64_t length = pm_take_unsigned(&table, 4);
    if (length == 0 || length >= 0xfffffff0 || length > (uint64_t)(limit - table.at))
        table.fault = PM_READ_BAD;
    else if (!table.fault)
        table.end = table.at + length;
    return table;
}

/* The common part, and what its letters say. */
static bool read_cie(const uint8_t *at, const uint8_t *limit, struct pm_fde *fde) {
    struct pm_reader cie = entry_at(at, limit);
    if (pm_take_unsigned(&cie, 4) != 0 || cie.fault)
        return false;
    uint64_t version = pm_take_unsigned(&cie, 1);
    const char *letters = (const char *)cie.at;
    const uint8_t *end = cie.fault ? NULL : memchr(cie.at, 0, (size_t)(cie.end - cie.at));
    if ((version != 1 && version != 3) || !end)
        return false;
    cie.at = end + 1;
    fde->code_alignment = pm_take_uleb(&cie);
    fde->data_alignment = pm_take_sleb(&cie);
    uint64_t return_register = version == 1 ? pm_take_unsigned(&cie, 1) : pm_take_uleb(&cie);
    fde->pointer_encoding = 0;
    if (*letters == 'z') {
        uint64_t n_bytes = pm_take_uleb(&cie);
        struct pm_reader data = cie;
        pm_take(&cie, n_bytes);
        for (letters++; *letters && !cie.fault; letters++) {
            if (*letters == 'R')
                fde->pointer_encoding = (unsigned)pm_take_unsigned(&data, 1);
            else if (*letters == 'L')
                pm_take(&data, 1);
            else if (*letters == 'P')
                take_pointer(&data, (unsigned)pm_take_unsigned(&data, 1) & 0x7f);
            else if (*letters == 'S')
                fde->is_signal_frame = true;
            else
                return false;
        }
        if (data.fault)
            cie.fault = data.fault;
    } else if (*letters) {
        return false;
    }
    fde->initial = cie;
    return !cie.fault && return_register == PM_DWARF_RIP;
}

static bool read_fde(const uint8_t *at, const uint8_t *low, const uint8_t *limit,
                     struct pm_fde *fde) {
    struct pm_reader table = entry_at(at, limit);
    const uint8_t *place = table.at;
    uint64_t back = pm_take_unsigned(&table, 4);
    if (table.fault || back == 0 || back > (uint64_t)(place - low) ||
        !read_cie(place - back, limit, fde))
        return false;
    fde->begin = take_pointer(&table, fde->pointer_encoding);
    fde->end = fde->begin + take_pointer(&table, fde->pointer_encoding & 0x0f);
    uint64_t n_bytes = pm_take_uleb(&table); /* of augmentation data: where the LSDA is */
    pm_take(&table, n_bytes);
    fde->rows = table;
    return !table.fault;
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
    struct pm_reader table = {header, limit, PM_READ_GOOD};
    const uint8_t *fields = pm_take(&table, 4);
    if (!fields || fields[0] != VERSION || fields[3] != SORTED_BY_OFFSET)
        return false;
    take_pointer(&table, fields[1]);
    uint64_t n = take_pointer(&table, fields[2]);
    if (table.fault || n > (uint64_t)(limit - table.at) / sizeof(struct header_entry))
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
