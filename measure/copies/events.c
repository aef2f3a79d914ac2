/* Which loops and routines are events in an instrumented copy, and which calls end an interval. */
#include <stdlib.h>

#include "core/probe_abi.h"
#include "measure/copies/private.h"

void pm_event_choice_add(struct pm_event_choice *choice, const char *name, uint8_t flag) {
    *PM_PUSH(choice, routines) = (struct pm_event_routine){.name = name, .flag = flag};
}

void pm_event_choice_copy(struct pm_event_choice *to, const struct pm_event_choice *from) {
    *to = (struct pm_event_choice){.kinds = from->kinds};
    for (size_t i = 0; i < from->n_routines; i++)
        pm_event_choice_add(to, from->routines[i].name, from->routines[i].flag);
    for (size_t i = 0; i < from->n_intervals; i++)
        *PM_PUSH(to, intervals) = from->intervals[i];
}

void pm_event_choice_lift(struct pm_event_choice *choice, struct pm_lift_options *options) {
    free(choice->interval_found);
    choice->interval_found = pm_alloc(choice->n_intervals, sizeof *choice->interval_found);
    options->intervals = choice->intervals;
    options->n_intervals = choice->n_intervals;
    options->interval_found = choice->interval_found;
}

uint8_t *pm_event_choice_flags(struct pm_event_choice *choice,
                               const struct pm_structure *structure) {
    if (!choice->kinds && !choice->n_routines)
        return NULL;
    uint8_t *flags = pm_alloc(structure->n_scopes, sizeof *flags);
    for (size_t s = 0; s < structure->n_scopes; s++) {
        uint8_t kind = structure->scopes[s].kind;
        if ((kind == PM_SCOPE_ROUTINE && choice->kinds & PM_EVENTS_ROUTINES) ||
            (kind == PM_SCOPE_LOOP && choice->kinds & PM_EVENTS_LOOPS))
            flags[s] = PM_PROBE_SCOPE_PROBED;
        if (kind == PM_SCOPE_LOOP && choice->kinds & PM_EVENTS_ITERATIONS)
            flags[s] |= PM_PROBE_SCOPE_ITERATES;
    }
    for (size_t i = 0; i < choice->n_routines; i++) {
        uint32_t n_named;
        bool *named = pm_routines_named(structure, choice->routines[i].name, &n_named);
        for (size_t r = 0; r < structure->n_routines; r++)
            if (named[r])
                flags[structure->routines[r].scope] |= choice->routines[i].flag;
        choice->routines[i].found |= n_named > 0;
        pm_nearest_routine(structure, choice->routines[i].name, &choice->routines[i].nearest);
        free(named);
    }
    return flags;
}

void pm_event_choice_probed(struct pm_event_choice *choice, const struct pm_structure *structure,
                            const uint8_t *probed) {
    for (size_t i = 0; i < choice->n_routines; i++) {
        uint32_t n_named;
        bool *named = pm_routines_named(structure, choice->routines[i].name, &n_named);
        for (size_t r = 0; r < structure->n_routines; r++)
            if (named[r] && probed[structure->routines[r].scope])
                choice->routines[i].probed = true;
        free(named);
    }
}

bool pm_event_choice_check(const struct pm_event_choice *choice, struct pm_error *err) {
    for (size_t i = 0; i < choice->n_routines; i++) {
        const struct pm_event_routine *routine = &choice->routines[i];
        const char *option = routine->flag == PM_PROBE_SCOPE_STARTS ? "--start-at" : "--stop-after";
        if (!routine->found) {
            pm_fail(err, "%s %s: no routine is called so (`pmodel loops` lists them)", option,
                    routine->name);
            return pm_fail_nearest(err, &routine->nearest);
        }
        if (!routine->probed)
            return pm_fail(err,
                           "%s %s: this routine's entries and exits cannot all be told, because it "
                           "is left out, was not understood or has a way out that no probe can "
                           "stand on; name one that calls it",
                           option, routine->name);
    }
    for (size_t i = 0; i < choice->n_intervals; i++)
        if (!choice->interval_found || !choice->interval_found[i])
            return pm_fail(err, "--interval %s: the program calls no routine of this name",
                           choice->intervals[i]);
    return true;
}

void pm_event_choice_free(struct pm_event_choice *choice) {
    free(choice->routines);
    free(choice->intervals);
    free(choice->interval_found);
    *choice = (struct pm_event_choice){0};
}
