/* What `pmodel run`, `plan` and `validate` have in common: options, progress on standard error, the
   measuring itself as an exit status. */
#ifndef PM_MEASURING_H
#define PM_MEASURING_H

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "measure/measure.h"

enum { PM_CPU_ANY, PM_CPU_AUTO, PM_CPU_FIRST }; /* PM_CPU_FIRST + n: CPU n */

struct pm_measuring {
    const char *command; /* name of the subcommand, for messages */
    struct pm_measure_request request;
    struct pm_size_design design;
    struct pm_machine_list on; /* whose block sizes are measured */
    bool has_blocks;           /* --block was given */
    bool no_behaviour;
    int timed_on; /* --quiet-core: a CPU, PM_CPU_AUTO or PM_CPU_ANY */
    bool quiet;
    struct pm_steps steps; /* shown on a terminal */
};
/* What timers may cost where nobody says it, of the program's CPU time. */
extern const double pm_usual_time_cost_percent;
void pm_measuring_free(struct pm_measuring *measuring); /* what it owns */

/* ---- the command line ------------------------------------------------------------------------ */

/* The options that all of them have; of struct pm_measuring. */
extern const struct pm_option pm_measuring_options[];
/* What is so where no option says otherwise. */
void pm_measuring_init(struct pm_measuring *measuring, const char *command);
/* Checks them together, after they were read, and takes the command ARGV.  0, or the exit status
   after complaining. */
int pm_measuring_check(struct pm_measuring *measuring, char **argv);
/* Adds what is measured where no option says otherwise, unless no memory accesses are
   (--no-memory): block sizes, and those of the machines of -m; the program's behaviour, in one
   build. */
void pm_measuring_usual(struct pm_measuring *measuring);
/* The block sizes of the machines alone. */
void pm_measuring_machine_blocks(struct pm_measuring *measuring);
/* Says which block sizes are measured, where --block did not. */
void pm_measuring_say_blocks(struct pm_measuring *measuring);

bool pm_set_calls(void *to, char *value, struct pm_error *err); /* --calls; TO: enum pm_calls */

/* Options that further commands have, for PM_ADDED; TO: struct pm_event_choice. */
bool pm_set_events(void *to, char *value, struct pm_error *err); /* --events: its kinds */
bool pm_add_start_at(void *to, char *value, struct pm_error *err);
bool pm_add_stop_after(void *to, char *value, struct pm_error *err);
bool pm_add_interval(void *to, char *value, struct pm_error *err);
/* -P NAME=VALUES; TO: struct pm_size_design. */
bool pm_add_size_list(void *to, char *value, struct pm_error *err);

/* What says what of a program is counted; AT: struct pm_copies_request. */
#define PM_OPTIONS_INSTRUMENTING(at_)                                                              \
    PM_TEXT("include", 0, "FILE", at_ + offsetof(struct pm_copies_request, include_file),          \
            "only the routines that FILE names"),                                                  \
        PM_TEXT("exclude", 0, "FILE", at_ + offsetof(struct pm_copies_request, exclude_file),      \
                "all routines but those that FILE names"),                                         \
        PM_ADDED("start-at", 0, "NAMES", pm_add_start_at,                                          \
                 at_ + offsetof(struct pm_copies_request, events),                                 \
                 "measures from calls of these routines on", .repeats = true),                     \
        PM_ADDED("stop-after", 0, "NAMES", pm_add_stop_after,                                      \
                 at_ + offsetof(struct pm_copies_request, events),                                 \
                 "measures until these routines return", .repeats = true),                         \
        PM_ADDED("interval", 0, "NAMES|FILE|mpi|none", pm_add_interval,                            \
                 at_ + offsetof(struct pm_copies_request, events),                                 \
                 "calls of these routines end an interval", .repeats = true),                      \
        PM_TEXT("classes", 0, "FILE", at_ + offsetof(struct pm_copies_request, classes_file),      \
                "instruction classes of your own"),                                                \
        PM_TEXT("weights", 0, "STORE", at_ + offsetof(struct pm_copies_request, weights_store),    \
                "places counters on edges that STORE says are rare"),                              \
        PM_ADDED("calls", 0, "moved|kept", pm_set_calls,                                           \
                 at_ + offsetof(struct pm_copies_request, calls), "from where calls are made")

/* ---- measuring ------------------------------------------------------------------------------- */

/* pm_size_design_expand and pm_measure_check_used: the sizes of -P, --design and --where. */
bool pm_measuring_expand(struct pm_measuring *measuring, struct pm_parameters **sizes,
                         size_t *n_sizes, struct pm_error *err);

/* pm_measure_session_new.  Unless intervals were named, or none are wanted, calls of MPI end some,
   where the program makes them.  MEASURING must outlive the session. */
struct pm_measure_session *pm_measuring_begin(struct pm_measuring *measuring,
                                              const struct pm_parameters *first,
                                              struct pm_error *err);
/* pm_measure_sizes; the exit status, after complaining. */
int pm_measuring_sizes(struct pm_measure_session *session, const struct pm_parameters *sizes,
                       size_t n_sizes);

#endif
