/* What the files of this folder share; see launchers.h for what others use. */
#ifndef PM_LAUNCHERS_PRIVATE_H
#define PM_LAUNCHERS_PRIVATE_H

#include "measure/launchers/launchers.h"

/* ---- small files of names and texts (sheet.c) ----------------------------------------------
   A line is a name, a blank and a text, in which `\n` stands for a new line and `\\` for `\`.  The
   last line is `end`. */

struct pm_sheet_line {
    char *name, *text;
};
struct pm_sheet {
    PM_ARRAY(struct pm_sheet_line, lines); /* owned (pm_sheet_free) */
};
void pm_sheet_add(struct pm_sheet *sheet, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The first text of that name; NULL: there is none. */
const char *pm_sheet_find(const struct pm_sheet *sheet, const char *name);
double pm_sheet_number(const struct pm_sheet *sheet, const char *name); /* 0: none */
char *pm_sheet_text(const struct pm_sheet *sheet);                      /* owned by the caller */
bool pm_sheet_parse(const char *text, const char *path, struct pm_sheet *sheet,
                    struct pm_error *err);
bool pm_sheet_read(const char *path, struct pm_sheet *sheet, struct pm_error *err);
void pm_sheet_free(struct pm_sheet *sheet);

/* Whole or not at all, also for those who read it over a network. */
bool pm_put_file_whole(const char *path, const char *text, bool is_script, struct pm_error *err);

/* ---- one job (job.c) ------------------------------------------------------------------------- */

/* What a description says; strings are owned (pm_job_order_free). */
struct pm_job_order {
    struct pm_launch launch;
    struct pm_copy *files;
    uint64_t *hashes; /* of each file: of the original, and of the copy */
    char **argv, **environment;
    bool spans_nodes;
};
bool pm_job_order_read(const char *folder, struct pm_job_order *order, struct pm_error *err);
void pm_job_order_free(struct pm_job_order *order);

bool pm_job_put_result(const char *folder, const struct pm_launch_result *result,
                       double started_unix, const struct pm_error *failure, struct pm_error *err);
/* What went wrong with a rank or the job, for the result. */
void pm_job_put_failure(const char *folder, const struct pm_error *failure);
bool pm_job_has_result(const char *folder);

bool pm_hash_file(const char *path, uint64_t *hash, struct pm_error *err);

/* ---- a queue's commands ---------------------------------------------------------------------- */

/* What the file of a launcher says (launcher_file.c); texts are templates. */
struct pm_launcher {
    char *path;                /* of the file */
    char *submit, *poll;       /* commands for a shell */
    char *cancel;              /* NULL: there is none */
    char *index;               /* how the script of an array knows its job; NULL: no arrays */
    char *job;                 /* what the queue calls a job */
    char *limit;               /* for {LIMIT}; NULL: no limit can be given */
    char **needs;              /* commands that must be there; NULL at the end */
    char **ended;              /* states of jobs that have ended; NULL at the end */
    unsigned most;             /* jobs of one array */
    unsigned interval, settle; /* seconds between two looks; until a job that is gone is lost */
};
struct pm_launcher *pm_launcher_read(const char *path, struct pm_error *err);
void pm_launcher_free(struct pm_launcher *launcher);

/* TEMPLATE with `{NAME}` replaced by the text of that name; owned by the caller.  Without one of
   that name it is an error, which names PATH. */
struct pm_filling {
    const char *name, *text;
};
char *pm_fill_in(const char *template, const struct pm_filling *fillings, size_t n,
                 const char *path, struct pm_error *err);
char *pm_shell_quoted(const char *text); /* owned by the caller */

/* Runs COMMAND in a shell; *OUTPUT is what it printed, owned by the caller.  False with its status
   and the last line of its errors if it fails. */
bool pm_shell(const char *command, char **output, struct pm_error *err);

/* ---- where jobs run -------------------------------------------------------------------------- */

struct pm_jobs {
    const struct pm_launcher_request *request;
    const struct pm_progress *progress;
    struct pm_launcher *launcher; /* NULL: this machine */
    struct pm_local *local;       /* its processes */
    char *folder, *pmodel;        /* pmodel: its own file */
    int lock;
    bool is_ours;                    /* the folder: it is locked, and what is in it is known */
    PM_ARRAY(struct pm_job *, list); /* owned */
    unsigned last_number;            /* of a submission */
    bool has_complained;             /* that the queue does not answer */
};

double pm_now_seconds(void);

/* batch.c: submits N jobs, which have folders, as SUBMISSION, a folder. */
bool pm_batch_submit(struct pm_jobs *jobs, struct pm_job *const *list, size_t n,
                     const char *submission, struct pm_error *err);
/* The id of an earlier job, the INDEX-th of SUBMISSION; NULL: it has none. */
char *pm_batch_id(struct pm_jobs *jobs, const char *submission, const char *index);
/* Which of the jobs that were submitted the queue still has. */
bool pm_batch_poll(struct pm_jobs *jobs, struct pm_error *err);
void pm_batch_cancel(struct pm_jobs *jobs, struct pm_job *const *list, size_t n);

/* local.c: processes of this machine. */
struct pm_local *pm_local_new(char *pmodel, unsigned at_a_time);
void pm_local_add(struct pm_local *local, struct pm_job *job);
/* Starts what there is room for, and marks jobs whose processes have ended as gone. */
void pm_local_look(struct pm_local *local);
void pm_local_cancel(struct pm_local *local); /* and waits for their ends */
void pm_local_free(struct pm_local *local);

#endif
