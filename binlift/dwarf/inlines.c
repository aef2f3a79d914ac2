/* Inlined code and routines, from the tree of one unit; see dwarf.h.  Types and variables, most of
   the tree, are passed over. */
#include "binlift/dwarf/dwarf.h"
#include "binlift/dwarf/unit.h"

#include <dwarf.h>

enum { MOST_NESTED = 512 }; /* deeper trees are damage, not programs */

struct walk {
    struct pm_unit_reader *reader;
    const void *last; /* the last entry: of a tree that is sound, the next is behind it */
};

/* ---- attributes ----------------------------------------------------------------------------- */

/* The entry that attribute NAME of DIE refers to. */
static bool follow(Dwarf_Die *die, unsigned name, Dwarf_Die *to) {
    Dwarf_Attribute attribute;
    uint8_t n_bytes;
    if (!dwarf_attr(die, name, &attribute))
        return false;
    if (attribute.form == DW_FORM_ref_sup4 || attribute.form == DW_FORM_ref_sup8) {
        /* libdw 0.188 looks for these in the wrong file; GNU's form means the same */
        if (dwarf_cu_info(die->cu, NULL, NULL, NULL, NULL, NULL, NULL, &n_bytes) != 0 ||
            n_bytes != (attribute.form == DW_FORM_ref_sup4 ? 4 : 8))
            return false;
        attribute.form = DW_FORM_GNU_ref_alt;
    }
    return dwarf_formref_die(&attribute, to);
}

/* Attribute NAME of DIE or of what it goes back to; NULL: there is none. */
static Dwarf_Attribute *find(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attribute) {
    enum { MOST_STEPS = 16 }; /* abstract origin, specification … a circle is damage */
    Dwarf_Die at = *die, next;
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        if (dwarf_attr(&at, name, attribute))
            return attribute;
        if (!follow(&at, DW_AT_abstract_origin, &next) && !follow(&at, DW_AT_specification, &next))
            return NULL;
        at = next;
    }
    return NULL;
}

/* A number that fits; 0 otherwise. */
static uint32_t number_of(Dwarf_Attribute *attribute) {
    Dwarf_Word value;
    if (!attribute || dwarf_formudata(attribute, &value) != 0 || value >= UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

static char *string_of(Dwarf_Attribute *attribute) {
    const char *text = attribute ? dwarf_formstring(attribute) : NULL;
    return text ? pm_strdup(text) : NULL;
}

/* The file whose number is in ATTRIBUTE, in the line table of the unit that it stands in. */
static uint32_t file_of(struct walk *walk, Dwarf_Attribute *attribute) {
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t n_files;
    Dwarf_Word file;
    if (!attribute || dwarf_formudata(attribute, &file) != 0 ||
        dwarf_cu_info(attribute->cu, NULL, NULL, &unit, NULL, NULL, NULL, NULL) != 0 ||
        dwarf_getsrcfiles(&unit, &files, &n_files) != 0 || file >= n_files)
        return PM_NONE;
    return pm_unit_file(walk->reader, attribute->cu, dwarf_filesrc(files, file, NULL, NULL));
}

/* ---- inlined code --------------------------------------------------------------------------- */

static struct pm_entry_key key_of(const struct pm_unit_reader *reader, Dwarf_Die *die) {
    Dwarf *owner = dwarf_cu_getdwarf(die->cu);
    uint64_t section = 2 + reader->number;
    if (owner == reader->dwarf)
        section = 0;
    else if (owner == dwarf_getalt(reader->dwarf))
        section = 1;
    return (struct pm_entry_key){section, dwarf_dieoffset(die)};
}

static uint32_t callee_of(struct walk *walk, Dwarf_Die *die) {
    struct pm_unit_reader *reader = walk->reader;
    Dwarf_Attribute a;
    Dwarf_Die origin;
    bool is_new, is_known = follow(die, DW_AT_abstract_origin, &origin);
    uint32_t callee = pm_pointer_number(&reader->callees, is_known ? origin.addr : NULL, &is_new);
    if (!is_new)
        return callee;
    struct pm_unit_callee *made = PM_PUSH(reader->facts, callees);
    *made = (struct pm_unit_callee){.key = {UINT64_MAX, 0}, .file = PM_NONE};
    if (!is_known)
        return callee;
    made->key = key_of(reader, &origin);
    made->linkage_name = string_of(find(&origin, DW_AT_linkage_name, &a));
    if (!made->linkage_name)
        made->linkage_name = string_of(find(&origin, DW_AT_MIPS_linkage_name, &a));
    made->plain_name = string_of(find(&origin, DW_AT_name, &a));
    made->line = number_of(find(&origin, DW_AT_decl_line, &a));
    made->file = file_of(walk, find(&origin, DW_AT_decl_file, &a));
    return callee;
}

static uint32_t add_inline(struct walk *walk, Dwarf_Die *die, uint32_t parent) {
    struct pm_unit_facts *facts = walk->reader->facts;
    struct pm_unit_inline made = {.parent = parent, .first_range = (uint32_t)facts->n_ranges};
    Dwarf_Attribute attribute;
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
        if (low >= high || low < walk->reader->low || high > walk->reader->high)
            continue;
        *PM_PUSH(facts, ranges) = (struct pm_address_range){low, high};
        made.n_ranges++;
    }
    if (made.n_ranges == 0)
        return parent;
    made.callee = callee_of(walk, die);
    made.call_file = file_of(walk, dwarf_attr(die, DW_AT_call_file, &attribute));
    made.call_line = number_of(dwarf_attr(die, DW_AT_call_line, &attribute));
    *PM_PUSH(facts, inlines) = made;
    return (uint32_t)facts->n_inlines - 1;
}

/* ---- routines ------------------------------------------------------------------------------- */

static void add_routine(struct walk *walk, Dwarf_Die *die) {
    struct pm_unit_reader *reader = walk->reader;
    Dwarf_Attribute a;
    Dwarf_Addr base, low, high;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;)
        if (low < high && low >= reader->low && low < reader->high)
            *PM_PUSH(reader->facts, routines) =
                (struct pm_unit_routine){.address = low,
                                         .name = string_of(find(die, DW_AT_name, &a)),
                                         .file = file_of(walk, find(die, DW_AT_decl_file, &a)),
                                         .line = number_of(find(die, DW_AT_decl_line, &a))};
}

/* An abstract instance: nothing under it has addresses, except routines nested in it, which
   compilers put elsewhere. */
static bool is_abstract(Dwarf_Die *die) {
    return !dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges);
}

static void walk_children(struct walk *walk, Dwarf_Die *above, uint32_t parent, int depth) {
    Dwarf_Die die;
    if (depth == MOST_NESTED || dwarf_child(above, &die) != 0)
        return;
    do {
        if (die.addr <= walk->last)
            return; /* a damaged tree; each entry is read once only */
        walk->last = die.addr;
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            add_routine(walk, &die);
            if (!is_abstract(&die))
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

void pm_read_unit_entries(struct pm_unit_reader *reader, Dwarf_Die *unit) {
    struct walk walk = {reader, unit->addr};
    walk_children(&walk, unit, PM_NONE, 0);
}
