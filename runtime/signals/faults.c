/* Faults that the plain program does not have.

   Of a routine that was moved the old text holds jumps to the new one, calls that stayed, and int3.
   Control comes there where it was foreseen (binlift/x86/rewrite/trampolines.c), or to an int3 that
   traps.c knows.  A program that computes addresses within its own code in a way that was not seen
   comes elsewhere: to an int3 of nobody, or into the middle of a jump.  A program that copies its
   code copies these jumps and int3.  Both end in a fault, which says nothing to who runs the
   program; so a sentence on standard error says which routine to leave as it is.  The signal itself
   takes its way: to the program's handler, or to the end.

   A fault in the new text is the program's own: what stands there does what the program did. */
#define _GNU_SOURCE
#include "runtime/signals/private.h"

#include <dlfcn.h>

#include "core/base/base.h"
#include "runtime/modules.h"
#include "runtime/system.h"
#include "runtime/append_text.h"

/* The range of moved code that has ADDRESS; NULL. */
static const struct pm_probe_moved *moved_at(uint64_t address, const struct pm_loaded_module **in) {
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++) {
        const struct pm_loaded_module *module = &pm_modules[i];
        uint64_t at = address - module->load_bias;
        if (module->gone || at < module->header.old_text || at >= module->header.old_text_end)
            continue;
        const char *header = (const char *)module->load_bias + module->header.header_address;
        const struct pm_probe_moved *moved = (const void *)(header + module->header.moved);
        size_t n = module->header.n_moved, low = PM_LOWER_BOUND(n, m, moved[m].end <= at);
        *in = module;
        if (low < n && moved[low].address <= at)
            return &moved[low];
    }
    return NULL;
}

/* Calls that stayed may fault by themselves: at the end of the stack, or where they load. */
static bool is_call(uint64_t address) {
    const uint8_t *at = (const uint8_t *)address;
    at += (*at & 0xf0) == 0x40; /* REX */
    return *at == 0xe8 || (*at == 0xff && (at[1] >> 3 & 7) == 2);
}

static void say(const struct pm_text *text) {
    pm_syscall3(SYS_write, 2, (long)text->bytes, (long)text->used);
}

static void name_routine(const char *name, uint64_t address) {
    char line[512], digits[17];
    struct pm_text text = {line, sizeof line, 0};
    unsigned first = sizeof digits - 1;
    digits[first] = 0;
    do
        digits[--first] = "0123456789abcdef"[address % 16];
    while (address /= 16);
    pm_text_add(&text, "pmodel: control came to 0x");
    pm_text_add(&text, digits + first);
    pm_text_add(&text, " in the middle of ");
    pm_text_add(&text, name);
    pm_text_add(&text, ", whose code was moved, in a way that was not foreseen; leave it as it is: "
                       "--exclude FILE, with a line !");
    pm_text_add(&text, name);
    pm_text_add(&text, "\n");
    say(&text);
}

/* What an instruction at ADDRESS raises if it is an int3 or no instruction at all. */
static bool is_made_code(int number, uint64_t address) {
    struct dl_find_object object;
    return (number == SIGTRAP || number == SIGILL) &&
           _dl_find_object((void *)address, &object) != 0;
}

void pm_fault_explain(const siginfo_t *info, const ucontext_t *context) {
    int number = info->si_signo;
    bool is_fault = number == SIGTRAP || number == SIGSEGV || number == SIGBUS || number == SIGILL;
    if (!is_fault || info->si_code <= 0)
        return; /* or it was sent by somebody */
    const struct pm_loaded_module *module;
    uint64_t address = (uint64_t)context->uc_mcontext.gregs[REG_RIP] - (number == SIGTRAP);
    const struct pm_probe_moved *moved = moved_at(address, &module);
    if (moved && !is_call(address)) {
        const char *header = (const char *)module->load_bias + module->header.header_address;
        name_routine(header + moved->name, address - module->load_bias);
    } else if (!moved && is_made_code(number, address)) {
        char line[256];
        struct pm_text text = {line, sizeof line, 0};
        pm_text_add(&text,
                    "pmodel: code that the program made came to a trap; if it copies routines "
                    "of its own, leave these as they are: --exclude FILE, with a line "
                    "!NAME for each\n");
        say(&text);
    }
}
