/* Which core a processor has, and what is written of one that is known.  If this fails, a machine
   file of `pmodel probe` includes the wrong machine, or hides what contradicts it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machines/probe/known_core.h"

static const char CORES[] = "machines/x86-64.cores";

static char *recognised(const char *vendor, unsigned family, unsigned model, bool may_be_near) {
    struct pm_said said = {.family = family, .model = model};
    struct pm_error err = {0};
    strcpy(said.vendor, vendor);
    char *name = pm_recognise_core(CORES, &said, may_be_near, &err);
    assert_string_equal(err.text, "");
    return name;
}

static void check_name(char *name, const char *expected) {
    if (expected)
        assert_string_equal(name, expected);
    else
        assert_null(name);
    free(name);
}

static void cores_are_recognised_by_family_and_model(void **state) {
    (void)state;
    check_name(recognised("AuthenticAMD", 25, 17, false), "zen4");
    check_name(recognised("AuthenticAMD", 26, 2, false), "zen5");
    check_name(recognised("GenuineIntel", 6, 143, false), "sapphire-rapids");
    check_name(recognised("GenuineIntel", 6, 85, false), "skylake-sp");
    /* Zen 3 and Skylake's clients: only the nearest. */
    check_name(recognised("AuthenticAMD", 25, 1, false), NULL);
    check_name(recognised("AuthenticAMD", 25, 1, true), "zen4");
    check_name(recognised("GenuineIntel", 6, 94, true), "skylake-sp");
    check_name(recognised("unknown", 0, 0, true), NULL);
}

/* ---- by instructions ------------------------------------------------------------------------- */

static char *find_machine(const char *name, struct pm_error *err) {
    (void)err;
    return pm_sprintf("machines/%s.conf", name);
}

static struct pm_machine *machine_of(const char *name) {
    const struct pm_machine_options options = {.find = find_machine};
    struct pm_error err = {0};
    char *path = find_machine(name, &err);
    struct pm_machine *machine = pm_machine_read_with(path, &options, &err);
    assert_non_null(machine);
    free(path);
    return machine;
}

static struct pm_estimate around(double value) {
    return (struct pm_estimate){0.99 * value, value, 1.01 * value};
}

/* What would be measured on CORE, each figure up to a tenth off. */
static struct pm_instruction_costs costs_of(const struct pm_machine *core,
                                            const struct pm_forms *forms) {
    struct pm_instruction_costs costs = {0};
    for (size_t i = 0; i < forms->n_forms; i++) {
        const struct pm_cost *row = pm_row_of_form(core, &forms->forms[i]);
        double off = 0.9 + 0.02 * (double)(i % 11);
        if (row)
            *PM_PUSH(&costs, costs) = (struct pm_instruction_cost){
                .form = &forms->forms[i],
                .latency_cycles = around(off * row->latency_cycles),
                .throughput_cycles = around(off * pm_row_throughput(core, row))};
    }
    return costs;
}

static void a_core_that_lies_is_found_out(void **state) {
    (void)state;
    static const char *const names[] = {"zen4", "zen5", "skylake-sp", "sapphire-rapids"};
    enum { N = sizeof names / sizeof *names };
    struct pm_machine *machines[N];
    struct pm_forms forms = {0};
    struct pm_error err = {0};
    assert_true(pm_forms_read("machines/x86-64.probes", &forms, &err));
    for (int i = 0; i < N; i++)
        machines[i] = machine_of(names[i]);
    for (int i = 0; i < N; i++) {
        struct pm_instruction_costs costs = costs_of(machines[i], &forms);
        for (int j = 0; j < N; j++) {
            struct pm_core_check check;
            if (i == j)
                continue;
            assert_true(pm_core_is(machines[i], machines[j], &costs, &check));
            assert_true(check.differ >= 12);
            assert_false(pm_core_is(machines[j], machines[i], &costs, &check));
        }
        free(costs.costs);
    }
    for (int i = 0; i < N; i++)
        pm_machine_free(machines[i]);
    pm_forms_free(&forms);
}

/* ---- what is written ------------------------------------------------------------------------- */

static char *written_of(struct pm_machine_probe *probe) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    pm_machine_probe_write(to, probe);
    fclose(to);
    return text;
}

