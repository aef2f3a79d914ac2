/* Jump tables: the targets of indirect jumps of `switch`.  Needs instructions, relocations and
   metadata.

   The compiler's word comes first, also for computed gotos; else the ISA finds the table's form by
   slicing backwards from the jump.  Entries are read while they are starts of instructions of the
   routine or of its cold part, up to the next table, and to the bounds check where there is one.
   Entries between the bound and that end are no edges, but indirect entries: a bound that was wrong
   must not lose control. Where an entry below the bound cannot be one, the table is unknown: its
   entries are indirect entries. */
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"
#include "binlift/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TABLE_ENTRIES = 1 << 16 };

/* A table whose form is found in the code. */
struct found_table {
    struct pm_table_form form;
    uint32_t insn, routine;
};

/* A jump whose targets the metadata has: `targets` from first_target on. */
struct metadata_table {
    uint32_t insn, routine;
    uint64_t address;
    uint8_t entry_bytes;
    bool of_labels;
    uint32_t first_target, n_targets;
};

struct found_tables {
    PM_ARRAY(struct found_table, items);
    PM_ARRAY(struct metadata_table, by_metadata);
    struct pm_addresses targets;
};

bool pm_is_data(const void *image, uint64_t address) {
    const struct pm_section *section = pm_image_section_at(image, address);
    return section && !pm_section_is_code(section) && section->header.sh_type != SHT_NOBITS;
}

/* ---- entries -------------------------------------------------------------------------------- */

static bool is_code(const struct pm_lifted *lifted, uint64_t address) {
    const struct pm_section *section = pm_image_section_at(&lifted->image, address);
    return section && pm_section_is_code(section);
}

static uint64_t read_offset(const uint8_t *bytes, const struct pm_table_form *form) {
    uint64_t offset = 0;
    unsigned unused = 64 - 8u * form->entry_bytes;
    memcpy(&offset, bytes, form->entry_bytes);
    return form->is_signed ? (uint64_t)((int64_t)(offset << unused) >> unused) : offset;
}

/* Target of entry NUMBER; false where there is no such entry.  An entry that leads out of the
   routine is believed up to the bounds check only: a case that cannot be may lead anywhere, and a
   cold part that only tables lead to is not known for one. */
static bool read_entry(const struct pm_lifted *lifted, const struct found_table *table,
                       uint64_t number, uint64_t *target) {
    uint64_t place = table->form.table + number * table->form.entry_bytes;
    if (!pm_is_data(&lifted->image, place))
        return false;
    if (!table->form.relative) {
        if (!pm_word_at(lifted, place, target))
            return false;
    } else {
        const uint8_t *bytes = pm_image_at(&lifted->image, place, table->form.entry_bytes);
        if (!bytes)
            return false;
        *target = table->form.base + table->form.scale * read_offset(bytes, &table->form);
    }
    if (pm_routine_at(lifted, *target) == table->routine)
        return pm_insn_at(lifted, *target) != PM_NONE;
    return table->form.is_checked && number < table->form.max_entries && is_code(lifted, *target);
}

/* Right behind the routine, or a part of it: where clang lets cases lead that cannot be. */
static bool is_end_of(const struct pm_lifted *lifted, uint32_t routine, uint64_t target) {
    const struct pm_structure *structure = lifted->structure;
    const struct pm_part *parts = structure->parts + structure->routines[routine].first_part;
    for (uint32_t p = 0; p < structure->routines[routine].n_parts; p++)
        if (parts[p].address + parts[p].size_bytes == target)
            return true;
    return false;
}

static void mark_target(struct pm_lifted *lifted, uint32_t routine, uint64_t target) {
    uint32_t insn = pm_insn_at(lifted, target);
    if (insn == PM_NONE)
        return;
    lifted->insn_marks[insn] |= PM_MARK_LEADER | PM_MARK_INDIRECT_ENTRY;
    if (pm_routine_at(lifted, target) != routine)
        lifted->insn_marks[insn] |= PM_MARK_OUTSIDE;
}

