/* Every decision constant of fit/, and every step that can be left out.

   A constant has one line: its name, its value, and why it has that value.  Code reads it as
   `pm_heuristics.NAME`.  For the ablation (`make ablation`, docs/ablation.md), and for nothing
   else, the environment changes them:

       PM_FIT_SCALE=NAME:FACTOR,…   the constant times FACTOR, above 0 and up to 2 (counts: rounded,
                                    at least 1)
       PM_FIT_WITHOUT=STEP,…        without this step

   An unknown name is an error of pm_fit and pm_fit_instantiate that lists the names.  What is
   not here: tolerances of the solvers in algebra/, which answer to the arithmetic and not to
   programs; how many texts of a kind fit a note. */
#ifndef PM_FIT_HEURISTICS_H
#define PM_FIT_HEURISTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "fit/tunables.h"

/* X (name, value, why) */
#define PM_FIT_NUMBERS(X)                                                                          \
    /* ---- all models ---- */                                                                     \
    X(shape_range, 8.0,                                                                            \
      "A model has the shape of its data up to this many times the largest measured size: "        \
      "predictions are mostly for two to four times")                                              \
    X(rounding, 1e-9, "Relative differences up to this are of rounding: counts have 53 bits")      \
    X(noise, 2e-3,                                                                                 \
      "Steps against the trend, and shares that differ, by less are noise: "                       \
      "alignment and start-up change counts of small sizes by about that")                         \
    X(small_value, 1e-3,                                                                           \
      "Relative errors take values below this share of the largest one as if they were that "      \
      "large, so that a value near zero does not rule the others")                                 \
    X(high_power, 3.5,                                                                             \
      "Functions that grow faster run away beyond the data: loops in loops in "                    \
      "loops give the third power")                                                                \
    X(high_power_penalty, 4.0,                                                                     \
      "The score of a candidate with such a function is multiplied by this; 1.5 let adi's "        \
      "quartics in (docs/log-fitting.md)")                                                         \
    X(growth_penalty, 8.0,                                                                         \
      "The score is multiplied by this for each power of growth beyond that of the data; 4 has "   \
      "larger errors, mostly in pages (docs/log-fitting.md)")                                      \
    X(free_growth, 0.25,                                                                           \
      "Powers of growth beyond that of the data that have no penalty: lower terms fade as "        \
      "sizes grow, but no more than that")                                                         \
    X(distance_error, 0.5,                                                                         \
      "Blocks that a measured distance may be off: distances are whole numbers")                   \
    X(count_error, 0.289,                                                                          \
      "Root mean square of what rounding to whole numbers takes from a count, 1/sqrt(12)")         \
    X(block_error, 2.0,                                                                            \
      "Blocks that a measured number of blocks may be off: as many more are touched where data "   \
      "lie otherwise")                                                                             \
    X(least_redundancy, 1e-6,                                                                      \
      "1 - leverage of a point, the share of an error in its value that shows in its residual; "   \
      "below this the point alone decides a coefficient")                                          \
    X(term_penalty, 0.03,                                                                          \
      "Share by which each term adds to the score: of two candidates that are equally good the "   \
      "simpler one wins")                                                                          \
    X(exact_caution, 1.5,                                                                          \
      "Factor for the bits of an exact model where at most one point is left to test its terms")   \
    /* ---- series/ ---- */                                                                        \
    X(smallest_gain, 0.2,                                                                          \
      "Score without the smallest size, as a share of that with it, up to which the smallest "     \
      "size is left out: its arrays are so small that they lie elsewhere")                         \
    X(logarithm_gain, 0.7,                                                                         \
      "Score of 1, N, N*log2(N), as a share of that of polynomials, up to which a count takes "    \
      "them: from 0.8 on counts that vary with the residue of the size do by chance")              \
    X(far_better, 10.0,                                                                            \
      "A free fit that does not oscillate replaces the fit in shape if its score is this many "    \
      "times better")                                                                              \
    /* ---- series/, several parameters ---- */                                                    \
    X(distance_power, 3.1,                                                                         \
      "Largest sum of powers in a term of a distance: a distance is no more than a volume")        \
    X(tried_power, 4.1, "Largest sum of powers in a term of a count where a cut is tried")         \
    /* ---- histogram/ ---- */                                                                     \
    X(similar, 0.03,                                                                               \
      "Two distances with this relative difference are one, and a bin of this width is not "       \
      "divided: a cache's size is met that well")                                                  \
    X(negligible_share, 2e-3,                                                                      \
      "A range with less than this share of the accesses on its side of the clean cut is not "     \
      "divided further,")                                                                          \
    X(negligible_count, 50, "nor is one with fewer accesses")                                      \
    X(least_count, 4, "Misses below which a cache does not judge the tail of large blocks")        \
    X(constant_error, 0.02,                                                                        \
      "Leave-one-out error of the counts up to which a distance that occurs at every size is a "   \
      "bin of its own")                                                                            \
    X(gap_bonus, 1e-3,                                                                             \
      "A clean cut at a gap is taken in place of one at a limit unless its error is larger by "    \
      "more than this")                                                                            \
    X(limit_ratio, 1.5,                                                                            \
      "Limits for a clean cut with less than this times the smallest error are all as good,")      \
    X(limit_more, 0.003, "as are those within this difference of it")                              \
    X(bound_share, 0.1,                                                                            \
      "A distance below a constant one is constant, too, where the constant one has at least "     \
      "this share of its accesses")                                                                \
    X(wide_gap, 0.058,                                                                             \
      "log 1.06: the ratio of neighbouring distances that is a gap at the largest size")           \
    X(noticeable_gap, 0.0198, "log 1.02: the same at the other sizes")                             \
    X(gap_from, 4.0,                                                                               \
      "Blocks added to distances before their ratio is taken: between distances 1 and 2 there "    \
      "is no gap worth a name")                                                                    \
    X(gap_least_share, 1e-3,                                                                       \
      "Share of the accesses that each side of a gap at the largest size has at least")            \
    X(least_exponent, -0.3,                                                                        \
      "Smallest plausible growth of the counts on one side of a gap, as a power: constant, and "   \
      "a little less")                                                                             \
    X(largest_exponent, 3.8, "Largest plausible growth: a triple loop, and a little more")         \
    X(odd_growth, 2.0,                                                                             \
      "Each power of growth outside of that range takes this from the likeness of two gaps")       \
    X(odd_share, 0.5,                                                                              \
      "Each e-fold change of the share of accesses below the gap takes this from it")              \
    X(least_likeness, 0.15, "Likeness below which a gap cannot be followed to the next size")      \
    X(gap_error, 0.03,                                                                             \
      "Leave-one-out error of the counts on each side, as a share of all accesses, up to which "   \
      "a gap is accepted")                                                                         \
    X(dense_rounded, 1.0,                                                                          \
      "Blocks by which first touches of large blocks, computed from those of small ones, may "     \
      "be wrong, times 1 + the root of the blocks that are touched in part")                       \
    X(dense_rough, 0.02, "Share by which they may be wrong as well")                               \
    X(dense_tail, 0.15,                                                                            \
      "Mean error of the misses of pages that follow from distances of lines, up to which "        \
      "these distances are taken: ends of arrays and planes of a few pages are off by a tenth")    \
    X(joint_fails, 0.05,                                                                           \
      "Mean error of the members' own models above which joint models are tried")                  \
    X(joint_gain, 0.5, "Share of that error up to which the joint models are taken")               \
    X(least_power, 0.05,                                                                           \
      "Smallest power of the program's extent by which an irregular distance grows; with a "       \
      "smaller one it is constant")                                                                \
    X(scales_alike, 1.0,                                                                           \
      "Error of scaled distances, as a multiple of that of the model with gaps, up to which an "   \
      "irregular group scales: where both are as good, gaps of such a group go wrong further "     \
      "out")                                                                                       \
    X(blur, 0.5,                                                                                   \
      "Relative deviation of a distance of one block because chance decides which blocks are "     \
      "met; it falls with the root of the distance (binomial)")                                    \
    /* ---- edges/, prepare/ ---- */

