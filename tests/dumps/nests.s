# Loop nests whose lower bounds are planned: which references share a slot, which branches are replayed, what is refused.
        .text

        .macro  function name
        .globl  \name
        .type   \name, @function
\name:
        .endm
        .macro  end name
        .size   \name, .-\name
        .endm

# a[i] = a[i] * c + b[i]: the load and the store are apart
        function in_place
        xorl    %eax, %eax
1:      movsd   (%rdi,%rax,8), %xmm0
        mulsd   %xmm1, %xmm0
        addsd   (%rsi,%rax,8), %xmm0
        movsd   %xmm0, (%rdi,%rax,8)
        incq    %rax
        cmpq    %rdx, %rax
        jne     1b
        ret
        end in_place

# a[i] = a[i - 1] * c: one slot
        function recurrence_1
        movl    $1, %eax
1:      movsd   -8(%rdi,%rax,8), %xmm0
        mulsd   %xmm1, %xmm0
        movsd   %xmm0, (%rdi,%rax,8)
        incq    %rax
        cmpq    %rdx, %rax
        jne     1b
        ret
        end recurrence_1

# a[i] = a[i - 4] * c: apart, and biased
        function recurrence_4
        movl    $4, %eax
1:      movsd   -32(%rdi,%rax,8), %xmm0
        mulsd   %xmm1, %xmm0
        movsd   %xmm0, (%rdi,%rax,8)
        incq    %rax
        cmpq    %rdx, %rax
        jne     1b
        ret
        end recurrence_4

# *p += a[i]: what is added to was stored an iteration before
        function accumulate
        xorl    %eax, %eax
1:      movl    (%rsi,%rax,4), %ecx
        addl    %ecx, (%rdi)
        incq    %rax
        cmpq    %rdx, %rax
        jne     1b
        ret
        end accumulate

# a[i] += b[i] by one instruction: its load and its store are apart
        function add_to_memory
        xorl    %eax, %eax
1:      movl    (%rsi,%rax,4), %ecx
        addl    %ecx, (%rdi,%rax,4)
        incq    %rax
        cmpq    %rdx, %rax
        jne     1b
        ret
        end add_to_memory

# A list: the branch hangs on what is loaded
        function walk
1:      addq    8(%rdi), %rax
        movq    (%rdi), %rdi
        testq   %rdi, %rdi
        jne     1b
        ret
        end walk

# The limit and a counter are spilled: both are what they were
        function spilled
        movq    %rdx, -8(%rsp)
        movl    $0, -16(%rsp)
        xorl    %eax, %eax
1:      movsd   (%rdi,%rax,8), %xmm0
        movsd   %xmm0, (%rsi,%rax,8)
        incl    -16(%rsp)
        incq    %rax
        cmpq    -8(%rsp), %rax
        jne     1b
        movl    -16(%rsp), %eax
        ret
        end spilled

# The frame's address goes to a register, and something is stored through one: the limit might change
        function escaping
        subq    $24, %rsp
        movq    %rdx, 8(%rsp)
        leaq    8(%rsp), %rsi
        xorl    %eax, %eax
1:      movsd   %xmm0, (%rdi,%rax,8)
        incq    %rax
        cmpq    8(%rsp), %rax
        jne     1b
        addq    $24, %rsp
        ret
        end escaping

# An outer loop that cannot be bounded, an inner one that can
        function calls
        pushq   %rbx
        pushq   %rbp
        movq    %rdx, %rbp
1:      xorl    %ebx, %ebx
2:      addq    (%rdi,%rbx,8), %rax
        incq    %rbx
        cmpq    $100, %rbx
        jne     2b
        call    walk
        decq    %rbp
        jne     1b
        popq    %rbp
        popq    %rbx
        ret
        end calls

        function refused
1:      lock incl (%rdi)
        decq    %rdx
        jne     1b
2:      vgatherdpd %ymm2, (%rdi,%xmm1,8), %ymm0
        decq    %rcx
        jne     2b
3:      movsb
        decq    %rcx
        jne     3b
4:      pushq   %rax
        decq    %rcx
        jne     4b
5:      rdtsc
        decq    %rcx
        jne     5b
        ret
        end refused

        .globl  main
        .type   main, @function
main:   xorl    %eax, %eax
        ret
        .size   main, .-main
        .section .note.GNU-stack, "", @progbits
