/* How much time a probe may take, and who wants to know how far it is. */
#ifndef PM_PROBE_EFFORT_H
#define PM_PROBE_EFFORT_H

#include <stdbool.h>

struct pm_probe_effort {
    bool quick;
    void (*progress)(void *context, const char *what, double share); /* NULL: none; 0 … 1 */
    bool (*stop)(void *context); /* NULL: never; true: keep what is done */
    void *context;
};

/* Says that WHAT is under way and SHARE of the part is done; false: stop. */
static inline bool pm_probe_goes_on(const struct pm_probe_effort *effort, const char *what,
                                    double share) {
    if (effort->progress)
        effort->progress(effort->context, what, share);
    return !effort->stop || !effort->stop(effort->context);
}

#endif
