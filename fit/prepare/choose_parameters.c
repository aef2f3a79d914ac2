/* Which parameters the models are functions of.

   If one of those that change from run to run determines all others, models are functions of that
   one: its values are distinct, and the others rise or fall with it.  Where several would do, one
   that was given as values stands above one that was given as a formula; then it is the one in
   which what was measured is predicted best (choice.c: N rather than L = log2(N) for a multigrid
   code, although one is as good a polynomial in the other), then the one in which the others are
   best expressed as polynomials (N rather than M = floor((N−1)/3)).  Else parameters that are
   functions of the rest are left out, one after the other: functions of one other parameter, which
   then has fewer values than there are runs, or exact polynomials in several (P = A·B). What
   remains varies independently. */
#include "fit/prepare/prepare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Ratio of errors: parameters in which they are nearer are as good. */
static const double equally_good = 1.1;
/* A parameter that is a polynomial of others has no more. */
enum { formula_terms = 3 };

static double value_of(const struct pm_profile *profile, const char *name) {
    double value = NAN;
    pm_parameters_get(&profile->parameters, name, &value);
    return value;
}

static bool is_constant(const struct pm_profile *const *profiles, size_t n, const char *name) {
    for (size_t i = 1; i < n; i++)
        if (value_of(profiles[i], name) != value_of(profiles[0], name))
            return false;
    return true;
}

