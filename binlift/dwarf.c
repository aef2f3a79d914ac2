/* Puts what the units of a program's debug information say beside its instructions; see dwarf.h.
   Needs instructions.

   Units are read by as many threads as there are processors, some hundred at a time so that memory
   stays bounded, and put together in their order, so that the result does not depend on the
   threads.  Parents come before what is inlined into them, so that the innermost wins. */
#include "binlift/dwarf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNITS_AT_ONCE = 256, MOST_THREADS = 16 };

uint32_t pm_inline_common(const struct pm_debug *debug, uint32_t left, uint32_t right) {
    while (left != right && left != PM_NONE && right != PM_NONE) {
        const struct pm_inline *a = &debug->inlines[left], *b = &debug->inlines[right];
        if (a->depth >= b->depth)
            left = a->parent;
        else
            right = b->parent;
    }
    return left == right ? left : PM_NONE;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct batch {
    const struct pm_lifted *lifted;
    struct pm_dwarf_unit **units;
    size_t n;
    struct pm_unit_facts *facts; /* one for each unit */
    atomic_size_t next;
};

static void *read_some(void *context) {
    struct batch *batch = context;
    uint64_t low = batch->lifted->text_low, high = batch->lifted->text_high;
    for (size_t i; (i = atomic_fetch_add(&batch->next, 1)) < batch->n;) {
        const struct pm_dwarf_unit *unit = batch->units[i];
        struct pm_unit_facts *facts = &batch->facts[i];
        facts->entries = unit->split ? unit->split : unit;
        if (!unit->has_code)
            continue;
        pm_read_line_spans(unit, low, high, &facts->lines);
        pm_read_unit_entries(low, high, facts);
    }
    return NULL;
}

static void read_batch(struct batch *batch) {
    pthread_t threads[MOST_THREADS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int wanted = processors < MOST_THREADS ? (int)processors : MOST_THREADS, started = 0;
    while (started < wanted - 1 && (size_t)started + 1 < batch->n &&
           pthread_create(&threads[started], NULL, read_some, batch) == 0)
        started++;
    read_some(batch); /* where no thread can be had, this one does it all */
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* ---- putting together ----------------------------------------------------------------------- */

static void put_lines(const struct pm_lifted *lifted, struct pm_debug *debug,
                      const struct pm_dwarf_unit *unit, const struct pm_line_spans *lines) {
    for (size_t s = 0; s < lines->n_spans; s++) {
        const struct pm_line_span *span = &lines->spans[s];
        uint32_t file = pm_debug_unit_file(debug, unit, span->file);
        if (file == PM_NONE)
            continue;
        for (uint32_t i = pm_first_insn_from(lifted, span->low);
             i != PM_NONE && lifted->insns[i].address < span->high; i = pm_insn_after(lifted, i)) {
            debug->insn_file[i] = file;
            debug->insn_line[i] = span->line;
        }
        debug->has_lines = true;
    }
}

/* Inlined code that no instruction of ours belongs to gets no number: its parent's stands for it.
 */
static void put_inlines(const struct pm_lifted *lifted, struct pm_debug *debug,
                        const struct pm_unit_facts *facts) {
    uint32_t *numbers = pm_alloc(facts->n_inlines, sizeof *numbers);
    for (size_t k = 0; k < facts->n_inlines; k++) {
        const struct pm_unit_inline *made = &facts->inlines[k];
        uint32_t parent = made->parent == PM_NONE ? PM_NONE : numbers[made->parent];
        numbers[k] = parent;
        for (uint32_t r = 0; r < made->n_ranges; r++) {
            struct pm_address_range range = facts->ranges[made->first_range + r];
            for (uint32_t i = pm_first_insn_from(lifted, range.low);
                 i != PM_NONE && lifted->insns[i].address < range.high;
                 i = pm_insn_after(lifted, i)) {
                if (numbers[k] == parent) {
                    uint32_t callee = pm_debug_callee(debug, made->origin);
                    uint32_t depth = parent == PM_NONE ? 1 : debug->inlines[parent].depth + 1;
                    uint32_t file = pm_debug_unit_file(debug, facts->entries, made->call_file);
                    numbers[k] = (uint32_t)debug->n_inlines;
                    *PM_PUSH(debug, inlines) = (struct pm_inline){.parent = parent,
                                                                  .depth = depth,
                                                                  .callee = callee,
                                                                  .call_file = file,
                                                                  .call_line = made->call_line};
                }
                debug->insn_inline[i] = numbers[k];
            }
        }
    }
    free(numbers);
}

static void put_routines(const struct pm_lifted *lifted, struct pm_debug *debug,
                         const struct pm_unit_facts *facts) {
    const struct pm_structure *structure = lifted->structure;
    for (size_t k = 0; k < facts->n_routines; k++) {
        uint32_t routine = pm_routine_at(lifted, facts->routines[k].address);
        if (routine == PM_NONE ||
            structure->routines[routine].address != facts->routines[k].address)
            continue;
        struct pm_callee found = pm_debug_describe(debug, facts->routines[k].entry);
        debug->declarations[routine] =
            (struct pm_declaration){found.file, found.line, found.plain_name};
    }
}

static void put_together(const struct batch *batch, struct pm_debug *debug) {
    for (size_t i = 0; i < batch->n; i++) {
        struct pm_unit_facts *facts = &batch->facts[i];
        put_lines(batch->lifted, debug, batch->units[i], &facts->lines);
        put_inlines(batch->lifted, debug, facts);
        put_routines(batch->lifted, debug, facts);
        free(facts->lines.spans);
        free(facts->inlines);
        free(facts->ranges);
        free(facts->routines);
    }
}

static void read_units(const struct pm_lifted *lifted, struct pm_debug *debug) {
    const struct pm_dwarf_set *set = debug->dwarf->sets[0];
    for (size_t first = 0; first < set->n_units; first += UNITS_AT_ONCE) {
        size_t n = set->n_units - first;
        struct batch batch = {.lifted = lifted, .units = set->units + first};
        batch.n = n < UNITS_AT_ONCE ? n : UNITS_AT_ONCE;
        batch.facts = pm_alloc(batch.n, sizeof *batch.facts);
        read_batch(&batch);
        put_together(&batch, debug);
        free(batch.facts);
    }
}

struct pm_debug *pm_debug_read(const struct pm_lifted *lifted) {
    size_t n_insns = lifted->n_insns, n_routines = lifted->structure->n_routines;
    struct pm_debug *debug = pm_alloc(1, sizeof *debug);
    debug->insn_file = pm_alloc(n_insns, sizeof *debug->insn_file);
    debug->insn_line = pm_alloc(n_insns, sizeof *debug->insn_line);
    debug->insn_inline = pm_alloc(n_insns, sizeof *debug->insn_inline);
    debug->declarations = pm_alloc(n_routines, sizeof *debug->declarations);
    for (size_t i = 0; i < n_insns; i++)
        debug->insn_file[i] = debug->insn_inline[i] = PM_NONE;
    for (size_t i = 0; i < n_routines; i++)
        debug->declarations[i].file = PM_NONE;
    struct pm_debug_file *file = pm_debug_file_find(&lifted->image);
    if (!file)
        return debug;
    debug->dwarf = pm_dwarf_open(file, lifted->image.path);
    read_units(lifted, debug);
    return debug;
}

void pm_debug_free(struct pm_debug *debug) {
    if (!debug)
        return;
    for (size_t i = 0; i < debug->n_files; i++)
        free(debug->files[i]);
    for (size_t i = 0; i < debug->n_callees; i++)
        free(debug->callees[i].name);
    free(debug->files);
    free(debug->callees);
    free(debug->callee_entries);
    free(debug->callee_slots);
    free(debug->inlines);
    free(debug->insn_file);
    free(debug->insn_line);
    free(debug->insn_inline);
    free(debug->declarations);
    free(debug->file_slots);
    pm_dwarf_close(debug->dwarf);
    free(debug);
}
