/* Which sizes to measure; what a run is taken to cost is in plan.h.  The plan begins with all the
   values that are admissible and gives up the largest one, of the parameter that costs most, until
   time and memory suffice. */
#include "fit/plan/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of parameters -------------------------------------------------------------------- */

/* Distinct values of one parameter, ascending. */
struct values {
    PM_ARRAY(double, list);
};

static double value_of(const struct pm_parameters *at, const char *name) {
    double value = NAN;
    pm_parameters_get(at, name, &value);
    return value;
}

static struct values values_of(const struct pm_parameters *sizes, size_t n, const char *name) {
    struct values all = {0}, once = {0};
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(&all, list) = value_of(&sizes[i], name);
    PM_SORT(all.list, n, pm_compare_doubles);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || all.list[i] != all.list[i - 1])
            *PM_PUSH(&once, list) = all.list[i];
    free(all.list);
    return once;
}

size_t pm_plan_varying(const struct pm_parameters *sizes, size_t n_sizes,
                       bool (*is_formula)(const void *context, const char *name),
                       const void *context, const char **names) {
    size_t n = 0;
    for (size_t p = 0; n_sizes && p < sizes[0].n; p++) {
        struct values values = values_of(sizes, n_sizes, sizes[0].names[p]);
        if (values.n_list > 1 && !is_formula(context, sizes[0].names[p]))
            names[n++] = sizes[0].names[p];
        free(values.list);
    }
    return n;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static bool is_tried(const struct pm_plan_request *request, const struct pm_parameters *at) {
    for (size_t i = 0; i < request->n_trials; i++)
        if (pm_parameters_equal(&request->trials[i].at, at))
            return true;
    return false;
}

/* Equal in all varied parameters but NAME. */
static bool differ_only_in(const struct pm_plan_request *request, const struct pm_parameters *a,
                           const struct pm_parameters *b, const char *name) {
    for (size_t p = 0; p < request->n_names; p++)
        if (strcmp(request->names[p], name) != 0 &&
            value_of(a, request->names[p]) != value_of(b, request->names[p]))
            return false;
    return value_of(a, name) != value_of(b, name);
}

/* The size with the smallest values, the first parameter before the others. */
static const struct pm_parameters *smallest(const struct pm_plan_request *request) {
    const struct pm_parameters *best = &request->sizes[0];
    for (size_t i = 1; i < request->n_sizes; i++)
        for (size_t p = 0; p < request->n_names; p++) {
            double value = value_of(&request->sizes[i], request->names[p]);
            double least = value_of(best, request->names[p]);
            if (value < least)
                best = &request->sizes[i];
            if (value != least)
                break;
        }
    return best;
}

/* The largest size that has at most twice FROM's value of NAME, or, if there is none above FROM,
   the next; the others as FROM.  NULL if there is none. */
static const struct pm_parameters *doubled(const struct pm_plan_request *request,
                                           const struct pm_parameters *from, const char *name) {
    const struct pm_parameters *best = NULL;
    double start = value_of(from, name), of_best = 0;
    for (size_t i = 0; i < request->n_sizes; i++) {
        double value = value_of(&request->sizes[i], name);
        if (value <= start || !differ_only_in(request, from, &request->sizes[i], name))
            continue;
        bool better = value <= 2 * start ? of_best > 2 * start || value > of_best
                                         : of_best > 2 * start && value < of_best;
        if (!best || better) {
            best = &request->sizes[i];
            of_best = value;
        }
    }
    return best;
}

const struct pm_parameters *pm_plan_next_trial(const struct pm_plan_request *request,
                                               double seconds) {
    if (request->n_sizes == 0)
        return NULL;
    const struct pm_parameters *first = smallest(request);
    if (request->n_trials == 0)
        return first;
    for (size_t p = 0; p < request->n_names; p++) {
        const struct pm_parameters *next = doubled(request, first, request->names[p]);
        if (next && !is_tried(request, next))
            return next;
    }
    const struct pm_plan_trial *last = &request->trials[request->n_trials - 1];
    if (request->n_names != 1 || last->cost.seconds >= seconds)
        return NULL;
    return doubled(request, &last->at, request->names[0]);
}

/* ---- estimates ------------------------------------------------------------------------------- */

typedef double (*quantity)(const struct pm_plan_cost *cost);
static double work(const struct pm_plan_cost *cost) { return cost->work; }
static double touched(const struct pm_plan_cost *cost) { return cost->touched_bytes; }
static double stored(const struct pm_plan_cost *cost) { return cost->store_bytes; }

/* Between the two largest trials that differ in NAME only; 0 if there are none. */
static double exponent(const struct pm_plan_request *request, const char *name, quantity of) {
    double best = -INFINITY, found = 0;
    for (size_t i = 0; i < request->n_trials; i++)
        for (size_t k = 0; k < request->n_trials; k++) {
            const struct pm_plan_trial *a = &request->trials[i], *b = &request->trials[k];
            double x = value_of(&a->at, name), y = value_of(&b->at, name);
            if (x <= 0 || y <= x || !differ_only_in(request, &a->at, &b->at, name) ||
                !(of(&a->cost) > 0) || !(of(&b->cost) > 0) || x + y <= best)
                continue;
            best = x + y;
            found = log(of(&b->cost) / of(&a->cost)) / log(y / x);
        }
    return found;
}

/* The trial from which the others are extrapolated: the one that executed most. */
static const struct pm_plan_trial *largest(const struct pm_plan_request *request) {
    const struct pm_plan_trial *best = &request->trials[0];
    for (size_t i = 1; i < request->n_trials; i++)
        if (request->trials[i].cost.work > best->cost.work)
            best = &request->trials[i];
    return best;
}

static double scaled(const struct pm_plan_request *request, const struct pm_parameters *at,
                     quantity of) {
    const struct pm_plan_trial *from = largest(request);
    double value = of(&from->cost);
    for (size_t p = 0; p < request->n_names; p++) {
        double x = value_of(at, request->names[p]), x0 = value_of(&from->at, request->names[p]);
        if (x > 0 && x0 > 0)
            value *= pow(x / x0, exponent(request, request->names[p], of));
    }
    return value;
}

/* Y at X of the line through the trials with the least and the most of X; at least the least of Y.
 */
static double on_line(const struct pm_plan_request *request, double x, quantity of_x,
                      quantity of_y) {
    const struct pm_plan_cost *low = &request->trials[0].cost, *high = low;
    for (size_t i = 1; i < request->n_trials; i++) {
        const struct pm_plan_cost *cost = &request->trials[i].cost;
        low = of_x(cost) < of_x(low) ? cost : low;
        high = of_x(cost) > of_x(high) ? cost : high;
    }
    if (!(of_x(high) > of_x(low)) || !(of_y(high) > of_y(low)))
        return of_x(high) > 0 ? of_y(high) * fmax(1, x / of_x(high)) : of_y(high);
    double slope = (of_y(high) - of_y(low)) / (of_x(high) - of_x(low));
    return fmax(of_y(low) + slope * (x - of_x(low)), 0);
}

static double seconds(const struct pm_plan_cost *cost) { return cost->seconds; }
static double peak(const struct pm_plan_cost *cost) { return cost->peak_bytes; }

struct pm_plan_cost pm_plan_estimate(const struct pm_plan_request *request,
                                     const struct pm_parameters *at) {
    struct pm_plan_cost cost = {.work = scaled(request, at, work),
                                .touched_bytes = scaled(request, at, touched),
                                .store_bytes = scaled(request, at, stored)};
    cost.seconds = on_line(request, cost.work, work, seconds);
    cost.peak_bytes =
        isnan(cost.touched_bytes) ? NAN : on_line(request, cost.touched_bytes, touched, peak);
    return cost;
}

/* ---- values of one parameter ----------------------------------------------------------------- */

static bool contains(const struct values *values, double value) {
    for (size_t i = 0; i < values->n_list; i++)
        if (values->list[i] == value)
            return true;
    return false;
}

/* Keeps the largest residue class modulo 8, 4 or 2 that has WANTED values; *MODULUS 1: none has. */
static void keep_residue_class(struct values *values, size_t wanted, int *modulus) {
    if (wanted > values->n_list)
        wanted = values->n_list;
    for (*modulus = 8; *modulus > 1; *modulus /= 2) {
        int best = -1;
        size_t most = 0;
        for (int residue = 0; residue < *modulus; residue++) {
            size_t n = 0;
            for (size_t i = 0; i < values->n_list; i++)
                n += fmod(values->list[i], *modulus) == residue;
            if (n >= wanted && n > most) {
                most = n;
                best = residue;
            }
        }
        if (best < 0)
            continue;
        size_t n = 0;
        for (size_t i = 0; i < values->n_list; i++)
            if (fmod(values->list[i], *modulus) == best)
                values->list[n++] = values->list[i];
        values->n_list = n;
        return;
    }
}

/* WANTED of the values from FIRST to LAST, both of these among them, evenly on a logarithmic scale
   (else a linear one). */
static struct values spread(const struct values *all, size_t first, size_t last, size_t wanted) {
    struct values chosen = {0};
    size_t n = last - first + 1, before = first;
    double low = all->list[first], high = all->list[last];
    for (size_t i = 0; i < wanted && i < n; i++) {
        double share = wanted > 1 ? (double)i / (double)(wanted - 1) : 1;
        double target = low > 0 ? low * pow(high / low, share) : low + (high - low) * share;
        size_t at = i ? before + 1 : first;
        size_t most = last - (wanted < n ? wanted - 1 - i : n - 1 - i); /* leaves enough */
        while (at < most && fabs(all->list[at + 1] - target) < fabs(all->list[at] - target))
            at++;
        *PM_PUSH(&chosen, list) = all->list[at];
        before = at;
    }
    return chosen;
}

/* Where to begin, if the largest value is that at LAST. */
static size_t first_of(const struct values *all, size_t last, size_t wanted) {
    size_t first = 0;
    while (last - first + 1 > wanted && all->list[first] > 0 &&
           all->list[first] * PM_PLAN_SPAN < all->list[last])
        first++;
    return first;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Of each parameter: what there is, and the largest that is taken. */
struct choice {
    struct values all[PM_MAX_PARAMETERS], chosen[PM_MAX_PARAMETERS];
    size_t last[PM_MAX_PARAMETERS];
    int modulus[PM_MAX_PARAMETERS]; /* of the residue class that the chosen are of; 1: of none */
    size_t wanted;                  /* values of each */
};

static void note(struct pm_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(struct pm_plan *plan, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *PM_PUSH(plan, notes) = pm_strdup(text);
}

static bool is_chosen(const struct pm_plan_request *request, const struct choice *choice,
                      const struct pm_parameters *at) {
    for (size_t p = 0; p < request->n_names; p++)
        if (!contains(&choice->chosen[p], value_of(at, request->names[p])))
            return false;
    return true;
}

/* Is there a size with VALUE of parameter P, and OTHER of parameter Q? */
static bool go_together(const struct pm_plan_request *request, size_t p, double value, size_t q,
                        double other) {
    for (size_t i = 0; i < request->n_sizes; i++)
        if (value_of(&request->sizes[i], request->names[p]) == value &&
            value_of(&request->sizes[i], request->names[q]) == other)
            return true;
    return false;
}

/* Of the values of parameter P up to the last that is taken: those that are admissible with every
   chosen value of the parameters before, if there are enough of them, else all. */
static struct values available(const struct pm_plan_request *request, const struct choice *choice,
                               size_t p) {
    struct values with_all = {0}, all = {0};
    for (size_t i = 0; i <= choice->last[p]; i++) {
        double value = choice->all[p].list[i];
        bool fits = true;
        for (size_t q = 0; q < p; q++)
            for (size_t k = 0; fits && k < choice->chosen[q].n_list; k++)
                fits = go_together(request, p, value, q, choice->chosen[q].list[k]);
        *PM_PUSH(&all, list) = value;
        if (fits)
            *PM_PUSH(&with_all, list) = value;
    }
    bool enough = with_all.n_list >= choice->wanted;
    free(enough ? all.list : with_all.list);
    return enough ? with_all : all;
}

static void fill(const struct pm_plan_request *request, struct choice *choice,
                 struct pm_plan *plan) {
    plan->n_runs = 0;
    plan->seconds = plan->store_bytes = 0;
    for (size_t p = 0; p < request->n_names; p++) {
        struct values values = available(request, choice, p);
        keep_residue_class(&values, choice->wanted, &choice->modulus[p]);
        size_t last = values.n_list - 1;
        free(choice->chosen[p].list);
        choice->chosen[p] =
            spread(&values, first_of(&values, last, choice->wanted), last, choice->wanted);
        free(values.list);
    }
    for (size_t i = 0; i < request->n_sizes; i++) {
        if (!is_chosen(request, choice, &request->sizes[i]))
            continue;
        struct pm_planned_run *run = PM_PUSH(plan, runs);
        run->at = request->sizes[i];
        run->cost = pm_plan_estimate(request, &run->at);
        plan->seconds += run->cost.seconds;
        plan->store_bytes += run->cost.store_bytes;
    }
}

static bool is_affordable(const struct pm_plan_request *request, const struct pm_plan *plan) {
    for (size_t i = 0; i < plan->n_runs; i++)
        if (plan->runs[i].cost.peak_bytes > request->most_bytes)
            return false;
    return plan->seconds <= request->most_seconds;
}

/* Takes the largest value of the parameter that costs most away; false if none can be. */
static bool shrink(const struct pm_plan_request *request, struct choice *choice) {
    size_t best = request->n_names;
    double most = -INFINITY;
    for (size_t p = 0; p < request->n_names; p++) {
        double grows = exponent(request, request->names[p], work) *
                       log(choice->all[p].list[choice->last[p]] / choice->all[p].list[0]);
        if (choice->last[p] + 1 <= choice->wanted || choice->last[p] == 0)
            continue;
        if (best == request->n_names || grows > most) {
            best = p;
            most = grows;
        }
    }
    if (best == request->n_names)
        return false;
    choice->last[best]--;
    return true;
}

static bool are_whole(const struct values *values) {
    for (size_t i = 0; i < values->n_list; i++)
        if (values->list[i] != floor(values->list[i]))
            return false;
    return true;
}

static void note_values(const struct pm_plan_request *request, const struct choice *choice,
                        struct pm_plan *plan) {
    for (size_t p = 0; p < request->n_names; p++) {
        size_t n = choice->chosen[p].n_list;
        if (n < 3)
            note(plan, "%s has %zu admissible values here, and models need 3 at least: admit more.",
                 request->names[p], n);
        else if (n < PM_PLAN_ENOUGH_VALUES)
            note(plan,
                 "%zu values of %s are too few for models of degree 4, which need %d: models will "
                 "have one or two terms.",
                 n, request->names[p], PM_PLAN_ENOUGH_VALUES);
        plan->too_few |= n < PM_PLAN_ENOUGH_VALUES;
        if (choice->modulus[p] == 1 && n > 1 && are_whole(&choice->chosen[p]))
            note(plan,
                 "The values of %s are of no one residue class modulo 8, 4 or 2: counts that are "
                 "periodic in it (unrolled loops, cache lines) will be fitted by their trend. "
                 "Admit multiples of 8, as in --where '%s%%8==0'.",
                 request->names[p], request->names[p]);
    }
}

static void note_combinations(const struct pm_plan_request *request, struct pm_plan *plan) {
    double needed = pow(PM_PLAN_ENOUGH_VALUES, (double)request->n_names);
    if (request->n_names > 1 && request->n_runs && (double)request->n_runs < needed) {
        note(plan,
             "%zu runs are too few for degree 4 in %zu parameters, which needs %d values of each: "
             "%.0f runs.",
             request->n_runs, request->n_names, PM_PLAN_ENOUGH_VALUES, needed);
        plan->too_few = true;
    }
}

static void note_target(const struct pm_plan_request *request, const struct choice *choice,
                        struct pm_plan *plan) {
    for (size_t p = 0; request->to && p < request->n_names; p++) {
        const struct values *chosen = &choice->chosen[p];
        double to = value_of(request->to, request->names[p]);
        double high = chosen->n_list ? chosen->list[chosen->n_list - 1] : NAN;
        if (high > 0 && to > high)
            note(plan, "%s=%g is %.3g times the largest value that is measured%s.",
                 request->names[p], to, to / high,
                 to > PM_PLAN_SPAN * high
                     ? "; beyond four times predictions become uncertain: more time helps (--time)"
                     : "");
    }
}

static void note_limits(const struct pm_plan_request *request, bool shrunk, struct pm_plan *plan) {
    if (!is_affordable(request, plan))
        note(plan,
             "Even these sizes exceed the time or the memory that there is: admit smaller ones, or "
             "fewer block sizes (--block), or --sample.");
    else if (shrunk)
        note(plan, "Larger sizes are admissible, but exceed the time or the memory that there is.");
}

struct pm_plan *pm_fit_plan(const struct pm_plan_request *request) {
    struct pm_plan *plan = pm_alloc(1, sizeof *plan);
    struct choice choice = {.wanted = PM_PLAN_ENOUGH_VALUES + (request->n_names == 1)};
    bool shrunk = false;
    if (request->n_runs)
        choice.wanted = (size_t)floor(
            pow((double)request->n_runs, 1 / fmax((double)request->n_names, 1)) + 1e-9);
    if (choice.wanted < 1)
        choice.wanted = 1;
    for (size_t p = 0; p < request->n_names; p++) {
        choice.all[p] = values_of(request->sizes, request->n_sizes, request->names[p]);
        choice.last[p] = choice.all[p].n_list - 1;
    }
    fill(request, &choice, plan);
    while (!is_affordable(request, plan) && shrink(request, &choice)) {
        fill(request, &choice, plan);
        shrunk = true;
    }
    note_values(request, &choice, plan);
    note_combinations(request, plan);
    note_limits(request, shrunk, plan);
    note_target(request, &choice, plan);
    plan->to_cost = (struct pm_plan_cost){NAN, NAN, NAN, NAN, NAN};
    if (request->to)
        plan->to_cost = pm_plan_estimate(request, request->to);
    for (size_t p = 0; p < request->n_names; p++) {
        free(choice.all[p].list);
        free(choice.chosen[p].list);
    }
    return plan;
}

void pm_fit_plan_free(struct pm_plan *plan) {
    if (!plan)
        return;
    for (size_t i = 0; i < plan->n_notes; i++)
        free(plan->notes[i]);
    free(plan->notes);
    free(plan->runs);
    free(plan);
}
