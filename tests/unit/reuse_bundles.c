/* Reuse distances of whole bundles equal those of a stack that is searched from its top, to the
   last touch: random bundles, executed as programs would, for several block sizes, and for every
   vector variant that this CPU has.

   A trace is made once, as steps: records of bundles, and what may come in between.  Its touches go
   through the stack one by one.  Then it is given to the analysis in pieces, and whenever templates
   are settled the histograms, with a bin for each distance, must be those of the touches so far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/reuse_bundles.h"
#include "tests/unit/lru_stack.h"

/* Instead of runtime/modules.c. */
struct pm_probe_reference *pm_references;
struct pm_bundle *pm_bundles;
uint32_t pm_n_bundles, pm_n_groups;

enum {
    MOST_BUNDLES = 8,
    NO_BUNDLE = MOST_BUNDLES, /* a number that no module has */
    MOST_WORDS = 1 << 16,
    MOST_STEPS = 4000,
    MOST_TOUCHES = 16000,
    MOST_COMPARED = 4000000, /* blocks of the stack, in one trace */
    PLAIN_ACCESSES = 20,     /* between two bundles, at most */
};

/* ---- what a trace may look like -------------------------------------------------------------- */

/* Offsets of accesses. */
enum { ALIGNED = 1, UNALIGNED = 2, LARGE = 4, FIXED = 8 };

/* How an address differs from one execution to the next. */
enum { STANDS = 1, STRIDES = 2, JUMPS = 4, NEAR_ANOTHER = 8, MEETS_ANOTHER = 16 };

struct style {
    unsigned most_addresses, most_accesses, most_size;
    unsigned offsets, motions; /* bits of those above */
    unsigned span_bits;        /* where addresses begin, and jump to */
    unsigned most_turns;       /* of a loop */
    unsigned interrupted;      /* behind one of so many executions comes something else; 0: none */
    bool bounded;              /* max_blocks */
};

/* One of the bits of CHOICES. */
static unsigned choose(unsigned choices) {
    unsigned skip = (unsigned)random_number((uint64_t)__builtin_popcount(choices));
    for (; skip > 0; skip--)
        choices &= choices - 1;
    return choices & -choices;
}

static uint64_t random_size(unsigned most) {
    static const uint64_t usual[] = {8, 4, 8, 16, 1, 2, 32, 64};
    uint64_t size = random_number(8) ? usual[random_number(8)] : 1 + random_number(64);
    return size < most ? size : most;
}

/* ---- bundles --------------------------------------------------------------------------------- */

struct lane {
    uint64_t base, span;
    int64_t stride;
    unsigned motion;
    uint32_t other; /* which it is near to, or meets */
};

static struct pm_probe_reference references[MOST_BUNDLES * PM_BUNDLE_ACCESSES];
static struct pm_bundle_access accesses[MOST_BUNDLES][PM_BUNDLE_ACCESSES];
static struct pm_bundle bundles[MOST_BUNDLES + 1];
static struct lane lanes[MOST_BUNDLES][PM_LANES];
static uint32_t n_bundles, n_early; /* the others are loaded on the way */
static uint32_t n_groups, n_early_groups;

/* An address that 2^34 bytes may be added to or taken away from. */
static uint64_t random_address(unsigned span_bits) {
    return (1ull << 44) + random_number(1ull << span_bits);
}

static uint64_t random_offset(unsigned kinds) {
    switch (choose(kinds)) {
    case ALIGNED:
        return 8 * random_number(12) - 40;
    case UNALIGNED:
        return random_number(200) - 100;
    case LARGE:
        return random_number(2) ? random_number(1 << 20) - (1 << 19)
                                : random_number(1ull << 33) - (1ull << 32);
    default:
        return 0;
    }
}

