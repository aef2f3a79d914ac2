/* Heat diffusion in a cube by an explicit 7-point stencil, checked against its exact solution.
 *
 * Model:      du/dt = alpha * laplacian(u) in the unit cube, u = 0 on its faces.
 * Discrete:   u'[i][j][k] = u + RATE * (sum of the six neighbours - 6 u), where
 *             RATE = alpha * dt / h^2 and h = 1 / (N - 1); stable for RATE <= 1/6.
 * Exactness:  a product of sines sin(a pi x) sin(b pi y) sin(c pi z) is an eigenvector of the
 *             discrete step, not only of the equation. Each step multiplies it by
 *             1 - 4 RATE (sin^2(a pi h/2) + sin^2(b pi h/2) + sin^2(c pi h/2)),
 *             so the computed field must equal the predicted one up to rounding.
 *
 * Usage: heat N [STEPS], with N points along each edge, faces included.
 * Exit status: 0 if the check holds, 1 if it does not, 2 if an argument makes no sense. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEAST_SIZE = 3, MOST_SIZE = 100000, DEFAULT_STEPS = 10, MOST_STEPS = 1000000 };

static const double RATE = 0.125;

/* One product of sines: its half waves along each axis, and its size at the start. */
struct mode {
    int waves[3];
    double amplitude;
};

/* The slowest mode carries the field for as long as it can be measured; the second, with a
 * different wave along each axis, shows an error that treats two axes alike. */
enum { MODES = 2, MOST_WAVES = 3 };
static const struct mode MODE[MODES] = {{{1, 1, 1}, 1.0}, {{3, 2, 1}, 0.5}};

/* What the field must be: amplitude[m] * the product of the sines of mode m, summed over m.
 * sine[w - 1][i] is sin(w pi i / (N - 1)); owned by main. */
struct exact_field {
    double *sine[MOST_WAVES];
    double amplitude[MODES];
};

__attribute__((noreturn, format(printf, 1, 2))) static void reject(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("heat: ", stderr);
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

static void tabulate_sines(int n, struct exact_field *exact) {
    const double pi = acos(-1.0);
    for (int w = 0; w < MOST_WAVES; w++) {
        for (int i = 0; i < n; i++)
            exact->sine[w][i] = sin((w + 1) * pi * i / (n - 1));
        exact->sine[w][n - 1] = 0.0; /* not the rounding error of sin(pi) */
    }
}

/* The amplitude of every mode after so many steps on n points an edge. */
static void set_amplitudes(int n, int steps, struct exact_field *exact) {
    const double pi = acos(-1.0);
    for (int m = 0; m < MODES; m++) {
        double sum = 0.0;
        for (int axis = 0; axis < 3; axis++) {
            double half = sin(MODE[m].waves[axis] * pi / (2.0 * (n - 1)));
            sum += half * half;
        }
        exact->amplitude[m] = MODE[m].amplitude * pow(1.0 - 4.0 * RATE * sum, steps);
    }
}

static inline double exact_value(const struct exact_field *exact, int i, int j, int k) {
    double value = 0.0;
    for (int m = 0; m < MODES; m++) {
        const int *waves = MODE[m].waves;
        value += exact->amplitude[m] * exact->sine[waves[0] - 1][i] * exact->sine[waves[1] - 1][j] *
                 exact->sine[waves[2] - 1][k];
    }
    return value;
}

/* Both fields get the start values, so that both have the faces that no step writes. */
static void initialise(int n, double (*u)[n][n], double (*next)[n][n],
                       const struct exact_field *exact) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                u[i][j][k] = exact_value(exact, i, j, k);
                next[i][j][k] = u[i][j][k];
            }
}

static void step(int n, double (*restrict next)[n][n], double (*restrict u)[n][n]) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                next[i][j][k] =
                    u[i][j][k] +
                    RATE * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k] +
                            u[i][j][k - 1] + u[i][j][k + 1] - 6.0 * u[i][j][k]);
}

/* The largest distance of the field from the exact one; NaN where the field has one. */
static double residual(int n, double (*u)[n][n], const struct exact_field *exact) {
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                double distance = fabs(u[i][j][k] - exact_value(exact, i, j, k));
                if (isnan(distance))
                    return distance;
                if (distance > largest)
                    largest = distance;
            }
    return largest;
}

static double mean(int n, double (*u)[n][n]) {
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                sum += u[i][j][k];
    return sum / ((double)n * n * n);
}

/* Prints whether the relative error is what rounding explains: a few units in the last place for
 * every step. The error
 * itself differs between compilers, so it is shown only where it is too large. */
static bool report_check(double relative_error, int steps) {
    double allowed = 1e-13 + 1e-15 * steps;
    bool holds = relative_error <= allowed;
    if (holds)
        printf("error against the exact decay: at most %.1e, passed\n", allowed);
    else
        printf("error against the exact decay: %.1e, more than %.1e, FAILED\n", relative_error,
               allowed);
    return holds;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3)
        reject("usage: heat N [STEPS]");
    int n = whole_number("the size N", argv[1], LEAST_SIZE, MOST_SIZE);
    int steps = argc > 2 ? whole_number("STEPS", argv[2], 1, MOST_STEPS) : DEFAULT_STEPS;

    size_t points = (size_t)n * n * n;
    require_memory(n, 2.0 * (double)points * sizeof(double));
    double(*u)[n][n] = allocate(points, sizeof(double));
    double(*next)[n][n] = allocate(points, sizeof(double));
    struct exact_field exact;
    for (int w = 0; w < MOST_WAVES; w++)
        exact.sine[w] = allocate(n, sizeof(double));

    tabulate_sines(n, &exact);
    set_amplitudes(n, 0, &exact);
    initialise(n, u, next, &exact);
    printf("heat: %d^3 points, %d steps\n", n, steps);
    printf("mean temperature at the start %.6e\n", mean(n, u));

    for (int s = 0; s < steps; s++) {
        step(n, next, u);
        double(*swap)[n][n] = u;
        u = next;
        next = swap;
    }

    /* Relative to the slowest mode; below 1e-290 the field loses digits by underflow. */
    set_amplitudes(n, steps, &exact);
    double error = residual(n, u, &exact) / fmax(exact.amplitude[0], 1e-290);
    printf("mean temperature at the end   %.6e\n", mean(n, u));
    bool holds = report_check(error, steps);

    for (int w = 0; w < MOST_WAVES; w++)
        free(exact.sine[w]);
    free(next);
    free(u);
    return holds ? 0 : 1;
}
