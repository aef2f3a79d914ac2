/* The walk over address records where only some blocks are sampled (sampled_records.h).
   Included once by each sampled_walk_*.c, after a stack top (reuse/touch.h), a definition of
   PM_SAMPLED_WALK, the name of the function made here, and of
     LANES                          of a vector: PM_SAMPLED_LANES or a part of it
     lanes                          a vector of LANES × uint32_t
     struct narrow                  16 × uint32_t
     narrow (words, shift, is_long) the words of a record, shifted; of one that is not long the
                                    first 8 only
     pick (narrow, index, is_long)  lanes of NARROW
     lanes_at (from)
     not_above (lanes, bound)       a bit for each lane that is not above BOUND
     below (lanes, bounds)          all bits set in each lane that is below that of BOUNDS, else
                                    none
     unaligned (words, mask, value, is_long)
                                    is a word & MASK[word] other than VALUE[word]?

   Whether an execution touches a sampled block is as hard to foresee as a coin that falls on one
   side eight times in nine; so those that do are appended to a list without a branch, and touched
   when it is full. */
#include "runtime/reuse/address_records/sampled_records.h"
#include "runtime/reuse/touch.h"

/* Executions with candidates that are sampled, in their order. */
enum { FOUND_MOST = 128 };
struct found {
    struct {
        const uint64_t *words;
        uint64_t candidates; /* a bit for each */
    } executions[FOUND_MOST + 1];
    uint32_t n;
};

static inline __attribute__((always_inline)) uint64_t
sampled_candidates(const struct pm_sampled_record *state, struct narrow blocks, uint32_t n,
                   uint32_t threshold, bool is_long) {
    uint64_t sampled = 0;
    for (uint32_t i = 0; i < n; i += LANES) {
        lanes block =
            pick(blocks, &state->candidate_word[i], is_long) + lanes_at(&state->candidate_block[i]);
        lanes region = (block >> PM_HASH_REGION_SHIFT) * PM_HASH_REGION;
        lanes hash = block * PM_HASH_BLOCK + (region ^ region >> PM_HASH_MIX_SHIFT) * PM_HASH_MIXED;
        sampled |= (uint64_t)not_above(hash, threshold) << i;
    }
    return sampled;
}

static inline __attribute__((always_inline)) void count_straddles(struct pm_sampled_record *state,
                                                                  struct narrow addresses,
                                                                  uint32_t n, uint32_t in_block,
                                                                  bool is_long) {
    for (uint32_t i = 0; i < n; i += LANES) {
        lanes place = pick(addresses, &state->straddle_word[i], is_long) -
                      lanes_at(&state->straddle_first[i]);
        lanes count = lanes_at(&state->straddle_count[i]);
        count -= below(place & in_block, lanes_at(&state->straddle_length[i]));
        memcpy(&state->straddle_count[i], &count, sizeof count);
    }
}

/* ---- what was found -------------------------------------------------------------------------- */

/* Those of ACCESSES, a bit each, that touch sampled blocks. */
static inline void touch_accesses(struct pm_reuse *reuse, struct stack_top *stack_top,
                                  uint64_t *newest, const struct pm_address_record *record,
                                  const uint64_t *words, uint64_t accesses) {
    for (; accesses; accesses &= accesses - 1) {
        const struct pm_record_access *access = &record->accesses[__builtin_ctzll(accesses)];
        const struct pm_probe_reference *reference = pm_record_reference(access);
        uint64_t address = access->offset + (access->address ? words[access->address] : 0);
        uint64_t last = (address + reference->size_bytes - 1) >> reuse->shift;
        for (uint64_t block = address >> reuse->shift; block <= last; block++)
            if (block == *newest || pm_is_sampled(reuse, block))
                pm_reuse_touch_sampled(reuse, stack_top, newest, block, reference->group,
                                       reference->access - 1u);
    }
}

