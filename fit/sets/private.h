/* What the files of fit/sets/ share.  Private to it. */
#ifndef PM_SETS_PRIVATE_H
#define PM_SETS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"
#include "fit/sets/sets.h"

/* ---- distances.c: the distances that are told apart --------------------------------------------
 */

/* Accesses of a group at about one distance. */
struct pm_distance_cell {
    uint32_t cell;
    double accesses, distance; /* the mean */
};
struct pm_distance_cells {
    PM_ARRAY(struct pm_distance_cell, cells); /* ascending */
    double always_missing;
};

/* How many cells there are up to MOST blocks, and where one begins. */
size_t pm_distance_n_cells(double most);
double pm_distance_begin(size_t cell);
void pm_distance_cells_make(const struct pm_histogram *histogram, struct pm_distance_cells *cells);

/* ---- walks.c: how references go through memory -------------------------------------------------
 */

/* The addresses of a reference: start + Σ over the levels  number in the run · stride, the
   innermost level first; the last one goes on without end. */
struct pm_walk {
    uint32_t reference, group; /* the group that has its histogram */
    uint32_t space;            /* addresses of different ones have no known distance … */
    bool page_known;           /* … but for their places in their pages */
    double executions;
    int64_t start, size_bytes;
    uint32_t n_levels;
    struct pm_walk_level {
        int64_t stride_bytes;
        uint64_t count;
    } levels[PM_MOST_STRIDE_LEVELS];
    size_t first_variant; /* in which it goes on in one of several ways, each for some time */
    uint32_t n_variants;
};

struct pm_walk_variant {
    struct pm_walk walk;
    double share, since, phase; /* as of strides (core/strides/strides.h) */
};

struct pm_walks {
    PM_ARRAY(struct pm_walk, walks); /* ascending by reference, so by basic block */
    PM_ARRAY(struct pm_walk_variant, variants);
    bool *is_regular; /* [group]: its walks are known */
    bool *is_random;  /* [group]: it picks blocks here and there */
    uint32_t *area;   /* [group]: those that touch the same data have the same one */
};

void pm_walks_make(const struct pm_structure *structure, const struct pm_profile *profile,
                   const double *executions, struct pm_walks *walks);
void pm_walks_free(struct pm_walks *walks);

/* ---- call_components.c: routines that call each other ------------------------------------------
 */

/* Two routines are in one component if each is called, through others too, while the other one is
   under way.  The component of a caller has a higher number than that of whom it calls, unless it
   is the same. */
struct pm_call_components {
    uint32_t *of; /* [routine] */
    uint32_t n;
    bool *is_recursive;       /* [component]: its routines call each other, or one itself */
    struct pm_lists routines; /* [component] */
};

/* The routine that CALL is in. */
uint32_t pm_caller_of(const struct pm_structure *structure, const struct pm_call *call);
/* The routine that ROUTINE is within, as a parallel region is, which the OpenMP library calls;
   PM_NONE.  It counts as its caller. */
uint32_t pm_routine_around(const struct pm_structure *structure, uint32_t routine);

/* Of the calls that are executed: EXECUTIONS are of basic blocks. */
void pm_call_components_make(const struct pm_structure *structure, const double *executions,
                             struct pm_call_components *components);
void pm_call_components_free(struct pm_call_components *components);

/* ---- carriers.c: the scopes that carry reuses --------------------------------------------------
 */

/* A routine, and the share of its executions that are in a carrier. */
struct pm_carried_routine {
    uint32_t routine;
    double share;
};

/* A scope with all that is called in it: a reuse that no inner scope spans lies within one entry of
   it. */
struct pm_carrier {
    double accesses; /* touches of blocks over the whole run */
    double entries;
    double *window;        /* [cell]: accesses in which as many distinct blocks are touched as the
                              cell begins with; INFINITY: they never are */
    double *random_blocks; /* [cell]: how many of these blocks are of random groups */
    PM_ARRAY(struct pm_carried_routine, called); /* ascending */
    uint32_t scope;
};

/* One that carries a part of the reuses of a group at one distance. */
struct pm_carried_part {
    uint32_t scope;
    double share;
};
struct pm_carried_parts {
    PM_ARRAY(struct pm_carried_part, parts);
};

/* Who carries what no entry of a component's routines does, at the distance of a cell. */
struct pm_parts_above {
    uint32_t component, cell;
    struct pm_carried_parts parts;
};

