/* Running the command at one size: its folder, its environment, a run that counts, and runs with
   timers. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/bound_abi.h"
#include "core/probe_abi.h"
#include "measure/bounding/bounding.h"
#include "measure/command/command.h"
#include "measure/interruption.h"
#include "measure/outside_time.h"
#include "measure/private.h"

/* ---- folders --------------------------------------------------------------------------------- */

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

bool pm_make_folder(const char *path, struct pm_error *err) {
    return mkdir(path, 0777) == 0 || errno == EEXIST || pm_fail_errno(err, "cannot make %s", path);
}

/* Where the run takes place: NULL is the current folder.  A run with input files gets a folder of
   its own in any case, because they would otherwise replace the user's files. */
static bool make_run_folder(const struct pm_measure_session *session,
                            const struct pm_parameters *at, char **folder, struct pm_error *err) {
    const struct pm_measure_request *request = session->request;
    *folder = NULL;
    if (!request->scratch && !request->n_inputs)
        return true;
    if (request->scratch && !pm_make_folder(request->scratch, err))
        return false;
    char *parent = request->scratch
                       ? pm_absolute_path(request->scratch, err)
                       : pm_sprintf("%s/inputs", session->shared_folder ? session->shared_folder
                                                                        : session->work.path);
    if (!parent)
        return false;
    bool ok = pm_make_folder(parent, err);
    *folder = size_folder(parent, at);
    free(parent);
    ok = ok && pm_make_folder(*folder, err);
    for (size_t i = 0; ok && i < request->n_inputs; i++) {
        const char *to = request->inputs[i].to;
        char *file = to[0] == '/' ? pm_strdup(to) : pm_sprintf("%s/%s", *folder, to);
        ok = pm_substitute_file(request->inputs[i].from, file, at, err);
        free(file);
    }
    return ok;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* Fills the options for block sizes, and for the larger ones whose short distances stay apart; the
   number of texts. */
static size_t put_block_sizes(const struct pm_measure_session *session, char **texts) {
    char *blocks = pm_block_sizes_text(&session->blocks, 0, ",");
    char *apart = pm_block_sizes_text(&session->apart, session->blocks.bytes[0] + 1, ",");
    size_t n = 0;
    texts[n++] = pm_sprintf(PM_ENV_BLOCK "=%s", blocks);
    if (*apart)
        texts[n++] = pm_sprintf(PM_ENV_APART "=%s", apart);
    free(blocks);
    free(apart);
    return n;
}

/* What a run measures beside counts. */
enum measured { REUSE, TIMES, PROFILE };

/* What the program's environment has beside pmodel's own.  RAW: where it writes what it measures;
   NULL: it measures nothing.  With times, and BOUNDS, what that file says (PM_ENV_BOUND). */
static char **run_environment(const struct pm_sized_run *run, const char *raw,
                              enum measured measured, const char *bounds, struct pm_error *err) {
    const struct pm_measure_request *request = run->session->request;
    size_t n = request->n_environment;
    char **own = pm_substitute_all(request->environment, n, run->at, err);
    if (!own)
        return NULL;
    enum { MOST_OF_PMODEL = 20 };
    own = pm_realloc(own, n + MOST_OF_PMODEL + 1, sizeof *own);
    char *sockets = pm_event_choice_sockets(&request->copies.events);
    if (raw)
        own[n++] = pm_sprintf(PM_ENV_OUT "=%s", raw);
    if (raw && measured != TIMES && request->checkpoint_seconds)
        own[n++] = pm_sprintf(PM_ENV_CHECKPOINT "=%u", request->checkpoint_seconds);
    if (raw && measured != TIMES && run->session->wrapper)
        own[n++] = pm_strdup(PM_ENV_COMMUNICATION "=1");
    else if (raw && !bounds && run->session->wrapper)
        own[n++] = pm_strdup(PM_ENV_COMMUNICATION "=" PM_COMMUNICATION_TIMES);
    if (raw && measured != TIMES && sockets)
        own[n++] = pm_sprintf(PM_ENV_SOCKETS "=%s", sockets);
    free(sockets);
    if (raw && measured != TIMES && request->copies.behaviour)
        own[n++] = pm_strdup(PM_ENV_BEHAVIOUR "=1");
    if (request->handler)
        own[n++] = pm_sprintf(PM_ENV_HANDLER "=%s", request->handler);
    if (raw && bounds) {
        own[n++] = pm_sprintf(PM_ENV_BOUND "=%s", bounds);
    } else if (raw && measured == TIMES) {
        own[n++] = pm_strdup(PM_ENV_TIME "=1");
    } else if (raw && measured == PROFILE) {
        own[n++] = pm_profiling_window_setting(&request->profiling);
        own[n++] = pm_profiling_machines_setting(&request->profiling);
        if (request->second_core)
            own[n++] = pm_strdup(PM_ENV_SECOND_CORE "=1");
    } else if (raw && run->session->blocks.n) {
        n += put_block_sizes(run->session, own + n);
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
        if (request->write_backs)
            own[n++] = pm_strdup(PM_ENV_WRITE_BACKS "=1");
        if (request->interval_memory)
            own[n++] = pm_strdup(PM_ENV_INTERVAL_MEMORY "=1");
    }
    own[n] = NULL;
    return own;
}

static bool is_traced(char *const *environment) {
    while (*environment &&
           strncmp(*environment, PM_ENV_COMMUNICATION "=", sizeof PM_ENV_COMMUNICATION) != 0)
        environment++;
    return *environment != NULL;
}

/* The command with FILES laid over their originals. */
static struct pm_launch launch_of(const struct pm_sized_run *run, const struct pm_copy *files,
                                  size_t n_files, char *const *environment) {
    enum { GRACE_SECONDS = 5 };
    const struct pm_measure_request *request = run->session->request;
    return (struct pm_launch){
        .argv = run->argv,
        .command_path = run->session->command_path,
        .files = files,
        .n_files = n_files,
        .runtime = request->copies.runtime,
        .wrapper = is_traced(environment) ? run->session->wrapper : NULL,
        .folder = run->folder,
        .environment = environment,
        .timeout_seconds = request->timeout_seconds,
        .grace_seconds = request->keep_partial ? GRACE_SECONDS : 0,
        .output_to_errors = request->output_to_errors,
    };
}

/* Each run reads standard input from where it stood at first, if that is a file. */
static bool launch(const struct pm_sized_run *run, const struct pm_launch *what,
                   struct pm_launch_result *result, struct pm_error *err) {
    if (run->session->input_at >= 0)
        lseek(STDIN_FILENO, run->session->input_at, SEEK_SET);
    *result = (struct pm_launch_result){0};
    return pm_launch_run(what, result, err);
}

/* Of an MPI program of which not all ranks left something. */
static bool take_in_part(const struct pm_measure_request *request,
                         const struct pm_ingested *ingested, char **truncated,
                         struct pm_error *err) {
    if (!request->keep_partial)
        return pm_fail(err,
                       "ranks %s of %u left no raw file: they died, or run another program than "
                       "the one that was instrumented (--keep-partial keeps what the others did)",
                       ingested->missing_ranks, ingested->ranks.ranks[0].size);
    *truncated =
        pm_sprintf("lacks ranks %s of %u", ingested->missing_ranks, ingested->ranks.ranks[0].size);
    return true;
}

/* What the processes of a run that was launched left.  *TRUNCATED: how it ended, if that was before
   its end and it is kept all the same; owned by the caller.  A run that ended in another way than
   well is left out unless a signal or the end of its time was the cause. */
static bool take_in(const struct pm_sized_run *run, const char *raw,
                    const struct pm_launch *launched, struct pm_launch_result *result,
                    struct pm_ingested *ingested, char **truncated, struct pm_error *err) {
    const struct pm_measure_request *request = run->session->request;
    struct pm_error why = {0};
    bool ended_well = pm_launch_check(launched, result, &why);
    bool ok = (ended_well || request->keep_partial) &&
              pm_ingest(raw, &run->session->copies, run->at, run->session->blocks.bytes,
                        run->session->blocks.n, request->carry, !ended_well,
                        request->rank_tolerance_percent / 100, ingested, err);
    if (ended_well && ok && ingested->missing_ranks)
        return take_in_part(request, ingested, truncated, err);
    if (ended_well)
        return ok;
    if (ok && (WIFSIGNALED(result->status) || result->timed_out ||
               ingested->n_truncated + ingested->n_checkpoints)) {
        *truncated = pm_launch_ending(launched, result);
        if (ingested->missing_ranks)
            pm_append(truncated, ", and lacks ranks %s of %u", ingested->missing_ranks,
                      ingested->ranks.ranks[0].size);
        return true;
    }
    *err = why;
    return false;
}

/* "; 8 ranks in 2 groups, alike within 5%"; owned by the caller. */
static char *ranks_text(const struct pm_sized_run *run) {
    struct pm_ranks ranks = {0};
    struct pm_error ignored = {0};
    if (!pm_store_ranks(run->session->store, run->at, &ranks, &ignored))
        return pm_strdup("");
    unsigned n = pm_ranks_count(&ranks, PM_NONE, PM_NONE), groups = pm_ranks_n_groups(&ranks);
    char *text =
        n == 0 ? pm_strdup("")
               : pm_sprintf("; %u rank%s in %u group%s, alike within %g%%", n, n == 1 ? "" : "s",
                            groups, groups == 1 ? "" : "s", 100 * ranks.tolerance);
    pm_ranks_free(&ranks);
    return text;
}

/* "; 9670 intervals of 16 kinds in 34 kB"; owned by the caller. */
static char *intervals_text(const struct pm_sized_run *run, const struct pm_intervals *intervals) {
    struct pm_error none = {0};
    uint64_t n;
    size_t n_kinds;
    double bytes = 0;
    if (!intervals)
        return pm_strdup("");
    pm_intervals_count(intervals, &n, &n_kinds);
    pm_store_interval_bytes(run->session->store, run->at, &bytes, &none);
    return pm_sprintf("; %llu interval%s of %zu kind%s in %.3g kB", (unsigned long long)n,
                      n == 1 ? "" : "s", n_kinds, n_kinds == 1 ? "" : "s", bytes / 1000);
}

static void say_run(const struct pm_sized_run *run, const struct pm_launch_result *result,
                    const struct pm_ingested *ingested, const char *truncated) {
    struct pm_measure_session *session = run->session;
    char *size = pm_parameters_text(run->at);
    session->last_seconds = result->wall_seconds;
    session->last_peak_bytes = result->peak_bytes;
    char *ranks = ranks_text(run), *intervals = intervals_text(run, ingested->intervals);
    pm_progress_say(&session->progress, "%s  %.2f s, %.4g accesses%s%s%s%s%s%s", size,
                    result->wall_seconds, ingested->accesses, ranks, intervals,
                    truncated ? "; kept, although it " : "", truncated ? truncated : "",
                    ingested->notes ? "; " : "", ingested->notes ? ingested->notes : "");
    free(ranks);
    free(intervals);
    free(size);
    if (!result->in_place && !session->in_place_reported)
        pm_progress_say(
            &session->progress,
            "this system allows no mount namespace, so the program ran under another "
            "file name (/proc/self/exe)%s",
            session->copies.n_files > 1 ? ", and its libraries were found by LD_LIBRARY_PATH" : "");
    session->in_place_reported = true;
}

/* The profile of basic blocks that a run measured goes to the store's run of this size. */
static bool put_profile(const struct pm_sized_run *run, struct pm_ingested *ingested,
                        const struct pm_launch_result *result, struct pm_error *err) {
    struct pm_measure_session *session = run->session;
    if (!ingested->blocks)
        return pm_fail(err, "the run left no profile of its basic blocks: %s",
                       ingested->notes ? ingested->notes : "none of its accesses were recorded");
    ingested->blocks->cpu_seconds = result->cpu_seconds;
    ingested->blocks->notes = ingested->notes ? pm_strdup(ingested->notes) : NULL;
    return pm_profiling_complete(&session->request->profiling, ingested->blocks, ingested->n_served,
                                 err) &&
           pm_store_put_block_profile(session->store, run->at, ingested->blocks, err);
}

static void say_profile(const struct pm_sized_run *run, const struct pm_launch_result *result,
                        const struct pm_ingested *ingested) {
    char *size = pm_parameters_text(run->at);
    pm_progress_say(&run->session->progress, "%s  profiled %zu basic blocks in %.2f s%s%s", size,
                    ingested->blocks->n_blocks, result->wall_seconds, ingested->notes ? "; " : "",
                    ingested->notes ? ingested->notes : "");
    free(size);
}

/* The run that is in the store once more, for its profile. */
static bool add_profile(struct pm_sized_run *run, struct pm_error *err) {
    struct pm_measure_session *session = run->session;
    char *parent = pm_sprintf("%s/profiles", session->work.path);
    char *raw = size_folder(parent, run->at);
    char **environment = run_environment(run, raw, PROFILE, NULL, err);
    const struct pm_launch launched =
        launch_of(run, session->copies.files, session->copies.n_files, environment);
    struct pm_launch_result result;
    struct pm_ingested ingested = {0};
    free(run->folder);
    run->folder = NULL;
    bool ok = environment && make_run_folder(session, run->at, &run->folder, err) &&
              pm_make_folder(parent, err) && pm_make_folder(raw, err) &&
              launch(run, &launched, &result, err) && pm_launch_check(&launched, &result, err) &&
              pm_ingest(raw, &session->copies, run->at, NULL, 0, false, false,
                        session->request->rank_tolerance_percent / 100, &ingested, err) &&
              put_profile(run, &ingested, &result, err);
    if (ok)
        say_profile(run, &result, &ingested);
    pm_ingested_free(&ingested);
    pm_free_strings(environment);
    pm_remove_folder(raw);
    free(raw);
    free(parent);
    return ok;
}

/* A run that measures no reuse distances may as well profile basic blocks. */
static bool profiles_at_once(const struct pm_sized_run *run) {
    return run->session->request->profiling.wanted && run->session->blocks.n == 0;
}

/* *IS_WHOLE: the run came to its end; *WAS_READ: what it left is fit for the store. */
static bool keep(const struct pm_sized_run *run, const char *raw, const struct pm_launch *launched,
                 struct pm_launch_result *result, double started, bool *is_whole, bool *was_read,
                 struct pm_error *err) {
    struct pm_measure_session *session = run->session;
    const bool profiles = profiles_at_once(run);
    struct pm_ingested ingested = {0};
    char *truncated = NULL;
    *was_read = take_in(run, raw, launched, result, &ingested, &truncated, err);
    bool ok = *was_read &&
              pm_session_put(session, &ingested, result, truncated, started, run->argv, err) &&
              (!profiles || truncated || put_profile(run, &ingested, result, err));
    if (ok && profiles && !truncated)
        say_profile(run, result, &ingested);
    else if (ok)
        say_run(run, result, &ingested, truncated);
    *is_whole = !truncated;
    free(truncated);
    pm_ingested_free(&ingested);
    return ok;
}

static bool count(const struct pm_sized_run *run, const char *raw, bool *is_whole,
                  struct pm_error *err) {
    const struct pm_copies *copies = &run->session->copies;
    char **environment =
        run_environment(run, raw, profiles_at_once(run) ? PROFILE : REUSE, NULL, err);
    if (!environment)
        return false;
    const struct pm_launch launched = launch_of(run, copies->files, copies->n_files, environment);
    struct pm_launch_result result;
    double started = (double)time(NULL);
    bool was_read;
    bool ok = launch(run, &launched, &result, err) &&
              keep(run, raw, &launched, &result, started, is_whole, &was_read, err);
    pm_free_strings(environment);
    return ok;
}

/* ---- through a launcher ----------------------------------------------------------------------
 */

bool pm_sized_run_begin(struct pm_sized_run *run, struct pm_measure_session *session,
                        const struct pm_parameters *at, const struct pm_copy *files,
                        struct pm_error *err) {
    *run = (struct pm_sized_run){.session = session, .at = at};
    run->argv = pm_substitute_all(session->request->argv, pm_count_strings(session->request->argv),
                                  at, err);
    run->environment = run->argv ? run_environment(run, "raw", REUSE, NULL, err) : NULL;
    if (!run->environment || !make_run_folder(session, at, &run->folder, err))
        return false;
    run->launch = launch_of(run, files, session->copies.n_files, run->environment);
    return true;
}

bool pm_sized_run_keep(const struct pm_sized_run *run, const char *raw,
                       struct pm_launch_result *result, double started, bool *was_read,
                       struct pm_error *err) {
    bool is_whole;
    return keep(run, raw, &run->launch, result, started, &is_whole, was_read, err);
}

void pm_sized_run_end(struct pm_sized_run *run) {
    pm_free_strings(run->argv);
    pm_free_strings(run->environment);
    free(run->folder);
}

/* ---- timing it ------------------------------------------------------------------------------- */

/* Its output goes nowhere, and it must end well. */
static bool launch_plainly(const struct pm_sized_run *run, const struct pm_copy *files,
                           size_t n_files, char *const *environment,
                           struct pm_launch_result *result, struct pm_error *err) {
    struct pm_launch launched = launch_of(run, files, n_files, environment);
    launched.silent = true;
    launched.grace_seconds = 0;
    return launch(run, &launched, result, err) && pm_launch_check(&launched, result, err);
}

/* A pm_timing_launcher.  Input files are made anew, since the run before may have changed them. */
static bool launch_silently(void *context, const struct pm_copy *files, size_t n_files,
                            const char *folder, const char *bounds, struct pm_launch_result *result,
                            struct pm_error *err) {
    struct pm_sized_run run = *(const struct pm_sized_run *)context;
    char **environment = run_environment(&run, folder, TIMES, bounds, err);
    bool ok = environment && make_run_folder(run.session, run.at, &run.folder, err) &&
              launch_plainly(&run, files, n_files, environment, result, err);
    if (environment)
        free(run.folder);
    pm_free_strings(environment);
    return ok;
}

static void say_times(const struct pm_sized_run *run, const struct pm_times *times) {
    char *size = pm_parameters_text(run->at);
    size_t n_entered = 0;
    for (size_t i = 0; i < times->n_scopes; i++)
        n_entered += times->scopes[i].entries > 0;
    char *share = isnan(times->core_share)
                      ? NULL
                      : pm_sprintf("; the host gave %.2f of a core", times->core_share);
    pm_progress_say(&run->session->progress,
                    "%s  timed %zu loops and routines; with timers the program took %.3f times its "
                    "plain %.3g s%s%s%s",
                    size, n_entered, times->over_plain, times->plain_seconds, share ? share : "",
                    times->notes ? "; " : "", times->notes ? times->notes : "");
    free(share);
    free(size);
}

/* The run of this size is in the store. */
static bool add_times(struct pm_sized_run *run, struct pm_error *err) {
    struct pm_measure_session *session = run->session;
    const struct pm_timing_request request = {
        .instrument = &session->request->copies,
        .n_runs = session->request->time_runs,
        .cost_percent = session->request->time_cost_percent,
        .launcher = {launch_silently, run},
        .listener = session->request->times_listener,
        .gauge = session->request->gauge,
    };
    char *parent = pm_sprintf("%s/times", session->work.path),
         *folder = size_folder(parent, run->at);
    struct pm_profile *profile = pm_store_profile(session->store, run->at, err);
    struct pm_times *times = NULL;
    struct pm_call_times *calls = NULL;
    if (profile && pm_profile_fits(profile, session->copies.structure, err) &&
        pm_make_folder(parent, err) && pm_make_folder(folder, err))
        times = pm_measure_times(&request, &session->copies, profile, folder, &session->lifts,
                                 &calls, err);
    bool ok = times && pm_store_put_times(session->store, run->at, times, err) &&
              (!calls || pm_store_put_call_times(session->store, session->copies.structure, run->at,
                                                 calls, err));
    if (ok)
        say_times(run, times);
    pm_remove_folder(folder);
    if (profile)
        pm_profile_free(profile);
    pm_times_free(times);
    pm_call_times_free(calls);
    free(folder);
    free(parent);
    return ok;
}

/* ---- lower bounds ---------------------------------------------------------------------------- */

/* The run of this size is in the store, with times. */
static bool add_bounds(struct pm_sized_run *run, struct pm_error *err) {
    struct pm_measure_session *session = run->session;
    const struct pm_bounding_request request = {
        .instrument = &session->request->copies,
        .least_share = session->request->bound_share,
        .choice = session->request->bound_choice,
        .cycle_seconds = session->request->bound_cycle_seconds,
        .every = session->request->bound_every,
        .launcher = {launch_silently, run},
    };
    char *parent = pm_sprintf("%s/bounds", session->work.path),
         *folder = size_folder(parent, run->at);
    struct pm_profile *profile = pm_store_profile(session->store, run->at, err);
    struct pm_times *times = profile ? pm_store_times(session->store, run->at, err) : NULL;
    struct pm_bounds *bounds = NULL;
    if (times && pm_profile_fits(profile, session->copies.structure, err) &&
        pm_times_fit(times, session->copies.structure, err) && pm_make_folder(parent, err) &&
        pm_make_folder(folder, err))
        bounds = pm_measure_bounds(&request, &session->copies, profile, times, folder,
                                   &session->lifts, err);
    bool ok = bounds && pm_store_put_bounds(session->store, run->at, bounds, err);
    pm_remove_folder(folder);
    if (profile)
        pm_profile_free(profile);
    pm_times_free(times);
    pm_bounds_free(bounds);
    free(folder);
    free(parent);
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool pm_measure_one_size(struct pm_measure_session *session, const struct pm_parameters *at,
                         struct pm_in_store there, struct pm_error *err) {
    const struct pm_measure_request *request = session->request;
    struct pm_sized_run run = {.session = session, .at = at};
    run.argv = pm_substitute_all(request->argv, pm_count_strings(request->argv), at, err);
    char *raw_parent = pm_sprintf("%s/raw", session->work.path);
    char *raw = size_folder(raw_parent, at);
    bool ok = run.argv != NULL, is_whole = true;
    pm_interruption_hold();
    if (ok && !there.run)
        ok = pm_make_folder(raw_parent, err) && pm_make_folder(raw, err) &&
             make_run_folder(session, at, &run.folder, err) && count(&run, raw, &is_whole, err);
    if (ok && !there.profile && is_whole && (there.run || !profiles_at_once(&run)) &&
        !pm_interrupting_signal())
        ok = add_profile(&run, err);
    if (ok && request->time_runs && !there.times && is_whole && !pm_interrupting_signal())
        ok = add_times(&run, err);
    if (ok && request->bound && is_whole && !pm_interrupting_signal())
        ok = add_bounds(&run, err);
    pm_interruption_release();
    free(run.folder);
    free(raw);
    free(raw_parent);
    pm_free_strings(run.argv);
    return ok;
}

/* ---- where time goes ------------------------------------------------------------------------- */

static bool is_one_of(char *const *paths, size_t n, const char *path) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(paths[i], path) == 0)
            return true;
    return false;
}

