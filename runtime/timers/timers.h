/* Timers: seconds of every probed loop and routine (`pmodel run --time`); see timers.c.  Also
   included by timer_path.S. */
#ifndef PM_RUNTIME_TIMERS_H
#define PM_RUNTIME_TIMERS_H

/* Offsets that timer_path.S uses; checked against the structures below and in timers.c. */
#define PM_TIMES_LAST 0
#define PM_SLOT_SHIFT 5
#define PM_SLOT_TICKS 0
#define PM_SLOT_SLICES 8
#define PM_SLOT_ENTRIES 16
#define PM_SLOT_PARENT 24

/* How many scopes a control block may have open on the fast path; beyond it the C path decides. */
#define PM_TIMER_MOST_OPEN 0x100000
#define PM_TIMER_MOST_SCOPES 0x400000 /* PM_MAX_SCOPES */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#include "runtime/raw_output/raw_output.h"

struct pm_control_block;
struct pm_thread;

/* Time of one thread directly in one scope: ticks / frequency + ns of pm_thread_times.  Either may
   be negative. */
struct pm_timer_slot {
    int64_t ticks;   /* of the time-stamp counter */
    uint64_t slices; /* slices that the time consists of; each holds one event's own cost */
    uint64_t entries;
    /* The nearest probed scope around it, whose entry comes right before; 0 where there is none, or
       where that is not known yet: number 0 is the program, which is never entered. */
    uint32_t parent;
    uint32_t unused;
};

/* True if PMODEL_TIME asks for timers. */
bool pm_timers_wanted(void);

/* At the begin of the process, before other threads exist: finds out what the clock can do and what
   an event costs.  False if there is no memory: no timers then. */
bool pm_timers_begin(void);

/* A signal handler of the program begins on NESTED, and ends. */
void pm_timers_handler_begin(struct pm_control_block *nested,
                             const struct pm_control_block *interrupted);
void pm_timers_handler_end(struct pm_control_block *nested);

/* pmodel_stop and pmodel_start of the calling thread: in between no time is measured. */
void pm_timers_stop(struct pm_thread *thread);
void pm_timers_start(struct pm_thread *thread);

/* The calling thread ends; a later one may take over THREAD and adds to its times. */
void pm_timers_thread_end(struct pm_thread *thread);

void pm_timers_after_fork(void);

/* Takes in what all threads, which may be running, did since their last event. */
void pm_timers_finish(void);

/* The sections PM_RAW_TIMES, if there are timers. */
void pm_timers_add(struct pm_raw_builder *builder);

/* timer_path.S: where events go, and a loop to measure what they cost: COUNT pairs of events of
   the scope whose `enter` event is EVENT. */
void pm_timer_path(void);
void pm_timer_probe_loop(uint64_t count, uint32_t event);

/* The C part, with the counter's present value still unread. */
void pm_timer_event(struct pm_control_block *block);

#endif
#endif
