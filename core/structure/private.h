/* Shared by the files of core/structure/, and by the fuzzing of what they read. */
#ifndef PM_STRUCTURE_PRIVATE_H
#define PM_STRUCTURE_PRIVATE_H

#include "core/structure/structure.h"

#define PM_STRUCTURE_VERSION 10 /* of the bytes */

/* Whether every index of a structure read from a file names something that is there, and every
   enumerator is known; else a sentence. */
bool pm_structure_check(const struct pm_structure *structure, struct pm_error *err);

#endif
