/* This machine as a memory bench: buffers of small and of huge pages, chains and sweeps in them,
   timed by the clock. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machines/probe/memory/private.h"

enum { MOST_THREADS = 1024 };
static const double MOST_OF_FREE_MEMORY = 0.4;
static const uint64_t HUGE_PAGE = 2 << 20;
static const uint64_t MOST_BUFFER_BYTES = 4ULL << 30;

struct buffer {
    void *mapped;   /* with room to align */
    uint8_t *bytes; /* aligned to huge pages */
    uint64_t size;
};

struct host {
    struct pm_clock *clock;
    uint64_t most_bytes;
    struct buffer buffers[PM_N_PROBE_PAGES];
    size_t n_cpus;
    int cpus[MOST_THREADS];
};

/* ---- buffers --------------------------------------------------------------------------------- */

/* How much of [ADDRESS, + SIZE) lies in huge pages, as the kernel says. */
static uint64_t huge_bytes_of(const void *address) {
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[512];
    bool ours = false;
    unsigned long long kib = 0;
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        unsigned long long from, to;
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            ours = from <= (uintptr_t)address && (uintptr_t)address < to;
        else if (ours && sscanf(line, "AnonHugePages: %llu kB", &kib) == 1)
            break;
    }
    fclose(file);
    return kib << 10;
}

static void free_buffer(struct buffer *buffer) {
    if (buffer->mapped)
        munmap(buffer->mapped, buffer->size + HUGE_PAGE);
    *buffer = (struct buffer){0};
}

