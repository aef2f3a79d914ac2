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

/* --simulate and --stride-window are about profiles. */
static int check_profile(struct run *run) {
    struct pm_measure_request *request = &run->measuring.request;
    struct pm_profiling_request *profiling = &request->profiling;
    struct pm_error err = {0};
    if (!profiling->wanted)
        return run->simulated.n_machines || profiling->window
                   ? pm_usage_error("run", "--simulate and --stride-window need --profile")
                   : 0;
    if (request->build || request->handler || request->copies.no_memory || request->shared ||
        request->copies.events.n_routines)
        return pm_usage_error("run",
                              "--profile profiles whole runs of one build, thread by thread: "
                              "it excludes --build, --handler, --no-memory, --shared, "
                              "--start-at and --stop-after");
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

/* What an event handler gets is not stored. */
static int check_handler(struct run *run) {
    struct pm_measure_request *request = &run->measuring.request;
    struct pm_event_choice *events = &request->copies.events;
    if (!request->handler && run->has_events)
        return pm_usage_error("run", "--events needs --handler FILE");
    if (!request->handler)
        return 0;
    if (request->store_path)
        return pm_usage_error("run", "--handler and -o exclude each other: what a handler gets is "
                                     "not put into a store");
    if (request->blocks.n || run->measuring.on.n_machines || request->bin_width ||
        request->sample > 1 || request->max_blocks || request->time_runs || request->second_core ||
        request->carry || request->bytes || request->write_backs || request->shared)
        return pm_usage_error("run", "--handler excludes --block, -m, --bin-width, --sample, "
                                     "--max-blocks, --carry, --bytes, --write-backs, "
                                     "--second-core, --shared and --time");
    if (!run->has_events)
        events->kinds = PM_EVENTS_ROUTINES | PM_EVENTS_LOOPS;
    return 0;
}

static int check_launcher(const struct run *run) {
    const struct pm_measure_request *request = &run->measuring.request;
    const struct pm_launcher_request *launcher = &request->launcher;
    if (!launcher->path && (launcher->options || launcher->detach))
        return pm_usage_error("run", "--submit-options and --detach need a --launcher other than "
                                     "local");
    if (launcher->wanted && (request->time_runs || request->profiling.wanted || request->build ||
                             request->handler || run->outside))
        return pm_usage_error("run",
                              "--launcher and -j are for runs that count: they exclude --time, "
                              "--profile, --build, --handler and --outside");
    return 0;
}

static int check_intervals(const struct pm_measure_request *request) {
    if (request->interval_memory && (!request->blocks.n || request->shared || request->sample > 1))
        return pm_usage_error("run",
                              "--interval-memory needs reuse distances of all blocks, thread "
                              "by thread: it excludes --no-memory, --shared and --sample");
    return 0;
}

static int check(struct run *run) {
    struct pm_measure_request *request = &run->measuring.request;
    if (request->time_runs && request->copies.events.n_routines)
        return pm_usage_error("run", "--time measures whole runs: it excludes --start-at and "
                                     "--stop-after");
    if (request->build && (request->time_runs || request->handler))
        return pm_usage_error("run", "--build excludes --time and --handler, which are for one "
                                     "build");
    if (request->build && (request->copies.events.n_intervals || request->interval_memory))
        return pm_usage_error("run", "--build excludes --interval: the calls that end intervals "
                                     "are of one build");
    if (request->copies.events.no_intervals && request->copies.events.n_intervals)
        return pm_usage_error("run", "--interval none excludes others");
    int status = check_profile(run);
    if (status == 0)
        status = check_launcher(run);
    if (status == 0)
        status = check_handler(run);
    if (status != 0 || request->handler)
        return status;
    if (!request->store_path && !run->dry_run)
        return pm_usage_error("run", "name the store with -o NAME.pmdb");
    if (!wants_only_profile(run))
        pm_measuring_usual_blocks(&run->measuring);
    return check_intervals(request);
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

/* 0, or the exit status after complaining. */
static int read_command_line(struct run *run, int argc, char **argv) {
    struct pm_measure_request *request = &run->measuring.request;
    struct pm_option shared[PM_N_MEASURING_OPTIONS];
    const struct pm_option own[] = {
        PM_OPTION_TEXT(NULL, 'o', &request->store_path),
        PM_OPTION_FLAG("dry-run", 0, &run->dry_run),
        PM_OPTION_FLAG("outside", 0, &run->outside),
        PM_OPTION_FLAG("keep-partial", 0, &request->keep_partial),
        PM_OPTION_VALUE("rank-tolerance", 0, pm_read_percent, &request->rank_tolerance_percent),
        PM_OPTION_VALUE("checkpoint", 0, pm_read_count, &request->checkpoint_seconds),
        PM_OPTION_ACTION("time", 0, read_time, request),
        PM_OPTION_VALUE("time-runs", 0, pm_read_count, &request->time_runs),
        PM_OPTION_VALUE("time-cost", 0, read_time_cost, request),
        PM_OPTION_FLAG("profile", 0, &request->profiling.wanted),
        {.name = "simulate",
         .add = pm_add_machine,
         .is_list = true,
         .to = &run->simulated,
         .finish = pm_read_machines},
        PM_OPTION_VALUE("stride-window", 0, pm_read_count, &request->profiling.window),
        PM_OPTION_ADD("launcher", 0, set_launcher, run),
        PM_OPTION_VALUE("jobs", 'j', read_at_a_time, &request->launcher),
        PM_OPTION_TEXT("submit-options", 0, &request->launcher.options),
        PM_OPTION_FLAG("detach", 0, &request->launcher.detach),
        PM_OPTION_ADD("handler", 0, set_handler, request),
        PM_OPTION_ADD("events", 0, set_events, run),
        PM_OPTION_FLAG("interval-memory", 0, &request->interval_memory),
        {0},
    };
    struct pm_command_line line = {
        .command = "run", .options = own, .shared = shared, .ends_at_argument = true};
    pm_measuring_options(&run->measuring, shared);
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

int pm_cmd_run(int argc, char **argv) {
    struct run run = {
        .measuring = {.command = "run", .request.time_cost_percent = pm_usual_time_cost_percent}};
    int status = read_command_line(&run, argc, argv);
    if (status == 0)
        status = measure(&run);
    pm_measuring_free(&run.measuring);
    pm_free_machines(&run.simulated);
    free(run.launcher_path);
    return status;
}
