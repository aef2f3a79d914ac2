/* Steps over the stack that were made before, without the tables.

   A program that jumps or throws often does so at the same places, and to read their tables again
   took 0.5 to 1 µs a frame.  So what a step came to is kept by its address, as long as no module is
   loaded or unloaded.  An entry is written by one thread at a time, which makes its version odd
   meanwhile; who reads one takes it only if the version was even and stayed the same. */
#include "runtime/unwind/rules.h"

#include "runtime/modules.h"
#include "runtime/system.h"

const uint8_t pm_preserved_registers[PM_N_PRESERVED] = {3, PM_DWARF_RBP, 12, 13, 14, 15};

enum { N_ENTRIES = 4096 };

struct entry {
    uint32_t version, generation; /* of the modules */
    uint64_t rip;
    struct pm_short_rule rule;
};
static struct entry entries[N_ENTRIES];

static struct entry *entry_of(uint64_t rip) {
    return &entries[rip * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static bool recall(uint64_t rip, struct pm_short_rule *rule) {
    const struct entry *entry = entry_of(rip);
    uint32_t version = __atomic_load_n(&entry->version, __ATOMIC_ACQUIRE);
    struct entry copy = *entry;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    *rule = copy.rule;
    return !(version & 1) && copy.rip == rip && copy.generation == pm_modules_generation &&
           version == __atomic_load_n(&entry->version, __ATOMIC_RELAXED);
}

static void keep(uint64_t rip, const struct pm_short_rule *rule) {
    struct entry *entry = entry_of(rip);
    uint32_t version = __atomic_load_n(&entry->version, __ATOMIC_RELAXED);
    if ((version & 1) || !__atomic_compare_exchange_n(&entry->version, &version, version + 1, false,
                                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    entry->rip = rip;
    entry->generation = pm_modules_generation;
    entry->rule = *rule;
    __atomic_store_n(&entry->version, version + 2, __ATOMIC_RELEASE);
}

/* To the caller by RULE; false: it is lost. */
static bool step_by_rule(struct pm_call_frame *frame, const struct pm_short_rule *rule) {
    if (!(frame->known >> rule->cfa_register & 1))
        return false;
    uint64_t cfa = frame->registers[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;
    if (!pm_unwind_read(frame, cfa - 8, &frame->registers[PM_DWARF_RIP]))
        return false;
    uint32_t preserved = 0;
    for (unsigned i = 0; i < PM_N_PRESERVED; i++) {
        unsigned number = pm_preserved_registers[i];
        preserved |= 1u << number;
        if (rule->saved[i] == 0)
            continue;
        if (!pm_unwind_read(frame, cfa + 8 * (uint64_t)(int64_t)rule->saved[i],
                            &frame->registers[number]))
            return false;
        frame->known |= 1u << number;
    }
    frame->registers[PM_DWARF_RSP] = cfa;
    frame->known = (frame->known & preserved) | 1u << PM_DWARF_RSP | 1u << PM_DWARF_RIP;
    return true;
}

enum pm_unwind_result pm_unwind_step(struct pm_call_frame *frame) {
    struct pm_short_rule rule;
    uint64_t rip = pm_call_frame_rip(frame);
    if (!frame->interrupted && recall(rip, &rule)) {
        if (!step_by_rule(frame, &rule))
            return PM_UNWIND_LOST;
        return pm_call_frame_rip(frame) ? PM_UNWIND_FRAME : PM_UNWIND_END;
    }
    bool was_interrupted = frame->interrupted;
    enum pm_unwind_result result = pm_unwind_by_tables(frame, &rule);
    if (result == PM_UNWIND_FRAME && rule.is_valid && !was_interrupted)
        keep(rip, &rule);
    return result;
}

__attribute__((noinline)) void pm_unwind_begin(struct pm_call_frame *frame, uint64_t low,
                                               uint64_t end) {
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    bool is_this_stack = low <= here && here < end;
    *frame = (struct pm_call_frame){.readable_low = is_this_stack ? low : 0,
                                    .readable_end = is_this_stack ? end : 0};
    __asm__ volatile("movq %%rbx, 24(%0)\n\t"
                     "movq %%rbp, 48(%0)\n\t"
                     "movq %%rsp, 56(%0)\n\t"
                     "movq %%r12, 96(%0)\n\t"
                     "movq %%r13, 104(%0)\n\t"
                     "movq %%r14, 112(%0)\n\t"
                     "movq %%r15, 120(%0)\n\t"
                     "leaq 0(%%rip), %%rax\n\t"
                     "movq %%rax, 128(%0)"
                     :
                     : "r"(frame->registers)
                     : "rax", "memory");
    frame->known =
        1u << 3 | 1u << PM_DWARF_RBP | 1u << PM_DWARF_RSP | 0xfu << 12 | 1u << PM_DWARF_RIP;
    pm_unwind_step(frame);
}
