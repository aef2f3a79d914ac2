/* Loops whose accesses touch the same bytes although no single iteration, call or type shows it
   (`bad_*`: they must never be called independent), and loops whose accesses never do (`good_*`).
 */
#include <stdlib.h>
#include <string.h>

#define NOT_INLINED __attribute__((noipa))

double grid[4096], other[4096];
struct {
    double x[4096], y[4096];
} pair;
int whole[4096];

/* ---- the same bytes ---- */

NOT_INLINED void bad_pointers(double *p, double *q, int n) {
    for (int i = 0; i < n; i++)
        p[i] = q[i] + 1; /* q may be p - 1 */
}

NOT_INLINED void bad_shifted(double *p, int n) {
    for (int i = 0; i < n; i++)
        p[i + 1] = p[i] * 2;
}

NOT_INLINED void bad_indirect(const int *index, int n) {
    for (int i = 0; i < n; i++)
        grid[index[i]] = grid[n - i] + 1;
}

static inline void copy_one(double *restrict to, const double *restrict from) { *to = *from + 1; }

/* Each call keeps what `restrict` promises; two iterations share a place. */
NOT_INLINED void bad_restrict_by_iteration(double *p, int n) {
    for (int i = 0; i < n; i++)
        copy_one(p + i + 1, p + i);
}

/* Legal: each call sees two places; together the calls cross in the middle. */
NOT_INLINED void bad_restrict_by_recursion(double *restrict p, double *restrict q, int n) {
    if (n == 0)
        return;
    *p = *q + 1;
    bad_restrict_by_recursion(p + 1, q - 1, n - 1);
}

/* Memory of malloc changes its type as it is stored to. */
NOT_INLINED void bad_types(void *memory, int n) {
    for (int i = 0; i < n; i++) {
        int as_integer = ((int *)memory)[i];
        ((float *)memory)[i] = (float)as_integer;
    }
}

NOT_INLINED void bad_union(int n) {
    union {
        int i[16];
        float f[16];
    } u;
    memset(&u, 1, sizeof u);
    for (int i = 0; i < n; i++) {
        u.i[i & 15] = i;
        grid[i] = (double)u.f[(i + 1) & 15];
    }
}

/* What is freed may come back from the next allocation. */
NOT_INLINED double bad_allocation(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        volatile double *p = malloc(64);
        p[i & 7] = i;
        free((void *)p);
        volatile double *q = malloc(64);
        sum += q[1];
        free((void *)q);
    }
    return sum;
}

void use(void *);
NOT_INLINED void use(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

/* Two arrays that are never alive together share a place on the stack. */
NOT_INLINED double bad_stack(int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        {
            double a[64];
            use(a);
            a[i & 63] = i;
            use(a);
        }
        {
            double b[64];
            use(b);
            sum += b[i & 63];
        }
    }
    return sum;
}

NOT_INLINED double bad_variable_length(int n) {
    double sum = 0;
    for (int i = 1; i < n; i++) {
        {
            volatile double a[n];
            a[i & 1] = i;
        }
        {
            volatile double b[n];
            b[~i & 1] = 0;
            sum += b[~i & 1];
        }
    }
    return sum;
}

NOT_INLINED void bad_bytes(char *bytes, int n) {
    for (int i = 0; i < n; i++)
        bytes[i] = (char)whole[i];
}

NOT_INLINED void bad_escaped(double **table, int n) {
    for (int i = 0; i < n; i++)
        table[i][0] = grid[i] + 1;
}

NOT_INLINED void bad_local(int n) {
    double local[64], *p = local;
    use(&p);
    for (int i = 0; i < n; i++)
        p[i] = local[63 - i] + 1;
    use(local);
}

extern double alias_of_grid[4096] __attribute__((alias("grid")));
NOT_INLINED void bad_alias_symbol(int n) {
    for (int i = 0; i < n; i++)
        alias_of_grid[i] = grid[63 - i] + 1;
}

/* ---- other bytes ---- */

NOT_INLINED void good_globals(int n) {
    for (int i = 0; i < n; i++)
        grid[i] = other[n - i] + 1;
}

NOT_INLINED void good_fields(int n) {
    for (int i = 0; i < n; i++)
        pair.x[i] = pair.y[31 - i] + 1;
}

NOT_INLINED void good_restrict(double *restrict p, const double *restrict q, int n) {
    for (int i = 0; i < n; i++)
        p[i] = q[n - i] + 1;
}

NOT_INLINED void good_declared_type(int *p, int n) {
    for (int i = 0; i < n; i++)
        p[i] = (int)grid[i];
}

NOT_INLINED double *good_heap(int n) {
    double *p = malloc(n * sizeof *p), *q = malloc(n * sizeof *q);
    use(q);
    for (int i = 0; i < n; i++)
        p[i] = q[n - 1 - i] + 1;
    free(q);
    return p;
}

int main(int argc, char **argv) {
    (void)argv;
    int n = argc > 1 ? 0 : 30;
    double *memory = calloc(128, sizeof *memory), *table[64];
    int index[64];
    for (int i = 0; i < 64; i++) {
        index[i] = 63 - i;
        table[i] = grid + (63 - i);
    }
    bad_pointers(memory + 1, memory, n);
    bad_shifted(memory, n);
    bad_indirect(index, n);
    bad_restrict_by_iteration(memory, n);
    bad_restrict_by_recursion(memory, memory + n, n);
    bad_types(memory, n);
    bad_union(n);
    double sum = bad_allocation(n) + bad_stack(n) + bad_variable_length(n);
    bad_bytes((char *)whole, n);
    bad_escaped(table, n);
    bad_local(n);
    bad_alias_symbol(n);
    good_globals(n);
    good_fields(n);
    good_restrict(memory, memory + 64, n);
    good_declared_type(whole, n);
    free(good_heap(n + 1));
    free(memory);
    return sum == 1e300;
}
