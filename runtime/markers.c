/* Switches measuring on and off; see markers.h.

   While it is off accesses do not reach the analysis at all: they neither count nor disturb the
   order of blocks, so that the first access after a start sees the reuse distance that it would
   have had without the stopped part.  Counters run on; what they stood at is remembered.  Events of
   scopes are followed all the time, but an event handler gets only those while it is on: at a stop
   all that is open counts as left, at a start as entered.

   A routine of --stop-after that is entered again before it is left, by itself or by another
   thread, switches off when the last activation is left. */
#include "runtime/markers.h"

#include "runtime/events/events.h"
#include "runtime/modules.h"
#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/notes.h"
#include "runtime/pmodel.h"
#include "runtime/process.h"
#include "runtime/records/records.h"
#include "runtime/system.h"
#include "runtime/timers/timers.h"

static int off;         /* atomic; 0: measuring is on */
static int switching;   /* a lock */
static int n_stop_open; /* atomic: activations of routines that switch off */

bool pm_measuring_is_on(void) { return !__atomic_load_n(&off, __ATOMIC_ACQUIRE); }

void pm_markers_begin(void) { off = pm_modules_have_starts; }

void pm_markers_after_fork(void) { switching = 0; }

/* ---- all threads ----------------------------------------------------------------------------- */

static void take_lock(void) {
    while (__atomic_exchange_n(&switching, 1, __ATOMIC_ACQUIRE))
        pm_syscall3(SYS_sched_yield, 0, 0, 0);
}

static void switch_thread(struct pm_thread *thread, bool on, bool is_ours) {
    if (thread->stopped == !on)
        return;
    if (!pm_consume_pending_of(thread))
        pm_note_add(PM_NOTE_BUSY_THREAD, 1);
    pm_analysis_enter();
    if (on) {
        pm_thread_take_counters(thread, false);
        pm_deliver_start(thread);
    } else {
        thread->skipped.n_stops += thread->block->consume != 0;
        pm_deliver_counters(thread);
        pm_deliver_stop(thread);
        pm_thread_take_counters(thread, true);
        if (is_ours)
            pm_timers_stop(thread);
    }
    thread->stopped = !on;
    pm_analysis_leave();
    if (on && is_ours)
        pm_timers_start(thread);
}

/* Signals are blocked.  AT_CALL: the calling thread's stack can be walked, so that frames that are
   open are noted while measuring is on. */
static void switch_all(bool on, bool at_call) {
    struct pm_thread *ours = pm_current_thread();
    take_lock();
    if (pm_measuring_is_on() != on) {
        if (!on && at_call)
            pm_exits_note_open(PM_ACTIVATION_LEFT, 1);
        __atomic_store_n(&off, !on, __ATOMIC_RELEASE);
        for (uint32_t i = 0; i < pm_n_threads; i++) {
            struct pm_thread *thread = __atomic_load_n(&pm_threads[i], __ATOMIC_ACQUIRE);
            if (thread && __atomic_load_n(&thread->in_use, __ATOMIC_ACQUIRE))
                switch_thread(thread, on, thread == ours);
        }
        if (on && at_call)
            pm_exits_note_open(PM_ACTIVATION_RESUMED, 1);
        if (!at_call)
            pm_note_add(PM_NOTE_LOST_FRAMES, 1);
    }
    __atomic_store_n(&switching, 0, __ATOMIC_RELEASE);
}

static void switch_now(bool on) {
    if (!pm_process_is_measured() || pm_process_is_finished())
        return;
    uint64_t mask = pm_signals_block();
    switch_all(on, true);
    pm_signals_restore(mask);
}

PM_EXPORT void pmodel_runtime_stop(void) { switch_now(false); }

PM_EXPORT void pmodel_runtime_start(void) { switch_now(true); }

/* ---- by routine ------------------------------------------------------------------------------ */

/* DEDUCED: from a later event, when the frame of the routine was gone already. */
enum { NOTHING, ON, OFF, ON_DEDUCED, OFF_DEDUCED };

void pm_markers_entered(struct pm_thread *thread, uint32_t scope, bool at_call) {
    if (pm_scopes[scope].flags & PM_RUNTIME_STOPS)
        __atomic_fetch_add(&n_stop_open, 1, __ATOMIC_RELAXED);
    if (pm_scopes[scope].flags & PM_RUNTIME_STARTS)
        thread->switch_to = at_call ? ON : ON_DEDUCED;
}

void pm_markers_left(struct pm_thread *thread, uint32_t scope, bool at_call) {
    if (pm_scopes[scope].flags & PM_RUNTIME_STOPS &&
        __atomic_sub_fetch(&n_stop_open, 1, __ATOMIC_RELAXED) == 0)
        thread->switch_to = at_call ? OFF : OFF_DEDUCED;
}

void pm_markers_switch(struct pm_thread *thread) {
    uint8_t to = thread->switch_to;
    if (to == NOTHING)
        return;
    thread->switch_to = NOTHING;
    uint64_t mask = pm_signals_block();
    switch_all(to == ON || to == ON_DEDUCED, to == ON || to == OFF);
    pm_signals_restore(mask);
}
