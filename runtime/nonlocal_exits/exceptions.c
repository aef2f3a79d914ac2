/* Exceptions and ends of threads, which leave frames as longjmp does.

   A personality routine that wants control to land in a frame calls _Unwind_SetIP, whatever the
   language and whether it is a handler or only a clean-up; the stack is still whole then.  So that
   function is the place to note what is left: all frames from the throw, or from the clean-up
   before, to the one where control lands.

   pthread_exit and cancellation unwind in the same way down to the thread's first frame.  That is
   ours (thread_base.S), with a personality routine that is called when unwinding comes to it.  The
   first thread's first frame is not ours: there pthread_exit notes all frames at once, and indirect
   entries that follow are of frames that were noted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <threads.h>
#include <unwind.h>

#include "runtime/interpose/interpose.h"
#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/process.h"
#include "runtime/system.h"
#include "runtime/threads.h"

/* A frame that was noted when the thread began to exit; the ones that follow lie higher. */
static bool was_noted(struct pm_thread *thread, uint64_t stack) {
    if (!thread->exit_stack || stack < thread->exit_stack)
        return false;
    thread->exit_stack = stack;
    return true;
}

PM_EXPORT void _Unwind_SetIP(struct _Unwind_Context *context, _Unwind_Ptr address) {
    if (pm_process_is_measured() && !pm_process_is_finished()) {
        uint64_t stack = PM_ORIGINAL(_Unwind_GetCFA)(context);
        if (!was_noted(pm_current_thread(), stack))
            pm_exits_note_landing_pad(stack, (const void *)PM_ORIGINAL(_Unwind_SetIP));
    }
    PM_ORIGINAL(_Unwind_SetIP)(context, address);
}

_Unwind_Reason_Code pm_thread_personality(int version, _Unwind_Action actions,
                                          _Unwind_Exception_Class class,
                                          struct _Unwind_Exception *exception,
                                          struct _Unwind_Context *context);
_Unwind_Reason_Code pm_thread_personality(int version, _Unwind_Action actions,
                                          _Unwind_Exception_Class class,
                                          struct _Unwind_Exception *exception,
                                          struct _Unwind_Context *context) {
    (void)version, (void)class, (void)exception, (void)context;
    if ((actions & _UA_FORCE_UNWIND) && (actions & _UA_CLEANUP_PHASE))
        pm_exits_note_open(PM_ACTIVATION_LEFT, 1);
    return _URC_CONTINUE_UNWIND;
}

static void note_first_thread(void) {
    if (!pm_process_is_measured() || pm_process_is_finished())
        return;
    struct pm_thread *thread = pm_current_thread();
    if (thread->number != 0)
        return;
    pm_exits_note_open(PM_ACTIVATION_LEFT, 1);
    thread->exit_stack = (uint64_t)__builtin_frame_address(0);
}

PM_EXPORT void pthread_exit(void *result) {
    note_first_thread();
    PM_ORIGINAL(pthread_exit)(result);
    __builtin_unreachable();
}

PM_EXPORT void thrd_exit(int result) {
    note_first_thread();
    PM_ORIGINAL(thrd_exit)(result);
    __builtin_unreachable();
}
