/* Loads that miss while a window is simulated: which of them in which iteration, how long each
   takes, and how many can be under way at a time. */
#ifndef PM_WINDOW_MISSES_H
#define PM_WINDOW_MISSES_H

#include <stddef.h>
#include <stdint.h>

#include "core/prediction.h"

/* Of one reference: the share of its accesses that miss each level of the machine, and the cycles
   that such a miss takes more.  What misses a cache has missed those nearer the core. */
struct pm_load_misses {
    double share[PM_MAX_LEVELS], cycles[PM_MAX_LEVELS];
    double phase; /* 0…1: loads of one phase miss together, as streams side by side do */
};

#define PM_GOLDEN_RATIO 0.6180339887498949
/* A place between 0 and 1 for each NUMBER, spread as evenly as can be: so many of them are below a
   share as the share says. */
double pm_even_place(double number, double phase);

enum { PM_MOST_IN_FLIGHT = 128 };

struct pm_misses_under_way {
    size_t n_levels;
    uint32_t most[PM_MAX_LEVELS]; /* misses of the level at a time; 0: no limit known */
    uint32_t next[PM_MAX_LEVELS];
    double done[PM_MAX_LEVELS][PM_MOST_IN_FLIGHT];
};

/* When the data of LOAD would have begun to come had it hit: BEGUN, and later if it misses in this
   ITERATION. */
double pm_load_begun(struct pm_misses_under_way *misses, const struct pm_load_misses *load,
                     unsigned iteration, double begun);

#endif
