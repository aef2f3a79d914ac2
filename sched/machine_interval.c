/* What the machine's figures may change of the time of each scope, downwards and upwards: each
   figure by itself, since what makes one machine faster than its file makes it so on one side.

       below = √Σ below(f)²,  above = √Σ above(f)²

   Figure f of value v lies between l and h, as it was measured; where it is unverified,
   between v / (1 + m) and v · (1 + m) (doubts.c).

       size of a level     T − T(size that misses less),  T(size that misses more) − T
       what it serves      the same, with both ends of its response
       miss penalty,       c · (1 − l / v),  c · (v / l − 1)    c: the cycles that it makes
       mispredictions,
       first touches
       bandwidth           T · (1 − v / h), as far as it is what binds,  T · (h / v − 1)
       all others          T · (1 − 1 / (1 + e)),  T · e       e: by elasticities of unverified ones

   T(size) is by the model of time that the estimate is made by, with as many misses more or less as
   fully associative caches of the sizes l, v and h have.  So what fits in all of them hangs on
   none, what fits in the largest alone is faster there, and nothing is faster than without a miss.

   A machine that is disturbed is slower, never faster: of intervals of times and rates the fast
   side counts, either way.  Sizes count as they are: in a guest the neighbours have their part of
   the last cache, and both ends were seen.  Rows of operations are not among the figures, since the
   error of schedules was measured with them as they are probed (time_interval.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/schedule.h"
#include "sched/constants.h"

struct spreading {
    const struct pm_mapped *mapped;
    const struct pm_machine *machine;
    struct pm_prediction *prediction;
    struct pm_figures figures;
};

/* ---- between what a figure lies -------------------------------------------------------------- */

/* As shares of the figure; 1: nothing is known. */
struct range {
    double low, high;
};

static const struct pm_figure *unverified_figure(const struct spreading *s, const char *name) {
    for (size_t i = 0; i < s->figures.n_figures; i++)
        if (s->figures.figures[i].unverified && strcmp(s->figures.figures[i].name, name) == 0)
            return &s->figures.figures[i];
    return NULL;
}

static struct range range_of_name(const struct spreading *s, const char *name) {
    for (size_t i = 0; i < s->machine->n_intervals; i++) {
        const struct pm_figure_interval *interval = &s->machine->intervals[i];
        if (strcmp(interval->name, name) == 0 && interval->number > 0 && interval->low > 0)
            return (struct range){fmin(1, interval->low / interval->number),
                                  fmax(1, interval->high / interval->number)};
    }
    if (!unverified_figure(s, name) || !pm_figure_is_of_misses(s->machine, name))
        return (struct range){1, 1};
    double factor = 1 + pm_unverified_half(s->machine, name);
    return (struct range){1 / factor, factor};
}

/* FIELD of SECTION; NULL: of none. */
static struct range range_of(const struct spreading *s, const char *section, const char *field) {
    char *name = section ? pm_sprintf("%s.%s", section, field) : pm_strdup(field);
    struct range range = range_of_name(s, name);
    free(name);
    return range;
}

bool pm_figure_is_of_misses(const struct pm_machine *machine, const char *figure) {
    static const char *const fields[] = {"size", "entries", "serves", "miss_penalty"};
    if (strcmp(figure, "memory.bandwidth_gbs") == 0 ||
        strcmp(figure, "memory_bandwidth_gbs") == 0 || strcmp(figure, "page_fault") == 0)
        return true;
    for (size_t l = 0; l < machine->n_levels; l++) {
        size_t length = strlen(machine->levels[l].name);
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
            if (strncmp(figure, machine->levels[l].name, length) == 0 && figure[length] == '.' &&
                strcmp(figure + length + 1, fields[f]) == 0)
                return true;
    }
    return false;
}

/* ---- joining --------------------------------------------------------------------------------- */

static void join(struct pm_spread *spread, double below, double above) {
    if (below > 0)
        spread->machine_below = hypot(spread->machine_below, below);
    if (above > 0)
        spread->machine_above = hypot(spread->machine_above, above);
}

/* CYCLES go with a figure of which the fast side of RANGE counts. */
static void join_cycles(struct pm_spread *spread, struct range range, double cycles) {
    join(spread, cycles * (1 - range.low), cycles * (1 / range.low - 1));
}

/* ---- sizes of levels ------------------------------------------------------------------------- */

/* What a scope has at an end of the interval of a level's size. */
struct resized {
    double *misses;                 /* more, by scope */
    struct pm_group_misses *groups; /* all, by group */
    double *prefetched;
};

/* A level at one end of what is known of its size, or of what it serves. */
struct level_end {
    double blocks;
    struct pm_response serves;
};

/* Where level L has FACTOR times its size, or the HIGH or low end of its response reaches FACTOR
   times as far. */
static struct level_end end_of(const struct spreading *s, size_t l, double factor, bool high) {
    const struct pm_level *level = &s->machine->levels[l];
    struct level_end end = {.blocks = pm_level_capacity_blocks(level) * factor,
                            .serves = pm_response_end(&level->serves, high)};
    pm_response_scale(&end.serves, factor);
    return end;
}

