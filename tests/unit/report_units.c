/* Numbers as reports write them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/report.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void seconds_get_the_unit_that_fits(void **state) {
    (void)state;
    assert_string_equal(pm_seconds_text(1.9349).text, "1.93 s");
    assert_string_equal(pm_seconds_text(12345).text, "12300 s");
    assert_string_equal(pm_seconds_text(0.171).text, "171 ms");
    assert_string_equal(pm_seconds_text(0.9999).text, "1.00 s");
    assert_string_equal(pm_seconds_text(12.34e-6).text, "12.3 us");
    assert_string_equal(pm_seconds_text(5e-9).text, "5.00 ns");
    assert_string_equal(pm_seconds_text(2e-12).text, "0.00 ns");
    assert_string_equal(pm_seconds_text(0).text, "0 s");
}

static void counts_get_the_prefix_that_fits(void **state) {
    (void)state;
    assert_string_equal(pm_count_text(0).text, "0");
    assert_string_equal(pm_count_text(999).text, "999");
    assert_string_equal(pm_count_text(999.7).text, "1.00k");
    assert_string_equal(pm_count_text(1530).text, "1.53k");
    assert_string_equal(pm_count_text(20.1e6).text, "20.1M");
    assert_string_equal(pm_count_text(7e9).text, "7.00G");
    assert_string_equal(pm_count_text(1e25).text, "1.00e+25");
}

static void rates_never_round_to_zero(void **state) {
    (void)state;
    assert_string_equal(pm_rate_text(0).text, "0");
    assert_string_equal(pm_rate_text(0.75).text, "0.75");
    assert_string_equal(pm_rate_text(0.002).text, "0.002");
    assert_string_equal(pm_rate_text(2e-5).text, "2e-05");
    assert_string_equal(pm_rate_text(12.34).text, "12.3");
    assert_string_equal(pm_rate_text(12345).text, "12.3k");
}

static void percentages_and_bytes(void **state) {
    (void)state;
    assert_string_equal(pm_percent_text(0.891).text, "89");
    assert_string_equal(pm_percent_text(0.0123).text, "1.2");
    assert_string_equal(pm_percent_text(1).text, "100");
    assert_string_equal(pm_bytes_text(64).text, "64 bytes");
    assert_string_equal(pm_bytes_text(4096).text, "4 KiB");
    assert_string_equal(pm_bytes_text(4097).text, "4097 bytes");
    assert_string_equal(pm_bytes_text(2097152).text, "2 MiB");
}

static void the_unknown_is_a_question_mark_and_not_zero(void **state) {
    (void)state;
    assert_string_equal(pm_seconds_text(NAN).text, "?");
    assert_string_equal(pm_count_text(NAN).text, "?");
    assert_string_equal(pm_rate_text(NAN).text, "?");
    assert_string_equal(pm_percent_text(NAN).text, "?");
}

static void formats_have_names(void **state) {
    (void)state;
    enum pm_report_format format = PM_REPORT_TABLE;
    assert_true(pm_report_format_from_name("json", &format));
    assert_int_equal(format, PM_REPORT_JSON);
    assert_true(pm_report_format_from_name("csv", &format));
    assert_int_equal(format, PM_REPORT_CSV);
    assert_true(pm_report_format_from_name("table", &format));
    assert_int_equal(format, PM_REPORT_TABLE);
    assert_false(pm_report_format_from_name("xml", &format));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_get_the_unit_that_fits),
        cmocka_unit_test(counts_get_the_prefix_that_fits),
        cmocka_unit_test(rates_never_round_to_zero),
        cmocka_unit_test(percentages_and_bytes),
        cmocka_unit_test(the_unknown_is_a_question_mark_and_not_zero),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
