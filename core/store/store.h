/* The profile store: one SQLite file (NAME.pmdb) that holds the structure, all runs and the models.
   Self-contained: fit and report need nothing else.

   Schema: tables.c declares all tables, and is their documentation; any SQLite tool reads them.  A
   writer holds a transaction; a reader sees whole runs.  A file of another application, or of
   another version of the format, is refused and left as it is. */
#ifndef PM_STORE_H
#define PM_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/block_profile/block_profile.h"
#include "core/bounds/bounds.h"
#include "core/builds/builds.h"
#include "core/call_times/call_times.h"
#include "core/communication/communication.h"
#include "core/call_paths/call_paths.h"
#include "core/intervals/intervals.h"
#include "core/messages/messages.h"
#include "core/model.h"
#include "core/parameters.h"
#include "core/base/base.h"
#include "core/profile.h"
#include "core/ranks/ranks.h"
#include "core/reuse_patterns.h"
#include "core/selection/selection.h"
#include "core/streams.h"
#include "core/structure/structure.h"
#include "core/times.h"

#define PM_STORE_VERSION 8

struct pm_store;

enum pm_store_mode {
    PM_STORE_READ,   /* must exist */
    PM_STORE_CREATE, /* read and write, made if absent */
};

/* Does the file of PATH begin as a store does? */
bool pm_is_store(const char *path);
struct pm_store *pm_store_open(const char *path, enum pm_store_mode mode, struct pm_error *err);
void pm_store_close(struct pm_store *store);

/* The first structure put in becomes the store's; a later one must have the same hash, else the
   error says that the store belongs to another build of the program, or to another program.  Of a
   later one the operations are taken over, which depend on the instruction classes.  One that is
   alike (pm_structures_are_alike) takes the place of the one that is there, so that the lines of
   the newest build are shown. */
bool pm_store_put_structure(struct pm_store *store, const struct pm_structure *structure,
                            struct pm_error *err);
bool pm_store_has_structure(struct pm_store *store, bool *has, struct pm_error *err);
/* What is not the same in all builds of the runs is flagged in it (PM_SCOPE_UNMATCHED …). */
struct pm_structure *pm_store_structure(struct pm_store *store, struct pm_error *err);

/* What is known of a run beside its profile. */
struct pm_run_facts {
    char *command; /* as one would type it */
    double started_unix, wall_seconds, cpu_seconds;
    int exit_status;
    uint32_t n_threads, n_processes;
    char *settings; /* what must be equal for a run not to be repeated: command, environment, inputs
                     */
    char *notes;    /* sentences, one a line; NULL none */
    char *truncated;        /* how it ended before its end; NULL: it did not */
    const uint64_t *merged; /* block sizes of which distances below 16 are one bin; borrowed, not
                               read back (pm_store_block_sizes) */
    size_t n_merged;
    const struct pm_build_differences *differences; /* of the run's build from the store's
                                                       structure; NULL: the same build; borrowed,
                                                       not read back (pm_store_differences) */
};

/* Adds a run; parameters that are there already are replaced.  STREAMS, in order
   (pm_streams_order), are its histograms; NULL: PROFILE's are, as a sum. */
bool pm_store_put_run(struct pm_store *store, const struct pm_profile *profile,
                      const struct pm_streams *streams, const struct pm_run_facts *facts,
                      const bool *inexact_routines, size_t n_routines, struct pm_error *err);
/* True with *FOUND telling whether a run with these parameters and settings and (at least) these
   block sizes is there. */
bool pm_store_has_run(struct pm_store *store, const struct pm_parameters *parameters,
                      const char *settings, const uint64_t *block_sizes, size_t n_block_sizes,
                      bool *found, struct pm_error *err);

/* The block sizes of a run, ascending. */
struct pm_run_block_size {
    uint64_t bytes;
    bool merged; /* distances below 16 are one bin */
};
struct pm_run_block_sizes {
    PM_ARRAY(struct pm_run_block_size, list); /* owned by the caller (free) */
};
/* Those of the run with exactly PARAMETERS and SETTINGS; none if it is not there. */
bool pm_store_block_sizes(struct pm_store *store, const struct pm_parameters *parameters,
                          const char *settings, struct pm_run_block_sizes *sizes,
                          struct pm_error *err);

/* Parameters of all runs, ascending; *RUNS owned by the caller (free). */
bool pm_store_runs(struct pm_store *store, struct pm_parameters **runs, size_t *n_runs,
                   struct pm_error *err);
