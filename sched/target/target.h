/* A machine as the operations of one structure see it: what an operation needs, the least cycles in
   which the units can do a demand (the resource bound), and how operations become micro-operations.
 */
#ifndef PM_TARGET_H
#define PM_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/machine/machine.h"
#include "core/structure/structure.h"

/* ---- target.c -------------------------------------------------------------------------------- */

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

/* Both are kept and must outlive TARGET.  False with a sentence if the machine's units overlap in
   too many ways.  Freed by pm_target_free. */
bool pm_target_make(const struct pm_structure *structure, const struct pm_machine *machine,
                    struct pm_target_machine *target, struct pm_error *err);
void pm_target_free(struct pm_target_machine *target);

/* ---- costs.c --------------------------------------------------------------------------------- */

enum { PM_MOST_ROWS = 2 + PM_MOST_FOREIGN * 3 };

/* What one execution of an operation needs on a machine. */
struct pm_need {
    bool known;      /* false: the machine file has no row for it; everything else is 0 */
    bool split;      /* wider than the machine's vectors, or an fma without hardware */
    bool eliminated; /* renaming does it: a slot, no unit, no latency */
    bool fused;      /* one with the branch behind it: nothing */
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
    double unit_cycles;
};

struct pm_resource_bound pm_resource_bound(const struct pm_target_machine *target,
                                           const struct pm_demand *demand);

#endif
