/* Patterns of routines' names, and which routines an option's list of them means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/structure/structure.h"

static void stars_and_question_marks_stand_for_text(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"*", "", true},
        {"**", "abc", true},
        {"?", "", false},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"a*c", "ac", true},
        {"a*c", "abcbc", true},
        {"a*c", "abcb", false},
        {"*bc*", "aabbcc", true},
        {"*ab?", "aabab", false},
        {"*ab?", "aababc", true},
        {"step*x*y", "step.1.x.2.y", true},
        {"step*x*y", "step.1.y.2.x", false},
        {"operator*", "operator*", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pm_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("\"%s\" and \"%s\"", cases[i].pattern, cases[i].text);
}

/* Otherwise each `*` doubles the work, and this is never done. */
static void many_stars_take_no_time(void **state) {
    (void)state;
    char text[2001] = "", pattern[401] = "";
    for (int i = 0; i < 2000; i++)
        text[i] = 'a';
    for (int i = 0; i < 400; i += 2) {
        pattern[i] = '*';
        pattern[i + 1] = 'a';
    }
    assert_true(pm_matches(pattern, text));
    pattern[399] = 'b';
    assert_false(pm_matches(pattern, text));
}

static void a_list_means_exact_names_first_then_patterns(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"main", "main"},    {"_Z1fii", "f(int, int)"}, {"_ZmlRK1A", "operator*(A const&)"},
        {"op", "operator*"}, {"step.cold", "step"},
    };
    static const struct {
        const char *list;
        unsigned routines; /* bit by bit */
    } cases[] = {
        {NULL, 31},         {"main", 1},
        {"f(int, int)", 2}, {"f(int, int),main", 3},
        {"operator*", 8},   {"operator?*", 12},
        {"_Z*", 6},         {"step,m*", 17},
        {"nobody", 0},      {"", 0},
        {"nobody,ma?n", 1},
    };
    struct pm_structure *s = pm_structure_new();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        *PM_PUSH(s, routines) = (struct pm_routine){.name = pm_strdup(names[i][0]),
                                                    .display_name = pm_strdup(names[i][1])};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t n_named, n = 0;
        unsigned found = 0;
        bool *named = pm_routines_named(s, cases[i].list, &n_named);
        for (unsigned r = 0; r < s->n_routines; r++) {
            found |= (unsigned)named[r] << r;
            n += named[r];
        }
        free(named);
        assert_int_equal(n, n_named);
        if (found != cases[i].routines)
            fail_msg("\"%s\" means %u, not %u", cases[i].list ? cases[i].list : "NULL", found,
                     cases[i].routines);
    }
    pm_structure_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stars_and_question_marks_stand_for_text),
        cmocka_unit_test(many_stars_take_no_time),
        cmocka_unit_test(a_list_means_exact_names_first_then_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
