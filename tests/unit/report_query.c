/* `pmodel query`: parts add up to the whole, scopes are found by name, and the answers are written
   as golden tables, JSON and CSV. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "report/report.h"
#include "tests/unit/report_example.h"

/* ---- a program with groups ------------------------------------------------------------------- */

static void add_group(struct pm_structure *structure, uint32_t scope, const char *object) {
    struct pm_group *group = PM_PUSH(structure, groups);
    group->scope = scope;
    group->object = object ? pm_strdup(object) : NULL;
}

static int set_up(void **state) {
    struct pm_structure *structure = example_structure();
    add_group(structure, SCOPE_I_VECTOR, "u");
    add_group(structure, SCOPE_I_REMAINDER, "u");
    add_group(structure, SCOPE_SQUARE, NULL);
    add_group(structure, SCOPE_J, "next");
    add_group(structure, SCOPE_NORM_LOOP, "u");
    add_group(structure, SCOPE_MAIN, NULL);
    *state = structure;
    return 0;
}

static int tear_down(void **state) {
    pm_structure_free(*state);
    return 0;
}

static void every_group_is_in_one_part(void **state) {
    const struct pm_structure *structure = *state;
    for (int level = PM_QUERY_PROGRAM; level <= PM_QUERY_GROUP; level++) {
        struct pm_query_parts parts;
        struct pm_error err = {0};
        size_t times[6] = {0};
        assert_true(
            pm_query_find_parts(structure, (enum pm_query_level)level, NULL, 0, &parts, &err));
        for (size_t p = 0; p < parts.n_parts; p++)
            for (size_t g = 0; g < parts.parts[p].groups.n_groups; g++)
                times[parts.parts[p].groups.groups[g]]++;
        for (size_t g = 0; g < 6; g++)
            assert_int_equal(times[g], 1);
        pm_query_parts_free(&parts);
    }
}

static size_t n_parts(const struct pm_structure *structure, enum pm_query_level level) {
    struct pm_query_parts parts;
    assert_true(pm_query_find_parts(structure, level, NULL, 0, &parts, NULL));
    size_t n = parts.n_parts;
    pm_query_parts_free(&parts);
    return n;
}

static void parts_are_the_rows_of_a_report(void **state) {
    assert_int_equal(n_parts(*state, PM_QUERY_PROGRAM), 1);
    assert_int_equal(n_parts(*state, PM_QUERY_ROUTINE), 2);
    assert_int_equal(n_parts(*state, PM_QUERY_LOOP), 4); /* i with its remainder, j, norm, main */
    assert_int_equal(n_parts(*state, PM_QUERY_GROUP), 6);
}

/* Groups of the parts that NAME gives, as a sum of 1 << group; 0 after an error. */
static unsigned groups_of(const struct pm_structure *structure, const char *name,
                          enum pm_query_level level, size_t *n) {
    struct pm_query_parts parts;
    struct pm_error err = {0};
    unsigned found = 0;
    if (!pm_query_find_parts(structure, level, &name, 1, &parts, &err))
        assert_true(*err.text);
    *n = parts.n_parts;
    for (size_t p = 0; p < parts.n_parts; p++)
        for (size_t g = 0; g < parts.parts[p].groups.n_groups; g++)
            found |= 1u << parts.parts[p].groups.groups[g];
    pm_query_parts_free(&parts);
    return found;
}

