/* Notes of single frames: between the files of this folder. */
#ifndef PM_RUNTIME_NONLOCAL_EXITS_FRAMES_H
#define PM_RUNTIME_NONLOCAL_EXITS_FRAMES_H

#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/threads.h"
#include "runtime/unwind/unwind.h"

/* Notes the call of THREAD that FRAME is at, if it is in the old text of an instrumented module. */
void pm_exits_note_frame(struct pm_thread *thread, const struct pm_call_frame *frame,
                         enum pm_activation_event event, int64_t count);

/* Is ADDRESS in the old text of an instrumented module? */
bool pm_exits_is_instrumented(uint64_t address);

#endif
