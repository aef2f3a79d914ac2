/* The walk over address records (record_state.h).  Included once by each record_walk_*.c,
   after a stack top (reuse/touch.h), a definition of PM_RECORD_WALK, the name of the function made
   here, and of
     words_outside (words, state)   bit i set: word i is not in its interval
     has_shape (words, state, sequence, shift)
                                    the record is of the sequence's shape
     begin_intervals (words, state, sequence, shift)
                                    STATE's intervals become those of the record, of that shape
     sequence_blocks (words, state, sequence, shift, blocks)
                                    the blocks of first touches, in their order
     transition_applies (stack_top, transition, blocks, n)
                                    the blocks that should be in the stack top are at their places
     stack_top_permute (stack_top, transition, blocks)
                                    the stack top behind such an execution
     stack_top_rebuild (stack_top, sequence, blocks, found)
                                    BLOCKS on top, in the order of their last touches, below them
                                    what was there but for the places in FOUND, in its order */
#include <string.h>

#include "runtime/reuse/address_records/record_state.h"
#include "runtime/reuse/touch.h"

static inline void count_touch(struct pm_reuse *reuse, uint32_t group, unsigned kind,
                               uint64_t distance) {
    if (!pm_touch_histogram_count(&reuse->histograms[group], &reuse->arena, kind, distance))
        reuse->failed = true;
}

static inline struct pm_toucher toucher_of(const struct pm_touch_sequence *sequence, unsigned m) {
    return (struct pm_toucher){sequence->group[m], sequence->kind[m]};
}

/* Counts the first touch of SEQUENCE's M-th block at a distance outside the stack top. */
static inline void count_far(struct pm_reuse *reuse, struct pm_touch_sequence *sequence, unsigned m,
                             uint64_t distance) {
    struct pm_bin_cache *cache = &sequence->far[m];
    if (PM_UNLIKELY(distance - cache->low >= cache->width) &&
        !pm_bin_cache_switch(cache, &reuse->histograms[sequence->group[m]], &reuse->arena,
                             sequence->kind[m], distance))
        reuse->failed = true;
    cache->n++;
    cache->distance_sum += distance;
}

static inline void count_first(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                               unsigned m, uint64_t distance) {
    if (distance < PM_STACK_TOP)
        reuse->histograms[sequence->group[m]].stack_top[sequence->kind[m]][distance]++;
    else
        count_far(reuse, sequence, m, distance);
}

static __attribute__((noinline)) void touch_one_by_one(struct pm_reuse *reuse,
                                                       const struct pm_address_record *record,
                                                       const uint64_t *words) {
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    for (unsigned i = 0; i < record->n_accesses; i++) {
        const struct pm_record_access *access = &record->accesses[i];
        const struct pm_probe_reference *reference = &pm_references[access->reference];
        uint64_t address = access->offset + (access->address ? words[access->address] : 0);
        uint64_t first = address >> reuse->shift;
        uint64_t last = (address + reference->size_bytes - 1) >> reuse->shift;
        const struct pm_toucher toucher = {reference->group, reference->access - 1u};
        for (uint64_t block = first; block <= last; block++) {
            if (block != first && reuse->far)
                pm_reuse_note_continued(reuse, toucher, block);
            uint64_t distance = pm_reuse_touch(reuse, &stack_top, block, toucher);
            count_touch(reuse, reference->group, reference->access - 1u, distance);
        }
    }
    stack_top_store(&stack_top, reuse->stack_top);
}

/* Are two of the blocks whose bit in ABSENT is set the same? */
static inline bool any_equal(const uint64_t *blocks, uint32_t absent) {
    for (; absent & (absent - 1); absent &= absent - 1) {
        uint64_t block = blocks[__builtin_ctz(absent)];
        for (uint32_t others = absent & (absent - 1); others; others &= others - 1)
            if (blocks[__builtin_ctz(others)] == block)
                return true;
    }
    return false;
}

/* Larger blocks: N executions of SEQUENCE touch BLOCKS.  Does one of these begin a larger block in
   the midst of an access? */
static __attribute__((noinline)) bool note_begun(struct pm_reuse *reuse,
                                                 const struct pm_touch_sequence *sequence,
                                                 const uint64_t *blocks, uint64_t n) {
    bool any = false;
    for (uint32_t i = 0; i < sequence->n_continued; i++) {
        const struct pm_continued_touch *touch = &sequence->continued[i];
        if (!pm_larger_may_begin(reuse, blocks[touch->block]))
            continue;
        pm_larger_note_begun(reuse, blocks[touch->block], touch->group, touch->kind, n);
        any = true;
    }
    return any;
}

