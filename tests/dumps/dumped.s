# Two loops, one in the other; an irreducible region with two entries; a name that needs escaping;
# a loop with two ways through it and dependences through memory.
        .text
        .globl  nest
        .type   nest, @function
nest:   xorl    %eax, %eax
        testq   %rdi, %rdi
        jz      .Lend
.Louter:
        movq    %rsi, %rcx
.Linner:
        addl    (%rdx,%rcx,4), %eax
        decq    %rcx
        jnz     .Linner
        decq    %rdi
        jnz     .Louter
.Lend:  ret
        .size   nest, .-nest

        .globl  "odd<\"name\">&"
        .type   "odd<\"name\">&", @function
"odd<\"name\">&":
.Lodd:
        testl   %edi, %edi
        jz      .Lsecond
.Lfirst:
        decl    %edi
.Lsecond:
        decl    %esi
        jnz     .Lfirst
        movl    %edi, %eax
        ret
        .size   "odd<\"name\">&", .-"odd<\"name\">&"

        .globl  carry
        .type   carry, @function
carry:  xorl    %ecx, %ecx
.Lcarry:
        movl    (%rdi,%rcx,4), %eax
        testl   %eax, %eax
        js      .Lnegative
        addl    %eax, %r8d
.Lnegative:
        movl    %eax, 8(%rdi,%rcx,4)
        movl    %r8d, (%rsi)
        incq    %rcx
        cmpq    %rdx, %rcx
        jb      .Lcarry
        ret
        .size   carry, .-carry

        .globl  main
        .type   main, @function
main:   subq    $8, %rsp
        movl    $3, %esi
        call    .Lodd
        addq    $8, %rsp
        xorl    %eax, %eax
        ret
        .size   main, .-main
        .section .note.GNU-stack,"",@progbits
