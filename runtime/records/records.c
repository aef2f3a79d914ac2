/* Consuming what stands in a buffer of memory records.

   It happens in the slow path, or beside it (second_core), with all signals blocked and the
   thread's `busy` taken, so that a handler of the program never meets a half-updated analysis; two
   system calls for a buffer of some 10,000 records cost nothing that could be measured. */
#include "runtime/records/records.h"

#include "runtime/branch_outcomes/branch_outcomes.h"
#include "runtime/events/events.h"
#include "runtime/thread_intervals/thread_intervals.h"
#include "runtime/markers.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/second_core/second_core.h"
#include "runtime/system.h"

static bool has_events(const struct pm_control_block *block) {
    return block->event_path == (uint64_t)pm_event_record;
}

/* Here and now; what was handed over before comes first. */
static void consume(struct pm_control_block *block) {
    uint64_t from = block->consumed, to = __atomic_load_n(&block->next, __ATOMIC_ACQUIRE);
    if (!pm_process_is_measured()) {
        pm_note_add(PM_NOTE_STARTUP_RECORDS, to - from);
    } else if (from != to && block->consume) {
        pm_queue_drain(block->thread);
        pm_analysis_enter();
        pm_decode_records(&block->thread->decoder, block, from, to);
        pm_analysis_leave();
    }
    block->consumed = to;
}

/* The program must not go on before the runtime has seen an event that stands last. */
static bool is_urgent(struct pm_control_block *block) {
    bool urgent = has_events(block) && block->event & PM_EVENT_NOW;
    if (urgent)
        block->event = 0;
    return urgent;
}

/* True: the block has another buffer now. */
static bool hand_over(struct pm_control_block *block) {
    return pm_process_is_measured() && block->consumed != block->next && block->consume &&
           !is_urgent(block) && pm_queue_hand_over(block);
}

/* What BLOCK has in its buffer of branches; they have no place among memory records. */
static void consume_branches(struct pm_control_block *block) {
    int64_t from = block->branches_done,
            to = __atomic_load_n(&block->branch_left, __ATOMIC_ACQUIRE);
    const char *end = (const char *)pm_branches_end(block);
    if (from != to && pm_branches_are_followed && pm_process_is_measured() && block->thread &&
        !block->thread->stopped) {
        pm_analysis_enter();
        pm_branches_follow(block->thread, (const void *)(end + from), (const void *)(end + to));
        pm_analysis_leave();
    }
    block->branches_done = to;
}

/* ---- all threads as one stream --------------------------------------------------------------- */

bool pm_records_are_shared;
static int all_busy; /* in place of each thread's `busy` */

void pm_records_share(void) {
    pm_records_are_shared = true;
    pm_first_block->limit = pm_first_block->start + PM_SHARED_QUANTUM_BYTES;
}

void pm_records_after_fork(void) { all_busy = 0; }

/* What all threads have made until now. */
static void consume_all(void) {
    for (uint32_t i = 0; i < pm_n_threads; i++) {
        struct pm_thread *thread = __atomic_load_n(&pm_threads[i], __ATOMIC_ACQUIRE);
        struct pm_control_block *block = thread ? thread->block : NULL;
        for (; block; block = __atomic_load_n(&block->inner, __ATOMIC_ACQUIRE))
            consume(block);
    }
}

/* ---- one at a time --------------------------------------------------------------------------- */

static int *busy_of(struct pm_thread *thread) {
    return pm_records_are_shared ? &all_busy : &thread->busy;
}

static void lock(struct pm_thread *thread) {
    enum { SPINS = 1000 };
    for (int tries = 0; __atomic_exchange_n(busy_of(thread), 1, __ATOMIC_ACQUIRE); tries++) {
        if (tries < SPINS)
            __builtin_ia32_pause();
        else
            pm_syscall3(SYS_sched_yield, 0, 0, 0);
    }
}

static void unlock(struct pm_thread *thread) {
    __atomic_store_n(busy_of(thread), 0, __ATOMIC_RELEASE);
}

/* Is BLOCK in the slow path for the end of an interval? */
static bool ends_interval(const struct pm_control_block *block) {
    return pm_intervals_are_kept && has_events(block) && block->event & PM_EVENT_NOW &&
           pm_event_what(block->event) == PM_EVENT_INTERVAL_END;
}

void pm_consume_records(struct pm_control_block *block) {
    uint64_t mask = pm_signals_block();
    bool is_end = ends_interval(block);
    if (block->thread)
        lock(block->thread);
    if (pm_process_is_finished() || !hand_over(block)) {
        if (pm_records_are_shared && block->thread && !pm_process_is_finished())
            consume_all();
        if (!pm_process_is_finished())
            consume(block);
        block->next = block->consumed = block->start;
    }
    if (is_end)
        pm_intervals_end(block);
    block->event = 0;
    if (block->thread) {
        unlock(block->thread);
        pm_markers_switch(block->thread);
    }
    pm_signals_restore(mask);
}

void pm_consume_full_branches(struct pm_control_block *block) {
    uint64_t mask = pm_signals_block();
    if (block->thread)
        lock(block->thread);
    if (!pm_process_is_finished())
        consume_branches(block);
    block->branch_left = block->branches_done = -PM_BRANCH_BUFFER_BYTES;
    if (block->thread)
        unlock(block->thread);
    pm_signals_restore(mask);
}

static void drain(struct pm_thread *thread) {
    uint64_t mask = pm_signals_block();
    lock(thread);
    pm_queue_drain(thread);
    unlock(thread);
    pm_markers_switch(thread);
    pm_signals_restore(mask);
}

void pm_consume_pending(struct pm_thread *thread) {
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        if (block->next != block->start)
            pm_consume_records(block);
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        pm_consume_full_branches(block);
    drain(thread);
}

bool pm_consume_pending_of(struct pm_thread *thread) {
    bool free = false;
    for (int tries = 0; tries < 2000 && !free; tries++) {
        free = !__atomic_exchange_n(busy_of(thread), 1, __ATOMIC_ACQUIRE);
        if (!free)
            pm_sleep_ns(1000000);
    }
    if (!free)
        return false;
    pm_queue_drain(thread);
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        consume(block);
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        consume_branches(block);
    unlock(thread);
    return true;
}

void pm_consume_handler(struct pm_control_block *block) {
    if (block->next != block->start)
        pm_consume_records(block);
    pm_consume_full_branches(block);
    if (!block->thread || !has_events(block))
        return;
    drain(block->thread);
    if (!pm_has_open_scopes(block))
        return;
    uint64_t mask = pm_signals_block();
    lock(block->thread);
    pm_analysis_enter();
    pm_deliver_all_exits(block);
    pm_analysis_leave();
    unlock(block->thread);
    pm_markers_switch(block->thread);
    pm_signals_restore(mask);
}