/* Far touches of the blocks in FAR, of which the i-th pushes EVICTED[i] out of the stack top.  All
   slots are found before the first is used, so that the CPU need not wait for one after the other.
   Bounded memory may give back pages of slots in between. */
static __attribute__((noinline)) void touch_all_far(struct pm_reuse *reuse,
                                                    struct pm_touch_sequence *sequence,
                                                    const uint64_t *blocks, uint32_t far,
                                                    const uint8_t *evicted) {
    const bool is_bounded = reuse->options.max_blocks != 0;
    uint64_t slots[PM_STACK_TOP];
    unsigned n = 0;
    for (uint32_t rest = far; rest; rest &= rest - 1)
        slots[n++] = pm_reuse_slot_number(reuse, blocks[__builtin_ctz(rest)]);
    for (unsigned i = 0; i < n; i++, far &= far - 1) {
        unsigned m = (unsigned)__builtin_ctz(far);
        uint64_t slot = is_bounded ? pm_reuse_slot_number(reuse, blocks[m]) : slots[i];
        count_far(reuse, sequence, m,
                  pm_reuse_touch_slot(reuse, slot, blocks[m], reuse->stack_top[evicted[i]],
                                      toucher_of(sequence, m)));
    }
}

/* ---- transitions ----------------------------------------------------------------------------- */

/* An execution to which TRANSITION applies. */
static inline void execute_transition(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                                      struct pm_top_transition *transition,
                                      const uint64_t *blocks) {
    if (transition->far)
        touch_all_far(reuse, sequence, blocks, transition->far, transition->evicted);
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    stack_top_permute(&stack_top, transition, blocks);
    stack_top_store(&stack_top, reuse->stack_top);
    transition->n++;
}

/* Does TRANSITION apply to an execution of SEQUENCE that touches BLOCKS? */
static inline bool holds(struct pm_reuse *reuse, const struct pm_touch_sequence *sequence,
                         const struct pm_top_transition *transition, const uint64_t *blocks) {
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    if (!transition_applies(&stack_top, transition, blocks, sequence->n_blocks))
        return false;
    uint32_t absent = ~transition->present & ((2u << (sequence->n_blocks - 1)) - 1), found = 0;
    for (uint32_t rest = absent; rest; rest &= rest - 1)
        found |= stack_top_find(&stack_top, blocks[__builtin_ctz(rest)]);
    return !found && !(absent & (absent - 1) && any_equal(blocks, absent));
}

static inline void note_transition(struct pm_record_state *state,
                                   struct pm_top_transition *transition) {
    if (state->last_transition)
        state->last_transition->next = transition;
    state->last_transition = transition;
}

static __attribute__((noinline)) struct pm_top_transition *
find_other_transition(struct pm_reuse *reuse, struct pm_record_state *state,
                      struct pm_touch_sequence *sequence, const struct pm_top_transition *expected,
                      const uint64_t *blocks) {
    for (uint32_t i = 0; i < sequence->n_transitions && i < PM_TRIED_TRANSITIONS; i++) {
        struct pm_top_transition *transition = sequence->transitions[i];
        if (transition == expected || !holds(reuse, sequence, transition, blocks))
            continue;
        memmove(sequence->transitions + 1, sequence->transitions,
                i * sizeof *sequence->transitions);
        sequence->transitions[0] = transition;
        note_transition(state, transition);
        return transition;
    }
    return NULL;
}

