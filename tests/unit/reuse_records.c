/* Reuse distances of whole address records equal those of a stack that is searched from its top, to
   the last touch: random address records, executed as programs would, for several block sizes, and
   for every vector variant that this CPU has.

   A trace is made once, as steps: address records, and what may come in between.  Its touches go
   through the stack one by one.  Then it is given to the analysis in pieces, and whenever sequences
   are settled the histograms, with a bin for each distance, must be those of the touches so far.
   Where the analysis samples, only watched blocks go through the stack, and all touches are
   counted.  Larger blocks, whose analyses follow from that of the smaller ones, must have the
   histograms of a stack of their own, with distances below the stack top's size in one bin.  All
   but sampled traces are also cut at random into pieces, some of which are analysed apart and
   resolved later (reuse/pieces/).  Which touches are sequential the stack says as well, where all
   blocks are looked at and kept, in one piece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/reuse/address_records/record_state.h"
#include "runtime/reuse/far_touches.h"
#include "runtime/reuse/pieces.h"
#include "tests/unit/address_record_traces.h"
#include "tests/unit/rounds.h"

enum {
    MOST_TOUCHES = 16000,
    MOST_COMPARED = 4000000, /* blocks of the stack, in one trace */
};

/* ---- what is expected ------------------------------------------------------------------------ */

/* The distance of a touch of a block that is not watched. */
#define UNWATCHED (PM_BEYOND - 1)

struct touch {
    uint32_t group;
    uint16_t kind; /* enum pm_access */
    uint8_t part;  /* of the watched blocks, for the standard error */
    bool sequential;
    uint64_t distance;
};

enum { TOUCHES = MOST_TOUCHES + 65 * (PM_RECORD_ACCESSES + PLAIN_ACCESSES) };

struct expected {
    struct touch touches[TOUCHES];
    uint32_t n_touches;
    uint64_t n_blocks, n_compared; /* blocks first touched; looked at */
    uint32_t n_steps;              /* so many of the trace's are told */
    uint32_t before[MOST_STEPS];   /* touches before a step */
    uint64_t bound;                /* distances from here on are beyond */
    struct stack stack;
    struct touch sorted[TOUCHES]; /* the first so many; several analyses are compared with them */
    size_t n_sorted;
};
static struct expected expected;
static uint64_t n_sequential; /* sequential touches that were compared, in all traces of a test */

static struct {
    uint64_t seed, max_blocks, sample;
    unsigned shift;
    enum pm_reuse_variant variant;
    bool in_pieces;
    bool near_is_one_bin; /* distances below PM_STACK_TOP are all 0 */
} trial;

/* Where it is known whether blocks' neighbours were touched, but in pieces. */
static bool counts_sequential(void) {
    return !trial.near_is_one_bin && trial.sample == 1 && !trial.max_blocks;
}

/* Of larger blocks. */
enum { MOST_LARGER = 4 };
static unsigned larger_shifts[MOST_LARGER], n_larger;

/* The lowest R-th part of the hashes. */
static bool is_watched(uint64_t block) {
    return pm_block_hash(block) * trial.sample + trial.sample <= 1ull << 32;
}

/* Which eighth of these, by their hashes. */
static uint32_t part_of(uint64_t block) {
    uint32_t part = 0;
    while (part < PM_SUBSAMPLES - 1 && pm_block_hash(block) * trial.sample >= (part + 1ull) << 29)
        part++;
    return part;
}

/* Are fewer than MOST blocks but X nearer the top of the stack than BLOCK? */
static bool was_touched_lately(uint64_t block, uint64_t x, size_t most) {
    size_t n = 0;
    for (size_t place = expected.stack.used; place > 0 && n < most; place--) {
        if (expected.stack.blocks[place - 1] == block)
            return true;
        n += expected.stack.blocks[place - 1] != x;
    }
    return false;
}

/* Before BLOCK is touched: were two blocks before it, or behind it? */
static bool follows(uint64_t block) {
    return (was_touched_lately(block - 1, block, 64) &&
            was_touched_lately(block - 2, block, 128)) ||
           (was_touched_lately(block + 1, block, 64) && was_touched_lately(block + 2, block, 128));
}

