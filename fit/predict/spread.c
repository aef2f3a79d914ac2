/* How far off the misses of a whole program may be.

   Errors of the models of one program fail together: what its arrays outgrow, all of them outgrow.
   So the misses M(C) of a fully associative cache of C blocks have one interval for the program,
   from the sets that were made without the largest sizes (held_out.c) and from the residual r of
   all at the measured sizes (residuals.c):

       e(C) = max_k |ln M_k(C) / M(C)|          M_k: misses by the set without the k largest sizes
       E(C) = max e(C′),  C / 2 ≤ C′ ≤ 2 C      where misses fall steeply, the place is uncertain
       w(C) = q · √((DISAGREEMENT · e(C))² + (RESIDUAL · r)² + PLACEMENT²)
              or, where E(C) exceeds STRUCTURAL, q · STRUCTURAL_FACTOR · E(C)

   at the target itself, the names in capitals being those of heuristics.h, with q = t(level, k) /
   t(80%, 2) of Student's quantiles for k sets.  The true misses then lie within M(C) · e^±w(C).
   Below STRUCTURAL the sets have the same functions with other coefficients, and err alike; above
   it they disagree about what grows how, and how far two of them are apart bounds the third little.
   With too few sizes to hold one out nothing is known of the growth: w is that of a power of the
   size more or less.

   As a profile: accesses move.  Distances are cut into cells, a quarter of an octave each; a cell
   that is to have fewer accesses gives the rest of them, of all groups alike, to the cells that are
   to have more, in the order of distances.  What need not move stays where it was predicted.
   Source: of this project; calibrated on whole programs (docs/log-fitting.md). */
#include "fit/predict/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/predict/miss_curve.h"
#include "fit/private.h"

enum {
    NEIGHBOURS = PM_CELLS_PER_OCTAVE, /* as far as the cliff of a curve may be elsewhere */
    MAX_CELLS = PM_MAX_CELLS,
};

/* ---- how wide -------------------------------------------------------------------------------- */

void pm_other_misses_add(struct pm_other_misses *others, const struct pm_profile *profile) {
    double in_cells[MAX_CELLS + 1];
    for (size_t b = 0; b < profile->n_block_sizes; b++) {
        struct pm_miss_curve *curve = PM_PUSH(others, curves);
        curve->set = others->n_sets;
        curve->block_bytes = profile->block_sizes[b];
        pm_count_cells(profile, curve->block_bytes, in_cells);
        pm_misses_from_cells(in_cells, curve->misses);
    }
    others->n_sets++;
}

/* Of set K; NULL: it has none in blocks of this size. */
static const double *others_curve(const struct pm_other_misses *others, size_t k,
                                  uint64_t block_bytes) {
    for (size_t i = 0; i < others->n_curves; i++)
        if (others->curves[i].set == k && others->curves[i].block_bytes == block_bytes)
            return others->curves[i].misses;
    return NULL;
}

/* How far what the sets without the largest sizes say is from MISSES. */
static void find_disagreement(const struct pm_other_misses *others, uint64_t block_bytes,
                              const double *misses, double *disagreement) {
    for (size_t cell = 0; cell <= MAX_CELLS; cell++)
        disagreement[cell] = 0;
    for (size_t k = 0; k < others->n_sets; k++) {
        const double *theirs = others_curve(others, k, block_bytes);
        for (size_t cell = 0; cell <= MAX_CELLS; cell++) {
            double ratio = fmax(theirs ? theirs[cell] : 0, PM_LEAST_MISSES) /
                           fmax(misses[cell], PM_LEAST_MISSES);
            disagreement[cell] = fmax(disagreement[cell], fabs(log(ratio)));
        }
    }
}

/* What is uncertain where the sets agree. */
static double noise_of(const struct pm_model_set *set, uint64_t block_bytes) {
    double residual = 0;
    for (size_t i = 0; i < set->n_residuals; i++)
        if (set->residuals[i].block_bytes == block_bytes)
            residual = set->residuals[i].error;
    return pm_fit_without(PM_STEP_RESIDUAL)
               ? 0
               : hypot(pm_heuristics.residual * residual, pm_heuristics.placement);
}

/* Half an interval, as a logarithm, where the sets disagree by DISAGREEMENT there and by NEARBY in
   the neighbourhood. */
static double width_of(double disagreement, double nearby, double noise, double quantile) {
    double width = nearby > pm_heuristics.structural
                       ? pm_heuristics.structural_factor * nearby
                       : hypot(pm_heuristics.disagreement * disagreement, noise);
    return fmin(width * quantile, log(PM_LONGEST_FACTOR));
}

static double largest_near(const double *disagreement, size_t cell) {
    size_t from = cell > NEIGHBOURS ? cell - NEIGHBOURS : 0;
    size_t to = cell + NEIGHBOURS < MAX_CELLS ? cell + NEIGHBOURS : MAX_CELLS;
    double largest = 0;
    for (size_t other = from; other <= to; other++)
        largest = fmax(largest, disagreement[other]);
    return largest;
}

