/* Intervals of one kind: which of them are taken together, where their ordinals are told apart.

   A thread's rows of a kind have the same number of intervals, a power of two; threads with more
   intervals have more in a row.  So that the same ordinals of all threads come together, they are
   taken by the longest rows of any thread. */
#include <stdlib.h>

#include "core/store/selection/private.h"

double pm_ordinals_value(const struct pm_ordinals *ordinals) {
    return (double)ordinals->first + (double)(ordinals->n + 1) / 2;
}

struct row {
    uint32_t process, thread;
    uint64_t first, n;
};

struct rows {
    PM_ARRAY(struct row, list);
};

static bool read_rows(struct pm_store *store, int64_t run, const struct pm_selected *selected,
                      struct rows *rows, struct pm_error *err) {
    struct pm_store_rows from =
        pm_rows_where(store, PM_INTERVALS, run, "kind = ?2", selected->selection->kind, err);
    const struct pm_stored_interval *row;
    while ((row = pm_rows_next(&from)))
        if (row->n > 0 && pm_selected_takes(selected, row->process))
            *PM_PUSH(rows, list) = (struct row){row->process, row->thread, row->first, row->n};
    return pm_rows_end(&from);
}

static bool is_same_thread(const struct row *a, const struct row *b) {
    return a->process == b->process && a->thread == b->thread;
}

/* The longest row of any thread; a thread's last one may be shorter than its others. */
static uint64_t find_step(const struct rows *rows) {
    uint64_t step = 1;
    for (size_t i = 0; i < rows->n_list; i++)
        step = rows->list[i].n > step ? rows->list[i].n : step;
    for (size_t i = 0; i + 1 < rows->n_list; i++)
        if (is_same_thread(&rows->list[i], &rows->list[i + 1]) &&
            rows->list[i + 1].first - rows->list[i].first > step)
            step = rows->list[i + 1].first - rows->list[i].first;
    return step;
}

/* How many intervals of the thread of row I lie in the step from FIRST on. */
static uint64_t count_in_step(const struct rows *rows, size_t i, uint64_t first, uint64_t step) {
    uint64_t n = 0;
    for (size_t k = 0; k < rows->n_list; k++)
        if (is_same_thread(&rows->list[k], &rows->list[i]) && rows->list[k].first >= first &&
            rows->list[k].first - first < step)
            n += rows->list[k].n;
    return n;
}

static void add_ordinals(struct pm_ordinal_list *ordinals, uint64_t first, uint64_t n) {
    size_t at = PM_LOWER_BOUND(ordinals->n_list, i, ordinals->list[i].first < first);
    if (at < ordinals->n_list && ordinals->list[at].first == first) {
        ordinals->list[at].n = n > ordinals->list[at].n ? n : ordinals->list[at].n;
        return;
    }
    PM_PUSH(ordinals, list);
    for (size_t i = ordinals->n_list - 1; i > at; i--)
        ordinals->list[i] = ordinals->list[i - 1];
    ordinals->list[at] = (struct pm_ordinals){first, n};
}

static void list_ordinals(const struct rows *rows, struct pm_ordinal_list *ordinals) {
    ordinals->step = find_step(rows);
    for (size_t i = 0; i < rows->n_list; i++) {
        uint64_t first = rows->list[i].first / ordinals->step * ordinals->step;
        add_ordinals(ordinals, first, count_in_step(rows, i, first, ordinals->step));
    }
}

bool pm_selected_ordinals(struct pm_store *store, int64_t run, const struct pm_selected *selected,
                          struct pm_ordinal_list *ordinals, struct pm_error *err) {
    struct rows rows = {0};
    bool ok = read_rows(store, run, selected, &rows, err);
    if (ok)
        list_ordinals(&rows, ordinals);
    free(rows.list);
    return ok;
}

double *pm_selected_weights(struct pm_store *store, int64_t run,
                            const struct pm_parameters *parameters,
                            const struct pm_selected *selected, const struct pm_intervals *of,
                            struct pm_error *err) {
    const struct pm_selection *selection = selected->selection;
    struct rows rows = {0};
    struct pm_ordinal_list ordinals = {0};
    double value = 0;
    if (!read_rows(store, run, selected, &rows, err)) {
        free(rows.list);
        return NULL;
    }
    list_ordinals(&rows, &ordinals);
    if (selection->by_ordinal)
        pm_parameters_get(parameters, selection->ordinal_name, &value);
    double *weights = pm_alloc(of->n_rows, sizeof *weights);
    for (size_t i = 0, r = 0; i < of->n_rows; i++) {
        const struct pm_interval *row = &of->rows[i];
        if (!pm_selected_takes(selected, row->process) || row->n == 0)
            continue;
        uint64_t first = row->first / ordinals.step * ordinals.step;
        size_t at = PM_LOWER_BOUND(ordinals.n_list, k, ordinals.list[k].first < first);
        weights[i] = 1;
        /* Both lists are by process, thread and ordinal. */
        if (selection->by_ordinal && r < rows.n_list && at < ordinals.n_list)
            weights[i] = pm_ordinals_value(&ordinals.list[at]) == value
                             ? 1 / (double)count_in_step(&rows, r, first, ordinals.step)
                             : 0;
        r++;
    }
    free(ordinals.list);
    free(rows.list);
    return weights;
}
