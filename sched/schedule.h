/* What the files of sched/ share.  Order of the passes: target, frequencies, then for every
   region resource, recurrence and latency bounds; misses; assembly; doubts, notes. */
#ifndef PM_SCHEDULE_H
#define PM_SCHEDULE_H

#include "core/structure/structure.h"
#include "sched/sched.h"

/* ---- target.c -------------------------------------------------------------------------------- */

/* A machine as the operations of one structure see it. */
struct pm_target_machine {
    const struct pm_machine *machine;
    const struct pm_structure *structure;
    bool is_foreign;    /* the program is for another ISA than the machine's rows */
    bool has_mnemonics; /* there are rows of instructions of the program's ISA */
    /* The distinct sets of units among the reservations of all rows, and every union of sets that
       overlap: what the resource bound needs. */
    size_t n_unions;
    uint64_t *unions;
    double *within; /* n_costs · n_unions: the least busy cycles that an operation of the row needs
                       of the union alone */
};

bool pm_target_make(const struct pm_structure *structure, const struct pm_machine *machine,
                    struct pm_target_machine *target, struct pm_error *err);
void pm_target_free(struct pm_target_machine *target);

/* ---- costs.c --------------------------------------------------------------------------------- */

enum { PM_MOST_ROWS = 2 + PM_MOST_FOREIGN * 3 };

/* What one execution of an operation needs on a machine. */
struct pm_need {
    bool known; /* false: the machine file has no row for it; everything else is 0 */
    bool split; /* wider than the machine's vectors, or an fma without hardware */
    double latency_cycles;
    double slots; /* issue slots */
    unsigned n_rows;
    struct {
        uint32_t row; /* of machine->costs */
        double times;
    } rows[PM_MOST_ROWS];
};

/* OP is the index of the operation in the structure, whose neighbours count, too. */
void pm_op_need(const struct pm_target_machine *target, uint32_t op, struct pm_need *need);
/* The row that says in which domain an operation is; PM_NONE: none, or several. */
uint32_t pm_need_row(const struct pm_need *need);
/* What a dependence between operations of two rows (or PM_NONE) takes more than the latency of the
   first; mostly 0. */
double pm_bypass_cycles(const struct pm_target_machine *target, uint32_t from_row, uint32_t to_row);

/* Sums over executed operations. */
struct pm_demand {
    double *executions; /* n_costs: how many operations of each row */
    double slots, operations, unknown_operations, split_operations;
};

/* Adds WEIGHT executions of the operations of BLOCK. */
void pm_demand_add_block(const struct pm_target_machine *target, uint32_t block, double weight,
                         struct pm_demand *demand);

/* ---- resource.c ------------------------------------------------------------------------------ */

struct pm_resource_bound {
    double cycles;
    bool is_unit; /* else the issue width */
    uint8_t unit; /* a unit of the tightest set */
};

struct pm_resource_bound pm_resource_bound(const struct pm_target_machine *target,
                                           const struct pm_demand *demand);

/* ---- recurrence.c, latency.c ----------------------------------------------------------------- */

/* PESSIMISTIC: unknown dependences through memory are taken as real. */
double pm_recurrence_cycles(const struct pm_target_machine *target, uint32_t loop,
                            const struct pm_path_step *path, size_t n_steps, bool pessimistic);
double pm_block_latency_cycles(const struct pm_target_machine *target, uint32_t block);

/* ---- regions.c ------------------------------------------------------------------------------- */

struct pm_region_schedule {
    double cycles; /* of all executions */
    double resource_cycles;
    double recurrence_cycles; /* of an iteration of a loop */
    uint8_t bound, unit;      /* what limits it: enum pm_bound, and the unit */
};

void pm_schedule_region(const struct pm_frequencies *frequencies,
                        const struct pm_target_machine *target, uint32_t region,
                        const struct pm_demand *demand, double iterations, bool pessimistic,
                        struct pm_region_schedule *schedule);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Fills misses, cycles of the levels and accesses in `self` of the scopes.  *BANDWIDTH_CYCLES:
   what the bandwidth bound adds to the last cache's cycles, in all; BY_BANDWIDTH (n_scopes) tells
   where it does. */
void pm_memory_costs(const struct pm_frequencies *frequencies, const struct pm_profile *profile,
                     const struct pm_machine *machine, struct pm_scope_prediction *scopes,
                     bool *by_bandwidth, double *bandwidth_cycles);

/* ---- doubts.c -------------------------------------------------------------------------------- */

/* What a prediction was made from. */
struct pm_mapped {
    const struct pm_frequencies *frequencies;
    const struct pm_profile *profile;
    const struct pm_target_machine *target;
    const struct pm_region_schedule *schedules; /* by scope */
    const double *executions;                   /* of the rows of costs */
    bool pessimistic;
};

/* Counts the figures that PREDICTION comes from and that are not verified, and finds those that
   matter most. */
void pm_find_doubts(const struct pm_mapped *mapped, struct pm_prediction *prediction);

/* ---- notes.c --------------------------------------------------------------------------------- */

/* Is PART of WHOLE more than what sums of predicted counts may be off by? */
bool pm_is_worth_a_note(double part, double whole);

void pm_add_notes(const struct pm_frequencies *frequencies, const struct pm_profile *profile,
                  const struct pm_target_machine *target, double split_operations,
                  double bandwidth_cycles, struct pm_prediction *prediction);

/* ---- memory_notes.c -------------------------------------------------------------------------- */

void pm_add_memory_notes(const struct pm_structure *structure, const struct pm_profile *profile,
                         const struct pm_machine *machine, struct pm_prediction *prediction);

#endif
