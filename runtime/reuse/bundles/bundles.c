/* Classes and templates of bundles, and what becomes of their counts; see reuse_bundles.h.  The
   walk over records is in reuse_bundle_walk.h. */
#include "runtime/reuse/bundles/bundles.h"

#include <string.h>

#include "runtime/system.h"

enum { FIRST_TEMPLATES = 4 };

struct pm_bundle_reuse *pm_bundle_reuse_new(struct pm_reuse *reuse) {
    struct pm_bundle_reuse *bundles = pm_map(sizeof *bundles);
    if (!bundles)
        return NULL;
    bundles->reuse = reuse;
    bundles->states = pm_map(PM_MAX_BUNDLES * sizeof(struct pm_bundle_state *));
    if (bundles->states)
        return bundles;
    pm_bundle_reuse_free(bundles);
    return NULL;
}

void pm_bundle_reuse_free(struct pm_bundle_reuse *bundles) {
    if (!bundles)
        return;
    pm_arena_free(&bundles->arena);
    pm_unmap(bundles->states, PM_MAX_BUNDLES * sizeof(struct pm_bundle_state *));
    pm_unmap(bundles, sizeof *bundles);
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

static bool make_lane(struct pm_bundle_reuse *bundles, const struct pm_bundle *bundle,
                      uint32_t number, struct pm_lane *lane) {
    const unsigned shift = bundles->reuse->shift;
    uint32_t bounds[2 * PM_BUNDLE_ACCESSES], n = 0;
    for (unsigned i = 0; i < bundle->n_accesses; i++) {
        const struct pm_bundle_access *access = &bundle->accesses[i];
        if (access->address != number)
            continue;
        n = add_bound(bounds, n, access->offset, shift);
        n = add_bound(bounds, n, access->offset + reference_of(access)->size_bytes - 1, shift);
    }
    lane->n_bounds = n;
    lane->bounds = take(bundles, (n + 1) * sizeof *bounds);
    if (!lane->bounds)
        return false;
    memcpy(lane->bounds, bounds, n * sizeof *bounds);
    if (shift > PM_TABLED_SHIFT)
        return true;
    lane->class_of = take(bundles, 1ul << shift);
    if (!lane->class_of)
        return false;
    for (uint32_t offset = 0, class = 0; offset < 1u << shift; offset++) {
        class += class < n && bounds[class] == offset;
        lane->class_of[offset] = (uint8_t) class;
    }
    return true;
}

static uint32_t class_of(const struct pm_lane *lane, uint32_t offset) {
    if (lane->class_of)
        return lane->class_of[offset];
    uint32_t class = 0;
    for (uint32_t i = 0; i < lane->n_bounds; i++)
        class += lane->bounds[i] <= offset;
    return class;
}

static uint32_t begin_of_class(const struct pm_lane *lane, uint32_t class) {
    return class ? lane->bounds[class - 1] : 0;
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
    state->template_mask = FIRST_TEMPLATES - 1;
    state->templates = take(bundles, FIRST_TEMPLATES * sizeof *state->templates);
    for (uint32_t lane = 1; lane < state->n_words; lane++)
        if (!make_lane(bundles, bundle, lane, &state->lanes[lane]))
            return NULL;
    if (!state->templates)
        return NULL;
    /* No address is in its interval yet; the header always is. */
    state->low[0] = PM_RECORD_IS_BUNDLE + number;
    state->length[0] = 1;
    return bundles->states[number] = state;
}

/* ---- templates ------------------------------------------------------------------------------- */

/* The touches of an execution, one after the other. */
struct touches {
    const struct pm_bundle *bundle;
    const struct pm_template *template;
    unsigned shift;
    unsigned access;
    uint32_t lane;
    int64_t next, last; /* relative blocks of the access that are to come */
    bool begun;
};

static void begin_access(struct touches *touches) {
    const struct pm_bundle_access *access = &touches->bundle->accesses[touches->access];
    const struct pm_shape *shape = &touches->template->shape;
    uint32_t lane = access->address;
    uint64_t at = access->offset + touches->template->begin[lane];
    touches->lane = shape->leader[lane];
    touches->next = ((int64_t)at >> touches->shift) + shape->ahead[lane];
    touches->last = ((int64_t)(at + reference_of(access)->size_bytes - 1) >> touches->shift) +
                    shape->ahead[lane];
    touches->begun = true;
}

/* The next touch: lane, relative block and access; false: that was all. */
static bool next_touch(struct touches *touches, uint32_t *lane, int64_t *relative,
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
    *lane = touches->lane;
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
static unsigned find_block(const struct pm_template *template, uint32_t lane, int64_t relative) {
    unsigned block = 0;
    while (block < template->n_blocks &&
           (template->lane[block] != lane || template->relative[block] != relative))
        block++;
    return block;
}

static void fill_template(struct pm_template *template, const struct pm_bundle *bundle,
                          unsigned shift) {
    struct touches touches = {.bundle = bundle, .template = template, .shift = shift};
    struct small_stack stack = {.n = 0};
    const struct pm_bundle_access *access;
    uint32_t lane;
    int64_t relative;
    while (next_touch(&touches, &lane, &relative, &access)) {
        unsigned block = find_block(template, lane, relative);
        if (block == PM_REUSE_FRONT) {
            template->n_blocks = 0;
            return;
        }
        if (block == template->n_blocks) {
            template->lane[block] = (uint8_t)lane;
            template->relative[block] = relative;
            template->group[block] = reference_of(access)->group;
            template->kind[block] = (uint8_t)(reference_of(access)->access - 1);
            template->n_blocks++;
        }
        bring_up(&stack, (uint8_t)block);
    }
    memcpy(template->order, stack.blocks, sizeof template->order);
    template->ends_as_it_begins = true;
    for (uint32_t i = 0; i < template->n_blocks; i++)
        template->ends_as_it_begins &= template->order[i] == template->n_blocks - 1 - i;
}

static uint64_t hash_of(const struct pm_shape *shape) {
    uint64_t words[sizeof *shape / 8], hash = 0;
    memcpy(words, shape, sizeof words);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15;
    return hash >> 32;
}

static struct pm_template **find_template(const struct pm_bundle_state *state,
                                          const struct pm_shape *shape) {
    uint32_t index = (uint32_t)hash_of(shape) & state->template_mask;
    while (state->templates[index] &&
           memcmp(&state->templates[index]->shape, shape, sizeof *shape) != 0)
        index = (index + 1) & state->template_mask;
    return &state->templates[index];
}

static bool grow_templates(struct pm_bundle_reuse *bundles, struct pm_bundle_state *state) {
    struct pm_template **old = state->templates;
    uint32_t n = state->template_mask + 1;
    struct pm_template **templates = take(bundles, 2ul * n * sizeof *templates);
    if (!templates)
        return false;
    state->templates = templates;
    state->template_mask = 2 * n - 1;
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            *find_template(state, &old[i]->shape) = old[i];
    return true;
}

static struct pm_template *make_template(struct pm_bundle_reuse *bundles,
                                         struct pm_bundle_state *state,
                                         const struct pm_shape *shape) {
    const unsigned shift = bundles->reuse->shift;
    if (2 * state->n_templates > state->template_mask && !grow_templates(bundles, state))
        return NULL;
    struct pm_template *template = take(bundles, sizeof *template);
    if (!template)
        return NULL;
    template->shape = *shape;
    template->trust = PM_TRUST;
    template->distrust = PM_DISTRUST;
    template->next = template;
    template->length[0] = 1; /* of the header */
    for (uint32_t number = 1; number < state->n_words; number++) {
        const struct pm_lane *lane = &state->lanes[number];
        uint32_t class = shape->class_of[number];
        uint64_t end = class < lane->n_bounds ? lane->bounds[class] : 1ul << shift;
        template->begin[number] = begin_of_class(lane, class);
        template->length[number] = end - template->begin[number];
        template->has_followers |= shape->leader[number] != number;
    }
    fill_template(template, state->bundle, shift);
    state->n_templates++;
    return *find_template(state, shape) = template;
}

/* Which lanes follow which: the first one that is near and itself follows none. */
static void find_leaders(struct pm_shape *shape, const uint64_t *words, uint32_t n_words,
                         unsigned shift) {
    for (uint32_t lane = 1; lane < n_words; lane++) {
        shape->leader[lane] = (uint8_t)lane;
        for (uint32_t leader = 1; leader < lane; leader++) {
            uint64_t ahead = (words[lane] >> shift) - (words[leader] >> shift);
            if (shape->leader[leader] != leader || ahead + PM_FOLLOWS > 2ul * PM_FOLLOWS)
                continue;
            shape->leader[lane] = (uint8_t)leader;
            shape->ahead[lane] = (int8_t)(int64_t)ahead;
            break;
        }
    }
}

struct pm_template *pm_bundle_find_template(struct pm_bundle_reuse *bundles,
                                            struct pm_bundle_state *state, const uint64_t *words) {
    const unsigned shift = bundles->reuse->shift;
    struct pm_shape shape = {{0}, {0}, {0}};
    for (uint32_t number = 1; number < state->n_words; number++)
        shape.class_of[number] =
            (uint8_t)class_of(&state->lanes[number], (uint32_t)words[number] & ((1u << shift) - 1));
    find_leaders(&shape, words, state->n_words, shift);
    struct pm_template *template = *find_template(state, &shape);
    if (!template && state->n_templates < PM_MOST_TEMPLATES)
        template = make_template(bundles, state, &shape);
    if (!template)
        return NULL;
    uint32_t last = state->n_recent < PM_RECENT_TEMPLATES ? state->n_recent++ : state->n_recent - 1;
    memmove(state->recent + 1, state->recent, last * sizeof *state->recent);
    return state->recent[0] = template;
}

/* ---- placements ------------------------------------------------------------------------------ */

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
static unsigned touch_symbolic(struct symbolic_front *front, const struct pm_placement *placement,
                               uint32_t m) {
    unsigned distance = PM_REUSE_FRONT;
    if (placement->present >> m & 1)
        for (distance = 0; distance < PM_REUSE_FRONT; distance++)
            if (front->at[distance] == placement->place[m])
                break;
    memmove(front->at + 1, front->at, distance < PM_REUSE_FRONT ? distance : PM_REUSE_FRONT - 1);
    front->at[0] = (uint8_t)(PM_REUSE_FRONT + m);
    return distance;
}

/* Distances of first touches that were where the placement says. */
static void settle_placement(struct pm_reuse *reuse, struct pm_template *template,
                             struct pm_placement *placement) {
    struct symbolic_front front = begin_front();
    for (uint32_t m = 0; m < template->n_blocks && placement->n; m++) {
        unsigned distance = touch_symbolic(&front, placement, m);
        if (distance < PM_REUSE_FRONT)
            reuse->histograms[template->group[m]].front[template->kind[m]][distance] +=
                placement->n;
    }
    template->n_single += placement->n;
    placement->n = 0;
}

/* A placement of blocks that were FOUND there. */
static struct pm_placement make_placement(struct pm_template *template, const uint32_t *found) {
    struct pm_placement placement = {.template = template};
    struct symbolic_front front = begin_front();
    for (uint32_t m = 0, n_far = 0; m < template->n_blocks; m++) {
        placement.present |= (uint32_t)(found[m] != 0) << m;
        placement.place[m] = found[m] ? (uint8_t)__builtin_ctz(found[m]) : 0;
        uint8_t last = front.at[PM_REUSE_FRONT - 1];
        if (touch_symbolic(&front, &placement, m) < PM_REUSE_FRONT)
            continue;
        placement.far |= 1u << m;
        placement.evicted[n_far++] = last;
    }
    for (uint32_t i = 0; i < PM_REUSE_FRONT; i++)
        placement.from[i] = front.at[i];
    for (uint32_t i = 0; i < template->n_blocks; i++)
        placement.from[i] = (uint8_t)(PM_REUSE_FRONT + template->order[i]);
    return placement;
}

/* The index of a placement like WANTED, or the number of those there are. */
static uint32_t find_placement(const struct pm_template *template,
                               const struct pm_placement *wanted) {
    uint32_t i = 0;
    while (i < template->n_placements &&
           (template->placements[i]->present != wanted->present ||
            memcmp(template->placements[i]->place, wanted->place, sizeof wanted->place) != 0))
        i++;
    return i;
}

struct pm_placement *pm_bundle_learn(struct pm_bundle_reuse *bundles, struct pm_template *template,
                                     const uint32_t *found) {
    const struct pm_placement wanted = make_placement(template, found);
    uint32_t i = find_placement(template, &wanted);
    struct pm_placement *placement;
    if (i < template->n_placements) {
        placement = template->placements[i];
    } else if (i < PM_PLACEMENTS) {
        placement = take(bundles, sizeof *placement);
        if (!placement)
            return NULL;
        *placement = wanted;
        template->n_placements++;
    } else { /* whoever expects the one it was will find that it does not hold */
        placement = template->placements[--i];
        settle_placement(bundles->reuse, template, placement);
        *placement = wanted;
    }
    memmove(template->placements + 1, template->placements, i * sizeof *template->placements);
    return template->placements[0] = placement;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Adds the touches of TEMPLATE's executions, in which blocks are touched again after N_SINGLE +
   N_REPEATS, and for the first time after N_REPEATS of them. */
static void settle_template(struct pm_reuse *reuse, const struct pm_bundle *bundle,
                            const struct pm_template *template) {
    struct touches touches = {.bundle = bundle, .template = template, .shift = reuse->shift};
    struct small_stack stack = {.n = template->n_blocks}; /* as the execution before left it */
    const struct pm_bundle_access *access;
    uint32_t lane, seen = 0;
    int64_t relative;
    memcpy(stack.blocks, template->order, sizeof stack.blocks);
    while (next_touch(&touches, &lane, &relative, &access)) {
        const struct pm_probe_reference *reference = reference_of(access);
        unsigned block = find_block(template, lane, relative);
        unsigned distance = bring_up(&stack, (uint8_t)block);
        bool again = seen >> block & 1;
        reuse->histograms[reference->group].front[reference->access - 1][distance] +=
            template->n_repeats + (again ? template->n_single : 0);
        reuse->histograms[reference->group].touches[reference->access - 1] += template->n_unwatched;
        seen |= 1u << block;
    }
}

static void settle_far(struct pm_reuse *reuse, struct pm_template *template) {
    for (uint32_t m = 0; m < template->n_blocks; m++)
        if (!pm_tally_settle(&template->far[m], &reuse->histograms[template->group[m]],
                             &reuse->arena, template->kind[m]))
            reuse->failed = true;
}

void pm_bundle_reuse_settle(struct pm_bundle_reuse *bundles) {
    if (!bundles->dirty)
        return;
    bundles->dirty = false;
    for (uint32_t b = 0; b < pm_n_bundles; b++) {
        struct pm_bundle_state *state = bundles->states[b];
        for (uint32_t i = 0; state && i <= state->template_mask; i++) {
            struct pm_template *template = state->templates[i];
            if (!template)
                continue;
            for (uint32_t p = 0; p < template->n_placements; p++)
                settle_placement(bundles->reuse, template, template->placements[p]);
            settle_template(bundles->reuse, state->bundle, template);
            settle_far(bundles->reuse, template);
            template->n_single = template->n_repeats = template->n_unwatched = 0;
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
