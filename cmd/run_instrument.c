/* Making the instrumented copies of a run; see run_instrument.h. */
#define _GNU_SOURCE
#include "cmd/run_instrument.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/routine_lists.h"
#include "cmd/run_weights.h"
#include "core/pm_alloc.h"

void pm_run_say(const struct pm_run_request *request, const char *format, ...) {
    if (request->quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "pmodel %s: ", request->command);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void say_coverage(const struct pm_run_request *request, const char *program,
                         const struct pm_structure *structure) {
    size_t counted = 0, groups = structure->n_groups;
    for (size_t i = 0; i < structure->n_routines; i++)
        counted += structure->routines[i].counted;
    pm_run_say(request, "%s: %zu of %zu routines instrumented, %u counters, %zu reference groups",
               program, counted, structure->n_routines, structure->n_counters, groups);
    if (structure->n_modules && !structure->modules[0].has_metadata)
        pm_run_say(request, "no `.pmodel` metadata: built without $(pmodel flags), or, with -flto, "
                            "linked without them; strides and names come from the code alone");
    pm_run_say(request, "not measured: shared libraries, and the stack accesses of push, pop, "
                        "call and ret");
}

/* The program lifted, its counters where the weights say; NULL after an error. */
static struct pm_lifted *lift(const struct pm_run_request *request, const char *program,
                              struct pm_error *err) {
    struct pm_lift_options options = {.classes_file = request->classes_file};
    struct pm_run_weights *weights = NULL;
    if (!pm_find_classes(&options, err) ||
        (request->weights_store && !(weights = pm_run_weights_read(request->weights_store, err))))
        return NULL;
    options.weights = weights ? &weights->known : NULL;
    struct pm_lifted *lifted = pm_lift(program, &options, err);
    pm_run_weights_free(weights);
    if (lifted && pm_lifted_refusal(lifted)) {
        pm_fail(err, "%s", pm_lifted_refusal(lifted));
        pm_lifted_free(lifted);
        return NULL;
    }
    return lifted;
}

/* Which routines stay as they are; NULL where no list was given, or after an error. */
static bool *find_left_out(const struct pm_run_request *request,
                           const struct pm_structure *structure, struct pm_error *err) {
    if (!request->include_file && !request->exclude_file)
        return NULL;
    struct pm_routine_lists *lists =
        pm_routine_lists_read(request->include_file, request->exclude_file, err);
    if (!lists)
        return NULL;
    bool *left_out = pm_routine_lists_left_out(lists, structure);
    if (!pm_routine_lists_all_found(lists, err)) {
        free(left_out);
        left_out = NULL;
    }
    pm_routine_lists_free(lists);
    return left_out;
}

bool pm_run_instrument(const struct pm_run_request *request, const char *program,
                       const char *folder, struct pm_run_copies *copies, struct pm_error *err) {
    *copies = (struct pm_run_copies){0};
    copies->lifted = lift(request, program, err);
    if (!copies->lifted)
        return false;
    copies->structure = pm_lifted_structure(copies->lifted);
    copies->instrumented = pm_sprintf("%s/%s", folder, basename(program));
    bool *left_out = find_left_out(request, copies->structure, err);
    char *runtime = err->kind == PM_ERROR_NONE ? pm_library_path("libpmodel-rt.so", err) : NULL;
    struct pm_instrument_options options = {
        .memory_records = !request->no_memory, .runtime_path = runtime, .left_out = left_out};
    bool ok = runtime && pm_instrument(copies->lifted, &options, copies->instrumented, err);
    free(runtime);
    free(left_out);
    if (ok)
        say_coverage(request, program, copies->structure);
    return ok;
}

void pm_run_copies_free(struct pm_run_copies *copies) {
    if (copies->lifted)
        pm_lifted_free(copies->lifted);
    free(copies->instrumented);
    *copies = (struct pm_run_copies){0};
}