/* The profile of the run with exactly PARAMETERS; NULL without error text if there is none.  Its
   histograms are sums over threads.  Only what is the same in all builds of the runs is in it
   (pm_profile_keep_matched); the rest is counted in skipped[PM_SKIPPED_UNMATCHED]. */
struct pm_profile *pm_store_profile(struct pm_store *store, const struct pm_parameters *parameters,
                                    struct pm_error *err);
/* *HOW: how the run with exactly PARAMETERS ended before its end, owned by the caller; NULL if it
   did not, or is not there. */
bool pm_store_truncation(struct pm_store *store, const struct pm_parameters *parameters, char **how,
                         struct pm_error *err);
bool pm_store_run_facts(struct pm_store *store, const struct pm_parameters *parameters,
                        struct pm_run_facts *facts, struct pm_error *err);
/* Bytes that the run with exactly PARAMETERS takes in the store, but for what SQLite adds. */
bool pm_store_run_bytes(struct pm_store *store, const struct pm_parameters *parameters,
                        double *bytes, struct pm_error *err);
void pm_run_facts_free(struct pm_run_facts *facts); /* its strings */

/* The histograms of the run with exactly PARAMETERS one after the other, by group, block size and
   stream; nothing is in memory but one.  NULL with a sentence if there is no such run. */
struct pm_histogram_cursor *pm_store_histograms(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err);
/* Its streams; owned by the cursor. */
const struct pm_stream *pm_histogram_cursor_streams(const struct pm_histogram_cursor *cursor,
                                                    size_t *n_streams);
struct pm_histogram_place {
    uint32_t group;
    uint64_t block_bytes;
    uint32_t stream_index;
    const struct pm_stream *stream; /* owned by the cursor */
};
/* Goes to the next one.  False at the end, and, with a sentence, after an error. */
bool pm_histogram_cursor_next(struct pm_histogram_cursor *cursor, struct pm_histogram_place *place,
                              struct pm_error *err);
/* Reads the one that the cursor is at; owned by the caller (pm_histogram_free). */
bool pm_histogram_cursor_read(struct pm_histogram_cursor *cursor, struct pm_histogram *histogram,
                              struct pm_error *err);
void pm_histogram_cursor_free(struct pm_histogram_cursor *cursor);
/* Adds to STREAMS the threads of the run with exactly PARAMETERS, by process and thread, with what
   each executed; nothing if there was one thread.  Counts are as measured: where builds differ,
   they include code that is not in all builds. */
bool pm_store_thread_edges(struct pm_store *store, const struct pm_parameters *parameters,
                           size_t n_edges, struct pm_streams *streams, struct pm_error *err);

/* The ranks of the run with exactly PARAMETERS, without their roles; what is there already is
   replaced.  None, or no such run: nothing happens. */
bool pm_store_put_ranks(struct pm_store *store, const struct pm_parameters *parameters,
                        const struct pm_ranks *ranks, struct pm_error *err);

/* The same with their roles and, of one role each, groups; added to RANKS.  None: the run is of no
   MPI program, or not there. */
bool pm_store_ranks(struct pm_store *store, const struct pm_parameters *parameters,
                    struct pm_ranks *ranks, struct pm_error *err);
/* Adds the roles that ranks of all runs have to NAMES, without ranks. */
bool pm_store_roles(struct pm_store *store, struct pm_ranks *names, struct pm_error *err);

/* From now on runs, profiles, threads and models of STORE are those of SELECTION; times, bounds,
   reuse patterns and profiles of basic blocks, which are of whole runs, are none.  A run that has
   nothing of it is not there.  A run's cursor of histograms stays that of the whole run.  Errors:
   there is no such role or kind of interval. */
bool pm_store_select(struct pm_store *store, const struct pm_selection *selection,
                     struct pm_error *err);
struct pm_selection pm_store_selection(const struct pm_store *store);

/* *FOUND: whether the histograms of the run with exactly PARAMETERS tell the bytes that were
   touched (by the first of them; all of a run do, or none). */
bool pm_store_has_bytes(struct pm_store *store, const struct pm_parameters *parameters, bool *found,
                        struct pm_error *err);

/* *FOUND: whether the run with exactly PARAMETERS has stores by dirty distance; all of its block
   sizes do, or none. */
