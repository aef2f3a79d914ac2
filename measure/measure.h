/* The measuring stage: a program's command and problem sizes → runs in a store.

   What happens for one size, and where (session.c is the list): the store does not have it → the
   program is built for it, where it has arrays of fixed extents (command/) → the program and its
   libraries are lifted and instrumented (copies/) → the command runs with the copies in place of
   the originals (launch/) → each process leaves a raw file (raw/) → all edge counts follow from the
   counters, and histograms are added up (ingest/) → the same with timers (timing/) → the store.

   Strings and arrays of a request that are `const` are borrowed; the others are owned by it. */
#ifndef PM_MEASURE_H
#define PM_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/bounds/bounds.h"
#include "core/parameters.h"
#include "core/store/store.h"
#include "core/structure/structure.h"
#include "measure/block_sizes.h"
#include "measure/copies/copies.h"
#include "measure/launchers/launchers.h"
#include "measure/profiling.h"
#include "measure/progress.h"
#include "measure/size_design.h"

/* A file that is made for each size: `{NAME}` in the template is replaced by a value. */
struct pm_measure_input {
    char *from, *to; /* template (absolute), file to make of it */
};

struct pm_measure_request {
    struct pm_copies_request copies;
    char **argv;            /* the command, NULL at the end; borrowed */
    const char *store_path; /* NULL: a temporary one */
    const char *exe; /* the program, where the command is a script; NULL: what the command names */
    const char *scratch; /* a folder for each size is made in it; NULL: runs are where we are */
    const char *build;   /* makes the program for a size, in a shell; NULL: it is one for all */
    const struct pm_structure *matched_to; /* with build: whose numbers runs get; NULL: the store's,
                                              or those of the first build; borrowed */
    char *handler; /* absolute path of an event handler, which gets what is measured; NULL none */
    PM_ARRAY(char *, environment); /* NAME=TEXT; the texts are borrowed */
    PM_ARRAY(struct pm_measure_input, inputs);
    PM_ARRAY(char *, unused);          /* parameters that may reach no run; owned */
    struct pm_given_formulas formulas; /* parameters that were given so */
    struct pm_block_sizes blocks;      /* of reuse distances; none: edge counts only */
    struct pm_block_sizes apart; /* block sizes whose distances below 16 stay apart; those of the
                                    smallest block size always do */
    char
        *bin_width; /* of histograms, relative; a number from 0 to 1 as text; NULL: the usual one */
    unsigned sample;          /* one of so many blocks is watched; 0, 1: all */
    unsigned max_blocks;      /* so many are kept at once; 0: all */
    unsigned timeout_seconds; /* 0: none */
    unsigned
        checkpoint_seconds; /* how often a process writes what it measured until then; 0: never */
    double rank_tolerance_percent; /* of groups of ranks (core/ranks/ranks.h) */
    bool keep_partial;             /* also a run that did not come to its end */
    double time_cost_percent;      /* what timers may cost, of the plain program's CPU time */
    unsigned time_runs;            /* how often each size is run with timers; 0: not at all */
    bool time_again;               /* also a size whose times the store has */
    struct pm_times_listener times_listener;
    struct pm_core_gauge gauge;         /* of the CPU that timed runs are on */
    bool bound;                         /* lower bounds of loop nests; needs time_runs */
    double bound_share;                 /* of the time that a nest must take for that */
    struct pm_nest_choice bound_choice; /* instead of that share, if it is one */
    double bound_cycle_seconds;         /* of this processor; 0: unknown */
    unsigned bound_every; /* of so many executions one has its copy; 0: as many as cost little */
    struct pm_profiling_request profiling; /* of basic blocks */
    bool no_communication;                 /* of MPI programs */
    bool carry;                            /* what carries each reuse */
    bool bytes;                            /* which bytes each group is the first to touch */
    bool write_backs;                      /* stores by dirty distance */
    bool interval_memory;                  /* histograms of each interval, not counts only */
    bool shared;                           /* the interleaved stream of all threads, too */
    bool second_core;                      /* the analysis beside the program */
    struct pm_launcher_request launcher;   /* several sizes at once, here or in a queue */
    bool sample_files;     /* where libraries are not measured, a run more tells where time goes */
    bool again;            /* also what the store has */
    bool output_to_errors; /* the program's standard output goes to standard error */
};
void pm_measure_request_free(struct pm_measure_request *request); /* what it owns */

struct pm_measure_session;

/* Finds and instruments the program that REQUEST's command names at size FIRST; opens the store if
   it exists, so that a wrong one is noticed before anything runs.  REQUEST must outlive the
   session.  PROGRESS, which is copied, hears of what happens from now on.  NULL with a sentence: no
   such program, a script without --exe, a program that cannot be instrumented, a store of another
   program.  A request without a store keeps its runs in a temporary one. */
struct pm_measure_session *pm_measure_session_new(const struct pm_measure_request *request,
                                                  const struct pm_parameters *first,
                                                  const struct pm_progress *progress,
                                                  struct pm_error *err);

/* Dies of the signal that ended the measuring (SIGINT, SIGTERM, SIGHUP), if one did.  To be called
   last, when the session is closed. */
void pm_die_of_interruption(void);

/* Closes the store and removes all temporary files; NULL is allowed. */
void pm_measure_session_free(struct pm_measure_session *session);

/* Of the program and the libraries that are measured; owned by the session. */
const struct pm_structure *pm_measure_session_structure(const struct pm_measure_session *session);

/* Where the runs are; NULL before the first one.  Owned by the session. */
struct pm_store *pm_measure_session_store(struct pm_measure_session *session);

/* What the last run of the session took; NAN before. */
void pm_measure_session_last_cost(const struct pm_measure_session *session, double *wall_seconds,
                                  double *peak_bytes);

/* False with a sentence if a parameter that varies over SIZES is in no text that a run is made of:
   arguments, environment, input files, --build, or the formula of one that is, and is not listed as
   unused. */
bool pm_measure_check_used(const struct pm_measure_request *request,
                           const struct pm_parameters *sizes, size_t n_sizes, struct pm_error *err);

struct pm_measure_result {
    size_t n_measured, n_there, n_failed; /* there: the store had them already */
    size_t n_waiting;                     /* jobs that were left to themselves (detach) */
    struct pm_error last_failure;         /* kind PM_ERROR_NONE: none failed */
};

/* Measures the sizes that the store does not have.  A size that fails is reported to the progress
   at once and left out; the others are measured and kept.  False with a sentence if that cannot go
   on, because the store cannot be read. */
bool pm_measure_sizes(struct pm_measure_session *session, const struct pm_parameters *sizes,
                      size_t n_sizes, struct pm_measure_result *result, struct pm_error *err);

#endif
