/* What the files of the store share: SQLite statements whose failure is a sentence. */
#ifndef PM_STORE_PRIVATE_H
#define PM_STORE_PRIVATE_H

#include <sqlite3.h>
#include <zstd.h>

#include "core/store/store.h"

struct pm_store {
    sqlite3 *db;
    char *path;
    struct pm_packing *packing; /* of the many histograms */
    bool has_times;             /* false: of version 1, opened to read */
    struct pm_selection selection;
    struct pm_store_roles *roles; /* NULL: not found yet (parallel/roles.c) */
};

/* failures.c: what SQLite refused last, as a sentence; false. */
bool pm_store_fail(struct pm_store *store, struct pm_error *err);
bool pm_store_run_sql(struct pm_store *store, const char *sql, struct pm_error *err);
sqlite3_stmt *pm_store_prepare(struct pm_store *store, const char *sql, struct pm_error *err);
/* One step of a statement that gives no rows that matter; ready to be bound again. */
bool pm_store_step(struct pm_store *store, sqlite3_stmt *statement, struct pm_error *err);
/* True if S, while *OK, has come to another row; else *OK says whether it ended well. */
bool pm_store_next_row(struct pm_store *store, sqlite3_stmt *s, bool *ok, struct pm_error *err);
/* A statement that gives no rows, with the run's number as its only parameter. */
bool pm_store_run_sql_of(struct pm_store *store, const char *sql, int64_t run,
                         struct pm_error *err);
/* Tables that few stores need are made when they are. */
bool pm_store_has_table(struct pm_store *store, const char *name, bool *has, struct pm_error *err);
/* The rows of RUN go from such a TABLE, if it is there. */
bool pm_store_remove_rows(struct pm_store *store, const char *table, int64_t run,
                          struct pm_error *err);
bool pm_store_begin(struct pm_store *store, struct pm_error *err);
/* Commits if OK, else rolls back; true if committed. */
bool pm_store_end(struct pm_store *store, bool ok, struct pm_error *err);

extern const char pm_store_times_schema[]; /* the tables of measured times */

/* skipped.c: the table, and a view that shows none. */
extern const char pm_store_skipped_schema[], pm_store_skipped_view[];
bool pm_store_put_skipped(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                          struct pm_error *err);
bool pm_store_read_skipped(struct pm_store *store, int64_t run, struct pm_profile *profile,
                           struct pm_error *err);

/* strides.c: those of a run, where there are any. */
bool pm_store_put_strides(struct pm_store *store, int64_t run, const struct pm_run_strides *strides,
                          struct pm_error *err);
bool pm_store_read_strides(struct pm_store *store, int64_t run, struct pm_run_strides *strides,
                           struct pm_error *err);

/* thread_edges.c: what each thread executed, where there were several. */
bool pm_store_read_thread_edges(struct pm_store *store, int64_t run, size_t n_edges,
                                struct pm_streams *streams, struct pm_error *err);
bool pm_store_put_thread_edges(struct pm_store *store, int64_t run,
                               const struct pm_streams *streams, size_t n_edges,
                               struct pm_error *err);

/* parallel/ranks.c: added to RANKS, without roles. */
bool pm_store_ranks_of_run(struct pm_store *store, int64_t run, struct pm_ranks *ranks,
                           struct pm_error *err);

/* parallel/roles.c: with roles, and groups of one role only. */
bool pm_store_ranks_with_roles(struct pm_store *store, int64_t run, struct pm_ranks *ranks,
                               struct pm_error *err);
/* Before a run, or what is known of its ranks, changes. */
void pm_store_forget_roles(struct pm_store *store);

/* selection/: is only a part of the runs looked at? */
bool pm_store_is_selected(const struct pm_store *store);
/* The text that the run with PARAMETERS, which may have an ordinal, has in its table; owned by the
   caller. */
char *pm_store_run_text(const struct pm_store *store, const struct pm_parameters *parameters);
/* What is selected of RUN with parameters OF_RUN, as rows of pm_store_runs. */
struct pm_run_list {
    PM_ARRAY(struct pm_parameters, rows);
};
bool pm_store_list_selected(struct pm_store *store, int64_t run, const struct pm_parameters *of_run,
                            struct pm_run_list *list, struct pm_error *err);
/* PROFILE, of all of RUN, becomes that of what is selected; and its threads, added to THREADS. */
bool pm_store_take_selected(struct pm_store *store, int64_t run,
                            const struct pm_parameters *parameters, struct pm_profile *profile,
                            struct pm_error *err);
bool pm_store_take_selected_threads(struct pm_store *store, int64_t run, size_t n_edges,
                                    struct pm_streams *threads, struct pm_error *err);
/* "role corner, interval 3 by step": what its models are kept under; owned by the caller.  NULL
   after an error. */
char *pm_store_selection_text(struct pm_store *store, struct pm_error *err);

/* models.c: are MODELS of the runs that are there now?  Of those that were cut off all are, or
 * none.
 */
bool pm_store_check_runs(struct pm_store *store, struct pm_model_set *models, struct pm_error *err);

/* dirty.c: stores by dirty distance, where there are any. */
bool pm_store_put_dirty(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                        struct pm_error *err);
bool pm_store_read_dirty(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err);

/* histograms.c: the tables; views that show the one of version 2 as these; and what makes
   these of it. */
extern const char pm_store_histograms_schema[], pm_store_histograms_view[];
bool pm_store_upgrade_histograms(struct pm_store *store, struct pm_error *err);
bool pm_store_put_histograms(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                             const struct pm_streams *streams, struct pm_error *err);
struct pm_histogram_cursor *pm_store_histograms_of_run(struct pm_store *store, int64_t run,
                                                       struct pm_error *err);
