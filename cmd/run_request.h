/* What `pmodel run` was asked to do; the options that `pmodel validate` has as well. */
#ifndef PM_RUN_REQUEST_H
#define PM_RUN_REQUEST_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/event_choice.h"
#include "cmd/run_design.h"
#include "core/structure/structure.h"

struct pm_run_input {
    /* template (absolute), file to make of it */
    char *from, *to;
};

struct pm_run_request {
    struct pm_run_design design;
    const char *command;    /* name of the subcommand, for messages */
    const char *store_path; /* NULL: a temporary one */
    const char *exe, *scratch;
    const char *build; /* makes the program for a size, in a shell; NULL: it is one for all */
    const struct pm_structure *matched_to; /* with build: whose numbers runs get; NULL: the store's,
                                              or those of the first build; borrowed */
    const char *classes_file; /* NULL: those of the installation and $PMODEL_MACHINES only */
    const char *include_file, *exclude_file; /* of routines (routine_lists.h); NULL none */
    const char *weights_store;               /* decides where counters stand; NULL: estimates do */
    struct pm_event_choice events;           /* which loops and routines are events */
    char *handler; /* absolute path of an event handler, which gets what is measured; NULL none */
    PM_ARRAY(const char *, environment);
    PM_ARRAY(const char *, libraries); /* --lib: names, patterns, paths */
    bool all_libraries;
    bool carry; /* what carries each reuse */
    bool bytes; /* which bytes each group is the first to touch */
    PM_ARRAY(struct pm_run_input, inputs);
    uint64_t *block_sizes;
    size_t n_block_sizes;
    char
        *bin_width; /* of histograms, relative; a number from 0 to 1 as text; NULL: the usual one */
    unsigned sample;     /* one of so many blocks is watched; 0, 1: all */
    unsigned max_blocks; /* so many are kept at once; 0: all */
    unsigned timeout;
    double time_cost_percent; /* what timers may cost, of the plain program's CPU time */
    unsigned time_runs;       /* how often each size is run with timers; 0: not at all */
    bool no_memory, again, dry_run, quiet;
    bool shared;           /* the interleaved stream of all threads, too */
    bool second_core;      /* the analysis beside the program */
    bool output_to_errors; /* the program's standard output goes to standard error */
    char **argv;           /* the command, NULL at the end */
};

/* Reads the command line of `pmodel run`; 0, or the exit status after complaining. */
int pm_read_run_request(struct pm_run_request *request, int argc, char **argv);

/* ---- for commands that measure and have further options ------------------------------------- */

enum pm_run_option {
    PM_RUN_WHERE = 256,
    PM_RUN_DESIGN,
    PM_RUN_BUILD,
    PM_RUN_BLOCK,
    PM_RUN_BIN_WIDTH,
    PM_RUN_SAMPLE,
    PM_RUN_MAX_BLOCKS,
    PM_RUN_EXE,
    PM_RUN_ENV,
    PM_RUN_INPUT,
    PM_RUN_SCRATCH,
    PM_RUN_CLASSES,
    PM_RUN_LIB,
    PM_RUN_ALL_LIBS,
    PM_RUN_INCLUDE,
    PM_RUN_EXCLUDE,
    PM_RUN_WEIGHTS,
    PM_RUN_START_AT,
    PM_RUN_STOP_AFTER,
    PM_RUN_TIMEOUT,
    PM_RUN_NO_MEMORY,
    PM_RUN_CARRY,
    PM_RUN_BYTES,
    PM_RUN_AGAIN,
    PM_RUN_SECOND_CORE,
    PM_RUN_SHARED,
    PM_RUN_OPTIONS_END /* a command's own options begin here */
};

/* clang-format off */
#define PM_RUN_SHORT_OPTIONS "P:q"
#define PM_RUN_LONG_OPTIONS                                                                        \
    {"where", required_argument, NULL, PM_RUN_WHERE},                                              \
    {"design", required_argument, NULL, PM_RUN_DESIGN},                                            \
    {"build", required_argument, NULL, PM_RUN_BUILD},                                              \
    {"block", required_argument, NULL, PM_RUN_BLOCK},                                              \
    {"bin-width", required_argument, NULL, PM_RUN_BIN_WIDTH},                                      \
    {"sample", required_argument, NULL, PM_RUN_SAMPLE},                                            \
    {"max-blocks", required_argument, NULL, PM_RUN_MAX_BLOCKS},                                    \
    {"exe", required_argument, NULL, PM_RUN_EXE},                                                  \
    {"env", required_argument, NULL, PM_RUN_ENV},                                                  \
    {"input", required_argument, NULL, PM_RUN_INPUT},                                              \
    {"scratch", required_argument, NULL, PM_RUN_SCRATCH},                                          \
    {"classes", required_argument, NULL, PM_RUN_CLASSES},                                          \
    {"include", required_argument, NULL, PM_RUN_INCLUDE},                                          \
    {"exclude", required_argument, NULL, PM_RUN_EXCLUDE},                                          \
    {"weights", required_argument, NULL, PM_RUN_WEIGHTS},                                          \
    {"lib", required_argument, NULL, PM_RUN_LIB},                                                  \
    {"all-libs", no_argument, NULL, PM_RUN_ALL_LIBS},                                              \
    {"start-at", required_argument, NULL, PM_RUN_START_AT},                                        \
    {"stop-after", required_argument, NULL, PM_RUN_STOP_AFTER},                                    \
    {"timeout", required_argument, NULL, PM_RUN_TIMEOUT},                                          \
    {"carry", no_argument, NULL, PM_RUN_CARRY},                                                    \
    {"bytes", no_argument, NULL, PM_RUN_BYTES},                                                    \
    {"no-memory", no_argument, NULL, PM_RUN_NO_MEMORY},                                            \
    {"second-core", no_argument, NULL, PM_RUN_SECOND_CORE},                                        \
    {"shared", no_argument, NULL, PM_RUN_SHARED},                                                  \
    {"again", no_argument, NULL, PM_RUN_AGAIN}
/* clang-format on */

/* Reads option C with getopt's `optarg`; `command` must be set.  0, the exit status after
   complaining, or -1: not one of these. */
int pm_read_run_option(struct pm_run_request *request, int c, struct pm_error *err);
/* What stands behind the options; 0, or the exit status after complaining. */
int pm_read_run_command(struct pm_run_request *request, char **argv);

void pm_run_request_free(struct pm_run_request *request); /* what it owns */

#endif
