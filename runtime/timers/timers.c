/* Seconds of every probed loop and routine, thread by thread.

   Model.  A thread's time is cut at its events.  A slice belongs to the scope that was innermost
   while it ran, so that a scope's time does not hold that of probed scopes entered from it; what
   ran outside all of them has a slot of its own.  In a signal handler outside of all its scopes the
   interrupted scope goes on.

   What is measured is time on the processor.  The time-stamp counter gives the length of a slice
   cheaply, but holds what other threads ran in between.  So the thread's restartable sequence
   pointer (rseq_cs, which the C library registers and no program is inside of here) is set to a
   sequence that is never executed: the kernel sets it to zero whenever it interrupts the thread.
   An event that finds it so asks the thread's CPU clock c; with the counter t, and t0 and c0 from
   the last time that it was asked, the scope that was running gets
       ns += c − c0,    ticks −= last − t0
   where the ticks from t0 up to the last event had gone to the scopes that ran then.  In sum a
   thread's slots are what its CPU clock shows, and where it was not interrupted each has its ticks.
     Without rseq (another C library, an old kernel) the counter alone is used: what other programs
   took is contained, which the raw file says.  Without a counter that runs at constant speed the
   CPU clock is asked at every event.

   Own cost.  An event costs e ticks from the begin of its probe to the end, a part before the
   counter is read, the rest after it.  Each slice of time holds the second part of the event that
   it begins with and the first part of the one that it ends with: e in all.  So e times its slices
   is subtracted from a scope's time, but not below zero.  e is measured at the begin, by the same
   code; the cheapest of many rounds counts, so that rather too little is subtracted. */
#define _GNU_SOURCE
#include "runtime/timers/timers.h"

#include <cpuid.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "core/probe_abi.h"
#include "core/raw_file.h"
#include "runtime/read_clock.h"
#include "runtime/events/events.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/system.h"
#include "runtime/threads.h"

_Static_assert(offsetof(struct pm_thread_times, last) == PM_TIMES_LAST, "last");
_Static_assert(sizeof(struct pm_timer_slot) == 1 << PM_SLOT_SHIFT, "slot");
_Static_assert(offsetof(struct pm_timer_slot, ticks) == PM_SLOT_TICKS, "ticks");
_Static_assert(offsetof(struct pm_timer_slot, slices) == PM_SLOT_SLICES, "slices");
_Static_assert(offsetof(struct pm_timer_slot, entries) == PM_SLOT_ENTRIES, "entries");
_Static_assert(offsetof(struct pm_timer_slot, parent) == PM_SLOT_PARENT, "parent");
_Static_assert(PM_TIMER_MOST_SCOPES == PM_MAX_SCOPES, "scopes");

enum { N_SLOTS = PM_MAX_SCOPES + 1 };

/* Of the C library that registered it: where a thread's area is, from its thread pointer. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
enum { RSEQ_CS = 8 }; /* offset of the pointer in it */

enum { NEVER = 1 }; /* no pointer's value */

extern const char pm_timer_sequence[]; /* timer_path.S */

static bool active;
static uint32_t clock_kind; /* enum pm_raw_clock */
static double event_ticks;  /* e */
static uint64_t start_ticks, start_ns;

/* ---- clocks ---------------------------------------------------------------------------------- */

/* CPU clock of a thread that may be another one. */
static uint64_t thread_ns(long thread_id) {
    enum { PER_THREAD = 4, SCHEDULED = 2 };
    struct timespec time = {0};
    long clock = ~thread_id << 3 | PER_THREAD | SCHEDULED;
    if (pm_syscall3(SYS_clock_gettime, (int)clock, (long)&time, 0) != 0)
        return 0;
    return pm_timespec_ns(&time);
}

static bool counter_is_steady(void) {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & 1 << 8);
}

/* The thread's rseq_cs; NULL: it has none. */
static volatile uint64_t *sequence_pointer(void) {
    if (!&__rseq_size || !&__rseq_offset || __rseq_size == 0)
        return NULL;
    return (volatile uint64_t *)(void *)((char *)__builtin_thread_pointer() + __rseq_offset +
                                         RSEQ_CS);
}

/* Does the kernel set the pointer to zero when it interrupts us? */
static bool sequence_works(void) {
    volatile uint64_t *pointer = sequence_pointer();
    struct timespec moment = {0, 1};
    if (!pointer || *pointer != 0)
        return false;
    *pointer = (uint64_t)pm_timer_sequence;
    nanosleep(&moment, NULL);
    if (*pointer == 0)
        return true;
    *pointer = 0;
    return false;
}