/* The known transition that applies to an execution; NULL: none that was tried. */
static inline struct pm_top_transition *find_transition(struct pm_reuse *reuse,
                                                        struct pm_record_state *state,
                                                        struct pm_touch_sequence *sequence,
                                                        const uint64_t *blocks) {
    if (sequence->confidence < 0) {
        if (++sequence->confidence == 0)
            sequence->confidence = PM_CONFIDENT / 4;
        state->last_transition = NULL;
        return NULL;
    }
    struct pm_top_transition *transition =
        state->last_transition ? state->last_transition->next : NULL;
    if (transition && transition->sequence != sequence)
        transition = NULL;
    if (PM_LIKELY(transition && holds(reuse, sequence, transition, blocks)))
        state->last_transition = transition;
    else if (!(transition = find_other_transition(reuse, state, sequence, transition, blocks))) {
        sequence->confidence -= PM_MISS_PENALTY;
        if (sequence->confidence < 0) {
            sequence->confidence = -sequence->backoff;
            sequence->backoff *= sequence->backoff < PM_LONGEST_BACKOFF ? 2 : 1;
        }
        return NULL;
    }
    if (sequence->confidence < PM_CONFIDENT && ++sequence->confidence == PM_CONFIDENT)
        sequence->backoff = PM_FIRST_BACKOFF;
    return transition;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Where the blocks of an execution were. */
struct places {
    uint32_t found[PM_STACK_TOP]; /* the bit of the m-th block's place in the stack top, or 0 */
    uint32_t all;                 /* these together */
    uint32_t absent;              /* bit m: it was not there */
};

/* False: blocks that should be different are the same. */
static inline bool find_places(const struct pm_reuse *reuse,
                               const struct pm_touch_sequence *sequence, const uint64_t *blocks,
                               struct places *places) {
    uint32_t all = 0, twice = 0, absent = 0;
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    for (uint32_t m = 0; m < sequence->n_blocks; m++) {
        uint32_t found = stack_top_find(&stack_top, blocks[m]);
        places->found[m] = found;
        twice |= all & found;
        all |= found;
        absent |= (uint32_t)(found == 0) << m;
    }
    places->all = all;
    places->absent = absent;
    return PM_LIKELY(!twice && !any_equal(blocks, absent));
}

/* Does none of them fall out of the stack top before it is touched? */
static inline bool are_near(const struct places *places) {
    return places->all >> (PM_STACK_TOP - pm_count_bits(places->absent)) == 0;
}

/* First touches one after the other. */
static inline void touch_in_turn(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                                 const uint64_t *blocks) {
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    for (uint32_t m = 0; m < sequence->n_blocks; m++)
        count_first(reuse, sequence, m,
                    pm_reuse_touch(reuse, &stack_top, blocks[m], toucher_of(sequence, m)));
    if (!sequence->ends_as_it_begins)
        stack_top_rebuild(&stack_top, sequence, blocks, (2u << (sequence->n_blocks - 1)) - 1);
    stack_top_store(&stack_top, reuse->stack_top);
    sequence->n_single++;
}

/* Which places consecutive far touches push out, as long as none touches a block that is there. */
static const uint8_t from_the_end[PM_STACK_TOP] = {15, 14, 13, 12, 11, 10, 9, 8,
                                                   7,  6,  5,  4,  3,  2,  1, 0};

/* The distance of the first touch of the M-th block, which was FOUND there, as EARLIER ones were.
 */
static inline uint32_t distance_of(uint32_t found, uint32_t earlier, uint32_t m) {
    uint32_t above = found - 1;
    return pm_count_bits(above) + m - pm_count_bits(earlier & above);
}

/* First touches at once, of blocks that are near (are_near). */
static inline void touch_at_once(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                                 const uint64_t *blocks, const struct places *places) {
    for (uint32_t m = 0, earlier = 0; m < sequence->n_blocks; m++) {
        if (!places->found[m])
            continue;
        uint32_t distance = distance_of(places->found[m], earlier, m);
        reuse->histograms[sequence->group[m]].stack_top[sequence->kind[m]][distance]++;
        earlier |= places->found[m];
    }
    if (places->absent)
        touch_all_far(reuse, sequence, blocks, places->absent, from_the_end);
    struct stack_top stack_top = stack_top_load(reuse->stack_top);
    stack_top_rebuild(&stack_top, sequence, blocks, places->all);
    stack_top_store(&stack_top, reuse->stack_top);
    sequence->n_single++;
}

static inline bool look_up_few(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                               const uint64_t *blocks) {
    if (PM_UNLIKELY(any_equal(blocks, (1u << sequence->n_blocks) - 1)))
        return false;
    touch_in_turn(reuse, sequence, blocks);
    return true;
}

/* First touches of an execution whose transition of the stack top is not known; false, and nothing
   done: blocks that should be different are the same. */
static __attribute__((noinline)) bool look_up(struct pm_record_reuse *address_records,
                                              struct pm_record_state *state,
                                              struct pm_touch_sequence *sequence,
                                              const uint64_t *blocks) {
    struct pm_reuse *reuse = address_records->reuse;
    struct places places;
    if (!find_places(reuse, sequence, blocks, &places))
        return false;
    struct pm_top_transition *transition =
        sequence->confidence < 0 ? NULL : pm_record_learn(address_records, sequence, places.found);
    if (transition) {
        note_transition(state, transition);
        execute_transition(reuse, sequence, transition, blocks);
    } else if (are_near(&places)) {
        touch_at_once(reuse, sequence, blocks, &places);
    } else {
        touch_in_turn(reuse, sequence, blocks);
    }
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

static __attribute__((noinline)) struct pm_touch_sequence *
find_recent_sequence(struct pm_record_reuse *address_records, struct pm_record_state *state,
                     const uint64_t *words) {
    for (uint32_t i = 0; i < state->n_recent; i++) {
        struct pm_touch_sequence *sequence = state->recent[i];
        if (!has_shape(words, state, sequence, address_records->reuse->shift))
            continue;
        for (; i > 0; i--)
            state->recent[i] = state->recent[i - 1];
        return state->recent[0] = sequence;
    }
    return pm_record_find_sequence(address_records, state, words);
}

static inline struct pm_touch_sequence *find_sequence(struct pm_record_reuse *address_records,
                                                      struct pm_record_state *state,
                                                      const uint64_t *words) {
    struct pm_touch_sequence *before = state->last;
    if (PM_LIKELY(before && has_shape(words, state, before->next, address_records->reuse->shift)))
        return state->last = before->next;
    struct pm_touch_sequence *sequence = find_recent_sequence(address_records, state, words);
    if (before && sequence)
        before->next = sequence;
    return state->last = sequence;
}

/* The execution at WORDS, of another address record than the one before or in other intervals.
   False: the stack top does not begin with its blocks. */
static inline bool execute(struct pm_record_reuse *address_records, struct pm_record_state *state,
                           const uint64_t *words) {
    struct pm_reuse *reuse = address_records->reuse;
    uint64_t blocks[PM_STACK_TOP] __attribute__((aligned(64)));
    struct pm_touch_sequence *sequence = find_sequence(address_records, state, words);
    if (PM_LIKELY(sequence && sequence->n_blocks)) {
        sequence_blocks(words, state, sequence, reuse->shift, blocks);
        struct pm_top_transition *transition = find_transition(reuse, state, sequence, blocks);
        if (PM_LIKELY(transition))
            execute_transition(reuse, sequence, transition, blocks);
        if (transition || (sequence->confidence < 0 && sequence->n_blocks <= PM_FEW_BLOCKS
                               ? look_up_few(reuse, sequence, blocks)
                               : look_up(address_records, state, sequence, blocks))) {
            state->begins_larger = sequence->n_continued && note_begun(reuse, sequence, blocks, 1);
            if (sequence->confidence < 0) /* it will hardly repeat either */
                return false;
            begin_intervals(words, state, sequence, reuse->shift);
            return true;
        }
    }
    touch_one_by_one(reuse, state->record, words);
    return false;
}

/* The first words of a record of a known address record: its state; NULL. */
static inline struct pm_record_state *state_of(struct pm_record_reuse *address_records,
                                               const uint64_t *words) {
    if ((*words & (PM_RECORD_IS_ADDRESSES | PM_RECORD_IS_EVENT)) != PM_RECORD_IS_ADDRESSES)
        return NULL;
    uint64_t number = *words ^ PM_RECORD_IS_ADDRESSES;
    struct pm_record_state *state =
        number < PM_MAX_ADDRESS_RECORDS ? address_records->states[number] : NULL;
    return PM_LIKELY(state != NULL) ? state : pm_record_state(address_records, number);
}

#include "runtime/reuse/address_records/direct.h"

/* ---- all ------------------------------------------------------------------------------------- */

const uint64_t *PM_RECORD_WALK(struct pm_record_reuse *address_records, const uint64_t *words,
                               const uint64_t *end) {
    struct pm_reuse *reuse = address_records->reuse;
    struct pm_record_state *state;
    while (words < end && PM_LIKELY(!reuse->failed) && (state = state_of(address_records, words))) {
        if (state->n_direct > 0) {
            words = walk_directly(address_records, words, end);
            address_records->last = NULL;
            continue;
        }
        const uint32_t n_words = state->n_words;
        const uint64_t *from = words;
        if (state == address_records->last)
            while (words < end && words_outside(words, state) == 0)
                words += n_words;
        if (words != from) {
            const uint64_t n = (uint64_t)(words - from) / n_words;
            state->last->n_repeats += n;
            if (PM_UNLIKELY(state->begins_larger)) {
                uint64_t blocks[PM_STACK_TOP] __attribute__((aligned(64)));
                sequence_blocks(from, state, state->last, reuse->shift, blocks);
                note_begun(reuse, state->last, blocks, n);
            }
            note_repeats(state, n);
        } else {
            address_records->last = execute(address_records, state, words) ? state : NULL;
            words += n_words;
            note_single(address_records, state);
        }
    }
    return reuse->failed ? end : words;
}
