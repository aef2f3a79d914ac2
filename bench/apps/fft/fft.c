/* Fast Fourier transform of complex numbers by radix 2, checked against a known transform.
 *
 * Transform:  X[k] = sum over n of x[n] exp(-2 pi i n k / N), and its inverse.
 * Method:     the numbers are put in bit-reversed order; then log2(N) passes, each of which joins
 *             pairs of transforms of the length before (decimation in time). The roots of unity
 *             are in a table of N/2, of which a pass takes every so-and-so many-th.
 * Exactness:  the transforms of two sequences are known, and so is that of their sum. A chirp
 *             x[n] = exp(i pi (n^2 + 2 n) / N), N even, has a chirp for its transform:
 *             X[k] = sqrt(N) exp(i pi / 4) exp(-i pi (k - 1)^2 / N), as follows from Gauss's sum
 *             over exp(i pi n^2 / N). All its numbers weigh alike, but many of its parts that the
 *             passes join are zero. Those of a spiral x[n] = z^n are not:
 *             X[k] = (1 - z^N) / (1 - z exp(-2 pi i k / N)).
 *
 * Usage: fft N [STEPS], for N numbers, a power of two; a step transforms there and back.
 * Exit status: 0 if the checks hold, 1 if one does not, 2 if an argument makes no sense. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEAST_SIZE = 2, MOST_SIZE = 1 << 30, DEFAULT_STEPS = 3, MOST_STEPS = 1000000 };

/* Plain numbers instead of C's complex ones, whose product must look for infinities. */
struct number {
    double re, im;
};

