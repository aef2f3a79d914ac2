/* The ISAs that programs can be lifted from, and what is alike in all of them. */
#include "binlift/isa.h"
#include "binlift/x86/x86.h"

#include <stddef.h>

static const struct pm_isa *const isas[] = {&pm_isa_x86_64, &pm_isa_aarch64};

const struct pm_isa *pm_isa_of_machine(uint16_t elf_machine) {
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (isas[i]->elf_machine == elf_machine)
            return isas[i];
    return NULL;
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
