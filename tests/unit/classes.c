/* Files of instruction classes: what they may say, and that every mistake is told with its line. */
#include "binlift/code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *path_in_tmp(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("TMP") ? getenv("TMP") : "/tmp", name);
    return path;
}

static bool read_bytes(struct pm_classes *classes, const char *text, size_t n,
                       struct pm_error *err) {
    const char *path = path_in_tmp("x.classes");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, n, file), n);
    fclose(file);
    memset(err, 0, sizeof *err);
    return pm_classes_read(classes, path, "x86-64", err);
}

static bool read_text(struct pm_classes *classes, const char *text, struct pm_error *err) {
    return read_bytes(classes, text, strlen(text), err);
}

static struct pm_classes *classes_of(const char *text) {
    struct pm_error err;
    struct pm_classes *classes = pm_classes_new();
    if (!read_text(classes, text, &err))
        fail_msg("%s", err.text);
    return classes;
}

static enum pm_op_class class_of(const struct pm_classes *classes, const char *mnemonic) {
    const struct pm_class_rule *rule = pm_classes_find(classes, mnemonic);
    return rule ? rule->op_class[rule->n_ops - 1] : PM_OP_UNKNOWN;
}

static void names_stand_for_mnemonics(void **state) {
    (void)state;
    struct pm_classes *classes = classes_of("# comment\n"
                                            "isa x86-64 # one too\n"
                                            "\n"
                                            "int_add: add b(x)c\r\n"
                                            "   dec\n"
                                            "fp_add scalar element=8: (v)add[sp]d\n"
                                            "shuffle + shuffle + fp_add: haddps");
    assert_int_equal(class_of(classes, "add"), PM_OP_INT_ADD);
    assert_int_equal(class_of(classes, "dec"), PM_OP_INT_ADD);
    assert_int_equal(class_of(classes, "bc"), PM_OP_INT_ADD);
    assert_int_equal(class_of(classes, "bxc"), PM_OP_INT_ADD);
    static const char *const adds[] = {"addsd", "addpd", "vaddsd", "vaddpd"};
    for (size_t i = 0; i < 4; i++) {
        const struct pm_class_rule *rule = pm_classes_find(classes, adds[i]);
        assert_non_null(rule);
        assert_true(rule->scalar);
        assert_int_equal(rule->element_bytes, 8);
    }
    const struct pm_class_rule *rule = pm_classes_find(classes, "haddps");
    assert_int_equal(rule->n_ops, 3);
    assert_int_equal(rule->op_class[1], PM_OP_SHUFFLE);
    assert_int_equal(rule->op_class[2], PM_OP_FP_ADD);
    assert_false(rule->scalar);
    assert_null(pm_classes_find(classes, "vadd"));
    assert_null(pm_classes_find(classes, "ad"));
    assert_null(pm_classes_find(classes, ""));
    pm_classes_free(classes);
}

static void a_name_counts_more_than_a_pattern_and_a_later_file_most(void **state) {
    (void)state;
    struct pm_error err;
    struct pm_classes *classes = classes_of("isa x86-64\n"
                                            "shift: vp*l*d\n"
                                            "int_mult: vp*\n"
                                            "logical: vpslld\n");
    assert_int_equal(class_of(classes, "vpslld"), PM_OP_LOGICAL);
    assert_int_equal(class_of(classes, "vpslvd"), PM_OP_SHIFT);
    assert_int_equal(class_of(classes, "vpaddd"), PM_OP_INT_MULT);
    assert_int_equal(class_of(classes, "paddd"), PM_OP_UNKNOWN);
    assert_true(read_text(classes, "isa x86-64\nint_add: vps*\n", &err));
    assert_int_equal(class_of(classes, "vpslld"), PM_OP_INT_ADD);
    assert_int_equal(class_of(classes, "vpaddd"), PM_OP_INT_MULT);
    /* A file that cannot be read changes nothing. */
    assert_false(read_text(classes, "isa x86-64\nfp_div: vpslld\nnothing\n", &err));
    assert_int_equal(class_of(classes, "vpslld"), PM_OP_INT_ADD);
    pm_classes_free(classes);
}

