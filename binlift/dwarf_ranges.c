/* The addresses of an entry: low_pc and high_pc, .debug_ranges or .debug_rnglists; see
   dwarf_unit.h.  Needs units. */
#include "binlift/dwarf_unit.h"

#include <dwarf.h>

static void add(struct pm_address_ranges *ranges, uint64_t low, uint64_t high) {
    if (low < high && low != PM_DWARF_NONE && high != PM_DWARF_NONE)
        *PM_PUSH(ranges, ranges) = (struct pm_address_range){low, high};
}

/* DWARF 2 to 4: pairs from the base address; a pair that begins with all ones sets the base. */
static void read_ranges(const struct pm_dwarf_unit *unit, uint64_t offset,
                        struct pm_address_ranges *ranges) {
    struct pm_cursor cursor = pm_cursor_at(unit->sections[PM_DWARF_RANGES], offset);
    unsigned width = unit->encoding.address_bytes;
    uint64_t base = unit->low_pc == PM_DWARF_NONE ? 0 : unit->low_pc;
    uint64_t all_ones = width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;
    while (!cursor.failed) {
        uint64_t low = pm_take(&cursor, width), high = pm_take(&cursor, width);
        if (cursor.failed || (low == 0 && high == 0))
            return;
        if (low == all_ones)
            base = high;
        else
            add(ranges, base + low, base + high);
    }
}

/* DWARF 5: a list of entries with a kind each. */
static void read_range_list(const struct pm_dwarf_unit *unit, uint64_t offset,
                            struct pm_address_ranges *ranges) {
    struct pm_cursor cursor = pm_cursor_at(unit->sections[PM_DWARF_RNGLISTS], offset);
    unsigned width = unit->encoding.address_bytes;
    uint64_t base = unit->low_pc == PM_DWARF_NONE ? 0 : unit->low_pc, low, high;
    while (!cursor.failed) {
        switch (pm_take(&cursor, 1)) {
        case DW_RLE_base_addressx:
            base = pm_dwarf_address(unit, pm_take_uleb(&cursor));
            continue;
        case DW_RLE_startx_endx:
            low = pm_dwarf_address(unit, pm_take_uleb(&cursor));
            high = pm_dwarf_address(unit, pm_take_uleb(&cursor));
            break;
        case DW_RLE_startx_length:
            low = pm_dwarf_address(unit, pm_take_uleb(&cursor));
            high = low + pm_take_uleb(&cursor);
            break;
        case DW_RLE_offset_pair:
            low = base + pm_take_uleb(&cursor);
            high = base + pm_take_uleb(&cursor);
            break;
        case DW_RLE_base_address:
            base = pm_take(&cursor, width);
            continue;
        case DW_RLE_start_end:
            low = pm_take(&cursor, width);
            high = pm_take(&cursor, width);
            break;
        case DW_RLE_start_length:
            low = pm_take(&cursor, width);
            high = low + pm_take_uleb(&cursor);
            break;
        default: /* the end, or damage */
            return;
        }
        if (!cursor.failed)
            add(ranges, low, high);
    }
}

void pm_entry_ranges(const struct pm_dwarf_unit *unit, const struct pm_entry *entry,
                     struct pm_address_ranges *ranges) {
    ranges->n_ranges = 0;
    if (entry->ranges == PM_DWARF_NONE)
        add(ranges, entry->low_pc, entry->high_pc);
    else if (unit->encoding.version >= 5)
        read_range_list(unit, entry->ranges, ranges);
    else
        read_ranges(unit, entry->ranges, ranges);
}