/* Profiles in ascending order of NAME; false if two have the same value. */
static bool order_by(const struct pm_profile *const *profiles, size_t n, const char *name,
                     size_t *order) {
    for (size_t i = 0; i < n; i++) {
        double value = value_of(profiles[i], name);
        size_t at = i;
        for (; at > 0 && value_of(profiles[order[at - 1]], name) > value; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 1; i < n; i++)
        if (value_of(profiles[order[i]], name) == value_of(profiles[order[i - 1]], name))
            return false;
    return true;
}

static bool is_monotone(const struct pm_profile *const *profiles, size_t n, const size_t *order,
                        const char *name) {
    bool rises = true, falls = true;
    for (size_t i = 1; i < n; i++) {
        double step = value_of(profiles[order[i]], name) - value_of(profiles[order[i - 1]], name);
        rises &= step >= 0;
        falls &= step <= 0;
    }
    return rises || falls;
}

/* Error of the other parameters as polynomials in NAME; infinite if NAME does not determine them.
 */
static double error_as_base(const struct pm_profile *const *profiles, size_t n, const char *name,
                            size_t *order, double *x, double *y) {
    static const char *const texts[] = {"1", "x", "x^2", "x^3"};
    const struct pm_parameters *all = &profiles[0]->parameters;
    if (!order_by(profiles, n, name, order))
        return INFINITY;
    for (size_t i = 0; i < n; i++)
        x[i] = value_of(profiles[order[i]], name);
    struct pm_basis *basis = pm_basis_new(4, texts, NULL);
    struct pm_design *design = basis ? pm_design_new(basis, "x", x, n, NULL) : NULL;
    struct pm_series_workspace *workspace = design ? pm_series_workspace_new(design) : NULL;
    double error = workspace ? 0 : INFINITY;
    for (size_t p = 0; workspace && p < all->n; p++) {
        const char *other = all->names[p];
        if (strcmp(other, name) == 0 || is_constant(profiles, n, other))
            continue;
        for (size_t i = 0; i < n; i++)
            y[i] = value_of(profiles[order[i]], other);
        error += is_monotone(profiles, n, order, other)
                     ? fmax(pm_series_predictability(workspace, y, 0), pm_heuristics.rounding)
                     : INFINITY;
    }
    pm_series_workspace_free(workspace);
    pm_design_free(design);
    pm_basis_free(basis);
    return error;
}

struct choosing {
    const struct pm_profile *const *profiles;
    size_t n;
    const struct pm_given_formulas *formulas; /* NULL: none */
    struct pm_fit_sample *sample;             /* made when it is needed; owned */
    struct pm_fit_statistics *statistics;
};

static double error_in(struct choosing *choosing, const char *const *names, size_t n_names) {
    if (pm_fit_without(PM_STEP_MEASURED_PARAMETER))
        return NAN;
    if (!choosing->sample)
        choosing->sample = pm_fit_sample_new(choosing->profiles, choosing->n);
    return pm_fit_sample_error(choosing->sample, names, n_names);
}

static bool is_formula(const struct choosing *choosing, const char *name) {
    return choosing->formulas && pm_given_formulas_get(choosing->formulas, name);
}

static struct pm_fit_parameter *fate_of(const struct choosing *choosing, const char *name) {
    struct pm_fit_statistics *statistics = choosing->statistics;
    for (size_t i = 0; statistics && i < statistics->n_parameters; i++)
        if (strcmp(statistics->parameters[i].name, name) == 0)
            return &statistics->parameters[i];
    return NULL;
}

static void set_fate(const struct choosing *choosing, const char *name, enum pm_parameter_role role,
                     double error) {
    struct pm_fit_parameter *fate = fate_of(choosing, name);
    if (!fate)
        return;
    fate->role =
        is_formula(choosing, name) && role == PM_PARAMETER_FOLLOWS ? PM_PARAMETER_FORMULA : role;
    fate->error = error;
}

/* Is A clearly below B? */
static bool is_less(double a, double b) { return a * equally_good + 1e-6 < b; }

/* ---- one ------------------------------------------------------------------------------------- */

/* One of which all others are functions. */
struct single {
    const char *name;
    double others;   /* error of the others as polynomials in it */
    double value;    /* its largest */
    double measured; /* error of what was measured, as functions of it */
};

/* The parameters that determine all others; those that were given as formulas only if all were. */
static size_t find_singles(const struct choosing *choosing, struct single *singles) {
    const struct pm_profile *const *profiles = choosing->profiles;
    const struct pm_parameters *all = &profiles[0]->parameters;
    size_t n = choosing->n, n_singles = 0, n_values = 0;
    double *x = pm_alloc(2 * n, sizeof *x);
    size_t *order = pm_alloc(n, sizeof *order);
    for (size_t p = 0; p < all->n; p++) {
        struct single single = {.name = all->names[p], .measured = NAN};
        if (is_constant(profiles, n, single.name))
            continue;
        single.others = error_as_base(profiles, n, single.name, order, x, x + n);
        single.value = x[n - 1];
        if (!isfinite(single.others))
            continue;
        n_values += !is_formula(choosing, single.name);
        singles[n_singles++] = single;
    }
    free(x);
    free(order);
    size_t n_kept = 0;
    for (size_t i = 0; i < n_singles; i++)
        if (n_values == 0 || !is_formula(choosing, singles[i].name))
            singles[n_kept++] = singles[i];
    return n_kept;
}

static bool is_better(const struct single *a, const struct single *b) {
    if (is_less(a->measured, b->measured) || is_less(b->measured, a->measured))
        return a->measured < b->measured;
    return a->others < b->others * (1 - 1e-6) || (a->others <= b->others && a->value > b->value);
}

/* The one parameter that determines all others, or NULL. */
static const char *find_single(struct choosing *choosing) {
    const struct pm_parameters *all = &choosing->profiles[0]->parameters;
    struct single singles[PM_MAX_PARAMETERS];
    size_t n = find_singles(choosing, singles), best = 0;
    if (n == 0)
        return NULL;
    for (size_t i = 0; n > 1 && i < n; i++)
        singles[i].measured = error_in(choosing, &singles[i].name, 1);
    for (size_t i = 1; i < n; i++)
        if (is_better(&singles[i], &singles[best]))
            best = i;
    for (size_t p = 0; p < all->n; p++)
        set_fate(choosing, all->names[p], PM_PARAMETER_FOLLOWS, NAN);
    for (size_t i = 0; i < n; i++)
        set_fate(choosing, singles[i].name, i == best ? PM_PARAMETER_TAKEN : PM_PARAMETER_WORSE,
                 singles[i].measured);
    return singles[best].name;
}

/* ---- order ----------------------------------------------------------------------------------- */

static void coordinates(const struct pm_profile *profile, const char *const *names, size_t n_names,
                        double *point) {
    for (size_t p = 0; p < n_names; p++)
        point[p] = value_of(profile, names[p]);
}

void pm_fit_sort(const struct pm_profile *const *profiles, size_t n, const char *const *names,
                 size_t n_names, const struct pm_profile **sorted) {
    for (size_t i = 0; i < n; i++) {
        double here[PM_MAX_PARAMETERS], before[PM_MAX_PARAMETERS];
        size_t at = i;
        coordinates(profiles[i], names, n_names, here);
        for (; at > 0; at--) {
            coordinates(sorted[at - 1], names, n_names, before);
            if (n_names == 1 ? before[0] <= here[0] : pm_design_compare(before, here, n_names) <= 0)
                break;
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = profiles[i];
    }
}

/* ---- several --------------------------------------------------------------------------------- */

static size_t n_levels(const struct pm_profile *const *profiles, size_t n, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool known = false;
        for (size_t j = 0; j < i && !known; j++)
            known = value_of(profiles[i], name) == value_of(profiles[j], name);
        count += !known;
    }
    return count;
}

/* True if OTHER has one value for each of NAME's, and rises or falls with them. */
static bool determines(const struct pm_profile *const *profiles, size_t n, const char *name,
                       const char *other) {
    bool rises = true, falls = true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double step = value_of(profiles[j], name) - value_of(profiles[i], name);
            double change = value_of(profiles[j], other) - value_of(profiles[i], other);
            if (step == 0 && change != 0)
                return false;
            rises &= step <= 0 || change >= 0;
            falls &= step <= 0 || change <= 0;
        }
    return rises || falls;
}

