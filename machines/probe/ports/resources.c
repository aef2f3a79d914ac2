/* From sets of ports to resources whose loads are fitted (ports.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/clock/clock.h"
#include "machines/probe/ports/private.h"

enum {
    MOST_RESOURCES = 48,
    MOST_UNIONS = 512,
    STEPS = 1500,
    STEPS_WHEN_SPARSE = 600,
    OWN_WEIGHT = 4, /* of a kind alone, against an experiment: its throughput is what users read */
};
static const double MOST_OF_TIME = 0.7; /* for the steps before small loads are dropped */
static const double STEP = 0.02;        /* of a load, at first */
static const double WHERE_ERRORS_COUNT_EQUAL = 0.03;
/* Of the gradient: what explains nothing goes to zero.  Kept where unseen multisets are predicted
   as well as without. */
static const double DECAY = 1e-4;
static const double LEAST_LOAD = 0.02;    /* of the kind's own cycles: smaller ones are dropped */
static const double LEAST_SHARE = 0.0025; /* of the experiments that a resource limits */

/* ---- resources from ports -------------------------------------------------------------------- */

static size_t all_unions(const struct pm_port_model *model, uint32_t *unions) {
    size_t n = 0;
    for (size_t i = 0; i < model->n_kinds; i++)
        for (unsigned j = 0; j < model->kinds[i].n_uses; j++) {
            uint32_t set = model->kinds[i].uses[j].ports;
            size_t before = n;
            for (size_t k = 0; k <= before && n < MOST_UNIONS; k++) {
                if (k < before && !(unions[k] & set))
                    continue;
                uint32_t both = set | (k < before ? unions[k] : 0);
                bool is_new = true;
                for (size_t l = 0; l < n && is_new; l++)
                    is_new = unions[l] != both;
                if (is_new)
                    unions[n++] = both;
            }
        }
    return n;
}

static double load_of(const struct pm_port_kind *kind, uint32_t ports) {
    double busy = 0;
    for (unsigned i = 0; i < kind->n_uses; i++)
        if (!(kind->uses[i].ports & ~ports))
            busy += kind->uses[i].busy_cycles;
    return busy / __builtin_popcount(ports);
}

/* The resource that limits EXPERIMENT; n_resources: the issue width. */
static size_t limit_of(const struct pm_resource_model *model,
                       const struct pm_port_experiment *experiment, double *cycles) {
    double sums[MOST_UNIONS] = {0}, slots = 0;
    size_t limit = model->n_resources;
    for (unsigned i = 0; i < experiment->n_terms; i++) {
        const double *loads = model->loads + experiment->terms[i].kind * model->n_resources;
        double count = experiment->terms[i].count;
        slots += count * model->slots[experiment->terms[i].kind];
        for (size_t r = 0; r < model->n_resources; r++)
            sums[r] += count * loads[r];
    }
    *cycles = slots / model->width;
    for (size_t r = 0; r < model->n_resources; r++)
        if (sums[r] > *cycles) {
            *cycles = sums[r];
            limit = r;
        }
    return limit;
}

double pm_resource_cycles(const struct pm_resource_model *model,
                          const struct pm_port_experiment *experiment) {
    double cycles;
    limit_of(model, experiment, &cycles);
    return cycles;
}

struct usage {
    size_t limits; /* how many experiments */
    size_t resource;
};

static int most_used_first(const void *a, const void *b) {
    const struct usage *x = a, *y = b;
    return x->limits != y->limits ? PM_COMPARE(y->limits, x->limits)
                                  : PM_COMPARE(x->resource, y->resource);
}

/* Leaves the resources that limit experiments. */
static void keep_what_limits(struct pm_resource_model *model,
                             const struct pm_port_experiment *experiments, size_t n) {
    struct usage *usage = pm_alloc(model->n_resources + 1, sizeof *usage);
    for (size_t r = 0; r <= model->n_resources; r++)
        usage[r].resource = r;
    for (size_t i = 0; i < n; i++) {
        double cycles;
        usage[limit_of(model, &experiments[i], &cycles)].limits++;
    }
    usage[model->n_resources].limits = 0;
    PM_SORT(usage, model->n_resources, most_used_first);
    size_t n_kept = 0;
    while (n_kept < model->n_resources && n_kept < MOST_RESOURCES &&
           (double)usage[n_kept].limits >= LEAST_SHARE * (double)n)
        n_kept++;
    double *loads = pm_alloc(model->n_kinds * n_kept + 1, sizeof *loads);
    uint32_t *ports = pm_alloc(n_kept + 1, sizeof *ports);
    for (size_t r = 0; r < n_kept; r++) {
        ports[r] = model->ports[usage[r].resource];
        for (size_t i = 0; i < model->n_kinds; i++)
            loads[i * n_kept + r] = model->loads[i * model->n_resources + usage[r].resource];
    }
    free(model->loads);
    free(model->ports);
    free(usage);
    model->loads = loads;
    model->ports = ports;
    model->n_resources = n_kept;
}

/* ---- the fit --------------------------------------------------------------------------------- */

/* Adam's moments of the gradient (Kingma & Ba 2015), scaled by each load's size. */
struct descent {
    double *gradient, *first, *second, *weight; /* n_kinds · n_resources; weight: of each kind */
};

