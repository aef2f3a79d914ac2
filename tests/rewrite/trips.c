/* Loops of every kind that may be counted where they are left: steps up and down, of registers of
   32 and 64 bits, several exits, tests at the top and at the bottom, two loops with one head, no
   iteration at all, a register that wraps around, flags and all registers in use behind the loop.
   Prints what the loops computed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone, noipa))

static int values[4096];
static char text[4096];

KEEP static long sum_long(const int *v, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

KEEP static unsigned mix_unsigned(const int *v, unsigned from, unsigned to) {
    unsigned h = 17;
    for (unsigned i = from; i != to; i++) /* may wrap around */
        h = h * 31 + (unsigned)v[i & 1023];
    return h;
}

KEEP static unsigned mix_down(const int *v, int n) {
    unsigned h = 5;
    while (n-- > 0)
        h = (h ^ (unsigned)v[n]) * 16777619u;
    return h;
}

KEEP static double every_third(const double *v, long n) {
    double sum = 0;
    for (long i = 0; i < n; i += 3)
        sum = sum * 0.5 + v[i];
    return sum;
}

KEEP static long find_first(const int *v, long n, int what) {
    long i;
    for (i = 0; i < n; i++) {
        if (v[i] == what)
            break;
        if (v[i] == what + 1)
            return -i;
    }
    return i;
}

KEEP static size_t length(const char *s) {
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

KEEP static long with_branches(const int *v, long n) {
    long odd = 0, large = 0;
    for (long i = 0; i < n; i++) {
        if (v[i] & 1)
            odd += v[i];
        else if (v[i] > 500)
            large++;
        if (v[i] % 7 == 3)
            continue;
        odd ^= i;
    }
    return odd * 1000 + large;
}

KEEP static int two_latches(char *s, int left, int mark) {
    int n = 0;
    while (left > 0) { /* like a run of digits with separators */
        *s++ = '9';
        n++;
        if (left % mark == 0)
            *s++ = '.', n += 2;
        left--;
    }
    *s = 0;
    return n;
}

KEEP static long matrix(int (*m)[32], int rows, int columns) {
    long sum = 0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            sum += m[r][c] * (r + 1) ^ c;
    return sum;
}

#ifdef __x86_64__
/* The loop's flags decide behind it, and every register is in use there. */
KEEP static long flags_behind(long n, long *out) {
    long result;
    __asm__ volatile("push %%rbp\n\t push %%rbx\n\t"
                     "mov $1, %%eax\n\t mov $2, %%ebx\n\t mov $3, %%edx\n\t mov $4, %%r8d\n\t"
                     "mov $5, %%r9d\n\t mov $6, %%r10d\n\t mov $7, %%r11d\n\t mov $8, %%r12d\n\t"
                     "mov $9, %%r13d\n\t mov $10, %%r14d\n\t mov $11, %%r15d\n\t mov $12, %%ebp\n\t"
                     "1: add $3, %%rbx\n\t lea (%%rax,%%rbx), %%rax\n\t"
                     "sub $1, %%rcx\n\t jg 1b\n\t"
                     "jl 2f\n\t add $1000, %%rax\n\t" /* flags of the sub */
                     "2: add %%rbx, %%rax\n\t add %%rdx, %%rax\n\t add %%r8, %%rax\n\t"
                     "add %%r9, %%rax\n\t add %%r10, %%rax\n\t add %%r11, %%rax\n\t"
                     "add %%r12, %%rax\n\t add %%r13, %%rax\n\t add %%r14, %%rax\n\t"
                     "add %%r15, %%rax\n\t add %%rbp, %%rax\n\t add %%rcx, %%rax\n\t"
                     "add %%rsi, %%rax\n\t mov %%rsi, (%%rdi)\n\t"
                     "pop %%rbx\n\t pop %%rbp"
                     : "=a"(result), "+c"(n)
                     : "S"(77L), "D"(out)
                     : "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
    return result;
}

/* The register that steps is %rax, and the flags are in use where the loop is left. */
KEEP static long rax_steps(long n) {
    long carry = 0;
    __asm__ volatile(
        "xor %%eax, %%eax\n\t"
        "1: add $8, %%rax\n\t lea (%%rdx,%%rax), %%rdx\n\t cmp %%rcx, %%rax\n\t jb 1b\n\t"
        "ja 3f\n\t adc $5, %%rdx\n\t"
        "3: adc $0, %%rdx"
        : "+d"(carry)
        : "c"(n)
        : "rax", "cc");
    return carry;
}

/* %eax goes around at 2^32, and its upper half is not zero before. */
KEEP static long wraps_around(uint64_t start, uint32_t end) {
    long n = 0;
    __asm__ volatile("mov %1, %%rax\n\t"
                     "1: add $4, %%eax\n\t lea 1(%0), %0\n\t cmp %2, %%eax\n\t jne 1b"
                     : "+d"(n)
                     : "r"(start), "r"(end)
                     : "rax", "cc");
    return n;
}
#else
#error "the rewriter is for x86-64"
#endif

int main(void) {
    static double reals[1000];
    static int table[40][32];
    long out = 0;
    for (int i = 0; i < 4096; i++)
        values[i] = (i * 7919 + i / 3) % 1013;
    for (int i = 0; i < 1000; i++)
        reals[i] = i * 0.25;
    for (int i = 0; i < 40 * 32; i++)
        table[i / 32][i % 32] = i ^ 85;
    memset(text, 'x', 300);
    for (long n = 0; n < 40; n++)
        printf("%ld %u %ld %ld %ld %d %zu\n", sum_long(values, n), mix_down(values, (int)n),
               find_first(values, n, 21), with_branches(values, n),
               matrix(table, (int)n, (int)n % 32), two_latches(text + 1000, (int)n, 3),
               length(text + 300 - n));
    printf("%u %u %u\n", mix_unsigned(values, 5, 5), mix_unsigned(values, 5, 77),
           mix_unsigned(values, UINT32_MAX - 20, 30));
    printf("%.6f %.6f %ld\n", every_third(reals, 1000), every_third(reals, 1),
           with_branches(values, 4000));
    for (long n = 1; n < 5; n++)
        printf("%ld %ld %ld\n", flags_behind(n, &out), out, rax_steps(8 * n - n % 3));
    printf("%ld %ld\n", wraps_around(0x12345678fffff000, 0x2000),
           wraps_around(0xffffffffffff0000, 0x1000));
    return 0;
}
