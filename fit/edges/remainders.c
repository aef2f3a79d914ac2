/* Edges whose counts have remainders: vector loops, and the iterations that they leave.

   Looked for where no other model is exact, in edges that are executed often enough to matter;
   then, with the widths and offsets that were found, in all others.  The functions are added to the
   basis, each once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/edges/edges.h"
#include "fit/prepare/prepare.h"
#include "fit/private.h"

/* Of the most frequent edge: remainders of rarer ones are not looked for, which takes time. */
static const double remainder_share = 1e-4;

/* The number of function TEXT of the basis, which is added if it is none yet. */
static size_t function_of_text(struct pm_basis *basis, char *text) {
    size_t i = 0;
    while (i < basis->n && strcmp(basis->texts[i], text) != 0)
        i++;
    struct pm_expression *expression = i < basis->n ? NULL : pm_expression_parse(text, NULL);
    if (!expression) {
        free(text);
        return i;
    }
    basis->texts = pm_realloc(basis->texts, basis->n + 1, sizeof *basis->texts);
    basis->expressions = pm_realloc(basis->expressions, basis->n + 1, sizeof *basis->expressions);
    basis->texts[basis->n] = text;
    basis->expressions[basis->n] = expression;
    return basis->n++;
}

static void set_model(struct pm_basis *basis, const char *name, size_t n_points,
                      const struct pm_remainder_model *found, struct pm_model *model) {
    *model = (struct pm_model){.n_points = (uint16_t)n_points, .exact = true};
    for (size_t k = 0; k < PM_REMAINDER_SMOOTH; k++)
        pm_model_add_term(model, k, found->smooth[k]);
    for (size_t k = 0; k < PM_REMAINDER_STEPPED; k++)
        if (found->stepped[k] != 0)
            pm_model_add_term(model, function_of_text(basis, pm_remainder_text(found, name, k)),
                              found->stepped[k]);
}

/* What the edges that have no exact model are searched for. */
struct remainders {
    const struct pm_structure *structure;
    const struct pm_fit_bases *bases;
    const struct pm_profile *const *profiles;
    const struct pm_model_set *set;
    double least; /* count at the size where it is largest */
    struct pm_remainder_model *found;
    bool *is_found;
};

static double largest_count(const struct remainders *r, size_t e) {
    double most = 0;
    for (size_t k = 0; k < r->set->n_runs; k++)
        most = fmax(most, r->profiles[k]->edge_counts[e]);
    return most;
}

static bool is_wanted(const struct remainders *r, size_t e) {
    size_t d = pm_fit_design_of_edge(r->bases, r->structure, e);
    return !r->is_found[e] && !r->set->edges[e].exact && !r->bases->given[d] &&
           r->structure->edges[e].counter != PM_NONE && largest_count(r, e) >= r->least;
}

static void search(struct remainders *r, const struct pm_remainder_model *known, size_t n_known) {
    size_t n = r->set->n_runs;
#pragma omp parallel for schedule(dynamic)
    for (size_t e = 0; e < r->set->n_edges; e++) {
        if (!is_wanted(r, e))
            continue;
        const struct pm_design *design =
            r->bases->designs[pm_fit_design_of_edge(r->bases, r->structure, e)];
        double *counts = pm_alloc(n, sizeof *counts);
        for (size_t k = 0; k < n; k++)
            counts[k] = r->profiles[k]->edge_counts[e];
        r->is_found[e] = pm_fit_remainders(n, design->x, counts, known, n_known, &r->found[e]);
        free(counts);
    }
}

/* Each width with each offset once, into KNOWN. */
static size_t list_found(const struct remainders *r, struct pm_remainder_model *known) {
    size_t n_known = 0;
    for (size_t e = 0; e < r->set->n_edges; e++) {
        size_t i = 0;
        while (i < n_known &&
               (known[i].width != r->found[e].width || known[i].offset != r->found[e].offset))
            i++;
        if (r->is_found[e] && i == n_known)
            known[n_known++] = r->found[e];
    }
    return n_known;
}

void pm_fit_remainder_edges(const struct pm_structure *structure, const struct pm_fit_bases *bases,
                            const struct pm_profile *const *profiles, const char *name,
                            struct pm_model_set *set) {
    size_t n = set->n_runs;
    struct remainders r = {.structure = structure,
                           .bases = bases,
                           .profiles = profiles,
                           .set = set,
                           .found = pm_alloc(set->n_edges, sizeof *r.found),
                           .is_found = pm_alloc(set->n_edges, sizeof *r.is_found)};
    for (size_t e = 0; e < set->n_edges; e++)
        r.least = fmax(r.least, remainder_share * largest_count(&r, e));
    search(&r, NULL, 0);
    struct pm_remainder_model *known = pm_alloc(set->n_edges, sizeof *known);
    size_t n_known = list_found(&r, known);
    r.least = 0;
    if (n_known)
        search(&r, known, n_known);
    for (size_t e = 0; e < set->n_edges; e++)
        if (r.is_found[e])
            set_model(set->basis, name, n, &r.found[e], &set->edges[e]);
    free(known);
    free(r.found);
    free(r.is_found);
}
