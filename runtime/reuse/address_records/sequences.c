/* Shapes and touch sequences of executions (record_state.h): found for a record, made when a shape
   is new, and turned into counts. */
#include <string.h>

#include "runtime/reuse/address_records/record_state.h"
#include "runtime/reuse/far_touches.h"

/* ---- the touches of an execution ------------------------------------------------------------- */

/* The touches of an execution, one after the other. */
struct touches {
    const struct pm_address_record *record;
    const struct pm_touch_sequence *sequence;
    unsigned shift;
    unsigned access;
    uint32_t base;
    int64_t next, last; /* relative blocks of the access that are to come */
    bool begun;
    bool continues; /* the touch is not the access's first */
};

static void begin_access(struct touches *touches) {
    const struct pm_record_access *access = &touches->record->accesses[touches->access];
    const struct pm_record_shape *shape = &touches->sequence->shape;
    uint32_t base = access->address;
    uint64_t at = access->offset + touches->sequence->begin[base];
    touches->base = shape->leader[base];
    touches->next = ((int64_t)at >> touches->shift) + shape->ahead[base];
    touches->last =
        ((int64_t)(at + pm_record_reference(access)->size_bytes - 1) >> touches->shift) +
        shape->ahead[base];
    touches->begun = true;
}

/* The next touch: base, relative block and access; false: that was all. */
static bool next_touch(struct touches *touches, uint32_t *base, int64_t *relative,
                       const struct pm_record_access **access) {
    if (touches->begun && touches->next > touches->last) {
        touches->access++;
        touches->begun = false;
    }
    if (touches->access == touches->record->n_accesses)
        return false;
    touches->continues = touches->begun;
    if (!touches->begun)
        begin_access(touches);
    *access = &touches->record->accesses[touches->access];
    *base = touches->base;
    *relative = touches->next++;
    return true;
}

