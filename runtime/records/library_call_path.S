/* Where rewritten code goes right before it calls a routine of the C library that accesses memory
   (core/probe_abi.h): calls pm_called (block, the first three arguments) on the thread's private
   stack, which appends records, and comes back to %gs:PM_CB_RETURN with every register and flag as it
   was.  pm_called uses general registers only, so that no vector need be saved; if it says that the
   buffer is full, the slow path follows. */
#include "runtime/control_block.h"
#include "runtime/private_stack.inc"

        .macro  restore
        leave_general
        leave_stack
        .endm

        .text
        .globl  pm_called_path
        .hidden pm_called_path
        .hidden pm_called
        .hidden pm_slow_path
        .type   pm_called_path, @function
        .p2align 4
pm_called_path:
        .cfi_startproc
        .cfi_undefined rip
        enter_stack
        enter_general
        movq    %rdx, %rcx
        movq    %rsi, %rdx
        movq    %rdi, %rsi
        movq    %gs:0, %rdi
        call    pm_called
        testb   %al, %al
        jnz     1f
        restore
        jmp     *%gs:PM_OFFSET_RETURN
1:      restore
        jmp     pm_slow_path
        .cfi_endproc
        .size   pm_called_path, .-pm_called_path
        .section .note.GNU-stack, "", @progbits
