/* Measured times: how many seconds of a run the processor spent in each scope that had a timer
   (`pmodel run --time`).  Kept with the run in the store, read by the reports. */
#ifndef PM_TIMES_H
#define PM_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/parameters.h"
#include "core/structure/structure.h"

/* A scope with a timer. */
struct pm_scope_time {
    uint32_t scope;   /* index in the structure: a loop or a routine */
    double seconds;   /* in it, but not in the scopes with timers that were entered from it; the
                         timers' own cost is subtracted; the sum over all threads */
    double entries;   /* how often it was entered */
    uint32_t threads; /* that entered it */
};

struct pm_times {
    PM_ARRAY(struct pm_scope_time, scopes); /* ascending by scope, each once; one that never ran is
                                               there with zeros */
    double outside_seconds; /* in none of these: start-up, other threads of libraries, routines
                               without a timer that nothing with a timer called */
    double own_seconds;     /* of the timers, subtracted everywhere */
    double cpu_seconds;     /* user and system, of the measured process and its children */
    double plain_seconds;   /* the same of the program as it is, run just before */
    double over_plain;      /* median over repetitions of cpu_seconds / plain_seconds */
    uint32_t repetitions;   /* of which this is the one with the least cpu_seconds: what else runs
                               on the machine only slows */
    double core_share;      /* of a core's issue slots that were there for the repetitions, by a
                               gauge before and after each, on average; NAN: not known */
    char *machine;          /* processor that it was measured on, as it names itself; owned */
    char *notes;            /* sentences, one a line; NULL none; owned */
};

/* Who gets each run with timers, also those that are not the median one, and owns its times from
   then on; TAKE is NULL where nobody wants them. */
struct pm_times_listener {
    void (*take)(void *context, const struct pm_parameters *at, struct pm_times *times);
    void *context;
};

/* How much of a core there is at the moment: the share of its issue slots that a loop at full width
   gets, 0 to 1; others on the same core, on its other hardware thread, and the hypervisor take the
   rest.  SHARE is NULL where nobody asks. */
struct pm_core_gauge {
    double (*share)(void *context);
    void *context;
};

void pm_times_free(struct pm_times *times); /* and the struct itself; NULL is allowed */

/* True if the scopes are loops and routines of STRUCTURE in order and all figures are finite and
   not negative; else the sentence says that the two do not belong together.  Times from a store are
   to be checked before they are used. */
bool pm_times_fit(const struct pm_times *times, const struct pm_structure *structure,
                  struct pm_error *err);

/* For each scope of STRUCTURE the scope whose timer its own time went to: itself, the nearest scope
   around it that has a timer, or PM_NONE: the time is where its routine was called, or unknown.
   Owned by the caller. */
uint32_t *pm_times_owners(const struct pm_times *times, const struct pm_structure *structure);

/* ---- where time goes, file by file ----------------------------------------------------------- */

struct pm_file_time {
    char *path;      /* NULL: code in no file; owned */
    bool measured;   /* the program, or a library that was measured */
    bool measurable; /* a library that `pmodel run --lib` can name */
    double samples;  /* how often the program was found in its code */
};

/* Of one run of the program as it is, sampled by the clock; with no samples at all, the measurable
   files, of which that is not known. */
struct pm_file_times {
    PM_ARRAY(struct pm_file_time, files); /* owned */
};

void pm_file_times_add(struct pm_file_times *times, const char *path, double samples);
void pm_file_times_free(struct pm_file_times *times); /* what it owns */

#endif
