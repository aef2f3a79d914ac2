/* The structure's bytes, keys and hash: what a store loses or a damaged store breaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "core/structure/private.h"

/* One module with two routines; the second has a loop of one basic block with one group. */
static struct pm_structure *make_example(void) {
    struct pm_structure *s = pm_structure_new();
    s->isa = pm_strdup("x86-64");
    s->n_counters = 2;
    *PM_PUSH(s, modules) = (struct pm_module){.path = pm_strdup("./heat"),
                                              .name = pm_strdup("heat"),
                                              .build_id = {1, 2, 3},
                                              .build_id_bytes = 20,
                                              .has_lines = true,
                                              .scope = 1,
                                              .text_bytes = 4096};
    *PM_PUSH(s, scopes) = (struct pm_scope){.kind = PM_SCOPE_MODULE,
                                            .routine = PM_NONE,
                                            .header = PM_NONE,
                                            .fold = 1,
                                            .name = pm_strdup("heat"),
                                            .unroll = 1};
    for (uint32_t r = 0; r < 2; r++) {
        *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup(r ? "_Z4stepi" : "main"),
                                                    .display_name = pm_strdup(r ? "step" : "main"),
                                                    .address = 0x401000 + 0x100 * r,
                                                    .size_bytes = 0x40,
                                                    .scope = 2 + r,
                                                    .first_part = r,
                                                    .n_parts = 1,
                                                    .first_block = r,
                                                    .n_blocks = 1,
                                                    .first_edge = 2 * r,
                                                    .n_edges = r ? 3 : 2,
                                                    .counted = true};
        *PM_PUSH(s, parts) = (struct pm_part){0x401000 + 0x100 * r, 0x40, r};
        *PM_PUSH(s, scopes) = (struct pm_scope){.kind = PM_SCOPE_ROUTINE,
                                                .parent = 1,
                                                .routine = r,
                                                .header = r,
                                                .fold = 2 + r,
                                                .name = pm_strdup(r ? "step" : "main"),
                                                .file = pm_strdup("/src/heat.c"),
                                                .line_first = 10 + 20 * r,
                                                .unroll = 1};
        *PM_PUSH(s, blocks) = (struct pm_block){.address = 0x401000 + 0x100 * r,
                                                .size_bytes = 0x40,
                                                .n_instructions = 3,
                                                .routine = r,
                                                .scope = r ? 4 : 2,
                                                .loop = r ? 4 : PM_NONE,
                                                .n_ops = r,
                                                .n_references = r};
        *PM_PUSH(s, edges) = (struct pm_edge){PM_NONE, r, r, 0, PM_EDGE_ENTRY, 1.0};
        if (r)
            *PM_PUSH(s, edges) = (struct pm_edge){r, r, r, 1, PM_EDGE_TAKEN, 9.5};
        *PM_PUSH(s, edges) = (struct pm_edge){r, PM_NONE, r, PM_NONE, PM_EDGE_EXIT, 1.0};
    }
    *PM_PUSH(s, scopes) = (struct pm_scope){.kind = PM_SCOPE_LOOP,
                                            .depth = 1,
                                            .flags = PM_SCOPE_FROM_COMPILER,
                                            .parent = 3,
                                            .routine = 1,
                                            .header = 1,
                                            .fold = 4,
                                            .file = pm_strdup("/src/heat.c"),
                                            .line_first = 31,
                                            .line_last = 33,
                                            .trip_count = pm_strdup("n - 1"),
                                            .unroll = 4};
    *PM_PUSH(s, references) = (struct pm_reference){
        .address = 0x401108, .block = 1, .size_bytes = 8, .access = PM_ACCESS_LOAD};
    struct pm_group *group = PM_PUSH(s, groups);
    *group = (struct pm_group){.scope = 4,
                               .object = pm_strdup("u"),
                               .object_type = pm_strdup("double *"),
                               .flags = PM_GROUP_FROM_COMPILER,
                               .n_strides = 2,
                               .strides = pm_alloc(2, sizeof(struct pm_stride)),
                               .n_loads = 1,
                               .bytes_min = 8,
                               .bytes_max = 8};
    group->strides[0] = (struct pm_stride){PM_STRIDE_CONSTANT, -8, NULL};
    group->strides[1] = (struct pm_stride){PM_STRIDE_SYMBOLIC, 0, pm_strdup("n * 8")};
    *PM_PUSH(s, ops) = (struct pm_op){.op_class = PM_OP_LOAD_FP,
                                      .element_bytes = 8,
                                      .width_bits = 64,
                                      .defs = {40, PM_REGISTER_NONE},
                                      .uses = {0, 1, PM_REGISTER_NONE, PM_REGISTER_NONE, 127},
                                      .instruction_start = 1};
    *PM_PUSH(s, dependences) = (struct pm_dependence){4, 0, 0, 3, PM_DEPENDS_SAME};
    pm_structure_assign_keys(s);
    s->hash = pm_structure_hash(s);
    return s;
}

