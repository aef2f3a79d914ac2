/* Where rewritten code goes right before it calls a routine of the C library that accesses memory
   (core/probe_abi.h): calls pm_called (block, the first three arguments) on the thread's private
   stack, which appends records, and comes back to %gs:PM_CB_RETURN with every register and flag as it
   was.  pm_called uses general registers only, so that no vector need be saved; if it says that the
   buffer is full, the slow path follows. */
#include "runtime/control_block.h"

        .macro  restore
        movq    %rbp, %rsp
        popq    %rbp
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popfq
        movq    %gs:PM_OFFSET_SAVED_RSP, %rsp
        movq    %gs:PM_OFFSET_SAVED_RAX, %rax
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
        movq    %rax, %gs:PM_OFFSET_SAVED_RAX
        movq    %rsp, %gs:PM_OFFSET_SAVED_RSP
        movq    %gs:PM_OFFSET_STACK, %rsp
        pushfq
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %r11
        pushq   %rbp
        movq    %rsp, %rbp
        andq    $-16, %rsp
        cld
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
