/* Two builds side by side: what is taken for the same must be the same, and nothing else may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/matching/matching.h"

/* What a build has otherwise than the usual one. */
struct variant {
    bool no_inner;     /* the inner loop of `step` is gone: unrolled as a whole */
    bool extra_exit;   /* a second way out of the inner loop, to the same place */
    bool extra_branch; /* another basic block in the code around the inner loop */
    bool unrolled;     /* the inner loop's iterations do twice as much */
    bool renamed;      /* `step` has another name */
    bool other_type;   /* the group's references are of 4 bytes */
    bool two_groups;   /* one more group that looks like the other */
    uint64_t address;  /* where the text begins */
    int64_t row_bytes; /* the group's stride in the outer loop */
    uint8_t build;
};

static uint32_t add_scope(struct pm_structure *s, uint8_t kind, uint32_t parent, uint32_t routine,
                          const char *name, uint32_t line) {
    uint32_t index = (uint32_t)s->n_scopes;
    struct pm_scope *scope = PM_PUSH(s, scopes);
    *scope = (struct pm_scope){.kind = kind,
                               .parent = parent,
                               .routine = routine,
                               .header = PM_NONE,
                               .fold = index,
                               .name = name ? pm_strdup(name) : NULL,
                               .file = pm_strdup("/src/a.c"),
                               .line_first = line,
                               .line_last = line,
                               .unroll = 1};
    if (kind == PM_SCOPE_LOOP)
        scope->depth = s->scopes[parent].kind == PM_SCOPE_LOOP ? 2 : 1;
    return index;
}

static uint32_t add_block(struct pm_structure *s, uint32_t scope, uint32_t n_instructions) {
    *PM_PUSH(s, blocks) = (struct pm_block){
        .address = 0x1000 + 16 * s->n_blocks,
        .size_bytes = 16,
        .n_instructions = n_instructions,
        .scope = scope,
        .loop = s->scopes[scope].kind == PM_SCOPE_LOOP ? scope : PM_NONE,
        .first_reference = (uint32_t)s->n_references,
    };
    return (uint32_t)s->n_blocks - 1;
}

static void add_edge(struct pm_structure *s, uint32_t from, uint32_t to, uint8_t kind) {
    *PM_PUSH(s, edges) =
        (struct pm_edge){.from = from, .to = to, .counter = (uint32_t)s->n_edges, .kind = kind};
}

static uint32_t add_group(struct pm_structure *s, uint32_t scope, const char *object,
                          int64_t row_bytes, uint32_t bytes) {
    struct pm_group *group = PM_PUSH(s, groups);
    *group = (struct pm_group){.scope = scope,
                               .object = pm_strdup(object),
                               .n_loads = 1,
                               .bytes_min = bytes,
                               .bytes_max = bytes,
                               .n_strides = 2,
                               .strides = pm_alloc(2, sizeof(struct pm_stride))};
    group->strides[0] = (struct pm_stride){PM_STRIDE_CONSTANT, bytes, NULL};
    group->strides[1] = (struct pm_stride){PM_STRIDE_CONSTANT, row_bytes, NULL};
    return (uint32_t)s->n_groups - 1;
}

static void add_reference(struct pm_structure *s, uint32_t block, uint32_t group, uint32_t bytes) {
    *PM_PUSH(s, references) = (struct pm_reference){.block = block,
                                                    .group = group,
                                                    .size_bytes = bytes,
                                                    .access = PM_ACCESS_LOAD,
                                                    .recorded = true};
    s->blocks[block].n_references++;
}

/* Scopes of the usual build: 0 program, 1 module, 2 step, 3 outer loop, 4 inner loop, 5 its sibling
   after it.  Edges 0 … 9, in the order below. */
enum { STEP = 2, OUTER = 3, INNER = 4, LAST = 5, WIDE = 32 };

