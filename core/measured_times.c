/* Measured times; see times.h. */
#include "core/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pm_times_free(struct pm_times *times) {
    if (!times)
        return;
    free(times->scopes);
    free(times->machine);
    free(times->notes);
    free(times);
}

static bool is_amount(double value) { return isfinite(value) && value >= 0; }

bool pm_times_fit(const struct pm_times *times, const struct pm_structure *structure,
                  struct pm_error *err) {
    bool fits = is_amount(times->outside_seconds) && is_amount(times->own_seconds) &&
                is_amount(times->cpu_seconds) && is_amount(times->plain_seconds) &&
                is_amount(times->over_plain);
    for (size_t i = 0; i < times->n_scopes && fits; i++) {
        const struct pm_scope_time *time = &times->scopes[i];
        fits = time->scope < structure->n_scopes && (i == 0 || time[-1].scope < time->scope) &&
               (structure->scopes[time->scope].kind == PM_SCOPE_LOOP ||
                structure->scopes[time->scope].kind == PM_SCOPE_ROUTINE) &&
               is_amount(time->seconds) && is_amount(time->entries);
    }
    return fits || pm_fail(err, "the measured times are not of this program, or damaged: measure "
                                "them again with `pmodel run --time --again`");
}

uint32_t *pm_times_owners(const struct pm_times *times, const struct pm_structure *structure) {
    uint32_t *owners = pm_alloc(structure->n_scopes, sizeof *owners);
    size_t next = 0;
    /* Parents have smaller indices, so that theirs are there already. */
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++) {
        const struct pm_scope *s = &structure->scopes[scope];
        bool timed = next < times->n_scopes && times->scopes[next].scope == scope;
        next += timed;
        if (timed)
            owners[scope] = scope;
        else if (s->kind == PM_SCOPE_LOOP || s->kind == PM_SCOPE_INLINED)
            owners[scope] = s->parent < scope ? owners[s->parent] : PM_NONE;
        else
            owners[scope] = PM_NONE;
    }
    return owners;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

void pm_file_times_add(struct pm_file_times *times, const char *path, double samples) {
    for (size_t i = 0; i < times->n_files; i++)
        if (is_same(times->files[i].path, path)) {
            times->files[i].samples += samples;
            return;
        }
    *PM_PUSH(times, files) =
        (struct pm_file_time){.path = path ? pm_strdup(path) : NULL, .samples = samples};
}

void pm_file_times_free(struct pm_file_times *times) {
    for (size_t i = 0; i < times->n_files; i++)
        free(times->files[i].path);
    free(times->files);
    *times = (struct pm_file_times){0};
}
