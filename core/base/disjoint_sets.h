/* Disjoint sets of the numbers from 0 to N − 1, which are joined: each number has a parent in its
   set, the last one itself. */
#ifndef PM_DISJOINT_SETS_H
#define PM_DISJOINT_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Each number is a set; freed by free. */
uint32_t *pm_disjoint_sets_new(uint32_t n);
/* Joins the sets of A and B; false if they are one already. */
bool pm_disjoint_sets_join(uint32_t *parents, uint32_t a, uint32_t b);

#endif
