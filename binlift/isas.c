/* The ISAs that programs can be lifted from, and what they have in common. */
#include "binlift/isa.h"
#include "binlift/x86/x86.h"

#include <stddef.h>
#include <string.h>

#include "binlift/binlift.h"

static const struct pm_isa *const isas[] = {&pm_isa_x86_64, &pm_isa_aarch64};

const struct pm_isa *pm_isa_of_machine(uint16_t elf_machine) {
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (isas[i]->elf_machine == elf_machine)
            return isas[i];
    return NULL;
}

bool pm_isa_knows_mnemonic(const char *isa, const char *mnemonic) {
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (strcmp(isas[i]->name, isa) != 0)
            continue;
        for (uint32_t number = 0; number < isas[i]->n_mnemonics; number++) {
            const char *name = isas[i]->mnemonic(number);
            if (name && strcmp(name, mnemonic) == 0)
                return true;
        }
        return false;
    }
    return true;
}

unsigned pm_print_instruction(const char *isa, const uint8_t *bytes, uint64_t n_bytes,
                              uint64_t address, char *text, unsigned size) {
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        struct pm_insn insn;
        struct pm_insn_parts parts;
        if (strcmp(isas[i]->name, isa) != 0 ||
            !isas[i]->decode(bytes, n_bytes, address, &insn, &parts))
            continue;
        isas[i]->print(bytes, &insn, text, size);
        return insn.length;
    }
    return 0;
}

enum pm_op_class pm_class_of_control(uint8_t control) {
    switch (control) {
    case PM_CONTROL_BRANCH:
    case PM_CONTROL_BRANCH_LOOP:
        return PM_OP_BRANCH;
    case PM_CONTROL_JUMP:
    case PM_CONTROL_JUMP_INDIRECT:
        return PM_OP_JUMP;
    case PM_CONTROL_CALL:
    case PM_CONTROL_CALL_INDIRECT:
        return PM_OP_CALL;
    case PM_CONTROL_RETURN:
        return PM_OP_RETURN;
    default:
        return PM_OP_UNKNOWN;
    }
}
