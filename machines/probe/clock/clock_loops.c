/* The two loops that the clock consists of. */
#include <time.h>

#include "machines/probe/clock/private.h"

double pm_clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#if defined(__x86_64__)

const bool pm_has_chain = true;

#define TIMES_4(text) text text text text

double pm_run_chain(uint64_t repetitions) {
    uint64_t left = repetitions;
    uint32_t product = 3;
    double begin = pm_clock_now();
    __asm__ volatile(".p2align 6\n1:\n" TIMES_4(TIMES_4("imul %1, %1\n")) "dec %0\n jnz 1b"
                     : "+r"(left), "+r"(product)
                     :
                     : "cc");
    return (pm_clock_now() - begin) / (double)(repetitions * PM_CHAIN_CYCLES);
}

/* Every other instruction is a nop, which needs no unit, so that only the width of the front end
   holds the loop; not two together, which some cores take as one, and of four bytes, because
   shorter ones overflow the lines of some caches of decoded instructions. */
#define NOP ".byte 0x0f, 0x1f, 0x40, 0x00\n"
#define ADD(to) "add %%ebx, %%" to "\n" NOP

double pm_run_wide(uint64_t repetitions) {
    uint64_t left = repetitions;
    double begin = pm_clock_now();
    __asm__ volatile(".p2align 6\n1:\n" TIMES_4(ADD("eax") ADD("ecx") ADD("edx") ADD("esi") ADD(
        "edi") ADD("r8d") ADD("r9d") ADD("r10d")) "dec %0\n jnz 1b"
                     : "+r"(left)
                     :
                     : "cc", "eax", "ebx", "ecx", "edx", "esi", "edi", "r8", "r9", "r10");
    return (pm_clock_now() - begin) / (double)(repetitions * PM_WIDE_INSTRUCTIONS);
}

#else

const bool pm_has_chain = false;

double pm_run_chain(uint64_t repetitions) { return (double)repetitions; }

double pm_run_wide(uint64_t repetitions) { return (double)repetitions; }

#endif
