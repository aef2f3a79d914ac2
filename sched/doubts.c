/* Which figures of the machine file that are unverified a prediction comes from, and how much of
   the predicted time hangs on each.

       elasticity = (Δ time / time) / (Δ figure / figure)

   Of clock and miss penalties it follows from the cycles that are there; of a cache's size from
   the misses of fully associative caches of this size and of one a tenth larger; of a response from
   those at distances a tenth longer, and from nothing else of its level's shape.  Figures of a
   level's sets count a tenth of what full associativity would change.  Of figures that schedules
   come from, the regions with the most cycles are scheduled again with the figure a tenth larger.
   Figures that nothing is mapped on yet are not counted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/schedule.h"
#include "sched/constants.h"

static const double step = 0.1;

enum { MOST_REGIONS = 16 };

/* A region and its cycles. */
struct hot_region {
    uint32_t region;
    double cycles;
    double cycles_alone; /* as cycles_of_region has them, whatever else was asked for */
    double *executions;  /* of the machine's rows of costs; owned */
};

struct doubting {
    const struct pm_mapped *mapped;
    const struct pm_prediction *prediction;
    size_t n_hot;
    struct hot_region hot[MOST_REGIONS];
};

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* ---- what the schedule comes from ------------------------------------------------------------ */

static void find_hot_regions(struct doubting *d) {
    const struct pm_lists *regions = &d->mapped->frequencies->regions;
    for (uint32_t s = 0; s < d->prediction->n_scopes; s++) {
        double cycles = d->mapped->schedules[s].cycles;
        if (regions->first[s] == regions->first[s + 1] || cycles <= 0)
            continue;
        size_t at = d->n_hot < MOST_REGIONS ? d->n_hot++ : MOST_REGIONS - 1;
        if (at == MOST_REGIONS - 1 && d->hot[at].cycles >= cycles)
            continue;
        for (; at > 0 && d->hot[at - 1].cycles < cycles; at--)
            d->hot[at] = d->hot[at - 1];
        d->hot[at] = (struct hot_region){.region = s, .cycles = cycles};
    }
}

/* KNOWN: of TARGET. */
static double cycles_of_region(const struct doubting *d, const struct pm_target_machine *target,
                               struct pm_known_paths *known, uint32_t region) {
    struct pm_region_schedule schedule;
    pm_schedule_region(&(struct pm_region_request){.frequencies = d->mapped->frequencies,
                                                   .target = target,
                                                   .known = known,
                                                   .profile = d->mapped->profile,
                                                   .region = region,
                                                   .entries = d->prediction->scopes[region].entries,
                                                   .pessimistic = d->mapped->pessimistic},
                       &schedule);
    return schedule.cycles;
}

static void look_at_hot_regions(struct doubting *d) {
    const struct pm_mapped *mapped = d->mapped;
    const struct pm_lists *regions = &mapped->frequencies->regions;
    for (size_t i = 0; i < d->n_hot; i++) {
        struct hot_region *hot = &d->hot[i];
        hot->cycles_alone = cycles_of_region(d, mapped->target, mapped->known, hot->region);
        hot->executions = pm_alloc(mapped->target->machine->n_costs, sizeof *hot->executions);
        struct pm_demand demand = {.executions = hot->executions};
        for (uint32_t k = regions->first[hot->region]; k < regions->first[hot->region + 1]; k++) {
            uint32_t block = regions->items[k];
            if (mapped->frequencies->blocks[block] > 0)
                pm_demand_add_block(mapped->target, block, mapped->frequencies->blocks[block],
                                    &demand);
        }
    }
}

/* Does code with such EXECUTIONS of the rows of costs take the row that SECTION of the machine file
   is? */
static bool row_is_used(const struct doubting *d, const double *executions, const char *section) {
    const struct pm_machine *machine = d->mapped->target->machine;
    for (size_t i = 0; i < machine->n_costs; i++) {
        if (executions[i] <= 0)
            continue;
        char *name = pm_cost_name(&machine->costs[i]);
        bool is_it = strcmp(name, section) == 0;
        free(name);
        if (is_it)
            return true;
    }
    return false;
}

