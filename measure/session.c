/* Measuring a program at one or more sizes: what stays from size to size, and the list of sizes;
   see measure.h. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/raw_file.h"
#include "measure/command/command.h"
#include "measure/interruption.h"
#include "measure/private.h"

/* ---- pmodel is told to end --------------------------------------------------------------------
 */

/* The sizes that were measured before are in the store. */
bool pm_session_check_interruption(const struct pm_measure_session *session, struct pm_error *err) {
    int number = pm_interrupting_signal();
    bool keeps = session->store != NULL && session->request->store_path;
    return !number || pm_fail(err, "interrupted by signal %d (%s)%s%s%s", number, strsignal(number),
                              keeps ? ": what was measured before is in " : "",
                              keeps ? session->store_path : "",
                              keeps ? ", and the same command goes on with the rest" : "");
}

/* ---- the program ----------------------------------------------------------------------------- */

static bool find_program(struct pm_measure_session *session, char *const *argv,
                         struct pm_error *err) {
    const struct pm_measure_request *request = session->request;
    session->command_path = pm_find_command(argv[0], err);
    if (!session->command_path)
        return false;
    char *launched = request->exe ? NULL : pm_launched_program(argv);
    const char *program = request->exe ? request->exe : launched ? launched : session->command_path;
    bool ok =
        request->exe || !pm_is_script(program) ||
        pm_fail(err, "%s is a script: name the program that it runs with --exe PATH", program);
    session->program = ok ? realpath(program, NULL) : NULL;
    ok = ok && (session->program || pm_fail(err, "%s: no such program (--exe)", program));
    free(launched);
    return ok;
}

/* A library beside the runtime. */
static char *neighbour(const struct pm_measure_session *session, const char *name) {
    const char *runtime = session->request->copies.runtime;
    return pm_sprintf("%.*slibpmodel-%s.so", (int)(pm_base_name(runtime) - runtime), runtime, name);
}

/* What stands before the MPI library that the program needs, if there is one, and it was built. */
static char *mpi_wrapper(struct pm_measure_session *session) {
    const char *name = session->copies.mpi == PM_RAW_OPEN_MPI ? "openmpi"
                       : session->copies.mpi == PM_RAW_MPICH  ? "mpich"
                                                              : NULL;
    if (!name || session->request->no_communication)
        return NULL;
    char *wrapper = neighbour(session, name);
    if (access(wrapper, R_OK) == 0)
        return wrapper;
    pm_progress_say(&session->progress,
                    "communication is not traced: there is no %s (mpicc.%s was "
                    "not there when pmodel was built)",
                    wrapper, name);
    free(wrapper);
    return NULL;
}

/* With --sockets, what stands before the C library's functions, too. */
static void find_wrappers(struct pm_measure_session *session) {
    session->wrapper = mpi_wrapper(session);
    char *named = pm_event_choice_sockets(&session->request->copies.events);
    if (named) {
        char *mpi = session->wrapper, *sockets = neighbour(session, "sockets");
        session->wrapper = pm_sprintf("%s%s%s", sockets, mpi ? ":" : "", mpi ? mpi : "");
        free(sockets);
        free(mpi);
    }
    free(named);
}

/* The program at size AT, and its instrumented copies. */
static bool prepare_copies(struct pm_measure_session *session, const struct pm_parameters *at,
                           struct pm_error *err) {
    const struct pm_measure_request *request = session->request;
    char **argv = pm_substitute_all(request->argv, pm_count_strings(request->argv), at, err);
    char **environment =
        argv ? pm_substitute_all(request->environment, request->n_environment, at, err) : NULL;
    bool ok = environment && find_program(session, argv, err) &&
              pm_copies_make(&request->copies, session->program, environment, session->work.path,
                             &session->progress, &session->copies, err);
    if (ok)
        find_wrappers(session);
    pm_free_strings(environment);
    pm_free_strings(argv);
    return ok;
}

static void forget_copies(struct pm_measure_session *session) {
    pm_timing_lifts_free(&session->lifts);
    pm_copies_free(&session->copies);
    free(session->command_path);
    free(session->program);
    free(session->wrapper);
    session->command_path = session->program = session->wrapper = NULL;
}

static bool is_same_build(const struct pm_module *module, const uint8_t *build_id,
                          uint32_t n_bytes) {
    return n_bytes > 0 && n_bytes == module->build_id_bytes &&
           memcmp(module->build_id, build_id, n_bytes) == 0;
}

/* Builds the program for AT.  A build that is the one before was not made for this size. */
static bool rebuild(struct pm_measure_session *session, const struct pm_parameters *at,
                    struct pm_error *err) {
    const struct pm_structure *before = session->copies.structure;
    struct pm_module last = {0};
    if (before && before->n_modules) {
        last.build_id_bytes = before->modules[0].build_id_bytes;
        memcpy(last.build_id, before->modules[0].build_id, sizeof last.build_id);
    }
    if (!pm_build_program(session->request->build, at, &session->progress, err))
        return false;
    forget_copies(session);
    if (!prepare_copies(session, at, err))
        return false;
    const struct pm_structure *now = session->copies.structure;
    if (now->n_modules && is_same_build(&now->modules[0], last.build_id, last.build_id_bytes))
        pm_progress_say(
            &session->progress,
            "--build made the same program as for the size before: does it take the size, "
            "and does `make` build again (-B)?");
    return true;
}

/* ---- all sizes ------------------------------------------------------------------------------- */

static bool measure_size(struct pm_measure_session *session, const struct pm_parameters *at,
                         struct pm_in_store there, struct pm_error *err) {
    if (session->request->build && !rebuild(session, at, err))
        return false;
    return pm_measure_one_size(session, at, there, err);
}

