/* The jobs of a folder: FOLDER/SUBMISSION/INDEX for each, FOLDER/copies for what they execute.

   Numbers of submissions only rise, so that a job that was given up, and may yet run, never writes
   where another one does.  The folder has a locked file: one process at a time waits for its jobs.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "measure/command/command.h"
#include "measure/interruption.h"
#include "measure/launchers/private.h"
#include "measure/private.h"

/* How long a look at processes of this machine, or at a queue that is to be asked all the time, is
   apart from the next. */
enum { SHORT_WAIT_MS = 20, MOST_END_SECONDS = 10, LITTLE_ROOM = 1 << 20 };

/* ---- the folder ------------------------------------------------------------------------------ */

static bool lock_folder(struct pm_jobs *jobs, struct pm_error *err) {
    char *path = pm_sprintf("%s/lock", jobs->folder), host[256] = "";
    jobs->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    bool ok = jobs->lock >= 0 || pm_fail_errno(err, "cannot make %s", path);
    gethostname(host, sizeof host - 1);
    if (ok && flock(jobs->lock, LOCK_EX | LOCK_NB) != 0) {
        char *who = pm_read_text(path, NULL);
        ok = pm_fail(err,
                     "another pmodel%s%s waits for the jobs in %s: let it end, or end it; what it "
                     "has measured until then is kept",
                     who && *who ? ", " : "", who ? who : "", jobs->folder);
        free(who);
    } else if (ok && ftruncate(jobs->lock, 0) == 0) {
        dprintf(jobs->lock, "process %d on %s", (int)getpid(), host);
    }
    free(path);
    return ok;
}

static bool is_number(const char *text) { return *text && !text[strspn(text, "0123456789")]; }

/* Names of folders in FOLDER that are numbers, ascending; NULL at the end. */
static char **numbers_in(const char *folder) {
    struct {
        PM_ARRAY(char *, names);
    } found = {0};
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, versionsort);
    for (int i = 0; i < n; i++) {
        if (is_number(entries[i]->d_name))
            *PM_PUSH(&found, names) = pm_strdup(entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    *PM_PUSH(&found, names) = NULL;
    return found.names;
}

/* One without a description was not submitted. */
static void find_job(struct pm_jobs *jobs, const char *submission, const char *index) {
    char *folder = pm_sprintf("%s/%s", submission, index), *path = pm_sprintf("%s/job", folder);
    char *description = access(path, F_OK) == 0 ? pm_read_text(path, NULL) : NULL;
    char *id = jobs->launcher ? pm_batch_id(jobs, submission, index) : NULL;
    bool has_result = pm_job_has_result(folder);
    if (description && (has_result || id)) {
        struct pm_job *job = pm_alloc(1, sizeof *job);
        *job = (struct pm_job){.state = has_result ? PM_JOB_ENDED : PM_JOB_SUBMITTED,
                               .folder = folder,
                               .description = description,
                               .id = id};
        *PM_PUSH(jobs, list) = job;
    } else {
        pm_remove_folder(folder);
        free(folder);
        free(description);
        free(id);
    }
    free(path);
}

static void find_jobs(struct pm_jobs *jobs) {
    char **submissions = numbers_in(jobs->folder);
    for (size_t s = 0; submissions[s]; s++) {
        char *submission = pm_sprintf("%s/%s", jobs->folder, submissions[s]);
        char **indices = numbers_in(submission);
        for (size_t i = 0; indices[i]; i++)
            find_job(jobs, submission, indices[i]);
        unsigned number = (unsigned)strtoul(submissions[s], NULL, 10);
        jobs->last_number = number > jobs->last_number ? number : jobs->last_number;
        pm_free_strings(indices);
        free(submission);
    }
    pm_free_strings(submissions);
}

/* Only who submitted jobs can tell what became of them. */
static bool check_launcher(struct pm_jobs *jobs, struct pm_error *err) {
    char *path = pm_sprintf("%s/launcher", jobs->folder);
    const char *own = jobs->launcher ? jobs->launcher->path : "local";
    char *before = access(path, F_OK) == 0 ? pm_read_text(path, NULL) : NULL;
    bool ok = !before || strcmp(before, own) == 0 || strcmp(before, "local") == 0 ||
              pm_fail(err,
                      "%s has jobs that were submitted with --launcher %s: go on with that, or "
                      "cancel them and remove the folder",
                      jobs->folder, before);
    ok = ok && ((before && strcmp(before, own) == 0) || pm_put_file_whole(path, own, false, err));
    free(before);
    free(path);
    return ok;
}

static bool check_needs(const struct pm_launcher *launcher, struct pm_error *err) {
    for (char **name = launcher->needs; *name; name++) {
        char *path = pm_find_command(*name, err);
        if (!path)
            return pm_fail(err,
                           "there is no `%s` here, which %s needs: is this a machine that jobs are "
                           "submitted from?",
                           *name, launcher->path);
        free(path);
    }
    return true;
}

static char *own_program(struct pm_error *err) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0)
        return pm_sprintf("%.*s", (int)length, path);
    pm_fail_errno(err, "cannot find pmodel's own file through /proc/self/exe");
    return NULL;
}

