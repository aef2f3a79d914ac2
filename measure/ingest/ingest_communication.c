/* Communication of all processes of a run, in numbers of the run.

   A communicator is one and the same in two processes if it has the same members and is, in each,
   as many-th of those with these members: what has the same members was made by calls that all of
   them took part in, in the same order. */
#include <stdlib.h>
#include <string.h>

#include "measure/ingest/private.h"

struct pm_communication_sums {
    struct pm_communication *all;
    PM_ARRAY(uint32_t, ordinals); /* of each communicator among those with the same members */
    struct pm_map communicators, requests;
    bool was_traced, has_sockets;
};

struct pm_communication_sums *pm_communication_sums_new(void) {
    struct pm_communication_sums *sums = pm_alloc(1, sizeof *sums);
    sums->all = pm_communication_new();
    return sums;
}

const struct pm_communication *pm_communication_sums_all(const struct pm_communication_sums *sums) {
    return sums->all;
}

/* ---- communicators --------------------------------------------------------------------------- */

static bool are_same(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b) {
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

static bool have_same_members(const struct pm_raw_communicator *a,
                              const struct pm_raw_communicator *b) {
    return are_same(a->members, a->n_members, b->members, b->n_members) &&
           are_same(a->remote, a->n_remote, b->remote, b->n_remote);
}

/* The two sides of an intercommunicator see each other's members as remote. */
static bool is_the_same(const struct pm_communicator *a, const struct pm_raw_communicator *b) {
    return (are_same(a->members, a->n_members, b->members, b->n_members) &&
            are_same(a->remote, a->n_remote, b->remote, b->n_remote)) ||
           (b->n_remote > 0 && are_same(a->members, a->n_members, b->remote, b->n_remote) &&
            are_same(a->remote, a->n_remote, b->members, b->n_members));
}

static uint64_t hash_of(const struct pm_raw_communicator *communicator, uint32_t ordinal) {
    uint64_t one = pm_hash_bytes(communicator->members, communicator->n_members * sizeof(int32_t));
    uint64_t other = pm_hash_bytes(communicator->remote, communicator->n_remote * sizeof(int32_t));
    return one + other + ordinal; /* the same from both sides */
}

static uint32_t number_of(struct pm_communication_sums *sums,
                          const struct pm_raw_communicator *from, uint32_t ordinal) {
    uint64_t hash = hash_of(from, ordinal);
    for (struct pm_map_entry at = pm_map_find(&sums->communicators, hash); at.found;
         pm_map_next(&sums->communicators, &at))
        if (sums->ordinals[at.item] == ordinal &&
            is_the_same(&sums->all->communicators[at.item], from))
            return at.item;
    uint32_t number = (uint32_t)sums->all->n_communicators;
    struct pm_communicator *to = PM_PUSH(sums->all, communicators);
    to->number = number;
    to->made_by = (uint16_t)from->made_by;
    for (size_t i = 0; i < from->n_members; i++)
        *PM_PUSH(to, members) = from->members[i];
    for (size_t i = 0; i < from->n_remote; i++)
        *PM_PUSH(to, remote) = from->remote[i];
    *PM_PUSH(sums, ordinals) = ordinal;
    pm_map_add(&sums->communicators, hash, number);
    return number;
}

/* RAW's communicators as those of the run; the caller frees. */
static uint32_t *take_communicators(struct pm_communication_sums *sums, const struct pm_raw *raw) {
    uint32_t *numbers = pm_alloc(raw->n_communicators + 1, sizeof *numbers);
    for (size_t i = 0; i < raw->n_communicators; i++) {
        uint32_t ordinal = 0;
        for (size_t k = 0; k < i; k++)
            ordinal += have_same_members(&raw->communicators[k], &raw->communicators[i]);
        numbers[i] = number_of(sums, &raw->communicators[i], ordinal);
    }
    return numbers;
}

/* ---- requests -------------------------------------------------------------------------------- */

static uint32_t request_list(struct pm_communication_sums *sums,
                             const struct pm_raw_request_list *from) {
    struct pm_communication *all = sums->all;
    uint64_t hash = pm_hash_bytes(from->numbers, from->n_numbers * sizeof *from->numbers);
    for (struct pm_map_entry at = pm_map_find(&sums->requests, hash); at.found;
         pm_map_next(&sums->requests, &at))
        if (all->requests[at.item].n_numbers == from->n_numbers &&
            memcmp(all->requests[at.item].numbers, from->numbers,
                   from->n_numbers * sizeof *from->numbers) == 0)
            return at.item;
    uint32_t number = (uint32_t)all->n_requests;
    struct pm_request_list *to = PM_PUSH(all, requests);
    for (size_t i = 0; i < from->n_numbers; i++)
        *PM_PUSH(to, numbers) = from->numbers[i];
    pm_map_add(&sums->requests, hash, number);
    return number;
}

static uint32_t *take_requests(struct pm_communication_sums *sums, const struct pm_raw *raw) {
    uint32_t *numbers = pm_alloc(raw->n_requests + 1, sizeof *numbers);
    for (size_t i = 1; i < raw->n_requests; i++)
        numbers[i] = request_list(sums, &raw->requests[i]);
    return numbers;
}

/* ---- events ---------------------------------------------------------------------------------- */

struct numbers { /* of a process, as those of the run */
    uint32_t *paths, *communicators, *requests;
};

static struct pm_event_kind kind_of(const struct pm_raw_event *event,
                                    const struct numbers *numbers) {
    return (struct pm_event_kind){
        .path = numbers->paths[event->path],
        .operation = (uint16_t)event->operation,
        .communicator =
            event->communicator == PM_NONE ? PM_NONE : numbers->communicators[event->communicator],
        .partner = event->partner,
        .source = event->source,
        .tag = event->tag,
        .source_tag = event->source_tag,
        .bytes_sent = event->bytes_sent,
        .bytes_received = event->bytes_received,
        .requests = numbers->requests[event->requests],
    };
}

static bool add_thread(struct pm_communication *all, const struct pm_raw_communication *from,
                       const struct numbers *numbers, uint32_t process) {
    size_t first = all->n_counts;
    uint32_t thread = (uint32_t)from->thread;
    all->n_lost += from->n_lost;
    for (size_t i = 0; i < from->n_events; i++)
        *PM_PUSH(all, counts) = (struct pm_event_count){
            process, thread, kind_of(&from->events[i], numbers), from->events[i].n};
    if (from->n_sequences == 0)
        return true;
    struct pm_trace *trace = PM_PUSH(all, traces);
    trace->process = process;
    trace->thread = thread;
    trace->n_events = from->n_traced;
    trace->n_lost = from->n_cut;
    for (size_t i = 0; i < from->n_sequences; i++)
        *PM_PUSH(trace, sequences) = from->sequences[i];
    for (size_t i = 0; i < from->n_nodes; i++) {
        struct pm_raw_trace_node node = from->nodes[i];
        if (node.times == 0 && node.item >= from->n_events)
            return false;
        uint32_t item = node.times == 0 ? (uint32_t)(first + node.item) : node.item;
        *PM_PUSH(trace, nodes) = (struct pm_trace_node){item, node.times};
    }
    return pm_trace_is_valid(trace, all->n_counts);
}

static void add_sockets(struct pm_communication *all, const struct pm_raw *raw,
                        const struct numbers *numbers, uint32_t process) {
    uint32_t first = (uint32_t)all->n_sockets;
    all->n_lost += raw->n_lost_transfers;
    for (size_t i = 0; i < raw->n_sockets; i++)
        *PM_PUSH(all, sockets) = (struct pm_socket){process, pm_strdup(raw->sockets[i])};
    for (size_t i = 0; i < raw->n_socket_traffic; i++) {
        const struct pm_raw_socket_traffic *from = &raw->socket_traffic[i];
        *PM_PUSH(all, traffic) = (struct pm_socket_traffic){
            .process = process,
            .thread = from->thread,
            .path = numbers->paths[from->path],
            .socket = first + from->socket,
            .sends = from->sends,
            .receives = from->receives,
            .bytes_sent = from->bytes_sent,
            .bytes_received = from->bytes_received,
        };
    }
}

bool pm_ingest_communication(struct pm_communication_sums *sums, const struct pm_raw *raw,
                             const struct pm_module_place *const *places, uint32_t process,
                             const char *path, struct pm_error *err) {
    bool ok = true;
    if (!raw->has_communication && !raw->has_sockets)
        return true;
    struct numbers numbers = {pm_ingest_paths(&sums->all->paths, raw, places),
                              take_communicators(sums, raw), take_requests(sums, raw)};
    sums->was_traced = true;
    sums->has_sockets |= raw->has_sockets;
    for (size_t i = 0; i < raw->n_communication && ok; i++)
        ok = add_thread(sums->all, &raw->communication[i], &numbers, process);
    add_sockets(sums->all, raw, &numbers, process);
    free(numbers.paths);
    free(numbers.communicators);
    free(numbers.requests);
    return ok ||
           pm_fail(err, "%s: its trace of communication is damaged; run the program again", path);
}

void pm_communication_of_other_build(struct pm_communication *communication, char **notes) {
    pm_call_paths_free(&communication->paths);
    for (size_t i = 0; i < communication->n_counts; i++)
        communication->counts[i].kind.path = PM_NO_PATH;
    for (size_t i = 0; i < communication->n_traffic; i++)
        communication->traffic[i].path = PM_NO_PATH;
    pm_add_note(notes, "call paths of communication are not kept: they are of another build than "
                       "the store's");
}

/* What was left out, in the user's words. */
static void add_notes(const struct pm_communication_sums *sums, char **notes) {
    const struct pm_communication *all = sums->all;
    uint64_t n_cut = 0;
    char *note = NULL;
    for (size_t i = 0; i < all->n_traces; i++)
        n_cut += all->traces[i].n_lost;
    if (all->n_lost)
        note = pm_sprintf(
            "%llu communication events are not counted: there were too many kinds, or sockets",
            (unsigned long long)all->n_lost);
    else if (n_cut)
        note = pm_sprintf("%llu communication events are counted, but not in the traces, which "
                          "became too long",
                          (unsigned long long)n_cut);
    if (note)
        pm_add_note(notes, note);
    if (sums->has_sockets && all->n_traffic == 0 && !all->n_lost)
        pm_add_note(notes,
                    "nothing moved on a socket in calls of the routines that --sockets names");
    free(note);
}

struct pm_communication *pm_communication_sums_end(struct pm_communication_sums *sums,
                                                   char **notes) {
    struct pm_communication *all = sums->all;
    if (!sums->was_traced) {
        pm_communication_free(all);
        all = NULL;
    } else {
        add_notes(sums, notes);
    }
    free(sums->ordinals);
    pm_map_free(&sums->communicators);
    pm_map_free(&sums->requests);
    free(sums);
    return all;
}
