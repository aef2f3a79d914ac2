/* Reference groups: from operands alone on a made-up ISA, and from the compiler's metadata. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/lifted.h"
#include "binlift/formula/groups.h"
#include "binlift/metadata/metadata.h"
#include "binlift/scopes/scopes.h"

/* ---- a made-up ISA: instruction i is 4 bytes at TEXT + 4 i, its step stands in `steps` ------- */

enum { TEXT = 0x1000, SP = 4, NONE = PM_REGISTER_NONE };

static struct pm_definition steps[64];
static bool has_step[64];
static struct pm_insn_parts parts[64];

static unsigned define(const uint8_t *bytes, const struct pm_insn *insn,
                       struct pm_definition definitions[PM_MOST_DEFINITIONS]) {
    (void)bytes;
    definitions[0] = steps[(insn->address - TEXT) / 4];
    return has_step[(insn->address - TEXT) / 4];
}

static enum pm_condition condition(const uint8_t *bytes, const struct pm_insn *insn) {
    (void)bytes;
    (void)insn;
    return PM_IF_UNKNOWN;
}

static const struct pm_isa made_up = {.name = "made-up",
                                      .define = define,
                                      .condition = condition,
                                      .stack_pointer = SP,
                                      .callee_saved = {0xff00 | 1 << SP, 0},
                                      .all_registers = {0xffff, 0}};

static struct pm_insn *add_insn(struct pm_lifted *lifted) {
    size_t i = lifted->n_insns;
    struct pm_insn *insn = PM_PUSH(lifted, insns);
    insn->address = TEXT + 4 * i;
    insn->length = 4;
    parts[i] = (struct pm_insn_parts){0};
    insn->memory = parts[i].memory;
    insn->registers = &parts[i].registers;
    has_step[i] = false;
    return insn;
}

/* dest = constant + factor · from */
static void put_step(struct pm_lifted *lifted, uint8_t dest, uint8_t from, int64_t factor,
                     int64_t constant) {
    add_insn(lifted);
    parts[lifted->n_insns - 1].registers.defs.general = UINT64_C(1) << dest;
    struct pm_definition *form = &steps[lifted->n_insns - 1];
    *form = (struct pm_definition){
        .place = dest, .kind = PM_DEFINED_AS_SUM, .n_terms = from != NONE, .constant = constant};
    form->terms[0].place = from;
    form->terms[0].factor = factor;
    has_step[lifted->n_insns - 1] = true;
}

static void put_access(struct pm_lifted *lifted, uint8_t access, uint8_t base, uint8_t index,
                       int64_t displacement) {
    struct pm_insn *insn = add_insn(lifted);
    insn->n_memory = 1;
    parts[lifted->n_insns - 1].memory[0] =
        (struct pm_memory_operand){.displacement = displacement,
                                   .base = base,
                                   .index = index,
                                   .scale = index == NONE ? 0 : 8,
                                   .access = access,
                                   .size_bytes = 8};
    parts[lifted->n_insns - 1].registers.uses.general =
        UINT64_C(1) << base | (index == NONE ? 0 : UINT64_C(1) << index);
}

static void put_load_to(struct pm_lifted *lifted, uint8_t dest, uint8_t base, uint8_t index,
                        int64_t displacement) {
    put_access(lifted, PM_ACCESS_LOAD, base, index, displacement);
    size_t i = lifted->n_insns - 1;
    parts[i].registers.defs.general = UINT64_C(1) << dest;
    steps[i] = (struct pm_definition){
        .place = dest, .kind = PM_DEFINED_AS_SUM, .n_terms = 1, .terms = {{PM_PLACE_MEMORY, 1}}};
    has_step[i] = true;
}

