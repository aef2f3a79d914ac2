/* Jumps into the old text.  Where the rewriter had no room for a jump to the new code it left an
   int3 and an entry in the module's trap table; other bytes of the old text that were proven to be
   code are int3 as well.  The SIGTRAP of an int3 in the table goes on at its new address, slowly
   but right, and is counted if nothing foresaw it.  Any other SIGTRAP gets what the program asked
   for. */
#define _GNU_SOURCE
#include "runtime/signals/private.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/base/base.h"
#include "runtime/modules.h"
#include "runtime/system.h"

uint64_t pm_n_missed_jumps;
static bool ours;
static struct sigaction programs_action; /* what the program asked of SIGTRAP */

bool pm_traps_are_ours(void) { return ours; }

/* What the int3 at ADDRESS stands for, and in which module; NULL: it is none of ours. */
static const struct pm_probe_trap *find_in_modules(uint64_t address,
                                                   const struct pm_loaded_module **in) {
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++) {
        const struct pm_loaded_module *module = &pm_modules[i];
        const struct pm_probe_trap *traps = module->traps;
        uint64_t from = address - module->load_bias;
        if (module->gone || from < module->header.old_text || from >= module->header.old_text_end)
            continue;
        size_t n = module->header.n_traps, at = PM_LOWER_BOUND(n, t, traps[t].from < from);
        *in = module;
        if (at < n && traps[at].from == from)
            return &traps[at];
    }
    return NULL;
}

/* A module that was loaded since may have it. */
static const struct pm_probe_trap *find_trap(uint64_t address, const struct pm_loaded_module **in) {
    const struct pm_probe_trap *found = find_in_modules(address, in);
    if (found)
        return found;
    pm_modules_scan();
    return find_in_modules(address, in);
}

/* Ends the process as the kernel does it by default. */
static void die(siginfo_t *info, void *context) {
    pm_signals_block();
    pm_end_by_default(SIGTRAP, info, context);
}

static void trapped(int number, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const struct pm_loaded_module *module;
    const struct pm_probe_trap *trap =
        info->si_code > 0 ? find_trap((uint64_t)registers[REG_RIP] - 1, &module) : NULL;
    if (trap) {
        registers[REG_RIP] = (greg_t)(trap->to + module->load_bias);
        if (!trap->is_expected)
            __atomic_fetch_add(&pm_n_missed_jumps, 1, __ATOMIC_RELAXED);
        return;
    }
    bool is_sent = info->si_code <= 0; /* by kill, not by an instruction */
    if (programs_action.sa_handler == SIG_DFL ||
        (programs_action.sa_handler == SIG_IGN && !is_sent)) {
        die(info, context);
    } else if (programs_action.sa_handler != SIG_IGN) {
        pm_fault_explain(info, context);
        void *handler = (void *)programs_action.sa_sigaction;
        if (programs_action.sa_flags & (int)SA_RESETHAND)
            programs_action.sa_handler = SIG_DFL;
        pm_call_handler(handler, number, info, context);
    }
}

int pm_traps_action(const struct sigaction *action, struct sigaction *old) {
    if (old)
        *old = programs_action;
    if (action)
        programs_action = *action;
    return 0;
}

void pm_signals_begin(void) {
    bool needed = getenv(PM_ENV_LIBRARIES) != NULL; /* one may be loaded later */
    for (uint32_t i = 0; i < pm_n_modules; i++)
        needed |= pm_modules[i].header.old_text < pm_modules[i].header.old_text_end;
    if (!needed)
        return;
    struct sigaction action = {.sa_sigaction = trapped,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER};
    if (pm_original_sigaction(SIGTRAP, &action, &programs_action) == 0)
        ours = true;
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGTRAP);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

void pm_signals_after_fork(void) { pm_n_missed_jumps = 0; }
