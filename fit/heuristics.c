/* The constants and steps of fit/heuristics.h: their values, and how the environment changes them.
 */
#include "fit/heuristics.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fit/tunables.h"

#define NUMBER(name, value, why) .name = (value),
struct pm_heuristics pm_heuristics = {PM_FIT_NUMBERS(NUMBER) PM_FIT_SHOWN(NUMBER)
                                          PM_FIT_COUNTS(NUMBER)};
#undef NUMBER

#define ROW(step, name, what) {#name, what, 0, true},
static const struct pm_heuristic_name steps[] = {PM_FIT_STEPS(ROW)};
#undef ROW
#define ROW(name, value, why) {#name, why, value, true},
#define SHOWN(name, value, why) {#name, why, value, false},
static const struct pm_heuristic_name constants[] = {PM_FIT_NUMBERS(ROW) PM_FIT_SHOWN(SHOWN)
                                                         PM_FIT_COUNTS(ROW)};
#undef SHOWN
#undef ROW

enum { N_CONSTANTS = sizeof constants / sizeof *constants };

const struct pm_heuristic_name *pm_heuristic_steps(size_t *n) {
    *n = PM_N_FIT_STEPS;
    return steps;
}

const struct pm_heuristic_name *pm_heuristic_constants(size_t *n) {
    *n = N_CONSTANTS;
    return constants;
}

/* ---- changing them --------------------------------------------------------------------------- */

#define NUMBER(name, value, why) {#name, why, value, &pm_heuristics.name, NULL},
#define COUNT(name, value, why) {#name, why, value, NULL, &pm_heuristics.name},
static const struct pm_tunable tunables[] = {PM_FIT_NUMBERS(NUMBER) PM_FIT_SHOWN(NUMBER)
                                                 PM_FIT_COUNTS(COUNT)};
#undef COUNT
#undef NUMBER

static bool leave_out(const char *item, unsigned long long *without, struct pm_error *err) {
    for (size_t step = 0; step < PM_N_FIT_STEPS; step++)
        if (strcmp(steps[step].name, item) == 0) {
            *without |= 1ull << step;
            return true;
        }
    char *names = pm_strdup("");
    for (size_t i = 0; i < PM_N_FIT_STEPS; i++)
        pm_append(&names, "%s%s", i ? ", " : "", steps[i].name);
    pm_fail(err, "PM_FIT_WITHOUT: there is no step `%.60s`; there are: %s", item, names);
    free(names);
    return false;
}

bool pm_heuristics_set(const char *without, const char *scale, struct pm_error *err) {
    unsigned long long left_out = 0;
    bool ok = true;
    char *copy = pm_strdup(without ? without : ""), *rest = copy;
    for (char *item; ok && (item = strsep(&rest, ","));)
        if (*item)
            ok = leave_out(item, &left_out, err);
    free(copy);
    if (!ok ||
        !pm_tunables_scale(tunables, N_CONSTANTS, scale, "PM_FIT_SCALE", "fit/heuristics.h", err))
        return false;
    pm_heuristics.without = left_out;
    return true;
}

/* ---- the environment ------------------------------------------------------------------------- */

static struct pm_error of_environment;
static bool environment_is_sound;

static void read_environment(void) {
    const char *without = getenv("PM_FIT_WITHOUT"), *scales = getenv("PM_FIT_SCALE");
    environment_is_sound =
        (!without && !scales) || pm_heuristics_set(without, scales, &of_environment);
}

bool pm_heuristics_read(struct pm_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    return environment_is_sound || pm_fail(err, "%s", of_environment.text);
}
