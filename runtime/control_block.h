/* The runtime's view of the control block that %gs points to (core/probe_abi.h), for C and for the
   assembly of records/slow_path.S, records/library_call_path.S, events/event_paths.S and
   timers/timer_path.S.  The block's private part also holds the slow path's save area. */
#ifndef PM_RUNTIME_CONTROL_BLOCK_H
#define PM_RUNTIME_CONTROL_BLOCK_H

/* Offsets that the assembly uses; checked against the structure below. */
#define PM_OFFSET_NEXT 8
#define PM_OFFSET_LIMIT 16
#define PM_OFFSET_RETURN 96
#define PM_OFFSET_STACK 104
#define PM_OFFSET_EVENT 112
#define PM_OFFSET_EVENT_PATH 120
#define PM_OFFSET_SAVED_RAX 128
#define PM_OFFSET_SAVED_RSP 136
#define PM_OFFSET_XSAVE_MASK 144 /* components to save; 0: the CPU has only fxsave */
#define PM_OFFSET_CONSUME 152    /* 0: records are thrown away */
#define PM_OFFSET_START 160      /* of the record buffer */
#define PM_OFFSET_EVENT_RAX 168  /* two registers while an event is appended */
#define PM_OFFSET_EVENT_RCX 176
#define PM_OFFSET_TIMER_EMPTY 248
#define PM_OFFSET_CALLED_PATH 256
#define PM_OFFSET_BOUND_STACK                                                                      \
    296 /* of the code that executes a copy (shadow_loops/shadow_loop_path.S) */
#define PM_OFFSET_BOUND_ENTRY 304
#define PM_OFFSET_BOUND_BEGIN 312
#define PM_OFFSET_BOUND_NOW 320
#define PM_OFFSET_BOUND_STATUS 328
#define PM_OFFSET_BRANCH_LEFT 352
#define PM_BRANCH_BUFFER 32768   /* PM_BRANCH_BUFFER_BYTES */
#define PM_OFFSET_TIMER_OPEN 448 /* a cache line with all that an event with a timer needs … */
#define PM_OFFSET_TIMER_WATCH 456
#define PM_OFFSET_TIMER_ARMED 464
#define PM_OFFSET_TIMER_TIMES 472
#define PM_OFFSET_TIMER_SLOTS 480
#define PM_OFFSET_TIMER_SAVED 488 /* … and with five registers and the flags during it */
#define PM_OFFSET_SAVE_AREA 1024  /* xsave needs 2688 bytes for x87 to AVX-512 */

/* x87, SSE, AVX, and AVX-512's masks and upper halves.  Nothing here uses AMX or PKRU. */
#define PM_XSAVE_COMPONENTS 0xe7

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/probe_abi.h"

struct pm_bound_thread;
struct pm_thread;
struct pm_timer_slot;

/* What timers know of a thread (timers/timers.c). */
struct pm_thread_times {
    uint64_t last;         /* counter at the last event */
    uint64_t synced_ticks; /* counter and CPU clock when they were last compared */
    uint64_t synced_ns;
    long thread_id;              /* the system's; 0: not known yet */
    struct pm_timer_slot *slots; /* 0: outside all scopes; scope + 1 */
    int64_t *ns;                 /* by slot: time of the CPU clock; may be negative */
};

