/* What the files of sched/ share.  Order of the passes: unit sets, block counts, regions, then for
   every region resource, recurrence and latency bounds; misses; assembly. */
#ifndef PM_SCHEDULE_H
#define PM_SCHEDULE_H

#include "core/structure/structure.h"
#include "sched/sched.h"

/* ---- costs.c --------------------------------------------------------------------------------- */

/* The distinct sets of units among the rows of a machine, and every union of sets that overlap:
   what the resource bound needs. */
struct pm_unit_sets {
    size_t n_sets, n_unions;
    uint64_t *sets, *unions;
};

bool pm_unit_sets_make(const struct pm_machine *machine, struct pm_unit_sets *sets,
                       struct pm_error *err);
void pm_unit_sets_free(struct pm_unit_sets *sets);

/* What one execution of an operation needs on a machine. */
struct pm_need {
    bool known; /* false: the machine file has no row for it; everything else is 0 */
    bool split; /* wider than the machine's vectors, or an fma without hardware */
    double latency_cycles;
    double slots; /* issue slots */
    unsigned n_parts;
    struct {
        uint32_t set; /* index in pm_unit_sets.sets */
        double busy_cycles;
    } parts[2];
};

void pm_op_need(const struct pm_machine *machine, const struct pm_unit_sets *sets,
                const struct pm_op *op, struct pm_need *need);

/* Sums over executed operations. */
struct pm_demand {
    double *set_cycles; /* n_sets: busy cycles of operations that any unit of the set executes */
    double slots, operations, unknown_operations, split_operations;
};

/* Adds WEIGHT executions of the operations of BLOCK. */
void pm_demand_add_block(const struct pm_structure *structure, const struct pm_machine *machine,
                         const struct pm_unit_sets *sets, uint32_t block, double weight,
                         struct pm_demand *demand);

/* ---- resource.c ------------------------------------------------------------------------------ */

struct pm_resource_bound {
    double cycles;
    bool is_unit; /* else the issue width */
    uint8_t unit; /* a unit of the tightest set */
};

struct pm_resource_bound pm_resource_bound(const struct pm_machine *machine,
                                           const struct pm_unit_sets *sets,
                                           const struct pm_demand *demand);

/* ---- counts.c -------------------------------------------------------------------------------- */

/* Frequencies and the order of basic blocks that the passes walk. */
struct pm_counts {
    const struct pm_structure *structure;
    const double *edges; /* of the profile */
    double *blocks;      /* executions of each basic block */
    /* Edges that leave block b: out[out_first[b]] … out[out_first[b + 1] − 1]. */
    uint32_t *out_first, *out;
    /* Basic blocks of region (loop, or routine outside its loops) with scope s, in order of
       address: members[member_first[s]] … */
    uint32_t *member_first, *members;
};

void pm_counts_make(const struct pm_structure *structure, const double *edge_counts,
                    struct pm_counts *counts);
void pm_counts_free(struct pm_counts *counts);

/* The scope that is scheduled as one piece with BLOCK: its innermost loop, else its routine. */
uint32_t pm_region_of_block(const struct pm_structure *structure, uint32_t block);
uint32_t pm_region_of_scope(const struct pm_structure *structure, uint32_t scope);
bool pm_scope_is_inside(const struct pm_structure *structure, uint32_t scope, uint32_t outer);
/* Sum of the edges that come from outside: how often a loop, inlined code or routine is entered. */
double pm_scope_entries(const struct pm_counts *counts, uint32_t scope);

/* ---- path.c ---------------------------------------------------------------------------------- */

/* The most frequent way from the header of LOOP back to it (PATH has room for all its routine's
   blocks and loops); 0 steps if it never comes back. */
size_t pm_hot_path(const struct pm_counts *counts, uint32_t loop, struct pm_path_step *path);

/* ---- recurrence.c, latency.c ----------------------------------------------------------------- */

/* PESSIMISTIC: unknown dependences through memory are taken as real. */
double pm_recurrence_cycles(const struct pm_structure *structure, const struct pm_machine *machine,
                            const struct pm_unit_sets *sets, uint32_t loop,
                            const struct pm_path_step *path, size_t n_steps, bool pessimistic);
double pm_block_latency_cycles(const struct pm_structure *structure,
                               const struct pm_machine *machine, const struct pm_unit_sets *sets,
                               uint32_t block);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Fills misses, cycles of the levels and accesses in `self` of the scopes.  *BANDWIDTH_CYCLES:
   what the bandwidth bound adds to the last cache's cycles, in all; BY_BANDWIDTH (n_scopes) tells
   where it does. */
void pm_memory_costs(const struct pm_counts *counts, const struct pm_profile *profile,
                     const struct pm_machine *machine, struct pm_scope_prediction *scopes,
                     bool *by_bandwidth, double *bandwidth_cycles);

/* ---- notes.c --------------------------------------------------------------------------------- */

/* Adds a sentence. */
void pm_note(struct pm_prediction *prediction, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void pm_add_notes(const struct pm_counts *counts, const struct pm_profile *profile,
                  const struct pm_machine *machine, const struct pm_unit_sets *sets,
                  double split_operations, double bandwidth_cycles,
                  struct pm_prediction *prediction);

/* ---- memory_notes.c -------------------------------------------------------------------------- */

void pm_add_memory_notes(const struct pm_structure *structure, const struct pm_profile *profile,
                         const struct pm_machine *machine, struct pm_prediction *prediction);

#endif
