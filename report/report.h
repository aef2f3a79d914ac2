/* The showing stage: structures and predictions as tables for people, JSON and CSV for programs.
   The same facts in each.  Writes to a stream; decides nothing. */
#ifndef PM_REPORT_H
#define PM_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "binlift/binlift.h"
#include "core/block_profile/block_profile.h"
#include "core/bounds/bounds.h"
#include "core/machine/machine.h"
#include "core/model.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/reuse_patterns.h"
#include "core/streams.h"
#include "core/structure/structure.h"
#include "core/times.h"
#include "fit/analysis/analysis.h"
#include "fit/fit.h"
#include "fit/plan/plan.h"
#include "machines/probe/loop_runner/loop_runner.h"
#include "report/annotate.h"
#include "report/compare.h"
#include "report/diff/diff.h"
#include "report/explain/explain.h"
#include "report/export/export.h"
#include "report/options.h"
#include "report/parallel/parallel.h"
#include "report/query/query.h"
#include "report/signature/signature.h"
#include "sched/paths/paths.h"
#include "sched/sched.h"
#include "report/scale/scale.h"

/* A prediction at one size; `times` and `bounds` were measured at this size and fit the structure;
   NULL: there are none. */
struct pm_sized_prediction {
    const struct pm_prediction *prediction;
    const struct pm_times *times;
    const struct pm_bounds *bounds;
};
struct pm_predictions_report {
    const struct pm_structure *structure;
    const struct pm_sized_prediction *predictions; /* machine by machine, size by size */
    size_t n_machines, n_sizes;
};

/* `pmodel report`: predictions of one program, for one or more machines.  A header line per
   machine, one row per loop (folded scopes added up, section 2.3.1 of Marin & Mellor-Crummey 2004)
   and per routine's code outside loops; parts add up to the whole; notes at the end.  Several sizes
   stand side by side.  Errors, before anything is written: a field of the options that there is
   not. */
bool pm_report_predictions(FILE *out, const struct pm_predictions_report *report,
                           const struct pm_report_options *options, struct pm_error *err);

/* `pmodel report --as threads`: a table with a line for each of the N streams, those that never
 * accessed anything left out. */
void pm_report_threads(FILE *out, const struct pm_machine *machine,
                       const struct pm_thread_misses *threads, size_t n,
                       const struct pm_report_options *options);

/* `pmodel report --as carried`: the misses of a run that was measured with --carry, on each
   machine: by loop that carries them, where they come from and where they go to. */
void pm_report_carried(FILE *out, const struct pm_carried_report *report,
                       const struct pm_report_options *options);

/* `pmodel show --as branches`: those of a run, measured at size AT. */
void pm_report_branches(FILE *out, const struct pm_structure *structure,
                        const struct pm_parameters *at, const struct pm_behaviour *behaviour,
                        const struct pm_report_options *options);

/* `pmodel show --as profile`: basic blocks, most references to memory first, measured at size AT.
 */
enum pm_profile_view { PM_PROFILE_BLOCKS, PM_PROFILE_STRIDES, PM_PROFILE_MIX };
struct pm_profile_request {
    enum pm_profile_view view; /* of tables; JSON and CSV have all */
    bool only_random;          /* blocks some of whose references are random */
};
void pm_report_block_profile(FILE *out, const struct pm_structure *structure,
                             const struct pm_parameters *at, const struct pm_block_profile *profile,
                             const struct pm_profile_request *request,
                             const struct pm_report_options *options);

/* `pmodel bound`: loop nests and their lower bounds, measured at size AT. */
void pm_report_bounds(FILE *out, const struct pm_structure *structure,
                      const struct pm_parameters *at, const struct pm_bounds *bounds,
                      const struct pm_report_options *options);
/* What the program would take if each of its nests took its lower bound. */
double pm_bounds_seconds(const struct pm_structure *structure, const struct pm_bounds *bounds);
/* PATTERN (fnmatch) is of a routine, "step", or a loop, "step/3", as reports call them, or the
   loop's place, "heat.c:31". */
bool pm_is_loop_called(const struct pm_structure *structure, uint32_t loop, const char *pattern);

/* Builds of a program with their bounds (Fursin et al., section 5.5). */
struct pm_bound_build {
    char *name;       /* of the store; owned by the caller, as all of it */
    char *parameters; /* "N=64" */
    double seconds, bound_seconds;
    double bounded_share; /* of the time in loops */
};
/* The fastest stands first.  A search for faster builds has an end where the best time is near the
   best bound. */
