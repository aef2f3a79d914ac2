/* The instrumented copies of a program and of the libraries that are measured with it, and their
   structure. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/copies/private.h"

/* What is needed for each of the modules. */
struct maker {
    struct pm_copier copier;
    const struct pm_progress *progress;
    const char *folder;
    char *const *environment;
    char *interpreter; /* of the program; NULL: it is a library */
    struct pm_copies *copies;
};

static void free_copy(struct pm_copy *copy) {
    free(copy->original);
    free(copy->instrumented);
}

/* ---- one module ----------------------------------------------------------------------------- */

static void say_coverage(const struct pm_progress *progress, const char *path,
                         const struct pm_structure *structure) {
    size_t counted = 0, groups = structure->n_groups;
    for (size_t i = 0; i < structure->n_routines; i++)
        counted += structure->routines[i].counted;
    pm_progress_say(progress,
                    "%s: %zu of %zu routines instrumented, %u counters, %zu reference groups", path,
                    counted, structure->n_routines, structure->n_counters, groups);
}

/* Which routines stay as they are, and which have counters only: enough to say how
   many accesses were left out of the analysis, where there is one. */
static void apply_lists(const struct maker *maker, const struct pm_structure *structure,
                        bool **left_out, bool **not_recorded) {
    *left_out = *not_recorded = NULL;
    if (!maker->copier.lists)
        return;
    *left_out = pm_routine_lists_left_out(maker->copier.lists, structure);
    if (maker->copier.request->no_memory || maker->copier.request->for_handler)
        return;
    *not_recorded = *left_out;
    *left_out = pm_routine_lists_untouched(maker->copier.lists, structure);
    for (size_t r = 0; r < structure->n_routines; r++)
        (*not_recorded)[r] &= !(*left_out)[r];
}

static void keep_not_recorded(struct pm_copies *copies, const bool *not_recorded,
                              const struct pm_module_place *place) {
    size_t n = copies->structure->n_routines;
    copies->not_recorded = pm_realloc(copies->not_recorded, n ? n : 1, sizeof(bool));
    for (size_t r = place->first_routine; r < n; r++)
        copies->not_recorded[r] = not_recorded && not_recorded[r - place->first_routine];
}

/* Numbers begin behind those of the modules before. */
static bool write_copy(struct maker *maker, struct pm_lifted *lifted, const char *to,
                       const bool *left_out, const bool *not_recorded, struct pm_error *err) {
    const struct pm_copies *copies = maker->copies;
    struct pm_instrument_options options = {.left_out = left_out, .not_recorded = not_recorded};
    for (size_t i = 0; i < copies->n_places; i++) {
        options.first_counter += copies->places[i].n_counters;
        options.first_reference += copies->places[i].n_references;
        options.first_scope += copies->places[i].n_scopes;
        options.first_branch += copies->places[i].n_blocks;
    }
    return pm_copier_write(&maker->copier, lifted, &options, to, NULL, err);
}

static struct pm_lifted *lift(struct pm_copier *copier, const struct pm_copies *copies,
                              const struct pm_copy *copy, struct pm_error *err) {
    struct pm_lift_options options = copier->lift;
    options.entries = copy->n_imports ? copies->imports.symbols : NULL;
    options.n_entries = copy->n_imports;
    return pm_lift(copy->original, &options, err);
}

/* Instruments the module PATH as TO and puts its structure behind those before it. */
static bool add_module(struct maker *maker, const char *path, const char *to, bool only_imports,
                       struct pm_error *err) {
    struct pm_copies *copies = maker->copies;
    struct pm_copy copy = {pm_strdup(path), pm_strdup(to),
                           only_imports ? copies->imports.n_symbols : 0};
    struct pm_lifted *lifted = lift(&maker->copier, copies, &copy, err);
    if (!lifted) {
        free_copy(&copy);
        return false;
    }
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
        pm_lifted_imports(lifted, &copies->imports);
        structure->modules[0].only_imports = only_imports;
        say_coverage(maker->progress, path, structure);
        ok = pm_structure_append(copies->structure, structure, &place, err);
    }
    if (ok) {
        keep_not_recorded(copies, not_recorded, &place);
        *PM_PUSH(copies, places) = place;
        *PM_PUSH(copies, files) = copy;
    } else {
        free_copy(&copy);
    }
    free(left_out);
    free(not_recorded);
    pm_lifted_free(lifted);
    return ok;
}

static bool add_program(struct maker *maker, const char *program, struct pm_error *err) {
    char *to = pm_sprintf("%s/%s", maker->folder, basename(program));
    bool ok = add_module(maker, program, to, false, err);
    free(to);
    return ok;
}

/* ---- libraries ------------------------------------------------------------------------------ */

/* One whose name is taken among the copies gets a folder of its own. */
static bool add_library(struct maker *maker, const struct pm_library *library,
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
    ok = ok && add_module(maker, library->path, to, library->only_imports, err);
    free(folder);
    free(to);
    return ok;
}

static bool uses(const struct pm_imports *imports, const char *library) {
    for (size_t i = 0; i < imports->n_libraries; i++)
        if (strcmp(imports->libraries[i], library) == 0)
            return true;
    return false;
}

