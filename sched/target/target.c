/* What of a machine a structure's operations ask again and again. */
#include <string.h>

#include "sched/target/target.h"

struct pm_target_machine pm_target_of(const struct pm_structure *structure,
                                      const struct pm_machine *machine) {
    bool is_foreign = machine->isa && structure->isa && strcmp(machine->isa, structure->isa) != 0;
    return (struct pm_target_machine){.machine = machine,
                                      .structure = structure,
                                      .is_foreign = is_foreign,
                                      .has_mnemonics =
                                          machine->isa && !is_foreign &&
                                          machine->first_cost[PM_N_OP_CLASSES] < machine->n_costs};
}