struct pm_control_block {
    uint64_t self, next, limit, spill[PM_CB_N_SPILL], slow, return_address, stack;
    uint64_t event, event_path;
    uint64_t saved_rax, saved_rsp, xsave_mask, consume, start, event_rax, event_rcx;
    uint64_t consumed; /* records below it were analysed already; between start and next */
    struct pm_thread *thread;
    struct pm_control_block *outer; /* of the code that our signal handler interrupted; or NULL */
    struct pm_control_block *inner; /* for the handler that interrupts us; made when needed */
    uint64_t level;                 /* 0: the thread's own block */
    uint64_t handler_frame;         /* stack frames of our handler lie below it … */
    uint64_t interrupted_stack;     /* … and those of the interrupted code at or above it */
    struct pm_open_scopes *open_scopes; /* events/open_scopes.h; NULL: none yet */
    uint64_t timer_empty;               /* the slot that runs when no scope of this block is open */
    uint64_t called_path;
    struct pm_record_ring *ring; /* second_core.h; NULL: one buffer */
    uint64_t signal_stack;       /* lowest address; of a thread's own block only */
    /* Of lower bounds.  Where copies end; the stack pointer and the counter when one began; the
     * counter at the last event. */
    uint64_t bound_done, bound_over, bound_stack, bound_entry, bound_begin, bound_now, bound_status;
    struct pm_bound_thread *bound_thread; /* shadow_loops/shadow_loops.c; NULL: none yet */
    uint64_t branch_path;
    int64_t branch_left, branches_done; /* −bytes that are left, and were when all was analysed */
    unsigned char unused[PM_OFFSET_TIMER_OPEN - 368];
    /* Of timers.  The fast path may go on while the word at %fs:timer_watch is
       timer_armed. */
    struct pm_open_scopes *timer_open; /* open_scopes */
    uint64_t timer_watch, timer_armed;
    struct pm_thread_times *times; /* the thread's; NULL: none yet */
    struct pm_timer_slot *timer_slots;
    uint64_t timer_saved[6];
    struct pm_thread_times own_times; /* of a thread's own block only */
    unsigned char unused_too[PM_OFFSET_SAVE_AREA - PM_OFFSET_TIMER_SAVED - 48 -
                             sizeof(struct pm_thread_times)];
    unsigned char save_area[PM_CB_COUNTERS - PM_OFFSET_SAVE_AREA];
    uint64_t counters[]; /* PM_MAX_COUNTERS */
};