/* What was put since the last block becomes one. */
static void end_block(struct pm_lifted *lifted) {
    struct pm_structure *s = lifted->structure;
    uint32_t first = 0;
    if (lifted->n_block_codes) {
        const struct pm_block_code *last = &lifted->block_codes[lifted->n_block_codes - 1];
        first = last->first_insn + last->n_insns;
    }
    uint32_t n = (uint32_t)lifted->n_insns - first;
    *PM_PUSH(s, blocks) =
        (struct pm_block){.address = TEXT + 4 * first, .size_bytes = 4 * n, .n_instructions = n};
    *PM_PUSH(lifted, block_codes) = (struct pm_block_code){first, n, false};
}

static void put_edge(struct pm_lifted *lifted, uint32_t from, uint32_t to) {
    *PM_PUSH(lifted->structure, edges) = (struct pm_edge){from, to, 0, PM_NONE, PM_EDGE_TAKEN, 0};
}

static struct pm_lifted *new_program(void) {
    struct pm_lifted *lifted = pm_alloc(1, sizeof *lifted);
    lifted->isa = &made_up;
    lifted->structure = pm_structure_new();
    lifted->image.path = pm_strdup("a file that is not there");
    struct pm_module *module = PM_PUSH(lifted->structure, modules);
    module->path = pm_strdup("prog");
    module->name = pm_strdup("prog");
    return lifted;
}

static void build(struct pm_lifted *lifted) {
    struct pm_structure *s = lifted->structure;
    *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup("f"),
                                                .address = TEXT,
                                                .size_bytes = 4 * lifted->n_insns,
                                                .n_parts = 1,
                                                .n_blocks = (uint32_t)s->n_blocks,
                                                .n_edges = (uint32_t)s->n_edges};
    *PM_PUSH(s, parts) = (struct pm_part){TEXT, 4 * lifted->n_insns, 0};
    *PM_PUSH(lifted, routine_codes) =
        (struct pm_routine_code){.n_insns = (uint32_t)lifted->n_insns};
    lifted->text_low = TEXT;
    lifted->text_high = TEXT + 4 * lifted->n_insns;
    pm_index_insns(lifted);
    lifted->insn_block = pm_alloc(lifted->n_insns, sizeof *lifted->insn_block);
    for (uint32_t b = 0; b < s->n_blocks; b++)
        for (uint32_t i = 0; i < lifted->block_codes[b].n_insns; i++)
            lifted->insn_block[lifted->block_codes[b].first_insn + i] = b;
    pm_find_loops(lifted);
    pm_build_scopes(lifted);
    assert_true(pm_join_metadata(lifted, NULL));
    pm_number_references(lifted);
    pm_build_groups(lifted);
}

static void free_program(struct pm_lifted *lifted) {
    pm_data_symbols_free(lifted->data_symbols);
    free(lifted->image.path);
    pm_structure_free(lifted->structure);
    pm_free_loops(lifted->loops);
    pm_free_metadata(lifted->metadata);
    free(lifted->insns);
    free(lifted->routine_codes);
    free(lifted->block_codes);
    free(lifted->insn_index.starts);
    free(lifted->insn_index.first);
    free(lifted->ranges);
    free(lifted->insn_block);
    free(lifted->insn_references);
    free(lifted);
}

static const struct pm_group *group_at(const struct pm_lifted *lifted, uint32_t insn) {
    uint32_t reference = lifted->insn_references[insn];
    assert_int_equal(lifted->insn_references[insn + 1], reference + 1);
    return &lifted->structure->groups[lifted->structure->references[reference].group];
}

static void expect_stride(const struct pm_group *group, uint32_t level, uint8_t kind,
                          int64_t bytes) {
    assert_true(level < group->n_strides);
    assert_int_equal(group->strides[level].kind, kind);
    if (kind == PM_STRIDE_CONSTANT)
        assert_int_equal(group->strides[level].bytes, bytes);
}

/* ---- operands alone -------------------------------------------------------------------------- */

