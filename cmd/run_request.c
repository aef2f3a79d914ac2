/* The command line of `pmodel run`; see run_request.h. */
#define _GNU_SOURCE
#include "cmd/run_request.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "core/base/base.h"
#include "core/probe_abi.h"

static const double usual_bin_width = 0.01; /* the runtime's own */

static bool read_bin_width(struct pm_run_request *request, const char *text, struct pm_error *err) {
    char *end;
    double width = strtod(text, &end) + 0.0; /* −0 becomes 0 */
    if (end == text || *end || !(width >= 0 && width <= 1))
        return pm_fail(err,
                       "--bin-width takes a share of the distance from 0 (bins are not merged) to "
                       "1, not \"%s\"",
                       text);
    char value[64];
    pm_format_value(width, value, sizeof value);
    free(request->bin_width);
    request->bin_width = width == usual_bin_width ? NULL : pm_strdup(value);
    return true;
}

/* "1/64": one of 64 blocks. */
static bool read_sample(struct pm_run_request *request, const char *text, struct pm_error *err) {
    char *end = NULL;
    unsigned long sample = 0;
    errno = 0;
    if (strncmp(text, "1/", 2) == 0 && text[2] >= '0' && text[2] <= '9')
        sample = strtoul(text + 2, &end, 10);
    if (errno || !end || *end || sample == 0 || sample > PM_MAX_SAMPLE)
        return pm_fail(err, "--sample takes a share of the blocks from 1/1 to 1/%u, not \"%s\"",
                       (unsigned)PM_MAX_SAMPLE, text);
    request->sample = (unsigned)sample;
    return true;
}

static bool add_input(struct pm_run_request *request, const char *text, struct pm_error *err) {
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || colon[1] == '\0')
        return pm_fail(err, "--input %s: write TEMPLATE:FILE", text);
    struct pm_run_input *input = PM_PUSH(request, inputs);
    char *from = strndup(text, (size_t)(colon - text));
    input->from = from ? realpath(from, NULL) : NULL;
    input->to = pm_strdup(colon + 1);
    bool ok = input->from || pm_fail(err, "--input %s: cannot read %s", text, from);
    free(from);
    return ok;
}

/* ---- options --------------------------------------------------------------------------------- */

int pm_read_run_option(struct pm_run_request *request, int c, struct pm_error *err) {
    switch (c) {
    case 'P':
        *PM_PUSH(&request->design, specs) = pm_strdup(optarg);
        return 0;
    case 'q':
        request->quiet = true;
        return 0;
    case PM_RUN_WHERE:
        free(request->design.where);
        request->design.where = pm_strdup(optarg);
        return 0;
    case PM_RUN_DESIGN:
        free(request->design.file);
        request->design.file = pm_strdup(optarg);
        return 0;
    case PM_RUN_BUILD:
        if (!*optarg)
            return pm_usage_error(request->command, "--build takes a command, not nothing");
        request->build = optarg;
        return 0;
    case PM_RUN_BLOCK:
        return pm_option_block_sizes(optarg, &request->block_sizes, &request->n_block_sizes, err)
                   ? 0
                   : pm_complain(err);
    case PM_RUN_BIN_WIDTH:
        return read_bin_width(request, optarg, err) ? 0 : pm_complain(err);
    case PM_RUN_SAMPLE:
        return read_sample(request, optarg, err) ? 0 : pm_complain(err);
    case PM_RUN_MAX_BLOCKS:
        return pm_option_number(request->command, "--max-blocks", optarg, 1, &request->max_blocks)
                   ? 0
                   : PM_EXIT_INPUT;
    case PM_RUN_EXE:
        request->exe = optarg;
        return 0;
    case PM_RUN_ENV:
        if (!strchr(optarg, '=') || *optarg == '=')
            return pm_usage_error(request->command, "--env takes NAME=TEXT, not \"%s\"", optarg);
        *PM_PUSH(request, environment) = optarg;
        return 0;
    case PM_RUN_INPUT:
        return add_input(request, optarg, err) ? 0 : pm_complain(err);
    case PM_RUN_CLASSES:
        request->classes_file = optarg;
        return 0;
    case PM_RUN_INCLUDE:
        request->include_file = optarg;
        return 0;
    case PM_RUN_EXCLUDE:
        request->exclude_file = optarg;
        return 0;
    case PM_RUN_WEIGHTS:
        request->weights_store = optarg;
        return 0;
    case PM_RUN_LIB:
        if (!*optarg)
            return pm_usage_error(request->command, "--lib takes a library's name, not nothing");
        *PM_PUSH(request, libraries) = optarg;
        return 0;
    case PM_RUN_ALL_LIBS:
        request->all_libraries = true;
        return 0;
    case PM_RUN_SCRATCH:
        request->scratch = optarg;
        return 0;
    case PM_RUN_START_AT:
        pm_event_choice_add(&request->events, optarg, PM_PROBE_SCOPE_STARTS);
        return 0;
    case PM_RUN_STOP_AFTER:
        pm_event_choice_add(&request->events, optarg, PM_PROBE_SCOPE_STOPS);
        return 0;
    case PM_RUN_TIMEOUT:
        return pm_option_number(request->command, "--timeout", optarg, 1, &request->timeout)
                   ? 0
                   : PM_EXIT_INPUT;
    case PM_RUN_NO_MEMORY:
        request->no_memory = true;
        return 0;
    case PM_RUN_SECOND_CORE:
        request->second_core = true;
        return 0;
    case PM_RUN_SHARED:
        request->shared = true;
        return 0;
    case PM_RUN_CARRY:
        request->carry = true;
        request->events.kinds |= PM_EVENTS_ROUTINES | PM_EVENTS_LOOPS | PM_EVENTS_ITERATIONS;
        return 0;
    case PM_RUN_BYTES:
        request->bytes = true;
        return 0;
    case PM_RUN_AGAIN:
        request->again = true;
        return 0;
    default:
        return -1;
    }
}

