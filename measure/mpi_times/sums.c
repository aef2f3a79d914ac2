/* Adds up the calls of all processes; see call_times.h. */
#include <stdlib.h>
#include <string.h>

#include "measure/mpi_times/private.h"
#include "measure/ingest/ingest.h"

struct pm_call_times_sums {
    struct pm_communication_sums *communication;
    struct pm_timed_run run;                  /* of the processes that are ranks */
    PM_ARRAY(struct pm_raw_call_time, times); /* of each kind of all processes */
    PM_ARRAY(uint32_t, ranks);                /* of each kind; PM_NONE: not known */
    PM_ARRAY(struct pm_rank_span, spans);
    uint32_t n_ingested; /* processes */
    bool was_timed;
};

struct pm_call_times_sums *pm_call_times_sums_new(void) {
    struct pm_call_times_sums *sums = pm_alloc(1, sizeof *sums);
    sums->communication = pm_communication_sums_new();
    return sums;
}

static void free_run(struct pm_timed_run *run) {
    for (size_t i = 0; i < run->n_processes; i++) {
        free(run->processes[i].events);
        free(run->processes[i].partners);
    }
    free(run->processes);
}

void pm_call_times_sums_free(struct pm_call_times_sums *sums) {
    char *notes = NULL;
    if (!sums)
        return;
    if (sums->communication)
        pm_communication_free(pm_communication_sums_end(sums->communication, &notes));
    free(notes);
    free_run(&sums->run);
    free(sums->times);
    free(sums->ranks);
    free(sums->spans);
    free(sums);
}

/* ---- one process ----------------------------------------------------------------------------- */

/* The first events of the trace that was ingested last of this thread, with their times. */
static void add_events(struct pm_timed_process *process, const struct pm_trace *trace,
                       const struct pm_raw_communication *from) {
    struct pm_trace_walk walk = pm_trace_walk(trace);
    bool is_more = true;
    uint32_t count;
    for (size_t i = 0; i < from->n_calls && (is_more = pm_trace_next(&walk, &count)); i++)
        *PM_PUSH(process, events) = (struct pm_timed_event){(int64_t)from->calls[i].begin_ns,
                                                            (int64_t)from->calls[i].end_ns, count};
    if (is_more)
        pm_trace_walk_free(&walk);
    process->is_cut |= from->n_calls < from->n_traced || from->n_cut > 0;
}

static int by_begin(const void *left, const void *right) {
    const struct pm_timed_event *a = left, *b = right;
    int order = PM_COMPARE(a->begin, b->begin);
    return order ? order : PM_COMPARE(a->end, b->end);
}

/* Of a thread whose calls are in order the sort leaves them there. */
static bool is_sorted(const struct pm_timed_process *process) {
    for (size_t i = 1; i < process->n_events; i++)
        if (process->events[i].begin < process->events[i - 1].begin)
            return false;
    return true;
}

static void add_times(struct pm_call_times_sums *sums, const struct pm_raw *raw) {
    for (size_t i = 0; i < raw->n_communication; i++) {
        const struct pm_raw_communication *from = &raw->communication[i];
        sums->was_timed |= from->n_times > 0;
        for (size_t k = 0; k < from->n_events; k++) {
            *PM_PUSH(sums, times) =
                k < from->n_times ? from->times[k] : (struct pm_raw_call_time){0};
            *PM_PUSH(sums, ranks) = raw->rank.size ? (uint32_t)raw->rank.rank : PM_NONE;
        }
    }
}

static void add_rank(struct pm_call_times_sums *sums, const struct pm_raw *raw,
                     const struct pm_communication *all, size_t first_trace) {
    struct pm_timed_process *process = PM_PUSH(&sums->run, processes);
    process->rank = (uint32_t)raw->rank.rank;
    memcpy(process->clock, raw->mpi_span.clock, sizeof process->clock);
    for (size_t i = 0; i < raw->n_communication; i++)
        for (size_t t = first_trace; t < all->n_traces; t++)
            if (all->traces[t].thread == raw->communication[i].thread)
                add_events(process, &all->traces[t], &raw->communication[i]);
    if (!is_sorted(process))
        PM_SORT(process->events, process->n_events, by_begin);
    const struct pm_raw_mpi_span *span = &raw->mpi_span;
    if (span->begin_ns && span->end_ns)
        *PM_PUSH(sums, spans) =
            (struct pm_rank_span){process->rank, 1e-9 * (double)(span->end_ns - span->begin_ns)};
}

