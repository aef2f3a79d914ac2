/* Sequential touches; see sequential_touches.h. */
#include "runtime/reuse/sequential_touches.h"

#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/shadow.h"
#include "runtime/reuse/stamps.h"
#include "runtime/system.h"

/* ---- where a block is in the LRU order ------------------------------------------------------- */

/* Bounds on which of a block's neighbours were touched lately: nearer and farther. */
enum { NEARER, FARTHER };
static const uint32_t most_before[] = {
    [NEARER] = PM_NEAR_BEFORE - PM_STACK_TOP, [FARTHER] = 2 * PM_NEAR_BEFORE - PM_STACK_TOP};

/* The stamp in use behind which fewer than MOST are in use, and before which no stamp has so few;
   0 where the youngest words of the bitmap do not tell. */
static uint32_t find_oldest_young(const struct pm_stamps *stamps, uint32_t most) {
    enum { MOST_WORDS = 8 };
    uint32_t word = (stamps->next - 1) >> 6, n = 0;
    uint64_t bits = stamps->bits[word] & ~0ull >> (63 - ((stamps->next - 1) & 63));
    for (unsigned i = 0; i < MOST_WORDS; i++) {
        uint32_t n_here = pm_count_bits(bits);
        if (n + n_here >= most) {
            for (uint32_t left = n + n_here - most; left > 0; left--)
                bits &= bits - 1;
            return word << 6 | (uint32_t)__builtin_ctzll(bits);
        }
        if (word == 0)
            return 0;
        n += n_here;
        bits = stamps->bits[--word];
    }
    return 0;
}

/* Are fewer than that many stamps in use that were given out after STAMP, which is in use?  Each
   touch takes one back at most and gives one out, so that the oldest stamp of which this is true
   becomes no older until stamps are numbered anew: a stamp before the last that was found is none.
 */
static bool is_young(struct pm_reuse *reuse, uint32_t stamp, unsigned bound) {
    struct pm_stamps *stamps = &reuse->stamps;
    uint32_t *oldest = &stamps->oldest_young[bound];
    if (stamp < *oldest)
        return false;
    if (stamps->next - stamp <= most_before[bound])
        return true;
    uint32_t found = find_oldest_young(stamps, most_before[bound]);
    if (found) {
        *oldest = found;
        return stamp >= found;
    }
    uint32_t word = stamp >> 6;
    uint32_t rank = pm_rank_of_word(stamps, word) +
                    pm_count_bits(stamps->bits[word] & ~(~0ull << (stamp & 63)));
    return stamps->n_in_use - rank - 1 < most_before[bound];
}

/* Were fewer than PM_NEAR_BEFORE distinct other blocks, or twice as many, touched since BLOCK? */
static bool was_touched_lately(struct pm_reuse *reuse, uint64_t block, unsigned bound) {
    const uint32_t stamp = *pm_reuse_slot(reuse, block);
    if (stamp < PM_FIRST_STAMP)
        return stamp == PM_SLOT_FRONT;
    return is_young(reuse, stamp, bound);
}

static bool follows(struct pm_reuse *reuse, uint64_t block, uint64_t step) {
    return was_touched_lately(reuse, block - step, NEARER) &&
           was_touched_lately(reuse, block - 2 * step, FARTHER);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* For how many the next touch stands: 1; behind the first ones one of STRIDE, drawn anew for each
   touch, is looked at, and stands for all of them.  0: it is not looked at. */
static unsigned stands_for(struct pm_sequential *sequential) {
    const uint64_t touch = sequential->n_far++;
    if (touch < PM_SEQUENTIAL_ALL)
        return 1;
    const bool is_drawn = (touch * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PM_SEQUENTIAL_STRIDE == 0;
    return is_drawn ? PM_SEQUENTIAL_STRIDE : 0;
}

void pm_sequential_note(struct pm_reuse *reuse, uint64_t block, uint64_t distance,
                        struct pm_toucher toucher) {
    enum { LOAD = 0, BOTH = 2 };
    struct pm_sequential *sequential = reuse->sequential;
    if (distance < PM_STACK_TOP)
        return;
    unsigned n = stands_for(sequential);
    if (n == 0 || (!follows(reuse, block, 1) && !follows(reuse, block, -1ull)))
        return;
    const unsigned kind = toucher.kind == BOTH ? LOAD : toucher.kind;
    if (toucher.group >= sequential->n ||
        !pm_touch_histogram_count_many(&sequential->histograms[toucher.group], &reuse->arena, kind,
                                       distance, n))
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
