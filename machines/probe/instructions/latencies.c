/* Latencies, by chains.

   Copies of an instruction whose result is its own source give its latency.  Where source and
   result are in different register files a chain has to come back by another instruction: of the
   fastest way there and back nobody can say how it is split, so each gets half, and the interval
   is all that is left when the other takes one cycle at least.  Whatever else crosses is measured
   against these. */
#include <math.h>

#include "machines/probe/instructions/private.h"

/* The fastest way from a file to another. */
struct crossing {
    const struct pm_form *form; /* NULL: none is known */
    struct pm_estimate cycles;
};

typedef struct crossing crossings[PM_N_FILES][PM_N_FILES];

static struct pm_estimate chain_cycles(struct pm_clock *clock, const struct pm_form *const *forms,
                                       size_t n) {
    struct pm_form_count copies[3];
    double extra = 0;
    for (size_t i = 0; i < n; i++) {
        copies[i] = (struct pm_form_count){forms[i], 1};
        extra += forms[i]->chain_extra_cycles;
    }
    struct pm_probe_loop *loop = pm_probe_loop_make(copies, n, PM_WIRED_CHAIN, 0);
    if (loop && !pm_probe_loop_can_run(loop)) { /* an address was cut short on its way */
        pm_probe_loop_free(loop);
        loop = NULL;
    }
    struct pm_estimate cycles = pm_loop_cycles(clock, loop);
    return (struct pm_estimate){cycles.low - extra, cycles.estimate - extra, cycles.high - extra};
}

static bool crosses(const struct pm_form *form) { return form->can_link && form->from != form->to; }

/* The pair of instructions that goes from file A to B and back in the fewest cycles. */
static void find_crossing(struct pm_clock *clock, const struct pm_instruction_costs *costs, int a,
                          int b, crossings best) {
    double fewest = INFINITY;
    for (size_t i = 0; i < costs->n_costs; i++) {
        const struct pm_form *there = costs->costs[i].form;
        if (!crosses(there) || (int)there->from != a || (int)there->to != b || there->is_load)
            continue;
        for (size_t j = 0; j < costs->n_costs; j++) {
            const struct pm_form *back = costs->costs[j].form;
            if (!crosses(back) || (int)back->from != b || (int)back->to != a || back->is_load)
                continue;
            struct pm_estimate both =
                chain_cycles(clock, (const struct pm_form *[]){there, back}, 2);
            /* Less than a cycle each: the one does not wait for the other, whose flags it leaves.
             */
            if (both.estimate > 1.9 && both.estimate < fewest * 0.98) {
                fewest = both.estimate;
                struct pm_estimate half = {1, both.estimate / 2, both.high - 1};
                best[a][b] = (struct crossing){there, half};
                best[b][a] = (struct crossing){back, half};
            }
        }
    }
}

static struct pm_estimate less(struct pm_estimate sum, struct pm_estimate part) {
    struct pm_estimate rest = {sum.low - part.high, sum.estimate - part.estimate,
                               sum.high - part.low};
    if (isnan(rest.estimate))
        return pm_estimate_unknown();
    rest.low = fmax(rest.low, 0);
    rest.high = fmax(rest.high, rest.low);
    rest.estimate = fmin(fmax(rest.estimate, rest.low), rest.high);
    return rest;
}

/* Of a load into another file: its result must come back as a whole address. */
static struct pm_estimate load_latency(struct pm_clock *clock,
                                       const struct pm_instruction_costs *costs,
                                       const struct pm_form *load, crossings best) {
    struct pm_estimate least = pm_estimate_unknown();
    for (size_t i = 0; i < costs->n_costs; i++) {
        const struct pm_form *back = costs->costs[i].form;
        if (!crosses(back) || back->is_load || back->from != load->to ||
            back->to != PM_FILE_GENERAL)
            continue;
        struct pm_estimate both = chain_cycles(clock, (const struct pm_form *[]){load, back}, 2);
        if (!isnan(both.estimate) && !(both.estimate >= least.estimate))
            least = both;
    }
    return less(least, best[load->to][PM_FILE_GENERAL].cycles);
}

/* Of FORM, which crosses, by a known way back: directly, or through general registers. */
static struct pm_estimate crossing_latency(struct pm_clock *clock, const struct pm_form *form,
                                           crossings best) {
    const struct crossing *back = &best[form->to][form->from];
    if (back->form)
        return less(chain_cycles(clock, (const struct pm_form *[]){form, back->form}, 2),
                    back->cycles);
    const struct crossing *first = &best[form->to][PM_FILE_GENERAL];
    const struct crossing *second = &best[PM_FILE_GENERAL][form->from];
    if (!first->form || !second->form)
        return pm_estimate_unknown();
    return less(
        less(chain_cycles(clock, (const struct pm_form *[]){form, first->form, second->form}, 3),
             first->cycles),
        second->cycles);
}

void pm_measure_chains(struct pm_clock *clock, const struct pm_probe_effort *effort,
                       struct pm_instruction_costs *costs) {
    for (size_t i = 0; i < costs->n_costs && pm_probe_goes_on(effort); i++) {
        const struct pm_form *form = costs->costs[i].form;
        struct pm_estimate *cycles = &costs->costs[i].latency_cycles;
        if (form->can_chain && costs->costs[i].latency_visits < PM_ENOUGH_VISITS)
            pm_visit(cycles, &costs->costs[i].latency_visits, chain_cycles(clock, &form, 1));
    }
}

void pm_measure_crossings(struct pm_clock *clock, const struct pm_probe_effort *effort,
                          struct pm_instruction_costs *costs) {
    crossings best = {0};
    if (!pm_probe_goes_on(effort))
        return;
    find_crossing(clock, costs, PM_FILE_GENERAL, PM_FILE_VECTOR, best);
    find_crossing(clock, costs, PM_FILE_GENERAL, PM_FILE_MASK, best);
    find_crossing(clock, costs, PM_FILE_GENERAL, PM_FILE_FLAGS, best);
    for (size_t i = 0; i < costs->n_costs && pm_probe_goes_on(effort); i++) {
        const struct pm_form *form = costs->costs[i].form;
        if (form->can_chain || !crosses(form))
            continue;
        costs->costs[i].latency_cycles = form->is_load ? load_latency(clock, costs, form, best)
                                                       : crossing_latency(clock, form, best);
    }
}
