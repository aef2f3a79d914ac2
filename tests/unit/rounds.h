/* How often a test does what it does with random numbers: MANY times as it is, FEW times under the
   sanitizers, which look at what is touched on the way, not at what comes out, and are slow. */
#ifndef PM_TESTS_ROUNDS_H
#define PM_TESTS_ROUNDS_H

#include <stdbool.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS(many, few) (few)
#else
#define ROUNDS(many, few) (many)
#endif

/* In `make check-real` (real/rounds) a test does with random numbers what takes minutes. */
static inline bool takes_minutes(void) { return getenv("PMODEL_LONG_TESTS") != NULL; }

#endif