/* ---- blocks and threads ---------------------------------------------------------------------- */

/* What is watched on the fast path: something that has the armed value as long as all is usual. */
static void watch(struct pm_control_block *block) {
    if (clock_kind == PM_RAW_CLOCK_TSC) {
        block->timer_watch = (uint64_t)(__rseq_offset + RSEQ_CS);
        block->timer_armed = (uint64_t)pm_timer_sequence;
    } else {
        block->timer_watch = 0; /* the thread pointer points to itself */
        block->timer_armed =
            clock_kind == PM_RAW_CLOCK_SYSTEM ? NEVER : (uint64_t)__builtin_thread_pointer();
    }
}

/* A pointer that is neither zero nor ours belongs to a sequence of the program. */
static void arm(void) {
    volatile uint64_t *pointer = clock_kind == PM_RAW_CLOCK_TSC ? sequence_pointer() : NULL;
    if (pointer && *pointer == 0)
        *pointer = (uint64_t)pm_timer_sequence;
}

static void disarm(void) {
    volatile uint64_t *pointer = clock_kind == PM_RAW_CLOCK_TSC ? sequence_pointer() : NULL;
    if (pointer && *pointer == (uint64_t)pm_timer_sequence)
        *pointer = 0;
}

/* The thread's times stand in its own block, near what else an event touches: where a program uses
   all of the cache, an event costs what its cache lines cost. */
static struct pm_thread_times *thread_times(struct pm_thread *thread) {
    struct pm_thread_times *times = &thread->block->own_times;
    if (!times->slots)
        times->slots = pm_mmap(N_SLOTS * sizeof *times->slots);
    if (!times->ns)
        times->ns = pm_mmap(N_SLOTS * sizeof *times->ns);
    return times->slots && times->ns ? thread->times = times : NULL;
}

/* Makes BLOCK ready for the fast path; false without memory. */
static bool prepare(struct pm_control_block *block) {
    if (!block->open_scopes)
        block->open_scopes = pm_open_scopes_new();
    struct pm_thread_times *times = thread_times(block->thread);
    if (!block->open_scopes || !times)
        return false;
    block->times = times;
    block->timer_slots = times->slots;
    block->timer_open = block->open_scopes;
    watch(block);
    return true;
}

/* The slot of the scope that runs on BLOCK. */
static uint64_t running_slot(const struct pm_control_block *block) {
    const struct pm_open_scopes *open = block->open_scopes;
    return open && open->n ? open->items[open->n - 1].scope + 1ul : block->timer_empty;
}

/* ---- taking time ----------------------------------------------------------------------------- */

/* Gives SLOT all of the thread's time since the clocks were last compared that is nobody's. */
static void add_until(struct pm_thread_times *times, uint64_t slot, uint64_t cpu_ns) {
    if (cpu_ns >= times->synced_ns) { /* else: a clock that does not count for us */
        times->ns[slot] += (int64_t)(cpu_ns - times->synced_ns);
        times->slots[slot].ticks -= (int64_t)(times->last - times->synced_ticks);
    }
}

/* From here on. */
static void synchronize(struct pm_thread_times *times) {
    times->synced_ns = pm_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    times->synced_ticks = times->last = __rdtsc();
}

/* With the counter alone there is nothing to compare with. */
static void take(struct pm_thread_times *times, uint64_t slot) {
    if (clock_kind == PM_RAW_CLOCK_TSC_ELAPSED) {
        uint64_t now = __rdtsc();
        if (times->last)
            times->slots[slot].ticks += (int64_t)(now - times->last);
        times->last = now;
    } else {
        add_until(times, slot, pm_clock_ns(CLOCK_THREAD_CPUTIME_ID));
    }
    times->slots[slot].slices++;
}

static uint32_t find_parent(uint32_t scope) {
    if (pm_scopes[scope].routine == scope)
        return 0;
    uint32_t parent = pm_scopes[scope].parent;
    while (parent != PM_PROBE_NONE && parent != 0 && pm_scopes[scope].routine != parent &&
           !(pm_scopes[parent].flags & PM_PROBE_SCOPE_PROBED))
        parent = pm_scopes[parent].parent;
    bool probed = parent != PM_PROBE_NONE && pm_scopes[parent].flags & PM_PROBE_SCOPE_PROBED;
    return probed ? parent : 0;
}

