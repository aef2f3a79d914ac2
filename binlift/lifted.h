/* What the passes of binlift/ share: the image, the instructions, and the structure that they
   build.  Private to binlift/.  The order of the passes stands in lift.c; each is declared in the
   header of its folder. */
#ifndef PM_LIFTED_H
#define PM_LIFTED_H

#include "binlift/binlift.h"
#include "binlift/cfg/cfg.h"
#include "binlift/code/code.h"
#include "binlift/elf/elf.h"
#include "binlift/isa.h"
#include "core/base/base.h"

/* Each field is made by the pass that stands above it, and constant from then on, but for marks of
   instructions and jump tables, which the passes before the CFG add to.  Who reads it stands
   behind it; "all": most passes after it. */
struct pm_lifted {
    /* lift.c */
    const struct pm_isa *isa;             /* all */
    struct pm_classes *classes;           /* resolved for the ISA; NULL where no file was given.
                                             code/operations.c */
    struct pm_structure *structure;       /* what all passes build together */
    struct pm_lift_statistics statistics; /* cfg/, scopes/ and lift.c count; for people */

    /* elf/image.c, elf/refusal.c */
    struct pm_image image; /* all */
    char *refusal;         /* why the file cannot be instrumented; NULL.  copy/ */

    /* elf/routines.c, with structure->routines and parts (cfg/cold_parts.c takes cold parts out of
       the routines and puts them behind those that they belong to) */
    PM_ARRAY(struct pm_routine_code, routine_codes); /* beside routines.  all */
    struct pm_unwind_ranges unwind_ranges;           /* cfg/indirect_entries.c */
    struct pm_addresses inner_entries;               /* symbols within a larger routine, and what
                                                        cfg/offset_entries.c adds.
                                                        cfg/indirect_entries.c */
    uint64_t text_low, text_high;                    /* span of the executable sections.  all */

    /* code/decode.c (cfg/cold_parts.c orders the instructions by routine anew) */
    PM_ARRAY(struct pm_insn, insns);          /* of all routines, routine by routine.  all */
    PM_ARRAY(struct pm_interned *, interned); /* what insns point to */
    uint32_t gs_routine;                      /* one that uses %gs; PM_NONE.  copy/ */

    /* code/index.c, by decode.c and again by cfg/cold_parts.c; for its look-ups by address */
    struct pm_insn_index insn_index;
    PM_ARRAY(struct pm_range, ranges); /* the parts of all routines, ascending by address */

    /* metadata/metadata.c */
    struct pm_metadata *metadata; /* what `.pmodel` says; NULL: none or not asked for.  cfg/,
                                     metadata/match_loops.c, formula/ */

    /* elf/relocations.c */
    PM_ARRAY(struct pm_relocation, relocations); /* of the dynamic linker, ascending by place.
                                                    pm_call_target, cfg/ */

    /* cfg/, from cold_parts.c to tail_calls.c */
    uint8_t *insn_marks; /* enum pm_insn_mark of each instruction.  cfg/, copy/moving_blocks.c */
    /* cfg/jump_tables.c, cfg/computed_gotos.c; ascending by jump.  cfg/ (pm_table_of) */
    PM_ARRAY(struct pm_jump_table, tables);
    PM_ARRAY(uint64_t, table_targets);

    /* cfg/interval_calls.c */
    bool *ends_interval; /* of each instruction; NULL: none does.  cfg/cfg.c, copy/probes.c */

    /* cfg/cfg.c, with structure->blocks and edges */
    PM_ARRAY(struct pm_block_code, block_codes); /* beside basic blocks.  all */
    uint32_t *insn_block; /* basic block of each instruction; PM_NONE: padding that control does not
                             reach (no-ops after a jump).  all */

    /* code/references.c */
    uint32_t *insn_references; /* n_insns + 1: first reference of each instruction in
                                  structure->references; implicit operands have one too.
                                  code/operations.c, formula/, x86/rewrite/ */

    /* cfg/clobbers.c */
    uint32_t *clobbers; /* per routine: general registers that a call of it may change.  formula/
                           (pm_call_clobbers) */

    /* cfg/find_loops.c */
    struct pm_loops *loops; /* scopes/, which makes scopes of them */

    /* formula/groups.c, with structure->references and groups */
    struct pm_data_symbols *data_symbols; /* formula/ */

    /* counters/counters.c */
    struct pm_counter_plan *counters; /* which edges are counted, and where.  copy/, x86/rewrite/;
                                         the structure has a copy */
};

/* May control come to any instruction of ROUTINE, by addresses that are computed out of sight? */
static inline bool pm_may_be_entered_anywhere(const struct pm_lifted *lifted, uint32_t routine) {
    return lifted->structure->routines[routine].state == PM_ROUTINE_PARTIAL ||
           lifted->routine_codes[routine].entered_by_offset;
}

/* The instruction that ends BLOCK. */
static inline const struct pm_insn *pm_last_insn(const struct pm_lifted *lifted, uint32_t block) {
    const struct pm_block_code *code = &lifted->block_codes[block];
    return &lifted->insns[code->first_insn + code->n_insns - 1];
}

#endif
