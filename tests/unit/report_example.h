/* A small program made by hand, with all that reports must cope with: folded loops, a loop in
   inlined code, a routine that never ran, one that was refused, and code without lines. */
#ifndef REPORT_EXAMPLE_H
#define REPORT_EXAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/prediction.h"
#include "core/structure/structure.h"

enum {
    SCOPE_MAIN = 2,
    SCOPE_STEP,
    SCOPE_K,
    SCOPE_J,
    SCOPE_I_VECTOR,
    SCOPE_I_REMAINDER,
    SCOPE_SQUARE,
    SCOPE_NORM,
    SCOPE_NORM_LOOP,
    SCOPE_BROKEN,
    SCOPE_NEVER,
    SCOPE_NEVER_LOOP,
    N_EXAMPLE_SCOPES,
};

enum { ROUTINE_MAIN, ROUTINE_STEP, ROUTINE_BROKEN, ROUTINE_NEVER };

static inline void example_routine(struct pm_structure *structure, const char *name,
                                   uint64_t address, uint32_t scope) {
    struct pm_routine *routine = PM_PUSH(structure, routines);
    routine->name = pm_strdup(name);
    routine->display_name = pm_strdup(name);
    routine->address = address;
    routine->size_bytes = 0x80;
    routine->scope = scope;
    routine->counted = routine->has_metadata = true;
}

/* Its index is that of the enumerator above. */
static inline struct pm_scope *example_scope(struct pm_structure *structure, uint8_t kind,
                                             uint32_t parent, uint32_t routine, const char *name,
                                             uint32_t line) {
    struct pm_scope *scope = PM_PUSH(structure, scopes);
    scope->kind = kind;
    scope->parent = parent;
    scope->routine = routine;
    scope->header = PM_NONE;
    scope->fold = (uint32_t)structure->n_scopes - 1;
    scope->name = name ? pm_strdup(name) : NULL;
    scope->file = line ? pm_strdup("/home/me/heat/heat.c") : NULL;
    scope->line_first = line;
    scope->line_last = line ? line + 2 : 0;
    scope->unroll = 1;
    scope->key = 0xabc000 + structure->n_scopes;
    if (kind == PM_SCOPE_LOOP)
        scope->depth = structure->scopes[parent].depth + 1;
    return scope;
}

static inline void example_scopes(struct pm_structure *structure) {
    example_scope(structure, PM_SCOPE_MODULE, 0, PM_NONE, "heat", 0);
    example_scope(structure, PM_SCOPE_ROUTINE, 1, ROUTINE_MAIN, "main", 50);
    example_scope(structure, PM_SCOPE_ROUTINE, 1, ROUTINE_STEP, "step", 25);
    example_scope(structure, PM_SCOPE_LOOP, SCOPE_STEP, ROUTINE_STEP, "k", 28);
    example_scope(structure, PM_SCOPE_LOOP, SCOPE_K, ROUTINE_STEP, "j", 29);
    example_scope(structure, PM_SCOPE_LOOP, SCOPE_J, ROUTINE_STEP, "i", 31)->flags =
        PM_SCOPE_VECTOR_BODY | PM_SCOPE_FROM_COMPILER;
    struct pm_scope *remainder =
        example_scope(structure, PM_SCOPE_LOOP, SCOPE_J, ROUTINE_STEP, "i", 31);
    remainder->flags = PM_SCOPE_REMAINDER;
    remainder->fold = SCOPE_I_VECTOR;
    remainder->line_last = 36;
    example_scope(structure, PM_SCOPE_INLINED, SCOPE_I_VECTOR, ROUTINE_STEP, "square", 12);
    example_scope(structure, PM_SCOPE_INLINED, SCOPE_MAIN, ROUTINE_MAIN, "norm", 15);
    example_scope(structure, PM_SCOPE_LOOP, SCOPE_NORM, ROUTINE_MAIN, NULL, 18)->trip_count =
        pm_strdup("n*n - 1");
    example_scope(structure, PM_SCOPE_ROUTINE, 1, ROUTINE_BROKEN, "broken", 0);
    example_scope(structure, PM_SCOPE_ROUTINE, 1, ROUTINE_NEVER, "never", 0);
    example_scope(structure, PM_SCOPE_LOOP, SCOPE_NEVER, ROUTINE_NEVER, NULL, 0)->address_low =
        0x401300;
}

static inline struct pm_structure *example_structure(void) {
    struct pm_structure *structure = pm_structure_new();
    structure->isa = pm_strdup("x86-64");
    struct pm_module *module = PM_PUSH(structure, modules);
    module->path = pm_strdup("/home/me/heat/heat");
    module->name = pm_strdup("heat");
    module->has_metadata = module->has_lines = true;
    module->scope = 1;
    module->text_bytes = 2000;
    module->lifted_bytes = 1900;
    example_scopes(structure);
    example_routine(structure, "main", 0x401000, SCOPE_MAIN);
    example_routine(structure, "step", 0x401100, SCOPE_STEP);
    example_routine(structure, "broken", 0x401200, SCOPE_BROKEN);
    example_routine(structure, "never", 0x401280, SCOPE_NEVER);
    struct pm_routine *broken = &structure->routines[ROUTINE_BROKEN];
    broken->state = PM_ROUTINE_REFUSED;
    broken->reason = pm_strdup("byte 0x06 at 0x401203 is no instruction");
    broken->counted = broken->has_metadata = false;
    return structure;
}

