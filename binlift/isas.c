/* The ISAs that programs can be lifted from. */
#include "binlift/isa.h"

#include <stddef.h>

static const struct pm_isa *const isas[] = {&pm_isa_x86_64, &pm_isa_aarch64};

const struct pm_isa *pm_isa_of_machine(uint16_t elf_machine) {
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (isas[i]->elf_machine == elf_machine)
            return isas[i];
    return NULL;
}