/* True if runs that agree in all of NAMES are the same run. */
static bool tell_apart(const struct pm_profile *const *profiles, size_t n, const char *const *names,
                       size_t n_names) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            bool same = true;
            for (size_t p = 0; p < n_names; p++)
                same &= value_of(profiles[i], names[p]) == value_of(profiles[j], names[p]);
            if (same)
                return false;
        }
    return true;
}

/* OTHER as a function of NAMES: true if it is an exact polynomial of no more terms than a formula
   has. */
static bool is_polynomial(const struct pm_profile *const *profiles, size_t n,
                          const char *const *names, size_t n_names, const char *other) {
    const struct pm_profile **sorted = pm_alloc(n, sizeof *sorted);
    double *points = pm_alloc(n * (n_names + 1), sizeof *points), *y = points + n * n_names;
    pm_fit_sort(profiles, n, names, n_names, sorted);
    for (size_t k = 0; k < n; k++) {
        coordinates(sorted[k], names, n_names, points + k * n_names);
        y[k] = value_of(sorted[k], other);
    }
    struct pm_design *design = pm_design_on_axes(names, n_names, points, n, NULL, 0, NULL);
    struct pm_series_workspace *workspace = design ? pm_series_workspace_new(design) : NULL;
    struct pm_model model = {0};
    if (workspace)
        pm_series_fit(workspace, y, PM_SERIES_COUNT, &model);
    pm_series_workspace_free(workspace);
    pm_design_free(design);
    free(points);
    free(sorted);
    return model.exact && model.n_terms <= formula_terms;
}

/* True if parameter AT of the N_NAMES is a function of the others; one that was given as a formula
   is, where the others tell the runs apart. */
static bool is_dependent(const struct choosing *choosing, const char *const *names, size_t n_names,
                         size_t at) {
    const struct pm_profile *const *profiles = choosing->profiles;
    const size_t n = choosing->n;
    const char *rest[PM_MAX_PARAMETERS];
    size_t n_rest = 0;
    for (size_t p = 0; p < n_names; p++)
        if (p != at)
            rest[n_rest++] = names[p];
    if (!tell_apart(profiles, n, rest, n_rest))
        return false;
    if (is_formula(choosing, names[at]))
        return true;
    for (size_t p = 0; p < n_rest; p++)
        if (n_levels(profiles, n, rest[p]) < n && determines(profiles, n, rest[p], names[at]))
            return true;
    return n_rest >= 2 && n_rest <= PM_FIT_MAX_AXES &&
           is_polynomial(profiles, n, rest, n_rest, names[at]);
}

/* What would be left out. */
struct dependent {
    size_t at;       /* among the names */
    size_t levels;   /* values that it has */
    double largest;  /* of them */
    double measured; /* error of what was measured, as functions of the others */
};

/* Is A rather left out than B: the rest does better without it, or it has more values, and of these
   the smaller ones: a sum or a product rather than what it is made of, M rather than N = 3·M. */
static bool goes_first(const struct dependent *a, const struct dependent *b) {
    if (is_less(a->measured, b->measured) || is_less(b->measured, a->measured))
        return a->measured < b->measured;
    return a->levels > b->levels || (a->levels == b->levels && a->largest < b->largest);
}

/* Those of NAMES that are functions of the others; those that were given as formulas, if any. */
static size_t find_dependents(const struct choosing *choosing, const char *const *names,
                              size_t n_names, struct dependent *dependents) {
    size_t n = 0, n_formulas = 0, n_kept = 0;
    for (size_t p = 0; p < n_names; p++) {
        if (!is_dependent(choosing, names, n_names, p))
            continue;
        struct dependent *dependent = &dependents[n++];
        *dependent =
            (struct dependent){.at = p,
                               .levels = n_levels(choosing->profiles, choosing->n, names[p]),
                               .measured = NAN};
        for (size_t i = 0; i < choosing->n; i++)
            dependent->largest =
                fmax(dependent->largest, value_of(choosing->profiles[i], names[p]));
        n_formulas += is_formula(choosing, names[p]);
    }
    for (size_t i = 0; i < n; i++)
        if (n_formulas == 0 || is_formula(choosing, names[dependents[i].at]))
            dependents[n_kept++] = dependents[i];
    return n_kept;
}

