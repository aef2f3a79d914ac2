/* Making the instrumented copies of a run; see run_instrument.h. */
#define _GNU_SOURCE
#include "cmd/run_instrument.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/copy_choice.h"
#include "cmd/run_libraries.h"
#include "core/base/base.h"

/* What is needed for each of the modules. */
struct maker {
    const struct pm_run_request *request;
    const char *folder;
    char *const *environment;
    char *interpreter; /* of the program; NULL: it is a library */
    struct pm_copy_choice choice;
    struct pm_event_choice events; /* what was found of them */
    struct pm_run_copies *copies;
};

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

/* ---- one module ----------------------------------------------------------------------------- */

static void say_coverage(const struct pm_run_request *request, const char *path,
                         const struct pm_structure *structure) {
    size_t counted = 0, groups = structure->n_groups;
    for (size_t i = 0; i < structure->n_routines; i++)
        counted += structure->routines[i].counted;
    pm_run_say(request, "%s: %zu of %zu routines instrumented, %u counters, %zu reference groups",
               path, counted, structure->n_routines, structure->n_counters, groups);
}

/* Which routines stay as they are, and which have counters only: so much that it can be told how
   many accesses were left out of the analysis, where there is one. */
static void apply_lists(const struct maker *maker, const struct pm_structure *structure,
                        bool **left_out, bool **not_recorded) {
    *left_out = *not_recorded = NULL;
    if (!maker->choice.lists)
        return;
    *left_out = pm_routine_lists_left_out(maker->choice.lists, structure);
    if (maker->request->no_memory || maker->request->handler)
        return;
    *not_recorded = *left_out;
    *left_out = pm_routine_lists_untouched(maker->choice.lists, structure);
    for (size_t r = 0; r < structure->n_routines; r++)
        (*not_recorded)[r] &= !(*left_out)[r];
}

static void keep_not_recorded(struct pm_run_copies *copies, const bool *not_recorded,
                              const struct pm_module_place *place) {
    size_t n = copies->structure->n_routines;
    copies->not_recorded = pm_realloc(copies->not_recorded, n ? n : 1, sizeof(bool));
    for (size_t r = place->first_routine; r < n; r++)
        copies->not_recorded[r] = not_recorded && not_recorded[r - place->first_routine];
}

static bool write_copy(struct maker *maker, struct pm_lifted *lifted, const char *to,
                       const bool *left_out, const bool *not_recorded, struct pm_error *err) {
    const struct pm_structure *structure = pm_lifted_structure(lifted);
    const struct pm_run_copies *copies = maker->copies;
    uint8_t *events = pm_event_choice_flags(&maker->events, structure);
    uint8_t *probed = pm_alloc(structure->n_scopes, sizeof *probed);
    struct pm_instrument_options options = {.memory_records = !maker->request->no_memory,
                                            .runtime_path = copies->runtime,
                                            .left_out = left_out,
                                            .not_recorded = not_recorded,
                                            .scope_events = events,
                                            .probed = probed,
                                            .describe_counters = maker->request->handler != NULL};
    for (size_t i = 0; i < copies->n_places; i++) {
        options.first_counter += copies->places[i].n_counters;
        options.first_reference += copies->places[i].n_references;
        options.first_scope += copies->places[i].n_scopes;
    }
    bool ok = pm_instrument(lifted, &options, to, err);
    if (ok)
        pm_event_choice_probed(&maker->events, structure, probed);
    free(probed);
    free(events);
    return ok;
}

/* Instruments the module PATH as TO and puts its structure behind those before it. */
static bool add_module(struct maker *maker, const char *path, const char *to,
                       struct pm_error *err) {
    struct pm_run_copies *copies = maker->copies;
    struct pm_lifted *lifted = pm_lift(path, &maker->choice.lift, err);
    if (!lifted)
        return false;
    struct pm_module_place place;
    bool *left_out, *not_recorded;
    apply_lists(maker, pm_lifted_structure(lifted), &left_out, &not_recorded);
    bool ok = (!pm_lifted_refusal(lifted) || pm_fail(err, "%s", pm_lifted_refusal(lifted))) &&
              write_copy(maker, lifted, to, left_out, not_recorded, err);
    if (ok) {
        struct pm_structure *structure = pm_lifted_structure(lifted);
        const char *interpreter = pm_lifted_interpreter(lifted);
        if (copies->n_files == 0 && interpreter)
            maker->interpreter = pm_strdup(interpreter);
        say_coverage(maker->request, path, structure);
        ok = pm_structure_append(copies->structure, structure, &place, err);
    }
    if (ok) {
        keep_not_recorded(copies, not_recorded, &place);
        *PM_PUSH(copies, places) = place;
        *PM_PUSH(copies, files) = (struct pm_run_copy){pm_strdup(path), pm_strdup(to)};
    }
    free(left_out);
    free(not_recorded);
    pm_lifted_free(lifted);
    return ok;
}

