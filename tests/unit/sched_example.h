/* A program made by hand, for tests of predictions, and a machine for it.  After cmocka.h. */
#ifndef PM_TESTS_SCHED_EXAMPLE_H
#define PM_TESTS_SCHED_EXAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"

/* One routine: entry block 0, outer loop {1, 2, 3, 4, 5}, exit block 6.
       1 → 2 (75 of 100) or 3 (25 of 100) → 4 → inner loop {4} of 10 iterations → 5 → 1
   A test fills operations into the blocks that it needs. */

enum { ENTRY, HEADER, OFTEN, SELDOM, INNER, LATCH, LAST, N_BLOCKS };
enum { SCOPE_MODULE = 1, SCOPE_ROUTINE, SCOPE_OUTER, SCOPE_INNER, SCOPE_INLINED };

struct program {
    struct pm_structure *structure;
    struct pm_profile profile;
    struct pm_machine *machine;
    struct pm_prediction *prediction;
    uint32_t filling; /* block that gets the next operation */
    struct pm_predict_options options;
};

static struct pm_scope *add_scope(struct pm_structure *s, int kind, uint32_t parent,
                                  uint32_t header) {
    struct pm_scope *scope = PM_PUSH(s, scopes);
    *scope = (struct pm_scope){.kind = (uint8_t)kind,
                               .parent = parent,
                               .routine = kind >= PM_SCOPE_ROUTINE ? 0 : PM_NONE,
                               .header = header,
                               .name = pm_strdup("name"),
                               .fold = (uint32_t)s->n_scopes - 1,
                               .unroll = 1};
    return scope;
}

static struct program make_program(void) {
    struct program p = {.structure = pm_structure_new(), .filling = PM_NONE};
    struct pm_structure *s = p.structure;
    *PM_PUSH(s, modules) =
        (struct pm_module){.path = pm_strdup("x"), .name = pm_strdup("x"), .scope = SCOPE_MODULE};
    add_scope(s, PM_SCOPE_MODULE, 0, PM_NONE);
    add_scope(s, PM_SCOPE_ROUTINE, SCOPE_MODULE, ENTRY);
    add_scope(s, PM_SCOPE_LOOP, SCOPE_ROUTINE, HEADER);
    add_scope(s, PM_SCOPE_LOOP, SCOPE_OUTER, INNER);
    add_scope(s, PM_SCOPE_INLINED, SCOPE_OUTER, PM_NONE);
    static const struct {
        uint32_t scope, loop;
    } places[N_BLOCKS] = {
        [ENTRY] = {SCOPE_ROUTINE, PM_NONE},   [HEADER] = {SCOPE_OUTER, SCOPE_OUTER},
        [OFTEN] = {SCOPE_OUTER, SCOPE_OUTER}, [SELDOM] = {SCOPE_INLINED, SCOPE_OUTER},
        [INNER] = {SCOPE_INNER, SCOPE_INNER}, [LATCH] = {SCOPE_OUTER, SCOPE_OUTER},
        [LAST] = {SCOPE_ROUTINE, PM_NONE}};
    for (int b = 0; b < N_BLOCKS; b++)
        *PM_PUSH(s, blocks) = (struct pm_block){.scope = places[b].scope, .loop = places[b].loop};
    static const struct {
        uint32_t from, to;
        uint8_t kind;
        double count;
    } edges[] = {{PM_NONE, ENTRY, PM_EDGE_ENTRY, 1},       {ENTRY, HEADER, PM_EDGE_FALLTHROUGH, 1},
                 {HEADER, OFTEN, PM_EDGE_FALLTHROUGH, 75}, {HEADER, SELDOM, PM_EDGE_TAKEN, 25},
                 {OFTEN, INNER, PM_EDGE_TAKEN, 75},        {SELDOM, INNER, PM_EDGE_FALLTHROUGH, 25},
                 {INNER, INNER, PM_EDGE_TAKEN, 900},       {INNER, LATCH, PM_EDGE_FALLTHROUGH, 100},
                 {LATCH, HEADER, PM_EDGE_TAKEN, 99},       {LATCH, LAST, PM_EDGE_FALLTHROUGH, 1},
                 {LAST, PM_NONE, PM_EDGE_EXIT, 1}};
    size_t n_edges = sizeof edges / sizeof edges[0];
    p.profile.edge_counts = pm_alloc(n_edges, sizeof(double));
    p.profile.n_edges = n_edges;
    for (size_t i = 0; i < n_edges; i++) {
        *PM_PUSH(s, edges) = (struct pm_edge){
            .from = edges[i].from, .to = edges[i].to, .kind = edges[i].kind, .counter = PM_NONE};
        p.profile.edge_counts[i] = edges[i].count;
    }
    *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup("work"),
                                                .display_name = pm_strdup("work"),
                                                .scope = SCOPE_ROUTINE,
                                                .n_blocks = N_BLOCKS,
                                                .n_edges = (uint32_t)n_edges,
                                                .counted = true};
    p.profile.block_sizes = pm_alloc(2, sizeof(uint64_t));
    p.profile.n_block_sizes = 2;
    p.profile.block_sizes[0] = 64;
    p.profile.block_sizes[1] = 4096;
    p.profile.extrapolation = 1;
    return p;
}

