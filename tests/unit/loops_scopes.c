/* The scope tree of a compiled program: source lines, inlined code, folding, and where the debug
   information may be.  Compiles with the gcc of the machine into $TMP. */
#include "binlift/binlift.h"
#include "binlift/elf/elf.h"
#include "binlift/lifted.h"
#include "binlift/scopes/scopes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void test_a_loop_at_line_0_takes_the_range_around_it(void **state) {
    (void)state;
    pm_lifted_free(compile_and_lift("-g"));
    char *c = in_folder("scopes_test.c"), *program = in_folder("scopes_test");
    run("gcc -O2 -fno-tree-vectorize -fno-ipa-icf -g -S "
        "-gno-variable-location-views -o %s.s %s",
        program, c);
    run("sed -i 's/\\.loc 1 13 /.loc 1 0 /' %s.s && cd $TMP && gcc -o %s scopes_test.s", program,
        program);
    free(c);
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(program, NULL, &err);
    assert_string_equal(err.text, "");
    free(program);
    expect_tree(lifted, "12{12{}scale@14{4{}}scale@15{4{}}}");
}

/* ---- vector bodies --------------------------------------------------------------------------- */

/* 32 elements at a time, then 16, then one: the body, a vector epilogue, the remainder.  In `two`
   the store of a recurrence is another part of the loop, no remainder; in `walk` nothing is packed.
 */
static const char vector_source[] =
    "unsigned char a[1 << 16], b[1 << 16], c[1 << 16]; float x[999], y[999], z[999];\n"
    "__attribute__((noinline)) void add(int n) {\n"
    "    for (int i = 0; i < n; i++) a[i] = b[i] + c[i];\n"
    "}\n"
    "__attribute__((noinline)) long walk(void *p, int n) {\n"
    "    for (int i = 0; i < n; i++) p = *(void **)p;\n"
    "    return (long)p;\n"
    "}\n"
    "__attribute__((noinline)) void two(int n) {\n"
    "    for (int i = 1; i < n; i++) y[i] = z[i] * 2; for (int i = 1; i < n; i++) x[i] = x[i - 1] "
    "/ z[i];\n"
    "}\n"
    "int main(int n, char **v) { add(n); two(n); return (int)walk(v, n); }\n";

/* How many loops of routine NAME have exactly these flags of the two. */
static int count_loops(const struct pm_structure *s, const char *name, uint16_t flags) {
    int n = 0;
    for (uint32_t i = 0; i < s->n_scopes; i++)
        if (s->scopes[i].kind == PM_SCOPE_LOOP &&
            strcmp(s->routines[s->scopes[i].routine].name, name) == 0)
            n += (s->scopes[i].flags & (PM_SCOPE_VECTOR_BODY | PM_SCOPE_REMAINDER)) == flags;
    return n;
}

static void test_vector_body_is_told_from_its_remainder(void **state) {
    (void)state;
    char *c = in_folder("vector_test.c"), *program = in_folder("vector_test");
    FILE *file = fopen(c, "w");
    assert_non_null(file);
    fputs(vector_source, file);
    fclose(file);
    run("gcc -O3 -g -march=x86-64-v3 "
        "-fdisable-tree-cunroll -o %s %s 2>/dev/null",
        program, c);
    struct pm_error err = {0};
    const struct pm_lift_options options = {.classes_folder = "machines"};
    struct pm_lifted *lifted = pm_lift(program, &options, &err);
    assert_string_equal(err.text, "");
    const struct pm_structure *s = pm_lifted_structure(lifted);
    assert_int_equal(count_loops(s, "add", PM_SCOPE_VECTOR_BODY), 1);
    assert_int_equal(count_loops(s, "add", PM_SCOPE_VECTOR_BODY | PM_SCOPE_REMAINDER), 1);
    assert_int_equal(count_loops(s, "add", PM_SCOPE_REMAINDER), 1);
    assert_int_equal(count_loops(s, "walk", 0), 1);
    assert_int_equal(count_loops(s, "two", PM_SCOPE_VECTOR_BODY), 1);
    assert_int_equal(count_loops(s, "two", 0), 1); /* x, which waits for itself */
    for (uint32_t i = 0; i < s->n_scopes; i++)     /* whatever it is, it is shown as one */
        if (s->scopes[i].kind == PM_SCOPE_LOOP && s->scopes[i].fold != i)
            assert_int_equal(s->scopes[s->scopes[i].fold].parent, s->scopes[i].parent);
    pm_lifted_free(lifted);
    free(c);
    free(program);
}