void pm_report_bound_builds(FILE *out, struct pm_bound_build *builds, size_t n,
                            const struct pm_report_options *options);

/* `pmodel show`: a run of a store; texts of the caller. */
struct pm_stored_run {
    char *size;
    char *blocks;    /* "64,4096", bytes; "": only counts */
    char *extras;    /* what was measured beside counts and reuse distances: "times, carriers" */
    char *truncated; /* how it ended before its end; NULL: it did not */
};
void pm_report_stored_runs(FILE *out, const struct pm_stored_run *runs, size_t n,
                           const struct pm_report_options *options);

/* `pmodel doctor`: one thing that was looked at. */
enum pm_health { PM_HEALTH_FINE = 0, PM_HEALTH_LIMITED, PM_HEALTH_BROKEN };
struct pm_health_check {
    const char *name;
    uint8_t state; /* enum pm_health */
    char *found;   /* owned by the caller, as MEND */
    char *mend;    /* what to do; NULL: nothing */
};
void pm_report_health(FILE *out, const struct pm_health_check *checks, size_t n,
                      const struct pm_report_options *options);

/* `pmodel machines NAME`: a machine file without comments, or its figures and costs. */
void pm_report_machine(FILE *out, const struct pm_machine *machine,
                       const struct pm_report_options *options);
/* `pmodel machines --check`: its figures that are unverified or have no source. */
void pm_report_machine_check(FILE *out, const struct pm_machine *machine,
                             const struct pm_report_options *options);

/* `pmodel machines --diff`: figures that only one has, or that differ. */
void pm_report_machine_difference(FILE *out, const struct pm_machine *a, const struct pm_machine *b,
                                  const struct pm_report_options *options);

/* `pmodel loops`: routines, loops with source lines, counters (formula and real number), and, with
   WITH_GROUPS, reference groups.  STATISTICS may be NULL (a structure from a store).  ROUTINE: only
   those of this name (core/structure/structure.h), NULL all. */
void pm_report_loops(FILE *out, const struct pm_structure *structure,
                     const struct pm_lift_statistics *statistics, bool with_groups,
                     const char *routine, const struct pm_report_options *options);

/* `pmodel loops --summary`: a line for each file. */
struct pm_summary {
    const char *path;
    struct pm_lift_statistics statistics;
    uint64_t text_bytes, lifted_bytes;
    bool has_metadata, has_lines;
};
void pm_report_summaries(FILE *out, const struct pm_summary *summaries, size_t n_summaries,
                         const struct pm_report_options *options);

/* What `pmodel loops --check` compares; both checks are of the same routines. */
struct pm_check_report {
    const struct pm_structure *structure; /* lifted with metadata */
    const char *copy;                     /* the file that `plain` was lifted from; NULL the same */
    const struct pm_check *with_metadata, *plain;
    const struct pm_strides_check *strides;
};
/* `pmodel loops --check`: which routines have the compiler's control flow, and where and why the
   others part from it; which strides found in the code are not the compiler's. */
void pm_report_check(FILE *out, const struct pm_check_report *report,
                     const struct pm_report_options *options);

/* `pmodel loops --mix`: operations by class, width and element, of each basic block, loop, routine
   or module, or of the program; counted in the code, not in its execution. */
bool pm_mix_level_from_name(const char *name, enum pm_mix_level *level);
const char *pm_mix_level_word(enum pm_mix_level level); /* "routine" */
void pm_report_mix(FILE *out, const struct pm_structure *structure, enum pm_mix_level level,
                   const char *routine, const struct pm_report_options *options);

/* `pmodel loops --schedule`: what holds loops back when nothing misses. */
struct pm_schedules_report {
    const struct pm_structure *structure;
    const struct pm_machine *machine;
    const struct pm_loop_schedules *schedules;
    const struct pm_code_files *files; /* NULL: no code */
    const struct pm_dep_graph *graphs; /* per schedule, for JSON; NULL: not asked for */
    bool has_causes;                   /* causes, gains and modulo schedules were asked for */
};
/* All of them, a line each. */
void pm_report_schedules(FILE *out, const struct pm_schedules_report *report,
                         const struct pm_report_options *options);
/* One: its instructions by units, bounds, causes, gains.  DETAIL is of schedules->items[0]. */
void pm_report_schedule(FILE *out, const struct pm_schedules_report *report,
                        const struct pm_path_detail *detail,
                        const struct pm_report_options *options);