/* At least SIZE bytes, all touched; false: there are none of such pages. */
static bool make_buffer(struct buffer *buffer, uint64_t size, enum pm_probe_pages pages) {
    if (buffer->size >= size)
        return true;
    free_buffer(buffer);
    size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uint8_t *mapped = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return false;
    madvise(mapped, size + HUGE_PAGE, pages == PM_PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    uint64_t skipped = -(uintptr_t)mapped % HUGE_PAGE;
    memset(mapped + skipped, 1, size);
    if (pages == PM_PAGES_HUGE && huge_bytes_of(mapped + skipped) < size / 10 * 9) {
        munmap(mapped, size + HUGE_PAGE);
        return false;
    }
    *buffer = (struct buffer){.mapped = mapped, .bytes = mapped + skipped, .size = size};
    return true;
}

/* ---- chains ---------------------------------------------------------------------------------- */

struct chasing {
    void *starts[PM_MOST_CHAINS];
    unsigned chains;
    bool writes;
};

static void follow(void *context, uint64_t times) {
    struct chasing *chasing = context;
    pm_follow_chains(chasing->starts, chasing->chains, times, chasing->writes);
}

/* All of it once, so that what fits is in the caches; but not more than can be seen, or than there
   is time for. */
static void warm(struct chasing *chasing, uint64_t steps) {
    enum { PIECE = 20000, MOST = 2000000 };
    static const double MOST_SECONDS = 0.2;
    double end = pm_clock_now() + MOST_SECONDS;
    if (steps > MOST)
        steps = MOST;
    for (uint64_t done = 0; done < steps && pm_clock_now() < end; done += PIECE)
        follow(chasing, steps - done < PIECE ? steps - done : PIECE);
}

static struct pm_estimate chase_here(void *context, const struct pm_chase *chase) {
    struct host *host = context;
    struct buffer *buffer = &host->buffers[chase->pages];
    struct chasing chasing = {.chains = chase->chains, .writes = chase->writes};
    uint64_t largest = 0;
    for (size_t i = 0; i < chase->n; i++)
        largest = chase->offsets[i] > largest ? chase->offsets[i] : largest;
    if (chase->n < chase->chains || !make_buffer(buffer, largest + 64, chase->pages))
        return pm_estimate_unknown();
    /* Chain c goes through offsets c, c + chains, … */
    for (size_t i = 0; i < chase->n; i++) {
        size_t next = i + chase->chains < chase->n ? i + chase->chains : i % chase->chains;
        void *link = buffer->bytes + chase->offsets[next];
        memcpy(buffer->bytes + chase->offsets[i], &link, sizeof link);
    }
    for (unsigned c = 0; c < chase->chains; c++)
        chasing.starts[c] = buffer->bytes + chase->offsets[c];
    warm(&chasing, chase->n / chase->chains);
    struct pm_effort effort = {
        .round_seconds = chase->n > 100000 ? 200e-6 : 50e-6, .rounds = 15, .most_seconds = 0.2};
    if (chase->coarse)
        effort = (struct pm_effort){.round_seconds = 30e-6, .rounds = 5, .most_seconds = 3e-3};
    struct pm_timing timing = pm_cycles(host->clock, follow, &chasing, &effort);
    return pm_estimate_scaled(timing.cycles, 1.0 / chase->chains);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

struct sweeping {
    struct pm_sweep sweep;
    uint8_t *from, *to;
    uint64_t at, random;
};

/* Of the range, what a slice takes: a round falls between what others do. */
static uint64_t slice_bytes(const struct pm_sweep *sweep) {
    return sweep->bytes < PM_SWEEP_SLICE ? sweep->bytes : PM_SWEEP_SLICE;
}

/* TIMES slices; at random places a slice is so many accesses to the whole range. */
static void go_over(void *context, uint64_t times) {
    struct sweeping *sweeping = context;
    const struct pm_sweep *sweep = &sweeping->sweep;
    uint64_t slice = slice_bytes(sweep);
    for (; times > 0; times--) {
        if (sweeping->at + slice > sweep->bytes)
            sweeping->at = 0;
        if (sweep->stride_bytes)
            pm_run_sweep(sweep->kind, sweeping->from + sweeping->at, sweeping->to + sweeping->at,
                         slice, sweep->stride_bytes, &sweeping->random);
        else
            pm_run_sweep(sweep->kind, sweeping->from, sweeping->to, sweep->bytes, 0,
                         &sweeping->random);
        sweeping->at += slice;
    }
}

static void go_over_all(struct sweeping *sweeping) {
    go_over(sweeping, sweeping->sweep.bytes / slice_bytes(&sweeping->sweep));
}

/* A copy goes into the second half of its buffer. */
static bool begin_sweep(struct sweeping *sweeping, struct buffer *buffer,
                        const struct pm_sweep *sweep) {
    *sweeping = (struct sweeping){.sweep = *sweep, .random = 1};
    bool copies = sweep->kind == PM_SWEEP_COPY;
    if (copies)
        sweeping->sweep.bytes /= 2;
    if (!make_buffer(buffer, sweep->bytes + 4096, sweep->pages))
        return false;
    sweeping->from = buffer->bytes;
    /* Not at the same offset in a page. */
    sweeping->to = buffer->bytes + (copies ? sweeping->sweep.bytes / 64 * 64 + 2048 : 0);
    return true;
}

struct other_sweep {
    pthread_t thread;
    int cpu;
    bool began;
    struct pm_sweep sweep;
    atomic_int *ready;
    atomic_bool *stop;
};

static void *sweep_beside(void *context) {
    struct other_sweep *other = context;
    struct buffer buffer = {0};
    struct sweeping sweeping;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(other->cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    bool ok = begin_sweep(&sweeping, &buffer, &other->sweep);
    atomic_fetch_add(other->ready, 1);
    while (ok && !atomic_load(other->stop))
        go_over(&sweeping, 1);
    free_buffer(&buffer);
    return NULL;
}

static uint64_t accesses_of_slice(const struct sweeping *sweeping) {
    uint64_t bytes = slice_bytes(&sweeping->sweep), stride = sweeping->sweep.stride_bytes;
    if (stride == 8)
        return bytes / 512 * 64;
    return stride ? (bytes + stride - 1) / stride : bytes / 8;
}

static struct pm_estimate sweep_here(void *context, const struct pm_sweep *sweep) {
    struct host *host = context;
    struct sweeping sweeping;
    struct other_sweep *others = pm_alloc(sweep->threads, sizeof *others);
    atomic_bool stop = false;
    atomic_int ready = 0;
    int n_others = 0;
    struct pm_estimate result = pm_estimate_unknown();
    if (begin_sweep(&sweeping, &host->buffers[sweep->pages], sweep)) {
        for (size_t i = 0; i < host->n_cpus && (unsigned)n_others + 1 < sweep->threads; i++) {
            if (host->cpus[i] == pm_clock_cpu(host->clock))
                continue;
            struct other_sweep *other = &others[n_others];
            *other = (struct other_sweep){
                .cpu = host->cpus[i], .sweep = *sweep, .ready = &ready, .stop = &stop};
            other->began = pthread_create(&other->thread, NULL, sweep_beside, other) == 0;
            n_others += other->began;
        }
        while (atomic_load(&ready) < n_others)
            usleep(100);
        go_over_all(&sweeping);
        const struct pm_effort effort = {.round_seconds = sweep->bytes > 1 << 20 ? 200e-6 : 50e-6,
                                         .most_seconds = 0.15};
        struct pm_timing timing = pm_cycles(host->clock, go_over, &sweeping, &effort);
        result = pm_estimate_scaled(timing.cycles, 1.0 / (double)accesses_of_slice(&sweeping));
    }
    atomic_store(&stop, true);
    for (int i = 0; i < n_others; i++)
        pthread_join(others[i].thread, NULL);
    free(others);
    return result;
}

/* ---- the bench ------------------------------------------------------------------------------- */

bool pm_memory_host(struct pm_clock *clock, const int *cpus, size_t n_cpus,
                    struct pm_memory_bench *bench, struct pm_error *err) {
    struct host *host = pm_alloc(1, sizeof *host);
    double available =
        (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * MOST_OF_FREE_MEMORY;
    host->clock = clock;
    host->most_bytes = (uint64_t)fmin(available, (double)MOST_BUFFER_BYTES);
    for (size_t i = 0; i < n_cpus && i < MOST_THREADS; i++)
        host->cpus[host->n_cpus++] = cpus[i];
    if (host->most_bytes < 64 << 20) {
        free(host);
        return pm_fail(err, "less than 160 MiB of memory are free, which is too little to probe "
                            "caches");
    }
    *bench = (struct pm_memory_bench){
        .context = host,
        .chase = chase_here,
        .sweep = sweep_here,
        .most_bytes = host->most_bytes,
        .page_bytes = {(uint64_t)sysconf(_SC_PAGESIZE), HUGE_PAGE},
        .threads = (unsigned)host->n_cpus,
    };
    if (!make_buffer(&host->buffers[PM_PAGES_HUGE], HUGE_PAGE, PM_PAGES_HUGE))
        bench->page_bytes[PM_PAGES_HUGE] = 0;
    return true;
}

void pm_memory_host_free(struct pm_memory_bench *bench) {
    struct host *host = bench->context;
    for (int i = 0; i < PM_N_PROBE_PAGES; i++)
        free_buffer(&host->buffers[i]);
    free(host);
}