static void scopes_are_found_by_name(void **state) {
    size_t n;
    assert_int_equal(groups_of(*state, "step", PM_QUERY_PROGRAM, &n), 0xf);
    assert_int_equal(n, 1);
    assert_int_equal(groups_of(*state, "step/3", PM_QUERY_PROGRAM, &n), 0x7);
    assert_int_equal(groups_of(*state, "step/3 i", PM_QUERY_PROGRAM, &n), 0x7);
    assert_int_equal(groups_of(*state, "step/2", PM_QUERY_PROGRAM, &n), 0xf); /* with inner loops */
    assert_int_equal(groups_of(*state, "heat.c:29", PM_QUERY_PROGRAM, &n), 0xf);
    assert_int_equal(groups_of(*state, "norm", PM_QUERY_PROGRAM, &n), 0x10); /* inlined in main */
    assert_int_equal(groups_of(*state, "main", PM_QUERY_PROGRAM, &n), 0x30);
    assert_int_equal(groups_of(*state, "step/*", PM_QUERY_PROGRAM, &n), 0xf);
    assert_int_equal(n, 3); /* each with all that is in it */
    assert_int_equal(groups_of(*state, "step", PM_QUERY_LOOP, &n), 0xf);
    assert_int_equal(n, 2);
    assert_int_equal(groups_of(*state, "step", PM_QUERY_GROUP, &n), 0xf);
    assert_int_equal(n, 4);
    assert_int_equal(groups_of(*state, "ste", PM_QUERY_PROGRAM, &n), 0);
    assert_int_equal(groups_of(*state, "never", PM_QUERY_LOOP, &n), 0); /* has no access */
}

/* ---- answers --------------------------------------------------------------------------------- */

static char *written(const struct pm_query_report *report, enum pm_report_format format) {
    struct pm_report_options options = {.format = format, .min_percent = 0.5};
    char *text;
    CAPTURE(text, out, pm_report_query(out, report, &options));
    return text;
}

static void assert_written(const struct pm_query_report *report, const char *expected) {
    char *text = written(report, PM_REPORT_TABLE);
    assert_string_equal(text, expected);
    free(text);
}

struct example_query {
    struct pm_query_parts parts;
    struct pm_query_report report;
};

static const struct pm_set_cache fully_associative;
static const struct pm_query_caches no_level; /* that would have a sentence of its own */

static struct pm_query_row *add_row(struct example_query *query, double n, double blocks) {
    struct pm_query_row *row = PM_PUSH(&query->report.answers, rows);
    pm_parameters_set(&row->at, "N", n, NULL);
    row->cache_name = "512 KiB";
    row->cache = (struct pm_query_cache){.block_bytes = 64, .blocks = blocks};
    row->sets = &fully_associative;
    row->wanted = row->failing_size = row->gap_size = row->low = row->high = NAN;
    row->write_backs = NAN;
    row->counts = (struct pm_query_counts){.accesses = 1e6, .cold = 2e4, .misses = 5e4};
    row->unlimited = (struct pm_query_counts){.accesses = 1e6, .cold = 2e4, .misses = 2e4};
    row->predicted = true;
    row->extrapolation = n / 64;
    row->relative_error = 0.006;
    return row;
}

static void start(struct example_query *query, const struct pm_structure *structure,
                  enum pm_query_kind kind) {
    *query = (struct example_query){0};
    assert_true(pm_query_find_parts(structure, PM_QUERY_PROGRAM, NULL, 0, &query->parts, NULL));
    query->report = (struct pm_query_report){.kind = kind,
                                             .structure = structure,
                                             .parts = &query->parts,
                                             .caches = &no_level,
                                             .measured_up_to = "N=64",
                                             .with_cold = true,
                                             .solved = kind == PM_QUERY_SIZE ? "N" : NULL,
                                             .range = {.low = 24, .step = 1, .n = 1001}};
}

static void finish(struct example_query *query) {
    pm_query_parts_free(&query->parts);
    free(query->report.answers.rows);
}

