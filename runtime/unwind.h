/* Walks the stack of the calling thread by .eh_frame, call by call. */
#ifndef PM_RUNTIME_UNWIND_H
#define PM_RUNTIME_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of registers as DWARF has them on x86-64. */
enum { PM_DWARF_RBP = 6, PM_DWARF_RSP = 7, PM_DWARF_RIP = 16, PM_DWARF_REGISTERS = 17 };

struct pm_frame {
    uint64_t registers[PM_DWARF_REGISTERS]; /* rip: where the routine goes on */
    uint32_t known;                         /* bit for each register whose value is known */
    bool interrupted;       /* by a signal, at rip; else rip is where a call returns to */
    uint64_t readable_page; /* of the stack, asked for last; 0 none */
};

static inline uint64_t pm_frame_rip(const struct pm_frame *frame) {
    return frame->registers[PM_DWARF_RIP];
}
static inline uint64_t pm_frame_stack(const struct pm_frame *frame) {
    return frame->registers[PM_DWARF_RSP];
}

/* FRAME becomes the routine that called this function. */
void pm_unwind_begin(struct pm_frame *frame);

enum pm_unwind_result {
    PM_UNWIND_FRAME, /* FRAME is the caller now */
    PM_UNWIND_END,   /* there is none: the thread began here */
    PM_UNWIND_LOST,  /* no unwinding information, or it cannot be followed */
};
/* From FRAME to its caller.  No lock, no allocation; bad tables never do harm. */
enum pm_unwind_result pm_unwind_step(struct pm_frame *frame);

#endif