__attribute__((noreturn, format(printf, 1, 2))) static void reject(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("fft: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}
/* The whole number that text spells; ends the program if it spells none from least to most. */
static int whole_number(const char *name, const char *text, int least, int most) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0')
        reject("%s must be a whole number, but is '%s'", name, text);
    if (errno == ERANGE || number < least || number > most)
        reject("%s must be from %d to %d, but is %s", name, least, most, text);
    return (int)number;
}

/* Linux grants memory that it does not have, so ask what there is before taking it. */
static void require_memory(int n, double bytes) {
    double present = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (bytes > present)
        reject("size %d needs %.1f GiB of memory, but this machine has %.1f GiB", n, bytes / 0x1p30,
               present / 0x1p30);
}

static void *allocate(size_t count, size_t size) {
    void *memory = malloc(count * size);
    if (!memory)
        reject("no memory for %zu elements of %zu bytes; choose a smaller size", count, size);
    return memory;
}

static inline struct number product(struct number a, struct number b) {
    return (struct number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* exp(i pi turns / n); turns are counted exactly, so that no digit is lost for large ones. */
static struct number unit(int64_t turns, int64_t n) {
    const double pi = acos(-1.0);
    int64_t left = turns % (2 * n);
    if (left > n)
        left -= 2 * n;
    else if (left < -n)
        left += 2 * n;
    return (struct number){cos(pi * (double)left / (double)n), sin(pi * (double)left / (double)n)};
}

/* root[k] = exp(-2 pi i k / n) for the first half of the circle. */
static void tabulate_roots(int n, struct number *root) {
    for (int k = 0; k < n / 2; k++)
        root[k] = unit(-2 * (int64_t)k, n);
}

/* Exchanges each number with that whose index has the same bits from right to left. reversed
 * counts up as index does, but from its highest bit on. */
static void reverse_bits(int n, struct number *x) {
    for (int index = 0, reversed = 0; index < n; index++) {
        if (index < reversed) {
            struct number swap = x[index];
            x[index] = x[reversed];
            x[reversed] = swap;
        }
        int bit = n / 2;
        while (bit > 0 && (reversed & bit)) {
            reversed -= bit;
            bit /= 2;
        }
        reversed += bit;
    }
}

/* Joins neighbouring transforms of half numbers to those of 2 half; sign is +1 for the transform
 * and -1 for the inverse, which has the conjugate roots. */
static void join(int n, int half, double sign, const struct number *restrict root,
                 struct number *restrict x) {
    int stride = n / (2 * half);
    for (int start = 0; start < n; start += 2 * half)
        for (int k = 0; k < half; k++) {
            struct number w = root[k * stride];
            w.im *= sign;
            struct number even = x[start + k];
            struct number odd = product(w, x[start + k + half]);
            x[start + k] = (struct number){even.re + odd.re, even.im + odd.im};
            x[start + k + half] = (struct number){even.re - odd.re, even.im - odd.im};
        }
}

static void transform(int n, double sign, const struct number *root, struct number *x) {
    reverse_bits(n, x);
    for (int half = 1; half < n; half *= 2)
        join(n, half, sign, root, x);
}

/* Divides by n: what the inverse gives is n times too large. */
static void scale(int n, struct number *x) {
    double factor = 1.0 / n;
    for (int k = 0; k < n; k++) {
        x[k].re *= factor;
        x[k].im *= factor;
    }
}

/* What is transformed: the chirp, and the spiral for z = SHRINK exp(i pi / TURN). */
static const double SHRINK = 0.9;
enum { TURN = 7 };

static struct number spiral(int64_t index) {
    struct number direction = unit(index, TURN);
    double length = pow(SHRINK, (double)index);
    return (struct number){length * direction.re, length * direction.im};
}

static struct number sequence(int64_t n, int64_t index) {
    struct number chirp = unit(index * (index + 2) % (2 * n), n), other = spiral(index);
    return (struct number){chirp.re + other.re, chirp.im + other.im};
}

static struct number known_transform(int64_t n, int64_t k) {
    struct number chirp = product(unit(1, 4), unit(-((k - 1) * (k - 1) % (2 * n)), n));
    struct number above = spiral(n), below = product(spiral(1), unit(-2 * k, n));
    above = (struct number){1.0 - above.re, -above.im};
    below = (struct number){1.0 - below.re, -below.im};
    double square = below.re * below.re + below.im * below.im;
    struct number ratio = product(above, (struct number){below.re / square, -below.im / square});
    return (struct number){sqrt((double)n) * chirp.re + ratio.re,
                           sqrt((double)n) * chirp.im + ratio.im};
}

/* The largest distance of x from what known says; NaN where x has one. */
static double largest_error(int n, const struct number *x,
                            struct number (*known)(int64_t n, int64_t index)) {
    double largest = 0.0;
    for (int k = 0; k < n; k++) {
        struct number should = known(n, k);
        double error = hypot(x[k].re - should.re, x[k].im - should.im);
        if (isnan(error))
            return error;
        if (error > largest)
            largest = error;
    }
    return largest;
}

/* Prints whether a relative error is what rounding explains. The error itself differs between
 * compilers, so it is shown only where it is too large. */
static bool report_check(const char *what, double error, double allowed) {
    bool holds = error <= allowed;
    if (holds)
        printf("%s: at most %.1e, passed\n", what, allowed);
    else
        printf("%s: %.1e, more than %.1e, FAILED\n", what, error, allowed);
    return holds;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3)
        reject("usage: fft N [STEPS]");
    int n = whole_number("the size N", argv[1], LEAST_SIZE, MOST_SIZE);
    if ((n & (n - 1)) != 0)
        reject("the size N must be a power of two, but is %d", n);
    int steps = argc > 2 ? whole_number("STEPS", argv[2], 1, MOST_STEPS) : DEFAULT_STEPS;
    require_memory(n, 1.5 * n * sizeof(struct number));
    struct number *x = allocate(n, sizeof *x);
    struct number *root = allocate(n / 2, sizeof *root);

    tabulate_roots(n, root);
    for (int k = 0; k < n; k++)
        x[k] = sequence(n, k);
    printf("fft: %d numbers, %d times there and back\n", n, steps);

    double spectrum_error = 0.0;
    for (int s = 0; s < steps; s++) {
        transform(n, 1.0, root, x);
        if (s == 0) {
            spectrum_error = largest_error(n, x, known_transform) / sqrt(n);
            printf("X[1] = (%.6e, %.6e)\n", x[1].re, x[1].im);
        }
        transform(n, -1.0, root, x);
        scale(n, x);
    }

    /* Each pass rounds its roots, products and sums: 2^-53 each. The largest of many errors is
     * several times the usual one, and what a mistake in the code does is far larger still. */
    double pass_error = 5e-15, passes = log2(n);
    bool holds =
        report_check("error against the known transform", spectrum_error, pass_error * passes);
    holds &= report_check("error after the way back", largest_error(n, x, sequence),
                          pass_error * (1.0 + 2.0 * passes * steps));
    free(root);
    free(x);
    return holds ? 0 : 1;
}