/* ---- a prediction of it --------------------------------------------------------------------- */

static inline void example_level(struct pm_prediction *prediction, const char *name, uint8_t kind) {
    prediction->level_names[prediction->n_levels] = pm_strdup(name);
    prediction->level_kinds[prediction->n_levels++] = kind;
}

/* Own cost of SCOPE; half of the cycles are memory. */
static inline struct pm_scope_prediction *example_cost(struct pm_prediction *prediction,
                                                       uint32_t scope, double iterations,
                                                       double cycles, double l1_misses,
                                                       uint8_t bound) {
    struct pm_scope_prediction *p = &prediction->scopes[scope];
    p->entries = p->iterations = iterations;
    p->self.cycles = cycles;
    p->self.schedule_cycles = p->self.memory_cycles = cycles / 2;
    p->self.instructions = p->self.operations = 10 * iterations;
    p->self.accesses = 4 * iterations;
    p->self.level_misses[0] = l1_misses;
    p->self.level_misses[1] = l1_misses / 4;
    p->self.level_cycles[0] = p->self.level_cycles[1] = cycles / 4;
    p->bound = bound;
    p->bound_level = 1;
    p->resource_cycles_per_iteration = 2;
    p->recurrence_cycles_per_iteration = 1;
    return p;
}

/* `total` of every scope and the whole's seconds, from `self`. */
static inline void example_sum_up(const struct pm_structure *structure,
                                  struct pm_prediction *prediction) {
    for (size_t i = 0; i < prediction->n_scopes; i++)
        prediction->scopes[i].total = (struct pm_cost_sum){0};
    for (size_t i = prediction->n_scopes; i-- > 0;) {
        struct pm_scope_prediction *p = &prediction->scopes[i];
        pm_cost_sum_add(&p->total, &p->self);
        if (structure->scopes[i].parent != PM_NONE)
            pm_cost_sum_add(&prediction->scopes[structure->scopes[i].parent].total, &p->total);
    }
    prediction->seconds = prediction->scopes[0].total.cycles / prediction->clock_hz;
}

static inline struct pm_prediction *example_prediction(const struct pm_structure *structure) {
    struct pm_prediction *prediction = pm_alloc(1, sizeof *prediction);
    struct pm_error err = {0};
    pm_parameters_set(&prediction->parameters, "N", 256, &err);
    prediction->program = pm_strdup("heat");
    prediction->machine_title = pm_strdup("Example (300 MHz)");
    prediction->machine_name = pm_strdup("example");
    prediction->clock_hz = 3e8;
    prediction->predicted = true;
    prediction->extrapolation = 4;
    prediction->measured_up_to = pm_strdup("N=64");
    prediction->relative_error = 0.012;
    example_level(prediction, "L1", PM_LEVEL_CACHE);
    example_level(prediction, "L2", PM_LEVEL_CACHE);
    example_level(prediction, "TLB", PM_LEVEL_TLB);
    prediction->unit_names[prediction->n_units++] = pm_strdup("fp_adder");
    prediction->n_scopes = structure->n_scopes;
    prediction->scopes = pm_alloc(structure->n_scopes, sizeof *prediction->scopes);
    example_cost(prediction, SCOPE_MAIN, 1, 300, 3, PM_BOUND_LATENCY);
    example_cost(prediction, SCOPE_STEP, 10, 3000, 10, PM_BOUND_ISSUE);
    example_cost(prediction, SCOPE_K, 2560, 30000, 2000, PM_BOUND_UNIT);
    example_cost(prediction, SCOPE_J, 655360, 3e6, 50000, PM_BOUND_RECURRENCE);
    example_cost(prediction, SCOPE_I_VECTOR, 2e7, 6e7, 1.5e7, PM_BOUND_LEVEL);
    example_cost(prediction, SCOPE_I_REMAINDER, 1e6, 1.5e7, 0, PM_BOUND_BANDWIDTH);
    /* Inlined code has no iterations of its own. */
    example_cost(prediction, SCOPE_SQUARE, 0, 1.5e7, 1e6, PM_BOUND_UNIT);
    struct pm_scope_prediction *norm =
        example_cost(prediction, SCOPE_NORM_LOOP, 65535, 9e6, 0, PM_BOUND_UNKNOWN);
    norm->self.accesses = 0;
    norm->self.unrecorded_accesses = 65535;
    norm->self.unknown_operations = 65535;
    example_sum_up(structure, prediction);
    return prediction;
}

/* cmocka compares floats only. */
#define assert_near(value, expected, tolerance)                                                    \
    do {                                                                                           \
        double is_value = (value), is_expected = (expected);                                       \
        if (!(fabs(is_value - is_expected) <= (tolerance)))                                        \
            fail_msg("%s is %.17g, not %.17g", #value, is_value, is_expected);                     \
    } while (0)

/* What WRITE_IT prints, owned by the caller. */
#define CAPTURE(text, stream, write_it)                                                            \
    do {                                                                                           \
        size_t captured_bytes;                                                                     \
        FILE *stream = open_memstream(&(text), &captured_bytes);                                   \
        write_it;                                                                                  \
        fclose(stream);                                                                            \
    } while (0)

#endif