struct pm_carriers {
    const struct pm_structure *structure;
    const struct pm_profile *profile;
    const double *executions;
    const struct pm_distance_cells *groups;
    const bool *is_random;
    size_t n_cells;
    struct pm_lists groups_of_routine;
    struct pm_call_components components;
    struct pm_lists calls_of;     /* [component]: calls from outside */
    struct pm_lists calls_within; /* [routine]: calls of its own component */
    double *called;               /* [routine]: how often it is … */
    double *entered;              /* … from outside its component; */
    double *component_entered;    /* [component]: all of its routines */
    double *shares;               /* [routine]: while a carrier is made */
    double *inflow;               /* [component]: the same */
    double *share_of;             /* [scope]: while parts are added up */
    struct pm_carrier **of_scope;
    PM_ARRAY(struct pm_parts_above, above); /* as far as they were asked for */
    struct pm_map above_map;                /* of them */
};

struct pm_carriers *pm_carriers_new(const struct pm_structure *structure,
                                    const struct pm_profile *profile, const double *executions,
                                    const struct pm_distance_cells *groups, const bool *is_random,
                                    size_t n_cells);
void pm_carriers_free(struct pm_carriers *carriers);

/* The carrier that SCOPE is. */
const struct pm_carrier *pm_carrier_of(struct pm_carriers *carriers, uint32_t scope);
/* The share of the executions of code in scope INNER that are in CARRIER. */
double pm_carrier_share(const struct pm_carriers *carriers, const struct pm_carrier *carrier,
                        uint32_t inner);

/* Blocks of the code that ACCESSES of CARRIER execute, each of these at least once. */
double pm_carrier_code_blocks(const struct pm_carriers *carriers, const struct pm_carrier *carrier,
                              double accesses, uint64_t block_bytes);

/* The sum of OF_GROUP over the groups in a carrier, each weighted with the share of the group that
   is in it. */
struct pm_carried_sum {
    const double *of_group;
    double *of_routine; /* [routine]: of all its groups */
};
void pm_carried_sum_begin(const struct pm_carriers *carriers, struct pm_carried_sum *sum);
double pm_carried_sum_in(const struct pm_carriers *carriers, const struct pm_carrier *carrier,
                         const struct pm_carried_sum *sum);

/* ---- carried_parts.c: who carries reuses -------------------------------------------------------
 */

/* Adds those of reuses in SCOPE with as many blocks between as CELL begins with. */
void pm_carriers_find(struct pm_carriers *carriers, uint32_t scope, size_t cell,
                      struct pm_carried_parts *parts);

/* ---- boxes.c: the elements of a walk, and those in slices of memory ---------------------------
 */

/* Runs of bytes: at  start + Σ i·stride,  0 ≤ i < count in each dimension. */
struct pm_box {
    int64_t start, run_bytes;
    uint32_t n;
    struct pm_walk_level dimensions[PM_MOST_STRIDE_LEVELS]; /* ascending, positive strides */
};

/* How many of WALK's levels EXECUTIONS elements need, the last of which they may not span as a
   whole. */
uint32_t pm_walk_levels_of(const struct pm_walk *walk, uint64_t executions);
/* The blocks of the first EXECUTIONS elements of WALK, at least one, as boxes; how many. */
uint32_t pm_walk_boxes(const struct pm_walk *walk, uint64_t executions, uint64_t block_bytes,
                       struct pm_box boxes[PM_MOST_STRIDE_LEVELS + 1]);
double pm_box_runs(const struct pm_box *box);

/* WIDTH bytes of memory every APART bytes, of which one begins at FIRST; APART = WIDTH: all. */
struct pm_slices {
    int64_t first, width, apart;
};
/* Bytes FROM to TO; false: no more are wanted. */
typedef bool pm_run_seen(void *context, int64_t from, int64_t to);
/* Calls SEEN for what of BOX's runs lies in slices. */
void pm_box_visit(const struct pm_box *box, const struct pm_slices *slices, pm_run_seen *seen,
                  void *context);

/* ---- set_window.c: the blocks that a window touches ------------------------------------------ */

/* A walk in a carrier. */
struct pm_rated_walk {
    const struct pm_walk *walk;
    double rate; /* executions for each touch of a block in the carrier */
};

/* Neighbouring blocks that one group touches. */
struct pm_block_range {
    int64_t first, last;
    uint32_t group;
};

/* Walks whose places relative to each other are the same in all windows. */
struct pm_window_cluster {
    uint32_t n_strides; /* by which windows move, of which all have the same */
    int64_t strides[PM_MOST_STRIDE_LEVELS];
    uint32_t space; /* as of walks */
    bool page_known;
    PM_ARRAY(struct pm_block_range, ranges); /* ascending by first block; they may overlap */
    double weight; /* each block stands for so many: of a large cluster slices were looked at */
    double blocks; /* distinct ones, with their weight */
    PM_ARRAY(uint32_t, groups); /* whose they are, ascending */
};

