/* Communication of a run; see communication.h. */
#include "core/communication/communication.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/call_paths/call_paths.h"

struct pm_communication *pm_communication_new(void) {
    struct pm_communication *communication = pm_alloc(1, sizeof *communication);
    PM_PUSH(communication, requests); /* the empty list */
    return communication;
}

void pm_communication_free(struct pm_communication *communication) {
    if (!communication)
        return;
    for (size_t i = 0; i < communication->n_communicators; i++) {
        free(communication->communicators[i].members);
        free(communication->communicators[i].remote);
    }
    for (size_t i = 0; i < communication->n_requests; i++)
        free(communication->requests[i].numbers);
    for (size_t i = 0; i < communication->n_traces; i++) {
        free(communication->traces[i].nodes);
        free(communication->traces[i].sequences);
    }
    for (size_t i = 0; i < communication->n_sockets; i++)
        free(communication->sockets[i].text);
    free(communication->sockets);
    free(communication->traffic);
    pm_call_paths_free(&communication->paths);
    free(communication->communicators);
    free(communication->requests);
    free(communication->counts);
    free(communication->traces);
    free(communication);
}

const struct pm_communicator *pm_communicator(const struct pm_communication *communication,
                                              uint32_t number) {
    size_t low = 0, high = communication->n_communicators;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (communication->communicators[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    const struct pm_communicator *found = &communication->communicators[low];
    return low < communication->n_communicators && found->number == number ? found : NULL;
}

uint32_t pm_request_list(struct pm_communication *communication, const uint32_t *numbers,
                         size_t n) {
    for (size_t i = 0; i < communication->n_requests; i++)
        if (communication->requests[i].n_numbers == n &&
            (n == 0 ||
             memcmp(communication->requests[i].numbers, numbers, n * sizeof *numbers) == 0))
            return (uint32_t)i;
    struct pm_request_list *list = PM_PUSH(communication, requests);
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(list, numbers) = numbers[i];
    return (uint32_t)(communication->n_requests - 1);
}

/* ---- operations ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum pm_operation_way way;
} operations[PM_N_OPERATIONS] = {
#define PM_OPERATION_ROW(name, way) {"MPI_" #name, PM_WAY_##way},
    PM_OPERATIONS(PM_OPERATION_ROW)
#undef PM_OPERATION_ROW
};

const char *pm_operation_name(uint16_t operation) {
    return operation < PM_N_OPERATIONS ? operations[operation].name : NULL;
}

enum pm_operation_way pm_operation_way(uint16_t operation) { return operations[operation].way; }

/* By their names: MPI_Intercomm_create is none of them. */
bool pm_operation_is_nonblocking(uint16_t operation) {
    const char *name = pm_operation_name(operation);
    if (pm_operation_way(operation) == PM_WAY_MAKES)
        return operation == PM_MPI_Comm_idup;
    return strstr(name, "_init") || (name[4] == 'I' && islower((unsigned char)name[5]));
}

/* ---- events ---------------------------------------------------------------------------------- */

bool pm_event_sends(const struct pm_event_kind *kind, int32_t *to) {
    enum pm_operation_way way = pm_operation_way(kind->operation);
    *to = kind->partner;
    if (kind->partner < 0)
        return false;
    return way == PM_WAY_SENDS || way == PM_WAY_EXCHANGES ||
           (way == PM_WAY_ONE_SIDED && kind->bytes_sent > 0);
}

bool pm_event_receives(const struct pm_event_kind *kind, int32_t *from) {
    enum pm_operation_way way = pm_operation_way(kind->operation);
    *from = way == PM_WAY_EXCHANGES ? kind->source : kind->partner;
    if (*from < 0)
        return false;
    return way == PM_WAY_RECEIVES || way == PM_WAY_EXCHANGES ||
           (way == PM_WAY_ONE_SIDED && kind->bytes_received > 0);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool count_is_valid(const struct pm_communication *communication,
                           const struct pm_event_count *count) {
    const struct pm_event_kind *kind = &count->kind;
    return kind->operation < PM_N_OPERATIONS &&
           (kind->path == PM_NO_PATH || kind->path < communication->paths.n_sites) &&
           kind->requests < communication->n_requests && kind->partner >= PM_UNKNOWN_PARTNER &&
           kind->source >= PM_UNKNOWN_PARTNER &&
           (kind->communicator == PM_NONE || pm_communicator(communication, kind->communicator));
}

bool pm_communication_is_valid(const struct pm_communication *communication, struct pm_error *err) {
    for (size_t i = 1; i < communication->n_communicators; i++)
        if (communication->communicators[i - 1].number >= communication->communicators[i].number)
            return pm_fail(err, "communicator %u is there twice",
                           communication->communicators[i].number);
    for (size_t i = 0; i < communication->n_counts; i++)
        if (!count_is_valid(communication, &communication->counts[i]))
            return pm_fail(err, "communication event %zu is damaged", i);
    for (size_t i = 0; i < communication->n_traffic; i++)
        if (communication->traffic[i].socket >= communication->n_sockets ||
            (communication->traffic[i].path != PM_NO_PATH &&
             communication->traffic[i].path >= communication->paths.n_sites))
            return pm_fail(err, "traffic %zu on sockets is damaged", i);
    for (size_t i = 0; i < communication->n_traces; i++)
        if (!pm_trace_is_valid(&communication->traces[i], communication->n_counts))
            return pm_fail(err, "the trace of process %u is damaged",
                           communication->traces[i].process);
    return true;
}
