/* Intervals of each thread; see thread_intervals.h. */
#include "runtime/thread_intervals/thread_intervals.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/raw_file.h"
#include "runtime/analyser/analyser.h"
#include "runtime/call_site_tree.h"
#include "runtime/thread_intervals/private.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/system.h"

enum { ADDRESS_BITS = 48 };

struct pm_thread_intervals {
    int is_taken;        /* a lock: its thread, or who writes the file */
    uint32_t begin;      /* path of the call at which the interval began that goes on */
    uint64_t *before;    /* what counters stood at when they were last taken … */
    uint32_t n_counters; /* … room for so many, whole lines */
    struct pm_interval_counts counts; /* that the interval that goes on has got since its begin … */
    struct pm_interval_counts room[2];
    struct pm_interval_exits *exits; /* … and activations that were left or resumed */
    struct pm_interval_table table;
    /* With histograms: what they stood at when they were last taken, and what was taken since the
       begin of the interval. */
    struct pm_interval_rises rises;
    struct pm_interval_bins bins;
};

bool pm_intervals_are_kept;
static bool modules_may_come; /* instrumented ones, by dlopen */

void pm_intervals_begin(void) {
    pm_intervals_are_kept =
        pm_modules_have_intervals && (!pm_process_handler || pm_process_handler == &pm_analyser);
    modules_may_come = getenv(PM_ENV_LIBRARIES) != NULL;
    if (pm_intervals_are_kept)
        pm_interval_histograms_begin();
}

/* ---- a thread's ------------------------------------------------------------------------------ */

