/* Greatest common divisors, and what steps that have one come to. */
#ifndef PM_BASE_DIVISOR_H
#define PM_BASE_DIVISOR_H

#include <stdint.h>

/* The greatest common divisor of A and B; if one is 0, the other. */
static inline uint64_t pm_greatest_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Of accesses to BYTES at ADDRESS, and at multiples of APART from there, the share that lies across
   two lines of LINE bytes; APART divides LINE. */
static inline double pm_share_across(uint64_t address, uint64_t apart, uint64_t bytes,
                                     uint64_t line) {
    uint64_t n = 0;
    for (uint64_t at = address % apart; at < line; at += apart)
        n += at + bytes > line;
    return (double)n * (double)apart / (double)line;
}

#endif
