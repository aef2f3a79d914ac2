/* Signatures, reading their curves, and convolution, by numbers made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sched/signature/signature.h"

#define HEAD                                                                                       \
    "title = \"by hand\"\nclock_mhz = 1000\nissue_width = 4\nvector_width = 64\n"                  \
    "out_of_order = true\nfma = true\nunit u { does = \"all\" }\n"                                 \
    "cost { of = {load_fp, store_fp, fp_fma, fp_add, fp_mult} latency = 1 units = {u} }\n"
#define CACHES                                                                                     \
    "cache L1 { size = 1KiB line = 64 ways = 0 latency = 1 miss_penalty = 8 exposed = 0.5 "        \
    "read_bandwidth = 8 }\n"                                                                       \
    "cache L2 { size = 16KiB line = 64 ways = 0 latency = 9 miss_penalty = 100 exposed = 0.5 "     \
    "read_bandwidth = 16 }\n"
/* 1, 2 and 10 cycles a word in order; 1, 2 and 17 at random, with a point between. */
#define CURVES                                                                                     \
    "curve r8 { of = read_bandwidth stride = 8 threads = 1 working_set = {512, 2048, 4096, "       \
    "65536} value = {8, 4, 4, 0.8}\n"                                                              \
    "  hits L1 { share = {1, 0.875, 0.875, 0.875} } hits L2 { share = {1, 1, 1, 0.875} } }\n"      \
    "curve r0 { of = read_bandwidth stride = 0 threads = 1 working_set = {512, 8192, 32768, "      \
    "65536} value = {8, 4, 0.8, 0.47058823529411764}\n"                                            \
    "  hits L1 { share = {1, 0, 0, 0} } hits L2 { share = {1, 1, 0.5, 0} } }\n"

static struct pm_machine *read_machine(const char *text) {
    char path[] = "/tmp/signature_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (int)strlen(text));
    close(file);
    struct pm_error err = {0};
    struct pm_machine *machine = pm_machine_read(path, &err);
    if (!machine)
        fail_msg("%s", err.text);
    unlink(path);
    return machine;
}

static struct pm_machine *begin(const char *text, struct pm_signature *signature) {
    struct pm_machine *machine = read_machine(text);
    struct pm_error err = {0};
    if (!pm_signature_make(machine, signature, &err))
        fail_msg("%s", err.text);
    return machine;
}

static void end(struct pm_machine *machine, struct pm_signature *signature) {
    pm_signature_free(signature);
    pm_machine_free(machine);
}

static double cycles_of(const struct pm_signature *signature, enum pm_stride_bin bin, double l1,
                        double l2, double *working_set) {
    struct pm_pattern pattern = {.references = 100, .words = 100, .misses = {100 * l1, 100 * l2}};
    struct pm_read_rate rate;
    pm_signature_read(signature, false, bin, &pattern, &rate);
    double sum = rate.hit_cycles;
    for (size_t l = 0; l < signature->n_caches; l++)
        sum += rate.level_cycles[l];
    assert_true(fabs(sum - rate.cycles) < 1e-12);
    if (working_set)
        *working_set = rate.working_set_bytes;
    return rate.cycles;
}

#define assert_close(a, b)                                                                         \
    assert_true(fabs((double)(a) - (double)(b)) < 1e-9 * fmax(1, fabs((double)(b))))

static void at_a_points_own_hit_rates_its_rate_is_read(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES CURVES, &s);
    double set;
    assert_false(s.is_synthesised);
    assert_close(cycles_of(&s, PM_STRIDE_BIN_1, 0, 0, &set), 1);
    assert_close(set, 512);
    assert_close(cycles_of(&s, PM_STRIDE_BIN_1, 0.125, 0, &set), 2);
    assert_close(set, 2048);
    assert_close(cycles_of(&s, PM_STRIDE_BIN_1, 0.125, 0.125, &set), 10);
    assert_close(set, 65536);
    assert_close(cycles_of(&s, PM_STRIDE_BIN_RANDOM, 1, 0.5, &set), 10);
    assert_close(set, 32768);
    end(machine, &s);
}