_Static_assert(PM_BRANCH_BUFFER == PM_BRANCH_BUFFER_BYTES, "for the assembly");
#define PM_CHECK_OFFSET(field, offset)                                                             \
    _Static_assert(offsetof(struct pm_control_block, field) == (offset), #field)
PM_CHECK_OFFSET(self, PM_CB_SELF);
PM_CHECK_OFFSET(next, PM_CB_NEXT);
PM_CHECK_OFFSET(next, PM_OFFSET_NEXT);
PM_CHECK_OFFSET(limit, PM_CB_LIMIT);
PM_CHECK_OFFSET(limit, PM_OFFSET_LIMIT);
PM_CHECK_OFFSET(spill, PM_CB_SPILL);
PM_CHECK_OFFSET(slow, PM_CB_SLOW);
PM_CHECK_OFFSET(return_address, PM_CB_RETURN);
PM_CHECK_OFFSET(return_address, PM_OFFSET_RETURN);
PM_CHECK_OFFSET(stack, PM_CB_STACK);
PM_CHECK_OFFSET(stack, PM_OFFSET_STACK);
PM_CHECK_OFFSET(event, PM_CB_EVENT);
PM_CHECK_OFFSET(event, PM_OFFSET_EVENT);
PM_CHECK_OFFSET(event_path, PM_CB_EVENT_PATH);
PM_CHECK_OFFSET(event_path, PM_OFFSET_EVENT_PATH);
PM_CHECK_OFFSET(saved_rax, PM_CB_PRIVATE);
PM_CHECK_OFFSET(saved_rax, PM_OFFSET_SAVED_RAX);
PM_CHECK_OFFSET(saved_rsp, PM_OFFSET_SAVED_RSP);
PM_CHECK_OFFSET(xsave_mask, PM_OFFSET_XSAVE_MASK);
PM_CHECK_OFFSET(consume, PM_OFFSET_CONSUME);
PM_CHECK_OFFSET(start, PM_OFFSET_START);
PM_CHECK_OFFSET(event_rax, PM_OFFSET_EVENT_RAX);
PM_CHECK_OFFSET(event_rcx, PM_OFFSET_EVENT_RCX);
PM_CHECK_OFFSET(timer_empty, PM_OFFSET_TIMER_EMPTY);
PM_CHECK_OFFSET(called_path, PM_CB_CALLED_PATH);
PM_CHECK_OFFSET(called_path, PM_OFFSET_CALLED_PATH);
PM_CHECK_OFFSET(bound_done, PM_CB_BOUND_DONE);
PM_CHECK_OFFSET(bound_over, PM_CB_BOUND_OVER);
PM_CHECK_OFFSET(bound_stack, PM_OFFSET_BOUND_STACK);
PM_CHECK_OFFSET(bound_entry, PM_OFFSET_BOUND_ENTRY);
PM_CHECK_OFFSET(bound_begin, PM_OFFSET_BOUND_BEGIN);
PM_CHECK_OFFSET(bound_now, PM_OFFSET_BOUND_NOW);
PM_CHECK_OFFSET(bound_status, PM_OFFSET_BOUND_STATUS);
PM_CHECK_OFFSET(branch_path, PM_CB_BRANCH_PATH);
PM_CHECK_OFFSET(branch_left, PM_CB_BRANCH_LEFT);
PM_CHECK_OFFSET(branch_left, PM_OFFSET_BRANCH_LEFT);
PM_CHECK_OFFSET(timer_open, PM_OFFSET_TIMER_OPEN);
PM_CHECK_OFFSET(timer_watch, PM_OFFSET_TIMER_WATCH);
PM_CHECK_OFFSET(timer_armed, PM_OFFSET_TIMER_ARMED);
PM_CHECK_OFFSET(times, PM_OFFSET_TIMER_TIMES);
PM_CHECK_OFFSET(timer_slots, PM_OFFSET_TIMER_SLOTS);
PM_CHECK_OFFSET(timer_saved, PM_OFFSET_TIMER_SAVED);
PM_CHECK_OFFSET(save_area, PM_OFFSET_SAVE_AREA);
PM_CHECK_OFFSET(counters, PM_CB_COUNTERS);
#undef PM_CHECK_OFFSET

enum {
    PM_PRIVATE_STACK_BYTES = 65536,
    PM_SIGNAL_STACK_BYTES = 32768, /* AMX's state takes a third of it */
    /* Three quarters of it are records, the rest is slack: with the accesses that they become it
       stays in a second-level cache, and the slow path's own cost is below 0.1 ns a record. */
    PM_RECORD_BUFFER_BYTES = 4 * PM_RECORD_SLACK,
};
#define PM_CONTROL_BLOCK_BYTES ((uint64_t)PM_CB_BRANCHES_END)

/* Behind the last of BLOCK's records of branches. */
static inline struct pm_branch_record *pm_branches_end(struct pm_control_block *block) {
    return (struct pm_branch_record *)((char *)block + PM_CB_BRANCHES_END);
}

/* The block that %gs points to. */
static inline struct pm_control_block *pm_current_block(void) {
    struct pm_control_block *block;
    __asm__ volatile("movq %%gs:0, %0" : "=r"(block));
    return block;
}

/* Fills a zeroed BLOCK; STACK and BUFFER are the lowest addresses of memory of the sizes above.
   Calls nothing outside its file, because it runs while this library is being relocated. */
void pm_control_block_fill(struct pm_control_block *block, void *stack, void *buffer);

/* A new block for a signal handler (OUTER: what it interrupts) or a thread (OUTER NULL); NULL when
   there is no memory.  Safe in a signal handler. */
struct pm_control_block *pm_control_block_new(struct pm_thread *thread,
                                              struct pm_control_block *outer);

/* Makes %gs of the calling thread point to BLOCK. */
void pm_control_block_use(struct pm_control_block *block);

/* To be called once: finds out whether %gs may be set without a system call. */
void pm_control_block_detect(void);

/* Block of thread 0, in use before the first constructor (first_block.c). */
extern struct pm_control_block *const pm_first_block;

/* records/slow_path.S */
void pm_slow_path(void);
void pm_slow_path_end(void); /* not to be called: its address is where pm_slow_path ends */

/* records/slow_path.S: values of PM_CB_BRANCH_PATH; forgets what is in the buffer, has it analysed.
 */
void pm_branch_ignore(void);
void pm_branch_path(void);

/* events/event_paths.S: values of PM_CB_EVENT_PATH. */
void pm_event_ignore(void); /* nothing */
void pm_event_record(void); /* appends a record; the buffer is emptied if it is full */

/* records/library_call_path.S: the value of PM_CB_CALLED_PATH. */
void pm_called_path(void);

#endif
#endif
