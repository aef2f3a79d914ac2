/* Access formulas, strides and dependences of compiled functions: what is expected follows from the
   source, whatever the optimisation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/lifted.h"
#include "binlift/formula/formula.h"

static const char source[] =
    "#define F __attribute__((noipa))\n"
    "F void chain(double *a, long n, double x) {\n"
    "    for (long i = 1; i < n; i++) a[i] = a[i - 1] * x;\n}\n"
    "F void four(double *a, long n, double x) {\n"
    "    for (long i = 4; i < n; i++) a[i] = a[i - 4] * x;\n}\n"
    "F void histogram(int *restrict b, const int *restrict at, long n) {\n"
    "    for (long i = 0; i < n; i++) b[at[i]]++;\n}\n"
    "F void copy(double *a, const double *b, long n) {\n"
    "    for (long i = 0; i < n; i++) a[i] = b[i] * 3;\n}\n"
    "double left[1000], right[1000];\n"
    "F void globals(long n) {\n"
    "    for (long i = 0; i < n; i++) left[i] = right[i + 1] + 1;\n}\n"
    "F double column(const double *a, long n, long j) {\n"
    "    double sum = 0;\n"
    "    for (long i = 0; i < n; i++) sum += a[i * n + j];\n"
    "    return sum;\n}\n"
    "F void nest(float *a, int n) {\n"
    "    float *p = a;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        for (int j = 0; j < 10; j++) { *p = 1; p += 2; }\n"
    "        p += 4;\n    }\n}\n"
    "F float backward(const float *a, long n) {\n"
    "    float sum = 0;\n"
    "    for (long i = n; i-- > 0;) sum += a[i];\n"
    "    return sum;\n}\n"
    "struct list { struct list *next; double value; };\n"
    "F double follow(const struct list *at) {\n"
    "    double sum = 0;\n"
    "    for (; at; at = at->next) sum += at->value;\n"
    "    return sum;\n}\n"
    "F void clone(double *, long) __asm__(\"whole.constprop.0\");\n"
    "F void clone(double *a, long n) {\n"
    "    for (long i = 1; i < n; i++) a[i] = a[i - 1] * 2;\n}\n"
    "F void middle(double *a, long n) {\n"
    "    for (long i = 2; i < n; i++) a[i] = a[i - 2] * 2;\n}\n"
    "F void whole(double *a, long n) {\n"
    "    for (long i = 3; i < n; i++) a[i] = a[i - 3] * 2;\n}\n"
    "F double local(const double *p, long n) {\n"
    "    double a[16];\n"
    "    for (long i = 0; i < n; i++) a[i] = p[i];\n"
    "    __asm__ volatile(\"\" : : \"r\"(a) : \"memory\");\n"
    "    return a[n - 1];\n}\n"
    "F double counted_in_array(const double *p, long n, long k) {\n"
    "    long at[4] = {0};\n"
    "    double sum = 0;\n"
    "    for (; at[2] < n; at[2]++) { sum += p[at[2]]; at[k] += 1; }\n"
    "    return sum;\n}\n"
    /* the caller knows which registers these change */
    "static __attribute__((noinline)) double leaf(double x) {\n"
    "    __asm__ volatile(\"xorl %%eax, %%eax; xorl %%edi, %%edi\" : : : \"rax\", \"rdi\");\n"
    "    return x * 2;\n}\n"
    "static __attribute__((noinline)) double between(double x) {\n"
    "    return leaf(x) + 1;\n}\n"
    "F void around_calls(double *a, long n) {\n"
    "    for (long i = 0; i < n; i++) a[i] = between(a[i]);\n}\n"
    "static __attribute__((noinline)) double outside(double x) {\n"
    "    return __builtin_sin(x) + leaf(x);\n}\n"
    "F void around_unknown(double *a, long n) {\n"
    "    for (long i = 0; i < n; i++) a[i] = outside(a[i]);\n}\n"
    "int main(void) { return 0; }\n";

static const char cxx_source[] = "#include <vector>\n"
                                 "#define F extern \"C\" __attribute__((noipa))\n"
                                 "struct point { double x, y, z; };\n"
                                 "F double total(const std::vector<point> &all) {\n"
                                 "    double sum = 0;\n"
                                 "    for (const point &p : all) sum += p.y;\n"
                                 "    return sum;\n}\n"
                                 "template <class T, int STEP> static void fill(T *a, long n) {\n"
                                 "    for (long i = 0; i < n; i += STEP) a[i] = T(1);\n}\n"
                                 "F void fill_third(short *a, long n) { fill<short, 3>(a, n); }\n"
                                 "int main() { return 0; }\n";

