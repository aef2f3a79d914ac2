/* What a touch of a block costs the reuse distance analysis (runtime/reuse/reuse.h), in ns, for
   typical traces and every vector extension that this CPU has.

     gcc -O2 -I. -o touches bench/cost/touches.c build/libpm_runtime.a
     ./touches [TRACE-NUMBER…]
     ./touches --json [TRACE-NUMBER…]     (`make bench`: figures of the widest extension)

   Last column: bytes of memory for each distinct block.

   JSON: a line for each trace, {trace, name, ns, ns_near, far, ns_far}, and one {load_ns}.  FAR is
   the share of the touches whose block is none of the 16 most recent ones (the stack top), ns_near
   what a touch takes of a trace with the same order that stays within 16 blocks, and

       ns_far = (ns − (1 − far) · ns_near) / far.

   load_ns: a load that waits for the one before it, at random in 200 MB. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/reuse/reuse_state.h"

enum { BATCH = 1024, N_PARTS = 32, N_RUNS = 8 };

struct trace {
    struct pmodel_access *accesses;
    size_t n, room;
};

static void add(struct trace *trace, uint64_t address) {
    if (trace->n == trace->room) {
        trace->room = trace->room ? 2 * trace->room : 1 << 20;
        trace->accesses = realloc(trace->accesses, trace->room * sizeof *trace->accesses);
        if (!trace->accesses)
            exit(1);
    }
    trace->accesses[trace->n] = (struct pmodel_access){address, 8, 0, (uint32_t)trace->n % 8, 1};
    trace->n++;
}

static uint64_t random_state = 1;

static uint64_t random_number(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint64_t)(((unsigned __int128)(random_state ^ random_state >> 29) * below) >> 64);
}

static void stencil(struct trace *trace, uint64_t n) {
    const uint64_t in = 1 << 30, out = 3ull << 30;
    for (uint64_t z = 1; z + 1 < n; z++)
        for (uint64_t y = 1; y + 1 < n; y++)
            for (uint64_t x = 1; x + 1 < n; x++) {
                uint64_t at = (z * n + y) * n + x;
                uint64_t around[] = {at, at - 1, at + 1, at - n, at + n, at - n * n, at + n * n};
                for (unsigned i = 0; i < 7; i++)
                    add(trace, in + 8 * around[i]);
                add(trace, out + 8 * at);
            }
}

/* The same in vectors of 64 bytes: one touch a block. */
static void vector_stencil(struct trace *trace, uint64_t n) {
    const uint64_t in = 1 << 30, out = 3ull << 30;
    for (uint64_t z = 1; z + 1 < n; z++)
        for (uint64_t y = 1; y + 1 < n; y++)
            for (uint64_t x = 0; x < n; x += 8) {
                uint64_t at = (z * n + y) * n + x;
                uint64_t around[] = {at, at - n, at + n, at - n * n, at + n * n};
                for (unsigned i = 0; i < 5; i++)
                    add(trace, in + 8 * around[i]);
                add(trace, out + 8 * at);
            }
}

static void sparse_product(struct trace *trace, uint64_t rows) {
    for (uint64_t row = 0, k = 0; row < rows; row++) {
        for (unsigned i = 0; i < 13; i++, k++) {
            uint64_t column = random_number(rows);
            add(trace, (1ull << 32) + 8 * k);
            add(trace, (2ull << 32) + 4 * k);
            add(trace, (3ull << 32) + 8 * column);
        }
        add(trace, (4ull << 32) + 8 * row);
    }
}

static void uniform(struct trace *trace, uint64_t bytes) {
    for (unsigned i = 0; i < 4000000; i++)
        add(trace, (1ull << 32) + random_number(bytes));
}

/* Eight arrays, one touch a block; in the same order each time, or each array alone first. */
static void streams(struct trace *trace, uint64_t bytes, unsigned n_sweeps) {
    for (unsigned sweep = 0; sweep < n_sweeps; sweep++)
        for (uint64_t at = 0; at < bytes / 8; at += 64)
            for (uint64_t stream = 0; stream < 8; stream++)
                add(trace, (stream << 32) + (stream << 13) + at);
}

