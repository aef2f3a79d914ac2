/* The mapping stage: structure + profile + machine → cycles by cause, for every scope. */
#ifndef PM_SCHED_H
#define PM_SCHED_H

#include "core/machine/machine.h"
#include "core/base/base.h"
#include "core/dumps/dumps.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/structure/structure.h"
#include "sched/target/target.h"

enum pm_time_model {
    PM_TIME_WINDOW = 0, /* the window with loads that miss, or bandwidth (sched/exposure.c) */
    PM_TIME_SIMPLE,     /* Σ misses · penalty · exposed: the papers' */
    PM_TIME_SIGNATURE,  /* what the machine's curves say of such misses (sched/signature/) */
};

enum pm_unknown_dependences {
    PM_DEPS_OPTIMISTIC = 0, /* the references are independent */
    PM_DEPS_PESSIMISTIC,    /* each iteration waits for what the one before stored */
};

struct pm_known_paths;
struct pm_threads_misses; /* sched/cores/cores.h */

struct pm_predict_options {
    enum pm_unknown_dependences dependences; /* through memory, that nobody knows */
    enum pm_time_model time;
    bool without_doubts;  /* which figures that are unverified matter is not looked for: much of
                             the work of a prediction, which many of one program can do without */
    bool without_causes;  /* nor what holds schedules back, for which regions are simulated again */
    bool without_spreads; /* nor how far its times may be off */
    bool with_gains; /* what is saved if one cause alone is taken away: as many simulations again */
    /* Costs to be shown, and noted, in place of those of the profile; NULL: these (cores/). */
    const struct pm_scope_prediction *scopes;
    /* Of an end of the models' intervals: the scopes of the estimate, whose costs are taken over
       (interval_end.c); NULL: of no end. */
    const struct pm_scope_prediction *estimate;
    /* Misses in each level of each histogram of the profile, then of its ends; NULL: as
       pm_set_misses_of_levels. */
    double *const *misses;
    /* Of a profile with threads, which has its ends' with its own; NULL: each finds its own. */
    struct pm_threads_misses *threads_misses;
    unsigned n_cores; /* of a profile with threads: that these are dealt to; 0: one for each */
    /* Of predictions on the same machine for the same structure; NULL: of this one alone. */
    struct pm_known_paths *known;
    /* Whose passes print what they made; not those of the ends of intervals; NULL: nobody's. */
    const struct pm_dumping *dumping;
};
extern const struct pm_dump_pass pm_predict_passes[];

/* Schedules of paths that predictions have in common (known_paths.c).  BESIDE: a table of another
   machine, or of another program, that has simulated windows in common with the new one; NULL: none
   has. */
struct pm_known_paths *pm_known_paths_new(const struct pm_known_paths *beside);
/* KNOWN's table for what one of N_CORES has of its machine; KNOWN owns it. */
struct pm_known_paths *pm_known_paths_of_share(struct pm_known_paths *known, unsigned n_cores);
void pm_known_paths_free(struct pm_known_paths *known); /* NULL is allowed */

/* Predicts (Marin & Mellor-Crummey 2004, sections 2.4 and 3.2): the schedule of each loop and
   routine by its paths; misses of every level from the histograms of its block size and the strides
   (fit/sets/); what misses add to the time, by OPTIONS (NULL: as 0).
   Of a profile with threads it is the time on several cores (cores/).
   Of a profile without any reuse distances misses are not known, and times are of the schedule.
   Error: a level's block size was not measured, others were. */
struct pm_prediction *pm_predict(const struct pm_structure *structure,
                                 const struct pm_profile *profile, const struct pm_machine *machine,
                                 const struct pm_predict_options *options, struct pm_error *err);

/* The same with ENDS, of the intervals of the models that made PROFILE (pm_program_predict), in the
   prediction's; NULL, or of NULL: none, so that its intervals are of time and machine alone. */
struct pm_prediction *
pm_predict_between(const struct pm_structure *structure, const struct pm_profile *profile,
                   struct pm_profile *const ends[2], const struct pm_machine *machine,
                   const struct pm_predict_options *options, struct pm_error *err);

/* True if PROFILE has the block sizes of all levels; else the sentence names those that it lacks.
 */
bool pm_check_block_sizes(const struct pm_profile *profile, const struct pm_machine *machine,
                          struct pm_error *err);

