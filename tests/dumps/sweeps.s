# Sweeps over the rows of a square array of N by N words, N being the first argument, and a division
# that each iteration of a second loop waits for: what the passes of `fit` and `report` make of it.
# Return addresses are in one line, wherever the stack begins.
        .bss
        .balign 32768
square: .zero   131072

        .text
        .globl  sweep
        .type   sweep, @function
sweep:  xorl    %eax, %eax
        xorl    %r8d, %r8d
.Lrow:
        xorl    %ecx, %ecx
.Lword:
        addq    (%rsi), %rax
        addq    $8, %rsi
        incq    %rcx
        cmpq    %rdi, %rcx
        jb      .Lword
        incq    %r8
        cmpq    %rdi, %r8
        jb      .Lrow
        ret
        .size   sweep, .-sweep

        .globl  chain
        .type   chain, @function
chain:  movl    $1000, %eax
        movq    %rdi, %rcx
.Llink:
        xorl    %edx, %edx
        divl    %edi
        decq    %rcx
        jnz     .Llink
        ret
        .size   chain, .-chain

        .globl  main
        .type   main, @function
main:   pushq   %rbx
        pushq   %r12
        pushq   %rbp
        movq    %rsp, %rbp
        andq    $-64, %rsp
        movq    8(%rsi), %rdi
        call    atoi@PLT
        movslq  %eax, %rbx
        movl    $4, %r12d
.Lagain:
        movq    %rbx, %rdi
        leaq    square(%rip), %rsi
        call    sweep
        movq    %rbx, %rdi
        call    chain
        decl    %r12d
        jnz     .Lagain
        xorl    %eax, %eax
        movq    %rbp, %rsp
        popq    %rbp
        popq    %r12
        popq    %rbx
        ret
        .size   main, .-main
        .section .note.GNU-stack,"",@progbits