static void mixed_streams(struct trace *trace, uint64_t bytes, unsigned n_sweeps) {
    for (unsigned sweep = 0; sweep < n_sweeps; sweep++) {
        for (uint64_t at = 0; at < bytes; at += 64)
            add(trace, (at / (bytes / 8) << 32) + at % (bytes / 8));
        for (uint64_t at = 0; at < bytes / 8; at += 64)
            for (uint64_t stream = 0; stream < 8; stream++)
                add(trace, (stream << 32) + at);
    }
}

static const char *const names[] = {
    "stencil 100^3, 4096-byte blocks",
    "stencil 100^3, 64-byte blocks",
    "stencil 100^3, 8-byte blocks",
    "vector stencil 96^3, 64 bytes",
    "sparse matrix, 64-byte blocks",
    "random in 4 MB",
    "random in 200 MB",
    "8 streams, 1 MiB",
    "8 streams, 40 MiB",
    "8 streams or one, 16 MiB",
};
enum { N_TRACES = sizeof names / sizeof *names };

static unsigned make_trace(struct trace *trace, unsigned number) {
    switch (number) {
    case 0:
        return stencil(trace, 100), 12;
    case 1:
        return stencil(trace, 100), 6;
    case 2:
        return stencil(trace, 100), 3;
    case 3:
        return vector_stencil(trace, 96), 6;
    case 4:
        return sparse_product(trace, 75000), 6;
    case 5:
        return uniform(trace, 4 << 20), 6;
    case 6:
        return uniform(trace, 200 << 20), 6;
    case 7:
        return streams(trace, 1 << 20, 40), 6;
    case 8:
        return streams(trace, 40 << 20, 2), 6;
    default:
        return mixed_streams(trace, 16 << 20, 2), 6;
    }
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Walks over part PART of the trace. */
static void walk(struct pm_reuse *reuse, const struct trace *trace, size_t part) {
    size_t end = trace->n * (part + 1) / N_PARTS;
    for (size_t i = trace->n * part / N_PARTS; i < end; i += BATCH)
        pm_reuse_accesses(reuse, 8, trace->accesses + i, end - i < BATCH ? end - i : BATCH);
}

/* The sum of the best times of each part: what other programs take is mostly left out. */
static double time_variant(const struct trace *trace, struct pm_reuse *reuse) {
    double best[N_PARTS] = {0}, sum = 0;
    for (unsigned run = 0; run <= N_RUNS; run++)
        for (unsigned part = 0; part < N_PARTS; part++) {
            double before = seconds();
            walk(reuse, trace, part);
            double taken = seconds() - before;
            if (run < 2 || taken < best[part])
                best[part] = taken;
        }
    for (unsigned part = 0; part < N_PARTS; part++)
        sum += best[part];
    return sum * 1e9 / (double)trace->n;
}

/* ---- figures for `make bench` ---------------------------------------------------------------- */

/* The same order of touches within 16 blocks: a block that comes into the stack top takes the place
   and the name of the one that falls out.  *FAR: the share of the touches that do; counted here,
   not by what is measured. */
static struct trace within_stack_top(const struct trace *trace, unsigned shift, double *far) {
    enum { STACK_TOP = 16 };
    struct {
        uint64_t block, name;
    } stack_top[STACK_TOP + 1] = {{0}}; /* most recent first; no trace has block 0 */
    struct trace within = {0};
    size_t n_far = 0;
    for (uint64_t i = 0; i < STACK_TOP; i++)
        stack_top[i].name = (1u << 20) + i;
    for (size_t i = 0; i < trace->n; i++) {
        uint64_t block = trace->accesses[i].address >> shift;
        unsigned at = 0;
        while (at < STACK_TOP && stack_top[at].block != block)
            at++;
        n_far += at == STACK_TOP;
        if (at == STACK_TOP)
            at = STACK_TOP - 1;
        uint64_t name = stack_top[at].name;
        memmove(stack_top + 1, stack_top, at * sizeof *stack_top);
        stack_top[0].block = block;
        stack_top[0].name = name;
        add(&within, name << shift);
    }
    *far = (double)n_far / (double)trace->n;
    return within;
}

static double time_widest(const struct trace *trace, unsigned shift) {
    struct pm_reuse *reuse = pm_reuse_new(shift, 1 << 14, pm_reuse_best_variant());
    if (!reuse)
        exit(1);
    double ns = time_variant(trace, reuse);
    pm_reuse_free(reuse);
    return ns;
}

/* A cycle through all lines of 200 MB at random. */
static double time_load(void) {
    enum { LINE = 64, N_LINES = (200 << 20) / LINE, N_LOADS = 1 << 22 };
    struct line {
        struct line *next;
        char rest[LINE - sizeof(void *)];
    } *lines = aligned_alloc(LINE, sizeof *lines * N_LINES);
    if (!lines)
        exit(1);
    uint32_t *order = malloc(sizeof *order * N_LINES);
    if (!order)
        exit(1);
    for (uint32_t i = 0; i < N_LINES; i++)
        order[i] = i;
    for (uint32_t i = N_LINES - 1; i > 0; i--) {
        uint32_t k = (uint32_t)random_number(i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (uint32_t i = 0; i < N_LINES; i++)
        lines[order[i]].next = &lines[order[(i + 1) % N_LINES]];
    double best = 0;
    const struct line *at = lines;
    for (unsigned run = 0; run < N_RUNS; run++) {
        double before = seconds();
        for (unsigned i = 0; i < N_LOADS; i++)
            at = at->next;
        double taken = seconds() - before;
        __asm__ volatile("" : : "r"(at));
        if (run == 0 || taken < best)
            best = taken;
    }
    free(order);
    free(lines);
    return best * 1e9 / N_LOADS;
}

static void print_figures(unsigned number) {
    struct trace trace = {0};
    unsigned shift = make_trace(&trace, number);
    double far, ns = time_widest(&trace, shift);
    struct trace within = within_stack_top(&trace, shift, &far);
    double ns_near = time_widest(&within, shift);
    printf("{\"trace\": %u, \"name\": \"%s\", \"ns\": %.3f, \"ns_near\": %.3f, \"far\": %.6f, "
           "\"ns_far\": %.3f}\n",
           number, names[number], ns, ns_near, far, (ns - (1 - far) * ns_near) / far);
    free(within.accesses);
    fflush(stdout);
    free(trace.accesses);
}

/* ---- all traces ------------------------------------------------------------------------------ */

static void time_trace(unsigned number) {
    struct trace trace = {0};
    unsigned shift = make_trace(&trace, number);
    printf("%-32s", names[number]);
    double bytes = 0;
    for (int variant = (int)pm_reuse_best_variant(); variant >= 0; variant--) {
        struct pm_reuse *reuse = pm_reuse_new(shift, 1 << 14, (enum pm_reuse_variant)variant);
        if (!reuse)
            exit(1);
        printf(" %7.1f", time_variant(&trace, reuse));
        bytes = (double)pm_reuse_bytes(reuse) / (double)reuse->n_blocks;
        pm_reuse_free(reuse);
    }
    printf(" %7.1f\n", bytes);
    fflush(stdout);
    free(trace.accesses);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--json") == 0) {
        for (int i = 2; i < argc; i++)
            print_figures((unsigned)atoi(argv[i]));
        printf("{\"load_ns\": %.3f}\n", time_load());
        return 0;
    }
    printf("%-32s", "ns a touch");
    static const char *const variants[] = {"SSE2", "AVX2", "AVX-512"};
    for (int variant = (int)pm_reuse_best_variant(); variant >= 0; variant--)
        printf(" %7s", variants[variant]);
    printf(" bytes/block\n");
    for (unsigned number = 0; number < N_TRACES; number++) {
        bool chosen = argc < 2;
        for (int i = 1; i < argc; i++)
            chosen |= atoi(argv[i]) == (int)number;
        if (chosen)
            time_trace(number);
    }
}