static struct resized resized_of(const struct spreading *s, size_t l, const struct level_end *end) {
    const struct pm_structure *structure = s->mapped->frequencies->structure;
    const struct pm_profile *profile = s->mapped->profile;
    const struct pm_level *level = &s->machine->levels[l];
    struct resized resized = {.misses = pm_alloc(structure->n_scopes, sizeof *resized.misses),
                              .groups = pm_alloc(structure->n_groups, sizeof *resized.groups)};
    if (structure->n_groups)
        memcpy(resized.groups, s->mapped->groups, structure->n_groups * sizeof *resized.groups);
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_group_histogram *h = &profile->histograms[i];
        if (h->histogram.block_bytes != level->block_bytes)
            continue;
        double more = pm_distance_misses(&h->histogram, end->blocks, &end->serves) -
                      pm_level_distance_misses(level, &h->histogram);
        double *misses = &resized.groups[h->group].misses[l];
        *misses = fmax(0, *misses + more);
        resized.misses[structure->groups[h->group].scope] += more;
    }
    resized.prefetched = pm_prefetched_misses(structure, s->machine, resized.groups);
    return resized;
}

static void resized_free(struct resized *resized) {
    free(resized->misses);
    free(resized->groups);
    free(resized->prefetched);
}

/* Cycles that SELF takes more with MORE misses of level L, each as one is in the estimate. */
static double linear_change(const struct spreading *s, const struct pm_cost_sum *self, size_t l,
                            double more) {
    const struct pm_level *level = &s->machine->levels[l];
    double cost = self->level_misses[l] > 0 ? self->level_cycles[l] / self->level_misses[l]
                                            : level->miss_penalty_cycles * level->exposed;
    return cost * fmax(more, -self->level_misses[l]);
}

static double simulated_change_of(const struct spreading *s, const struct pm_scope_prediction *p,
                                  size_t l, const struct resized *resized) {
    struct pm_scope_prediction changed = *p;
    struct pm_mapped mapped = *s->mapped;
    mapped.groups = resized->groups;
    mapped.prefetched = resized->prefetched;
    changed.self.memory_cycles = changed.self.causes[PM_CAUSE_BANDWIDTH] = 0;
    changed.self.level_misses[l] =
        fmax(0, changed.self.level_misses[l] + resized->misses[p->scope]);
    pm_add_memory_cycles(&mapped, &changed);
    return changed.self.cycles - p->self.cycles;
}

static double change_of(const struct spreading *s, const struct pm_scope_prediction *p, size_t l,
                        const struct resized *resized) {
    double more = resized->misses[p->scope];
    if (more == 0 || isnan(p->self.memory_cycles))
        return 0;
    double most = fabs(more) * s->machine->levels[l].miss_penalty_cycles;
    double whole = s->prediction->scopes[0].total.cycles;
    bool is_worth = pm_is_worth_simulating(p->self.cycles, most, whole) && !s->mapped->patterns;
    return is_worth ? simulated_change_of(s, p, l, resized) : linear_change(s, &p->self, l, more);
}

static void add_size(const struct spreading *s, size_t l) {
    const struct pm_level *level = &s->machine->levels[l];
    const bool is_response = level->serves.n_points > 0;
    const char *field = is_response ? "serves" : level->kind == PM_LEVEL_CACHE ? "size" : "entries";
    struct range range = range_of(s, level->name, field);
    if (range.low == range.high && !is_response)
        return;
    const struct level_end least = end_of(s, l, range.low, false),
                           most = end_of(s, l, range.high, true);
    struct resized small = resized_of(s, l, &least), large = resized_of(s, l, &most);
    for (size_t i = 0; i < s->prediction->n_scopes; i++) {
        struct pm_scope_prediction *p = &s->prediction->scopes[i];
        double with_small = change_of(s, p, l, &small), with_large = change_of(s, p, l, &large);
        join(&p->self.spread, -fmin(with_small, with_large), fmax(with_small, with_large));
    }
    resized_free(&small);
    resized_free(&large);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_bandwidth(struct range range, struct pm_cost_sum *self) {
    double bound = self->causes[PM_CAUSE_BANDWIDTH];
    if (bound > 0)
        join(&self->spread, fmin(bound, self->cycles * (1 - 1 / range.high)),
             self->cycles * (range.high - 1));
}

void pm_add_machine_spreads(const struct pm_mapped *mapped, struct pm_prediction *prediction) {
    const struct pm_machine *machine = mapped->target->machine;
    struct spreading s = {.mapped = mapped,
                          .machine = machine,
                          .prediction = prediction,
                          .figures = pm_machine_figures(machine)};
    const struct range mispredict = range_of(&s, NULL, "mispredict_penalty"),
                       page_fault = range_of(&s, NULL, "page_fault");
    const char *bandwidth_name = unverified_figure(&s, "memory_bandwidth_gbs")
                                     ? "memory_bandwidth_gbs"
                                     : "memory.bandwidth_gbs";
    const struct range bandwidth = range_of_name(&s, bandwidth_name);
    struct range penalties[PM_MAX_LEVELS];
    for (size_t l = 0; l < machine->n_levels; l++) {
        penalties[l] = range_of(&s, machine->levels[l].name, "miss_penalty");
        add_size(&s, l);
    }
    for (size_t i = 0; i < prediction->n_scopes; i++) {
        struct pm_cost_sum *self = &prediction->scopes[i].self;
        for (size_t l = 0; l < machine->n_levels; l++)
            join_cycles(&self->spread, penalties[l], self->level_cycles[l]);
        join_cycles(&self->spread, mispredict, self->causes[PM_CAUSE_MISPREDICTIONS]);
        join_cycles(&self->spread, page_fault, self->causes[PM_CAUSE_FIRST_TOUCHES]);
        add_bandwidth(bandwidth, self);
        join_cycles(&self->spread, (struct range){1 / (1 + prediction->unverified_change), 1},
                    self->cycles);
    }
    pm_figures_free(&s.figures);
}