/* Those of mathematics whose symbols the program uses: their time is the program's. */
static void ask_for_mathematics(const struct maker *maker, struct pm_libraries *libraries) {
    for (size_t i = 0; i < libraries->n_items; i++) {
        struct pm_library *library = &libraries->items[i];
        if (pm_is_mathematics(library->name) && !library->is_kept && !library->is_asked_for &&
            uses(&maker->copies->imports, library->name))
            library->is_asked_for = library->only_imports = true;
    }
}

/* One that was not named may stay as it is, which is said. */
static bool add_libraries(struct maker *maker, const char *program, struct pm_error *err) {
    const struct pm_copies_request *request = maker->copier.request;
    bool is_asked = request->n_libraries || request->all_libraries;
    struct pm_libraries libraries;
    struct pm_error none = {0}; /* without a list nothing is missing */
    bool ok = pm_libraries_find(request, program, maker->interpreter, maker->environment,
                                &libraries, is_asked ? err : &none) ||
              !is_asked;
    maker->copies->mpi = pm_libraries_mpi(&libraries);
    if (!request->no_mathematics)
        ask_for_mathematics(maker, &libraries);
    for (size_t i = 0; ok && i < libraries.n_items; i++)
        if (!libraries.items[i].is_kept && !libraries.items[i].is_asked_for)
            *PM_PUSH(maker->copies, measurable) = pm_strdup(libraries.items[i].path);
    for (size_t i = 0; ok && i < libraries.n_items; i++) {
        const struct pm_library *library = &libraries.items[i];
        struct pm_error why = {0};
        if (!library->is_asked_for || add_library(maker, library, &why))
            continue;
        if (library->is_named) {
            *err = why;
            ok = false;
        } else {
            *PM_PUSH(maker->copies, measurable) = pm_strdup(library->path);
            pm_progress_say(maker->progress, "not measured: %s", why.text);
        }
    }
    pm_libraries_free(&libraries);
    if (ok && maker->copies->n_files > 1)
        pm_structure_assign_keys(maker->copies->structure);
    return ok;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void say_limits(const struct maker *maker) {
    const struct pm_structure *structure = maker->copies->structure;
    if (structure->n_modules && !structure->modules[0].has_metadata)
        pm_progress_say(maker->progress,
                        "no `.pmodel` metadata: built without $(pmodel flags), by a compiler other "
                        "than GCC, or, with -flto, linked without them; strides and names come "
                        "from the code alone");
    if (structure->n_modules && !structure->modules[0].has_lines &&
        !structure->modules[0].has_metadata)
        pm_progress_say(maker->progress,
                        "no debug information: built without -g, or stripped, so that loops have "
                        "addresses in place of source lines");
    pm_progress_say(maker->progress, "not measured: %sshared libraries",
                    structure->n_modules > 1 ? "other " : "");
}

bool pm_copies_make(const struct pm_copies_request *request, const char *program,
                    char *const *environment, const char *folder,
                    const struct pm_progress *progress, struct pm_copies *copies,
                    struct pm_error *err) {
    *copies = (struct pm_copies){.structure = pm_structure_new()};
    struct maker maker = {
        .progress = progress, .folder = folder, .environment = environment, .copies = copies};
    struct pm_copier *copier = &maker.copier;
    bool ok = pm_copier_new(copier, request, err) && add_program(&maker, program, err) &&
              add_libraries(&maker, program, err) &&
              (!copier->lists || pm_routine_lists_all_found(copier->lists, err)) &&
              pm_event_choice_check(&copier->events, err);
    copies->has_intervals = pm_event_choice_ends_intervals(&copier->events);
    if (ok)
        say_limits(&maker);
    free(maker.interpreter);
    pm_copier_free(copier);
    return ok;
}

void pm_copies_free(struct pm_copies *copies) {
    for (size_t i = 0; i < copies->n_files; i++)
        free_copy(&copies->files[i]);
    pm_imports_free(&copies->imports);
    free(copies->files);
    for (size_t i = 0; i < copies->n_measurable; i++)
        free(copies->measurable[i]);
    free(copies->measurable);
    free(copies->places);
    free(copies->not_recorded);
    pm_structure_free(copies->structure);
    *copies = (struct pm_copies){0};
}

void pm_copies_request_free(struct pm_copies_request *request) {
    pm_event_choice_free(&request->events);
    free(request->libraries);
}

struct pm_lifted *pm_copies_lift_again(const struct pm_copies_request *request,
                                       const struct pm_copies *copies, size_t i,
                                       struct pm_error *err) {
    const char *path = copies->files[i].original;
    struct pm_copier copier;
    struct pm_lifted *lifted =
        pm_copier_new(&copier, request, err) ? lift(&copier, copies, &copies->files[i], err) : NULL;
    pm_copier_free(&copier);
    if (lifted && pm_lifted_structure(lifted)->n_scopes != copies->places[i].n_scopes) {
        pm_fail(err, "%s has changed since it was instrumented", path);
        pm_lifted_free(lifted);
        return NULL;
    }
    return lifted;
}