static void mistakes_are_told_with_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *told;
    } mistakes[] = {
        {"", "begins with `isa x86-64`"},
        {"# nothing\n\n", "begins with `isa x86-64`"},
        {"int_add: add\n", ":1: a file of instruction classes begins with `isa NAME`"},
        {"isa\n", ":1: a file of instruction classes begins with"},
        {"\nisa aarch64\n", ":2: these classes are for aarch64, the program is for x86-64"},
        {"isa x86-64 v3\n", ":1: nothing may stand after the ISA's name"},
        {"isa x86-64\n  add\n", ":2: the line begins with a space"},
        {"isa x86-64\nint_add add\n", ":2: a line is `CLASS: NAMES`"},
        {"isa x86-64\nint_ad: add\n", ":2: there is no class \"int_ad\""},
        {"isa x86-64\n: add\n", ":2: a class is missing before the colon"},
        {"isa x86-64\nshift +: add\n", ":2: a class is missing before the colon"},
        {"isa x86-64\nshift + shift + shift + shift + shift: x\n",
         ":2: an instruction breaks into 4"},
        {"isa x86-64\nshift wide: x\n", ":2: \"wide\" is not understood after a class"},
        {"isa x86-64\nshift scalar + shift: x\n", ":2: \"+\" is not understood"},
        {"isa x86-64\nshift element=0: x\n", ":2: `element` is a size of 1 to 64 bytes"},
        {"isa x86-64\nshift element=99999999999999999999: x\n", ":2: `element` is a size"},
        {"isa x86-64\nshift element=+4: x\n", ":2: `element` is a size"},
        {"isa x86-64\nshift: a\n b\n A\n", ":4: \"A\" does not name instructions"},
        {"isa x86-64\nshift: a(b\n", ":2: \"a(b\" does not name instructions: its bracket"},
        {"isa x86-64\nshift: a[]\n", ":2: \"a[]\" does not name instructions: its bracket"},
        {"isa x86-64\nshift: a(*)b\n", NULL},
        {"isa x86-64\nshift: a[b*]\n", NULL},
        {"isa x86-64\nshift: a(b*)\n", ":2: \"a(b*)\" does not name instructions: names are"},
        {"isa x86-64\nshift: [abcdefghi][abcdefghi]\n", "stands for more than 64 names"},
        {"isa x86-64\nshift: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
         "the name is too long"},
        {"isa x86-64\nshift: rol\nint_add: add\n   rol\n",
         ":4: \"rol\" already has a class, in line 2"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct pm_error err;
        struct pm_classes *classes = pm_classes_new();
        bool ok = read_text(classes, mistakes[i].text, &err);
        if (ok != !mistakes[i].told || (!ok && !strstr(err.text, mistakes[i].told)))
            fail_msg("`%s`: got \"%s\", expected \"%s\"", mistakes[i].text, err.text,
                     mistakes[i].told ? mistakes[i].told : "no error");
        if (!ok)
            assert_int_equal(err.kind, PM_ERROR_INPUT);
        assert_null(ok ? NULL : pm_classes_find(classes, "rol"));
        pm_classes_free(classes);
    }
}

static void what_is_no_file_of_classes_is_refused(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_classes *classes = pm_classes_new();
    assert_false(pm_classes_read(classes, path_in_tmp("absent.classes"), "x86-64", &err));
    assert_non_null(strstr(err.text, "absent.classes"));
    assert_int_equal(err.kind, PM_ERROR_INPUT);
    assert_false(pm_classes_read(classes, "/", "x86-64", &err));
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_false(pm_classes_read(classes, "/dev/zero", "x86-64", &err));
    assert_false(read_bytes(classes, "isa x86-64\nshift: a\0b\n", 23, &err));
    assert_non_null(strstr(err.text, ":2: the line holds a zero byte"));
    assert_false(pm_classes_read(classes, path_in_tmp("absent.classes"), "x86-64", NULL));
    char *long_word = malloc(400000);
    assert_non_null(long_word);
    strcpy(long_word, "isa x86-64\nshift: ");
    for (size_t i = strlen(long_word); i + 3 < 400000; i += 3)
        memcpy(long_word + i, "(a)", 4);
    assert_false(read_text(classes, long_word, &err)); /* not a deep recursion */
    assert_non_null(strstr(err.text, ":2: a word is longer than"));
    free(long_word);
    pm_classes_free(classes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_for_mnemonics),
        cmocka_unit_test(a_name_counts_more_than_a_pattern_and_a_later_file_most),
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(what_is_no_file_of_classes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
