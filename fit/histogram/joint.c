/* Reference groups that are modelled jointly.

   A row of an array is walked by an innermost loop and begun by the loop around it, and
   which of the two is first to touch a page depends on how rows lie on pages: on the size's
   residues, not on the size.  Each one's number of long reuses jumps about; their sum grows evenly.
   So an innermost loop's groups may be modelled together with those of the loop around it, and with
   those of the other pieces of that.

   Histograms of joint groups are added up and cut as if they were one group's, and member m gets of
   each segment the share that it had over all sizes:

       count_m(x) = share_m · count(x),   distance_m(x) = distance(x)

   count: accesses; distance: in blocks; x: the size.  This is done where it pays: where the
   members' own models fail to reproduce the misses of all of them at the measured sizes, and the
   joint ones do clearly better.
   Source: of this project; Marin & Mellor-Crummey 2004 model each group by itself. */
#include "fit/histogram/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Blocks of cache number C by which models are judged. */
static double cache_blocks(size_t c) { return ldexp((double)pm_heuristics.joint_smallest, (int)c); }

/* ---- which groups ---------------------------------------------------------------------------- */

static bool is_loop(const struct pm_structure *structure, uint32_t scope) {
    return scope != PM_NONE && structure->scopes[scope].kind == PM_SCOPE_LOOP;
}

/* The next loop around SCOPE in its routine; PM_NONE if there is none. */
static uint32_t loop_around(const struct pm_structure *structure, uint32_t scope) {
    do
        scope = structure->scopes[scope].parent;
    while (scope != PM_NONE && structure->scopes[scope].kind == PM_SCOPE_INLINED);
    return is_loop(structure, scope) ? scope : PM_NONE;
}

uint32_t *pm_joint_scopes(const struct pm_structure *structure) {
    bool *is_outer = pm_alloc(structure->n_scopes + 1, sizeof *is_outer);
    uint32_t *scopes = pm_alloc(structure->n_groups + 1, sizeof *scopes);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        uint32_t around = is_loop(structure, s) ? loop_around(structure, s) : PM_NONE;
        if (around != PM_NONE)
            is_outer[around] = true;
    }
    for (size_t g = 0; g < structure->n_groups; g++) {
        uint32_t scope = structure->groups[g].scope, around;
        scopes[g] = scope;
        if (is_loop(structure, scope) && !is_outer[scope] &&
            (around = loop_around(structure, scope)) != PM_NONE)
            scopes[g] = around;
        if (scope != PM_NONE)
            scopes[g] = structure->scopes[scopes[g]].fold;
    }
    free(is_outer);
    return scopes;
}

/* ---- adding up ------------------------------------------------------------------------------- */

static int compare_bins(const void *left, const void *right) {
    const struct pm_bin *a = left, *b = right;
    return a->mean != b->mean ? PM_COMPARE(a->mean, b->mean) : PM_COMPARE(a->high, b->high);
}

/* The members' bins in one list by distance, in BINS; only equal ones are joined, to keep them
   narrow. */
static struct pm_histogram added_up(const struct pm_joint_groups *joint, size_t size,
                                    struct pm_bin *bins) {
    struct pm_histogram sum = {0};
    size_t n = 0, kept = 0;
    for (size_t m = 0; m < joint->n; m++) {
        const struct pm_histogram *histogram = joint->members[m].histograms[size];
        if (!histogram)
            continue;
        sum.block_bytes = histogram->block_bytes;
        if (sum.at_least == 0 || (histogram->at_least > 0 && histogram->at_least < sum.at_least))
            sum.at_least = histogram->at_least;
        sum.beyond_loads += histogram->beyond_loads;
        sum.beyond_stores += histogram->beyond_stores;
        if (histogram->n_bins)
            memcpy(bins + n, histogram->bins, histogram->n_bins * sizeof *bins);
        n += histogram->n_bins;
    }
    PM_SORT(bins, n, compare_bins);
    for (size_t i = 0; i < n; i++) {
        struct pm_bin *last = kept ? &bins[kept - 1] : NULL;
        if (last && last->mean == bins[i].mean) {
            last->low = fmin(last->low, bins[i].low);
            last->high = fmax(last->high, bins[i].high);
            last->loads += bins[i].loads;
            last->stores += bins[i].stores;
        } else {
            bins[kept++] = bins[i];
        }
    }
    sum.bins = bins;
    sum.n_bins = kept;
    return sum;
}

