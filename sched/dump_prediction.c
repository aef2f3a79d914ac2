/* What the passes of a prediction made, as text (core/dumps/dumps.h): of the program's profile on
   one core, or on the share of the machine that each of several has. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/dumps/dumps.h"
#include "sched/schedule.h"

const struct pm_dump_pass pm_predict_passes[] = {
    {"profile", "counts of edges and histograms of groups at the size"},
    {"frequencies", "executions of basic blocks, entries and iterations of loops"},
    {"paths", "the ways through each loop's own code, how often they are taken, their cycles"},
    {"reservations", "the modulo schedule of each path: operations, units, reservation table"},
    {"regions", "the cycles of each loop's own schedule, by cause"},
    {"misses", "misses of each reference group in each level"},
    {"memory", "what the misses of each loop add to its schedule"},
    {"costs", "what adds up to the time, loop by loop"},
    {0},
};

/* " NAME VALUE" */
static void put(const struct pm_dumping *dumping, const char *name, double value) {
    fprintf(dumping->out, " %s ", name);
    pm_dump_value(dumping, value);
}

static void put_scope(const struct pm_dumping *dumping, const char *kind, uint32_t scope) {
    fprintf(dumping->out, "%s ", kind);
    pm_dump_scope(dumping, scope);
}

/* ---- profile --------------------------------------------------------------------------------- */

static void put_histogram(const struct pm_dumping *dumping, const struct pm_group_histogram *h) {
    const struct pm_histogram *histogram = &h->histogram;
    fprintf(dumping->out, "group %" PRIu32 " in ", h->group);
    pm_dump_scope(dumping, dumping->structure->groups[h->group].scope);
    fprintf(dumping->out, ", blocks of %" PRIu64 " bytes:", histogram->block_bytes);
    put(dumping, "accesses", pm_histogram_accesses(histogram));
    put(dumping, "first touches", histogram->cold_loads + histogram->cold_stores);
    fputc('\n', dumping->out);
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        fputc(' ', dumping->out);
        put(dumping, "distance", bin->mean);
        fprintf(dumping->out, " from %.5g to %.5g", bin->low, bin->high);
        put(dumping, "loads", bin->loads);
        put(dumping, "stores", bin->stores);
        fputc('\n', dumping->out);
    }
    if (histogram->at_least > 0) {
        put(dumping, " distance of at least", histogram->at_least);
        put(dumping, "accesses", histogram->beyond_loads + histogram->beyond_stores);
        fputc('\n', dumping->out);
    }
}

static uint32_t scope_of_edge(const struct pm_structure *structure, const struct pm_edge *edge) {
    uint32_t block = edge->from == PM_NONE ? edge->to : edge->from;
    return block == PM_NONE ? structure->routines[edge->routine].scope
                            : structure->blocks[block].scope;
}

void pm_dump_profile(const struct pm_dumping *dumping, const struct pm_profile *profile,
                     const struct pm_machine *machine) {
    if (!dumping || !dumping->pass)
        return;
    char *size = pm_parameters_text(&profile->parameters);
    fprintf(dumping->out, "prediction %s on %s, %s\n", size, machine->name,
            profile->predicted ? "from the models" : "measured");
    free(size);
    if (!pm_dumps(dumping, "profile"))
        return;
    for (size_t e = 0; e < profile->n_edges; e++) {
        const struct pm_edge *edge = &dumping->structure->edges[e];
        uint32_t scope = scope_of_edge(dumping->structure, edge);
        if (!pm_dumps_scope(dumping, scope))
            continue;
        put_scope(dumping, "edge", scope);
        fputc(' ', dumping->out);
        pm_dump_block(dumping, edge->from, true);
        fputs(" -> ", dumping->out);
        pm_dump_block(dumping, edge->to, false);
        put(dumping, "count", profile->edge_counts[e]);
        fputc('\n', dumping->out);
    }
    for (size_t i = 0; i < profile->n_histograms; i++)
        if (pm_dumps_scope(dumping, dumping->structure->groups[profile->histograms[i].group].scope))
            put_histogram(dumping, &profile->histograms[i]);
}

/* ---- schedules ------------------------------------------------------------------------------- */

void pm_dump_frequencies(const struct pm_dumping *dumping, const struct pm_frequencies *frequencies,
                         const struct pm_scope_prediction *scopes) {
    const struct pm_structure *structure = frequencies->structure;
    if (!pm_dumps(dumping, "frequencies"))
        return;
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        if (!pm_dumps_scope(dumping, s) || scopes[s].iterations == 0)
            continue;
        put_scope(dumping, "scope", s);
        put(dumping, "entries", scopes[s].entries);
        put(dumping, "iterations", scopes[s].iterations);
        fputc('\n', dumping->out);
    }
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        if (!pm_dumps_scope(dumping, structure->blocks[b].scope) || frequencies->blocks[b] == 0)
            continue;
        put_scope(dumping, "block", structure->blocks[b].scope);
        fputc(' ', dumping->out);
        pm_dump_block(dumping, b, true);
        put(dumping, "executions", frequencies->blocks[b]);
        fputc('\n', dumping->out);
    }
}

