/* `pmodel validate --time`: what was timed at each size, and the report of it. */
#ifndef PM_VALIDATE_TIMES_H
#define PM_VALIDATE_TIMES_H

#include "cmd/cmd.h"

/* Processes that are timed where nobody says how many. */
enum { PM_USUAL_REPETITIONS = 5 };

/* Of one size. */
struct pm_timed_runs {
    struct pm_parameters at;
    PM_ARRAY(struct pm_times *, runs); /* owned */
};
struct pm_timed_sizes {
    PM_ARRAY(struct pm_timed_runs, sizes); /* owned */
};
void pm_timed_sizes_free(struct pm_timed_sizes *timed); /* what it owns */

/* A pm_times_listener's TAKE; CONTEXT: struct pm_timed_sizes *. */
void pm_timed_sizes_take(void *context, const struct pm_parameters *at, struct pm_times *times);

/* NULL: the size was not timed. */
const struct pm_timed_runs *pm_timed_sizes_find(const struct pm_timed_sizes *timed,
                                                const struct pm_parameters *at);

/* Adds what `pmodel report --format json` of another machine has in the file PATH: times of a
   program with the scopes of STRUCTURE, which are found by their keys.  Errors: not such a file, no
   measured times in it, none of its keys in the structure. */
bool pm_timed_sizes_read(struct pm_timed_sizes *timed, const char *path,
                         const struct pm_structure *structure, struct pm_error *err);

#endif
