/* Registers as a copied loop finds them; shared with enter.S. */
#ifndef PM_PROBE_LOOPS_ENTER_H
#define PM_PROBE_LOOPS_ENTER_H

#define PM_LOOP_STATE_VECTORS 128
#define PM_LOOP_STATE_FLAGS 2176
#define PM_LOOP_STATE_MXCSR 2184
#define PM_LOOP_STATE_WIDTH 2188

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

enum pm_loop_vectors { PM_LOOP_SSE = 0, PM_LOOP_AVX = 1, PM_LOOP_AVX512 = 2 };

struct pm_loop_state {
    uint64_t general[16]; /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 … */
    uint64_t vectors[32][8];
    uint64_t flags;
    uint32_t mxcsr;
    uint32_t width; /* enum pm_loop_vectors: of vector registers that are loaded */
};

_Static_assert(offsetof(struct pm_loop_state, vectors) == PM_LOOP_STATE_VECTORS &&
                   offsetof(struct pm_loop_state, flags) == PM_LOOP_STATE_FLAGS &&
                   offsetof(struct pm_loop_state, mxcsr) == PM_LOOP_STATE_MXCSR &&
                   offsetof(struct pm_loop_state, width) == PM_LOOP_STATE_WIDTH,
               "enter.S knows the layout");

/* Loads all registers from STATE, the stack pointer too, and jumps to CODE when all before it has
   been executed; CODE ends with a jump to pm_loop_leave, which waits for CODE to be executed and
   returns to who called pm_loop_enter.  The caller's registers are kept in one place: one thread
   only. */
void pm_loop_enter(const struct pm_loop_state *state, const void *code);
void pm_loop_leave(void);

#endif
#endif
