/* What the files of this folder share; see launch.h for what others use. */
#ifndef PM_LAUNCH_PRIVATE_H
#define PM_LAUNCH_PRIVATE_H

#include "measure/launch/launch.h"

void pm_tail_add(struct pm_output_tail *tail, const char *bytes, size_t n);
/* The last line with something in it, cut off where spaces follow; "" if there is none. */
const char *pm_tail_last_line(struct pm_output_tail *tail);

#endif
