/* How many instructions are in flight, and how many of these can wait for their operands.

   A body is a chain of square roots that starts anew each time, then N short instructions.  As
   long as the chain of the next turn fits into the window while this one is under way, the two
   overlap, and a turn takes half of a chain or less; when it no longer fits, a turn takes all of
   it.  Where that changes, N and the chain are as long as the window (Wong, "Measuring reorder
   buffer capacity", 2013, with two cache misses).

   Where the short instructions wait for the chain themselves, it is as many as can wait. */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "machines/probe/instructions/private.h"

enum {
    CHAIN = 12,
    LEAST_FILLING = 16,
    MOST_FILLING = 1400,
    SEARCHES = 3,
};
static const double MUCH_LESS = 0.8; /* between a half and all */

/* Fillings that need no register of their own, so that no register file is full before the window
   is.  Some core takes two of one of them as one, or gives it a register after all: the middle one
   of the three counts. */
static const char *const FILLINGS[] = {"nop dword ptr [rax]", "mov r11, rbx",
                                       "vmovaps xmm5, xmm13"};
enum { N_FILLINGS = sizeof FILLINGS / sizeof *FILLINGS };

static const char *const WAITING = "vaddsd xmm5, xmm0, xmm0";

static double turn_cycles(struct pm_clock *clock, const char *instruction, unsigned filling) {
    const char **body = pm_alloc(CHAIN + filling, sizeof *body);
    static const struct pm_effort effort = {.rounds = 9, .most_seconds = 0.05};
    for (unsigned i = 0; i < CHAIN + filling; i++)
        body[i] = i == 0      ? "vsqrtsd xmm0, xmm13, xmm13"
                  : i < CHAIN ? "vsqrtsd xmm0, xmm0, xmm0"
                              : instruction;
    struct pm_probe_loop *loop = pm_probe_loop_of(body, CHAIN + filling);
    double cycles = NAN;
    if (loop && pm_probe_loop_can_run(loop))
        cycles = pm_cycles(clock, pm_probe_loop_run, loop, &effort).cycles.estimate;
    pm_probe_loop_free(loop);
    free(body);
    return cycles;
}

/* Unknown if the search ends at an end of its range: a turn was disturbed, and it went astray. */
static struct pm_estimate search_window(struct pm_clock *clock, const char *instruction) {
    unsigned low = LEAST_FILLING, high = MOST_FILLING;
    /* A turn without overlap takes the time of the chain, and then that of the remaining filling.
     */
    double alone = turn_cycles(clock, instruction, MOST_FILLING);
    if (isnan(alone))
        return pm_estimate_unknown();
    double per_filling = (alone - turn_cycles(clock, instruction, MOST_FILLING - 200)) / 200;
    while (high - low > 2) {
        unsigned middle = (low + high) / 2;
        double expected = alone - per_filling * (MOST_FILLING - middle);
        if (turn_cycles(clock, instruction, middle) < MUCH_LESS * expected)
            low = middle;
        else
            high = middle;
    }
    if (low == LEAST_FILLING || high == MOST_FILLING)
        return pm_estimate_unknown();
    /* Between all of the next chain in the window and its first instruction. */
    return (struct pm_estimate){low, low + CHAIN / 2.0, high + 2.0 * CHAIN};
}

static int by_estimate(const void *a, const void *b) {
    const struct pm_estimate *x = a, *y = b;
    return PM_COMPARE(x->estimate, y->estimate);
}

/* The median of the known windows. */
static struct pm_estimate middle_of(struct pm_estimate *windows, size_t n) {
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(windows[i].estimate))
            windows[n_known++] = windows[i];
    if (n_known == 0)
        return pm_estimate_unknown();
    qsort(windows, n_known, sizeof *windows, by_estimate);
    return windows[n_known / 2];
}

static struct pm_estimate search(struct pm_clock *clock, const char *instruction) {
    struct pm_estimate searches[SEARCHES];
    for (int k = 0; k < SEARCHES; k++)
        searches[k] = search_window(clock, instruction);
    return middle_of(searches, SEARCHES);
}

struct pm_estimate pm_measure_window(struct pm_clock *clock) {
    struct pm_estimate windows[N_FILLINGS];
    for (int i = 0; i < N_FILLINGS; i++)
        windows[i] = search(clock, FILLINGS[i]);
    return middle_of(windows, N_FILLINGS);
}

struct pm_estimate pm_measure_scheduler(struct pm_clock *clock) {
    return search(clock, WAITING);
}
