/* Reads raw files; see raw.h.  Checks come in this order: magic, version, length, checksum,
   then each section.  After the checksum a fault is not the disk's, but every count is checked all
   the same before anything is allocated or indexed by it. */
#include "measure/raw/sections.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static bool damaged(struct pm_error *err, const char *name, const char *what) {
    return pm_fail(err, "%s: damaged raw file: %s; run the program again", name, what);
}

/* ---- sections -------------------------------------------------------------------------------- */

/* A signal's number stands there if and only if the process was truncated. */
static bool flags_are_valid(uint64_t flags) {
    enum {
        KNOWN = PM_RAW_FORKED | PM_RAW_BEFORE_EXEC | PM_RAW_TRUNCATED | PM_RAW_CHECKPOINT,
        MOST_SIGNALS = 64
    };
    uint64_t number = flags >> PM_RAW_SIGNAL_SHIFT, kinds = flags - (number << PM_RAW_SIGNAL_SHIFT);
    return (kinds & ~(uint64_t)KNOWN) == 0 && number <= MOST_SIGNALS &&
           (number != 0) == ((kinds & PM_RAW_TRUNCATED) != 0) &&
           !(kinds & PM_RAW_CHECKPOINT && kinds & (PM_RAW_TRUNCATED | PM_RAW_BEFORE_EXEC));
}

static bool read_meta(struct pm_raw *raw, struct pm_reader *in) {
    raw->process_id = pm_take_unsigned(in, 8);
    raw->parent_id = pm_take_unsigned(in, 8);
    raw->start_unix_ns = pm_take_unsigned(in, 8);
    raw->wall_ns = pm_take_unsigned(in, 8);
    raw->cpu_ns = pm_take_unsigned(in, 8);
    raw->n_threads = pm_take_unsigned(in, 8);
    raw->n_missed_jumps = pm_take_unsigned(in, 8);
    raw->flags = pm_take_unsigned(in, 8);
    return !in->fault && flags_are_valid(raw->flags);
}

int pm_raw_signal(const struct pm_raw *raw) { return (int)(raw->flags >> PM_RAW_SIGNAL_SHIFT); }

static bool read_module(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_module module = {.structure_hash = pm_take_unsigned(in, 8)};
    module.n_counters = (uint32_t)pm_take_unsigned(in, 4);
    module.n_groups = (uint32_t)pm_take_unsigned(in, 4);
    module.first_counter = (uint32_t)pm_take_unsigned(in, 4);
    module.build_id_bytes = (uint32_t)pm_take_unsigned(in, 4);
    const void *build_id = pm_take(in, sizeof module.build_id);
    if (!build_id || module.build_id_bytes > sizeof module.build_id)
        return false;
    memcpy(module.build_id, build_id, sizeof module.build_id);
    *PM_PUSH(raw, modules) = module;
    return true;
}

static bool read_counters(struct pm_raw *raw, struct pm_reader *in) {
    uint64_t module = pm_take_unsigned(in, 8), thread = pm_take_unsigned(in, 8);
    if (in->fault || module >= raw->n_modules ||
        pm_bytes_left(in) % sizeof(struct pm_raw_count) != 0)
        return false;
    struct pm_raw_counters *counters = PM_PUSH(raw, counters);
    counters->module = (uint32_t)module;
    counters->thread = thread;
    size_t bytes = pm_bytes_left(in);
    counters->counts = pm_alloc(bytes ? bytes : 1, 1);
    memcpy(counters->counts, pm_take(in, bytes), bytes);
    counters->n_counts = bytes / sizeof *counters->counts;
    for (size_t i = 0; i < counters->n_counts; i++) {
        const struct pm_raw_count *count = &counters->counts[i];
        if (count->counter >= raw->modules[module].n_counters || count->count == 0 ||
            (i > 0 && count->counter <= count[-1].counter))
            return false;
    }
    return true;
}