/* The first of these alone. */
void pm_report_instructions(FILE *out, const struct pm_schedules_report *report,
                            const struct pm_path_detail *detail,
                            const struct pm_report_options *options);

/* `pmodel loops --time`: innermost loops with the cycles of an iteration, measured alone, or why
   they were not. */
void pm_report_loop_times(FILE *out, const struct pm_structure *structure,
                          const struct pm_loop_set *set, const struct pm_report_options *options);

/* A basic block, unrolled or in a loop. */
struct pm_block_row {
    const uint8_t *bytes;
    size_t n_bytes;
    unsigned line; /* of the file that it was given in */
    bool is_in_loop;
    bool was_run;              /* or else nothing is known of these: */
    uint8_t why;               /* enum pm_loop_refusal */
    bool is_disturbed;         /* the figure did not repeat */
    struct pm_estimate cycles; /* of one execution of the block */
    uint32_t n_instructions;
    uint32_t pages;   /* of data */
    double predicted; /* cycles; NAN: not known */
    uint8_t hold;     /* enum pm_cause, where they are */
};

/* `pmodel loops --blocks`: basic blocks, measured and predicted for MACHINE (NULL: not). */
void pm_report_blocks(FILE *out, const struct pm_block_row *rows, size_t n,
                      const struct pm_machine *machine, const struct pm_report_options *options);

/* `pmodel fit`: what was fitted and how good it is; with WITH_MODELS the formula of every loop's
   iterations and every flagged model. */
void pm_report_models(FILE *out, const struct pm_structure *structure,
                      const struct pm_model_set *models, const struct pm_fit_statistics *statistics,
                      bool with_models, const struct pm_report_options *options);

/* `pmodel fit --flagged`: models of poor quality, why they are, and what to do; by the share of the
   instructions or accesses that they are about.  PROFILES: of the runs of MODELS, in that order. */
void pm_report_flagged(FILE *out, const struct pm_structure *structure,
                       const struct pm_model_set *models, const struct pm_profile *const *profiles,
                       const struct pm_report_options *options);

/* PROFILES: of the runs that MODELS were made from, in that order.  OPTIONS: as MODELS were made.
   Errors: a class, a routine or a parameter that there is not. */
bool pm_report_counts(FILE *out, const struct pm_structure *structure,
                      const struct pm_model_set *models, const struct pm_profile *const *profiles,
                      const struct pm_fit_options *fit_options,
                      const struct pm_counts_request *request,
                      const struct pm_report_options *options, struct pm_error *err);

/* `pmodel validate`: for each size, predicted against measured: executions of basic blocks,
   iterations, accesses, misses and times, for the program and for each row of `pmodel report`.
   MODELS are those that the predictions were made from.  `min_percent` of the options is the share
   of the program's figure from which on a loop counts in medians and worst cases. */
void pm_report_validations(FILE *out, const struct pm_structure *structure,
                           const struct pm_model_set *models,
                           const struct pm_validation_caches *caches,
                           const struct pm_validation *sizes, size_t n_sizes,
                           const struct pm_report_options *options);

/* `pmodel validate --time`: for each size and machine predicted beside measured seconds, of the
   program and of loop nests. */
struct pm_timed_report {
    const struct pm_structure *structure;
    const struct pm_model_set *models;
    const struct pm_timed_size *sizes; /* one for each size and machine */
    size_t n_sizes;
};
void pm_report_validated_times(FILE *out, const struct pm_timed_report *report,
                               const struct pm_report_options *options);

/* `pmodel validate --hierarchy`: the errors of the model of the whole, of the sum of its routines'
   models, and of the sum of the models of edges and groups; and the routines that they come from.
 */
bool pm_report_hierarchy(FILE *out, const struct pm_hierarchy_request *request,
                         const struct pm_report_options *options, struct pm_error *err);

/* ---- `pmodel plan` (report_plan.c) --------------------------------------------------------------
 */

struct pm_plan_report {
    const struct pm_plan *plan;
    const struct pm_plan_trial *trials; /* what was run for the estimates */
    size_t n_trials;
    const struct pm_parameters *to; /* the size to be predicted; NULL: none was named */
    const char *command;            /* that makes the runs */
};

void pm_report_plan(FILE *out, const struct pm_plan_report *report,
                    const struct pm_report_options *options);

#endif
