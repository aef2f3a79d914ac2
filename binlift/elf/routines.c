/* Routines: ranges of code that belong together, from symbols and unwinding information.

   A routine starts where a function symbol stands in an executable section (.init, .fini and the
   PLT left out), or, where no symbol covers it, where an FDE of .eh_frame starts.  Of symbols at
   one address one gives the name.  A symbol within a larger one is an inner entry of that one.
   Code that neither covers is not lifted.  Needs nothing; structure->routines and routine_codes
   come out in ascending order of addresses, without overlap, each in one part: cfg/cold_parts.c
   joins cold parts with their routines later. */
#include "binlift/elf/symbol_table.h"
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

struct candidate {
    uint64_t address, size_bytes;
    const char *name; /* NULL: from an FDE */
    int rank;         /* of names for one address, higher wins */
};
struct candidates {
    PM_ARRAY(struct candidate, items);
};

static bool is_lifted_section(const struct pm_section *section) {
    static const char *const excluded[] = {".plt",  ".plt.sec", ".plt.got",
                                           ".iplt", ".init",    ".fini"};
    if (!pm_section_is_code(section))
        return false;
    for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++)
        if (strcmp(section->name, excluded[i]) == 0)
            return false;
    return true;
}

/* End of the lifted section at ADDRESS; 0: there is none. */
static uint64_t section_end(const struct pm_image *image, uint64_t address) {
    const struct pm_section *section = pm_image_section_at(image, address);
    if (!section || !is_lifted_section(section))
        return 0;
    return section->header.sh_addr + section->header.sh_size;
}

/* ---- candidates ----------------------------------------------------------------------------- */

static int name_rank(const Elf64_Sym *symbol, const char *name) {
    int rank = 0;
    switch (ELF64_ST_BIND(symbol->st_info)) {
    case STB_GLOBAL:
        rank = 4;
        break;
    case STB_WEAK:
        rank = 2;
        break;
    default:
        break;
    }
    return name[0] == '_' && name[1] == '_' ? rank : rank + 1;
}

static void add_symbols(const struct pm_image *image, const struct pm_section *section,
                        struct candidates *candidates) {
    struct pm_symbol_table table = pm_symbol_table(image, &section->header);
    for (uint64_t i = 0; i < table.n_entries; i++) {
        Elf64_Sym symbol;
        const char *name;
        if (!pm_symbol(&table, i, &symbol, &name))
            continue;
        int type = ELF64_ST_TYPE(symbol.st_info);
        uint64_t end = section_end(image, symbol.st_value);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || !end)
            continue;
        uint64_t room = end - symbol.st_value;
        *PM_PUSH(candidates, items) =
            (struct candidate){symbol.st_value, symbol.st_size < room ? symbol.st_size : room,
                               *name ? name : NULL, *name ? name_rank(&symbol, name) : -1};
    }
}

static void add_unwind_ranges(const struct pm_lifted *lifted, struct candidates *candidates) {
    for (size_t i = 0; i < lifted->unwind_ranges.n_ranges; i++) {
        const struct pm_unwind_range *range = &lifted->unwind_ranges.ranges[i];
        uint64_t end = section_end(&lifted->image, range->address);
        /* Unwinders know the code that handlers of signals return to by its bytes: it stays. */
        if (end && !range->is_signal && range->size_bytes <= end - range->address)
            *PM_PUSH(candidates, items) =
                (struct candidate){range->address, range->size_bytes, NULL, -2};
    }
}

/* Symbols before FDEs, so that an FDE counts only where no symbol covers its start. */
static int by_address(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->address != y->address)
        return PM_COMPARE(x->address, y->address);
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    if (x->size_bytes != y->size_bytes)
        return x->size_bytes > y->size_bytes ? -1 : 1;
    return x->name && y->name ? strcmp(x->name, y->name) : 0;
}

/* ---- from candidates to routines ------------------------------------------------------------ */

/* One candidate for each address: the best name, the largest size. */
static void join_aliases(struct candidates *candidates) {
    size_t n = 0;
    for (size_t i = 0; i < candidates->n_items; i++) {
        struct candidate *item = &candidates->items[i];
        struct candidate *last = n ? &candidates->items[n - 1] : NULL;
        if (!last || last->address != item->address) {
            candidates->items[n++] = *item;
            continue;
        }
        bool is_frame = item->rank == -2;
        if (item->size_bytes > last->size_bytes && (!is_frame || last->size_bytes == 0))
            last->size_bytes = item->size_bytes;
    }
    candidates->n_items = n;
}

static void add_routine(struct pm_lifted *lifted, const struct candidate *item) {
    struct pm_routine *routine = PM_PUSH(lifted->structure, routines);
    PM_PUSH(lifted, routine_codes);
    routine->name = item->name ? pm_strdup(item->name)
                               : pm_sprintf("sub_%llx", (unsigned long long)item->address);
    routine->display_name = pm_display_name(routine->name);
    routine->address = item->address;
    routine->size_bytes = item->size_bytes;
    routine->scope = PM_NONE;
    routine->first_part = (uint32_t)lifted->structure->n_parts;
    routine->n_parts = 1;
    uint32_t number = (uint32_t)lifted->structure->n_routines - 1;
    *PM_PUSH(lifted->structure, parts) = (struct pm_part){item->address, item->size_bytes, number};
}

static void refuse(struct pm_routine *routine, const char *reason) {
    routine->state = PM_ROUTINE_REFUSED;
    routine->reason = pm_strdup(reason);
}

static void add_routines(struct pm_lifted *lifted, const struct candidates *candidates) {
    struct pm_structure *structure = lifted->structure;
    for (size_t i = 0; i < candidates->n_items; i++) {
        struct candidate item = candidates->items[i];
        struct pm_routine *last =
            structure->n_routines ? &structure->routines[structure->n_routines - 1] : NULL;
        if (last && item.address - last->address < last->size_bytes) {
            uint64_t end = item.address + item.size_bytes;
            if (item.rank == -2)
                continue;
            *PM_PUSH(&lifted->inner_entries, addresses) = item.address;
            if (end > last->address + last->size_bytes)
                last->size_bytes = structure->parts[last->first_part].size_bytes =
                    end - last->address;
            continue;
        }
        bool has_size = item.size_bytes > 0;
        if (!has_size) {
            item.size_bytes = section_end(&lifted->image, item.address) - item.address;
            if (i + 1 < candidates->n_items &&
                candidates->items[i + 1].address - item.address < item.size_bytes)
                item.size_bytes = candidates->items[i + 1].address - item.address;
        }
        add_routine(lifted, &item);
        struct pm_routine *routine = &structure->routines[structure->n_routines - 1];
        if (!has_size)
            refuse(routine, "its symbol has no size, so its end is not known");
        else if (strcmp(routine->name, "_start") == 0 ||
                 item.address == lifted->image.header->e_entry)
            refuse(routine, "the program starts here, before anything is set up");
    }
}

void pm_find_routines(struct pm_lifted *lifted) {
    struct candidates candidates = {0};
    const struct pm_image *image = &lifted->image;
    pm_read_unwind_ranges(image, &lifted->unwind_ranges);
    for (size_t i = 0; i < image->n_sections; i++)
        add_symbols(image, &image->sections[i], &candidates);
    add_unwind_ranges(lifted, &candidates);
    PM_SORT(candidates.items, candidates.n_items, by_address);
    join_aliases(&candidates);
    add_routines(lifted, &candidates);
    pm_index_ranges(lifted);
    free(candidates.items);
}