/* The change of the schedule where FIGURE is a step larger.  ROW: the section of a row of costs,
   without which a region stays as it is; NULL: it is any other figure. */
static double schedule_change(const struct doubting *d, const char *figure, const char *row) {
    struct pm_machine *scaled = pm_machine_scaled(d->mapped->target->machine, figure, 1 + step);
    double change = 0;
    if (!scaled)
        return 0;
    struct pm_target_machine target = pm_target_of(d->mapped->frequencies->structure, scaled);
    struct pm_known_paths *known = pm_known_paths_new(d->mapped->known);
    for (size_t i = 0; i < d->n_hot; i++)
        if (!row || row_is_used(d, d->hot[i].executions, row))
            change +=
                cycles_of_region(d, &target, known, d->hot[i].region) - d->hot[i].cycles_alone;
    pm_known_paths_free(known);
    pm_machine_copy_free(scaled);
    return change;
}

/* ---- what misses come from ------------------------------------------------------------------- */

/* Misses of LEVEL if it was fully associative, and FACTOR times as large, or its response reached
   so far: what sizes and sets change is told from these. */
static double misses_anywhere(const struct doubting *d, const struct pm_level *level,
                              double factor) {
    const struct pm_profile *profile = d->mapped->profile;
    struct pm_response serves = level->serves;
    double blocks = pm_level_capacity_blocks(level) * factor, sum = 0;
    pm_response_scale(&serves, factor);
    for (size_t h = 0; h < profile->n_histograms; h++)
        if (profile->histograms[h].histogram.block_bytes == level->block_bytes)
            sum += pm_distance_misses(&profile->histograms[h].histogram, blocks, &serves);
    return sum;
}

/* The change of the cycles of level L where FIELD is a step larger; NAN: nothing comes from it. */
static double level_change(const struct doubting *d, size_t l, const char *field) {
    static const char *const sizes[] = {"size", "entries", "page", "line", NULL};
    static const char *const sets[] = {"ways",      "replacement", "indexed",
                                       "inclusion", "unified",     NULL};
    const struct pm_level *level = &d->mapped->target->machine->levels[l];
    const struct pm_cost_sum *total = &d->prediction->scopes[0].total;
    const bool is_response = level->serves.n_points > 0;
    double cost = level->miss_penalty_cycles * level->exposed;
    if (d->prediction->without_memory)
        return NAN;
    if (strcmp(field, "exposed") == 0 && !d->prediction->is_simple)
        return NAN;
    if (strcmp(field, "miss_penalty") == 0 || strcmp(field, "exposed") == 0)
        return step * total->level_cycles[l];
    if (is_response ? strcmp(field, "serves") == 0 : is_one_of(field, sizes))
        return (misses_anywhere(d, level, 1 + step) - misses_anywhere(d, level, 1)) * cost;
    if (!is_response && is_one_of(field, sets))
        return fabs(total->level_misses[l] - misses_anywhere(d, level, 1)) * cost;
    return NAN;
}

/* ---- one figure ------------------------------------------------------------------------------ */

/* The change of the time's cycles where a figure outside sections is a step larger. */
static double root_change(const struct doubting *d, const char *name) {
    static const char *const scheduled[] = {
        "issue_width", "vector_width",       "window", "store_forward_latency", "retire_width",
        "fetch_width", "mispredict_penalty", NULL};
    static const char *const words[] = {"out_of_order", "fma",        "fuses_memory",
                                        "fuses_branch", "eliminates", NULL};
    if (strcmp(name, "clock_mhz") == 0)
        return -step * d->prediction->scopes[0].total.cycles;
    if (strcmp(name, "page_fault") == 0)
        return step * d->prediction->scopes[0].total.causes[PM_CAUSE_FIRST_TOUCHES];
    if (is_one_of(name, scheduled))
        return schedule_change(d, name, NULL);
    return is_one_of(name, words) ? 0 : NAN;
}

/* Bytes a second of the last cache's misses: only where it binds. */
static double bandwidth_change(const struct doubting *d) {
    return -step * d->prediction->scopes[0].total.causes[PM_CAUSE_BANDWIDTH];
}

