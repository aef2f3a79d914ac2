/* Paths through a loop, or through a routine outside its loops, with frequencies that add up to the
   edge counts (Marin & Mellor-Crummey 2004, section 2.4).

   Edge counts do not tell which ways through several branches go together.  Assumed is that the
   frequent go with the frequent: the path whose rarest edge is most frequent is taken as often as
   that edge, and what is left is divided in the same way (widest path first).  Where only one
   branch lies between two points that all paths pass, nothing is assumed.  An inner loop is a step;
   no basic block is in paths of two regions. */
#ifndef PM_PATHS_H
#define PM_PATHS_H

#include "core/structure/structure.h"

struct pm_frequencies; /* sched/sched.h */

struct pm_region_path {
    uint32_t first_step, n_steps;
    double executions;
    bool returns; /* it ends with the way back to the loop's header; else it leaves the region */
};

struct pm_paths {
    PM_ARRAY(struct pm_region_path, items); /* most frequent first */
    PM_ARRAY(struct pm_path_step, steps);
    bool is_assumed;        /* edge counts leave open which ways go together */
    double left_executions; /* of edges that no path covers: more than MOST_PATHS paths, or counts
                               that do not add up */
};

/* REGION: a loop, or a routine for its code outside loops.  PATHS is emptied and filled. */
void pm_paths_of_region(const struct pm_frequencies *frequencies, uint32_t region,
                        struct pm_paths *paths);
void pm_paths_free(struct pm_paths *paths);

/* ---- the code of a path (path_instructions.c) ------------------------------------------------ */

/* The files of a structure's modules; those that are not there any more, or are of another build,
   have no code.  Freed by pm_code_files_close, before the structure. */
struct pm_code_files;
struct pm_code_files *pm_code_files_open(const struct pm_structure *structure);
void pm_code_files_close(struct pm_code_files *files); /* NULL is fine */

/* Bytes of a basic block; NULL: none. */
const uint8_t *pm_block_code(const struct pm_code_files *files, uint32_t block);

/* Of the basic blocks of a path, one after the other. */
struct pm_path_code {
    uint8_t *bytes; /* owned by the caller */
    size_t n_bytes;
    uint64_t hash; /* XXH64: as of the loop runner (machines/probe/loop_runner/loop_runner.h) */
};
bool pm_path_code_read(const struct pm_code_files *files, const struct pm_path_step *path,
                       size_t n_steps, struct pm_path_code *code);

#endif
