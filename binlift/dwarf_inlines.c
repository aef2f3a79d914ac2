/* Inlined code and where routines are declared, from the tree of one compilation unit; see dwarf.h.
   Parents come before what is inlined into them, so that the innermost wins. */
#include "binlift/dwarf.h"

#include <dwarf.h>

enum { MOST_NESTED = 512 }; /* deeper trees are damage, not programs */

struct die_walk {
    const struct pm_lifted *lifted;
    struct pm_debug *debug;
};

static uint32_t number_of(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
        value >= UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* Display name of a callee: its linkage name made readable, else its plain name. */
static char *name_of(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    const char *linkage = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        linkage = dwarf_formstring(&attribute);
    if (linkage)
        return pm_display_name(linkage);
    const char *name =
        dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
    return pm_strdup(name ? name : "inlined code without a name");
}

static uint32_t add_inline(struct die_walk *walk, Dwarf_Die *die, uint32_t parent) {
    struct pm_debug *debug = walk->debug;
    uint32_t number = PM_NONE;
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
        if (low < walk->lifted->text_low || high > walk->lifted->text_high)
            continue;
        uint32_t i = pm_first_insn_from(walk->lifted, low);
        if (number == PM_NONE && i != PM_NONE && walk->lifted->insns[i].address < high) {
            int line = 0;
            dwarf_decl_line(die, &line);
            uint32_t file = pm_debug_file(debug, dwarf_decl_file(die));
            number = (uint32_t)debug->n_inlines;
            uint32_t depth = parent == PM_NONE ? 1 : debug->inlines[parent].depth + 1;
            *PM_PUSH(debug, inlines) =
                (struct pm_inline){.parent = parent,
                                   .depth = depth,
                                   .name = name_of(die),
                                   .file = file,
                                   .line = line > 0 ? (uint32_t)line : 0,
                                   .call_line = number_of(die, DW_AT_call_line)};
        }
        for (; i != PM_NONE && walk->lifted->insns[i].address < high;
             i = pm_insn_after(walk->lifted, i))
            debug->insn_inline[i] = number;
    }
    return number == PM_NONE ? parent : number;
}

static void add_declaration(struct die_walk *walk, Dwarf_Die *die) {
    const struct pm_structure *structure = walk->lifted->structure;
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
        uint32_t routine = pm_routine_at(walk->lifted, low);
        if (routine == PM_NONE || structure->routines[routine].address != low)
            continue;
        int line = 0;
        dwarf_decl_line(die, &line);
        walk->debug->declarations[routine] =
            (struct pm_declaration){.file = pm_debug_file(walk->debug, dwarf_decl_file(die)),
                                    .line = line > 0 ? (uint32_t)line : 0};
    }
}

static void walk_children(struct die_walk *walk, Dwarf_Die *above, uint32_t parent, int depth) {
    Dwarf_Die die;
    if (depth == MOST_NESTED || dwarf_child(above, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            add_declaration(walk, &die);
            walk_children(walk, &die, PM_NONE, depth + 1);
            break;
        case DW_TAG_inlined_subroutine:
            walk_children(walk, &die, add_inline(walk, &die, parent), depth + 1);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
        case DW_TAG_module:
            walk_children(walk, &die, parent, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

void pm_debug_add_inlines(const struct pm_lifted *lifted, struct pm_debug *debug, Dwarf_Die *unit) {
    struct die_walk walk = {lifted, debug};
    walk_children(&walk, unit, PM_NONE, 0);
}