/* Signal handlers of the thread, and others, may want it at the same time. */
static struct pm_thread_intervals *intervals_of(struct pm_thread *thread) {
    struct pm_thread_intervals *found = __atomic_load_n(&thread->intervals, __ATOMIC_ACQUIRE);
    struct pm_thread_intervals *made = found ? NULL : pm_mmap(sizeof *made);
    if (!made)
        return found;
    if (__atomic_compare_exchange_n(&thread->intervals, &found, made, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return made;
    pm_munmap(made, sizeof *made);
    return found;
}

static void lock(struct pm_thread_intervals *intervals) {
    while (__atomic_exchange_n(&intervals->is_taken, 1, __ATOMIC_ACQUIRE))
        pm_syscall3(SYS_sched_yield, 0, 0, 0);
}

static void unlock(struct pm_thread_intervals *intervals) {
    __atomic_store_n(&intervals->is_taken, 0, __ATOMIC_RELEASE);
}

static uint32_t whole_lines(uint32_t n_counters) {
    return (n_counters + PM_COUNTERS_LINE - 1) / PM_COUNTERS_LINE * PM_COUNTERS_LINE;
}

/* Takes what the counters of THREAD rose by; false: there is no memory. */
static bool take(const struct pm_thread *thread, struct pm_thread_intervals *intervals) {
    uint32_t n = whole_lines(__atomic_load_n(&pm_n_counters, __ATOMIC_ACQUIRE));
    if (n > intervals->n_counters) {
        if (!pm_mgrow(&intervals->before, intervals->n_counters * sizeof(uint64_t),
                      n * sizeof(uint64_t)))
            return false;
        intervals->n_counters = n;
    }
    return pm_interval_take_counts(thread, intervals->before, n, &intervals->counts,
                                   intervals->room);
}

static void free_intervals(struct pm_thread_intervals *intervals) {
    pm_munmap(intervals->before, intervals->n_counters * sizeof(uint64_t));
    pm_interval_counts_free(&intervals->counts);
    pm_interval_counts_free(&intervals->room[0]);
    pm_interval_counts_free(&intervals->room[1]);
    pm_interval_exits_free(intervals->exits);
    pm_interval_rises_free(&intervals->rises);
    pm_interval_bins_free(&intervals->bins, &intervals->table.bytes);
    pm_interval_table_free(&intervals->table);
    pm_munmap(intervals, sizeof *intervals);
}

void pm_intervals_after_fork(void) {
    for (uint32_t i = 0; i < pm_n_threads; i++) {
        struct pm_thread_intervals *intervals = pm_threads[i] ? pm_threads[i]->intervals : NULL;
        if (!intervals)
            continue;
        pm_threads[i]->intervals = NULL;
        free_intervals(intervals);
    }
}

void pm_intervals_note_exit(struct pm_thread *thread, uint32_t module, uint64_t return_address,
                            bool resumed, int64_t count) {
    struct pm_thread_intervals *intervals = pm_intervals_are_kept ? intervals_of(thread) : NULL;
    if (intervals)
        pm_interval_exits_add(&intervals->exits, (uint64_t)module << ADDRESS_BITS | return_address,
                              resumed, count);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void take_histograms(const struct pm_thread *thread, struct pm_thread_intervals *intervals) {
    pm_analyser_flush_thread(thread->number);
    if (!pm_interval_take_histograms(thread, &intervals->rises, &intervals->bins,
                                     &intervals->table.bytes))
        pm_note_add(PM_NOTE_LOST_BINS, 1);
}

static void add_histograms(const struct pm_thread *thread, struct pm_thread_intervals *intervals,
                           struct pm_kind_table *kind) {
    take_histograms(thread, intervals);
    if (!pm_interval_add_bins(&intervals->table, kind, &intervals->bins))
        pm_note_add(PM_NOTE_LOST_BINS, 1);
}

/* The interval of THREAD that goes on ends at the call path END.  Without memory it goes on. Within
   pm_analysis_enter, because who writes a checkpoint waits for those who are, then takes all. */
static void end_interval(struct pm_thread *thread, uint32_t end) {
    struct pm_thread_intervals *intervals = intervals_of(thread);
    if (!intervals) {
        pm_note_add(PM_NOTE_LOST_INTERVALS, 1);
        return;
    }
    lock(intervals);
    struct pm_kind_table *kind = pm_interval_find_kind(&intervals->table, intervals->begin, end);
    bool ok = kind && take(thread, intervals) &&
              pm_interval_add(&intervals->table, kind, &intervals->counts);
    if (ok) {
        struct pm_interval_exit exit;
        for (uint32_t i = 0; pm_interval_exits_get(intervals->exits, i, &exit); i++)
            if (!pm_interval_add_exit(kind, &exit))
                pm_note_add(PM_NOTE_LOST_FRAMES, 1);
        pm_interval_exits_clear(intervals->exits);
        if (pm_intervals_have_memory)
            add_histograms(thread, intervals, kind);
        intervals->counts.n = 0;
        intervals->begin = end;
    } else {
        pm_note_add(PM_NOTE_LOST_INTERVALS, 1);
    }
    unlock(intervals);
}

static const struct pm_probe_interval *find_end(uint64_t address,
                                                const struct pm_loaded_module **module) {
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++) {
        const struct pm_probe_header *header = &pm_modules[i].header;
        uint64_t begin = pm_modules[i].load_bias + header->header_address, at = address - begin;
        const struct pm_probe_interval *ends = (const void *)(begin + header->intervals);
        if (pm_modules[i].gone || header->n_intervals == 0 || at > UINT32_MAX)
            continue;
        size_t n = PM_LOWER_BOUND(header->n_intervals, k, ends[k].to < at);
        *module = &pm_modules[i];
        if (n < header->n_intervals && ends[n].to == at)
            return &ends[n];
    }
    return NULL;
}

/* The program as it is right behind the call that END stands before: where that returns to, the
   stack is the same.  The path that came here (private_stack.inc) has two registers that calls
   preserve on its stack, right below the nine that they do not. */
static struct pm_call_frame frame_at(const struct pm_control_block *block,
                                     const struct pm_loaded_module *module,
                                     const struct pm_probe_interval *end) {
    const uint64_t *saved = (const uint64_t *)block->stack;
    const struct pm_thread *thread = block->thread;
    struct pm_call_frame frame = {.readable_low = thread->readable_low,
                                  .readable_end = thread->readable_end};
    frame.registers[PM_DWARF_RBX] = saved[-10];
    frame.registers[PM_DWARF_RBP] = saved[-11];
    frame.registers[PM_DWARF_RSP] = block->saved_rsp;
    frame.registers[PM_DWARF_RIP] = module->load_bias + module->header.old_text + end->from;
    frame.known = 1u << PM_DWARF_RBX | 1u << PM_DWARF_RBP | 1u << PM_DWARF_RSP | 1u << PM_DWARF_RIP;
    return frame;
}

void pm_intervals_end(struct pm_control_block *block) {
    struct pm_thread *thread = block->thread;
    const struct pm_loaded_module *module;
    bool was_lost = false;
    if (!pm_process_is_measured() || pm_process_is_finished() || !thread || thread->stopped)
        return;
    if (modules_may_come)
        pm_modules_scan();
    const struct pm_probe_interval *end = find_end(block->return_address, &module);
    if (!end)
        return;
    const struct pm_call_frame frame = frame_at(block, module, end);
    uint32_t path = pm_call_path_here(&frame, &was_lost);
    if (was_lost)
        pm_note_add(PM_NOTE_LOST_PATHS, 1);
    if (path == PM_CALL_PATH_LOST) {
        pm_note_add(PM_NOTE_LOST_INTERVALS, 1);
        return;
    }
    pm_call_path_set_callee(
        path, (const char *)(module->load_bias + module->header.header_address + end->name));
    /* Where a call stands the stack is a multiple of 16; a routine's begin, so a jump out of it,
       has the return address above that. */
    thread->last_jump = block->saved_rsp % 16 ? path : PM_NO_CALL_PATH;
    pm_analysis_enter();
    end_interval(thread, path);
    pm_analysis_leave();
}

void pm_intervals_thread_end(struct pm_thread *thread) {
    if (pm_intervals_are_kept)
        end_interval(thread, PM_NO_CALL_PATH);
}

/* ---- the file -------------------------------------------------------------------------------- */

void pm_intervals_take_all(void) {
    for (uint32_t i = 0; pm_intervals_are_kept && i < pm_n_threads; i++) {
        struct pm_thread *thread = pm_threads[i];
        struct pm_thread_intervals *intervals = thread ? intervals_of(thread) : NULL;
        if (!intervals)
            continue;
        lock(intervals);
        if (!take(thread, intervals))
            pm_note_add(PM_NOTE_LOST_INTERVALS, 1);
        if (pm_intervals_have_memory)
            take_histograms(thread, intervals);
        unlock(intervals);
    }
}

const uint64_t *pm_intervals_counts(const struct pm_thread *thread, uint32_t *n) {
    const struct pm_thread_intervals *intervals = pm_intervals_are_kept ? thread->intervals : NULL;
    *n = intervals ? intervals->n_counters : 0;
    return intervals ? intervals->before : NULL;
}

/* The module that COUNTER, of the process, is of; it is counted from its first one then. */
static uint32_t module_of(uint32_t *counter) {
    for (uint32_t i = 0; i < pm_n_modules; i++) {
        const struct pm_probe_header *header = &pm_modules[i].header;
        if (!pm_modules[i].repeats && *counter - header->first_counter < header->n_counters) {
            *counter -= header->first_counter;
            return i;
        }
    }
    return UINT32_MAX;
}

static void add_count(struct pm_raw_builder *builder, uint32_t counter, uint64_t count) {
    struct pm_raw_interval_count raw = {.count = count};
    raw.module = module_of(&counter);
    raw.counter = counter;
    pm_raw_add(builder, &raw, sizeof raw);
}

static void add_frame(struct pm_raw_builder *builder, uint64_t key, int64_t count) {
    struct pm_raw_interval_frame raw = {key >> ADDRESS_BITS,
                                        key & ((UINT64_C(1) << ADDRESS_BITS) - 1), count};
    if (count)
        pm_raw_add(builder, &raw, sizeof raw);
}

static uint32_t count_frames(const struct pm_interval_exit *exit) {
    return (exit->left != 0) + (exit->resumed != 0);
}

static void add_frames(struct pm_raw_builder *builder, const struct pm_interval_exit *exit) {
    add_frame(builder, exit->key, -exit->resumed);
    add_frame(builder, exit->key, exit->left);
}

static void add_row(struct pm_raw_builder *builder, const struct pm_kind_table *kind,
                    uint32_t row) {
    const uint64_t *values = kind->values + (uint64_t)row * kind->room_counters;
    struct pm_raw_interval raw = {
        .begin = kind->begin, .end = kind->end, .first = row * kind->per_row, .n = kind->per_row};
    if (raw.n > kind->n - raw.first)
        raw.n = kind->n - raw.first;
    for (uint32_t c = 0; c < kind->n_counters; c++)
        raw.n_counts += values[c] != 0;
    for (uint32_t i = 0; i < kind->n_exits; i++)
        raw.n_frames += kind->exits[i].row == row ? count_frames(&kind->exits[i]) : 0;
    pm_raw_add(builder, &raw, sizeof raw);
    for (uint32_t c = 0; c < kind->n_counters; c++)
        if (values[c])
            add_count(builder, kind->counters[c], values[c]);
    for (uint32_t i = 0; i < kind->n_exits; i++)
        if (kind->exits[i].row == row)
            add_frames(builder, &kind->exits[i]);
}

/* The interval that goes on is one that ends where the thread does: its ordinal. */
static uint64_t last_ordinal(const struct pm_thread_intervals *intervals) {
    const struct pm_kind_table *kinds = intervals->table.kinds;
    for (uint32_t i = 0; i < intervals->table.n_kinds; i++)
        if (kinds[i].begin == intervals->begin && kinds[i].end == PM_NO_CALL_PATH)
            return kinds[i].n;
    return 0;
}

static void write_histograms(struct pm_raw_builder *builder, const struct pm_thread *thread,
                             const struct pm_thread_intervals *intervals) {
    for (uint32_t i = 0; i < intervals->table.n_kinds; i++) {
        const struct pm_kind_table *kind = &intervals->table.kinds[i];
        for (uint32_t row = 0; kind->bins && row < kind->n_rows; row++) {
            const struct pm_raw_interval_head head = {kind->begin, kind->end, row * kind->per_row};
            pm_interval_bins_write(builder, thread, &head, &kind->bins[row]);
        }
    }
    const struct pm_raw_interval_head last = {intervals->begin, PM_NO_CALL_PATH,
                                              last_ordinal(intervals)};
    pm_interval_bins_write(builder, thread, &last, &intervals->bins);
}

static void add_last(struct pm_raw_builder *builder, const struct pm_thread_intervals *intervals) {
    const struct pm_interval_counts *counts = &intervals->counts;
    struct pm_raw_interval raw = {
        .begin = intervals->begin, .first = last_ordinal(intervals), .n = 1, .n_counts = counts->n};
    struct pm_interval_exit exit;
    for (uint32_t i = 0; pm_interval_exits_get(intervals->exits, i, &exit); i++)
        raw.n_frames += count_frames(&exit);
    pm_raw_add(builder, &raw, sizeof raw);
    for (uint32_t i = 0; i < counts->n; i++)
        add_count(builder, counts->items[i].counter, counts->items[i].count);
    for (uint32_t i = 0; pm_interval_exits_get(intervals->exits, i, &exit); i++)
        add_frames(builder, &exit);
}

static void write_thread(struct pm_raw_builder *builder, const struct pm_thread *thread,
                         const struct pm_thread_intervals *intervals) {
    bool goes_on = thread->in_use || intervals->counts.n || intervals->bins.n ||
                   pm_interval_has_exits(intervals->exits);
    if (pm_intervals_have_memory)
        write_histograms(builder, thread, intervals);
    pm_raw_section_begin(builder, PM_RAW_INTERVALS);
    pm_raw_add_u64(builder, thread->number);
    for (uint32_t i = 0; i < intervals->table.n_kinds; i++)
        for (uint32_t row = 0; row < intervals->table.kinds[i].n_rows; row++)
            add_row(builder, &intervals->table.kinds[i], row);
    if (goes_on)
        add_last(builder, intervals);
    pm_raw_section_end(builder);
}

void pm_intervals_write(struct pm_raw_builder *builder) {
    for (uint32_t i = 0; pm_intervals_are_kept && i < pm_n_threads; i++) {
        struct pm_thread_intervals *intervals = pm_threads[i] ? pm_threads[i]->intervals : NULL;
        if (!intervals)
            continue;
        lock(intervals);
        write_thread(builder, pm_threads[i], intervals);
        unlock(intervals);
    }
}
