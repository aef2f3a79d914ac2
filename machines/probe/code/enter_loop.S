/* pm_enter_loop (code, times, data, constant): calls CODE with the registers that code/ promises:
   r15 the loop counter, rdi at what is loaded, rbp at where is
   stored, rbx a number to divide, ecx a small one. */
#if defined(__x86_64__)
        .text
        .p2align 4
        .globl  pm_enter_loop
        .hidden pm_enter_loop
        .type   pm_enter_loop, @function
pm_enter_loop:
        .cfi_startproc
        push    %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        push    %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        push    %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        push    %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        push    %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        mov     %rdi, %rax
        mov     %rsi, %r15
        mov     %rdx, %rdi
        mov     %rcx, %rbx
        mov     $3, %ecx
        /* Of the pool: the first can be the address of a chain of loads. */
        mov     %rdi, %r8
        mov     %rbx, %rdx
        mov     %rbx, %rsi
        lea     6144(%rdi), %rbp        /* PM_STORES_AT */
        mov     %rbx, %r9
        mov     %rbx, %r10
        mov     %rbx, %r11
        mov     %rbx, %r12
        mov     %rbx, %r13
        mov     %rbx, %r14
        call    *%rax
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        pop     %r15
        .cfi_adjust_cfa_offset -8
        pop     %r14
        .cfi_adjust_cfa_offset -8
        pop     %r13
        .cfi_adjust_cfa_offset -8
        pop     %r12
        .cfi_adjust_cfa_offset -8
        pop     %rbp
        .cfi_adjust_cfa_offset -8
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   pm_enter_loop, . - pm_enter_loop
#endif
        .section .note.GNU-stack, "", @progbits
