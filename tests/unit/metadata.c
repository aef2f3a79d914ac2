/* The reader of `.pmodel`: sections written by hand, and every kind of damage to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/lifted.h"
#include "binlift/metadata/metadata.h"

struct writer {
    PM_ARRAY(uint8_t, bytes);
};

static void put(struct writer *w, const void *data, size_t n) {
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(w, bytes) = ((const uint8_t *)data)[i];
}

static void put_u(struct writer *w, uint64_t value) {
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(w, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_s(struct writer *w, int64_t value) {
    for (;;) {
        uint8_t byte = value & 0x7f;
        value = (value - byte) / 128;
        bool last = (value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40));
        byte |= last ? 0 : 0x80;
        put(w, &byte, 1);
        if (last)
            return;
    }
}

#define PUT(w, ...)                                                                                \
    do {                                                                                           \
        const uint64_t fields[] = {__VA_ARGS__};                                                   \
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)                                \
            put_u(w, fields[f]);                                                                   \
    } while (0)

static void put_string(struct writer *w, const char *text) {
    put_u(w, PM_RECORD_STRING);
    put(w, text, strlen(text) + 1);
}

static void put_header(struct writer *w, uint16_t version, uint64_t base, uint64_t cold_base,
                       const struct writer *payload) {
    uint32_t magic = PM_SECTION_MAGIC, n = (uint32_t)payload->n_bytes;
    uint16_t flags = PM_SECTION_OPTIMIZED;
    put(w, &magic, 4);
    put(w, &version, 2);
    put(w, &flags, 2);
    put(w, &n, 4);
    put(w, &base, 8);
    put(w, &cold_base, 8);
    put(w, payload->bytes, payload->n_bytes);
}

/* One function with two loops, a gather through an index, a jump table and a call of exit. */
static struct writer make_payload(void) {
    struct writer w = {0};
    put_string(&w, "GNU C17 12.2.0"); /* 1 */
    put_string(&w, "-O3");            /* 2 */
    put_string(&w, "heat.c");         /* 3 */
    put_string(&w, "n - 2");          /* 4 */
    put_string(&w, "u");              /* 5 */
    put_string(&w, "double *");       /* 6 */
    put_string(&w, "u[i]");           /* 7 */
    put_string(&w, "n * 8");          /* 8 */
    put_string(&w, "");               /* 9 */
    put_string(&w, "?");              /* 10 */
    put_string(&w, "i");              /* 11 */
    PUT(&w, PM_RECORD_PRODUCER, 1, 2);
    PUT(&w, PM_RECORD_LOOP, 1, 0, 1, 3, 30, 35, 9, 1, PM_LOOP_ALIAS_KNOWN, 0);
    PUT(&w, PM_RECORD_LOOP, 2, 1, 2, 3, 31, 33, 4, 4, PM_LOOP_VECTORIZED | PM_LOOP_ALIAS_KNOWN, 11);
    PUT(&w, PM_RECORD_OBJECT, 1, 5, 6, PM_OBJECT_PARAMETER);
    PUT(&w, PM_RECORD_OBJECT, 2, 10, 0, PM_OBJECT_UNKNOWN);
    PUT(&w, PM_RECORD_REFERENCE, 1, 2, 1, PM_REFERENCE_STORE, 8, 7, 3, 32, 2);
    PUT(&w, 2, PM_STRIDE_CONSTANT);
    put_s(&w, -200);
    PUT(&w, 1, PM_STRIDE_SYMBOLIC, 8);
    PUT(&w, PM_RECORD_REFERENCE, 2, 2, 2, PM_REFERENCE_GATHER, 8, 0, 0, 0, 1);
    PUT(&w, 2, PM_STRIDE_INDIRECT);
    for (uint64_t load = 3; load <= 4; load++) {
        PUT(&w, PM_RECORD_REFERENCE, load, 2, 1, 0, 8, 7, 3, 32, 1);
        PUT(&w, 2, PM_STRIDE_UNKNOWN);
    }
    PUT(&w, PM_RECORD_MAY_ALIAS, 3, 1, 1);
    PUT(&w, PM_RECORD_BLOCK, 0, 0x10, 3, 2);
    PUT(&w, PM_RECORD_EDGE, 3, 3, 0);
    PUT(&w, PM_RECORD_MEMORY, 0, 0x18, 2, PM_OPERAND_SOURCE, PM_ACCESS_LOAD, 2);
    PUT(&w, PM_RECORD_MEMORY, 0, 0x14, 1, PM_OPERAND_SOURCE, PM_ACCESS_STORE, 2);
    PUT(&w, PM_RECORD_MEMORY, 0, 0x18, 0, PM_OPERAND_SPILL, PM_ACCESS_LOAD, 2);
    PUT(&w, PM_RECORD_JUMP_TABLE, 0, 0x40, 3, 0, 0x50, 0, 0x60, 1, 0x8);
    PUT(&w, PM_RECORD_NORETURN, 1, 0x4);
    return w;
}

