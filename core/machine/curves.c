/* Curves from a machine file. */
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

/* N numbers, owned by the caller; NULL after a mistake. */
static double *take_numbers(cfg_t *section, const char *list, size_t n, int line) {
    static const struct pm_machine_field any = {
        .name = "a curve's point", .type = PM_FIELD_BYTES, .low = -1e300, .high = 1e300};
    if (cfg_size(section, list) != n) {
        pm_machine_refuse(line, "`%s` has %u points, where `working_set` has %zu", list,
                          cfg_size(section, list), n);
        return NULL;
    }
    double *numbers = pm_alloc(n, sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        struct pm_machine_value value;
        const char *text = cfg_getnstr(section, list, (unsigned)i);
        struct pm_machine_field field = any;
        field.type = PM_FIELD_REAL;
        struct pm_error why;
        if (!pm_value_parse(&field, text, &value, &why)) {
            pm_machine_refuse(line, "`%s` is not a number of `%s`", text, list);
            free(numbers);
            return NULL;
        }
        numbers[i] = value.number;
    }
    return numbers;
}

static int take_hits(cfg_t *section, int line, struct pm_curve *curve) {
    for (unsigned i = 0; i < cfg_size(section, "hits"); i++) {
        cfg_t *hits = cfg_getnsec(section, "hits", i);
        double *share = take_numbers(hits, "share", curve->n_points, line);
        if (!share)
            return -1;
        struct pm_curve_hits *into = PM_PUSH(curve, hits);
        *into = (struct pm_curve_hits){.level = pm_strdup(cfg_title(hits)), .share = share};
    }
    return 0;
}

static int take_points(cfg_t *section, int line, struct pm_curve *curve) {
    curve->n_points = cfg_size(section, "working_set");
    if (!curve->n_points)
        return pm_machine_refuse(line, "curve `%s` has no points: `working_set` and `value`",
                                 curve->name);
    curve->working_set_bytes = take_numbers(section, "working_set", curve->n_points, line);
    if (!curve->working_set_bytes)
        return -1;
    for (size_t i = 1; i < curve->n_points; i++)
        if (curve->working_set_bytes[i] <= curve->working_set_bytes[i - 1])
            return pm_machine_refuse(line, "curve `%s`: working sets do not ascend", curve->name);
    curve->value = take_numbers(section, "value", curve->n_points, line);
    if (!curve->value)
        return -1;
    if (cfg_size(section, "low") || cfg_size(section, "high")) {
        curve->low = take_numbers(section, "low", curve->n_points, line);
        curve->high = curve->low ? take_numbers(section, "high", curve->n_points, line) : NULL;
        if (!curve->high)
            return -1;
    }
    return take_hits(section, line, curve);
}

void pm_free_curve(struct pm_curve *curve) {
    free(curve->name);
    free(curve->of);
    free(curve->working_set_bytes);
    free(curve->value);
    free(curve->low);
    free(curve->high);
    for (size_t i = 0; i < curve->n_hits; i++) {
        free(curve->hits[i].level);
        free(curve->hits[i].share);
    }
    free(curve->hits);
    free(curve->trust.source);
}

int pm_take_curve(cfg_t *section, int line) {
    struct pm_machine *machine = pm_machine_reading->machine;
    struct pm_curve curve = {.name = pm_strdup(cfg_title(section)), .threads = 1};
    if (pm_take_section(section, line, PM_SECTION_CURVE, NULL, &curve) ||
        take_points(section, line, &curve)) {
        pm_free_curve(&curve);
        return -1;
    }
    for (size_t i = 0; i < machine->n_curves; i++)
        if (strcmp(machine->curves[i].name, curve.name) == 0) {
            pm_free_curve(&machine->curves[i]);
            machine->curves[i] = curve;
            return 0;
        }
    *PM_PUSH(machine, curves) = curve;
    return 0;
}
