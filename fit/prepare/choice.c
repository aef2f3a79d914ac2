/* In which parameters is what was measured modelled best?  Where sizes alone do not tell which of
   several parameters models are to be functions of, a sample of the measured quantities does: the
   edges with the largest counts, and the largest histograms' accesses, cold accesses and sums of
   distances.  Each is judged by how well polynomials of low degree predict each size from the
   others (pm_series_predictability), weighted by its count. */
#include "fit/prepare/prepare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Of a quantity: runs that differ by less are alike; a block more or less is touched where
   addresses lie otherwise. */
static const double alike = 0.01;
/* Edges, the largest first, that judge parameters: nearly all counts. */
enum { sampled_edges = 64 };
/* Histograms, likewise. */
enum { sampled_histograms = 32 };
/* Of an array, where a block more or less is touched. */
enum { block_ends = 2 };

struct pm_fit_sample {
    const struct pm_profile *const *profiles;
    size_t n;
    PM_ARRAY(double, values);  /* n for each series, in the order of the profiles */
    PM_ARRAY(double, weights); /* one for each series */
    size_t n_edge_series; /* series of edges; then come those of histograms, QUANTITIES for each */
};

static double parameter_of(const struct pm_profile *profile, const char *name) {
    double value = NAN;
    pm_parameters_get(&profile->parameters, name, &value);
    return value;
}

/* ---- what is sampled ------------------------------------------------------------------------- */

struct ranked {
    size_t index;
    double weight;
};