static bool add_program(struct maker *maker, const char *program, struct pm_error *err) {
    char *to = pm_sprintf("%s/%s", maker->folder, basename(program));
    bool ok = add_module(maker, program, to, err);
    free(to);
    return ok;
}

/* ---- libraries ------------------------------------------------------------------------------ */

/* One whose name is taken among the copies gets a folder of its own. */
static bool add_library(struct maker *maker, const struct pm_run_library *library,
                        struct pm_error *err) {
    char *folder = pm_sprintf("%s/libraries", maker->folder);
    char *to = pm_sprintf("%s/%s", folder, library->name);
    if (access(to, F_OK) == 0) {
        pm_append(&folder, "/%zu", maker->copies->n_files);
        free(to);
        to = pm_sprintf("%s/%s", folder, library->name);
    }
    bool ok =
        mkdir(folder, 0777) == 0 || errno == EEXIST || pm_fail_errno(err, "cannot make %s", folder);
    ok = ok && add_module(maker, library->path, to, err);
    free(folder);
    free(to);
    return ok;
}

/* One that was not named may stay as it is, which is said. */
static bool add_libraries(struct maker *maker, const char *program, struct pm_error *err) {
    const struct pm_run_request *request = maker->request;
    if (!request->n_libraries && !request->all_libraries)
        return true;
    struct pm_run_libraries libraries;
    bool ok = pm_run_libraries_find(request, program, maker->interpreter, maker->copies->runtime,
                                    maker->environment, &libraries, err);
    for (size_t i = 0; ok && i < libraries.n_items; i++) {
        const struct pm_run_library *library = &libraries.items[i];
        struct pm_error why = {0};
        if (!library->is_asked_for || add_library(maker, library, &why))
            continue;
        if (library->is_named) {
            *err = why;
            ok = false;
        } else {
            pm_run_say(request, "not measured: %s", why.text);
        }
    }
    pm_run_libraries_free(&libraries);
    if (ok && maker->copies->n_files > 1)
        pm_structure_assign_keys(maker->copies->structure);
    return ok;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool prepare(struct maker *maker, struct pm_error *err) {
    const struct pm_run_request *request = maker->request;
    struct pm_copy_files files = {.classes = request->classes_file,
                                  .weights_store = request->weights_store,
                                  .include = request->include_file,
                                  .exclude = request->exclude_file};
    bool ok = pm_copy_choice_read(&maker->choice, &files, err);
    maker->copies->runtime = maker->choice.runtime;
    maker->choice.runtime = NULL; /* it is the copies' */
    return ok;
}

static void say_limits(const struct maker *maker) {
    const struct pm_structure *structure = maker->copies->structure;
    if (structure->n_modules && !structure->modules[0].has_metadata)
        pm_run_say(maker->request,
                   "no `.pmodel` metadata: built without $(pmodel flags), or, with -flto, "
                   "linked without them; strides and names come from the code alone");
    pm_run_say(maker->request, "not measured: %sshared libraries",
               structure->n_modules > 1 ? "other " : "");
}

bool pm_run_instrument(const struct pm_run_request *request, const char *program,
                       char *const *environment, const char *folder, struct pm_run_copies *copies,
                       struct pm_error *err) {
    *copies = (struct pm_run_copies){.structure = pm_structure_new()};
    struct maker maker = {
        .request = request, .folder = folder, .environment = environment, .copies = copies};
    pm_event_choice_copy(&maker.events, &request->events);
    pm_event_choice_lift(&maker.events, &maker.choice.lift);
    bool ok = prepare(&maker, err) && add_program(&maker, program, err) &&
              add_libraries(&maker, program, err) &&
              (!maker.choice.lists || pm_routine_lists_all_found(maker.choice.lists, err)) &&
              pm_event_choice_check(&maker.events, err);
    if (ok)
        say_limits(&maker);
    free(maker.interpreter);
    pm_copy_choice_free(&maker.choice);
    pm_event_choice_free(&maker.events);
    return ok;
}

void pm_run_copies_free(struct pm_run_copies *copies) {
    for (size_t i = 0; i < copies->n_files; i++) {
        free(copies->files[i].original);
        free(copies->files[i].instrumented);
    }
    free(copies->files);
    free(copies->places);
    free(copies->runtime);
    free(copies->not_recorded);
    pm_structure_free(copies->structure);
    *copies = (struct pm_run_copies){0};
}
