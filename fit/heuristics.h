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
      "Of a larger value: what is smaller counts as that in relative errors, "                     \
      "so that a value near zero does not rule the others")                                        \
    X(high_power, 3.5,                                                                             \
      "Functions that grow faster run away beyond the data: loops in loops in "                    \
      "loops give the third power")                                                                \
    X(high_power_penalty, 4.0,                                                                     \
      "A candidate's score with such a function; 1.5 let adi's quartics "                          \
      "in (docs/log-fitting.md)")                                                                  \
    X(growth_penalty, 8.0,                                                                         \
      "For each power of growth beyond that of the data; 4 has larger errors, mostly in pages "    \
      "(docs/log-fitting.md)")                                                                     \
    X(free_growth, 0.25,                                                                           \
      "Powers of growth without it: lower terms fade as sizes grow, but no more than that")        \
    X(distance_error, 0.5, "Blocks: distances are whole numbers")                                  \
    X(block_error, 2.0, "Blocks: as many more are touched where data lie otherwise")               \
    X(least_redundancy, 1e-6,                                                                      \
      "1 - leverage of a point, the share of an error in its value that "                          \
      "shows in its residual; below this the point alone decides a "                               \
      "coefficient")                                                                               \
    X(term_penalty, 0.03,                                                                          \
      "Of the score for each term: of two candidates that "                                        \
      "are equally good the simpler one")                                                          \
    X(exact_caution, 1.5,                                                                          \
      "Bits of an exact model count this much where at most one point is "                         \
      "left to test its terms")                                                                    \
    /* ---- series/ ---- */                                                                        \
    X(smallest_gain, 0.2,                                                                          \
      "Score without the smallest size against that with it from which the "                       \
      "smallest is left out: arrays so small that they lie elsewhere")                             \
    X(logarithm_gain, 0.7,                                                                         \
      "Score of 1, N, N*log2(N) against that of polynomials below which a count takes them: "      \
      "from 0.8 on counts that vary with the residue of the size do by chance")                    \
    X(far_better, 10.0,                                                                            \
      "Score of a fit in shape against a free one that does not oscillate, from "                  \
      "which that stays")                                                                          \
    /* ---- series/, several parameters ---- */                                                    \
    X(distance_power, 3.1, "Powers in all of a distance: no more than a volume")                   \
    X(tried_power, 4.1, "Powers in all of counts that are tried for a cut")                        \
    /* ---- histogram/ ---- */                                                                     \
    X(similar, 0.03,                                                                               \
      "Relative difference of two distances that are one, and width of a bin that "                \
      "is not divided: a cache's size is met that well")                                           \
    X(negligible_share, 2e-3, "Of the accesses on its side of the clean cut: not divided further") \
    X(negligible_count, 50, "The same in accesses of the group")                                   \
    X(least_count, 4, "What that is at least, however large the blocks")                           \
    X(constant_error, 0.02,                                                                        \
      "Leave-one-out error of the counts up to which a distance that occurs "                      \
      "at every size is a bin of its own")                                                         \
    X(gap_bonus, 1e-3, "Error by which a clean cut at a gap may be worse than one at a limit")     \
    X(limit_ratio, 1.5, "Limits whose error is within this factor of the least are as good,")      \
    X(limit_more, 0.003, "or within this difference")                                              \
    X(bound_share, 0.1,                                                                            \
      "Accesses of a constant distance against those of one below it, which "                      \
      "then is constant, too")                                                                     \
    X(wide_gap, 0.058, "log 1.06: a gap of the largest size")                                      \
    X(noticeable_gap, 0.0198, "log 1.02: a gap of the other sizes")                                \
    X(gap_from, 4.0,                                                                               \
      "Blocks added to distances in such ratios: between 1 and 2 there is no gap "                 \
      "worth a name")                                                                              \
    X(gap_least_share, 1e-3, "Of the accesses, on each side of a gap at the largest size")         \
    X(least_exponent, -0.3,                                                                        \
      "Growth of the counts on a side of a gap: from constant, and a little")                      \
    X(largest_exponent, 3.8, "to a triple loop, and a little")                                     \
    X(odd_growth, 2.0, "What each power outside of that takes of a gap's likeness")                \
    X(odd_share, 0.5, "What each e-fold of the share below takes of it")                           \
    X(least_likeness, 0.15, "Likeness below which a gap is lost")                                  \
    X(gap_error, 0.03,                                                                             \
      "Leave-one-out error of the counts on both sides, of all, up to which a "                    \
      "gap is accepted")                                                                           \
    X(dense_rounded, 1.0,                                                                          \
      "Blocks: first touches of large blocks from those of small ones may be "                     \
      "off by this for the array, and each that lies apart")                                       \
    X(dense_rough, 0.02, "and by this share")                                                      \
    X(dense_tail, 0.15,                                                                            \
      "Mean error of misses of pages, as those of lines have them, up to which these are taken: "  \
      "arrays' ends and planes of a few pages are off by a tenth")                                 \
    X(joint_fails, 0.05, "Mean error of the members' own models from which joint ones are tried")  \
    X(joint_gain, 0.5, "What is left of it with the joint ones")                                   \
    X(least_power, 0.05,                                                                           \
      "Of the program's extent, by which an irregular distance grows: with less it is constant")   \
    X(scales_alike, 1.0,                                                                           \
      "Error of the trial, against that of the model with gaps, up to which an irregular "         \
      "group scales: where either is as good, gaps of such a group go wrong further out")          \
    X(blur, 0.5,                                                                                   \
      "Over the root of a distance: how far it varies by which blocks are met by chance, at "      \
      "most (binomial)")                                                                           \
    /* ---- edges/, prepare/ ---- */

