/* Skeleton units and where their entries are: in a .dwo file each, or all of them in a package
   (.dwp); see dwarf_unit.h.  Needs the units of the program's own debug file.  A file found by name
   is taken only if its unit has the same identity. */
#include "binlift/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- packages ------------------------------------------------------------------------------- */

/* .debug_cu_index: a hash table from identities to rows; a row has the unit's share of each
   section.  Version 2 is GNU's for DWARF 4, version 5 that of the standard. */
struct package {
    struct pm_debug_file *file;
    struct pm_dwarf_set *set;
    uint32_t version, n_columns, n_rows, n_slots;
    const uint8_t *identities, *rows, *columns, *offsets, *sizes;
};

static uint32_t word(const uint8_t *bytes, uint64_t index) {
    uint32_t value;
    memcpy(&value, bytes + 4 * index, sizeof value);
    return value;
}

static bool open_package(struct package *package, struct pm_debug_file *file) {
    struct pm_span index = file->sections[PM_DWARF_CU_INDEX];
    enum { HEADER = 16 };
    if (index.n_bytes < HEADER)
        return false;
    package->file = file;
    package->version = word(index.bytes, 0) == 2 ? 2 : word(index.bytes, 0) & 0xffff;
    package->n_columns = word(index.bytes, 1);
    package->n_rows = word(index.bytes, 2);
    package->n_slots = word(index.bytes, 3);
    uint64_t room = (index.n_bytes - HEADER) / 4, slots = package->n_slots;
    uint64_t cells = (uint64_t)package->n_columns * package->n_rows;
    if ((package->version != 2 && package->version != 5) || package->n_columns > 16 ||
        package->n_rows > room || slots > room || 3 * slots > room ||
        package->n_columns + 2 * cells > room - 3 * slots)
        return false;
    package->identities = index.bytes + HEADER;
    package->rows = package->identities + 8 * slots;
    package->columns = package->rows + 4 * slots;
    package->offsets = package->columns + 4 * package->n_columns;
    package->sizes = package->offsets + 4 * cells;
    return true;
}

/* Which of our sections a column is; PM_N_DWARF_SECTIONS: none. */
static unsigned section_of_column(const struct package *package, uint32_t column) {
    switch (column) {
    case 1:
        return PM_DWARF_INFO;
    case 3:
        return PM_DWARF_ABBREV;
    case 4:
        return PM_DWARF_LINE;
    case 6:
        return PM_DWARF_STR_OFFSETS;
    case 8:
        return package->version == 5 ? PM_DWARF_RNGLISTS : PM_N_DWARF_SECTIONS;
    default:
        return PM_N_DWARF_SECTIONS;
    }
}

/* The sections of row ROW (from 1): whole for .debug_info, whose part is *BEGIN … *END, because
   offsets count from its start; the share for the others. */
static bool share(const struct package *package, uint32_t row, struct pm_span *sections,
                  uint64_t *begin, uint64_t *end) {
    memcpy(sections, package->file->sections, sizeof package->file->sections);
    *begin = *end = 0;
    for (uint32_t column = 0; column < package->n_columns; column++) {
        unsigned which = section_of_column(package, word(package->columns, column));
        if (which == PM_N_DWARF_SECTIONS)
            continue;
        uint64_t cell = (uint64_t)(row - 1) * package->n_columns + column;
        uint64_t offset = word(package->offsets, cell), size = word(package->sizes, cell);
        struct pm_span *section = &sections[which];
        if (offset > section->n_bytes || size > section->n_bytes - offset)
            return false;
        if (which == PM_DWARF_INFO) {
            *begin = offset;
            *end = offset + size;
        } else {
            *section = (struct pm_span){section->bytes + offset, size};
        }
    }
    return *begin < *end;
}

static uint32_t find_row(const struct package *package, uint64_t identity) {
    for (uint32_t i = 0; i < package->n_slots; i++) {
        /* from the first slot that it can be in, to the first that is free */
        uint32_t mask = package->n_slots - 1;
        uint32_t step = (uint32_t)(identity >> 32) | 1;
        uint32_t slot = ((uint32_t)identity + i * step) & mask, row = word(package->rows, slot);
        uint64_t found;
        memcpy(&found, package->identities + 8 * (uint64_t)slot, sizeof found);
        if (row == 0)
            return 0;
        if (found == identity)
            return row <= package->n_rows ? row : 0;
    }
    return 0;
}

/* ---- from skeletons to their entries -------------------------------------------------------- */

/* Reads what belongs to SKELETON into SET; the unit with its identity becomes skeleton->split. */
static void tie(struct pm_dwarf_set *set, const struct pm_span *sections, uint64_t begin,
                uint64_t end, struct pm_dwarf_unit *skeleton) {
    size_t first = set->n_units;
    pm_dwarf_add_units(set, sections, begin, end, skeleton);
    for (size_t u = first; u < set->n_units; u++) {
        struct pm_dwarf_unit *unit = set->units[u];
        unit->skeleton = skeleton;
        if (unit->has_code && unit->split_id == skeleton->split_id && !skeleton->split)
            skeleton->split = unit;
    }
}

static void find_in_file(struct pm_dwarf *dwarf, struct pm_dwarf_unit *skeleton,
                         const char *program) {
    struct pm_debug_file *file =
        pm_debug_file_find_split(skeleton->split_name, skeleton->folder, program);
    if (file)
        tie(pm_dwarf_add_set(dwarf, file), file->sections, 0, UINT64_MAX, skeleton);
}

static int by_offset(const void *left, const void *right) {
    const struct pm_dwarf_unit *a = *(struct pm_dwarf_unit *const *)left;
    const struct pm_dwarf_unit *b = *(struct pm_dwarf_unit *const *)right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void pm_dwarf_find_splits(struct pm_dwarf *dwarf, const char *program) {
    const struct pm_dwarf_set *main = dwarf->sets[0];
    struct package package = {0};
    bool looked = false;
    for (size_t u = 0; u < main->n_units; u++) {
        struct pm_dwarf_unit *skeleton = main->units[u];
        if (!skeleton->split_name)
            continue;
        if (!looked) {
            struct pm_debug_file *file = pm_debug_file_find_package(program, main->file);
            if (file && open_package(&package, file))
                package.set = pm_dwarf_add_set(dwarf, file);
            else
                pm_debug_file_close(file);
            looked = true;
        }
        uint32_t row = package.set ? find_row(&package, skeleton->split_id) : 0;
        struct pm_span sections[PM_N_DWARF_SECTIONS];
        uint64_t begin, end;
        if (row && share(&package, row, sections, &begin, &end))
            tie(package.set, sections, begin, end, skeleton);
        if (!skeleton->split)
            find_in_file(dwarf, skeleton, program);
    }
    if (package.set && package.set->n_units)
        qsort(package.set->units, package.set->n_units, sizeof *package.set->units, by_offset);
}