static void entered(void *context, uint32_t scope) {
    struct pm_thread_times *times = context;
    struct pm_timer_slot *slot = &times->slots[scope + 1ul];
    slot->entries++;
    if (slot->parent == 0)
        slot->parent = find_parent(scope);
}

static void left(void *context, uint32_t scope) {
    (void)context;
    (void)scope;
}

void pm_timer_event(struct pm_control_block *block) {
    struct pm_thread *thread = block->thread;
    if (!active || !thread || !pm_process_is_ours() || (!block->times && !prepare(block)))
        return;
    struct pm_thread_times *times = block->times;
    struct pm_scope_receiver receiver = {.entered = entered, .left = left, .context = times};
    if (times->thread_id == 0)
        times->thread_id = pm_syscall3(SYS_gettid, 0, 0, 0);
    if (!thread->stopped)
        take(times, running_slot(block));
    if (pm_event_scope((uint32_t)block->event) >= pm_program.n_scopes)
        pm_modules_scan(); /* of a library that was loaded since */
    pm_scope_event(block->open_scopes, (uint32_t)block->event, block->saved_rsp, &receiver);
    arm();
    synchronize(times);
}

/* ---- other things that happen to a thread ---------------------------------------------------- */

void pm_timers_handler_begin(struct pm_control_block *nested,
                             const struct pm_control_block *interrupted) {
    if (!active || nested == interrupted)
        return;
    nested->timer_empty = running_slot(interrupted);
    if (nested->open_scopes)
        nested->open_scopes->n = 0; /* if the last handler was left by longjmp */
}

void pm_timers_handler_end(struct pm_control_block *nested) {
    if (active && nested->outer && nested->open_scopes)
        nested->open_scopes->n = 0;
}

void pm_timers_stop(struct pm_thread *thread) {
    if (!active || !thread->times || thread->stopped)
        return;
    take(thread->times, running_slot(pm_current_block()));
    synchronize(thread->times);
    /* Until the start every event is seen by pm_timer_event. */
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        block->timer_armed = NEVER;
}

void pm_timers_start(struct pm_thread *thread) {
    if (!active || !thread->times)
        return;
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        if (block->times)
            watch(block);
    synchronize(thread->times);
}

void pm_timers_thread_end(struct pm_thread *thread) {
    struct pm_thread_times *times = thread->times;
    if (!active || !times)
        return;
    if (!thread->stopped)
        take(times, running_slot(pm_current_block()));
    disarm();
    times->last = times->synced_ticks = times->synced_ns = 0;
    times->thread_id = 0;
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        if (block->open_scopes)
            block->open_scopes->n = 0;
}

void pm_timers_after_fork(void) {
    if (!active)
        return;
    const struct pm_thread *current = pm_current_thread();
    start_ticks = __rdtsc();
    start_ns = pm_clock_ns(CLOCK_MONOTONIC);
    disarm();
    for (uint32_t i = 0; i < pm_n_threads; i++) {
        struct pm_thread *thread = pm_threads[i];
        struct pm_thread_times *times = thread ? thread->times : NULL;
        if (!times)
            continue;
        for (uint64_t slot = 0; slot <= pm_program.n_scopes; slot++)
            if (slot == 0 || pm_scopes[slot - 1].flags & PM_PROBE_SCOPE_PROBED) {
                times->slots[slot] = (struct pm_timer_slot){0};
                times->ns[slot] = 0;
            }
        times->last = times->synced_ticks = times->synced_ns = 0;
        times->thread_id = 0;
        for (struct pm_control_block *block = thread->block; block && thread != current;
             block = block->inner)
            if (block->open_scopes)
                block->open_scopes->n = 0;
    }
    if (current && current->times && clock_kind == PM_RAW_CLOCK_TSC_ELAPSED)
        current->times->last = start_ticks;
}

/* ---- begin and end --------------------------------------------------------------------------- */

bool pm_timers_wanted(void) {
    const char *wanted = getenv(PM_ENV_TIME);
    return wanted && *wanted && pm_modules_have_events;
}