/* Half the stream from memory, half in the first cache: half of each one's time. */
static void between_points_times_are_mixed(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES CURVES, &s);
    double set;
    assert_close(cycles_of(&s, PM_STRIDE_BIN_1, 0.0625, 0.0625, NULL), 0.5 * 1 + 0.5 * 10);
    assert_close(cycles_of(&s, PM_STRIDE_BIN_RANDOM, 1, 0.75, &set), 0.5 * 10 + 0.5 * 17);
    assert_close(set, 32768 * sqrt(2));
    /* More misses than the curve has: in proportion. */
    assert_close(cycles_of(&s, PM_STRIDE_BIN_1, 0.25, 0, NULL), 1 + 2 * 1);
    end(machine, &s);
}

static void a_missing_stride_is_the_nearest_ones(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES CURVES, &s);
    assert_string_equal(pm_signature_curve(&s, false, PM_STRIDE_BIN_4)->name, "r8");
    assert_string_equal(pm_signature_curve(&s, false, PM_STRIDE_BIN_RANDOM)->name, "r0");
    assert_string_equal(pm_signature_curve(&s, true, PM_STRIDE_BIN_0)->name, "r8");
    end(machine, &s);
}

static void a_synthesised_signature_has_the_descriptions_steps(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES "memory { bandwidth_gbs = 4 }\n", &s);
    assert_true(s.is_synthesised);
    assert_int_equal(s.n_curves, 12);
    const struct pm_curve *in_order = pm_signature_curve(&s, false, PM_STRIDE_BIN_1);
    /* 1 cycle; 1/8 of a miss of L1, the larger of 8/2 and 64/16 cycles; 1/8 of 50, or 64/4. */
    assert_close(pm_signature_plateau(&s, in_order, 0), 8);
    assert_close(pm_signature_plateau(&s, in_order, 1), 8 / (1 + 4 / 8.0));
    assert_close(pm_signature_plateau(&s, in_order, 2), 8 / (1 + 4 / 8.0 + 50 / 8.0));
    assert_close(cycles_of(&s, PM_STRIDE_BIN_8, 1, 1, NULL), 1 + 4 + 50);
    end(machine, &s);
}

static void without_caches_or_penalties_there_is_a_sentence(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_error err = {0};
    struct pm_level caches[] = {{.name = "L1", .kind = PM_LEVEL_CACHE, .size_bytes = 1024}};
    struct pm_machine bare = {.name = "bare", .clock_hz = 1e9};
    assert_false(pm_signature_make(&bare, &s, &err));
    assert_non_null(strstr(err.text, "bare has no curves and no caches"));
    bare.levels = caches;
    bare.n_levels = 1;
    assert_false(pm_signature_make(&bare, &s, &err));
    assert_non_null(strstr(err.text, "what a miss of L1 costs"));
}

/* ---- convolution ------------------------------------------------------------------------------
 */

static struct pm_program_part part_of(uint32_t block, double flops, double words, double random,
                                      double misses) {
    struct pm_program_part part = {.block = block, .flops = flops};
    struct pm_pattern *in_order = &part.patterns.of[PM_PATTERN_LOADS][PM_STRIDE_BIN_1];
    struct pm_pattern *at_random = &part.patterns.of[PM_PATTERN_LOADS][PM_STRIDE_BIN_RANDOM];
    *in_order = (struct pm_pattern){words - random, words - random, {misses * (words - random)}};
    *at_random = (struct pm_pattern){random, random, {misses * random}};
    return part;
}

/* Two blocks of 100 words: one hits, 10⁹ words a second; one misses the first cache at random, 0.5
   · 10⁹.  2 flops a word, and 5. */
static void equations_and_the_sum_of_times_are_those_by_hand(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES CURVES, &s);
    struct pm_program_part list[] = {part_of(7, 200, 100, 0, 0), part_of(8, 500, 100, 100, 1)};
    struct pm_program_parts parts = {.parts = list, .n_parts = 2};
    struct pm_convolution c;
    struct pm_error err = {0};
    assert_true(pm_convolve(&s, &parts, &c, &err));
    assert_close(c.metasim_number, 0.5e9 + 0.25e9);
    assert_close(c.mean_flops, 0.5 * 1e9 * 2 + 0.5 * 0.5e9 * 5);
    assert_close(c.seconds, 100e-9 + 200e-9);
    assert_close(c.flops_rate, 700 / 300e-9);
    assert_close(c.domain_share, 0); /* the first is in order, the second has 5 flops a word */
    assert_close(c.parts[1].working_set_bytes, 8192);
    assert_close(c.parts[1].hit_rates[0], 0);
    pm_convolution_free(&c);
    end(machine, &s);
}