/* for j: { r3 = r8; for i: { …r3[0], r3[1]; r9[r2]; *r10; r3 += 16; r2++ }; r8 += 800 } */
static struct pm_lifted *make_nest(void) {
    struct pm_lifted *lifted = new_program();
    put_step(lifted, 8, 7, 1, 0); /* block 0: entry */
    end_block(lifted);
    put_step(lifted, 3, 8, 1, 0);    /* insn 1, block 1: outer header */
    put_step(lifted, 2, NONE, 0, 0); /* 2 */
    end_block(lifted);
    put_access(lifted, PM_ACCESS_LOAD, 3, NONE, 0);  /* 3, block 2: inner loop */
    put_access(lifted, PM_ACCESS_STORE, 3, NONE, 8); /* 4 */
    put_access(lifted, PM_ACCESS_LOAD, 9, 2, 0);     /* 5 */
    put_load_to(lifted, 10, SP, NONE, 32);           /* 6: a spilled pointer … */
    put_access(lifted, PM_ACCESS_BOTH, 10, NONE, 0); /* 7: … used */
    put_load_to(lifted, 11, 3, NONE, 64);            /* 8: an index from memory … */
    put_access(lifted, PM_ACCESS_LOAD, 9, 11, 0);    /* 9: … used */
    put_step(lifted, 3, 3, 1, 16);                   /* 10 */
    put_step(lifted, 2, 2, 1, 1);                    /* 11 */
    end_block(lifted);
    put_step(lifted, 8, 8, 1, 800); /* 12, block 3: outer latch */
    end_block(lifted);
    put_access(lifted, PM_ACCESS_LOAD, 6, NONE, 0); /* 13, block 4: after the loops */
    put_access(lifted, PM_ACCESS_LOAD, 7, NONE, 0); /* 14 */
    end_block(lifted);
    *PM_PUSH(lifted->structure, edges) = (struct pm_edge){PM_NONE, 0, 0, PM_NONE, PM_EDGE_ENTRY, 1};
    put_edge(lifted, 0, 1);
    put_edge(lifted, 1, 2);
    put_edge(lifted, 2, 2);
    put_edge(lifted, 2, 3);
    put_edge(lifted, 3, 1);
    put_edge(lifted, 3, 4);
    put_edge(lifted, 4, PM_NONE);
    return lifted;
}

static void test_strides_from_code_alone(void **state) {
    (void)state;
    struct pm_lifted *lifted = make_nest();
    build(lifted);
    const struct pm_group *walk = group_at(lifted, 3);
    expect_stride(walk, 0, PM_STRIDE_CONSTANT, 16);
    expect_stride(walk, 1, PM_STRIDE_CONSTANT, 800);
    assert_int_equal(walk->n_strides, 2);
    const struct pm_group *indexed = group_at(lifted, 5);
    expect_stride(indexed, 0, PM_STRIDE_CONSTANT, 8);
    expect_stride(indexed, 1, PM_STRIDE_CONSTANT, 0);
    const struct pm_group *spill = group_at(lifted, 6);
    assert_int_equal(spill->flags, PM_GROUP_STACK);
    expect_stride(spill, 0, PM_STRIDE_CONSTANT, 0);
    expect_stride(group_at(lifted, 7), 0, PM_STRIDE_CONSTANT, 0);
    const struct pm_group *gathered = group_at(lifted, 9);
    expect_stride(gathered, 0, PM_STRIDE_INDIRECT, 0);
    assert_true(gathered->flags & PM_GROUP_IRREGULAR);
    free_program(lifted);
}

