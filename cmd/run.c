/* `pmodel run`: measure a program at one or more problem sizes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/measuring.h"
#include "measure/command/command.h"

struct run {
    struct pm_measuring measuring;
    bool dry_run;
    bool outside;                     /* a further run to see where time goes */
    bool has_events;                  /* --events was given */
    struct pm_machine_list simulated; /* --simulate */
    char *launcher_path;              /* the file of --launcher; owned */
};

/* ---- the command line ------------------------------------------------------------------------ */

/* What is not with runs side by side. */
#define ONE_AT_A_TIME "jobs launcher"

enum { USUAL_TIME_RUNS = 3 };

static int read_time(const struct pm_option_use *use) {
    struct pm_measure_request *request = use->to;
    request->time_runs = request->time_runs ? request->time_runs : USUAL_TIME_RUNS;
    return 0;
}

static int read_time_cost(const struct pm_option_use *use) {
    struct pm_measure_request *request = use->to;
    char *end;
    double percent = strtod(use->value, &end);
    read_time(use);
    if (end == use->value || *end || !(percent > 0 && percent <= 100))
        return pm_usage_error("run", "--time-cost takes a percentage up to 100, not \"%s\"",
                              use->value);
    request->time_cost_percent = percent;
    return 0;
}

static bool set_handler(void *to, char *value, struct pm_error *err) {
    struct pm_measure_request *request = to;
    free(request->handler);
    request->handler = realpath(value, NULL);
    request->copies.for_handler = true;
    return request->handler || pm_fail_errno(err, "--handler %s: cannot be read", value);
}

static bool set_events(void *to, char *value, struct pm_error *err) {
    struct run *run = to;
    run->has_events = true;
    return pm_set_events(&run->measuring.request.copies.events, value, err);
}

static int check_profile(struct run *run) {
    struct pm_profiling_request *profiling = &run->measuring.request.profiling;
    struct pm_error err = {0};
    if (!profiling->wanted)
        return 0;
    profiling->machines = run->simulated.machines;
    profiling->n_machines = run->simulated.n_machines;
    return pm_profiling_check(profiling, &err) ? 0 : pm_complain(&err);
}

/* Then a run measures nothing but the profile. */
static bool wants_only_profile(const struct run *run) {
    const struct pm_measure_request *request = &run->measuring.request;
    return request->profiling.wanted && !request->blocks.n && !run->measuring.on.n_machines &&
           !request->bin_width && request->sample <= 1 && !request->max_blocks && !request->carry &&
           !request->bytes && !request->write_backs;
}

static int check_launcher(const struct run *run) {
    const struct pm_launcher_request *launcher = &run->measuring.request.launcher;
    if (!launcher->path && (launcher->options || launcher->detach))
        return pm_usage_error("run", "--submit-options and --detach need a --launcher other than "
                                     "local");
    return 0;
}

static int check(struct run *run) {
    struct pm_measure_request *request = &run->measuring.request;
    struct pm_event_choice *events = &request->copies.events;
    if (request->build && events->n_intervals)
        return pm_usage_error("run", "--build excludes --interval: the calls that end intervals "
                                     "are of one build");
    if (events->no_intervals && events->n_intervals)
        return pm_usage_error("run", "--interval none excludes others");
    int status = check_profile(run);
    if (status == 0)
        status = check_launcher(run);
    if (request->handler && !run->has_events)
        events->kinds = PM_EVENTS_ROUTINES | PM_EVENTS_LOOPS;
    if (status != 0 || request->handler)
        return status;
    if (!request->store_path && !run->dry_run)
        return pm_usage_error("run", "name the store with -o NAME.pmdb");
    if (!wants_only_profile(run))
        pm_measuring_usual(&run->measuring);
    if (request->interval_memory && !request->blocks.n)
        return pm_usage_error("run", "--interval-memory needs reuse distances, which --profile "
                                     "alone has not");
    return 0;
}