static struct writer make_section(void) {
    struct writer payload = make_payload(), w = {0};
    put_header(&w, PM_SECTION_VERSION, 0x1000, 0x9000, &payload);
    put(&w, "\0\0\0", 3);
    put_header(&w, PM_SECTION_VERSION, 0, 0, &payload);           /* dropped by the linker */
    put_header(&w, PM_SECTION_VERSION, 0x1000, 0x9000, &payload); /* a duplicate */
    free(payload.bytes);
    return w;
}

/* Parses a copy that ends where an allocation ends, so that the sanitizer sees reads beyond. */
static struct pm_metadata *parse(const uint8_t *bytes, size_t n, struct pm_error *err,
                                 uint8_t **copy) {
    *copy = malloc(n ? n : 1);
    memcpy(*copy, bytes, n);
    struct pm_metadata *metadata = pm_alloc(1, sizeof *metadata);
    if (pm_metadata_parse(metadata, "prog", *copy, n, err)) {
        pm_metadata_index(metadata);
        return metadata;
    }
    pm_free_metadata(metadata);
    return NULL;
}

static void test_every_record_is_read(void **state) {
    (void)state;
    struct writer w = make_section();
    struct pm_error err = {0};
    uint8_t *copy;
    struct pm_metadata *m = parse(w.bytes, w.n_bytes, &err, &copy);
    assert_string_equal(err.text, "");
    assert_int_equal(m->n_contributions, 3);
    const struct pm_contribution *c = &m->contributions[0];
    assert_true(c->used && !m->contributions[1].used && !m->contributions[2].used);
    assert_string_equal(c->compiler, "GNU C17 12.2.0");
    const struct pm_metadata_loop *loop = pm_metadata_find_loop(m, c, 2);
    assert_int_equal(loop->parent, 1);
    assert_int_equal(loop->line, 31);
    assert_int_equal(loop->unroll, 4);
    assert_string_equal(loop->trip_count, "n - 2");
    assert_string_equal(loop->variable, "i");
    assert_null(pm_metadata_find_loop(m, c, 1)->trip_count);
    assert_null(pm_metadata_find_loop(m, c, 1)->variable);
    assert_null(pm_metadata_find_loop(m, c, 3));
    const struct pm_metadata_reference *reference = pm_metadata_find_reference(m, c, 1);
    assert_int_equal(reference->n_levels, 2);
    assert_int_equal(m->levels[reference->first_level].bytes, -200);
    assert_string_equal(m->levels[reference->first_level + 1].expression, "n * 8");
    assert_null(pm_metadata_find_object(m, c, 2)->name);
    assert_int_equal(m->blocks[c->first_block].address, 0x1010);
    /* the duplicate's and the dropped code's operands are not there */
    size_t n;
    assert_int_equal(m->n_memory, 3);
    assert_int_equal(pm_metadata_memory_at(m, 0x1014, &n)->reference, 1);
    assert_int_equal(n, 1);
    const struct pm_metadata_memory *memory = pm_metadata_memory_at(m, 0x1018, &n);
    assert_int_equal(n, 2);
    assert_int_equal(memory[0].reference, 2);
    assert_int_equal(memory[1].operand_class, PM_OPERAND_SPILL);
    pm_metadata_memory_at(m, 0x1019, &n);
    assert_int_equal(n, 0);
    pm_free_metadata(m);
    free(copy);
    free(w.bytes);
}

static void test_pairs_of_references_are_told_apart(void **state) {
    (void)state;
    struct writer w = make_section();
    uint8_t *copy;
    struct pm_metadata *m = parse(w.bytes, w.n_bytes, NULL, &copy);
    const struct pm_contribution *c = &m->contributions[0];
    assert_int_equal(pm_metadata_may_alias(m, c, 2, 1, 3), PM_ALIAS_MAY);
    assert_int_equal(pm_metadata_may_alias(m, c, 2, 3, 1), PM_ALIAS_MAY);
    assert_int_equal(pm_metadata_may_alias(m, c, 2, 1, 4), PM_ALIAS_INDEPENDENT);
    assert_int_equal(pm_metadata_may_alias(m, c, 2, 3, 4), PM_ALIAS_UNKNOWN); /* two loads */
    assert_int_equal(pm_metadata_may_alias(m, c, 2, 1, 1), PM_ALIAS_UNKNOWN);
    assert_int_equal(pm_metadata_may_alias(m, c, 1, 1, 4), PM_ALIAS_UNKNOWN); /* other loop */
    assert_int_equal(pm_metadata_may_alias(m, c, 2, 1, 9), PM_ALIAS_UNKNOWN);
    m->loops[c->first_loop + 1].flags &= ~(uint32_t)PM_LOOP_ALIAS_KNOWN;
    assert_int_equal(pm_metadata_may_alias(m, c, 2, 1, 4), PM_ALIAS_UNKNOWN);
    pm_free_metadata(m);
    free(copy);
    free(w.bytes);
}

