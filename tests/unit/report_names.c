/* C++ names stay recognisable, and short, in tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/labels/labels.h"

static void expect(const char *name, const char *expected) {
    char *text = pm_short_name(name);
    assert_string_equal(text, expected);
    free(text);
}

static void names_without_arguments_stay(void **state) {
    (void)state;
    expect("main", "main");
    expect("physics::set_flux_jacobian", "physics::set_flux_jacobian");
    expect("main._omp_fn.0", "main._omp_fn.0");
    expect("?", "?");
    expect("", "");
}

static void arguments_and_results_go(void **state) {
    (void)state;
    expect("std::vector<double, std::allocator<double> >::push_back(double const&)",
           "std::vector<…>::push_back");
    expect("void std::sort<int*>(int*, int*)", "std::sort<…>");
    expect("std::map<int, int>::iterator find<char (*)(int)>(int, char) const", "find<…>");
    expect("(anonymous namespace)::f(int)", "(anonymous namespace)::f");
    expect("f(int) [clone .cold]", "f");
}

static void operators_keep_their_symbols(void **state) {
    (void)state;
    expect("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<<…>");
    expect("A::operator()(int) const", "A::operator()");
    expect("A::operator<(A const&)", "A::operator<");
    expect("A::operator->()", "A::operator->");
    expect("A::operator bool() const", "A::operator bool");
    expect("B<(C)1>::operator+=(int)", "B<…>::operator+=");
}

static void broken_names_do_no_harm(void **state) {
    (void)state;
    expect("f<<<", "f<…>");
    expect("<", "<…>");
    expect("(", "(");
    expect("a(", "a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_without_arguments_stay),
        cmocka_unit_test(arguments_and_results_go),
        cmocka_unit_test(operators_keep_their_symbols),
        cmocka_unit_test(broken_names_do_no_harm),
    };
    return cmocka_run_group_tests_name("report_names", tests, NULL, NULL);
}
