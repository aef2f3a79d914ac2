/* Where rewritten code goes when its buffer of memory records is full (core/probe_abi.h): calls
   pm_consume_records (block) on the thread's private stack and returns to %gs:PM_CB_RETURN with every
   register, flag and vector as it was.  %gs:PM_OFFSET_CONSUME = 0 makes it forget the records.
   pm_timer_slow_path does the same with pm_timer_event (block), for timer_path.S.

   The save area is in the control block and zero at first, as xrstor wants bytes 520…575.  A signal
   that comes in between runs on another block, with a save area of its own. */
#include "runtime/control_block.h"
#include "runtime/records/private_stack.inc"

        /* On the private stack, with %rax saved already. */
        .macro  call_c function
        push_scratch
        pushq   %rbx                    /* two that calls preserve: block and stack pointer */
        pushq   %rbp
        movq    %rsp, %rbp
        andq    $-64, %rsp
        pushq   $0x202                  /* no direction, alignment check, single step */
        popfq
        movq    %gs:0, %rbx
        movl    PM_OFFSET_XSAVE_MASK(%rbx), %eax
        testl   %eax, %eax
        jz      4f
        xorl    %edx, %edx
        xsave   PM_OFFSET_SAVE_AREA(%rbx)
        testl   $4, %eax
        jz      2f
        vzeroupper
2:      fninit
        pushq   $0x1f80                 /* MXCSR's default: all exceptions masked */
        ldmxcsr (%rsp)
        addq    $8, %rsp
        movq    %rbx, %rdi
        call    \function
        movl    PM_OFFSET_XSAVE_MASK(%rbx), %eax
        testl   %eax, %eax
        jz      5f
        xorl    %edx, %edx
        xrstor  PM_OFFSET_SAVE_AREA(%rbx)
        jmp     6f
4:      fxsave64 PM_OFFSET_SAVE_AREA(%rbx)
        jmp     2b
5:      fxrstor64 PM_OFFSET_SAVE_AREA(%rbx)
6:      movq    %rbp, %rsp
        popq    %rbp
        popq    %rbx
        pop_scratch
        .endm

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
