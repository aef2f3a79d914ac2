#include "machines/probe/effort.h"

#include <math.h>

#include "machines/probe/clock/clock.h"

bool pm_probe_ends(const struct pm_probe_effort *effort) {
    return (effort->stop && effort->stop(effort->context)) ||
           (effort->budget->end > 0 && pm_clock_now() >= effort->budget->end);
}

bool pm_probe_part(const struct pm_probe_effort *effort, const char *what, double share, size_t n) {
    struct pm_probe_budget *budget = effort->budget;
    double now = pm_clock_now();
    budget->doing = what;
    budget->n_left = n;
    budget->part_end = budget->end > 0 ? now + share * fmax(0, budget->end - now) : 0;
    return pm_probe_goes_on(effort) || !pm_probe_ends(effort);
}

double pm_probe_part_end(const struct pm_probe_effort *effort) {
    return effort->budget->part_end > 0 ? effort->budget->part_end : INFINITY;
}

bool pm_probe_goes_on(const struct pm_probe_effort *effort) {
    const struct pm_probe_budget *budget = effort->budget;
    double now = pm_clock_now();
    if (effort->progress)
        effort->progress(effort->context, budget->doing,
                         budget->end > 0 ? (now - budget->begin) / (budget->end - budget->begin)
                                         : 0);
    return !(effort->stop && effort->stop(effort->context)) &&
           !(budget->part_end > 0 && now >= budget->part_end);
}

double pm_budget_take(struct pm_probe_budget *budget) {
    if (!budget || budget->part_end == 0)
        return INFINITY;
    double left = fmax(0, budget->part_end - pm_clock_now());
    return left / (double)(budget->n_left > 1 ? budget->n_left-- : 1);
}
