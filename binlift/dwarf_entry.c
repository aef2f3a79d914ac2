/* Entries (DIEs) of a unit and the values of their attributes; see dwarf_unit.h.  Needs units. */
#include "binlift/dwarf_unit.h"

#include <dwarf.h>
#include <string.h>

/* ---- values --------------------------------------------------------------------------------- */

static const struct pm_dwarf_unit *unit_at(const struct pm_dwarf_set *set, uint64_t offset) {
    size_t low = 0, high = set->n_units;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->units[middle]->offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low && offset < set->units[low - 1]->end ? set->units[low - 1] : NULL;
}

/* OFFSET from the start of UNIT, of its file, or of the supplementary file. */
static struct pm_dwarf_reference in_unit(const struct pm_dwarf_unit *unit, uint64_t offset) {
    if (!unit || offset >= unit->end - unit->offset)
        return (struct pm_dwarf_reference){NULL, 0};
    return (struct pm_dwarf_reference){unit, unit->offset + offset};
}

static struct pm_dwarf_reference in_set(const struct pm_dwarf_set *set, uint64_t offset) {
    return (struct pm_dwarf_reference){set ? unit_at(set, offset) : NULL, offset};
}

static struct pm_span supplementary_strings(const struct pm_dwarf_unit *unit) {
    if (!unit || !unit->set->supplementary)
        return (struct pm_span){NULL, 0};
    return unit->set->supplementary->file->sections[PM_DWARF_STR];
}

static const char *indexed_string(const struct pm_dwarf_unit *unit, uint64_t index) {
    if (!unit || index > UINT32_MAX)
        return NULL;
    unsigned width = unit->encoding.offset_bytes;
    struct pm_span table = unit->sections[PM_DWARF_STR_OFFSETS];
    if (unit->string_offsets_base > table.n_bytes)
        return NULL;
    struct pm_cursor cursor = pm_cursor_at(table, unit->string_offsets_base);
    if (cursor.failed)
        return NULL;
    pm_skip(&cursor, index * width);
    uint64_t offset = pm_take(&cursor, width);
    return cursor.failed ? NULL : pm_string_at(unit->sections[PM_DWARF_STR], offset);
}

uint64_t pm_dwarf_address(const struct pm_dwarf_unit *unit, uint64_t index) {
    if (!unit || index > UINT32_MAX)
        return PM_DWARF_NONE;
    struct pm_cursor cursor = pm_cursor_at(unit->sections[PM_DWARF_ADDR], unit->address_base);
    if (cursor.failed)
        return PM_DWARF_NONE;
    pm_skip(&cursor, index * unit->encoding.address_bytes);
    uint64_t address = pm_take(&cursor, unit->encoding.address_bytes);
    return cursor.failed ? PM_DWARF_NONE : address;
}

static struct pm_dwarf_value address_value(const struct pm_dwarf_unit *unit, uint64_t index) {
    return (struct pm_dwarf_value){.number = pm_dwarf_address(unit, index), .is_address = true};
}