/* The distance of a touch of BLOCK. */
static uint64_t expect_touch(uint64_t block) {
    if (!is_watched(block))
        return UNWATCHED;
    int64_t distance = stack_touch(&expected.stack, block);
    expected.n_compared += distance == COLD ? expected.stack.used : (uint64_t)distance;
    expected.n_blocks += distance == COLD;
    if (distance == COLD)
        return PM_COLD;
    if (trial.near_is_one_bin && distance < PM_STACK_TOP)
        return 0;
    return (uint64_t)distance < expected.bound ? (uint64_t)distance : PM_BEYOND;
}

static void expect_access(uint64_t address, uint64_t size, uint32_t group, uint32_t kind) {
    uint64_t last = (address + size - 1) >> trial.shift;
    for (uint64_t block = address >> trial.shift; block <= last; block++) {
        struct touch touch = {.group = group,
                              .kind = (uint16_t)kind,
                              .part = (uint8_t)part_of(block),
                              .sequential = counts_sequential() && follows(block)};
        touch.distance = expect_touch(block);
        touch.sequential &= touch.distance >= PM_STACK_TOP;
        expected.touches[expected.n_touches++] = touch;
    }
}

static void expect_address_record(const uint64_t *record) {
    const struct pm_address_record *address_record =
        &address_records[*record ^ PM_RECORD_IS_ADDRESSES];
    for (uint32_t i = 0; i < address_record->n_accesses; i++) {
        const struct pm_record_access *access = &address_record->accesses[i];
        const struct pm_probe_reference *reference = &references[access->reference];
        uint64_t base = access->address ? record[access->address] : 0;
        expect_access(base + access->offset, reference->size_bytes, reference->group,
                      reference->access);
    }
}

static void expect_step(const struct step *step) {
    if (step->what == RECORD)
        expect_address_record(words + step->at);
    else if (step->what == FORGET)
        expected.stack.used = 0;
    for (uint32_t i = 0; step->what == PLAIN && i < step->n; i++) {
        const struct pmodel_access *access = &plain[step->at + i];
        expect_access(access->address, access->size_bytes, access->group, access->kind);
    }
}

/* The first MOST steps of it. */
static void expect_trace(uint32_t most) {
    expected.n_touches = expected.n_steps = 0;
    expected.n_blocks = expected.n_compared = 0;
    expected.n_sorted = 0;
    expected.stack.used = 0;
    expected.bound = trial.max_blocks ? trial.max_blocks : PM_BEYOND;
    if (expected.bound < PM_STACK_TOP)
        expected.bound = PM_STACK_TOP;
    for (uint32_t i = 0;
         i < most && expected.n_touches < MOST_TOUCHES && expected.n_compared < MOST_COMPARED;
         i++) {
        expected.before[i] = expected.n_touches;
        expect_step(&steps[i]);
        expected.n_steps++;
    }
}

/* ---- comparison ------------------------------------------------------------------------------ */

static void expect_that(bool is_so, const char *what, uint32_t i) {
    if (!is_so)
        fail_msg("%s %u; seed %#llx, blocks of 2^%u bytes, variant %u, max_blocks %llu, "
                 "1 of %llu blocks%s",
                 what, i, (unsigned long long)trial.seed, trial.shift, trial.variant,
                 (unsigned long long)trial.max_blocks, (unsigned long long)trial.sample,
                 trial.in_pieces ? ", in pieces" : "");
}

static int compare_touches(const void *a, const void *b) {
    const struct touch *one = a, *other = b;
    if (one->group != other->group)
        return one->group < other->group ? -1 : 1;
    return (one->distance > other->distance) - (one->distance < other->distance);
}

/* What a histogram must be. */
struct told {
    uint64_t cold_loads, cold_stores, beyond_loads, beyond_stores;
    uint64_t touches[PM_KINDS];          /* under sampling */
    struct pm_raw_bin bins[TOUCHES + 1]; /* the first one is distance 0, which may be empty */
    size_t n_bins;
};