/* The same, of what is shown of models and of their intervals: no prediction depends on them. */
#define PM_FIT_SHOWN(X)                                                                            \
    X(freedom, 2.0,                                                                                \
      "Degrees of freedom of an interval at most: what a model leaves over is what "               \
      "its functions cannot say, not noise (predict/interval.c)")                                  \
    X(drift, 0.75,                                                                                 \
      "Growth of an interval with the logarithm of extrapolation, chosen on seven "                \
      "programs (docs/log-fitting.md)")                                                            \
    X(disagreement, 0.3,                                                                           \
      "Half an interval of a program's misses, of what the sets without the largest sizes "        \
      "say otherwise: calibrated on 110 programs and sets of sizes (docs/log-fitting.md)")         \
    X(residual, 1.25,                                                                              \
      "Half an interval, of what the models are wrong by at the measured sizes, on average")       \
    X(placement, 0.005,                                                                            \
      "Logarithm: where data lie moves misses by as much, even where all models agree")            \
    X(structural, 0.24,                                                                            \
      "Logarithm of a ratio: sets that are further apart disagree about what grows how,")          \
    X(structural_factor, 4.0, "and of so large a disagreement the interval is this, to each side") \
    /* ---- query/, analysis/: what is shown, not what is modelled ---- */                         \
    X(flagged_error, 0.10,                                                                         \
      "A model is flagged when the sizes that it was made from, each "                             \
      "predicted from the others, come out further off (root mean square)")                        \
    X(interval_level, 0.8, "The probability of intervals where nobody says otherwise")             \
    /* ---- prepare/choice.c: which parameters ---- */                                             \
    /* ---- warnings/ ---- */                                                                      \
    /* ---- sets/: judged by docs/misses.md ---- */                                                \
    X(set_spread, 0.6,                                                                             \
      "Half an interval, of what the sets change: four of five caches of the example programs, "   \
      "from measured histograms, where they change a hundredth or more")

/* The same, whole. */
#define PM_FIT_COUNTS(X)                                                                           \
    X(enough_sizes, 5,                                                                             \
      "Sizes to tell a polynomial of degree 4, a curvature, or a size of "                         \
      "another kind; with fewer, models have one or two terms")                                    \
    X(few_terms, 2, "Terms with fewer sizes than that")                                            \
    X(distance_terms, 2, "Of a distance: a plane and a row, no more")                              \
    X(constant_sizes, 2,                                                                           \
      "A distance that stays within a block at half of the sizes, and at so many")                 \
    X(short_distance, 64, "Blocks: distances below are short")                                     \
    X(ends_from_sizes, 4, "The largest sizes give the ratio of a bin's ends to its mean")          \
    X(few_blocks, 16, "As many pages as the smallest TLB has entries")                             \
    X(dense_tail_from, 8,                                                                          \
      "Pages: shorter distances are mostly of pages that are touched in part, one an array")       \
    X(dense_tail_caches, 3, "Caches and sizes at least, by which that is judged")                  \
    X(gap_tries, 4, "Widest gaps of the largest size that are followed")                           \
    X(joint_caches, 14, "Caches by which joint models are judged, each twice the one before,")     \
    X(joint_smallest, 16, "from so many blocks on")                                                \
    X(trial_sizes, 4, "At least, of which the largest is predicted from the others,")              \
    X(trial_sizes_unknown, 6,                                                                      \
      "and where strides are not known, rather than indirect: models with gaps of fewer than "     \
      "five sizes say little of those of all")                                                     \
    X(scaled_caches, 20, "Caches of 1, 2, 4 … blocks, by whose misses the trial is judged")        \
    X(onset_degree, 3, "Growth of an edge that sets in late, at most")                             \
    X(constant_points, 3, "A constant distance of so many points is sure to a block")

/* X (STEP, name, what it does) */
#define PM_FIT_STEPS(X)                                                                            \
    X(OUTLIER_SIZES, outlier_sizes, "finds sizes that do not go with the others")                  \
    X(SMALLEST_SIZE, smallest_size,                                                                \
      "a smallest size of another kind is left out, and undoes no gap")                            \
    X(ONSET, onset, "counts that set in late are functions of the sizes from there on")            \
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
    PM_FIT_LEAST_LEVELS = 3, /* of one of several: no model without */
    PM_PARTITION_DEPTH = 40, /* of cuts in cuts */
    PM_PARTITION_MAX_SEGMENTS = 400,
};

#endif
