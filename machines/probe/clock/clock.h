/* A clock that counts core cycles without performance counters or privileges.

   cycles of a work = its seconds / seconds of a cycle, where a cycle is a third of a dependent
   32-bit multiplication: `imul` takes three cycles on every x86 server of today, whatever the
   frequency of the moment.  A chain of them runs before and after each round of the work; what
   interrupts one makes it longer, so the shortest of the last few counts.  (Never additions of a
   constant: newer cores execute these at rename.)

   Whatever else runs only slows the work.  So no round is thrown away: the figure is the least that
   repeats (pm_estimate_least), and rounds go on until it does, or their time is over.

   A chain does not notice that the core's other hardware thread is busy, as it leaves the units to
   it.  A loop at the full issue width does: it stands behind each round as a gauge of how much of
   the core there was.  Rounds go on until those that make the figure had all of it; where none had,
   the figure may be less by what was missing, and its interval says so. */
#ifndef PM_CLOCK_H
#define PM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"

/* Calibrated on the CPU that the thread ran on; belongs to one thread. */
struct pm_clock;

/* Binds the calling thread to the CPU that it is on.  NULL: no chain is known for this ISA. */
struct pm_clock *pm_clock_new(struct pm_error *err);
int pm_clock_cpu(const struct pm_clock *clock);
/* Lets the thread, and those that it starts, use all its CPUs; binds it again. */
void pm_clock_unbind(struct pm_clock *clock);
void pm_clock_bind(struct pm_clock *clock);
void pm_clock_free(struct pm_clock *clock);

/* Executes the work TIMES times; the compiler must not be able to leave it out. */
typedef void pm_work(void *context, uint64_t times);

/* How much is to be spent on a figure. */
struct pm_effort {
    double round_seconds; /* of work in a round; 0: 50 microseconds */
    unsigned rounds;      /* at least; 0: 21 */
    double most_seconds;  /* of all rounds together; 0: half a second; less if the clock's budget
                             says so */
};

struct pm_timing {
    /* Of one execution: the least that repeats, in an interval of at least half a percent either
       way. */
    struct pm_estimate cycles, seconds;
    unsigned rounds;
    bool undisturbed; /* the rounds that make the figure had the whole core, as far as is known */
};

/* Is it narrow enough that no more rounds are needed? */
bool pm_repeats(struct pm_estimate cycles);

/* Measures WORK.  EFFORT may be NULL. */
struct pm_timing pm_cycles(struct pm_clock *clock, pm_work *work, void *context,
                           const struct pm_effort *effort);

/* Whose measurements the next ones are; NULL: nobody's. */
struct pm_probe_budget;
void pm_clock_budget(struct pm_clock *clock, struct pm_probe_budget *budget);

/* Seconds of a core cycle while nothing but the chain runs. */
struct pm_estimate pm_clock_cycle_seconds(const struct pm_clock *clock);
/* Instructions of the wide loop a cycle, at best.  It is not the issue width: some cores take a nop
   and its neighbour as one. */
double pm_clock_best_width(const struct pm_clock *clock);

/* What others took while the clock's rounds ran, 0 … 1. */
struct pm_clock_load {
    double sibling;  /* of the rounds: the other hardware thread of the core was busy */
    double programs; /* of the time: others ran on this CPU */
    double stolen;   /* of the time, by the hypervisor, as /proc/stat has it */
};
struct pm_clock_load pm_clock_load(const struct pm_clock *clock);

/* ---- how much of a core there is ------------------------------------------------------------- */

/* Of the issue slots of the core that the thread is on, the share that a loop at full width gets
   during the next SECONDS, 0 to 1: the rest went to another program, to the core's other hardware
   thread, or was taken by the hypervisor.  1 is the most that it ever got in this process, so that
   who was there from the beginning on is not seen.  NAN: this ISA has no such loop. */
double pm_core_share(double seconds);
#define PM_GAUGE_SECONDS 0.02 /* before and after something that is timed */
/* The CPU with most of a core, of those that the thread may use (the first 64), by SECONDS of the
   loop on all of them together; its *SHARE.  −1: that cannot be found out. */
int pm_quietest_cpu(double seconds, double *share);

/* ---- rates ----------------------------------------------------------------------------------- */

struct pm_clock_rates {
    struct pm_estimate one_hz;     /* of a core while the others rest */
    struct pm_estimate all_hz;     /* while all of the CPUs work */
    struct pm_estimate vectors_hz; /* while it executes the widest vectors */
    int sibling;                   /* a CPU that is the same core's; −1: none of those given */
};

/* CPUS: that may be used, of which the clock's own is skipped.  VECTORS: a work of the widest
   vectors; NULL: there is none. */
struct pm_clock_rates pm_measure_rates(struct pm_clock *clock, const int *cpus, size_t n,
                                       pm_work *vectors, void *context);

/* Monotonic seconds. */
double pm_clock_now(void);

#endif
