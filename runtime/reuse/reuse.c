/* The begin and the end of an analysis, and what is rare in between; see reuse.h and analysis.h.  A
   touch is in touch.h, the walk over a batch in walk.h, compiled once for each vector extension. */
#include "runtime/reuse/reuse_state.h"

#include <string.h>

#include "runtime/reuse/far_touches.h"
#include "runtime/reuse/shadow.h"
#include "runtime/reuse/stamps.h"
#include "runtime/system.h"

#define MOST_STAMPS (1ull << 31)

/* ---- numbering anew -------------------------------------------------------------------------- */

/* How many stamps N_BLOCKS blocks should have.  The more, the rarer they are numbered anew, which
   costs 3 to 5 ns a block. */
static uint64_t wanted_capacity(const struct pm_reuse *reuse, uint64_t n_blocks) {
    enum { OFTEN_ENOUGH = 4, USUAL = 16, FITS_A_CACHE = 1 << 20 };
    uint64_t wanted = USUAL * n_blocks < FITS_A_CACHE ? USUAL * n_blocks : FITS_A_CACHE;
    wanted = wanted > OFTEN_ENOUGH * n_blocks ? wanted : OFTEN_ENOUGH * n_blocks;
    wanted = wanted > reuse->least_capacity ? wanted : reuse->least_capacity;
    return (wanted + PM_LINE_STAMPS - 1) / PM_LINE_STAMPS * PM_LINE_STAMPS;
}

/* So many blocks are kept; 0: all.  A piece keeps all of its own. */
static uint64_t most_blocks(const struct pm_reuse *reuse) {
    return reuse->piece ? 0 : reuse->options.max_blocks;
}

/* Gives the stamps in use new numbers in their order; the DROPPED oldest ones' blocks are
   forgotten. */
static void renumber(struct pm_reuse *reuse, uint32_t dropped) {
    pm_stamps_rank_words(&reuse->stamps);
    uint64_t n_slots = reuse->n_pages * PM_PAGE_BLOCKS;
    for (uint64_t i = PM_PAGE_BLOCKS; i < n_slots; i++) {
        uint32_t stamp = reuse->slots[i];
        if (stamp < PM_FIRST_STAMP)
            continue;
        uint32_t rank = pm_stamp_rank(&reuse->stamps, stamp);
        if (!pm_stamp_in_use(&reuse->stamps, stamp))
            reuse->slots[i] = PM_SLOT_FRONT;
        else
            reuse->slots[i] = rank < dropped ? PM_SLOT_FORGOTTEN : rank - dropped + PM_FIRST_STAMP;
    }
}

void pm_reuse_compact(struct pm_reuse *reuse) {
    uint32_t n_blocks = reuse->stamps.n_in_use, dropped = 0;
    const uint64_t most = most_blocks(reuse);
    if (most && n_blocks > most) {
        dropped = n_blocks - (uint32_t)most;
        n_blocks -= dropped;
    }
    uint64_t wanted = wanted_capacity(reuse, n_blocks);
    if (wanted > MOST_STAMPS)
        wanted = MOST_STAMPS;
    renumber(reuse, dropped);
    if (dropped)
        pm_shadow_give_back(reuse);
    /* Without memory for more, those there are do if enough of them are free. */
    uint64_t old = reuse->stamps.capacity;
    if (wanted < old && 2 * wanted > old)
        wanted = old;
    if (n_blocks > wanted / 8 * 7 ||
        (!pm_stamps_begin(&reuse->stamps, wanted, n_blocks) &&
         (n_blocks > old / 8 * 7 || !pm_stamps_begin(&reuse->stamps, old, n_blocks))))
        reuse->failed = true;
}

/* ---- touches without a stamp ----------------------------------------------------------------- */

bool pm_reuse_has_too_many(const struct pm_reuse *reuse) {
    enum { SLACK = 1 << 10 };
    const uint64_t most = most_blocks(reuse);
    return most && reuse->stamps.n_in_use > most + most / 4 + SLACK;
}

uint64_t pm_reuse_touch_unstamped(struct pm_reuse *reuse, uint64_t block,
                                  struct pm_toucher toucher) {
    if (pm_reuse_has_too_many(reuse))
        pm_reuse_compact(reuse);
    uint32_t *slot = pm_reuse_new_slot(reuse, block);
    if (!slot) {
        reuse->failed = true;
        return PM_COLD;
    }
    bool forgotten = *slot == PM_SLOT_FORGOTTEN;
    *slot = PM_SLOT_FRONT;
    if (reuse->piece) {
        pm_piece_touched(reuse, block, (uint64_t)(slot - reuse->slots), toucher);
        return PM_COLD;
    }
    reuse->n_blocks += !forgotten;
    return forgotten ? PM_BEYOND : PM_COLD;
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum pm_reuse_variant pm_reuse_best_variant(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("bmi2"))
        return PM_REUSE_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
        __builtin_cpu_supports("bmi"))
        return PM_REUSE_AVX2;
    return PM_REUSE_SSE2;
}

