/* Where the kernel enters handlers that run on an alternate stack, and a call on another stack. */
#include "runtime/signals/private.h"

        .text

/* Handler of the kernel's: the frame that the kernel made, which begins at the stack pointer, goes
   to where it belongs (pm_place_frame), and pm_run_handler follows on that stack, as if the kernel
   had entered it there; or nothing follows, and the process ends by a signal that is pending. */
        .globl  pm_handler_entry
        .hidden pm_handler_entry
        .hidden pm_place_frame
        .hidden pm_run_handler
        .type   pm_handler_entry, @function
        .p2align 4
pm_handler_entry:
        .cfi_startproc
        endbr64
        movq    %rsp, %rcx
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        call    pm_place_frame
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        cmpq    $PM_FRAME_HAS_NO_PLACE, %rax
        je      1f
        addq    %rax, %rsi              /* both are in the frame */
        addq    %rax, %rdx
        addq    %rax, %rsp
        jmp     pm_run_handler
1:      ret
        .cfi_endproc
        .size   pm_handler_entry, .-pm_handler_entry

/* pm_call_on_stack (function, argument, top of the stack) */
        .globl  pm_call_on_stack
        .hidden pm_call_on_stack
        .type   pm_call_on_stack, @function
        .p2align 4
pm_call_on_stack:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdx, %rsp
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   pm_call_on_stack, .-pm_call_on_stack
        .section .note.GNU-stack, "", @progbits