static bool time_is_valid(const struct pm_raw *raw, const struct pm_raw_time *time,
                          const struct pm_raw_time *before) {
    bool outside = time->module == PM_RAW_OUTSIDE;
    bool ascends = !before || before->module < time->module ||
                   (before->module == time->module && before->scope < time->scope);
    return ascends && (outside ? time->scope == 0 : time->module < raw->n_modules) &&
           isfinite(time->ns) && time->ns >= 0 && isfinite(time->own_ns) && time->own_ns >= 0;
}

static bool read_times(struct pm_raw *raw, struct pm_reader *in) {
    uint64_t thread = pm_take_unsigned(in, 8), clock = pm_take_unsigned(in, 8);
    if (in->fault || clock < PM_RAW_CLOCK_TSC || clock > PM_RAW_CLOCK_SYSTEM ||
        pm_bytes_left(in) % sizeof(struct pm_raw_time) != 0)
        return false;
    struct pm_raw_thread_times *times = PM_PUSH(raw, times);
    times->thread = thread;
    times->clock = (uint32_t)clock;
    while (pm_bytes_left(in)) {
        struct pm_raw_time *time = PM_PUSH(times, times);
        memcpy(time, pm_take(in, sizeof *time), sizeof *time);
        if (!time_is_valid(raw, time, times->n_times > 1 ? time - 1 : NULL))
            return false;
    }
    return true;
}

static bool read_skipped(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_skipped skipped = {.thread = pm_take_unsigned(in, 8)};
    skipped.loads = pm_take_unsigned(in, 8);
    skipped.stores = pm_take_unsigned(in, 8);
    skipped.n_stops = pm_take_unsigned(in, 8);
    for (size_t i = 0; i < raw->n_skipped; i++)
        if (raw->skipped[i].thread == skipped.thread)
            return false;
    *PM_PUSH(raw, skipped) = skipped;
    return !in->fault && (skipped.loads || skipped.stores || skipped.n_stops);
}

static bool read_bounds(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_bounds *bounds = &raw->bounds;
    if (bounds->n_nests > 0)
        return false;
    bounds->ticks = pm_take_unsigned(in, 8);
    bounds->ns = pm_take_unsigned(in, 8);
    while (!in->fault && in->at < in->end) {
        struct pm_raw_bound *nest = PM_PUSH(bounds, nests);
        uint64_t *fields[] = {&nest->executions,    &nest->sampled,        &nest->over,
                              &nest->faults,        &nest->without_memory, &nest->ticks,
                              &nest->sampled_ticks, &nest->copy_ticks};
        *nest = (struct pm_raw_bound){0};
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            *fields[i] = pm_take_unsigned(in, 8);
        if (nest->sampled > nest->executions || nest->sampled_ticks > nest->ticks)
            return false;
    }
    return !in->fault;
}

static bool read_outcomes(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_outcomes *outcomes = PM_PUSH(&raw->recorded, branches);
    *outcomes = (struct pm_raw_outcomes){.n = pm_take_unsigned(in, 8)};
    if (outcomes->n > PM_BOUND_MOST_OUTCOMES)
        return false;
    for (uint64_t i = 0; i < (outcomes->n + 63) / 64 && !in->fault; i++)
        *PM_PUSH(outcomes, words) = pm_take_unsigned(in, 8);
    return !in->fault;
}

static bool read_recorded(struct pm_raw *raw, struct pm_reader *in) {
    struct pm_raw_recorded *recorded = &raw->recorded;
    uint64_t n_slots = pm_take_unsigned(in, 8), n_branches = pm_take_unsigned(in, 8);
    if (recorded->n_slots > 0 || recorded->n_branches > 0)
        return false;
    for (uint64_t i = 0; i < n_slots && !in->fault; i++) {
        struct pm_raw_slot *slot = PM_PUSH(recorded, slots);
        slot->n_known = pm_take_unsigned(in, 8);
        slot->address = pm_take_unsigned(in, 8);
        const void *bytes = pm_take(in, sizeof slot->bytes);
        if (!bytes || slot->n_known > sizeof slot->bytes)
            return false;
        memcpy(slot->bytes, bytes, sizeof slot->bytes);
    }
    for (uint64_t i = 0; i < n_branches && !in->fault; i++)
        if (!read_outcomes(raw, in))
            return false;
    return !in->fault;
}

