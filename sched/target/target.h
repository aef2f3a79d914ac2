/* A machine as the operations of one structure see it: what an operation needs. */
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
};

/* Both are kept and must outlive what is returned, which owns nothing. */
struct pm_target_machine pm_target_of(const struct pm_structure *structure,
                                      const struct pm_machine *machine);

/* ---- operation_costs.c ----------------------------------------------------------------------- */

enum { PM_MOST_ROWS = 2 + PM_MOST_FOREIGN * 3 };

/* What one execution of an operation needs on a machine. */
struct pm_need {
    bool known;       /* false: the machine file has no row for it; everything else is 0 */
    bool split;       /* wider than the machine's vectors, or an fma without hardware */
    bool eliminated;  /* renaming does it: a slot, no unit, no latency */
    bool moves_stack; /* … which is of push, pop and their like */
    bool fused;       /* one with the branch behind it: nothing */
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

#endif
