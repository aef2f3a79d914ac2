/* In which row the figures of a scope or basic block are added up; the same in all that is computed
   here and in predictions by rows. */
#ifndef PM_ANALYSIS_ROWS_H
#define PM_ANALYSIS_ROWS_H

#include <stdint.h>

#include "core/structure/structure.h"

/* Where a row is in the program. */
struct pm_row_place {
    const struct pm_structure *structure;
    uint32_t scope; /* PM_NONE: nowhere */
};

enum pm_mix_level { PM_MIX_BLOCK = 0, PM_MIX_LOOP, PM_MIX_ROUTINE, PM_MIX_MODULE, PM_MIX_PROGRAM };

/* The scope whose row the own figures of SCOPE are in: inlined code is in what contains it, folded
   loops are in one row. */
uint32_t pm_row_scope(const struct pm_structure *structure, uint32_t scope);
/* The scope whose row BLOCK is counted in: at the level of loops its innermost loop, else its
   routine. */
uint32_t pm_mix_scope(const struct pm_structure *structure, uint32_t block,
                      enum pm_mix_level level);

#endif