/* Rows of ROW_BYTES of a module and a thread, to the end of the section. */
static bool rows_begin(const struct pm_raw *raw, struct pm_reader *in, size_t row_bytes,
                       uint32_t *module) {
    uint64_t number = pm_take_unsigned(in, 8);
    pm_take_unsigned(in, 8); /* the thread */
    *module = (uint32_t)number;
    return !in->fault && number < raw->n_modules && pm_bytes_left(in) % row_bytes == 0;
}

static bool branch_is_valid(const struct pm_raw_branch *branch,
                            const struct pm_raw_branch *before) {
    bool is_valid = branch->executions && branch->taken <= branch->executions &&
                    branch->analysed <= branch->executions &&
                    (!before || before->block < branch->block);
    for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
        is_valid &= branch->wrong[p] <= branch->analysed;
    return is_valid;
}

static bool read_branches(struct pm_raw *raw, struct pm_reader *in) {
    uint32_t module;
    if (!rows_begin(raw, in, sizeof(struct pm_raw_branch), &module))
        return false;
    struct pm_raw_thread_branches *branches = PM_PUSH(raw, branches);
    *branches = (struct pm_raw_thread_branches){.module = module};
    while (pm_bytes_left(in)) {
        struct pm_raw_branch *branch = PM_PUSH(branches, branches);
        memcpy(branch, pm_take(in, sizeof *branch), sizeof *branch);
        if (!branch_is_valid(branch, branches->n_branches > 1 ? branch - 1 : NULL))
            return false;
    }
    return true;
}

static bool trips_are_valid(const struct pm_raw_trips *row, const struct pm_raw_trips *before) {
    return row->range < PM_N_TRIP_RANGES && row->entries &&
           row->iterations / row->entries >= pm_least_trips(row->range) &&
           (row->range + 1 == PM_N_TRIP_RANGES ||
            (row->iterations - 1) / row->entries < pm_least_trips(row->range + 1) - 1) &&
           (!before || before->block < row->block ||
            (before->block == row->block && before->range < row->range));
}

static bool read_trips(struct pm_raw *raw, struct pm_reader *in) {
    uint32_t module;
    if (!rows_begin(raw, in, sizeof(struct pm_raw_trips), &module))
        return false;
    struct pm_raw_thread_trips *trips = PM_PUSH(raw, trips);
    *trips = (struct pm_raw_thread_trips){.module = module};
    while (pm_bytes_left(in)) {
        struct pm_raw_trips *row = PM_PUSH(trips, trips);
        memcpy(row, pm_take(in, sizeof *row), sizeof *row);
        if (!trips_are_valid(row, trips->n_trips > 1 ? row - 1 : NULL))
            return false;
    }
    return true;
}

static bool read_frames(struct pm_raw *raw, struct pm_reader *in) {
    uint64_t module = pm_take_unsigned(in, 8), n = pm_take_unsigned(in, 8);
    if (in->fault || module >= raw->n_modules ||
        n != pm_bytes_left(in) / sizeof(struct pm_raw_frame))
        return false;
    struct pm_raw_frames *frames = PM_PUSH(raw, frames);
    *frames = (struct pm_raw_frames){.module = (uint32_t)module};
    for (uint64_t i = 0; i < n; i++) {
        struct pm_raw_frame *frame = PM_PUSH(frames, frames);
        memcpy(frame, pm_take(in, sizeof *frame), sizeof *frame);
        const struct pm_raw_frame *before = frame - 1;
        if (frame->count == 0 || (i && before->return_address > frame->return_address) ||
            (i && before->return_address == frame->return_address &&
             (before->count < 0) == (frame->count < 0)))
            return false;
    }
    return true;
}

