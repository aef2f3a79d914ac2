/* Rows of declared tables (tables.h) to and from C structures, and what else follows from the
   declaration: the tables themselves, and rows of one store copied into another. */
#ifndef PM_STORE_ROWS_H
#define PM_STORE_ROWS_H

#include <sqlite3.h>
#include <zstd.h>

#include "core/base/base.h"
#include "core/store/tables.h"

struct pm_store;

/* Rows of one table that are read, or written, one after the other. */
struct pm_store_rows {
    struct pm_store *store;
    const struct pm_table *table;
    int64_t run;
    sqlite3_stmt *statement; /* NULL: it failed */
    struct pm_error *err;
    void *row;
    uint64_t n; /* so many were read or written */
    bool ok;
};

enum { PM_ALL_RUNS = 0 };

/* Reads those of RUN, or of all, in the table's order; of a table of the store the run is
   PM_ALL_RUNS.  WHERE, an SQL condition or NULL, has ?2 for VALUE. */
struct pm_store_rows pm_rows_where(struct pm_store *store, enum pm_table_id table, int64_t run,
                                   const char *where, int64_t value, struct pm_error *err);
struct pm_store_rows pm_rows_of(struct pm_store *store, enum pm_table_id table, int64_t run,
                                struct pm_error *err);
/* The next row, a structure of the table's that is there until the call after; NULL: there are no
   more, or it failed.  Texts and packed blobs in it, now unpacked, are the caller's; other blobs
   are there as long as the row is. */
const void *pm_rows_next(struct pm_store_rows *rows);
/* The row that was read last is not as it should be: none follows.  False. */
bool pm_rows_damaged(struct pm_store_rows *rows);
/* Was all read, or written?  Else a sentence says why. */
bool pm_rows_end(struct pm_store_rows *rows);

/* Adds all rows to the growable array NAME of HOLDER, whose elements are the table's structures. */
#define PM_READ_ROWS(store, table, run, holder, name, err)                                         \
    __extension__({                                                                                \
        struct pm_store_rows pm_rows_ = pm_rows_of(store, table, run, err);                        \
        const typeof(*(holder)->name) *pm_row_;                                                    \
        while ((pm_row_ = pm_rows_next(&pm_rows_)))                                                \
            *PM_PUSH(holder, name) = *pm_row_;                                                     \
        pm_rows_end(&pm_rows_);                                                                    \
    })

/* The only, or the first, row, into *ROW, a structure of the table's; *FOUND false: there is none.
   Blobs that are not packed are none in it. */
bool pm_store_read_row(struct pm_store *store, enum pm_table_id table, int64_t run, void *row,
                       bool *found, struct pm_error *err);
bool pm_store_has_rows(struct pm_store *store, enum pm_table_id table, int64_t run,
                       const char *where, int64_t value, bool *found, struct pm_error *err);

/* Adds rows to the table. */
struct pm_store_rows pm_rows_to(struct pm_store *store, enum pm_table_id table, int64_t run,
                                struct pm_error *err);
bool pm_rows_put(struct pm_store_rows *rows, const void *row);
bool pm_store_put_rows(struct pm_store *store, enum pm_table_id table, int64_t run,
                       const void *rows, size_t n, struct pm_error *err);

/* What a row that was read owns. */
void pm_row_free(enum pm_table_id table, const void *row);

/* ---- tables as a whole ------------------------------------------------------------------------
 */

bool pm_store_make_tables(struct pm_store *store, struct pm_error *err);
/* The rows of RUN go from tables FIRST to LAST. */
bool pm_store_remove_rows(struct pm_store *store, enum pm_table_id first, enum pm_table_id last,
                          int64_t run, struct pm_error *err);
/* Copies the rows of the runs in temp.renumbered of the attached store `other`.  There PM_RUNS and
   each table that columns refer to have (of, old, new): the number that they get here. */
bool pm_store_copy_rows(struct pm_store *store, enum pm_table_id table, struct pm_error *err);

#endif