/* What the session knows of the files. */
static void judge_files(const struct pm_measure_session *session, struct pm_file_times *times) {
    const struct pm_copies *copies = &session->copies;
    for (size_t i = 0; i < times->n_files; i++) {
        struct pm_file_time *file = &times->files[i];
        for (size_t k = 0; file->path && k < copies->n_files; k++)
            file->measured |= strcmp(file->path, copies->files[k].original) == 0;
        file->measurable =
            file->path && is_one_of(copies->measurable, copies->n_measurable, file->path);
    }
}

/* Runs the command as it is, and fills TIMES with where its time goes; nothing where that cannot be
   told. */
static bool sample_files(struct pm_measure_session *session, const struct pm_parameters *at,
                         struct pm_file_times *times, struct pm_error *err) {
    const struct pm_measure_request *request = session->request;
    struct pm_sized_run run = {.session = session, .at = at};
    run.argv = pm_substitute_all(request->argv, pm_count_strings(request->argv), at, err);
    char **environment = run.argv ? run_environment(&run, NULL, REUSE, NULL, err) : NULL;
    bool ok = environment && make_run_folder(session, at, &run.folder, err);
    const struct pm_sampled_command command = {.argv = run.argv,
                                               .command_path = session->command_path,
                                               .program = session->program,
                                               .folder = run.folder,
                                               .environment = environment,
                                               .timeout_seconds = request->timeout_seconds};
    if (ok && session->input_at >= 0)
        lseek(STDIN_FILENO, session->input_at, SEEK_SET);
    if (ok && !pm_sample_files(&command, times))
        pm_file_times_free(times);
    if (environment)
        free(run.folder);
    pm_free_strings(environment);
    pm_free_strings(run.argv);
    return ok;
}

bool pm_note_other_files(struct pm_measure_session *session, const struct pm_parameters *at,
                         struct pm_error *err) {
    const struct pm_copies *copies = &session->copies;
    struct pm_file_times times = {0};
    if (copies->n_measurable == 0 || !session->store)
        return true;
    bool ok = !session->request->sample_files || sample_files(session, at, &times, err);
    for (size_t i = 0; i < copies->n_measurable; i++)
        pm_file_times_add(&times, copies->measurable[i], 0);
    judge_files(session, &times);
    ok = ok && pm_store_put_file_times(session->store, at, &times, err);
    pm_file_times_free(&times);
    return ok;
}
