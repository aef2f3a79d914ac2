/* The dual active-set method of Goldfarb & Idnani for small dense quadratic programs.

   With H = LLᵀ and y = Lᵀx the objective becomes ½|y|² + (L⁻¹g)ᵀy, a constraint's normal a becomes
   v = L⁻¹a, and projections are plain orthogonal ones.  From the unconstrained minimum the most
   violated constraint is made active, step by step: z = the part of v orthogonal to the active
   normals,  r = v's coordinates in them; the full step makes the constraint hold, a shorter one is
   taken where an active constraint's multiplier would turn negative, which then leaves the active
   set. The dual objective grows with each full step, so no active set comes back and the method
   ends. An orthonormal basis of the active normals is built afresh at each step: with at most 16
   variables that costs less than it would to update it, and rounding errors do not pile up. */
#include "fit/qp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "fit/lanes.h"

enum { N_MAX = PM_QP_MAX_VARIABLES };

#define ROUNDING 1e-13 /* of the size of a sum's parts: such violations are none */

struct active_set {
    size_t n; /* variables */
    size_t k; /* active constraints */
    size_t constraints[N_MAX];
    double multipliers[N_MAX];
    double normals[N_MAX][N_MAX];  /* whitened, of length 1 */
    double basis[N_MAX][N_MAX];    /* orthonormal, of the span of the normals */
    double triangle[N_MAX][N_MAX]; /* normal j = Σ_i≤j triangle[i][j] · basis i */
};

static double dot(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static bool cholesky(size_t n, const double *h, double lower[N_MAX][N_MAX]) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = h[i * n + j] - dot(j, lower[i], lower[j]);
            if (i > j)
                lower[i][j] = sum / lower[j][j];
            else if (sum > DBL_EPSILON * fabs(h[i * n + i]))
                lower[i][i] = sqrt(sum);
            else
                return false;
        }
    return true;
}

static void forward(size_t n, double lower[N_MAX][N_MAX], const double *right, double *result) {
    for (size_t i = 0; i < n; i++)
        result[i] = (right[i] - dot(i, lower[i], result)) / lower[i][i];
}

static void backward(size_t n, double lower[N_MAX][N_MAX], const double *right, double *result) {
    for (size_t i = n; i-- > 0;) {
        double sum = right[i];
        for (size_t j = i + 1; j < n; j++)
            sum -= lower[j][i] * result[j];
        result[i] = sum / lower[i][i];
    }
}

/* Orthogonalises V against the first K basis vectors, twice; COORDINATES (K entries) are those
   parts. */
static void project_out(const struct active_set *set, size_t k, double *v, double *coordinates) {
    memset(coordinates, 0, k * sizeof *coordinates);
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < k; j++) {
            double part = dot(set->n, set->basis[j], v);
            coordinates[j] += part;
            for (size_t i = 0; i < set->n; i++)
                v[i] -= part * set->basis[j][i];
        }
}

static void rebuild_basis(struct active_set *set) {
    for (size_t j = 0; j < set->k; j++) {
        double coordinates[N_MAX];
        memcpy(set->basis[j], set->normals[j], set->n * sizeof(double));
        project_out(set, j, set->basis[j], coordinates);
        double length = sqrt(dot(set->n, set->basis[j], set->basis[j]));
        for (size_t i = 0; i < set->n; i++)
            set->basis[j][i] /= length;
        for (size_t i = 0; i < j; i++)
            set->triangle[i][j] = coordinates[i];
        set->triangle[j][j] = length;
    }
}

static void drop(struct active_set *set, size_t j) {
    set->k--;
    for (size_t i = j; i < set->k; i++) {
        set->constraints[i] = set->constraints[i + 1];
        set->multipliers[i] = set->multipliers[i + 1];
        memcpy(set->normals[i], set->normals[i + 1], sizeof set->normals[i]);
    }
    rebuild_basis(set);
}

