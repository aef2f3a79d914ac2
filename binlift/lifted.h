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

struct pm_lifted {
    struct pm_image image;
    const struct pm_isa *isa;
    struct pm_classes *classes; /* resolved for the ISA; NULL where no file was given */
    struct pm_structure *structure;
    struct pm_lift_statistics statistics;
    char *refusal;

    PM_ARRAY(struct pm_insn, insns);   /* of all routines, routine by routine */
    PM_ARRAY(struct pm_pool *, pools); /* what insns point to */
    uint32_t gs_routine;               /* one that uses %gs; PM_NONE */
    PM_ARRAY(struct pm_routine_code, routine_codes);
    PM_ARRAY(struct pm_block_code, block_codes);
    PM_ARRAY(struct pm_jump_table, tables);
    PM_ARRAY(uint64_t, table_targets);
    struct pm_data_symbols *data_symbols; /* from pm_build_groups on */
    uint32_t *insn_references;            /* n_insns + 1: first reference of each instruction in
                                             structure->references; operands that are implicit have one too */
    uint64_t text_low, text_high;         /* span of the executable sections */
    struct pm_insn_index insn_index;
    PM_ARRAY(struct pm_range, ranges); /* the parts of all routines, ascending by address */

    struct pm_frames frames;                     /* of .eh_frame */
    struct pm_addresses inner_entries;           /* symbols within a larger routine: landings */
    PM_ARRAY(struct pm_relocation, relocations); /* of the dynamic linker, ascending by place */
    uint8_t *insn_marks;                         /* enum pm_insn_mark of each instruction */
    bool *ends_interval;  /* of each instruction; NULL: none does (cfg/intervals.c) */
    uint32_t *insn_block; /* basic block of each instruction; PM_NONE: padding that control does not
                             reach (no-ops after a jump) */
    uint32_t *
        clobbers; /* per routine: general registers that a call of it may change (cfg/clobbers.c) */
    PM_ARRAY(struct pm_trip_count,
             trip_counts); /* counters outside their loops (counters/counters.h) */
    PM_ARRAY(struct pm_trip_way, trip_ways);
    struct pm_metadata *metadata; /* what `.pmodel` says; NULL: none or not asked for */
    struct pm_loops *loops;       /* between pm_find_loops and pm_build_scopes */
};

#endif
