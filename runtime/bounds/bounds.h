/* Lower bounds: before a loop nest runs, its copy runs, in which nothing misses a cache, and both
   are timed (core/bound_abi.h; Fursin, O'Boyle, Temam & Watts 2004, section 3).

   Events of the nests come to pm_bound_path (bound_path.S), which saves every register.  When a
   nest is entered, what its copy may change of the frame is saved, the slots get the values that
   they had when they were recorded, the copy is executed with the registers that the program has,
   and all is put back: registers, flags, vectors, memory.  Then the nest itself runs.  Every thread
   has copies, and with them slots, of its own.  In the copy no floating-point exception is raised
   and no denormal slows it down: both are masked.  A fault in a copy ends it, and its nest has no
   bound.

   Both times are of the time-stamp counter between two fences; what an empty copy takes, and a
   nest without instructions, is subtracted.  A nest that is entered in a signal handler is left
   alone. */
#ifndef PM_RUNTIME_BOUNDS_H
#define PM_RUNTIME_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/control_block.h"
#include "runtime/raw/raw.h"

/* True if PM_ENV_BOUND asks for bounds. */
bool pm_bounds_wanted(void);

/* At the begin of the process: reads the file.  False, with a note for the raw file, if it is
   damaged or there is no memory: the program runs as it is. */
bool pm_bounds_begin(void);

/* A signal came at CONTEXT.  True: it is a fault in a copy; the copy ends when the calling handler
 * returns. */
bool pm_bound_fault(int number, ucontext_t *context);

/* The sections PM_RAW_BOUNDS, if there are bounds. */
void pm_bounds_add(struct pm_raw_builder *builder);

/* ---- bound_path.S ---------------------------------------------------------------------------- */

/* The program's registers at an event, as pm_bound_path leaves them at the top of the private
 * stack. */
struct pm_bound_frame {
    uint64_t rbp, rbx, r11, r10, r9, r8, rdi, rsi, rdx, rcx; /* as slow_path.S pushes them */
    uint64_t r15, r14, r13, r12, flags;
};

void pm_bound_path(void); /* the value of PM_CB_EVENT_PATH */

/* Executes a copy with the registers of FRAME, those of BLOCK's save area, and the program's stack
   pointer and %rax; ticks of the time-stamp counter.  block->bound_status: 0, or 1 if it ran longer
   than it may, or 2 after a fault. */
uint64_t pm_bound_execute(const struct pm_bound_frame *frame, const void *entry,
                          struct pm_control_block *block);

/* Where copies end, and an empty copy. */
void pm_bound_done(void);
void pm_bound_over(void);
void pm_bound_faulted(void);
void pm_bound_empty(void);
/* COUNT pairs of events, ENTER and LEAVE, of a nest without instructions. */
void pm_bound_event(struct pm_control_block *block);

#endif