/* R: coordinates of the constraint's normal in the active normals (triangle · r = in_basis). */
static void solve_triangle(const struct active_set *set, const double *in_basis, double *r) {
    for (size_t i = set->k; i-- > 0;) {
        double sum = in_basis[i];
        for (size_t j = i + 1; j < set->k; j++)
            sum -= set->triangle[i][j] * r[j];
        r[i] = sum / set->triangle[i][i];
    }
}

/* Makes constraint P (whitened normal V of length 1, right side BOUND) active, moving Y. */
static enum pm_qp_result activate(struct active_set *set, size_t p, const double *v, double bound,
                                  double *y) {
    double multiplier = 0;
    for (size_t steps = 0; steps <= N_MAX; steps++) {
        double z[N_MAX], in_basis[N_MAX], r[N_MAX];
        memcpy(z, v, set->n * sizeof *z);
        project_out(set, set->k, z, in_basis);
        solve_triangle(set, in_basis, r);
        double length = dot(set->n, z, z), partial = INFINITY;
        size_t blocking = 0;
        for (size_t j = 0; j < set->k; j++)
            if (r[j] > 1e-12 && set->multipliers[j] / r[j] < partial) {
                partial = set->multipliers[j] / r[j];
                blocking = j;
            }
        bool dependent = set->k == set->n || length < 1e-20;
        double full = dependent ? INFINITY : (bound - dot(set->n, v, y)) / length;
        if (dependent && isinf(partial))
            return PM_QP_INFEASIBLE;
        double step = full < partial ? full : partial;
        if (!dependent)
            for (size_t i = 0; i < set->n; i++)
                y[i] += step * z[i];
        for (size_t j = 0; j < set->k; j++)
            set->multipliers[j] -= step * r[j];
        multiplier += step;
        if (full <= partial) {
            set->constraints[set->k] = p;
            set->multipliers[set->k] = multiplier;
            memcpy(set->normals[set->k], v, set->n * sizeof *v);
            set->k++;
            rebuild_basis(set);
            return PM_QP_SOLVED;
        }
        drop(set, blocking);
    }
    return PM_QP_NO_PROGRESS;
}

struct constraints {
    size_t n, m;
    const double *a, *b;
    double (*lower)[N_MAX]; /* the Cholesky factor of H */
};

/* Constraint C in whitened space, its normal V of length 1; returns its former length. */
static double whiten(const struct constraints *all, size_t c, double *v, double *bound) {
    forward(all->n, all->lower, all->a + c * all->n, v);
    double length = sqrt(dot(all->n, v, v));
    *bound = length > 0 ? all->b[c] / length : all->b[c];
    for (size_t i = 0; length > 0 && i < all->n; i++)
        v[i] /= length;
    return length;
}

/* The violated constraint that lies farthest from Y; m if none.  Active ones hold but for rounding.
 */
static size_t most_violated(const struct constraints *all, const struct active_set *set,
                            const double *y, double *normal, double *bound) {
    double worst = 0;
    size_t found = all->m;
    for (size_t c = 0; c < all->m; c++) {
        bool is_active = false;
        for (size_t j = 0; j < set->k; j++)
            is_active |= set->constraints[j] == c;
        if (is_active)
            continue;
        double v[N_MAX] = {0}, limit;
        whiten(all, c, v, &limit);
        double scale = fabs(limit);
        for (size_t i = 0; i < all->n; i++)
            scale += fabs(v[i] * y[i]);
        double slack = dot(all->n, v, y) - limit;
        if (slack < -ROUNDING * scale && slack < worst) {
            worst = slack;
            found = c;
            *bound = limit;
            memcpy(normal, v, all->n * sizeof *v);
        }
    }
    return found;
}