/* step() { for (i) { head; for (j) u[i][j], v[i][j]; tail; }  for (k) ; } */
static struct pm_structure *make(const struct variant *v) {
    struct pm_structure *s = pm_structure_new();
    s->isa = pm_strdup("x86-64");
    *PM_PUSH(s, modules) = (struct pm_module){.path = pm_strdup("./a"),
                                              .name = pm_strdup("a"),
                                              .build_id = {v->build},
                                              .build_id_bytes = v->build ? 20 : 0,
                                              .scope = 1};
    add_scope(s, PM_SCOPE_MODULE, 0, PM_NONE, "a", 0);
    const char *name = v->renamed ? "stride" : "step";
    *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup(name),
                                                .display_name = pm_strdup(name),
                                                .address = 0x1000 + v->address,
                                                .scope = STEP,
                                                .counted = true};
    uint32_t step = add_scope(s, PM_SCOPE_ROUTINE, 1, 0, name, 1);
    uint32_t outer = add_scope(s, PM_SCOPE_LOOP, step, 0, "i", 2);
    uint32_t inner = v->no_inner ? PM_NONE : add_scope(s, PM_SCOPE_LOOP, outer, 0, "j", 3);
    uint32_t last = add_scope(s, PM_SCOPE_LOOP, step, 0, "k", 5);
    uint32_t bytes = v->other_type ? 4 : 8;
    uint32_t entry = add_block(s, step, 2), head = add_block(s, outer, 3);
    uint32_t body = PM_NONE;
    if (!v->no_inner) {
        body = add_block(s, inner, v->unrolled ? 8 : 4);
        uint32_t of_u = add_group(s, inner, "u", v->row_bytes, bytes);
        uint32_t of_v = add_group(s, inner, "v", v->row_bytes, WIDE);
        for (int i = 0; i < (v->unrolled ? 2 : 1); i++) {
            add_reference(s, body, of_u, bytes);
            add_reference(s, body, of_v, WIDE);
        }
        if (v->two_groups)
            add_reference(s, body, add_group(s, inner, "u", v->row_bytes + 8, bytes), bytes);
    }
    uint32_t tail = add_block(s, outer, 2);
    uint32_t more = v->extra_branch ? add_block(s, outer, 2) : PM_NONE;
    uint32_t run = add_block(s, last, 3), end = add_block(s, step, 1);
    add_edge(s, PM_NONE, entry, PM_EDGE_ENTRY);
    add_edge(s, entry, head, PM_EDGE_FALLTHROUGH);
    add_edge(s, head, body == PM_NONE ? tail : body, PM_EDGE_FALLTHROUGH);
    if (v->extra_branch) {
        add_edge(s, head, more, PM_EDGE_TAKEN);
        add_edge(s, more, body == PM_NONE ? tail : body, PM_EDGE_TAKEN);
    }
    if (body != PM_NONE) {
        add_edge(s, body, body, PM_EDGE_TAKEN);
        add_edge(s, body, tail, PM_EDGE_FALLTHROUGH);
        if (v->extra_exit)
            add_edge(s, body, tail, PM_EDGE_TABLE);
    }
    add_edge(s, tail, head, PM_EDGE_TAKEN);
    add_edge(s, tail, run, PM_EDGE_FALLTHROUGH);
    add_edge(s, run, run, PM_EDGE_TAKEN);
    add_edge(s, run, end, PM_EDGE_FALLTHROUGH);
    add_edge(s, end, PM_NONE, PM_EDGE_EXIT);
    s->routines[0].n_blocks = (uint32_t)s->n_blocks;
    s->routines[0].n_edges = (uint32_t)s->n_edges;
    s->scopes[step].header = entry;
    s->scopes[outer].header = head;
    if (inner != PM_NONE)
        s->scopes[inner].header = body;
    s->scopes[last].header = run;
    pm_structure_assign_keys(s);
    return s;
}

static const struct variant usual = {.row_bytes = 512};

/* ---- what is the same ------------------------------------------------------------------------ */

/* Everything is the same in both. */
static bool match_is_whole(const struct pm_structure_match *match) {
    for (size_t i = 0; i < match->from->n_scopes; i++)
        if (match->own_from[i] != PM_MATCHES)
            return false;
    for (size_t i = 0; i < match->to->n_scopes; i++)
        if (match->own_to[i] != PM_MATCHES)
            return false;
    for (size_t i = 0; i < match->from->n_groups; i++)
        if (match->groups[i] == PM_NONE)
            return false;
    return true;
}

