/* The penalty of a mispredicted branch, and how many jumps are taken in a cycle.

   The penalty: a loop that branches on random bits, against the same loop
   where all bits are equal.  Half of the random ones are predicted wrongly, whatever predicts. */
#include <math.h>

#include "machines/probe/instructions/private.h"

struct branching {
    uint64_t state; /* of a generator of random numbers */
    uint64_t mask;  /* 1: the branch goes by their lowest bit; 0: always the same way */
};

#if defined(__x86_64__)
/* The numbers are made as they go: a table of them would be learnt. */
static void branch(void *context, uint64_t times) {
    struct branching *branching = context;
    uint64_t state = branching->state, mask = branching->mask;
    for (; times > 0; times--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        __asm__ volatile("test %0, %1\n jz 1f\n nop\n nop\n 1:" : : "r"(state), "r"(mask) : "cc");
    }
    branching->state = state;
}
#else
static void branch(void *context, uint64_t times) {
    (void)context;
    (void)times;
}
#endif

static struct pm_estimate penalty_now(struct pm_clock *clock) {
    static const double SHARE_WRONG = 0.5;
    static const struct pm_effort effort = {.round_seconds = 200e-6, .rounds = 31};
    struct branching branching = {.state = 88172645463325252U};
    struct pm_timing same = pm_cycles(clock, branch, &branching, &effort);
    branching.mask = 1;
    struct pm_timing random = pm_cycles(clock, branch, &branching, &effort);
    return (struct pm_estimate){
        fmax(0, random.cycles.low - same.cycles.high) / SHARE_WRONG,
        (random.cycles.estimate - same.cycles.estimate) / SHARE_WRONG,
        (random.cycles.high - same.cycles.low) / SHARE_WRONG,
    };
}

/* What the front end does while it waits differs from try to try; the interval holds all. */
struct pm_estimate pm_measure_mispredict(struct pm_clock *clock) {
    enum { TRIES = 5 };
    struct pm_estimate penalties[TRIES];
    for (int i = 0; i < TRIES; i++)
        penalties[i] = penalty_now(clock);
    return pm_estimate_of_all(penalties, TRIES);
}

/* ---- jumps ----------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static void jump(void *context, uint64_t times) {
    (void)context;
    uint64_t done = 0;
    if (times)
        __asm__ volatile(".p2align 6\n 1: add $1, %0\n cmp %1, %0\n jne 1b"
                         : "+r"(done)
                         : "r"(times)
                         : "cc");
}
#else
static void jump(void *context, uint64_t times) {
    (void)context;
    (void)times;
}
#endif

/* Of a loop that only counts: that takes a cycle, unless renaming adds. */
double pm_measure_taken_jumps(struct pm_clock *clock) {
    static const struct pm_effort effort = {.round_seconds = 200e-6, .rounds = 31};
    double cycles = pm_cycles(clock, jump, NULL, &effort).cycles.estimate;
    return cycles > 0 ? 1 / cycles : NAN;
}
