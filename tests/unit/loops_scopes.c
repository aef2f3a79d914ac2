/* The scope tree of a compiled program: source lines, inlined code, folding, and where the debug
   information may be.  Compiles with the gcc of the machine into $TMP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/scopes.h"

/* The loops stand at lines 4 (in an inlined routine, called from lines 14 and 15), 12 and 13. */
static const char source[] = "double sink[100];\n"                                         /*  1 */
                             "static inline __attribute__((always_inline))\n"              /*  2 */
                             "void scale(double *x, int n, double f) {\n"                  /*  3 */
                             "    for (int i = 0; i < n; i++)\n"                           /*  4 */
                             "        x[i] *= f;\n"                                        /*  5 */
                             "}\n"                                                         /*  6 */
                             "__attribute__((noinline)) void touch(double *x) {\n"         /*  7 */
                             "    __asm__ volatile(\"\" : : \"r\"(x) : \"memory\");\n"     /*  8 */
                             "}\n"                                                         /*  9 */
                             "__attribute__((noinline))\n"                                 /* 10 */
                             "void work(double *x, int n, int m) {\n"                      /* 11 */
                             "    for (int j = 0; j < m; j++) {\n"                         /* 12 */
                             "        for (int k = 0; k < n; k++) x[k] += sink[k & 63];\n" /* 13 */
                             "        scale(x, n, 0.5);\n"                                 /* 14 */
                             "        scale(x, m, 0.25);\n"                                /* 15 */
                             "        touch(x);\n"                                         /* 16 */
                             "    }\n"                                                     /* 17 */
                             "}\n"                                                         /* 18 */
                             "int main(int argc, char **argv) {\n"                         /* 19 */
                             "    (void)argv;\n"                                           /* 20 */
                             "    work(sink, argc, argc);\n"                               /* 21 */
                             "    return 0;\n"                                             /* 22 */
                             "}\n";

static char *in_folder(const char *name) {
    const char *folder = getenv("TMP");
    return pm_sprintf("%s/%s", folder ? folder : "/tmp", name);
}

/* Runs a shell command; %s's are file names in the folder. */
static void run(const char *format, const char *first, const char *second) {
    char *command = pm_sprintf(format, first, second);
    assert_int_equal(system(command), 0);
    free(command);
}

static struct pm_lifted *compile_and_lift(const char *options) {
    char *c = in_folder("scopes_test.c"), *program = in_folder("scopes_test");
    FILE *file = fopen(c, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    char *command = pm_sprintf("gcc -O2 -fno-tree-vectorize -fno-ipa-icf %s", options);
    char *whole = pm_sprintf("%s -o %%s %%s", command);
    run(whole, program, c);
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(program, NULL, &err);
    assert_string_equal(err.text, "");
    free(c);
    free(program);
    free(command);
    free(whole);
    return lifted;
}

/* The tree of routine `work` as text: a loop is its first line, inlined code NAME@call{…}. */
static void describe(const struct pm_structure *s, uint32_t scope, char *text, size_t size) {
    for (uint32_t i = scope + 1; i < s->n_scopes; i++) {
        const struct pm_scope *child = &s->scopes[i];
        size_t used = strlen(text);
        if (child->parent != scope)
            continue;
        if (child->kind == PM_SCOPE_LOOP)
            snprintf(text + used, size - used, "%u{", child->line_first);
        else
            snprintf(text + used, size - used, "%s@%u{", child->name, child->call_file_line);
        describe(s, i, text, size);
        used = strlen(text);
        snprintf(text + used, size - used, "}");
    }
}

static void expect_tree(struct pm_lifted *lifted, const char *expected) {
    const struct pm_structure *s = pm_lifted_structure(lifted);
    char text[1000] = "";
    for (uint32_t r = 0; r < s->n_routines; r++)
        if (strcmp(s->routines[r].name, "work") == 0)
            describe(s, s->routines[r].scope, text, sizeof text);
    assert_string_equal(text, expected);
    for (uint32_t i = 1; i < s->n_scopes; i++)
        assert_true(s->scopes[i].parent < i);
    pm_lifted_free(lifted);
}

static const char tree[] = "12{13{}scale@14{4{}}scale@15{4{}}}";

static void test_inlined_loops_stand_under_their_callee(void **state) {
    (void)state;
    expect_tree(compile_and_lift("-g -gdwarf-5"), tree);
    expect_tree(compile_and_lift("-g -gdwarf-4"), tree);
}

static void test_compressed_and_separate_debug_information(void **state) {
    (void)state;
    expect_tree(compile_and_lift("-g -gz"), tree);
    char *program = in_folder("scopes_test"), *debug = in_folder("scopes_test.debug");
    pm_lifted_free(compile_and_lift("-g"));
    run("objcopy --only-keep-debug %s %s", program, debug);
    run("objcopy --strip-debug --add-gnu-debuglink=%s %s", debug, program);
    struct pm_lifted *lifted = pm_lift(program, NULL, NULL);
    assert_non_null(lifted);
    expect_tree(lifted, tree);
    free(program);
    free(debug);
}

static void test_without_debug_information_lines_are_unknown(void **state) {
    (void)state;
    struct pm_lifted *lifted = compile_and_lift("-g0");
    const struct pm_structure *s = pm_lifted_structure(lifted);
    assert_false(s->modules[0].has_lines);
    for (size_t i = 0; i < s->n_scopes; i++) {
        assert_null(s->scopes[i].file);
        assert_int_equal(s->scopes[i].line_first, 0);
        assert_int_equal(s->scopes[i].fold, i);
    }
    expect_tree(lifted, "0{0{}0{}0{}}");
}

/* ---- folding ------------------------------------------------------------------------------------
 */

static void add_loop(struct pm_structure *s, uint32_t parent, const char *file, uint32_t first,
                     uint32_t last) {
    *PM_PUSH(s, scopes) = (struct pm_scope){.kind = PM_SCOPE_LOOP,
                                            .parent = parent,
                                            .file = file ? pm_strdup(file) : NULL,
                                            .line_first = first,
                                            .line_last = last};
}

static void test_loops_with_overlapping_lines_fold(void **state) {
    (void)state;
    struct pm_structure *s = pm_structure_new();
    add_loop(s, 0, "a.c", 20, 24); /* 1 */
    add_loop(s, 0, "a.c", 10, 15); /* 2 */
    add_loop(s, 0, "a.c", 15, 21); /* 3: joins both */
    add_loop(s, 0, "a.c", 25, 30); /* 4: beside them */
    add_loop(s, 0, "b.c", 10, 15); /* 5: another file */
    add_loop(s, 4, "a.c", 26, 27); /* 6: inside, not beside */
    add_loop(s, 0, NULL, 0, 0);    /* 7: lines not known */
    add_loop(s, 0, NULL, 0, 0);    /* 8 */
    add_loop(s, 4, "a.c", 26, 26); /* 9 */
    pm_fold_loops(s);
    const uint32_t expected[] = {0, 1, 1, 1, 4, 5, 6, 7, 8, 6};
    for (uint32_t i = 0; i < s->n_scopes; i++)
        assert_int_equal(s->scopes[i].fold, expected[i]);
    pm_structure_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inlined_loops_stand_under_their_callee),
        cmocka_unit_test(test_compressed_and_separate_debug_information),
        cmocka_unit_test(test_without_debug_information_lines_are_unknown),
        cmocka_unit_test(test_loops_with_overlapping_lines_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