/* From the COUNT touches of a group, sorted. */
static void tell_group(struct told *told, const struct touch *touches, size_t count) {
    *told = (struct told){.n_bins = 1};
    for (size_t i = 0; i < count; i++) {
        const uint64_t distance = touches[i].distance;
        const bool load = touches[i].kind & 1;
        told->touches[touches[i].kind - 1] += trial.sample > 1;
        if (distance == UNWATCHED)
            continue;
        told->bins[0].stores += touches[i].kind == 3; /* the store after the load */
        if (distance >= PM_BEYOND) {
            uint64_t *counts = distance == PM_COLD ? &told->cold_loads : &told->beyond_loads;
            counts[!load]++;
            continue;
        }
        if (told->bins[told->n_bins - 1].low != distance)
            told->bins[told->n_bins++] = (struct pm_raw_bin){.low = distance, .high = distance};
        struct pm_raw_bin *bin = &told->bins[told->n_bins - 1];
        bin->loads += load;
        bin->stores += !load;
        bin->distance_sum += (double)distance;
    }
}

static bool is_told(const struct pm_touch_histogram *group, const struct told *told) {
    static struct pm_raw_bin found[TOUCHES + 1];
    const size_t empty = !told->bins[0].loads && !told->bins[0].stores;
    const size_t n = told->n_bins - empty;
    uint64_t cold_loads, cold_stores, beyond_loads, beyond_stores;
    pm_touch_histogram_cold(group, &cold_loads, &cold_stores);
    pm_touch_histogram_beyond(group, &beyond_loads, &beyond_stores);
    if (pm_touch_histogram_bins(group, NULL) != n)
        return false;
    pm_touch_histogram_bins(group, found);
    return memcmp(found, told->bins + empty, n * sizeof *found) == 0 &&
           cold_loads == told->cold_loads && cold_stores == told->cold_stores &&
           beyond_loads == told->beyond_loads && beyond_stores == told->beyond_stores &&
           memcmp(group->touches, told->touches, sizeof told->touches) == 0;
}

/* Watched touches of the first N by the part that their blocks are in. */
static void check_subsamples(const struct pm_subsample *found, size_t n) {
    struct pm_subsample parts[PM_SUBSAMPLES] = {{{0}, 0}};
    for (size_t i = 0; i < n; i++) {
        struct pm_subsample *part = &parts[expected.touches[i].part];
        uint64_t distance = expected.touches[i].distance;
        unsigned n_digits = 0;
        if (distance >= PM_BEYOND)
            part->unbounded++;
        if (distance >= UNWATCHED || distance == 0)
            continue;
        distance = (distance + 1) * trial.sample - 1;
        for (; distance; distance /= 2)
            n_digits++;
        part->far[n_digits]++;
    }
    for (uint32_t i = 0; i < PM_SUBSAMPLES; i++)
        expect_that(memcmp(&parts[i], &found[i], sizeof *parts) == 0, "part", i);
}

/* The first N touches, by group and distance. */
static const struct touch *sort_touches(size_t n) {
    if (expected.n_sorted != n) {
        memcpy(expected.sorted, expected.touches, n * sizeof *expected.sorted);
        qsort(expected.sorted, n, sizeof *expected.sorted, compare_touches);
        expected.n_sorted = n;
    }
    return expected.sorted;
}

/* The first N touches of SORTED that are sequential, in that order, loads where they load. */
static void check_sequential(const struct pm_reuse *reuse, const struct touch *sorted, size_t n) {
    static struct touch found[TOUCHES];
    static struct told told;
    size_t n_found = 0, first = 0, last;
    for (size_t i = 0; i < n; i++)
        if (sorted[i].sequential) {
            found[n_found] = sorted[i];
            found[n_found++].kind = sorted[i].kind == 3 ? 1 : sorted[i].kind;
        }
    n_sequential += n_found;
    for (uint32_t group = 0; group < reuse->sequential->n; group++, first = last) {
        for (last = first; last < n_found && found[last].group == group;)
            last++;
        tell_group(&told, found + first, last - first);
        expect_that(is_told(&reuse->sequential->histograms[group], &told),
                    "sequential touches of group", group);
    }
    assert_int_equal(first, n_found);
}

/* Of the first N touches. */
static void check_histograms(const struct pm_reuse *reuse, size_t n) {
    static struct told told;
    size_t first = 0, last;
    const struct touch *sorted = sort_touches(n);
    for (uint32_t group = 0; group < reuse->n_groups; group++, first = last) {
        for (last = first; last < n && sorted[last].group == group;)
            last++;
        tell_group(&told, sorted + first, last - first);
        expect_that(is_told(&reuse->histograms[group], &told), "the histogram of group", group);
    }
    assert_int_equal(first, n);
    if (reuse->sequential)
        check_sequential(reuse, sorted, n);
    if (reuse->subsamples)
        check_subsamples(reuse->subsamples, n);
}