static void test_the_cfg_gets_its_answers(void **state) {
    (void)state;
    struct writer w = make_section();
    uint8_t *copy;
    struct pm_lifted lifted = {.metadata = parse(w.bytes, w.n_bytes, NULL, &copy)};
    const uint64_t *targets;
    size_t n;
    assert_true(pm_metadata_no_return(&lifted, 0x9004));
    assert_false(pm_metadata_no_return(&lifted, 0x1004));
    assert_true(pm_metadata_table(&lifted, 0x1040, &targets, &n));
    assert_int_equal(n, 3);
    assert_int_equal(targets[1], 0x1060);
    assert_int_equal(targets[2], 0x9008);
    assert_false(pm_metadata_table(&lifted, 0x40, &targets, &n)); /* of the dropped code */
    pm_free_metadata(lifted.metadata);
    lifted.metadata = NULL;
    assert_false(pm_metadata_no_return(&lifted, 0x9004));
    assert_false(pm_metadata_table(&lifted, 0x1040, &targets, &n));
    free(copy);
    free(w.bytes);
}

static void expect_refusal(struct writer *w, const char *pattern) {
    struct pm_error err = {0};
    uint8_t *copy;
    assert_null(parse(w->bytes, w->n_bytes, &err, &copy));
    assert_int_equal(err.kind, PM_ERROR_INPUT);
    assert_non_null(strstr(err.text, "prog"));
    if (!strstr(err.text, pattern))
        fail_msg("\"%s\" does not say \"%s\"", err.text, pattern);
    free(copy);
    free(w->bytes);
    *w = (struct writer){0};
}

static void test_other_versions_say_rebuild(void **state) {
    (void)state;
    struct writer payload = {0}, w = {0};
    put_header(&w, PM_SECTION_VERSION + 1, 0x1000, 0, &payload);
    expect_refusal(&w, "rebuild the program with this pmodel's plugin");
}

static void test_nonsense_is_named(void **state) {
    (void)state;
    static const struct {
        const char *says;
        uint8_t record[12];
        size_t n;
    } cases[] = {
        {"unknown kind", {77}, 1},
        {"string has no end", {PM_RECORD_STRING, 'a', 'b'}, 3},
        {"before the string", {PM_RECORD_PRODUCER, 1, 0}, 3},
        {"beyond its contribution", {PM_RECORD_LOOP, 1, 0}, 3},
        {"too large", {PM_RECORD_EDGE, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0, 0}, 9},
        {"hot nor in its cold", {PM_RECORD_NORETURN, 1, 4}, 3},
        {"hot nor in its cold", {PM_RECORD_NORETURN, 2, 4}, 3},
        {"operand is of an unknown kind", {PM_RECORD_MEMORY, 0, 1, 0, 0, 0, 0}, 7},
        {"operand is of an unknown kind", {PM_RECORD_MEMORY, 0, 1, 0, 99, 1, 0}, 7},
        {"object is not there", {PM_RECORD_REFERENCE, 1, 0, 5, 0, 0, 0, 0, 0, 0}, 10},
        {"parent is not there", {PM_RECORD_LOOP, 1, 9, 1, 0, 0, 0, 0, 1, 0, 0}, 11},
        {"not of two references", {PM_RECORD_MAY_ALIAS, 1, 1, 2}, 4},
        {"objects have the same number", {PM_RECORD_OBJECT, 1, 0, 0, 0, PM_RECORD_OBJECT, 1}, 12},
        {"stride is of an unknown kind",
         {PM_RECORD_REFERENCE, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 9},
         12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writer payload = {0}, w = {0};
        put(&payload, cases[i].record, cases[i].n);
        if (strstr(cases[i].says, "objects")) /* two records, without the padding */
            payload.n_bytes = 10;
        put_header(&w, PM_SECTION_VERSION, 0x1000, 0, &payload);
        expect_refusal(&w, cases[i].says);
        free(payload.bytes);
    }
}

static void test_damage_never_crashes(void **state) {
    (void)state;
    struct writer w = make_section();
    size_t n_refused = 0;
    for (size_t at = 0; at < w.n_bytes; at++)
        for (int flip = 1; flip < 256; flip++) {
            uint8_t *copy;
            w.bytes[at] ^= (uint8_t)flip;
            struct pm_metadata *m = parse(w.bytes, w.n_bytes, NULL, &copy);
            n_refused += m == NULL;
            pm_free_metadata(m);
            free(copy);
            w.bytes[at] ^= (uint8_t)flip;
        }
    assert_true(n_refused > w.n_bytes);
    struct writer payload = make_payload();
    size_t first = PM_SECTION_HEADER_BYTES + payload.n_bytes;
    for (size_t length = 1; length < first; length++) {
        uint8_t *copy;
        struct pm_error err = {0};
        assert_null(parse(w.bytes, length, &err, &copy));
        assert_non_null(strstr(err.text, "damaged at offset"));
        free(copy);
    }
    free(payload.bytes);
    free(w.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_record_is_read),
        cmocka_unit_test(test_pairs_of_references_are_told_apart),
        cmocka_unit_test(test_the_cfg_gets_its_answers),
        cmocka_unit_test(test_other_versions_say_rebuild),
        cmocka_unit_test(test_nonsense_is_named),
        cmocka_unit_test(test_damage_never_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