/* "local", the name of a file of this installation, or a file. */
static bool set_launcher(void *to, char *value, struct pm_error *err) {
    struct run *run = to;
    struct pm_launcher_request *launcher = &run->measuring.request.launcher;
    launcher->wanted = true;
    free(run->launcher_path);
    run->launcher_path = NULL;
    if (strcmp(value, "local") != 0) {
        bool is_path = strchr(value, '/') || strstr(value, ".conf");
        run->launcher_path = is_path ? realpath(value, NULL) : pm_launcher_path(value, err);
        if (is_path && !run->launcher_path)
            pm_fail_errno(err, "--launcher %s: cannot be read", value);
        if (!run->launcher_path)
            return false;
    }
    launcher->path = run->launcher_path;
    return true;
}

static int read_at_a_time(const struct pm_option_use *use) {
    struct pm_launcher_request *launcher = use->to;
    struct pm_option_use count = *use;
    launcher->wanted = true;
    count.to = &launcher->at_a_time;
    return pm_read_count(&count);
}

#define AT(field) offsetof(struct run, field)
#define REQUEST(field) offsetof(struct run, measuring.request.field)
static const struct pm_option options[] = {
    PM_OPTIONS_OF("run", pm_measuring_options, AT(measuring)),
    PM_OPTION_OUTPUT("STORE", REQUEST(store_path), "the store, NAME.pmdb"),
    PM_FLAG("dry-run", 0, AT(dry_run), "prints the sizes and commands and does nothing"),
    PM_HEADING("what else is measured"),
    PM_ACTION("time", 0, read_time, AT(measuring.request), "also seconds of loops and routines",
              .excludes = ONE_AT_A_TIME " start-at stop-after build handler",
              .because = "times are of whole runs of one build, one at a time"),
    PM_READ("time-runs", 0, "N", pm_read_count, REQUEST(time_runs), "as --time, with N runs (3)",
            .excludes = ONE_AT_A_TIME " start-at stop-after build handler"),
    PM_READ("time-cost", 0, "PERCENT", read_time_cost, AT(measuring.request),
            "as --time, with timers that cost at most this (0.75)",
            .excludes = ONE_AT_A_TIME " start-at stop-after build handler"),
    PM_FLAG("outside", 0, AT(outside), "in which libraries time goes that are not measured",
            .excludes = ONE_AT_A_TIME),
    PM_FLAG("profile", 0, REQUEST(profiling.wanted), "also strides and operations by basic block",
            .excludes = ONE_AT_A_TIME " build handler no-memory shared start-at stop-after",
            .because = "profiles are of whole runs of one build, by thread, one at a time"),
    {.kind = PM_OPTION_IS_LIST,
     .name = "simulate",
     .value = "MACHINE[,MACHINE]...",
     .add = pm_add_machine,
     .finish = pm_read_machines,
     .at = AT(simulated),
     .repeats = true,
     .help = "and hits in the caches of these machines",
     .needs = "profile"},
    PM_READ("stride-window", 0, "N", pm_read_count, REQUEST(profiling.window),
            "strides are looked for in the last N addresses (8)", .needs = "profile"),
    PM_FLAG("interval-memory", 0, REQUEST(interval_memory), "reuse distances by interval, too",
            .excludes = "no-memory shared sample build",
            .because = "those by interval are of all blocks, by thread, in one build"),
    PM_ADDED("handler", 0, "FILE", set_handler, AT(measuring.request),
             "gives events to a handler of yours",
             .excludes = ONE_AT_A_TIME " output block machine bin-width sample max-blocks carry "
                                       "bytes write-backs second-core shared build",
             .because = "what a handler gets is not put into a store"),
    PM_ADDED("events", 0, "routines|loops|all|none", set_events, 0, "which it gets",
             .needs = "handler"),
    PM_HEADING("many runs"),
    PM_READ("jobs", 'j', "K", read_at_a_time, REQUEST(launcher), "K sizes at a time",
            .excludes = "build"),
    PM_ADDED("launcher", 0, "local|NAME|FILE", set_launcher, 0, "through a queue",
             .excludes = "build"),
    PM_TEXT("submit-options", 0, "TEXT", REQUEST(launcher.options),
            "options for the command that submits jobs", .needs = "launcher"),
    PM_FLAG("detach", 0, REQUEST(launcher.detach), "submits, and goes on when called again",
            .needs = "launcher"),
    PM_READ("checkpoint", 0, "SECONDS", pm_read_count, REQUEST(checkpoint_seconds),
            "writes what is measured so far every SECONDS"),
    PM_FLAG("keep-partial", 0, REQUEST(keep_partial), "keeps a run that was ended"),
    PM_READ("rank-tolerance", 0, "PERCENT", pm_read_percent, REQUEST(rank_tolerance_percent),
            "how far ranks of a group may differ (5)"),
    {0},
};

