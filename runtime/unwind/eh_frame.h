/* Finding a routine's description in the tables of .eh_frame in memory.  Between the files of this
   folder. */
#ifndef PM_RUNTIME_UNWIND_EH_FRAME_H
#define PM_RUNTIME_UNWIND_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"

/* A routine's frame description entry (FDE), with what it has from its common part. */
struct pm_fde {
    uint64_t begin, end;            /* of the code */
    struct pm_reader initial, rows; /* of its tables, as the dynamic linker has mapped them */
    uint64_t code_alignment;
    int64_t data_alignment;
    unsigned pointer_encoding;
    bool is_signal_frame;
};

/* The FDE of the code at ADDRESS, by binary search in its module's .eh_frame_hdr. */
bool pm_find_fde(uint64_t address, struct pm_fde *fde);

#endif