static void misses_are_written(void **state) {
    struct example_query query;
    start(&query, *state, PM_QUERY_MISSES);
    add_row(&query, 64, 8192)->predicted = false;
    struct pm_query_row *predicted = add_row(&query, 256, 8192);
    predicted->low = 4.5e4;
    predicted->high = 5.6e4;
    assert_written(
        &query.report,
        "heat: misses of caches   measured up to N=64\n"
        "   N  CACHE    BLOCKS            ACCESSES  MISSES  80% BETWEEN  FIRST TOUCHES  HIT %  OF "
        "REUSES %  FROM\n"
        "  64  512 KiB  8192 of 64 bytes     1.00M   50.0k                       20.0k  95.00      "
        "  "
        "96.94  measured\n"
        " 256  512 KiB  8192 of 64 bytes     1.00M   50.0k  45.0k…56.0k          20.0k  95.00      "
        "  "
        "96.94  models, error 0.6%, extrapolated 4.0x\n"
        "  - HIT % counts first touches as misses, which no cache avoids; OF REUSES % leaves them "
        "out.\n");
    finish(&query);
}

static void the_smallest_cache_is_written(void **state) {
    struct example_query query;
    start(&query, *state, PM_QUERY_CACHE);
    struct pm_query_row *found = add_row(&query, 256, 1000);
    found->wanted = 0.95;
    found->low = 960;
    found->high = INFINITY;
    struct pm_query_row *none = add_row(&query, 256, INFINITY);
    none->wanted = 0.99;
    none->found = PM_QUERY_NONE;
    none->counts = none->unlimited;
    assert_written(
        &query.report,
        "heat: smallest fully associative LRU cache for a hit ratio   measured up to N=64\n"
        "   N  WANTED %  SMALLEST CACHE       80% BETWEEN  BLOCKS            HIT %  FROM\n"
        " 256        95  62.5 KiB             60 KiB…none  1000 of 64 bytes  95.00  models, error "
        "0.6%, extrapolated 4.0x\n"
        " 256        99  none: unlimited has                                 98.00  models, error "
        "0.6%, extrapolated 4.0x\n"
        "  - First touches count as misses, which no cache avoids: --no-cold leaves them out.\n");
    finish(&query);
}

static void the_largest_size_is_written(void **state) {
    struct example_query query;
    start(&query, *state, PM_QUERY_SIZE);
    struct pm_query_row *found = add_row(&query, 226, 8192);
    found->wanted = 0.95;
    found->failing_size = 227;
    found->gap_size = 100;
    found->low = 220;
    found->high = INFINITY;
    struct pm_query_row *none = add_row(&query, 24, 8192);
    none->wanted = 0.99;
    none->found = PM_QUERY_NONE;
    none->low = none->high = -INFINITY;
    struct pm_query_row *beyond = add_row(&query, 1024, 8192);
    beyond->wanted = 0.5;
    beyond->found = PM_QUERY_BEYOND;
    assert_written(
        &query.report,
        "heat: largest N for a hit ratio of fully associative LRU caches, looked for from N=24 to "
        "1024   measured up to N=64\n"
        " CACHE    WANTED %  LARGEST N  80% BETWEEN  HIT % THERE  FROM\n"
        " 512 KiB        95        226    220…>1024        95.00  models, error 0.6%, extrapolated "
        "3.5x\n"
        " 512 KiB        99       none                     95.00  models, error 0.6%\n"
        " 512 KiB        50     ≥ 1024                     95.00  models, error 0.6%, extrapolated "
        "16.0x\n"
        "  - 512 KiB: not all smaller ones have it: N=100 has not.\n"
        "  - 512 KiB: no N in the range has 99%; N=24 comes nearest with 95.00%, and even an "
        "unlimited cache has 98.00% there.\n"
        "  - ≥: the largest size that was looked at has it too; --range N=LOW:HIGH looks further.\n"
        "  - First touches count as misses, which no cache avoids: --no-cold leaves them out.\n");
    char *text = written(&query.report, PM_REPORT_JSON);
    json_t *document = json_loads(text, 0, NULL), *answers = json_object_get(document, "answers");
    free(text);
    assert_string_equal(json_string_value(json_object_get(document, "question")), "size");
    assert_int_equal(json_array_size(answers), 3);
    const json_t *first = json_array_get(answers, 0), *second = json_array_get(answers, 1);
    assert_int_equal(json_integer_value(json_object_get(first, "largest")), 226);
    assert_int_equal(json_integer_value(json_object_get(first, "next_does_not")), 227);
    assert_true(json_is_null(json_object_get(second, "largest")));
    const json_t *interval = json_object_get(first, "interval");
    assert_int_equal(json_integer_value(json_object_get(interval, "low")), 220);
    assert_true(json_is_null(json_object_get(interval, "high")));
    assert_true(json_real_value(json_object_get(second, "unlimited_hit_ratio")) == 0.98);
    json_decref(document);
    text = written(&query.report, PM_REPORT_CSV);
    assert_non_null(strstr(text, "\r\nheat,heat,"));
    assert_non_null(strstr(text, "N=226,,512 KiB,64,8192,0.95,found,1000000,50000,20000,,0.95,"));
    free(text);
    finish(&query);
}

