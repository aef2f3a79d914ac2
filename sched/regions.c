/* The schedule of a region: a loop's own body, or a routine's code outside loops (Marin &
   Mellor-Crummey 2004, section 2.4).

       cycles = Σ over paths of  executions · cycles of the path          (paths/, schedule_path.c)
              + what mispredicted branches add to them                    (branches.c)
              + entries · what filling and draining takes more

   A path of a loop counts as if iterations of its own kind stood before and behind it; one outside
   loops as one of many that do not depend on each other, on an in-order core as one alone.  In an
   out-of-order core entries of a short loop are simulated one behind the other, and mispredicted
   branches hold back what follows them until they are executed.  Of long loops each exit that is
   predicted wrongly costs the penalty, and what filling and draining take longer than that; on an
   in-order core each entry pays them, and each misprediction the penalty.
   Basic blocks that no path covers count one by one.
   Of a light region each path takes its largest bound, without a simulation, and of one with a
   small share of the cycles each misprediction the penalty: a program with thousands of routines
   has thousands of such regions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/paths/paths.h"
#include "sched/schedule.h"

struct scheduling {
    const struct pm_region_request *request;
    struct pm_region_schedule *schedule;
    double *left; /* executions of the routine's basic blocks that no path covers yet */
    uint32_t first_block;
    double start_cycles;           /* of the most frequent path that comes back */
    double returning;              /* executions of such paths */
    struct pm_wrong_branch *wrong; /* of the region's basic blocks */
    struct pm_wrong_branch *steps_wrong;
    struct pm_crossings crossings;
    struct pm_trip_group
        groups[PM_MOST_TRIP_GROUPS]; /* one, of no trips, where nothing is simulated */
    unsigned n_groups;
    double passed, with_entries; /* entries, or executions of paths outside loops; of those whose
                                    simulation has the exits */
};

static void add_cause(struct scheduling *s, enum pm_cause cause, double cycles) {
    s->schedule->causes[cause] += cycles;
    s->schedule->cycles += cycles;
}

/* The cycles of a path are those of its schedule, to the bit, whether they were told apart by
   causes or not. */
static void add_path_cycles(struct scheduling *s, const struct pm_path_schedule *path,
                            double executions) {
    for (unsigned h = 0; h < PM_N_HOLDS && s->request->with_causes; h++)
        s->schedule->causes[h] += executions * path->causes[h];
    if (!s->request->with_causes)
        s->schedule->causes[path->hold] += executions * path->cycles;
    s->schedule->cycles += executions * path->cycles;
}

