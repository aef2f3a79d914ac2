/* The order of the probes. */
#include "machines/probe/probe.h"

#include <math.h>
#include <string.h>

/* A part of the whole, for progress. */
struct part {
    const struct pm_probe_effort *whole;
    double from, to;
};

static void progress_of_part(void *context, const char *what, double share) {
    const struct part *part = context;
    if (part->whole->progress)
        part->whole->progress(part->whole->context, what,
                              part->from + (part->to - part->from) * share);
}

static bool stop_of_part(void *context) {
    const struct part *part = context;
    return part->whole->stop && part->whole->stop(part->whole->context);
}

static struct pm_probe_effort effort_of_part(struct part *part) {
    return (struct pm_probe_effort){.quick = part->whole->quick,
                                    .progress = progress_of_part,
                                    .stop = stop_of_part,
                                    .context = part};
}

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

bool pm_probe(const char *forms_path, const struct pm_probe_effort *effort,
              struct pm_machine_probe *probe, struct pm_error *err) {
    /* Of the time that a whole probe takes. */
    static const double INSTRUCTIONS_END = 0.35;
    memset(probe, 0, sizeof *probe);
    pm_memory_probe_begin(&probe->memory);
    double begin = pm_clock_now();
    probe->quick = effort->quick;
    probe->said = pm_what_is_said(); /* before the clock binds the thread to one of its CPUs */
    struct pm_forms forms = {0};
    struct pm_memory_bench bench;
    struct pm_clock *clock = pm_clock_new(err);
    if (!clock || !pm_forms_read(forms_path, &forms, err)) {
        pm_clock_free(clock);
        pm_machine_probe_free(probe);
        return false;
    }
    pm_forms_try(&forms);
    pm_probe_goes_on(effort, "clock", 0);
    measure_rates(clock, &forms, probe);
    probe->page_fault_cycles = pm_measure_page_fault(1 / probe->rates.one_hz.estimate);

    struct part instructions = {effort, 0.01, INSTRUCTIONS_END};
    struct pm_probe_effort of_part = effort_of_part(&instructions);
    pm_measure_instructions(clock, &forms, &of_part, &probe->instructions);

    if (!stop_of_part(&instructions) &&
        pm_memory_host(clock, probe->said.cpus, probe->said.n_cpus, &bench, err)) {
        struct part memory = {effort, INSTRUCTIONS_END, 1};
        of_part = effort_of_part(&memory);
        pm_probe_memory(&bench, 1 / probe->rates.one_hz.estimate, &of_part, &probe->memory);
        pm_memory_host_free(&bench);
    }
    probe->stopped = stop_of_part(&instructions);
    probe->rounds = pm_clock_rounds(clock);
    probe->discarded = pm_clock_discarded(clock);
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
