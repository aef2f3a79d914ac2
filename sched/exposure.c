/* What misses add to the time of a region, its loops' own bodies or a routine's code outside loops.

       cycles = max(T_window + T_prefetched, T_bandwidth) − schedule

   T_window is the time of the region's paths with loads that miss as often as their groups do, each
   by what a level's misses take more (schedule_path.c, window/): what the window hides is hidden
   there, and so many misses are under way at a time as the levels allow.  Prefetchers take their
   share off misses of streams, where a machine file says how far they follow.  A miss of an inner
   level that goes on to an outer one is paid at both, since a level's penalty is what it adds.

   Where it was measured which share f of a group's misses go on from one block to the next, as
   prefetchers follow them (core/behaviour/behaviour.h), only the others miss in the window, by (1 −
   f) of the misses, and

       T_prefetched = Σ over groups and caches of  f · misses · penalty · (1 − covers)

   is added: what prefetchers leave of a miss was measured as time for each line of a stream, on
   which the next line waits as well, so that no window hides it.  Where the machine file does not
   say what prefetchers cover, nothing was measured: all misses are in the window, by what is usual,
   and what a line of a stream takes at least is T_bandwidth.

       T_bandwidth = max over levels of  misses · line / read bandwidth + write-backs · line / w

   w is what a copy shows beside a read: moving B bytes reads B, brings B in that are overwritten
   and writes B back in 2B / copy bandwidth, so that  1/w = 2/copy − 2/read,  0 if that is negative.
   Write-backs are as measured, else as many misses as the groups' share of stores.

   A reference that comes to another line in each iteration, and in the next entry of its loop to
   the same lines until these are used up, misses in all iterations of some entries and in none of
   the others: columns of a matrix that is stored by rows.  T_window is the mean of both kinds of
   entries then, for misses that come close together are under way together.

   Misses of what is on no path, as of routines of the C library that the region calls, cost what
   the papers' formula says.  lower: every miss prefetched in time; upper: each miss alone. In-order
   machines, and regions with little time, are left to the papers' formula (memory.c).

   After section 3.2 of Marin & Mellor-Crummey 2004, which leaves open how far misses overlap, and
   chapter 5 of Marin 2003: "the individual latency experienced by each memory reference". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/paths/paths.h"
#include "sched/constants.h"
#include "sched/schedule.h"
#include "sched/window/window.h"

struct exposing {
    const struct pm_region_request *request;
    const struct pm_machine *machine;
    const struct pm_profile *profile;
    const struct pm_group_misses *groups;
    struct pm_wrong_branch *wrong, *steps_wrong; /* of the region's basic blocks; of a path */
    struct pm_crossings crossings;
    double cover; /* share of a miss that prefetchers hide of what goes on from line to line … */
    bool cover_is_measured;       /* … as the machine file says, or a usual one */
    double least_cycles;          /* of all misses of a path, each alone, to be simulated */
    struct pm_load_misses *loads; /* per reference of the path at hand */
    bool *is_regular;             /* … whether prefetchers follow it */
    size_t n_loads, room;
    double path_cycles;                  /* of this path's misses, each alone, by iteration */
    double more_cycles;                  /* of T_window, beyond the schedule */
    double prefetched[PM_MAX_LEVELS];    /* T_prefetched, by level */
    double weights[PM_MAX_LEVELS];       /* of the levels in these */
    double seen[PM_MAX_LEVELS];          /* misses of references that are on paths */
    double rare_together[PM_MAX_LEVELS]; /* the largest share of one path's loads in one phase */
    double rare_apart[PM_MAX_LEVELS];    /* … and the sum of the others */
};

/* ---- prefetching ----------------------------------------------------------------------------- */

/* What prefetchers hide of the misses of a reference. */
struct prefetching {
    double others; /* share of a miss that is not sequential */
    bool is_regular;
};

static struct prefetching prefetching_of(const struct exposing *e, uint32_t reference,
                                         const struct pm_group_misses *group) {
    double line = (double)e->machine->levels[0].block_bytes, run_bytes;
    double step = fabs(pm_reference_way(e->request->frequencies->structure, &e->profile->strides,
                                        reference, &run_bytes));
    double covered = pm_prefetched_share(e->machine, step, line) *
                     fmax(0, 1 - pm_sched_constants.training_lines / (run_bytes / line));
    return (struct prefetching){
        .others = pm_covered_beside_sequential(e->machine, group->sequential[0], step, covered),
        .is_regular = covered > 0 || group->sequential[0] > 0.5};
}

