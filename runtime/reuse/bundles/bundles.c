/* Classes and sequences of bundles, and what becomes of their counts; see reuse_bundles.h.  The
   walk over records is in reuse_bundle_walk.h. */
#include "runtime/reuse/bundles/state.h"

#include <string.h>

#include "runtime/system.h"

enum { FIRST_SEQUENCES = 4 };

struct pm_bundle_reuse *pm_bundle_reuse_new(struct pm_reuse *reuse) {
    struct pm_bundle_reuse *bundles = pm_mmap(sizeof *bundles);
    if (!bundles)
        return NULL;
    bundles->reuse = reuse;
    bundles->states = pm_mmap(PM_MAX_BUNDLES * sizeof(struct pm_bundle_state *));
    if (bundles->states)
        return bundles;
    pm_bundle_reuse_free(bundles);
    return NULL;
}

void pm_bundle_reuse_free(struct pm_bundle_reuse *bundles) {
    if (!bundles)
        return;
    pm_arena_free(&bundles->arena);
    pm_munmap(bundles->states, PM_MAX_BUNDLES * sizeof(struct pm_bundle_state *));
    pm_munmap(bundles, sizeof *bundles);
}

/* At the beginning of a cache line: a row that crosses lines cannot be forwarded from the store
   that made it to the comparison that follows. */
static void *take(struct pm_bundle_reuse *bundles, size_t bytes) {
    enum { LINE = 64 };
    char *memory = pm_arena_take(&bundles->arena, (bytes + LINE - 1 + 7) & ~7ul);
    if (!memory)
        bundles->reuse->failed = true;
    return memory ? (void *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1)) : NULL;
}

void pm_bundle_reuse_interrupt(struct pm_bundle_reuse *bundles) { bundles->last = NULL; }

/* ---- classes --------------------------------------------------------------------------------- */

static const struct pm_probe_reference *reference_of(const struct pm_bundle_access *access) {
    return &pm_references[access->reference];
}

/* Byte OFFSET from an address goes over into the next block where the address is BOUND in its own.
 */
static uint32_t add_bound(uint32_t *bounds, uint32_t n, uint64_t offset, unsigned shift) {
    uint32_t bound = (uint32_t)(-offset & ((1ull << shift) - 1)), at = n;
    while (at > 0 && bounds[at - 1] >= bound)
        at--;
    if (bound == 0 || (at < n && bounds[at] == bound))
        return n;
    memmove(bounds + at + 1, bounds + at, (n - at) * sizeof *bounds);
    bounds[at] = bound;
    return n + 1;
}

static bool make_base(struct pm_bundle_reuse *bundles, const struct pm_bundle *bundle,
                      uint32_t number, struct pm_bundle_base *base) {
    const unsigned shift = bundles->reuse->shift;
    uint32_t bounds[2 * PM_BUNDLE_ACCESSES], n = 0;
    for (unsigned i = 0; i < bundle->n_accesses; i++) {
        const struct pm_bundle_access *access = &bundle->accesses[i];
        if (access->address != number)
            continue;
        n = add_bound(bounds, n, access->offset, shift);
        n = add_bound(bounds, n, access->offset + reference_of(access)->size_bytes - 1, shift);
    }
    base->n_bounds = n;
    base->bounds = take(bundles, (n + 1) * sizeof *bounds);
    if (!base->bounds)
        return false;
    memcpy(base->bounds, bounds, n * sizeof *bounds);
    if (shift > PM_TABLED_SHIFT)
        return true;
    base->class_of = take(bundles, 1ul << shift);
    if (!base->class_of)
        return false;
    for (uint32_t offset = 0, class = 0; offset < 1u << shift; offset++) {
        class += class < n && bounds[class] == offset;
        base->class_of[offset] = (uint8_t) class;
    }
    return true;
}

static uint32_t class_of(const struct pm_bundle_base *base, uint32_t offset) {
    if (base->class_of)
        return base->class_of[offset];
    uint32_t class = 0;
    for (uint32_t i = 0; i < base->n_bounds; i++)
        class += base->bounds[i] <= offset;
    return class;
}

