/* Measuring a program at one or more sizes; see run_session.h. */
#define _GNU_SOURCE
#include "cmd/run_session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "binlift/binlift.h"
#include "cmd/cmd.h"
#include "cmd/run_build.h"
#include "cmd/run_command.h"
#include "cmd/run_ingest.h"
#include "cmd/run_instrument.h"
#include "cmd/run_launch.h"
#include "cmd/run_substitute.h"
#include "cmd/run_times.h"
#include "core/base/base.h"
#include "core/probe_abi.h"

struct pm_run_session {
    const struct pm_run_request *request;
    char *work;                     /* temporary folder; NULL until it is made */
    char *command_path;             /* file that the command names */
    char *program;                  /* real path of the program to instrument */
    struct pm_run_copies copies;    /* with --build those of the size at hand */
    struct pm_structure *structure; /* with --build: the store's; NULL until there is one */
    char *store_path;
    struct pm_store *store; /* NULL until there is something to keep */
    char *settings;
    struct pm_run_timer timer;
    off_t input_at; /* where standard input stands before each run; -1: it cannot be set back */
    size_t n_done, n_there, n_failed;
    double last_seconds, last_peak_bytes; /* of the last run */
};

/* The command at one size. */
struct sized_run {
    struct pm_run_session *session;
    const struct pm_parameters *at;
    char **argv;
    char *place; /* folder that it runs in; NULL: the current one */
};

/* ---- the program --------------------------------------------------------------------------- */

static bool find_program(struct pm_run_session *session, const char *command,
                         struct pm_error *err) {
    const struct pm_run_request *request = session->request;
    session->command_path = pm_find_command(command, err);
    if (!session->command_path)
        return false;
    const char *program = request->exe ? request->exe : session->command_path;
    if (!request->exe && pm_is_script(program))
        return pm_fail(err, "%s is a script: name the program that it runs with --exe PATH",
                       program);
    session->program = realpath(program, NULL);
    return session->program || pm_fail(err, "%s: no such program (--exe)", program);
}

/* Builds of one store differ.  Its structure is the one that the request names, else that of the
   first build that was measured. */
static bool open_store_of_builds(struct pm_run_session *session, bool create,
                                 struct pm_error *err) {
    const struct pm_structure *first = session->request->matched_to;
    bool has = false;
    if (!session->store)
        session->store = pm_store_open(session->store_path, PM_STORE_CREATE, err);
    if (!session->store || !pm_store_has_structure(session->store, &has, err))
        return false;
    if (!first && create)
        first = session->copies.structure;
    if ((!has || session->request->matched_to) && first &&
        !pm_store_put_structure(session->store, first, err))
        return false;
    if (has || first)
        session->structure = pm_store_structure(session->store, err);
    return session->structure || (!has && !first);
}

/* Opens the store where it exists, so that a wrong one is noticed before anything runs. */
static bool open_store(struct pm_run_session *session, bool create, struct pm_error *err) {
    if (session->request->build)
        return session->structure || (!create && access(session->store_path, F_OK) != 0) ||
               open_store_of_builds(session, create, err);
    if (session->store || (!create && access(session->store_path, F_OK) != 0))
        return true;
    session->store = pm_store_open(session->store_path, PM_STORE_CREATE, err);
    return session->store && pm_store_put_structure(session->store, session->copies.structure, err);
}

/* The program at size AT, and its instrumented copies. */
static bool prepare_copies(struct pm_run_session *session, const struct pm_parameters *at,
                           struct pm_error *err) {
    const struct pm_run_request *request = session->request;
    char **argv = pm_substitute_all(request->argv, 1, at, err);
    char **environment = argv ? pm_substitute_all((char *const *)(uintptr_t)request->environment,
                                                  request->n_environment, at, err)
                              : NULL;
    bool ok = environment && find_program(session, argv[0], err) &&
              pm_run_instrument(request, session->program, environment, session->work,
                                &session->copies, err);
    pm_free_strings(environment);
    pm_free_strings(argv);
    return ok;
}

static void forget_copies(struct pm_run_session *session) {
    pm_run_timer_free(&session->timer);
    pm_run_copies_free(&session->copies);
    free(session->command_path);
    free(session->program);
    session->command_path = session->program = NULL;
}

