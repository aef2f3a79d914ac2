/* Calls in all shapes: recursion, callbacks from the C library, pointers, tail calls, varargs, leaf
   functions that use the red zone, adjacent calls, constructors, setjmp and longjmp, exit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_compared;
static int constructed;
static jmp_buf target;

__attribute__((constructor)) static void construct(void) {
    constructed = 41;
    for (int i = 0; i < 3; i++)
        constructed += i;
}

__attribute__((destructor)) static void destruct(void) { printf("end %d\n", constructed); }

static int compare(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    n_compared++;
    return (a > b) - (a < b);
}

__attribute__((noinline, noipa)) static long fib(long n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static int add_all(int n, ...) {
    va_list arguments;
    int sum = 0;
    va_start(arguments, n);
    while (n-- > 0)
        sum += (int)va_arg(arguments, double);
    va_end(arguments);
    return sum;
}

static int add(int a, int b) { return a + b; }
static int multiply(int a, int b) { return a * b; }
static int subtract(int a, int b) { return a - b; }
static int (*const operations[])(int, int) = {add, multiply, subtract};

__attribute__((noinline)) static int by_pointer(int i, int a, int b) {
    return operations[i % 3](a, b); /* a tail call at -O2 */
}

/* Eight words below the stack pointer, no frame. */
__attribute__((noinline)) static long red_zone(long n) {
    volatile long words[8];
    for (int i = 0; i < 8; i++)
        words[i] = n * i;
    long sum = 0;
    for (int i = 0; i < 8; i++)
        sum += words[7 - i] ^ i;
    return sum;
}

static int ticks;
__attribute__((noinline, noipa)) static void tick(void) { ticks++; }
__attribute__((noinline, noipa)) static void tock(void) { ticks *= 2; }

__attribute__((noinline)) static void adjacent(void) {
    tick();
    tock();
    tick();
    tick();
    tock();
}

/* -fipa-ra lets callers keep values in registers that a small callee does not touch. */
__attribute__((noinline)) static long small(long x) { return x * 3; }
__attribute__((noinline)) static long keeps(long a, long b, long c, long d) {
    for (int i = 0; i < 10; i++) {
        a += small(b) ^ c;
        b += small(c) ^ d;
        c += small(a);
        d ^= a + b;
    }
    return a + b + c + d;
}

__attribute__((noinline)) static void jump_back(int n) {
    char room[64];
    memset(room, n, sizeof room);
    if (n == 0)
        longjmp(target, 42);
    jump_back(n - 1);
    __asm__ volatile("" : : "r"(room) : "memory");
}

struct big {
    long words[20];
};
__attribute__((noinline)) static struct big make_big(long n) {
    struct big big;
    for (int i = 0; i < 20; i++)
        big.words[i] = i * n;
    return big;
}

int main(int argc, char **argv) {
    (void)argv;
    enum { N = 5000 };
    static int values[N];
    unsigned seed = 12345;
    for (int i = 0; i < N; i++) {
        seed = seed * 1103515245u + 12345;
        values[i] = (int)(seed >> 8);
    }
    qsort(values, N, sizeof *values, compare);
    for (int i = 1; i < N; i++)
        if (values[i] < values[i - 1])
            abort();
    printf("compared %d, fib %ld\n", n_compared, fib(20));
    printf("varargs %d\n", add_all(9, 1., 2., 3., 4., 5., 6., 7., 8., 9.));
    int sum = 0;
    for (int i = 0; i < 30; i++)
        sum += by_pointer(i, i * 3, i + 9);
    printf("pointers %d, red zone %ld, keeps %ld\n", sum, red_zone(7), keeps(1, 2, 3, 4));
    for (int i = 0; i < 5; i++)
        adjacent();
    printf("ticks %d, big %ld\n", ticks, make_big(argc).words[19]);
    for (volatile int i = 0; i < 3; i++) {
        int value = setjmp(target);
        if (value == 0)
            jump_back(10 + i);
        printf("back with %d\n", value);
    }
    exit(7);
}
