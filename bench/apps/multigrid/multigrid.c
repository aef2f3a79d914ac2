/* Multigrid V-cycles for the Poisson equation in a cube, checked against an exact solution.
 *
 * Model:      -laplacian(u) = f in the unit cube, u = 0 on its faces.
 * Discrete:   7-point stencil on N intervals an edge (N + 1 points), h = 1 / N. Coarser grids of
 *             N/2, N/4 ... 2 intervals; the last has one unknown, and is solved at once.
 * Cycle:      on each grid a red-black Gauss-Seidel sweep; the residual, averaged over the 27
 *             points around, goes to the next coarser grid, whose correction comes back by
 *             trilinear interpolation; and a sweep again.
 * Exactness:  f is a sum of two products of sines, which are eigenvectors of the discrete
 *             operator, not only of the equation. So both solutions are known: that of the
 *             discrete equations, which the cycles must approach from a random start, and that of
 *             the equation, whose distance from it is the discretisation error.
 *
 * Usage: multigrid N [STEPS], with N intervals along each edge, a power of two; a step is a cycle.
 * Exit status: 0 if the checks hold, 1 if one does not, 2 if an argument makes no sense. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEAST_SIZE = 2, MOST_SIZE = 4096, MOST_LEVELS = 12 };
enum { DEFAULT_STEPS = 6, MOST_STEPS = 1000000 };

/* Each cycle lowers the root mean square of the residual at least by this factor, whatever the
 * size: the first ones by more, those after many cycles by about 0.18. */
static const double PROMISED_FALL = 0.2;

/* Below this, relative to what is compared, is rounding, and differs between compilers. */
static const double ROUNDING = 1e-10;

/* One product of sines: its half waves along each axis, and its size in u. */
struct mode {
    int waves[3];
    double amplitude;
};

/* Different waves along the axes show an error that treats two axes alike. */
enum { MODES = 2, MOST_WAVES = 3 };
static const struct mode MODE[MODES] = {{{1, 1, 1}, 1.0}, {{3, 2, 1}, 0.5}};

/* One grid: n intervals an edge; u, f and the residual are (n + 1)^3 points, owned by main. */
struct grid {
    int n;
    double *u, *f, *residual;
};

__attribute__((noreturn, format(printf, 1, 2))) static void reject(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("multigrid: ", stderr);
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

static size_t points(int n) { return (size_t)(n + 1) * (n + 1) * (n + 1); }

/* Returns how many grids there are, the finest first. */
static int make_grids(int n, struct grid *grids) {
    int levels = 0;
    for (; n >= 2; n /= 2) {
        struct grid *grid = &grids[levels++];
        grid->n = n;
        grid->u = allocate(points(n), sizeof(double));
        grid->f = allocate(points(n), sizeof(double));
        grid->residual = allocate(points(n), sizeof(double));
        for (size_t p = 0; p < points(n); p++)
            grid->u[p] = grid->f[p] = grid->residual[p] = 0.0;
    }
    return levels;
}

static void free_grids(int levels, struct grid *grids) {
    for (int level = 0; level < levels; level++) {
        free(grids[level].u);
        free(grids[level].f);
        free(grids[level].residual);
    }
}

/* The eigenvalue of a product of sines in -laplacian: of the equation, and of the stencil. */
static double exact_eigenvalue(const struct mode *mode) {
    const double pi = acos(-1.0);
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++)
        sum += pow(mode->waves[axis] * pi, 2);
    return sum;
}

static double discrete_eigenvalue(int n, const struct mode *mode) {
    const double pi = acos(-1.0);
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++)
        sum += pow(2.0 * n * sin(mode->waves[axis] * pi / (2.0 * n)), 2);
    return sum;
}

/* sine[w - 1][i] = sin(w pi i / n); the zeros of the faces are exact. */
static void tabulate_sines(int n, double *sine[MOST_WAVES]) {
    const double pi = acos(-1.0);
    for (int w = 0; w < MOST_WAVES; w++) {
        for (int i = 0; i <= n; i++)
            sine[w][i] = sin((w + 1) * pi * i / n);
        sine[w][n] = 0.0;
    }
}

/* The sum over all modes of amplitude[m] times the mode, in one point. */
static inline double sum_of_modes(double *const sine[MOST_WAVES], const double amplitude[MODES],
                                  int i, int j, int k) {
    double value = 0.0;
    for (int m = 0; m < MODES; m++) {
        const int *waves = MODE[m].waves;
        value +=
            amplitude[m] * sine[waves[0] - 1][i] * sine[waves[1] - 1][j] * sine[waves[2] - 1][k];
    }
    return value;
}

