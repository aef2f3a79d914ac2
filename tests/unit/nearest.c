/* "Did you mean": who writes a name wrongly is told the one that there is, and nothing far-fetched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/base.h"

static const char *const names[] = {
    "run",  "report",     "--no-memory", "--memory", "r12000", "icelake-sp",  "N",
    "spmv", "assemble/3", "assemble/2",  "itanium2", "query",  "--time-cost", "--time"};

static const char *nearest_to(const char *written, struct pm_nearest *nearest) {
    *nearest = (struct pm_nearest){0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pm_nearest_try(nearest, written, names[i]);
    return nearest->name;
}

static void what_is_nearly_written_is_found(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"rum", "run"},
        {"reprot", "report"},
        {"--no-memoy", "--no-memory"},
        {"r1200", "r12000"},
        {"n", "N"},
        {"icelake", "icelake-sp"},
        {"smpv", "spmv"},
        {"qeury", "query"},
        {"asemble/3", "assemble/3"},
        {"--tmie", "--time"},
        {"REPORT", "report"},
        {"itanium", "itanium2"},
        {"assemble/1", "assemble/3"},
    };
    struct pm_nearest nearest;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(nearest_to(cases[i][0], &nearest), cases[i][1]);
}

static void what_is_like_nothing_has_none(void **state) {
    (void)state;
    static const char *const cases[] = {"", "M", "frobnicate", "cray", "x", "ru2d3", "--wide"};
    struct pm_nearest nearest;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(nearest_to(cases[i], &nearest), "");
}

static void names_that_are_too_long_are_left_out(void **state) {
    (void)state;
    char longest[PM_NEAREST_SIZE + 1];
    struct pm_nearest nearest = {0};
    memset(longest, 'a', sizeof longest);
    longest[PM_NEAREST_SIZE] = '\0';
    pm_nearest_try(&nearest, longest, longest);
    pm_nearest_try(&nearest, "aaaaa", longest);
    pm_nearest_try(&nearest, longest, "aaaaa");
    assert_string_equal(nearest.name, "");
    longest[PM_NEAREST_SIZE - 1] = '\0';
    pm_nearest_try(&nearest, longest, longest);
    assert_string_equal(nearest.name, longest);
}

static void it_stands_behind_the_sentence(void **state) {
    (void)state;
    struct pm_error err = {0};
    struct pm_nearest nearest = {0};
    pm_fail(&err, "no command \"rum\"");
    pm_fail_nearest(&err, &nearest);
    assert_string_equal(err.text, "no command \"rum\"");
    pm_nearest_try(&nearest, "rum", "run");
    assert_false(pm_fail_nearest(&err, &nearest));
    assert_string_equal(err.text, "no command \"rum\"; did you mean run?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_nearly_written_is_found),
        cmocka_unit_test(what_is_like_nothing_has_none),
        cmocka_unit_test(names_that_are_too_long_are_left_out),
        cmocka_unit_test(it_stands_behind_the_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