/* ---- entries in which loads miss, and others ------------------------------------------------- */

/* The kind of entries that a window is simulated for.  Loads that come to new lines in SHARE of the
   entries come to them in these, or in the others. */
struct entries {
    double share; /* 1: all entries are alike */
    bool has_new_lines;
};

static double new_lines_of(const struct exposing *e, uint32_t reference) {
    return pm_reference_new_lines(e->request->frequencies->structure, &e->profile->strides,
                                  reference, (double)e->machine->levels[0].block_bytes);
}

/* Of a SHARE of accesses that miss, those in ENTRIES: as many as can are first touches of lines. */
static double share_in(double share, struct entries entries) {
    double with_new = fmin(1, share / entries.share);
    return entries.has_new_lines ? with_new
                                 : fmax(0, share - entries.share * with_new) / (1 - entries.share);
}

/* ---- the loads of a path --------------------------------------------------------------------- */

static const struct pm_group_misses *misses_of(const struct exposing *e, uint32_t reference) {
    const struct pm_structure *s = e->request->frequencies->structure;
    uint32_t group = s->references[reference].group;
    if (group == PM_NONE)
        return NULL;
    return &e->groups[pm_group_kept_as(s, group)];
}

/* Misses that come too seldom for the simulation, whose shares are below LEAST, leave it.  Whether
   any are left. */
static bool set_rare_apart(struct exposing *e, double least) {
    bool is_any = false;
    memset(e->rare_together, 0, sizeof e->rare_together);
    memset(e->rare_apart, 0, sizeof e->rare_apart);
    for (size_t i = 0; i < e->n_loads; i++)
        for (size_t l = 0; l < e->machine->n_levels; l++) {
            double *share = &e->loads[i].share[l], cycles = *share * e->loads[i].cycles[l];
            if (*share >= least) {
                is_any = true;
                continue;
            }
            if (e->is_regular[i])
                e->rare_together[l] = fmax(e->rare_together[l], cycles);
            else
                e->rare_apart[l] += cycles;
            *share = 0;
        }
    return is_any;
}

static void add_load(struct exposing *e, uint32_t reference, struct entries entries,
                     double executions) {
    bool *is_regular = &e->is_regular[e->n_loads];
    struct pm_load_misses *load = &e->loads[e->n_loads++];
    const struct pm_group_misses *group = misses_of(e, reference);
    *load = (struct pm_load_misses){0};
    *is_regular = false;
    if (!group || group->executions <= 0)
        return;
    struct prefetching prefetching = prefetching_of(e, reference, group);
    bool alike = entries.share == 1 || new_lines_of(e, reference) != entries.share;
    /* Streams side by side come to new lines together; what is picked here and there does not. */
    *is_regular = prefetching.is_regular;
    load->phase = prefetching.is_regular ? 0 : fmod(0.37 * (double)e->n_loads, 1);
    for (size_t l = 0; l < e->machine->n_levels; l++) {
        const struct pm_level *level = &e->machine->levels[l];
        double share = group->misses[l] / group->executions, covered = prefetching.others;
        bool is_cache = level->kind == PM_LEVEL_CACHE;
        if (is_cache && !alike)
            share = share_in(share, entries);
        e->seen[l] += executions * share;
        if (group->sequential[l] > 0 && e->cover_is_measured) {
            e->prefetched[l] += executions * share * group->sequential[l] *
                                level->miss_penalty_cycles * (1 - e->cover);
            share *= 1 - group->sequential[l];
        } else if (group->sequential[l] > 0) {
            covered += group->sequential[l] * (e->cover - covered);
        }
        load->cycles[l] = level->miss_penalty_cycles * (is_cache ? 1 - covered : 1);
        load->share[l] = share;
        e->path_cycles += share * load->cycles[l];
        e->weights[l] += executions * share * load->cycles[l];
    }
}

static void collect_loads(struct exposing *e, const struct pm_path_step *steps, size_t n_steps,
                          struct entries entries, double executions) {
    const struct pm_structure *s = e->request->frequencies->structure;
    e->n_loads = 0;
    e->path_cycles = 0;
    for (size_t i = 0; i < n_steps; i++) {
        if (steps[i].block == PM_NONE)
            continue;
        const struct pm_block *block = &s->blocks[steps[i].block];
        if (e->n_loads + block->n_references > e->room) {
            e->room = 2 * (e->n_loads + block->n_references);
            e->loads = pm_realloc(e->loads, e->room, sizeof *e->loads);
            e->is_regular = pm_realloc(e->is_regular, e->room, sizeof *e->is_regular);
        }
        for (uint32_t r = 0; r < block->n_references; r++)
            add_load(e, block->first_reference + r, entries, executions);
    }
}