bool pm_store_has_dirty(struct pm_store *store, const struct pm_parameters *parameters, bool *found,
                        struct pm_error *err);

/* *FOUND: whether that run has branches (core/behaviour/behaviour.h). */
bool pm_store_has_behaviour(struct pm_store *store, const struct pm_parameters *parameters,
                            bool *found, struct pm_error *err);

/* What was estimated of that run, by stream, block size and cache size; *ESTIMATES owned by the
   caller (free), none where all blocks were watched. */
bool pm_store_estimates(struct pm_store *store, const struct pm_parameters *parameters,
                        struct pm_stream_estimate **estimates, size_t *n_estimates,
                        struct pm_error *err);

/* Measured times of the run with exactly PARAMETERS; those that are there already are replaced. The
   run must be there: a new one comes without times. */
bool pm_store_put_times(struct pm_store *store, const struct pm_parameters *parameters,
                        const struct pm_times *times, struct pm_error *err);
/* NULL without error text if the run has none.  Not yet compared with a structure (pm_times_fit).
 */
struct pm_times *pm_store_times(struct pm_store *store, const struct pm_parameters *parameters,
                                struct pm_error *err);

/* Lower bounds of the run with exactly PARAMETERS; those that are there already are replaced.  The
   run must be there: a new one comes without. */
bool pm_store_put_bounds(struct pm_store *store, const struct pm_parameters *parameters,
                         const struct pm_bounds *bounds, struct pm_error *err);
/* NULL without error text if the run has none.  Not yet compared with a structure (pm_bounds_fit).
 */
struct pm_bounds *pm_store_bounds(struct pm_store *store, const struct pm_parameters *parameters,
                                  struct pm_error *err);

/* The profile of basic blocks of the run with exactly PARAMETERS; one that is there already is
   replaced.  The run must be there: a new one comes without. */
bool pm_store_put_block_profile(struct pm_store *store, const struct pm_parameters *parameters,
                                const struct pm_block_profile *profile, struct pm_error *err);
/* NULL without error text if the run has none.  Not yet compared with a structure
   (pm_block_profile_fits). */
struct pm_block_profile *pm_store_block_profile(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err);

/* Times of calls of MPI in the run with exactly PARAMETERS; what is there already is replaced.  The
   run must be there: a new one comes without.  The paths become the store's. */
bool pm_store_put_call_times(struct pm_store *store, const struct pm_structure *structure,
                             const struct pm_parameters *parameters,
                             const struct pm_call_times *times, struct pm_error *err);
/* NULL without error text if the run has none.  Its paths are those of the store. */
struct pm_call_times *pm_store_call_times(struct pm_store *store,
                                          const struct pm_parameters *parameters,
                                          struct pm_error *err);

/* Communication of the run with exactly PARAMETERS; what is there already is replaced.  The run
   must be there: a new one comes without.  The paths become the store's. */
bool pm_store_put_communication(struct pm_store *store, const struct pm_structure *structure,
                                const struct pm_parameters *parameters,
                                const struct pm_communication *communication, struct pm_error *err);
/* *FOUND: whether the communication of that run was traced, even if there was none. */
bool pm_store_has_communication(struct pm_store *store, const struct pm_parameters *parameters,
                                bool *found, struct pm_error *err);
/* NULL without error text if it was not traced.  Its paths are those of the store. */
struct pm_communication *pm_store_communication(struct pm_store *store,
                                                const struct pm_parameters *parameters,
                                                struct pm_error *err);

/* Reuse patterns (core/reuse_patterns.h) of the run with exactly PARAMETERS; those that are there
   already are replaced.  The run must be there: a new one comes without. */
bool pm_store_put_patterns(struct pm_store *store, const struct pm_parameters *parameters,
                           const struct pm_run_patterns *patterns, struct pm_error *err);
/* *FOUND: whether the run has some for each of these block sizes; for any, if none is named. */
bool pm_store_has_patterns(struct pm_store *store, const struct pm_parameters *parameters,
                           const uint64_t *block_sizes, size_t n_block_sizes, bool *found,
                           struct pm_error *err);
/* NULL without error text if the run has none.  Not yet compared with a structure
   (pm_run_patterns_fit). */
struct pm_run_patterns *pm_store_patterns(struct pm_store *store,
                                          const struct pm_parameters *parameters,
                                          struct pm_error *err);

/* The call paths of all runs, by their numbers in the store; freed by pm_call_paths_free. */
bool pm_store_call_paths(struct pm_store *store, struct pm_call_paths *paths, struct pm_error *err);