static uint8_t bound_of(enum pm_cause cause) {
    static const uint8_t bounds[PM_N_CAUSES] = {
        [PM_CAUSE_UNITS] = PM_BOUND_UNIT,      [PM_CAUSE_RECURRENCE] = PM_BOUND_RECURRENCE,
        [PM_CAUSE_FRONT_END] = PM_BOUND_ISSUE, [PM_CAUSE_RETIREMENT] = PM_BOUND_RETIREMENT,
        [PM_CAUSE_WINDOW] = PM_BOUND_LATENCY,  [PM_CAUSE_MISPREDICTIONS] = PM_BOUND_MISPREDICTIONS,
    };
    return bounds[cause];
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* What mispredicted branches of the path take, in the simulation. */
static void add_wrong_branches(struct scheduling *s, const struct pm_path_step *steps,
                               size_t n_steps, const struct pm_schedule_options *options,
                               double cycles, double executions) {
    const struct pm_region_request *request = s->request;
    struct pm_path_schedule path;
    if (!request->target->machine->out_of_order || request->without_wrong ||
        !pm_wrong_on_path(request->frequencies, request->region, s->wrong, steps, n_steps,
                          s->steps_wrong))
        return;
    const struct pm_schedule_options with_wrong = {.loop = options->loop,
                                                   .pessimistic = options->pessimistic,
                                                   .trips = options->trips,
                                                   .is_brief = request->is_brief,
                                                   .crossings = options->crossings,
                                                   .wrong = s->steps_wrong};
    pm_schedule_known_path(request->known, request->target, steps, n_steps, &with_wrong, &path);
    double more = executions * fmax(0, path.cycles - cycles);
    add_cause(s, PM_CAUSE_MISPREDICTIONS, more);
    s->schedule->gains[PM_CAUSE_MISPREDICTIONS] += more;
}

/* A path, whose crossings are known, in entries of so many TRIPS; 0: it is not of a loop. */
static void add_entries(struct scheduling *s, const struct pm_path_step *steps, size_t n_steps,
                        double trips, double executions, bool returns) {
    const struct pm_region_request *request = s->request;
    bool is_loop = request->frequencies->structure->scopes[request->region].kind == PM_SCOPE_LOOP;
    const struct pm_schedule_options options = {.crossings = s->crossings.shares,
                                                .loop = is_loop ? request->region : PM_NONE,
                                                .pessimistic = request->pessimistic,
                                                .trips = trips,
                                                .bound_only = request->is_light,
                                                .with_causes = request->with_causes,
                                                .with_gains = request->with_gains};
    struct pm_path_schedule path;
    pm_schedule_known_path(request->known, request->target, steps, n_steps, &options, &path);
    pm_dump_path(request, steps, n_steps, executions, &options, &path);
    double entries = trips > 0 ? executions / trips : executions;
    s->passed += entries;
    s->with_entries += path.has_entries ? entries : 0;
    add_wrong_branches(s, steps, n_steps, &options, path.cycles, executions);
    add_path_cycles(s, &path, executions);
    double waiting = 0;
    if (!is_loop && !request->target->machine->out_of_order)
        waiting = fmax(0, path.alone_cycles - path.cycles);
    add_cause(s, PM_CAUSE_WINDOW, executions * waiting);
    for (unsigned h = 0; h < PM_N_HOLDS && request->with_gains; h++)
        s->schedule->gains[h] += executions * path.gains[h];
    for (size_t i = 0; i < n_steps; i++)
        if (steps[i].block != PM_NONE)
            s->left[steps[i].block - s->first_block] -= executions;
    double cycles = executions * (path.cycles + waiting);
    if (cycles > s->schedule->most_cycles) {
        s->schedule->most_cycles = cycles;
        s->schedule->unit = path.unit;
        s->schedule->bound =
            bound_of(waiting > path.cycles ? PM_CAUSE_WINDOW : (enum pm_cause)path.hold);
    }
    if (!returns)
        return;
    if (s->returning == 0)
        s->start_cycles = path.start_cycles;
    s->returning += executions;
    s->schedule->resource_cycles +=
        executions * fmax(path.bounds[PM_CAUSE_UNITS], path.bounds[PM_CAUSE_FRONT_END]);
    s->schedule->recurrence_cycles += executions * path.bounds[PM_CAUSE_RECURRENCE];
}

static void add_path(struct scheduling *s, const struct pm_path_step *steps, size_t n_steps,
                     double executions, bool returns) {
    const struct pm_region_request *request = s->request;
    if (request->profile)
        pm_crossings_of_path(request->frequencies->structure, request->profile,
                             request->target->machine->levels[0].block_bytes, steps, n_steps,
                             &s->crossings);
    for (unsigned g = 0; g < s->n_groups; g++)
        add_entries(s, steps, n_steps, s->groups[g].trips, s->groups[g].share * executions,
                    returns);
}

static void add_paths(struct scheduling *s) {
    struct pm_paths paths = {0};
    pm_paths_of_region(s->request->frequencies, s->request->region, &paths);
    s->schedule->is_assumed = paths.is_assumed && paths.n_items > 1;
    for (size_t i = 0; i < paths.n_items; i++) {
        const struct pm_region_path *path = &paths.items[i];
        add_path(s, &paths.steps[path->first_step], path->n_steps, path->executions, path->returns);
    }
    pm_paths_free(&paths);
}

static void add_left_blocks(struct scheduling *s) {
    const struct pm_lists *regions = &s->request->frequencies->regions;
    const double rounding = 1e-6;
    for (uint32_t k = regions->first[s->request->region];
         k < regions->first[s->request->region + 1]; k++) {
        uint32_t block = regions->items[k];
        double left = s->left[block - s->first_block];
        if (left > rounding * s->request->frequencies->blocks[block])
            add_path(s, &(struct pm_path_step){.block = block, .loop = PM_NONE}, 1, left, false);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Mispredicted branches in all; of those that no simulation has, what they cost. */
static void add_branches(struct scheduling *s) {
    const struct pm_region_request *request = s->request;
    const struct pm_machine *machine = request->target->machine;
    double entries = request->entries, filling = s->start_cycles;
    const struct pm_mispredictions wrong =
        pm_mispredictions_of(request->frequencies, request->region, entries, s->wrong);
    s->schedule->mispredictions = wrong.exits + wrong.of_data;
    s->schedule->assumed_mispredictions = wrong.assumed;
    double left = wrong.exits * (s->passed > 0 ? 1 - s->with_entries / s->passed : 1);
    bool is_simulated = machine->out_of_order && !request->without_wrong;
    double more = (is_simulated ? left : s->schedule->mispredictions) * machine->mispredict_cycles;
    add_cause(s, PM_CAUSE_MISPREDICTIONS, more);
    s->schedule->gains[PM_CAUSE_MISPREDICTIONS] += more;
    s->schedule->shadowed_cycles = s->schedule->causes[PM_CAUSE_MISPREDICTIONS];
    if (s->returning == 0)
        return;
    if (machine->out_of_order) {
        entries = fmin(entries, left);
        filling = fmax(0, filling - machine->mispredict_cycles);
    }
    add_cause(s, PM_CAUSE_WINDOW, entries * filling);
    s->schedule->shadowed_cycles += entries * filling;
}

void pm_schedule_region(const struct pm_region_request *request,
                        struct pm_region_schedule *schedule) {
    const struct pm_structure *structure = request->frequencies->structure;
    const struct pm_routine *routine =
        &structure->routines[structure->scopes[request->region].routine];
    struct scheduling s = {.request = request,
                           .schedule = schedule,
                           .left = pm_alloc(routine->n_blocks, sizeof *s.left),
                           .first_block = routine->first_block,
                           .wrong = pm_wrong_branches(request->frequencies, request->region),
                           .steps_wrong = pm_alloc(2 * routine->n_blocks + 1, sizeof *s.wrong),
                           .groups = {{.share = 1}},
                           .n_groups = 1};
    if (!request->is_light)
        s.n_groups = pm_trip_groups(request->frequencies, request->region, s.groups);
    *schedule = (struct pm_region_schedule){0};
    memcpy(s.left, request->frequencies->blocks + routine->first_block,
           routine->n_blocks * sizeof *s.left);
    add_paths(&s);
    add_left_blocks(&s);
    add_branches(&s);
    if (s.returning > 0) {
        schedule->resource_cycles /= s.returning;
        schedule->recurrence_cycles /= s.returning;
    }
    if (2 * schedule->causes[PM_CAUSE_MISPREDICTIONS] > schedule->cycles)
        schedule->bound = PM_BOUND_MISPREDICTIONS;
    free(s.left);
    free(s.wrong);
    free(s.steps_wrong);
    free(s.crossings.shares);
}