static void test_round_trip_keeps_every_field(void **state) {
    (void)state;
    struct pm_structure *s = make_example();
    void *bytes, *again;
    size_t n_bytes, n_again;
    pm_structure_encode(s, &bytes, &n_bytes);
    struct pm_error err = {0};
    struct pm_structure *t = pm_structure_decode(bytes, n_bytes, &err);
    assert_string_equal(err.text, "");
    assert_non_null(t);
    assert_int_equal(t->hash, pm_structure_hash(t));
    assert_int_equal(t->n_scopes, 5);
    assert_int_equal(t->scopes[4].key, s->scopes[4].key);
    assert_string_equal(t->scopes[4].trip_count, "n - 1");
    assert_null(t->scopes[4].name);
    assert_int_equal(t->scopes[1].header, PM_NONE);
    assert_int_equal(t->groups[0].strides[0].bytes, -8);
    assert_string_equal(t->groups[0].strides[1].expression, "n * 8");
    assert_memory_equal(t->blocks, s->blocks, 2 * sizeof *s->blocks);
    assert_memory_equal(t->ops, s->ops, sizeof *s->ops);
    assert_memory_equal(t->dependences, s->dependences, sizeof *s->dependences);
    assert_true(t->edges[3].weight == 9.5);
    pm_structure_encode(t, &again, &n_again);
    assert_int_equal(n_again, n_bytes);
    assert_memory_equal(again, bytes, n_bytes);
    free(bytes);
    free(again);
    pm_structure_free(s);
    pm_structure_free(t);
}

static void test_damaged_bytes_are_refused(void **state) {
    (void)state;
    struct pm_structure *s = make_example();
    uint8_t *bytes;
    size_t n_bytes;
    pm_structure_encode(s, (void **)&bytes, &n_bytes);
    for (size_t at = 0; at < n_bytes; at++)
        for (int flip = 1; flip < 256; flip++) {
            struct pm_error err = {0};
            bytes[at] ^= (uint8_t)flip;
            assert_null(pm_structure_decode(bytes, n_bytes, &err));
            assert_int_equal(err.kind, PM_ERROR_INPUT);
            bytes[at] ^= (uint8_t)flip;
        }
    for (size_t length = 0; length < n_bytes; length++) {
        uint8_t *cut = malloc(length ? length : 1); /* so that the sanitizer knows its end */
        memcpy(cut, bytes, length);
        assert_null(pm_structure_decode(cut, length, NULL));
        free(cut);
    }
    free(bytes);
    pm_structure_free(s);
}

