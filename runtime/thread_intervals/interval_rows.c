/* Kinds of intervals, each with its rows; see private.h.

   The rows of a kind are a dense array: one column for each counter that rose in one of its
   intervals.  Most intervals of a kind touch the same counters, so that adding one is a walk along
   the columns.  Where a counter is new, the array is made anew.

   Bounded.  A kind has at most most_rows rows, which is PM_INTERVAL_MOST_ROWS, or half of it, a
   quarter, … once all rows together take more than MOST_BYTES; where another row would be one too
   many, neighbours are joined two by two. */
#include "runtime/thread_intervals/private.h"

#include <string.h>

#include "runtime/notes.h"
#include "runtime/system.h"

#define MOST_BYTES (UINT64_C(256) << 20)
enum { N_SLOTS = 2 * PM_INTERVAL_MOST_KINDS };

static void reset(struct pm_kind_table *kind, uint32_t begin, uint32_t end) {
    *kind = (struct pm_kind_table){.begin = begin, .end = end, .per_row = 1};
}

struct pm_kind_table *pm_interval_find_kind(struct pm_interval_table *table, uint32_t begin,
                                            uint32_t end) {
    if (!table->kinds)
        table->kinds = pm_mmap(PM_INTERVAL_MOST_KINDS * sizeof *table->kinds);
    if (!table->slots)
        table->slots = pm_mmap(N_SLOTS * sizeof *table->slots);
    if (!table->kinds || !table->slots)
        return NULL;
    uint64_t hash = ((uint64_t)begin << 32 | end) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t at = hash >> 40;; at++) {
        uint32_t *slot = &table->slots[at % N_SLOTS];
        if (*slot == 0) {
            if (table->n_kinds == PM_INTERVAL_MOST_KINDS)
                return NULL;
            reset(&table->kinds[table->n_kinds], begin, end);
            *slot = ++table->n_kinds;
            if (!table->most_rows)
                table->most_rows = PM_INTERVAL_MOST_ROWS;
        }
        struct pm_kind_table *kind = &table->kinds[*slot - 1];
        if (kind->begin == begin && kind->end == end)
            return kind;
    }
}

