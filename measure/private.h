/* What the files of this folder share; see measure.h for what others use. */
#ifndef PM_MEASURE_PRIVATE_H
#define PM_MEASURE_PRIVATE_H

#include <sys/types.h>

#include "measure/ingest/ingest.h"
#include "measure/launch/launch.h"
#include "measure/measure.h"
#include "measure/timing/timing.h"

/* The temporary folder of a session (work_folder.c). */
struct pm_work_folder {
    char *path; /* NULL until it is made */
    int lock;   /* locked while the session lives */
};
bool pm_make_work_folder(struct pm_work_folder *work, struct pm_error *err);
void pm_free_work_folder(struct pm_work_folder *work); /* and what is in it */

struct pm_measure_session {
    const struct pm_measure_request *request;
    struct pm_progress progress;
    struct pm_work_folder work;
    char *command_path;             /* file that the command names */
    char *program;                  /* real path of the program to instrument */
    char *wrapper;                  /* of its MPI library, if communication is traced; else NULL */
    struct pm_copies copies;        /* with a build command those of the size at hand */
    struct pm_structure *structure; /* with one: the store's; NULL until there is one */
    char *store_path;
    struct pm_store *store; /* NULL until there is something to keep */
    char *settings;
    struct pm_block_sizes blocks, apart; /* as in the request, for the size at hand */
    struct pm_timing_lifts lifts;
    off_t input_at; /* where standard input stands before each run; -1: it cannot be set back */
    bool in_place_reported;
    double last_seconds, last_peak_bytes; /* of the last run */
    const char *shared_folder; /* of jobs, while they run; NULL: runs are in the work folder */
};

/* ---- what is in the store (put_runs.c) ----------------------------------------------------------
 */

/* What the store has of a size.  A run that was truncated counts with --keep-partial only. */
struct pm_in_store {
    bool run, times, profile; /* times, profile: or they are not wanted */
};
/* Also decides which block sizes are measured if the run is repeated: those of the request, and
   those that the run had, so that a store loses none. */
bool pm_session_look(struct pm_measure_session *session, const struct pm_parameters *at,
                     struct pm_in_store *there, struct pm_error *err);

/* Can the store be written, or made, where it is to be?  Before anything runs. */
bool pm_session_check_store(const struct pm_measure_session *session, struct pm_error *err);

/* Opens the store where it exists, so that a wrong one is noticed before anything runs; CREATE: in
   any case. */
bool pm_session_open_store(struct pm_measure_session *session, bool create, struct pm_error *err);

/* Puts the run into the store, with a build of its own in the numbers of the store's.  TRUNCATED:
   how it ended before its end; NULL: it did not. */
bool pm_session_put(struct pm_measure_session *session, struct pm_ingested *ingested,
                    const struct pm_launch_result *result, const char *truncated,
                    double started_unix, char *const *argv, struct pm_error *err);

/* Of which of the session's block sizes distances below 16 are one bin, in SIZES, which has room
   for all; how many. */
size_t pm_session_merged(const struct pm_measure_session *session, uint64_t *sizes);

/* What must be equal for a run not to be repeated: command, environment, inputs' contents
   (run_settings.c).  Owned by the caller. */
char *pm_settings_text(const struct pm_measure_request *request, struct pm_error *err);
/* … with those of its intervals, where it has some. */
void pm_settings_add_intervals(char **text, const struct pm_measure_request *request);

/* ---- one size (one_size.c) --------------------------------------------------------------------
 */

/* Measures what is not THERE of the size AT, for which the session has the program's copies. */
bool pm_measure_one_size(struct pm_measure_session *session, const struct pm_parameters *at,
                         struct pm_in_store there, struct pm_error *err);

/* Into the store, with size AT, which it has: the libraries that could be measured and are not; and
   if the request says so and there are some, where the time goes, from one more run of the program
   as it is.  Of a program that cannot be followed that remains unknown. */
bool pm_note_other_files(struct pm_measure_session *session, const struct pm_parameters *at,
                         struct pm_error *err);

/* The command at one size. */
struct pm_sized_run {
    struct pm_measure_session *session;
    const struct pm_parameters *at;
    char **argv;
    char *folder;       /* that it runs in; NULL: the current one */
    char **environment; /* these two: of a run through a launcher */
    struct pm_launch launch;
};
/* The same in two parts: what is to be run with FILES in place, raw files going to a folder that is
   called `raw`; and what it left there put into the store.  *WAS_READ: the store is at fault, if
   anything is. */
bool pm_sized_run_begin(struct pm_sized_run *run, struct pm_measure_session *session,
                        const struct pm_parameters *at, const struct pm_copy *files,
                        struct pm_error *err);
bool pm_sized_run_keep(const struct pm_sized_run *run, const char *raw,
                       struct pm_launch_result *result, double started, bool *was_read,
                       struct pm_error *err);
void pm_sized_run_end(struct pm_sized_run *run); /* also after an error */

/* ---- all sizes (session.c, through_launcher.c) ------------------------------------------------
 */

/* False with a sentence if pmodel was told to end. */
bool pm_session_check_interruption(const struct pm_measure_session *session, struct pm_error *err);
/* After the last size: notes of the last one that was measured (NULL: none), and a summary. */
bool pm_session_finish(struct pm_measure_session *session, const struct pm_parameters *last,
                       const struct pm_measure_result *result, struct pm_error *err);
/* pm_measure_sizes by jobs, several sizes at once. */
bool pm_measure_through_launcher(struct pm_measure_session *session,
                                 const struct pm_parameters *sizes, size_t n_sizes,
                                 struct pm_measure_result *result, struct pm_error *err);

/* One that is there is fine. */
bool pm_make_folder(const char *path, struct pm_error *err);
/* A folder with all that is in it. */
void pm_remove_folder(const char *path);

#endif
