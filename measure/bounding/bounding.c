/* Lower bounds at one size; see bounding.h. */
#define _GNU_SOURCE
#include "measure/bounding/bounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "binlift/bound/bound.h"
#include "core/probe_abi.h"
#include "measure/bounding/nest_shares.h"
#include "measure/raw/raw.h"

/* An execution with its copy costs about this: two events that save all registers, and the copy's
   slots.  Beside shorter nests copies run before some executions only. */
static const double execution_seconds = 1e-6;
static const double most_cost_share = 0.25;
static const double most_covered_share = 0.5;
/* What it takes to record an outcome of a branch, about, and how many there are at least. */
static const double outcome_seconds = 1e-7, most_recording_share = 0.25, least_outcomes = 16384;

struct bounding {
    const struct pm_bounding_request *request;
    const struct pm_copies *copies;
    const struct pm_profile *profile;
    const struct pm_times *times;
    const char *folder;
    struct pm_lifted *lifted;             /* of the program */
    const struct pm_structure *structure; /* of the lift: its scopes are the first of the whole */
    struct pm_bound_plan *plan;           /* of the nests that are measured */
    struct pm_bounds *bounds;
    struct pm_shared_times shared;
    double *executed;                         /* per basic block of the whole structure */
    double *calls;                            /* per routine */
    double *seconds;                          /* per scope: by the timers, with all that is in it */
    double *entries;                          /* per scope */
    double *instructions;                     /* per scope, with all that is in it */
    double *call_seconds, *call_instructions; /* per routine: of a call, with all that it calls */
};

/* ---- which nests ----------------------------------------------------------------------------- */

/* OF_BLOCKS, added up for each routine. */
static double *of_routines(const struct pm_structure *s, const double *of_blocks) {
    double *all = pm_alloc(s->n_routines + 1, sizeof *all);
    for (uint32_t i = 0; i < s->n_blocks; i++)
        all[s->blocks[i].routine] += of_blocks[i];
    return all;
}

/* OF_BLOCKS, added to all loops around each. */
static void add_to_loops(const struct pm_structure *s, const double *of_blocks, double *of_loops) {
    for (uint32_t i = 0; i < s->n_blocks; i++)
        for (uint32_t loop = s->blocks[i].loop; loop != PM_NONE; loop = pm_outer_loop(s, loop))
            of_loops[loop] += of_blocks[i];
}

static double *per_call(const struct bounding *b, const double *of_blocks) {
    double *own = of_routines(b->structure, of_blocks);
    double *all = pm_bound_per_call(b->structure, b->profile->edge_counts, own);
    free(own);
    return all;
}

static void add_entries(struct bounding *b) {
    const struct pm_structure *s = b->structure;
    for (uint32_t e = 0; e < s->n_edges; e++)
        if (s->edges[e].to != PM_NONE)
            for (uint32_t loop = s->blocks[s->edges[e].to].loop;
                 loop != PM_NONE &&
                 (s->edges[e].from == PM_NONE || !pm_is_in_loop(s, s->edges[e].from, loop));
                 loop = pm_outer_loop(s, loop))
                b->entries[loop] += b->profile->edge_counts[e];
    for (size_t i = 0; i < s->n_calls; i++)
        b->calls[s->calls[i].routine] += b->executed[s->calls[i].block];
}

/* Times and counts of loops and calls; the basic blocks of the lift are the first of the whole. */
static void add_up(struct bounding *b) {
    const struct pm_structure *whole = b->copies->structure;
    double *instructions = pm_alloc(whole->n_blocks + 1, sizeof *instructions);
    b->executed = pm_block_executions(whole, b->profile->edge_counts);
    b->shared = pm_share_times(whole, b->profile->edge_counts, b->times);
    for (uint32_t i = 0; i < whole->n_blocks; i++) {
        instructions[i] = b->executed[i] * whole->blocks[i].n_instructions;
        b->bounds->instructions += instructions[i];
    }
    b->bounds->timed_seconds = b->shared.loop_seconds;
    add_to_loops(b->structure, b->shared.block_seconds, b->seconds);
    add_to_loops(b->structure, instructions, b->instructions);
    b->call_seconds = per_call(b, b->shared.block_seconds);
    b->call_instructions = per_call(b, instructions);
    add_entries(b);
    free(instructions);
}