static uint64_t bytes_of(uint32_t n_rows, uint32_t n_counters) {
    uint64_t bytes = (uint64_t)n_rows * n_counters * sizeof(uint64_t);
    return bytes ? bytes : sizeof(uint64_t);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* How many of COUNTS have no column yet. */
static uint32_t count_new(const struct pm_kind_table *kind,
                          const struct pm_interval_counts *counts) {
    uint32_t n_new = 0, column = 0;
    for (uint32_t i = 0; i < counts->n; i++) {
        while (column < kind->n_counters && kind->counters[column] < counts->items[i].counter)
            column++;
        n_new += column == kind->n_counters || kind->counters[column] != counts->items[i].counter;
    }
    return n_new;
}

/* The columns of KIND and those of COUNTS in INTO, FROM: where each was, or -1. */
static void join_columns(const struct pm_kind_table *kind, const struct pm_interval_counts *counts,
                         uint32_t *into, int32_t *from) {
    uint32_t n = 0, column = 0, i = 0;
    while (column < kind->n_counters || i < counts->n) {
        uint32_t old = column < kind->n_counters ? kind->counters[column] : UINT32_MAX;
        uint32_t added = i < counts->n ? counts->items[i].counter : UINT32_MAX;
        into[n] = old <= added ? old : added;
        from[n++] = old <= added ? (int32_t)column : -1;
        column += old <= added;
        i += added <= old;
    }
}

/* The arrays of KIND anew, for so many rows and columns. */
static bool rebuild(struct pm_interval_table *table, struct pm_kind_table *kind, uint32_t room_rows,
                    uint32_t n_counters, const struct pm_interval_counts *counts) {
    uint32_t room =
        n_counters > kind->room_counters ? n_counters + n_counters / 4 : kind->room_counters;
    uint64_t bytes = bytes_of(room_rows, room);
    uint32_t *columns = pm_mmap((room + 1ul) * sizeof *columns);
    int32_t *from = pm_mmap((room + 1ul) * sizeof *from);
    uint64_t *values = pm_mmap(bytes);
    bool ok = columns && from && values;
    if (ok) {
        join_columns(kind, counts, columns, from);
        for (uint32_t row = 0; row < kind->n_rows; row++)
            for (uint32_t c = 0; c < n_counters; c++)
                if (from[c] >= 0)
                    values[(uint64_t)row * room + c] =
                        kind->values[(uint64_t)row * kind->room_counters + (uint32_t)from[c]];
        table->bytes += bytes - bytes_of(kind->room_rows, kind->room_counters);
        pm_munmap(kind->counters, (kind->room_counters + 1ul) * sizeof *kind->counters);
        pm_munmap(kind->values, bytes_of(kind->room_rows, kind->room_counters));
        kind->counters = columns;
        kind->values = values;
        kind->n_counters = n_counters;
        kind->room_counters = room;
        kind->room_rows = room_rows;
    } else {
        pm_munmap(columns, (room + 1ul) * sizeof *columns);
        pm_munmap(values, bytes);
    }
    pm_munmap(from, (room + 1ul) * sizeof *from);
    return ok;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool add_exit_to(struct pm_kind_table *kind, const struct pm_interval_exit *exit);

static void join_exits(struct pm_kind_table *kind) {
    struct pm_interval_exit *exits = kind->exits;
    uint32_t n = kind->n_exits;
    kind->n_exits = 0; /* none is written before it is read: there are never more than before */
    for (uint32_t i = 0; i < n; i++) {
        struct pm_interval_exit exit = exits[i];
        exit.row /= 2;
        add_exit_to(kind, &exit);
    }
}

/* Two rows become one. */
static void join_rows(struct pm_interval_table *table, struct pm_kind_table *kind) {
    uint32_t room = kind->room_counters;
    for (uint32_t row = 0; row < kind->n_rows; row++) {
        uint64_t *from = kind->values + (uint64_t)row * room;
        uint64_t *into = kind->values + (uint64_t)(row / 2) * room;
        if (row == 0)
            continue;
        for (uint32_t c = 0; c < kind->n_counters; c++) {
            uint64_t value = from[c];
            from[c] = 0;
            into[c] += value;
        }
    }
    for (uint32_t row = 1; kind->bins && row < kind->n_rows; row++)
        if (!pm_interval_bins_move(&kind->bins[row / 2], &kind->bins[row], &table->bytes))
            pm_note_add(PM_NOTE_LOST_BINS, 1);
    kind->n_rows = (kind->n_rows + 1) / 2;
    kind->per_row *= 2;
    join_exits(kind);
}

/* Kinds have fewer rows from now on. */
static void squeeze(struct pm_interval_table *table) {
    const struct pm_interval_counts none = {0};
    table->most_rows = table->most_rows > 1 ? table->most_rows / 2 : 1;
    for (uint32_t i = 0; i < table->n_kinds; i++) {
        struct pm_kind_table *kind = &table->kinds[i];
        while (kind->n_rows > table->most_rows)
            join_rows(table, kind);
        if (kind->room_rows > table->most_rows)
            rebuild(table, kind, table->most_rows, kind->n_counters, &none);
    }
}

/* The row of the next interval of KIND, which may be one more.  Columns for COUNTS are made. */
static bool make_room(struct pm_interval_table *table, struct pm_kind_table *kind,
                      const struct pm_interval_counts *counts) {
    while (kind->n / kind->per_row >= table->most_rows)
        join_rows(table, kind);
    uint32_t row = (uint32_t)(kind->n / kind->per_row), room_rows = kind->room_rows;
    uint32_t n_new = count_new(kind, counts);
    if (row >= room_rows)
        room_rows = room_rows ? 2 * room_rows : 1;
    if (room_rows > table->most_rows)
        room_rows = table->most_rows;
    if ((room_rows != kind->room_rows || n_new) &&
        !rebuild(table, kind, room_rows, kind->n_counters + n_new, counts))
        return false;
    if (row >= kind->n_rows)
        kind->n_rows = row + 1;
    return true;
}

bool pm_interval_add(struct pm_interval_table *table, struct pm_kind_table *kind,
                     const struct pm_interval_counts *counts) {
    if (!make_room(table, kind, counts))
        return false;
    uint64_t *values = kind->values + kind->n / kind->per_row * kind->room_counters;
    const uint32_t *column = kind->counters;
    for (uint32_t i = 0; i < counts->n; i++) {
        while (*column < counts->items[i].counter)
            column++;
        values[column - kind->counters] += counts->items[i].count;
    }
    kind->n++;
    if (table->bytes > MOST_BYTES && table->most_rows > 1)
        squeeze(table);
    return true;
}

bool pm_interval_add_bins(struct pm_interval_table *table, struct pm_kind_table *kind,
                          struct pm_interval_bins *bins) {
    if (bins->n == 0)
        return true;
    if (!kind->bins && !(kind->bins = pm_mmap(PM_INTERVAL_MOST_ROWS * sizeof *kind->bins)))
        return false;
    return pm_interval_bins_move(&kind->bins[(kind->n - 1) / kind->per_row], bins, &table->bytes);
}

/* ---- exits ----------------------------------------------------------------------------------- */

static bool add_exit_to(struct pm_kind_table *kind, const struct pm_interval_exit *exit) {
    for (uint32_t i = kind->n_exits; i-- > 0;)
        if (kind->exits[i].row == exit->row && kind->exits[i].key == exit->key) {
            kind->exits[i].left += exit->left;
            kind->exits[i].resumed += exit->resumed;
            return true;
        }
    if (kind->n_exits == kind->room_exits) {
        uint32_t room = kind->room_exits ? 2 * kind->room_exits : 64;
        if (!pm_mgrow(&kind->exits, kind->room_exits * sizeof *exit, room * sizeof *exit))
            return false;
        kind->room_exits = room;
    }
    kind->exits[kind->n_exits++] = *exit;
    return true;
}

bool pm_interval_add_exit(struct pm_kind_table *kind, const struct pm_interval_exit *exit) {
    struct pm_interval_exit added = *exit;
    added.row = (uint32_t)((kind->n - 1) / kind->per_row);
    return add_exit_to(kind, &added);
}

void pm_interval_table_free(struct pm_interval_table *table) {
    for (uint32_t i = 0; i < table->n_kinds; i++) {
        struct pm_kind_table *kind = &table->kinds[i];
        pm_munmap(kind->counters, (kind->room_counters + 1ul) * sizeof *kind->counters);
        pm_munmap(kind->values, bytes_of(kind->room_rows, kind->room_counters));
        pm_munmap(kind->exits, kind->room_exits * sizeof *kind->exits);
        for (uint32_t row = 0; kind->bins && row < PM_INTERVAL_MOST_ROWS; row++)
            pm_interval_bins_free(&kind->bins[row], &table->bytes);
        pm_munmap(kind->bins, PM_INTERVAL_MOST_ROWS * sizeof *kind->bins);
    }
    pm_munmap(table->kinds, PM_INTERVAL_MOST_KINDS * sizeof *table->kinds);
    pm_munmap(table->slots, N_SLOTS * sizeof *table->slots);
    *table = (struct pm_interval_table){0};
}
