/* The order of the instruction probes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/instructions/private.h"

/* Of the time left. */
static const double THROUGHPUT_SHARE = 0.1, LATENCY_SHARE = 0.12, CORE_SHARE = 0.12,
                    AGAIN_SHARE = 0.4;
static const double SAME = 0.03; /* of two loops alike */
enum { CORE_MEASUREMENTS = 300, PASSES = 3 };

struct pm_estimate pm_loop_cycles(struct pm_clock *clock, struct pm_probe_loop *loop) {
    if (!loop)
        return pm_estimate_unknown();
    static const struct pm_effort effort = {.most_seconds = 0.02};
    struct pm_timing timing = pm_cycles(clock, pm_probe_loop_run, loop, &effort);
    struct pm_estimate cycles = pm_estimate_scaled(timing.cycles, 1.0 / pm_probe_loop_times(loop));
    pm_probe_loop_free(loop);
    return cycles;
}

double pm_multiset_cycles(struct pm_clock *clock, const struct pm_form_count *copies, size_t n) {
    /* Two loops agree mostly; where they do not, one lies badly, and a third tells. */
    static const struct pm_effort effort = {
        .round_seconds = 25e-6, .rounds = 9, .most_seconds = 0.02};
    double least = INFINITY, most = 0;
    for (int i = 0; i < 4 && (i < 2 || least < most * (1 - SAME)); i++) {
        struct pm_probe_loop *loop = pm_probe_loop_make(copies, n, PM_WIRED_APART, 0);
        if (!loop)
            return NAN;
        struct pm_timing timing = pm_cycles(clock, pm_probe_loop_run, loop, &effort);
        double cycles = timing.cycles.estimate / pm_probe_loop_times(loop);
        most = i == 0 || fabs(cycles - least) < SAME * least ? cycles : most;
        least = fmin(least, cycles);
        pm_probe_loop_free(loop);
    }
    return least;
}

void pm_visit(struct pm_estimate *figure, unsigned *agree, struct pm_estimate now) {
    bool same = fabs(now.estimate - figure->estimate) < SAME * figure->estimate;
    *agree = same ? *agree + 1 : *agree;
    if (!(now.estimate >= figure->estimate)) {
        *figure = now;
        *agree = same ? *agree : 1;
    }
}

static void measure_throughputs(struct pm_clock *clock, const struct pm_probe_effort *effort,
                                struct pm_instruction_costs *costs) {
    for (size_t i = 0; i < costs->n_costs && pm_probe_goes_on(effort); i++) {
        struct pm_form_count one = {costs->costs[i].form, 1};
        struct pm_estimate *cycles = &costs->costs[i].throughput_cycles;
        if (costs->costs[i].throughput_visits < PM_ENOUGH_VISITS)
            pm_visit(cycles, &costs->costs[i].throughput_visits,
                     pm_loop_cycles(clock, pm_probe_loop_make(&one, 1, PM_WIRED_APART, 0)));
    }
}

void pm_measure_instructions_again(struct pm_clock *clock, const struct pm_probe_effort *effort,
                                   struct pm_instruction_costs *costs) {
    if (pm_probe_part(effort, "instructions again", AGAIN_SHARE, costs->n_costs / 4))
        measure_throughputs(clock, effort, costs);
    if (pm_probe_part(effort, "instructions again", AGAIN_SHARE, costs->n_costs / 4))
        pm_measure_chains(clock, effort, costs);
}

void pm_measure_instructions(struct pm_clock *clock, const struct pm_forms *forms,
                             const struct pm_probe_effort *effort,
                             struct pm_instruction_costs *costs) {
    memset(costs, 0, sizeof *costs);
    costs->issue_width = costs->median_error = costs->p90_error = costs->taken_jumps = NAN;
    costs->window = costs->scheduler = costs->mispredict_cycles = costs->store_forward_cycles =
        costs->store_block_cycles = costs->store_line_cycles = pm_estimate_unknown();
    for (size_t i = 0; i < forms->n_forms; i++)
        if (forms->forms[i].executes)
            *PM_PUSH(costs, costs) = (struct pm_instruction_cost){
                .form = &forms->forms[i],
                .throughput_cycles = pm_estimate_unknown(),
                .latency_cycles = pm_estimate_unknown(),
                .slots = NAN,
                .kind = PM_NONE,
            };
    if (pm_probe_part(effort, "throughput of instructions", THROUGHPUT_SHARE, costs->n_costs))
        for (int pass = 0; pass < PASSES; pass++)
            measure_throughputs(clock, effort, costs);
    if (pm_probe_part(effort, "latency of instructions", LATENCY_SHARE, 2 * costs->n_costs)) {
        for (int pass = 0; pass < PASSES; pass++)
            pm_measure_chains(clock, effort, costs);
        pm_measure_crossings(clock, effort, costs);
    }
    if (!pm_probe_part(effort, "window, branches, store forwarding", CORE_SHARE, CORE_MEASUREMENTS))
        return;
    costs->mispredict_cycles = pm_measure_mispredict(clock);
    costs->taken_jumps = pm_measure_taken_jumps(clock);
    costs->store_forward_cycles = pm_measure_store_forwarding(clock);
    costs->store_block_cycles = pm_measure_store_block(clock);
    costs->store_line_cycles = pm_measure_store_line(clock);
    costs->window = pm_measure_window(clock);
    costs->scheduler = pm_measure_scheduler(clock);
}

void pm_instruction_costs_free(struct pm_instruction_costs *costs) {
    free(costs->costs);
    free(costs->leaders);
    pm_port_model_free(&costs->ports);
    pm_resource_model_free(&costs->resources);
    memset(costs, 0, sizeof *costs);
}