/* Sets f, and starts u with random values from -1 to 1 inside the cube. */
static void initialise(const struct grid *grid, double *const sine[MOST_WAVES]) {
    int n = grid->n;
    double(*u)[n + 1][n + 1] = (double(*)[n + 1][n + 1])(void *)grid->u;
    double(*f)[n + 1][n + 1] = (double(*)[n + 1][n + 1])(void *)grid->f;
    double amplitude[MODES];
    for (int m = 0; m < MODES; m++)
        amplitude[m] = MODE[m].amplitude * exact_eigenvalue(&MODE[m]);
    uint64_t state = 20261;
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            for (int k = 1; k < n; k++) {
                f[i][j][k] = sum_of_modes(sine, amplitude, i, j, k);
                state = state * 6364136223846793005u + 1442695040888963407u;
                u[i][j][k] = (double)(state >> 32) * 0x1p-31 - 1.0;
            }
}

/* Solves the equation of every point of one colour for that point: red (0) are those of which the
 * indices have an even sum, black (1) the others. */
static void smooth(int n, double (*restrict u)[n + 1][n + 1], double (*restrict f)[n + 1][n + 1],
                   int colour) {
    double square = 1.0 / ((double)n * n);
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            for (int k = 1 + ((i + j + 1 + colour) & 1); k < n; k += 2)
                u[i][j][k] = (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k] +
                              u[i][j][k - 1] + u[i][j][k + 1] + square * f[i][j][k]) *
                             (1.0 / 6.0);
}

/* residual = f + laplacian(u) inside the cube. */
static void compute_residual(int n, double (*restrict u)[n + 1][n + 1],
                             double (*restrict f)[n + 1][n + 1],
                             double (*restrict residual)[n + 1][n + 1]) {
    double by_square = (double)n * n;
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            for (int k = 1; k < n; k++)
                residual[i][j][k] =
                    f[i][j][k] +
                    by_square * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k] +
                                 u[i][j][k - 1] + u[i][j][k + 1] - 6.0 * u[i][j][k]);
}

/* Sum of a row of three with the weights 1, 2, 1. */
static inline double weighted(const double *row) { return row[-1] + 2.0 * row[0] + row[1]; }

/* coarse = the mean of the 27 fine points around each coarse one, with weights that fall by half
 * with each index that differs. m is half of n. */
static void restrict_residual(int n, double (*restrict fine)[n + 1][n + 1], int m,
                              double (*restrict coarse)[m + 1][m + 1]) {
    for (int i = 1; i < m; i++)
        for (int j = 1; j < m; j++)
            for (int k = 1; k < m; k++) {
                double sum = 0.0;
                for (int a = -1; a <= 1; a++) {
                    double(*plane)[n + 1] = fine[2 * i + a];
                    double rows = weighted(&plane[2 * j - 1][2 * k]) +
                                  2.0 * weighted(&plane[2 * j][2 * k]) +
                                  weighted(&plane[2 * j + 1][2 * k]);
                    sum += (a == 0 ? 2.0 : 1.0) * rows;
                }
                coarse[i][j][k] = sum * (1.0 / 64.0);
            }
}

/* fine += coarse, interpolated: each coarse cell gives its eight fine points with the lower
 * indices. */
static void add_correction(int m, double (*restrict coarse)[m + 1][m + 1], int n,
                           double (*restrict fine)[n + 1][n + 1]) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < m; k++) {
                double corner = coarse[i][j][k], x = coarse[i + 1][j][k], y = coarse[i][j + 1][k],
                       z = coarse[i][j][k + 1], xy = coarse[i + 1][j + 1][k],
                       xz = coarse[i + 1][j][k + 1], yz = coarse[i][j + 1][k + 1],
                       xyz = coarse[i + 1][j + 1][k + 1];
                int a = 2 * i, b = 2 * j, c = 2 * k;
                fine[a][b][c] += corner;
                fine[a + 1][b][c] += 0.5 * (corner + x);
                fine[a][b + 1][c] += 0.5 * (corner + y);
                fine[a][b][c + 1] += 0.5 * (corner + z);
                fine[a + 1][b + 1][c] += 0.25 * (corner + x + y + xy);
                fine[a + 1][b][c + 1] += 0.25 * (corner + x + z + xz);
                fine[a][b + 1][c + 1] += 0.25 * (corner + y + z + yz);
                fine[a + 1][b + 1][c + 1] += 0.125 * (corner + x + y + z + xy + xz + yz + xyz);
            }
}

/* Improves grids[0].u by one cycle through this grid and those coarser. */
static void cycle(int levels, const struct grid *grids) {
    int n = grids->n;
    double(*u)[n + 1][n + 1] = (double(*)[n + 1][n + 1])(void *)grids->u;
    double(*f)[n + 1][n + 1] = (double(*)[n + 1][n + 1])(void *)grids->f;
    if (levels == 1) {
        smooth(n, u, f, 1); /* the one unknown of two intervals: the sum of its indices is odd */
        return;
    }
    const struct grid *next = grids + 1;
    int m = next->n;
    double(*residual)[n + 1][n + 1] = (double(*)[n + 1][n + 1])(void *)grids->residual;
    double(*coarse_u)[m + 1][m + 1] = (double(*)[m + 1][m + 1])(void *)next->u;
    double(*coarse_f)[m + 1][m + 1] = (double(*)[m + 1][m + 1])(void *)next->f;

    smooth(n, u, f, 0);
    smooth(n, u, f, 1);
    compute_residual(n, u, f, residual);
    restrict_residual(n, residual, m, coarse_f);
    for (size_t p = 0; p < points(m); p++)
        next->u[p] = 0.0;
    cycle(levels - 1, next);
    add_correction(m, coarse_u, n, u);
    smooth(n, u, f, 0);
    smooth(n, u, f, 1);
}