struct pm_dwarf_value pm_take_value(const struct pm_dwarf_encoding *encoding,
                                    const struct pm_dwarf_unit *unit, struct pm_cursor *cursor,
                                    uint16_t form, int64_t constant) {
    struct pm_dwarf_value value = {0};
    const struct pm_span *sections = encoding->sections;
    uint64_t width = encoding->offset_bytes, size;
    if (form == DW_FORM_indirect) {
        uint64_t real = pm_take_uleb(cursor);
        form = real <= UINT16_MAX && real != DW_FORM_indirect ? (uint16_t)real : 0;
    }
    switch (form) {
    case DW_FORM_addr:
        value.number = pm_take(cursor, encoding->address_bytes);
        value.is_address = true;
        break;
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
        return address_value(unit, pm_take_uleb(cursor));
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
        return address_value(unit, pm_take(cursor, form - DW_FORM_addrx1 + 1u));
    case DW_FORM_flag_present:
        value.number = 1;
        break;
    case DW_FORM_implicit_const:
        value.number = (uint64_t)constant;
        value.is_constant = true;
        break;
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
        value.is_constant = true;
        value.number = pm_take(cursor, form == DW_FORM_data1   ? 1
                                       : form == DW_FORM_data2 ? 2
                                       : form == DW_FORM_data4 ? 4
                                                               : 8);
        break;
    case DW_FORM_flag:
        value.number = pm_take(cursor, 1);
        break;
    case DW_FORM_sdata:
        value.number = (uint64_t)pm_take_sleb(cursor);
        value.is_constant = true;
        break;
    case DW_FORM_udata:
        value.number = pm_take_uleb(cursor);
        value.is_constant = true;
        break;
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
        value.number = pm_take_uleb(cursor);
        break;
    case DW_FORM_sec_offset:
        value.number = pm_take(cursor, (unsigned)width);
        break;
    case DW_FORM_string:
        value.string = pm_take_string(cursor);
        break;
    case DW_FORM_strp:
        value.string = pm_string_at(sections[PM_DWARF_STR], pm_take(cursor, (unsigned)width));
        break;
    case DW_FORM_line_strp:
        value.string = pm_string_at(sections[PM_DWARF_LINE_STR], pm_take(cursor, (unsigned)width));
        break;
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        value.string = pm_string_at(supplementary_strings(unit), pm_take(cursor, (unsigned)width));
        break;
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index:
        value.string = indexed_string(unit, pm_take_uleb(cursor));
        break;
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
        value.string = indexed_string(unit, pm_take(cursor, form - DW_FORM_strx1 + 1u));
        break;
    case DW_FORM_ref1:
        value.reference = in_unit(unit, pm_take(cursor, 1));
        break;
    case DW_FORM_ref2:
        value.reference = in_unit(unit, pm_take(cursor, 2));
        break;
    case DW_FORM_ref4:
        value.reference = in_unit(unit, pm_take(cursor, 4));
        break;
    case DW_FORM_ref8:
        value.reference = in_unit(unit, pm_take(cursor, 8));
        break;
    case DW_FORM_ref_udata:
        value.reference = in_unit(unit, pm_take_uleb(cursor));
        break;
    case DW_FORM_ref_addr:
        size = encoding->version < 3 ? encoding->address_bytes : width;
        value.reference = in_set(unit ? unit->set : NULL, pm_take(cursor, (unsigned)size));
        break;
    case DW_FORM_ref_sup4:
        value.reference = in_set(unit ? unit->set->supplementary : NULL, pm_take(cursor, 4));
        break;
    case DW_FORM_ref_sup8:
        value.reference = in_set(unit ? unit->set->supplementary : NULL, pm_take(cursor, 8));
        break;
    case DW_FORM_GNU_ref_alt:
        value.reference =
            in_set(unit ? unit->set->supplementary : NULL, pm_take(cursor, (unsigned)width));
        break;
    case DW_FORM_ref_sig8: /* types only */
        pm_skip(cursor, 8);
        break;
    case DW_FORM_data16:
        pm_skip(cursor, 16);
        break;
    case DW_FORM_block1:
        pm_skip(cursor, pm_take(cursor, 1));
        break;
    case DW_FORM_block2:
        pm_skip(cursor, pm_take(cursor, 2));
        break;
    case DW_FORM_block4:
        pm_skip(cursor, pm_take(cursor, 4));
        break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        pm_skip(cursor, pm_take_uleb(cursor));
        break;
    default: /* its length is not known, so nothing after it can be read */
        cursor->at = cursor->end;
        cursor->failed = true;
        break;
    }
    return value;
}

/* ---- entries -------------------------------------------------------------------------------- */

static uint32_t small(uint64_t number) { return number < UINT32_MAX ? (uint32_t)number : 0; }

