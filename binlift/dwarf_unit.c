/* Headers and abbreviations of units, and where they refer to each other; see dwarf_unit.h.  Needs
   nothing but the file.  A unit that is damaged is left out; the others stay. */
#include "binlift/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---------------------------------------------------------------------------------- */

struct pm_cursor pm_cursor_at(struct pm_span span, uint64_t offset) {
    if (offset > span.n_bytes || !span.bytes)
        return (struct pm_cursor){NULL, NULL, true};
    return (struct pm_cursor){span.bytes + offset, span.bytes + span.n_bytes, false};
}

void pm_skip(struct pm_cursor *cursor, uint64_t n_bytes) {
    if (n_bytes > (uint64_t)(cursor->end - cursor->at)) {
        cursor->at = cursor->end;
        cursor->failed = true;
    } else {
        cursor->at += n_bytes;
    }
}

uint64_t pm_take(struct pm_cursor *cursor, unsigned n_bytes) {
    uint64_t value = 0;
    if ((uint64_t)(cursor->end - cursor->at) < n_bytes) {
        cursor->at = cursor->end;
        cursor->failed = true;
        return 0;
    }
    memcpy(&value, cursor->at, n_bytes);
    cursor->at += n_bytes;
    return value;
}

uint64_t pm_take_uleb(struct pm_cursor *cursor) {
    uint64_t value = 0;
    for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
        uint8_t byte = *cursor->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    cursor->failed = true;
    return 0;
}

int64_t pm_take_sleb(struct pm_cursor *cursor) {
    uint64_t value = 0;
    for (unsigned shift = 0; cursor->at < cursor->end;) {
        uint8_t byte = *cursor->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if ((byte & 0x40) && shift < 64)
            value |= UINT64_MAX << shift;
        return (int64_t)value;
    }
    cursor->failed = true;
    return 0;
}

const char *pm_take_string(struct pm_cursor *cursor) {
    size_t room = (size_t)(cursor->end - cursor->at);
    const uint8_t *end = room ? memchr(cursor->at, 0, room) : NULL;
    if (!end) {
        cursor->at = cursor->end;
        cursor->failed = true;
        return NULL;
    }
    const char *text = (const char *)cursor->at;
    cursor->at = end + 1;
    return text;
}

const char *pm_string_at(struct pm_span span, uint64_t offset) {
    struct pm_cursor cursor = pm_cursor_at(span, offset);
    return cursor.failed ? NULL : pm_take_string(&cursor);
}

/* ---- abbreviations -------------------------------------------------------------------------- */

enum { MOST_CODES = 1 << 20 };

/* Bytes of a value of FORM, PM_DWARF_VARIES. */
static uint8_t form_bytes(const struct pm_dwarf_encoding *encoding, uint16_t form) {
    switch (form) {
    case DW_FORM_implicit_const:
    case DW_FORM_flag_present:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return encoding->address_bytes;
    case DW_FORM_ref_addr:
        return encoding->version < 3 ? encoding->address_bytes : encoding->offset_bytes;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return encoding->offset_bytes;
    default:
        return PM_DWARF_VARIES;
    }
}

static bool read_abbreviation(struct pm_dwarf_unit *unit, struct pm_cursor *cursor, uint64_t code) {
    if (code >= MOST_CODES)
        return false;
    while (unit->n_abbreviations <= code)
        PM_PUSH(unit, abbreviations)->tag = 0;
    struct pm_abbreviation *made = &unit->abbreviations[code];
    uint64_t tag = pm_take_uleb(cursor);
    made->tag = tag <= UINT16_MAX ? (uint16_t)tag : UINT16_MAX;
    made->has_children = pm_take(cursor, 1) != 0;
    made->first_attribute = (uint32_t)unit->n_attributes;
    made->n_attributes = 0;
    uint64_t fixed = 0;
    for (;;) {
        uint64_t name = pm_take_uleb(cursor), form = pm_take_uleb(cursor);
        if (cursor->failed || form > UINT16_MAX)
            return false;
        if (name == 0 && form == 0)
            break;
        struct pm_abbreviation_attribute *attribute = PM_PUSH(unit, attributes);
        attribute->name = name <= UINT16_MAX ? (uint16_t)name : 0;
        attribute->form = (uint16_t)form;
        if (form == DW_FORM_implicit_const)
            attribute->constant = pm_take_sleb(cursor);
        attribute->n_bytes = form_bytes(&unit->encoding, attribute->form);
        fixed = attribute->n_bytes == PM_DWARF_VARIES ? UINT32_MAX : fixed + attribute->n_bytes;
        if (fixed > UINT32_MAX)
            fixed = UINT32_MAX;
        made->n_attributes++;
    }
    made->fixed_bytes = (uint32_t)fixed;
    return true;
}