/* ---- larger blocks --------------------------------------------------------------------------- */

/* A few sizes above the trial's. */
static void choose_larger(void) {
    static const unsigned shifts[] = {1, 2, 3, 5, 6, 7, 12, 14, 16, 21};
    n_larger = 0;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts && n_larger < MOST_LARGER; i++)
        if (shifts[i] > trial.shift && (shifts[i] == trial.shift + 1 || random_number(2)))
            larger_shifts[n_larger++] = shifts[i];
}

/* What the analyses FOUND found of the trace, of which the smaller size was told N_STEPS. */
static void check_larger(struct pm_larger **found, uint32_t n_steps_told) {
    const unsigned smaller = trial.shift;
    trial.near_is_one_bin = true;
    for (unsigned i = 0; i < n_larger; i++) {
        const struct pm_reuse *reuse = pm_larger_reuse(found[i]);
        trial.shift = larger_shifts[i];
        expect_trace(n_steps_told);
        expect_that(expected.n_steps == n_steps_told, "fewer steps for larger blocks", i);
        check_histograms(reuse, expected.n_touches);
        expect_that(reuse->n_blocks == expected.n_blocks, "the number of larger blocks", i);
    }
    trial.near_is_one_bin = false;
    trial.shift = smaller;
    if (n_larger)
        expect_trace(n_steps);
}

/* ---- the analysis ---------------------------------------------------------------------------- */

/* Gives N words, which need not stay where they are, to the walk; how many it took. */
static size_t walk_words(struct pm_record_reuse *analysis, const uint64_t *from, size_t n) {
    uint64_t *piece = malloc((n + PM_RECORD_BASES) * sizeof *piece);
    assert_non_null(piece);
    memcpy(piece, from, n * sizeof *piece);
    for (size_t i = 0; i < PM_RECORD_BASES; i++)
        piece[n + i] = i % 3 ? PM_RECORD_IS_ADDRESSES : from[0];
    const uint64_t *to = pm_record_reuse_walk(analysis, piece, piece + n);
    size_t taken = (size_t)(to - piece);
    free(piece);
    return taken;
}

/* Records and foreign ones, from step I on up to the first of something else: the walk goes from
   foreign record to foreign record.  The step behind, at most MOST later. */