/* Offsets from a label, and, where it could not be a `switch`, a table of addresses. */
static bool is_of_labels(const struct pm_lifted *lifted, const struct pm_table_form *form) {
    if (form->relative)
        return form->base != form->table && !lifted->isa->switches_from_labels;
    return lifted->image.is_pie || !form->is_checked;
}

/* Reads TABLE, which ends before LIMIT (address), into lifted->tables if it has entries. */
static void add_table(struct pm_lifted *lifted, const struct found_table *table, uint64_t limit) {
    uint64_t target, n = 0, n_edges = 0, n_outside = 0;
    size_t first = lifted->n_table_targets;
    bool breaks_off = false;
    bool is_short = table->form.entry_bytes < 4; /* whatever follows would look like an entry */
    for (; n < MAX_TABLE_ENTRIES; n++) {
        if (n && table->form.table + n * table->form.entry_bytes >= limit)
            break;
        if (is_short && n >= table->form.max_entries)
            break;
        target = 0;
        if (!read_entry(lifted, table, n, &target)) {
            if (n && is_end_of(lifted, table->routine, target))
                continue;
            breaks_off = table->form.is_checked && n < table->form.max_entries;
            break;
        }
        mark_target(lifted, table->routine, target);
        if (table->form.max_entries && n >= table->form.max_entries)
            continue;
        *PM_PUSH(lifted, table_targets) = target;
        n_edges++;
        n_outside += pm_routine_at(lifted, target) != table->routine;
    }
    if (!n_edges || breaks_off || 2 * n_outside > n_edges) {
        lifted->n_table_targets = first;
        return;
    }
    *PM_PUSH(lifted, tables) = (struct pm_jump_table){
        table->insn,       table->form.table,       (uint32_t)first,
        (uint32_t)n_edges, table->form.entry_bytes, is_of_labels(lifted, &table->form)};
}

/* ---- all jumps ------------------------------------------------------------------------------ */

/* There are some from FIRST on, and each starts an instruction; else they are dropped. */
static bool keep_targets(const struct pm_lifted *lifted, struct pm_addresses *targets,
                         size_t first) {
    for (size_t i = first; i < targets->n_addresses; i++)
        if (pm_insn_at(lifted, targets->addresses[i]) == PM_NONE)
            targets->n_addresses = first;
    return targets->n_addresses > first;
}

/* Appends the targets of JUMP that the metadata has: those of a table, or of a computed goto. */
static bool ask_compiler(const struct pm_lifted *lifted, uint32_t jump, bool *of_labels,
                         struct pm_addresses *targets) {
    size_t first = targets->n_addresses, n = 0;
    const uint64_t *in_table;
    bool leaves = false;
    pm_metadata_table(lifted, lifted->insns[jump].address, &in_table, &n);
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(targets, addresses) = in_table[i];
    *of_labels = !keep_targets(lifted, targets, first);
    if (!*of_labels)
        return true;
    if (!pm_metadata_jump(lifted, jump, targets, &leaves) || leaves)
        targets->n_addresses = first;
    return keep_targets(lifted, targets, first);
}

static void find_forms_of(const struct pm_lifted *lifted, uint32_t routine, uint32_t jump,
                          const struct pm_jumps *jumps, struct found_tables *found) {
    bool is_found = false, of_labels = false;
    size_t first = found->targets.n_addresses;
    const struct pm_range *range = pm_range_at(lifted, lifted->insns[jump].address);
    struct pm_table_query query = {
        lifted->insns,          jump,          range->first_insn, jumps->items, jumps->n_items,
        (void *)&lifted->image, pm_image_read, pm_is_data,        false,        0};
    struct pm_table_form form = lifted->isa->find_table(&query, &is_found);
    if (!is_found || !pm_is_data(&lifted->image, form.table))
        form = (struct pm_table_form){0};
    if (ask_compiler(lifted, jump, &of_labels, &found->targets))
        *PM_PUSH(found, by_metadata) =
            (struct metadata_table){.insn = jump,
                                    .routine = routine,
                                    .address = of_labels ? 0 : form.table,
                                    .entry_bytes = of_labels ? 0 : form.entry_bytes,
                                    .of_labels = of_labels,
                                    .first_target = (uint32_t)first,
                                    .n_targets = (uint32_t)(found->targets.n_addresses - first)};
    else if (form.table)
        *PM_PUSH(found, items) = (struct found_table){form, jump, routine};
}

