/* The generic class of a mnemonic, as the operation between loads and stores. */
#ifndef PM_X86_CLASSES_H
#define PM_X86_CLASSES_H

#include <Zydis/Zydis.h>

#include "core/op_class.h"

/* PM_OP_UNKNOWN where there is none. */
enum pm_op_class pm_x86_class(ZydisMnemonic mnemonic);

#endif
