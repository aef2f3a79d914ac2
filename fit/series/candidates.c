/* Free fits of one series: each subset of the basis is a candidate.

   y(x) = Σ cᵢ·fᵢ(x), least squares of the residuals divided by the values.  A candidate is judged
   by its leave-one-out error, residual / (1 − leverage), in which larger sizes count more, times a
   penalty for each term, for a fourth power, and for growth beyond the data.

   Subsets are the nodes of a tree: a child adds one function behind the last.  At a node, the
   columns of all functions that may still be added are orthogonal to the node's terms (modified
   Gram-Schmidt), so that a candidate costs one more column: its length, its coordinate, what it
   leaves of the values and what it adds to the leverage.  Values beyond the data, for growth, are
   two more entries of a column that do not count in products.  That is exact enough to rank; the
   few that a model is chosen from are solved again, orthogonalised twice.
   Needs the workspace's points.
   Source of the leave-one-out error: Allen, Technometrics 16 (1974), the PRESS statistic. */
#include "fit/series/private.h"

#include <math.h>

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

#define DEPENDENT 1e-22 /* square of a column's length by which it depends on others */

/* ---- what a candidate is worth --------------------------------------------------------------- */

/* From the largest size to the end of the range of prediction a fit may grow by this factor without
   a penalty: by the power of the data over the larger half of the sizes, and a little.  Where
   values are noisy, a high power that helps a little among them runs away outside. */
static double free_growth(const struct pm_series_workspace *w) {
    size_t middle = (w->n - 1) / 2, last = w->n - 1;
    if (pm_fit_without(PM_STEP_GROWTH_PENALTY) || w->y[middle] <= 0 || middle == last)
        return INFINITY;
    double power = w->y[last] > w->y[middle]
                       ? log(w->y[last] / w->y[middle]) / log(w->x[last] / w->x[middle])
                       : 0;
    return pow(pm_heuristics.shape_range, power + pm_heuristics.free_growth);
}

/* What an error is multiplied with for growth from END to FAR: pm_heuristics.growth_penalty for
   each power too many. */
static double growth_penalty(const struct pm_series_workspace *w, double end, double far) {
    double free = w->free_growth;
    if (end <= 0 || far <= 0 || far <= end * free)
        return 1;
    return pow(far / (end * free), w->penalty_power);
}

static double score_of(const struct pm_series_workspace *w, double emphasised, size_t n_terms,
                       size_t last_term) {
    double score = pm_larger(emphasised, pm_heuristics.least_error) *
                   (1 + pm_heuristics.term_penalty * (double)n_terms);
    return last_term >= w->n_free_of_penalty ? score * pm_heuristics.high_power_penalty : score;
}

/* ---- the tree of subsets --------------------------------------------------------------------- */

struct search {
    size_t n_basis, max_terms;
    struct pm_ranked *ranked; /* NULL: only the best one's error is wanted */
    size_t n_ranked;
    double accepted, hopeless; /* of pm_candidates_error */
    double best_score, best_error;
    bool ended;
};

PM_VECTOR_INLINE double *row(const struct pm_series_workspace *w, double *rows, size_t i) {
    return rows + i * w->stride;
}

/* The root: no term, all of the values left. */
PM_VECTOR_INLINE void prepare(struct pm_series_workspace *w, size_t n_basis) {
    struct pm_tree_level *root = &w->levels[0];
    const double *end = w->design->values[w->design->n - 1];
    const double *far = w->design->grid[PM_SERIES_GRID - 1];
    for (size_t t = 0; t < n_basis; t++) {
        double *column = row(w, root->columns, t);
        const double *function = row(w, w->functions, t);
        for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH)
            PM_VECTOR_AT(column, i) = PM_VECTOR_CONST(function, i) * PM_VECTOR_CONST(w->weight, i);
        w->squares[t] = pm_vector_dot(w->n_padded, column, column);
        root->end[t] = end[t];
        root->far[t] = far[t];
    }
    root->end_value = root->far_value = 0;
    w->free_growth = free_growth(w);
    for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH) {
        PM_VECTOR_AT(root->left, i) = PM_VECTOR_CONST(w->target, i);
        PM_VECTOR_AT(root->leverage, i) = (pm_vector){0};
    }
}

/* Goes to LEVEL + 1 by adding function T, whose column has a length of 1 / INVERSE there. */
PM_VECTOR_INLINE void add_term(struct pm_series_workspace *w, size_t level, size_t t,
                               double inverse) {
    const struct pm_tree_level *here = &w->levels[level];
    struct pm_tree_level *next = &w->levels[level + 1];
    const double *from = row(w, here->columns, t);
    double *column = row(w, next->columns, t);
    for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH)
        PM_VECTOR_AT(column, i) = inverse * PM_VECTOR_CONST(from, i);
    double coordinate = pm_vector_dot(w->n_padded, column, here->left);
    for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH) {
        pm_vector q = PM_VECTOR_CONST(column, i);
        PM_VECTOR_AT(next->left, i) = PM_VECTOR_CONST(here->left, i) - coordinate * q;
        PM_VECTOR_AT(next->leverage, i) = PM_VECTOR_CONST(here->leverage, i) + q * q;
    }
    next->end[t] = here->end[t] * inverse;
    next->far[t] = here->far[t] * inverse;
    next->end_value = here->end_value + coordinate * next->end[t];
    next->far_value = here->far_value + coordinate * next->far[t];
}

