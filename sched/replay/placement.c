/* Where the computation of a process stands in its trace: an interval's between the events at its
   ends.  Calls that end intervals and are no events (MPI_Init) lie between two events; the
   intervals on the way through them are added up. */
#include <stdlib.h>
#include <string.h>

#include "sched/replay/private.h"

enum { MOST_SILENT = 4 }; /* calls that are no events, one behind the other */

/* A kind of interval of the process: some of the rows, and how many were used. */
struct kind {
    uint32_t begin, end; /* paths of the communication */
    PM_ARRAY(const struct pm_interval_time *, rows);
    uint64_t used;
    size_t row; /* that USED is in */
};

struct pm_placement_kinds {
    PM_ARRAY(struct kind, list);
    PM_ARRAY(bool, is_end);   /* by path: intervals end there */
    PM_ARRAY(bool, is_event); /* by path: events are there */
    unsigned *deepest;        /* by path, of one search: most calls with which it failed, plus 1 */
};

static struct kind *kind_of(struct pm_placement_kinds *kinds, uint32_t begin, uint32_t end) {
    for (size_t i = 0; i < kinds->n_list; i++)
        if (kinds->list[i].begin == begin && kinds->list[i].end == end)
            return &kinds->list[i];
    return NULL;
}

static void mark(bool **set, size_t *n, size_t *room, uint32_t path) {
    while (*n <= path) {
        *set = pm_grow(*set, *n, room, sizeof **set);
        (*set)[(*n)++] = false;
    }
    (*set)[path] = true;
}

struct pm_placement pm_placement_begin(const struct pm_run_to_replay *run, uint32_t process) {
    struct pm_placement placement = {.is_empty = true};
    struct pm_placement_kinds *kinds = placement.kinds = pm_alloc(1, sizeof *kinds);
    for (size_t i = 0; i < run->times->n_rows; i++) {
        const struct pm_interval_time *row = &run->times->rows[i];
        if (row->process != process)
            continue;
        uint32_t begin = row->begin, end = row->end;
        struct kind *kind = kind_of(kinds, begin, end);
        if (!kind) {
            kind = PM_PUSH(kinds, list);
            kind->begin = begin;
            kind->end = end;
        }
        *PM_PUSH(kind, rows) = row;
        mark(&kinds->is_end, &kinds->n_is_end, &kinds->cap_is_end, end);
        placement.is_empty = false;
    }
    for (size_t i = 0; i < run->communication->n_counts; i++)
        if (run->communication->counts[i].process == process)
            mark(&kinds->is_event, &kinds->n_is_event, &kinds->cap_is_event,
                 run->communication->counts[i].kind.path);
    kinds->deepest = pm_alloc(kinds->n_is_end, sizeof *kinds->deepest);
    return placement;
}

void pm_placement_free(struct pm_placement *placement) {
    for (size_t i = 0; i < placement->kinds->n_list; i++)
        free(placement->kinds->list[i].rows);
    free(placement->kinds->list);
    free(placement->kinds->is_end);
    free(placement->kinds->is_event);
    free(placement->kinds->deepest);
    free(placement->kinds);
    *placement = (struct pm_placement){0};
}

/* The next interval of KIND; false: there is none left. */
static bool use_next(struct kind *kind, double *seconds) {
    while (kind->row < kind->n_rows &&
           kind->used >= kind->rows[kind->row]->first + kind->rows[kind->row]->n)
        kind->row++;
    if (kind->row == kind->n_rows)
        return false;
    const struct pm_interval_time *row = kind->rows[kind->row];
    kind->used++;
    *seconds = row->seconds / (double)row->n;
    return true;
}

/* From where the placement is to END, through at most DEPTH calls that are no events.  A path from
   which that failed is not tried again in this search: it looks at each kind at most DEPTH times.
 */
static bool search(struct pm_placement *placement, uint32_t end, unsigned depth, double *seconds) {
    struct pm_placement_kinds *kinds = placement->kinds;
    struct kind *direct = kind_of(kinds, placement->at, end);
    if (direct && use_next(direct, seconds))
        return true;
    uint32_t from = placement->at;
    for (size_t i = 0; depth > 0 && i < kinds->n_list; i++) {
        struct kind *kind = &kinds->list[i];
        bool is_event = kind->end < kinds->n_is_event && kinds->is_event[kind->end];
        struct kind before = *kind;
        double first, rest;
        if (kind->begin != from || is_event || kind->end == PM_NO_PATH ||
            kinds->deepest[kind->end] >= depth || !use_next(kind, &first))
            continue;
        placement->at = kind->end;
        if (search(placement, end, depth - 1, &rest)) {
            *seconds = first + rest;
            return true;
        }
        *kind = before;
        placement->at = from;
        kinds->deepest[kind->end] = depth;
    }
    return false;
}

static bool go_to(struct pm_placement *placement, uint32_t end, double *seconds) {
    memset(placement->kinds->deepest, 0,
           placement->kinds->n_is_end * sizeof *placement->kinds->deepest);
    return search(placement, end, MOST_SILENT, seconds);
}

bool pm_placement_ends(struct pm_placement *placement, uint32_t path, double *seconds) {
    *seconds = 0;
    if (path >= placement->kinds->n_is_end || !placement->kinds->is_end[path])
        return false;
    if (go_to(placement, path, seconds))
        placement->placed += *seconds;
    placement->at = path;
    return true;
}

double pm_placement_end(struct pm_placement *placement) {
    double seconds = 0;
    if (go_to(placement, PM_NO_PATH, &seconds))
        placement->placed += seconds;
    return seconds;
}