static const char fortran_source[] = "subroutine scaled(a, n)\n"
                                     "  integer(8), intent(in) :: n\n"
                                     "  real(8), intent(inout) :: a(n, n)\n"
                                     "  integer(8) :: i, j\n"
                                     "  do j = 1, n\n"
                                     "    do i = 1, n\n"
                                     "      a(i, j) = a(i, j) * 2\n"
                                     "    end do\n"
                                     "  end do\n"
                                     "end subroutine\n"
                                     "subroutine fixed(a)\n"
                                     "  real(4), intent(inout) :: a(10, 10)\n"
                                     "  integer :: i, j\n"
                                     "  do i = 1, 10\n"
                                     "    do j = 1, 10\n"
                                     "      a(i, j) = a(i, j) + 1\n"
                                     "    end do\n"
                                     "  end do\n"
                                     "end subroutine\n"
                                     "program main\n"
                                     "end program\n";

struct found {
    struct pm_lifted *lifted;
    struct pm_structure *structure;
    uint32_t routine;
    struct pm_formulas *formulas;
};

static struct pm_lifted *build_with(const char *compiler, const char *file_name, const char *text,
                                    const char *level) {
    char path[512], command[2048];
    const char *folder = getenv("TMP") ? getenv("TMP") : "/tmp";
    snprintf(path, sizeof path, "%s/%s", folder, file_name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(command, sizeof command,
             "%s %s -fno-tree-vectorize -fno-tree-loop-distribute-patterns -o %s/formula %s -lm",
             compiler, level, folder, path);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/formula", folder);
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(path, NULL, &err);
    if (!lifted)
        fail_msg("%s", err.text);
    return lifted;
}

static struct pm_lifted *build(const char *level) {
    return build_with("gcc", "formula.c", source, level);
}

static struct found find(struct pm_lifted *lifted, const char *name) {
    struct found found = {lifted, pm_lifted_structure(lifted), 0, NULL};
    while (found.routine < found.structure->n_routines &&
           strcmp(found.structure->routines[found.routine].name, name) != 0)
        found.routine++;
    assert_true(found.routine < found.structure->n_routines);
    found.formulas = pm_formulas_new(lifted, found.routine);
    return found;
}

/* Levels of the first reference of the innermost loops with ACCESS whose base is no place in the
   frame. */
static uint32_t levels_of(struct found *found, uint8_t access, struct pm_formula_level *levels,
                          uint32_t most) {
    const struct pm_routine *routine = &found->structure->routines[found->routine];
    uint32_t deepest = 0, best = PM_NONE, operand = 0;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        const struct pm_block *block = &found->structure->blocks[b];
        for (uint32_t r = block->first_reference;
             block->loop != PM_NONE && r < block->first_reference + block->n_references; r++) {
            const struct pm_reference *reference = &found->structure->references[r];
            uint32_t insn = pm_insn_at(found->lifted, reference->address);
            struct pm_formula address =
                pm_formula_of_operand(found->formulas, insn, reference->operand);
            int64_t offset;
            if (!(reference->access & access) ||
                pm_formula_is_frame(found->formulas, &address, &offset) ||
                found->structure->scopes[block->loop].depth <= deepest)
                continue;
            deepest = found->structure->scopes[block->loop].depth;
            best = insn;
            operand = reference->operand;
        }
    }
    assert_int_not_equal(best, PM_NONE);
    return pm_formula_levels(found->formulas, best, operand, levels, most);
}

static void expect_level(const struct pm_formula_level *level, uint8_t kind, int64_t bytes) {
    assert_int_equal(level->step.kind, kind);
    if (kind == PM_STRIDE_CONSTANT)
        assert_int_equal(level->step.bytes, bytes);
}

static void expect_stride(struct pm_lifted *lifted, const char *name, uint8_t access,
                          uint32_t n_levels, uint8_t kind, int64_t bytes, int64_t outer_bytes) {
    struct found found = find(lifted, name);
    struct pm_formula_level levels[4];
    assert_int_equal(levels_of(&found, access, levels, 4), n_levels);
    expect_level(&levels[0], kind, bytes);
    if (n_levels > 1)
        expect_level(&levels[1], PM_STRIDE_CONSTANT, outer_bytes);
    pm_formulas_free(found.formulas);
}