/* The stack of what one execution touches, by number of first touch, most recent first. */
struct small_stack {
    uint8_t blocks[PM_STACK_TOP];
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

/* ---- sequences ------------------------------------------------------------------------------- */

static uint32_t class_of(const struct pm_record_base *base, uint32_t offset) {
    if (base->class_of)
        return base->class_of[offset];
    uint32_t class = 0;
    for (uint32_t i = 0; i < base->n_bounds; i++)
        class += base->bounds[i] <= offset;
    return class;
}

static uint32_t begin_of_class(const struct pm_record_base *base, uint32_t class) {
    return class ? base->bounds[class - 1] : 0;
}

static void fill_sequence(struct pm_touch_sequence *sequence,
                          const struct pm_address_record *record, unsigned shift) {
    struct touches touches = {.record = record, .sequence = sequence, .shift = shift};
    struct small_stack stack = {.n = 0};
    const struct pm_record_access *access;
    uint32_t base;
    int64_t relative;
    while (next_touch(&touches, &base, &relative, &access)) {
        unsigned block = find_block(sequence, base, relative);
        if (block == PM_STACK_TOP) {
            sequence->n_blocks = 0;
            return;
        }
        if (block == sequence->n_blocks) {
            sequence->base[block] = (uint8_t)base;
            sequence->relative[block] = relative;
            sequence->group[block] = pm_record_reference(access)->group;
            sequence->kind[block] = (uint8_t)(pm_record_reference(access)->access - 1);
            sequence->n_blocks++;
        }
        bring_up(&stack, (uint8_t)block);
    }
    memcpy(sequence->order, stack.blocks, sizeof sequence->order);
    sequence->ends_as_it_begins = true;
    for (uint32_t i = 0; i < sequence->n_blocks; i++)
        sequence->ends_as_it_begins &= sequence->order[i] == sequence->n_blocks - 1 - i;
}

/* The touches that are not the first ones of their accesses, for larger blocks. */
static bool list_continued(struct pm_record_reuse *address_records,
                           struct pm_touch_sequence *sequence,
                           const struct pm_address_record *record) {
    struct touches touches = {
        .record = record, .sequence = sequence, .shift = address_records->reuse->shift};
    const struct pm_record_access *access;
    uint32_t base, room = 0;
    int64_t relative;
    for (struct touches all = touches; next_touch(&all, &base, &relative, &access);)
        room += all.continues;
    if (room == 0)
        return true;
    sequence->continued = pm_record_take(address_records, room * sizeof *sequence->continued);
    while (sequence->continued && next_touch(&touches, &base, &relative, &access))
        if (touches.continues)
            sequence->continued[sequence->n_continued++] = (struct pm_continued_touch){
                .group = pm_record_reference(access)->group,
                .kind = (uint8_t)(pm_record_reference(access)->access - 1),
                .block = (uint8_t)find_block(sequence, base, relative),
            };
    return sequence->continued;
}

static uint64_t hash_of(const struct pm_record_shape *shape) {
    uint64_t words[sizeof *shape / 8], hash = 0;
    memcpy(words, shape, sizeof words);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15;
    return hash >> 32;
}

static struct pm_touch_sequence **find_sequence(const struct pm_record_state *state,
                                                const struct pm_record_shape *shape) {
    uint32_t index = (uint32_t)hash_of(shape) & state->sequence_mask;
    while (state->sequences[index] &&
           memcmp(&state->sequences[index]->shape, shape, sizeof *shape) != 0)
        index = (index + 1) & state->sequence_mask;
    return &state->sequences[index];
}

static bool grow_sequences(struct pm_record_reuse *address_records, struct pm_record_state *state) {
    struct pm_touch_sequence **old = state->sequences;
    uint32_t n = state->sequence_mask + 1;
    struct pm_touch_sequence **sequences =
        pm_record_take(address_records, 2ul * n * sizeof *sequences);
    if (!sequences)
        return false;
    state->sequences = sequences;
    state->sequence_mask = 2 * n - 1;
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            *find_sequence(state, &old[i]->shape) = old[i];
    return true;
}

static struct pm_touch_sequence *make_sequence(struct pm_record_reuse *address_records,
                                               struct pm_record_state *state,
                                               const struct pm_record_shape *shape) {
    const unsigned shift = address_records->reuse->shift;
    if (2 * state->n_sequences > state->sequence_mask && !grow_sequences(address_records, state))
        return NULL;
    struct pm_touch_sequence *sequence = pm_record_take(address_records, sizeof *sequence);
    if (!sequence)
        return NULL;
    sequence->shape = *shape;
    sequence->confidence = PM_CONFIDENT;
    sequence->backoff = PM_FIRST_BACKOFF;
    sequence->next = sequence;
    sequence->length[0] = 1; /* of the header */
    for (uint32_t number = 1; number < state->n_words; number++) {
        const struct pm_record_base *base = &state->bases[number];
        uint32_t class = shape->class_of[number];
        uint64_t end = class < base->n_bounds ? base->bounds[class] : 1ul << shift;
        sequence->begin[number] = begin_of_class(base, class);
        sequence->length[number] = end - sequence->begin[number];
        sequence->has_followers |= shape->leader[number] != number;
    }
    fill_sequence(sequence, state->record, shift);
    if (address_records->reuse->far && sequence->n_blocks &&
        !list_continued(address_records, sequence, state->record))
        return NULL;
    state->n_sequences++;
    return *find_sequence(state, shape) = sequence;
}

/* Which bases follow which: the first one that is near and itself follows none. */
static void find_leaders(struct pm_record_shape *shape, const uint64_t *words, uint32_t n_words,
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

struct pm_touch_sequence *pm_record_find_sequence(struct pm_record_reuse *address_records,
                                                  struct pm_record_state *state,
                                                  const uint64_t *words) {
    const unsigned shift = address_records->reuse->shift;
    struct pm_record_shape shape = {{0}, {0}, {0}};
    for (uint32_t number = 1; number < state->n_words; number++)
        shape.class_of[number] =
            (uint8_t)class_of(&state->bases[number], (uint32_t)words[number] & ((1u << shift) - 1));
    find_leaders(&shape, words, state->n_words, shift);
    struct pm_touch_sequence *sequence = *find_sequence(state, &shape);
    if (!sequence && state->n_sequences < PM_MOST_SEQUENCES)
        sequence = make_sequence(address_records, state, &shape);
    if (!sequence)
        return NULL;
    uint32_t last = state->n_recent < PM_RECENT_SEQUENCES ? state->n_recent++ : state->n_recent - 1;
    memmove(state->recent + 1, state->recent, last * sizeof *state->recent);
    return state->recent[0] = sequence;
}

/* ---- counts ---------------------------------------------------------------------------------- */

void pm_record_each_touch(const struct pm_address_record *record,
                          const struct pm_touch_sequence *sequence, unsigned shift,
                          void (*take)(void *context, const struct pm_record_touch *touch),
                          void *context) {
    const struct pm_probe_reference *before[PM_STACK_TOP] = {NULL};
    const struct pm_record_access *access;
    uint32_t base;
    int64_t relative;
    for (unsigned round = 0; round < 2; round++) { /* the first is the execution before */
        struct touches touches = {.record = record, .sequence = sequence, .shift = shift};
        struct small_stack stack = {.n = sequence->n_blocks};
        uint32_t seen = 0;
        memcpy(stack.blocks, sequence->order, sizeof stack.blocks);
        while (next_touch(&touches, &base, &relative, &access)) {
            unsigned block = find_block(sequence, base, relative);
            const struct pm_record_touch touch = {
                .reference = pm_record_reference(access),
                .before = before[block],
                .block = block,
                .distance = bring_up(&stack, (uint8_t)block),
                .again = seen >> block & 1,
            };
            seen |= 1u << block;
            before[block] = touch.reference;
            if (round == 1)
                take(context, &touch);
        }
    }
}

struct near_touches {
    struct pm_reuse *reuse;
    const struct pm_touch_sequence *sequence;
};

/* In N_SINGLE + N_REPEATS executions blocks are touched again, and in N_REPEATS of them for the
   first time where the execution before left them. */
static void add_near(void *context, const struct pm_record_touch *touch) {
    const struct near_touches *near = context;
    const struct pm_touch_sequence *sequence = near->sequence;
    struct pm_touch_histogram *histogram = &near->reuse->histograms[touch->reference->group];
    histogram->stack_top[touch->reference->access - 1][touch->distance] +=
        sequence->n_repeats + (touch->again ? sequence->n_single : 0);
}

static void flush_continued(struct pm_reuse *reuse, const struct pm_touch_sequence *sequence) {
    for (uint32_t i = 0; i < sequence->n_continued; i++)
        pm_larger_note_continued(reuse, sequence->continued[i].group, sequence->continued[i].kind,
                                 sequence->n_single + sequence->n_repeats);
}

static void flush_far(struct pm_reuse *reuse, struct pm_touch_sequence *sequence) {
    for (uint32_t m = 0; m < sequence->n_blocks; m++)
        if (!pm_bin_cache_flush(&sequence->far[m], &reuse->histograms[sequence->group[m]],
                                &reuse->arena, sequence->kind[m]))
            reuse->failed = true;
}

void pm_record_flush_sequence(struct pm_reuse *reuse, const struct pm_address_record *record,
                              struct pm_touch_sequence *sequence) {
    struct near_touches near = {reuse, sequence};
    pm_record_each_touch(record, sequence, reuse->shift, add_near, &near);
    flush_far(reuse, sequence);
    flush_continued(reuse, sequence);
    sequence->n_single = sequence->n_repeats = 0;
}
