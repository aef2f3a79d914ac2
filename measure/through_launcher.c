/* Sizes as jobs, several at once: what the store does not have is submitted, or found as a job of
   an earlier call, and taken in as it comes.

   Only counting runs go this way: runs with timers need a machine for themselves. */
#include <stdlib.h>
#include <string.h>

#include "measure/command/command.h"
#include "measure/interruption.h"
#include "measure/private.h"

/* A size that is waited for. */
struct awaited {
    const struct pm_parameters *at;
    struct pm_sized_run run;
    struct pm_job *job;
    bool is_done;
};

struct waiting {
    struct pm_measure_session *session;
    struct pm_measure_result *result;
    struct pm_jobs *jobs;
    struct pm_shared_copies shared; /* what jobs execute */
    PM_ARRAY(struct awaited, sizes);
    const struct pm_parameters *last; /* that was measured */
};

/* Beside the store, or where the user says that runs take place; owned by the caller. */
static char *job_folder(const struct pm_measure_session *session) {
    const char *scratch = session->request->scratch;
    return scratch ? pm_sprintf("%s/%s.jobs", scratch, pm_base_name(session->store_path))
                   : pm_sprintf("%s.jobs", session->store_path);
}

static void count_failure(struct waiting *all, const struct pm_error *why) {
    const struct pm_progress *progress = &all->session->progress;
    all->result->n_failed++;
    all->result->last_failure = *why;
    if (progress->fail)
        progress->fail(progress->context, why);
}

/* ---- what is to be run ----------------------------------------------------------------------- */

/* Takes the job of size AT, an earlier or a new one. */
static bool await_size(struct waiting *all, const struct pm_parameters *at, struct pm_error *err) {
    struct pm_measure_session *session = all->session;
    const char *options = session->request->launcher.options;
    struct awaited *size = PM_PUSH(all, sizes);
    size->at = at;
    char *own = options ? pm_substitute(options, at, err) : NULL;
    bool ok =
        (own || !options) && pm_sized_run_begin(&size->run, session, at, all->shared.files, err);
    char *description =
        ok ? pm_job_describe(&size->run.launch, &all->shared, pm_jobs_span_nodes(all->jobs)) : NULL;
    if (description)
        size->job = pm_jobs_take(all->jobs, description, own);
    free(description);
    free(own);
    size->is_done = !size->job;
    return size->job != NULL;
}

/* Sizes that the store does not have. */
static bool find_sizes(struct waiting *all, const struct pm_parameters *sizes, size_t n_sizes,
                       struct pm_error *err) {
    struct pm_measure_session *session = all->session;
    for (size_t n = 0; n < n_sizes; n++) {
        struct pm_in_store there;
        struct pm_error why = {0};
        if (!pm_session_check_interruption(session, err) ||
            !pm_session_look(session, &sizes[n], &there, err))
            return false;
        if (there.run) {
            if (!pm_store_put_formulas(session->store, &sizes[n], &session->request->formulas, err))
                return false;
            all->result->n_there++;
        } else if (!await_size(all, &sizes[n], &why)) {
            count_failure(all, &why);
        }
    }
    return true;
}

static size_t count_jobs(const struct waiting *all, enum pm_job_state state) {
    size_t n = 0;
    for (size_t i = 0; i < all->n_sizes; i++)
        n += !all->sizes[i].is_done && all->sizes[i].job->state == state;
    return n;
}

static void submit(struct waiting *all) {
    const struct pm_progress *progress = &all->session->progress;
    struct pm_error why = {0};
    size_t n_dropped = pm_jobs_drop_rest(all->jobs);
    size_t n_ended = count_jobs(all, PM_JOB_ENDED), n_there = count_jobs(all, PM_JOB_SUBMITTED),
           n_new = count_jobs(all, PM_JOB_NEW);
    if (n_dropped)
        pm_progress_say(progress, "%zu jobs of another command were cancelled", n_dropped);
    if (n_ended + n_there)
        pm_progress_say(progress, "jobs of an earlier call: %zu have ended, %zu wait or run",
                        n_ended, n_there);
    pm_jobs_submit(all->jobs, &why);
    if (n_new)
        pm_progress_say(progress, "%zu jobs submitted", n_new - count_jobs(all, PM_JOB_REFUSED));
    size_t n_refused = count_jobs(all, PM_JOB_REFUSED);
    if (n_refused == 0)
        return;
    pm_fail_in(&why, "%zu sizes are left out", n_refused);
    for (size_t i = 0; i < all->n_sizes; i++)
        if (!all->sizes[i].is_done && all->sizes[i].job->state == PM_JOB_REFUSED) {
            all->sizes[i].is_done = true;
            all->result->n_failed++;
            pm_jobs_remove(all->jobs, all->sizes[i].job);
        }
    all->result->last_failure = why;
    if (progress->fail)
        progress->fail(progress->context, &why);
}

/* ---- what comes back -------------------------------------------------------------------------
 */