static void strides_are_those_of_the_source(void **state) {
    (void)state;
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-Os", "-O2 -m64 -fno-pie -no-pie"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct pm_lifted *lifted = build(levels[i]);
        expect_stride(lifted, "chain", PM_ACCESS_STORE, 1, PM_STRIDE_CONSTANT, 8, 0);
        expect_stride(lifted, "copy", PM_ACCESS_LOAD, 1, PM_STRIDE_CONSTANT, 8, 0);
        expect_stride(lifted, "globals", PM_ACCESS_STORE, 1, PM_STRIDE_CONSTANT, 8, 0);
        expect_stride(lifted, "nest", PM_ACCESS_STORE, 2, PM_STRIDE_CONSTANT, 8, 96);
        expect_stride(lifted, "backward", PM_ACCESS_LOAD, 1, PM_STRIDE_CONSTANT, -4, 0);
        expect_stride(lifted, "column", PM_ACCESS_LOAD, 1, PM_STRIDE_SYMBOLIC, 0, 0);
        expect_stride(lifted, "follow", PM_ACCESS_LOAD, 1, PM_STRIDE_INDIRECT, 0, 0);
        expect_stride(lifted, "histogram", PM_ACCESS_STORE, 1, PM_STRIDE_INDIRECT, 0, 0);
        expect_stride(lifted, "around_calls", PM_ACCESS_STORE, 1, PM_STRIDE_CONSTANT, 8, 0);
        expect_stride(lifted, "around_unknown", PM_ACCESS_STORE, 1, PM_STRIDE_CONSTANT, 8, 0);
        if (i > 0)
            expect_stride(lifted, "local", PM_ACCESS_LOAD, 1, PM_STRIDE_CONSTANT, 8, 0);
        pm_lifted_free(lifted);
    }
}

/* How far up an array of the frame reaches the code does not say: an element that is read and
   written at a fixed place is no scalar. */
static void what_an_array_of_the_frame_may_hold_is_not_followed(void **state) {
    (void)state;
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-Os"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct pm_lifted *lifted = build(levels[i]);
        struct found found = find(lifted, "counted_in_array");
        struct pm_formula_level deep[4];
        assert_int_equal(levels_of(&found, PM_ACCESS_LOAD, deep, 4), 1);
        assert_int_not_equal(deep[0].step.kind, PM_STRIDE_CONSTANT);
        assert_int_not_equal(deep[0].step.kind, PM_STRIDE_SYMBOLIC);
        pm_formulas_free(found.formulas);
        pm_lifted_free(lifted);
    }
}

static void strides_of_other_languages_are_those_of_the_source(void **state) {
    (void)state;
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-Os"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct pm_lifted *lifted = build_with("g++", "formula.cc", cxx_source, levels[i]);
        if (i > 0) { /* without optimisation iterators are objects behind calls */
            expect_stride(lifted, "total", PM_ACCESS_LOAD, 1, PM_STRIDE_CONSTANT, 24, 0);
            expect_stride(lifted, "fill_third", PM_ACCESS_STORE, 1, PM_STRIDE_CONSTANT, 6, 0);
        }
        pm_lifted_free(lifted);
        lifted = build_with("gfortran", "formula.f90", fortran_source, levels[i]);
        struct found found = find(lifted, "scaled_");
        struct pm_formula_level deep[4];
        assert_int_equal(levels_of(&found, PM_ACCESS_STORE, deep, 4), 2);
        expect_level(&deep[0], PM_STRIDE_CONSTANT, 8);
        expect_level(&deep[1], PM_STRIDE_SYMBOLIC, 0);
        pm_formulas_free(found.formulas);
        expect_stride(lifted, "fixed_", PM_ACCESS_STORE, 2, PM_STRIDE_CONSTANT, 40, 4);
        pm_lifted_free(lifted);
    }
}

/* The formula of the store in `copy`: the first argument and 8 bytes an iteration. */
static void formulas_are_in_terms_of_arguments(void **state) {
    (void)state;
    struct pm_lifted *lifted = build("-O2");
    struct found found = find(lifted, "copy");
    struct pm_formula_level levels[4];
    assert_int_equal(levels_of(&found, PM_ACCESS_STORE, levels, 4), 1);
    char *text = pm_formula_text(found.formulas, &levels[0].first);
    assert_string_equal(text, "rdi");
    free(text);
    pm_formulas_free(found.formulas);
    found = find(lifted, "column");
    assert_int_equal(levels_of(&found, PM_ACCESS_LOAD, levels, 4), 1);
    assert_string_equal(levels[0].step.expression, "8*rsi");
    text = pm_formula_text(found.formulas, &levels[0].first);
    assert_string_equal(text, "rdi + 8*rdx");
    free(text);
    pm_formulas_free(found.formulas);
    pm_lifted_free(lifted);
}

