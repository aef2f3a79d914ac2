/* Walks the stack of the calling thread by .eh_frame, call by call. */
#ifndef PM_RUNTIME_UNWIND_H
#define PM_RUNTIME_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of registers as DWARF has them on x86-64. */
enum {
    PM_DWARF_RBX = 3,
    PM_DWARF_RBP = 6,
    PM_DWARF_RSP = 7,
    PM_DWARF_RIP = 16,
    PM_DWARF_REGISTERS = 17
};

struct pm_call_frame {
    uint64_t registers[PM_DWARF_REGISTERS]; /* rip: where the routine goes on */
    uint32_t known;                         /* bit for each register whose value is known */
    bool interrupted; /* by a signal, at rip; else rip is where a call returns to */
    uint64_t readable_low, readable_end; /* of the stack, asked for already; whole pages */
};

static inline uint64_t pm_call_frame_rip(const struct pm_call_frame *frame) {
    return frame->registers[PM_DWARF_RIP];
}
static inline uint64_t pm_call_frame_stack(const struct pm_call_frame *frame) {
    return frame->registers[PM_DWARF_RSP];
}

/* FRAME becomes the routine that called this function.  LOW, END: what an earlier walk of this
   thread found readable; 0 for nothing. */
void pm_unwind_begin(struct pm_call_frame *frame, uint64_t low, uint64_t end);

enum pm_unwind_result {
    PM_UNWIND_FRAME, /* FRAME is the caller now */
    PM_UNWIND_END,   /* there is none: the thread began here */
    PM_UNWIND_LOST,  /* no unwinding information, or it cannot be followed */
};
/* From FRAME to its caller.  No lock, no allocation; bad tables never do harm.  Modules must not
   have changed since pm_modules_scan. */
enum pm_unwind_result pm_unwind_step(struct pm_call_frame *frame);

/* A word of the stack, if it can be read. */
bool pm_unwind_read(struct pm_call_frame *frame, uint64_t address, uint64_t *word);

#endif
