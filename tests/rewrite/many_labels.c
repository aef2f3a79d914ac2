/* An interpreter of 512 operations, of which each ends in a jump to any of them: a quarter of a
   million edges if each were one. */
#include <stdint.h>
#include <stdio.h>

long interpret(const uint16_t *program, long value);
/* %rbx: program, %r14: labels, %rax: the value. */
__asm__(".text\n"
        ".macro operation\n"
        "1: leaq \\@(%rax,%rax,2), %rax\n"
        "    movzwl (%rbx), %ecx\n"
        "    addq $2, %rbx\n"
        "    jmp *(%r14,%rcx,8)\n"
        "    .pushsection .data.rel.ro, \"aw\"\n"
        "    .quad 1b\n"
        "    .popsection\n"
        ".endm\n"
        ".pushsection .data.rel.ro, \"aw\"\n"
        ".balign 8\n"
        "labels:\n"
        ".popsection\n"
        ".type interpret, @function\n"
        "interpret: pushq %rbx\n"
        "    pushq %r14\n"
        "    movq %rdi, %rbx\n"
        "    movq %rsi, %rax\n"
        "    leaq labels(%rip), %r14\n"
        "    jmp *(%r14)\n"
        ".rept 512\n"
        "    operation\n"
        ".endr\n"
        "1: popq %r14\n"
        "    popq %rbx\n"
        "    ret\n"
        ".size interpret, .-interpret\n"
        ".pushsection .data.rel.ro, \"aw\"\n"
        ".quad 1b\n"
        ".popsection\n");

int main(void) {
    uint16_t program[1000];
    for (int i = 0; i < 999; i++)
        program[i] = (uint16_t)(i * 7919 % 1009 % 512);
    program[999] = 512;
    for (long i = 0; i < 5; i++)
        printf("%ld\n", interpret(program, i));
    return 0;
}