bool pm_call_times_sums_add(struct pm_call_times_sums *sums, const struct pm_raw *raw,
                            const struct pm_module_place *const *places, const char *path,
                            struct pm_error *err) {
    const struct pm_communication *all = pm_communication_sums_all(sums->communication);
    size_t first_trace = all->n_traces;
    if (!pm_ingest_communication(sums->communication, raw, places, sums->n_ingested++, path, err))
        return false;
    if (!raw->has_communication)
        return true;
    add_times(sums, raw);
    if (raw->rank.size)
        add_rank(sums, raw, all, first_trace);
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Several worlds have the same numbers: who is who cannot be told. */
static bool has_each_rank_once(const struct pm_timed_run *run) {
    bool is_once = true;
    size_t most = 0;
    for (size_t i = 0; i < run->n_processes; i++)
        most = run->processes[i].rank > most ? run->processes[i].rank : most;
    bool *is_seen = pm_alloc(most + 1, sizeof *is_seen);
    for (size_t i = 0; i < run->n_processes; i++) {
        is_once &= !is_seen[run->processes[i].rank];
        is_seen[run->processes[i].rank] = true;
    }
    free(is_seen);
    return is_once;
}

static struct pm_kind_waiting *find_waiting(struct pm_timed_run *run) {
    struct pm_kind_waiting *by_kind = pm_alloc(run->communication->n_counts + 1, sizeof *by_kind);
    for (size_t p = 0; p < run->n_processes; p++) {
        struct pm_timed_process *process = &run->processes[p];
        process->partners = pm_alloc(process->n_events + 1, sizeof *process->partners);
        for (size_t i = 0; i < process->n_events; i++)
            process->partners[i] = (struct pm_event_partners){PM_COMES_NEVER, PM_COMES_NEVER};
    }
    if (has_each_rank_once(run)) {
        pm_match_messages(run);
        pm_match_collectives(run);
        pm_add_waiting(run, by_kind);
    }
    return by_kind;
}

static struct pm_call_time *row_of(struct pm_call_times *times, struct pm_map *map,
                                   const struct pm_call_time *key) {
    const uint32_t words[] = {key->rank, key->path, key->operation, (uint32_t)key->partner,
                              (uint32_t)key->source};
    uint64_t hash = pm_hash_bytes(words, sizeof words);
    for (struct pm_map_entry at = pm_map_find(map, hash); at.found; pm_map_next(map, &at)) {
        struct pm_call_time *row = &times->calls[at.item];
        if (row->rank == key->rank && row->path == key->path && row->operation == key->operation &&
            row->partner == key->partner && row->source == key->source)
            return row;
    }
    pm_map_add(map, hash, (uint32_t)times->n_calls);
    struct pm_call_time *row = PM_PUSH(times, calls);
    *row = *key;
    return row;
}

/* What is counted in a kind, but not in the log, is not known. */
static void add_kind(struct pm_call_time *row, uint64_t n, const struct pm_raw_call_time *time,
                     const struct pm_kind_waiting *waiting) {
    uint64_t logged = waiting->logged_ns < time->ns ? waiting->logged_ns : time->ns;
    double least = 1e-9 * (double)time->least_ns;
    row->least_seconds = row->n == 0 || least < row->least_seconds ? least : row->least_seconds;
    row->n += n;
    row->seconds += 1e-9 * (double)time->ns;
    row->waiting_seconds += 1e-9 * (double)waiting->waiting_ns;
    row->unknown_seconds += 1e-9 * (double)(waiting->unknown_ns + time->ns - logged);
}

static int by_rank(const void *left, const void *right) {
    const struct pm_call_time *a = left, *b = right;
    int order = PM_COMPARE(a->rank, b->rank);
    order = order ? order : PM_COMPARE(a->path, b->path);
    order = order ? order : PM_COMPARE(a->operation, b->operation);
    order = order ? order : PM_COMPARE(a->partner, b->partner);
    return order ? order : PM_COMPARE(a->source, b->source);
}

static int by_rank_of_span(const void *left, const void *right) {
    const struct pm_rank_span *a = left, *b = right;
    return PM_COMPARE(a->rank, b->rank);
}

static void add_spans(const struct pm_call_times_sums *sums, struct pm_call_times *times) {
    PM_SORT(sums->spans, sums->n_spans, by_rank_of_span);
    for (size_t i = 0; i < sums->n_spans; i++)
        if (i == 0 || sums->spans[i].rank != sums->spans[i - 1].rank)
            *PM_PUSH(times, spans) = sums->spans[i];
}

static void add_calls(const struct pm_call_times_sums *sums, struct pm_call_times *times) {
    const struct pm_communication *all = sums->run.communication;
    struct pm_timed_run run = sums->run;
    struct pm_kind_waiting *waiting = find_waiting(&run);
    struct pm_map map = {0};
    for (size_t i = 0; i < all->n_counts; i++) {
        const struct pm_event_kind *kind = &all->counts[i].kind;
        if (sums->ranks[i] == PM_NONE || (all->counts[i].n == 0 && sums->times[i].ns == 0))
            continue;
        const struct pm_call_time key = {.rank = sums->ranks[i],
                                         .path = kind->path,
                                         .operation = kind->operation,
                                         .partner = kind->partner,
                                         .source = kind->source};
        add_kind(row_of(times, &map, &key), all->counts[i].n, &sums->times[i], &waiting[i]);
    }
    PM_SORT(times->calls, times->n_calls, by_rank);
    pm_map_free(&map);
    free(waiting);
}

struct pm_call_times *pm_call_times_sums_end(struct pm_call_times_sums *sums) {
    char *notes = NULL;
    struct pm_communication *all = pm_communication_sums_end(sums->communication, &notes);
    struct pm_call_times *times = NULL;
    sums->communication = NULL;
    free(notes);
    if (all && sums->was_timed) {
        times = pm_alloc(1, sizeof *times);
        sums->run.communication = all;
        add_calls(sums, times);
        add_spans(sums, times);
        times->paths = all->paths;
        all->paths = (struct pm_call_paths){0};
    }
    pm_communication_free(all);
    pm_call_times_sums_free(sums);
    return times;
}
