/* Ranks of machines; see ranking.h.

     sum        score(m) = Σ over programs p of  w(p) · t(p, m)
     geometric  score(m) = exp (Σ w(p) · ln (t(p, m) / min over m' of t(p, m')) / Σ w(p))

   The ends of a score are those of all times at once: models' errors of several programs are not
   known to cancel. */
#include "fit/analysis/ranking.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

static double fastest(const struct pm_ranking_request *r, size_t program) {
    double least = INFINITY;
    for (size_t m = 0; m < r->n_machines; m++)
        least = fmin(least, r->seconds[program * r->n_machines + m].estimate);
    return least;
}

static struct pm_estimate score_of(const struct pm_ranking_request *r, size_t machine) {
    struct pm_estimate score = {0};
    double weights = 0;
    for (size_t p = 0; p < r->n_programs; p++) {
        const struct pm_estimate *seconds = &r->seconds[p * r->n_machines + machine];
        double w = r->weights[p], least = r->geometric ? fastest(r, p) : 1;
        weights += w;
        score.low += w * (r->geometric ? log(seconds->low / least) : seconds->low);
        score.estimate += w * (r->geometric ? log(seconds->estimate / least) : seconds->estimate);
        score.high += w * (r->geometric ? log(seconds->high / least) : seconds->high);
    }
    if (r->geometric)
        score = (struct pm_estimate){exp(score.low / weights), exp(score.estimate / weights),
                                     exp(score.high / weights)};
    return score;
}

static int by_score(const void *left, const void *right) {
    const struct pm_ranked_machine *a = left, *b = right;
    if (a->score.estimate != b->score.estimate)
        return a->score.estimate < b->score.estimate ? -1 : 1;
    return PM_COMPARE(a->machine, b->machine);
}

void pm_rank_machines(const struct pm_ranking_request *request, struct pm_ranked_machine *ranked) {
    size_t n = request->n_machines;
    for (size_t m = 0; m < n; m++)
        ranked[m] = (struct pm_ranked_machine){.machine = m, .score = score_of(request, m)};
    PM_SORT(ranked, n, by_score);
    for (size_t i = 0; i < n; i++) {
        ranked[i].by_best = ranked[i].score.estimate / ranked[0].score.estimate;
        ranked[i].best_rank = ranked[i].worst_rank = 1;
        for (size_t k = 0; k < n; k++) {
            if (k == i)
                continue;
            /* Of two without an interval that are equal both may be first. */
            ranked[i].best_rank += ranked[k].score.high < ranked[i].score.low;
            ranked[i].worst_rank += ranked[k].score.low <= ranked[i].score.high;
        }
    }
}

bool pm_ranking_survives(const struct pm_ranked_machine *ranked, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ranked[i].best_rank != ranked[i].worst_rank)
            return false;
    return true;
}
