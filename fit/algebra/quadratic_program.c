/* The dual active-set method of Goldfarb & Idnani for small dense quadratic programs.

   With H = LLᵀ and y = Lᵀx the objective becomes ½|y|² + (L⁻¹g)ᵀy, a constraint's normal a becomes
   v = L⁻¹a, and projections are plain orthogonal ones.  From the unconstrained minimum the most
   violated constraint is made active, step by step: z = the part of v orthogonal to the active
   normals,  r = v's coordinates in them; the full step makes the constraint hold, a shorter one is
   taken where an active constraint's multiplier would turn negative, which then leaves the active
   set. The dual objective grows with each full step, so no active set comes back and the method
   ends. An orthonormal basis of the active normals is built afresh at each step: with at most 16
   variables that costs less than it would to update it, and rounding errors do not pile up.
   All is in extended precision: in doubles an H with a condition number of 1e9 leaves seven digits
   of the whitened constraints. */
#include "fit/algebra/quadratic_program.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "fit/algebra/vectors.h"

enum { N_MAX = PM_QP_MAX_VARIABLES };

typedef long double extended;
#define ROUNDED 1e-13    /* the same as ROUNDING where sums are of doubles */
#define ROUNDING 1e-15L  /* of the size of what was added up: no violation, no dependence */
#define LEFT_OVER 1e-17L /* of the length of what was projected away */
#define DEPENDENT 1e-30L /* squared length of a unit normal beside the active ones */

struct active_set {
    size_t n; /* variables */
    size_t k; /* active constraints */
    size_t constraints[N_MAX];
    extended multipliers[N_MAX];
    extended start[N_MAX];           /* the unconstrained minimum, whitened */
    extended rounding;               /* violations up to this were found to be rounding errors */
    extended bounds[N_MAX];          /* normal j · y ≥ bound j */
    extended normals[N_MAX][N_MAX];  /* whitened, of length 1 */
    extended basis[N_MAX][N_MAX];    /* orthonormal, of the span of the normals */
    extended triangle[N_MAX][N_MAX]; /* normal j = Σ_i≤j triangle[i][j] · basis i */
};

static extended dot(size_t n, const extended *a, const extended *b) {
    extended sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static bool cholesky(size_t n, const double *h, extended lower[N_MAX][N_MAX]) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            extended sum = h[i * n + j] - dot(j, lower[i], lower[j]);
            if (i > j)
                lower[i][j] = sum / lower[j][j];
            else if (sum > LDBL_EPSILON * fabsl(h[i * n + i]))
                lower[i][i] = sqrtl(sum);
            else
                return false;
        }
    return true;
}

static void forward(size_t n, extended lower[N_MAX][N_MAX], const extended *right,
                    extended *result) {
    for (size_t i = 0; i < n; i++)
        result[i] = (right[i] - dot(i, lower[i], result)) / lower[i][i];
}

static void backward(size_t n, extended lower[N_MAX][N_MAX], const extended *right,
                     extended *result) {
    for (size_t i = n; i-- > 0;) {
        extended sum = right[i];
        for (size_t j = i + 1; j < n; j++)
            sum -= lower[j][i] * result[j];
        result[i] = sum / lower[i][i];
    }
}

/* Orthogonalises V against the first K basis vectors, twice; COORDINATES (K entries) are those
   parts. */
static void project_out(const struct active_set *set, size_t k, extended *v,
                        extended *coordinates) {
    memset(coordinates, 0, k * sizeof *coordinates);
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < k; j++) {
            extended part = dot(set->n, set->basis[j], v);
            coordinates[j] += part;
            for (size_t i = 0; i < set->n; i++)
                v[i] -= part * set->basis[j][i];
        }
}

static void rebuild_basis(struct active_set *set) {
    for (size_t j = 0; j < set->k; j++) {
        extended coordinates[N_MAX];
        memcpy(set->basis[j], set->normals[j], set->n * sizeof(extended));
        project_out(set, j, set->basis[j], coordinates);
        extended length = sqrtl(dot(set->n, set->basis[j], set->basis[j]));
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
        set->bounds[i] = set->bounds[i + 1];
        memcpy(set->normals[i], set->normals[i + 1], sizeof set->normals[i]);
    }
    rebuild_basis(set);
}

/* R: coordinates of the constraint's normal in the active normals (triangle · r = in_basis). */
static void solve_triangle(const struct active_set *set, const extended *in_basis, extended *r) {
    for (size_t i = set->k; i-- > 0;) {
        extended sum = in_basis[i];
        for (size_t j = i + 1; j < set->k; j++)
            sum -= set->triangle[i][j] * r[j];
        r[i] = sum / set->triangle[i][i];
    }
}

/* Adds to Y the shortest step after which the active constraints' left sides are by WANTED more. */
static void step_along(const struct active_set *set, const extended *wanted, extended *y) {
    extended along[N_MAX]; /* in the basis: triangleᵀ · along = wanted */
    for (size_t j = 0; j < set->k; j++) {
        along[j] = wanted[j];
        for (size_t i = 0; i < j; i++)
            along[j] -= set->triangle[i][j] * along[i];
        along[j] /= set->triangle[j][j];
        for (size_t i = 0; i < set->n; i++)
            y[i] += along[j] * set->basis[j][i];
    }
}