/* The same, of what is shown of models and of their intervals: no prediction depends on them. */
#define PM_FIT_SHOWN(X)                                                                            \
    X(freedom, 2.0,                                                                                \
      "Degrees of freedom of an interval at most: what a model leaves over is what "               \
      "its functions cannot say, not noise (predict/interval.c)")                                  \
    X(drift, 0.75,                                                                                 \
      "An interval grows by this times the logarithm of the extrapolation; chosen on seven "       \
      "programs (docs/log-fitting.md)")                                                            \
    X(disagreement, 0.3,                                                                           \
      "Half an interval of a program's misses, as a multiple of the logarithm by which the "       \
      "sets without the largest sizes disagree; calibrated on 110 programs and sets of sizes "     \
      "(docs/log-fitting.md)")                                                                     \
    X(residual, 1.25,                                                                              \
      "Half an interval, as a multiple of the models' mean error at the measured sizes")           \
    X(placement, 0.005,                                                                            \
      "Half an interval, as a logarithm, even where all models agree: where data lie moves "       \
      "misses by as much")                                                                         \
    X(structural, 0.24,                                                                            \
      "Sets that differ by more than this logarithm of a ratio disagree about which counts "       \
      "grow how;")                                                                                 \
    X(structural_factor, 4.0, "half an interval is then this many times their disagreement")       \
    /* ---- query/, analysis/: what is shown, not what is modelled ---- */                         \
    X(flagged_error, 0.10,                                                                         \
      "A model is flagged when the sizes that it was made from, each "                             \
      "predicted from the others, come out further off (root mean square)")                        \
    X(interval_level, 0.8, "The probability of intervals where the user names none")               \
    /* ---- prepare/choice.c: which parameters ---- */                                             \
    /* ---- warnings/ ---- */                                                                      \
    /* ---- sets/: judged by docs/misses.md ---- */                                                \
    X(set_spread, 0.6,                                                                             \
      "Half an interval, as a share of what the sets change of the misses: holds four of five "    \
      "caches of the example programs, from measured histograms, where sets change a hundredth "   \
      "or more")

