/* Into a copied loop and out of it (enter.h). */
#include "machines/probe/loop_runner/enter.h"

#if defined(__x86_64__)

        .bss
        .p2align 6
saved_stack:
        .skip   8
target:
        .skip   8
width:
        .skip   4

        .text
        .globl  pm_loop_enter
        .type   pm_loop_enter, @function
        .p2align 6
pm_loop_enter:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        sub     $8, %rsp
        stmxcsr (%rsp)
        mov     %rsp, saved_stack(%rip)
        mov     %rsi, target(%rip)
        mov     PM_LOOP_STATE_WIDTH(%rdi), %eax
        mov     %eax, width(%rip)
        ldmxcsr PM_LOOP_STATE_MXCSR(%rdi)
        cmp     $1, %eax
        jb      sse
        je      avx

        .altmacro
        .macro  load_vectors instruction, register, last
        .set    number, 0
        .rept   \last + 1
        load_one \instruction, \register, %number
        .set    number, number + 1
        .endr
        .endm
        .macro  load_one instruction, register, n
        \instruction PM_LOOP_STATE_VECTORS + 64 * \n(%rdi), %\register\n
        .endm
        load_vectors vmovups, zmm, 31
        kxnorw  %k1, %k1, %k1
        kmovw   %k1, %k2
        kmovw   %k1, %k3
        kmovw   %k1, %k4
        kmovw   %k1, %k5
        kmovw   %k1, %k6
        kmovw   %k1, %k7
        jmp     general
avx:
        load_vectors vmovups, ymm, 15
        jmp     general
sse:
        load_vectors movups, xmm, 15
general:
        pushq   PM_LOOP_STATE_FLAGS(%rdi)
        popfq
        mov     0(%rdi), %rax
        mov     8(%rdi), %rcx
        mov     16(%rdi), %rdx
        mov     24(%rdi), %rbx
        mov     32(%rdi), %rsp
        mov     40(%rdi), %rbp
        mov     48(%rdi), %rsi
        mov     64(%rdi), %r8
        mov     72(%rdi), %r9
        mov     80(%rdi), %r10
        mov     88(%rdi), %r11
        mov     96(%rdi), %r12
        mov     104(%rdi), %r13
        mov     112(%rdi), %r14
        mov     120(%rdi), %r15
        mov     56(%rdi), %rdi
        lfence
        jmp     *target(%rip)
        .size   pm_loop_enter, . - pm_loop_enter

        .globl  pm_loop_leave
        .type   pm_loop_leave, @function
        .p2align 6
pm_loop_leave:
        lfence
        mov     saved_stack(%rip), %rsp
        cld
        ldmxcsr (%rsp)
        cmpl    $0, width(%rip)
        je      restored
        vzeroupper
restored:
        add     $8, %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
        .size   pm_loop_leave, . - pm_loop_leave

#endif

        .section .note.GNU-stack, "", @progbits
