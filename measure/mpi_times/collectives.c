/* Who takes part in the same collective operation: all members of a communicator call the same ones
   in the same order, so that the n-th of one belongs to the n-th of the others. */
#include <math.h>
#include <stdlib.h>

#include "core/call_times/call_times.h"
#include "core/mpi_operations.h"
#include "measure/mpi_times/private.h"

static enum pm_meeting meeting_of(uint16_t operation) {
    switch (operation) {
#define COLLECTIVE(name, small, meeting)                                                           \
    case PM_MPI_##name:                                                                            \
    case PM_MPI_I##small:                                                                          \
    case PM_MPI_##name##_init:                                                                     \
        return meeting
        COLLECTIVE(Bcast, bcast, PM_MEETING_ROOT);
        COLLECTIVE(Scatter, scatter, PM_MEETING_ROOT);
        COLLECTIVE(Scatterv, scatterv, PM_MEETING_ROOT);
        COLLECTIVE(Reduce, reduce, PM_MEETING_AT_ROOT);
        COLLECTIVE(Gather, gather, PM_MEETING_AT_ROOT);
        COLLECTIVE(Gatherv, gatherv, PM_MEETING_AT_ROOT);
        COLLECTIVE(Scan, scan, PM_MEETING_BEFORE);
        COLLECTIVE(Exscan, exscan, PM_MEETING_BEFORE);
#undef COLLECTIVE
    case PM_MPI_Win_fence:
    case PM_MPI_Win_free:
        return PM_MEETING_ALL;
    case PM_MPI_Comm_create_group: /* in which not all members take part */
        return PM_MEETING_UNKNOWN;
    default:
        break;
    }
    enum pm_operation_way way = pm_operation_way(operation);
    return way == PM_WAY_COLLECTIVE || way == PM_WAY_MAKES          ? PM_MEETING_ALL
           : way == PM_WAY_NEIGHBOURS || way == PM_WAY_SYNCHRONISES ? PM_MEETING_UNKNOWN
                                                                    : PM_MEETING_NONE;
}

struct attendance {
    uint32_t communicator, ordinal;
    uint32_t place; /* of the rank among the members */
    uint32_t process, event;
};

struct attendances {
    PM_ARRAY(struct attendance, list);
};

static int by_occasion(const void *left, const void *right) {
    const struct attendance *a = left, *b = right;
    int order = PM_COMPARE(a->communicator, b->communicator);
    order = order ? order : PM_COMPARE(a->ordinal, b->ordinal);
    return order ? order : PM_COMPARE(a->place, b->place);
}

static uint32_t place_of(const struct pm_communicator *communicator, uint32_t rank) {
    for (size_t i = 0; i < communicator->n_members; i++)
        if (communicator->members[i] == (int32_t)rank)
            return (uint32_t)i;
    for (size_t i = 0; i < communicator->n_remote; i++)
        if (communicator->remote[i] == (int32_t)rank)
            return (uint32_t)(communicator->n_members + i);
    return PM_NONE;
}

static void add_process(struct attendances *to, const struct pm_timed_run *run, uint32_t p) {
    const struct pm_communication *communication = run->communication;
    const struct pm_timed_process *process = &run->processes[p];
    size_t n = communication->n_communicators + 1;
    uint32_t *ordinals = pm_alloc(n, sizeof *ordinals), *places = pm_alloc(n, sizeof *places);
    for (size_t c = 0; c + 1 < n; c++)
        places[c] = place_of(&communication->communicators[c], process->rank);
    for (size_t i = 0; i < process->n_events; i++) {
        const struct pm_event_kind *kind = pm_timed_kind(run, &process->events[i]);
        enum pm_meeting meeting = meeting_of(kind->operation);
        const struct pm_communicator *communicator =
            pm_communicator(communication, kind->communicator);
        if (meeting == PM_MEETING_NONE)
            continue;
        process->partners[i].comes = PM_COMES_UNKNOWN;
        if (meeting == PM_MEETING_UNKNOWN || !communicator)
            continue;
        size_t c = (size_t)(communicator - communication->communicators);
        if (places[c] != PM_NONE)
            *PM_PUSH(to, list) =
                (struct attendance){kind->communicator, ordinals[c]++, places[c], p, (uint32_t)i};
    }
    free(ordinals);
    free(places);
}

static int64_t begin_of(const struct pm_timed_run *run, const struct attendance *of) {
    return run->processes[of->process].events[of->event].begin;
}

static const struct pm_event_kind *kind_of(const struct pm_timed_run *run,
                                           const struct attendance *of) {
    return pm_timed_kind(run, &run->processes[of->process].events[of->event]);
}

/* Whom any of N members names; N: nobody who has come. */
static size_t find_root(const struct pm_timed_run *run, const struct attendance *of, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && kind_of(run, &of[i])->partner >= 0; k++)
            if ((int32_t)run->processes[of[k].process].rank == kind_of(run, &of[i])->partner)
                return k;
    return n;
}

/* N members have come, in the order of their places; the others have logs that end before. */
static void meet(struct pm_timed_run *run, const struct attendance *of, size_t n) {
    const struct pm_communicator *communicator =
        pm_communicator(run->communication, of->communicator);
    const int64_t since = begin_of(run, of);
    bool is_all = n == communicator->n_members + communicator->n_remote, has_one_clock = true;
    double *begins = pm_alloc(n, sizeof *begins), *comes = pm_alloc(n, sizeof *comes);
    for (size_t i = 0; i < n; i++) {
        has_one_clock &= pm_have_one_clock(run, of[0].process, of[i].process);
        begins[i] = (double)(begin_of(run, &of[i]) - since);
    }
    pm_meet(meeting_of(kind_of(run, of)->operation), begins, n, is_all, find_root(run, of, n),
            comes);
    for (size_t i = 0; i < n && has_one_clock; i++)
        run->processes[of[i].process].partners[of[i].event].comes =
            isnan(comes[i])   ? PM_COMES_UNKNOWN
            : isinf(comes[i]) ? PM_COMES_NEVER
                              : since + (int64_t)comes[i];
    free(begins);
    free(comes);
}

void pm_match_collectives(struct pm_timed_run *run) {
    struct attendances all = {0};
    for (size_t p = 0; p < run->n_processes; p++)
        add_process(&all, run, (uint32_t)p);
    PM_SORT(all.list, all.n_list, by_occasion);
    for (size_t first = 0, end; first < all.n_list; first = end) {
        for (end = first + 1; end < all.n_list &&
                              all.list[end].communicator == all.list[first].communicator &&
                              all.list[end].ordinal == all.list[first].ordinal;)
            end++;
        meet(run, &all.list[first], end - first);
    }
    free(all.list);
}