/* The same, whole. */
#define PM_FIT_COUNTS(X)                                                                           \
    X(enough_sizes, 5,                                                                             \
      "Sizes that a polynomial of degree 4, a curvature, or a size of another kind needs; with "   \
      "fewer, models have one or two terms")                                                       \
    X(few_terms, 2, "Terms of a model of fewer sizes than that")                                   \
    X(distance_terms, 2, "Terms of a distance at most: a plane and a row")                         \
    X(constant_sizes, 2,                                                                           \
      "Sizes, and half of all, at which a constant distance stays within a block")                 \
    X(short_distance, 64, "Blocks: shorter distances are short ones")                              \
    X(ends_from_sizes, 4,                                                                          \
      "So many of the largest sizes give the ratio of a bin's ends to its mean")                   \
    X(few_blocks, 16, "Pages: as many as the smallest TLB has entries")                            \
    X(dense_tail_from, 8,                                                                          \
      "Pages: shorter distances are mostly of pages that are touched in part, one an array")       \
    X(dense_tail_caches, 3, "Pairs of a cache and a size that judge this, at least")               \
    X(gap_tries, 4, "So many of the widest gaps of the largest size are followed")                 \
    X(joint_caches, 14,                                                                            \
      "Caches by which joint models are judged, each twice as large as the one before;")           \
    X(joint_smallest, 16, "blocks of the smallest of them")                                        \
    X(trial_sizes, 4, "Sizes from which on the largest is predicted from the others as a trial,")  \
    X(trial_sizes_unknown, 6,                                                                      \
      "and where strides are unknown rather than indirect: models with gaps of fewer than five "   \
      "sizes say little of those of all")                                                          \
    X(scaled_caches, 20, "Caches of 1, 2, 4 ... blocks whose misses judge the trial")              \
    X(onset_degree, 3, "Largest power by which an edge that sets in late grows")                   \
    X(constant_points, 3, "Points from which on a constant distance is certain to a block")