int pm_read_run_command(struct pm_run_request *request, char **argv) {
    request->argv = argv;
    if (!request->argv[0])
        return pm_usage_error(request->command, "give a command after --");
    if (request->build && request->carry)
        return pm_usage_error(request->command,
                              "--build and --carry exclude each other: reuses are "
                              "carried by loops of one build");
    if (request->no_memory && request->n_block_sizes)
        return pm_usage_error(request->command, "--no-memory and --block exclude each other");
    if (request->no_memory && request->second_core)
        return pm_usage_error(request->command,
                              "--second-core is for the analysis, which --no-memory leaves out");
    if (request->carry && request->sample > 1)
        return pm_usage_error(request->command,
                              "--carry follows every block: it excludes --sample");
    if (request->no_memory && (request->sample > 1 || request->max_blocks))
        return pm_usage_error(request->command, "--no-memory excludes --sample and --max-blocks");
    if (request->no_memory && request->shared)
        return pm_usage_error(request->command, "--no-memory and --shared exclude each other");
    if (request->shared && request->second_core)
        return pm_usage_error(request->command,
                              "--shared analyses all threads as one stream, one after the other, "
                              "and excludes --second-core");
    if (request->no_memory && request->bin_width)
        return pm_usage_error(request->command, "--no-memory and --bin-width exclude each other");
    if (request->no_memory && request->carry)
        return pm_usage_error(request->command, "--no-memory and --carry exclude each other");
    if (request->no_memory && request->bytes)
        return pm_usage_error(request->command, "--no-memory and --bytes exclude each other");
    return 0;
}

/* ---- the whole line -------------------------------------------------------------------------- */

enum {
    OPT_DRY_RUN = PM_RUN_OPTIONS_END,
    OPT_TIME,
    OPT_TIME_RUNS,
    OPT_TIME_COST,
    OPT_HANDLER,
    OPT_EVENTS,
    OPT_INTERVAL
};
enum { USUAL_TIME_RUNS = 3 };
static const double usual_time_cost_percent = 0.75;

static const struct option long_options[] = {
    PM_RUN_LONG_OPTIONS,
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"time", no_argument, NULL, OPT_TIME},
    {"time-runs", required_argument, NULL, OPT_TIME_RUNS},
    {"time-cost", required_argument, NULL, OPT_TIME_COST},
    {"handler", required_argument, NULL, OPT_HANDLER},
    {"events", required_argument, NULL, OPT_EVENTS},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {0},
};