/* 0, or the exit status after complaining. */
static int read_command_line(struct run *run, const struct pm_command *self, int argc,
                             char **argv) {
    struct pm_measure_request *request = &run->measuring.request;
    struct pm_command_line line = {.command = self, .request = run};
    int status = pm_read_options(&line, argc, argv);
    request->sample_files = run->outside || request->time_runs;
    if (status == 0)
        status = pm_measuring_check(&run->measuring, line.arguments);
    return status ? status : check(run);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* --dry-run: what would be run. */
static int print_commands(const struct pm_measure_request *request,
                          const struct pm_parameters *sizes, size_t n_sizes) {
    for (size_t i = 0; i < n_sizes; i++) {
        struct pm_error err = {0};
        char **argv =
            pm_substitute_all(request->argv, pm_count_strings(request->argv), &sizes[i], &err);
        if (!argv)
            return pm_complain(&err);
        char *size = pm_parameters_text(&sizes[i]), *command = pm_command_text(argv);
        char *build = request->build ? pm_substitute(request->build, &sizes[i], &err) : NULL;
        bool ok = build || !request->build;
        if (ok)
            printf("%s%s%s%s%s\n", size, *size ? ": " : "", build ? build : "", build ? " && " : "",
                   command);
        free(build);
        free(command);
        free(size);
        pm_free_strings(argv);
        if (!ok)
            return pm_complain(&err);
    }
    return PM_EXIT_OK;
}

static int measure(struct run *run) {
    struct pm_error err = {0};
    struct pm_parameters *sizes = NULL;
    size_t n_sizes = 0;
    if (!pm_measuring_expand(&run->measuring, &sizes, &n_sizes, &err))
        return pm_complain(&err);
    int status;
    if (run->dry_run) {
        status = print_commands(&run->measuring.request, sizes, n_sizes);
    } else {
        pm_measuring_say_blocks(&run->measuring);
        struct pm_measure_session *session = pm_measuring_begin(&run->measuring, &sizes[0], &err);
        status = session ? pm_measuring_sizes(session, sizes, n_sizes) : pm_complain(&err);
        pm_measure_session_free(session);
    }
    free(sizes);
    return status;
}

static int run_programs(const struct pm_command *self, int argc, char **argv) {
    struct run run = {.measuring = {.request.time_cost_percent = pm_usual_time_cost_percent}};
    pm_measuring_init(&run.measuring, self->name);
    int status = read_command_line(&run, self, argc, argv);
    if (status == 0)
        status = measure(&run);
    pm_measuring_free(&run.measuring);
    pm_free_machines(&run.simulated);
    free(run.launcher_path);
    return status;
}

static const struct pm_command *const views[] = {&pm_command_run_instrument, NULL};
const struct pm_command pm_command_run = {
    .name = "run",
    .purpose = "measure a program at one or more problem sizes",
    .usage = "-o STORE [-P NAME=VALUES]... [OPTION]... -- COMMAND [ARGUMENT]...\n"
             "--handler FILE [OPTION]... -- COMMAND [ARGUMENT]...",
    .examples = "pmodel run -o heat.pmdb -P N=24,32,40,48,56,64 -- ./heat {N}    # {N}: the size",
    .options = options,
    .runs_program = true,
    .run = run_programs,
    .views = views,
};
