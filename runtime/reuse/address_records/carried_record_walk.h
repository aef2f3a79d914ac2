/* The walk over address records and iterations that finds what carries each reuse
   (reuse/carriers.h).  Included once by each record_walk_*.c, behind record_walk.h, whose functions
   it uses, and a definition of PM_CARRIED_RECORD_WALK, the name of the function made here. */
#include "runtime/reuse/carriers_touch.h"

typedef uint64_t pm_u64s
    __attribute__((vector_size(PM_VECTOR_BYTES), aligned(PM_VECTOR_BYTES), may_alias));
enum { CARRIED_LANES = PM_VECTOR_BYTES / 8, CARRIED_LOAD = 0, CARRIED_BOTH = 2 };

static inline bool any_lane(pm_u64s lanes) {
#ifdef __AVX2__
    return !_mm256_testz_si256((__m256i)lanes, (__m256i)lanes);
#else
    return lanes[0] | lanes[1];
#endif
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The keys of reuses of blocks with these words, 0 where there is none.  Few activations are looked
   at one after the other; what one further out carries is searched for. */
static inline void find_keys(const struct pm_carried *carried, const uint64_t *lasts, uint32_t n,
                             uint64_t *keys) {
    enum { MOST_ACTIVATIONS = 8 };
    for (unsigned from = 0; from < PM_STACK_TOP; from += CARRIED_LANES) {
        if (from >= n) {
            *(pm_u64s *)(keys + from) = (pm_u64s){0};
            continue;
        }
        const struct pm_carried_activation *top = &carried->open[carried->n_open - 1];
        unsigned n_more = MOST_ACTIVATIONS;
        const pm_u64s last = *(const pm_u64s *)(lasts + from), is = (pm_u64s)(last != 0);
        pm_u64s outside = (pm_u64s)(last < top->entered) & is;
        pm_u64s key = (last & PM_CARRIED_SCOPE_MASK) | pm_carried_key(0, top->scope, false) |
                      ((pm_u64s)(last < top->iterated) & PM_CARRIED_ACROSS);
        while (any_lane(outside) && n_more-- > 0) { /* all are in the outermost */
            top--;
            pm_u64s next = (last & PM_CARRIED_SCOPE_MASK) | pm_carried_key(0, top->scope, false) |
                           ((pm_u64s)(last < top->iterated) & PM_CARRIED_ACROSS);
            key = (next & outside) | (key & ~outside);
            outside &= (pm_u64s)(last < top->entered);
        }
        *(pm_u64s *)(keys + from) = key & is;
        for (unsigned i = from; PM_UNLIKELY(any_lane(outside)) && i < from + CARRIED_LANES; i++)
            if (lasts[i])
                keys[i] = pm_carried_find_key(carried, lasts[i]);
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

static inline void count_executions(struct pm_carried *carried,
                                    struct pm_carried_sequence *sequence, uint32_t *number,
                                    uint64_t first, uint32_t scope) {
    struct pm_carried_count *count = &sequence->counts[*number];
    if (PM_UNLIKELY(count->first != first || count->scope != scope || !sequence->n_counts)) {
        *number = pm_carried_find_count(carried, sequence, first, scope);
        count = &sequence->counts[*number];
    }
    count->n++;
}

/* The first touches of an execution. */
struct first_touches {
    uint64_t lasts[PM_STACK_TOP] __attribute__((aligned(64)));
    uint64_t keys[PM_STACK_TOP] __attribute__((aligned(64)));
    uint64_t far[PM_STACK_TOP]; /* distances of those in FAR_ONES */
    uint8_t distance[PM_STACK_TOP];
    uint32_t far_ones;
};

static inline unsigned carried_kind(const struct pm_touch_sequence *sequence, unsigned m) {
    return sequence->kind[m] == CARRIED_BOTH ? CARRIED_LOAD : sequence->kind[m];
}

static inline void count_far_together(struct pm_carried *carried,
                                      const struct pm_carrying *carrying, unsigned m, unsigned kind,
                                      uint64_t distance) {
    struct pm_bin_cache *cache = &carrying->far[m];
    if (PM_UNLIKELY(distance - cache->low >= cache->width) &&
        !pm_bin_cache_switch(cache, &carried->histograms[carrying->histograms[m]],
                             &carried->reuse->arena, kind, distance))
        carried->failed = true;
    cache->n++;
    cache->distance_sum += distance;
}

static inline void count_far_touches(struct pm_carried *carried,
                                     const struct pm_touch_sequence *sequence,
                                     const struct first_touches *touches,
                                     const struct pm_carrying *carrying) {
    for (uint32_t far = touches->far_ones; far; far &= far - 1) {
        unsigned m = (unsigned)__builtin_ctz(far), kind = carried_kind(sequence, m);
        if (PM_UNLIKELY(touches->far[m] == PM_COLD))
            carried->reuse->histograms[sequence->group[m]].cold[kind]++;
        else if (!carrying)
            pm_carried_count_key(carried, sequence->group[m], touches->keys[m], kind,
                                 touches->far[m]);
        else
            count_far_together(carried, carrying, m, kind, touches->far[m]);
    }
}

static inline void count_one_by_one(struct pm_carried *carried,
                                    const struct pm_touch_sequence *sequence,
                                    const struct first_touches *touches) {
    for (uint32_t m = 0; m < sequence->n_blocks; m++)
        if (!(touches->far_ones >> m & 1))
            pm_carried_count_key(carried, sequence->group[m], touches->keys[m],
                                 carried_kind(sequence, m), touches->distance[m]);
    count_far_touches(carried, sequence, touches, NULL);
}

static inline bool is_of(const struct pm_carrying *carrying, const struct first_touches *touches,
                         uint32_t n) {
    pm_u64s differ = {0};
    for (unsigned from = 0; from < n; from += CARRIED_LANES)
        differ |=
            *(const pm_u64s *)(carrying->keys + from) ^ *(const pm_u64s *)(touches->keys + from);
    return !any_lane(differ) &&
           memcmp(carrying->distance, touches->distance, sizeof touches->distance) == 0;
}

/* Counts them where such ones were counted before. */
static inline void count_together(struct pm_carried *carried,
                                  const struct pm_touch_sequence *sequence,
                                  struct pm_top_transition *transition,
                                  const struct first_touches *touches) {
    struct pm_carrying *carrying;
    for (unsigned i = 0; i < PM_TRIED_CARRIERS && (carrying = transition->carryings[i]); i++) {
        if (!is_of(carrying, touches, sequence->n_blocks))
            continue;
        carrying->n++;
        count_far_touches(carried, sequence, touches, carrying);
        for (; i > 0; i--)
            transition->carryings[i] = transition->carryings[i - 1];
        transition->carryings[0] = carrying;
        return;
    }
    carrying = pm_carried_make(carried, sequence->carried, touches->distance, touches->keys,
                               touches->far_ones != 0);
    if (carrying) {
        carrying->n++;
        memmove(transition->carryings + 1, transition->carryings,
                (PM_TRIED_CARRIERS - 1) * sizeof *transition->carryings);
        transition->carryings[0] = carrying;
        count_far_touches(carried, sequence, touches, carrying);
    } else {
        count_one_by_one(carried, sequence, touches);
    }
}

/* ---- executions ------------------------------------------------------------------------------ */

/* Far touches; the i-th one pushes the block at EVICTED[i] out of the stack top. */
static inline void touch_carried_far(struct pm_carried *carried,
                                     const struct pm_touch_sequence *sequence,
                                     struct first_touches *touches, const uint64_t *blocks,
                                     const uint8_t *evicted) {
    struct pm_reuse *reuse = carried->reuse;
    for (uint32_t far = touches->far_ones; far; far &= far - 1, evicted++) {
        unsigned m = (unsigned)__builtin_ctz(far);
        uint64_t out = reuse->stack_top[*evicted];
        touches->far[m] = pm_reuse_touch_far(reuse, blocks[m], out, toucher_of(sequence, m));
        uint64_t *last = out == PM_NO_BLOCK ? NULL : pm_carried_last(carried, out);
        if (PM_LIKELY(last))
            *last = carried->lasts[*evicted];
        else if (out != PM_NO_BLOCK)
            carried->failed = true;
    }
}

static inline void find_absent(struct pm_carried *carried, struct first_touches *touches,
                               const uint64_t *blocks, uint32_t absent) {
    for (; absent; absent &= absent - 1) {
        unsigned m = (unsigned)__builtin_ctz(absent);
        const uint64_t *last = pm_carried_last(carried, blocks[m]);
        if (PM_LIKELY(last))
            touches->lasts[m] = *last;
        else
            carried->failed = true;
    }
}

/* The words of the blocks in ALL that TRANSITION has in the stack top; 0 for others. */
static inline void take_words(const uint64_t *from, const struct pm_top_transition *transition,
                              uint32_t all, uint64_t *words) {
    const uint32_t present = transition->present & all;
#ifdef __AVX512F__ /* what is stored word by word cannot be forwarded to the vectors that follow   \
                    */
    struct row row = {_mm512_load_si512(from), _mm512_load_si512(from + 8)};
    _mm512_store_si512(words, _mm512_maskz_mov_epi64((__mmask8)present,
                                                     take(row, lanes_of_bytes(transition->place))));
    _mm512_store_si512(words + 8,
                       _mm512_maskz_mov_epi64((__mmask8)(present >> 8),
                                              take(row, lanes_of_bytes(transition->place + 8))));
#else
    for (unsigned m = 0; m < PM_STACK_TOP; m++)
        words[m] = present >> m & 1 ? from[transition->place[m]] : 0;
#endif
}

static inline void words_after(const struct pm_carried *carried,
                               const struct pm_touch_sequence *sequence, uint64_t *words) {
    for (unsigned m = 0; m < PM_STACK_TOP; m++)
        words[m] = carried->now | sequence->carried->scopes[m];
}

/* An execution to which TRANSITION applies; KNOWN: it is one that is remembered. */
static inline void execute_carried(struct pm_carried *carried, struct pm_touch_sequence *sequence,
                                   struct pm_top_transition *transition, bool known,
                                   const uint64_t *blocks) {
    struct pm_reuse *reuse = carried->reuse;
    struct first_touches touches;
    uint64_t words[PM_STACK_TOP] __attribute__((aligned(64)));
    const uint32_t all = (2u << (sequence->n_blocks - 1)) - 1;
    take_words(carried->lasts, transition, all, touches.lasts);
    find_absent(carried, &touches, blocks, all & ~transition->present);
    touches.far_ones = transition->far;
    memcpy(touches.distance, transition->distance, sizeof touches.distance);
    touch_carried_far(carried, sequence, &touches, blocks, transition->evicted);
    /* Far behind the words that were stored one by one, which no vector can be forwarded from. */
    find_keys(carried, touches.lasts, sequence->n_blocks, touches.keys);
    if (known)
        count_together(carried, sequence, transition, &touches);
    else
        count_one_by_one(carried, sequence, &touches);
    words_after(carried, sequence, words);
    struct stack_top stack_top = stack_top_load(reuse->stack_top),
                     lasts = stack_top_load(carried->lasts);
    stack_top_permute(&stack_top, transition, blocks);
    stack_top_permute(&lasts, transition, words);
    stack_top_store(&stack_top, reuse->stack_top);
    stack_top_store(&lasts, carried->lasts);
}

/* Executions whose transitions are not remembered: their blocks are near. */
static inline void execute_near(struct pm_carried *carried, struct pm_touch_sequence *sequence,
                                const struct places *places, const uint64_t *blocks) {
    struct pm_reuse *reuse = carried->reuse;
    struct first_touches touches;
    uint64_t words[PM_STACK_TOP] __attribute__((aligned(64)));
    touches.far_ones = places->absent;
    find_absent(carried, &touches, blocks, places->absent);
    for (uint32_t m = 0, earlier = 0; m < sequence->n_blocks; m++) {
        if (places->found[m]) {
            touches.lasts[m] = carried->lasts[__builtin_ctz(places->found[m])];
            touches.distance[m] = (uint8_t)distance_of(places->found[m], earlier, m);
            earlier |= places->found[m];
        }
        touches.keys[m] = touches.lasts[m] ? pm_carried_find_key(carried, touches.lasts[m]) : 0;
    }
    touch_carried_far(carried, sequence, &touches, blocks, from_the_end);
    count_one_by_one(carried, sequence, &touches);
    words_after(carried, sequence, words);
    struct stack_top stack_top = stack_top_load(reuse->stack_top),
                     lasts = stack_top_load(carried->lasts);
    stack_top_rebuild(&stack_top, sequence, blocks, places->all);
    stack_top_rebuild(&lasts, sequence, words, places->all);
    stack_top_store(&stack_top, reuse->stack_top);
    stack_top_store(&lasts, carried->lasts);
}

/* Known or not; false, and nothing done: blocks that should be different are the same. */
static inline bool execute_any(struct pm_carried *carried, struct pm_record_state *state,
                               struct pm_touch_sequence *sequence, const uint64_t *blocks) {
    struct pm_reuse *reuse = carried->reuse;
    struct pm_top_transition *transition = find_transition(reuse, state, sequence, blocks);
    struct places places;
    if (PM_LIKELY(transition)) {
        execute_carried(carried, sequence, transition, true, blocks);
        return true;
    }
    if (!find_places(reuse, sequence, blocks, &places))
        return false;
    if (sequence->confidence >= 0)
        transition = pm_record_learn(carried->address_records, sequence, places.found);
    if (transition) {
        note_transition(state, transition);
        execute_carried(carried, sequence, transition, true, blocks);
    } else if (are_near(&places)) {
        execute_near(carried, sequence, &places, blocks);
    } else {
        struct pm_top_transition once = pm_record_transition(sequence, places.found);
        execute_carried(carried, sequence, &once, false, blocks);
    }
    return true;
}

static __attribute__((noinline)) void carry_one_by_one(struct pm_carried *carried,
                                                       const struct pm_address_record *record,
                                                       const uint64_t *words) {
    struct pmodel_access accesses[PM_RECORD_ACCESSES];
    for (unsigned i = 0; i < record->n_accesses; i++) {
        const struct pm_record_access *access = &record->accesses[i];
        const struct pm_probe_reference *reference = pm_record_reference(access);
        accesses[i] = (struct pmodel_access){
            .address = access->offset + (access->address ? words[access->address] : 0),
            .size_bytes = reference->size_bytes,
            .reference = access->reference,
            .group = reference->group,
            .kind = reference->access,
        };
    }
    pm_carried_accesses(carried, carried->reuse->n_groups, carried->group_scopes, accesses,
                        record->n_accesses);
}

/* The execution at WORDS; false: the stack top does not begin with its blocks. */
static inline bool carry_execution(struct pm_carried *carried, struct pm_record_state *state,
                                   const uint64_t *words) {
    struct pm_record_reuse *address_records = carried->address_records;
    uint64_t blocks[PM_STACK_TOP] __attribute__((aligned(64)));
    struct pm_touch_sequence *sequence = find_sequence(address_records, state, words);
    if (sequence && PM_UNLIKELY(!sequence->carried) &&
        !pm_carried_sequence(carried, state, sequence)) {
        carried->failed = true;
        return false;
    }
    if (PM_LIKELY(sequence && sequence->n_blocks)) {
        sequence_blocks(words, state, sequence, carried->reuse->shift, blocks);
        if (PM_LIKELY(execute_any(carried, state, sequence, blocks))) {
            struct pm_carried_sequence *own = sequence->carried;
            carried->touched = carried->now;
            if (own->touches_again)
                count_executions(carried, own, &own->again, 0,
                                 carried->open[carried->n_open - 1].scope);
            if (sequence->confidence < 0) /* it will hardly repeat */
                return false;
            begin_intervals(words, state, sequence, carried->reuse->shift);
            return true;
        }
    }
    carry_one_by_one(carried, state->record, words);
    return false;
}

static inline void repeat_carried(struct pm_carried *carried,
                                  struct pm_carried_sequence *sequence) {
    count_executions(carried, sequence, &sequence->repeat,
                     pm_carried_find_key(carried, carried->touched),
                     carried->open[carried->n_open - 1].scope);
    carried->touched = carried->now;
    carried->repeats = true;
}

/* After repeats: the words of blocks at the very top of the stack. */
static inline void end_repeats(struct pm_carried *carried) {
    if (!carried->repeats)
        return;
    carried->repeats = false;
    const struct pm_carried_sequence *sequence = carried->address_records->last->last->carried;
    uint64_t row[PM_STACK_TOP] __attribute__((aligned(64)));
    for (unsigned i = 0; i < PM_STACK_TOP; i++)
        row[i] = (carried->lasts[i] & sequence->below[i]) | sequence->ordered[i] |
                 (carried->touched & ~sequence->below[i]);
    struct stack_top lasts = stack_top_load(row);
    stack_top_store(&lasts, carried->lasts);
}

const uint64_t *PM_CARRIED_RECORD_WALK(struct pm_carried *carried, const uint64_t *words,
                                       const uint64_t *end,
                                       const struct pm_carried_iteration *iteration) {
    struct pm_record_reuse *address_records = carried->address_records;
    struct pm_record_state *state;
    while (words < end && PM_LIKELY(!carried->failed && !carried->reuse->failed)) {
        if (*words == iteration->record && words[1] <= iteration->stack) {
            pm_carried_take_event(carried, PM_CARRIED_ITERATE, iteration->scope);
            words += 2;
            continue;
        }
        if (!(state = state_of(address_records, words)))
            break;
        if (state == address_records->last && words_outside(words, state) == 0) {
            repeat_carried(carried, state->last->carried);
        } else {
            end_repeats(carried);
            address_records->last = carry_execution(carried, state, words) ? state : NULL;
        }
        words += state->n_words;
    }
    end_repeats(carried);
    carried->failed |= carried->reuse->failed;
    return carried->failed ? end : words;
}
