/* Which basic block calls which routine of the file, and which symbol of another one. */
#include "binlift/lifted.h"
#include "binlift/elf/elf.h"

/* A jump to the begin of another routine is a call, too. */
static bool may_call(const struct pm_insn *insn) {
    return pm_is_call(insn->control) || insn->control == PM_CONTROL_JUMP ||
           insn->control == PM_CONTROL_JUMP_INDIRECT;
}

static void add_import(struct pm_structure *structure, uint32_t block, bool same_file,
                       const char *symbol) {
    *PM_PUSH(structure, imports) =
        (struct pm_import){.block = block, .same_file = same_file, .symbol = pm_strdup(symbol)};
}

void pm_find_calls(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block_code *code = &lifted->block_codes[b];
        for (uint32_t i = code->first_insn; i < code->first_insn + code->n_insns; i++) {
            const struct pm_insn *insn = &lifted->insns[i];
            uint64_t address = 0;
            const char *name = NULL;
            if (!may_call(insn) || !pm_call_target(lifted, insn, &address, &name))
                continue;
            if (!address && name)
                add_import(structure, b, false, name);
            if (!address)
                continue;
            uint32_t routine = pm_routine_at(lifted, address);
            if (routine == PM_NONE || structure->routines[routine].address != address ||
                (!pm_is_call(insn->control) && routine == structure->blocks[b].routine))
                continue;
            if (lifted->routine_codes[routine].is_resolver)
                add_import(structure, b, true, structure->routines[routine].name);
            *PM_PUSH(structure, calls) = (struct pm_call){.block = b, .routine = routine};
        }
    }
}