/* The histograms of PROFILE, summed over threads. */
bool pm_store_read_sums(struct pm_store *store, int64_t run, struct pm_profile *profile,
                        struct pm_error *err);

/* The run's number; 0 if there is none, -1 after an error. */
int64_t pm_store_find_run(struct pm_store *store, const struct pm_parameters *parameters,
                          struct pm_error *err);

/* The same of what is known of whole runs only: 0 while a part of them is selected. */
int64_t pm_store_find_whole_run(struct pm_store *store, const struct pm_parameters *parameters,
                                struct pm_error *err);

/* builds.c: those of a new run; those of a run that is about to go; flags in the structure;
   and what a profile has that is not the same in all builds goes. */
bool pm_store_put_differences(struct pm_store *store, int64_t run,
                              const struct pm_build_differences *differences, struct pm_error *err);
bool pm_store_remove_differences(struct pm_store *store, int64_t run, struct pm_error *err);
bool pm_store_mark_differences(struct pm_store *store, struct pm_structure *structure,
                               struct pm_error *err);
bool pm_store_keep_matched(struct pm_store *store, int64_t run, struct pm_profile *profile,
                           struct pm_error *err);

/* cut_off.c: how a run ended before its end (HOW NULL: it did not); of a run that is about to go.
 */
bool pm_store_put_cut_off(struct pm_store *store, int64_t run, const char *how,
                          struct pm_error *err);
bool pm_store_remove_cut_off(struct pm_store *store, int64_t run, struct pm_error *err);

/* merged_sizes.c: block sizes of which distances below 16 are one bin; of a run that is about to
 * go.
 */
bool pm_store_put_merged(struct pm_store *store, int64_t run, const uint64_t *sizes, size_t n,
                         struct pm_error *err);
bool pm_store_remove_merged(struct pm_store *store, int64_t run, struct pm_error *err);

/* runs.c: "64,4096" as numbers, which the caller frees; returns how many. */
size_t pm_store_parse_sizes(const char *text, uint64_t **sizes);

/* formulas.c and file_times.c: those of a run that is about to go. */
bool pm_store_remove_file_times(struct pm_store *store, int64_t run, struct pm_error *err);
bool pm_store_remove_formulas(struct pm_store *store, int64_t run, struct pm_error *err);

/* build_sources.c: what a run of another build did by source.  All are empty of a run that is of
   the store's build, or from before they were kept. */
bool pm_store_put_build_sources(struct pm_store *store, int64_t run,
                                const struct pm_build_differences *differences,
                                struct pm_error *err);
bool pm_store_remove_build_sources(struct pm_store *store, int64_t run, struct pm_error *err);
/* RUN 0: of all runs. */
bool pm_store_read_joins(struct pm_store *store, int64_t run,
                         struct pm_build_differences *differences, struct pm_error *err);
bool pm_store_read_wholes(struct pm_store *store, int64_t run, struct pm_profile *profile,
                          struct pm_error *err);
bool pm_store_read_work(struct pm_store *store, int64_t run, size_t n_groups, size_t n_scopes,
                        struct pm_build_work *work, bool *found, struct pm_error *err);
/* A run of the store's build, if the work of all runs of other builds is known; else 0. */
bool pm_store_base_run(struct pm_store *store, int64_t *run, struct pm_error *err);
/* runs.c: the counts of edges of a run. */
bool pm_store_read_edges(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err);

/* patterns.c: those of a run that is about to go. */
bool pm_store_remove_patterns(struct pm_store *store, int64_t run, struct pm_error *err);

/* parallel/sockets.c: PATHS are the store's numbers of COMMUNICATION's. */
bool pm_store_put_sockets(struct pm_store *store, int64_t run,
                          const struct pm_communication *communication, const uint32_t *paths,
                          struct pm_error *err);
bool pm_store_read_sockets(struct pm_store *store, int64_t run,
                           struct pm_communication *communication, struct pm_error *err);
/* parallel/communication.c: that of a run that is about to go. */
bool pm_store_remove_communication(struct pm_store *store, int64_t run, struct pm_error *err);

/* parallel/call_times.c: those of a run that is about to go, or to be timed again. */
bool pm_store_remove_call_times(struct pm_store *store, int64_t run, struct pm_error *err);

/* parallel/call_paths.c: the store's numbers of PATHS, which are added, by their own; owned by the
   caller (free).  NULL after an error.  Within a transaction. */
uint32_t *pm_store_put_call_paths(struct pm_store *store, const struct pm_structure *structure,
                                  const struct pm_call_paths *paths, struct pm_error *err);

/* parallel/intervals.c: those of a run that is about to go. */
bool pm_store_remove_intervals(struct pm_store *store, int64_t run, struct pm_error *err);

/* block_profiles.c: that of a run that is about to go. */
bool pm_store_remove_block_profile(struct pm_store *store, int64_t run, struct pm_error *err);

/* The column's text, owned by the caller; NULL of NULL. */
char *pm_store_column_text(sqlite3_stmt *statement, int column);

/* DATA goes compressed into the statement's parameter. */
void pm_store_bind_compressed(sqlite3_stmt *statement, int column, const void *data, size_t bytes);
/* The bytes that stand compressed in the column, owned by the caller; NULL if it is damaged. */
void *pm_store_read_compressed(sqlite3_stmt *statement, int column, size_t *n_bytes);

#endif