/* Of all scopes. */
static double all_seconds(const struct bounding *b) {
    double all = 0;
    for (size_t i = 0; i < b->times->n_scopes; i++)
        all += fmax(b->times->scopes[i].seconds, 0);
    return all;
}

/* What the routines that NEST calls take of PER_CALL, all executions together. */
static double of_calls(const struct bounding *b, const struct pm_bound_nest *nest,
                       const double *per_call) {
    const struct pm_structure *s = b->structure;
    double all = 0;
    for (size_t i = 0; nest->n_routines > 0 && i < s->n_calls; i++)
        if (pm_is_in_loop(s, s->calls[i].block, nest->loop) &&
            isfinite(per_call[s->calls[i].routine]))
            all += b->executed[s->calls[i].block] * per_call[s->calls[i].routine];
    return all;
}

static bool has_block(const struct pm_bound_plan *plan, const struct pm_bound_nest *nest,
                      uint32_t block) {
    const uint32_t *all = plan->blocks + nest->first_block;
    size_t i = PM_LOWER_BOUND(nest->n_blocks, k, all[k] < block);
    return i < nest->n_blocks && all[i] == block;
}

/* Which share of the calls of NEST's routine comes from other nests that are WANTED: there it is
   bounded with them. */
static double covered_share(const struct bounding *b, const struct pm_bound_plan *plan,
                            const struct pm_bound_nest *nest, const bool *wanted) {
    const struct pm_structure *s = b->structure;
    uint32_t routine = s->scopes[nest->loop].routine;
    double covered = 0;
    for (size_t i = 0; i < s->n_calls; i++) {
        bool is_covered = false;
        if (s->calls[i].routine != routine)
            continue;
        for (size_t n = 0; n < plan->n_nests && !is_covered; n++)
            is_covered = &plan->nests[n] != nest && wanted[plan->nests[n].loop] &&
                         has_block(plan, &plan->nests[n], s->calls[i].block);
        if (is_covered)
            covered += b->executed[s->calls[i].block];
    }
    return b->calls[routine] > 0 ? covered / b->calls[routine] : 0;
}

static struct pm_nest_bound *add_nest(struct bounding *b, uint32_t loop) {
    struct pm_nest_bound *nest = PM_PUSH(b->bounds, nests);
    *nest = (struct pm_nest_bound){.scope = loop,
                                   .timed_seconds = b->seconds[loop],
                                   .instructions = b->instructions[loop],
                                   .shared = b->shared.owners[loop] != loop};
    return nest;
}

/* Does LOOP take its share of ALL, or was it chosen? */
static bool is_wanted(const struct bounding *b, uint32_t loop, double all) {
    if (b->request->choice.chooses)
        return b->request->choice.chooses(b->request->choice.context, b->structure, loop);
    return b->seconds[loop] > 0 && b->seconds[loop] >= b->request->least_share * all;
}

/* Loops that take their share and are in no nest, though no loop in them is one or takes its share,
   are listed with what stands against them. */
static bool is_worth_a_reason(const struct bounding *b, const struct pm_bound_plan *all,
                              uint32_t loop, double seconds) {
    if (!is_wanted(b, loop, seconds) || all->refusals[loop] == PM_BOUND_POSSIBLE)
        return false;
    if (b->request->choice.chooses)
        return true;
    double inner = 0;
    for (uint32_t s = loop + 1; s < b->structure->n_scopes; s++)
        if (b->structure->scopes[s].kind == PM_SCOPE_LOOP && pm_outer_loop(b->structure, s) == loop)
            inner += b->seconds[s];
    return b->seconds[loop] - inner >= b->request->least_share * seconds;
}