static __attribute__((noinline)) void touch_found(const struct pm_record_reuse *address_records,
                                                  struct found *found) {
    struct pm_reuse *reuse = address_records->reuse;
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    uint64_t newest = reuse->stack_top[0];
    for (uint32_t i = 0; i < found->n; i++) {
        const uint64_t *words = found->executions[i].words;
        const struct pm_sampled_record *state =
            address_records->sampled[*words ^ PM_RECORD_IS_ADDRESSES];
        uint64_t candidates = found->executions[i].candidates, accesses = state->always;
        for (; candidates; candidates &= candidates - 1)
            accesses |= state->candidate_accesses[__builtin_ctzll(candidates)];
        touch_accesses(reuse, &stack_top, &newest, state->record, words, accesses);
    }
    stack_top_store(&stack_top, reuse->stack_top);
    found->n = 0;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Executions of one address record, up to the first other record, a full list, or an address that
   changes the tables; where that is. */
static inline __attribute__((always_inline)) const uint64_t *
walk_run(const struct pm_reuse *reuse, struct pm_sampled_record *state, const uint64_t *words,
         const uint64_t *end, struct found *found, bool is_long) {
    const uint64_t header = *words;
    const uint32_t n_words = state->n_words, in_block = (uint32_t)((1ull << reuse->shift) - 1);
    const uint32_t n_candidates = state->n_candidates, n_straddles = state->n_straddles;
    const uint32_t threshold = reuse->sample_threshold;
    const unsigned shift = reuse->shift;
    const bool always = state->always != 0;
    uint32_t n = found->n, n_executions = 0;
    for (; words < end && *words == header && n < FOUND_MOST; words += n_words, n_executions++) {
        if (PM_UNLIKELY(unaligned(words, state->align_mask, state->align_value, is_long)))
            break;
        if (n_straddles)
            count_straddles(state, narrow(words, 0, is_long), n_straddles, in_block, is_long);
        uint64_t candidates = sampled_candidates(state, narrow(words, shift, is_long), n_candidates,
                                                 threshold, is_long);
        found->executions[n].words = words;
        found->executions[n].candidates = candidates;
        n += candidates || always;
    }
    found->n = n;
    state->n_executions += n_executions;
    return words;
}

/* The run stopped at WORDS. */
static void settle(const struct pm_record_reuse *address_records, struct pm_sampled_record *state,
                   struct found *found, const uint64_t *words, bool is_at_begin) {
    bool is_full = found->n == FOUND_MOST;
    touch_found(address_records, found); /* by the tables of before */
    if (is_at_begin && !is_full)
        pm_sampled_record_align(address_records->reuse, state, words);
    if (state->n_executions > UINT32_MAX / 2)
        pm_sampled_record_flush(address_records->reuse, state);
}

const uint64_t *PM_SAMPLED_WALK(struct pm_record_reuse *address_records, const uint64_t *words,
                                const uint64_t *end) {
    struct pm_reuse *reuse = address_records->reuse;
    struct found found;
    found.n = 0;
    while (words < end && !reuse->failed &&
           (*words & (PM_RECORD_IS_ADDRESSES | PM_RECORD_IS_EVENT)) == PM_RECORD_IS_ADDRESSES) {
        uint64_t number = *words ^ PM_RECORD_IS_ADDRESSES;
        struct pm_sampled_record *state =
            number < PM_MAX_ADDRESS_RECORDS ? address_records->sampled[number] : NULL;
        if (PM_UNLIKELY(!state) && !(state = pm_sampled_record(address_records, words)))
            break;
        const uint64_t *from = words;
        if (state->n_words <= 8)
            words = walk_run(reuse, state, words, end, &found, false);
        else
            words = walk_run(reuse, state, words, end, &found, true);
        if (PM_UNLIKELY(words == from || found.n == FOUND_MOST ||
                        state->n_executions > UINT32_MAX / 2))
            settle(address_records, state, &found, words, words == from);
    }
    touch_found(address_records, &found);
    return reuse->failed ? end : words;
}