static uint32_t walk_run(struct pm_record_reuse *analysis, uint32_t i, uint32_t most) {
    uint32_t end = i, last = most < expected.n_steps - i ? i + most : expected.n_steps;
    while (end < last && steps[end].what <= FOREIGN)
        end++;
    const uint32_t last_word = steps[end - 1].at + steps[end - 1].n;
    while (i < end) {
        uint32_t from = steps[i].at, stop = i;
        while (stop < end && steps[stop].what == RECORD)
            stop++;
        uint32_t to = stop < end ? steps[stop].at : last_word;
        size_t taken = walk_words(analysis, words + from, last_word - from);
        expect_that(taken == to - from, "the walk stops at step", stop);
        i = stop + 1; /* behind the foreign one */
    }
    return end;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The first is of the whole, and of all if nothing is analysed in pieces. */
enum { N_ANALYSES = 4 };
static struct pm_record_reuse *analyses[N_ANALYSES];
static struct pm_larger *larger[N_ANALYSES][MOST_LARGER]; /* beside them */
static unsigned current;
static unsigned ended[N_ANALYSES], n_ended; /* pieces that are not resolved yet, in their order */

static void end_piece(void) {
    if (current == 0)
        return;
    pm_piece_end(analyses[current]->reuse, analyses[current]);
    ended[n_ended++] = current;
    current = 0;
}

static void resolve_all(void) {
    end_piece();
    for (unsigned i = 0; i < n_ended; i++)
        pm_piece_resolve(analyses[0]->reuse, analyses[0], analyses[ended[i]]->reuse);
    n_ended = 0;
}

static void choose_analysis(void) {
    if (!trial.in_pieces)
        return;
    end_piece();
    unsigned next = (unsigned)random_number(N_ANALYSES);
    bool is_taken = next == 0;
    for (unsigned i = 0; i < n_ended; i++)
        is_taken |= ended[i] == next;
    if (is_taken)
        resolve_all();
    current = next;
}

/* All counts are those of the whole then. */
static void settle(void) {
    resolve_all();
    for (unsigned i = 0; i < N_ANALYSES && analyses[i]; i++) {
        pm_record_reuse_flush(analyses[i]);
        if (i > 0)
            pm_piece_move_counts(analyses[0]->reuse, analyses[i]->reuse);
    }
    pm_larger_flush(analyses[0]->reuse);
}

static void forget(void) {
    resolve_all();
    pm_record_reuse_interrupt(analyses[0]);
    pm_reuse_forget_blocks(analyses[0]->reuse);
}

/* ---- a trace --------------------------------------------------------------------------------- */

static void take_step(uint32_t i) {
    const struct step *step = &steps[i];
    switch (step->what) {
    case PLAIN:
        pm_record_reuse_interrupt(analyses[current]);
        pm_reuse_accesses(analyses[current]->reuse, pm_n_groups, plain + step->at, step->n);
        break;
    case SETTLE:
        settle();
        check_histograms(analyses[0]->reuse, expected.before[i]);
        break;
    case FORGET:
        forget();
        break;
    case LOAD:
        pm_n_address_records = NO_ADDRESS_RECORD + 1;
        pm_n_groups = n_groups;
        break;
    default:
        break;
    }
}

static void begin_analyses(void) {
    const struct pm_reuse_options options = {.max_blocks = trial.max_blocks,
                                             .sample = trial.sample};
    memset(analyses, 0, sizeof analyses);
    for (unsigned i = 0; i < (trial.in_pieces ? N_ANALYSES : 1); i++) {
        struct pm_reuse *reuse = pm_reuse_new(trial.shift, 512, trial.variant);
        assert_non_null(reuse);
        assert_true(pm_reuse_choose(reuse, &options));
        assert_true(i == 0 || pm_piece_make_analysis(reuse));
        assert_true(trial.in_pieces || !counts_sequential() || pm_reuse_count_sequential(reuse));
        for (unsigned j = 0; j < n_larger; j++) {
            larger[i][j] = pm_larger_new(reuse, larger_shifts[j], 512);
            assert_non_null(larger[i][j]);
        }
        analyses[i] = pm_record_reuse_new(reuse);
        assert_non_null(analyses[i]);
        if (trial.seed &
            1) /* small address records too make sequences from their first execution on */
            analyses[i]->first_direct = 0;
    }
}

static void end_analyses(void) {
    for (unsigned i = 0; i < N_ANALYSES && analyses[i]; i++) {
        struct pm_reuse *reuse = analyses[i]->reuse;
        assert_false(reuse->failed);
        pm_record_reuse_free(analyses[i]);
        pm_reuse_free(reuse);
    }
}

static void check_trace(void) {
    const uint64_t longest = trial.in_pieces ? 1ull << random_number(12) : 0;
    const uint64_t rare = 1 + random_number(4);
    begin_analyses();
    pm_n_address_records = n_early;
    pm_n_groups = n_early_groups;
    for (uint32_t i = 0; i < expected.n_steps;) {
        if (random_number(rare) == 0)
            choose_analysis();
        if (steps[i].what <= FOREIGN)
            i = walk_run(analyses[current], i,
                         longest ? 1 + (uint32_t)random_number(longest) : expected.n_steps);
        else
            take_step(i++);
    }
    settle();
    settle(); /* nothing is added twice */
    struct pm_reuse *reuse = analyses[0]->reuse;
    assert_false(reuse->failed);
    check_histograms(reuse, expected.n_touches);
    expect_that(reuse->n_blocks == expected.n_blocks, "the number of blocks", 0);
    check_larger(larger[0], expected.n_steps);
    end_analyses();
}

/* The trace at once, and if the analysis does not sample, in pieces. */
static void check_both_ways(void) {
    trial.in_pieces = false;
    check_trace();
    trial.in_pieces = trial.sample == 1;
    if (trial.in_pieces)
        check_trace();
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void check_style(const struct style *style) {
    const unsigned n_traces = takes_minutes() ? 8 : 1;
    static const unsigned shifts[] = {0, 3, 4, 5, 6, 7, 12, 21};
    pm_references = references;
    pm_address_records = address_records;
    for (uint64_t n = 0; n < n_traces; n++) {
        trial.seed = random_state;
        make_address_records(style);
        make_trace(style);
        trial.max_blocks =
            style->options & BOUNDED ? 1 + random_number(1ull << random_number(12)) : 0;
        trial.sample = style->options & SAMPLED ? 2 + random_number(1ull << random_number(7)) : 1;
        for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i += ROUNDS(1, 2)) {
            trial.shift = shifts[i];
            n_larger = 0;
            if (style->options & LARGER)
                choose_larger();
            expect_trace(n_steps);
            for (trial.variant = 0; trial.variant <= pm_reuse_best_variant(); trial.variant++)
                check_both_ways();
        }
    }
}

#define STYLE(name, ...)                                                                           \
    static void histograms_equal_a_stack_on_##name(void **state) {                                 \
        static const struct style style = {__VA_ARGS__};                                           \
        (void)state;                                                                               \
        random_state = __LINE__;                                                                   \
        check_style(&style);                                                                       \
        free(expected.stack.blocks);                                                               \
        expected.stack = (struct stack){0};                                                        \
    }
