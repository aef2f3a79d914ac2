/* pmodel_start and pmodel_stop of pmodel.h, for the calling thread.

   While a thread is stopped its accesses do not reach the analysis at all: they neither count nor
   disturb the order of blocks, so that the first access after a start sees the reuse distance that
   it would have had without the stopped part.  Counters run on, but `stop` keeps what they stood at
   and `start` sets them back to zero. */
#include "runtime/pmodel.h"

#include "runtime/frames.h"
#include "runtime/process.h"
#include "runtime/records.h"
#include "runtime/system.h"
#include "runtime/tell.h"
#include "runtime/threads.h"
#include "runtime/timers.h"

PM_EXPORT void pmodel_runtime_stop(void) {
    if (!pm_process_is_measured())
        return;
    struct pm_thread *thread = pm_current_thread();
    uint64_t mask = pm_signals_block();
    if (!thread->stopped) {
        pm_consume_pending(thread);
        pm_tell_counters(thread);
        pm_tell_stop(thread);
        pm_thread_take_counters(thread, true);
        pm_timers_stop(thread);
        pm_frames_note_open(PM_FRAME_LEFT, 1);
        thread->stopped = true;
    }
    pm_signals_restore(mask);
}

PM_EXPORT void pmodel_runtime_start(void) {
    if (!pm_process_is_measured())
        return;
    struct pm_thread *thread = pm_current_thread();
    uint64_t mask = pm_signals_block();
    if (thread->stopped) {
        pm_consume_pending(thread);
        pm_thread_take_counters(thread, false);
        pm_tell_start(thread);
        thread->stopped = false;
        pm_timers_start(thread);
        pm_frames_note_open(PM_FRAME_RESUMED, 1);
    }
    pm_signals_restore(mask);
}
