/* Calls code made at run time, with faults caught where it may not run. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "machines/probe/code/private.h"

#if defined(__x86_64__)
void pm_enter_loop(const void *code, uint64_t times, void *data, uint64_t constant);

/* Results too small to be normal become zero at once: their handling by microcode would be timed
   in place of the instruction. */
static const unsigned FLUSH_TO_ZERO = 0x8040;

void pm_execute_safe(const void *code, uint64_t times, void *data) {
    /* Divided by 3 it gives as many digits as a quotient can have. */
    static const uint64_t constant = 0x1234567812345679;
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | FLUSH_TO_ZERO);
    pm_enter_loop(code, times, data, constant);
    __builtin_ia32_ldmxcsr(before);
}
#else
void pm_execute_safe(const void *code, uint64_t times, void *data) {
    (void)code;
    (void)times;
    (void)data;
}
#endif

static sigjmp_buf way_out;

static void give_up(int signal) { siglongjmp(way_out, signal); }

bool pm_execute(const void *code, uint64_t times, void *data) {
    static const int signals[] = {SIGILL, SIGFPE, SIGSEGV, SIGBUS};
    enum { N_SIGNALS = sizeof signals / sizeof *signals };
    struct sigaction before[N_SIGNALS], action = {.sa_handler = give_up};
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &action, &before[i]);
    bool ok = sigsetjmp(way_out, 1) == 0;
    if (ok)
        pm_execute_safe(code, times, data);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    return ok;
}
