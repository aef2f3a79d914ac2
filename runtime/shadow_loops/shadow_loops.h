/* Lower bounds: before a loop nest runs, its copy runs, in which nothing misses a cache, and both
   are timed (core/bound_abi.h; Fursin, O'Boyle, Temam & Watts 2004, section 3).

   Events of the nests come to pm_bound_path (shadow_loop_path.S), which saves every register.  When
   a nest is entered, what its copy may change of the frame is saved, the slots get the values that
   they had when they were recorded, the copy is executed with the registers that the program has,
   and all is put back: registers, flags, vectors, memory.  Then the nest itself runs.  Every thread
   has copies, and with them slots, of its own.  In the copy no floating-point exception is raised
   and no denormal slows it down: both are masked.  A fault in a copy ends it, and its nest has no
   bound.

   Before that, in a run of its own, what copies start with is recorded (record_data.c): the values
   of the slots, and how branches on loaded values went.

   Both times are of the time-stamp counter between two fences; what an empty copy takes, and a
   nest without instructions, is subtracted, and of long executions the time that other processes
   had the processor.  A copy that calls the mathematical library leaves errno as it was.  A nest
   that is entered in a signal handler is left alone. */
#ifndef PM_RUNTIME_BOUNDS_H
#define PM_RUNTIME_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/control_block.h"
#include "runtime/raw_output/raw_output.h"

/* True if PM_ENV_BOUND asks for bounds. */
bool pm_bounds_wanted(void);

/* At the begin of the process: reads the file, of copies or of what is to be recorded.  If it is
   damaged, or there is no memory, the program runs as it is, and the raw file has neither section.
 */
void pm_bounds_begin(void);

/* A signal came at CONTEXT.  True: it is a fault in a copy; the copy ends when the calling handler
 * returns. */
bool pm_bound_fault(int number, ucontext_t *context);

/* The sections PM_RAW_BOUNDS and PM_RAW_RECORDED, as far as there is something. */
void pm_bounds_add(struct pm_raw_builder *builder);

/* ---- record_data.c --------------------------------------------------------------------------- */

/* BYTES, the whole file, stays.  False: it is damaged, or there is no memory. */
bool pm_recording_begin(const void *bytes, uint64_t n_bytes);
void pm_recording_add(struct pm_raw_builder *builder);

/* ---- shadow_loop_path.S ---------------------------------------------------------------------- */

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
/* ENTER and LEAVE of a nest without instructions, whose ENTER is EVENT. */
void pm_bound_empty_nest(uint32_t event);
/* What the paths call. */
void pm_bound_event(struct pm_control_block *block);
void pm_bound_report(struct pm_control_block *block);

void pm_bound_report_path(void); /* the value of PM_CB_CALLED_PATH while something is recorded */

#endif
