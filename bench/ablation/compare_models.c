/* Are the models of two stores the same?  For changes of fit/ that are to leave its results alone:
   fit a store with one build, a copy of it with another, and compare the two.

     gcc -O2 -I. -o compare_models bench/ablation/compare_models.c build/libpm_core.a $(cat
   build/ldlibs)
     ./compare_models BEFORE.pmdb AFTER.pmdb

   Prints each model that has other terms, or a value at the largest measured size or at eight times
   it that differs by more than a millionth, and histograms with another number of bins; then how
   many.  Status 1 if there are any. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/model.h"
#include "core/store/store.h"

#define SAME 1e-6
#define FAR 8.0

static size_t n_compared, n_different;

struct two_sets {
    const struct pm_model_set *before, *after;
    double near_before[64], far_before[64], near_after[64], far_after[64]; /* of the basis */
};

static bool agree(double a, double b) {
    return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b)) || (isnan(a) && isnan(b));
}

static void compare(const struct two_sets *sets, const char *what, size_t i, size_t bin,
                    const struct pm_model *a, const struct pm_model *b) {
    bool same = a->n_terms == b->n_terms && a->exact == b->exact && a->n_points == b->n_points &&
                agree(pm_model_value(a, sets->near_before), pm_model_value(b, sets->near_after)) &&
                agree(pm_model_value(a, sets->far_before), pm_model_value(b, sets->far_after));
    for (size_t t = 0; same && t < a->n_terms; t++)
        same = a->terms[t] == b->terms[t];
    n_compared++;
    if (same)
        return;
    n_different++;
    char *before = pm_model_text(sets->before->basis, a);
    char *after = pm_model_text(sets->after->basis, b);
    printf("%s %zu bin %zu: %s (%.3g, %.3g) | %s (%.3g, %.3g)\n", what, i, bin, before,
           a->relative_error, a->leave_one_out_error, after, b->relative_error,
           b->leave_one_out_error);
    free(before);
    free(after);
}

static void compare_histograms(const struct two_sets *sets, size_t h) {
    const struct pm_histogram_model *a = &sets->before->histograms[h];
    const struct pm_histogram_model *b = &sets->after->histograms[h];
    compare(sets, "accesses", h, 0, &a->accesses, &b->accesses);
    compare(sets, "cold", h, 0, &a->cold, &b->cold);
    if (a->n_bins != b->n_bins) {
        n_different++;
        printf("histogram %zu (group %u, %lu bytes): %zu bins | %zu bins\n", h, a->group,
               (unsigned long)a->block_bytes, a->n_bins, b->n_bins);
        return;
    }
    for (size_t i = 0; i < a->n_bins; i++) {
        compare(sets, "count", h, i, &a->bins[i].count, &b->bins[i].count);
        compare(sets, "distance", h, i, &a->bins[i].distance, &b->bins[i].distance);
    }
}

static struct pm_model_set *models_of(const char *path) {
    struct pm_error err = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, &err);
    struct pm_model_set *set = store ? pm_store_models(store, &err) : NULL;
    if (!set || set->basis->n > 64) {
        fprintf(stderr, "compare_models: %s\n", set ? "too many basis functions" : err.text);
        exit(2);
    }
    pm_store_close(store);
    return set;
}

static void evaluate(const struct pm_model_set *set, double *near, double *far) {
    struct pm_error err = {0};
    struct pm_parameters at = set->high;
    bool ok = pm_basis_evaluate(set->basis, &at, near, &err);
    for (size_t i = 0; i < at.n; i++)
        at.values[i] *= FAR;
    if (!ok || !pm_basis_evaluate(set->basis, &at, far, &err)) {
        fprintf(stderr, "compare_models: %s\n", err.text);
        exit(2);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: compare_models BEFORE.pmdb AFTER.pmdb\n");
        return 2;
    }
    static struct two_sets sets;
    struct pm_model_set *before = models_of(argv[1]), *after = models_of(argv[2]);
    sets.before = before;
    sets.after = after;
    evaluate(before, sets.near_before, sets.far_before);
    evaluate(after, sets.near_after, sets.far_after);
    if (before->n_edges != after->n_edges || before->n_histograms != after->n_histograms) {
        fprintf(stderr, "compare_models: the stores are not of the same measurements\n");
        return 2;
    }
    for (size_t e = 0; e < before->n_edges; e++)
        compare(&sets, "edge", e, 0, &before->edges[e], &after->edges[e]);
    for (size_t h = 0; h < before->n_histograms; h++)
        compare_histograms(&sets, h);
    printf("%zu of %zu models differ\n", n_different, n_compared);
    pm_model_set_free(before);
    pm_model_set_free(after);
    return n_different ? 1 : 0;
}
