/* Whole numbers in doubles, and how long they are to write down: by that a model that reproduces
   all values exactly is told from one that only passes through few of them (minimum description
   length: Rissanen, Automatica 14 (1978)). */
#ifndef PM_FIT_RATIONAL_H
#define PM_FIT_RATIONAL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define PM_LARGEST_INTEGER 9007199254740992.0 /* 2^53: above it a double skips integers */

/* A whole number that a double holds exactly. */
static inline bool pm_is_whole(double x) { return x == floor(x) && fabs(x) <= PM_LARGEST_INTEGER; }

static inline bool pm_is_power_of_two(double x) {
    int exponent;
    return x >= 1 && frexp(x, &exponent) == 0.5;
}

/* Bits of a whole number with its sign. */
static inline double pm_bits(long double integer) { return 1 + log2(1 + (double)fabsl(integer)); }

#endif
