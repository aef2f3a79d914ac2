/* What the files of sched/signature/ share. */
#ifndef PM_SIGNATURE_PRIVATE_H
#define PM_SIGNATURE_PRIVATE_H

#include "sched/schedule.h"
#include "sched/signature/signature.h"

/* machine_signature.c: the share of the accesses at the points of CURVE that hit LEVEL or one
   before; NULL: not known. */
const double *pm_curve_hits_of(const struct pm_curve *curve, const struct pm_level *level);

/* synthesis.c */
bool pm_synthesise(struct pm_signature *signature, struct pm_error *err);
void pm_synthesis_free(struct pm_signature *signature); /* what its curves own */
/* Cycles of a load of one word, among many that hit the first level, by the machine's rows; 1 where
   it has none. */
double pm_load_cycles(const struct pm_machine *machine);

/* patterns.c: floating-point operations of the own code of each scope; the caller frees. */
double *pm_flops_of_scopes(const struct pm_frequencies *frequencies);

#endif
