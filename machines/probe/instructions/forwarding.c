/* From a store's data to a load of the same place, in a chain that goes through memory; and how
   long a store takes that is not to the line of the one before.

   Some cores rename places in memory, if what is stored and loaded soon after is in a general
   register: then it takes no time.  Where they do not, a chain of nothing but stores and loads does
   not run at its full speed; so the latency is that of a chain with three multiplications between,
   less that of the multiplications. */
#include <math.h>

#include "machines/probe/instructions/private.h"

/* Cycles of a BODY of N instructions, which a loop repeats. */
static struct pm_estimate cycles_of(struct pm_clock *clock, const char *const *body, int n) {
    enum { COPIES = 16, MOST = 8 };
    const char *copies[MOST * COPIES];
    for (int i = 0; i < n * COPIES; i++)
        copies[i] = body[i % n];
    struct pm_probe_loop *loop = pm_probe_loop_of(copies, n * COPIES);
    if (loop && !pm_probe_loop_can_run(loop)) {
        pm_probe_loop_free(loop);
        loop = NULL;
    }
    return pm_estimate_scaled(pm_loop_cycles(clock, loop), 1.0 / COPIES);
}

struct pm_estimate pm_measure_store_forwarding(struct pm_clock *clock) {
    /* By the same register, by two registers that hold the same address, in vector registers. */
    static const char *const ways[][2] = {
        {"mov qword ptr [rbp + 320], r8", "mov r8, qword ptr [rbp + 320]"},
        {"mov qword ptr [rbp + 320], r8", "mov r8, qword ptr [rdi + 6464]"},
        {"vmovsd qword ptr [rbp + 320], xmm0", "vmovsd xmm0, qword ptr [rdi + 6464]"},
        {"vmovupd xmmword ptr [rbp + 320], xmm0", "vmovupd xmm0, xmmword ptr [rdi + 6464]"},
    };
    static const char multiply[] = "vmulsd xmm0, xmm0, xmm0";
    const char *const chain[] = {multiply, multiply, multiply, ways[2][0], ways[2][1]};
    enum { N_WAYS = sizeof ways / sizeof *ways };
    struct pm_estimate range = pm_estimate_unknown();
    for (int way = 0; way < N_WAYS; way++) {
        double cycles = cycles_of(clock, ways[way], 2).estimate;
        range.low = fmin(range.low, cycles); /* of a NAN and a number the number */
        range.high = fmax(range.high, cycles);
        if (isnan(range.estimate))
            range.estimate = cycles;
    }
    double latency = cycles_of(clock, chain, 5).estimate - cycles_of(clock, chain, 3).estimate;
    if (latency > 0) {
        range.estimate = latency;
        range.low = fmin(range.low, latency);
        range.high = fmax(range.high, latency);
    }
    return range;
}

/* A load of what two stores have waits until both are retired and in the first cache: a chain of
   such, less the cycle in which the stores are executed. */
struct pm_estimate pm_measure_store_block(struct pm_clock *clock) {
    static const char *const chain[] = {"vmovsd qword ptr [rbp + 320], xmm0",
                                        "vmovsd qword ptr [rbp + 328], xmm0",
                                        "vmovupd xmm0, xmmword ptr [rbp + 320]"};
    struct pm_estimate cycles = cycles_of(clock, chain, 3);
    cycles.estimate -= 1;
    cycles.low -= 1;
    cycles.high -= 1;
    return cycles;
}

struct pm_estimate pm_measure_store_line(struct pm_clock *clock) {
    static const char *const lines[] = {
        "mov qword ptr [rbp + 320], r8", "mov qword ptr [rbp + 576], r8",
        "mov qword ptr [rbp + 832], r8", "mov qword ptr [rbp + 1088], r8"};
    enum { N = sizeof lines / sizeof *lines };
    return pm_estimate_scaled(cycles_of(clock, lines, N), 1.0 / N);
}