/* Y is where the active constraints hold that is nearest to the start: what steps have lost in
   rounding comes back. */
static void place(const struct active_set *set, extended *y) {
    extended wanted[N_MAX];
    memcpy(y, set->start, set->n * sizeof *y);
    for (size_t j = 0; j < set->k; j++)
        wanted[j] = set->bounds[j] - dot(set->n, set->normals[j], y);
    step_along(set, wanted, y);
}

/* Whether a constraint whose normal has the coordinates R in the active normals holds where these
   do: its violation is then a rounding error, as where all meet in one point. */
static bool follows(const struct active_set *set, const extended *r, extended bound) {
    extended left = 0, size = fabsl(bound);
    for (size_t j = 0; j < set->k; j++) {
        left += r[j] * set->bounds[j];
        size += fabsl(r[j] * set->bounds[j]);
    }
    return left >= bound - ROUNDING * size;
}

/* Makes constraint P (whitened normal V of length 1, right side BOUND) active, moving Y. */
static enum pm_qp_result activate(struct active_set *set, size_t p, const extended *v,
                                  extended bound, extended *y) {
    extended multiplier = 0;
    for (size_t steps = 0; steps <= N_MAX; steps++) {
        extended z[N_MAX], in_basis[N_MAX], r[N_MAX];
        memcpy(z, v, set->n * sizeof *z);
        project_out(set, set->k, z, in_basis);
        solve_triangle(set, in_basis, r);
        extended length = dot(set->n, z, z), partial = INFINITY;
        size_t blocking = 0;
        for (size_t j = 0; j < set->k; j++)
            if (r[j] > ROUNDING && set->multipliers[j] / r[j] < partial) {
                partial = set->multipliers[j] / r[j];
                blocking = j;
            }
        bool dependent = set->k == set->n || length < DEPENDENT;
        extended full = dependent ? INFINITY : (bound - dot(set->n, v, y)) / length;
        if (dependent && steps == 0 && follows(set, r, bound)) {
            set->rounding = 2 * fmaxl(set->rounding, bound - dot(set->n, v, y));
            return PM_QP_SOLVED;
        }
        if (dependent && isinf(partial))
            return PM_QP_INFEASIBLE;
        extended step = full < partial ? full : partial;
        if (!dependent)
            for (size_t i = 0; i < set->n; i++)
                y[i] += step * z[i];
        for (size_t j = 0; j < set->k; j++)
            set->multipliers[j] -= step * r[j];
        multiplier += step;
        if (full <= partial) {
            set->constraints[set->k] = p;
            set->multipliers[set->k] = multiplier;
            set->bounds[set->k] = bound;
            memcpy(set->normals[set->k], v, set->n * sizeof *v);
            set->k++;
            rebuild_basis(set);
            place(set, y);
            return PM_QP_SOLVED;
        }
        drop(set, blocking);
    }
    return PM_QP_NO_PROGRESS;
}

struct constraints {
    size_t n, m;
    const double *a, *b;
    extended (*lower)[N_MAX]; /* the Cholesky factor of H */
    extended length;          /* of the unconstrained minimum in whitened space */
};

/* Constraint C in whitened space, its normal V of length 1; returns its former length. */
static extended whiten(const struct constraints *all, size_t c, extended *v, extended *bound) {
    extended row[N_MAX] = {0};
    for (size_t i = 0; i < all->n; i++)
        row[i] = all->a[c * all->n + i];
    forward(all->n, all->lower, row, v);
    extended length = sqrtl(dot(all->n, v, v));
    *bound = length > 0 ? all->b[c] / length : all->b[c];
    for (size_t i = 0; length > 0 && i < all->n; i++)
        v[i] /= length;
    return length;
}

PM_VECTOR_INLINE bool is_active(const struct active_set *set, size_t c) {
    for (size_t j = 0; j < set->k; j++)
        if (set->constraints[j] == c)
            return true;
    return false;
}

/* The violated constraint that lies farthest from Y; m if none.  Active ones hold but for rounding.
 */
static size_t most_violated(const struct constraints *all, const struct active_set *set,
                            const extended *y, extended *normal, extended *bound) {
    extended worst = 0;
    size_t found = all->m;
    for (size_t c = 0; c < all->m; c++) {
        if (is_active(set, c))
            continue;
        extended v[N_MAX] = {0}, limit;
        whiten(all, c, v, &limit);
        /* Y came from the unconstrained minimum and has rounding errors of its size, which are all
           that is left of it at the tip of a cone, where the constraints meet in the origin. */
        extended allowed = ROUNDING * fabsl(limit) + LEFT_OVER * all->length + set->rounding;
        for (size_t i = 0; i < all->n; i++)
            allowed += ROUNDING * fabsl(v[i] * y[i]);
        extended slack = dot(all->n, v, y) - limit;
        if (slack < -allowed && slack < worst) {
            worst = slack;
            found = c;
            *bound = limit;
            memcpy(normal, v, all->n * sizeof *v);
        }
    }
    return found;
}

