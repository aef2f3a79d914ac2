/* The constants of sched/constants.h: their values, and how the environment changes them. */
#include "sched/constants.h"

#include <pthread.h>
#include <stdlib.h>

#define VALUE(name, value, why) .name = (value),
struct pm_sched_constants pm_sched_constants = {PM_SCHED_CONSTANTS(VALUE)};
#undef VALUE

#define ROW(name, value, why) {#name, why, value, &pm_sched_constants.name, NULL},
static const struct pm_tunable table[] = {PM_SCHED_CONSTANTS(ROW)};
#undef ROW
enum { N_CONSTANTS = sizeof table / sizeof *table };

bool pm_sched_constants_set(const char *scale, struct pm_error *err) {
    return pm_tunables_scale(table, N_CONSTANTS, scale, "PM_SCHED_SCALE", "sched/constants.h", err);
}

static struct pm_error of_environment;
static bool environment_is_sound;

static void read_environment(void) {
    environment_is_sound = pm_sched_constants_set(getenv("PM_SCHED_SCALE"), &of_environment);
}

bool pm_sched_constants_read(struct pm_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    return environment_is_sound || pm_fail(err, "%s", of_environment.text);
}