static int heaviest_first(const void *a, const void *b) {
    const struct ranked *left = a, *right = b;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static void add_edges(struct pm_fit_sample *sample) {
    size_t n_edges = sample->profiles[0]->n_edges, n_kept = 0;
    struct ranked *ranked = pm_alloc(n_edges, sizeof *ranked);
    double total = 0;
    for (size_t e = 0; e < n_edges; e++) {
        ranked[e].index = e;
        for (size_t k = 0; k < sample->n; k++)
            ranked[e].weight += sample->profiles[k]->edge_counts[e];
    }
    PM_SORT(ranked, n_edges, heaviest_first);
    while (n_kept < n_edges && n_kept < (size_t)sampled_edges && ranked[n_kept].weight > 0)
        total += ranked[n_kept++].weight;
    for (size_t i = 0; i < n_kept; i++) {
        for (size_t k = 0; k < sample->n; k++)
            *PM_PUSH(sample, values) = sample->profiles[k]->edge_counts[ranked[i].index];
        *PM_PUSH(sample, weights) = ranked[i].weight / total;
    }
    sample->n_edge_series = n_kept;
    free(ranked);
}

static double sum_of_distances(const struct pm_histogram *histogram) {
    double sum = 0;
    for (size_t b = 0; b < histogram->n_bins; b++)
        sum += histogram->bins[b].mean * pm_bin_accesses(&histogram->bins[b]);
    return sum;
}

enum { ACCESSES, COLD, DISTANCES, QUANTITIES };

static double quantity_of(const struct pm_histogram *histogram, int quantity) {
    if (!histogram)
        return 0;
    return quantity == ACCESSES ? pm_histogram_accesses(histogram)
           : quantity == COLD   ? histogram->cold_loads + histogram->cold_stores
                                : sum_of_distances(histogram);
}

/* Of the profile with most accesses, in all profiles. */
static void add_histograms(struct pm_fit_sample *sample) {
    const struct pm_profile *largest = sample->profiles[0];
    for (size_t k = 1; k < sample->n; k++)
        if (sample->profiles[k]->n_histograms > largest->n_histograms)
            largest = sample->profiles[k];
    size_t n = largest->n_histograms, n_kept = 0;
    struct ranked *ranked = pm_alloc(n, sizeof *ranked);
    double total = 0;
    for (size_t h = 0; h < n; h++)
        ranked[h] = (struct ranked){h, pm_histogram_accesses(&largest->histograms[h].histogram)};
    PM_SORT(ranked, n, heaviest_first);
    while (n_kept < n && n_kept < (size_t)sampled_histograms && ranked[n_kept].weight > 0)
        total += ranked[n_kept++].weight;
    for (size_t i = 0; i < n_kept; i++)
        for (int quantity = 0; quantity < QUANTITIES; quantity++) {
            const struct pm_group_histogram *of = &largest->histograms[ranked[i].index];
            for (size_t k = 0; k < sample->n; k++)
                *PM_PUSH(sample, values) = quantity_of(
                    pm_profile_histogram(sample->profiles[k], of->group, of->histogram.block_bytes),
                    quantity);
            *PM_PUSH(sample, weights) = ranked[i].weight / total / QUANTITIES;
        }
    free(ranked);
}

struct pm_fit_sample *pm_fit_sample_new(const struct pm_profile *const *profiles, size_t n) {
    struct pm_fit_sample *sample = pm_alloc(1, sizeof *sample);
    sample->profiles = profiles;
    sample->n = n;
    add_edges(sample);
    add_histograms(sample);
    return sample;
}

void pm_fit_sample_free(struct pm_fit_sample *sample) {
    free(sample->values);
    free(sample->weights);
    free(sample);
}

/* ---- how well it is modelled ----------------------------------------------------------------- */

/* The design of models in NAMES at the profiles, which stand in ORDER; NULL: there is none. */
static struct pm_design *design_in(const struct pm_fit_sample *sample, const char *const *names,
                                   size_t n_names, const struct pm_profile **order) {
    static const char *const texts[] = {"1", "x", "x^2", "x^3"};
    double *points = pm_alloc(sample->n * n_names, sizeof *points);
    pm_fit_sort(sample->profiles, sample->n, names, n_names, order);
    for (size_t k = 0; k < sample->n; k++)
        for (size_t p = 0; p < n_names; p++)
            points[k * n_names + p] = parameter_of(order[k], names[p]);
    struct pm_design *design = NULL;
    if (n_names == 1) {
        struct pm_basis *basis = pm_basis_new(4, texts, NULL);
        design = basis ? pm_design_new(basis, "x", points, sample->n, NULL) : NULL;
        pm_basis_free(basis);
    } else if (n_names <= PM_FIT_MAX_AXES) {
        design = pm_design_on_axes(names, n_names, points, sample->n, NULL, 0, NULL);
    }
    free(points);
    return design;
}

double pm_fit_sample_error(const struct pm_fit_sample *sample, const char *const *names,
                           size_t n_names) {
    const struct pm_profile **order = pm_alloc(sample->n, sizeof *order);
    struct pm_design *design = design_in(sample, names, n_names, order);
    struct pm_series_workspace *workspace = design ? pm_series_workspace_new(design) : NULL;
    double *y = pm_alloc(sample->n, sizeof *y), error = 0, weight = 0;
    for (size_t s = 0; workspace && s < sample->n_weights; s++) {
        for (size_t k = 0; k < sample->n; k++) {
            size_t at = 0;
            while (sample->profiles[at] != order[k])
                at++;
            y[k] = sample->values[s * sample->n + at];
        }
        error += sample->weights[s] * fmin(pm_series_predictability(workspace, y, 0), 1);
        weight += sample->weights[s];
    }
    pm_series_workspace_free(workspace);
    pm_design_free(design);
    free(order);
    free(y);
    return weight > 0 ? error / weight : NAN;
}

/* ---- what changes nothing -------------------------------------------------------------------- */

/* Do the runs I and J agree in all parameters but NAME, and differ in it? */
static bool differ_in(const struct pm_fit_sample *sample, size_t i, size_t j, const char *name) {
    const struct pm_parameters *a = &sample->profiles[i]->parameters;
    for (size_t p = 0; p < a->n; p++) {
        bool same = a->values[p] == parameter_of(sample->profiles[j], a->names[p]);
        if (same == (strcmp(a->names[p], name) == 0))
            return false;
    }
    return true;
}

static double value(const struct pm_fit_sample *sample, size_t series, size_t profile) {
    return sample->values[series * sample->n + profile];
}

/* Executed alike; data may begin and end elsewhere in their blocks. */
static bool are_alike(const struct pm_fit_sample *sample, size_t i, size_t j) {
    const struct pm_profile *a = sample->profiles[i], *b = sample->profiles[j];
    for (size_t e = 0; e < a->n_edges; e++)
        if (a->edge_counts[e] != b->edge_counts[e])
            return false;
    for (size_t s = sample->n_edge_series; s < sample->n_weights; s++) {
        size_t quantity = (s - sample->n_edge_series) % QUANTITIES;
        double left = value(sample, s, i), right = value(sample, s, j), blocks = 0;
        if (quantity == COLD)
            blocks = (double)block_ends;
        if (quantity == DISTANCES)
            blocks = (double)block_ends * value(sample, s - DISTANCES + ACCESSES, i);
        if (fabs(left - right) > alike * fmax(left, right) + blocks)
            return false;
    }
    return true;
}

bool pm_fit_sample_ignores(const struct pm_fit_sample *sample, const char *name, bool *repeats) {
    size_t n_pairs = 0;
    memset(repeats, 0, sample->n * sizeof *repeats);
    for (size_t j = 1; j < sample->n; j++)
        for (size_t i = 0; i < j; i++) {
            if (!differ_in(sample, i, j, name))
                continue;
            if (!are_alike(sample, i, j))
                return false;
            repeats[j] = true;
            n_pairs++;
        }
    return n_pairs > 0;
}