/* What the active constraints are off by at X, in their own terms, is taken off once more:
   whitening a badly conditioned H multiplies rounding errors. */
static void correct(const struct constraints *all, const struct active_set *set, extended *x) {
    extended wanted[N_MAX], step[N_MAX] = {0}, back[N_MAX], normal[N_MAX] = {0}, bound;
    for (size_t j = 0; j < set->k; j++) {
        size_t c = set->constraints[j];
        wanted[j] = all->b[c];
        for (size_t i = 0; i < all->n; i++)
            wanted[j] -= all->a[c * all->n + i] * x[i];
        wanted[j] /= whiten(all, c, normal, &bound);
    }
    step_along(set, wanted, step);
    backward(all->n, all->lower, step, back);
    for (size_t i = 0; i < all->n; i++)
        x[i] += back[i];
}

enum pm_qp_result pm_qp_solve(size_t n, const double *h, const double *g, size_t m, const double *a,
                              const double *b, double *x, double *multipliers) {
    extended lower[N_MAX][N_MAX], y[N_MAX] = {0}, normal[N_MAX], right[N_MAX], bound;
    if (n == 0 || n > N_MAX || !cholesky(n, h, lower))
        return PM_QP_NOT_CONVEX;
    struct active_set set;
    set.n = n;
    set.k = 0;
    set.rounding = 0;
    for (size_t i = 0; i < n; i++)
        right[i] = -g[i];
    forward(n, lower, right, y);
    memcpy(set.start, y, sizeof set.start);
    const struct constraints all = {
        .n = n, .m = m, .a = a, .b = b, .lower = lower, .length = sqrtl(dot(n, y, y))};

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
    backward(n, lower, y, right);
    correct(&all, &set, right);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)right[i];
    if (multipliers)
        memset(multipliers, 0, m * sizeof *multipliers);
    for (size_t j = 0; multipliers && j < set.k; j++)
        multipliers[set.constraints[j]] =
            (double)(set.multipliers[j] / whiten(&all, set.constraints[j], normal, &bound));
    return PM_QP_SOLVED;
}

/* ---- the nearest point ----------------------------------------------------------------------- */

/* The violated constraint that lies farthest from X; m if none.  INVERSE has one over the squares
   of the normals' lengths, so that  slack · |slack| · inverse  is the square of a distance, which
   counts from ALLOWED on. */
PM_VECTOR_INLINE size_t farthest(const struct active_set *set, size_t m, const double *normals,
                                 const double *inverse, const double *x, double allowed) {
    double worst = -allowed * allowed;
    size_t found = m;
    for (size_t c = 0; c < m; c += PM_VECTOR_WIDTH) {
        pm_vector slack = {0}, scale = {0};
        for (size_t i = 0; i < set->n; i++) {
            pm_vector part = x[i] * PM_VECTOR_CONST(normals, i * m + c);
            slack += part;
            scale += PM_VECTOR_LARGER(part, -part);
        }
        pm_vector size = PM_VECTOR_LARGER(slack, -slack);
        pm_vector distance = slack * size * PM_VECTOR_CONST(inverse, c);
        for (size_t l = 0; l < PM_VECTOR_WIDTH; l++)
            if (distance[l] < worst && slack[l] < -ROUNDED * scale[l] && !is_active(set, c + l)) {
                worst = distance[l];
                found = c + l;
            }
    }
    return found;
}

PM_VECTOR_CLONES enum pm_qp_result pm_qp_nearest(size_t n, size_t m, double *normals, double *x) {
    double *inverse = normals + n * m, rounded[N_MAX];
    extended y[N_MAX], normal[N_MAX];
    struct active_set set;
    set.n = n;
    set.k = 0;
    set.rounding = 0;
    for (size_t c = 0; c < m; c += PM_VECTOR_WIDTH) {
        pm_vector square = {DBL_MIN, DBL_MIN, DBL_MIN, DBL_MIN};
        for (size_t i = 0; i < n; i++)
            square += PM_VECTOR_CONST(normals, i * m + c) * PM_VECTOR_CONST(normals, i * m + c);
        PM_VECTOR_AT(inverse, c) = 1 / square;
    }
    for (size_t i = 0; i < n; i++) {
        rounded[i] = x[i];
        set.start[i] = y[i] = x[i];
    }
    extended length = sqrtl(dot(n, y, y));
    for (size_t iteration = 0; iteration <= 10 * (m + n); iteration++) {
        size_t p = farthest(&set, m, normals, inverse, rounded,
                            (double)(LEFT_OVER * length + set.rounding));
        if (p == m) {
            memcpy(x, rounded, n * sizeof *x);
            return PM_QP_SOLVED;
        }
        for (size_t i = 0; i < n; i++)
            normal[i] = normals[i * m + p] * sqrtl(inverse[p]);
        enum pm_qp_result result = activate(&set, p, normal, 0, y);
        if (result != PM_QP_SOLVED)
            return result;
        for (size_t i = 0; i < n; i++)
            rounded[i] = (double)y[i];
    }
    return PM_QP_NO_PROGRESS;
}
