/* dlsym (handle, name), as the C library has it, but for what pm_symbol_of_ours (dlsym.c) has: the
   C library looks at its return address, so it is jumped to. */
        .text
        .globl  dlsym
        .type   dlsym, @function
        .hidden pm_symbol_of_ours
        .hidden pm_original_dlsym
        .p2align 4
dlsym:
        .cfi_startproc
        endbr64
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    pm_symbol_of_ours
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        testq   %rax, %rax
        jnz     1f
        jmp     *pm_original_dlsym(%rip)
1:      ret
        .cfi_endproc
        .size   dlsym, .-dlsym
        .section .note.GNU-stack, "", @progbits
