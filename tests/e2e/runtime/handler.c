/* An event handler that counts what it gets and says so at the end. */
#include <stdio.h>

#include "runtime/pmodel_handler.h"

static uint32_t groups, ended_thread;
static uint64_t n_accesses, first_address, first_counter;

static int begin(const struct pmodel_program *program) {
    groups = program->n_groups;
    return 0;
}

static void accesses(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    if (n_accesses == 0 && thread == 0)
        first_address = batch[0].address;
    n_accesses += count;
}

static void counters(uint32_t thread, const uint64_t *counts, size_t count) {
    if (thread == 0)
        first_counter += count > 2 ? counts[2] : 0;
}

static void thread_end(uint32_t thread) { ended_thread = thread; }

static void end(void) {
    fprintf(stderr, "begin %u accesses %lu first address %#lx thread %u counter %lu end\n", groups,
            n_accesses, first_address, ended_thread, first_counter);
}

__attribute__((visibility("default"))) const struct pmodel_handler pmodel_handler = {
    .version = PMODEL_HANDLER_VERSION,
    .begin = begin,
    .accesses = accesses,
    .counters = counters,
    .thread_end = thread_end,
    .end = end,
};
