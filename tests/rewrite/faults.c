/* Faults: `faults WAY [handled]`.  The ways with the name of a routine come to a place in it that
   nobody can foresee, and the others are the program's own.  Plainly the former print 3, 6 and 9;
   with a handler the program says which signal came. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Straight code that is entered behind its first instruction: an int3 of nobody, or half a jump. */
long straight(long value);
long copied(long value);
extern const char copied_end[];
__asm__(".text\n"
        ".macro adds name\n"
        ".type \\name, @function\n"
        "\\name: leaq 1(%rdi), %rdi\n"
        "    leaq 1(%rdi), %rdi\n"
        "    leaq 1(%rdi), %rdi\n"
        "    leaq (%rdi,%rdi,2), %rax\n"
        "    ret\n"
        ".size \\name, .-\\name\n"
        ".endm\n"
        "adds straight\n"
        "adds copied\n"
        "copied_end:\n");

static void handler(int number) {
    char text[] = "handled: 00\n";
    text[9] += (char)(number / 10);
    text[10] += (char)(number % 10);
    _exit(write(1, text, sizeof text - 1) < 0);
}

static long enter(volatile uintptr_t address, long value) {
    return ((long (*)(long))address)(value);
}

__attribute__((noinline)) static long overflow(volatile char *above) {
    volatile char here[4096];
    here[0] = *above;
    if (here[0] == 1) /* never */
        return 0;
    return overflow(here) + here[0];
}

int main(int argc, char **argv) {
    volatile uintptr_t to = (uintptr_t)straight;
    const char *way = argc > 1 ? argv[1] : "";
    for (int i = 0; argc > 2 && i < 4; i++)
        signal(((int[]){SIGSEGV, SIGBUS, SIGILL, SIGTRAP})[i], handler);
    if (strcmp(way, "straight") == 0)
        printf("%ld\n", enter(to + 8, 0));
    if (strcmp(way, "covered") == 0)
        printf("%ld\n", enter(to + 4, 0));
    if (strcmp(way, "copy") == 0) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(page, (char *)(uintptr_t)copied, (size_t)(copied_end - (char *)(uintptr_t)copied));
        printf("%ld\n", enter((uintptr_t)page + 5, 3) > 0 ? 9L : 0L);
    }
    if (strcmp(way, "null") == 0)
        *(volatile int *)strtol("0", NULL, 10) = 1;
    if (strcmp(way, "illegal") == 0)
        __builtin_trap();
    if (strcmp(way, "trap") == 0)
        __asm__ volatile("int3");
    if (strcmp(way, "stack") == 0)
        return (int)overflow(argv[0]);
    return 0;
}
