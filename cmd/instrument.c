/* `pmodel run --instrument`: an instrumented copy of a program, to be run by hand. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/measuring.h"

struct request {
    const char *program, *copy;
    struct pm_copies_request copies;
    bool quiet;
};

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("what is measured"),
    PM_OPTIONS_INSTRUMENTING(AT(copies)),
    PM_FLAG("no-memory", 0, AT(copies.no_memory), "no memory accesses: counters and events only"),
    PM_ADDED("events", 0, "routines|loops|all|none", pm_set_events, AT(copies.events),
             "whose entries and exits a handler is told"),
    PM_HEADING("output"),
    PM_OPTION_OUTPUT("COPY", AT(copy), "the file to write"),
    PM_OPTION_QUIET(AT(quiet)),
    {0},
};

static int read_command_line(const struct pm_command *self, struct request *request, int argc,
                             char **argv) {
    struct pm_command_line line = {.command = self, .request = request};
    int status = pm_read_options(&line, argc, argv);
    if (status)
        return status;
    if (!request->copy)
        return pm_usage_error(pm_command_run_instrument.name, "name the copy with -o COPY");
    if (line.n_arguments != 1)
        return pm_usage_error(pm_command_run_instrument.name, "give one program");
    request->program = line.arguments[0];
    return 0;
}

/* Over the program itself, or over what it is a name of, nothing is written. */
static bool is_another_file(const struct request *request, struct pm_error *err) {
    char *program = realpath(request->program, NULL), *copy = realpath(request->copy, NULL);
    bool same = program && copy && strcmp(program, copy) == 0;
    free(program);
    free(copy);
    return !same || pm_fail(err, "-o %s is the program itself: name another file", request->copy);
}

static bool instrument(struct request *request, struct pm_error *err) {
    struct pm_copy_summary summary;
    request->copies.for_handler = true; /* or for nobody: the analysis is `pmodel run`'s */
    if (!is_another_file(request, err) || !pm_find_instrumenting(&request->copies, err) ||
        !pm_copy_by_hand(&request->copies, request->program, request->copy, &summary, err))
        return false;
    if (!request->quiet)
        fprintf(
            stderr,
            "pmodel run --instrument: %s: %zu of %zu routines instrumented, %u counters, %zu loops "
            "and routines with events\n",
            request->copy, summary.n_instrumented, summary.n_routines, summary.n_counters,
            summary.n_events);
    return true;
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {0};
    struct pm_error err = {0};
    int status = read_command_line(self, &request, argc, argv);
    if (status == 0 && !instrument(&request, &err))
        status = pm_complain(&err);
    pm_copies_request_free(&request.copies);
    return status;
}

const struct pm_command pm_command_run_instrument = {
    .name = "run --instrument",
    .purpose = "make the instrumented copy of a program, to run it by hand",
    .usage = "-o COPY [OPTION]... PROGRAM",
    .examples = "pmodel run --instrument -o copy ./heat; ./copy 64",
    .options = options,
    .run = run,
};