/* Makes the columns of the functions after T at LEVEL + 1 orthogonal to that of T. */
PM_VECTOR_INLINE void orthogonalise_after(struct pm_series_workspace *w, size_t level, size_t t,
                                          size_t n_basis) {
    const struct pm_tree_level *here = &w->levels[level];
    struct pm_tree_level *next = &w->levels[level + 1];
    const double *column = row(w, next->columns, t);
    for (size_t u = t + 1; u < n_basis; u++) {
        const double *from = row(w, here->columns, u);
        double part = pm_vector_dot(w->n_padded, column, from);
        pm_vector_add(w->n_padded, from, -part, column, row(w, next->columns, u));
        next->end[u] = here->end[u] - part * next->end[t];
        next->far[u] = here->far[u] - part * next->far[t];
    }
}

/* Leave-one-out error at LEVEL, larger sizes counting more. */
PM_VECTOR_INLINE double emphasised_error(const struct pm_series_workspace *w,
                                         const struct pm_tree_level *level) {
    const pm_vector least = {pm_heuristics.least_redundancy, pm_heuristics.least_redundancy,
                             pm_heuristics.least_redundancy, pm_heuristics.least_redundancy},
                    zero = {0};
    pm_vector sum = {0};
    for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH) {
        pm_vector left = PM_VECTOR_CONST(level->left, i);
        pm_vector size = PM_VECTOR_LARGER(left, -left);
        pm_vector redundancy = 1 - PM_VECTOR_CONST(level->leverage, i);
        pm_vector excess =
            size / PM_VECTOR_LARGER(redundancy, least) - PM_VECTOR_CONST(w->tolerated, i);
        excess = PM_VECTOR_LARGER(excess, zero);
        sum += excess * excess;
    }
    return sqrt(((sum[0] + sum[2]) + (sum[1] + sum[3])) / (double)w->n);
}

static void rank(struct search *s, double score, unsigned subset) {
    size_t at = s->n_ranked++;
    for (; at > 0; at--) {
        const struct pm_ranked *before = &s->ranked[at - 1];
        if (before->score < score || (before->score == score && before->subset < subset))
            break;
        s->ranked[at] = *before;
    }
    s->ranked[at] = (struct pm_ranked){score, subset};
}

/* Judges the node at LEVEL, whose terms are SUBSET, T the last. */
PM_VECTOR_INLINE void judge_node(const struct pm_series_workspace *w, struct search *s,
                                 size_t level, size_t t, unsigned subset) {
    const struct pm_tree_level *node = &w->levels[level];
    double error = emphasised_error(w, node);
    double score =
        score_of(w, error, level, t) * growth_penalty(w, node->end_value, node->far_value);
    if (s->ranked) {
        rank(s, score, subset);
        return;
    }
    if (score < s->best_score) {
        s->best_score = score;
        s->best_error = error;
        s->ended = score <= s->accepted; /* an error is never above its score */
    }
    /* All functions together leave the least. */
    if (level == s->n_basis && isfinite(s->hopeless)) {
        double least = pm_vector_dot(w->n_padded, node->left, node->left) / (double)w->n;
        if (least > s->hopeless * s->hopeless && s->hopeless > 0) {
            s->best_error = sqrt(least);
            s->ended = true;
        }
    }
}

/* Visits all nodes, depth first: the first leaf has all functions. */
PM_VECTOR_CLONES static void visit(struct pm_series_workspace *w, struct search *s) {
    size_t terms[MAX_TERMS]; /* the function that was added at each level */
    size_t level = 0, next = 0;
    unsigned subset = 0;
    prepare(w, s->n_basis);
    while (!s->ended) {
        if (next == s->n_basis || level == s->max_terms) { /* back, and on to the next sibling */
            if (level == 0)
                return;
            level--;
            subset &= ~(1u << terms[level]);
            next = terms[level] + 1;
            continue;
        }
        const double *column = row(w, w->levels[level].columns, next);
        double square = pm_vector_dot(w->n_padded, column, column);
        if (!(square > DEPENDENT * w->squares[next])) {
            next++;
            continue;
        }
        add_term(w, level, next, 1 / sqrt(square));
        judge_node(w, s, level + 1, next, subset | 1u << next);
        if (level + 1 == s->max_terms || next + 1 == s->n_basis) {
            next++;
            continue;
        }
        orthogonalise_after(w, level, next, s->n_basis);
        terms[level++] = next;
        subset |= 1u << next;
        next++;
    }
}

size_t pm_candidates_rank(struct pm_series_workspace *w, size_t n_basis, size_t max_terms) {
    struct search search = {.n_basis = n_basis, .max_terms = max_terms, .ranked = w->ranked};
    visit(w, &search);
    return search.n_ranked;
}

