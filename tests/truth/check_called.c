/* Compares what is recorded of calls of the C library with what loops over single bytes access that
   do the same (library_calls.c): after each call the loop, with the same bytes loaded and stored.

     check_called STORE TRACE LOW END

   Only accesses from LOW to END − 1 are looked at, of routines whose name begins with `slow_` and
   of calls.  Status 3 where anything differs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/probe_abi.h"
#include "core/store/store.h"
#include "tests/truth/touches.h"

struct bytes {
    uint64_t count, hash;
};
struct run {               /* accesses of a call, then those of its loop */
    struct bytes of[2][2]; /* called or not; loads, stores */
    size_t at;
};

static uint64_t low, end;

/* A sum over the bytes, so that their order does not matter. */
static void add_bytes(struct bytes *bytes, const struct pmodel_access *access) {
    bytes->count += access->size_bytes;
    for (uint64_t i = 0; i < access->size_bytes; i++) {
        uint64_t x = (access->address + i) * 0x9e3779b97f4a7c15u;
        bytes->hash += (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    }
}

static bool is_equal(const struct run *run) {
    return memcmp(run->of[0], run->of[1], sizeof run->of[0]) == 0;
}

enum kind { OTHER, CALL, LOOP };

static enum kind kind_of(const struct pm_structure *structure, const struct pmodel_access *access) {
    const struct pm_reference *reference = &structure->references[access->reference];
    const char *name = structure->routines[structure->blocks[reference->block].routine].name;
    if (access->address >= end || access->address + access->size_bytes <= low)
        return OTHER;
    if (reference->kind == PM_ACCESS_CALLED || strncmp(name, "fast_", 5) == 0)
        return CALL;
    return strncmp(name, "slow_", 5) == 0 ? LOOP : OTHER;
}

static int compare(const struct pm_structure *structure, const struct trace *trace) {
    struct run run = {0};
    size_t n_runs = 0;
    bool in_loop = false;
    uint64_t n_bytes = 0;
    for (size_t i = 0; i <= trace->n; i++) {
        const struct pmodel_access *access = i < trace->n ? &trace->accesses[i] : NULL;
        enum kind kind = access ? kind_of(structure, access) : OTHER;
        if (access && kind == OTHER)
            continue;
        bool is_called = kind == CALL;
        if (!access || (is_called && in_loop)) {
            if (!is_equal(&run)) {
                fprintf(stderr,
                        "run %zu of accesses, at %zu: called %" PRIu64 " bytes loaded, %" PRIu64
                        " stored; loop %" PRIu64 ", %" PRIu64 "\n",
                        n_runs, run.at, run.of[0][0].count, run.of[0][1].count, run.of[1][0].count,
                        run.of[1][1].count);
                return 3;
            }
            n_runs++;
            memset(&run, 0, sizeof run);
            run.at = i;
        }
        if (!access)
            break;
        in_loop = !is_called;
        if (is_called && access->address / 64 != (access->address + access->size_bytes - 1) / 64) {
            fprintf(stderr, "access %zu is not within 64 bytes\n", i);
            return 3;
        }
        for (unsigned part = 0; part < 2; part++)
            if (access->kind >> part & 1)
                add_bytes(&run.of[in_loop][part], access);
        n_bytes += access->size_bytes;
    }
    printf("    %zu calls, %" PRIu64 " bytes, equal\n", n_runs, n_bytes / 2);
    return n_runs > 1 ? 0 : 3;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct trace trace = {0};
    if (argc != 5) {
        fprintf(stderr, "usage: check_called STORE TRACE LOW END\n");
        return 2;
    }
    low = strtoull(argv[3], NULL, 16);
    end = strtoull(argv[4], NULL, 16);
    struct pm_store *store = pm_store_open(argv[1], PM_STORE_READ, &err);
    struct pm_structure *structure = store ? pm_store_structure(store, &err) : NULL;
    if (!structure || !trace_read(argv[2], &trace, &err)) {
        fprintf(stderr, "check_called: %s\n", err.text);
        return err.kind == PM_ERROR_SYSTEM ? 1 : 2;
    }
    int status = compare(structure, &trace);
    pm_store_close(store);
    pm_structure_free(structure);
    free(trace.accesses);
    return status;
}