static void find_forms(const struct pm_lifted *lifted, struct found_tables *found) {
    for (uint32_t i = 0; i < lifted->structure->n_routines; i++) {
        const struct pm_routine_code *code = &lifted->routine_codes[i];
        struct pm_jumps jumps = {0};
        bool has_jumps = false;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            const struct pm_insn *insn = &lifted->insns[k];
            if (insn->control != PM_CONTROL_JUMP_INDIRECT || pm_goes_through_slot(insn))
                continue;
            if (!has_jumps)
                pm_find_jumps(lifted, i, &jumps);
            has_jumps = true;
            find_forms_of(lifted, i, k, &jumps, found);
        }
        free(jumps.items);
    }
}

static int by_table(const void *a, const void *b) {
    const struct found_table *x = a, *y = b;
    if (x->form.table != y->form.table)
        return PM_COMPARE(x->form.table, y->form.table);
    return PM_COMPARE(x->insn, y->insn);
}

static int by_insn(const void *a, const void *b) {
    const struct pm_jump_table *x = a, *y = b;
    return PM_COMPARE(x->insn, y->insn);
}

/* Of a table that several jumps share one check is enough. */
static void take_bound_of_others(struct found_tables *found, size_t i) {
    enum { MOST_OTHERS = 256 };
    struct pm_table_form *form = &found->items[i].form;
    size_t first = i > MOST_OTHERS ? i - MOST_OTHERS : 0;
    for (size_t k = first; k < found->n_items && k < i + MOST_OTHERS; k++) {
        const struct pm_table_form *other = &found->items[k].form;
        if (other->table != form->table || !other->is_checked || !other->max_entries)
            continue;
        if (!form->is_checked || other->max_entries > form->max_entries)
            form->max_entries = other->max_entries;
        form->is_checked = true;
    }
}

static void add_exits(const struct pm_lifted *lifted, const struct found_table *table,
                      struct pm_table_exits *exits) {
    size_t first = exits->n_items;
    uint64_t target;
    for (uint64_t n = 0; n < table->form.max_entries && table->form.is_checked; n++) {
        if (n >= MAX_TABLE_ENTRIES || !read_entry(lifted, table, n, &target) ||
            pm_insn_at(lifted, target) == PM_NONE) {
            exits->n_items = first;
            return;
        }
        if (pm_routine_at(lifted, target) != table->routine)
            *PM_PUSH(exits, items) = (struct pm_table_exit){target, table->routine};
    }
}

static void release(struct found_tables *found) {
    free(found->items);
    free(found->by_metadata);
    free(found->targets.addresses);
}

void pm_find_table_exits(const struct pm_lifted *lifted, struct pm_table_exits *exits) {
    struct found_tables found = {0};
    find_forms(lifted, &found);
    for (size_t i = 0; i < found.n_items; i++)
        add_exits(lifted, &found.items[i], exits);
    release(&found);
}

static void add_metadata_table(struct pm_lifted *lifted, const struct metadata_table *table,
                               const struct pm_addresses *targets) {
    *PM_PUSH(lifted, tables) =
        (struct pm_jump_table){.insn = table->insn,
                               .address = table->address,
                               .first_target = (uint32_t)lifted->n_table_targets,
                               .n_targets = table->n_targets,
                               .entry_bytes = table->entry_bytes,
                               .of_labels = table->of_labels};
    for (uint32_t i = 0; i < table->n_targets; i++) {
        uint64_t target = targets->addresses[table->first_target + i];
        *PM_PUSH(lifted, table_targets) = target;
        mark_target(lifted, table->routine, target);
    }
}

