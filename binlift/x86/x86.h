/* x86-64: the only ISA that is lifted and rewritten.  Its decoder is Zydis, which nothing outside
   this folder knows. */
#ifndef PM_X86_H
#define PM_X86_H

#include "binlift/isa.h"

extern const struct pm_isa pm_isa_x86_64;

#endif
