/* Which sizes to run: from `-P`, `--design` and `--where` to a list of problem sizes. */
#ifndef PM_SIZE_DESIGN_H
#define PM_SIZE_DESIGN_H

#include "core/parameters.h"
#include "core/base/base.h"

struct pm_size_design {
    PM_ARRAY(char *, specs); /* texts of -P, in order; owned */
    char *where;             /* condition, NULL all; owned */
    char *file;              /* of --design, NULL none; owned */
};

/* The sizes, in the order in which the lists name them: the full cross product of the lists
   (`N=24,32,40`, `N=24:64:8`; points of several parameters, `A,B=16:1,16:5` or the lines of a file,
   count as one list), each with its formulas (`M=floor((N-1)/3)`) evaluated, of which
   those are left for which `where` is not 0.  Without -P: one size without parameters.  Errors:
   not a list nor a formula, the same name twice, formulas that need each other, an unknown name,
   no size left, the same size twice.  *SIZES is owned by the caller (free). */
bool pm_size_design_expand(const struct pm_size_design *design, struct pm_parameters **sizes,
                           size_t *n_sizes, struct pm_error *err);

/* Whether NAME follows from other parameters. */
bool pm_size_design_is_formula(const struct pm_size_design *design, const char *name);

/* Adds the parameters that do, with their formulas. */
void pm_size_design_formulas(const struct pm_size_design *design,
                             struct pm_given_formulas *formulas);

/* "N=24,32", of several parameters "A,B=16:1,16:5", as -P takes it: what IS_FORMULA does not say is
   one.  Owned by the caller. */
char *pm_points_text(const struct pm_parameters *points, size_t n_points,
                     bool (*is_formula)(const void *context, const char *name),
                     const void *context);

void pm_size_design_free(struct pm_size_design *design); /* what it owns */

#endif