static void test_copies_of_an_unrolled_access_are_one_group(void **state) {
    (void)state;
    struct pm_lifted *lifted = make_nest();
    build(lifted);
    const struct pm_group *walk = group_at(lifted, 3);
    assert_ptr_equal(walk, group_at(lifted, 4)); /* another displacement, a store */
    assert_ptr_equal(walk, group_at(lifted, 8));
    assert_int_equal(walk->n_loads, 2);
    assert_int_equal(walk->n_stores, 1);
    assert_ptr_not_equal(walk, group_at(lifted, 5));
    assert_ptr_not_equal(walk, group_at(lifted, 7));
    assert_int_equal(lifted->structure->scopes[walk->scope].kind, PM_SCOPE_LOOP);
    assert_int_equal(lifted->structure->scopes[walk->scope].depth, 2);
    /* outside of loops what has no name is one group of the routine */
    assert_ptr_equal(group_at(lifted, 13), group_at(lifted, 14));
    assert_int_equal(group_at(lifted, 13)->n_strides, 0);
    assert_int_equal(lifted->structure->scopes[group_at(lifted, 13)->scope].kind, PM_SCOPE_ROUTINE);
    free_program(lifted);
}

static void test_conditional_increment_is_no_stride(void **state) {
    (void)state;
    struct pm_lifted *lifted = new_program();
    put_access(lifted, PM_ACCESS_LOAD, 3, NONE, 0); /* block 0: header */
    end_block(lifted);
    put_step(lifted, 3, 3, 1, 8); /* block 1: only sometimes */
    end_block(lifted);
    put_step(lifted, 2, 2, 1, 1); /* block 2: latch */
    end_block(lifted);
    *PM_PUSH(lifted->structure, edges) = (struct pm_edge){PM_NONE, 0, 0, PM_NONE, PM_EDGE_ENTRY, 1};
    put_edge(lifted, 0, 1);
    put_edge(lifted, 0, 2);
    put_edge(lifted, 1, 2);
    put_edge(lifted, 2, 0);
    put_edge(lifted, 2, PM_NONE);
    build(lifted);
    expect_stride(group_at(lifted, 0), 0, PM_STRIDE_UNKNOWN, 0);
    free_program(lifted);
}

/* ---- references and operations --------------------------------------------------------------- */

static void test_pushed_operands_are_groups_of_their_own(void **state) {
    (void)state;
    struct pm_lifted *lifted = new_program();
    struct pm_insn *insn = add_insn(lifted); /* push of a memory operand */
    insn->n_memory = 2;
    parts[lifted->n_insns - 1].memory[0] = (struct pm_memory_operand){
        .base = 3, .index = NONE, .access = PM_ACCESS_LOAD, .size_bytes = 8};
    parts[lifted->n_insns - 1].memory[1] = (struct pm_memory_operand){.displacement = -8,
                                                                      .base = SP,
                                                                      .index = NONE,
                                                                      .access = PM_ACCESS_STORE,
                                                                      .implicit = true,
                                                                      .size_bytes = 8};
    put_access(lifted, PM_ACCESS_STORE, SP, NONE, 16); /* a local variable beside it */
    end_block(lifted);
    for (uint32_t operand = 0; operand < 2; operand++)
        *PM_PUSH(lifted->structure, ops) =
            (struct pm_op){.instruction_start = operand == 0, .reference = operand};
    lifted->structure->blocks[0].n_ops = 2;
    *PM_PUSH(lifted->structure, edges) = (struct pm_edge){PM_NONE, 0, 0, PM_NONE, PM_EDGE_ENTRY, 1};
    build(lifted);
    assert_int_equal(lifted->structure->n_references, 3);
    assert_int_equal(lifted->structure->blocks[0].n_references, 3);
    assert_int_equal(lifted->structure->references[1].operand, 1);
    assert_int_equal(lifted->structure->ops[0].reference, 0);
    assert_int_equal(lifted->structure->ops[1].reference, 1);
    const struct pm_structure *structure = lifted->structure;
    assert_int_equal(structure->groups[structure->references[1].group].flags,
                     PM_GROUP_STACK | PM_GROUP_PUSHED);
    assert_int_equal(group_at(lifted, 1)->flags, PM_GROUP_STACK);
    free_program(lifted);
}