static void add_gradient(const struct pm_resource_model *model,
                         const struct pm_port_experiment *experiment, double weight,
                         struct descent *descent) {
    double predicted;
    size_t limit = limit_of(model, experiment, &predicted);
    if (limit == model->n_resources)
        return;
    double error = log(predicted / experiment->cycles);
    double slope = weight * tanh(error / WHERE_ERRORS_COUNT_EQUAL) / predicted;
    for (unsigned i = 0; i < experiment->n_terms; i++)
        descent->gradient[experiment->terms[i].kind * model->n_resources + limit] +=
            slope * experiment->terms[i].count;
}

static void descend(struct pm_resource_model *model, const double *own_cycles,
                    const struct pm_port_experiment *experiments, size_t n, int steps,
                    bool only_what_is, double until) {
    size_t n_loads = model->n_kinds * model->n_resources;
    struct descent descent = {
        pm_alloc(n_loads + 1, sizeof(double)), pm_alloc(n_loads + 1, sizeof(double)),
        pm_alloc(n_loads + 1, sizeof(double)), pm_alloc(model->n_kinds + 1, sizeof(double))};
    for (size_t i = 0; i < n; i++)
        for (unsigned j = 0; j < experiments[i].n_terms; j++)
            descent.weight[experiments[i].terms[j].kind] += experiments[i].terms[j].count;
    double begin = pm_clock_now(), done = 0;
    for (int step = 0; step < steps && done < 1; step++) {
        done = fmax((double)step / steps, (pm_clock_now() - begin) / fmax(0, until - begin));
        double rate = STEP * (0.5 + 0.5 * cos(M_PI * fmin(done, 1)));
        memset(descent.gradient, 0, n_loads * sizeof *descent.gradient);
        for (size_t i = 0; i < n; i++)
            add_gradient(model, &experiments[i], 1, &descent);
        for (size_t i = 0; i < model->n_kinds; i++) {
            struct pm_port_experiment alone = {
                .n_terms = 1, .terms = {{(uint32_t)i, 1}}, .cycles = own_cycles[i]};
            add_gradient(model, &alone, OWN_WEIGHT, &descent);
        }
        for (size_t i = 0; i < n_loads; i++) {
            size_t kind = i / model->n_resources;
            double g = descent.gradient[i] / (descent.weight[kind] + 1) + DECAY;
            descent.first[i] = 0.9 * descent.first[i] + 0.1 * g;
            descent.second[i] = 0.99 * descent.second[i] + 0.01 * g * g;
            if (only_what_is && model->loads[i] == 0)
                continue;
            double scale = fmax(model->loads[i], LEAST_LOAD * own_cycles[kind]);
            model->loads[i] = fmax(0, model->loads[i] - rate * scale * descent.first[i] /
                                                            (sqrt(descent.second[i]) + 1e-9));
        }
    }
    free(descent.gradient);
    free(descent.first);
    free(descent.second);
    free(descent.weight);
}

/* Of each kind only the largest loads. */
static void drop_small_loads(struct pm_resource_model *model, const double *own_cycles) {
    double *sorted = pm_alloc(model->n_resources + 1, sizeof *sorted);
    for (size_t i = 0; i < model->n_kinds; i++) {
        double *loads = model->loads + i * model->n_resources;
        double least = LEAST_LOAD * own_cycles[i];
        memcpy(sorted, loads, model->n_resources * sizeof *sorted);
        PM_SORT(sorted, model->n_resources, pm_compare_doubles);
        if (model->n_resources > PM_MOST_LOADS)
            least = fmax(least, sorted[model->n_resources - PM_MOST_LOADS]);
        for (size_t r = 0; r < model->n_resources; r++)
            if (loads[r] < least)
                loads[r] = 0;
    }
    free(sorted);
}

struct pm_resource_model pm_refine_resources(const struct pm_port_model *model,
                                             const double *own_cycles,
                                             const struct pm_port_experiment *experiments,
                                             size_t n_experiments, double until) {
    double begin = pm_clock_now();
    uint32_t unions[MOST_UNIONS];
    struct pm_resource_model refined = {.n_kinds = model->n_kinds, .width = model->width};
    refined.n_resources = all_unions(model, unions);
    refined.slots = pm_alloc(model->n_kinds + 1, sizeof *refined.slots);
    refined.loads = pm_alloc(model->n_kinds * refined.n_resources + 1, sizeof *refined.loads);
    refined.ports = pm_alloc(refined.n_resources + 1, sizeof *refined.ports);
    memcpy(refined.ports, unions, refined.n_resources * sizeof *unions);
    for (size_t i = 0; i < model->n_kinds; i++) {
        refined.slots[i] = model->kinds[i].slots;
        for (size_t r = 0; r < refined.n_resources; r++)
            refined.loads[i * refined.n_resources + r] = load_of(&model->kinds[i], unions[r]);
    }
    keep_what_limits(&refined, experiments, n_experiments);
    descend(&refined, own_cycles, experiments, n_experiments, STEPS, false,
            isinf(until) ? until : begin + MOST_OF_TIME * (until - begin));
    drop_small_loads(&refined, own_cycles);
    descend(&refined, own_cycles, experiments, n_experiments, STEPS_WHEN_SPARSE, true, until);
    return refined;
}

void pm_resource_model_free(struct pm_resource_model *model) {
    free(model->slots);
    free(model->loads);
    free(model->ports);
    memset(model, 0, sizeof *model);
}
