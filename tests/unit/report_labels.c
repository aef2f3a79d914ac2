/* Rows that look the same are told apart: by where the code was inlined, else by its address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/labels/labels.h"

/* In `cg` of cg.c, axpy inlined on lines 10, 20 and twice on 30, once within `twice`, which was
   inlined on line 40; each with a loop. */
static const uint32_t call_lines[] = {10, 20, 30, 30, 40};
enum { CG = 1, FIRST = 2, N_CALLS = sizeof call_lines / sizeof *call_lines };

static uint32_t add_scope(struct pm_structure *s, uint8_t kind, uint32_t parent, const char *name,
                          uint32_t call_line) {
    struct pm_scope *scope = PM_PUSH(s, scopes);
    *scope = (struct pm_scope){.kind = kind, .parent = parent, .depth = kind == PM_SCOPE_LOOP};
    scope->fold = (uint32_t)s->n_scopes - 1;
    scope->name = pm_strdup(name);
    scope->file = pm_strdup("/home/me/axpy.c");
    scope->line_first = 5;
    scope->call_file = call_line ? pm_strdup("/home/me/cg.c") : NULL;
    scope->call_file_line = call_line;
    scope->address_low = 0x1000 + 0x10 * scope->fold;
    return scope->fold;
}

struct example {
    struct pm_structure *structure;
    uint32_t loops[N_CALLS];
};

static struct example make(void) {
    struct example e = {.structure = pm_structure_new()};
    struct pm_structure *s = e.structure;
    struct pm_routine *routine = PM_PUSH(s, routines);
    *routine = (struct pm_routine){.name = pm_strdup("cg"), .display_name = pm_strdup("cg")};
    routine->scope = add_scope(s, PM_SCOPE_ROUTINE, 0, "cg", 0);
    for (size_t i = 0; i < N_CALLS; i++) {
        uint32_t in = CG;
        if (call_lines[i] == 40)
            in = add_scope(s, PM_SCOPE_INLINED, CG, "twice", 40);
        in = add_scope(s, PM_SCOPE_INLINED, in, "axpy", call_lines[i] == 40 ? 10 : call_lines[i]);
        e.loops[i] = add_scope(s, PM_SCOPE_LOOP, in, "i", 0);
    }
    return e;
}

/* What loop number LOOPS[i] is called beside the others; the caller frees. */
static void call(const struct example *e, const size_t *loops, size_t n, char **texts) {
    struct pm_shown_label labels[N_CALLS];
    for (size_t i = 0; i < n; i++) {
        texts[i] = pm_scope_label(e->structure, e->loops[loops[i]]);
        labels[i] = (struct pm_shown_label){&texts[i], e->loops[loops[i]]};
    }
    pm_tell_labels_apart(e->structure, labels, n);
}

static void expect(const size_t *loops, size_t n, const char *const *expected) {
    struct example e = make();
    char *texts[N_CALLS];
    call(&e, loops, n, texts);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(texts[i], expected[i]);
        free(texts[i]);
    }
    pm_structure_free(e.structure);
}

static void a_row_that_is_alone_stays_as_it_is(void **state) {
    (void)state;
    expect((size_t[]){0}, 1, (const char *[]){"axpy/1 i"});
}

static void call_sites_tell_inlined_loops_apart(void **state) {
    (void)state;
    expect((size_t[]){1, 0}, 2, (const char *[]){"axpy/1 i (at cg.c:20)", "axpy/1 i (at cg.c:10)"});
}

/* The innermost call is on the same line for both; one of them is inlined further. */
static void outer_call_sites_do_where_inner_ones_are_the_same(void **state) {
    (void)state;
    expect((size_t[]){0, 4}, 2,
           (const char *[]){"axpy/1 i (at cg.c:10)", "axpy/1 i (at cg.c:10 from cg.c:40)"});
}

static void two_calls_on_one_line_have_addresses(void **state) {
    (void)state;
    expect((size_t[]){2, 3}, 2,
           (const char *[]){"axpy/1 i (at cg.c:30, 0x1070)", "axpy/1 i (at cg.c:30, 0x1090)"});
}

static void what_stands_elsewhere_in_the_source_does_not_look_the_same(void **state) {
    (void)state;
    struct example e = make();
    e.structure->scopes[e.loops[1]].line_first = 6;
    char *texts[N_CALLS];
    call(&e, (size_t[]){0, 1}, 2, texts);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(texts[i], "axpy/1 i");
        free(texts[i]);
    }
    pm_structure_free(e.structure);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_is_alone_stays_as_it_is),
        cmocka_unit_test(call_sites_tell_inlined_loops_apart),
        cmocka_unit_test(outer_call_sites_do_where_inner_ones_are_the_same),
        cmocka_unit_test(two_calls_on_one_line_have_addresses),
        cmocka_unit_test(what_stands_elsewhere_in_the_source_does_not_look_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
