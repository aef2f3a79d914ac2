/* Every decision constant of sched/: what times depend on that neither the program nor the machine
   file says.

   A constant has one line: its name, its value, and why it has that value.  Code reads it as
   `pm_sched_constants.NAME`.  For trying what each is worth, and for nothing else,
   PM_SCHED_SCALE=NAME:FACTOR,… in the environment multiplies them (above 0, up to 2); an unknown
   name is an error of pm_predict.  What is not here: tolerances of iterations and sizes of tables,
   which answer to the arithmetic and to memory. */
#ifndef PM_SCHED_CONSTANTS_H
#define PM_SCHED_CONSTANTS_H

#include "fit/fit.h"

/* X (name, value, why) */
#define PM_SCHED_CONSTANTS(X)                                                                      \
    /* ---- intervals: chosen by bench/intervals.sh (docs/intervals.md) ---- */                    \
    X(schedule_error, 0.45,                                                                        \
      "s of time_interval.c: innermost loops alone are within 0.2 (docs/schedule.md, four of "     \
      "five), nests of whole programs are not: of 33 whose time is mostly a schedule half are "    \
      "within 0.43")                                                                               \
    X(share_downwards, 0.1,                                                                        \
      "d of time_interval.c: the smallest value that was tried, since figures of a probed "        \
      "machine have intervals of their own; for machine files without intervals it is all "        \
      "there is")                                                                                  \
    X(share_upwards, 0.1, "u of time_interval.c: the same upwards")                                \
    X(most_of_it, 0.9,                                                                             \
      "A quantity that is evenly spread between 0 and its largest value is above a tenth of "      \
      "that with this probability, which is that of the lower end of an 80% interval")             \
    X(call_cycles, 100,                                                                            \
      "Cycles that a call of code that is not measured takes at most: calls of the C library's "   \
      "sine and cosine took 47 to 77 cycles on two processors")                                    \
    X(first_touch_seconds, 1.2e-6,                                                                 \
      "Seconds of a first touch of a page, where the machine file does not say it: pages of 4 "    \
      "KiB take 1.0 to 1.4 us in a virtual machine of today, and 0.1 to 0.5 us without one")       \
    X(unverified_core, 0.2,                                                                        \
      "Half an interval of an unverified figure of the core, relatively: four of five figures "    \
      "of sapphire-rapids.conf are within it of what was probed of the next generation")           \
    X(unverified_memory, 0.66, "The same for figures of levels and memory")                        \
    /* ---- branches and misses ---- */                                                            \
    X(most_remembered_trips, 33,                                                                   \
      "Iterations of an entry up to which the exit of a loop of constant trip count is "           \
      "predicted: around three plain instructions it is with 33 on a core of 2023 "                \
      "(AVX512-FP16, AMX), and costs a misprediction an entry with 41")                            \
    X(trips_apart, 4,                                                                              \
      "Factor within which trips of entries are of one group: an iteration of a sum took 1.4 to "  \
      "4 cycles in entries of 6 and of 6,000, and cycles change little over a factor of four")     \
    X(rare_share, 1.0 / 128,                                                                       \
      "Misses an iteration below which they come too seldom for a simulation; each then waits "    \
      "for the part of its latency that the window does not hide")                                 \
    X(training_lines, 2, "Lines of a run before a prefetcher follows it")                          \
    /* ---- what is worked out at all, as it takes time ---- */                                    \
    X(share_not_scheduled, 5e-3,                                                                   \
      "Share of all operations that the regions with the fewest have together whose time is the "  \
      "largest bound of their paths: simulated, half of such regions take 1.00 to 1.07 times as "  \
      "long, nine of ten up to 1.32 times")                                                        \
    X(share_with_wrong, 1e-4,                                                                      \
      "Share of all schedules' cycles from which on a region's mispredicted branches are "         \
      "simulated: LAPACK's driver took two fifths of its prediction for those of three thousand "  \
      "loops")                                                                                     \
    X(share_in_full, 5e-3,                                                                         \
      "Share of all schedules' cycles from which on a region's simulations are as long as they "   \
      "are to be, and from which on its causes, and what it would gain without each, are worked "  \
      "out, which takes a further simulation for each")                                            \
    X(share_simulated, 1e-3,                                                                       \
      "Share of all schedules' cycles that the misses of a scope take at least, each alone, to "   \
      "be simulated;")                                                                             \
    X(share_of_path, 2e-3,                                                                         \
      "the same of one path: of others the part of a latency that the window does not hide is "    \
      "added, which changes the time of programs by 0.03% in the median, 0.4% at most")            \
    X(simulated_change, 0.05,                                                                      \
      "Share of a scope's cycles below which its change by one of the machine's figures, or at "   \
      "an "                                                                                        \
      "end of the models' intervals, is not simulated: each miss more or less then takes what a "  \
      "miss takes in the estimate;")                                                               \
    X(simulated_share, 5e-3, "nor is a change by less than this share of the program total")       \
    X(interprocedural_share, 1e-3,                                                                 \
      "Share of all schedules' cycles below which the root of an interprocedural trace is left "   \
      "out")                                                                                       \
    X(interprocedural_operations, 2e-4, "Share of all operations below which no trace is made")    \
    X(interprocedural_uncovered, 0.02,                                                             \
      "Share of a root's executions that outer roots have to leave uncovered")

struct pm_sched_constants {
#define PM_SCHED_FIELD(name, value, why) double name;
    PM_SCHED_CONSTANTS(PM_SCHED_FIELD)
#undef PM_SCHED_FIELD
};
extern struct pm_sched_constants pm_sched_constants; /* read-only but for the two below */

/* Takes PM_SCHED_SCALE from the environment, the first time that it is called.  False with a
   sentence where a name or a factor is none; also whenever it is called again. */
bool pm_sched_constants_read(struct pm_error *err);

/* The same from a text as that variable has, NULL: none, at any time but during a prediction. */
bool pm_sched_constants_set(const char *scale, struct pm_error *err);

#endif
