/* What the counts of edges say, measured or predicted: those of edges without a counter, how often
   the references of a group access memory, and models of edges that few sizes execute. */
#ifndef PM_FIT_EDGES_H
#define PM_FIT_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model.h"
#include "core/profile.h"
#include "core/structure/structure.h"

struct pm_fit_bases;

/* ---- edge_flow.c ----------------------------------------------------------------------------- */

/* EDGE_COUNTS holds what the models of the edges of routine ROUTINE say of each, DOUBTS by how much
   these may be wrong (n_edges values of the structure each; 0: exact).  As many as are needed,
   those with the largest doubts, are replaced by what follows from the others by flow conservation.
   Where that would make one negative, flow is added around a cycle through it, and *REPAIRED is
   set. False if the routine's counters do not determine its edges (nothing is changed). */
bool pm_fit_solve_routine(const struct pm_structure *structure, uint32_t routine,
                          double *edge_counts, const double *doubts, bool *repaired);

/* ---- group_accesses.c ------------------------------------------------------------------------ */

/* ACCESSES: loads and stores of each group's recorded references (n_groups values) at EDGE_COUNTS.
   KNOWN (may be NULL): whether these are the group's accesses. */
void pm_fit_group_accesses(const struct pm_structure *structure, const double *edge_counts,
                           double *accesses, bool *known);

/* ERRORS: leave-one-out errors of the groups' accesses by the models EDGES of all edges, weighted
   by EDGE_COUNTS; NAN where one is unknown. */
void pm_fit_group_access_errors(const struct pm_structure *structure, const struct pm_model *edges,
                                const double *edge_counts, double *errors);

/* LARGEST_BYTES: of the recorded references of each group (n_groups values), the largest access. */
void pm_fit_largest_accesses(const struct pm_structure *structure, uint32_t *largest_bytes);

/* The most blocks that one access of a group can touch whose largest one has LARGEST_BYTES. */
double pm_fit_most_touches(uint32_t largest_bytes, uint64_t block_bytes);

/* Touches of blocks for each access, a constant, from both at N ascending sizes; false if they do
   not go together, each access touching 1 to MOST blocks.  TOUCHED is overwritten. */
bool pm_fit_touches_per_access(size_t n, const double *accesses, double *touched, double most,
                               struct pm_model *model);

/* ---- onset.c --------------------------------------------------------------------------------- */

/* Models of those edges of ROUTINE whose counts are not zero at the last two sizes only; PROFILES
   stand by ascending size, EDGES are the models of all edges.  One parameter only. */
void pm_fit_onset_edges(const struct pm_structure *structure, uint32_t routine,
                        const struct pm_fit_bases *bases, const struct pm_profile *const *profiles,
                        struct pm_model *edges);

/* ---- remainders.c ---------------------------------------------------------------------------- */

/* Models of edges whose counts have remainders (series.h), in place of those that are not exact;
   their functions are added to the basis of SET.  One parameter only, which is called NAME. */
void pm_fit_remainder_edges(const struct pm_structure *structure, const struct pm_fit_bases *bases,
                            const struct pm_profile *const *profiles, const char *name,
                            struct pm_model_set *set);

#endif