enum pm_qp_result pm_qp_solve(size_t n, const double *h, const double *g, size_t m, const double *a,
                              const double *b, double *x, double *multipliers) {
    double lower[N_MAX][N_MAX], y[N_MAX], normal[N_MAX], bound;
    if (n == 0 || n > N_MAX || !cholesky(n, h, lower))
        return PM_QP_NOT_CONVEX;
    const struct constraints all = {.n = n, .m = m, .a = a, .b = b, .lower = lower};
    struct active_set set;
    set.n = n;
    set.k = 0;
    forward(n, lower, g, y);
    for (size_t i = 0; i < n; i++)
        y[i] = -y[i];

    size_t p = m;
    for (size_t iteration = 0; iteration <= 10 * (m + n); iteration++) {
        p = most_violated(&all, &set, y, normal, &bound);
        if (p == m)
            break;
        enum pm_qp_result result = activate(&set, p, normal, bound, y);
        if (result != PM_QP_SOLVED)
            return result;
    }
    if (p != m)
        return PM_QP_NO_PROGRESS;
    backward(n, lower, y, x);
    if (multipliers)
        memset(multipliers, 0, m * sizeof *multipliers);
    for (size_t j = 0; multipliers && j < set.k; j++)
        multipliers[set.constraints[j]] =
            set.multipliers[j] / whiten(&all, set.constraints[j], normal, &bound);
    return PM_QP_SOLVED;
}

/* ---- the nearest point ------------------------------------------------------------------------
 */

PM_LANES_INLINE bool is_active(const struct active_set *set, size_t c) {
    for (size_t j = 0; j < set->k; j++)
        if (set->constraints[j] == c)
            return true;
    return false;
}

/* The violated constraint that lies farthest from X; m if none.  INVERSE has one over the squares
   of the normals' lengths, so that  slack · |slack| · inverse  is the square of a distance. */
PM_LANES_INLINE size_t farthest(const struct active_set *set, size_t m, const double *normals,
                                const double *inverse, const double *x) {
    double worst = 0;
    size_t found = m;
    for (size_t c = 0; c < m; c += PM_LANES) {
        pm_lanes slack = {0}, scale = {0};
        for (size_t i = 0; i < set->n; i++) {
            pm_lanes part = x[i] * PM_LANES_CONST(normals, i * m + c);
            slack += part;
            scale += PM_LANES_LARGER(part, -part);
        }
        pm_lanes size = PM_LANES_LARGER(slack, -slack);
        pm_lanes distance = slack * size * PM_LANES_CONST(inverse, c);
        for (size_t l = 0; l < PM_LANES; l++)
            if (distance[l] < worst && slack[l] < -ROUNDING * scale[l] && !is_active(set, c + l)) {
                worst = distance[l];
                found = c + l;
            }
    }
    return found;
}

PM_LANES_CLONES enum pm_qp_result pm_qp_nearest(size_t n, size_t m, const double *normals,
                                                double *x) {
    double inverse[PM_QP_MOST_NEAREST], y[N_MAX], normal[N_MAX];
    struct active_set set;
    set.n = n;
    set.k = 0;
    for (size_t c = 0; c < m; c += PM_LANES) {
        pm_lanes square = {DBL_MIN, DBL_MIN, DBL_MIN, DBL_MIN};
        for (size_t i = 0; i < n; i++)
            square += PM_LANES_CONST(normals, i * m + c) * PM_LANES_CONST(normals, i * m + c);
        PM_LANES_AT(inverse, c) = 1 / square;
    }
    memcpy(y, x, n * sizeof *y);
    for (size_t iteration = 0; iteration <= 10 * (m + n); iteration++) {
        size_t p = farthest(&set, m, normals, inverse, y);
        if (p == m) {
            memcpy(x, y, n * sizeof *x);
            return PM_QP_SOLVED;
        }
        for (size_t i = 0; i < n; i++)
            normal[i] = normals[i * m + p] * sqrt(inverse[p]);
        enum pm_qp_result result = activate(&set, p, normal, 0, y);
        if (result != PM_QP_SOLVED)
            return result;
    }
    return PM_QP_NO_PROGRESS;
}
