/* Free fits of one series in one parameter: each subset of the basis is a candidate.

   Subsets are the nodes of a tree: a child adds one function behind the last.  At a node, the
   columns of all functions that may still be added are orthogonal to the node's terms (modified
   Gram-Schmidt), so that a candidate costs one more column: its length, its coordinate, what it
   leaves of the values and what it adds to the leverage.  Values beyond the data, for growth, are
   two more entries of a column that do not count in products.  That is exact enough to rank; the
   few that a model is chosen from are solved again, orthogonalised twice.  A specialisation of
   candidate.c, which judges them alike, for speed: all subsets of five functions at ten sizes take
   1.5 µs, and solved one by one there 3.5 times as long.
   Needs the workspace's points. */
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/series/private.h"

enum { MAX_TERMS = PM_MODEL_MAX_TERMS };

#define DEPENDENT 1e-22 /* square of a column's length by which it depends on others */

/* What the terms on the way to a node leave. */
struct level {
    double *columns;  /* row i: weighted basis function i without its part in the terms' span */
    double *left;     /* row: weighted values without theirs */
    double *leverage; /* row: of the points */
    /* The functions' values at the largest size and at the end of the range of prediction, under
       the same operations as the columns; and the fit's. */
    double end[MAX_TERMS], far[MAX_TERMS];
    double end_value, far_value;
};

struct pm_tree {
    struct level levels[MAX_TERMS + 1];
    double squares[MAX_TERMS]; /* of the weighted functions' lengths */
    double *rows;              /* all of the levels'; owned */
};

struct pm_tree *pm_tree_new(const struct pm_design *design) {
    struct pm_tree *tree = pm_alloc(1, sizeof *tree);
    size_t n_basis = design->n_basis, stride = design->stride;
    double *row = pm_alloc((n_basis + 1) * (n_basis + 2) * stride, sizeof *row);
    tree->rows = row;
    for (size_t l = 0; l <= n_basis; l++, row += (n_basis + 2) * stride) {
        tree->levels[l].left = row;
        tree->levels[l].leverage = row + stride;
        tree->levels[l].columns = row + 2 * stride;
    }
    return tree;
}

void pm_tree_free(struct pm_tree *tree) {
    if (!tree)
        return;
    free(tree->rows);
    free(tree);
}

struct search {
    size_t n_basis, max_terms;
    struct pm_ranked *ranked; /* NULL: only the best one's error is wanted */
    size_t n_ranked;
    double accepted, hopeless; /* of pm_candidates_error */
    double best_score, best_error;
    bool ended;
};

/* The root: no term, all of the values left. */
PM_VECTOR_INLINE void prepare(struct pm_series_workspace *w, size_t n_basis) {
    struct level *root = &w->tree->levels[0];
    for (size_t t = 0; t < n_basis; t++) {
        double *column = pm_row(w, root->columns, t);
        const double *function = pm_row(w, w->at->functions, t);
        for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH)
            PM_VECTOR_AT(column, i) = PM_VECTOR_CONST(function, i) * PM_VECTOR_CONST(w->weight, i);
        w->tree->squares[t] = pm_vector_dot(w->n_padded, column, column);
        root->end[t] = w->design->end[t];
        root->far[t] = w->design->far[t];
    }
    root->end_value = root->far_value = 0;
    for (size_t i = 0; i < w->n_padded; i += PM_VECTOR_WIDTH) {
        PM_VECTOR_AT(root->left, i) = PM_VECTOR_CONST(w->target, i);
        PM_VECTOR_AT(root->leverage, i) = (pm_vector){0};
    }
}

/* Goes to LEVEL + 1 by adding function T, whose column has a length of 1 / INVERSE there. */
PM_VECTOR_INLINE void add_term(struct pm_series_workspace *w, size_t level, size_t t,
                               double inverse) {
    const struct level *here = &w->tree->levels[level];
    struct level *next = &w->tree->levels[level + 1];
    const double *from = pm_row(w, here->columns, t);
    double *column = pm_row(w, next->columns, t);
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
    const struct level *here = &w->tree->levels[level];
    struct level *next = &w->tree->levels[level + 1];
    const double *column = pm_row(w, next->columns, t);
    for (size_t u = t + 1; u < n_basis; u++) {
        const double *from = pm_row(w, here->columns, u);
        double part = pm_vector_dot(w->n_padded, column, from);
        pm_vector_add(w->n_padded, from, -part, column, pm_row(w, next->columns, u));
        next->end[u] = here->end[u] - part * next->end[t];
        next->far[u] = here->far[u] - part * next->far[t];
    }
}

/* Leave-one-out error at LEVEL, larger sizes counting more. */
PM_VECTOR_INLINE double emphasised_error(const struct pm_series_workspace *w,
                                         const struct level *level) {
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
    double squares = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    for (size_t i = 0; w->is_rounded && i < w->n; i++) {
        double rounding = pm_heuristics.count_error * w->weight[i];
        squares += rounding * rounding / pm_larger(1 - level->leverage[i], least[0]);
    }
    return sqrt(squares / (double)w->n);
}

/* Judges the node at LEVEL, whose terms are SUBSET, T the last. */
PM_VECTOR_INLINE void judge_node(const struct pm_series_workspace *w, struct search *s,
                                 size_t level, size_t t, unsigned subset) {
    const struct level *node = &w->tree->levels[level];
    double error = emphasised_error(w, node);
    double score = pm_score(error, level, t >= w->n_free_of_penalty) *
                   pm_growth_penalty(w, 0, node->end_value, node->far_value);
    if (s->ranked) {
        pm_rank(s->ranked, s->n_ranked++, score, subset);
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
        const double *column = pm_row(w, w->tree->levels[level].columns, next);
        double square = pm_vector_dot(w->n_padded, column, column);
        if (!(square > DEPENDENT * w->tree->squares[next])) {
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
        const double *column = pm_row(w, w->tree->levels[t].columns, t);
        double square = pm_vector_dot(w->n_padded, column, column);
        if (!(square > DEPENDENT * w->tree->squares[t]))
            return false;
        add_term(w, t, t, 1 / sqrt(square));
        orthogonalise_after(w, t, t, n_basis);
    }
    return true;
}

double pm_candidates_least_score(struct pm_series_workspace *w, size_t n_basis) {
    double left = 0, tolerated = pm_vector_dot(w->n_padded, w->tolerated, w->tolerated);
    if (add_all(w, n_basis))
        left = pm_vector_dot(w->n_padded, w->tree->levels[n_basis].left,
                             w->tree->levels[n_basis].left);
    double error = (sqrt(left) - sqrt(tolerated)) / sqrt((double)w->n);
    return fmax(error, PM_LEAST_ERROR) * (1 + pm_heuristics.term_penalty);
}