static bool read_rank(struct pm_raw *raw, struct pm_reader *in) {
    bool is_first = raw->rank.size == 0;
    raw->rank = (struct pm_raw_rank){.rank = pm_take_unsigned(in, 8)};
    raw->rank.size = pm_take_unsigned(in, 8);
    raw->rank.library = pm_take_unsigned(in, 8);
    const char *host = pm_take(in, sizeof raw->rank.host);
    if (!is_first || !host || host[sizeof raw->rank.host - 1] != '\0' ||
        raw->rank.rank >= raw->rank.size || raw->rank.size > PM_MOST_RANKS ||
        raw->rank.library < PM_RAW_OPEN_MPI || raw->rank.library > PM_RAW_OTHER_MPI)
        return false;
    memcpy(raw->rank.host, host, sizeof raw->rank.host);
    return true;
}

static bool read_note(struct pm_raw *raw, struct pm_reader *in) {
    size_t bytes = pm_bytes_left(in);
    const char *text = pm_take(in, bytes);
    if (bytes == 0 || text[bytes - 1] != '\0')
        return false;
    *PM_PUSH(raw, notes) = pm_strdup(text);
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool read_section(struct pm_raw *raw, struct pm_reader *file, unsigned ordinal,
                         const char *name, struct pm_error *err) {
    uint32_t tag = (uint32_t)pm_take_unsigned(file, 4);
    pm_take_unsigned(file, 4);
    uint64_t bytes = pm_take_unsigned(file, 8);
    if (file->fault || bytes > pm_bytes_left(file))
        return pm_fail(err,
                       "%s: damaged raw file: section %u is longer than the file; run the "
                       "program again",
                       name, ordinal);
    struct pm_reader in = pm_reader_of(pm_take(file, bytes), bytes);
    pm_take(file, -bytes & 7);
    bool valid = false;
    switch (tag) {
    case PM_RAW_META:
        valid = ordinal == 1 && read_meta(raw, &in);
        break;
    case PM_RAW_MODULE:
        valid = read_module(raw, &in);
        break;
    case PM_RAW_COUNTERS:
        valid = read_counters(raw, &in);
        break;
    case PM_RAW_HISTOGRAM:
        valid = pm_raw_read_histogram(raw, &in);
        break;
    case PM_RAW_DIRTY:
        valid = pm_raw_read_dirty(raw, &in);
        break;
    case PM_RAW_SEQUENTIAL:
        valid = pm_raw_read_sequential(raw, &in);
        break;
    case PM_RAW_CARRIED:
        valid = pm_raw_read_carried(raw, &in);
        break;
    case PM_RAW_TIMES:
        valid = read_times(raw, &in);
        break;
    case PM_RAW_BOUNDS:
        valid = read_bounds(raw, &in);
        break;
    case PM_RAW_RECORDED:
        valid = read_recorded(raw, &in);
        break;
    case PM_RAW_SAMPLES:
        valid = pm_raw_read_samples(raw, &in);
        break;
    case PM_RAW_SKIPPED:
        valid = read_skipped(raw, &in);
        break;
    case PM_RAW_STRIDES:
        valid = pm_raw_read_strides(raw, &in);
        break;
    case PM_RAW_PROFILE:
        valid = pm_raw_read_profile(raw, &in);
        break;
    case PM_RAW_LANES:
        valid = pm_raw_read_lanes(raw, &in);
        break;
    case PM_RAW_BRANCHES:
        valid = read_branches(raw, &in);
        break;
    case PM_RAW_TRIPS:
        valid = read_trips(raw, &in);
        break;
    case PM_RAW_FRAMES:
        valid = read_frames(raw, &in);
        break;
    case PM_RAW_RANK:
        valid = read_rank(raw, &in);
        break;
    case PM_RAW_PATHS:
        valid = pm_raw_read_paths(raw, &in);
        break;
    case PM_RAW_INTERVALS:
        valid = pm_raw_read_intervals(raw, &in);
        break;
    case PM_RAW_INTERVAL_HISTOGRAM:
        valid = pm_raw_read_interval_histogram(raw, &in);
        break;
    case PM_RAW_COMMUNICATORS:
        valid = pm_raw_read_communicators(raw, &in);
        break;
    case PM_RAW_REQUESTS:
        valid = pm_raw_read_requests(raw, &in);
        break;
    case PM_RAW_COMMUNICATION:
        valid = pm_raw_read_communication(raw, &in);
        break;
    case PM_RAW_TRACE:
        valid = pm_raw_read_trace(raw, &in);
        break;
    case PM_RAW_CALL_TIMES:
        valid = pm_raw_read_call_times(raw, &in);
        break;
    case PM_RAW_CALL_LOG:
        valid = pm_raw_read_call_log(raw, &in);
        break;
    case PM_RAW_MPI_SPAN:
        valid = pm_raw_read_mpi_span(raw, &in);
        break;
    case PM_RAW_SOCKETS:
        valid = pm_raw_read_sockets(raw, &in);
        break;
    case PM_RAW_NOTE:
        valid = read_note(raw, &in);
        break;
    }
    if (valid && in.at == in.end)
        return true;
    return pm_fail(err,
                   "%s: damaged raw file: section %u (kind %u) is not as it must be; run the "
                   "program again",
                   name, ordinal, tag);
}

static bool check_frame(const char *bytes, size_t n_bytes, const char *name,
                        struct pm_raw_header *header, struct pm_error *err) {
    if (n_bytes < sizeof header->magic || memcmp(bytes, PM_RAW_MAGIC, sizeof header->magic) != 0)
        return pm_fail(err, "%s: not a raw file of an instrumented program", name);
    if (n_bytes < sizeof *header + 8)
        return damaged(err, name, "it is truncated");
    memcpy(header, bytes, sizeof *header);
    if (header->version != PM_RAW_VERSION)
        return pm_fail(err,
                       "%s: raw file of version %u, this pmodel reads version %u; instrument and "
                       "run the program with this pmodel",
                       name, header->version, (unsigned)PM_RAW_VERSION);
    if (header->file_bytes != n_bytes)
        return damaged(err, name, "its length is not the one that it states");
    uint64_t checksum;
    memcpy(&checksum, bytes + n_bytes - sizeof checksum, sizeof checksum);
    if (checksum != XXH3_64bits(bytes, n_bytes - sizeof checksum))
        return damaged(err, name, "its checksum does not match");
    return true;
}

struct pm_raw *pm_raw_read_memory(const void *bytes, size_t n_bytes, const char *name,
                                  struct pm_error *err) {
    struct pm_raw_header header;
    if (!check_frame(bytes, n_bytes, name, &header, err))
        return NULL;
    struct pm_raw *raw = pm_alloc(1, sizeof *raw);
    struct pm_reader file =
        pm_reader_of((const char *)bytes + sizeof header, n_bytes - sizeof header - 8);
    bool valid = true;
    for (unsigned i = 1; valid && i <= header.n_sections; i++)
        valid = read_section(raw, &file, i, name, err);
    if (valid && (header.n_sections == 0 || file.at != file.end || file.fault))
        valid = damaged(err, name, "its sections do not fill it");
    if (valid)
        return raw;
    pm_raw_free(raw);
    return NULL;
}

static bool read_all(int file, char *bytes, size_t n_bytes) {
    while (n_bytes) {
        ssize_t got = read(file, bytes, n_bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got == 0)
                errno = EIO; /* the file shrank */
            return false;
        }
        bytes += got;
        n_bytes -= (size_t)got;
    }
    return true;
}

