/* Inlined code and routines, from the tree of one unit; see dwarf.h.  Needs units.  Types and
   variables, most of the tree, are passed over. */
#include "binlift/dwarf.h"

#include <dwarf.h>
#include <stdlib.h>

enum { MOST_NESTED = 512 }; /* deeper trees are damage, not programs */

static bool has_code_inside(uint16_t tag) {
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_compile_unit:
    case DW_TAG_skeleton_unit:
        return true;
    default:
        return false;
    }
}

struct walk {
    const struct pm_dwarf_unit *unit;
    struct pm_unit_facts *facts;
    uint64_t low, high;
    struct pm_address_ranges ranges; /* of the last entry */
};

static uint32_t add_inline(struct walk *walk, const struct pm_entry *entry, uint32_t parent) {
    struct pm_unit_facts *facts = walk->facts;
    pm_entry_ranges(walk->unit, entry, &walk->ranges);
    struct pm_unit_inline made = {.parent = parent,
                                  .origin = entry->origin,
                                  .call_file = entry->call_file,
                                  .call_line = entry->call_line,
                                  .first_range = (uint32_t)facts->n_ranges};
    for (size_t i = 0; i < walk->ranges.n_ranges; i++) {
        struct pm_address_range range = walk->ranges.ranges[i];
        if (range.low < walk->low || range.high > walk->high)
            continue;
        *PM_PUSH(facts, ranges) = range;
        made.n_ranges++;
    }
    if (made.n_ranges == 0)
        return parent;
    *PM_PUSH(facts, inlines) = made;
    return (uint32_t)facts->n_inlines - 1;
}

static void add_routine(struct walk *walk, const struct pm_entry *entry) {
    pm_entry_ranges(walk->unit, entry, &walk->ranges);
    for (size_t i = 0; i < walk->ranges.n_ranges; i++) {
        uint64_t address = walk->ranges.ranges[i].low;
        if (address >= walk->low && address < walk->high)
            *PM_PUSH(walk->facts, routines) =
                (struct pm_unit_routine){address, {walk->unit, entry->offset}};
    }
}

/* An abstract instance: nothing under it has addresses, except routines nested in it, which
   compilers put elsewhere. */
static bool is_abstract(const struct pm_entry *entry) {
    return entry->tag == DW_TAG_subprogram && entry->low_pc == PM_DWARF_NONE &&
           entry->ranges == PM_DWARF_NONE;
}

void pm_read_unit_entries(uint64_t low, uint64_t high, struct pm_unit_facts *facts) {
    struct walk walk = {.unit = facts->entries, .facts = facts, .low = low, .high = high};
    uint32_t inlined[MOST_NESTED];       /* inlined code at each depth */
    unsigned depth = 0, passed_over = 0; /* levels of the tree; of which, not of interest */
    inlined[0] = PM_NONE;
    for (uint64_t at = walk.unit->first_entry; at < walk.unit->end;) {
        struct pm_entry entry = pm_read_entry(walk.unit, at, has_code_inside);
        if (entry.next <= at)
            break;
        at = entry.next;
        if (entry.tag == 0) { /* the end of some children */
            if (passed_over)
                passed_over--;
            else if (depth)
                depth--;
            if (depth == 0)
                break;
            continue;
        }
        bool enters = has_code_inside(entry.tag) && !passed_over && depth + 1 < MOST_NESTED;
        uint32_t inside = PM_NONE;
        if (enters && entry.tag == DW_TAG_subprogram)
            add_routine(&walk, &entry);
        else if (enters && entry.tag == DW_TAG_inlined_subroutine)
            inside = add_inline(&walk, &entry, inlined[depth]);
        else if (enters)
            inside = inlined[depth];
        if (!entry.has_children) {
            if (depth == 0)
                break; /* a unit of one entry */
            continue;
        }
        if ((!enters || is_abstract(&entry)) && entry.sibling > at &&
            entry.sibling < walk.unit->end)
            at = entry.sibling;
        else if (!enters)
            passed_over++;
        else
            inlined[++depth] = inside;
    }
    free(walk.ranges.ranges);
}
