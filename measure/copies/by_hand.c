/* The instrumented copy of a program that is to be run by hand, with an event handler or without
   anything that reads what it measures. */
#include <stdio.h>
#include <stdlib.h>

#include "measure/copies/private.h"

static void sum_up(const struct pm_structure *structure, struct pm_copy_summary *summary) {
    summary->n_routines = structure->n_routines;
    summary->n_counters = structure->n_counters;
    for (size_t r = 0; r < structure->n_routines; r++)
        summary->n_instrumented += structure->routines[r].counted;
}

static bool write_copy(struct pm_copier *copier, struct pm_lifted *lifted, const char *to,
                       struct pm_copy_summary *summary, struct pm_error *err) {
    const struct pm_structure *structure = pm_lifted_structure(lifted);
    bool *left_out = copier->lists ? pm_routine_lists_left_out(copier->lists, structure) : NULL;
    struct pm_instrument_options options = {.left_out = left_out};
    bool ok = (!copier->lists || pm_routine_lists_all_found(copier->lists, err)) &&
              pm_copier_write(copier, lifted, &options, to, &summary->n_events, err);
    free(left_out);
    if (!ok)
        return false;
    ok = pm_event_choice_check(&copier->events, err);
    if (!ok)
        remove(to);
    sum_up(structure, summary);
    return ok;
}

bool pm_copy_by_hand(const struct pm_copies_request *request, const char *program, const char *to,
                     struct pm_copy_summary *summary, struct pm_error *err) {
    struct pm_copier copier;
    *summary = (struct pm_copy_summary){0};
    struct pm_lifted *lifted =
        pm_copier_new(&copier, request, err) ? pm_lift(program, &copier.lift, err) : NULL;
    bool ok = lifted &&
              (!pm_lifted_refusal(lifted) || pm_fail(err, "%s", pm_lifted_refusal(lifted))) &&
              write_copy(&copier, lifted, to, summary, err);
    pm_lifted_free(lifted);
    pm_copier_free(&copier);
    return ok;
}