struct pm_reuse *pm_reuse_new(unsigned shift, uint64_t capacity, enum pm_reuse_variant variant) {
    struct pm_reuse *reuse = pm_mmap(sizeof *reuse);
    if (!reuse)
        return NULL;
    reuse->shift = shift;
    reuse->variant = variant;
    reuse->least_capacity = capacity;
    reuse->bound = PM_BEYOND;
    reuse->sample_threshold = UINT32_MAX;
    reuse->options = (struct pm_reuse_options){.sample = 1, .bin_width = PM_USUAL_BIN_WIDTH};
    memset(reuse->stack_top, 0xff, sizeof reuse->stack_top);
    if (!pm_stamps_begin(&reuse->stamps, capacity, 0) || !pm_shadow_begin(reuse)) {
        pm_reuse_free(reuse);
        return NULL;
    }
    return reuse;
}

bool pm_reuse_keeps_every_distance(const struct pm_reuse_options *options) {
    return options->bin_width < 1.0 / PM_OCTAVE_BINS;
}

bool pm_reuse_choose(struct pm_reuse *reuse, const struct pm_reuse_options *options) {
    reuse->options = *options;
    if (options->max_blocks)
        reuse->bound = options->max_blocks > PM_STACK_TOP ? options->max_blocks : PM_STACK_TOP;
    reuse->arena.every_distance = pm_reuse_keeps_every_distance(options);
    if (options->sample <= 1)
        return true;
    reuse->sample_threshold = (uint32_t)((1ull << 32) / options->sample - 1);
    reuse->subsamples = pm_mmap(PM_SUBSAMPLES * sizeof *reuse->subsamples);
    return reuse->subsamples;
}

void pm_reuse_free(struct pm_reuse *reuse) {
    if (!reuse)
        return;
    if (reuse->far)
        pm_larger_free(reuse);
    if (reuse->sequential)
        pm_sequential_free(reuse);
    for (uint32_t i = 0; i < reuse->n_groups; i++)
        pm_touch_histogram_free(&reuse->histograms[i]);
    pm_piece_free(reuse);
    pm_munmap(reuse->subsamples, PM_SUBSAMPLES * sizeof *reuse->subsamples);
    pm_arena_free(&reuse->arena.arena);
    pm_munmap(reuse->histograms, reuse->n_groups * sizeof *reuse->histograms);
    pm_stamps_free(&reuse->stamps);
    pm_shadow_free(reuse);
    pm_munmap(reuse, sizeof *reuse);
}

void pm_reuse_forget_blocks(struct pm_reuse *reuse) {
    if (reuse->failed)
        return;
    if (reuse->far)
        pm_larger_forget_blocks(reuse);
    memset(reuse->stack_top, 0xff, sizeof reuse->stack_top);
    pm_shadow_clear(reuse);
    pm_stamps_begin(&reuse->stamps, reuse->stamps.capacity, 0);
}

bool pm_reuse_has_failed(const struct pm_reuse *reuse) { return reuse->failed; }

uint64_t pm_reuse_bytes(const struct pm_reuse *reuse) {
    return sizeof *reuse + pm_shadow_bytes(reuse) + reuse->stamps.bytes +
           reuse->n_groups * sizeof *reuse->histograms + pm_bin_arena_bytes(&reuse->arena) +
           (reuse->sequential ? reuse->sequential->n * sizeof *reuse->histograms : 0) +
           (reuse->far ? pm_larger_bytes(reuse) : 0);
}

bool pm_reuse_make_histograms(struct pm_reuse *reuse, uint32_t n_groups) {
    if (reuse->sequential && !pm_sequential_make_histograms(reuse, n_groups))
        return false;
    if (n_groups <= reuse->n_groups)
        return true;
    const size_t bytes = sizeof *reuse->histograms;
    if (!pm_mgrow(&reuse->histograms, reuse->n_groups * bytes, n_groups * bytes))
        return false;
    reuse->n_groups = n_groups;
    if (reuse->far)
        pm_larger_make_histograms(reuse, n_groups);
    return true;
}

void pm_reuse_accesses(struct pm_reuse *reuse, uint32_t n_groups,
                       const struct pmodel_access *accesses, size_t count) {
    static pm_reuse_walk *const walks[PM_REUSE_N_VARIANTS] = {
        [PM_REUSE_SSE2] = pm_reuse_walk_sse2,
        [PM_REUSE_AVX2] = pm_reuse_walk_avx2,
        [PM_REUSE_AVX512] = pm_reuse_walk_avx512,
    };
    if (!pm_reuse_make_histograms(reuse, n_groups))
        reuse->failed = true;
    if (!reuse->failed)
        walks[reuse->variant](reuse, accesses, count);
}
