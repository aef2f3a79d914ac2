/* How much time a probe may take, and who wants to know how far it is.

   The budget is one for the whole probe.  Its parts come one after the other; each may take a share
   of the time that is left when it begins, and each measurement of a part what is left of this,
   divided among those that are still to come.  So the probe ends in time whatever else the machine
   does, and what a quick part leaves the later ones have. */
#ifndef PM_PROBE_EFFORT_H
#define PM_PROBE_EFFORT_H

#include <stdbool.h>
#include <stddef.h>

struct pm_probe_budget {
    double begin, end; /* of the whole, by pm_clock_now; end 0: takes as long as it takes */
    double part_end;   /* of the part under way */
    size_t n_left;     /* measurements that are still to come in it */
    const char *doing; /* the part, for progress */
};

struct pm_probe_effort {
    bool quick;
    struct pm_probe_budget *budget;
    void (*progress)(void *context, const char *what, double share); /* NULL: none; 0 … 1 */
    bool (*stop)(void *context); /* NULL: never; true: keep what is done */
    void *context;
};

/* Begins the part WHAT, which may take SHARE of the time left, with N measurements.  False: all was
   stopped. */
bool pm_probe_part(const struct pm_probe_effort *effort, const char *what, double share, size_t n);
/* False: stop, or the time of the part is over. */
bool pm_probe_goes_on(const struct pm_probe_effort *effort);
/* When the part under way ends, by pm_clock_now; INFINITY: it takes as long as it takes. */
double pm_probe_part_end(const struct pm_probe_effort *effort);
/* Was all stopped, or is the time of all parts over? */
bool pm_probe_ends(const struct pm_probe_effort *effort);

/* Seconds that the next measurement may take; counts it.  INFINITY: no budget (NULL), or no end. */
double pm_budget_take(struct pm_probe_budget *budget);

#endif
