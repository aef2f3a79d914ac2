/* `pmodel instrument`: an instrumented copy of a program, to be run by hand. */
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

static int read_command_line(struct request *request, int argc, char **argv) {
    struct pm_copies_request *copies = &request->copies;
    const struct pm_option options[] = {
        PM_OPTION_TEXT(NULL, 'o', &request->copy),
        PM_OPTION_FLAG("quiet", 'q', &request->quiet),
        PM_OPTION_FLAG("no-memory", 0, &copies->no_memory),
        PM_OPTION_ADD("events", 0, pm_set_events, &copies->events),
        PM_OPTION_ADD("start-at", 0, pm_add_start_at, &copies->events),
        PM_OPTION_ADD("stop-after", 0, pm_add_stop_after, &copies->events),
        PM_OPTION_ADD("interval", 0, pm_add_interval, &copies->events),
        PM_OPTION_TEXT("include", 0, &copies->include_file),
        PM_OPTION_TEXT("exclude", 0, &copies->exclude_file),
        PM_OPTION_TEXT("weights", 0, &copies->weights_store),
        PM_OPTION_ADD("calls", 0, pm_set_calls, &copies->calls),
        PM_OPTION_TEXT("classes", 0, &copies->classes_file),
        {0},
    };
    struct pm_command_line line = {.command = "instrument", .options = options};
    int status = pm_read_options(&line, argc, argv);
    if (status)
        return status;
    if (!request->copy)
        return pm_usage_error("instrument", "name the copy with -o COPY");
    if (line.n_arguments != 1)
        return pm_usage_error("instrument", "give one program");
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
        fprintf(stderr,
                "pmodel instrument: %s: %zu of %zu routines instrumented, %u counters, %zu loops "
                "and routines with events\n",
                request->copy, summary.n_instrumented, summary.n_routines, summary.n_counters,
                summary.n_events);
    return true;
}

int pm_cmd_instrument(int argc, char **argv) {
    struct request request = {0};
    struct pm_error err = {0};
    int status = read_command_line(&request, argc, argv);
    if (status == 0 && !instrument(&request, &err))
        status = pm_complain(&err);
    pm_copies_request_free(&request.copies);
    return status;
}