/* Opens BLOCK for operations; blocks are filled in ascending order. */
static void fill(struct program *p, uint32_t block) {
    p->filling = block;
    p->structure->blocks[block].first_op = (uint32_t)p->structure->n_ops;
}

enum { NO = PM_REGISTER_NONE };

/* One instruction of one operation: DEF ← USE1, USE2. */
static struct pm_op *add_wide(struct program *p, enum pm_op_class op_class, unsigned width_bits,
                              unsigned element_bytes, uint8_t def, uint8_t use1, uint8_t use2) {
    struct pm_op *op = PM_PUSH(p->structure, ops);
    *op = (struct pm_op){.op_class = (uint8_t)op_class,
                         .width_bits = (uint16_t)width_bits,
                         .element_bytes = (uint8_t)element_bytes,
                         .defs = {def, NO},
                         .uses = {use1, use2, NO, NO, NO},
                         .instruction_start = 1,
                         .reference = PM_NONE};
    p->structure->blocks[p->filling].n_ops++;
    p->structure->blocks[p->filling].n_instructions++;
    return op;
}

static struct pm_op *add(struct program *p, enum pm_op_class op_class, uint8_t def, uint8_t use1,
                         uint8_t use2) {
    return add_wide(p, op_class, 64, 8, def, use1, use2);
}

/* A group in the inner loop with a histogram: COUNTS of loads at DISTANCES, and cold ones. */
static inline void add_group(struct program *p, uint32_t scope, uint64_t block_bytes, double cold,
                             size_t n_bins, const double (*bins)[2]) {
    struct pm_structure *s = p->structure;
    p->profile.histograms = pm_realloc(p->profile.histograms, p->profile.n_histograms + 1,
                                       sizeof *p->profile.histograms);
    struct pm_group_histogram *h = &p->profile.histograms[p->profile.n_histograms++];
    *h = (struct pm_group_histogram){
        .group = (uint32_t)s->n_groups,
        .histogram = {.block_bytes = block_bytes, .cold_loads = cold, .n_bins = n_bins}};
    h->histogram.bytes_touched = (double)NAN;
    h->histogram.bins = pm_alloc(n_bins, sizeof *h->histogram.bins);
    for (size_t i = 0; i < n_bins; i++)
        h->histogram.bins[i] = (struct pm_bin){
            .low = bins[i][0], .high = bins[i][0], .mean = bins[i][0], .loads = bins[i][1]};
    *PM_PUSH(s, groups) = (struct pm_group){.scope = scope};
}

#define TOP_LINES(vector, fma, order, more)                                                        \
    "title = \"t\" clock_mhz = 1000 issue_width = 8 vector_width = " vector " fma = " fma          \
    " out_of_order = " order " " more "\n"
#define UNITS "unit a {} unit b {} unit c {} unit mem {}\n"
#define COSTS                                                                                      \
    "cost { of = {fp_mult} latency = 5 units = {a} }\n"                                            \
    "cost { of = {fp_add, fp_fma} latency = 3 units = {a, b} }\n"                                  \
    "cost { of = {logical} latency = 1 units = {b, c} }\n"                                         \
    "cost { of = {fp_div} latency = 20 repeat = 18 units = {c} }\n"                                \
    "cost { of = {load_fp, load_int, store_fp} latency = 4 units = {mem} }\n"                      \
    "cost { of = {int_add, branch} latency = 1 units = {b, c} }\n"                                 \
    "cost { of = {nop} latency = 0 free = true }\n"
#define LEVELS                                                                                     \
    "cache L1 { size = 6400 line = 64 ways = 0 latency = 4 miss_penalty = 10 exposed = 0.5 }\n"    \
    "cache L2 { size = 64000 line = 64 ways = 0 latency = 14 miss_penalty = 100 exposed = 1 }\n"   \
    "tlb TLB { entries = 4 page = 4096 ways = 0 miss_penalty = 30 exposed = 1 }\n"
#define MACHINE TOP_LINES("64", "true", "true", "") UNITS COSTS LEVELS

static void use_machine(struct program *p, const char *text) {
    char path[512];
    const char *folder = getenv("TMP");
    snprintf(path, sizeof path, "%s/sched.conf", folder ? folder : "/tmp");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    struct pm_error err = {0};
    p->machine = pm_machine_read(path, &err);
    if (!p->machine)
        fail_msg("%s", err.text);
}

__attribute__((unused)) static const struct pm_scope_prediction *predict(struct program *p,
                                                                         const char *machine) {
    use_machine(p, machine);
    struct pm_error err = {0};
    p->prediction = pm_predict(p->structure, &p->profile, p->machine, &p->options, &err);
    if (!p->prediction)
        fail_msg("%s", err.text);
    return p->prediction->scopes;
}

static void free_program(struct program *p) {
    pm_prediction_free(p->prediction);
    pm_machine_free(p->machine);
    for (size_t i = 0; i < p->profile.n_histograms; i++)
        free(p->profile.histograms[i].histogram.bins);
    free(p->profile.histograms);
    free(p->profile.block_sizes);
    free(p->profile.edge_counts);
    pm_structure_free(p->structure);
}

__attribute__((unused)) static bool has_note(const struct pm_prediction *prediction,
                                             const char *part) {
    for (size_t i = 0; i < prediction->n_notes; i++)
        if (strstr(prediction->notes[i], part))
            return true;
    return false;
}

#define assert_near(a, b) assert_float_equal(a, b, 1e-9)

#endif