struct pm_jobs *pm_jobs_open(const struct pm_launcher_request *request, const char *folder,
                             const struct pm_progress *progress, struct pm_error *err) {
    struct pm_jobs *jobs = pm_alloc(1, sizeof *jobs);
    *jobs = (struct pm_jobs){.request = request, .progress = progress, .lock = -1};
    bool ok = (jobs->pmodel = own_program(err)) &&
              (!request->path || (jobs->launcher = pm_launcher_read(request->path, err))) &&
              (!jobs->launcher || check_needs(jobs->launcher, err)) && pm_make_folder(folder, err);
    jobs->folder = ok ? realpath(folder, NULL) : NULL;
    ok = ok && lock_folder(jobs, err) && check_launcher(jobs, err);
    if (ok && !jobs->launcher)
        jobs->local = pm_local_new(jobs->pmodel, request->at_a_time);
    if (ok) {
        jobs->is_ours = true;
        find_jobs(jobs);
        return jobs;
    }
    pm_jobs_close(jobs);
    return NULL;
}

static void free_job(struct pm_job *job) {
    free(job->folder);
    free(job->description);
    free(job->options);
    free(job->id);
    free(job);
}

void pm_jobs_close(struct pm_jobs *jobs) {
    if (!jobs)
        return;
    size_t n_left = 0;
    pm_local_free(jobs->local);
    for (size_t i = 0; i < jobs->n_list; i++) {
        n_left += jobs->list[i]->folder != NULL;
        free_job(jobs->list[i]);
    }
    if (jobs->is_ours && n_left == 0)
        pm_remove_folder(jobs->folder);
    if (jobs->lock >= 0)
        close(jobs->lock);
    pm_launcher_free(jobs->launcher);
    free(jobs->list);
    free(jobs->folder);
    free(jobs->pmodel);
    free(jobs);
}

bool pm_jobs_span_nodes(const struct pm_jobs *jobs) { return jobs->launcher != NULL; }

bool pm_jobs_have_no_room(const struct pm_jobs *jobs) {
    struct statvfs status;
    return statvfs(jobs->folder, &status) == 0 && status.f_bavail * status.f_frsize < LITTLE_ROOM;
}

/* ---- the copies ------------------------------------------------------------------------------ */

static bool copy_to(const char *from, const char *to, struct pm_error *err) {
    struct stat status;
    char *partial = pm_sprintf("%s.part", to);
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int target = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777);
    bool ok = source >= 0 && target >= 0 && fstat(source, &status) == 0 &&
              fchmod(target, status.st_mode & 0777) == 0;
    for (ssize_t n = 1; ok && n > 0;)
        ok = (n = sendfile(target, source, NULL, 1 << 30)) >= 0;
    ok = (target < 0 || close(target) == 0) && ok && rename(partial, to) == 0;
    if (!ok)
        pm_fail_errno(err, "%s: cannot be written", to);
    if (source >= 0)
        close(source);
    free(partial);
    return ok;
}

/* PATH's folder, and those around it below PARENT. */
static bool make_folders(const char *parent, const char *path, struct pm_error *err) {
    bool ok = pm_make_folder(parent, err);
    for (const char *slash = path + strlen(parent) + 1; ok && (slash = strchr(slash, '/'));
         slash++) {
        char *folder = pm_sprintf("%.*s", (int)(slash - path), path);
        ok = pm_make_folder(folder, err);
        free(folder);
    }
    return ok;
}

