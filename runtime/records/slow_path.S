/* Where rewritten code goes when its buffer of memory records is full (core/probe_abi.h): calls
   pm_consume_records (block) on the thread's private stack and returns to %gs:PM_CB_RETURN with every
   register, flag and vector as it was.  %gs:PM_OFFSET_CONSUME = 0 makes it forget the records.
   pm_branch_path and pm_branch_ignore are the same for the buffer of branches.
   pm_timer_slow_path does the same with pm_timer_event (block), for timer_path.S. */
#include "runtime/control_block.h"
#include "runtime/private_stack.inc"

        .text
        .globl  pm_slow_path
        .hidden pm_slow_path
        .hidden pm_consume_records
        .type   pm_slow_path, @function
        .p2align 4
pm_slow_path:
        .cfi_startproc
        .cfi_undefined rip
        enter_stack
        cmpq    $0, %gs:PM_OFFSET_CONSUME
        jne     1f
        movq    %gs:PM_OFFSET_START, %rax
        movq    %rax, %gs:PM_OFFSET_NEXT
        jmp     3f
1:      call_c  pm_consume_records
3:      leave_stack
        jmp     *%gs:PM_OFFSET_RETURN
        .cfi_endproc
        .size   pm_slow_path, .-pm_slow_path
        .globl  pm_slow_path_end
        .hidden pm_slow_path_end
pm_slow_path_end:

        .globl  pm_branch_path
        .hidden pm_branch_path
        .hidden pm_consume_full_branches
        .type   pm_branch_path, @function
        .p2align 4
pm_branch_path:
        .cfi_startproc
        .cfi_undefined rip
        enter_stack
        call_c  pm_consume_full_branches
        leave_stack
        jmp     *%gs:PM_OFFSET_RETURN
        .cfi_endproc
        .size   pm_branch_path, .-pm_branch_path

        .globl  pm_branch_ignore
        .hidden pm_branch_ignore
        .type   pm_branch_ignore, @function
        .p2align 4
pm_branch_ignore:
        .cfi_startproc
        .cfi_undefined rip
        movq    $-PM_BRANCH_BUFFER, %gs:PM_OFFSET_BRANCH_LEFT
        jmp     *%gs:PM_OFFSET_RETURN
        .cfi_endproc
        .size   pm_branch_ignore, .-pm_branch_ignore

        .globl  pm_timer_slow_path
        .hidden pm_timer_slow_path
        .hidden pm_timer_event
        .type   pm_timer_slow_path, @function
        .p2align 4
pm_timer_slow_path:
        .cfi_startproc
        .cfi_undefined rip
        enter_stack
        call_c  pm_timer_event
        leave_stack
        jmp     *%gs:PM_OFFSET_RETURN
        .cfi_endproc
        .size   pm_timer_slow_path, .-pm_timer_slow_path
        .section .note.GNU-stack, "", @progbits
