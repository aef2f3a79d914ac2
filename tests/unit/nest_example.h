/* A program made by hand: nested loops around one basic block, whose references walk through
   memory; its strides, and what they touch.  After cmocka.h. */
#ifndef PM_TESTS_NEST_EXAMPLE_H
#define PM_TESTS_NEST_EXAMPLE_H

#include <math.h>
#include <stdlib.h>

#include "core/profile.h"
#include "core/structure/structure.h"

enum { NEST_MOST_LOOPS = 4, NEST_MOST_REFERENCES = 4 };
enum { NEST_MODULE = 1, NEST_ROUTINE, NEST_OUTERMOST }; /* scopes */

struct nest_reference {
    uint64_t start;
    int64_t strides[NEST_MOST_LOOPS]; /* outermost loop first */
};

/* The innermost loop has the references, each in a group of its own, which load 8 bytes in this
   order. */
struct nest {
    size_t n_loops;
    uint64_t trips[NEST_MOST_LOOPS]; /* outermost first */
    size_t n_references;
    struct nest_reference references[NEST_MOST_REFERENCES];
};

static struct pm_structure *nest_structure(const struct nest *nest) {
    struct pm_structure *s = pm_structure_new();
    uint32_t n = (uint32_t)nest->n_loops, inner = NEST_OUTERMOST + n - 1;
    *PM_PUSH(s, modules) = (struct pm_module){
        .path = pm_strdup("nest"), .name = pm_strdup("nest"), .scope = NEST_MODULE};
    for (uint32_t i = NEST_MODULE; i <= inner; i++) {
        bool is_loop = i >= NEST_OUTERMOST;
        *PM_PUSH(s, scopes) = (struct pm_scope){.kind = is_loop             ? PM_SCOPE_LOOP
                                                        : i == NEST_ROUTINE ? PM_SCOPE_ROUTINE
                                                                            : PM_SCOPE_MODULE,
                                                .parent = i - 1,
                                                .routine = i >= NEST_ROUTINE ? 0 : PM_NONE,
                                                .header = is_loop             ? i - NEST_OUTERMOST
                                                          : i == NEST_ROUTINE ? 0
                                                                              : PM_NONE,
                                                .name = pm_strdup("name"),
                                                .fold = i,
                                                .unroll = 1};
    }
    for (uint32_t b = 0; b < n; b++)
        *PM_PUSH(s, blocks) =
            (struct pm_block){.scope = NEST_OUTERMOST + b, .loop = NEST_OUTERMOST + b};
    /* Into each header: from around its loop, and from the innermost block. */
    for (uint32_t b = 0; b < n; b++) {
        *PM_PUSH(s, edges) = (struct pm_edge){.from = b ? b - 1 : PM_NONE,
                                              .to = b,
                                              .counter = 2 * b,
                                              .kind = b ? PM_EDGE_FALLTHROUGH : PM_EDGE_ENTRY};
        *PM_PUSH(s, edges) =
            (struct pm_edge){.from = n - 1, .to = b, .counter = 2 * b + 1, .kind = PM_EDGE_TAKEN};
    }
    *PM_PUSH(s, edges) =
        (struct pm_edge){.from = n - 1, .to = PM_NONE, .counter = 2 * n, .kind = PM_EDGE_EXIT};
    s->n_counters = (uint32_t)s->n_edges;
    *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup("walk"),
                                                .display_name = pm_strdup("walk"),
                                                .scope = NEST_ROUTINE,
                                                .n_blocks = n,
                                                .n_edges = (uint32_t)s->n_edges,
                                                .n_counters = (uint32_t)s->n_edges,
                                                .counted = true};
    for (uint32_t r = 0; r < nest->n_references; r++) {
        *PM_PUSH(s, references) = (struct pm_reference){.block = n - 1,
                                                        .group = r,
                                                        .size_bytes = 8,
                                                        .access = PM_ACCESS_LOAD,
                                                        .recorded = true};
        *PM_PUSH(s, groups) = (struct pm_group){
            .scope = inner, .module = 0, .n_loads = 1, .bytes_min = 8, .bytes_max = 8};
    }
    return s;
}

/* Counts of edges, and strides; histograms are the caller's. */
static struct pm_profile *nest_profile(const struct pm_structure *structure,
                                       const struct nest *nest) {
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->n_edges = structure->n_edges;
    profile->edge_counts = pm_alloc(profile->n_edges, sizeof(double));
    double entries = 1;
    for (size_t l = 0; l < nest->n_loops; l++) {
        double iterations = entries * (double)nest->trips[l];
        profile->edge_counts[2 * l] = entries;
        profile->edge_counts[2 * l + 1] = iterations - entries;
        entries = iterations;
    }
    profile->edge_counts[2 * nest->n_loops] = 1;
    for (uint32_t r = 0; r < nest->n_references; r++) {
        const struct nest_reference *reference = &nest->references[r];
        struct pm_reference_strides strides = {
            .reference = r, .n_levels = (uint32_t)nest->n_loops, .executions = entries};
        double below = 0, above = 0;
        for (size_t l = 0; l < nest->n_loops; l++) {
            double stride = (double)reference->strides[l], trips = (double)nest->trips[l];
            strides.levels[nest->n_loops - 1 - l] = (struct pm_stride_level){
                .stride_bytes = stride,
                .stride_share = 1,
                .count = trips,
                .count_share = l ? 1 : 0,
                .mean_count = trips,
            };
            *(stride < 0 ? &below : &above) += stride * (trips - 1);
        }
        strides.lowest = (double)reference->start + below;
        strides.highest = (double)reference->start + above;
        pm_run_strides_add(&profile->strides, &strides);
    }
    return profile;
}

#endif
