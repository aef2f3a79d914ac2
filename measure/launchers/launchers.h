/* Jobs: commands at one size that run side by side, here or where a queue (Slurm, …) puts them.

   A job is a folder that its node and we share.  `job` in it says what is to be run (job.c); the
   node runs that as pmodel always does, and leaves raw files, what was printed, and, written last
   and whole or not at all, `result` (run_job.c).  We submit, look at the queue, and take in what
   has a result: only the process that the user started opens the store. */
#ifndef PM_LAUNCHERS_H
#define PM_LAUNCHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "measure/launch/launch.h"
#include "measure/progress.h"

/* ---- what the user asks for ------------------------------------------------------------------ */

/* Strings are borrowed. */
struct pm_launcher_request {
    bool wanted;
    const char *path;    /* file that describes the queue (launcher_file.c); NULL: this machine */
    unsigned at_a_time;  /* most jobs that run at once; 0: as many processors as there are here, or
                            what the queue allows */
    const char *options; /* for the queue's submitting command, with `{N}`; NULL: none */
    bool detach;         /* jobs are left to themselves once they are submitted */
};

/* ---- jobs of a folder (jobs.c) --------------------------------------------------------------- */

enum pm_job_state {
    PM_JOB_NEW,
    PM_JOB_SUBMITTED, /* it waits or runs */
    PM_JOB_ENDED,     /* it has a result */
    PM_JOB_LOST,      /* the queue does not know it any more, and it has none */
    PM_JOB_REFUSED,   /* it could not be submitted */
};

struct pm_job {
    enum pm_job_state state;
    char *folder;      /* NULL: not made yet */
    char *description; /* pm_job_describe */
    char *options;     /* for the submitting command; NULL: none */
    char *id;          /* what the queue calls it; NULL: not known */
    double gone_since; /* that the queue did not know it; 0: it does */
    bool is_taken;     /* somebody waits for it */
};

struct pm_jobs;

/* The jobs in FOLDER, which is made; those that an earlier process left are there.  REQUEST is
   borrowed.  NULL with a sentence: another process has the folder, the launcher's file is at fault,
   its commands are not on this machine. */
struct pm_jobs *pm_jobs_open(const struct pm_launcher_request *request, const char *folder,
                             const struct pm_progress *progress, struct pm_error *err);
/* The folder goes if no job is left in it; so do processes of this machine. */
void pm_jobs_close(struct pm_jobs *jobs);

/* Whether ranks of a job may be on other nodes than its command. */
bool pm_jobs_span_nodes(const struct pm_jobs *jobs);

/* The job with DESCRIPTION, which is taken from now on: an earlier one if it is there, else a new
   one, which is to be submitted with OPTIONS.  Owned by JOBS. */
struct pm_job *pm_jobs_take(struct pm_jobs *jobs, const char *description, const char *options);

/* Cancels and removes earlier jobs that nobody has taken; how many. */
size_t pm_jobs_drop_rest(struct pm_jobs *jobs);

/* Submits all new ones.  What is refused gets its state; WHY is the last refusal. */
void pm_jobs_submit(struct pm_jobs *jobs, struct pm_error *why);

/* Looks what became of the jobs that were submitted. */
void pm_jobs_look(struct pm_jobs *jobs);

/* Waits until looking again makes sense, or a signal comes. */
void pm_jobs_wait(const struct pm_jobs *jobs);

/* Ends those that wait or run, and looks a last time. */
void pm_jobs_cancel(struct pm_jobs *jobs);

/* Is there hardly any room where the jobs are? */
bool pm_jobs_have_no_room(const struct pm_jobs *jobs);

/* A job that has been dealt with; its folder goes. */
void pm_jobs_remove(struct pm_jobs *jobs, struct pm_job *job);

/* The copies where nodes find them, and hashes that tell whether a node has the same files. */
struct pm_shared_copies {
    struct pm_copy *files;
    uint64_t *originals, *copies; /* [n] */
    size_t n;
};
/* Puts FILES, the copies, there; the same files have the same paths.  SHARED is freed by
   pm_shared_copies_free, also after an error. */
bool pm_jobs_share(struct pm_jobs *jobs, const struct pm_copy *files, size_t n_files,
                   struct pm_shared_copies *shared, struct pm_error *err);
void pm_shared_copies_free(struct pm_shared_copies *shared);

/* ---- one job (job.c) ------------------------------------------------------------------------- */

/* LAUNCH, of SHARED's files, as text, equal for what is the same run; owned by the caller.  The
   folder for raw files is named `raw` in its environment.  SPANS_NODES: where an argument names the
   program, ranks on other nodes execute it. */
char *pm_job_describe(const struct pm_launch *launch, const struct pm_shared_copies *shared,
                      bool spans_nodes);

/* What the job in FOLDER came to.  False with a sentence if it could not be run, or its result
   cannot be read. */
bool pm_job_result(const char *folder, struct pm_launch_result *result, double *started_unix,
                   struct pm_error *err);

/* Its raw files; owned by the caller. */
char *pm_job_raw_folder(const char *folder);

/* The last that the queue, or our part on its node, wrote of it; owned by the caller. */
char *pm_job_last_words(const char *folder);

/* What it printed goes to ours: output, and errors. */
void pm_job_pass_on(const char *folder, bool output_to_errors);

/* ---- on the node (run_job.c) ----------------------------------------------------------------- */

/* Runs the job in FOLDER and leaves its result there.  False with a sentence if that was not
   possible. */
bool pm_job_run(const char *folder, struct pm_error *err);

/* Becomes the program of the job in FOLDER with ARGV: one rank, wherever it is.  Returns only with
   a sentence. */
bool pm_job_become_rank(const char *folder, char *const *argv, struct pm_error *err);

#endif
