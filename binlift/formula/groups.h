/* Parts of the making of reference groups.  Private to binlift/formula/. */
#ifndef PM_GROUPS_H
#define PM_GROUPS_H

#include "binlift/lifted.h"
#include "binlift/formula/formula.h"
#include "core/probe_abi.h"

/* What makes two memory operands one group: all of it equal. */
struct pm_group_key {
    uint32_t scope, flags; /* flags: enum pm_group_flags */
    const char *object, *object_type;
    uint64_t origin; /* stands for the object where it has no name */
    /* Of such an object: the constant part of the address, and a number for the data symbol there.
       Symbols tell arrays apart, but a constant may be that of a neighbour: a[i - 1]. */
    int64_t anchor;
    uint64_t neighbour;
    uint32_t n_strides;
    struct pm_step strides[PM_MOST_LEVELS]; /* innermost loop first */
};

/* ---- group_key.c ---------------------------------------------------------------------------- */

struct pm_describer {
    const struct pm_lifted *lifted;
    struct pm_formulas *formulas; /* of the routine at hand */
};
/* The key of memory operand number OPERAND of instruction INSN. */
void pm_describe_operand(struct pm_describer *describer, uint32_t insn, unsigned operand,
                         struct pm_group_key *key);
/* The key of what the routine NAME of the C library accesses that INSN calls. */
void pm_describe_called(const struct pm_lifted *lifted, uint32_t insn, const char *name,
                        struct pm_group_key *key);
/* The key by the compiler's word, with the strides of a source reference; false: it has none for
   this operand. */
bool pm_describe_by_compiler(const struct pm_describer *describer, uint32_t insn, unsigned operand,
                             struct pm_group_key *key);

/* The compiler says that the two operands, directly in LOOP, never touch the same bytes in one
   execution of it. */
bool pm_compiler_says_apart(const struct pm_describer *describer, uint32_t loop, uint32_t insn_a,
                            unsigned operand_a, uint32_t insn_b, unsigned operand_b);

#endif