/* Walks of a carrier at a time, as they are enumerated. */
struct pm_window_walks;
/* Of N walks.  Slices have GRANULE bytes, a multiple of the blocks: in which set a block is hangs
   on its place in one. */
struct pm_window_walks *pm_window_walks_new(const struct pm_rated_walk *walks, size_t n,
                                            uint64_t block_bytes, uint64_t granule);
void pm_window_walks_free(struct pm_window_walks *walks);

struct pm_window {
    PM_ARRAY(struct pm_window_cluster, clusters);
    size_t n_made; /* clusters that have memory, of which the last ones are not in use */
    double blocks; /* of all */
};

/* Fills WINDOW, which may be of another window, with that of a window of ACCESSES. */
void pm_window_make(struct pm_window_walks *walks, double accesses, struct pm_window *window);
void pm_window_free(struct pm_window *window);

/* A window that touches about as many blocks as are asked for. */
struct pm_window_search;
/* Windows of MOST_ACCESSES at most.  WALKS is borrowed. */
struct pm_window_search *pm_window_search_new(struct pm_window_walks *walks, double most_accesses);
void pm_window_search_free(struct pm_window_search *search);
/* The longest that touches BLOCKS at most, but for a small share, and its *ACCESSES: near GUESS, if
   that is right.  Its result hangs on nothing else that was asked.  Valid until the next call. */
const struct pm_window *pm_window_search_for(struct pm_window_search *search, double blocks,
                                             double guess, double *accesses);

/* ---- reuse_times.c: the walks of one time and another -------------------------------------------
 */

/* Walks of a carrier while they are as they are in one of their variants. */
struct pm_walk_time {
    struct pm_rated_walk *walks; /* memory even if there is none */
    size_t n_walks;
    double share;          /* of the carrier's time */
    double phase_accesses; /* touches of blocks for which it lasts; the usual walks: INFINITY */
};
struct pm_walk_times {
    PM_ARRAY(struct pm_walk_time, times); /* the first has the walks as they usually are */
    PM_ARRAY(uint32_t, groups);           /* whose walks change their innermost strides */
};

/* Of the N walks of RATED. */
void pm_walk_times_make(const struct pm_walks *walks, const struct pm_rated_walk *rated, size_t n,
                        struct pm_walk_times *times);
void pm_walk_times_free(struct pm_walk_times *times);
/* Of how many times, from the first one on, reuses of GROUP are: of one where its walks have the
   same strides at all times. */
size_t pm_walk_times_of(const struct pm_walk_times *times, uint32_t group);

/* How well it goes with the walks that GROUP has in TIME that it uses blocks again after ACCESSES;
   from 0, to be compared between times. */
double pm_walk_time_fits(const struct pm_walk_time *time, uint32_t group, double accesses,
                         uint64_t block_bytes);

/* ---- conflicts.c: how many of them lie in one set ----------------------------------------------
 */

enum { PAGE_BYTES = 4096 }; /* what allocators and linkers keep to */

/* The sets of a cache, and how blocks are counted in them. */
struct pm_set_shape {
    uint64_t block_bytes;
    uint64_t n_sets; /* those of one colour: which colour the blocks of a page have, is random */
    double colours;  /* 1: addresses decide */
    uint32_t most;   /* blocks in a set that are told apart in the end: more are as good */
    uint32_t steps;  /* numbers of blocks of one colour that are told apart, from 0 … */
    double step;     /* … by so many */
    double *thinned; /* [steps + 1][most + 1]: what they are in one colour's set */
};
void pm_set_shape_make(uint64_t n_sets, bool random_pages, uint32_t most, uint64_t block_bytes,
                       struct pm_set_shape *shape);
void pm_set_shape_free(struct pm_set_shape *shape);

struct pm_conflicts;
/* Of WINDOW; both are borrowed.  Asked of one group after the other it is fastest. */
struct pm_conflicts *pm_conflicts_new(const struct pm_window *window,
                                      const struct pm_set_shape *shape);
void pm_conflicts_free(struct pm_conflicts *conflicts);

/* P[x]: the probability that X blocks of others are in the set of one that GROUP touches, in
   P[most] that so many or more are, where beside those of the window RANDOM blocks are anywhere and
   EVEN ones spread evenly. */
void pm_conflicts_count(struct pm_conflicts *conflicts, uint32_t group, double random, double even,
                        double *p);

/* ---- replacement.c: what is replaced -----------------------------------------------------------
 */

struct pm_rule;
/* Of sets of WAYS blocks, which need not be whole (LRU then lies between the neighbours). */
struct pm_rule *pm_rule_new(enum pm_replacement replacement, double ways);
void pm_rule_free(struct pm_rule *rule);