STYLE(strided_loops, 6, 20, 16, ALIGNED, STANDS | STRIDES, 40, 600, 0, EXACT)
STYLE(neighbouring_addresses, 8, 24, 16, ALIGNED, STRIDES | NEAR_ANOTHER, 40, 400, 200, EXACT)
STYLE(unaligned_accesses, 8, 24, 64, ALIGNED | UNALIGNED, STRIDES | NEAR_ANOTHER, 30, 300, 300,
      EXACT)
STYLE(irregular_addresses, 4, 12, 8, ALIGNED, STRIDES | JUMPS, 18, 400, 200, EXACT)
STYLE(few_blocks, 5, 16, 8, ALIGNED, STRIDES | JUMPS, 9, 300, 100, EXACT)
STYLE(addresses_that_meet, 6, 20, 8, ALIGNED, STRIDES | MEETS_ANOTHER | NEAR_ANOTHER, 16, 200, 100,
      EXACT)
STYLE(more_blocks_than_the_stack_top, 15, 48, 64, UNALIGNED | LARGE, STRIDES | JUMPS, 30, 100, 100,
      EXACT)
STYLE(more_shapes_than_are_kept, 6, 8, 8, ALIGNED, JUMPS, 11, 600, 300, EXACT)
STYLE(repeats, 15, 48, 32, ALIGNED, STANDS, 12, 2000, 2000, EXACT)
STYLE(fixed_addresses, 3, 24, 64, ALIGNED | FIXED, STANDS | STRIDES, 12, 200, 100, EXACT)
STYLE(no_addresses, 0, 48, 64, FIXED, STRIDES, 12, 200, 60, EXACT)
STYLE(interruptions, 6, 20, 16, ALIGNED, STANDS | STRIDES | JUMPS | NEAR_ANOTHER, 14, 100, 4, EXACT)
STYLE(anything, 15, 48, 64, 15, 31, 24, 300, 60, EXACT)
STYLE(anything_small, 3, 6, 8, 15, 31, 12, 1000, 30, EXACT)
STYLE(bounded_memory, 8, 24, 16, ALIGNED, STRIDES | JUMPS | NEAR_ANOTHER, 22, 300, 60, BOUNDED)
STYLE(anything_bounded, 15, 48, 64, 15, 31, 14, 300, 60, BOUNDED)
STYLE(sampled_loops, 6, 20, 16, ALIGNED, STANDS | STRIDES | NEAR_ANOTHER, 40, 600, 200, SAMPLED)
STYLE(sampled_repeats, 15, 48, 32, ALIGNED, STANDS, 12, 2000, 2000, SAMPLED)
STYLE(sampled_irregular_addresses, 4, 12, 8, ALIGNED, STRIDES | JUMPS, 14, 400, 100, SAMPLED)
STYLE(sampled_more_shapes_than_are_kept, 6, 8, 8, ALIGNED, JUMPS, 11, 600, 300, SAMPLED)
STYLE(sampled_more_blocks_than_the_stack_top, 15, 48, 64, UNALIGNED | LARGE, STRIDES | JUMPS, 20,
      100, 100, SAMPLED)
STYLE(sampled_interruptions, 6, 20, 16, ALIGNED, STANDS | STRIDES | JUMPS | NEAR_ANOTHER, 14, 100,
      4, SAMPLED)