static void the_domain_is_a_quarter_and_a_tenth(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES CURVES, &s);
    static const struct {
        double flops, random;
        bool is_in;
    } cases[] = {{400, 10, true}, {401, 10, false}, {400, 9, false}, {0, 100, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pm_program_part part = part_of(1, cases[i].flops, 100, cases[i].random, 0);
        struct pm_program_parts parts = {.parts = &part, .n_parts = 1};
        struct pm_convolution c;
        struct pm_error err = {0};
        assert_true(pm_convolve(&s, &parts, &c, &err));
        assert_int_equal(c.parts[0].in_domain, cases[i].is_in);
        assert_close(c.share_without_flops, cases[i].flops > 0 ? 0 : 1);
        pm_convolution_free(&c);
    }
    end(machine, &s);
}

static void a_program_without_references_is_a_sentence(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES CURVES, &s);
    struct pm_program_parts parts = {0};
    struct pm_convolution c;
    struct pm_error err = {0};
    assert_false(pm_convolve(&s, &parts, &c, &err));
    assert_non_null(strstr(err.text, "nothing to convolve"));
    end(machine, &s);
}

/* ---- time, and roofs --------------------------------------------------------------------------
 */

/* 100 words at random that miss L1: 100 cycles for hits, 100 for misses.  Of a schedule of 150
   cycles they add 50; of one of 20, no more than what missing costs. */
static void misses_add_what_the_schedule_does_not_cover(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES CURVES, &s);
    struct pm_program_part part = part_of(1, 0, 100, 100, 1);
    struct pm_cost_sum sum = {.schedule_cycles = 150};
    pm_signature_memory_cycles(&s, &part.patterns, &sum);
    assert_close(sum.memory_cycles, 50);
    assert_close(sum.level_cycles[0], 50);
    sum = (struct pm_cost_sum){.schedule_cycles = 20};
    pm_signature_memory_cycles(&s, &part.patterns, &sum);
    assert_close(sum.memory_cycles, 100);
    machine->out_of_order = false;
    sum = (struct pm_cost_sum){.schedule_cycles = 150};
    pm_signature_memory_cycles(&s, &part.patterns, &sum);
    assert_close(sum.memory_cycles, 100);
    end(machine, &s);
}

static void roofs_are_the_plateaus_and_the_units(void **state) {
    (void)state;
    struct pm_signature s;
    struct pm_machine *machine = begin(HEAD CACHES CURVES, &s);
    struct pm_roofs roofs;
    pm_roofs_of(&s, &roofs);
    assert_int_equal(roofs.n_roofs, 3);
    assert_close(roofs.flops_per_second, 2e9); /* a multiply-add a cycle */
    assert_close(roofs.roofs[0].bytes_per_second, 8e9);
    assert_close(roofs.roofs[1].bytes_per_second, 4e9);
    assert_close(roofs.roofs[2].bytes_per_second, 0.8e9);
    assert_string_equal(roofs.roofs[2].name, "memory");
    pm_roofs_free(&roofs);
    end(machine, &s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_a_points_own_hit_rates_its_rate_is_read),
        cmocka_unit_test(between_points_times_are_mixed),
        cmocka_unit_test(a_missing_stride_is_the_nearest_ones),
        cmocka_unit_test(a_synthesised_signature_has_the_descriptions_steps),
        cmocka_unit_test(without_caches_or_penalties_there_is_a_sentence),
        cmocka_unit_test(equations_and_the_sum_of_times_are_those_by_hand),
        cmocka_unit_test(the_domain_is_a_quarter_and_a_tenth),
        cmocka_unit_test(a_program_without_references_is_a_sentence),
        cmocka_unit_test(misses_add_what_the_schedule_does_not_cover),
        cmocka_unit_test(roofs_are_the_plateaus_and_the_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