/* A nest that other nests call in most cases is bounded with these. */
static void leave_out_covered(const struct bounding *b, const struct pm_bound_plan *plan,
                              bool *wanted) {
    bool *before = pm_alloc(b->structure->n_scopes + 1, sizeof *before);
    memcpy(before, wanted, b->structure->n_scopes * sizeof *before);
    for (size_t i = 0; i < plan->n_nests; i++)
        if (covered_share(b, plan, &plan->nests[i], before) > most_covered_share)
            wanted[plan->nests[i].loop] = false;
    free(before);
}

/* Plans those nests that take their share of the time. */
static void choose(struct bounding *b) {
    struct pm_bound_wishes wishes = {.edge_counts = b->profile->edge_counts};
    struct pm_bound_plan *every = pm_plan_bounds(b->lifted, &wishes);
    bool *wanted = pm_alloc(b->structure->n_scopes, sizeof *wanted);
    add_up(b);
    double all = all_seconds(b);
    for (size_t i = 0; i < every->n_nests; i++) {
        const struct pm_bound_nest *nest = &every->nests[i];
        b->seconds[nest->loop] += of_calls(b, nest, b->call_seconds);
        b->instructions[nest->loop] += of_calls(b, nest, b->call_instructions);
        wanted[nest->loop] = is_wanted(b, nest->loop, all);
    }
    if (!b->request->choice.chooses)
        leave_out_covered(b, every, wanted);
    for (uint32_t s = 0; s < b->structure->n_scopes; s++) {
        if (wanted[s])
            add_nest(b, s);
        else if (b->structure->scopes[s].kind == PM_SCOPE_LOOP &&
                 is_worth_a_reason(b, every, s, all))
            add_nest(b, s)->refusal = pm_strdup(pm_bound_refusal_text(every->refusals[s]));
    }
    wishes.wanted = wanted;
    b->plan = pm_plan_bounds(b->lifted, &wishes);
    pm_bound_plan_free(every);
    free(wanted);
}

