/* The order of the probes. */
#include "machines/probe/probe.h"

#include <math.h>
#include <string.h>

/* What is under way then is finished, which takes a second or two. */
static const double QUICK_SECONDS = 26, WHOLE_SECONDS = 285;
static const double CLOCK_SHARE = 0.05;

/* The widest fused multiply-adds that this processor executes. */
static struct pm_probe_loop *widest_vectors(const struct pm_forms *forms) {
    const struct pm_form *widest = NULL;
    for (size_t i = 0; i < forms->n_forms; i++) {
        const struct pm_form *form = &forms->forms[i];
        if (form->executes && form->op_class == PM_OP_FP_FMA &&
            (!widest || form->width_bits > widest->width_bits))
            widest = form;
    }
    if (!widest)
        return NULL;
    struct pm_form_count copies = {widest, 1};
    return pm_probe_loop_make(&copies, 1, PM_WIRED_APART, 0);
}

static void measure_rates(struct pm_clock *clock, const struct pm_forms *forms,
                          struct pm_machine_probe *probe) {
    struct pm_probe_loop *vectors = widest_vectors(forms);
    probe->rates = pm_measure_rates(clock, probe->said.cpus, probe->said.n_cpus,
                                    vectors ? pm_probe_loop_run : NULL, vectors);
    pm_probe_loop_free(vectors);
}

/* Is it the core that cpuid names?  CHECK is the one that says most against it. */
static void check_core(const struct pm_probe_request *request, struct pm_machine_probe *probe) {
    bool is_it = request->core != NULL;
    double least = INFINITY;
    for (size_t i = 0; request->core && i < request->n_others; i++) {
        struct pm_core_check check;
        is_it &= pm_core_is(request->core, request->others[i], &probe->instructions, &check);
        double share = (double)check.agree / (double)check.differ;
        if (check.differ && share < least) {
            least = share;
            probe->check = check;
        }
    }
    probe->core = is_it ? request->core : NULL;
}

bool pm_probe(const struct pm_probe_request *request, const struct pm_probe_effort *given,
              struct pm_machine_probe *probe, struct pm_error *err) {
    memset(probe, 0, sizeof *probe);
    pm_memory_probe_begin(&probe->memory);
    double begin = pm_clock_now();
    struct pm_probe_budget budget = {.begin = begin,
                                     .end = begin + (given->quick ? QUICK_SECONDS : WHOLE_SECONDS)};
    struct pm_probe_effort effort = *given;
    effort.budget = &budget;
    probe->quick = effort.quick;
    probe->said = pm_what_is_said(); /* before the clock binds the thread to one of its CPUs */
    struct pm_forms forms = {0};
    struct pm_memory_bench bench;
    struct pm_clock *clock = pm_clock_new(err);
    if (!clock || !pm_forms_read(request->forms_path, &forms, err)) {
        pm_clock_free(clock);
        pm_machine_probe_free(probe);
        return false;
    }
    pm_clock_budget(clock, &budget);
    pm_forms_try(&forms);
    pm_probe_part(&effort, "clock", CLOCK_SHARE, 1);
    measure_rates(clock, &forms, probe);
    probe->page_fault_cycles = pm_measure_page_fault(1 / probe->rates.one_hz.estimate);
    pm_measure_instructions(clock, &forms, &effort, &probe->instructions);
    check_core(request, probe);
    if (!probe->core)
        pm_measure_units(clock, &effort, &probe->instructions);

    if (!pm_probe_ends(&effort) &&
        pm_memory_host(clock, probe->said.cpus, probe->said.n_cpus, &bench, err)) {
        pm_probe_memory(&bench, 1 / probe->rates.one_hz.estimate, &effort, &probe->memory);
        pm_memory_host_free(&bench);
    }
    pm_measure_instructions_again(clock, &effort, &probe->instructions);
    probe->stopped = effort.stop && effort.stop(effort.context);
    probe->load = pm_clock_load(clock);
    probe->seconds = pm_clock_now() - begin;
    probe->forms = forms;
    pm_clock_free(clock);
    return true;
}

void pm_machine_probe_free(struct pm_machine_probe *probe) {
    pm_said_free(&probe->said);
    pm_instruction_costs_free(&probe->instructions);
    pm_memory_probe_free(&probe->memory);
    pm_forms_free(&probe->forms);
    memset(probe, 0, sizeof *probe);
}
