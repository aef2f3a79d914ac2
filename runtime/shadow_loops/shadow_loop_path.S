/* Where events of rewritten code go when lower bounds are measured (shadow_loops.h), and how copies are
   executed. */
#include "runtime/control_block.h"
#include "runtime/private_stack.inc"

/* struct pm_bound_frame */
#define FRAME_RBP 0
#define FRAME_RBX 8
#define FRAME_R11 16
#define FRAME_R10 24
#define FRAME_R9 32
#define FRAME_R8 40
#define FRAME_RDI 48
#define FRAME_RSI 56
#define FRAME_RDX 64
#define FRAME_RCX 72
#define FRAME_R15 80
#define FRAME_R14 88
#define FRAME_R13 96
#define FRAME_R12 104
#define FRAME_FLAGS 112

#define MXCSR_ALL_MASKED 0x9fc0         /* exceptions masked, denormals are zero, flush to zero */
#define MXCSR_ROUNDING 0x6000
#define MXCSR_DEFAULT 0x1f80
#define X87_ALL_MASKED 0x3f

        /* The counter, when all before is done; changes %rax and %rdx. */
        .macro  read_counter
        lfence
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        .endm

        .text
        .globl  pm_bound_path
        .hidden pm_bound_path
        .hidden pm_bound_event
        .type   pm_bound_path, @function
        .p2align 4
pm_bound_path:
        .cfi_startproc
        .cfi_undefined rip
        enter_stack
        pushq   %rdx
        read_counter
        movq    %rax, %gs:PM_OFFSET_BOUND_NOW
        popq    %rdx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        call_c  pm_bound_event
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        pushq   %rdx
        read_counter
        movq    %rax, %gs:PM_OFFSET_BOUND_BEGIN
        lfence
        popq    %rdx
        leave_stack
        jmp     *%gs:PM_OFFSET_RETURN
        .cfi_endproc
        .size   pm_bound_path, .-pm_bound_path

        .globl  pm_bound_report_path
        .hidden pm_bound_report_path
        .hidden pm_bound_report
        .type   pm_bound_report_path, @function
        .p2align 4
pm_bound_report_path:
        .cfi_startproc
        .cfi_undefined rip
        enter_stack
        enter_general
        movq    %gs:0, %rdi
        call    pm_bound_report
        leave_general
        leave_stack
        jmp     *%gs:PM_OFFSET_RETURN
        .cfi_endproc
        .size   pm_bound_report_path, .-pm_bound_report_path

        .globl  pm_bound_execute
        .hidden pm_bound_execute
        .type   pm_bound_execute, @function
        .p2align 4
pm_bound_execute:
        .cfi_startproc
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        .cfi_adjust_cfa_offset 48
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rsp, PM_OFFSET_BOUND_STACK(%rdx)
        movq    %rsi, PM_OFFSET_BOUND_ENTRY(%rdx)
        movq    %rdi, %rbx
        movq    %rdx, %rbp
        movl    PM_OFFSET_XSAVE_MASK(%rbp), %eax
        testl   %eax, %eax
        jz      1f
        xorl    %edx, %edx
        xrstor  PM_OFFSET_SAVE_AREA(%rbp)
        jmp     2f
1:      fxrstor64 PM_OFFSET_SAVE_AREA(%rbp)
2:      stmxcsr (%rsp)
        andl    $MXCSR_ROUNDING, (%rsp)
        orl     $MXCSR_ALL_MASKED, (%rsp)
        ldmxcsr (%rsp)
        fnclex
        fnstcw  (%rsp)
        orl     $X87_ALL_MASKED, (%rsp)
        fldcw   (%rsp)
        read_counter
        movq    %rax, PM_OFFSET_BOUND_BEGIN(%rbp)
        lfence
        pushq   FRAME_FLAGS(%rbx)
        popfq
        movq    FRAME_R15(%rbx), %r15
        movq    FRAME_R14(%rbx), %r14
        movq    FRAME_R13(%rbx), %r13
        movq    FRAME_R12(%rbx), %r12
        movq    FRAME_R11(%rbx), %r11
        movq    FRAME_R10(%rbx), %r10
        movq    FRAME_R9(%rbx), %r9
        movq    FRAME_R8(%rbx), %r8
        movq    FRAME_RDI(%rbx), %rdi
        movq    FRAME_RSI(%rbx), %rsi
        movq    FRAME_RDX(%rbx), %rdx
        movq    FRAME_RCX(%rbx), %rcx
        movq    FRAME_RBP(%rbx), %rbp
        movq    FRAME_RBX(%rbx), %rbx
        movq    %gs:PM_OFFSET_SAVED_RAX, %rax
        movq    %gs:PM_OFFSET_SAVED_RSP, %rsp
        jmp     *%gs:PM_OFFSET_BOUND_ENTRY

        .globl  pm_bound_faulted
        .hidden pm_bound_faulted
pm_bound_faulted:
        movq    $2, %gs:PM_OFFSET_BOUND_STATUS
        jmp     pm_bound_done
        .globl  pm_bound_over
        .hidden pm_bound_over
pm_bound_over:
        movq    $1, %gs:PM_OFFSET_BOUND_STATUS
        .globl  pm_bound_done
        .hidden pm_bound_done
pm_bound_done:
        read_counter
        subq    %gs:PM_OFFSET_BOUND_BEGIN, %rax
        movq    %gs:PM_OFFSET_BOUND_STACK, %rsp
        cmpl    $0, %gs:PM_OFFSET_XSAVE_MASK
        je      3f
        testl   $4, %gs:PM_OFFSET_XSAVE_MASK
        jz      3f
        vzeroupper
3:      fninit
        movl    $MXCSR_DEFAULT, (%rsp)
        ldmxcsr (%rsp)
        addq    $8, %rsp
        pushq   $0x202                  /* no direction, alignment check, single step */
        popfq
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .cfi_endproc
        .size   pm_bound_execute, .-pm_bound_execute

        .globl  pm_bound_empty
        .hidden pm_bound_empty
        .p2align 4
pm_bound_empty:
        jmp     *%gs:280                /* PM_CB_BOUND_DONE */

/* A nest without instructions is entered and left, COUNT times; what is live is preserved by the path. */
        .globl  pm_bound_empty_nest
        .hidden pm_bound_empty_nest
        .type   pm_bound_empty_nest, @function
        .p2align 4
pm_bound_empty_nest:
        .cfi_startproc
        leaq    1f(%rip), %rax
        movq    %rax, %gs:PM_OFFSET_RETURN
        movl    %edi, %gs:PM_OFFSET_EVENT
        jmp     pm_bound_path
1:      leaq    2f(%rip), %rax
        movq    %rax, %gs:PM_OFFSET_RETURN
        incl    %edi                    /* PM_EVENT_LEAVE */
        movl    %edi, %gs:PM_OFFSET_EVENT
        jmp     pm_bound_path
2:      ret
        .cfi_endproc
        .size   pm_bound_empty_nest, .-pm_bound_empty_nest
        .section .note.GNU-stack, "", @progbits
