/* What a multiset takes in a model of units. */
#include <math.h>
#include <stdlib.h>

#include "machines/probe/ports/private.h"

double pm_port_issue_cycles(const struct pm_port_model *model,
                            const struct pm_port_experiment *experiment) {
    double slots = 0;
    for (unsigned i = 0; i < experiment->n_terms; i++)
        slots += experiment->terms[i].count * model->kinds[experiment->terms[i].kind].slots;
    return slots / model->width;
}

/* The loads of an experiment by set of ports, each set once. */
struct loads {
    unsigned n;
    uint32_t ports[PM_MOST_TERMS * PM_MOST_USES];
    double busy_cycles[PM_MOST_TERMS * PM_MOST_USES];
};

static void add_load(struct loads *loads, uint32_t ports, double busy_cycles) {
    for (unsigned i = 0; i < loads->n; i++)
        if (loads->ports[i] == ports) {
            loads->busy_cycles[i] += busy_cycles;
            return;
        }
    loads->ports[loads->n] = ports;
    loads->busy_cycles[loads->n++] = busy_cycles;
}

/* Every union of sets that overlap one another, the sets too. */
static unsigned unions_of(const struct loads *loads, uint32_t *unions, unsigned most) {
    unsigned n = 0;
    for (unsigned i = 0; i < loads->n; i++) {
        unsigned before = n;
        for (unsigned j = 0; j <= before && n < most; j++) {
            if (j < before && !(unions[j] & loads->ports[i]))
                continue;
            uint32_t both = loads->ports[i] | (j < before ? unions[j] : 0);
            bool is_new = true;
            for (unsigned k = 0; k < n && is_new; k++)
                is_new = unions[k] != both;
            if (is_new)
                unions[n++] = both;
        }
    }
    return n;
}

double pm_port_cycles_with(const struct pm_port_model *model,
                           const struct pm_port_experiment *experiment, uint32_t other,
                           const struct pm_port_kind *in_place) {
    enum { MOST_UNIONS = 256 };
    struct loads loads = {0};
    uint32_t unions[MOST_UNIONS];
    double slots = 0, cycles;
    for (unsigned i = 0; i < experiment->n_terms; i++) {
        uint32_t number = experiment->terms[i].kind;
        const struct pm_port_kind *kind = number == other ? in_place : &model->kinds[number];
        for (unsigned j = 0; j < kind->n_uses; j++)
            add_load(&loads, kind->uses[j].ports,
                     kind->uses[j].busy_cycles * experiment->terms[i].count);
        slots += kind->slots * experiment->terms[i].count;
    }
    cycles = slots / model->width;
    unsigned n = unions_of(&loads, unions, MOST_UNIONS);
    for (unsigned i = 0; i < n; i++) {
        double busy = 0;
        for (unsigned j = 0; j < loads.n; j++)
            if (!(loads.ports[j] & ~unions[i]))
                busy += loads.busy_cycles[j];
        cycles = fmax(cycles, busy / __builtin_popcount(unions[i]));
    }
    return cycles;
}

double pm_port_cycles(const struct pm_port_model *model,
                      const struct pm_port_experiment *experiment) {
    return pm_port_cycles_with(model, experiment, UINT32_MAX, NULL);
}

void pm_port_model_free(struct pm_port_model *model) {
    free(model->kinds);
    model->kinds = NULL;
    model->n_kinds = 0;
}