static struct lane random_lane(const struct style *style, uint32_t number) {
    static const int64_t strides[] = {1,  4,  8,  8,   24,    32, 64, 4096,
                                      -1, -8, -8, -64, -4096, 72, 136};
    struct lane lane = {
        .base = random_address(style->span_bits),
        .span = 1ull << style->span_bits,
        .motion = choose(style->motions),
        .other = number > 1 ? 1 + (uint32_t)random_number(number - 1) : 0,
    };
    lane.stride = strides[random_number(sizeof strides / sizeof *strides)];
    if (lane.motion == NEAR_ANOTHER) /* a[i + 1], or a row above, or nearly too far to follow */
        lane.stride = 8 * ((int64_t)random_number(5) - 2) +
                      (random_number(3) ? 0 : 4096 * ((int64_t)random_number(5) - 2)) +
                      (random_number(4) ? 0 : 64 * ((int64_t)random_number(140) - 70));
    if (!lane.other && lane.motion >= NEAR_ANOTHER)
        lane.motion = STRIDES;
    return lane;
}

static void make_access(const struct style *style, uint32_t b, uint32_t i) {
    struct pm_bundle *bundle = &bundles[b];
    struct pm_bundle_access *access = &accesses[b][i];
    uint32_t n = bundle->n_addresses;
    bool again = i > 0 && random_number(4) == 0; /* where the access before was */
    uint32_t address = again ? accesses[b][i - 1].address : n ? 1 + (uint32_t)random_number(n) : 0;
    if (i < n)
        address = i + 1; /* each address is somebody's */
    else if (n && style->offsets & FIXED && random_number(4) == 0)
        address = 0;
    *access = (struct pm_bundle_access){.offset = random_offset(style->offsets),
                                        .reference = b * PM_BUNDLE_ACCESSES + i};
    access->address = address;
    if (again && address == accesses[b][i - 1].address)
        access->offset = accesses[b][i - 1].offset;
    else if (!address)
        access->offset = random_address(style->span_bits < 20 ? style->span_bits : 20);
    references[access->reference] = (struct pm_probe_reference){
        .group = (uint32_t)random_number(n_groups + 1u),
        .size_bytes = (uint32_t)random_size(style->most_size),
        .access = (uint8_t)(random_number(6) ? 1 + random_number(2) : 3),
    };
    n_groups += references[access->reference].group == n_groups;
}

static void make_bundle(const struct style *style, uint32_t b) {
    uint32_t most = style->most_addresses;
    uint16_t n_addresses = (uint16_t)random_number(most + 1u);
    uint64_t room = style->most_accesses - n_addresses;
    bundles[b] = (struct pm_bundle){.accesses = accesses[b], .n_addresses = n_addresses};
    bundles[b].n_accesses = (uint16_t)(n_addresses + random_number(room + 1));
    if (!bundles[b].n_accesses)
        bundles[b].n_accesses = 1;
    for (uint32_t i = 0; i < bundles[b].n_accesses; i++)
        make_access(style, b, i);
    for (uint32_t number = 1; number <= n_addresses; number++)
        lanes[b][number] = random_lane(style, number);
}