/* X (STEP, name, what it does) */
#define PM_FIT_STEPS(X)                                                                            \
    X(OUTLIER_SIZES, outlier_sizes, "finds sizes that do not go with the others")                  \
    X(SMALLEST_SIZE, smallest_size,                                                                \
      "a smallest size of another kind is left out, and undoes no gap")                            \
    X(ONSET, onset, "counts that set in late are functions of the sizes from there on")            \
    X(ROUNDING, rounding, "what explains how counts are rounded is no better than what does not")  \
    X(EMPHASIS, emphasis, "larger sizes count more")                                               \
    X(HIGH_POWER_PENALTY, high_power_penalty, "a fourth power has a price")                        \
    X(GROWTH_PENALTY, growth_penalty, "growth beyond that of the data has a price")                \
    X(SHAPE, shape, "models have the shape of their data")                                         \
    X(FREE_FIT, free_fit, "a free fit that is far better and sound stays out of shape")            \
    X(EXACT, exact,                                                                                \
      "counts that small fractions reproduce are exactly that, with remainders and logarithms")    \
    X(LOGARITHMS, logarithms, "counts may grow as N*log2(N)")                                      \
    X(CONSTANT_DISTANCE, constant_distance, "a distance that stays within a block is constant")    \
    X(PARTITION, partition,                                                                        \
      "histograms are cut so that bins are followed through the sizes; without, as the paper has " \
      "it")                                                                                        \
    X(CONSTANT_BINS, constant_bins, "short distances of every size are bins of their own")         \
    X(CLEAN_CUT, clean_cut, "short and long distances are cut apart first")                        \
    X(GAPS, gaps, "cuts at gaps that are followed through the sizes")                              \
    X(BIN_WIDTH, bin_width, "a bin is as wide as its distances vary")                              \
    X(STAYS_NEARER, stays_nearer, "what is nearer at all sizes stays nearer further out")          \
    X(IRREGULAR, irregular, "distances of random accesses scale with the program's extent")        \
    X(JOINT, joint, "groups of a loop nest are modelled together")                                 \
    X(DENSE_COLD, dense_cold, "first touches of pages from those of lines")                        \
    X(DENSE_TAIL, dense_tail, "long reuses of pages from those of lines")                          \
    X(SURE_EDGES, sure_edges, "edges that are least sure follow from the others")                  \
    X(GROUP_ACCESSES, group_accesses, "accesses of groups from executions")                        \
    X(TAKES_REST, takes_rest, "the short bins take what the others do not account for")            \
    X(BEYOND, beyond, "what grew is nowhere further out less than at the largest size")            \
    X(LONGEST_DISTANCE, longest_distance, "no distance is longer than all data")                   \
    X(LARGER_BLOCKS, larger_blocks, "larger blocks come back no later than the smaller in them")   \
    X(HELD_OUT, held_out, "intervals of misses from sets without the largest sizes")               \
    X(RESIDUAL, residual, "intervals are as wide as the models are wrong where it was measured")   \
    X(MEASURED_PARAMETER, measured_parameter,                                                      \
      "of parameters that would do, what was measured decides")

/* The constants, as read. */
struct pm_heuristics {
#define PM_FIT_FIELD(name, value, why) double name;
    PM_FIT_NUMBERS(PM_FIT_FIELD)
    PM_FIT_SHOWN(PM_FIT_FIELD)
#undef PM_FIT_FIELD
#define PM_FIT_FIELD(name, value, why) size_t name;
    PM_FIT_COUNTS(PM_FIT_FIELD)
#undef PM_FIT_FIELD
    unsigned long long without; /* bit STEP */
};
extern struct pm_heuristics pm_heuristics; /* read-only but for pm_heuristics_set */

/* PM_MOST_name: what a count is at most, for arrays of as many. */
enum {
#define PM_FIT_MOST(name, value, why) PM_MOST_##name = 2 * (value),
    PM_FIT_COUNTS(PM_FIT_MOST)
#undef PM_FIT_MOST
};

