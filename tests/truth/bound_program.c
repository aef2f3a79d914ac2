/* Makes of PROGRAM what its lower bounds are measured with, all nests, slots without recorded
   values.

     bound_program PROGRAM RUNTIME COPY FILE

   COPY: the instrumented program; FILE: its copies of nests, for PMODEL_BOUND.  Prints for each
   nest its number, routine and source line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "binlift/bound/bound.h"
#include "core/probe_abi.h"

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct pm_lift_options options = {0};
    struct pm_lifted *lifted = argc == 5 ? pm_lift(argv[1], &options, &err) : NULL;
    if (!lifted) {
        fprintf(stderr, "bound_program: %s\n", argc == 5 ? err.text : "PROGRAM RUNTIME COPY FILE");
        return 2;
    }
    const struct pm_structure *structure = pm_lifted_structure(lifted);
    struct pm_bound_plan *plan = pm_plan_bounds(lifted, NULL);
    uint8_t *events = pm_alloc(structure->n_scopes, sizeof *events);
    uint8_t *probed = pm_alloc(structure->n_scopes, sizeof *probed);
    for (size_t i = 0; i < plan->n_nests; i++)
        events[plan->nests[i].loop] = PM_PROBE_SCOPE_PROBED;
    struct pm_instrument_options instrument = {.no_counters = true,
                                               .only_probed = true,
                                               .runtime_path = argv[2],
                                               .scope_events = events,
                                               .probed = probed};
    if (!pm_instrument(lifted, &instrument, argv[3], &err)) {
        fprintf(stderr, "bound_program: %s\n", err.text);
        return 2;
    }
    pm_live_set *live = pm_bound_liveness(lifted, plan);
    struct pm_bound_copy *copies = pm_alloc(plan->n_nests, sizeof *copies);
    struct pm_bound_entry *entries = pm_alloc(plan->n_nests, sizeof *entries);
    size_t n = 0;
    for (size_t i = 0; i < plan->n_nests; i++) {
        struct pm_bound_request request = {
            .lifted = lifted, .live = live, .plan = plan, .nest = &plan->nests[i]};
        const struct pm_scope *scope = &structure->scopes[plan->nests[i].loop];
        if (!pm_make_bound_copy(&request, &copies[i]))
            continue;
        printf("%zu %s %s:%" PRIu32 " replayed %" PRIu32 " saved %" PRIu32 "\n", n,
               structure->routines[scope->routine].name, scope->file ? scope->file : "?",
               scope->line_first, plan->nests[i].n_replayed, plan->nests[i].n_saved);
        entries[n++] = (struct pm_bound_entry){.module = pm_placement_hash(structure),
                                               .every = 1,
                                               .plan = plan,
                                               .nest = &plan->nests[i],
                                               .copy = &copies[i]};
    }
    bool good = pm_bound_write_file(argv[4], entries, n, &err);
    if (!good)
        fprintf(stderr, "bound_program: %s\n", err.text);
    for (size_t i = 0; i < plan->n_nests; i++)
        pm_bound_copy_free(&copies[i]);
    free(copies);
    free(entries);
    free(live);
    free(events);
    free(probed);
    pm_bound_plan_free(plan);
    pm_lifted_free(lifted);
    return good ? 0 : 2;
}
