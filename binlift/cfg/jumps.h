/* What the passes share that find where indirect jumps go.  Private to binlift/cfg/. */
#ifndef PM_CFG_JUMPS_H
#define PM_CFG_JUMPS_H

#include "binlift/lifted.h"

/* ---- jump_tables.c --------------------------------------------------------------------------- */

/* A jump through a fixed slot of the GOT is a tail call; anything else may be a table. */
static inline bool pm_goes_through_slot(const struct pm_insn *insn) {
    return insn->n_memory && insn->memory[0].base == PM_REGISTER_PC;
}

/* Tables by their addresses, for qsort. */
static inline int pm_compare_tables(const void *a, const void *b) {
    const struct pm_jump_table *x = a, *y = b;
    return PM_COMPARE(x->address, y->address);
}

/* In jump_tables.c, for computed gotos: is ADDRESS in the data of the file?  The entries of the
   table of offsets from a label that FORM describes, appended to *TARGETS; false: not all are known
   to lead into ROUTINE.  The jump INSN goes to TARGETS, and nowhere else (none: not known). */
bool pm_is_data(const void *image, uint64_t address);
bool pm_read_label_table(const struct pm_lifted *lifted, uint32_t routine,
                         const struct pm_table_form *form, struct pm_addresses *targets);
void pm_set_targets(struct pm_lifted *lifted, uint32_t routine, uint32_t insn,
                    const struct pm_addresses *targets);

/* Entries of tables that lead out of the ROUTINE of their jump, before parts are joined. */
struct pm_table_exit {
    uint64_t target;
    uint32_t routine;
};
struct pm_table_exits {
    PM_ARRAY(struct pm_table_exit, items);
};
void pm_find_table_exits(const struct pm_lifted *lifted, struct pm_table_exits *exits);

/* ---- jumps.c --------------------------------------------------------------------------------- */

/* May control go on from instruction K to the one behind it? */
bool pm_runs_on(const struct pm_lifted *lifted, uint32_t k);
/* Jumps within ROUTINE, direct ones and those through known tables, ascending by where they lead */
struct pm_jumps {
    PM_ARRAY(struct pm_jump, items);
};
void pm_find_jumps(const struct pm_lifted *lifted, uint32_t routine, struct pm_jumps *jumps);

/* ---- cfg.c, find_loops.c, for a summary ------------------------------------------------------ */

/* Each routine's graph only while VISIT looks at it. */
void pm_visit_cfg(struct pm_lifted *lifted,
                  void (*visit)(struct pm_lifted *lifted, uint32_t routine));
/* Appends the loops of routine R; needs block_loop for the structure's blocks, all PM_NONE. */
void pm_find_loops_of(const struct pm_structure *structure, uint32_t r, struct pm_loops *loops);

#endif
