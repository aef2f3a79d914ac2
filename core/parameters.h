/* A problem size: named parameters of a run, `N=40` or `N=40,M=13`. */
#ifndef PM_PARAMETERS_H
#define PM_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"

enum { PM_MAX_PARAMETERS = 16, PM_PARAMETER_NAME_SIZE = 32 };

struct pm_parameters {
    size_t n;
    char names[PM_MAX_PARAMETERS][PM_PARAMETER_NAME_SIZE];
    double values[PM_MAX_PARAMETERS];
};

/* Adds or replaces.  Errors: not a name ([A-Za-z_][A-Za-z0-9_]*), too long, too many. */
bool pm_parameters_set(struct pm_parameters *parameters, const char *name, double value,
                       struct pm_error *err);
bool pm_parameters_get(const struct pm_parameters *parameters, const char *name, double *value);

/* Canonical text, names ascending: "M=13 N=40"; integers without a point.  Owned by the caller. */
char *pm_parameters_text(const struct pm_parameters *parameters);

/* Reads "N=256" or "N=256,M=3" (one value each). */
bool pm_parameters_parse(const char *text, struct pm_parameters *parameters, struct pm_error *err);
/* The same, but adds to PARAMETERS, as for -P A=1 -P B=2; a name that is there already is an error.
 */
bool pm_parameters_add(const char *text, struct pm_parameters *parameters, struct pm_error *err);

bool pm_parameters_equal(const struct pm_parameters *a, const struct pm_parameters *b);

/* Parameters that were given as formulas of others: "L" as "log2(N)". */
struct pm_given_formula {
    char name[PM_PARAMETER_NAME_SIZE];
    char *text; /* owned */
};
struct pm_given_formulas {
    PM_ARRAY(struct pm_given_formula, list); /* owned */
};
/* NULL: NAME was given as values. */
const char *pm_given_formulas_get(const struct pm_given_formulas *formulas, const char *name);
void pm_given_formulas_add(struct pm_given_formulas *formulas, const char *name, const char *text);
void pm_given_formulas_free(struct pm_given_formulas *formulas); /* what it owns */

/* A value as the canonical text writes it: shortest form that reads back the same. */
void pm_format_value(double value, char *text, size_t size);

#endif