struct pm_raw *pm_raw_read(const char *path, struct pm_error *err) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        pm_fail_errno(err, "%s: cannot be opened", path);
        if (file >= 0)
            close(file);
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        close(file);
        pm_fail(err, "%s: not a raw file of an instrumented program", path);
        return NULL;
    }
    size_t n_bytes = (size_t)status.st_size;
    char *bytes = pm_alloc(n_bytes + 1, 1);
    struct pm_raw *raw = NULL;
    if (read_all(file, bytes, n_bytes))
        raw = pm_raw_read_memory(bytes, n_bytes, path, err);
    else
        pm_fail_errno(err, "%s: cannot be read", path);
    close(file);
    free(bytes);
    return raw;
}

void pm_raw_free(struct pm_raw *raw) {
    if (!raw)
        return;
    for (size_t i = 0; i < raw->n_counters; i++)
        free(raw->counters[i].counts);
    for (size_t i = 0; i < raw->n_histograms; i++)
        pm_histogram_free(&raw->histograms[i].histogram);
    for (size_t i = 0; i < raw->n_dirty; i++)
        pm_histogram_free(&raw->dirty[i].histogram);
    for (size_t i = 0; i < raw->n_sequential; i++)
        pm_histogram_free(&raw->sequential[i].histogram);
    for (size_t i = 0; i < raw->n_carried; i++)
        pm_histogram_free(&raw->carried[i].reuses.histogram);
    for (size_t i = 0; i < raw->n_times; i++)
        free(raw->times[i].times);
    for (size_t i = 0; i < raw->n_frames; i++)
        free(raw->frames[i].frames);
    for (size_t i = 0; i < raw->n_strides; i++) {
        free(raw->strides[i].walks);
        free(raw->strides[i].levels);
        free(raw->strides[i].variants);
    }
    for (size_t i = 0; i < raw->n_profiles; i++) {
        free(raw->profiles[i].blocks);
        free(raw->profiles[i].served);
    }
    for (size_t i = 0; i < raw->n_masked; i++)
        free(raw->masked[i].lanes);
    for (size_t i = 0; i < raw->n_branches; i++)
        free(raw->branches[i].branches);
    free(raw->branches);
    for (size_t i = 0; i < raw->n_trips; i++)
        free(raw->trips[i].trips);
    free(raw->trips);
    free(raw->profiles);
    free(raw->masked);
    pm_raw_free_intervals(raw);
    pm_raw_free_communication(raw);
    for (size_t i = 0; i < raw->n_notes; i++)
        free(raw->notes[i]);
    free(raw->modules);
    free(raw->counters);
    free(raw->histograms);
    free(raw->dirty);
    free(raw->sequential);
    free(raw->carried);
    free(raw->times);
    free(raw->frames);
    free(raw->skipped);
    for (size_t i = 0; i < raw->recorded.n_branches; i++)
        free(raw->recorded.branches[i].words);
    free(raw->recorded.slots);
    free(raw->recorded.branches);
    free(raw->bounds.nests);
    free(raw->strides);
    free(raw->notes);
    free(raw->samples);
    free(raw);
}

double pm_raw_sampled_misses(const struct pm_raw_samples *samples, unsigned log2_size,
                             double *standard_error) {
    const uint64_t *misses = samples->misses[log2_size];
    const double n = PM_RAW_SUBSAMPLES;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < PM_RAW_SUBSAMPLES; i++)
        sum += (double)misses[i];
    for (unsigned i = 0; i < PM_RAW_SUBSAMPLES; i++) {
        double off = (double)misses[i] - sum / n;
        squares += off * off;
    }
    /* The sum's variance is n times that of one eighth. */
    *standard_error = (double)samples->sample * sqrt(n * squares / (n - 1));
    return (double)samples->sample * sum;
}
