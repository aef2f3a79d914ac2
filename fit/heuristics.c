/* The constants and steps of fit/heuristics.h: their values, and how the environment changes them.
 */
#include "fit/heuristics.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

#define NUMBER(name, value, why) .name = (value),
static const struct pm_heuristics initial = {PM_FIT_NUMBERS(NUMBER) PM_FIT_SHOWN(NUMBER)
                                                 PM_FIT_COUNTS(NUMBER)};
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

/* The number of NAME in a table; N if it has none. */
static size_t place_of(const struct pm_heuristic_name *table, size_t n, const char *name) {
    size_t found = 0;
    while (found < n && strcmp(table[found].name, name) != 0)
        found++;
    return found;
}

static size_t scaled_count(size_t count, double factor) {
    return (size_t)fmax(round((double)count * factor), 1);
}

static void scale(struct pm_heuristics *h, size_t constant, double factor) {
    size_t i = 0;
#define SCALE(name, value, why)                                                                    \
    if (i++ == constant)                                                                           \
        h->name *= factor;
    PM_FIT_NUMBERS(SCALE)
    PM_FIT_SHOWN(SCALE)
#undef SCALE
#define SCALE(name, value, why)                                                                    \
    if (i++ == constant)                                                                           \
        h->name = scaled_count(h->name, factor);
    PM_FIT_COUNTS(SCALE)
#undef SCALE
}

static bool scale_named(struct pm_heuristics *h, char *item, struct pm_error *err) {
    char *factor_text = strchr(item, ':'), *end = NULL;
    if (factor_text)
        *factor_text++ = '\0';
    size_t constant = place_of(constants, N_CONSTANTS, item);
    if (constant == N_CONSTANTS)
        return pm_fail(err, "PM_FIT_SCALE: there is no constant `%.60s`; fit/heuristics.h has them",
                       item);
    double factor = factor_text ? strtod(factor_text, &end) : 0;
    if (!(factor > 0 && factor <= 2) || *end)
        return pm_fail(err,
                       "PM_FIT_SCALE: %s needs a factor above 0 and up to 2 after a colon, as in "
                       "%s:0.5",
                       item, item);
    scale(h, constant, factor);
    return true;
}

static bool leave_out(struct pm_heuristics *h, const char *item, struct pm_error *err) {
    size_t step = place_of(steps, PM_N_FIT_STEPS, item);
    if (step < PM_N_FIT_STEPS) {
        h->without |= 1ull << step;
        return true;
    }
    char *names = pm_strdup("");
    for (size_t i = 0; i < PM_N_FIT_STEPS; i++)
        pm_append(&names, "%s%s", i ? ", " : "", steps[i].name);
    pm_fail(err, "PM_FIT_WITHOUT: there is no step `%.60s`; there are: %s", item, names);
    free(names);
    return false;
}

bool pm_heuristics_set(const char *without, const char *scale_text, struct pm_error *err) {
    struct pm_heuristics changed = initial;
    bool ok = true;
    char *copies[] = {pm_strdup(without ? without : ""), pm_strdup(scale_text ? scale_text : "")};
    for (int which = 0; which < 2; which++) {
        char *rest = copies[which];
        for (char *item; ok && (item = strsep(&rest, ","));)
            if (*item)
                ok = which ? scale_named(&changed, item, err) : leave_out(&changed, item, err);
        free(copies[which]);
    }
    if (ok)
        pm_heuristics = changed;
    return ok;
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
