/* Makes of PROGRAM what its lower bounds are measured with, all nests.

     bound_program PROGRAM RUNTIME COPY FILE [RAW-FILE]

   COPY: the instrumented program.  FILE, for PMODEL_BOUND: without RAW-FILE what is to be recorded;
   with the raw file of such a run, the shadow loops, and for each its number, routine and source
   line are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/bound/bound.h"
#include "core/probe_abi.h"
#include "measure/raw/raw.h"

struct work {
    struct pm_lifted *lifted;
    const struct pm_structure *structure;
    struct pm_bound_plan *plan;
    const char *runtime, *copy, *file;
};

static bool record(struct work *work, struct pm_error *err) {
    uint64_t *watched = pm_alloc(work->structure->n_blocks, sizeof *watched);
    struct pm_instrument_options options = {.no_counters = true,
                                            .only_probed = true,
                                            .runtime_path = work->runtime,
                                            .bounds = work->plan,
                                            .watched = watched};
    bool good =
        pm_instrument(work->lifted, &options, work->copy, err) &&
        pm_bound_write_watch_file(work->file, work->lifted, work->plan, watched,
                                  pm_placement_hash(work->structure), PM_BOUND_MOST_OUTCOMES, err);
    free(watched);
    return good;
}

static bool instrument(struct work *work, struct pm_error *err) {
    uint8_t *events = pm_alloc(work->structure->n_scopes, sizeof *events);
    uint8_t *probed = pm_alloc(work->structure->n_scopes, sizeof *probed);
    for (size_t i = 0; i < work->plan->n_nests; i++)
        events[work->plan->nests[i].loop] = PM_PROBE_SCOPE_PROBED;
    struct pm_instrument_options options = {.no_counters = true,
                                            .only_probed = true,
                                            .runtime_path = work->runtime,
                                            .scope_events = events,
                                            .probed = probed};
    bool good = pm_instrument(work->lifted, &options, work->copy, err);
    free(events);
    free(probed);
    return good;
}

static void put_nest(const struct work *work, size_t number, const struct pm_bound_nest *nest) {
    const struct pm_scope *scope = &work->structure->scopes[nest->loop];
    printf("%zu %s %s:%" PRIu32 " slots %" PRIu32 " replayed %" PRIu32 " saved %" PRIu32 "\n",
           number, work->structure->routines[scope->routine].name, scope->file ? scope->file : "?",
           scope->line_first, nest->n_slots, nest->n_replayed, nest->n_saved);
}

static bool measure(struct work *work, const struct pm_raw *raw, struct pm_error *err) {
    const struct pm_bound_plan *plan = work->plan;
    pm_live_set *live = pm_bound_liveness(work->lifted, plan);
    struct pm_shadow_loop *copies = pm_alloc(plan->n_nests, sizeof *copies);
    struct pm_bound_entry *entries = pm_alloc(plan->n_nests, sizeof *entries);
    struct pm_bound_outcomes *outcomes = pm_alloc(plan->n_replayed, sizeof *outcomes);
    size_t n = 0;
    for (size_t i = 0; i < plan->n_replayed; i++) {
        const struct pm_raw_outcomes *branch = &raw->recorded.branches[plan->recorded_branches[i]];
        outcomes[i] = (struct pm_bound_outcomes){
            .bits = branch->words, .n = (uint32_t)branch->n, .executions = branch->n};
    }
    for (size_t i = 0; i < plan->n_nests; i++) {
        struct pm_bound_nest *nest = &plan->nests[i];
        if (raw->recorded.n_slots > 0)
            pm_bound_place_across(work->lifted, work->plan, nest, &raw->recorded.slots->address,
                                  sizeof *raw->recorded.slots);
        uint8_t *slots = pm_alloc(nest->slot_bytes, 1);
        pm_bound_fill_slots(plan, nest, raw->recorded.n_slots ? raw->recorded.slots->bytes : NULL,
                            sizeof *raw->recorded.slots, slots);
        struct pm_bound_request request = {
            .lifted = work->lifted,
            .live = live,
            .plan = plan,
            .nest = nest,
            .recorded = {.slots = slots, .outcomes = outcomes + nest->first_replayed}};
        if (pm_make_shadow_loop(&request, &copies[i])) {
            put_nest(work, n, nest);
            entries[n++] = (struct pm_bound_entry){.module = pm_placement_hash(work->structure),
                                                   .every = 1,
                                                   .plan = plan,
                                                   .nest = nest,
                                                   .copy = &copies[i]};
        }
        free(slots);
    }
    bool good = instrument(work, err) && pm_bound_write_file(work->file, entries, n, err);
    for (size_t i = 0; i < plan->n_nests; i++)
        pm_shadow_loop_free(&copies[i]);
    free(copies);
    free(entries);
    free(outcomes);
    free(live);
    return good;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct pm_lift_options options = {0};
    struct pm_raw *raw = NULL;
    struct work work = {0};
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "bound_program: PROGRAM RUNTIME COPY FILE [RAW-FILE]\n");
        return 2;
    }
    bool good = (work.lifted = pm_lift(argv[1], &options, &err)) &&
                (argc < 6 || (raw = pm_raw_read(argv[5], &err)));
    if (good) {
        work.structure = pm_lifted_structure(work.lifted);
        work.plan = pm_plan_bounds(work.lifted, &(struct pm_bound_wishes){0});
        work.runtime = argv[2];
        work.copy = argv[3];
        work.file = argv[4];
        if (raw && (raw->recorded.n_slots != work.plan->n_slots ||
                    raw->recorded.n_branches != work.plan->n_replayed))
            good = pm_fail(&err, "%s: of another program", argv[5]);
        else
            good = raw ? measure(&work, raw, &err) : record(&work, &err);
    }
    if (!good)
        fprintf(stderr, "bound_program: %s\n", err.text);
    pm_raw_free(raw);
    pm_bound_plan_free(work.plan);
    pm_lifted_free(work.lifted);
    return good ? 0 : 2;
}
