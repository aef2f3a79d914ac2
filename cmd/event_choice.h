/* Which loops and routines are events in an instrumented copy, by options of `pmodel run` and
   `pmodel instrument`: --events, --start-at, --stop-after, --interval. */
#ifndef PM_EVENT_CHOICE_H
#define PM_EVENT_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "binlift/binlift.h"
#include "core/base/base.h"
#include "core/structure/structure.h"

enum pm_event_kinds {
    PM_EVENTS_NONE = 0,
    PM_EVENTS_ROUTINES = 1,
    PM_EVENTS_LOOPS = 2,
    PM_EVENTS_ITERATIONS = 4
};

/* Routines that switch measuring; names and patterns as core/structure/routine_names.h has them. */
struct pm_event_routine {
    const char *name;
    uint8_t flag; /* PM_PROBE_SCOPE_STARTS, PM_PROBE_SCOPE_STOPS */
    bool found;   /* a module has it … */
    bool probed;  /* … and each entry and exit of it can be told */
};

struct pm_event_choice {
    unsigned kinds; /* of enum pm_event_kinds */
    PM_ARRAY(struct pm_event_routine, routines);
    PM_ARRAY(const char *, intervals); /* calls of these end an interval */
    bool *interval_found;              /* per interval, after pm_event_choice_lift and a lift */
};

/* "routines", "loops", "all" or "none"; false with a sentence for anything else. */
bool pm_event_choice_kinds(struct pm_event_choice *choice, const char *text, struct pm_error *err);
void pm_event_choice_add(struct pm_event_choice *choice, const char *name, uint8_t flag);

/* Names stay with who owns them. */
void pm_event_choice_copy(struct pm_event_choice *to, const struct pm_event_choice *from);

/* What a lift must know.  CHOICE must outlive it. */
void pm_event_choice_lift(struct pm_event_choice *choice, struct pm_lift_options *options);

/* pm_instrument_options.scope_events for a module; NULL: no events.  The caller frees. */
uint8_t *pm_event_choice_flags(struct pm_event_choice *choice,
                               const struct pm_structure *structure);
/* After the module was instrumented: PROBED as pm_instrument_options has it. */
void pm_event_choice_probed(struct pm_event_choice *choice, const struct pm_structure *structure,
                            const uint8_t *probed);
/* After all modules: false with a sentence if a routine is not there or cannot be probed. */
bool pm_event_choice_check(const struct pm_event_choice *choice, struct pm_error *err);

void pm_event_choice_free(struct pm_event_choice *choice); /* what it owns */

#endif
