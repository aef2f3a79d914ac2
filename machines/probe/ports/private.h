/* What the files of ports/ share. */
#ifndef PM_PORTS_PRIVATE_H
#define PM_PORTS_PRIVATE_H

#include "machines/probe/ports/ports.h"

/* As pm_port_cycles, with kind OTHER as IN_PLACE says. */
double pm_port_cycles_with(const struct pm_port_model *model,
                           const struct pm_port_experiment *experiment, uint32_t other,
                           const struct pm_port_kind *in_place);

#endif