static bool read_abbreviations(struct pm_dwarf_unit *unit, uint64_t offset) {
    struct pm_cursor cursor = pm_cursor_at(unit->sections[PM_DWARF_ABBREV], offset);
    uint64_t code;
    while ((code = pm_take_uleb(&cursor)) != 0 && !cursor.failed)
        if (!read_abbreviation(unit, &cursor, code))
            return false;
    return !cursor.failed;
}

/* ---- unit headers --------------------------------------------------------------------------- */

/* What the unit's own entry says of all of the unit. */
static void read_unit_entry(struct pm_dwarf_unit *unit) {
    struct pm_cursor cursor = pm_cursor_at(unit->sections[PM_DWARF_INFO], unit->first_entry);
    uint64_t code = pm_take_uleb(&cursor);
    if (cursor.failed || code >= unit->n_abbreviations)
        return;
    const struct pm_abbreviation *abbreviation = &unit->abbreviations[code];
    if (abbreviation->tag == DW_TAG_partial_unit || abbreviation->tag == DW_TAG_type_unit)
        unit->has_code = false;
    struct pm_cursor first = cursor;
    for (int pass = 0; pass < 2; pass++) { /* the bases first: other values count from them */
        cursor = first;
        for (uint32_t i = 0; i < abbreviation->n_attributes; i++) {
            const struct pm_abbreviation_attribute *attribute =
                &unit->attributes[abbreviation->first_attribute + i];
            struct pm_dwarf_value value =
                pm_take_value(&unit->encoding, unit, &cursor, attribute->form, attribute->constant);
            if (cursor.failed)
                return;
            switch (attribute->name) {
            case DW_AT_str_offsets_base:
                unit->string_offsets_base = value.number;
                break;
            case DW_AT_addr_base:
            case DW_AT_GNU_addr_base:
                unit->address_base = value.number;
                break;
            case DW_AT_rnglists_base:
                unit->range_lists_base = value.number;
                break;
            case DW_AT_GNU_ranges_base:
                unit->ranges_base = value.number;
                break;
            case DW_AT_stmt_list:
                unit->lines = value.number;
                break;
            case DW_AT_low_pc:
                unit->low_pc = value.number;
                break;
            case DW_AT_comp_dir:
                unit->folder = value.string;
                break;
            case DW_AT_dwo_name:
            case DW_AT_GNU_dwo_name:
                unit->split_name = value.string;
                break;
            case DW_AT_GNU_dwo_id:
                unit->split_id = value.number;
                break;
            default:
                break;
            }
        }
    }
}

/* In a split unit nothing says where the tables start: after their headers. */
static void set_bases(struct pm_dwarf_unit *unit, const struct pm_dwarf_unit *skeleton) {
    unsigned offset_bytes = unit->encoding.offset_bytes;
    bool has_header = unit->encoding.version >= 5;
    unit->lines = PM_DWARF_NONE;
    unit->string_offsets_base = has_header ? (offset_bytes == 8 ? 16 : 8) : 0;
    unit->range_lists_base = has_header ? (offset_bytes == 8 ? 20 : 12) : 0;
    unit->address_base = has_header ? (offset_bytes == 8 ? 16 : 8) : 0;
    if (!skeleton)
        return;
    unit->is_split = true;
    unit->address_base = skeleton->address_base;
    unit->ranges_base = skeleton->ranges_base;
    unit->low_pc = skeleton->low_pc;
    unit->folder = skeleton->folder;
    unit->sections[PM_DWARF_ADDR] = skeleton->sections[PM_DWARF_ADDR];
    if (unit->encoding.version < 5)
        unit->sections[PM_DWARF_RANGES] = skeleton->sections[PM_DWARF_RANGES];
}

static void free_unit(struct pm_dwarf_unit *unit) {
    free(unit->abbreviations);
    free(unit->attributes);
    free(unit->files);
    free(unit);
}

/* The unit at *OFFSET, which moves behind it; NULL: left out.  *OFFSET becomes END where the
   header's length cannot be believed. */