static void what_fits_is_written(void **state) {
    static const char *const texts[] = {"1", "N", "N^2"};
    struct example_query query;
    start(&query, *state, PM_QUERY_FITS);
    struct pm_bin_model bin = {
        .distance = {.n_terms = 2, .terms = {2, 1}, .coefficients = {0.49812345, -0.795}}};
    struct pm_histogram_model histogram = {.group = 0, .n_bins = 1, .bins = &bin};
    struct pm_model_set models = {
        .basis = pm_basis_new(3, texts, NULL), .n_histograms = 1, .histograms = &histogram};
    struct pm_query_step step = {
        .all_hit = 180, .half_hit = 182, .some_hit = INFINITY, .share = 0.047};
    struct pm_query_fits fits[] = {
        {.steps = &step, .n_steps = 1, .missed_share = 0.05, .hit_share = 0.9}, {.hit_share = 1}};
    struct pm_query_level_cache caches[] = {
        {.name = (char[]){"L1"}, .machine = (char[]){"box"}, .cache = {64, 512}},
        {.name = (char[]){"L2"}, .machine = (char[]){"box"}, .cache = {64, 16384}}};
    query.report.solved = "N";
    query.report.models = &models;
    query.report.caches = &(struct pm_query_caches){caches, 2, 2};
    query.report.fits = fits;
    pm_parameters_set(&query.report.fixed, "M", 3, NULL);
    assert_written(
        &query.report,
        "heat: largest N at which reuses still hit in fully associative LRU caches on box, looked "
        "for from N=24 to 1024, at M=3   "
        "measured "
        "up to N=64\n"
        " LOOP  SOURCE  LEVEL  N UP TO   ALL…SOME  % OF ACCESSES  BLOCKS BETWEEN       DATA\n"
        " heat  ?       L1         <24                         5\n"
        "                          182  180…>1024            4.7  0.498*N^2 - 0.795*N  u\n"
        "               L2       >1024\n"
        "  - Up to this N so many of the loop's accesses still find their data in the level, "
        "because BLOCKS BETWEEN two uses of it (blocks of the level) are fewer than it has; "
        "beyond, "
        "they miss. ALL…SOME: the last N at which all, and any, of them hit, where that "
        "differs.\n");
    char *text = written(&query.report, PM_REPORT_JSON);
    json_t *document = json_loads(text, 0, NULL), *answers = json_object_get(document, "answers");
    free(text);
    const json_t *steps = json_object_get(json_array_get(answers, 0), "steps");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(steps, 0), "up_to")), 182);
    assert_true(json_is_null(json_object_get(json_array_get(steps, 0), "some_hit_up_to")));
    json_decref(document);
    text = written(&query.report, PM_REPORT_CSV);
    assert_non_null(strstr(text, ",M=3,box,L1,64,512,N,182,180,,0.047,0,"));
    free(text);
    pm_basis_free(models.basis);
    finish(&query);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_group_is_in_one_part, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_are_the_rows_of_a_report, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scopes_are_found_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(misses_are_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_smallest_cache_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_largest_size_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_fits_is_written, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