/* The root mean square of the residual, which is computed anew. */
static double residual_norm(const struct grid *grid) {
    int n = grid->n;
    double(*residual)[n + 1][n + 1] = (double(*)[n + 1][n + 1])(void *)grid->residual;
    compute_residual(n, (double(*)[n + 1][n + 1])(void *)grid->u,
                     (double(*)[n + 1][n + 1])(void *)grid->f, residual);
    double sum = 0.0;
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            for (int k = 1; k < n; k++)
                sum += residual[i][j][k] * residual[i][j][k];
    return sqrt(sum / pow(n - 1, 3));
}

/* The largest distance of u from a sum of modes; NaN where u has one. */
static double distance(const struct grid *grid, double *const sine[MOST_WAVES],
                       const double amplitude[MODES]) {
    int n = grid->n;
    double(*u)[n + 1][n + 1] = (double(*)[n + 1][n + 1])(void *)grid->u;
    double largest = 0.0;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++)
            for (int k = 0; k <= n; k++) {
                double here = fabs(u[i][j][k] - sum_of_modes(sine, amplitude, i, j, k));
                if (isnan(here))
                    return here;
                if (here > largest)
                    largest = here;
            }
    return largest;
}

static void print_figure(const char *what, double value) {
    if (value < ROUNDING)
        printf("%s below %.0e\n", what, ROUNDING);
    else
        printf("%s %.3e\n", what, value);
}

/* Prints how far u is from both solutions, and returns whether the cycles did what they promise;
 * before and after are the norms of the residual. */
static bool check(const struct grid *grid, double *const sine[MOST_WAVES], int steps, double before,
                  double after) {
    double exact[MODES], discrete[MODES], discretisation = 0.0;
    for (int m = 0; m < MODES; m++) {
        double ratio = exact_eigenvalue(&MODE[m]) / discrete_eigenvalue(grid->n, &MODE[m]);
        exact[m] = MODE[m].amplitude;
        discrete[m] = exact[m] * ratio;
        discretisation += exact[m] * (ratio - 1.0);
    }
    double from_discrete = distance(grid, sine, discrete);
    double from_exact = distance(grid, sine, exact);

    /* No sine exceeds 1, and the inverse of the stencil's operator enlarges by 1/8 at most. The
     * root mean square says less than the largest residual, by sqrt(points) at worst. */
    double allowed = after * pow(grid->n - 1, 1.5) / 8.0 + ROUNDING;
    bool falls = after <= pow(PROMISED_FALL, steps) * before + ROUNDING * before;
    bool solves = from_discrete <= allowed;
    bool accurate = from_exact <= discretisation + from_discrete + ROUNDING;
    print_figure("residual before the cycles:             ", before);
    print_figure("residual after, relative:               ", after / before);
    print_figure("distance from the discrete solution:    ", from_discrete);
    print_figure("distance from the equation's solution:  ", from_exact);
    print_figure("discretisation error, at most:          ", discretisation);
    printf("residual falls by %.1f a cycle or faster: %s\n", PROMISED_FALL,
           falls ? "passed" : "FAILED");
    printf("solution of the discrete equations: %s\n", solves ? "passed" : "FAILED");
    printf("error against the equation: %s\n", accurate ? "passed" : "FAILED");
    return falls && solves && accurate;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3)
        reject("usage: multigrid N [STEPS]");
    int n = whole_number("the size N", argv[1], LEAST_SIZE, MOST_SIZE);
    if ((n & (n - 1)) != 0)
        reject("the size N must be a power of two, but is %d", n);
    int steps = argc > 2 ? whole_number("STEPS", argv[2], 1, MOST_STEPS) : DEFAULT_STEPS;
    require_memory(n, 3.0 * 8.0 / 7.0 * (double)points(n) * sizeof(double));

    struct grid grids[MOST_LEVELS];
    int levels = make_grids(n, grids);
    double *sine[MOST_WAVES];
    for (int w = 0; w < MOST_WAVES; w++)
        sine[w] = allocate(n + 1, sizeof(double));
    tabulate_sines(n, sine);
    initialise(&grids[0], sine);
    printf("multigrid: %d^3 points inside, %d grids, %d cycles\n", n - 1, levels, steps);

    double before = residual_norm(&grids[0]);
    for (int s = 0; s < steps; s++)
        cycle(levels, grids);
    bool holds = check(&grids[0], sine, steps, before, residual_norm(&grids[0]));

    for (int w = 0; w < MOST_WAVES; w++)
        free(sine[w]);
    free_grids(levels, grids);
    return holds ? 0 : 1;
}
