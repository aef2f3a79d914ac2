/* An interpreter in assembly language, as LuaJIT's is: C code adds offsets, which a table in
   read-only data has, to the interpreter's address, and fills a table of its own with the sums. The
   interpreter jumps through that at the end of each operation, calls C in between, and is entered
   at places that only arithmetic on its address tells: one of them a call in a row without room for
   jumps. */
#include <stdint.h>
#include <stdio.h>

extern const uint16_t offsets[21];
void interpreter(void);
long interpret(const uint8_t *program, void *const *operations, long value);

/* %rbx: program, %r14: operations, %rax: the value.  Int3 is padding; xorq hides what is computed.
 */
__asm__(".text\n"
        ".macro dispatch\n"
        "    movzbl (%rbx), %ecx\n"
        "    incq %rbx\n"
        "    jmp *(%r14,%rcx,8)\n"
        ".endm\n"
        ".macro add name n\n"
        "\\name: addq $\\n, %rax\n"
        "    dispatch\n"
        ".endm\n"
        ".type interpret, @function\n"
        "interpret: movq (%rsi), %rcx\n"
        "    pushq %rbx\n"
        "    pushq %r14\n"
        "    subq $8, %rsp\n"
        "    movq %rdi, %rbx\n"
        "    movq %rsi, %r14\n"
        "    movq %rdx, %rax\n"
        "    jmp *%rcx\n"
        ".size interpret, .-interpret\n"
        ".type interpreter, @function\n"
        "interpreter:\n"
        "first: dispatch\n"
        "    int3\n"
        "    add add1 1\n"
        "    int3\n"
        "    add add2 2\n"
        "    int3\n"
        "    add add3 3\n"
        "    int3\n"
        "    add add4 4\n"
        "    add add5 5\n"
        "    add add6 6\n"
        "    add add7 7\n"
        "    add add8 8\n"
        "    int3\n"
        "    add add9 9\n"
        "    add add10 10\n"
        "    add add11 11\n"
        "double_it: addq %rax, %rax\n"
        "    dispatch\n"
        "negate: negq %rax\n"
        "    dispatch\n"
        "    int3\n"
        "call_c: movq %rax, %rdi\n"
        "    call in_c\n"
        "    dispatch\n"
        "call_twice: movq %rax, %rdi\n"
        "    call in_c\n"
        "    movq %rax, %rdi\n"
        "    call in_c\n"
        "    dispatch\n"
        "until_odd: incq %rax\n"
        "    testb $1, %al\n"
        "    jz until_odd\n"
        "    dispatch\n"
        "half: sarq %rax\n"
        "    dispatch\n"
        "twice: leaq interpreter(%rip), %rcx\n"
        "    addq $(between - interpreter), %rcx\n"
        "    xorq $0x5a5a, %rcx\n"
        "    xorq $0x5a5a, %rcx\n"
        "    jmp *%rcx\n"
        "    incq %rax\n"
        "between: shlq %rax\n"
        "    dispatch\n"
        "in_row: movl %eax, %ecx\n"
        "    andl $15, %ecx\n"
        "    movq %rax, %rdi\n"
        "    leaq interpreter(%rip), %rax\n"
        "    leaq row - interpreter(%rax,%rcx,8), %rax\n"
        "    jmp *%rax\n"
        "row:\n"
        ".rept 16\n"
        "    call in_c\n"
        "    movq %rax, %rdi\n"
        ".endr\n"
        "    dispatch\n"
        "end: addq $8, %rsp\n"
        "    popq %r14\n"
        "    popq %rbx\n"
        "    ret\n"
        ".size interpreter, .-interpreter\n"
        ".macro offset name\n"
        ".short \\name - interpreter\n"
        ".endm\n"
        ".section .rodata\n"
        ".balign 2\n"
        "offsets:\n"
        ".irp name, first, add1, add2, add3, add4, add5, add6, add7, add8, add9, add10, add11\n"
        "    offset \\name\n"
        ".endr\n"
        ".irp name, double_it, negate, call_c, call_twice, until_odd, half, twice, in_row, end\n"
        "    offset \\name\n"
        ".endr\n"
        ".text\n");

__attribute__((noinline, used)) long in_c(long value) { return value * 3 % 1000003; }

/* With an argument only operations that the table leads to. */
int main(int argc, char **argv) {
    (void)argv;
    uint8_t program[4096];
    void *operations[21];
    long value = 1;
    for (int i = 0; i < 21; i++)
        operations[i] = (char *)(uintptr_t)interpreter + offsets[i];
    for (int i = 0; i < 4095; i++)
        program[i] = (uint8_t)(i * 7919 % 1009 % (argc > 1 ? 18 : 20));
    program[4095] = 20;
    for (int round = 0; round < 10; round++) {
        value = interpret(program + round, operations, value) % 1000003;
        printf("%ld\n", value);
    }
    return 0;
}