/* The next parameter to leave out; N_NAMES if there is none. */
static size_t next_dependent(struct choosing *choosing, const char *const *names, size_t n_names) {
    struct dependent dependents[PM_MAX_PARAMETERS];
    size_t n = find_dependents(choosing, names, n_names, dependents), best = 0;
    if (n == 0)
        return n_names;
    for (size_t i = 0; n > 1 && i < n; i++) {
        const char *rest[PM_MAX_PARAMETERS];
        size_t n_rest = 0;
        for (size_t p = 0; p < n_names; p++)
            if (p != dependents[i].at)
                rest[n_rest++] = names[p];
        dependents[i].measured = error_in(choosing, rest, n_rest);
    }
    for (size_t i = 1; i < n; i++)
        if (goes_first(&dependents[i], &dependents[best]))
            best = i;
    set_fate(choosing, names[dependents[best].at], PM_PARAMETER_FOLLOWS, dependents[best].measured);
    return dependents[best].at;
}

/* Leaves out of NAMES those that are functions of others; how many are left. */
static size_t choose(struct choosing *choosing, const char **names, size_t n_names) {
    const char *single = find_single(choosing);
    if (single) {
        names[0] = single;
        return 1;
    }
    for (size_t out; (out = next_dependent(choosing, names, n_names)) < n_names;) {
        memmove(names + out, names + out + 1, (n_names - out - 1) * sizeof *names);
        n_names--;
    }
    return n_names;
}

/* The parameters that OPTIONS ask for, if they tell the runs apart; else 0. */
static size_t take_asked(const struct choosing *choosing, const struct pm_fit_options *options,
                         const char **names) {
    const struct pm_parameters *all = &choosing->profiles[0]->parameters;
    size_t n = 0;
    for (size_t p = 0; p < all->n; p++)
        for (size_t i = 0; i < options->n_parameters; i++)
            if (strcmp(all->names[p], options->parameters[i]) == 0 &&
                !is_constant(choosing->profiles, choosing->n, all->names[p])) {
                names[n++] = all->names[p];
                break;
            }
    if (n == 0 || !tell_apart(choosing->profiles, choosing->n, names, n))
        return 0;
    for (size_t p = 0; p < all->n; p++)
        set_fate(choosing, all->names[p], PM_PARAMETER_NOT_ASKED, NAN);
    for (size_t i = 0; i < n; i++)
        set_fate(choosing, names[i], PM_PARAMETER_TAKEN, NAN);
    return n;
}

/* Each parameter that varies, taken until it is left out; how many there are. */
static size_t list_varying(const struct choosing *choosing, const char **names) {
    const struct pm_parameters *all = &choosing->profiles[0]->parameters;
    struct pm_fit_statistics *statistics = choosing->statistics;
    size_t n_names = 0;
    for (size_t p = 0; p < all->n; p++) {
        if (is_constant(choosing->profiles, choosing->n, all->names[p]))
            continue;
        if (statistics && !fate_of(choosing, all->names[p])) {
            struct pm_fit_parameter *fate = &statistics->parameters[statistics->n_parameters++];
            *fate = (struct pm_fit_parameter){.error = NAN};
            memcpy(fate->name, all->names[p], sizeof fate->name);
            fate->formula =
                choosing->formulas ? pm_given_formulas_get(choosing->formulas, fate->name) : NULL;
        }
        names[n_names++] = all->names[p];
    }
    return n_names;
}

size_t pm_fit_varying(const struct pm_profile *const *profiles, size_t n,
                      const struct pm_fit_options *options, const char **names,
                      struct pm_fit_statistics *statistics, struct pm_error *err) {
    struct choosing choosing = {.profiles = profiles,
                                .n = n,
                                .formulas = options ? options->formulas : NULL,
                                .statistics = statistics};
    size_t n_names = list_varying(&choosing, names), n_asked = 0;
    if (n_names == 0)
        pm_fail(err,
                "no parameter differs between the %zu runs, so there is nothing to fit: run "
                "the program at several sizes, as in `pmodel run -P N=24,32,40,48,56`",
                n);
    if (n_names && options && options->n_parameters) {
        n_asked = take_asked(&choosing, options, names);
        if (n_asked == 0)
            pm_fail(err, "models cannot be functions of what --in names: runs have the same values "
                         "of it, or no such parameter");
        return n_asked;
    }
    if (n_names < 2) /* all else is constant, and no two runs are alike */
        return n_names;
    n_names = choose(&choosing, names, n_names);
    if (choosing.sample)
        pm_fit_sample_free(choosing.sample);
    if (n_names <= PM_FIT_MAX_AXES)
        return n_names;
    pm_fail(err,
            "%zu parameters vary independently, and models are functions of %d at most: run with "
            "some of %s, %s, %s, %s, %s … fixed, or as formulas of the others",
            n_names, PM_FIT_MAX_AXES, names[0], names[1], names[2], names[3], names[4]);
    return 0;
}