static void test_builds_at_other_addresses_are_the_same(void **state) {
    (void)state;
    struct pm_structure *a = make(&(struct variant){.address = 0x400, .row_bytes = 256});
    struct pm_structure *b = make(&usual);
    struct pm_structure_match *match = pm_structure_match(a, b);
    assert_true(match_is_whole(match));
    for (uint32_t e = 0; e < a->n_edges; e++)
        assert_int_equal(match->edges[e], e);
    assert_int_equal(match->groups[0], 0);
    assert_true(match->strides_vary[0]);
    pm_structure_match_free(match);
    match = pm_structure_match(b, b);
    assert_false(match->strides_vary[0]);
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

static void test_edges_in_another_order_are_the_same(void **state) {
    (void)state;
    struct pm_structure *a = make(&usual), *b = make(&usual);
    for (size_t e = 0; e < b->n_edges / 2; e++) {
        struct pm_edge edge = b->edges[e];
        b->edges[e] = b->edges[b->n_edges - 1 - e];
        b->edges[b->n_edges - 1 - e] = edge;
    }
    struct pm_structure_match *match = pm_structure_match(a, b);
    assert_true(match_is_whole(match));
    for (uint32_t e = 0; e < a->n_edges; e++)
        assert_int_equal(match->edges[e], a->n_edges - 1 - e);
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

static void test_a_build_with_the_same_id_is_the_same_whatever_its_names(void **state) {
    (void)state;
    struct pm_structure *a = make(&(struct variant){.build = 7, .renamed = true});
    struct pm_structure *b = make(&(struct variant){.build = 7});
    struct pm_structure_match *match = pm_structure_match(a, b);
    assert_int_equal(match->scopes[INNER], INNER);
    for (uint32_t e = 0; e < a->n_edges; e++)
        assert_int_equal(match->edges[e], e);
    assert_int_equal(match->groups[0], 0);
    assert_int_equal(match->own_to[STEP], PM_MATCHES);
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

/* ---- what is not ----------------------------------------------------------------------------- */

static void expect(const struct variant *from, const struct variant *to, uint8_t step,
                   uint8_t outer, uint8_t inner, uint8_t last) {
    struct pm_structure *a = make(from), *b = make(to);
    struct pm_structure_match *match = pm_structure_match(a, b);
    assert_int_equal(match->own_to[STEP], step);
    assert_int_equal(match->own_to[OUTER], outer);
    if (!to->no_inner) {
        assert_int_equal(match->own_to[INNER], inner);
        assert_int_equal(match->own_to[LAST], last);
    } else {
        assert_int_equal(match->own_to[INNER], last);
    }
    assert_false(match_is_whole(match));
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

static void test_a_loop_that_vanished_takes_along_what_was_around_it(void **state) {
    (void)state;
    struct variant without = {.no_inner = true};
    expect(&without, &usual, PM_MATCHES, PM_MISMATCH_FLOW, PM_MISMATCH_ABSENT, PM_MATCHES);
    expect(&usual, &without, PM_MATCHES, PM_MISMATCH_FLOW, 0, PM_MATCHES);
}

static void test_an_unrolled_loop_is_another(void **state) {
    (void)state;
    expect(&(struct variant){.unrolled = true, .row_bytes = 512}, &usual, PM_MATCHES, PM_MATCHES,
           PM_MISMATCH_BODY, PM_MATCHES);
}

static void test_a_loop_with_another_exit_is_another(void **state) {
    (void)state;
    expect(&(struct variant){.extra_exit = true, .row_bytes = 512}, &usual, PM_MATCHES, PM_MATCHES,
           PM_MISMATCH_FLOW, PM_MATCHES);
}

static void test_a_routine_of_another_name_is_another(void **state) {
    (void)state;
    expect(&(struct variant){.renamed = true}, &usual, PM_MISMATCH_ABSENT, PM_MISMATCH_ABSENT,
           PM_MISMATCH_ABSENT, PM_MISMATCH_ABSENT);
}

static void test_a_routine_that_is_not_counted_is_not_matched(void **state) {
    (void)state;
    struct pm_structure *a = make(&usual), *b = make(&usual);
    a->routines[0].counted = false;
    struct pm_structure_match *match = pm_structure_match(a, b);
    assert_int_equal(match->own_to[INNER], PM_MISMATCH_NOT_COUNTED);
    assert_int_equal(match->edges[0], PM_NONE);
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

/* u of FROM has no counterpart, v has. */
static void expect_lost_group(const struct variant *from) {
    struct pm_structure *a = make(from), *b = make(&usual);
    struct pm_structure_match *match = pm_structure_match(a, b);
    assert_int_equal(match->own_to[INNER], PM_MATCHES);
    assert_int_equal(match->groups[0], PM_NONE);
    assert_int_equal(match->groups[1], 1);
    assert_true(match->group_is_lost[0]);
    assert_false(match->group_is_lost[1]);
    assert_false(match_is_whole(match));
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

static void test_a_group_with_other_references_is_lost(void **state) {
    (void)state;
    expect_lost_group(&(struct variant){.other_type = true, .row_bytes = 512});
}

static void test_of_two_groups_that_look_alike_none_is_chosen(void **state) {
    (void)state;
    expect_lost_group(&(struct variant){.two_groups = true, .row_bytes = 512});
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Executions of each basic block, by the edges into it. */
static double executions(const struct pm_structure *s, const double *counts, uint32_t block) {
    double sum = 0;
    for (size_t e = 0; e < s->n_edges; e++)
        sum += s->edges[e].to == block ? counts[e] : 0;
    return sum;
}

static struct pm_profile *profile_of(const struct pm_structure *s, const double *counts) {
    struct pm_profile *profile = pm_alloc(1, sizeof *profile);
    profile->n_edges = s->n_edges;
    profile->edge_counts = pm_alloc(s->n_edges, sizeof *profile->edge_counts);
    memcpy(profile->edge_counts, counts, s->n_edges * sizeof *counts);
    return profile;
}

static void test_a_loop_keeps_its_iterations_where_the_code_around_it_differs(void **state) {
    (void)state;
    struct variant branch = {.extra_branch = true, .row_bytes = 512};
    struct pm_structure *a = make(&branch), *b = make(&usual);
    struct pm_structure_match *match = pm_structure_match(a, b);
    assert_int_equal(match->own_to[OUTER], PM_MISMATCH_FLOW);
    assert_int_equal(match->own_to[INNER], PM_MATCHES);
    /* entry, entry-head, head-body, head-more, more-body, body-body, body-tail, tail-head,
       tail-run, run-run, run-end, end: the inner loop is entered 4 + 6 times and runs 100 times. */
    const double counts[] = {1, 1, 4, 6, 6, 90, 10, 9, 1, 7, 1, 1};
    assert_int_equal(a->n_edges, sizeof counts / sizeof *counts);
    struct pm_profile *profile = profile_of(a, counts);
    struct pm_build_differences differences;
    pm_build_differences_list(match, profile->edge_counts, &differences);
    pm_match_profile(match, profile);
    assert_int_equal(profile->n_edges, b->n_edges);
    assert_true(executions(b, profile->edge_counts, b->scopes[INNER].header) == 100);
    assert_true(executions(b, profile->edge_counts, b->scopes[LAST].header) == 8);
    assert_true(profile->edge_counts[0] == 1);
    assert_true(profile->skipped[PM_SKIPPED_UNMATCHED].loads == 0);
    /* A run of the other build, with what is the same in both kept. */
    assert_true(pm_build_differences_mark(&differences, b, &(struct pm_error){0}));
    assert_true(b->scopes[OUTER].flags & PM_SCOPE_UNMATCHED);
    assert_false(pm_scope_is_counted(b, OUTER));
    assert_true(pm_scope_is_counted(b, INNER));
    const double full[] = {1, 1, 10, 90, 10, 9, 1, 7, 1, 1};
    assert_int_equal(b->n_edges, sizeof full / sizeof *full);
    struct pm_profile *kept = profile_of(b, full);
    pm_profile_keep_matched(kept, b);
    for (size_t e = 0; e < b->n_edges; e++)
        assert_true(kept->edge_counts[e] == profile->edge_counts[e]);
    pm_profile_free(kept);
    pm_profile_free(profile);
    pm_build_differences_free(&differences);
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

static void test_what_a_vanished_loop_accessed_is_counted_as_left_out(void **state) {
    (void)state;
    struct pm_structure *a = make(&usual), *b = make(&(struct variant){.no_inner = true});
    struct pm_structure_match *match = pm_structure_match(a, b);
    const double counts[] = {1, 1, 10, 90, 10, 9, 1, 7, 1, 1};
    struct pm_profile *profile = profile_of(a, counts);
    struct pm_build_differences differences;
    pm_build_differences_list(match, profile->edge_counts, &differences);
    assert_true(differences.accesses == 200);
    assert_string_equal(differences.rows[0].place, "step/2 a.c:3");
    assert_true(differences.rows[0].accesses == 200);
    assert_int_equal(differences.rows[0].index, PM_NONE);
    char *sentence = pm_build_differences_sentence(&differences);
    assert_non_null(strstr(sentence, "100% of the accesses are left out"));
    free(sentence);
    struct pm_streams streams = {0};
    struct pm_stream_histogram *histogram = PM_PUSH(&streams, histograms);
    histogram->histogram.block_bytes = 64;
    histogram->histogram.cold_loads = 100;
    pm_match_streams(match, &streams);
    assert_int_equal(streams.n_histograms, 0);
    pm_match_profile(match, profile);
    assert_true(profile->skipped[PM_SKIPPED_UNMATCHED].loads == 200);
    pm_streams_free(&streams);
    pm_profile_free(profile);
    pm_build_differences_free(&differences);
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

/* Unrolled otherwise, the loop is nevertheless the same in the source: its group gets what was
   measured, and stands for itself only. */
static void test_what_an_unrolled_loop_accessed_counts_by_its_source(void **state) {
    (void)state;
    struct pm_structure *a = make(&usual), *b = make(&(struct variant){.unrolled = true});
    struct pm_structure_match *match = pm_structure_match(a, b);
    const double counts[] = {1, 1, 10, 90, 10, 9, 1, 7, 1, 1};
    assert_int_equal(match->groups[0], PM_NONE);
    assert_int_equal(match->holders[0], 0);
    struct pm_build_differences differences;
    pm_build_differences_list(match, counts, &differences);
    assert_true(differences.lost == 0);
    char *sentence = pm_build_differences_sentence(&differences);
    assert_non_null(strstr(sentence, "100% of the accesses are in code that differs"));
    free(sentence);
    assert_true(pm_build_differences_mark(&differences, b, NULL));
    assert_int_equal(pm_group_holder(b, 0), 0);
    assert_true(b->groups[0].flags & PM_GROUP_JOINED);
    struct pm_build_work work;
    pm_build_work_measure(match->from, counts, match->to, match->holders, &work);
    assert_true(work.group_bytes[0] == 800); /* 100 accesses of 8 bytes */
    /* A base with as many iterations, each of which does twice as much. */
    bool differs[] = {[INNER] = true, [LAST] = false};
    double scaled[10] = {7};
    pm_build_work_scale(b, differs, counts, &work, scaled);
    assert_true(scaled[3] == 45);
    assert_true(scaled[0] == 7); /* of code that is the same, nothing changes */
    pm_build_work_free(&work);
    pm_build_differences_free(&differences);
    pm_structure_match_free(match);
    pm_structure_free(a);
    pm_structure_free(b);
}

/* Of those that are one the same group has the histograms, in whatever order they were joined. */
static void test_joined_groups_have_one_holder(void **state) {
    (void)state;
    static const uint32_t orders[][3][2] = {{{0, 1}, {1, 2}, {2, 2}}, {{1, 2}, {2, 0}, {1, 1}}};
    for (int order = 0; order < 2; order++) {
        struct pm_structure *s = make(&(struct variant){.two_groups = true});
        for (int i = 0; i < 3; i++)
            pm_groups_join(s, orders[order][i][0], orders[order][i][1]);
        for (uint32_t g = 0; g < 3; g++)
            assert_int_equal(pm_group_holder(s, g), 0);
        pm_structure_free(s);
    }
}

static void test_a_difference_in_what_is_not_there_is_refused(void **state) {
    (void)state;
    struct pm_structure *s = make(&usual);
    for (int kind = 0; kind < PM_N_DIFFERENT; kind++) {
        struct pm_error err = {0};
        struct pm_build_difference row = {.kind = (uint8_t)kind, .index = 1000};
        struct pm_build_differences differences = {.rows = &row, .n_rows = 1};
        assert_false(pm_build_differences_mark(&differences, s, &err));
        assert_non_null(strstr(err.text, "measure it again"));
    }
    pm_structure_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builds_at_other_addresses_are_the_same),
        cmocka_unit_test(test_edges_in_another_order_are_the_same),
        cmocka_unit_test(test_a_build_with_the_same_id_is_the_same_whatever_its_names),
        cmocka_unit_test(test_a_loop_that_vanished_takes_along_what_was_around_it),
        cmocka_unit_test(test_an_unrolled_loop_is_another),
        cmocka_unit_test(test_a_loop_with_another_exit_is_another),
        cmocka_unit_test(test_a_routine_of_another_name_is_another),
        cmocka_unit_test(test_a_routine_that_is_not_counted_is_not_matched),
        cmocka_unit_test(test_a_group_with_other_references_is_lost),
        cmocka_unit_test(test_of_two_groups_that_look_alike_none_is_chosen),
        cmocka_unit_test(test_a_loop_keeps_its_iterations_where_the_code_around_it_differs),
        cmocka_unit_test(test_what_a_vanished_loop_accessed_is_counted_as_left_out),
        cmocka_unit_test(test_what_an_unrolled_loop_accessed_counts_by_its_source),
        cmocka_unit_test(test_joined_groups_have_one_holder),
        cmocka_unit_test(test_a_difference_in_what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
