/* Loop nests that call, and others that are not just loops: what is on the stack, in registers that
   calls keep, in masks and in the x87 unit must be as it was when their copies have run.  Prints a
   checksum of each.

     bound_calls N REPETITIONS */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define KERNEL __attribute__((noinline, noclone)) static

static double *a, *b, *c;
static int *indices;
static volatile long n_signals;
static jmp_buf place;

/* ---- calls ----------------------------------------------------------------------------------- */

KERNEL double on_stack(const double *from, int n) {
    volatile double local[16];
    double s = 0;
    for (int i = 0; i < n; i++)
        local[i] = from[i] * 2;
    for (int i = 0; i < n; i++)
        s += local[(i * 7 + n) % n];
    return s;
}

KERNEL double stack_arrays(long n) {
    double s = 0;
    for (long i = 0; i + 16 < n; i += 3)
        s += on_stack(a + i, 3 + (int)(i % 13));
    return s;
}

KERNEL long mixed(long x, long y, long z, long u, long v, long w, long on_stack_1,
                  long on_stack_2) {
    long p = x ^ y, q = z + u, r = v - w, s = on_stack_1 * 3, t = on_stack_2 + 1;
    for (int i = 0; i < 3; i++) {
        p += q ^ r;
        q += r * s;
        r -= t + p;
        s ^= q;
        t += s & 15;
    }
    return p + q + r + s + t;
}

KERNEL double many_arguments(long n) {
    long s = 0;
    for (long i = 7; i < n; i++)
        s += mixed(i, i + 1, indices[i], s & 7, i * 3, i - 7, indices[i - 7], s & 3);
    return (double)(s & 0xffffff);
}

KERNEL void add_to(double *to, const double *from, double by) { *to += *from * by; }

KERNEL double through_pointers(long n) {
    double local[4] = {0, 0, 0, 0};
    for (long i = 0; i < n; i++) {
        add_to(&local[i & 3], &a[i], 0.5);
        add_to(&c[i], &local[(i + 1) & 3], 0.25);
    }
    return local[0] + local[3] + c[n / 2];
}

KERNEL double inner(double x) { return x * 0.5 + 1; }
KERNEL double middle(double x, double y) { return inner(x) * inner(y) + 0.125; }

KERNEL double two_levels(long n) {
    double s = 0;
    for (long i = 0; i < n; i++)
        s = middle(s * 1e-3, a[i]);
    return s;
}

KERNEL double branch_in_call(double x, double y) { return x > y ? x - y : y * x + 0.5; }

KERNEL double decides(long n) {
    double s = 0;
    for (long i = 0; i < n; i++) {
        double d = branch_in_call(a[i], b[i]);
        if (d > 0.3)
            s += d;
    }
    return s;
}

KERNEL long fibonacci(long n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

KERNEL double recursion(long n) {
    long s = 0;
    for (long i = 0; i < n && i < 64; i++)
        s += fibonacci(indices[i] % 8);
    return (double)s;
}

KERNEL double mathematics(long n) {
    double s = 0;
    for (long i = 0; i < n; i++) {
        double sine = sin(a[i]), cosine = cos(a[i]);
        s += sine * exp(-b[i]) + cosine * hypot(a[i], b[i]) + log(a[i] - 0.0103);
    }
    return s;
}

/* ---- other things ---------------------------------------------------------------------------- */

KERNEL double entered_twice(long n) {
    double s = 0;
    for (long i = 0; i < n; i++) {
        long k = indices[i] % 5;
        if (i & 1)
            goto middle;
    begin:
        s += a[i];
    middle:
        s += b[i] * 0.5;
        if (k-- > 0)
            goto begin;
    }
    return s;
}

KERNEL double chosen(long n) {
    double s = 0;
    for (long i = 0; i < n; i++)
        switch (indices[i] % 7) {
        case 0:
            s += a[i];
            break;
        case 1:
            s -= b[i];
            break;
        case 2:
            s *= 0.5;
            break;
        case 3:
            s += 3;
            break;
        case 4:
            s = -s;
            break;
        case 5:
            s += a[i] * b[i];
            break;
        default:
            s += 0.25;
            break;
        }
    return s;
}

KERNEL double extended(long n) {
    long double s = 0, kept = (long double)b[0] / 3;
    for (long i = 0; i < n; i++)
        s = s * 0.5L + (long double)a[i];
    return (double)(s + kept);
}

KERNEL void leave_if(double x) {
    if (x > 1e30)
        longjmp(place, 1);
}

KERNEL double leaves(long n) {
    double s = 0;
    if (setjmp(place))
        return 7;
    c[n / 2] = 1e31;
    for (long i = 0; i < n; i++)
        leave_if(c[i]);
    return s;
}

KERNEL double kept(long n) { /* values in registers over the nest */
    double p = a[1], q = a[2], r = b[3], t = b[4], s = 0;
    long x = indices[1], y = indices[2], z = indices[3];
    for (long i = 0; i < n; i++)
        s += a[i] * b[i];
    return s + p * q - r * t + (double)(x ^ y ^ z);
}

#ifdef MASKS
__attribute__((target("avx512f,avx512vl,avx512bw"))) KERNEL double masks(long n) {
    unsigned before = 0xa5a5, after = 0, low = 0;
    double s = 0, wide[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8];
    __asm__ volatile("kmovd %1, %%k3\n\tkmovd %1, %%k7\n\tvmovupd %2, %%zmm29"
                     :
                     : "r"(0), "r"(before), "m"(wide)
                     : "k3", "k7", "xmm29");
    for (long i = 0; i < n; i++)
        s += a[i] * 0.5;
    __asm__ volatile("kmovd %%k3, %0\n\tkmovd %%k7, %1\n\tvmovupd %%zmm29, %2"
                     : "=r"(after), "=r"(low), "=m"(out));
    for (int i = 0; i < 8; i++)
        s += out[i];
    return s + after + low;
}
#endif

static const struct {
    const char *name;
    double (*run)(long n);
} kernels[] = {
    {"stack_arrays", stack_arrays},
    {"many_arguments", many_arguments},
    {"through_pointers", through_pointers},
    {"two_levels", two_levels},
    {"decides", decides},
    {"recursion", recursion},
    {"mathematics", mathematics},
    {"entered_twice", entered_twice},
    {"chosen", chosen},
    {"extended", extended},
    {"leaves", leaves},
    {"kept", kept},
#ifdef MASKS
    {"masks", masks},
#endif
};

static void count_signal(int number) {
    (void)number;
    n_signals++;
}

/* A signal each millisecond: handlers run in the middle of copies. */
static void start_signals(void) {
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    struct itimerval each = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000, repetitions = argc > 2 ? atol(argv[2]) : 10;
    a = calloc((size_t)n, sizeof *a);
    b = calloc((size_t)n, sizeof *b);
    c = calloc((size_t)n, sizeof *c);
    indices = calloc((size_t)n, sizeof *indices);
    start_signals();
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        double result = 0;
        for (long i = 0; i < n; i++) {
            a[i] = 1.0 / (double)(1 + i % 97);
            b[i] = 0.25 + (double)(i % 31) / 64;
            c[i] = 0;
            indices[i] = (int)((i * 7919) % n);
        }
        for (long i = 0; i < repetitions; i++)
            result += kernels[k].run(n);
        printf("%s %.17g\n", kernels[k].name, result);
    }
    return 0;
}
