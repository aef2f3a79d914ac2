/* Constants that are scaled by name. */
#include "fit/tunables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FACTORS[i] of constant i becomes what ITEM, "NAME:FACTOR", says. */
static bool read_item(const struct pm_tunable *table, size_t n, char *item, double *factors,
                      const char *variable, const char *file, struct pm_error *err) {
    char *factor_text = strchr(item, ':'), *end = NULL;
    if (factor_text)
        *factor_text++ = '\0';
    size_t i = 0;
    while (i < n && strcmp(table[i].name, item) != 0)
        i++;
    if (i == n)
        return pm_fail(err, "%s: there is no constant `%.60s`; %s has them", variable, item, file);
    double factor = factor_text ? strtod(factor_text, &end) : 0;
    if (!(factor > 0 && factor <= 2) || *end)
        return pm_fail(err, "%s: %s needs a factor above 0 and up to 2 after a colon, as in %s:0.5",
                       variable, item, item);
    factors[i] *= factor;
    return true;
}

bool pm_tunables_scale(const struct pm_tunable *table, size_t n, const char *text,
                       const char *variable, const char *file, struct pm_error *err) {
    double *factors = pm_alloc(n, sizeof *factors);
    char *copy = pm_strdup(text ? text : ""), *rest = copy;
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        factors[i] = 1;
    for (char *item; ok && (item = strsep(&rest, ","));)
        if (*item)
            ok = read_item(table, n, item, factors, variable, file, err);
    for (size_t i = 0; i < n && ok; i++) {
        double value = table[i].value * factors[i];
        if (table[i].count)
            *table[i].count = (size_t)fmax(round(value), 1);
        else
            *table[i].number = value;
    }
    free(copy);
    free(factors);
    return ok;
}
