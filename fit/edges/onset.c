/* Edges that are executed at the last two sizes only, and more often at the last: vector loops that
   small sizes do not reach.  Two values do not determine a function of the size; what is known of
   such counts does:

       y(x) = a·x^d + b·x^(d−1)

   d being the growth of the two, as an exponent, rounded up (3 at most): rows · (length −
   something) grows faster than its power while the lengths are short.

   A routine that halves its data calls itself or is called for x, x/2, x/4 … (some other count of
   it is exactly one with a logarithm, series/exact_logarithms.c).  There it is the growth from one
   size to the next that is such a function, if sizes double:

       y(x) = p(x) + p(x/2) + …  down to the smaller of the two sizes,   p(x) = a·x^d + b·x^(d−1)

   which is a function of the same basis again, because Σ x^k is geometric:
       x^k + (x/2)^k + … + s^k = ((2x)^k − s^k) / (2^k − 1).
   The error is how far the simplest model, one power through both, is off at the last size, from
   the other; it is not known better.
   Source: of this project. */
#include "fit/edges/edges.h"

#include <math.h>

#include "fit/prepare/prepare.h"

enum { FIRST_LOGARITHM = PM_FIT_POLYNOMIALS };

static bool halves_its_data(const struct pm_structure *structure, uint32_t routine,
                            const struct pm_model *edges) {
    const struct pm_routine *r = &structure->routines[routine];
    for (uint32_t e = r->first_edge; e < r->first_edge + r->n_edges; e++)
        for (size_t i = 0; edges[e].exact && i < edges[e].n_terms; i++)
            if (edges[e].terms[i] >= FIRST_LOGARITHM)
                return true;
    return false;
}

/* Y0 at X0 and Y1 at X1 = 2·X0 if SUMMED. */
static bool fit_two(double x0, double y0, double x1, double y1, bool summed,
                    struct pm_model *model) {
    double first = y0, second = summed ? y1 - y0 : y1;
    if (second <= first)
        return false;
    double growth = log(second / first) / log(x1 / x0);
    int d = (int)fmin(fmax(ceil(growth - pm_heuristics.rounding), 1),
                      (double)pm_heuristics.onset_degree);
    double a = (second / pow(x1, d - 1) - first / pow(x0, d - 1)) / (x1 - x0);
    double b = first / pow(x0, d - 1) - a * x0;
    double power =
        y0 * pow(x1 / x0, fmin(fmax(round(growth), 1), (double)pm_heuristics.onset_degree));
    *model = (struct pm_model){.n_points = 2,
                               .shape = PM_SHAPE_INCREASING,
                               .leave_one_out_error = fabs(power / y1 - 1),
                               .sigma = fabs(power - y1)};
    const double coefficients[] = {b, a};
    for (int k = d - 1; k <= d; k++) {
        double c = coefficients[k - d + 1];
        if (!summed) {
            pm_model_add_term(model, (size_t)k, c);
        } else if (k > 0) {
            double whole = pow(2, k) - 1;
            pm_model_add_term(model, (size_t)k, c * pow(2, k) / whole);
            pm_model_add_term(model, 0, -c * pow(x0, k) / whole);
        } else { /* as many as there are sizes from x0 on */
            pm_model_add_term(model, FIRST_LOGARITHM, c);
            pm_model_add_term(model, 0, c * (1 - log2(x0)));
        }
    }
    return a > 0;
}

void pm_fit_onset_edges(const struct pm_structure *structure, uint32_t routine,
                        const struct pm_fit_bases *bases, const struct pm_profile *const *profiles,
                        struct pm_model *edges) {
    const struct pm_design *design = bases->designs[0];
    const struct pm_routine *r = &structure->routines[routine];
    size_t n = design->n;
    if (pm_fit_without(PM_STEP_ONSET))
        return;
    double x0 = design->x[n - 2], x1 = design->x[n - 1];
    bool summed =
        x1 == 2 * x0 && design->x[n - 3] == x0 / 2 && halves_its_data(structure, routine, edges);
    for (uint32_t e = r->first_edge; e < r->first_edge + r->n_edges; e++) {
        double zero = profiles[n - 3]->edge_counts[e], y0 = profiles[n - 2]->edge_counts[e];
        double y1 = profiles[n - 1]->edge_counts[e];
        struct pm_model model;
        if (zero == 0 && y0 > 0 && y1 > y0 && !edges[e].exact &&
            !bases->given[pm_fit_design_of_edge(bases, structure, e)] &&
            fit_two(x0, y0, x1, y1, summed, &model))
            edges[e] = model;
    }
}