/* What of the rare misses the window does not hide, of an iteration that takes CYCLES. */
static double rare_cycles(const struct exposing *e, const struct pm_path_schedule *path) {
    double filling = path->slots > 0 ? path->cycles * e->machine->window / path->slots : 0;
    double sum = 0;
    for (size_t l = 0; l < e->machine->n_levels; l++) {
        double penalty = e->machine->levels[l].miss_penalty_cycles;
        double seen = penalty > 0 ? fmax(0, 1 - filling / penalty) : 0;
        sum += seen * (e->rare_together[l] + e->rare_apart[l]);
    }
    return sum;
}

/* The share of the entries in which loads of the path come to new lines: that of the reference
   which waits longest for misses of these. */
static double new_lines_on_path(const struct exposing *e, const struct pm_path_step *steps,
                                size_t n_steps) {
    const struct pm_structure *s = e->request->frequencies->structure;
    double share = 1, most = 0;
    for (size_t i = 0; i < n_steps; i++) {
        const struct pm_block *block =
            steps[i].block == PM_NONE ? NULL : &s->blocks[steps[i].block];
        for (uint32_t r = 0; block && r < block->n_references; r++) {
            const struct pm_group_misses *group = misses_of(e, block->first_reference + r);
            if (!group || group->executions <= 0)
                continue;
            double new_lines = new_lines_of(e, block->first_reference + r), cycles = 0;
            for (size_t l = 0; l <= pm_last_cache(e->machine); l++)
                cycles += group->misses[l] / group->executions *
                          e->machine->levels[l].miss_penalty_cycles;
            if (new_lines < 1 && cycles > most) {
                most = cycles;
                share = new_lines;
            }
        }
    }
    return share;
}

static void add_path(struct exposing *e, const struct pm_path_step *steps, size_t n_steps,
                     struct entries entries, double trips, double executions) {
    const struct pm_region_request *request = e->request;
    bool is_loop = request->frequencies->structure->scopes[request->region].kind == PM_SCOPE_LOOP;
    struct pm_schedule_options options = {.loop = is_loop ? request->region : PM_NONE,
                                          .pessimistic = request->pessimistic,
                                          .is_brief = request->is_brief,
                                          .trips = trips};
    struct pm_path_schedule hits, misses;
    collect_loads(e, steps, n_steps, entries, executions);
    if (e->n_loads == 0)
        return;
    options.bound_only = executions * e->path_cycles < e->least_cycles;
    bool is_simulated =
        set_rare_apart(e, options.bound_only ? INFINITY : pm_sched_constants.rare_share);
    options.nearest_trips = is_simulated;
    if (is_simulated && pm_wrong_on_path(request->frequencies, request->region, e->wrong, steps,
                                         n_steps, e->steps_wrong))
        options.wrong = e->steps_wrong;
    pm_crossings_of_path(request->frequencies->structure, e->profile,
                         e->machine->levels[0].block_bytes, steps, n_steps, &e->crossings);
    options.crossings = e->crossings.shares;
    pm_schedule_known_path(request->known, request->target, steps, n_steps, &options, &hits);
    e->more_cycles += executions * rare_cycles(e, &hits);
    if (!is_simulated)
        return;
    options.misses = e->loads;
    pm_schedule_known_path(request->known, request->target, steps, n_steps, &options, &misses);
    e->more_cycles += executions * fmax(0, misses.cycles - hits.cycles);
}

/* ---- bandwidth ------------------------------------------------------------------------------- */

/* Cycles of memory for each byte read, and for each byte written back; 0: not known. */
struct byte_cycles {
    double read, write_back;
};

static struct byte_cycles byte_cycles(double read, double write, double copy) {
    struct byte_cycles cycles = {.read = read > 0 ? 1 / read : 0};
    if (read > 0 && copy > 0)
        cycles.write_back = fmax(0, 2 / copy - 2 / read);
    else if (write > 0)
        cycles.write_back = 1 / write;
    else
        cycles.write_back = cycles.read;
    return cycles;
}

/* Of what serves the misses of cache L. */
static struct byte_cycles behind(const struct pm_machine *machine, size_t l) {
    if (l < pm_last_cache(machine)) {
        const struct pm_level *next = &machine->levels[l + 1];
        return byte_cycles(next->read_bandwidth, next->write_bandwidth, next->copy_bandwidth);
    }
    double by_cycle = 1e9 / machine->clock_hz;
    return byte_cycles(machine->memory_bandwidth_bytes_per_cycle, 0,
                       machine->memory.copy_bandwidth_gbs * by_cycle);
}

