/* What a cache that neighbours use, too, still serves, from latencies of a chain at random: its
   accesses to a working set of W bytes are all reuses at the distance W, and take

       L(W) = s(W) · L_level + (1 − s(W)) · L_next,   so   s(W) = (L_next − L(W)) / (L_next −
   L_level)

   s      share of the reuses that the cache, or one nearer the core, serves
   L      cycles of an access, without what TLBs add; of a hit in the cache, and of a miss

   What is measured need not fall: the falling function that is nearest by least squares is found by
   pooling adjacent violators (Ayer, Brunk, Ewing, Reid & Silverman, "An empirical distribution
   function for sampling with incomplete information", Annals of Mathematical Statistics 26(4),
   1955). It keeps order, so that both ends of intervals stay ends.  Of its points those are kept
   between which the others lie (Douglas & Peucker, "Algorithms for the reduction of the number of
   points", Cartographica 10(2), 1973).

   What neighbours bring, they bring by time: of two programs with the same distances the faster one
   finds more.  A chain is the slowest way to come to W bytes, a stream that prefetchers follow the
   fastest, and L is cycles a line for it.  So the stream's shares stand for a program's, and the
   interval reaches from the chain's low end to the stream's high one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/memory/memory.h"

static const double KEPT_WITHIN = 0.01; /* of shares that are left out: how far off they may be */
static const double DIGITS = 1e3;       /* that stand for something */

/* Makes the N VALUES fall: each run that rises becomes its mean. */
static void make_falling(double *values, size_t n) {
    size_t *sizes = pm_alloc(n, sizeof *sizes), n_pools = 0;
    double *means = pm_alloc(n, sizeof *means);
    for (size_t i = 0; i < n; i++) {
        means[n_pools] = values[i];
        sizes[n_pools++] = 1;
        for (; n_pools > 1 && means[n_pools - 1] > means[n_pools - 2]; n_pools--) {
            size_t left = sizes[n_pools - 2], right = sizes[n_pools - 1];
            means[n_pools - 2] =
                (means[n_pools - 2] * (double)left + means[n_pools - 1] * (double)right) /
                (double)(left + right);
            sizes[n_pools - 2] += right;
        }
    }
    for (size_t pool = 0, i = 0; pool < n_pools; pool++)
        for (size_t k = 0; k < sizes[pool]; k++)
            values[i++] = round(fmin(fmax(means[pool], 0), 1) * DIGITS) / DIGITS;
    free(sizes);
    free(means);
}

/* Shares and both ends, at N distances. */
struct shares {
    size_t n;
    const double *distance_bytes;
    double *of[3]; /* low, share, high */
    bool *is_kept;
};

/* How far point I is from the line between A and B, at most. */
static double distance_from_line(const struct shares *s, size_t a, size_t b, size_t i) {
    double part = log(s->distance_bytes[i] / s->distance_bytes[a]) /
                  log(s->distance_bytes[b] / s->distance_bytes[a]);
    double most = 0;
    for (int k = 0; k < 3; k++)
        most = fmax(most, fabs(s->of[k][a] + part * (s->of[k][b] - s->of[k][a]) - s->of[k][i]));
    return most;
}

/* The point that is farthest from the lines between those that are kept; n: all are near. */
static size_t farthest(const struct shares *s) {
    double most = KEPT_WITHIN;
    size_t found = s->n;
    for (size_t a = 0, b = 0; a + 1 < s->n; a = b) {
        for (b = a + 1; !s->is_kept[b];)
            b++;
        for (size_t i = a + 1; i < b; i++) {
            double distance = distance_from_line(s, a, b, i);
            if (distance > most) {
                most = distance;
                found = i;
            }
        }
    }
    return found;
}

static bool is_same(const struct shares *s, size_t a, size_t b) {
    return s->of[0][a] == s->of[0][b] && s->of[1][a] == s->of[1][b] && s->of[2][a] == s->of[2][b];
}

/* Leaves out what is constant at both ends, since it is beyond them. */
static void trim(struct shares *s) {
    while (s->n > 1 && is_same(s, s->n - 1, s->n - 2))
        s->n--;
    while (s->n > 1 && is_same(s, 0, 1)) {
        s->n--;
        s->distance_bytes++;
        for (int k = 0; k < 3; k++)
            s->of[k]++;
    }
}

static void choose_points(const struct shares *s, struct pm_response *response) {
    size_t n_kept = s->n > 1 ? 2 : 1;
    s->is_kept[0] = s->is_kept[s->n - 1] = true;
    for (size_t i; n_kept < PM_MOST_RESPONSE_POINTS && (i = farthest(s)) < s->n; n_kept++)
        s->is_kept[i] = true;
    *response = (struct pm_response){0};
    for (size_t i = 0; i < s->n; i++)
        if (s->is_kept[i])
            response->points[response->n_points++] = (struct pm_response_point){
                s->distance_bytes[i], s->of[1][i], s->of[0][i], s->of[2][i]};
}

