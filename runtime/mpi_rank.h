/* Which rank of a parallel program this process is: what the wrapper of the MPI library said, else
   what the launcher put into the environment (core/rank_environment.h). */
#ifndef PM_RUNTIME_RANKS_H
#define PM_RUNTIME_RANKS_H

#include <stdint.h>

struct pm_raw_builder;

/* Looks at the environment, which the program may change later. */
void pm_ranks_begin(void);

/* Adds section PM_RAW_RANK, if that is known. */
void pm_ranks_add(struct pm_raw_builder *builder);

/* Exported, for the wrapper of the MPI library, once it knows.  LIBRARY: enum pm_raw_library. */
void pmodel_rank(uint32_t rank, uint32_t size, uint32_t library);

#endif
