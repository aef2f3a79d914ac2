/* What a table of the store is, and which there are: tables.c declares each once, with its columns,
   their types and where they stand in a C structure.  Statements follow from that (rows.h). */
#ifndef PM_STORE_TABLES_H
#define PM_STORE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/builds/builds.h"
#include "core/ranks/ranks.h"

/* In the order in which they are made; those that are replaced together stand together. */
enum pm_table_id {
    PM_STRUCTURES,
    PM_SCOPES,
    PM_CALL_PATHS,
    PM_INTERVAL_KINDS,
    PM_MODELS,
    PM_RUNS, /* all behind it are of runs */
    PM_EDGES,
    PM_THREAD_EDGES,
    PM_STREAMS,
    PM_HISTOGRAMS,
    PM_ESTIMATES,
    PM_SKIPPED,
    PM_STRIDES,
    PM_BRANCHES,
    PM_TRIPS,
    PM_DIRTY,
    PM_SEQUENTIAL,
    PM_CARRIED,
    PM_FORMULAS,
    PM_FILE_TIMES,
    PM_DIFFERENCES,
    PM_JOINS,
    PM_TOTALS,
    PM_WORK,
    PM_TIMINGS,
    PM_SCOPE_TIMES,
    PM_CALL_TIMES,
    PM_RANK_SPANS,
    PM_BOUNDS,
    PM_NEST_BOUNDS,
    PM_PROFILINGS,
    PM_LEVELS,
    PM_BLOCK_PROFILES,
    PM_BLOCK_MISSES,
    PM_RANKS,
    PM_COMMUNICATIONS,
    PM_COMMUNICATORS,
    PM_REQUEST_LISTS,
    PM_EVENTS,
    PM_TRACES,
    PM_SOCKETS,
    PM_TRAFFIC,
    PM_INTERVALS,
    PM_INTERVAL_HISTOGRAMS,
    PM_N_TABLES
};

enum pm_column_type {
    PM_COLUMN_U8,
    PM_COLUMN_U16,
    PM_COLUMN_U32,
    PM_COLUMN_U64,
    PM_COLUMN_I32,
    PM_COLUMN_BOOL,
    PM_COLUMN_DOUBLE,
    PM_COLUMN_TEXT,    /* char *; NULL is NULL */
    PM_COLUMN_BLOB,    /* struct pm_blob */
    PM_COLUMN_ORDINAL, /* no field: the number of the row among those of the run, from 0 */
};

enum pm_column_null {
    PM_NEVER_NULL,
    PM_NULL_IF_NONE, /* PM_NONE, or whichever is the largest number; NAN */
    PM_NULL_IF_ZERO,
};

struct pm_column {
    const char *name;
    enum pm_column_type type;
    size_t offset; /* of the field in the structure */
    enum pm_column_null null;
    const char *(*word)(uint32_t number); /* the number stands in the table as this text; the first
                                             of which there is none as NULL, where that may be */
    bool packed;                          /* a blob that is compressed in the table */
    enum pm_table_id refers; /* a number of this table, which is another in another store; 0: not */
};

struct pm_table {
    const char *name;
    const char *what;   /* "the histograms", of a run or of the store, for sentences */
    bool of_store;      /* else its first column, which no field stands for, is `run` */
    bool replaces;      /* a row takes the place of the one with its key */
    unsigned n_key;     /* so many of the columns, with the run, are the primary key */
    const char *unique; /* further columns that are a key, with commas between; NULL: none */
    const char *order;  /* in which rows are read; NULL: by the key */
    size_t row_bytes;   /* of the structure */
    const struct pm_column *columns;
    size_t n_columns;
};

extern const struct pm_table pm_tables[PM_N_TABLES];

/* ---- structures of rows that have no other ----------------------------------------------------
 */

/* A field that is bytes of its own. */
struct pm_blob {
    void *data;
    size_t n;
};

struct pm_structure_row {
    uint64_t hash; /* pm_structure_hash */
    char *module;
    struct pm_blob data; /* pm_structure_encode */
};

struct pm_call_path_row {
    uint32_t id, parent, module;
    uint64_t return_address;
    uint32_t scope; /* that the call is in */
    char *callee;
};

enum pm_models_kind { PM_MODELS_OF_COUNTS, PM_MODELS_OF_MESSAGES, PM_N_MODELS_KINDS };
struct pm_models_row {
    char *selection;     /* pm_store_selection_text; "": the whole */
    uint8_t kind;        /* enum pm_models_kind */
    double made;         /* seconds since 1970 */
    struct pm_blob data; /* pm_model_set_encode, pm_message_models_encode */
};

struct pm_run_row {
    uint64_t id; /* 0: a new one */
    char *parameters, *command;
    double started, wall_seconds, cpu_seconds;
    int32_t exit_status;
    uint32_t threads, processes;
    char *block_sizes, *merged; /* "64,4096" */
    char *settings, *notes, *truncated;
};

struct pm_edges_row {
    struct pm_blob counts;  /* u64 [n_edges] */
    struct pm_blob inexact; /* u8 [n_routines] */
};

struct pm_thread_edges_row {
    uint32_t process, thread;
    struct pm_blob counts; /* u64 [n_edges] */
};

/* Of a run, or of an interval. */
struct pm_histogram_row {
    uint32_t kind, process, thread;
    uint64_t first;
    uint32_t group;
    uint64_t block_bytes;
    uint32_t stream;
    uint64_t cold, accesses; /* patterns: how many there are, and their reuses */
    struct pm_blob data;
};

struct pm_skipped_row {
    uint8_t reason; /* enum pm_skipped_reason */
    double executions, loads, stores;
};

struct pm_strides_row {
    uint64_t n_references;
    struct pm_blob data; /* pm_run_strides_encode */
};

struct pm_formula_row {
    char *name, *text;
};

struct pm_difference_row {
    struct pm_build_difference is;
    double run_accesses; /* of the run, in all; the same in all rows */
};

struct pm_work_row {
    struct pm_blob group_bytes, iterations; /* double [n_groups], double [n_scopes] */
};

struct pm_misses_row {
    uint32_t block, level;
    double misses;
};

struct pm_stored_rank {
    struct pm_rank is;
    double tolerance; /* of the groups; the same in all rows */
};

struct pm_communication_row {
    uint64_t lost;
};

struct pm_communicator_row {
    uint32_t number, size;
    uint16_t made_by;               /* enum pm_operation */
    struct pm_blob members, remote; /* u32 [] */
};

struct pm_request_list_row {
    uint32_t id;
    struct pm_blob numbers; /* u32 [] */
};

struct pm_trace_row {
    uint32_t process, thread;
    uint64_t events, lost;
    struct pm_blob data; /* u32 number of sequences, where each begins, then the nodes */
};

struct pm_stored_interval {
    uint32_t kind, process, thread;
    uint64_t first, n;
    struct pm_blob edges; /* pm_interval_encode_edges */
};

#endif