/* Ticks of one event, the least of many rounds.  Uses a scope that no module has. */
static double measure_event(struct pm_control_block *block) {
    enum { ROUNDS = 16, PAIRS = 25 };
    const uint32_t scope = PM_MAX_SCOPES - 1;
    uint64_t least = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        block->open_scopes->n = 0;
        arm();
        synchronize(block->times);
        uint64_t begin = __rdtsc();
        pm_timer_probe_loop(PAIRS, scope << 2);
        uint64_t ticks = __rdtsc() - begin;
        least = ticks < least ? ticks : least;
    }
    block->open_scopes->n = 0;
    block->times->slots[scope + 1ul] = block->times->slots[0] = (struct pm_timer_slot){0};
    block->times->ns[scope + 1ul] = block->times->ns[0] = 0;
    return (double)least / (2 * PAIRS);
}

bool pm_timers_begin(void) {
    struct pm_control_block *block = pm_first_block;
    clock_kind = !counter_is_steady() ? PM_RAW_CLOCK_SYSTEM
                 : sequence_works()   ? PM_RAW_CLOCK_TSC
                                      : PM_RAW_CLOCK_TSC_ELAPSED;
    if (!prepare(block))
        return false;
    active = true;
    block->event_path = (uint64_t)pm_timer_path;
    event_ticks = measure_event(block);
    disarm();
    block->times->last = block->times->synced_ticks = block->times->synced_ns = 0;
    start_ticks = __rdtsc();
    start_ns = pm_clock_ns(CLOCK_MONOTONIC);
    return true;
}

void pm_timers_finish(void) {
    const struct pm_thread *current = pm_current_thread();
    for (uint32_t i = 0; active && i < pm_n_threads; i++) {
        struct pm_thread *thread = pm_threads[i];
        struct pm_thread_times *times = thread ? thread->times : NULL;
        if (!times || times->thread_id == 0 || thread->stopped)
            continue;
        const struct pm_control_block *block =
            thread == current ? pm_current_block() : thread->block;
        if (thread == current) {
            take(times, running_slot(block));
            synchronize(times);
        } else if (clock_kind != PM_RAW_CLOCK_TSC_ELAPSED) {
            uint64_t cpu_ns = thread_ns(times->thread_id);
            add_until(times, running_slot(block), cpu_ns);
            times->synced_ns = cpu_ns;
            times->synced_ticks = times->last;
        }
    }
}

/* ---- the raw file ---------------------------------------------------------------------------- */

static void add_slot(struct pm_raw_builder *builder, uint32_t module, uint32_t scope,
                     const struct pm_thread_times *times, uint64_t slot, double ns_per_tick) {
    const struct pm_timer_slot *s = &times->slots[slot];
    double event_ns = clock_kind == PM_RAW_CLOCK_SYSTEM ? 0 : event_ticks * ns_per_tick;
    double ns = (double)times->ns[slot] + (double)s->ticks * ns_per_tick;
    double own = (double)s->slices * event_ns;
    if (ns < 0)
        ns = 0;
    if (own > ns)
        own = ns;
    struct pm_raw_time time = {module, scope, s->entries, ns - own, own};
    pm_raw_add(builder, &time, sizeof time);
}

static void add_thread(struct pm_raw_builder *builder, const struct pm_thread *thread,
                       double ns_per_tick) {
    const struct pm_thread_times *times = thread->times;
    pm_raw_section_begin(builder, PM_RAW_TIMES);
    pm_raw_add_u64(builder, thread->number);
    pm_raw_add_u64(builder, clock_kind);
    for (uint32_t module = 0; module < pm_n_modules; module++) {
        const struct pm_probe_header *header = &pm_modules[module].header;
        if (pm_modules[module].repeats)
            continue;
        for (uint32_t i = 0; i < header->n_scopes && header->first_scope + i < PM_MAX_SCOPES; i++) {
            uint32_t scope = header->first_scope + i;
            if (pm_scopes[scope].flags & PM_PROBE_SCOPE_PROBED && times->slots[scope + 1ul].entries)
                add_slot(builder, module, i, times, scope + 1ul, ns_per_tick);
        }
    }
    add_slot(builder, PM_RAW_OUTSIDE, 0, times, 0, ns_per_tick);
    pm_raw_section_end(builder);
}

void pm_timers_add(struct pm_raw_builder *builder) {
    if (!active)
        return;
    uint64_t ticks = __rdtsc() - start_ticks, ns = pm_clock_ns(CLOCK_MONOTONIC) - start_ns;
    double ns_per_tick = ticks ? (double)ns / (double)ticks : 0;
    for (uint32_t i = 0; i < pm_n_threads; i++)
        if (pm_threads[i] && pm_threads[i]->times)
            add_thread(builder, pm_threads[i], ns_per_tick);
}
