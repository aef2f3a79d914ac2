/* Parts of the making of reference groups.  Private to binlift/. */
#ifndef PM_GROUPS_H
#define PM_GROUPS_H

#include "binlift/lifted.h"
#include "binlift/formula.h"
#include "core/probe_abi.h"

enum { PM_MOST_LEVELS = 32 }; /* loops around a reference that are told apart */

/* What makes two memory operands one group: all of it equal. */
struct pm_group_key {
    uint32_t scope, flags; /* flags: enum pm_group_flags */
    const char *object, *object_type;
    uint64_t origin; /* stands for the object where it has no name */
    uint32_t n_strides;
    struct pm_step strides[PM_MOST_LEVELS]; /* innermost loop first */
};

/* ---- groups_strides.c: what an operand alone says ---------------------------------------------
 */

struct pm_induction; /* definitions of registers in one routine, and what is known of them */
struct pm_induction *pm_induction_new(const struct pm_lifted *lifted, uint32_t routine);
void pm_induction_free(struct pm_induction *induction);

/* How the address of INSN's OPERAND moves in the loop LOOP; CHILD is the loop directly in it that
   holds the instruction, PM_NONE if none does. */
struct pm_step pm_operand_step(struct pm_induction *induction, uint32_t insn,
                               const struct pm_memory_operand *operand, uint32_t loop,
                               uint32_t child);
/* A number for where the registers of OPERAND come from: equal for copies of one access that the
   compiler unrolled. */
uint64_t pm_operand_origin(struct pm_induction *induction, uint32_t insn,
                           const struct pm_memory_operand *operand);
/* Whether REGISTER is the stack pointer or, in this routine, a frame pointer. */
bool pm_is_frame_register(const struct pm_induction *induction, uint8_t number);

/* ---- data_symbols.c ---------------------------------------------------------------------------
 */

struct pm_data_symbols;
struct pm_data_symbols *pm_data_symbols_new(const struct pm_image *image);
void pm_data_symbols_free(struct pm_data_symbols *symbols);
/* Name of the data object that covers ADDRESS, owned by SYMBOLS; NULL. */
const char *pm_data_symbol_at(const struct pm_data_symbols *symbols, uint64_t address);

/* ---- groups_key.c -----------------------------------------------------------------------------
 */

struct pm_describer {
    const struct pm_lifted *lifted;
    const struct pm_data_symbols *symbols;
    struct pm_induction *induction; /* of the routine at hand */
};
/* The key of memory operand number OPERAND of instruction INSN. */
void pm_describe_operand(struct pm_describer *describer, uint32_t insn, unsigned operand,
                         struct pm_group_key *key);

/* The loop around scope SCOPE, not itself; PM_NONE. */
uint32_t pm_loop_around(const struct pm_structure *structure, uint32_t scope);

#endif