/* MISSES becomes the end of its interval.  A larger cache has no more misses than a smaller one, so
   that the lower end at one is at least that at any larger one, and the upper end at most that at
   any smaller one, down to the accesses, about which the sets need not disagree for the reasons of
   a cache. */
static void move_misses(const double *disagreement, double noise, double quantile, bool high,
                        double *misses) {
    double accesses = disagreement[0] * quantile;
    double end[MAX_CELLS + 1];
    end[0] = misses[0] * exp(high ? accesses : -accesses);
    for (size_t cell = 1; cell <= MAX_CELLS; cell++) {
        double width =
            width_of(disagreement[cell], largest_near(disagreement, cell), noise, quantile);
        end[cell] = fmin(misses[cell] * exp(high ? width : -width), end[0]);
    }
    size_t smallest = pm_cell_of((double)PM_SPREAD_SMALLEST);
    for (size_t cell = smallest; cell < MAX_CELLS && high; cell++)
        end[cell + 1] = fmin(end[cell + 1], end[cell]);
    for (size_t cell = MAX_CELLS; cell > smallest && !high; cell--)
        end[cell - 1] = fmax(end[cell - 1], end[cell]);
    for (size_t cell = smallest; cell > 0; cell--)
        end[cell - 1] = fmax(end[cell - 1], end[cell]);
    memcpy(misses, end, sizeof end);
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* What becomes of the accesses of each cell: KEPT times as many stay, and parts go elsewhere. */
struct moves {
    double scale; /* of what KEPT is where nothing moves */
    double kept[MAX_CELLS + 1];
    size_t n;
    struct move {
        size_t from, to;
        double share;            /* of FROM's accesses */
    } list[2 * (MAX_CELLS + 1)]; /* ascending FROM */
};

/* BEFORE and AFTER: accesses in cells. */
static void find_moves(const double *before, const double *after, struct moves *moves) {
    double all_before = 0, all_after = 0, surplus[MAX_CELLS + 1], deficit[MAX_CELLS + 1];
    for (size_t cell = 0; cell <= MAX_CELLS; cell++) {
        all_before += before[cell];
        all_after += after[cell];
    }
    double scale = moves->scale = all_before > 0 ? all_after / all_before : 1;
    for (size_t cell = 0; cell <= MAX_CELLS; cell++) {
        double scaled = before[cell] * scale, stay = fmin(scaled, after[cell]);
        bool same = fabs(scaled - after[cell]) <= pm_heuristics.rounding * scaled;
        surplus[cell] = same ? 0 : scaled - stay;
        deficit[cell] = same ? 0 : after[cell] - stay;
        moves->kept[cell] = same ? scale : before[cell] > 0 ? stay / before[cell] : 0;
    }
    moves->n = 0;
    size_t to = 0;
    for (size_t from = 0; from <= MAX_CELLS; from++)
        while (surplus[from] > 0) {
            double moved = fmin(surplus[from], deficit[to]);
            if (moved > 0)
                moves->list[moves->n++] = (struct move){from, to, moved / before[from]};
            surplus[from] -= moved;
            deficit[to] -= moved;
            if (deficit[to] > 0)
                continue;
            if (to == MAX_CELLS) /* of what is left, rounding */
                break;
            to++;
        }
}

/* Loads and stores that come to a cell from elsewhere. */
struct arrivals {
    double loads[MAX_CELLS + 1], stores[MAX_CELLS + 1];
};

static void depart(const struct moves *moves, size_t cell, double loads, double stores,
                   struct arrivals *arrivals) {
    size_t first = PM_LOWER_BOUND(moves->n, i, moves->list[i].from < cell);
    for (size_t i = first; i < moves->n && moves->list[i].from == cell; i++) {
        arrivals->loads[moves->list[i].to] += loads * moves->list[i].share;
        arrivals->stores[moves->list[i].to] += stores * moves->list[i].share;
    }
}

/* BIN cut at the cells' borders, each part with what stays of it; how many parts in PARTS. */
static size_t cut_bin(const struct pm_bin *bin, const struct moves *moves,
                      struct arrivals *arrivals, struct pm_bin *parts) {
    size_t n = 0;
    double left = 1;
    for (size_t cell = pm_cell_of(bin->low); left > 0; cell++) {
        double begin = pm_cell_begin(cell), end = pm_cell_begin(cell + 1);
        double beyond = cell + 1 < MAX_CELLS ? pm_bin_missing_share(bin, end) : 0;
        double share = left - beyond, low = fmax(bin->low, begin);
        double high = beyond > 0 ? fmax(low, fmin(bin->high, end - 1)) : fmax(low, bin->high);
        left = beyond;
        depart(moves, cell, share * bin->loads, share * bin->stores, arrivals);
        if (!(moves->kept[cell] * share > 0))
            continue;
        parts[n++] =
            (struct pm_bin){.low = low,
                            .mean = beyond > 0 || low > bin->mean ? 0.5 * (low + high) : bin->mean,
                            .high = high,
                            .loads = share * bin->loads * moves->kept[cell],
                            .stores = share * bin->stores * moves->kept[cell]};
        parts[n - 1].mean = fmin(fmax(parts[n - 1].mean, low), high);
    }
    return n;
}

/* Whether nothing of BIN's cells moves. */
static bool stays_whole(const struct pm_bin *bin, const struct moves *moves) {
    size_t last = pm_cell_of(bin->high);
    for (size_t cell = pm_cell_of(bin->low); cell <= last; cell++)
        if (moves->kept[cell] != moves->scale)
            return false;
    return true;
}

static void move_histogram(const struct moves *moves, struct pm_histogram *histogram) {
    struct arrivals arrivals = {{0}, {0}};
    size_t capacity = (histogram->n_bins + 1) * 2 + MAX_CELLS, n = 0;
    for (size_t b = 0; b < histogram->n_bins; b++)
        capacity += pm_cell_of(histogram->bins[b].high) - pm_cell_of(histogram->bins[b].low);
    struct pm_bin *bins = pm_alloc(capacity, sizeof *bins);
    for (size_t b = 0; b < histogram->n_bins; b++) {
        const struct pm_bin *bin = &histogram->bins[b];
        if (moves->scale > 0 && stays_whole(bin, moves)) {
            bins[n] = *bin;
            bins[n].loads *= moves->scale;
            bins[n++].stores *= moves->scale;
        } else {
            n += cut_bin(bin, moves, &arrivals, bins + n);
        }
    }
    depart(moves, MAX_CELLS, histogram->cold_loads + histogram->beyond_loads,
           histogram->cold_stores + histogram->beyond_stores, &arrivals);
    double kept = moves->kept[MAX_CELLS];
    histogram->beyond_loads *= kept;
    histogram->beyond_stores *= kept;
    histogram->cold_loads = histogram->cold_loads * kept + arrivals.loads[MAX_CELLS];
    histogram->cold_stores = histogram->cold_stores * kept + arrivals.stores[MAX_CELLS];
    for (size_t cell = 0; cell < MAX_CELLS; cell++) {
        double low = pm_cell_begin(cell), high = fmax(low, pm_cell_begin(cell + 1) - 1);
        if (arrivals.loads[cell] + arrivals.stores[cell] > 0)
            bins[n++] = (struct pm_bin){.low = low,
                                        .mean = 0.5 * (low + high),
                                        .high = high,
                                        .loads = arrivals.loads[cell],
                                        .stores = arrivals.stores[cell]};
    }
    free(histogram->bins);
    histogram->n_bins = pm_fit_order_bins(bins, n);
    /* Most of the room was for bins that nothing came to. */
    histogram->bins = pm_realloc(bins, histogram->n_bins + 1, sizeof *bins);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* What the intervals of all block sizes come from. */
struct spread {
    const struct pm_model_set *set;
    const struct pm_other_misses *others;
    double unknown; /* the disagreement where there are none */
    double quantile;
    bool high;
};

static void spread_blocks(const struct spread *s, uint64_t block_bytes,
                          struct pm_profile *profile) {
    double before[MAX_CELLS + 1], after[MAX_CELLS + 1], misses[MAX_CELLS + 1];
    double disagreement[MAX_CELLS + 1];
    struct moves moves;
    pm_count_cells(profile, block_bytes, before);
    pm_misses_from_cells(before, misses);
    find_disagreement(s->others, block_bytes, misses, disagreement);
    for (size_t cell = 0; cell <= MAX_CELLS && s->others->n_sets == 0; cell++)
        disagreement[cell] = s->unknown;
    move_misses(disagreement, noise_of(s->set, block_bytes), s->quantile, s->high, misses);
    for (size_t cell = 0; cell < MAX_CELLS; cell++)
        after[cell] = misses[cell] - misses[cell + 1];
    after[MAX_CELLS] = misses[MAX_CELLS];
    find_moves(before, after, &moves);
    for (size_t h = 0; h < profile->n_histograms; h++)
        if (profile->histograms[h].histogram.block_bytes == block_bytes)
            move_histogram(&moves, &profile->histograms[h].histogram);
}

void pm_fit_spread(const struct pm_model_set *set, const struct pm_other_misses *others,
                   double level, bool high, struct pm_profile *profile) {
    const size_t n = others->n_sets ? others->n_sets : PM_MOST_HELD_OUT;
    const struct spread s = {.set = set,
                             .others = others,
                             .unknown = fmax(log(profile->extrapolation), pm_heuristics.structural),
                             .quantile =
                                 pm_fit_quantile(level, (double)n) /
                                 pm_fit_quantile(pm_heuristics.interval_level, PM_MOST_HELD_OUT),
                             .high = high};
    for (size_t b = 0; b < profile->n_block_sizes; b++)
        spread_blocks(&s, profile->block_sizes[b], profile);
}
