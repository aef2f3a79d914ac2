/* Puts what the units of a program's debug information say beside its instructions; see dwarf.h.
   Needs instructions.

   Units are read by as many threads as there are processors, each with a handle of its own, because
   libdw allows one thread at a time; some hundred units at a time, and with new handles now and
   then, so that memory stays bounded.  They are put together in their order, so that the result
   does not depend on the threads.  Parents come before what is inlined into them, so that the
   innermost wins. */
#include "binlift/code/code.h"
#include "binlift/dwarf/debug_file.h"
#include "binlift/dwarf/dwarf.h"
#include "binlift/dwarf/unit.h"
#include "binlift/lifted.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    UNITS_AT_ONCE = 256,
    MOST_THREADS = 16,
    BYTES_OF_A_THREAD = 2 << 20, /* of the file: for less, another handle does not pay */
    MOST_ROWS = 1 << 20,         /* of line tables that a handle keeps: about 50 MB */
};

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

struct reader {
    const struct pm_lifted *lifted;
    const struct pm_debug_files *files;
    PM_ARRAY(uint64_t, offsets); /* of the units' entries, those without code left out */
    size_t first, n;             /* units that are read now */
    struct pm_unit_facts *facts; /* one for each of them */
    atomic_size_t next;
};

struct thread {
    pthread_t id;
    struct reader *reader;
    struct pm_debug_handle *handle; /* opened when it is first needed */
    uint64_t n_rows;
};

static void *read_some(void *context) {
    struct thread *thread = context;
    struct reader *reader = thread->reader;
    const struct pm_lifted *lifted = reader->lifted;
    for (size_t i; (i = atomic_fetch_add(&reader->next, 1)) < reader->n;) {
        struct pm_unit_facts *facts = &reader->facts[i];
        if (!thread->handle)
            thread->handle = pm_debug_handle_open(reader->files->path, reader->files->supplement);
        if (!thread->handle->dwarf)
            continue;
        pm_read_unit(thread->handle->dwarf, reader->first + i, reader->offsets[reader->first + i],
                     lifted->text_low, lifted->text_high, facts);
        thread->n_rows += facts->n_rows;
        if (thread->n_rows > MOST_ROWS) {
            pm_debug_handle_renew(thread->handle);
            thread->n_rows = 0;
        }
    }
    return NULL;
}

static void read_batch(struct thread *threads, size_t n_threads) {
    size_t started = 1; /* the first is this one; where no other can be had, it does it all */
    while (started < n_threads && started < threads->reader->n &&
           pthread_create(&threads[started].id, NULL, read_some, &threads[started]) == 0)
        started++;
    read_some(&threads[0]);
    while (started > 1)
        pthread_join(threads[--started].id, NULL);
}

static void list_units(struct reader *reader, Dwarf *dwarf) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die entry;
    uint8_t type;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &entry, NULL) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            *PM_PUSH(reader, offsets) = dwarf_dieoffset(&entry);
}

/* ---- putting together ----------------------------------------------------------------------- */

/* FILES: numbers of the unit's files. */
static void put_lines(const struct pm_lifted *lifted, struct pm_debug *debug,
                      const struct pm_unit_facts *facts, const uint32_t *files) {
    for (size_t s = 0; s < facts->n_spans; s++) {
        const struct pm_line_span *span = &facts->spans[s];
        for (uint32_t i = pm_first_insn_from(lifted, span->low);
             i != PM_NONE && lifted->insns[i].address < span->high; i = pm_insn_after(lifted, i)) {
            debug->insn_file[i] = files[span->file];
            debug->insn_line[i] = span->line;
        }
        debug->has_lines = true;
    }
}

static uint32_t number_of_file(const uint32_t *files, uint32_t file) {
    return file == PM_NONE ? PM_NONE : files[file];
}

static uint32_t put_callee(struct pm_debug *debug, struct pm_unit_callee *made,
                           const uint32_t *files) {
    bool is_new;
    uint32_t callee = pm_debug_callee(debug, made, &is_new);
    if (is_new)
        debug->callees[callee].file = number_of_file(files, made->file);
    return callee;
}

/* Inlined code that no instruction of ours belongs to gets no number: its parent's stands for it.
 */
static void put_inlines(const struct pm_lifted *lifted, struct pm_debug *debug,
                        const struct pm_unit_facts *facts, const uint32_t *files) {
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
                    numbers[k] = (uint32_t)debug->n_inlines;
                    *PM_PUSH(debug, inlines) = (struct pm_inline){
                        .parent = parent,
                        .depth = parent == PM_NONE ? 1 : debug->inlines[parent].depth + 1,
                        .callee = put_callee(debug, &facts->callees[made->callee], files),
                        .call_file = number_of_file(files, made->call_file),
                        .call_line = made->call_line};
                }
                debug->insn_inline[i] = numbers[k];
            }
        }
    }
    free(numbers);
}

