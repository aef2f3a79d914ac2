/* What the files of the store share: statements of SQLite whose failure is a sentence, and what
   reads or writes a part of a run. */
#ifndef PM_STORE_PRIVATE_H
#define PM_STORE_PRIVATE_H

#include <sqlite3.h>

#include "core/store/rows.h"
#include "core/store/store.h"

struct pm_store {
    sqlite3 *db;
    char *path;
    struct pm_packing *packing; /* of the many blobs */
    struct pm_selection selection;
    struct pm_store_roles *roles; /* NULL: not found yet (parallel/store_roles.c) */
};

/* ---- statements (store.c, failures.c) ---------------------------------------------------------
 */

/* What SQLite refused last, as a sentence; false. */
bool pm_store_fail(struct pm_store *store, struct pm_error *err);
bool pm_store_run_sql(struct pm_store *store, const char *sql, struct pm_error *err);
sqlite3_stmt *pm_store_prepare(struct pm_store *store, const char *sql, struct pm_error *err);
/* One step of a statement that gives no rows that matter; ready to be bound again. */
bool pm_store_step(struct pm_store *store, sqlite3_stmt *statement, struct pm_error *err);
/* True if S, while *OK, has come to another row; else *OK says whether it ended well. */
bool pm_store_next_row(struct pm_store *store, sqlite3_stmt *s, bool *ok, struct pm_error *err);
/* The number that SQL gives, with RUN as its parameter if it has one; 0: NULL, or no row. */
bool pm_store_number(struct pm_store *store, const char *sql, int64_t run, double *number,
                     struct pm_error *err);
bool pm_store_begin(struct pm_store *store, struct pm_error *err);
/* Commits if OK, else rolls back; true if committed. */
bool pm_store_end(struct pm_store *store, bool ok, struct pm_error *err);
/* The column's text, owned by the caller; NULL of NULL. */
char *pm_store_column_text(sqlite3_stmt *statement, int column);

/* ---- runs (runs.c) ----------------------------------------------------------------------------
 */

/* The one place where a run is looked up: the number of that with exactly PARAMETERS; 0 if there is
   none, -1 after an error. */
int64_t pm_store_find_run(struct pm_store *store, const struct pm_parameters *parameters,
                          struct pm_error *err);
/* The same for what is known of whole runs only: 0 while a part of a run is selected. */
int64_t pm_store_find_whole_run(struct pm_store *store, const struct pm_parameters *parameters,
                                struct pm_error *err);
/* Begins a transaction in which the rows of that run in tables FIRST to LAST are replaced; they are
   gone.  0: it failed; pm_store_end is due in any case. */
int64_t pm_store_replace(struct pm_store *store, const struct pm_parameters *parameters,
                         enum pm_table_id first, enum pm_table_id last, struct pm_error *err);

/* ---- profiles.c -------------------------------------------------------------------------------
 */

/* All but the histograms. */
bool pm_store_put_profile(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                          const struct pm_streams *streams, const bool *inexact_routines,
                          size_t n_routines, struct pm_error *err);
bool pm_store_read_profile(struct pm_store *store, int64_t run, struct pm_profile *profile,
                           struct pm_error *err);
bool pm_store_read_edges(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err);
bool pm_store_read_thread_edges(struct pm_store *store, int64_t run, size_t n_edges,
                                struct pm_streams *streams, struct pm_error *err);

/* ---- histograms.c -----------------------------------------------------------------------------
 */

bool pm_store_put_histograms(struct pm_store *store, int64_t run, const struct pm_profile *profile,
                             const struct pm_streams *streams, struct pm_error *err);
/* Puts a row with HISTOGRAM, of which ROW has the rest. */
bool pm_store_put_histogram(struct pm_store_rows *rows, struct pm_histogram_row *row,
                            const struct pm_histogram *histogram);
/* That of a row that was just read, owned by the caller. */
bool pm_store_decode_histogram(struct pm_store_rows *rows, const struct pm_histogram_row *row,
                               struct pm_histogram *histogram);
struct pm_histogram_cursor *pm_store_histograms_of_run(struct pm_store *store, int64_t run,
                                                       struct pm_error *err);
/* The histograms of PROFILE, summed over threads. */
bool pm_store_read_sums(struct pm_store *store, int64_t run, struct pm_profile *profile,
                        struct pm_error *err);
/* Adds HISTOGRAM, which it takes, to the last of the sums, or as a new one. */
struct pm_histogram_sums {
    PM_ARRAY(struct pm_group_histogram, rows);
};
void pm_histogram_sums_add(struct pm_histogram_sums *sums, uint32_t group,
                           struct pm_histogram *histogram);
/* Stores by dirty distance and sequential touches, where there are any. */
bool pm_store_read_parts(struct pm_store *store, int64_t run, struct pm_profile *profile,
                         struct pm_error *err);

/* ---- builds.c ---------------------------------------------------------------------------------
 */

bool pm_store_put_differences(struct pm_store *store, int64_t run,
                              const struct pm_build_differences *differences, struct pm_error *err);
/* Flags in the structure what is not the same in all builds, and removes that from a profile. */
bool pm_store_mark_differences(struct pm_store *store, struct pm_structure *structure,
                               struct pm_error *err);
bool pm_store_keep_matched(struct pm_store *store, int64_t run, struct pm_profile *profile,
                           struct pm_error *err);

/* ---- store_models.c -----------------------------------------------------------------------------
 */

/* As bytes and back, as models alone are (core/model.h). */
void pm_message_models_encode(const struct pm_message_models *messages, void **bytes,
                              size_t *n_bytes);
struct pm_message_models *pm_message_models_decode(const void *bytes, size_t n_bytes,
                                                   struct pm_error *err);

/* ---- parallel/ --------------------------------------------------------------------------------
 */

/* Added to RANKS, without roles; or with roles, and groups of one role only. */
bool pm_store_ranks_of_run(struct pm_store *store, int64_t run, struct pm_ranks *ranks,
                           struct pm_error *err);
bool pm_store_ranks_with_roles(struct pm_store *store, int64_t run, struct pm_ranks *ranks,
                               struct pm_error *err);
/* Before a run, or what is known of its ranks, changes. */
void pm_store_forget_roles(struct pm_store *store);
/* The store's numbers of PATHS, which are added, by their own; owned by the caller (free).  NULL
   after an error.  Within a transaction. */
uint32_t *pm_store_put_call_paths(struct pm_store *store, const struct pm_structure *structure,
                                  const struct pm_call_paths *paths, struct pm_error *err);

/* ---- selection/ -------------------------------------------------------------------------------
 */

/* Is only a part of the runs looked at? */
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
/* Reduces PROFILE, which is of all of RUN, to the selection; adds its threads to THREADS. */
bool pm_store_take_selected(struct pm_store *store, int64_t run,
                            const struct pm_parameters *parameters, struct pm_profile *profile,
                            struct pm_error *err);
bool pm_store_take_selected_threads(struct pm_store *store, int64_t run, size_t n_edges,
                                    struct pm_streams *threads, struct pm_error *err);
/* "role corner, interval 3 by step": what its models are kept under; "": all is selected.  Owned by
   the caller; NULL after an error. */
char *pm_store_selection_text(struct pm_store *store, struct pm_error *err);

#endif
