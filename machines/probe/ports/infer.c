/* The search for the sets of ports (ports.h says how it goes). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/clock/clock.h"
#include "machines/probe/ports/private.h"

enum {
    MOST_SET = 6,            /* ports of a set */
    MOST_SECOND_SET = 3,     /* of a second use */
    MOST_CANDIDATES = 20000, /* of a kind */
    MOST_SWEEPS = 12,
    MOST_SWEEPS_QUICK = 3,
    BEST_FIRST_SETS = 16, /* that a second use is tried with */
    SAMPLE = 40,          /* experiments that candidates are tried on first */
    SAMPLE_QUICK = 15,
    FINALISTS = 150, /* candidates that are then tried on all */
};
/* A second use must explain so much more of |ln (predicted / measured)|: it always explains a
   little. */
static const double LEAST_GAIN = 0.004;
/* Of |ln (predicted / measured)|: what is more than this off says no more than this. */
static const double MOST_ERROR = 0.7;
/* A kind that is not slower than its slots alone uses no unit. */
static const double WIDTH_TOLERANCE = 1.06;
static const double LEAST_SWEEP_GAIN = 0.01; /* sum over all kinds */
/* Two sets of ports that do not share out the work evenly can take a little longer than one. */
static const double OWN_TOLERANCE = 1.04;
/* No unit is busy for less than a cycle, but for what is measured with an error; one that is fast
   is busy for whole cycles, but for so much; what is left of a use after a part is another's. */
static const double LEAST_BUSY = 0.93, FAST = 0.6, WHOLE_CYCLES = 0.1, LEAST_LEFT = 0.45;
static const double MOST_SECOND_BUSY = 4; /* cycles, of a second use */

struct search {
    struct pm_port_model *model;
    const double *own_cycles;
    const struct pm_port_experiment *experiments;
    size_t n_kinds;
    unsigned sample;
    bool *placed;       /* kinds that have their uses */
    struct pm_lists of; /* of each kind: the experiments that it is in */
};

struct candidates {
    PM_ARRAY(struct pm_port_kind, kinds);
};

/* ---- how well a kind's uses explain what was measured --------------------------------------- */