/* Adds a sentence that qualifies the prediction, and by which no figure changes much. */
void pm_prediction_note(struct pm_prediction *prediction, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same of one by which SHARE of a figure hangs; NAN: it is not known how much of it.  From a
   hundredth on it stands among the first, which a reader sees without asking. */
void pm_prediction_note_of(struct pm_prediction *prediction, double share, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- frequencies, and the most frequent path of a loop (frequencies.c, path.c) ----------------
 */

struct pm_frequencies {
    const struct pm_structure *structure;
    const double *edges;                  /* of the profile */
    double *blocks;                       /* executions of each basic block */
    const struct pm_behaviour *behaviour; /* what was measured of branches; NULL: nothing */
    enum pm_branch_predictor predictor;   /* that the machine's is like */
    struct pm_lists out;                  /* of each basic block: the edges that leave it */
    struct pm_lists regions; /* of each loop, and each routine outside its loops, by scope: the
                                basic blocks, in order of address */
};

/* EDGE_COUNTS (n_edges values) is kept.  Freed by pm_frequencies_free. */
void pm_frequencies_make(const struct pm_structure *structure, const double *edge_counts,
                         struct pm_frequencies *frequencies);
void pm_frequencies_free(struct pm_frequencies *frequencies);

/* Mean iterations of an entry of LOOP; 0: not known. */
double pm_mean_trips(const struct pm_frequencies *frequencies, uint32_t loop);

/* The most frequent way from the header of LOOP back to it (PATH has room for all its routine's
   blocks and loops); 0 steps if it never comes back. */
size_t pm_hot_path(const struct pm_frequencies *frequencies, uint32_t loop,
                   struct pm_path_step *path);

/* ---- strides of references (reference_stride.c) ------------------------------------------------
 */

/* Bytes from one execution of REFERENCE to the next, by the innermost level of the loops around it:
   as measured, or predicted, in STRIDES; else (or NULL) as the code says.  0: it stays; NAN: not
   known, indirect, or most steps are others. */
double pm_reference_step(const struct pm_structure *structure, const struct pm_run_strides *strides,
                         uint32_t reference);

/* The bytes by which it goes from line to line: the step of the innermost level in which it moves.
   0: it stays; NAN: not known.  *RUN_BYTES: how far, before it begins elsewhere; INFINITY: not
   known.  And of a group as the code says. */
double pm_reference_way(const struct pm_structure *structure, const struct pm_run_strides *strides,
                        uint32_t reference, double *run_bytes);

/* The share of the entries of its loop in which a reference comes to lines that the entry before
   did not, where it comes to another line in each iteration: the step of the next level /
   LINE_BYTES. 1: each entry has lines of its own, or that is not known. */
double pm_reference_new_lines(const struct pm_structure *structure,
                              const struct pm_run_strides *strides, uint32_t reference,
                              double line_bytes);
double pm_group_way(const struct pm_group *group);

struct pm_dep_graph;     /* sched/graph/graph.h */
struct pm_known_windows; /* sched/window/window.h */
struct pm_load_misses;   /* sched/window/misses.h */
struct pm_wrong_branch;  /* sched/window/window.h */

/* ---- the schedule of a path (schedule_path.c) -------------------------------------------------
 */

enum { PM_N_HOLDS = PM_CAUSE_WINDOW + 1 }; /* causes that hold an iteration of a path back */

struct pm_schedule_options {
    uint32_t loop; /* around which the path goes, whose dependences through memory count; PM_NONE:
                      code outside loops, whose executions do not depend on each other */
    bool pessimistic; /* unknown dependences through memory are taken as real */
    /* For each reference of the path, in the order of its basic blocks and of their references
       (pm_block.first_reference): cycles from the address to the data.  0 or NAN: a hit in the
       first level, as the machine's row says.  NULL: all are. */
    const double *load_latency_cycles;
    /* For each reference, in the same order: the share of its accesses that take their units twice,
       for they lie across two lines.  NULL: none does. */
    const double *crossings;
    /* For each reference, in the same order: how often its loads miss, of an out-of-order machine.
       NULL: they do not. */
    const struct pm_load_misses *misses;
    /* Iterations of an entry of the loop, in the mean: what each entry begins anew (a sum at zero)
       does not wait for the one before.  0: as if it was entered once. */
    double trips;
    bool nearest_trips; /* of the numbers that are simulated the next one: for differences between
                           schedules */
    /* For each step of the path, of an out-of-order machine; NULL: none is wrong.  Exits of the
       loop only where `has_entries` comes out. */
    const struct pm_wrong_branch *wrong;
    /* All registers and all words of 8 bytes hold this when the loop begins, so that it is known
       which loads meet which stores; NULL: nobody knows. */
    const uint64_t *held;
    bool is_unrolled;  /* with HELD: copies of the path follow each other, without an end */
    uint32_t without;  /* bit set of enum pm_cause: taken away, for gains */
    double iterations; /* > 0: passed so often in a row, start-up and drain included */
    bool with_causes;  /* fill `causes`: takes a simulation for each */
    bool with_gains;   /* fill `gains`: as many again */
    bool with_modulo;  /* of an out-of-order machine, too */
    bool bound_only;   /* the cycles are the largest bound: nothing is simulated */
    bool is_brief;     /* simulations with misses or wrong branches are (pm_window_limits) */
    const struct pm_dumping *dumping; /* modulo schedules print their reservations; NULL: not */
    struct pm_known_windows *windows; /* simulations that need not be done again; NULL: none */
};

struct pm_path_schedule {
    bool has_entries; /* the simulation has several entries of the loop, and their ends */
    double cycles; /* an iteration on this machine: of the window if it is out of order, else of the
                      modulo schedule; never less than the largest bound */
    double start_cycles;  /* that N iterations take more than N · cycles: filling and draining */
    double alone_cycles;  /* from the first allocation of one iteration to its last result */
    double modulo_cycles; /* the modulo schedule's initiation interval; NAN: not asked for, none
                             found */
    double bounds[PM_N_HOLDS];
    uint8_t hold; /* enum pm_cause: the largest of the bounds; PM_CAUSE_WINDOW if the time is
                     more than a tenth above all of them */
    uint8_t unit; /* of the bound PM_CAUSE_UNITS: a unit of the tightest set */
    double causes[PM_N_HOLDS]; /* add up to `cycles`: largest bound first, what goes away if it is
                                  taken away, too; of the last one all that is left.  With
                                  with_causes */
    double gains[PM_N_HOLDS];  /* cycles saved if only this one is taken away.  With with_gains */
    double slots;
    uint32_t n_operations, n_instructions, n_unknown_operations;
    uint32_t n_references; /* of the path: length of load_latency_cycles */
};

/* The schedule of an iteration that is PATH: basic blocks, and inner loops as steps, whose own
   cycles are counted at them.  TARGET: pm_target_of (sched/target/target.h). */
void pm_schedule_path(const struct pm_target_machine *target, const struct pm_path_step *path,
                      size_t n_steps, const struct pm_schedule_options *options,
                      struct pm_path_schedule *schedule);

/* The same with what a table of the path's instructions shows. */
struct pm_path_detail {
    struct pm_dep_graph *graph; /* sched/graph/graph.h */
    bool *on_cycle;             /* per node: of the recurrence */
    bool *on_chain;             /* per node: of the longest chain of an iteration */
    double *unit_cycles;        /* [n_nodes][PM_MACHINE_MAX_UNITS]: busy cycles, by iteration */
};
void pm_schedule_path_detail(const struct pm_target_machine *target,
                             const struct pm_path_step *path, size_t n_steps,
                             const struct pm_schedule_options *options,
                             struct pm_path_schedule *schedule, struct pm_path_detail *detail);
void pm_path_detail_free(struct pm_path_detail *detail);

/* ---- loops of a structure (schedule_loops.c) --------------------------------------------------
 */

struct pm_loop_schedule {
    uint32_t scope;
    uint32_t first_step, n_steps; /* of its hottest path; 0 steps: there is no way back */
    struct pm_path_schedule schedule;
};

struct pm_loop_schedules {
    PM_ARRAY(struct pm_loop_schedule, items);
    PM_ARRAY(struct pm_path_step, steps);
};

/* The loops of STRUCTURE for which WANTED (per scope) is true, each by its hottest path: by
   EDGE_COUNTS where these say that it was executed; else, and for NULL, by the lifter's estimated
   frequencies, as the loop runner does.  OPTIONS' loop and trips are not used. */
void pm_schedule_loops(const struct pm_target_machine *target, const double *edge_counts,
                       const bool *wanted, const struct pm_schedule_options *options,
                       struct pm_loop_schedules *schedules);
void pm_loop_schedules_free(struct pm_loop_schedules *schedules);

/* For each scope whether it is a loop without a loop in it.  The caller frees. */
bool *pm_innermost_loops(const struct pm_structure *structure);

#endif