/* What a call may change, by the routines that it leads to. */
static void calls_change_what_their_callees_define(void **state) {
    (void)state;
    enum { RAX = 1 << 0, RDI = 1 << 7, R8 = 1 << 8, R9 = 1 << 9, RBX = 1 << 3 };
    struct pm_lifted *lifted = build("-O2");
    unsigned n_between = 0, n_outside = 0;
    for (size_t k = 0; k < lifted->n_insns; k++) {
        const struct pm_insn *insn = &lifted->insns[k];
        uint32_t callee =
            insn->control == PM_CONTROL_CALL ? pm_routine_at(lifted, insn->target) : PM_NONE;
        if (callee == PM_NONE)
            continue;
        const char *name = lifted->structure->routines[callee].name;
        uint32_t clobbers = pm_call_clobbers(lifted, insn);
        if (strcmp(name, "between") == 0) {
            n_between++;
            assert_int_equal(clobbers & (RAX | RDI | R8 | R9 | RBX), RAX | RDI);
        } else if (strcmp(name, "outside") == 0) {
            n_outside++;
            assert_int_equal(clobbers & (RAX | RDI | R8 | R9 | RBX), RAX | RDI | R8 | R9);
        }
    }
    assert_true(n_between > 0 && n_outside > 0);
    pm_lifted_free(lifted);
}

/* ---- dependences ----------------------------------------------------------------------------- */

enum { NONE_AT_ALL = -1, UNKNOWN = -2 };

/* The least distance from a store to a load in the routine's loop, between places that are not in
   the frame. */
static int64_t distance_in(struct pm_lifted *lifted, const char *name) {
    struct found found = find(lifted, name);
    const struct pm_structure *s = found.structure;
    int64_t least = NONE_AT_ALL;
    for (uint32_t scope = 0; scope < s->n_scopes; scope++) {
        size_t n;
        const struct pm_dependence *all = pm_structure_dependences(s, scope, &n);
        for (size_t i = 0; i < n && s->scopes[scope].routine == found.routine; i++) {
            int64_t offset;
            if (all[i].from == PM_NONE)
                continue;
            struct pm_formula from = pm_formula_of_operand(
                found.formulas, pm_insn_at(lifted, s->references[all[i].from].address),
                s->references[all[i].from].operand);
            if (pm_formula_is_frame(found.formulas, &from, &offset))
                continue;
            if (all[i].kind == PM_DEPENDS_UNKNOWN)
                least = UNKNOWN;
            else if (least != UNKNOWN && (s->references[all[i].from].access & PM_ACCESS_STORE) &&
                     (s->references[all[i].to].access & PM_ACCESS_LOAD) &&
                     (least == NONE_AT_ALL || all[i].distance < least))
                least = all[i].distance;
        }
    }
    pm_formulas_free(found.formulas);
    return least;
}

static void dependences_have_the_distance_of_the_source(void **state) {
    (void)state;
    static const char *const levels[] = {"-O1 -fno-tree-pre",
                                         "-O2 -fno-tree-pre -fno-predictive-commoning"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct pm_lifted *lifted = build(levels[i]);
        assert_int_equal(distance_in(lifted, "four"), 4);
        assert_int_equal(distance_in(lifted, "globals"), NONE_AT_ALL);
        assert_int_equal(distance_in(lifted, "histogram"), UNKNOWN);
        assert_int_equal(distance_in(lifted, "copy"), UNKNOWN);
        pm_lifted_free(lifted);
    }
    struct pm_lifted *lifted = build("-O1 -fno-tree-pre");
    assert_int_equal(distance_in(lifted, "chain"), 1);
    pm_lifted_free(lifted);
}

/* Scopes of clones stand under their routine, so not in the order of routines. */
static void a_structure_with_clones_is_read_back(void **state) {
    (void)state;
    struct pm_lifted *lifted = build("-O2");
    void *bytes;
    size_t n_bytes;
    struct pm_error err = {0};
    pm_structure_encode(pm_lifted_structure(lifted), &bytes, &n_bytes);
    struct pm_structure *copy = pm_structure_decode(bytes, n_bytes, &err);
    if (!copy)
        fail_msg("%s", err.text);
    assert_int_equal(copy->n_dependences, pm_lifted_structure(lifted)->n_dependences);
    pm_structure_free(copy);
    free(bytes);
    pm_lifted_free(lifted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_structure_with_clones_is_read_back),
        cmocka_unit_test(strides_are_those_of_the_source),
        cmocka_unit_test(what_an_array_of_the_frame_may_hold_is_not_followed),
        cmocka_unit_test(strides_of_other_languages_are_those_of_the_source),
        cmocka_unit_test(formulas_are_in_terms_of_arguments),
        cmocka_unit_test(calls_change_what_their_callees_define),
        cmocka_unit_test(dependences_have_the_distance_of_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
