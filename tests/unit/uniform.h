/* Numbers that look random, the same in each run: Marsaglia's xorshift with 64 bits. */
#ifndef PM_TESTS_UNIFORM_H
#define PM_TESTS_UNIFORM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

static double uniform(double low, double high) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return low + (high - low) * ((double)(random_state >> 11) / 9007199254740992.0);
}

#endif
