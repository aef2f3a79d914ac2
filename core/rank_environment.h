/* What launchers of MPI programs tell a process in its environment: which rank it is. */
#ifndef PM_RANK_ENVIRONMENT_H
#define PM_RANK_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/raw_file.h"

struct pm_rank_variables {
    const char *rank, *size;
    uint64_t library; /* enum pm_raw_library */
};

/* From the library's own to the batch system's.  Slurm sets SLURM_PROCID in batch scripts, too;
   only a step of it has tasks. */
static const struct pm_rank_variables pm_rank_variables[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", PM_RAW_OPEN_MPI},
    {"PMI_RANK", "PMI_SIZE", PM_RAW_MPICH},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", PM_RAW_OTHER_MPI},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", PM_RAW_OTHER_MPI},
};

static inline bool pm_rank_number(const char *name, uint64_t *number) {
    const char *text = getenv(name);
    char *end = NULL;
    *number = text ? strtoull(text, &end, 10) : 0;
    return end && end != text && *end == '\0';
}

/* False: the environment says nothing of ranks. */
static inline bool pm_rank_of_environment(uint64_t *rank, uint64_t *size, uint64_t *library) {
    enum { N_VARIABLES = sizeof pm_rank_variables / sizeof *pm_rank_variables };
    for (unsigned i = 0; i < N_VARIABLES; i++)
        if (pm_rank_number(pm_rank_variables[i].rank, rank) &&
            pm_rank_number(pm_rank_variables[i].size, size) && *rank < *size &&
            *size <= PM_MOST_RANKS) {
            *library = pm_rank_variables[i].library;
            return true;
        }
    return false;
}

#endif
