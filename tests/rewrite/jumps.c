/* Jumps to places that cannot be foreseen: an address is computed from a label by arithmetic, and
   control arrives in the middle of straight code, or at a block that only a branch was known to
   reach.  Beside it, data in the text, which the program reads. */
#include <stdint.h>
#include <stdio.h>

/* Adds 1 to the second argument as often as instructions are left in the row when it is entered. */
long enter_row(long skipped, long value);
__asm__(".text\n"
        ".type enter_row, @function\n"
        "enter_row:\n"
        "    leaq row(%rip), %rax\n"
        "    leaq (%rax,%rdi,4), %rax\n"
        "    xorq $0x5a5a, %rax\n" /* so that no table is seen */
        "    xorq $0x5a5a, %rax\n"
        "    jmp *%rax\n"
        "row:\n"
        ".rept 16\n"
        "    leaq 1(%rsi), %rsi\n" /* 4 bytes */
        ".endr\n"
        "    movq %rsi, %rax\n"
        "    ret\n"
        ".size enter_row, .-enter_row\n");

/* The same with memory, whose records must not need what stands before them. */
long enter_sum(long skipped, const long *words);
__asm__(".type enter_sum, @function\n"
        "enter_sum:\n"
        "    xorl %eax, %eax\n"
        "    leaq sums(%rip), %rdx\n"
        "    leaq (%rdx,%rdi,4), %rdx\n"
        "    xorq $0x5a5a, %rdx\n"
        "    xorq $0x5a5a, %rdx\n"
        "    jmp *%rdx\n"
        "sums:\n"
        "    addq 8(%rsi), %rax\n" /* 4 bytes each */
        "    addq 16(%rsi), %rax\n"
        "    addq 24(%rsi), %rax\n"
        "    addq 32(%rsi), %rax\n"
        "    addq 40(%rsi), %rax\n"
        "    addq 48(%rsi), %rax\n"
        "    ret\n"
        ".size enter_sum, .-enter_sum\n");

/* A label's distance that only a load gives: the head of a loop that a branch reaches too. */
long enter_loop(long n, long offset);
__asm__(".type enter_loop, @function\n"
        "enter_loop:\n"
        "    xorl %eax, %eax\n"
        "    leaq enter_loop(%rip), %rdx\n"
        "    addq %rsi, %rdx\n"
        "    jmp *%rdx\n"
        "loop_head:\n"
        "    addq %rdi, %rax\n"
        "    subq $1, %rdi\n"
        "    jnz loop_head\n"
        "    ret\n"
        ".size enter_loop, .-enter_loop\n"
        ".section .rodata\n"
        "loop_offset: .quad loop_head - enter_loop\n"
        ".text\n");

/* A table of 256 entries for a byte, which nothing checks: cases that cannot be lead behind the
   routine, and the last ones to an instruction that no other leads to. */
char choose(const unsigned char *which);
__asm__(".type choose, @function\n"
        "choose:\n"
        "    movb (%rdi), %cl\n"
        "    movb $2, %al\n"
        "    addb $0x80, %cl\n"
        "    movzbl %cl, %ecx\n"
        "    leaq choices(%rip), %rdx\n"
        "    movslq (%rdx,%rcx,4), %rcx\n"
        "    addq %rdx, %rcx\n"
        "    jmp *%rcx\n"
        "choice1: movb $5, %al\n"
        "    ret\n"
        "choice2: movb $10, %al\n"
        "choice3: ret\n"
        "choice4: movb $3, %al\n"
        "    ret\n"
        ".size choose, .-choose\n"
        "never: ud2\n"
        ".section .rodata\n"
        ".balign 4\n"
        "choices:\n"
        ".rept 40\n    .long choice2 - choices\n.endr\n"
        ".rept 100\n    .long never - choices\n.endr\n"
        ".rept 16\n    .long choice1 - choices\n.endr\n"
        ".rept 50\n    .long choice3 - choices\n.endr\n"
        ".rept 50\n    .long choice4 - choices\n.endr\n"
        ".text\n");

/* Data between two routines, and data that looks like code. */
extern const uint64_t words_in_text[4];
__asm__(".balign 8\n"
        "words_in_text:\n"
        "    .quad 0x1122334455667788, 0xc3c3c3c3c3c3c3c3\n"
        "    .quad 0xcccccccccccccccc, 0x0f0b0f0b90909090\n"
        ".text\n");

__attribute__((noinline)) static long from_rodata(void) {
    long offset;
    __asm__("movq loop_offset(%%rip), %0" : "=r"(offset));
    return offset;
}

int main(void) {
    static const long words[] = {0, 1, 20, 300, 4000, 50000, 600000};
    volatile long n = 16;
    for (long i = 0; i <= n; i++)
        printf("row %ld\n", enter_row(i, 100));
    for (long i = 0; i <= 6; i++)
        printf("sum %ld\n", enter_sum(i, words));
    for (long i = 1; i < 4; i++)
        printf("loop %ld\n", enter_loop(10 * i, from_rodata()));
    for (int i = 0; i < 256; i += i == 39 ? 101 : 1)
        printf("choice %d\n", choose(&(unsigned char){(unsigned char)(i - 128)}));
    uint64_t all = 0;
    for (int i = 0; i < 4; i++)
        all = all * 31 + words_in_text[i];
    printf("text %016llx\n", (unsigned long long)all);
    return 0;
}