static struct pm_nest_bound *nest_of(const struct bounding *b, uint32_t loop) {
    size_t i = PM_LOWER_BOUND(b->bounds->n_nests, k, b->bounds->nests[k].scope < loop);
    return &b->bounds->nests[i];
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Of several processes, as of a script, the one that did most. */
static bool take_raw(void *to, const char *path, struct pm_error *err) {
    struct pm_raw **best = to, *raw = pm_raw_read(path, err);
    if (!raw)
        return false;
    bool has_more = !*best || raw->recorded.n_slots > (*best)->recorded.n_slots ||
                    (raw->bounds.n_nests > 0 && raw->cpu_ns > (*best)->cpu_ns);
    pm_raw_free(has_more ? *best : raw);
    *best = has_more ? raw : *best;
    return true;
}

/* Runs the program as NAME in our folder, with what FILE says; its raw file.  *SECONDS: CPU time.
 */
static struct pm_raw *run(const struct bounding *b, char *copy, const char *file, const char *name,
                          double *seconds, struct pm_error *err) {
    const struct pm_timing_launcher *launcher = &b->request->launcher;
    struct pm_copy files = {.original = b->copies->files[0].original, .instrumented = copy};
    struct pm_launch_result result;
    struct pm_raw *raw = NULL;
    char *folder = pm_sprintf("%s/%s", b->folder, name);
    if (mkdir(folder, 0777) != 0)
        pm_fail_errno(err, "cannot make %s", folder);
    else if (launcher->launch(launcher->context, &files, 1, folder, file, &result, err)) {
        *seconds = result.cpu_seconds;
        if (!pm_add_raw_files(folder, "record", false, take_raw, &raw, err)) {
            pm_raw_free(raw);
            raw = NULL;
        }
    }
    free(folder);
    return raw;
}

static struct pm_instrument_options instrumenting(const struct bounding *b) {
    return (struct pm_instrument_options){
        .no_counters = true,
        .only_probed = true,
        .calls_move = b->request->instrument->calls == PM_CALLS_MOVED,
        .runtime_path = b->request->instrument->runtime,
    };
}

/* *SECONDS: CPU time of the run. */
/* Of each branch: as many as cost a quarter of the program's own time, within limits. */
static uint32_t most_outcomes(const struct bounding *b) {
    double n = most_recording_share * b->times->plain_seconds / outcome_seconds /
               fmax((double)b->plan->n_replayed, 1);
    return (uint32_t)fmin(fmax(n, least_outcomes), PM_BOUND_MOST_OUTCOMES);
}

static struct pm_raw *record(const struct bounding *b, double *seconds, struct pm_error *err) {
    uint64_t *watched = pm_alloc(b->structure->n_blocks, sizeof *watched);
    char *copy = pm_sprintf("%s/%s", b->folder, basename(b->copies->files[0].instrumented));
    char *file = pm_sprintf("%s/watched", b->folder);
    struct pm_instrument_options options = instrumenting(b);
    struct pm_raw *raw = NULL;
    options.bounds = b->plan;
    options.watched = watched;
    if (pm_instrument(b->lifted, &options, copy, err) &&
        pm_bound_write_watch_file(file, b->lifted, b->plan, watched,
                                  pm_placement_hash(b->structure), most_outcomes(b), err))
        raw = run(b, copy, file, "recorded", seconds, err);
    if (raw && (raw->recorded.n_slots != b->plan->n_slots ||
                raw->recorded.n_branches != b->plan->n_replayed)) {
        pm_raw_free(raw);
        raw = NULL;
        pm_fail(err, "the run that records for lower bounds left no record: did the program end "
                     "in another process?");
    }
    free(watched);
    free(copy);
    free(file);
    return raw;
}

/* ---- shadow loops ------------------------------------------------------------------------- */

static uint8_t *slots_of(const struct bounding *b, const struct pm_bound_nest *nest,
                         const struct pm_raw *raw) {
    uint8_t *slots = pm_alloc(nest->slot_bytes + 1, 1);
    pm_bound_fill_slots(b->plan, nest, raw->recorded.n_slots ? raw->recorded.slots->bytes : NULL,
                        sizeof *raw->recorded.slots, slots);
    return slots;
}

static struct pm_bound_outcomes *
outcomes_of(const struct bounding *b, const struct pm_bound_nest *nest, const struct pm_raw *raw) {
    struct pm_bound_outcomes *all = pm_alloc(nest->n_replayed + 1, sizeof *all);
    for (uint32_t i = 0; i < nest->n_replayed; i++) {
        uint32_t number = nest->first_replayed + i;
        const struct pm_raw_outcomes *outcomes =
            &raw->recorded.branches[b->plan->recorded_branches[number]];
        uint32_t block = pm_bound_block_of(b->lifted, b->plan->replayed[number]);
        double per_entry = b->executed[block] / fmax(b->entries[nest->loop], 1);
        all[i] = (struct pm_bound_outcomes){
            .bits = outcomes->words, .n = (uint32_t)outcomes->n, .executions = (uint64_t)per_entry};
    }
    return all;
}

/* So that the copies of short nests cost a share of the nests' own time. */
static uint32_t every_of(const struct bounding *b, const struct pm_bound_nest *nest) {
    double cost = b->entries[nest->loop] * execution_seconds;
    double most = most_cost_share * b->seconds[nest->loop];
    if (b->request->every)
        return b->request->every;
    return most > 0 && cost > most ? (uint32_t)fmin(ceil(cost / most), 1e6) : 1;
}

static bool make_nest(struct bounding *b, struct pm_bound_nest *nest, const pm_live_set *live,
                      const struct pm_raw *raw, struct pm_shadow_loop *copy) {
    if (raw->recorded.n_slots > 0)
        pm_bound_place_across(b->lifted, b->plan, nest, &raw->recorded.slots->address,
                              sizeof *raw->recorded.slots);
    uint8_t *slots = slots_of(b, nest, raw);
    struct pm_bound_outcomes *outcomes = outcomes_of(b, nest, raw);
    struct pm_bound_request request = {.lifted = b->lifted,
                                       .live = live,
                                       .plan = b->plan,
                                       .nest = nest,
                                       .recorded = {slots, outcomes}};
    struct pm_nest_bound *bound = nest_of(b, nest->loop);
    bool made = pm_make_shadow_loop(&request, copy);
    bound->unknown = nest->n_unknown + nest->all_unknown;
    bound->biased = nest->n_biased;
    bound->chased = nest->n_chased;
    bound->replayed = nest->n_replayed;
    bound->chained = copy->n_chained;
    bound->routines = nest->n_routines;
    bound->library = nest->n_library;
    bound->across = nest->n_across;
    if (!made)
        bound->refusal = pm_strdup(pm_bound_refusal_text(PM_BOUND_FORMS));
    free(slots);
    free(outcomes);
    return made;
}

/* ---- measuring ------------------------------------------------------------------------------- */

struct made_copies {
    struct pm_shadow_loop *copies;
    struct pm_bound_entry *entries;
    size_t n;
};

static struct made_copies make_all(struct bounding *b, const struct pm_raw *raw) {
    const struct pm_bound_plan *plan = b->plan;
    struct made_copies made = {.copies = pm_alloc(plan->n_nests + 1, sizeof *made.copies),
                               .entries = pm_alloc(plan->n_nests + 1, sizeof *made.entries)};
    pm_live_set *live = pm_bound_liveness(b->lifted, plan);
    for (size_t i = 0; i < plan->n_nests; i++)
        if (make_nest(b, &plan->nests[i], live, raw, &made.copies[i]))
            made.entries[made.n++] =
                (struct pm_bound_entry){.module = pm_placement_hash(b->structure),
                                        .every = every_of(b, &plan->nests[i]),
                                        .plan = plan,
                                        .nest = &plan->nests[i],
                                        .copy = &made.copies[i]};
    free(live);
    return made;
}

static void free_all(const struct bounding *b, struct made_copies *made) {
    for (size_t i = 0; i < b->plan->n_nests; i++)
        pm_shadow_loop_free(&made->copies[i]);
    free(made->copies);
    free(made->entries);
}

/* A nest whose entries or exits no probe can stand on has no events. */
static bool instrument_nests(struct bounding *b, const struct made_copies *made, const char *copy,
                             struct pm_error *err) {
    uint8_t *events = pm_alloc(b->structure->n_scopes, sizeof *events);
    struct pm_instrument_options options = instrumenting(b);
    for (size_t i = 0; i < made->n; i++)
        events[made->entries[i].nest->loop] = PM_PROBE_SCOPE_PROBED;
    options.scope_events = events;
    bool ok = pm_instrument(b->lifted, &options, copy, err);
    free(events);
    return ok;
}

/* Per nest of the plan: which share of it is in other nests. */
static double *find_covered(const struct bounding *b) {
    double *covered = pm_alloc(b->plan->n_nests + 1, sizeof *covered);
    bool *wanted = pm_alloc(b->structure->n_scopes + 1, sizeof *wanted);
    for (size_t i = 0; i < b->plan->n_nests; i++)
        wanted[b->plan->nests[i].loop] = true;
    for (size_t i = 0; i < b->plan->n_nests; i++)
        covered[i] = covered_share(b, b->plan, &b->plan->nests[i], wanted);
    free(wanted);
    return covered;
}

static void take_times(struct bounding *b, const struct made_copies *made,
                       const struct pm_raw_bounds *raw) {
    double *covered = find_covered(b);
    double seconds = raw->ticks ? 1e-9 * (double)raw->ns / (double)raw->ticks : 0;
    for (size_t i = 0; i < made->n && i < raw->n_nests; i++) {
        const struct pm_raw_bound *measured = &raw->nests[i];
        struct pm_nest_bound *nest = nest_of(b, made->entries[i].nest->loop);
        nest->executions = (double)measured->executions;
        nest->sampled = (double)measured->sampled;
        nest->seconds = seconds * (double)measured->ticks;
        nest->sampled_seconds = seconds * (double)measured->sampled_ticks;
        nest->bound_seconds = seconds * (double)measured->copy_ticks;
        nest->cut = (double)measured->over;
        nest->faults = (double)measured->faults;
        if (measured->faults)
            nest->refusal = pm_strdup("faults when it runs on recorded values");
        else if (!measured->sampled)
            nest->refusal = pm_strdup("was not entered where that is seen");
        else
            b->bounds->bounded_seconds +=
                nest->timed_seconds * (1 - covered[made->entries[i].nest - b->plan->nests]);
    }
    free(covered);
}

/* *SECONDS: CPU time of the run. */
static bool measure(struct bounding *b, const struct pm_raw *recorded, double *seconds,
                    struct pm_error *err) {
    struct made_copies made = make_all(b, recorded);
    char *copy = pm_sprintf("%s/%s", b->folder, basename(b->copies->files[0].instrumented));
    char *file = pm_sprintf("%s/copies", b->folder);
    struct pm_raw *raw = NULL;
    if (instrument_nests(b, &made, copy, err) &&
        pm_bound_write_file(file, made.entries, made.n, err))
        raw = run(b, copy, file, "bounded", seconds, err);
    if (raw)
        take_times(b, &made, &raw->bounds);
    bool ok = raw != NULL;
    pm_raw_free(raw);
    free_all(b, &made);
    free(copy);
    free(file);
    return ok;
}

static bool measure_chosen(struct bounding *b, struct pm_error *err) {
    double recording = 0, bounding = 0, plain = b->times->plain_seconds;
    struct pm_raw *recorded = record(b, &recording, err);
    bool ok = recorded && measure(b, recorded, &bounding, err);
    b->bounds->recording_over_plain = plain > 0 ? recording / plain : 0;
    b->bounds->total_over_plain =
        plain > 0 ? (b->times->cpu_seconds + recording + bounding) / plain : 0;
    pm_raw_free(recorded);
    return ok;
}

struct pm_bounds *pm_measure_bounds(const struct pm_bounding_request *request,
                                    const struct pm_copies *copies,
                                    const struct pm_profile *profile, const struct pm_times *times,
                                    const char *folder, struct pm_timing_lifts *lifts,
                                    struct pm_error *err) {
    struct bounding b = {
        .request = request, .copies = copies, .profile = profile, .times = times, .folder = folder};
    if (!pm_timing_lift_modules(request->instrument, copies, lifts, err))
        return NULL;
    b.lifted = lifts->lifted[0];
    b.structure = pm_lifted_structure(b.lifted);
    b.bounds = pm_alloc(1, sizeof *b.bounds);
    b.bounds->plain_seconds = times->plain_seconds;
    b.bounds->cycle_seconds = request->cycle_seconds;
    b.bounds->machine = times->machine ? pm_strdup(times->machine) : NULL;
    b.calls = pm_alloc(b.structure->n_routines + 1, sizeof *b.calls);
    b.seconds = pm_alloc(b.structure->n_scopes, sizeof *b.seconds);
    b.entries = pm_alloc(b.structure->n_scopes, sizeof *b.entries);
    b.instructions = pm_alloc(b.structure->n_scopes, sizeof *b.instructions);
    choose(&b);
    bool ok = b.plan->n_nests == 0 || measure_chosen(&b, err);
    pm_bound_plan_free(b.plan);
    pm_shared_times_free(&b.shared);
    free(b.executed);
    free(b.calls);
    free(b.seconds);
    free(b.entries);
    free(b.instructions);
    free(b.call_seconds);
    free(b.call_instructions);
    if (ok)
        return b.bounds;
    pm_bounds_free(b.bounds);
    return NULL;
}
