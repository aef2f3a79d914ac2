/* Non-local exits: activations of routines that control leaves, or comes back to, in a way that
   counters do not see.

   A call does not end a basic block as a rule: an activation that is left at a call (longjmp, an
   exception, exit) has gone into its basic block and never comes out, and one that goes on in the
   child of a fork comes out without having gone in.  These calls are noted by their return
   addresses, so that the frequencies of a routine can be solved from its counters all the same
   (pm_solve_edges).  A note costs a walk over the stack, and nothing where nothing is noted. */
#ifndef PM_RUNTIME_NONLOCAL_EXITS_H
#define PM_RUNTIME_NONLOCAL_EXITS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/raw_output/raw_output.h"

enum pm_activation_event {
    PM_ACTIVATION_LEFT,    /* left for good at a call */
    PM_ACTIVATION_RESUMED, /* goes on behind a call that was not seen */
};

/* Every routine that is open in the calling thread.  COUNT is 1, or −1 to take it back. */
void pm_exits_note_open(enum pm_activation_event event, int64_t count);

/* Control is about to go to a frame of the calling thread in which the stack pointer is or was
   STACK: it leaves all frames up to that one, and that one at its call.  N_HANDLERS signal handlers
   are left on the way: before the last of them stack pointers say nothing. */
void pm_exits_note_jump(uint64_t stack, uint64_t n_handlers);

/* The same for a personality routine that lets control land: it returns all the same, and so does
   what called it; UNWINDER is an address in the unwinder, whose outermost frame is left. */
void pm_exits_note_landing_pad(uint64_t stack, const void *unwinder);

/* What other threads are in when the process ends (waiting_threads.c). */
void pm_exits_note_other_threads(void);

/* In the child of a fork: forgets all, but what is open goes on. */
void pm_exits_after_fork(void);

/* Section PM_RAW_FRAMES of MODULE if there is anything to say. */
void pm_exits_write(struct pm_raw_builder *builder, uint32_t module);

#endif
