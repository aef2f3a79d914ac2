/* From a store's data to a load of the same place, in a chain that goes through memory. */
#include <math.h>

#include "machines/probe/instructions/private.h"

struct pm_estimate pm_measure_store_forwarding(struct pm_clock *clock) {
    /* By the same register, by two registers that hold the same address, in vector registers. */
    static const char *const ways[][3] = {
        {"mov qword ptr [rbp + 320], r8", "mov r8, qword ptr [rbp + 320]"},
        {"mov qword ptr [rbp + 320], r8", "mov r8, qword ptr [rdi + 6464]"},
        {"vmovsd qword ptr [rbp + 320], xmm0", "vmovsd xmm0, qword ptr [rdi + 6464]"},
        {"vmovupd xmmword ptr [rbp + 320], xmm0", "vmovupd xmm0, xmmword ptr [rdi + 6464]"},
    };
    enum { N_WAYS = sizeof ways / sizeof *ways, COPIES = 16, OF_VECTORS = 2 };
    struct pm_estimate range = pm_estimate_unknown();
    for (int way = 0; way < N_WAYS; way++) {
        const char *body[2 * COPIES];
        for (int i = 0; i < COPIES; i++) {
            body[2 * i] = ways[way][0];
            body[2 * i + 1] = ways[way][1];
        }
        struct pm_probe_loop *loop = pm_probe_loop_of(body, 2 * COPIES);
        if (loop && !pm_probe_loop_can_run(loop)) {
            pm_probe_loop_free(loop);
            loop = NULL;
        }
        struct pm_estimate cycles = pm_estimate_scaled(pm_loop_cycles(clock, loop), 1.0 / COPIES);
        range.low = fmin(range.low, cycles.estimate); /* of a NAN and a number the number */
        range.high = fmax(range.high, cycles.estimate);
        if (way == OF_VECTORS || isnan(range.estimate))
            range.estimate = cycles.estimate;
    }
    return range;
}
