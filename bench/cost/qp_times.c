/* How long quadratic programs take: reads problems as tests/truth/quadratic_programs.c writes them
   (a line each: n, m, whether solved, H, g, A, b, x), solves those that have a solution over and
   over with pm_qp_solve, and prints the seconds of CPU time for one of them.  qp_times.m does the
   same with Octave; bench.sh builds and runs both.

     gcc -O2 -I. -o qp_times bench/cost/qp_times.c build/libpm_fit.a $(cat build/ldlibs)
     ./qp_times PROBLEMS N_PROBLEMS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/base.h"
#include "fit/algebra/algebra.h"

#define LEAST_SECONDS 0.5

struct problem {
    size_t n, m;
    double *h, *g, *a, *b;
};

static double *read_numbers(FILE *file, size_t n) {
    double *numbers = pm_alloc(n + 1, sizeof *numbers);
    for (size_t i = 0; i < n; i++)
        if (fscanf(file, "%lf", &numbers[i]) != 1)
            exit(2);
    return numbers;
}

/* The next problem that has a solution; false at the end of the file. */
static bool read_problem(FILE *file, struct problem *p) {
    for (int solved = 0; !solved;) {
        if (fscanf(file, "%zu %zu %d", &p->n, &p->m, &solved) != 3 || p->n > PM_QP_MAX_VARIABLES)
            return false;
        p->h = read_numbers(file, p->n * p->n);
        p->g = read_numbers(file, p->n);
        p->a = read_numbers(file, p->m * p->n);
        p->b = read_numbers(file, p->m);
        free(read_numbers(file, solved ? p->n : 0));
    }
    return true;
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    size_t n = 0, most = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, n_solved = 0;
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (!file || most == 0 || most > 1000000) {
        fprintf(stderr, "usage: qp_times PROBLEMS N_PROBLEMS\n");
        return 2;
    }
    struct problem *problems = pm_alloc(most, sizeof *problems);
    while (n < most && read_problem(file, &problems[n]))
        n++;
    fclose(file);
    double x[PM_QP_MAX_VARIABLES], begin = cpu_seconds(), seconds = 0;
    for (; n && seconds < LEAST_SECONDS; seconds = cpu_seconds() - begin)
        for (size_t i = 0; i < n; i++) {
            const struct problem *p = &problems[i];
            n_solved += pm_qp_solve(p->n, p->h, p->g, p->m, p->a, p->b, x, NULL) == PM_QP_SOLVED;
        }
    if (n_solved == 0)
        return 1;
    printf("%.3e\n", seconds / (double)n_solved);
    return 0;
}
