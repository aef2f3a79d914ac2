/* Threads and processes that do not come from pthread_create: clone, and the threads in which the C
   library calls a program when a timer expires or a message arrives (SIGEV_THREAD).

   A thread made by clone may share its creator's thread-local storage, so nothing here uses any.
   One that shares its creator's memory gets a control block of its own, unless its creator sleeps
   until it is gone (CLONE_VFORK): then both may use one. */
#define _GNU_SOURCE
#include <errno.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>

#include "runtime/interpose/interpose.h"
#include "runtime/process.h"
#include "runtime/second_core/second_core.h"
#include "runtime/system.h"
#include "runtime/threads.h"

/* ---- clone ----------------------------------------------------------------------------------- */

struct copied_start {
    int (*start)(void *);
    void *argument;
};

/* Of a process with a copy of our memory: the same as the child of a fork. */
static int run_copied(void *value) {
    struct copied_start copied = *(struct copied_start *)value;
    pm_process_forked();
    int result = copied.start(copied.argument);
    pm_process_finish();
    return result;
}

static int run_sharing(void *value) {
    struct pm_thread *thread = value;
    pm_thread_enter(thread);
    int result = thread->start_c11(thread->argument);
    pm_thread_leave();
    return result;
}

static int clone_sharing(int (*start)(void *), void *stack, int flags, void *argument,
                         void *const more[3]) {
    struct pm_thread *thread = pm_thread_take();
    if (!thread) {
        errno = EAGAIN;
        return -1;
    }
    thread->start_c11 = start;
    thread->argument = argument;
    thread->restore_signals = true;
    uint64_t mask = pm_signals_block();
    thread->signal_mask = mask;
    int result = PM_ORIGINAL(clone)(run_sharing, stack, flags, thread, more[0], more[1], more[2]);
    pm_signals_restore(mask);
    if (result < 0)
        pm_thread_untake(thread);
    return result;
}

PM_EXPORT int clone(int (*start)(void *), void *stack, int flags, void *argument, ...) {
    va_list arguments;
    void *more[3]; /* parent_tid, tls, child_tid, as far as the flags ask for them */
    va_start(arguments, argument);
    for (int i = 0; i < 3; i++)
        more[i] = va_arg(arguments, void *);
    va_end(arguments);
    if (pm_process_is_measured() && start && stack &&
        (flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM)
        return clone_sharing(start, stack, flags, argument, more);
    if (pm_process_is_measured() && start && stack && !(flags & CLONE_VM)) {
        struct copied_start copied = {start, argument};
        pm_analysis_pause();
        int result =
            PM_ORIGINAL(clone)(run_copied, stack, flags, &copied, more[0], more[1], more[2]);
        pm_analysis_resume();
        return result;
    }
    return PM_ORIGINAL(clone)(start, stack, flags, argument, more[0], more[1], more[2]);
}

/* ---- SIGEV_THREAD ---------------------------------------------------------------------------- */

/* What the program wants to be called.  Never freed: a timer may expire at any time, and a program
   makes few. */
struct notification {
    void (*function)(union sigval);
    union sigval value;
};

static void run_notification(union sigval value) {
    const struct notification *notification = value.sival_ptr;
    struct pm_thread *thread = pm_thread_take();
    if (thread) {
        thread->restore_signals = false;
        pm_thread_begin(thread);
    }
    notification->function(notification->value);
}

/* EVENT with our function in place of the program's; false if there is nothing to replace. */
static bool replace(const struct sigevent *event, struct sigevent *replaced) {
    if (!pm_process_is_measured() || !event || event->sigev_notify != SIGEV_THREAD)
        return false;
    struct notification *notification = pm_mmap(sizeof *notification);
    if (!notification)
        return false;
    *notification = (struct notification){event->sigev_notify_function, event->sigev_value};
    *replaced = *event;
    replaced->sigev_notify_function = run_notification;
    replaced->sigev_value.sival_ptr = notification;
    return true;
}

PM_EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
    struct sigevent replaced;
    return PM_ORIGINAL(timer_create)(clock, replace(event, &replaced) ? &replaced : event, timer);
}

PM_EXPORT int mq_notify(mqd_t queue, const struct sigevent *event) {
    struct sigevent replaced;
    return PM_ORIGINAL(mq_notify)(queue, replace(event, &replaced) ? &replaced : event);
}
