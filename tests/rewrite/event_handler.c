/* An event handler that counts the entries of every scope, over all threads, and checks that
   entries and exits nest, also with the scope tree: writes "SCOPE KIND entries NAME[/DEPTH]
   FILE:LINE" for each that was entered and a line "wrong N open N" to the file that $EVENTS names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/pmodel_handler.h"

enum { MOST_THREADS = 64, MOST_OPEN = 1 << 20 };

static const struct pmodel_program *program;
static uint64_t *entries, *counts, wrong, n_intervals, n_accesses;
static FILE *each_interval;
static uint32_t *open_scopes[MOST_THREADS], n_open[MOST_THREADS];

static int begin(const struct pmodel_program *of) {
    program = of;
    size_t bytes = (1ul << 22) * sizeof *entries;
    entries = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    counts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (getenv("EACH_INTERVAL"))
        each_interval = fopen(getenv("EACH_INTERVAL"), "w");
    for (int i = 0; i < MOST_THREADS; i++)
        open_scopes[i] = mmap(NULL, MOST_OPEN * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return 0;
}

static void complain(uint32_t thread, uint32_t scope, const char *what) {
    __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    if (getenv("EVENTS_VERBOSE"))
        fprintf(stderr, "thread %u scope %u %s:%u: %s\n", thread, scope,
                program->scopes[scope].name, program->scopes[scope].line, what);
}

/* The nearest scope around SCOPE that is told of, in the same routine; PMODEL_NONE. */
static uint32_t told_around(uint32_t scope) {
    uint32_t routine = program->scopes[scope].routine;
    if (scope == routine)
        return PMODEL_NONE;
    for (scope = program->scopes[scope].parent; scope != PMODEL_NONE && scope >= routine;
         scope = program->scopes[scope].parent)
        if (program->scopes[scope].flags & PMODEL_SCOPE_TOLD)
            return scope;
    return PMODEL_NONE;
}

static void enter(uint32_t thread, uint32_t scope) {
    if (thread >= MOST_THREADS || scope >= program->n_scopes || n_open[thread] == MOST_OPEN) {
        complain(thread, 0, "no such thread or scope");
        return;
    }
    __atomic_fetch_add(&entries[scope], 1, __ATOMIC_RELAXED);
    uint32_t around = told_around(scope), n = n_open[thread];
    if (around != PMODEL_NONE && (n == 0 || open_scopes[thread][n - 1] != around))
        complain(thread, scope, "entered outside of what is around it");
    open_scopes[thread][n_open[thread]++] = scope;
}

static void leave(uint32_t thread, uint32_t scope) {
    if (thread >= MOST_THREADS || n_open[thread] == 0 ||
        open_scopes[thread][n_open[thread] - 1] != scope)
        complain(thread, scope, "left, but another one was entered last");
    else
        n_open[thread]--;
}

/* Called at interval ends too: what is printed there is not the program's business, and stdio is
   ours alone here, because the test's programs print nothing meanwhile. */
static void counters(uint32_t thread, const uint64_t *rises, size_t count) {
    (void)thread;
    for (size_t i = 0; i < count; i++) {
        __atomic_fetch_add(&counts[i], rises[i], __ATOMIC_RELAXED);
        if (each_interval && rises[i])
            fprintf(each_interval, "interval %lu counter %zu %lu\n", n_intervals, i, rises[i]);
    }
}

static void interval_end(uint32_t thread, uint32_t scope) {
    (void)thread, (void)scope;
    __atomic_fetch_add(&n_intervals, 1, __ATOMIC_RELAXED);
}

static void accesses(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    (void)thread, (void)batch;
    __atomic_fetch_add(&n_accesses, count, __ATOMIC_RELAXED);
}

static void write_counters(void) {
    const char *path = getenv("COUNTERS");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    for (uint32_t i = 0; i < program->n_counters; i++)
        if (counts[i])
            fprintf(out, "counter %u %lu %lx %lx\n", i, counts[i],
                    program->counters ? program->counters[i].from : 0,
                    program->counters ? program->counters[i].to : 0);
    fprintf(out, "intervals %lu\naccesses %lu\n", n_intervals, n_accesses);
    fclose(out);
}

static unsigned depth_of(uint32_t scope) {
    unsigned depth = 0;
    for (; scope != PMODEL_NONE && program->scopes[scope].kind != PMODEL_ROUTINE;
         scope = program->scopes[scope].parent)
        depth += program->scopes[scope].kind == PMODEL_LOOP;
    return depth;
}

static void end(void) {
    const char *path = getenv("EVENTS");
    FILE *out = path ? fopen(path, "a") : NULL;
    uint32_t open = 0;
    write_counters();
    if (each_interval)
        fclose(each_interval);
    if (!out)
        return;
    for (uint32_t s = 0; s < program->n_scopes; s++)
        if (entries[s]) {
            const struct pmodel_scope *routine = &program->scopes[program->scopes[s].routine];
            fprintf(out, "%u %s %lu %s", s,
                    program->scopes[s].kind == PMODEL_LOOP ? "loop" : "routine", entries[s],
                    routine->name);
            if (depth_of(s))
                fprintf(out, "/%u", depth_of(s));
            fprintf(out, " %s:%u\n", program->scopes[s].file, program->scopes[s].line);
        }
    for (int i = 0; i < MOST_THREADS; i++)
        open += n_open[i];
    fprintf(out, "wrong %lu open %u\n", wrong, open);
    fclose(out);
}

__attribute__((visibility("default"))) const struct pmodel_handler pmodel_handler = {
    .version = PMODEL_HANDLER_VERSION,
    .begin = begin,
    .enter = enter,
    .leave = leave,
    .counters = counters,
    .interval_end = interval_end,
    .accesses = accesses,
    .end = end,
};