static void make_bundles(const struct style *style) {
    n_bundles = 1 + (uint32_t)random_number(MOST_BUNDLES);
    n_early = random_number(3) ? n_bundles : (uint32_t)random_number(n_bundles) + 1;
    n_groups = 0;
    memset(bundles, 0, sizeof bundles);
    for (uint32_t b = 0; b < n_bundles; b++) {
        make_bundle(style, b);
        if (b + 1 == n_early)
            n_early_groups = n_groups;
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

enum what { RECORD, FOREIGN, CUT, PLAIN, SETTLE, FORGET, LOAD };

struct step {
    enum what what;
    uint32_t at, n; /* words of a record; of PLAIN, accesses */
};

static uint64_t words[MOST_WORDS];
static struct step steps[MOST_STEPS];
static struct pmodel_access plain[MOST_STEPS];
static uint32_t n_words, n_steps, n_plain, n_loaded;

static void add_step(enum what what, uint32_t at, uint32_t n) {
    if (n_steps < MOST_STEPS)
        steps[n_steps++] = (struct step){what, at, n};
}

static uint64_t lane_address(const struct lane *lane, const uint64_t *record, uint64_t turn) {
    switch (lane->motion) {
    case STANDS:
        return lane->base;
    case STRIDES:
        return lane->base + turn * (uint64_t)lane->stride;
    case JUMPS:
        return random_number(4) ? lane->base + random_number(lane->span)
                                : lane->base + random_number(64);
    case NEAR_ANOTHER:
        return record[lane->other] + (uint64_t)lane->stride;
    default:
        return random_number(3) ? record[lane->other] : lane->base + 8 * random_number(1 << 10);
    }
}

/* One execution; a record of a bundle that is not loaded yet is foreign. */
static void execute(uint32_t b, uint64_t turn) {
    uint32_t n = 1u + bundles[b].n_addresses;
    uint64_t *record = words + n_words;
    if (n_words + n > MOST_WORDS)
        return;
    record[0] = PM_RECORD_IS_BUNDLE + b;
    for (uint32_t lane = 1; lane < n; lane++)
        record[lane] = lane_address(&lanes[b][lane], record, turn);
    add_step(b < n_loaded ? RECORD : FOREIGN, n_words, n);
    n_words += n;
}

/* An event, the record of a reference, or of a bundle that does not exist or is damaged. */
static void add_foreign(void) {
    const uint64_t headers[] = {PM_RECORD_IS_EVENT | random_number(1ull << 31),
                                random_number(PM_MAX_REFERENCES), PM_RECORD_IS_BUNDLE + NO_BUNDLE,
                                PM_RECORD_IS_BUNDLE + PM_MAX_BUNDLES - 1};
    if (n_words + 2 > MOST_WORDS)
        return;
    words[n_words] = headers[random_number(sizeof headers / sizeof *headers)];
    words[n_words + 1] = random_address(20);
    add_step(FOREIGN, n_words, 2);
    n_words += 2;
}

static void add_plain(const struct style *style) {
    uint32_t n = 1 + (uint32_t)random_number(PLAIN_ACCESSES);
    if (n_plain + n > MOST_STEPS)
        return;
    add_step(PLAIN, n_plain, n);
    for (; n > 0; n--)
        plain[n_plain++] = (struct pmodel_access){
            .address = random_address(random_number(2) ? style->span_bits : 12),
            .size_bytes = (uint32_t)random_size(style->most_size),
            .group = (uint32_t)random_number(n_loaded == n_bundles ? n_groups : n_early_groups),
            .kind = (uint8_t)(1 + random_number(3)),
        };
}

static void interrupt(const struct style *style) {
    switch (random_number(32)) {
    case 0:
        add_step(SETTLE, 0, 0);
        break;
    case 1:
        add_step(FORGET, 0, 0);
        break;
    case 2:
        n_loaded = n_bundles;
        add_step(LOAD, 0, 0);
        break;
    default:
        if (random_number(3) == 0)
            add_step(CUT, 0, 0);
        else if (random_number(2))
            add_plain(style);
        else
            add_foreign();
    }
}

/* A loop over a few bundles, some of them not in every iteration; perhaps begun again. */
static void run_loop(const struct style *style) {
    uint32_t body[4], n_body = 1 + (uint32_t)random_number(4);
    uint64_t turns = 1 + random_number(style->most_turns), rare = 2 + random_number(6);
    for (uint32_t i = 0; i < n_body; i++)
        body[i] = (uint32_t)random_number(n_bundles);
    for (uint64_t rounds = 1 + random_number(3); rounds > 0; rounds--)
        for (uint64_t turn = 0; turn < turns && n_steps < MOST_STEPS; turn++)
            for (uint32_t i = 0; i < n_body; i++) {
                if (i == 3 && random_number(rare))
                    continue;
                execute(body[i], turn);
                if (style->interrupted && random_number(style->interrupted) == 0)
                    interrupt(style);
            }
}

static void make_trace(const struct style *style) {
    n_words = n_steps = n_plain = 0;
    n_loaded = n_early;
    for (unsigned i = 0; i < 30; i++)
        run_loop(style);
}

/* ---- what is expected ------------------------------------------------------------------------ */

struct touch {
    uint32_t group, kind; /* enum pm_access */
    uint64_t distance;
};

enum { TOUCHES = MOST_TOUCHES + 65 * (PM_BUNDLE_ACCESSES + PLAIN_ACCESSES) };

struct expected {
    struct touch touches[TOUCHES];
    uint32_t n_touches;
    uint64_t n_blocks, n_compared; /* blocks first touched; looked at */
    uint32_t n_steps;              /* so many of the trace's are told */
    uint32_t before[MOST_STEPS];   /* touches before a step */
    uint64_t bound;                /* distances from here on are beyond */
    struct stack stack;
};
static struct expected expected;

static void expect_access(uint64_t address, uint64_t size, uint32_t group, uint32_t kind,
                          unsigned shift) {
    uint64_t last = (address + size - 1) >> shift;
    for (uint64_t block = address >> shift; block <= last; block++) {
        int64_t distance = stack_touch(&expected.stack, block);
        uint64_t told = distance == COLD ? PM_COLD : (uint64_t)distance;
        expected.n_compared += distance == COLD ? expected.stack.used : (uint64_t)distance;
        expected.n_blocks += distance == COLD;
        if (distance != COLD && told >= expected.bound)
            told = PM_BEYOND;
        expected.touches[expected.n_touches++] = (struct touch){group, kind, told};
    }
}

static void expect_bundle(const uint64_t *record, unsigned shift) {
    const struct pm_bundle *bundle = &bundles[*record ^ PM_RECORD_IS_BUNDLE];
    for (uint32_t i = 0; i < bundle->n_accesses; i++) {
        const struct pm_bundle_access *access = &bundle->accesses[i];
        const struct pm_probe_reference *reference = &references[access->reference];
        uint64_t base = access->address ? record[access->address] : 0;
        expect_access(base + access->offset, reference->size_bytes, reference->group,
                      reference->access, shift);
    }
}

static void expect_step(const struct step *step, unsigned shift) {
    if (step->what == RECORD)
        expect_bundle(words + step->at, shift);
    else if (step->what == FORGET)
        expected.stack.used = 0;
    for (uint32_t i = 0; step->what == PLAIN && i < step->n; i++) {
        const struct pmodel_access *access = &plain[step->at + i];
        expect_access(access->address, access->size_bytes, access->group, access->kind, shift);
    }
}

static void expect_trace(unsigned shift, uint64_t max_blocks) {
    expected.n_touches = expected.n_steps = 0;
    expected.n_blocks = expected.n_compared = 0;
    expected.stack.used = 0;
    expected.bound = !max_blocks                   ? PM_BEYOND
                     : max_blocks > PM_REUSE_FRONT ? max_blocks
                                                   : PM_REUSE_FRONT;
    for (uint32_t i = 0;
         i < n_steps && expected.n_touches < MOST_TOUCHES && expected.n_compared < MOST_COMPARED;
         i++) {
        expected.before[i] = expected.n_touches;
        expect_step(&steps[i], shift);
        expected.n_steps++;
    }
}

/* ---- comparison ------------------------------------------------------------------------------ */

static struct {
    uint64_t seed, max_blocks;
    unsigned shift;
    enum pm_reuse_variant variant;
} trial;

static void expect_that(bool is_so, const char *what, uint32_t i) {
    if (!is_so)
        fail_msg("%s %u; seed %#llx, blocks of 2^%u bytes, variant %u, max_blocks %llu", what, i,
                 (unsigned long long)trial.seed, trial.shift, trial.variant,
                 (unsigned long long)trial.max_blocks);
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
    struct pm_raw_bin bins[TOUCHES + 1]; /* the first one is distance 0, which may be empty */
    size_t n_bins;
};

/* From the COUNT touches of a group, sorted. */
static void tell_group(struct told *told, const struct touch *touches, size_t count) {
    *told = (struct told){.n_bins = 1};
    for (size_t i = 0; i < count; i++) {
        const uint64_t distance = touches[i].distance;
        const bool load = touches[i].kind & 1;
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

static bool is_told(const struct pm_group_histogram *group, const struct told *told) {
    static struct pm_raw_bin found[TOUCHES + 1];
    const size_t empty = !told->bins[0].loads && !told->bins[0].stores;
    const size_t n = told->n_bins - empty;
    uint64_t cold_loads, cold_stores, beyond_loads, beyond_stores;
    pm_group_histogram_cold(group, &cold_loads, &cold_stores);
    pm_group_histogram_beyond(group, &beyond_loads, &beyond_stores);
    if (pm_group_histogram_bins(group, NULL) != n)
        return false;
    pm_group_histogram_bins(group, found);
    return memcmp(found, told->bins + empty, n * sizeof *found) == 0 &&
           cold_loads == told->cold_loads && cold_stores == told->cold_stores &&
           beyond_loads == told->beyond_loads && beyond_stores == told->beyond_stores;
}

/* Of the first N touches. */
static void check_histograms(const struct pm_reuse *reuse, size_t n) {
    static struct touch sorted[TOUCHES];
    static struct told told;
    size_t first = 0, last;
    memcpy(sorted, expected.touches, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_touches);
    for (uint32_t group = 0; group < reuse->n_groups; group++, first = last) {
        for (last = first; last < n && sorted[last].group == group;)
            last++;
        tell_group(&told, sorted + first, last - first);
        expect_that(is_told(&reuse->histograms[group], &told), "the histogram of group", group);
    }
    assert_int_equal(first, n);
}

/* ---- the analysis ---------------------------------------------------------------------------- */

/* Gives N words, which need not stay where they are, to the walk; how many it took. */
static size_t walk_words(struct pm_bundle_reuse *analysis, const uint64_t *from, size_t n) {
    uint64_t *piece = malloc((n + PM_LANES) * sizeof *piece);
    assert_non_null(piece);
    memcpy(piece, from, n * sizeof *piece);
    for (size_t i = 0; i < PM_LANES; i++)
        piece[n + i] = i % 3 ? PM_RECORD_IS_BUNDLE : from[0];
    const uint64_t *to = pm_bundle_reuse_walk(analysis, piece, piece + n);
    size_t taken = (size_t)(to - piece);
    free(piece);
    return taken;
}

/* Records and foreign ones, from step I on up to the first of something else: the walk goes from
   foreign record to foreign record.  The step behind. */
static uint32_t walk_run(struct pm_bundle_reuse *analysis, uint32_t i) {
    uint32_t end = i;
    while (end < expected.n_steps && steps[end].what <= FOREIGN)
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

static void take_step(struct pm_bundle_reuse *analysis, uint32_t i) {
    const struct step *step = &steps[i];
    switch (step->what) {
    case PLAIN:
        pm_bundle_reuse_interrupt(analysis);
        pm_reuse_accesses(analysis->reuse, pm_n_groups, plain + step->at, step->n);
        break;
    case SETTLE:
        pm_bundle_reuse_settle(analysis);
        check_histograms(analysis->reuse, expected.before[i]);
        break;
    case FORGET:
        pm_bundle_reuse_interrupt(analysis);
        pm_reuse_forget_blocks(analysis->reuse);
        break;
    case LOAD:
        pm_n_bundles = NO_BUNDLE + 1;
        pm_n_groups = n_groups;
        break;
    default:
        break;
    }
}

static void check_trace(void) {
    struct pm_reuse *reuse = pm_reuse_new(trial.shift, 512, trial.variant);
    struct pm_reuse_options options = {.max_blocks = trial.max_blocks, .sample = 1, .bin_width = 0};
    assert_non_null(reuse);
    assert_true(pm_reuse_choose(reuse, &options));
    struct pm_bundle_reuse *analysis = pm_bundle_reuse_new(reuse);
    assert_non_null(analysis);
    pm_n_bundles = n_early;
    pm_n_groups = n_early_groups;
    for (uint32_t i = 0; i < expected.n_steps;)
        if (steps[i].what <= FOREIGN)
            i = walk_run(analysis, i);
        else
            take_step(analysis, i++);
    pm_bundle_reuse_settle(analysis);
    pm_bundle_reuse_settle(analysis); /* nothing is added twice */
    assert_false(reuse->failed);
    check_histograms(reuse, expected.n_touches);
    expect_that(reuse->n_blocks == expected.n_blocks, "the number of blocks", 0);
    pm_bundle_reuse_free(analysis);
    pm_reuse_free(reuse);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void check_style(const struct style *style) {
    enum { TRACES = 4 };
    static const unsigned shifts[] = {0, 3, 4, 5, 6, 7, 12, 21};
    pm_references = references;
    pm_bundles = bundles;
    for (uint64_t n = 0; n < TRACES; n++) {
        trial.seed = random_state;
        make_bundles(style);
        make_trace(style);
        trial.max_blocks = style->bounded ? 1 + random_number(1ull << random_number(12)) : 0;
        for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
            trial.shift = shifts[i];
            expect_trace(trial.shift, trial.max_blocks);
            for (trial.variant = 0; trial.variant <= pm_reuse_best_variant(); trial.variant++)
                check_trace();
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
STYLE(strided_loops, 6, 20, 16, ALIGNED, STANDS | STRIDES, 40, 600, 0, false)
STYLE(neighbouring_addresses, 8, 24, 16, ALIGNED, STRIDES | NEAR_ANOTHER, 40, 400, 200, false)
STYLE(unaligned_accesses, 8, 24, 64, ALIGNED | UNALIGNED, STRIDES | NEAR_ANOTHER, 30, 300, 300,
      false)
STYLE(irregular_addresses, 4, 12, 8, ALIGNED, STRIDES | JUMPS, 18, 400, 200, false)
STYLE(few_blocks, 5, 16, 8, ALIGNED, STRIDES | JUMPS, 9, 300, 100, false)
STYLE(addresses_that_meet, 6, 20, 8, ALIGNED, STRIDES | MEETS_ANOTHER | NEAR_ANOTHER, 16, 200, 100,
      false)
STYLE(more_blocks_than_the_front, 15, 48, 64, UNALIGNED | LARGE, STRIDES | JUMPS, 30, 100, 100,
      false)
STYLE(repeats, 15, 48, 32, ALIGNED, STANDS, 12, 2000, 2000, false)
STYLE(fixed_addresses, 3, 24, 64, ALIGNED | FIXED, STANDS | STRIDES, 12, 200, 100, false)
STYLE(no_addresses, 0, 48, 64, FIXED, STRIDES, 12, 200, 60, false)
STYLE(interruptions, 6, 20, 16, ALIGNED, STANDS | STRIDES | JUMPS | NEAR_ANOTHER, 14, 100, 4, false)
STYLE(anything, 15, 48, 64, 15, 31, 24, 300, 60, false)
STYLE(anything_small, 3, 6, 8, 15, 31, 12, 1000, 30, false)
STYLE(bounded_memory, 8, 24, 16, ALIGNED, STRIDES | JUMPS | NEAR_ANOTHER, 22, 300, 60, true)
STYLE(anything_bounded, 15, 48, 64, 15, 31, 14, 300, 60, true)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms_equal_a_stack_on_strided_loops),
        cmocka_unit_test(histograms_equal_a_stack_on_neighbouring_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_unaligned_accesses),
        cmocka_unit_test(histograms_equal_a_stack_on_irregular_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_few_blocks),
        cmocka_unit_test(histograms_equal_a_stack_on_addresses_that_meet),
        cmocka_unit_test(histograms_equal_a_stack_on_more_blocks_than_the_front),
        cmocka_unit_test(histograms_equal_a_stack_on_repeats),
        cmocka_unit_test(histograms_equal_a_stack_on_fixed_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_no_addresses),
        cmocka_unit_test(histograms_equal_a_stack_on_interruptions),
        cmocka_unit_test(histograms_equal_a_stack_on_anything),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_small),
        cmocka_unit_test(histograms_equal_a_stack_on_bounded_memory),
        cmocka_unit_test(histograms_equal_a_stack_on_anything_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
