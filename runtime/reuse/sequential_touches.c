/* Sequential touches; see sequential_touches.h. */
#include "runtime/reuse/sequential_touches.h"

#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/shadow.h"
#include "runtime/reuse/stamps.h"
#include "runtime/system.h"

/* ---- where a block is in the LRU order ------------------------------------------------------- */

/* Are fewer than MOST stamps in use that were given out after STAMP, which is in use?  Mostly a few
   words tell; where most stamps were taken back again, the rank of STAMP does. */
static bool is_young(const struct pm_stamps *stamps, uint32_t stamp, uint32_t most) {
    enum { MOST_WORDS = 8 };
    const uint32_t last = (stamps->next - 1) >> 6, behind_last = 63 - ((stamps->next - 1) & 63);
    uint32_t word = stamp >> 6, n = 0;
    uint64_t bits = stamps->bits[word] & ~1ull << (stamp & 63);
    for (unsigned i = 0; i < MOST_WORDS; i++) {
        if (word == last)
            return n + pm_count_bits(bits << behind_last) < most;
        n += pm_count_bits(bits);
        if (n >= most)
            return false;
        bits = stamps->bits[++word];
    }
    word = stamp >> 6;
    uint32_t rank = pm_rank_of_word(stamps, word) +
                    pm_count_bits(stamps->bits[word] & ~(~0ull << (stamp & 63)));
    return stamps->n_in_use - rank - 1 < most;
}

/* Were fewer than MOST ≥ PM_STACK_TOP distinct other blocks touched since BLOCK? */
static bool was_touched_lately(const struct pm_reuse *reuse, uint64_t block, uint32_t most) {
    const uint32_t stamp = *pm_reuse_slot(reuse, block);
    if (stamp < PM_FIRST_STAMP)
        return stamp == PM_SLOT_FRONT;
    return !pm_stamp_in_use(&reuse->stamps, stamp) ||
           is_young(&reuse->stamps, stamp, most - PM_STACK_TOP);
}

static bool follows(const struct pm_reuse *reuse, uint64_t block, uint64_t step) {
    return was_touched_lately(reuse, block - step, PM_NEAR_BEFORE) &&
           was_touched_lately(reuse, block - 2 * step, 2 * PM_NEAR_BEFORE);
}

/* ---- counts ---------------------------------------------------------------------------------- */

void pm_sequential_note(struct pm_reuse *reuse, uint64_t block, uint64_t distance,
                        struct pm_toucher toucher) {
    enum { LOAD = 0, BOTH = 2 };
    if (distance < PM_STACK_TOP || (!follows(reuse, block, 1) && !follows(reuse, block, -1ull)))
        return;
    const unsigned kind = toucher.kind == BOTH ? LOAD : toucher.kind;
    if (toucher.group >= reuse->sequential->n ||
        !pm_touch_histogram_count_far(&reuse->sequential->histograms[toucher.group], &reuse->arena,
                                      kind, distance))
        reuse->failed = true;
}

bool pm_sequential_make_histograms(struct pm_reuse *reuse, uint32_t n_groups) {
    struct pm_sequential *sequential = reuse->sequential;
    const size_t bytes = sizeof *sequential->histograms;
    if (n_groups <= sequential->n)
        return true;
    if (!pm_mgrow(&sequential->histograms, sequential->n * bytes, n_groups * bytes))
        return false;
    sequential->n = n_groups;
    return true;
}

bool pm_reuse_count_sequential(struct pm_reuse *reuse) {
    reuse->sequential = pm_mmap(sizeof *reuse->sequential);
    return reuse->sequential && pm_sequential_make_histograms(reuse, reuse->n_groups);
}

bool pm_reuse_counts_sequential(const struct pm_reuse *reuse) { return reuse->sequential; }

void pm_sequential_free(struct pm_reuse *reuse) {
    struct pm_sequential *sequential = reuse->sequential;
    for (uint32_t group = 0; group < sequential->n; group++)
        pm_touch_histogram_free(&sequential->histograms[group]);
    pm_munmap(sequential->histograms, sequential->n * sizeof *sequential->histograms);
    pm_munmap(sequential, sizeof *sequential);
}

void pm_reuse_sequential(const struct pm_reuse *reuse, uint32_t group,
                         struct pm_reuse_result *result, struct pm_raw_bin *bins) {
    static const struct pm_touch_histogram none;
    const struct pm_sequential *sequential = reuse->sequential;
    pm_reuse_result_of(reuse, group < sequential->n ? &sequential->histograms[group] : &none,
                       result, bins);
}
