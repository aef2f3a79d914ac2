/* What the files of this folder share; see thread_intervals.h for what others use. */
#ifndef PM_RUNTIME_THREAD_INTERVALS_PRIVATE_H
#define PM_RUNTIME_THREAD_INTERVALS_PRIVATE_H

#include "core/raw_file.h"
#include "runtime/analyser/analyser.h"
#include "runtime/thread_intervals/thread_intervals.h"

/* ---- lists of counts (interval_counts.c) ----------------------------------------------------- */

struct pm_interval_counted {
    uint32_t counter, unused;
    uint64_t count; /* not 0 */
};
struct pm_interval_counts {            /* ascending by counter, each once */
    struct pm_interval_counted *items; /* memory of pm_mmap */
    uint32_t n, room;
};

enum { PM_COUNTERS_LINE = 8 }; /* counters in a cache line */

/* Adds to COUNTS what the first N_COUNTERS counters of THREAD, whole lines of them, rose by since
   they stood at BEFORE, and moves BEFORE there.  False: there is no memory, and nothing changed.
   ROOM is used on the way and kept for the next time. */
bool pm_interval_take_counts(const struct pm_thread *thread, uint64_t *before, uint32_t n_counters,
                             struct pm_interval_counts *counts, struct pm_interval_counts room[2]);
void pm_interval_counts_free(struct pm_interval_counts *counts);

/* ---- reuse distances (interval_histograms.c) ------------------------------------------------- */

/* Do intervals have histograms? */
extern bool pm_intervals_have_memory;
void pm_interval_histograms_begin(void);

/* Bins of many groups' histograms; all zero: none. */
struct pm_interval_bin {
    uint64_t key;
    uint64_t loads, stores, distance_sum;
};
struct pm_interval_bins {
    struct pm_interval_bin *items; /* hash table */
    uint32_t n, room;
};

/* What histograms stood at when they were last taken, by block size. */
struct pm_interval_rises {
    struct pm_reuse_rises *of[PM_MAX_BLOCK_SIZES];
};
void pm_interval_rises_free(struct pm_interval_rises *rises); /* what it owns */

/* Adds to BINS what the histograms of THREAD, which are flushed, rose by.  False: there was no
   memory for a part of it.  *BYTES: of all such tables, changed here and by the others. */
bool pm_interval_take_histograms(const struct pm_thread *thread, struct pm_interval_rises *rises,
                                 struct pm_interval_bins *bins, uint64_t *bytes);
/* Adds one (interval_bins.c); false: there is no memory. */
bool pm_interval_bins_add(struct pm_interval_bins *bins, const struct pm_interval_bin *added,
                          uint64_t *bytes);
/* Adds FROM to INTO, and leaves none. */
bool pm_interval_bins_move(struct pm_interval_bins *into, struct pm_interval_bins *from,
                           uint64_t *bytes);
void pm_interval_bins_free(struct pm_interval_bins *bins, uint64_t *bytes);
/* The sections PM_RAW_INTERVAL_HISTOGRAM of a row. */
void pm_interval_bins_write(struct pm_raw_builder *builder, const struct pm_thread *thread,
                            const struct pm_raw_interval_head *head,
                            const struct pm_interval_bins *bins);

/* ---- kinds and their rows (interval_rows.c) -------------------------------------------------- */

enum { PM_INTERVAL_MOST_ROWS = 128 };

/* An exit that was noted: left, or resumed, at a call. */
struct pm_interval_exit {
    uint64_t key; /* module << 48 | return address */
    int64_t left, resumed;
    uint32_t row, unused;
};

struct pm_kind_table {
    uint32_t begin, end;
    uint64_t n;       /* intervals */
    uint64_t per_row; /* a power of two */
    uint32_t n_rows, room_rows;
    uint32_t n_counters, room_counters;
    uint32_t *counters;            /* ascending: those that are in a row */
    uint64_t *values;              /* [room_rows][room_counters] */
    struct pm_interval_bins *bins; /* [PM_INTERVAL_MOST_ROWS]; NULL: no histograms */
    struct pm_interval_exit *exits;
    uint32_t n_exits, room_exits;
};

struct pm_interval_table {
    struct pm_kind_table *kinds; /* [PM_INTERVAL_MOST_KINDS], only touched pages exist */
    uint32_t *slots;             /* hash table over them: number + 1; 0: free */
    uint32_t n_kinds;
    uint32_t most_rows; /* of a kind */
    uint64_t bytes;     /* of all rows */
};
enum { PM_INTERVAL_MOST_KINDS = 1 << 14 };

/* The kind from BEGIN to END; NULL: there is no room for another one. */
struct pm_kind_table *pm_interval_find_kind(struct pm_interval_table *table, uint32_t begin,
                                            uint32_t end);
/* Adds an interval that counted COUNTS; false: there is no memory, and nothing changed. */
bool pm_interval_add(struct pm_interval_table *table, struct pm_kind_table *kind,
                     const struct pm_interval_counts *counts);
/* The last interval that was added had these; false: there is no memory for a part of them. */
bool pm_interval_add_bins(struct pm_interval_table *table, struct pm_kind_table *kind,
                          struct pm_interval_bins *bins);
/* The last interval that was added had this, too; false: there is no memory. */
bool pm_interval_add_exit(struct pm_kind_table *kind, const struct pm_interval_exit *exit);
void pm_interval_table_free(struct pm_interval_table *table); /* what it owns */

/* ---- exits of the interval that goes on (interval_exits.c) ----------------------------------- */

struct pm_interval_exits;

/* NULL is fine: none. */
bool pm_interval_has_exits(const struct pm_interval_exits *exits);
/* Notes one; memory is made at *EXITS when it is needed. */
void pm_interval_exits_add(struct pm_interval_exits **exits, uint64_t key, bool resumed,
                           int64_t count);
/* The one with ordinal I; false: there are no more, or it is being written. */
bool pm_interval_exits_get(const struct pm_interval_exits *exits, uint32_t i,
                           struct pm_interval_exit *exit);
/* Forgets all.  Nobody adds meanwhile but signal handlers of other threads' making. */
void pm_interval_exits_clear(struct pm_interval_exits *exits);
void pm_interval_exits_free(struct pm_interval_exits *exits);

#endif
