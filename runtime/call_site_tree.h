/* Call paths: which calls are open, as numbers that are equal for equal paths.

   A path is a node of one tree for the whole process: its last call, and the path of the calls
   around it.  Calls are known by their return addresses, of instrumented modules only: frames of
   others are left out.  Any thread and any signal handler may add to the tree at any time; nothing
   is ever taken away, but in the child of a fork the tree stays as it is, too. */
#ifndef PM_RUNTIME_CALL_PATHS_H
#define PM_RUNTIME_CALL_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/raw_output/raw_output.h"
#include "runtime/unwind/unwind.h"

/* Instead of a path: no call is open; there is no room for another one. */
#define PM_NO_CALL_PATH 0
#define PM_CALL_PATH_LOST UINT32_MAX

/* The path of the calls that are open from FROM outwards, the innermost of an instrumented module
   last: FROM itself, if its rip is where a call of one returns to.  Of a walk that is lost what it
   came to (*WAS_LOST, which may be NULL, tells).  Of the calling thread; what is found readable of
   the stack is kept for its next walk. */
uint32_t pm_call_path_here(const struct pm_call_frame *from, bool *was_lost);

/* What the last call of PATH calls: NAME stays readable as long as the process lives.  The first
   one told is kept. */
void pm_call_path_set_callee(uint32_t path, const char *name);

/* What was told; NULL: nothing was. */
const char *pm_call_path_callee(uint32_t path);

/* The path around PATH's last call, and that call: the ordinal of its module in pm_modules and the
   link-time address in its old text that it returns to. */
struct pm_path_call {
    uint32_t parent, module;
    uint64_t return_address;
};
struct pm_path_call pm_call_path_last(uint32_t path);

/* The section PM_RAW_PATHS, if there are any. */
void pm_call_paths_write(struct pm_raw_builder *builder);
/* Was PATH there when the section was last written? */
bool pm_call_path_is_written(uint32_t path);

#endif