static void put_routines(const struct pm_lifted *lifted, struct pm_debug *debug,
                         struct pm_unit_facts *facts, const uint32_t *files) {
    const struct pm_structure *structure = lifted->structure;
    for (size_t k = 0; k < facts->n_routines; k++) {
        struct pm_unit_routine *found = &facts->routines[k];
        uint32_t routine = pm_routine_at(lifted, found->address);
        if (routine == PM_NONE || structure->routines[routine].address != found->address)
            continue;
        free(debug->declarations[routine].name);
        debug->declarations[routine] =
            (struct pm_declaration){number_of_file(files, found->file), found->line, found->name};
        found->name = NULL;
    }
}

static void put_together(const struct reader *reader, struct pm_debug *debug) {
    for (size_t i = 0; i < reader->n; i++) {
        struct pm_unit_facts *facts = &reader->facts[i];
        uint32_t *files = pm_alloc(facts->n_files, sizeof *files);
        for (size_t f = 0; f < facts->n_files; f++)
            files[f] = pm_debug_file(debug, facts->files[f]);
        put_lines(reader->lifted, debug, facts, files);
        put_inlines(reader->lifted, debug, facts, files);
        put_routines(reader->lifted, debug, facts, files);
        if (facts->missing_split && !debug->note)
            debug->note = pm_sprintf("split debug information is not there (%s, and maybe more; "
                                     "packages, .dwp, cannot be read, keep the .dwo files): some "
                                     "inlined code is unknown",
                                     facts->missing_split);
        free(files);
        pm_unit_facts_release(facts);
    }
}

static void read_units(struct reader *reader, struct pm_debug *debug) {
    struct thread threads[MOST_THREADS] = {0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n_threads = reader->files->n_bytes / BYTES_OF_A_THREAD + 1;
    if (processors > 0 && n_threads > (size_t)processors)
        n_threads = (size_t)processors;
    if (n_threads > MOST_THREADS)
        n_threads = MOST_THREADS;
    for (size_t t = 0; t < n_threads; t++)
        threads[t].reader = reader;
    threads[0].handle = pm_debug_handle_open(reader->files->path, reader->files->supplement);
    if (threads[0].handle->dwarf)
        list_units(reader, threads[0].handle->dwarf);
    for (; reader->first < reader->n_offsets; reader->first += reader->n) {
        size_t left = reader->n_offsets - reader->first;
        reader->n = left < UNITS_AT_ONCE ? left : UNITS_AT_ONCE;
        reader->facts = pm_alloc(reader->n, sizeof *reader->facts);
        atomic_store(&reader->next, 0);
        read_batch(threads, n_threads);
        put_together(reader, debug);
        free(reader->facts);
    }
    for (size_t t = 0; t < n_threads; t++)
        pm_debug_handle_close(threads[t].handle);
    free(reader->offsets);
}

struct pm_debug *pm_debug_read(const struct pm_lifted *lifted) {
    size_t n_insns = lifted->n_insns, n_routines = lifted->structure->n_routines;
    struct pm_debug *debug = pm_alloc(1, sizeof *debug);
    debug->insn_file = pm_alloc(n_insns, sizeof *debug->insn_file);
    debug->insn_line = pm_alloc(n_insns, sizeof *debug->insn_line);
    debug->insn_inline = pm_alloc(n_insns, sizeof *debug->insn_inline);
    debug->n_declarations = n_routines;
    debug->declarations = pm_alloc(n_routines, sizeof *debug->declarations);
    for (size_t i = 0; i < n_insns; i++)
        debug->insn_file[i] = debug->insn_inline[i] = PM_NONE;
    for (size_t i = 0; i < n_routines; i++)
        debug->declarations[i].file = PM_NONE;
    struct pm_debug_files files;
    pm_debug_files_find(&files, lifted->image.path);
    struct reader reader = {.lifted = lifted, .files = &files};
    if (files.path)
        read_units(&reader, debug);
    if (files.note) {
        free(debug->note);
        debug->note = files.note;
        files.note = NULL;
    }
    pm_debug_files_release(&files);
    return debug;
}

void pm_debug_free(struct pm_debug *debug) {
    if (!debug)
        return;
    for (size_t i = 0; i < debug->n_files; i++)
        free(debug->files[i]);
    for (size_t i = 0; i < debug->n_callees; i++) {
        free(debug->callees[i].linkage_name);
        free(debug->callees[i].plain_name);
        free(debug->callees[i].name);
    }
    for (size_t i = 0; i < debug->n_declarations; i++)
        free(debug->declarations[i].name);
    free(debug->files);
    free(debug->callees);
    free(debug->callee_keys);
    pm_map_free(&debug->callee_map);
    free(debug->inlines);
    free(debug->insn_file);
    free(debug->insn_line);
    free(debug->insn_inline);
    free(debug->declarations);
    pm_map_free(&debug->file_map);
    free(debug->note);
    free(debug);
}
