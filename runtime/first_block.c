/* Points %gs of the first thread to a control block before any instrumented code can run.

   IFUNC resolvers and .preinit_array of a program run before constructors of libraries do.  So this
   library has an IFUNC of its own, whose resolver runs while the library is relocated, which is
   before the program and instrumented libraries are: all of them need it, and the dynamic linker
   relocates what is needed first.  At that time the library's calls to others are not bound yet:
   the resolver makes system calls only.
   Only in libpmodel-rt.so; nothing in the unit tests refers to this file. */
#include <asm/prctl.h>

#include "runtime/control_block.h"
#include "runtime/system.h"

/* In .bss: 32 MiB of addresses, of which touched pages exist. */
static char first_block_memory[PM_CONTROL_BLOCK_BYTES] __attribute__((aligned(4096)));
static char first_stack[PM_PRIVATE_STACK_BYTES] __attribute__((aligned(4096)));
static char first_signal_stack[PM_SIGNAL_STACK_BYTES] __attribute__((aligned(4096)));
static char first_buffer[PM_RECORD_BUFFER_BYTES] __attribute__((aligned(4096)));

struct pm_control_block *const pm_first_block = (struct pm_control_block *)first_block_memory;

static void nothing(void) {}

static void (*set_up_first_block(void))(void) {
    struct pm_control_block *block = (struct pm_control_block *)first_block_memory;
    pm_control_block_fill(block, first_stack, first_buffer);
    block->signal_stack = (uint64_t)first_signal_stack;
    pm_syscall3(SYS_arch_prctl, ARCH_SET_GS, (long)block, 0);
    return nothing;
}

static void early(void) __attribute__((ifunc("set_up_first_block")));
/* A pointer in data is resolved when the library is loaded, whether anything calls it or not. */
static void (*volatile early_pointer)(void) __attribute__((used)) = early;