/* Blocks between in a set: more are as good as that many. */
uint32_t pm_rule_most(const struct pm_rule *rule);
/* Reuses with fewer blocks between hit. */
double pm_rule_least_distance(const struct pm_rule *rule);
/* True if misses hang on the blocks between only, not on how many of these miss. */
bool pm_rule_is_lru(const struct pm_rule *rule);

/* Of FIFO: which share of reuses spans as many misses as there are ways, and how many misses in the
   set the others span, each. */
struct pm_fifo_share {
    double longer, shorter_span;
};

/* What is between a block's touch and its reuse. */
struct pm_between {
    const float *p;   /* [x ≤ most]: as pm_conflicts_count has them; NULL: … */
    double exactly;   /* … so many, whatever the set */
    double always;    /* misses for each of the blocks between, whatever the set is … */
    double sometimes; /* … and those that hang on the sets, on average */
    double share;     /* of such reuses that miss, as far as it is known */
    double span;      /* misses in its set, on average, that a block is used over before a
                         reuse that misses anyway; INFINITY: there is none */
};
/* The probability that the reuse misses.  Of FIFO, what of it … */
double pm_rule_miss_share(const struct pm_rule *rule, const struct pm_between *between,
                          struct pm_fifo_share *fifo);
/* The same of LRU. */
double pm_rule_lru_share(const struct pm_rule *rule, const struct pm_between *between);

/* ---- reuses.c: the reuses whose misses hang on the sets ----------------------------------------
 */

/* Histograms of one profile, or parts of them. */
struct pm_histograms_of {
    const struct pm_group_histogram *histograms;
    size_t n;
    struct pm_distance_cells *cells; /* [histogram]: of those of the sets' blocks; NULL: not made */
};

/* What all caches of a block size share. */
struct pm_sets {
    const struct pm_structure *structure;
    const struct pm_profile *profile;
    uint64_t block_bytes;
    double *executions; /* [basic block] */
    struct pm_walks walks;
    struct pm_histograms_of whole;    /* the profile's, with their cells … */
    struct pm_distance_cells *groups; /* … which these are by group */
    size_t n_cells;
    struct pm_carriers *carriers;
};
/* Makes the cells of OF; the caller frees them with pm_cells_of_free. */
void pm_cells_of_make(const struct pm_sets *sets, struct pm_histograms_of *of);
void pm_cells_of_free(struct pm_histograms_of *of);

/* A cache, and its rule. */
struct pm_ruled_cache {
    uint64_t n_sets; /* 1: sets do not matter */
    double blocks;
    bool random_pages;
    bool unified;
    const struct pm_rule *rule;
};

/* Reuses of a group in one cell that one scope carries. */
struct pm_carried_reuses {
    uint32_t scope, cell, group;
    size_t histogram;
    double accesses, distance;
    double code;  /* blocks of it between, if the cache is unified */
    double share; /* of them that miss */
    struct pm_fifo_share fifo;
    double span; /* pm_between.span */
};
struct pm_reuse_list {
    struct pm_ruled_cache cache;
    PM_ARRAY(struct pm_carried_reuses, reuses); /* ascending by scope, then cell */
    size_t n_histograms;                        /* of all profiles */
    size_t n_counts;                            /* of each reuse */
    float *counts;  /* [reuse][n_counts]: pm_between.p; NULL: one set, or LRU */
    double *misses; /* [histogram]: misses of the other reuses, and accesses that always miss */
};
/* Makes the list for N profiles, whose histograms are numbered consecutively. */
void pm_reuse_list_make(const struct pm_sets *sets, const struct pm_histograms_of *of, size_t n,
                        const struct pm_ruled_cache *cache, struct pm_reuse_list *list);
/* Fills in what is between for the reuses of the lists in caches of sets.  They share windows, but
   none has others for that. */
void pm_reuse_lists_count(const struct pm_sets *sets, struct pm_reuse_list *const *lists,
                          size_t n_lists);
void pm_reuse_list_free(struct pm_reuse_list *list);

/* ---- policies.c: the misses of a cache by its rule ---------------------------------------------
 */

/* What is asked of a cache.  MISSES becomes those of each histogram of the profile of SETS, unless
   it is NULL, and MISSES_OF_OTHERS those of each histogram of others, one after the other, at the
   profile's fixed point. */
struct pm_policy_question {
    struct pm_ruled_cache cache;
    double *misses, *misses_of_others;
};
/* Answers N questions of N_OTHERS profiles beside that of SETS.  Each answer is the same to the bit
   whatever else is asked. */
void pm_count_policy_misses(const struct pm_sets *sets, const struct pm_histograms_of *others,
                            size_t n_others, const struct pm_policy_question *questions, size_t n);

#endif
