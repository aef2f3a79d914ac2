/* `pmodel validate --time`; see times.h. */
#include "cmd/validate/times.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void pm_timed_sizes_free(struct pm_timed_sizes *timed) {
    for (size_t i = 0; i < timed->n_sizes; i++) {
        for (size_t r = 0; r < timed->sizes[i].n_runs; r++)
            pm_times_free(timed->sizes[i].runs[r]);
        free(timed->sizes[i].runs);
    }
    free(timed->sizes);
    *timed = (struct pm_timed_sizes){0};
}

const struct pm_timed_runs *pm_timed_sizes_find(const struct pm_timed_sizes *timed,
                                                const struct pm_parameters *at) {
    for (size_t i = 0; i < timed->n_sizes; i++)
        if (pm_parameters_equal(&timed->sizes[i].at, at))
            return &timed->sizes[i];
    return NULL;
}

void pm_timed_sizes_take(void *context, const struct pm_parameters *at, struct pm_times *times) {
    struct pm_timed_sizes *timed = context;
    struct pm_timed_runs *size = (struct pm_timed_runs *)(uintptr_t)pm_timed_sizes_find(timed, at);
    if (!size) {
        size = PM_PUSH(timed, sizes);
        *size = (struct pm_timed_runs){.at = *at};
    }
    *PM_PUSH(size, runs) = times;
}

/* ---- times of another machine ---------------------------------------------------------------- */

static double number_of(const json_t *object, const char *name) {
    const json_t *number = json_object_get(object, name);
    return json_is_number(number) ? json_number_value(number) : 0;
}

/* PM_NONE: no loop or routine has the key. */
static uint32_t scope_with_key(const struct pm_structure *structure, const char *key) {
    uint64_t wanted = key ? strtoull(key, NULL, 16) : 0;
    for (uint32_t s = 0; wanted && s < structure->n_scopes; s++)
        if (structure->scopes[s].key == wanted && (structure->scopes[s].kind == PM_SCOPE_LOOP ||
                                                   structure->scopes[s].kind == PM_SCOPE_ROUTINE))
            return s;
    return PM_NONE;
}

/* Seconds of timers by scope; those whose key is not there are outside. */
static size_t read_timers(const json_t *timers, const struct pm_structure *structure,
                          struct pm_times *times) {
    struct pm_scope_time *of_scope = pm_alloc(structure->n_scopes, sizeof *of_scope);
    bool *is_timed = pm_alloc(structure->n_scopes, sizeof *is_timed);
    size_t i, n_found = 0;
    const json_t *timer;
    json_array_foreach(timers, i, timer) {
        uint32_t scope =
            scope_with_key(structure, json_string_value(json_object_get(timer, "key")));
        if (scope == PM_NONE) {
            times->outside_seconds += number_of(timer, "seconds");
            continue;
        }
        n_found++;
        is_timed[scope] = true;
        of_scope[scope].seconds += number_of(timer, "seconds");
        of_scope[scope].entries += number_of(timer, "entries");
    }
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (is_timed[s]) {
            of_scope[s].scope = s;
            *PM_PUSH(times, scopes) = of_scope[s];
        }
    free(is_timed);
    free(of_scope);
    return n_found;
}

static bool read_parameters(const json_t *from, struct pm_parameters *at, struct pm_error *err) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)from, name, value) {
        if (!json_is_number(value) || !pm_parameters_set(at, name, json_number_value(value), err))
            return false;
    }
    return true;
}

static bool take_measured(struct pm_timed_sizes *timed, const char *path, const json_t *prediction,
                          const struct pm_structure *structure, struct pm_error *err) {
    const json_t *measured = json_object_get(prediction, "measured");
    struct pm_parameters at = {0};
    if (!json_is_object(measured))
        return pm_fail(err,
                       "%s has no measured times: it is to be what `pmodel report --format "
                       "json` says of a size that `pmodel run --time` ran",
                       path);
    if (!read_parameters(json_object_get(prediction, "parameters"), &at, err))
        return err->kind != PM_ERROR_NONE ? false
                                          : pm_fail(err, "%s: a parameter is no number", path);
    struct pm_times *times = pm_alloc(1, sizeof *times);
    const char *machine = json_string_value(json_object_get(measured, "machine"));
    times->machine = machine ? pm_strdup(machine) : NULL;
    times->cpu_seconds = number_of(measured, "cpu_seconds");
    times->plain_seconds = number_of(measured, "plain_cpu_seconds");
    times->own_seconds = number_of(measured, "timers_own_seconds");
    times->outside_seconds = number_of(measured, "outside_seconds");
    times->over_plain = times->plain_seconds > 0 ? times->cpu_seconds / times->plain_seconds : 1;
    times->repetitions = 1;
    times->core_share = NAN;
    if (!read_timers(json_object_get(measured, "timers"), structure, times)) {
        pm_times_free(times);
        return pm_fail(err, "%s has times of another program: none of its keys is in the store",
                       path);
    }
    bool ok = pm_times_fit(times, structure, err);
    if (ok)
        pm_timed_sizes_take(timed, &at, times);
    else
        pm_times_free(times);
    return ok;
}

bool pm_timed_sizes_read(struct pm_timed_sizes *timed, const char *path,
                         const struct pm_structure *structure, struct pm_error *err) {
    json_error_t why;
    json_t *document = json_load_file(path, 0, &why);
    if (!document)
        return pm_fail(err, "%s: %s", path, why.text);
    json_t *predictions = json_object_get(document, "predictions"), *prediction;
    bool ok = json_array_size(predictions) > 0 ||
              pm_fail(err, "%s is not what `pmodel report --format json` writes", path);
    size_t i;
    json_array_foreach(predictions, i, prediction) {
        if (!ok || i > 0) /* the times are the same for each machine */
            break;
        ok = take_measured(timed, path, prediction, structure, err);
    }
    json_decref(document);
    return ok;
}