/* Bytes with CONTENTS behind a header that fits them, as core/structure/bytes.c lays them out. */
static uint8_t *seal(const uint8_t *contents, size_t n_contents, size_t *n_bytes) {
    enum { HEADER = 24 };
    uint8_t *bytes = pm_alloc(HEADER + ZSTD_compressBound(n_contents), 1);
    size_t packed =
        ZSTD_compress(bytes + HEADER, ZSTD_compressBound(n_contents), contents, n_contents, 1);
    uint32_t words[2] = {0x53444d50, PM_STRUCTURE_VERSION};
    uint64_t sums[2] = {n_contents, XXH3_64bits_withSeed(bytes + HEADER, packed, n_contents)};
    memcpy(bytes, words, sizeof words);
    memcpy(bytes + sizeof words, sums, sizeof sums);
    *n_bytes = HEADER + packed;
    return bytes;
}

static void test_damage_behind_a_right_checksum_never_crashes(void **state) {
    (void)state;
    struct pm_structure *s = make_example();
    uint8_t *bytes, contents[4096];
    size_t n_bytes, n_refused = 0, n_sealed;
    pm_structure_encode(s, (void **)&bytes, &n_bytes);
    size_t n = ZSTD_decompress(contents, sizeof contents, bytes + 24, n_bytes - 24);
    assert_false(ZSTD_isError(n));
    uint8_t *sealed = seal(contents, n, &n_sealed);
    struct pm_structure *same = pm_structure_decode(sealed, n_sealed, NULL);
    assert_non_null(same); /* so the layout above is the real one */
    pm_structure_free(same);
    free(sealed);
    static const uint8_t flips[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff, 0x7f};
    for (size_t at = 0; at < n; at++)
        for (size_t f = 0; f < sizeof flips; f++) {
            contents[at] ^= flips[f];
            sealed = seal(contents, n, &n_sealed);
            struct pm_structure *t = pm_structure_decode(sealed, n_sealed, NULL);
            n_refused += t == NULL;
            pm_structure_free(t);
            free(sealed);
            contents[at] ^= flips[f];
        }
    assert_true(n_refused > n); /* most damage is seen; the rest changes plain numbers */
    for (size_t length = 0; length < n; length++) {
        sealed = seal(contents, length, &n_sealed);
        assert_null(pm_structure_decode(sealed, n_sealed, NULL));
        free(sealed);
    }
    free(bytes);
    pm_structure_free(s);
}

/* A structure whose checksum is right but whose contents are not: as from a faulty writer. */
static void expect_refusal(struct pm_structure *s, const char *pattern) {
    void *bytes;
    size_t n_bytes;
    struct pm_error err = {0};
    pm_structure_encode(s, &bytes, &n_bytes);
    assert_null(pm_structure_decode(bytes, n_bytes, &err));
    assert_non_null(strstr(err.text, pattern));
    free(bytes);
    pm_structure_free(s);
}

static void test_wrong_indices_are_refused(void **state) {
    (void)state;
#define WRONG(pattern, change)                                                                     \
    do {                                                                                           \
        struct pm_structure *s = make_example();                                                   \
        change;                                                                                    \
        expect_refusal(s, pattern);                                                                \
    } while (0)
    WRONG("scope 4", s->scopes[4].parent = 4);
    WRONG("scope 3", s->scopes[3].header = 2);
    WRONG("scope 3", s->scopes[3].fold = 4);
    WRONG("scope 2", s->scopes[2].kind = PM_SCOPE_PROGRAM);
    WRONG("module 0", s->modules[0].scope = 5);
    WRONG("module 0", s->modules[0].build_id_bytes = 21);
    WRONG("routine 1", s->routines[1].n_blocks = 2);
    WRONG("routine 1", s->routines[1].first_edge = UINT32_MAX);
    WRONG("routine 1", s->routines[1].module = PM_NONE);
    WRONG("routine 1", s->routines[1].n_parts = 2);
    WRONG("part 1", s->parts[1].routine = 0);
    WRONG("basic block 0", s->routines[1].first_block = 0);
    WRONG("basic block 1", s->blocks[1].loop = 3);
    WRONG("basic block 1", s->blocks[1].n_ops = 2);
    WRONG("basic block 1", s->blocks[1].n_references = UINT32_MAX);
    WRONG("edge 2", s->edges[2].to = 0);
    WRONG("edge 3", s->edges[3].counter = 2);
    WRONG("edge 3", s->edges[3].weight = 1e308 * 10);
    WRONG("reference 0", s->references[0].group = 1);
    WRONG("reference 0", s->references[0].access = 4);
    WRONG("reference group 0", s->groups[0].strides[1].kind = 9);
    WRONG("operation 0", s->ops[0].op_class = PM_N_OP_CLASSES);
    WRONG("operation 0", s->ops[0].uses[4] = 128);
    WRONG("operation 0", s->ops[0].reference = 1);
    WRONG("dependence 0", s->dependences[0].kind = 3);
    WRONG("dependence 0", s->dependences[0].to = PM_NONE);
    WRONG("dependence 0", s->dependences[0].scope = 0);
}