double pm_candidates_error(struct pm_series_workspace *w, size_t n_basis, size_t max_terms,
                           double accepted, double hopeless) {
    struct search search = {.n_basis = n_basis,
                            .max_terms = max_terms,
                            .accepted = accepted,
                            .hopeless = hopeless,
                            .best_score = INFINITY,
                            .best_error = 1};
    visit(w, &search);
    return search.best_error;
}

/* Goes to the node with all functions, which leave less than any of them; false if they depend on
   each other. */
PM_VECTOR_CLONES static bool add_all(struct pm_series_workspace *w, size_t n_basis) {
    prepare(w, n_basis);
    for (size_t t = 0; t < n_basis; t++) {
        const double *column = row(w, w->levels[t].columns, t);
        double square = pm_vector_dot(w->n_padded, column, column);
        if (!(square > DEPENDENT * w->squares[t]))
            return false;
        add_term(w, t, t, 1 / sqrt(square));
        orthogonalise_after(w, t, t, n_basis);
    }
    return true;
}

double pm_candidates_least_score(struct pm_series_workspace *w, size_t n_basis) {
    double left = 0, tolerated = pm_vector_dot(w->n_padded, w->tolerated, w->tolerated);
    if (add_all(w, n_basis))
        left = pm_vector_dot(w->n_padded, w->levels[n_basis].left, w->levels[n_basis].left);
    double error = (sqrt(left) - sqrt(tolerated)) / sqrt((double)w->n);
    return fmax(error, pm_heuristics.least_error) * (1 + pm_heuristics.term_penalty);
}

/* ---- one candidate --------------------------------------------------------------------------- */

/* Orthonormalises the candidate's weighted columns, twice; false if they depend on each other. */
PM_VECTOR_CLONES static bool orthonormalise(struct pm_series_workspace *w,
                                            const struct pm_candidate *c) {
    for (size_t j = 0; j < c->n_terms; j++) {
        double *column = row(w, w->columns, j);
        const double *function = row(w, w->functions, c->terms[j]);
        for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH)
            PM_VECTOR_AT(column, i) = PM_VECTOR_CONST(function, i) * PM_VECTOR_CONST(w->weight, i);
        double before = pm_vector_dot(w->n_padded, column, column);
        for (size_t k = 0; k < j; k++)
            w->triangle[k][j] = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < j; k++) {
                double part = pm_vector_dot(w->n_padded, row(w, w->columns, k), column);
                w->triangle[k][j] += part;
                pm_vector_add(w->n_padded, column, -part, row(w, w->columns, k), column);
            }
        double after = pm_vector_dot(w->n_padded, column, column);
        if (!(after > DEPENDENT * before))
            return false;
        w->triangle[j][j] = sqrt(after);
        double inverse = 1 / w->triangle[j][j];
        for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH)
            PM_VECTOR_AT(column, i) *= inverse;
    }
    return true;
}

void pm_candidate_project(const struct pm_series_workspace *w, size_t n, double *projected) {
    for (size_t j = 0; j < n; j++)
        projected[j] = pm_vector_dot(w->n_padded, row(w, w->columns, j), w->target);
}

void pm_candidate_judge(struct pm_series_workspace *w, const double *coordinates,
                        struct pm_candidate *c) {
    double residual_sum = 0, left_out_sum = 0, emphasised_sum = 0, end = 0, far = 0;
    pm_back_substitute(c->n_terms, w->triangle, coordinates, c->coefficients);
    for (size_t i = 0; i < w->n; i++) {
        double residual = w->target[i], leverage = 0;
        for (size_t j = 0; j < c->n_terms; j++) {
            double entry = row(w, w->columns, j)[i];
            residual -= entry * coordinates[j];
            leverage += entry * entry;
        }
        double relative = residual / w->relation[i],
               redundancy = pm_larger(1 - leverage, pm_heuristics.least_redundancy);
        residual_sum += relative * relative;
        left_out_sum += relative * relative / (redundancy * redundancy);
        double excess = pm_larger(fabs(residual) / redundancy - w->tolerated[i], 0);
        emphasised_sum += excess * excess;
    }
    for (size_t j = 0; j < c->n_terms; j++) {
        end += c->coefficients[j] * w->design->values[w->design->n - 1][c->terms[j]];
        far += c->coefficients[j] * w->design->grid[PM_SERIES_GRID - 1][c->terms[j]];
    }
    c->residual = sqrt(residual_sum / (double)w->n);
    c->leave_one_out = sqrt(left_out_sum / (double)w->n);
    c->emphasised = sqrt(emphasised_sum / (double)w->n);
    c->score = score_of(w, c->emphasised, c->n_terms, c->terms[c->n_terms - 1]) *
               growth_penalty(w, end, far);
}

bool pm_candidate_solve(struct pm_series_workspace *w, unsigned subset, struct pm_candidate *c) {
    double coordinates[MAX_TERMS];
    c->n_terms = 0;
    for (size_t i = 0; i < MAX_TERMS; i++)
        if (subset >> i & 1)
            c->terms[c->n_terms++] = i;
    if (!orthonormalise(w, c))
        return false;
    pm_candidate_project(w, c->n_terms, coordinates);
    pm_candidate_judge(w, coordinates, c);
    return true;
}