/* The change of the predicted cycles where FIGURE is a step larger; NAN: it was not used. */
static double change_by(const struct doubting *d, const char *figure) {
    const struct pm_machine *machine = d->mapped->target->machine;
    const char *dot = strrchr(figure, '.');
    if (strcmp(figure, "memory_bandwidth_gbs") == 0 || strcmp(figure, "memory.bandwidth_gbs") == 0)
        return bandwidth_change(d);
    if (!dot)
        return root_change(d, figure);
    char *section = pm_sprintf("%.*s", (int)(dot - figure), figure);
    double change = NAN;
    for (size_t l = 0; l < machine->n_levels; l++)
        if (strcmp(machine->levels[l].name, section) == 0)
            change = level_change(d, l, dot + 1);
    if (strncmp(section, "bypass/", 7) == 0)
        change = schedule_change(d, figure, NULL);
    else if (row_is_used(d, d->mapped->executions, section))
        change = schedule_change(d, figure, section);
    free(section);
    return change;
}

double pm_unverified_half(const struct pm_machine *machine, const char *figure) {
    size_t length = strcspn(figure, ".");
    if (strncmp(figure, "memory", strlen("memory")) == 0)
        return pm_sched_constants.unverified_memory;
    for (size_t l = 0; l < machine->n_levels; l++)
        if (strncmp(figure, machine->levels[l].name, length) == 0 &&
            machine->levels[l].name[length] == '\0')
            return pm_sched_constants.unverified_memory;
    return pm_sched_constants.unverified_core;
}

/* ---- those that matter most ------------------------------------------------------------------ */

static void keep(struct pm_prediction *prediction, const struct pm_figure *figure,
                 double elasticity) {
    const double negligible = 1e-4;
    size_t at = prediction->n_doubts;
    if (fabs(elasticity) < negligible)
        return;
    while (at > 0 && fabs(prediction->doubts[at - 1].elasticity) < fabs(elasticity))
        at--;
    if (at == PM_MOST_DOUBTS)
        return;
    if (prediction->n_doubts == PM_MOST_DOUBTS) {
        free(prediction->doubts[PM_MOST_DOUBTS - 1].name);
        free(prediction->doubts[PM_MOST_DOUBTS - 1].value);
    } else {
        prediction->n_doubts++;
    }
    memmove(&prediction->doubts[at + 1], &prediction->doubts[at],
            (prediction->n_doubts - 1 - at) * sizeof *prediction->doubts);
    prediction->doubts[at] = (struct pm_doubtful_figure){
        .name = pm_strdup(figure->name),
        .value = pm_sprintf("%s%s%s", figure->value, *figure->unit ? " " : "", figure->unit),
        .is_word = isnan(figure->number),
        .elasticity = elasticity};
}

void pm_find_doubts(const struct pm_mapped *mapped, struct pm_prediction *prediction) {
    if (!mapped->target->machine->n_unverified)
        return;
    struct doubting d = {.mapped = mapped, .prediction = prediction};
    double cycles = prediction->scopes[0].total.cycles;
    find_hot_regions(&d);
    look_at_hot_regions(&d);
    struct pm_figures figures = pm_machine_figures(mapped->target->machine);
    for (size_t i = 0; i < figures.n_figures; i++) {
        const struct pm_figure *figure = &figures.figures[i];
        double change = figure->unverified ? change_by(&d, figure->name) : NAN;
        if (isnan(change))
            continue;
        prediction->n_unverified++;
        if (!(cycles > 0))
            continue;
        double relative = change / cycles;
        double half = isnan(figure->number)
                          ? step
                          : pm_unverified_half(mapped->target->machine, figure->name);
        if (!pm_figure_is_of_misses(mapped->target->machine, figure->name))
            prediction->unverified_change =
                hypot(prediction->unverified_change, relative / step * half);
        keep(prediction, figure, relative / step);
    }
    pm_figures_free(&figures);
    for (size_t i = 0; i < d.n_hot; i++)
        free(d.hot[i].executions);
}
