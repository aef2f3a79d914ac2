/* Makes control blocks and puts them into %gs. */
#include "runtime/control_block.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/auxv.h>

#include "runtime/records/records.h"
#include "runtime/system.h"

static bool may_write_gs_base;

/* The state components that the system lets programs use and that the slow path must save. */
static uint64_t xsave_mask(void) {
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    return eax & PM_XSAVE_COMPONENTS;
}

void pm_control_block_fill(struct pm_control_block *block, void *stack, void *buffer) {
    block->self = (uint64_t)block;
    block->start = block->consumed = block->next = (uint64_t)buffer;
    block->limit = (uint64_t)buffer + PM_RECORD_BUFFER_BYTES - PM_RECORD_SLACK;
    block->stack = (uint64_t)stack + PM_PRIVATE_STACK_BYTES;
    block->slow = (uint64_t)pm_slow_path;
    block->event_path = (uint64_t)pm_event_ignore;
    block->called_path = (uint64_t)pm_called_path;
    block->branch_path = (uint64_t)pm_branch_ignore;
    block->branch_left = block->branches_done = -PM_BRANCH_BUFFER_BYTES;
    block->xsave_mask = xsave_mask();
    block->consume = 1;
}

struct pm_control_block *pm_control_block_new(struct pm_thread *thread,
                                              struct pm_control_block *outer) {
    size_t bytes = PM_CONTROL_BLOCK_BYTES + PM_PRIVATE_STACK_BYTES + PM_RECORD_BUFFER_BYTES;
    size_t signal_bytes = outer ? 0 : PM_SIGNAL_STACK_BYTES;
    char *memory = pm_mmap(bytes + signal_bytes);
    if (!memory)
        return NULL;
    struct pm_control_block *block = (struct pm_control_block *)memory;
    char *stack = memory + PM_CONTROL_BLOCK_BYTES;
    pm_control_block_fill(block, stack, stack + PM_PRIVATE_STACK_BYTES);
    block->signal_stack = outer ? 0 : (uint64_t)memory + bytes;
    block->thread = thread;
    block->consume = pm_first_block->consume;
    if (pm_records_are_shared)
        block->limit = block->start + PM_SHARED_QUANTUM_BYTES;
    block->event_path = pm_first_block->event_path;
    block->called_path = pm_first_block->called_path;
    block->branch_path = pm_first_block->branch_path;
    block->bound_done = pm_first_block->bound_done;
    block->bound_over = pm_first_block->bound_over;
    block->outer = outer;
    block->level = outer ? outer->level + 1 : 0;
    return block;
}

void pm_control_block_detect(void) {
    enum { HWCAP2_FSGSBASE = 2 };
    may_write_gs_base = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

void pm_control_block_use(struct pm_control_block *block) {
    if (may_write_gs_base)
        __asm__ volatile("wrgsbase %0" : : "r"(block) : "memory");
    else
        pm_syscall3(SYS_arch_prctl, ARCH_SET_GS, (long)block, 0);
}