void pm_find_tables(struct pm_lifted *lifted) {
    struct found_tables found = {0};
    find_forms(lifted, &found);
    for (size_t i = 0; i < found.n_by_metadata; i++)
        add_metadata_table(lifted, &found.by_metadata[i], &found.targets);
    PM_SORT(found.items, found.n_items, by_table);
    for (size_t i = 0; i < found.n_items; i++) {
        size_t next = i + 1;
        while (next < found.n_items && found.items[next].form.table == found.items[i].form.table)
            next++;
        if (!found.items[i].form.is_checked)
            take_bound_of_others(&found, i);
        add_table(lifted, &found.items[i],
                  next < found.n_items ? found.items[next].form.table : UINT64_MAX);
    }
    release(&found);
    PM_SORT(lifted->tables, lifted->n_tables, by_insn);
}

/* ---- for computed gotos (computed_gotos.c)
 * ---------------------------------------------------------- */

/* What another jump found at the same place, if this one has no bounds check. */
static bool copy_known_table(const struct pm_lifted *lifted, uint32_t routine,
                             const struct pm_table_form *form, struct pm_addresses *targets) {
    const struct pm_routine_code *code = &lifted->routine_codes[routine];
    for (size_t i = 0; i < lifted->n_tables; i++) {
        const struct pm_jump_table *table = &lifted->tables[i];
        if (table->address != form->table || !table->of_labels ||
            table->insn - code->first_insn >= code->n_insns)
            continue;
        for (uint32_t t = 0; t < table->n_targets; t++)
            *PM_PUSH(targets, addresses) = lifted->table_targets[table->first_target + t];
        return true;
    }
    return false;
}

bool pm_read_label_table(const struct pm_lifted *lifted, uint32_t routine,
                         const struct pm_table_form *form, struct pm_addresses *targets) {
    struct found_table table = {*form, 0, routine};
    size_t first = targets->n_addresses;
    uint64_t target;
    if (form->base == form->table)
        return false;
    if (!form->is_checked || !form->max_entries)
        return copy_known_table(lifted, routine, form, targets);
    for (uint64_t n = 0; n < form->max_entries; n++) {
        if (n >= MAX_TABLE_ENTRIES || !read_entry(lifted, &table, n, &target) ||
            pm_routine_at(lifted, target) != routine) {
            targets->n_addresses = first;
            return false;
        }
        *PM_PUSH(targets, addresses) = target;
    }
    return true;
}

void pm_set_targets(struct pm_lifted *lifted, uint32_t routine, uint32_t insn,
                    const struct pm_addresses *targets) {
    struct pm_jump_table *table = NULL;
    for (size_t i = 0; i < lifted->n_tables && !table; i++)
        if (lifted->tables[i].insn == insn)
            table = &lifted->tables[i];
    if (!targets->n_addresses) {
        if (table)
            *table = lifted->tables[--lifted->n_tables];
    } else {
        if (!table)
            table = PM_PUSH(lifted, tables);
        *table = (struct pm_jump_table){.insn = insn,
                                        .first_target = (uint32_t)lifted->n_table_targets,
                                        .n_targets = (uint32_t)targets->n_addresses,
                                        .of_labels = true};
        for (size_t i = 0; i < targets->n_addresses; i++) {
            *PM_PUSH(lifted, table_targets) = targets->addresses[i];
            mark_target(lifted, routine, targets->addresses[i]);
        }
    }
    PM_SORT(lifted->tables, lifted->n_tables, by_insn);
}

const struct pm_jump_table *pm_table_of(const struct pm_lifted *lifted, uint32_t insn) {
    struct pm_jump_table key = {.insn = insn};
    if (!lifted->n_tables)
        return NULL;
    return bsearch(&key, lifted->tables, lifted->n_tables, sizeof key, by_insn);
}