static bool is_same_build(const struct pm_module *module, const uint8_t *build_id,
                          uint32_t n_bytes) {
    return n_bytes > 0 && n_bytes == module->build_id_bytes &&
           memcmp(module->build_id, build_id, n_bytes) == 0;
}

/* Builds the program for AT.  A build that is the one before was not made for this size. */
static bool rebuild(struct pm_run_session *session, const struct pm_parameters *at,
                    struct pm_error *err) {
    const struct pm_structure *before = session->copies.structure;
    struct pm_module last = {0};
    if (before && before->n_modules) {
        last.build_id_bytes = before->modules[0].build_id_bytes;
        memcpy(last.build_id, before->modules[0].build_id, sizeof last.build_id);
    }
    if (!pm_run_build(session->request, at, err))
        return false;
    forget_copies(session);
    if (!prepare_copies(session, at, err))
        return false;
    const struct pm_structure *now = session->copies.structure;
    if (now->n_modules && is_same_build(&now->modules[0], last.build_id, last.build_id_bytes))
        pm_run_say(session->request,
                   "--build made the same program as for the size before: does it take the size, "
                   "and does `make` build again (-B)?");
    return true;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* "N=24 M=7" as a folder's name. */
static char *size_folder(const char *parent, const struct pm_parameters *at) {
    char *text = pm_parameters_text(at);
    for (char *c = text; *c; c++)
        if (*c == ' ' || *c == '/')
            *c = ',';
    char *folder = pm_sprintf("%s/%s", parent, *text ? text : "run");
    free(text);
    return folder;
}

static bool make_folder(const char *path, struct pm_error *err) {
    return mkdir(path, 0777) == 0 || errno == EEXIST || pm_fail_errno(err, "cannot make %s", path);
}

static void remove_folder(const char *path) {
    pid_t child = fork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Where the run takes place: NULL is the current folder.  A run with input files gets a folder of
   its own in any case, because they would otherwise replace the user's files. */
static bool make_place(const struct pm_run_session *session, const struct pm_parameters *at,
                       char **place, struct pm_error *err) {
    const struct pm_run_request *request = session->request;
    *place = NULL;
    if (!request->scratch && !request->n_inputs)
        return true;
    if (request->scratch && !make_folder(request->scratch, err))
        return false;
    char *parent = request->scratch ? pm_absolute_path(request->scratch, err)
                                    : pm_sprintf("%s/inputs", session->work);
    if (!parent)
        return false;
    bool ok = make_folder(parent, err);
    *place = size_folder(parent, at);
    free(parent);
    ok = ok && make_folder(*place, err);
    for (size_t i = 0; ok && i < request->n_inputs; i++) {
        const char *to = request->inputs[i].to;
        char *file = to[0] == '/' ? pm_strdup(to) : pm_sprintf("%s/%s", *place, to);
        ok = pm_substitute_file(request->inputs[i].from, file, at, err);
        free(file);
    }
    return ok;
}

/* The last line with something in it. */
static const char *last_words(char *tail) {
    size_t end = strlen(tail);
    while (end && strchr(" \t\r\n", tail[end - 1]))
        tail[--end] = '\0';
    char *line = strrchr(tail, '\n');
    return line ? line + 1 : tail;
}

static bool check_result(char *const *argv, const struct pm_run_request *request,
                         struct pm_launch_result *result, struct pm_error *err) {
    if (!result->timed_out && WIFEXITED(result->status) && WEXITSTATUS(result->status) == 0)
        return true;
    char how[64];
    if (result->timed_out)
        snprintf(how, sizeof how, "was ended after %u s (--timeout)", request->timeout);
    else if (WIFEXITED(result->status))
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(result->status));
    else
        snprintf(how, sizeof how, "was ended by signal %d (%s)", WTERMSIG(result->status),
                 strsignal(WTERMSIG(result->status)));
    char *command = pm_command_text(argv);
    const char *words = last_words(result->tail);
    pm_fail(err, "`%s` %s%s%s; the run is left out", command, how,
            *words ? ", last saying: " : " and wrote no error", words);
    free(command);
    return false;
}

/* What the program's environment has beside pmodel's own.  RAW: where it writes what it measures;
   NULL: it measures nothing.  TIMED: its times. */
static char **run_environment(const struct sized_run *run, const char *raw, bool timed,
                              struct pm_error *err) {
    const struct pm_run_request *request = run->session->request;
    size_t n = request->n_environment;
    char **own = pm_substitute_all((char *const *)(uintptr_t)request->environment, n, run->at, err);
    if (!own)
        return NULL;
    enum { MOST_OF_PMODEL = 12 };
    own = pm_realloc(own, n + MOST_OF_PMODEL + 1, sizeof *own);
    if (raw)
        own[n++] = pm_sprintf(PM_ENV_OUT "=%s", raw);
    if (request->handler)
        own[n++] = pm_sprintf(PM_ENV_HANDLER "=%s", request->handler);
    if (raw && timed) {
        own[n++] = pm_strdup(PM_ENV_TIME "=1");
    } else if (raw && request->n_block_sizes) {
        char *sizes = pm_sprintf(PM_ENV_BLOCK "=");
        for (size_t i = 0; i < request->n_block_sizes; i++)
            pm_append(&sizes, "%s%llu", i ? "," : "", (unsigned long long)request->block_sizes[i]);
        own[n++] = sizes;
        if (request->shared)
            own[n++] = pm_strdup(PM_ENV_SHARED "=1");
        if (request->second_core)
            own[n++] = pm_strdup(PM_ENV_SECOND_CORE "=1");
        if (request->sample > 1)
            own[n++] = pm_sprintf(PM_ENV_SAMPLE "=%u", request->sample);
        if (request->max_blocks)
            own[n++] = pm_sprintf(PM_ENV_MAX_BLOCKS "=%u", request->max_blocks);
        if (request->bin_width)
            own[n++] = pm_sprintf(PM_ENV_BIN_WIDTH "=%s", request->bin_width);
        if (request->carry)
            own[n++] = pm_strdup(PM_ENV_CARRY "=1");
        if (request->bytes)
            own[n++] = pm_strdup(PM_ENV_BYTES "=1");
    }
    own[n] = NULL;
    return own;
}

/* Runs the command with FILES laid over their originals; it must end well.  Each run reads standard
   input from where it stood at first, if that is a file. */
static bool launch(const struct sized_run *run, const struct pm_run_copy *files, size_t n_files,
                   char *const *environment, bool silent, struct pm_launch_result *result,
                   struct pm_error *err) {
    const struct pm_run_session *session = run->session;
    const struct pm_run_request *request = session->request;
    const struct pm_launch launch = {
        .argv = run->argv,
        .command_path = session->command_path,
        .files = files,
        .n_files = n_files,
        .runtime = session->copies.runtime,
        .folder = run->place,
        .environment = (const char *const *)environment,
        .timeout_seconds = request->timeout,
        .output_to_errors = request->output_to_errors,
        .silent = silent,
    };
    if (session->input_at >= 0)
        lseek(STDIN_FILENO, session->input_at, SEEK_SET);
    *result = (struct pm_launch_result){0};
    return pm_launch_run(&launch, result, err) && check_result(run->argv, request, result, err);
}

static bool keep_run(struct pm_run_session *session, struct pm_ingested *ingested,
                     const struct pm_launch_result *result, double started, char *const *argv,
                     struct pm_error *err) {
    const struct pm_structure *structure = session->copies.structure;
    struct pm_build_differences differences = {0};
    if (!open_store(session, true, err))
        return false;
    bool other_build =
        session->structure && pm_structure_hash(session->structure) != pm_structure_hash(structure);
    if (other_build) {
        pm_run_match(structure, session->structure, ingested, &differences);
        structure = session->structure;
    }
    struct pm_run_facts facts = {
        .command = pm_command_text(argv),
        .started_unix = started,
        .wall_seconds = result->wall_seconds,
        .cpu_seconds = result->cpu_seconds,
        .exit_status = WEXITSTATUS(result->status),
        .n_threads = ingested->n_threads,
        .n_processes = ingested->n_processes,
        .settings = pm_strdup(session->settings),
        .notes = ingested->notes ? pm_strdup(ingested->notes) : NULL,
        .differences = other_build ? &differences : NULL,
    };
    bool ok = pm_store_put_run(session->store, ingested->profile, &ingested->streams, &facts,
                               ingested->inexact, structure->n_routines, err) &&
              (!ingested->patterns ||
               pm_store_put_patterns(session->store, &ingested->profile->parameters,
                                     ingested->patterns, err));
    pm_run_facts_free(&facts);
    pm_build_differences_free(&differences);
    return ok;
}

static bool measure(const struct sized_run *run, const char *raw, struct pm_error *err) {
    struct pm_run_session *session = run->session;
    const struct pm_run_request *request = session->request;
    char **environment = run_environment(run, raw, false, err);
    if (!environment)
        return false;
    struct pm_launch_result result;
    struct pm_ingested ingested = {0};
    double started = (double)time(NULL);
    bool ok = launch(run, session->copies.files, session->copies.n_files, environment, false,
                     &result, err) &&
              pm_ingest(raw, &session->copies, run->at, request->block_sizes,
                        request->n_block_sizes, request->carry, &ingested, err) &&
              keep_run(session, &ingested, &result, started, run->argv, err);
    if (ok) {
        char *size = pm_parameters_text(run->at);
        session->last_seconds = result.wall_seconds;
        session->last_peak_bytes = result.peak_bytes;
        pm_run_say(request, "%s  %.2f s, %.4g accesses%s%s", size, result.wall_seconds,
                   ingested.accesses, ingested.notes ? "; " : "",
                   ingested.notes ? ingested.notes : "");
        free(size);
        if (!result.in_place && session->n_done == 0)
            pm_run_say(request,
                       "this system allows no mount namespace, so the program ran under another "
                       "file name (/proc/self/exe)%s",
                       session->copies.n_files > 1
                           ? ", and its libraries were found by LD_LIBRARY_PATH"
                           : "");
    }
    pm_ingested_free(&ingested);
    pm_free_strings(environment);
    return ok;
}

/* ---- timing it ------------------------------------------------------------------------------- */

/* A pm_run_launcher.  Input files are made anew, since the run before may have changed them. */
static bool launch_silently(void *context, const struct pm_run_copy *files, size_t n_files,
                            const char *times_folder, struct pm_launch_result *result,
                            struct pm_error *err) {
    struct sized_run run = *(const struct sized_run *)context;
    char **environment = run_environment(&run, times_folder, true, err);
    bool ok = environment && make_place(run.session, run.at, &run.place, err) &&
              launch(&run, files, n_files, environment, true, result, err);
    if (environment)
        free(run.place);
    pm_free_strings(environment);
    return ok;
}

static void say_times(const struct sized_run *run, const struct pm_times *times) {
    char *size = pm_parameters_text(run->at);
    size_t n_entered = 0;
    for (size_t i = 0; i < times->n_scopes; i++)
        n_entered += times->scopes[i].entries > 0;
    pm_run_say(run->session->request,
               "%s  timed %zu loops and routines; with timers the program took %.3f times its "
               "plain %.3g s%s%s",
               size, n_entered, times->over_plain, times->plain_seconds, times->notes ? "; " : "",
               times->notes ? times->notes : "");
    free(size);
}

/* The run of this size is in the store. */
static bool add_times(struct sized_run *run, struct pm_error *err) {
    struct pm_run_session *session = run->session;
    struct pm_run_launcher launcher = {launch_silently, run};
    char *parent = pm_sprintf("%s/times", session->work), *folder = size_folder(parent, run->at);
    struct pm_profile *profile = pm_store_profile(session->store, run->at, err);
    struct pm_times *times = NULL;
    if (profile && pm_profile_fits(profile, session->copies.structure, err) &&
        make_folder(parent, err) && make_folder(folder, err))
        times = pm_run_times(&session->timer, session->request, &session->copies, profile,
                             &launcher, folder, err);
    bool ok = times && pm_store_put_times(session->store, run->at, times, err);
    if (ok)
        say_times(run, times);
    remove_folder(folder);
    if (profile)
        pm_profile_free(profile);
    pm_times_free(times);
    free(folder);
    free(parent);
    return ok;
}

/* ---- one size -------------------------------------------------------------------------------- */

/* What the store has of a size. */
struct in_store {
    bool run, times; /* times: or they are not wanted */
};

static bool run_size(struct pm_run_session *session, const struct pm_parameters *at,
                     struct in_store there, struct pm_error *err) {
    const struct pm_run_request *request = session->request;
    struct sized_run run = {.session = session, .at = at};
    if (request->build && !rebuild(session, at, err))
        return false;
    run.argv = pm_substitute_all(request->argv, pm_count_strings(request->argv), at, err);
    char *raw_parent = pm_sprintf("%s/raw", session->work);
    char *raw = size_folder(raw_parent, at);
    bool ok = run.argv != NULL;
    if (ok && !there.run)
        ok = make_folder(raw_parent, err) && make_folder(raw, err) &&
             make_place(session, at, &run.place, err) && measure(&run, raw, err);
    if (ok && request->time_runs)
        ok = add_times(&run, err);
    free(run.place);
    free(raw);
    free(raw_parent);
    pm_free_strings(run.argv);
    return ok;
}

/* ---- all of them --------------------------------------------------------------------------- */

static bool is_there(struct pm_run_session *session, const struct pm_parameters *at,
                     struct in_store *there, struct pm_error *err) {
    const struct pm_run_request *request = session->request;
    *there = (struct in_store){.times = request->time_runs == 0};
    if (!session->store || request->again)
        return true;
    if (!pm_store_has_run(session->store, at, session->settings, request->block_sizes,
                          request->n_block_sizes, &there->run, err))
        return false;
    if (there->run && request->carry &&
        !pm_store_has_patterns(session->store, at, request->block_sizes, request->n_block_sizes,
                               &there->run, err))
        return false;
    if (there->run && request->bytes && !pm_store_has_bytes(session->store, at, &there->run, err))
        return false;
    if (!there->run || there->times)
        return true;
    struct pm_times *times = pm_store_times(session->store, at, err);
    there->times = times != NULL;
    pm_times_free(times);
    return there->times || err->kind == PM_ERROR_NONE;
}

int pm_run_session_measure(struct pm_run_session *session, const struct pm_parameters *sizes,
                           size_t n_sizes) {
    int status = PM_EXIT_OK;
    /* The build that all others are matched with is that of the last size: what runs there is most
       like what runs at larger ones. */
    size_t first = session->request->build && !session->structure && n_sizes ? n_sizes - 1 : 0;
    for (size_t n = 0; n < n_sizes; n++) {
        const struct pm_parameters *at = &sizes[(first + n) % n_sizes];
        struct pm_error err = {0};
        struct in_store there;
        if (!is_there(session, at, &there, &err))
            return pm_complain(&err);
        if (there.run && there.times) {
            session->n_there++;
        } else if (run_size(session, at, there, &err)) {
            session->n_done++;
        } else {
            session->n_failed++;
            status = pm_complain(&err);
        }
    }
    pm_run_say(session->request, "%zu measured, %zu were there already, %zu failed",
               session->n_done, session->n_there, session->n_failed);
    return status;
}

static bool make_work_folder(struct pm_run_session *session, struct pm_error *err) {
    const char *temporary = getenv("TMPDIR");
    char *work = pm_sprintf("%s/pmodel-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(work)) {
        pm_fail_errno(err, "cannot make a folder %s (TMPDIR)", work);
        free(work);
        return false;
    }
    session->work = work;
    return true;
}

static bool prepare(struct pm_run_session *session, const struct pm_parameters *first,
                    struct pm_error *err) {
    const struct pm_run_request *request = session->request;
    if (!make_work_folder(session, err))
        return false;
    session->store_path = request->store_path ? pm_strdup(request->store_path)
                                              : pm_sprintf("%s/runs.pmdb", session->work);
    session->settings = pm_settings_text(request, err);
    return session->settings && (request->build || prepare_copies(session, first, err)) &&
           open_store(session, false, err);
}

struct pm_run_session *pm_run_session_new(const struct pm_run_request *request,
                                          const struct pm_parameters *first, struct pm_error *err) {
    struct pm_run_session *session = pm_alloc(1, sizeof *session);
    session->request = request;
    session->last_seconds = session->last_peak_bytes = NAN;
    session->input_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (prepare(session, first, err))
        return session;
    pm_run_session_free(session);
    return NULL;
}

void pm_run_session_free(struct pm_run_session *session) {
    if (!session)
        return;
    pm_store_close(session->store);
    if (session->work)
        remove_folder(session->work);
    forget_copies(session);
    pm_structure_free(session->structure);
    free(session->work);
    free(session->store_path);
    free(session->settings);
    free(session);
}

const struct pm_structure *pm_run_session_structure(const struct pm_run_session *session) {
    return session->copies.structure;
}

struct pm_store *pm_run_session_store(struct pm_run_session *session) {
    return session->store;
}

void pm_run_session_last_cost(const struct pm_run_session *session, double *wall_seconds,
                              double *peak_bytes) {
    *wall_seconds = session->last_seconds;
    *peak_bytes = session->last_peak_bytes;
}
