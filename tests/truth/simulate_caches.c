/* Simulates the caches and TLBs of machine files (caches.h) over all accesses of a program.

     simulate_caches [-g] [-l] [-s SEED] TRACE MACHINE...

   TRACE: of record_trace.c, or with -l a log of valgrind --tool=lackey --trace-mem=yes; it is read
   once, for all machines, and may be a pipe.  MACHINE: machine files.  SEED (default 1): of random
   replacement and physical pages.

   Prints a line of JSON for each level:

     machine, level  names: of the file without .conf, and in it
     load_misses, store_misses, write_backs
                     as caches.h says
     dirty           blocks that are still to be written back at the end
     second_misses   further misses of accesses that cross the border of two blocks of the first
                     level and had already missed: pmodel counts both, cachegrind one

   With -g also, behind these, a line for each level and reference group that missed in it: machine,
   level, group (as `pmodel loops --groups` numbers them), load_misses, store_misses.

   A TLB is a cache of pages that all accesses load; a second one sees what the first misses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/probe_abi.h"
#include "runtime/pmodel_handler.h"
#include "tests/truth/caches.h"

/* ---- hierarchies ----------------------------------------------------------------------------- */

enum { MOST_LEVELS = 8 };

/* The caches, or the TLBs, of a machine. */
struct hierarchy {
    const struct pm_machine *machine;
    const struct pm_level *levels;
    size_t n_levels;
    struct caches *caches;
    uint64_t second_misses[MOST_LEVELS];
    PM_ARRAY(struct caches_counts, groups); /* [group · n_levels + level] with -g; else none */
};
struct hierarchies {
    PM_ARRAY(struct hierarchy, item);
    bool by_group;
};

static bool is_tlb(const struct hierarchy *hierarchy) {
    return hierarchy->levels[0].kind == PM_LEVEL_TLB;
}

static uint64_t misses(const struct hierarchy *hierarchy, size_t level) {
    struct caches_counts counts = caches_counts(hierarchy->caches, level);
    return counts.load_misses + counts.store_misses;
}

/* Adds the levels of MACHINE from FIRST to END, which are of one kind. */
static bool add(struct hierarchies *hierarchies, const struct pm_machine *machine, size_t first,
                size_t end, uint64_t seed, struct pm_error *err) {
    if (first == end)
        return true;
    if (end - first > MOST_LEVELS)
        return pm_fail(err, "%s: more than %d levels", machine->path, MOST_LEVELS);
    struct hierarchy *hierarchy = PM_PUSH(hierarchies, item);
    *hierarchy = (struct hierarchy){
        .machine = machine, .levels = &machine->levels[first], .n_levels = end - first};
    hierarchy->caches = caches_new(hierarchy->levels, hierarchy->n_levels, seed, err);
    return hierarchy->caches || pm_fail_in(err, "%s", machine->path);
}

static bool add_machine(struct hierarchies *hierarchies, const char *path, uint64_t seed,
                        struct pm_error *err) {
    struct pm_machine *machine = pm_machine_read(path, err);
    size_t n_caches = 0;
    if (!machine)
        return false;
    while (n_caches < machine->n_levels && machine->levels[n_caches].kind == PM_LEVEL_CACHE)
        n_caches++;
    return add(hierarchies, machine, 0, n_caches, seed, err) &&
           add(hierarchies, machine, n_caches, machine->n_levels, seed, err);
}

static void access_crossing(struct hierarchy *hierarchy, uint64_t address, uint64_t size,
                            bool is_store) {
    uint64_t before[MOST_LEVELS] = {0};
    for (size_t l = 0; l < hierarchy->n_levels; l++)
        before[l] = misses(hierarchy, l);
    caches_access(hierarchy->caches, address, size, is_store);
    for (size_t l = 0; l < hierarchy->n_levels; l++)
        if (misses(hierarchy, l) > before[l] + 1)
            hierarchy->second_misses[l] += misses(hierarchy, l) - before[l] - 1;
}

static void access_bytes(struct hierarchy *hierarchy, uint64_t address, uint64_t size,
                         bool is_store) {
    uint64_t block_bytes = hierarchy->levels[0].block_bytes;
    if ((address & (block_bytes - 1)) + size > block_bytes)
        access_crossing(hierarchy, address, size, is_store);
    else
        caches_access(hierarchy->caches, address, size, is_store);
}

static void access_once(struct hierarchy *hierarchy, const struct pmodel_access *access) {
    bool stores = !is_tlb(hierarchy);
    if (access->kind & PM_ACCESS_LOAD || !stores)
        access_bytes(hierarchy, access->address, access->size_bytes, false);
    if (access->kind & PM_ACCESS_STORE && stores)
        access_bytes(hierarchy, access->address, access->size_bytes, true);
}