/* Misses of the region's groups in level L that are stores, as far as is known. */
static double store_misses(const struct exposing *e, size_t l) {
    const struct pm_structure *s = e->request->frequencies->structure;
    double sum = 0;
    for (uint32_t g = 0; g < s->n_groups; g++)
        if (s->groups[g].scope == e->request->region && e->groups[g].stores)
            sum += e->groups[g].misses[l];
    return sum;
}

static double bandwidth_cycles(const struct exposing *e, const struct pm_cost_sum *self) {
    double most = 0;
    for (size_t l = 0; l <= pm_last_cache(e->machine); l++) {
        struct byte_cycles cycles = behind(e->machine, l);
        double line = (double)e->machine->levels[l].block_bytes;
        double write_backs = self->level_write_backs[l];
        if (isnan(write_backs))
            write_backs = store_misses(e, l);
        most = fmax(most,
                    line * (self->level_misses[l] * cycles.read + write_backs * cycles.write_back));
    }
    return most;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_paths(struct exposing *e) {
    struct pm_paths paths = {0};
    struct pm_trip_group groups[PM_MOST_TRIP_GROUPS];
    unsigned n = pm_trip_groups(e->request->frequencies, e->request->region, groups);
    pm_paths_of_region(e->request->frequencies, e->request->region, &paths);
    for (size_t i = 0; i < paths.n_items; i++) {
        const struct pm_path_step *steps = &paths.steps[paths.items[i].first_step];
        uint32_t n_steps = paths.items[i].n_steps;
        double executions = paths.items[i].executions, share = 1;
        if (e->request->frequencies->structure->scopes[e->request->region].kind == PM_SCOPE_LOOP)
            share = new_lines_on_path(e, steps, n_steps);
        for (unsigned g = 0; g < n; g++) {
            double in_group = groups[g].share * executions;
            add_path(e, steps, n_steps, (struct entries){share, true}, groups[g].trips,
                     share * in_group);
            if (share < 1)
                add_path(e, steps, n_steps, (struct entries){share, false}, groups[g].trips,
                         (1 - share) * in_group);
        }
    }
    pm_paths_free(&paths);
}

void pm_exposed_memory_cycles(const struct pm_region_request *request,
                              const struct pm_region_schedule *schedule,
                              const struct pm_profile *profile,
                              const struct pm_group_misses *groups, double least_cycles,
                              struct pm_cost_sum *self) {
    const struct pm_machine *machine = request->target->machine;
    struct exposing e = {.request = request,
                         .machine = machine,
                         .profile = profile,
                         .groups = groups,
                         .cover = pm_sequential_cover(machine),
                         .cover_is_measured = pm_says_what_is_prefetched(
                             machine, (double)machine->levels[0].block_bytes),
                         .least_cycles = least_cycles};
    const struct pm_structure *s = request->frequencies->structure;
    uint32_t n_blocks = s->routines[s->scopes[request->region].routine].n_blocks;
    e.wrong = pm_wrong_branches(request->frequencies, request->region);
    e.steps_wrong = pm_alloc(2 * n_blocks + 1, sizeof *e.steps_wrong);
    double alone = 0, weights = 0, transfer = bandwidth_cycles(&e, self);
    add_paths(&e);
    for (size_t l = 0; l < machine->n_levels; l++) {
        alone += self->level_misses[l] * machine->levels[l].miss_penalty_cycles;
        weights += e.weights[l];
    }
    double more = weights > 0 ? fmin(e.more_cycles, alone) : 0;
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        double others = fmax(0, self->level_misses[l] - e.seen[l]);
        self->level_cycles[l] = others * level->miss_penalty_cycles * level->exposed;
        if (weights > 0)
            self->level_cycles[l] += more * e.weights[l] / weights;
        self->level_cycles[l] += e.prefetched[l];
        self->memory_cycles += self->level_cycles[l];
    }
    self->causes[PM_CAUSE_BANDWIDTH] = fmax(0, transfer - schedule->cycles - self->memory_cycles);
    self->memory_cycles += self->causes[PM_CAUSE_BANDWIDTH];
    self->lower_cycles = fmax(schedule->cycles, transfer);
    self->upper_cycles = fmax(schedule->cycles + alone, transfer);
    free(e.loads);
    free(e.is_regular);
    free(e.wrong);
    free(e.steps_wrong);
    free(e.crossings.shares);
}
