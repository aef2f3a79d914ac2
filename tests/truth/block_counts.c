/* What a store says about one run's control flow, as lines for a script to compare with what
   another tool counted, and the conservation of flow.

     block_counts STORE N=8 [MODULE]

   prints of the module with this name, else of the program, addresses as callgrind writes them (0x
   and no leading zeros):

     block ADDRESS INSTRUCTIONS COUNT ROUTINE    basic block of a routine with counters
     edge BLOCK TARGET COUNT ROUTINE             conditional or unconditional jump out of BLOCK
     range FIRST END ROUTINE                     addresses of a routine with counters
     uncounted FIRST END ROUTINE REASON          addresses of a routine without

   Status 3, with a line on standard error for each case, if in a routine with counters what flows
   into a basic block does not flow out of it, or what enters the routine does not leave it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/store/store.h"

struct flow {
    double *in, *out;        /* [n_blocks] */
    double *entries, *exits; /* [n_routines] */
};

static struct flow measure_flow(const struct pm_structure *structure, const double *counts) {
    struct flow flow = {
        .in = pm_alloc(structure->n_blocks, sizeof(double)),
        .out = pm_alloc(structure->n_blocks, sizeof(double)),
        .entries = pm_alloc(structure->n_routines, sizeof(double)),
        .exits = pm_alloc(structure->n_routines, sizeof(double)),
    };
    for (size_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        *(edge->from == PM_NONE ? &flow.entries[edge->routine] : &flow.out[edge->from]) +=
            counts[e];
        *(edge->to == PM_NONE ? &flow.exits[edge->routine] : &flow.in[edge->to]) += counts[e];
    }
    return flow;
}

/* Number of places where flow is lost. */
static unsigned check_conservation(const struct pm_structure *structure, const struct flow *flow) {
    unsigned n_lost = 0;
    for (size_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        if (structure->routines[block->routine].counted && flow->in[b] != flow->out[b]) {
            fprintf(stderr, "basic block 0x%" PRIx64 ": %.0f in, %.0f out\n", block->address,
                    flow->in[b], flow->out[b]);
            n_lost++;
        }
    }
    for (size_t r = 0; r < structure->n_routines; r++)
        if (structure->routines[r].counted && flow->entries[r] != flow->exits[r]) {
            fprintf(stderr, "routine %s: entered %.0f times, left %.0f times\n",
                    structure->routines[r].name, flow->entries[r], flow->exits[r]);
            n_lost++;
        }
    return n_lost;
}

static void print_counts(const struct pm_structure *structure, const double *edge_counts,
                         const struct flow *flow, uint32_t module) {
    for (size_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        const struct pm_routine *routine = &structure->routines[block->routine];
        if (routine->counted && routine->module == module)
            printf("block 0x%" PRIx64 " %u %.0f %s\n", block->address, block->n_instructions,
                   flow->in[b], routine->name);
    }
    for (size_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        const struct pm_routine *routine = &structure->routines[edge->routine];
        if (routine->counted && routine->module == module &&
            (edge->kind == PM_EDGE_TAKEN || edge->kind == PM_EDGE_TABLE))
            printf("edge 0x%" PRIx64 " 0x%" PRIx64 " %.0f %s\n",
                   structure->blocks[edge->from].address, structure->blocks[edge->to].address,
                   edge_counts[e], routine->name);
    }
    for (size_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        if (routine->module == module)
            printf("%s 0x%" PRIx64 " 0x%" PRIx64 " %s %s\n",
                   routine->counted ? "range" : "uncounted", routine->address,
                   routine->address + routine->size_bytes, routine->name,
                   routine->reason ? routine->reason : "");
    }
}

/* The module called NAME, the program if that is NULL; the number of modules if there is none. */
static uint32_t find_module(const struct pm_structure *structure, const char *name) {
    uint32_t module = 0;
    while (name && module < structure->n_modules &&
           strcmp(structure->modules[module].name, name) != 0)
        module++;
    return module;
}

static int fail(const struct pm_error *err) {
    fprintf(stderr, "block_counts: %s\n", err->text[0] ? err->text : "there is no such run");
    return err->kind == PM_ERROR_SYSTEM ? 1 : 2;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct pm_parameters size = {0};
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: block_counts STORE N=8 [MODULE]\n");
        return 2;
    }
    struct pm_store *store = pm_store_open(argv[1], PM_STORE_READ, &err);
    if (!store)
        return fail(&err);
    int status = 0;
    struct pm_structure *structure = pm_store_structure(store, &err);
    struct pm_profile *profile = NULL;
    if (structure && pm_parameters_parse(argv[2], &size, &err))
        profile = pm_store_profile(store, &size, &err);
    if (profile) {
        struct flow flow = measure_flow(structure, profile->edge_counts);
        print_counts(structure, profile->edge_counts, &flow, find_module(structure, argv[3]));
        status = check_conservation(structure, &flow) || profile->n_inexact_routines ? 3 : 0;
        free(flow.in);
        free(flow.out);
        free(flow.entries);
        free(flow.exits);
        pm_profile_free(profile);
    } else {
        status = fail(&err);
    }
    if (structure)
        pm_structure_free(structure);
    pm_store_close(store);
    return status;
}