/* ALL: of all copies and the places of their originals. */
static bool hash_all(const struct pm_copy *files, struct pm_shared_copies *shared, uint64_t *all,
                     struct pm_error *err) {
    *all = 0;
    for (size_t i = 0; i < shared->n; i++) {
        if (!pm_hash_file(files[i].original, &shared->originals[i], err) ||
            !pm_hash_file(files[i].instrumented, &shared->copies[i], err))
            return false;
        *all = XXH3_64bits_withSeed(&shared->copies[i], sizeof *shared->copies, *all);
        *all = XXH3_64bits_withSeed(files[i].original, strlen(files[i].original), *all);
    }
    return true;
}

bool pm_jobs_share(struct pm_jobs *jobs, const struct pm_copy *files, size_t n_files,
                   struct pm_shared_copies *shared, struct pm_error *err) {
    uint64_t hash;
    *shared = (struct pm_shared_copies){.files = pm_alloc(n_files, sizeof *shared->files),
                                        .originals = pm_alloc(n_files, sizeof *shared->originals),
                                        .copies = pm_alloc(n_files, sizeof *shared->copies),
                                        .n = n_files};
    if (!hash_all(files, shared, &hash, err))
        return false;
    size_t common = (size_t)(pm_base_name(files[0].instrumented) - files[0].instrumented);
    char *copies = pm_sprintf("%s/copies", jobs->folder);
    char *parent = pm_sprintf("%s/%016llx", copies, (unsigned long long)hash);
    bool ok = pm_make_folder(copies, err);
    for (size_t i = 0; i < n_files; i++) {
        struct pm_copy *to = &shared->files[i];
        *to = (struct pm_copy){.original = pm_strdup(files[i].original),
                               .instrumented =
                                   pm_sprintf("%s/%s", parent, files[i].instrumented + common)};
        ok = ok && make_folders(parent, to->instrumented, err) &&
             (access(to->instrumented, X_OK) == 0 ||
              copy_to(files[i].instrumented, to->instrumented, err));
    }
    free(parent);
    free(copies);
    return ok;
}

void pm_shared_copies_free(struct pm_shared_copies *shared) {
    for (size_t i = 0; i < shared->n; i++) {
        free(shared->files[i].original);
        free(shared->files[i].instrumented);
    }
    free(shared->files);
    free(shared->originals);
    free(shared->copies);
}

/* ---- taking and submitting ------------------------------------------------------------------- */

struct pm_job *pm_jobs_take(struct pm_jobs *jobs, const char *description, const char *options) {
    for (size_t i = 0; i < jobs->n_list; i++) {
        struct pm_job *job = jobs->list[i];
        if (!job->is_taken && job->folder && strcmp(job->description, description) == 0) {
            job->is_taken = true;
            return job;
        }
    }
    struct pm_job *job = pm_alloc(1, sizeof *job);
    *job = (struct pm_job){.description = pm_strdup(description),
                           .options = options ? pm_strdup(options) : NULL,
                           .is_taken = true};
    return *PM_PUSH(jobs, list) = job;
}

void pm_jobs_remove(struct pm_jobs *jobs, struct pm_job *job) {
    (void)jobs;
    if (job->folder) {
        pm_remove_folder(job->folder);
        *strrchr(job->folder, '/') = '\0';
        char *script = pm_sprintf("%s/script", job->folder), *id = pm_sprintf("%s/id", job->folder);
        char **others = numbers_in(job->folder);
        if (!others[0]) {
            unlink(script);
            unlink(id);
            rmdir(job->folder);
        }
        pm_free_strings(others);
        free(script);
        free(id);
    }
    free(job->folder);
    job->folder = NULL;
}

size_t pm_jobs_drop_rest(struct pm_jobs *jobs) {
    struct {
        PM_ARRAY(struct pm_job *, list);
    } rest = {0};
    size_t n_submitted = 0;
    for (size_t i = 0; i < jobs->n_list; i++)
        if (!jobs->list[i]->is_taken && jobs->list[i]->folder) {
            *PM_PUSH(&rest, list) = jobs->list[i];
            n_submitted += jobs->list[i]->state == PM_JOB_SUBMITTED;
        }
    if (n_submitted && jobs->launcher)
        pm_batch_cancel(jobs, rest.list, rest.n_list);
    for (size_t i = 0; i < rest.n_list; i++) {
        rest.list[i]->state = PM_JOB_LOST;
        pm_jobs_remove(jobs, rest.list[i]);
    }
    free(rest.list);
    return n_submitted;
}