static uint32_t begin_of_class(const struct pm_bundle_base *base, uint32_t class) {
    return class ? base->bounds[class - 1] : 0;
}

struct pm_bundle_state *pm_bundle_state(struct pm_bundle_reuse *bundles, uint64_t number) {
    if (!pm_bundle_is_known(number) || !pm_bundles[number].accesses)
        return NULL;
    if (PM_LIKELY(bundles->states[number] != NULL))
        return bundles->states[number];
    const struct pm_bundle *bundle = &pm_bundles[number];
    struct pm_bundle_state *state = take(bundles, sizeof *state);
    if (!pm_reuse_make_histograms(bundles->reuse, pm_n_groups))
        bundles->reuse->failed = true;
    if (!state || bundles->reuse->failed)
        return NULL;
    state->bundle = bundle;
    state->n_words = 1u + bundle->n_addresses;
    state->words = (1u << state->n_words) - 1;
    state->sequence_mask = FIRST_SEQUENCES - 1;
    state->sequences = take(bundles, FIRST_SEQUENCES * sizeof *state->sequences);
    for (uint32_t base = 1; base < state->n_words; base++)
        if (!make_base(bundles, bundle, base, &state->bases[base]))
            return NULL;
    if (!state->sequences)
        return NULL;
    /* No address is in its interval yet; the header always is. */
    state->low[0] = PM_RECORD_IS_BUNDLE + number;
    state->length[0] = 1;
    return bundles->states[number] = state;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* The touches of an execution, one after the other. */
struct touches {
    const struct pm_bundle *bundle;
    const struct pm_touch_sequence *sequence;
    unsigned shift;
    unsigned access;
    uint32_t base;
    int64_t next, last; /* relative blocks of the access that are to come */
    bool begun;
};

static void begin_access(struct touches *touches) {
    const struct pm_bundle_access *access = &touches->bundle->accesses[touches->access];
    const struct pm_bundle_shape *shape = &touches->sequence->shape;
    uint32_t base = access->address;
    uint64_t at = access->offset + touches->sequence->begin[base];
    touches->base = shape->leader[base];
    touches->next = ((int64_t)at >> touches->shift) + shape->ahead[base];
    touches->last = ((int64_t)(at + reference_of(access)->size_bytes - 1) >> touches->shift) +
                    shape->ahead[base];
    touches->begun = true;
}

/* The next touch: base, relative block and access; false: that was all. */
static bool next_touch(struct touches *touches, uint32_t *base, int64_t *relative,
                       const struct pm_bundle_access **access) {
    if (touches->begun && touches->next > touches->last) {
        touches->access++;
        touches->begun = false;
    }
    if (touches->access == touches->bundle->n_accesses)
        return false;
    if (!touches->begun)
        begin_access(touches);
    *access = &touches->bundle->accesses[touches->access];
    *base = touches->base;
    *relative = touches->next++;
    return true;
}

/* The stack of what one execution touches, by number of first touch, most recent first. */
struct small_stack {
    uint8_t blocks[PM_REUSE_FRONT];
    unsigned n;
};

/* Brings BLOCK to the top; its place before, or the number of blocks if it was not there. */
static unsigned bring_up(struct small_stack *stack, uint8_t block) {
    unsigned place = 0;
    while (place < stack->n && stack->blocks[place] != block)
        place++;
    stack->n += place == stack->n;
    memmove(stack->blocks + 1, stack->blocks, place);
    stack->blocks[0] = block;
    return place;
}

/* The block of a touch by its number, n_blocks if it was not touched before. */
static unsigned find_block(const struct pm_touch_sequence *sequence, uint32_t base,
                           int64_t relative) {
    unsigned block = 0;
    while (block < sequence->n_blocks &&
           (sequence->base[block] != base || sequence->relative[block] != relative))
        block++;
    return block;
}

static void fill_sequence(struct pm_touch_sequence *sequence, const struct pm_bundle *bundle,
                          unsigned shift) {
    struct touches touches = {.bundle = bundle, .sequence = sequence, .shift = shift};
    struct small_stack stack = {.n = 0};
    const struct pm_bundle_access *access;
    uint32_t base;
    int64_t relative;
    while (next_touch(&touches, &base, &relative, &access)) {
        unsigned block = find_block(sequence, base, relative);
        if (block == PM_REUSE_FRONT) {
            sequence->n_blocks = 0;
            return;
        }
        if (block == sequence->n_blocks) {
            sequence->base[block] = (uint8_t)base;
            sequence->relative[block] = relative;
            sequence->group[block] = reference_of(access)->group;
            sequence->kind[block] = (uint8_t)(reference_of(access)->access - 1);
            sequence->n_blocks++;
        }
        bring_up(&stack, (uint8_t)block);
    }
    memcpy(sequence->order, stack.blocks, sizeof sequence->order);
    sequence->ends_as_it_begins = true;
    for (uint32_t i = 0; i < sequence->n_blocks; i++)
        sequence->ends_as_it_begins &= sequence->order[i] == sequence->n_blocks - 1 - i;
}

static uint64_t hash_of(const struct pm_bundle_shape *shape) {
    uint64_t words[sizeof *shape / 8], hash = 0;
    memcpy(words, shape, sizeof words);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15;
    return hash >> 32;
}

static struct pm_touch_sequence **find_sequence(const struct pm_bundle_state *state,
                                                const struct pm_bundle_shape *shape) {
    uint32_t index = (uint32_t)hash_of(shape) & state->sequence_mask;
    while (state->sequences[index] &&
           memcmp(&state->sequences[index]->shape, shape, sizeof *shape) != 0)
        index = (index + 1) & state->sequence_mask;
    return &state->sequences[index];
}

static bool grow_sequences(struct pm_bundle_reuse *bundles, struct pm_bundle_state *state) {
    struct pm_touch_sequence **old = state->sequences;
    uint32_t n = state->sequence_mask + 1;
    struct pm_touch_sequence **sequences = take(bundles, 2ul * n * sizeof *sequences);
    if (!sequences)
        return false;
    state->sequences = sequences;
    state->sequence_mask = 2 * n - 1;
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            *find_sequence(state, &old[i]->shape) = old[i];
    return true;
}

static struct pm_touch_sequence *make_sequence(struct pm_bundle_reuse *bundles,
                                               struct pm_bundle_state *state,
                                               const struct pm_bundle_shape *shape) {
    const unsigned shift = bundles->reuse->shift;
    if (2 * state->n_sequences > state->sequence_mask && !grow_sequences(bundles, state))
        return NULL;
    struct pm_touch_sequence *sequence = take(bundles, sizeof *sequence);
    if (!sequence)
        return NULL;
    sequence->shape = *shape;
    sequence->confidence = PM_CONFIDENT;
    sequence->backoff = PM_FIRST_BACKOFF;
    sequence->next = sequence;
    sequence->length[0] = 1; /* of the header */
    for (uint32_t number = 1; number < state->n_words; number++) {
        const struct pm_bundle_base *base = &state->bases[number];
        uint32_t class = shape->class_of[number];
        uint64_t end = class < base->n_bounds ? base->bounds[class] : 1ul << shift;
        sequence->begin[number] = begin_of_class(base, class);
        sequence->length[number] = end - sequence->begin[number];
        sequence->has_followers |= shape->leader[number] != number;
    }
    fill_sequence(sequence, state->bundle, shift);
    state->n_sequences++;
    return *find_sequence(state, shape) = sequence;
}

/* Which bases follow which: the first one that is near and itself follows none. */
static void find_leaders(struct pm_bundle_shape *shape, const uint64_t *words, uint32_t n_words,
                         unsigned shift) {
    for (uint32_t base = 1; base < n_words; base++) {
        shape->leader[base] = (uint8_t)base;
        for (uint32_t leader = 1; leader < base; leader++) {
            uint64_t ahead = (words[base] >> shift) - (words[leader] >> shift);
            if (shape->leader[leader] != leader || ahead + PM_NEAR_BLOCKS > 2ul * PM_NEAR_BLOCKS)
                continue;
            shape->leader[base] = (uint8_t)leader;
            shape->ahead[base] = (int8_t)(int64_t)ahead;
            break;
        }
    }
}

struct pm_touch_sequence *pm_bundle_find_sequence(struct pm_bundle_reuse *bundles,
                                                  struct pm_bundle_state *state,
                                                  const uint64_t *words) {
    const unsigned shift = bundles->reuse->shift;
    struct pm_bundle_shape shape = {{0}, {0}, {0}};
    for (uint32_t number = 1; number < state->n_words; number++)
        shape.class_of[number] =
            (uint8_t)class_of(&state->bases[number], (uint32_t)words[number] & ((1u << shift) - 1));
    find_leaders(&shape, words, state->n_words, shift);
    struct pm_touch_sequence *sequence = *find_sequence(state, &shape);
    if (!sequence && state->n_sequences < PM_MOST_SEQUENCES)
        sequence = make_sequence(bundles, state, &shape);
    if (!sequence)
        return NULL;
    uint32_t last = state->n_recent < PM_RECENT_SEQUENCES ? state->n_recent++ : state->n_recent - 1;
    memmove(state->recent + 1, state->recent, last * sizeof *state->recent);
    return state->recent[0] = sequence;
}

/* ---- transitions ----------------------------------------------------------------------------- */

/* The front while an execution is placed: places that its blocks had before it, and behind them
   PM_REUSE_FRONT + m for the m-th block once it was touched. */
struct symbolic_front {
    uint8_t at[PM_REUSE_FRONT];
};

static struct symbolic_front begin_front(void) {
    struct symbolic_front front;
    for (uint8_t place = 0; place < PM_REUSE_FRONT; place++)
        front.at[place] = place;
    return front;
}

/* The distance of the first touch of the M-th block; PM_REUSE_FRONT: it is far, and what stood last
   is pushed out. */
static unsigned touch_symbolic(struct symbolic_front *front,
                               const struct pm_front_transition *transition, uint32_t m) {
    unsigned distance = PM_REUSE_FRONT;
    if (transition->present >> m & 1)
        for (distance = 0; distance < PM_REUSE_FRONT; distance++)
            if (front->at[distance] == transition->place[m])
                break;
    memmove(front->at + 1, front->at, distance < PM_REUSE_FRONT ? distance : PM_REUSE_FRONT - 1);
    front->at[0] = (uint8_t)(PM_REUSE_FRONT + m);
    return distance;
}

/* Distances of first touches that were where the transition says. */
static void flush_transition(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                             struct pm_front_transition *transition) {
    struct symbolic_front front = begin_front();
    for (uint32_t m = 0; m < sequence->n_blocks && transition->n; m++) {
        unsigned distance = touch_symbolic(&front, transition, m);
        if (distance < PM_REUSE_FRONT)
            reuse->histograms[sequence->group[m]].front[sequence->kind[m]][distance] +=
                transition->n;
    }
    sequence->n_single += transition->n;
    transition->n = 0;
}

/* A transition of blocks that were FOUND there. */
static struct pm_front_transition make_transition(struct pm_touch_sequence *sequence,
                                                  const uint32_t *found) {
    struct pm_front_transition transition = {.sequence = sequence};
    struct symbolic_front front = begin_front();
    for (uint32_t m = 0, n_far = 0; m < sequence->n_blocks; m++) {
        transition.present |= (uint32_t)(found[m] != 0) << m;
        transition.place[m] = found[m] ? (uint8_t)__builtin_ctz(found[m]) : 0;
        uint8_t last = front.at[PM_REUSE_FRONT - 1];
        if (touch_symbolic(&front, &transition, m) < PM_REUSE_FRONT)
            continue;
        transition.far |= 1u << m;
        transition.evicted[n_far++] = last;
    }
    for (uint32_t i = 0; i < PM_REUSE_FRONT; i++)
        transition.from[i] = front.at[i];
    for (uint32_t i = 0; i < sequence->n_blocks; i++)
        transition.from[i] = (uint8_t)(PM_REUSE_FRONT + sequence->order[i]);
    return transition;
}

/* The index of a transition like WANTED, or the number of those there are. */
static uint32_t find_transition(const struct pm_touch_sequence *sequence,
                                const struct pm_front_transition *wanted) {
    uint32_t i = 0;
    while (i < sequence->n_transitions &&
           (sequence->transitions[i]->present != wanted->present ||
            memcmp(sequence->transitions[i]->place, wanted->place, sizeof wanted->place) != 0))
        i++;
    return i;
}

struct pm_front_transition *pm_bundle_learn(struct pm_bundle_reuse *bundles,
                                            struct pm_touch_sequence *sequence,
                                            const uint32_t *found) {
    const struct pm_front_transition wanted = make_transition(sequence, found);
    uint32_t i = find_transition(sequence, &wanted);
    struct pm_front_transition *transition;
    if (i < sequence->n_transitions) {
        transition = sequence->transitions[i];
    } else if (i < PM_TRANSITIONS) {
        transition = take(bundles, sizeof *transition);
        if (!transition)
            return NULL;
        *transition = wanted;
        sequence->n_transitions++;
    } else { /* whoever expects the one it was will find that it does not hold */
        transition = sequence->transitions[--i];
        flush_transition(bundles->reuse, sequence, transition);
        *transition = wanted;
    }
    memmove(sequence->transitions + 1, sequence->transitions, i * sizeof *sequence->transitions);
    return sequence->transitions[0] = transition;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Adds the touches of SEQUENCE's executions, in which blocks are touched again after N_SINGLE +
   N_REPEATS, and for the first time after N_REPEATS of them. */
static void flush_sequence(struct pm_reuse *reuse, const struct pm_bundle *bundle,
                           const struct pm_touch_sequence *sequence) {
    struct touches touches = {.bundle = bundle, .sequence = sequence, .shift = reuse->shift};
    struct small_stack stack = {.n = sequence->n_blocks}; /* as the execution before left it */
    const struct pm_bundle_access *access;
    uint32_t base, seen = 0;
    int64_t relative;
    memcpy(stack.blocks, sequence->order, sizeof stack.blocks);
    while (next_touch(&touches, &base, &relative, &access)) {
        const struct pm_probe_reference *reference = reference_of(access);
        unsigned block = find_block(sequence, base, relative);
        unsigned distance = bring_up(&stack, (uint8_t)block);
        bool again = seen >> block & 1;
        reuse->histograms[reference->group].front[reference->access - 1][distance] +=
            sequence->n_repeats + (again ? sequence->n_single : 0);
        reuse->histograms[reference->group].touches[reference->access - 1] += sequence->n_unsampled;
        seen |= 1u << block;
    }
}

static void flush_far(struct pm_reuse *reuse, struct pm_touch_sequence *sequence) {
    for (uint32_t m = 0; m < sequence->n_blocks; m++)
        if (!pm_bin_cache_flush(&sequence->far[m], &reuse->histograms[sequence->group[m]],
                                &reuse->arena, sequence->kind[m]))
            reuse->failed = true;
}

void pm_bundle_reuse_flush(struct pm_bundle_reuse *bundles) {
    if (!bundles->dirty)
        return;
    bundles->dirty = false;
    for (uint32_t b = 0; b < pm_n_bundles; b++) {
        struct pm_bundle_state *state = bundles->states[b];
        for (uint32_t i = 0; state && i <= state->sequence_mask; i++) {
            struct pm_touch_sequence *sequence = state->sequences[i];
            if (!sequence)
                continue;
            for (uint32_t p = 0; p < sequence->n_transitions; p++)
                flush_transition(bundles->reuse, sequence, sequence->transitions[p]);
            flush_sequence(bundles->reuse, state->bundle, sequence);
            flush_far(bundles->reuse, sequence);
            sequence->n_single = sequence->n_repeats = sequence->n_unsampled = 0;
        }
    }
}

const uint64_t *pm_bundle_reuse_walk(struct pm_bundle_reuse *bundles, const uint64_t *words,
                                     const uint64_t *end) {
    static pm_bundle_walk *const walks[PM_REUSE_N_VARIANTS] = {
        [PM_REUSE_SSE2] = pm_bundle_walk_sse2,
        [PM_REUSE_AVX2] = pm_bundle_walk_avx2,
        [PM_REUSE_AVX512] = pm_bundle_walk_avx512,
    };
    bundles->dirty = true;
    return bundles->reuse->failed ? end : walks[bundles->reuse->variant](bundles, words, end);
}