bool pm_session_finish(struct pm_measure_session *session, const struct pm_parameters *last,
                       const struct pm_measure_result *result, struct pm_error *err) {
    if (!pm_session_check_interruption(session, err))
        return false;
    if (last && !session->request->handler && !pm_note_other_files(session, last, err))
        return false;
    char *waiting =
        result->n_waiting ? pm_sprintf(", %zu wait or run", result->n_waiting) : pm_strdup("");
    pm_progress_say(&session->progress, "%zu measured, %zu were there already, %zu failed%s",
                    result->n_measured, result->n_there, result->n_failed, waiting);
    free(waiting);
    return true;
}

/* As pm_measure_sizes, in this order. */
static bool measure_in_order(struct pm_measure_session *session, const struct pm_parameters *sizes,
                             size_t n_sizes, struct pm_measure_result *result,
                             struct pm_error *err) {
    const struct pm_parameters *last = NULL; /* that was measured */
    for (size_t n = 0; n < n_sizes; n++) {
        const struct pm_parameters *at = &sizes[n];
        struct pm_error why = {0};
        struct pm_in_store there;
        if (!pm_session_check_interruption(session, err) ||
            !pm_session_look(session, at, &there, err))
            return false;
        if (there.run &&
            !pm_store_put_formulas(session->store, at, &session->request->formulas, err))
            return false;
        if (there.run && there.times && there.profile && !session->request->bound) {
            result->n_there++;
            continue;
        }
        if (session->progress.step)
            session->progress.step(session->progress.context, sizes, n, n_sizes);
        if (measure_size(session, at, there, &why)) {
            result->n_measured++;
            last = at;
        } else if (!pm_session_check_interruption(session, err)) {
            return false;
        } else {
            result->n_failed++;
            result->last_failure = why;
            if (session->progress.fail)
                session->progress.fail(session->progress.context, &why);
        }
    }
    return pm_session_finish(session, last, result, err);
}

bool pm_measure_sizes(struct pm_measure_session *session, const struct pm_parameters *sizes,
                      size_t n_sizes, struct pm_measure_result *result, struct pm_error *err) {
    *result = (struct pm_measure_result){0};
    if (session->request->launcher.wanted)
        return pm_measure_through_launcher(session, sizes, n_sizes, result, err);
    /* The build that all others are matched with is that of the last size: what runs there is most
       like what runs at larger ones. */
    size_t first = session->request->build && !session->structure && n_sizes ? n_sizes - 1 : 0;
    struct pm_parameters *order = pm_alloc(n_sizes, sizeof *order);
    for (size_t n = 0; n < n_sizes; n++)
        order[n] = sizes[(first + n) % n_sizes];
    bool ok = measure_in_order(session, order, n_sizes, result, err);
    free(order);
    return ok;
}

/* ---- the session ----------------------------------------------------------------------------- */

static bool prepare(struct pm_measure_session *session, const struct pm_parameters *first,
                    struct pm_error *err) {
    const struct pm_measure_request *request = session->request;
    pm_interruption_begin();
    pm_interruption_hold();
    bool ok = pm_make_work_folder(&session->work, err);
    pm_interruption_removes(session->work.path);
    pm_interruption_release();
    if (!ok || !pm_session_check_interruption(session, err))
        return false;
    session->store_path = request->store_path ? pm_strdup(request->store_path)
                                              : pm_sprintf("%s/runs.pmdb", session->work.path);
    session->settings = pm_settings_text(request, err);
    if (!session->settings || !pm_session_check_store(session, err) ||
        (!request->build && !prepare_copies(session, first, err)))
        return false;
    if (session->copies.has_intervals)
        pm_settings_add_intervals(&session->settings, request);
    return pm_session_open_store(session, false, err);
}

struct pm_measure_session *pm_measure_session_new(const struct pm_measure_request *request,
                                                  const struct pm_parameters *first,
                                                  const struct pm_progress *progress,
                                                  struct pm_error *err) {
    struct pm_measure_session *session = pm_alloc(1, sizeof *session);
    session->request = request;
    session->progress = *progress;
    session->last_seconds = session->last_peak_bytes = NAN;
    session->input_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (prepare(session, first, err))
        return session;
    pm_measure_session_free(session);
    return NULL;
}

void pm_measure_session_free(struct pm_measure_session *session) {
    if (!session)
        return;
    pm_store_close(session->store);
    pm_free_work_folder(&session->work);
    pm_interruption_end();
    forget_copies(session);
    pm_structure_free(session->structure);
    free(session->store_path);
    free(session->settings);
    free(session->blocks.bytes);
    free(session->apart.bytes);
    free(session);
}

const struct pm_structure *pm_measure_session_structure(const struct pm_measure_session *session) {
    return session->copies.structure;
}

struct pm_store *pm_measure_session_store(struct pm_measure_session *session) {
    return session->store;
}

void pm_measure_session_last_cost(const struct pm_measure_session *session, double *wall_seconds,
                                  double *peak_bytes) {
    *wall_seconds = session->last_seconds;
    *peak_bytes = session->last_peak_bytes;
}

void pm_measure_request_free(struct pm_measure_request *request) {
    pm_copies_request_free(&request->copies);
    for (size_t i = 0; i < request->n_inputs; i++) {
        free(request->inputs[i].from);
        free(request->inputs[i].to);
    }
    free(request->inputs);
    free(request->environment);
    free(request->blocks.bytes);
    free(request->apart.bytes);
    free(request->bin_width);
    free(request->handler);
    for (size_t i = 0; i < request->n_unused; i++)
        free(request->unused[i]);
    free(request->unused);
    pm_given_formulas_free(&request->formulas);
}
