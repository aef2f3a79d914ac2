/* Signals that end the process by their default action: the raw file is written first.

   Where the program leaves such a signal to its default action, the kernel gets a handler of ours,
   and the program, if it asks, the default action.  The handler writes what was measured, sets the
   default action and leaves the signal pending for its thread.  When it returns the process ends by
   that signal at the place where it was interrupted, so that status and core dump are what they
   would have been; no instruction of the program is executed in between.

   All signals are blocked meanwhile, as they are in every analysis (records/records.c): so no
   analysis of the interrupted thread is half done.  A fault of ours while we write, or a minute
   without an end, gives the file up and ends the process by the signal that came first.

   Not ours are what the program ignores or blocks, SIGKILL, and all signals of the first process of
   a PID namespace, which the kernel keeps from it by default. */
#define _GNU_SOURCE
#include "runtime/shadow_loops/shadow_loops.h"
#include "runtime/signals/private.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "runtime/read_clock.h"
#include "runtime/process.h"
#include "runtime/system.h"

enum { STACK_BYTES = 1 << 18, LONGEST_SECONDS = 60, FIRST_REAL_TIME = 34 };

static bool active;
static struct sigaction shown[PM_N_SIGNALS]; /* what the program asked for beside SIG_DFL */
static int ending;                           /* atomic: the signal by which the process ends */
static long ending_thread;
static uint64_t deadline_ns;
static char stack[STACK_BYTES] __attribute__((aligned(64)));

bool pm_default_actions_are_ours(void) { return active; }

static bool ends_by_default(int number) {
    switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCONT:
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH:
    case 32: /* two of the C library's */
    case 33:
        return false;
    default:
        return number > 0 && number < PM_N_SIGNALS;
    }
}

bool pm_default_is_ours(int number) { return active && ends_by_default(number); }

/* ---- ending ---------------------------------------------------------------------------------- */

/* As the kernel has it. */
struct kernel_action {
    void *handler;
    uint64_t flags;
    void *restorer;
    uint64_t mask;
};

static void set_default(int number) {
    struct kernel_action action = {.handler = SIG_DFL};
    pm_syscall(SYS_rt_sigaction, number, (long)&action, 0, sizeof action.mask, 0, 0);
}

static uint64_t only(int number) { return UINT64_C(1) << (number - 1); }

/* Pending for the calling thread, with all that is known of it. */
static void send_again(int number, siginfo_t *info) {
    long process = pm_syscall3(SYS_getpid, 0, 0, 0), thread = pm_syscall3(SYS_gettid, 0, 0, 0);
    if (info && info->si_signo == number &&
        pm_syscall(SYS_rt_tgsigqueueinfo, process, thread, number, (long)info, 0, 0) == 0)
        return;
    if (pm_syscall3(SYS_tgkill, process, thread, number) != 0)
        pm_syscall3(SYS_exit_group, 128 + number, 0, 0);
}

static void die_now(int number) {
    uint64_t mask = only(number);
    set_default(number);
    send_again(number, NULL);
    pm_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, sizeof mask, 0, 0);
}

/* Of ours; a SIGALRM of the program's may come as well. */
static bool time_is_over(int number) {
    return number == SIGALRM && pm_clock_ns(CLOCK_MONOTONIC) >= deadline_ns;
}

static const int fatal_while_writing[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};

static void handle(int number, siginfo_t *info, void *context);

/* Faults of ours and the end of the time that we give ourselves come to `handle`. */
static void watch_over_us(void) {
    struct sigaction action = pm_default_wrapped();
    struct itimerval time = {.it_value.tv_sec = LONGEST_SECONDS + 1};
    uint64_t mask = 0;
    for (size_t i = 0; i < sizeof fatal_while_writing / sizeof *fatal_while_writing; i++) {
        pm_original_sigaction(fatal_while_writing[i], &action, NULL);
        mask |= only(fatal_while_writing[i]);
    }
    deadline_ns = pm_clock_ns(CLOCK_MONOTONIC) + LONGEST_SECONDS * UINT64_C(1000000000);
    pm_syscall3(SYS_setitimer, ITIMER_REAL, (long)&time, 0);
    pm_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, sizeof mask, 0, 0);
}

/* The limit may be why the process ends. */
static void allow_large_files(void) {
    struct rlimit limit;
    if (pm_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    pm_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, (long)&limit, 0, 0, 0);
}

static void write_file(void *number) {
    watch_over_us();
    allow_large_files();
    pm_process_truncated((int)(intptr_t)number);
    pm_signals_block();
}

/* A signal that comes while the process ends by the signal FIRST. */
static void ends_already(int first, int number) {
    bool is_ours = pm_syscall3(SYS_gettid, 0, 0, 0) == ending_thread;
    if (time_is_over(number) || (is_ours && number != SIGALRM))
        die_now(first);
    while (!is_ours && number != SIGALRM)
        pm_sleep_ns(1000000000);
}

void pm_end_by_default(int number, siginfo_t *info, ucontext_t *context) {
    int first = 0;
    if (pm_process_is_ours()) {
        pm_fault_explain(info, context);
        if (!__atomic_compare_exchange_n(&ending, &first, number, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            ends_already(first, number);
            return;
        }
        ending_thread = pm_syscall3(SYS_gettid, 0, 0, 0);
        pm_call_on_stack(write_file, (void *)(intptr_t)number, (uint64_t)(stack + sizeof stack));
    }
    set_default(number);
    send_again(number, info);
    /* What sigsuspend and its like put back may block it. */
    sigdelset(&context->uc_sigmask, number);
}

static void handle(int number, siginfo_t *info, void *context) {
    if (pm_bound_fault(number, context))
        return;
    pm_end_by_default(number, info, context);
}

/* ---- installing ------------------------------------------------------------------------------ */

struct sigaction pm_default_wrapped(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    return action;
}

void pm_default_taken(int number, const struct sigaction *action) {
    enum { HAS_RESTORER = 0x04000000 }; /* the C library's functions set it */
    shown[number] = *action;
    shown[number].sa_flags |= HAS_RESTORER;
}

bool pm_default_is_installed(const struct sigaction *installed) {
    return installed->sa_sigaction == handle;
}

void pm_default_show(int number, struct sigaction *installed) {
    void (*restorer)(void) = installed->sa_restorer;
    *installed = shown[number];
    installed->sa_handler = SIG_DFL;
    installed->sa_restorer = shown[number].sa_flags ? restorer : NULL;
}

/* Installs our handler where the kernel has the default action, for which the program asked with
   FLAGS. */
static void take_over(int number, int flags) {
    struct sigaction action = pm_default_wrapped(), there;
    if (pm_original_sigaction(number, NULL, &there) != 0 || there.sa_handler != SIG_DFL)
        return;
    shown[number] = there;
    shown[number].sa_flags &= flags | ~(SA_SIGINFO | SA_ONSTACK);
    pm_original_sigaction(number, &action, NULL);
}

void pm_default_after_reset(int number, int flags) {
    if (flags & (int)SA_RESETHAND && pm_default_is_ours(number))
        take_over(number, flags);
}

void pm_default_actions_begin(void) {
    active = pm_syscall3(SYS_getpid, 0, 0, 0) != 1;
    for (int number = 1; active && number < PM_N_SIGNALS; number++)
        if (ends_by_default(number))
            take_over(number, 0);
    pm_signal_stack_begin();
}

void pm_default_actions_after_fork(void) { ending = 0; }