/* Kinds of intervals of all runs.  BEGIN and END are paths of pm_store_call_paths. */
struct pm_interval_kind {
    uint32_t number, begin, end;
};
struct pm_interval_kinds {
    PM_ARRAY(struct pm_interval_kind, kinds); /* ascending by number; owned by the caller (free) */
};
bool pm_store_interval_kinds(struct pm_store *store, struct pm_interval_kinds *kinds,
                             struct pm_error *err);

/* Intervals, in order, of the run with exactly PARAMETERS; those that are there already are
   replaced.  The run must be there: a new one comes without. */
bool pm_store_put_intervals(struct pm_store *store, const struct pm_parameters *parameters,
                            const struct pm_structure *structure,
                            const struct pm_intervals *intervals, struct pm_error *err);
/* Those of one kind, by its number, or of all (PM_NONE); paths are numbers in the store.  NULL
   without error text if the run has none.  Not yet compared with a structure (pm_intervals_fit). */
struct pm_intervals *pm_store_intervals(struct pm_store *store,
                                        const struct pm_parameters *parameters, uint32_t kind,
                                        bool with_histograms, struct pm_error *err);
/* Bytes that they take in the store, but for what SQLite adds; 0 without. */
bool pm_store_interval_bytes(struct pm_store *store, const struct pm_parameters *parameters,
                             double *bytes, struct pm_error *err);
/* *FOUND: whether the run with exactly PARAMETERS has some, or some with histograms. */
bool pm_store_has_intervals(struct pm_store *store, const struct pm_parameters *parameters,
                            bool with_histograms, bool *found, struct pm_error *err);

/* What the build of the run with exactly PARAMETERS has otherwise than the store's structure.
   Freed by pm_build_differences_free; none if the run is of the store's build, or not
   there. */
bool pm_store_differences(struct pm_store *store, const struct pm_parameters *parameters,
                          struct pm_build_differences *differences, struct pm_error *err);

/* Which parameters of the run with exactly PARAMETERS were given as formulas; those that are there
   already are replaced.  No such run: nothing happens. */
bool pm_store_put_formulas(struct pm_store *store, const struct pm_parameters *parameters,
                           const struct pm_given_formulas *formulas, struct pm_error *err);
/* Adds the parameters that were given as formulas in all runs. */
bool pm_store_formulas(struct pm_store *store, struct pm_given_formulas *formulas,
                       struct pm_error *err);

/* Where the time of the run with exactly PARAMETERS goes, file by file; what is there already is
   replaced.  No such run: nothing happens. */
bool pm_store_put_file_times(struct pm_store *store, const struct pm_parameters *parameters,
                             const struct pm_file_times *times, struct pm_error *err);
/* Adds them, most time first; none where nobody looked. */
bool pm_store_file_times(struct pm_store *store, const struct pm_parameters *parameters,
                         struct pm_file_times *times, struct pm_error *err);

/* Joins the runs of the stores FROM in the store TO, which is made if it is not there; all of them
   or none.  Of runs of one size the newest stays.  What happened, a sentence a store, goes to SAY.
   Errors: a store of another program, of other settings, of another version; the first difference
   is named. */
bool pm_store_merge(const char *to, char *const *from, size_t n_from,
                    void (*say)(void *context, const char *sentence), void *context,
                    struct pm_error *err);

bool pm_store_put_models(struct pm_store *store, const struct pm_model_set *models,
                         struct pm_error *err);
/* NULL without error text if fit has not run; with one where runs were added after it.  How many of
   their runs were truncated is counted in them. */
struct pm_model_set *pm_store_models(struct pm_store *store, struct pm_error *err);
/* The same, of which TAKER gets what takes most of the memory (core/model.h). */
struct pm_model_set *pm_store_take_models(struct pm_store *store,
                                          const struct pm_model_taker *taker, struct pm_error *err);

/* Models of messages of what is selected; those that are there already are replaced. */
bool pm_store_put_message_models(struct pm_store *store, const struct pm_message_models *messages,
                                 struct pm_error *err);
/* Removes both kinds of models of the selection, which must not be all runs; there may be none. */
bool pm_store_forget_models(struct pm_store *store, struct pm_error *err);
/* NULL without error text if there are none. */
struct pm_message_models *pm_store_message_models(struct pm_store *store, struct pm_error *err);

#endif
