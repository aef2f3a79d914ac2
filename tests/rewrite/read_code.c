/* Code whose bytes are read as data: one routine's immediate is another's constant, a call's
   bytes and the bytes behind a branch are read too. */
#include <stdint.h>
#include <stdio.h>

uint64_t constant(void), borrowed(void), caller(void), bytes_of_call(void);
__asm__(".text\n"
        ".type constant, @function\n"
        "constant: movabsq $0x1122334455667788, %rax\n"
        ".Lconstant_end: ret\n"
        ".size constant, .-constant\n"
        ".type borrowed, @function\n"
        "borrowed: movq .Lconstant_end-8(%rip), %rax\n"
        "          cmpq .Lconstant_end-8(%rip), %rax\n"
        "          jne 1f\n"
        "          addq $1, %rax\n"
        "1:        ret\n"
        ".size borrowed, .-borrowed\n"
        ".type caller, @function\n"
        "caller:   subq $8, %rsp\n"
        ".Lthe_call: call constant\n"
        "          addq $8, %rsp\n"
        "          ret\n"
        ".size caller, .-caller\n"
        ".type bytes_of_call, @function\n"
        "bytes_of_call: movl .Lthe_call(%rip), %eax\n"
        "          ret\n"
        ".size bytes_of_call, .-bytes_of_call\n");

int main(void) {
    printf("%llx %llx %llx\n", (unsigned long long)constant(), (unsigned long long)borrowed(),
           (unsigned long long)caller());
    printf("%llx\n", (unsigned long long)bytes_of_call());
    return 0;
}