static bool make_job_folder(struct pm_job *job, const char *submission, size_t index,
                            struct pm_error *err) {
    job->folder = pm_sprintf("%s/%zu", submission, index);
    char *path = pm_sprintf("%s/job", job->folder);
    bool ok =
        pm_make_folder(job->folder, err) && pm_put_file_whole(path, job->description, false, err);
    free(path);
    return ok;
}

/* Of one submission. */
static void submit_some(struct pm_jobs *jobs, struct pm_job *const *list, size_t n,
                        struct pm_error *why) {
    char *submission = pm_sprintf("%s/%u", jobs->folder, ++jobs->last_number);
    bool ok = pm_make_folder(submission, why);
    for (size_t i = 0; ok && i < n; i++)
        ok = make_job_folder(list[i], submission, i, why);
    for (size_t i = 0; i < n && (!ok || jobs->local); i++)
        if (ok)
            pm_local_add(jobs->local, list[i]);
        else
            list[i]->state = PM_JOB_REFUSED;
    if (ok && jobs->launcher)
        pm_batch_submit(jobs, list, n, submission, why);
    free(submission);
}

static bool has_same_options(const struct pm_job *a, const struct pm_job *b) {
    return strcmp(a->options ? a->options : "", b->options ? b->options : "") == 0;
}

void pm_jobs_submit(struct pm_jobs *jobs, struct pm_error *why) {
    size_t most = jobs->launcher ? jobs->launcher->most : jobs->n_list;
    struct pm_job **some = pm_alloc(jobs->n_list, sizeof(struct pm_job *));
    for (size_t first = 0; first < jobs->n_list; first++) {
        size_t n = 0;
        for (size_t i = first; i < jobs->n_list && n < most; i++)
            if (jobs->list[i]->state == PM_JOB_NEW && jobs->list[i]->is_taken &&
                (n == 0 ? i == first : has_same_options(jobs->list[i], some[0])))
                some[n++] = jobs->list[i];
        if (n)
            submit_some(jobs, some, n, why);
    }
    free(some);
}

/* ---- looking --------------------------------------------------------------------------------- */

void pm_jobs_look(struct pm_jobs *jobs) {
    struct pm_error why = {0};
    double settle = jobs->launcher ? jobs->launcher->settle : 0;
    if (jobs->local)
        pm_local_look(jobs->local);
    bool answers = !jobs->launcher || pm_batch_poll(jobs, &why);
    if (!answers && !jobs->has_complained)
        pm_progress_say(jobs->progress, "the queue does not answer, and is asked again: %s",
                        why.text);
    jobs->has_complained = !answers;
    for (size_t i = 0; i < jobs->n_list; i++) {
        struct pm_job *job = jobs->list[i];
        if (job->state != PM_JOB_SUBMITTED)
            continue;
        if (pm_job_has_result(job->folder))
            job->state = PM_JOB_ENDED;
        else if (answers && job->gone_since && pm_now_seconds() - job->gone_since >= settle)
            job->state = PM_JOB_LOST;
    }
}

void pm_jobs_wait(const struct pm_jobs *jobs) {
    unsigned seconds = jobs->launcher ? jobs->launcher->interval : 0;
    poll(NULL, 0, seconds ? (int)(1000 * seconds) : SHORT_WAIT_MS);
}

static bool some_are_alive(const struct pm_jobs *jobs) {
    for (size_t i = 0; i < jobs->n_list; i++)
        if (jobs->list[i]->state == PM_JOB_SUBMITTED && jobs->list[i]->gone_since == 0)
            return true;
    return false;
}

void pm_jobs_cancel(struct pm_jobs *jobs) {
    double end = pm_now_seconds() + MOST_END_SECONDS;
    if (jobs->local) {
        pm_local_cancel(jobs->local);
        pm_jobs_look(jobs);
    } else {
        pm_batch_cancel(jobs, jobs->list, jobs->n_list);
        do {
            poll(NULL, 0, 10 * SHORT_WAIT_MS);
            pm_jobs_look(jobs);
        } while (some_are_alive(jobs) && !jobs->has_complained && pm_now_seconds() < end);
    }
}