/* Shares of the members in SEGMENT, over all sizes. */
static void member_shares(const struct pm_joint_groups *joint,
                          const struct pm_histogram_segment *segment, size_t n_sizes) {
    double all = 0;
    for (size_t m = 0; m < joint->n; m++) {
        double sum = 0;
        for (size_t k = 0; k < n_sizes; k++)
            if (!isnan(segment->mean[k]))
                sum += pm_accesses_between(joint->members[m].histograms[k], segment->low[k],
                                           segment->high[k]);
        joint->members[m].share = sum;
        all += sum;
    }
    for (size_t m = 0; m < joint->n && all > 0; m++)
        joint->members[m].share /= all;
}

/* ---- does it pay? ---------------------------------------------------------------------------- */

/* Adds to MISSES those of N bins at SIZE in caches of SMALLEST_CACHE · 2^c blocks. */
static void add_misses(const struct pm_design *design, size_t size, const struct pm_bin_model *bins,
                       size_t n, double misses[PM_MOST_joint_caches]) {
    for (size_t b = 0; b < n; b++) {
        double distance = pm_design_model_value(design, &bins[b].distance, size);
        double count = pm_design_model_value(design, &bins[b].count, size);
        for (size_t c = 0; c < pm_heuristics.joint_caches && distance >= cache_blocks(c); c++)
            misses[c] += count;
    }
}

/* Mean error of MISSES at SIZE, each at most 1, added to SUM; how many in N. */
static void add_errors(const struct pm_joint_groups *joint, size_t size,
                       const double misses[PM_MOST_joint_caches], double *sum, size_t *n) {
    for (size_t c = 0; c < pm_heuristics.joint_caches; c++) {
        double measured = 0;
        for (size_t m = 0; m < joint->n; m++)
            measured +=
                pm_accesses_between(joint->members[m].histograms[size], cache_blocks(c), INFINITY);
        double larger = fmax(measured, misses[c]);
        if (larger <= 0)
            break;
        *sum += fabs(misses[c] - measured) / larger;
        ++*n;
    }
}

/* Mean error of all members' misses at the larger half of the sizes: of the members' models, or of
   BINS if there are any. */
static double miss_error(const struct pm_joint_groups *joint, const struct pm_design *design,
                         const struct pm_bin_model *bins, size_t n_bins) {
    double sum = 0;
    size_t n = 0;
    for (size_t k = design->n / 2; k < design->n; k++) {
        double misses[PM_MOST_joint_caches] = {0};
        if (bins)
            add_misses(design, k, bins, n_bins, misses);
        for (size_t m = 0; m < joint->n && !bins; m++)
            add_misses(design, k, joint->members[m].model->bins, joint->members[m].model->n_bins,
                       misses);
        add_errors(joint, k, misses, &sum, &n);
    }
    return n ? sum / (double)n : 0;
}

/* ---- the members' new models ----------------------------------------------------------------- */

static void give_shares(struct pm_partition *p, const struct pm_joint_groups *joint,
                        const struct pm_histogram_model *whole) {
    for (size_t b = 0; b < whole->n_bins; b++) {
        member_shares(joint, &p->segments[b], p->design->n);
        for (size_t m = 0; m < joint->n; m++) {
            struct pm_histogram_model *model = joint->members[m].model;
            if (b == 0) {
                model->bins = pm_bin_model_arena_alloc(&p->bins, whole->n_bins);
                model->n_bins = 0;
            }
            if (joint->members[m].share <= 0)
                continue;
            struct pm_bin_model *bin = &model->bins[model->n_bins++];
            *bin = whole->bins[b];
            pm_model_scale(&bin->count, joint->members[m].share);
        }
    }
}

void pm_fit_jointly(struct pm_partition *p, const struct pm_joint_groups *joint) {
    const struct pm_design *design = p->design;
    if (joint->n < 2 || pm_fit_without(PM_STEP_JOINT))
        return;
    double own = miss_error(joint, design, NULL, 0);
    if (!(own > pm_heuristics.joint_fails))
        return;
    for (size_t k = 0; k < design->n; k++) {
        p->sums[k] = added_up(joint, k, p->sum_bins + k * p->most_bins);
        p->to_sums[k] = &p->sums[k];
    }
    struct pm_histogram_model whole = {.block_bytes = joint->members[0].model->block_bytes};
    pm_fit_histogram(p, p->to_sums, &whole);
    if (miss_error(joint, design, whole.bins, whole.n_bins) < pm_heuristics.joint_gain * own)
        give_shares(p, joint, &whole);
    else
        pm_bin_model_arena_return(&p->bins, whole.n_bins);
}
