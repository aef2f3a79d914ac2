/* How long of its time each call waited; the definition is in core/call_times/call_times.h. */
#include <math.h>
#include <stdlib.h>

#include "core/call_times/call_times.h"
#include "core/mpi_operations.h"
#include "measure/mpi_times/private.h"

bool pm_have_one_clock(const struct pm_timed_run *run, size_t a, size_t b) {
    const uint64_t *one = run->processes[a].clock, *other = run->processes[b].clock;
    return a == b || (one[0] == other[0] && one[1] == other[1] && (one[0] || one[1]));
}

static double length_of(const struct pm_timed_event *event) {
    return (double)(event->end - event->begin);
}

static double late_by(const struct pm_timed_event *event, int64_t comes) {
    return comes == PM_COMES_UNKNOWN ? NAN
           : comes == PM_COMES_NEVER ? PM_NEVER_LATE
                                     : (double)(comes - event->begin);
}

/* How long EVENT waits for its partners: of its own message, or of that which its request began. */
static double waits_for(const struct pm_timed_event *event,
                        const struct pm_event_partners *partners) {
    double length = length_of(event);
    return pm_longer_waiting(pm_waiting(length, late_by(event, partners->comes)),
                             pm_waiting_of_send(length, late_by(event, partners->receiver)));
}

/* Which event of a process began a request, by its number. */
struct begun {
    PM_ARRAY(uint32_t, events); /* + 1; 0: none */
};

static void begin_requests(struct begun *begun, const struct pm_request_list *list,
                           uint32_t event) {
    for (size_t i = 0; i < list->n_numbers; i++) {
        while (begun->n_events <= list->numbers[i])
            PM_PUSH(begun, events);
        begun->events[list->numbers[i]] = event + 1;
    }
}

static double completion_waits(const struct pm_timed_process *process, const struct begun *begun,
                               const struct pm_request_list *list,
                               const struct pm_timed_event *event) {
    double longest = 0;
    for (size_t i = 0; i < list->n_numbers; i++) {
        uint32_t number = list->numbers[i];
        uint32_t began = number < begun->n_events ? begun->events[number] : 0;
        if (began == 0)
            return NAN;
        longest = pm_longer_waiting(longest, waits_for(event, &process->partners[began - 1]));
    }
    return longest;
}

/* Calls that end whatever others do. */
static bool never_waits(uint16_t operation) {
    switch (operation) {
    case PM_MPI_Bsend:
    case PM_MPI_Mrecv:
    case PM_MPI_Test:
    case PM_MPI_Testall:
    case PM_MPI_Testany:
    case PM_MPI_Testsome:
        return true;
    default:
        return pm_operation_is_nonblocking(operation);
    }
}

static void add_process(const struct pm_timed_run *run, const struct pm_timed_process *process,
                        struct pm_kind_waiting *by_kind) {
    struct begun begun = {0};
    for (size_t i = 0; i < process->n_events; i++) {
        const struct pm_timed_event *event = &process->events[i];
        const struct pm_event_kind *kind = pm_timed_kind(run, event);
        const struct pm_request_list *list = &run->communication->requests[kind->requests];
        bool completes = pm_operation_way(kind->operation) == PM_WAY_COMPLETES;
        double ns = never_waits(kind->operation) ? 0
                    : completes                  ? completion_waits(process, &begun, list, event)
                                                 : waits_for(event, &process->partners[i]);
        if (!completes)
            begin_requests(&begun, list, (uint32_t)i);
        struct pm_kind_waiting *to = &by_kind[event->count];
        to->logged_ns += (uint64_t)(event->end - event->begin);
        if (isnan(ns))
            to->unknown_ns += (uint64_t)(event->end - event->begin);
        else
            to->waiting_ns += (uint64_t)ns;
    }
    free(begun.events);
}

void pm_add_waiting(const struct pm_timed_run *run, struct pm_kind_waiting *by_kind) {
    for (size_t p = 0; p < run->n_processes; p++)
        add_process(run, &run->processes[p], by_kind);
}