/* The misses are those of the access's group. */
static void access_of_group(struct hierarchy *hierarchy, const struct pmodel_access *access) {
    struct caches_counts before[MOST_LEVELS] = {0};
    size_t n_levels = hierarchy->n_levels;
    while (hierarchy->n_groups < (access->group + 1) * n_levels)
        PM_PUSH(hierarchy, groups);
    for (size_t l = 0; l < n_levels; l++)
        before[l] = caches_counts(hierarchy->caches, l);
    access_once(hierarchy, access);
    for (size_t l = 0; l < n_levels; l++) {
        struct caches_counts *group = &hierarchy->groups[access->group * n_levels + l];
        struct caches_counts after = caches_counts(hierarchy->caches, l);
        group->load_misses += after.load_misses - before[l].load_misses;
        group->store_misses += after.store_misses - before[l].store_misses;
    }
}

static void access_all(struct hierarchies *hierarchies, const struct pmodel_access *accesses,
                       size_t n) {
    for (size_t h = 0; h < hierarchies->n_item; h++)
        for (size_t i = 0; i < n; i++)
            if (hierarchies->by_group)
                access_of_group(&hierarchies->item[h], &accesses[i]);
            else
                access_once(&hierarchies->item[h], &accesses[i]);
}

static void print(const struct hierarchy *hierarchy) {
    for (size_t l = 0; l < hierarchy->n_levels; l++) {
        struct caches_counts counts = caches_counts(hierarchy->caches, l);
        uint64_t dirty;
        caches_held(hierarchy->caches, l, &dirty);
        printf("{\"machine\": \"%s\", \"level\": \"%s\", \"load_misses\": %" PRIu64
               ", \"store_misses\": %" PRIu64 ", \"write_backs\": %" PRIu64 ", \"dirty\": %" PRIu64
               ", \"second_misses\": %" PRIu64 "}\n",
               hierarchy->machine->name, hierarchy->levels[l].name, counts.load_misses,
               counts.store_misses, counts.write_backs, dirty, hierarchy->second_misses[l]);
    }
}

static void print_groups(const struct hierarchy *hierarchy) {
    for (size_t i = 0; i < hierarchy->n_groups; i++) {
        const struct caches_counts *counts = &hierarchy->groups[i];
        if (counts->load_misses + counts->store_misses)
            printf(
                "{\"machine\": \"%s\", \"level\": \"%s\", \"group\": %zu, \"load_misses\": %" PRIu64
                ", \"store_misses\": %" PRIu64 "}\n",
                hierarchy->machine->name, hierarchy->levels[i % hierarchy->n_levels].name,
                i / hierarchy->n_levels, counts->load_misses, counts->store_misses);
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

enum { BATCH = 1 << 14 };

static size_t next_of_lackey(FILE *log, struct pmodel_access *batch) {
    char line[256], kind;
    uint64_t address;
    size_t n = 0;
    while (n < BATCH && fgets(line, sizeof line, log)) {
        struct pmodel_access *access = &batch[n];
        if (line[0] != ' ' ||
            sscanf(line, " %c %" SCNx64 ",%" SCNu32, &kind, &address, &access->size_bytes) != 3)
            continue;
        access->address = address;
        access->group = 0;
        access->kind = kind == 'L'   ? PM_ACCESS_LOAD
                       : kind == 'S' ? PM_ACCESS_STORE
                                     : PM_ACCESS_BOTH;
        n++;
    }
    return n;
}

static bool simulate(const char *path, bool is_lackeys, struct hierarchies *hierarchies,
                     struct pm_error *err) {
    static struct pmodel_access batch[BATCH];
    uint64_t n_accesses = 0;
    size_t n;
    FILE *trace = fopen(path, "rb");
    if (!trace)
        return pm_fail_errno(err, "%s", path);
    do {
        n = is_lackeys ? next_of_lackey(trace, batch) : fread(batch, sizeof *batch, BATCH, trace);
        access_all(hierarchies, batch, n);
        n_accesses += n;
    } while (n == BATCH);
    fclose(trace);
    return n_accesses || pm_fail(err, "%s: the trace is empty", path);
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct hierarchies hierarchies = {0};
    bool is_lackeys = false, done = true;
    uint64_t seed = 1;
    for (int option; (option = getopt(argc, argv, "gls:")) != -1;) {
        if (option == 'g')
            hierarchies.by_group = true;
        else if (option == 'l')
            is_lackeys = true;
        else if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    if (argc - optind < 2) {
        fprintf(stderr, "usage: simulate_caches [-g] [-l] [-s SEED] TRACE MACHINE...\n");
        return 2;
    }
    for (int i = optind + 1; done && i < argc; i++)
        done = add_machine(&hierarchies, argv[i], seed, &err);
    done = done && simulate(argv[optind], is_lackeys, &hierarchies, &err);
    if (!done) {
        fprintf(stderr, "simulate_caches: %s\n", err.text);
        return err.kind == PM_ERROR_SYSTEM ? 1 : 2;
    }
    for (size_t h = 0; h < hierarchies.n_item; h++)
        print(&hierarchies.item[h]);
    for (size_t h = 0; h < hierarchies.n_item; h++)
        print_groups(&hierarchies.item[h]);
    return 0;
}