/* Mean error of the experiments of KIND among placed kinds, if it were USES; of each STEP-th. */
static double error_of(const struct search *search, uint32_t kind, const struct pm_port_kind *uses,
                       unsigned step) {
    double sum = 0;
    size_t n = 0;
    for (uint32_t i = search->of.first[kind]; i < search->of.first[kind + 1]; i += step) {
        const struct pm_port_experiment *experiment = &search->experiments[search->of.items[i]];
        bool known = true;
        for (unsigned j = 0; j < experiment->n_terms && known; j++)
            known = experiment->terms[j].kind == kind || search->placed[experiment->terms[j].kind];
        if (!known)
            continue;
        double predicted = pm_port_cycles_with(search->model, experiment, kind, uses);
        sum += fmin(fabs(log(predicted / experiment->cycles)), MOST_ERROR);
        n++;
    }
    return n ? sum / (double)n : 0;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Ports of all placed kinds but KIND. */
static uint32_t used_without(const struct search *search, uint32_t kind) {
    uint32_t used = 0;
    for (size_t i = 0; i < search->n_kinds; i++)
        for (unsigned j = 0; search->placed[i] && i != kind && j < search->model->kinds[i].n_uses;
             j++)
            used |= search->model->kinds[i].uses[j].ports;
    return used;
}

/* Classes of ports that no placed kind but KIND tells apart; the last is of ports not in use. */
static unsigned port_classes(const struct search *search, uint32_t kind, uint32_t *classes) {
    const struct pm_port_model *model = search->model;
    uint32_t used = used_without(search, kind);
    unsigned n = 1;
    classes[0] = used;
    for (size_t i = 0; i < search->n_kinds; i++)
        for (unsigned j = 0; search->placed[i] && i != kind && j < model->kinds[i].n_uses; j++) {
            uint32_t ports = model->kinds[i].uses[j].ports;
            unsigned before = n;
            for (unsigned k = 0; k < before; k++)
                if ((classes[k] & ports) && (classes[k] & ~ports)) {
                    classes[n++] = classes[k] & ~ports;
                    classes[k] &= ports;
                }
        }
    classes[n++] = ~used;
    if (!used) {
        classes[0] = ~0U;
        n = 1;
    }
    return n;
}

static uint32_t lowest_bits(uint32_t set, unsigned count) {
    uint32_t bits = 0;
    for (; count && set; count--) {
        bits |= set & -set;
        set &= set - 1;
    }
    return bits;
}

/* All sets of up to MOST ports, one for each choice of numbers out of the classes. */
static size_t sets_of_ports(const uint32_t *classes, unsigned n_classes, unsigned most,
                            uint32_t *sets, size_t room) {
    size_t n = 1;
    sets[0] = 0;
    for (unsigned c = 0; c < n_classes; c++) {
        size_t before = n;
        unsigned size = (unsigned)__builtin_popcount(classes[c]);
        for (size_t i = 0; i < before; i++)
            for (unsigned k = 1; k <= size; k++) {
                if ((unsigned)__builtin_popcount(sets[i]) + k > most || n == room)
                    break;
                sets[n++] = sets[i] | lowest_bits(classes[c], k);
            }
    }
    sets[0] = sets[--n]; /* not the empty one */
    return n;
}

static double own_cycles_of(const struct pm_port_kind *kind) {
    struct pm_port_kind one = *kind;
    struct pm_port_model model = {.width = 1, .n_kinds = 1, .kinds = &one};
    struct pm_port_experiment alone = {.n_terms = 1, .terms = {{0, 1}}};
    one.slots = 0;
    return pm_port_cycles(&model, &alone);
}

static void add_candidate(struct candidates *candidates, const struct pm_port_kind *kind) {
    if (candidates->n_kinds < MOST_CANDIDATES)
        *PM_PUSH(candidates, kinds) = *kind;
}

struct ranked {
    double error; /* or what else they are ranked by */
    size_t index;
};

static int by_error(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return x->error != y->error ? PM_COMPARE(x->error, y->error) : PM_COMPARE(x->index, y->index);
}

static void rank_by(const struct search *search, uint32_t kind, const struct candidates *candidates,
                    struct ranked *ranked, size_t n, unsigned step) {
#pragma omp parallel for schedule(dynamic, 16)
    for (size_t i = 0; i < n; i++)
        ranked[i].error = error_of(search, kind, &candidates->kinds[ranked[i].index], step);
    PM_SORT(ranked, n, by_error);
}

/* The best candidates by error, the smallest first, and how many; owned by the caller.  Those that
   a sample of the experiments already speaks against are left out. */
static struct ranked *rank(const struct search *search, uint32_t kind,
                           const struct candidates *candidates, size_t *n) {
    struct ranked *ranked = pm_alloc(candidates->n_kinds + 1, sizeof *ranked);
    uint32_t n_experiments = search->of.first[kind + 1] - search->of.first[kind];
    *n = candidates->n_kinds;
    for (size_t i = 0; i < *n; i++)
        ranked[i].index = i;
    if (n_experiments > 2 * search->sample && *n > FINALISTS) {
        rank_by(search, kind, candidates, ranked, *n, n_experiments / search->sample);
        *n = FINALISTS;
    }
    rank_by(search, kind, candidates, ranked, *n, 1);
    return ranked;
}

static unsigned count_ports(const struct pm_port_kind *kind) {
    unsigned n = 0;
    for (unsigned i = 0; i < kind->n_uses; i++)
        n += (unsigned)__builtin_popcount(kind->uses[i].ports);
    return n;
}

/* Of the candidates that are as good as the best, the one with the fewest ports, and among equals
   the one that shares the fewest ports with others: ports are shared only where a measurement says
   so. */
static const struct pm_port_kind *choose(const struct candidates *candidates,
                                         const struct ranked *ranked, size_t n, uint32_t used,
                                         double *error) {
    const struct pm_port_kind *best = &candidates->kinds[ranked[0].index];
    *error = ranked[0].error;
    unsigned fewest = UINT32_MAX;
    for (size_t i = 0; i < n && ranked[i].error <= *error + LEAST_GAIN / 2; i++) {
        const struct pm_port_kind *kind = &candidates->kinds[ranked[i].index];
        uint32_t all = 0;
        for (unsigned j = 0; j < kind->n_uses; j++)
            all |= kind->uses[j].ports;
        unsigned cost = 100 * count_ports(kind) + (unsigned)__builtin_popcount(all & used);
        if (cost < fewest) {
            fewest = cost;
            best = kind;
        }
    }
    return best;
}

/* ---- one kind -------------------------------------------------------------------------------- */

enum { MOST_SETS = 6000 };

/* Uses of one set each. */
static void add_single_sets(const struct search *search, uint32_t kind, const uint32_t *sets,
                            size_t n_sets, struct candidates *to) {
    for (size_t i = 0; i < n_sets; i++) {
        double busy = search->own_cycles[kind] * __builtin_popcount(sets[i]);
        if (busy < LEAST_BUSY)
            continue;
        if (search->own_cycles[kind] < FAST && fabs(busy - round(busy)) > WHOLE_CYCLES * busy)
            continue;
        struct pm_port_kind one = {.n_uses = 1, .slots = search->model->kinds[kind].slots};
        one.uses[0] = (struct pm_port_use){sets[i], busy};
        add_candidate(to, &one);
    }
}

/* FIRST and one more use, so that together they take as long as FIRST alone. */
static void add_more_uses(const struct search *search, uint32_t kind,
                          const struct pm_port_kind *first, const uint32_t *sets, size_t n_sets,
                          struct candidates *to) {
    double own = search->own_cycles[kind];
    if (first->n_uses == PM_MOST_USES)
        return;
    for (size_t i = 0; i < n_sets; i++)
        for (unsigned shared = 0; shared < 2; shared++)
            for (double busy = 1; busy <= MOST_SECOND_BUSY &&
                                  busy / __builtin_popcount(sets[i]) <= own * OWN_TOLERANCE;
                 busy++) {
                struct pm_port_kind two = *first;
                struct pm_port_use *taken = &two.uses[two.n_uses - 1];
                if (shared) /* a part of the first is in truth the second */
                    taken->busy_cycles -= busy;
                if (taken->busy_cycles < LEAST_LEFT || taken->ports == sets[i])
                    continue;
                two.uses[two.n_uses++] = (struct pm_port_use){sets[i], busy};
                double all = own_cycles_of(&two);
                if (all <= own * OWN_TOLERANCE && all >= own / OWN_TOLERANCE)
                    add_candidate(to, &two);
            }
}

/* The best of CANDIDATES, if it is better than *ERROR by GAIN. */
static void take_best(const struct search *search, uint32_t kind,
                      const struct candidates *candidates, double gain, struct pm_port_kind *best,
                      double *error) {
    if (!candidates->n_kinds)
        return;
    size_t n;
    double least;
    struct ranked *ranked = rank(search, kind, candidates, &n);
    const struct pm_port_kind *first =
        choose(candidates, ranked, n, used_without(search, kind), &least);
    if (least + gain < *error) {
        *best = *first;
        *error = least;
    }
    free(ranked);
}

/* Gives KIND the uses that explain most; by how much its error fell. */
static double place(struct search *search, uint32_t kind, bool may_have_more) {
    struct pm_port_kind *now = &search->model->kinds[kind];
    uint32_t classes[PM_MOST_PORTS + 1], *sets = pm_alloc(MOST_SETS, sizeof *sets);
    struct candidates singles = {0}, more = {0};
    struct pm_port_kind best = *now;
    double before = search->placed[kind] ? error_of(search, kind, now, 1) : INFINITY;
    double error = before;

    unsigned n_classes = port_classes(search, kind, classes);
    size_t n_sets = sets_of_ports(classes, n_classes, MOST_SET, sets, MOST_SETS);
    add_single_sets(search, kind, sets, n_sets, &singles);
    /* Simpler uses count as better where they explain nearly as much. */
    if (search->placed[kind] && now->n_uses > 1)
        error += LEAST_GAIN;
    take_best(search, kind, &singles, 0, &best, &error);
    if (error > before)
        error = before;

    if (may_have_more && error > LEAST_GAIN && singles.n_kinds) {
        size_t n;
        struct ranked *ranked = rank(search, kind, &singles, &n);
        n_sets = sets_of_ports(classes, n_classes, MOST_SECOND_SET, sets, MOST_SETS);
        for (size_t i = 0; i < n && i < BEST_FIRST_SETS; i++)
            add_more_uses(search, kind, &singles.kinds[ranked[i].index], sets, n_sets, &more);
        add_more_uses(search, kind, &best, sets, n_sets, &more);
        take_best(search, kind, &more, LEAST_GAIN, &best, &error);
        free(ranked);
    }
    free(singles.kinds);
    free(more.kinds);
    free(sets);
    if (!search->placed[kind] || before - error > 1e-6) {
        *now = best;
        search->placed[kind] = true;
        return isfinite(before) ? before - error : error;
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct pm_lists experiments_of_kinds(const struct search *search, size_t n_experiments) {
    struct {
        PM_ARRAY(uint32_t, kinds);
    } keys = {0};
    struct {
        PM_ARRAY(uint32_t, numbers);
    } items = {0};
    for (size_t i = 0; i < n_experiments; i++)
        for (unsigned j = 0; j < search->experiments[i].n_terms; j++) {
            *PM_PUSH(&keys, kinds) = search->experiments[i].terms[j].kind;
            *PM_PUSH(&items, numbers) = (uint32_t)i;
        }
    struct pm_lists lists =
        pm_lists_by_key(keys.kinds, items.numbers, keys.n_kinds, search->n_kinds);
    free(keys.kinds);
    free(items.numbers);
    return lists;
}

/* Ports in use get the numbers 0, 1 … */
static void number_ports(struct pm_port_model *model) {
    uint32_t used = 0;
    for (size_t i = 0; i < model->n_kinds; i++)
        for (unsigned j = 0; j < model->kinds[i].n_uses; j++)
            used |= model->kinds[i].uses[j].ports;
    model->n_ports = (unsigned)__builtin_popcount(used);
    for (size_t i = 0; i < model->n_kinds; i++)
        for (unsigned j = 0; j < model->kinds[i].n_uses; j++) {
            uint32_t old = model->kinds[i].uses[j].ports, packed = 0;
            for (uint32_t left = old; left; left &= left - 1)
                packed |= 1U << __builtin_popcount(used & ((left & -left) - 1));
            model->kinds[i].uses[j].ports = packed;
        }
}

void pm_infer_ports(struct pm_port_model *model, const double *own_cycles,
                    const struct pm_port_experiment *experiments, size_t n_experiments, bool quick,
                    double until) {
    struct search search = {.model = model,
                            .sample = quick ? SAMPLE_QUICK : SAMPLE,
                            .own_cycles = own_cycles,
                            .experiments = experiments,
                            .n_kinds = model->n_kinds,
                            .placed = pm_alloc(model->n_kinds + 1, sizeof *search.placed)};
    struct ranked *order = pm_alloc(model->n_kinds + 1, sizeof *order);
    search.of = experiments_of_kinds(&search, n_experiments);
    /* The fastest first: sets of many ports, of which others have subsets. */
    for (size_t i = 0; i < model->n_kinds; i++) {
        order[i] = (struct ranked){own_cycles[i], i};
        model->kinds[i].n_uses = 0;
    }
    PM_SORT(order, model->n_kinds, by_error);
    for (size_t i = 0; i < model->n_kinds; i++) {
        uint32_t kind = (uint32_t)order[i].index;
        if (own_cycles[kind] <= model->kinds[kind].slots / model->width * WIDTH_TOLERANCE)
            search.placed[kind] = true;
        else
            place(&search, kind, false);
    }
    double gain = 1;
    for (int sweep = 0;
         sweep < (quick ? MOST_SWEEPS_QUICK : MOST_SWEEPS) && gain > LEAST_SWEEP_GAIN; sweep++) {
        gain = 0;
        for (size_t i = 0; i < model->n_kinds && pm_clock_now() < until; i++) {
            uint32_t kind = (uint32_t)order[i].index;
            if (own_cycles[kind] > model->kinds[kind].slots / model->width * WIDTH_TOLERANCE)
                gain += place(&search, kind, sweep > 0);
        }
        if (sweep == 0 && pm_clock_now() < until)
            gain = 1;
    }
    number_ports(model);
    pm_lists_free(&search.of);
    free(search.placed);
    free(order);
}
