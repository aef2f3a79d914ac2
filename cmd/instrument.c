/* `pmodel instrument`: an instrumented copy of a program, to be run by hand. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "cmd/cmd.h"
#include "cmd/copy_choice.h"
#include "cmd/event_choice.h"
#include "core/base/base.h"
#include "core/probe_abi.h"

struct request {
    const char *program, *copy;
    struct pm_copy_files files;
    struct pm_event_choice events;
    bool no_memory, quiet;
};

enum {
    OPT_NO_MEMORY = 256,
    OPT_EVENTS,
    OPT_START_AT,
    OPT_STOP_AFTER,
    OPT_INTERVAL,
    OPT_INCLUDE,
    OPT_EXCLUDE,
    OPT_WEIGHTS,
    OPT_CLASSES,
};

static const struct option long_options[] = {
    {"no-memory", no_argument, NULL, OPT_NO_MEMORY},
    {"events", required_argument, NULL, OPT_EVENTS},
    {"start-at", required_argument, NULL, OPT_START_AT},
    {"stop-after", required_argument, NULL, OPT_STOP_AFTER},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"include", required_argument, NULL, OPT_INCLUDE},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"weights", required_argument, NULL, OPT_WEIGHTS},
    {"classes", required_argument, NULL, OPT_CLASSES},
    {0},
};

static int read_option(struct request *request, int c) {
    struct pm_error err = {0};
    switch (c) {
    case 'o':
        request->copy = optarg;
        return 0;
    case 'q':
        request->quiet = true;
        return 0;
    case OPT_NO_MEMORY:
        request->no_memory = true;
        return 0;
    case OPT_EVENTS:
        return pm_event_choice_kinds(&request->events, optarg, &err) ? 0 : pm_complain(&err);
    case OPT_START_AT:
        pm_event_choice_add(&request->events, optarg, PM_PROBE_SCOPE_STARTS);
        return 0;
    case OPT_STOP_AFTER:
        pm_event_choice_add(&request->events, optarg, PM_PROBE_SCOPE_STOPS);
        return 0;
    case OPT_INTERVAL:
        *PM_PUSH(&request->events, intervals) = optarg;
        return 0;
    case OPT_INCLUDE:
        request->files.include = optarg;
        return 0;
    case OPT_EXCLUDE:
        request->files.exclude = optarg;
        return 0;
    case OPT_WEIGHTS:
        request->files.weights_store = optarg;
        return 0;
    case OPT_CLASSES:
        request->files.classes = optarg;
        return 0;
    default:
        return -1;
    }
}

static int read_request(struct request *request, int argc, char **argv) {
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "o:q", long_options, NULL)) != -1;) {
        int status = read_option(request, c);
        if (status < 0)
            return pm_usage_error("instrument", "cannot read option \"%s\"", argv[optind - 1]);
        if (status > 0)
            return status;
    }
    if (!request->copy)
        return pm_usage_error("instrument", "name the copy with -o COPY");
    if (argc - optind != 1)
        return pm_usage_error("instrument", "give one program");
    request->program = argv[optind];
    return 0;
}

/* ---- the copy -------------------------------------------------------------------------------- */

static void say(const struct request *request, const struct pm_structure *structure,
                const uint8_t *probed) {
    size_t counted = 0, told = 0;
    if (request->quiet)
        return;
    for (size_t r = 0; r < structure->n_routines; r++)
        counted += structure->routines[r].counted;
    for (size_t s = 0; s < structure->n_scopes; s++)
        told += probed[s] != 0;
    fprintf(stderr,
            "pmodel instrument: %s: %zu of %zu routines instrumented, %u counters, %zu loops and "
            "routines with events\n",
            request->copy, counted, structure->n_routines, structure->n_counters, told);
}

static bool write_copy(struct pm_copy_choice *choice, struct request *request,
                       struct pm_lifted *lifted, struct pm_error *err) {
    const struct pm_structure *structure = pm_lifted_structure(lifted);
    bool *left_out = choice->lists ? pm_routine_lists_left_out(choice->lists, structure) : NULL;
    uint8_t *events = pm_event_choice_flags(&request->events, structure);
    uint8_t *probed = pm_alloc(structure->n_scopes, sizeof *probed);
    struct pm_instrument_options options = {.memory_records = !request->no_memory,
                                            .runtime_path = choice->runtime,
                                            .left_out = left_out,
                                            .scope_events = events,
                                            .probed = probed,
                                            .describe_counters = true};
    bool ok = !choice->lists || pm_routine_lists_all_found(choice->lists, err);
    if (ok)
        ok = pm_instrument(lifted, &options, request->copy, err);
    if (ok) {
        pm_event_choice_probed(&request->events, structure, probed);
        ok = pm_event_choice_check(&request->events, err);
        if (!ok)
            remove(request->copy);
    }
    if (ok)
        say(request, structure, probed);
    free(probed);
    free(events);
    free(left_out);
    return ok;
}

static bool instrument(struct request *request, struct pm_error *err) {
    struct pm_copy_choice choice = {0};
    pm_event_choice_lift(&request->events, &choice.lift);
    struct pm_lifted *lifted = pm_copy_choice_read(&choice, &request->files, err)
                                   ? pm_lift(request->program, &choice.lift, err)
                                   : NULL;
    bool ok = lifted &&
              (!pm_lifted_refusal(lifted) || pm_fail(err, "%s", pm_lifted_refusal(lifted))) &&
              write_copy(&choice, request, lifted, err);
    pm_lifted_free(lifted);
    pm_copy_choice_free(&choice);
    return ok;
}

/* Over the program itself, or over what it is a name of, nothing is written. */
static bool is_another_file(const struct request *request, struct pm_error *err) {
    char *program = realpath(request->program, NULL), *copy = realpath(request->copy, NULL);
    bool same = program && copy && strcmp(program, copy) == 0;
    free(program);
    free(copy);
    return !same || pm_fail(err, "-o %s is the program itself: name another file", request->copy);
}

int pm_cmd_instrument(int argc, char **argv) {
    struct request request = {0};
    struct pm_error err = {0};
    int status = read_request(&request, argc, argv);
    if (status == 0 && !(is_another_file(&request, &err) && instrument(&request, &err)))
        status = pm_complain(&err);
    pm_event_choice_free(&request.events);
    return status;
}