static struct pm_dwarf_unit *read_unit(struct pm_dwarf_set *set, const struct pm_span *sections,
                                       uint64_t *offset, uint64_t end,
                                       const struct pm_dwarf_unit *skeleton) {
    struct pm_span info = {sections[PM_DWARF_INFO].bytes, end};
    struct pm_cursor cursor = pm_cursor_at(info, *offset);
    struct pm_dwarf_unit *unit = pm_alloc(1, sizeof *unit);
    unit->set = set;
    memcpy(unit->sections, sections, sizeof unit->sections);
    unit->offset = *offset;
    unit->has_code = true;
    unit->encoding.sections = unit->sections;
    uint64_t length = pm_take(&cursor, 4);
    unit->encoding.offset_bytes = 4;
    if (length == 0xffffffff) {
        length = pm_take(&cursor, 8);
        unit->encoding.offset_bytes = 8;
    }
    if (cursor.failed || length == 0 || length > (uint64_t)(cursor.end - cursor.at)) {
        *offset = end;
        free_unit(unit);
        return NULL;
    }
    cursor.end = cursor.at + length;
    *offset = unit->end = (uint64_t)(cursor.end - info.bytes);
    unit->encoding.version = (uint16_t)pm_take(&cursor, 2);
    uint64_t abbreviations = 0;
    unsigned type = DW_UT_compile;
    if (unit->encoding.version >= 5) {
        type = (unsigned)pm_take(&cursor, 1);
        unit->encoding.address_bytes = (uint8_t)pm_take(&cursor, 1);
        abbreviations = pm_take(&cursor, unit->encoding.offset_bytes);
        if (type == DW_UT_skeleton || type == DW_UT_split_compile)
            unit->split_id = pm_take(&cursor, 8);
        if (type == DW_UT_type || type == DW_UT_split_type)
            pm_skip(&cursor, 8u + unit->encoding.offset_bytes);
    } else {
        abbreviations = pm_take(&cursor, unit->encoding.offset_bytes);
        unit->encoding.address_bytes = (uint8_t)pm_take(&cursor, 1);
    }
    unit->has_code = type != DW_UT_type && type != DW_UT_split_type && type != DW_UT_partial;
    unit->first_entry = (uint64_t)(cursor.at - info.bytes);
    set_bases(unit, skeleton);
    if (cursor.failed || unit->encoding.version < 2 || unit->encoding.version > 5 ||
        unit->encoding.address_bytes == 0 || unit->encoding.address_bytes > 8 ||
        !read_abbreviations(unit, abbreviations)) {
        free_unit(unit);
        return NULL;
    }
    read_unit_entry(unit);
    return unit;
}

void pm_dwarf_add_units(struct pm_dwarf_set *set, const struct pm_span *sections, uint64_t begin,
                        uint64_t end, const struct pm_dwarf_unit *skeleton) {
    if (end > sections[PM_DWARF_INFO].n_bytes)
        end = sections[PM_DWARF_INFO].n_bytes;
    while (begin < end) {
        struct pm_dwarf_unit *unit = read_unit(set, sections, &begin, end, skeleton);
        if (unit)
            *PM_PUSH(set, units) = unit;
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

struct pm_dwarf_set *pm_dwarf_add_set(struct pm_dwarf *dwarf, struct pm_debug_file *file) {
    struct pm_dwarf_set *set = pm_alloc(1, sizeof *set);
    set->file = file;
    *PM_PUSH(dwarf, sets) = set;
    return set;
}

struct pm_dwarf *pm_dwarf_open(struct pm_debug_file *file, const char *program) {
    struct pm_dwarf *dwarf = pm_alloc(1, sizeof *dwarf);
    struct pm_dwarf_set *set = pm_dwarf_add_set(dwarf, file);
    struct pm_debug_file *shared = pm_debug_file_find_supplementary(file);
    if (shared) { /* before the units: their names may be there */
        set->supplementary = pm_dwarf_add_set(dwarf, shared);
        pm_dwarf_add_units(set->supplementary, shared->sections, 0, UINT64_MAX, NULL);
    }
    pm_dwarf_add_units(set, file->sections, 0, UINT64_MAX, NULL);
    pm_dwarf_find_splits(dwarf, program);
    return dwarf;
}

void pm_dwarf_close(struct pm_dwarf *dwarf) {
    if (!dwarf)
        return;
    for (size_t s = 0; s < dwarf->n_sets; s++) {
        struct pm_dwarf_set *set = dwarf->sets[s];
        for (size_t u = 0; u < set->n_units; u++)
            free_unit(set->units[u]);
        pm_debug_file_close(set->file);
        free(set->units);
        free(set);
    }
    free(dwarf->sets);
    free(dwarf);
}
