/* Parts of the search for jump tables.  Private to the reading half of binlift/x86/. */
#ifndef PM_X86_TABLES_H
#define PM_X86_TABLES_H

#include "binlift/lifted.h"
#include "binlift/x86/zydis.h"

struct pm_slice {
    const struct pm_insn *insns;
    uint32_t jump, first;
    const struct pm_jump *jumps;
    size_t n_jumps;
    void *image;
    pm_read_memory *read;
    bool (*is_data)(const void *image, uint64_t address);
    unsigned n_steps; /* of the search for a bound */
    bool only_width;  /* a bound came from the width of the index, not from a comparison */
};

/* ---- x86_tables_slice.c: instructions, definitions, constants, addresses of tables
 * ------------------- */

bool pm_slice_decode(const struct pm_slice *slice, uint32_t k, struct pm_x86 *x86);
bool pm_slice_defines(const struct pm_insn *insn, unsigned reg);
/* Number of a general register operand; PM_REGISTER_NONE for another kind of operand. */
uint8_t pm_slice_general(const ZydisDecodedOperand *operand);
uint8_t pm_slice_address_part(ZydisRegister name);
/* The nearest instruction before K that sets REG; false: none close by, or behind a place that
   control does not fall through (calls only destroy what they may). */
bool pm_slice_definition(const struct pm_slice *slice, uint32_t k, unsigned reg, uint32_t *at);
/* Does the first entry of TABLE, relative to BASE, lead near the jump? */
bool pm_slice_is_table(const struct pm_slice *slice, uint64_t table, bool relative, uint64_t base);
/* The constant that instruction K puts into REG. */
bool pm_slice_constant(const struct pm_slice *slice, uint32_t k, unsigned reg, uint64_t *value);

enum pm_slice_wanted { WANT_ABSOLUTE, WANT_RELATIVE, WANT_RELATIVE_TO_LABEL, WANT_LABEL };
bool pm_slice_is_wanted(const struct pm_slice *slice, enum pm_slice_wanted wanted, uint64_t value,
                        uint64_t label);
/* Value of REG before instruction K as what is wanted. */
bool pm_slice_base(const struct pm_slice *slice, uint32_t k, uint8_t reg,
                   enum pm_slice_wanted wanted, uint64_t label, uint64_t *table);

/* ---- x86_tables_bound.c ---------------------------------------------------------------------- */

/* How many entries the index INDEX lets through that instruction LOAD uses; 0 not known. */
uint64_t pm_slice_bound(struct pm_slice *slice, uint32_t load, uint8_t index);
/* Does control go from INSN to the instruction behind it? */
bool pm_slice_runs_into(const struct pm_insn *insn);

#endif