/* What an event handler gets is not stored. */
static int check_handler(struct pm_run_request *request, bool has_events) {
    if (!request->handler && (has_events || request->events.n_intervals))
        return pm_usage_error("run", "--events and --interval need --handler FILE");
    if (!request->handler)
        return 0;
    if (request->store_path)
        return pm_usage_error("run", "--handler and -o exclude each other: what a handler gets is "
                                     "not put into a store");
    if (request->n_block_sizes || request->bin_width || request->sample > 1 ||
        request->max_blocks || request->time_runs || request->second_core || request->carry ||
        request->bytes || request->shared)
        return pm_usage_error("run", "--handler excludes --block, --bin-width, --sample, "
                                     "--max-blocks, --carry, --bytes, --second-core, --shared and "
                                     "--time");
    if (!has_events)
        request->events.kinds = PM_EVENTS_ROUTINES | PM_EVENTS_LOOPS;
    return 0;
}

static int add_handler(struct pm_run_request *request, struct pm_error *err) {
    free(request->handler);
    request->handler = realpath(optarg, NULL);
    if (request->handler)
        return 0;
    pm_fail_errno(err, "--handler %s: cannot be read", optarg);
    return pm_complain(err);
}

static bool read_percent(const char *text, double *percent) {
    char *end;
    *percent = strtod(text, &end);
    return end != text && *end == '\0' && *percent > 0 && *percent <= 100;
}

/* The options of timing; 0, the exit status after complaining, or -1: not one of these. */
static int read_time_option(struct pm_run_request *request, int c) {
    if (c == OPT_TIME_RUNS)
        return pm_option_number("run", "--time-runs", optarg, 1, &request->time_runs)
                   ? 0
                   : PM_EXIT_INPUT;
    if (c != OPT_TIME && c != OPT_TIME_COST)
        return -1;
    request->time_runs = request->time_runs ? request->time_runs : USUAL_TIME_RUNS;
    if (c == OPT_TIME_COST && !read_percent(optarg, &request->time_cost_percent))
        return pm_usage_error("run", "--time-cost takes a percentage up to 100, not \"%s\"",
                              optarg);
    return 0;
}

int pm_read_run_request(struct pm_run_request *request, int argc, char **argv) {
    struct pm_error err = {0};
    bool has_events = false;
    opterr = 0;
    request->command = "run";
    request->time_cost_percent = usual_time_cost_percent;
    for (int c;
         (c = getopt_long(argc, argv, "+o:" PM_RUN_SHORT_OPTIONS, long_options, NULL)) != -1;) {
        int status = 0;
        if (c == 'o')
            request->store_path = optarg;
        else if (c == OPT_DRY_RUN)
            request->dry_run = true;
        else if (c == OPT_TIME || c == OPT_TIME_RUNS || c == OPT_TIME_COST)
            status = read_time_option(request, c);
        else if (c == OPT_HANDLER)
            status = add_handler(request, &err);
        else if (c == OPT_INTERVAL)
            *PM_PUSH(&request->events, intervals) = optarg;
        else if (c == OPT_EVENTS) {
            has_events = true;
            if (!pm_event_choice_kinds(&request->events, optarg, &err))
                status = pm_complain(&err);
        } else
            status = pm_read_run_option(request, c, &err);
        if (status < 0)
            return pm_usage_error("run", "cannot read option \"%s\"", argv[optind - 1]);
        if (status > 0)
            return status;
    }
    int status = pm_read_run_command(request, argv + optind);
    if (status == 0 && request->time_runs && request->events.n_routines)
        status = pm_usage_error("run", "--time measures whole runs: it excludes --start-at and "
                                       "--stop-after");
    if (status == 0 && request->build && (request->time_runs || request->handler))
        status = pm_usage_error("run", "--build excludes --time and --handler, which are for one "
                                       "build");
    if (status == 0)
        status = check_handler(request, has_events);
    if (status != 0 || request->handler)
        return status;
    if (request->time_runs && request->events.n_routines)
        return pm_usage_error("run",
                              "--time excludes --start-at and --stop-after; pmodel_start and "
                              "pmodel_stop in the program hold for both");
    if (!request->store_path && !request->dry_run)
        return pm_usage_error("run", "name the store with -o NAME.pmdb");
    if (!request->no_memory && !request->n_block_sizes &&
        !pm_machine_block_sizes(&request->block_sizes, &request->n_block_sizes, &err))
        return pm_complain(&err);
    return 0;
}

void pm_run_request_free(struct pm_run_request *request) {
    pm_run_design_free(&request->design);
    for (size_t i = 0; i < request->n_inputs; i++) {
        free(request->inputs[i].from);
        free(request->inputs[i].to);
    }
    free(request->inputs);
    free(request->environment);
    free(request->libraries);
    free(request->block_sizes);
    free(request->bin_width);
    free(request->handler);
    pm_event_choice_free(&request->events);
}