static void test_keys_survive_moves_and_tell_siblings_apart(void **state) {
    (void)state;
    struct pm_structure *s = make_example(), *t = make_example();
    /* Another address, another path, another order of routines: the same keys. */
    struct pm_scope *scope = &t->scopes[4];
    scope->address_low = 99;
    free(scope->file);
    scope->file = pm_strdup("/other/place/heat.c");
    struct pm_scope swapped = t->scopes[2];
    t->scopes[2] = t->scopes[3];
    t->scopes[3] = swapped;
    scope->parent = 2;
    pm_structure_assign_keys(t);
    assert_int_equal(t->scopes[4].key, s->scopes[4].key);
    assert_int_equal(t->scopes[2].key, s->scopes[3].key);
    /* A second loop at the same line is told apart by its place among its siblings. */
    struct pm_scope *twin = PM_PUSH(s, scopes);
    *twin = (struct pm_scope){.kind = PM_SCOPE_LOOP,
                              .parent = 3,
                              .fold = 5,
                              .file = pm_strdup("/src/heat.c"),
                              .line_first = 31,
                              .header = PM_NONE};
    uint64_t before = s->scopes[4].key;
    pm_structure_assign_keys(s);
    assert_int_equal(s->scopes[4].key, before);
    for (size_t i = 0; i < s->n_scopes; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(s->scopes[i].key, s->scopes[j].key);
    pm_structure_free(s);
    pm_structure_free(t);
}

static void test_hash_sees_what_measurements_depend_on(void **state) {
    (void)state;
    struct pm_structure *s = make_example();
    uint64_t hash = pm_structure_hash(s);
    s->references[0].recorded = true; /* a choice of one instrumented copy, not of the program */
    s->routines[0].counted = false;
    assert_int_equal(pm_structure_hash(s), hash);
#define SEES(place, value)                                                                         \
    do {                                                                                           \
        __typeof__(place) old = place;                                                             \
        place = (value);                                                                           \
        assert_int_not_equal(pm_structure_hash(s), hash);                                          \
        place = old;                                                                               \
    } while (0)
    SEES(s->modules[0].build_id[0], 7);
    SEES(s->blocks[1].size_bytes, 7);
    SEES(s->references[0].size_bytes, 4);
    SEES(s->groups[0].scope, 3);
#undef SEES
    uint64_t placement = pm_placement_hash(s);
    s->edges[2].counter = 1; /* another choice of the edges that are counted */
    assert_int_equal(pm_structure_hash(s), hash);
    assert_int_not_equal(pm_placement_hash(s), placement);
    pm_structure_free(s);
}

/* The example as a library called NAME, behind the example. */
static struct pm_structure *make_pair(const char *name, struct pm_module_place *place) {
    struct pm_structure *s = make_example(), *library = make_example();
    struct pm_error err = {0};
    free(library->modules[0].name);
    free(library->scopes[1].name);
    library->modules[0].name = pm_strdup(name);
    library->scopes[1].name = pm_strdup(name);
    library->modules[0].build_id[0] = 9;
    uint64_t placement = pm_placement_hash(library);
    assert_true(pm_structure_append(s, library, place, &err));
    assert_true(place->placement_hash == placement);
    pm_structure_free(library);
    pm_structure_assign_keys(s);
    return s;
}

static void test_a_library_stands_behind_the_program(void **state) {
    (void)state;
    struct pm_module_place place;
    struct pm_error err = {0};
    struct pm_structure *alone = make_example(), *s = make_pair("libheat.so.2", &place);
    assert_int_equal(place.module, 1);
    assert_int_equal(place.first_counter, 2);
    assert_int_equal(place.first_group, 1);
    assert_int_equal(s->n_counters, 4);
    assert_int_equal(s->n_scopes, 9);
    for (uint32_t i = 1; i < alone->n_scopes; i++) { /* each scope twice, below one program */
        const struct pm_scope *of_program = &s->scopes[i],
                              *of_library = &s->scopes[place.first_scope + i];
        assert_int_equal(of_library->kind, of_program->kind);
        assert_int_equal(of_library->line_first, of_program->line_first);
        assert_true(of_program->key == alone->scopes[i].key);
        for (uint32_t k = 0; k < place.first_scope + i; k++)
            assert_true(s->scopes[k].key != of_library->key);
    }
    assert_int_equal(s->scopes[place.first_scope + 1].parent, 0);
    assert_int_equal(s->blocks[3].loop, place.first_scope + 4);
    assert_int_equal(s->blocks[3].first_reference, 1);
    assert_int_equal(s->references[1].group, 1);
    assert_int_equal(s->edges[5 + 3].counter, 3);
    assert_int_equal(s->edges[5 + 3].from, 3);
    assert_int_equal(s->edges[5].from, PM_NONE);
    assert_int_equal(s->routines[3].module, 1);
    assert_string_equal(s->groups[1].object, "u");
    void *bytes;
    size_t n_bytes;
    pm_structure_encode(s, &bytes, &n_bytes);
    struct pm_structure *t = pm_structure_decode(bytes, n_bytes, &err); /* checks all indices */
    assert_string_equal(err.text, "");
    assert_true(pm_structure_hash(t) == pm_structure_hash(s));
    free(bytes);
    pm_structure_free(t);
    pm_structure_free(s);
    pm_structure_free(alone);
}

static void test_a_later_version_of_a_library_has_the_same_keys(void **state) {
    (void)state;
    struct pm_module_place place;
    struct pm_structure *s = make_pair("libheat.so.2", &place),
                        *later = make_pair("libheat.so.3", &place),
                        *other = make_pair("libcold.so.2", &place);
    for (uint32_t i = 1; i < 5; i++) {
        assert_true(s->scopes[place.first_scope + i].key ==
                    later->scopes[place.first_scope + i].key);
        assert_true(s->scopes[place.first_scope + i].key !=
                    other->scopes[place.first_scope + i].key);
    }
    pm_structure_free(s);
    pm_structure_free(later);
    pm_structure_free(other);
}

static void test_a_module_of_another_processor_is_refused(void **state) {
    (void)state;
    struct pm_module_place place;
    struct pm_error err = {0};
    struct pm_structure *s = make_example(), *library = make_example();
    free(library->isa);
    library->isa = pm_strdup("aarch64");
    assert_false(pm_structure_append(s, library, &place, &err));
    assert_non_null(strstr(err.text, "heat is for aarch64"));
    assert_int_equal(s->n_modules, 1);
    pm_structure_free(library);
    pm_structure_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_keeps_every_field),
        cmocka_unit_test(test_damaged_bytes_are_refused),
        cmocka_unit_test(test_damage_behind_a_right_checksum_never_crashes),
        cmocka_unit_test(test_wrong_indices_are_refused),
        cmocka_unit_test(test_keys_survive_moves_and_tell_siblings_apart),
        cmocka_unit_test(test_hash_sees_what_measurements_depend_on),
        cmocka_unit_test(test_a_library_stands_behind_the_program),
        cmocka_unit_test(test_a_later_version_of_a_library_has_the_same_keys),
        cmocka_unit_test(test_a_module_of_another_processor_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
