/* A library with what makes loading hard: an indirect function (IFUNC) whose resolver calls others,
   thread-local storage, a constructor that calls the library's own code, callbacks into the
   program, and a handler that leaves by longjmp. */
#include <setjmp.h>
#include <stddef.h>

#include "libraries.h"

static __thread long depth;
static long n_constructed;
static volatile int chosen;

/* Called by the resolver, but also later. */
static __attribute__((noinline)) int pick(int of) {
    int best = 0;
    for (int i = 0; i < of; i++)
        best = (best * 31 + i) % 7;
    return best;
}

static double sum_plain(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

static double sum_pairs(const double *values, size_t n) {
    double even = 0, odd = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        even += values[i];
        odd += values[i + 1];
    }
    return even + odd + (n % 2 ? values[n - 1] : 0);
}

static double (*resolve_sum(void))(const double *, size_t) {
    return pick(9) == 100 ? sum_plain : sum_pairs;
}

double inner_sum(const double *values, size_t n) __attribute__((ifunc("resolve_sum")));

__attribute__((constructor)) static void construct(void) {
    static const double some[] = {1, 2, 3};
    n_constructed = (long)inner_sum(some, 3) + pick(5);
}

long inner_constructed(void) { return n_constructed; }

static jmp_buf out;

static void leave(int value) {
    if (value == 3)
        longjmp(out, 1);
}

int inner_each(int n, int (*visit)(int)) {
    int sum = 0;
    depth++;
    if (setjmp(out) == 0)
        for (int i = 0; i < n; i++) {
            sum += visit(i) + (int)depth;
            leave(chosen ? i : -1);
        }
    depth--;
    return sum + pick(n);
}