/* A job that was told to end, and had the time to say so. */
static bool check_ending(const struct pm_measure_session *session, const struct pm_job *job,
                         const struct pm_launch_result *result, struct pm_error *err) {
    return !result->interrupted || session->request->keep_partial || pm_interrupting_signal() ||
           pm_fail(err,
                   "its job (%s) was told to end before its command had ended: cancelled, or out "
                   "of its time in the queue? the size is left out, and the same command runs it "
                   "again",
                   job->id ? job->id : "here");
}

/* What cannot be put into the store stays in the job's folder, for the next call. */
static void take_result(struct waiting *all, struct awaited *size) {
    struct pm_measure_session *session = all->session;
    struct pm_launch_result result;
    struct pm_error why = {0};
    double started;
    char *raw = pm_job_raw_folder(size->job->folder);
    struct pm_in_store there; /* it also says of which block sizes the run is */
    bool can_read = pm_session_look(session, size->at, &there, &why);
    bool ok = can_read && pm_job_result(size->job->folder, &result, &started, &why) &&
              check_ending(session, size->job, &result, &why);
    if (ok)
        pm_job_pass_on(size->job->folder, session->request->output_to_errors);
    bool was_read = !can_read;
    ok = ok && pm_sized_run_keep(&size->run, raw, &result, started, &was_read, &why);
    free(raw);
    size->is_done = true;
    if (ok) {
        all->result->n_measured++;
        all->last = size->at;
    } else if (!pm_interrupting_signal()) {
        char *text = pm_parameters_text(size->at);
        pm_fail_in(&why, "%s", text);
        free(text);
        count_failure(all, &why);
    }
    if (ok || !was_read)
        pm_jobs_remove(all->jobs, size->job);
}

static void give_up(struct waiting *all, struct awaited *size) {
    struct pm_error why = {0};
    char *text = pm_parameters_text(size->at), *words = pm_job_last_words(size->job->folder);
    const char *id = size->job->id ? size->job->id : "here";
    if (pm_jobs_have_no_room(all->jobs))
        pm_fail(&why,
                "%s: its job (%s) could not leave its result: there is no room on the disk that "
                "has %s; the size is left out",
                text, id, size->job->folder);
    else
        pm_fail(&why,
                "%s: its job (%s) ended without a result: the queue or the node ended it%s%s; the "
                "size is left out, and the same command runs it again",
                text, id, *words ? ", last saying: " : "", words);
    free(words);
    free(text);
    size->is_done = true;
    pm_jobs_remove(all->jobs, size->job);
    count_failure(all, &why);
}

/* True if jobs are still waited for. */
static bool take_results(struct waiting *all) {
    bool some_wait = false;
    for (size_t i = 0; i < all->n_sizes; i++) {
        struct awaited *size = &all->sizes[i];
        if (size->is_done)
            continue;
        if (size->job->state == PM_JOB_ENDED)
            take_result(all, size);
        else if (size->job->state == PM_JOB_LOST)
            give_up(all, size);
        else
            some_wait = true;
    }
    return some_wait;
}

/* After an interruption: what is whole is kept, the rest goes. */
static void end_jobs(struct waiting *all) {
    pm_jobs_cancel(all->jobs);
    for (size_t i = 0; i < all->n_sizes; i++) {
        struct awaited *size = &all->sizes[i];
        if (!size->is_done && size->job->state == PM_JOB_ENDED)
            take_result(all, size);
        else if (!size->is_done)
            pm_jobs_remove(all->jobs, size->job);
    }
}

static void wait_for_jobs(struct waiting *all) {
    bool detach = all->session->request->launcher.detach;
    pm_jobs_look(all->jobs);
    while (take_results(all) && !detach && !pm_interrupting_signal()) {
        pm_jobs_wait(all->jobs);
        if (!pm_interrupting_signal())
            pm_jobs_look(all->jobs);
    }
    if (pm_interrupting_signal() && !detach)
        end_jobs(all);
    all->result->n_waiting = count_jobs(all, PM_JOB_SUBMITTED);
}

bool pm_measure_through_launcher(struct pm_measure_session *session,
                                 const struct pm_parameters *sizes, size_t n_sizes,
                                 struct pm_measure_result *result, struct pm_error *err) {
    const struct pm_copies *copies = &session->copies;
    struct waiting all = {.session = session, .result = result};
    char *folder = job_folder(session);
    bool ok = !session->request->scratch || pm_make_folder(session->request->scratch, err);
    all.jobs =
        ok ? pm_jobs_open(&session->request->launcher, folder, &session->progress, err) : NULL;
    session->shared_folder = folder;
    pm_interruption_hold();
    ok = all.jobs && pm_jobs_share(all.jobs, copies->files, copies->n_files, &all.shared, err) &&
         find_sizes(&all, sizes, n_sizes, err);
    if (ok) {
        submit(&all);
        wait_for_jobs(&all);
        ok = pm_session_finish(session, all.last, result, err);
    }
    for (size_t i = 0; i < all.n_sizes; i++)
        pm_sized_run_end(&all.sizes[i].run);
    free(all.sizes);
    pm_jobs_close(all.jobs);
    pm_interruption_release();
    pm_shared_copies_free(&all.shared);
    session->shared_folder = NULL;
    free(folder);
    return ok;
}