STYLE(anything_sampled, 15, 48, 64, 15, 31, 14, 300, 60, SAMPLED)
STYLE(anything_sampled_and_bounded, 15, 48, 64, 15, 31, 14, 300, 60, SAMPLED | BOUNDED)

STYLE(larger_strided_loops, 6, 20, 16, ALIGNED, STANDS | STRIDES, 40, 600, 0, LARGER)
STYLE(larger_neighbouring_addresses, 8, 24, 16, ALIGNED, STRIDES | NEAR_ANOTHER, 40, 400, 200,
      LARGER)
STYLE(larger_unaligned_accesses, 8, 24, 64, ALIGNED | UNALIGNED, STRIDES | NEAR_ANOTHER, 30, 300,
      300, LARGER)
STYLE(larger_irregular_addresses, 4, 12, 8, ALIGNED, STRIDES | JUMPS, 18, 400, 200, LARGER)
STYLE(larger_few_blocks, 5, 16, 8, ALIGNED, STRIDES | JUMPS, 9, 300, 100, LARGER)
STYLE(larger_more_blocks_than_the_stack_top, 15, 48, 64, UNALIGNED | LARGE, STRIDES | JUMPS, 30,
      100, 100, LARGER)
STYLE(larger_more_shapes_than_are_kept, 6, 8, 8, ALIGNED, JUMPS, 11, 600, 300, LARGER)
STYLE(larger_repeats, 15, 48, 32, UNALIGNED, STANDS, 12, 2000, 2000, LARGER)
STYLE(larger_interruptions, 6, 20, 16, ALIGNED | UNALIGNED, STANDS | STRIDES | JUMPS | NEAR_ANOTHER,
      14, 100, 4, LARGER)
STYLE(anything_larger, 15, 48, 64, 15, 31, 24, 300, 60, LARGER)
STYLE(anything_small_and_larger, 3, 6, 8, 15, 31, 12, 1000, 30, LARGER)
STYLE(anything_larger_and_bounded, 15, 48, 64, 15, 31, 14, 300, 60, LARGER | BOUNDED)
STYLE(larger_irregular_bounded, 4, 12, 8, ALIGNED, STRIDES | JUMPS, 22, 300, 60, LARGER | BOUNDED)

static void sequential_touches_were_among_them(void **state) {
    (void)state;
    assert_true(n_sequential > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms_equal_a_stack_on_strided_loops),
        cmocka_unit_test(histograms_equal_a_stack_on_neighbouring_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_unaligned_accesses),
        cmocka_unit_test(histograms_equal_a_stack_on_irregular_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_few_blocks),
        cmocka_unit_test(histograms_equal_a_stack_on_addresses_that_meet),
        cmocka_unit_test(histograms_equal_a_stack_on_more_blocks_than_the_stack_top),
        cmocka_unit_test(histograms_equal_a_stack_on_more_shapes_than_are_kept),
        cmocka_unit_test(histograms_equal_a_stack_on_repeats),
        cmocka_unit_test(histograms_equal_a_stack_on_fixed_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_no_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_interruptions),
        cmocka_unit_test(histograms_equal_a_stack_on_anything),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_small),
        cmocka_unit_test(histograms_equal_a_stack_on_bounded_memory),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_bounded),
        cmocka_unit_test(histograms_equal_a_stack_on_sampled_loops),
        cmocka_unit_test(histograms_equal_a_stack_on_sampled_repeats),
        cmocka_unit_test(histograms_equal_a_stack_on_sampled_irregular_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_sampled_more_shapes_than_are_kept),
        cmocka_unit_test(histograms_equal_a_stack_on_sampled_more_blocks_than_the_stack_top),
        cmocka_unit_test(histograms_equal_a_stack_on_sampled_interruptions),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_sampled),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_sampled_and_bounded),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_strided_loops),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_neighbouring_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_unaligned_accesses),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_irregular_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_few_blocks),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_more_blocks_than_the_stack_top),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_more_shapes_than_are_kept),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_repeats),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_interruptions),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_larger),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_small_and_larger),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_larger_and_bounded),
        cmocka_unit_test(histograms_equal_a_stack_on_larger_irregular_bounded),
        cmocka_unit_test(sequential_touches_were_among_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
