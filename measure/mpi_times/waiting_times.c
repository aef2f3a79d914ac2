/* How long of its time each call waited; the definition is in core/call_times/call_times.h. */
#include <stdlib.h>

#include "core/mpi_operations/mpi_operations.h"
#include "measure/mpi_times/private.h"

bool pm_have_one_clock(const struct pm_timed_run *run, size_t a, size_t b) {
    const uint64_t *one = run->processes[a].clock, *other = run->processes[b].clock;
    return a == b || (one[0] == other[0] && one[1] == other[1] && (one[0] || one[1]));
}

/* So much of EVENT is before COMES; or PM_COMES_UNKNOWN. */
static int64_t waits_for(const struct pm_timed_event *event, int64_t comes) {
    if (comes == PM_COMES_UNKNOWN)
        return PM_COMES_UNKNOWN;
    if (comes <= event->begin) /* PM_COMES_NEVER, too */
        return 0;
    return (comes < event->end ? comes : event->end) - event->begin;
}

/* The same of one that sends: what is over before the receive began was buffered. */
static int64_t send_waits_for(const struct pm_timed_event *event, int64_t comes) {
    return comes >= event->end ? 0 : waits_for(event, comes);
}

static int64_t longer(int64_t a, int64_t b) {
    if (a == PM_COMES_UNKNOWN || b == PM_COMES_UNKNOWN)
        return PM_COMES_UNKNOWN;
    return a > b ? a : b;
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

static int64_t completion_waits(const struct pm_timed_process *process, const struct begun *begun,
                                const struct pm_request_list *list,
                                const struct pm_timed_event *event) {
    int64_t longest = 0;
    for (size_t i = 0; i < list->n_numbers; i++) {
        uint32_t number = list->numbers[i];
        uint32_t began = number < begun->n_events ? begun->events[number] : 0;
        if (began == 0)
            return PM_COMES_UNKNOWN;
        const struct pm_event_partners *partners = &process->partners[began - 1];
        longest = longer(longest, longer(waits_for(event, partners->comes),
                                         send_waits_for(event, partners->receiver)));
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
        const struct pm_event_partners *partners = &process->partners[i];
        const struct pm_request_list *list = &run->communication->requests[kind->requests];
        bool completes = pm_operation_way(kind->operation) == PM_WAY_COMPLETES;
        int64_t ns = never_waits(kind->operation) ? 0
                     : completes                  ? completion_waits(process, &begun, list, event)
                                                  : longer(waits_for(event, partners->comes),
                                                           send_waits_for(event, partners->receiver));
        if (!completes)
            begin_requests(&begun, list, (uint32_t)i);
        struct pm_kind_waiting *to = &by_kind[event->count];
        to->logged_ns += (uint64_t)(event->end - event->begin);
        if (ns == PM_COMES_UNKNOWN)
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