/* ---- parts and clones ------------------------------------------------------------------------ */

/* The clone has its name from the source, because GCC makes clones only where they pay. */
static const char clone_source[] =
    "double v[1000];\n"
    "__attribute__((noinline)) double power(double x, int n) {\n"
    "    double p = 1; for (int i = 0; i < n; i++) p = p * x + v[i & 7] / p; return p;\n"
    "}\n"
    "double power_of_2(int n) __asm__(\"power.constprop.0\");\n"
    "__attribute__((noinline)) double power_of_2(int n) {\n"
    "    double p = 1; for (int i = 0; i < n; i++) p = p * 2 + v[i & 7] / p; return p;\n"
    "}\n"
    "void region(int n) {\n"
    "#pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) v[i] = i;\n"
    "}\n"
    "int main(int n, char **a) {\n"
    "    (void)a; region(n); return (int)(power(v[1], n) + power_of_2(n));\n"
    "}\n";

static void test_clones_stand_under_their_source_routine(void **state) {
    (void)state;
    char *c = in_folder("clone_test.c"), *program = in_folder("clone_test");
    FILE *file = fopen(c, "w");
    assert_non_null(file);
    fputs(clone_source, file);
    fclose(file);
    run("gcc -O3 -g -fopenmp -fno-ipa-icf -o %s %s", program, c);
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(program, NULL, &err);
    assert_string_equal(err.text, "");
    const struct pm_structure *s = pm_lifted_structure(lifted);
    int n_clones = 0, n_regions = 0;
    for (uint32_t r = 0; r < s->n_routines; r++) {
        const struct pm_routine *routine = &s->routines[r];
        const struct pm_scope *parent = &s->scopes[s->scopes[routine->scope].parent];
        bool is_clone = strncmp(routine->name, "power.", 6) == 0;
        bool is_region = strncmp(routine->name, "region._omp_fn.", 15) == 0;
        n_clones += is_clone;
        n_regions += is_region;
        assert_int_equal(parent->kind, is_clone || is_region ? PM_SCOPE_ROUTINE : PM_SCOPE_MODULE);
        if (is_clone)
            assert_string_equal(parent->name, "power");
        if (is_region)
            assert_string_equal(parent->name, "region");
        if (is_clone || is_region)
            assert_string_equal(routine->display_name, parent->name);
    }
    assert_int_equal(n_clones, 1);
    assert_int_equal(n_regions, 1);
    pm_lifted_free(lifted);
    free(c);
    free(program);
}

static void expect_names(const char *linkage_name, const char *readable, const char *source) {
    char *name = pm_display_name(linkage_name);
    assert_string_equal(name, readable);
    free(name);
    size_t length = pm_source_name_length(linkage_name, strlen(linkage_name));
    assert_int_equal(length, strlen(source));
    assert_int_equal(strncmp(linkage_name, source, length), 0);
}

static void test_names(void **state) {
    (void)state;
    expect_names("work", "work", "work");
    expect_names("work.cold", "work", "work");
    expect_names("work.constprop.0.isra.12", "work", "work.constprop.0");
    expect_names("work._omp_fn.3.cold", "work", "work._omp_fn.3");
    expect_names("work.part.0", "work", "work");
    expect_names("work.lto_priv.0", "work", "work");
    expect_names("work.localalias", "work", "work");
    expect_names("work.avx512f.1", "work", "work");
    expect_names("inner.7", "inner", "inner.7"); /* a nested routine is nobody's clone */
    expect_names(".cold", ".cold", ".cold");
    expect_names("cold.x", "cold.x", "cold.x");
    expect_names("", "", "");
    expect_names("_ZN3foo3barEi", "foo::bar(int)", "_ZN3foo3barEi");
    expect_names("_ZN3foo3barEi.part.0", "foo::bar(int)", "_ZN3foo3barEi");
    expect_names("_Znonsense", "_Znonsense", "_Znonsense");
    expect_names("__solver_MOD_step", "solver::step", "__solver_MOD_step");
    expect_names("__solver_MOD_step._omp_fn.0", "solver::step", "__solver_MOD_step");
}

/* ---- folding --------------------------------------------------------------------------------- */

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
        cmocka_unit_test(test_a_loop_at_line_0_takes_the_range_around_it),
        cmocka_unit_test(test_vector_body_is_told_from_its_remainder),
        cmocka_unit_test(test_clones_stand_under_their_source_routine),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_loops_with_overlapping_lines_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