static uint64_t range_list(const struct pm_dwarf_unit *unit, uint16_t form, uint64_t value) {
    if (form != DW_FORM_rnglistx) {
        bool moved = unit->is_split && unit->encoding.version < 5;
        return moved ? value + unit->ranges_base : value;
    }
    unsigned width = unit->encoding.offset_bytes; /* an index into the list of offsets */
    struct pm_cursor cursor =
        pm_cursor_at(unit->sections[PM_DWARF_RNGLISTS], unit->range_lists_base);
    if (cursor.failed || value > UINT32_MAX)
        return PM_DWARF_NONE;
    pm_skip(&cursor, value * width);
    uint64_t offset = pm_take(&cursor, width);
    return cursor.failed ? PM_DWARF_NONE : unit->range_lists_base + offset;
}

static void set_attribute(const struct pm_dwarf_unit *unit, struct pm_entry *entry,
                          const struct pm_abbreviation_attribute *attribute,
                          const struct pm_dwarf_value *value, bool *high_is_size) {
    switch (attribute->name) {
    case DW_AT_sibling:
        if (value->reference.unit == unit)
            entry->sibling = value->reference.offset;
        break;
    case DW_AT_low_pc:
        entry->low_pc = value->number;
        break;
    case DW_AT_high_pc:
        entry->high_pc = value->number;
        *high_is_size = !value->is_address;
        break;
    case DW_AT_ranges:
        entry->ranges = range_list(unit, attribute->form, value->number);
        break;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
        entry->origin = value->reference;
        break;
    case DW_AT_name:
        entry->name = value->string;
        break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        entry->linkage_name = value->string;
        break;
    case DW_AT_decl_file:
        entry->file = small(value->number);
        break;
    case DW_AT_decl_line:
        entry->line = small(value->number);
        break;
    case DW_AT_call_file:
        entry->call_file = small(value->number);
        break;
    case DW_AT_call_line:
        entry->call_line = small(value->number);
        break;
    default:
        break;
    }
}

struct pm_entry pm_read_entry(const struct pm_dwarf_unit *unit, uint64_t offset,
                              bool (*wanted)(uint16_t tag)) {
    struct pm_entry entry = {.offset = offset,
                             .low_pc = PM_DWARF_NONE,
                             .ranges = PM_DWARF_NONE,
                             .file = UINT32_MAX,
                             .call_file = UINT32_MAX};
    struct pm_span info = {unit->sections[PM_DWARF_INFO].bytes, unit->end};
    struct pm_cursor cursor = pm_cursor_at(info, offset);
    uint64_t code = pm_take_uleb(&cursor);
    entry.next = cursor.failed ? unit->end : (uint64_t)(cursor.at - info.bytes);
    if (cursor.failed || code == 0 || code >= unit->n_abbreviations)
        return entry;
    const struct pm_abbreviation *abbreviation = &unit->abbreviations[code];
    const struct pm_abbreviation_attribute *attributes =
        unit->attributes + abbreviation->first_attribute;
    bool is_wanted = !wanted || wanted(abbreviation->tag), high_is_size = false;
    if (!is_wanted && abbreviation->fixed_bytes != UINT32_MAX && !abbreviation->has_children) {
        pm_skip(&cursor, abbreviation->fixed_bytes);
    } else {
        for (uint32_t i = 0; i < abbreviation->n_attributes && !cursor.failed; i++) {
            bool is_used = is_wanted || attributes[i].name == DW_AT_sibling;
            if (!is_used && attributes[i].n_bytes != PM_DWARF_VARIES) {
                pm_skip(&cursor, attributes[i].n_bytes);
                continue;
            }
            struct pm_dwarf_value value = pm_take_value(&unit->encoding, unit, &cursor,
                                                        attributes[i].form, attributes[i].constant);
            if (is_used)
                set_attribute(unit, &entry, &attributes[i], &value, &high_is_size);
        }
    }
    if (cursor.failed) {
        entry.next = unit->end;
        return entry;
    }
    if (high_is_size && entry.low_pc != PM_DWARF_NONE)
        entry.high_pc += entry.low_pc;
    entry.tag = abbreviation->tag;
    entry.has_children = abbreviation->has_children;
    entry.next = (uint64_t)(cursor.at - info.bytes);
    return entry;
}