void pm_dump_path(const struct pm_region_request *request, const struct pm_path_step *steps,
                  size_t n_steps, double executions, const struct pm_schedule_options *options,
                  const struct pm_path_schedule *path) {
    const struct pm_dumping *dumping = request->dumping;
    bool with_reservations = pm_dumps(dumping, "reservations");
    if ((!with_reservations && !pm_dumps(dumping, "paths")) ||
        !pm_dumps_scope(dumping, request->region))
        return;
    put_scope(dumping, "path of", request->region);
    fputc(':', dumping->out);
    for (size_t i = 0; i < n_steps; i++) {
        fputc(' ', dumping->out);
        if (steps[i].block == PM_NONE)
            put_scope(dumping, "loop", steps[i].loop);
        else
            pm_dump_block(dumping, steps[i].block, true);
    }
    put(dumping, "executions", executions);
    put(dumping, "cycles", path->cycles);
    fputc('\n', dumping->out);
    if (with_reservations) {
        struct pm_path_schedule again;
        struct pm_schedule_options same = *options;
        same.with_modulo = request->target->machine->out_of_order;
        same.with_causes = same.with_gains = false;
        same.dumping = dumping;
        pm_schedule_path(request->target, steps, n_steps, &same, &again);
        return;
    }
    fputs(" bounds:", dumping->out);
    for (unsigned h = 0; h < PM_N_HOLDS; h++)
        put(dumping, pm_cause_name((enum pm_cause)h), path->bounds[h]);
    fprintf(dumping->out, ", held back by %s\n", pm_cause_name((enum pm_cause)path->hold));
    put(dumping, "filling and draining", path->start_cycles);
    put(dumping, "alone", path->alone_cycles);
    put(dumping, "slots", path->slots);
    fputc('\n', dumping->out);
}

static void put_causes(const struct pm_dumping *dumping, const double *causes) {
    for (unsigned c = 0; c < PM_N_CAUSES; c++)
        if (causes[c] != 0)
            put(dumping, pm_cause_name((enum pm_cause)c), causes[c]);
}

void pm_dump_regions(const struct pm_dumping *dumping, const struct pm_frequencies *frequencies,
                     const struct pm_region_schedule *schedules) {
    if (!pm_dumps(dumping, "regions"))
        return;
    for (uint32_t s = 0; s < frequencies->structure->n_scopes; s++) {
        const struct pm_region_schedule *schedule = &schedules[s];
        if (!pm_dumps_scope(dumping, s) || schedule->cycles == 0)
            continue;
        put_scope(dumping, "region", s);
        put(dumping, "cycles", schedule->cycles);
        fputs(":", dumping->out);
        put_causes(dumping, schedule->causes);
        fputs("\n an iteration:", dumping->out);
        put(dumping, "units", schedule->resource_cycles);
        put(dumping, "recurrence", schedule->recurrence_cycles);
        fprintf(dumping->out, "%s\n",
                schedule->is_assumed ? ", which branches go together is assumed" : "");
    }
}

/* ---- misses and costs ------------------------------------------------------------------------ */

void pm_dump_misses(const struct pm_dumping *dumping, const struct pm_machine *machine,
                    const struct pm_group_misses *groups) {
    if (!pm_dumps(dumping, "misses"))
        return;
    for (uint32_t g = 0; g < dumping->structure->n_groups; g++) {
        if (!pm_dumps_scope(dumping, dumping->structure->groups[g].scope) ||
            groups[g].executions == 0)
            continue;
        fprintf(dumping->out, "group %" PRIu32 " in ", g);
        pm_dump_scope(dumping, dumping->structure->groups[g].scope);
        put(dumping, "executions", groups[g].executions);
        fputs(groups[g].stores ? " stores, misses:" : " misses:", dumping->out);
        for (size_t l = 0; l < machine->n_levels; l++)
            put(dumping, machine->levels[l].name, groups[g].misses[l]);
        fputc('\n', dumping->out);
    }
}

static void put_memory(const struct pm_dumping *dumping, const struct pm_prediction *prediction,
                       const struct pm_scope_prediction *p) {
    put_scope(dumping, "scope", p->scope);
    put(dumping, "schedule", p->self.schedule_cycles);
    put(dumping, "memory", p->self.memory_cycles);
    fputs(" cycles\n", dumping->out);
    for (size_t l = 0; l < prediction->n_levels; l++) {
        fprintf(dumping->out, " %s", prediction->level_names[l]);
        put(dumping, "misses", p->self.level_misses[l]);
        put(dumping, "cycles", p->self.level_cycles[l]);
        fputc('\n', dumping->out);
    }
    put(dumping, "bandwidth", p->self.causes[PM_CAUSE_BANDWIDTH]);
    put(dumping, "first touches", p->self.causes[PM_CAUSE_FIRST_TOUCHES]);
    fputc('\n', dumping->out);
}

static void put_cost(const struct pm_dumping *dumping, const struct pm_scope_prediction *p) {
    put_scope(dumping, "scope", p->scope);
    put(dumping, "own cycles", p->self.cycles);
    fputs(" =", dumping->out);
    put(dumping, "schedule", p->self.schedule_cycles);
    fputs(" +", dumping->out);
    put(dumping, "memory", p->self.memory_cycles);
    put(dumping, "in all", p->total.cycles);
    fputs("\n causes:", dumping->out);
    put_causes(dumping, p->self.causes);
    fputc('\n', dumping->out);
    struct pm_estimate between = pm_cycles_between(&p->self);
    fprintf(dumping->out, " between %.4g and %.4g\n", between.low, between.high);
}

void pm_dump_costs(const struct pm_dumping *dumping, const struct pm_prediction *prediction) {
    bool memory = pm_dumps(dumping, "memory");
    if (!memory && !pm_dumps(dumping, "costs"))
        return;
    for (uint32_t s = 0; s < prediction->n_scopes; s++) {
        const struct pm_scope_prediction *p = &prediction->scopes[s];
        if (!pm_dumps_scope(dumping, s) || !(p->self.cycles > 0))
            continue;
        if (memory)
            put_memory(dumping, prediction, p);
        else
            put_cost(dumping, p);
    }
    put(dumping, "time: cycles of the program", prediction->scopes[0].total.cycles);
    fprintf(dumping->out, " at %.5g GHz, %.5g s\n", prediction->clock_hz / 1e9,
            prediction->seconds);
}