bool pm_response_of_latencies(const double *working_set_bytes, const struct pm_estimate *cycles,
                              size_t n, double level_cycles, double next_cycles,
                              struct pm_response *response) {
    *response = (struct pm_response){0};
    if (n == 0 || !(next_cycles > level_cycles))
        return false;
    double *distances = pm_alloc(n, sizeof *distances), *shares = pm_alloc(3 * n, sizeof *shares);
    struct shares s = {.distance_bytes = distances,
                       .of = {shares, shares + n, shares + 2 * n},
                       .is_kept = pm_alloc(n, sizeof *s.is_kept)};
    for (size_t i = 0; i < n; i++) {
        const double of[3] = {cycles[i].high, cycles[i].estimate, cycles[i].low};
        if (isnan(of[0] + of[1] + of[2]))
            continue;
        for (int k = 0; k < 3; k++)
            s.of[k][s.n] = (next_cycles - of[k]) / (next_cycles - level_cycles);
        distances[s.n++] = working_set_bytes[i];
    }
    for (int k = 0; k < 3 && s.n; k++)
        make_falling(s.of[k], s.n);
    trim(&s);
    if (s.n)
        choose_points(&s, response);
    free(distances);
    free(shares);
    free(s.is_kept);
    return response->n_points > 0;
}

bool pm_response_between(const struct pm_response *slow, const struct pm_response *fast,
                         struct pm_response *response) {
    enum { MOST = 2 * PM_MOST_RESPONSE_POINTS };
    double distances[MOST], shares[3 * MOST];
    bool is_kept[MOST] = {false};
    struct shares s = {.distance_bytes = distances,
                       .of = {shares, shares + MOST, shares + 2 * MOST},
                       .is_kept = is_kept};
    const struct pm_response low = pm_response_end(slow, false), high = pm_response_end(fast, true);
    *response = (struct pm_response){0};
    if (!slow->n_points || !fast->n_points)
        return false;
    for (size_t i = 0, k = 0; i < slow->n_points || k < fast->n_points; s.n++) {
        double at_slow = i < slow->n_points ? slow->points[i].distance_bytes : INFINITY;
        double at_fast = k < fast->n_points ? fast->points[k].distance_bytes : INFINITY;
        double at = fmin(at_slow, at_fast), share = pm_response_mean(fast, at, at);
        distances[s.n] = at;
        s.of[0][s.n] = fmin(share, pm_response_mean(&low, at, at));
        s.of[1][s.n] = share;
        s.of[2][s.n] = pm_response_mean(&high, at, at);
        i += at_slow == at;
        k += at_fast == at;
    }
    for (int k = 0; k < 3; k++)
        make_falling(s.of[k], s.n);
    trim(&s);
    choose_points(&s, response);
    return true;
}

/* ---- of a probe ------------------------------------------------------------------------------ */

/* Of one thread in huge pages, since TLBs are in what small ones show; NULL: there is none. */
static const struct pm_probed_curve *curve_of(const struct pm_memory_probe *probe, const char *of,
                                              double stride_bytes) {
    for (size_t i = 0; i < probe->n_curves; i++) {
        const struct pm_probed_curve *curve = &probe->curves[i];
        if (strcmp(curve->of, of) == 0 && curve->stride_bytes == stride_bytes &&
            curve->threads == 1 && curve->pages == PM_PAGES_HUGE && curve->n_points)
            return curve;
    }
    return NULL;
}

/* Behind the cache is where the curve ends. */
static bool response_of_stream(const struct pm_probed_curve *curve,
                               const struct pm_probed_cache *cache, struct pm_response *response) {
    struct pm_estimate *cycles = pm_alloc(curve->n_points, sizeof *cycles); /* a byte */
    for (size_t i = 0; i < curve->n_points; i++)
        cycles[i] = pm_estimate_inverse(1, curve->value[i]);
    bool ok = pm_response_of_latencies(curve->working_set_bytes, cycles, curve->n_points,
                                       1 / cache->bandwidth[PM_SWEEP_LOAD].estimate,
                                       cycles[curve->n_points - 1].estimate, response);
    free(cycles);
    return ok;
}

bool pm_probed_response(const struct pm_memory_probe *probe, struct pm_response *response) {
    enum { LEAST_CACHES = 3, WORD = 8 }; /* what is nearer the core, one core has to itself */
    const struct pm_probed_cache *last = &probe->caches[probe->n_caches - 1];
    const struct pm_probed_curve *chain = curve_of(probe, "load_latency", 0),
                                 *stream = curve_of(probe, "read_bandwidth", WORD);
    struct pm_response slow, fast;
    *response = (struct pm_response){0};
    return probe->n_caches >= LEAST_CACHES && chain && stream &&
           pm_response_of_latencies(chain->working_set_bytes, chain->value, chain->n_points,
                                    last->latency_cycles.estimate,
                                    probe->memory_latency_cycles.estimate, &slow) &&
           response_of_stream(stream, last, &fast) && pm_response_between(&slow, &fast, response);
}
