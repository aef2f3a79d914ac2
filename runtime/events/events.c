/* What event records say, for the process's handler; see events.h. */
#include "runtime/events/events.h"

#include "core/probe_abi.h"
#include "runtime/analyser/analyser.h"
#include "runtime/thread_intervals/thread_intervals.h"
#include "runtime/markers.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/records/records.h"
#include "runtime/reuse/carried_reuse/carried_reuse.h"
#include "runtime/system.h"

bool pm_wants_events(void) {
    const struct pmodel_handler *handler = pm_process_handler;
    return pm_modules_have_markers || pm_analyser_carries || pm_intervals_are_kept ||
           (handler && pm_modules_have_events &&
            (handler->enter || handler->leave || handler->interval_end || handler->counters));
}

/* ---- scopes ---------------------------------------------------------------------------------- */

static void deliver_entry(struct pm_thread *thread, uint32_t scope) {
    if (pm_process_handler && pm_process_handler->enter)
        pm_process_handler->enter(thread->number, scope);
}

static void deliver_exit(struct pm_thread *thread, uint32_t scope) {
    if (pm_process_handler && pm_process_handler->leave)
        pm_process_handler->leave(thread->number, scope);
}

/* What happens to a scope of a thread. */
struct scope_change {
    struct pm_thread *thread;
    uint64_t event; /* that showed it */
};

static void entered(void *context, uint32_t scope) {
    struct scope_change *change = context;
    if (pm_analyser_carries)
        pm_decode_add_event(change->thread, PM_CARRIED_ENTER, scope);
    if (!change->thread->stopped)
        deliver_entry(change->thread, scope);
    if (pm_modules_have_markers)
        pm_markers_entered(change->thread, scope, pm_event_what(change->event) == PM_EVENT_ENTER);
}

static void left(void *context, uint32_t scope) {
    struct scope_change *change = context;
    if (pm_analyser_carries)
        pm_decode_add_event(change->thread, PM_CARRIED_LEAVE, scope);
    if (!change->thread->stopped)
        deliver_exit(change->thread, scope);
    if (pm_modules_have_markers)
        pm_markers_left(change->thread, scope, pm_event_what(change->event) == PM_EVENT_LEAVE);
}

static void iterated(void *context, uint32_t scope) {
    struct scope_change *change = context;
    if (pm_analyser_carries)
        pm_decode_add_event(change->thread, PM_CARRIED_ITERATE, scope);
}

void pm_deliver_event(struct pm_control_block *block, uint64_t event, uint64_t stack) {
    struct pm_thread *thread = block->thread;
    if (!block->open_scopes && !(block->open_scopes = pm_open_scopes_new()))
        return;
    if (pm_event_what(event) != PM_EVENT_INTERVAL_END) {
        struct scope_change change = {thread, event};
        struct pm_scope_receiver receiver = {entered, left, iterated, &change};
        pm_scope_event(block->open_scopes, event, stack, &receiver);
    } else if (!thread->stopped && pm_process_handler) {
        pm_deliver_counters(thread);
        if (pm_process_handler->interval_end)
            pm_process_handler->interval_end(thread->number, pm_event_scope(event));
    }
}

void pm_deliver_stop(struct pm_thread *thread) {
    struct pm_control_block *block = thread->block;
    while (block->inner)
        block = block->inner;
    for (; block; block = block->outer)
        for (uint32_t i = block->open_scopes ? block->open_scopes->n : 0; i > 0; i--)
            deliver_exit(thread, block->open_scopes->items[i - 1].scope);
}

void pm_deliver_start(struct pm_thread *thread) {
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        for (uint32_t i = 0; block->open_scopes && i < block->open_scopes->n; i++)
            deliver_entry(thread, block->open_scopes->items[i].scope);
}

void pm_deliver_open_scopes(struct pm_thread *thread) {
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        for (uint32_t i = 0; block->open_scopes && i < block->open_scopes->n; i++)
            pm_decode_add_event(thread, PM_CARRIED_ENTER, block->open_scopes->items[i].scope);
}

bool pm_has_open_scopes(const struct pm_control_block *block) {
    for (; block; block = block->inner)
        if (block->open_scopes && block->open_scopes->n)
            return true;
    return false;
}

void pm_deliver_all_exits(struct pm_control_block *block) {
    struct scope_change change = {block->thread, PM_EVENT_HERE};
    struct pm_scope_receiver receiver = {entered, left, iterated, &change};
    if (block->inner)
        pm_deliver_all_exits(block->inner);
    if (block->open_scopes)
        pm_close_scopes(block->open_scopes, 0, &receiver);
    pm_decode_flush(block->thread);
}

/* ---- counters -------------------------------------------------------------------------------- */

void pm_deliver_counters(struct pm_thread *thread) {
    const struct pmodel_handler *handler = pm_process_handler;
    if (!handler || !handler->counters || pm_n_counters == 0)
        return;
    if (!thread->kept_before)
        thread->kept_before = pm_mmap(8ul * PM_MAX_COUNTERS);
    if (!thread->difference)
        thread->difference = pm_mmap(8ul * PM_MAX_COUNTERS);
    if (!thread->kept_before || !thread->difference)
        return;
    for (uint32_t i = 0; i < pm_n_counters; i++) {
        uint64_t count = pm_thread_count(thread, i), difference = count - thread->kept_before[i];
        if (thread->difference[i] != difference) /* leaves untouched pages untouched */
            thread->difference[i] = difference;
        if (difference)
            thread->kept_before[i] = count;
    }
    handler->counters(thread->number, thread->difference, pm_n_counters);
}