static void what_contradicts_the_core_is_written_with_both_values(void **state) {
    (void)state;
    struct pm_machine *zen4 = machine_of("zen4");
    struct pm_forms forms = {0};
    struct pm_error err = {0};
    assert_true(pm_forms_read("machines/x86-64.probes", &forms, &err));
    struct pm_estimate unknown = pm_estimate_unknown();
    struct pm_machine_probe probe = {.core = zen4, .instructions = {.issue_width = NAN}};
    pm_memory_probe_begin(&probe.memory);
    probe.rates.one_hz = probe.rates.all_hz = probe.rates.vectors_hz = around(3.1e9);
    probe.page_fault_cycles = around(6000);
    probe.instructions.window = (struct pm_estimate){310, 316, 330}; /* zen4 says 320 */
    probe.instructions.scheduler = probe.instructions.store_forward_cycles =
        probe.instructions.store_block_cycles = probe.instructions.store_line_cycles = unknown;
    probe.instructions.mispredict_cycles = around(30); /* 13 */
    for (size_t i = 0; i < forms.n_forms; i++)
        if (strcmp(forms.forms[i].text, "vaddsd xmm0, xmm1, xmm2") == 0 ||
            strcmp(forms.forms[i].text, "vmulsd xmm0, xmm1, xmm2") == 0) {
            bool adds = forms.forms[i].text[1] == 'a';
            forms.forms[i].can_chain = true;
            *PM_PUSH(&probe.instructions, costs) =
                (struct pm_instruction_cost){.form = &forms.forms[i],
                                             .latency_cycles = around(adds ? 2 : 3), /* both 3 */
                                             .throughput_cycles = around(0.5)};
        }
    *PM_PUSH(&probe.memory, caches) =
        (struct pm_probed_cache){.size_bytes = {30000, 32768, 34000},
                                 .latency_cycles = around(4),
                                 .line_bytes = around(64),
                                 .ways = unknown,
                                 .misses_in_flight = unknown,
                                 .bandwidth = {unknown, unknown, unknown}};
    *PM_PUSH(&probe.memory, caches) =
        (struct pm_probed_cache){.size_bytes = {500e3, 524288, 550e3},
                                 .latency_cycles = around(14),
                                 .line_bytes = around(64),
                                 .ways = pm_estimate_exactly(8),
                                 .misses_in_flight = unknown,
                                 .bandwidth = {unknown, unknown, unknown}};
    char *text = written_of(&probe);
    assert_non_null(strstr(text, "\ninclude = \"zen4\""));
    assert_null(strstr(text, "\nwindow"));
    assert_non_null(strstr(text, "\nmispredict_penalty = \"30"));
    assert_non_null(strstr(text, "zen4 says mispredict_penalty = 13"));
    assert_non_null(strstr(text, "vaddsd xmm0, xmm1, xmm2: zen4 says latency 3"));
    assert_null(strstr(text, "vmulsd"));
    assert_null(strstr(text, "cache L1"));
    assert_non_null(strstr(text, "cache L2 {  size = \"524288"));
    assert_non_null(strstr(text, "zen4 says L2.size = 1MiB"));

    /* It is a machine file, in which the rest is zen4's. */
    char *path = pm_sprintf("%s/here.conf", getenv("TMP"));
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    const struct pm_machine_options options = {.find = find_machine};
    struct pm_machine *machine = pm_machine_read_with(path, &options, &err);
    assert_string_equal(err.text, "");
    assert_non_null(machine);
    assert_true(machine->window == 320 && machine->mispredict_cycles == 30);
    assert_true(machine->levels[0].size_bytes == 32768 && machine->levels[1].size_bytes == 524288);
    assert_true(pm_machine_cost(machine, PM_OP_FP_ADD, 64, 8)->latency_cycles == 2);
    assert_true(pm_machine_cost(machine, PM_OP_FP_ADD, 256, 8)->latency_cycles == 3);
    pm_machine_free(machine);
    free(path);
    free(text);
    free(probe.instructions.costs);
    pm_memory_probe_free(&probe.memory);
    pm_forms_free(&forms);
    pm_machine_free(zen4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_are_recognised_by_family_and_model),
        cmocka_unit_test(a_core_that_lies_is_found_out),
        cmocka_unit_test(what_contradicts_the_core_is_written_with_both_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
