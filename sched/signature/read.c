/* The rate of a pattern, read off the curve of its stride where the curve's own hit rates are the
   pattern's.

       t(m) = t₀ + Σ over caches l of  f_l(m_l)

   t    cycles of a word, 8 bytes over the curve's bytes a cycle
   m_l  misses for a word of cache l, of the curve at each of its points, and of the pattern
   t₀   the least t of the points at which all hit the first cache
   f_l  what the curve is above the end of f_{l−1} at the points that miss cache l and hit all
   behind it: piecewise linear in m_l through the median t of the points of one m_l, never falling;
        beyond the last in proportion

   Where one point has all the rates of the pattern, that is the point: the paper's reading of
   figure 3.  Where none has, each cache's is looked up by itself, so that half the time in one
   cache and half in memory cost half of each.  A word that is loaded by itself takes no less than
   such a load (stride 8 was measured with the widest vectors).  The point that is told is the one
   at which the curve as it was measured is that slow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/signature/private.h"

/* Shares of points that count as the same. */
static const double same = 1e-6;

/* Cycles of a word at misses of one level. */
struct step {
    double misses, cycles;
};
struct steps {
    PM_ARRAY(struct step, steps);
};

static double cycles_at(const struct pm_curve *curve, size_t point) {
    return PM_WORD_BYTES / curve->value[point];
}

static double misses_at(const struct pm_signature *signature, const struct pm_curve *curve,
                        size_t level, size_t point) {
    return 1 - pm_curve_hits_of(curve, &signature->machine->levels[level])[point];
}

/* ---- one level ------------------------------------------------------------------------------- */

static int by_misses(const void *left, const void *right) {
    const struct step *a = left, *b = right;
    return fabs(a->misses - b->misses) > same ? PM_COMPARE(a->misses, b->misses) : 0;
}

/* The points that miss LEVEL and no level behind it. */
static void collect(const struct pm_signature *signature, const struct pm_curve *curve,
                    size_t level, struct steps *steps) {
    for (size_t i = 0; i < curve->n_points; i++) {
        bool hits_behind = true;
        for (size_t l = level + 1; l < signature->n_caches; l++)
            hits_behind &= misses_at(signature, curve, l, i) <= same;
        double misses = misses_at(signature, curve, level, i);
        if (hits_behind && misses > same)
            *PM_PUSH(steps, steps) = (struct step){misses, cycles_at(curve, i)};
    }
    PM_SORT(steps->steps, steps->n_steps, by_misses);
}

/* Those of the same misses become their median. */
static void join_equal(struct steps *steps) {
    double *cycles = pm_alloc(steps->n_steps, sizeof *cycles);
    size_t n = 0;
    for (size_t i = 0, end; i < steps->n_steps; i = end) {
        for (end = i; end < steps->n_steps && by_misses(&steps->steps[i], &steps->steps[end]) == 0;
             end++)
            cycles[end - i] = steps->steps[end].cycles;
        steps->steps[n++] =
            (struct step){steps->steps[i].misses, pm_estimate_of(cycles, end - i, 0).estimate};
    }
    steps->n_steps = n;
    free(cycles);
}

/* f_l(MISSES); *BASE is the end of f_{l−1}, and becomes that of f_l. */
static double level_cycles(const struct pm_signature *signature, const struct pm_curve *curve,
                           size_t level, double misses, double *base) {
    struct steps steps = {0};
    struct step last = {0, 0};
    double found = NAN;
    collect(signature, curve, level, &steps);
    join_equal(&steps);
    for (size_t i = 0; i < steps.n_steps; i++) {
        struct step next = {steps.steps[i].misses,
                            fmax(last.cycles, steps.steps[i].cycles - *base)};
        if (isnan(found) && misses <= next.misses)
            found = last.cycles + (next.cycles - last.cycles) * (misses - last.misses) /
                                      (next.misses - last.misses);
        last = next;
    }
    if (isnan(found)) /* more misses than any point has, or no point at all */
        found = last.misses > 0 ? last.cycles * misses / last.misses : 0;
    *base += last.cycles;
    free(steps.steps);
    return found;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static double least_cycles(const struct pm_signature *signature, const struct pm_curve *curve) {
    double least = INFINITY;
    for (size_t i = 0; i < curve->n_points; i++)
        if (misses_at(signature, curve, 0, i) <= same)
            least = fmin(least, cycles_at(curve, i));
    return isfinite(least) ? least : cycles_at(curve, 0);
}

/* The working set from which on the curve is as slow. */
static void find_point(struct pm_read_rate *rate) {
    const struct pm_curve *curve = rate->curve;
    size_t i = 0;
    double before = 0;
    while (i + 1 < curve->n_points && cycles_at(curve, i) < rate->cycles * (1 - same))
        before = cycles_at(curve, i++);
    double here = cycles_at(curve, i);
    rate->is_beyond = here < rate->cycles * (1 - 1e-3);
    rate->working_set_bytes = curve->working_set_bytes[i];
    if (i == 0 || rate->is_beyond || here <= before)
        return;
    double share = (rate->cycles - before) / (here - before);
    rate->working_set_bytes =
        curve->working_set_bytes[i - 1] *
        pow(curve->working_set_bytes[i] / curve->working_set_bytes[i - 1], fmin(share, 1));
}

void pm_signature_read(const struct pm_signature *signature, bool stores, enum pm_stride_bin bin,
                       const struct pm_pattern *pattern, struct pm_read_rate *rate) {
    const struct pm_curve *curve = pm_signature_curve(signature, stores, bin);
    double by_itself = signature->word_cycles * pattern->references / pattern->words;
    double base = least_cycles(signature, curve);
    *rate = (struct pm_read_rate){.curve = curve, .hit_cycles = fmax(base, by_itself)};
    rate->cycles = rate->hit_cycles;
    double more = 0;
    for (size_t l = 0; l < signature->n_caches; l++) {
        double misses = pattern->misses[l] / pattern->words;
        rate->level_cycles[l] = level_cycles(signature, curve, l, misses, &base);
        more += rate->level_cycles[l];
    }
    rate->cycles += more;
    find_point(rate);
}