/* ---- the compiler's word --------------------------------------------------------------------- */

static void test_metadata_names_objects_and_loops(void **state) {
    (void)state;
    struct pm_lifted *lifted = make_nest();
    struct pm_metadata *m = lifted->metadata = pm_alloc(1, sizeof *m);
    *PM_PUSH(m, contributions) = (struct pm_contribution){
        .base = TEXT, .used = true, .n_loops = 2, .n_objects = 1, .n_references = 1, .n_blocks = 2};
    *PM_PUSH(m, loops) = (struct pm_metadata_loop){
        .number = 1, .depth = 1, .line = 10, .line_last = 15, .unroll = 1, .file = "heat.c"};
    *PM_PUSH(m, loops) = (struct pm_metadata_loop){.number = 2,
                                                   .parent = 1,
                                                   .depth = 2,
                                                   .line = 12,
                                                   .unroll = 2,
                                                   .flags = PM_LOOP_VECTORIZED,
                                                   .trip_count = "n"};
    *PM_PUSH(m, blocks) = (struct pm_metadata_block){TEXT + 4, 2, 1};
    *PM_PUSH(m, blocks) = (struct pm_metadata_block){TEXT + 12, 3, 2};
    *PM_PUSH(m, objects) = (struct pm_metadata_object){.number = 1, .name = "u", .type = "double"};
    *PM_PUSH(m, levels) = (struct pm_metadata_level){2, PM_STRIDE_CONSTANT, 16, NULL};
    *PM_PUSH(m, levels) = (struct pm_metadata_level){1, PM_STRIDE_SYMBOLIC, 0, "8*n"};
    *PM_PUSH(m, references) =
        (struct pm_metadata_reference){.number = 1, .loop = 2, .object = 1, .n_levels = 2};
    *PM_PUSH(m, memory) = (struct pm_metadata_memory){
        .address = TEXT + 12, .reference = 1, .loop = 2, .access = PM_ACCESS_LOAD};
    *PM_PUSH(m, memory) = (struct pm_metadata_memory){
        .address = TEXT + 24, .operand_class = PM_OPERAND_SPILL, .access = PM_ACCESS_LOAD};
    pm_metadata_index(m);
    build(lifted);
    const struct pm_structure *s = lifted->structure;
    const struct pm_group *group = group_at(lifted, 3);
    assert_string_equal(group->object, "u");
    assert_string_equal(group->object_type, "double");
    assert_int_equal(group->flags, PM_GROUP_FROM_COMPILER);
    expect_stride(group, 0, PM_STRIDE_CONSTANT, 16);
    expect_stride(group, 1, PM_STRIDE_SYMBOLIC, 0);
    assert_string_equal(group->strides[1].expression, "8*n");
    assert_int_equal(group_at(lifted, 6)->flags, PM_GROUP_FROM_COMPILER | PM_GROUP_STACK);
    assert_null(group_at(lifted, 5)->object);
    const struct pm_scope *inner = &s->scopes[group->scope];
    assert_int_equal(inner->flags, PM_SCOPE_FROM_COMPILER | PM_SCOPE_VECTOR_BODY);
    assert_int_equal(inner->line_first, 12);
    assert_int_equal(inner->unroll, 2);
    assert_string_equal(inner->trip_count, "n");
    assert_int_equal(s->scopes[inner->parent].line_last, 15);
    assert_string_equal(s->scopes[inner->parent].file, "heat.c");
    assert_true(s->routines[0].has_metadata && s->modules[0].has_metadata);
    assert_int_not_equal(inner->key, 0);
    free_program(lifted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strides_from_code_alone),
        cmocka_unit_test(test_copies_of_an_unrolled_access_are_one_group),
        cmocka_unit_test(test_conditional_increment_is_no_stride),
        cmocka_unit_test(test_pushed_operands_are_groups_of_their_own),
        cmocka_unit_test(test_metadata_names_objects_and_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
