/* Executions of small address records access by access (record_state.h), with the stack top in
   registers from record to record.  Included by walk.h. */
#include "runtime/reuse/address_records/record_state.h"
#include "runtime/reuse/touch.h"

static inline struct pm_toucher direct_toucher(const struct pm_direct_access *access) {
    const uint32_t group = access->histogram / sizeof(struct pm_touch_histogram);
    return (struct pm_toucher){group, access->kind};
}

/* Far touches, in the order in which they happen. */
static inline __attribute__((always_inline)) void
touch_far_directly(struct pm_reuse *reuse, const struct pm_direct_access *access, uint64_t block,
                   uint64_t evicted) {
    struct pm_touch_histogram *histogram = pm_direct_histogram(reuse, access);
    if (!pm_touch_histogram_count_far(
            histogram, &reuse->arena, access->kind,
            pm_reuse_touch_far_here(reuse, block, evicted, direct_toucher(access))))
        reuse->failed = true;
}

/* The records from WORDS up to END of address records that are taken access by access; where the
   first other one is. */
static const uint64_t *walk_directly(struct pm_record_reuse *address_records, const uint64_t *words,
                                     const uint64_t *end) {
    struct pm_reuse *reuse = address_records->reuse;
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    uint64_t newest = reuse->stack_top[0];
    const unsigned shift = reuse->shift;
    struct pm_record_state *state;
    while (words < end && (state = state_of(address_records, words)) && state->n_direct > 0) {
        state->n_direct--;
        const struct pm_direct_access *access = state->direct, *behind = access + state->n_accesses;
        for (; access < behind; access++) {
            uint64_t address = access->offset + (access->word ? words[access->word] : 0);
            uint64_t block = address >> shift, last = (address + access->last_byte) >> shift;
            uint64_t *row = pm_direct_histogram(reuse, access)->stack_top[access->kind];
            for (;; block++) {
                if (block == newest) {
                    row[0]++;
                } else {
                    uint64_t evicted;
                    unsigned place = stack_top_touch(&stack_top, block, &evicted);
                    newest = block;
                    if (PM_LIKELY(place < PM_STACK_TOP))
                        row[place]++;
                    else
                        touch_far_directly(reuse, access, block, evicted);
                }
                if (PM_LIKELY(block >= last))
                    break;
                if (reuse->far)
                    pm_reuse_note_continued(reuse, direct_toucher(access), block + 1);
            }
        }
        words += state->n_words;
        if (PM_UNLIKELY(reuse->failed))
            break;
    }
    stack_top_store(&stack_top, reuse->stack_top);
    return words;
}

/* ---- which way a small address record takes -------------------------------------------------- */

static inline void note_repeats(struct pm_record_state *state, uint64_t n) {
    uint64_t lacking = (uint64_t)(PM_DIRECT_CREDIT - state->credit);
    state->credit += (int16_t)(PM_REPEAT_CREDIT * n < lacking ? PM_REPEAT_CREDIT * n : lacking);
}

/* An execution that was no repeat. */
static inline void note_single(const struct pm_record_reuse *address_records,
                               struct pm_record_state *state) {
    const struct pm_top_transition *transition =
        address_records->last ? state->last_transition : NULL;
    if (state->n_accesses >= PM_FEW_ACCESSES && transition && !transition->far) {
        note_repeats(state, 1);
        return;
    }
    if (state->n_accesses == 0 || --state->credit >= 0)
        return;
    state->credit = PM_DIRECT_CREDIT;
    state->n_direct = state->direct_turns;
    if (state->direct_turns < PM_MOST_DIRECT)
        state->direct_turns *= 2;
}