enum pm_fit_step {
#define PM_FIT_ENUM(step, name, what) PM_STEP_##step,
    PM_FIT_STEPS(PM_FIT_ENUM)
#undef PM_FIT_ENUM
        PM_N_FIT_STEPS
};

/* Whether STEP is left out. */
static inline bool pm_fit_without(enum pm_fit_step step) {
    return pm_heuristics.without >> step & 1;
}

/* Takes PM_FIT_WITHOUT and PM_FIT_SCALE from the environment, the first time that it is called.
   False with a sentence where a name or a factor is none; also whenever it is called again. */
bool pm_heuristics_read(struct pm_error *err);

/* The same from two texts as those variables have, NULL: none, at any time but while models are
   made or evaluated.  What was changed before is undone. */
bool pm_heuristics_set(const char *without, const char *scale, struct pm_error *err);

/* The names of all steps (constants), a table for who tries them; *N: how many. */
struct pm_heuristic_name {
    const char *name, *why;
    double value; /* of a constant */
    bool models;  /* predictions depend on it */
};
const struct pm_heuristic_name *pm_heuristic_steps(size_t *n);
const struct pm_heuristic_name *pm_heuristic_constants(size_t *n);

/* Distances, in 64-byte blocks, at which short ones may be cut from long ones: steps of a half and
   a third, as caches and small arrays have them. */
#define PM_FIT_LIMITS 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256

/* Periods that a series is looked at for: what loops are unrolled and blocked by, and lines have of
   elements. */
#define PM_FIT_PERIODS 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128

/* Exponents that --search tries, those of Extra-P's normal form (Calotoiu, Hoefler, Poke & Wolf, SC
   2013). */
#define PM_FIT_EXPONENTS                                                                           \
    {0, 1}, {1, 4}, {1, 3}, {1, 2}, {2, 3}, {3, 4}, {1, 1}, {5, 4}, {4, 3}, {3, 2}, {5, 3},        \
        {7, 4}, {2, 1}, {9, 4}, {7, 3}, {5, 2}, {8, 3}, {11, 4}, {                                 \
        3, 1                                                                                       \
    }

/* Denominators of exact coefficients divide one of these, the largest first: 6!, of sums over
   nested loops; 8 · 21, of geometric sums over levels that halve (1, 3, 7 …); decimal fractions;
   and what loops are unrolled and blocked by. */
#define PM_FIT_DENOMINATORS 720, 168, 100, 64

/* Pages that are touched in part, about one for each array that a loop nest walks: what is tried
   (histogram/dense_tail.c). */
#define PM_FIT_RESTS 0, 1, 2, 3, 4, 6, 8, 12, 16

/* ---- sizes of tables, which no program decides ------------------------------------------------
 */

enum {
    /* The basis of a model set in one parameter begins with 1, N … N^4 and functions with
       logarithms that only pm_fit_logarithms uses; see prepare/bases.c. */
    PM_FIT_POLYNOMIALS = 5,
    PM_FIT_BASIS = 8,
    /* Sizes at which shape is looked at; the polynomials that pass there fall by 0.2% at most in
       between (tests/unit/fit_shapes.c).  A multiple of the vectors' width. */
    PM_SERIES_GRID = 24,
    /* The same along each of two, three and four axes: a hundred places and some hundreds. */
    PM_AXES_GRID_2 = 10,
    PM_AXES_GRID_3 = 6,
    PM_AXES_GRID_4 = 5,
    /* Cells of an octave of distances, between which accesses move (predict/miss_curve.h): within
       one a curve of misses is as good as straight. */
    PM_CELLS_PER_OCTAVE = 4,
    PM_FIT_MAX_AXES = 4,     /* parameters that vary independently */
    PM_FIT_LEAST_LEVELS = 3, /* of each of several parameters; with fewer there is no model */
    PM_PARTITION_DEPTH = 40, /* of nested cuts */
    PM_PARTITION_MAX_SEGMENTS = 400,
};

#endif
