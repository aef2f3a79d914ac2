/* Windows, and the runs of addresses in them; see strides.h. */
#include "runtime/analyser/run_strides.h"

#include "core/probe_abi.h"
#include "runtime/arena.h"
#include "runtime/modules.h"
#include "runtime/reuse/carried_reuse/carried_reuse.h"
#include "runtime/system.h"

enum {
    FIRST_WINDOW = 1 << 21, /* all of a small run */
    /* Long windows see outer loops, many short ones all of the program: their lengths are powers of
       two between these, at random. */
    LEAST_LOG2_WINDOW = 16,
    MOST_LOG2_WINDOW = 20,
    /* Words before a window, in lengths of the window, at random too, so that no period of the
       program's is always met at the same place. */
    LEAST_GAP = 8,
    MOST_GAP = 22,
    /* A window at code that no window has met, and the least words from one window to it: else a
       program that always comes to new code would be in windows all the time. */
    NEW_WINDOW = 1 << 16,
    LEAST_BEFORE_NEW = 1 << 20,
    WORDS_OF_AN_ACCESS = 2,
};
#define NO_STREAM UINT32_MAX

/* Where a reference's addresses are: OFFSET bytes from those of WALK. */
struct place {
    struct pm_address_walk *walk; /* NULL: it was not executed in a window */
    int64_t offset;
};

struct pm_strides {
    bool failed;
    uint32_t stream; /* atomic: whose window is open; NO_STREAM: none's */
    uint32_t window; /* number of the window, from 1 */
    int64_t left;    /* atomic: words of the window, or until the next one */
    int64_t gap;     /* atomic: what LEFT was when the last window closed */
    int64_t length;  /* of the window, or of the next one, in words */
    uint64_t random;
    uint64_t clock;       /* records and accesses that were looked at */
    struct place *places; /* [n_places], by number of the reference */
    uint32_t n_places, n_address_records;
    struct pm_address_walk **
        *address_records; /* [n_address_records] of walks by word; NULL: not met */
    struct pm_arena arena;
};

/* ---- runs ------------------------------------------------------------------------------------ */

static void add_value(struct pm_frequent_values *frequent, int64_t value, uint64_t weight) {
    unsigned least = 0;
    for (unsigned i = 0; i < PM_STRIDE_VALUES; i++) {
        if (frequent->weights[i] && frequent->values[i] == value) {
            frequent->weights[i] += weight;
            return;
        }
        if (frequent->weights[i] < frequent->weights[least])
            least = i;
    }
    const uint64_t less = frequent->weights[least] < weight ? frequent->weights[least] : weight;
    if (less == weight && less != 0) {
        for (unsigned i = 0; i < PM_STRIDE_VALUES; i++)
            frequent->weights[i] -= less;
        return;
    }
    for (unsigned i = 0; i < PM_STRIDE_VALUES; i++)
        frequent->weights[i] -= less;
    frequent->values[least] = value;
    frequent->weights[least] = weight - less;
}

static uint64_t largest_weight(const struct pm_frequent_values *frequent) {
    uint64_t largest = 0;
    for (unsigned i = 0; i < PM_STRIDE_VALUES; i++)
        largest = frequent->weights[i] > largest ? frequent->weights[i] : largest;
    return largest;
}

/* Numbers without an order make runs of two elements, each with another stride. */
static bool is_regular(const struct pm_walk_level *level) {
    enum { FEW = 16, LONG = 3 };
    return level->n_runs < FEW || level->n_elements >= LONG * level->n_runs ||
           2 * largest_weight(&level->strides) >= level->n_elements - level->n_runs;
}

static uint64_t id_of(const struct pm_walk_level *level, int64_t stride) {
    const uint64_t mix = 0x9e3779b97f4a7c15u;
    uint64_t id = (level->inner ^ (uint64_t)stride) * mix;
    id = (id ^ id >> 32 ^ level->n) * mix;
    return (id ^ id >> 29) | 1;
}

static void take_weight(struct pm_run_variant *variants, uint64_t weight) {
    for (unsigned i = 0; i < PM_STRIDE_VARIANTS; i++)
        variants[i].weight -= weight;
}

/* The number of the variant with ID, made if there is room; PM_STRIDE_VARIANTS: there is none. */
static unsigned find_variant(struct pm_run_variant *variants, uint64_t id, uint64_t *weight) {
    unsigned least = 0;
    for (unsigned i = 0; i < PM_STRIDE_VARIANTS; i++) {
        if (variants[i].weight && variants[i].id == id)
            return i;
        if (variants[i].weight < variants[least].weight)
            least = i;
    }
    const uint64_t less = variants[least].weight;
    if (less) { /* all are taken */
        const uint64_t taken = less < *weight ? less : *weight;
        take_weight(variants, taken);
        *weight -= taken;
        if (!*weight)
            return PM_STRIDE_VARIANTS;
    }
    variants[least].id = 0;
    return least;
}

/* The run of LEVEL has ended as a whole one; its id. */
static uint64_t add_variant(struct pm_strides *strides, struct pm_walk_level *level) {
    const int64_t stride = level->n > 1 ? level->stride : 0;
    const uint64_t id = id_of(level, stride);
    bool is_new_phase = level->last_id != id;
    uint64_t weight = level->n;
    if (!is_regular(level))
        return id;
    if (PM_UNLIKELY(!level->variants) &&
        !(level->variants =
              pm_arena_take(&strides->arena, PM_STRIDE_VARIANTS * sizeof *level->variants))) {
        strides->failed = true;
        return id;
    }
    unsigned i = level->last_variant;
    if (PM_UNLIKELY(level->variants[i].id != id || !level->variants[i].weight))
        i = find_variant(level->variants, id, &weight);
    level->last_id = id;
    if (i == PM_STRIDE_VARIANTS)
        return id;
    level->last_variant = i;
    struct pm_run_variant *variant = &level->variants[i];
    if (variant->id != id) {
        is_new_phase = true; /* also where there was no room for the run before, which was alike */
        *variant = (struct pm_run_variant){.id = id,
                                           .inner = level->inner,
                                           .stride = stride,
                                           .count = level->n,
                                           .since = strides->clock,
                                           .lowest = UINT64_MAX};
    }
    const uint64_t low = stride < 0 ? level->last : level->first;
    const uint64_t high = stride < 0 ? level->first : level->last;
    variant->lowest = low < variant->lowest ? low : variant->lowest;
    variant->highest = high > variant->highest ? high : variant->highest;
    variant->weight += weight;
    variant->n_phases += is_new_phase;
    return id;
}

/* The id of the run; 0: it was cut. */
static uint64_t end_run(struct pm_strides *strides, struct pm_walk_level *level) {
    if (level->is_cut) {
        if (level->n > level->cut_n) {
            level->cut_n = level->n;
            level->cut_stride = level->stride;
        }
        return 0;
    }
    if (level->n > 1)
        add_value(&level->strides, level->stride, level->n - 1);
    add_value(&level->counts, (int64_t)level->n, 1);
    level->n_runs++;
    level->n_elements += level->n;
    return add_variant(strides, level);
}

static struct pm_walk_level *make_level(struct pm_strides *strides, struct pm_address_walk *walk,
                                        unsigned k) {
    struct pm_walk_level *level = pm_arena_take(&strides->arena, sizeof *level);
    if (level)
        level->is_cut = strides->window != 1; /* in the first window all runs begin */
    else
        strides->failed = true;
    return walk->levels[k] = level;
}

/* ADDRESS is the next element of level K: the first one of a run with id INNER. */
static __attribute__((noinline)) void append(struct pm_strides *strides,
                                             struct pm_address_walk *walk, unsigned k,
                                             uint64_t address, uint64_t inner) {
    for (; k < PM_STRIDE_LEVELS; k++) {
        struct pm_walk_level *level = walk->levels[k];
        if (PM_UNLIKELY(!level) && !(level = make_level(strides, walk, k)))
            return;
        if (level->n == 1)
            level->stride = (int64_t)(address - level->last);
        if (level->n > 0 && (int64_t)(address - level->last) == level->stride) {
            level->last = address;
            level->n++;
            return;
        }
        const uint64_t first = level->first;
        const bool is_complete = level->n > 0 && !level->is_cut;
        uint64_t id = 0;
        if (level->n > 0) {
            id = end_run(strides, level);
            level->is_cut = false;
        }
        level->first = level->last = address;
        level->n = 1;
        level->inner = inner;
        if (!is_complete || !is_regular(level)) /* where it began is not known */
            return;
        address = first;
        inner = id;
    }
}

/* The window has ended: the runs under way are not followed any more. */
static void cut_runs(struct pm_strides *strides, struct pm_address_walk *walk) {
    for (unsigned k = 0; k < PM_STRIDE_LEVELS; k++) {
        struct pm_walk_level *level = walk->levels[k];
        if (!level || level->n == 0)
            continue;
        if (!level->is_cut && is_regular(level))
            append(strides, walk, k + 1, level->first, 0);
        level->is_cut = true;
        end_run(strides, level);
        level->n = 0;
    }
    walk->window = 0;
}

static __attribute__((noinline)) void begin_in_window(struct pm_strides *strides,
                                                      struct pm_address_walk *walk) {
    if (walk->window)
        cut_runs(strides, walk);
    if (walk->n == 0) {
        walk->lowest = UINT64_MAX;
        make_level(strides, walk, 0);
    }
    walk->window = strides->window;
}

static inline void execute(struct pm_strides *strides, struct pm_address_walk *walk,
                           uint64_t address) {
    if (PM_UNLIKELY(walk->window != strides->window))
        begin_in_window(strides, walk);
    struct pm_walk_level *level = walk->levels[0];
    if (PM_UNLIKELY(!level))
        return;
    walk->n++;
    walk->lowest = address < walk->lowest ? address : walk->lowest;
    walk->highest = address > walk->highest ? address : walk->highest;
    if (PM_LIKELY(level->n > 1 && (int64_t)(address - level->last) == level->stride)) {
        level->last = address;
        level->n++;
        return;
    }
    append(strides, walk, 0, address, 0);
}

/* ---- begin and end --------------------------------------------------------------------------- */

struct pm_strides *pm_strides_new(void) {
    struct pm_strides *strides = pm_mmap(sizeof *strides);
    if (!strides)
        return NULL;
    strides->stream = NO_STREAM;
    strides->random = 1;
    strides->length = FIRST_WINDOW;
    return strides;
}

void pm_strides_free(struct pm_strides *strides) {
    if (!strides)
        return;
    pm_arena_free(&strides->arena);
    pm_munmap(strides->places, strides->n_places * sizeof *strides->places);
    pm_munmap(strides->address_records,
              strides->n_address_records * sizeof(struct pm_address_walk **));
    pm_munmap(strides, sizeof *strides);
}

bool pm_strides_have_failed(const struct pm_strides *strides) { return strides->failed; }

bool pm_strides_of(const struct pm_strides *strides, uint32_t reference,
                   const struct pm_address_walk **walk, int64_t *offset) {
    if (reference >= strides->n_places || !strides->places[reference].walk)
        return false;
    *walk = strides->places[reference].walk;
    *offset = strides->places[reference].offset;
    return (*walk)->n > 0;
}

/* ---- windows --------------------------------------------------------------------------------- */

/* From LEAST to MOST. */
static int64_t random_number(struct pm_strides *strides, unsigned least, unsigned most) {
    strides->random = strides->random * 6364136223846793005u + 1442695040888963407u;
    return least + (int64_t)((strides->random >> 33) % (most - least + 1));
}

static void close_window(struct pm_strides *strides) {
    strides->length = INT64_C(1) << random_number(strides, LEAST_LOG2_WINDOW, MOST_LOG2_WINDOW);
    int64_t gap = random_number(strides, LEAST_GAP * 16, MOST_GAP * 16) * strides->length / 16;
    __atomic_store_n(&strides->gap, gap, __ATOMIC_RELAXED);
    __atomic_store_n(&strides->left, gap, __ATOMIC_RELAXED);
    __atomic_store_n(&strides->stream, NO_STREAM, __ATOMIC_RELEASE);
}

/* What has come: records, or accesses if there are none of these. */
struct batch {
    const uint64_t *words, *end;
    const struct pmodel_access *accesses;
    size_t n_accesses;
};

/* Does BATCH begin with code that no window has met? */
static bool is_new(const struct pm_strides *strides, const struct batch *batch) {
    const uint64_t *words = batch->words;
    while (words < batch->end && *words & PM_RECORD_IS_EVENT)
        words += 2;
    if (words < batch->end) {
        const uint64_t number = *words ^ PM_RECORD_IS_ADDRESSES;
        return number >= strides->n_address_records || !strides->address_records[number];
    }
    if (!batch->n_accesses || batch->accesses[0].kind >= PM_CARRIED_ENTER)
        return false;
    const uint32_t reference = batch->accesses[0].reference;
    return reference >= strides->n_places || !strides->places[reference].walk;
}

/* Is a window of STREAM open, or opened here?  If none is, N words more have passed, of BATCH. */
static inline bool is_open(struct pm_strides *strides, uint32_t stream, size_t n,
                           const struct batch *batch) {
    uint32_t open = __atomic_load_n(&strides->stream, __ATOMIC_RELAXED);
    if (open == stream)
        return true;
    if (open != NO_STREAM)
        return false;
    const int64_t left = __atomic_sub_fetch(&strides->left, (int64_t)n, __ATOMIC_RELAXED);
    const bool is_due = left <= 0;
    if (!is_due && __atomic_load_n(&strides->gap, __ATOMIC_RELAXED) - left < LEAST_BEFORE_NEW)
        return false;
    if (!__atomic_compare_exchange_n(&strides->stream, &open, stream, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    if (!is_due && !is_new(strides, batch)) {
        __atomic_store_n(&strides->stream, NO_STREAM, __ATOMIC_RELEASE);
        return false;
    }
    __atomic_store_n(&strides->left, is_due ? strides->length : NEW_WINDOW, __ATOMIC_RELAXED);
    strides->window++;
    return true;
}

/* N words of the window have passed. */
static void pass(struct pm_strides *strides, size_t n) {
    if (__atomic_sub_fetch(&strides->left, (int64_t)n, __ATOMIC_RELAXED) <= 0)
        close_window(strides);
}

void pm_strides_interrupt(struct pm_strides *strides, uint32_t stream) {
    if (__atomic_load_n(&strides->stream, __ATOMIC_RELAXED) == stream)
        close_window(strides);
}

void pm_strides_flush(struct pm_strides *strides) {
    for (uint32_t i = 0; i < strides->n_places; i++) {
        struct pm_address_walk *walk = strides->places[i].walk;
        if (walk && walk->window)
            cut_runs(strides, walk);
    }
}

/* ---- accesses and records -------------------------------------------------------------------- */

static bool grow_places(struct pm_strides *strides, uint32_t n) {
    if (!pm_mgrow(&strides->places, strides->n_places * sizeof *strides->places,
                  n * sizeof *strides->places))
        return false;
    strides->n_places = n;
    return true;
}

static bool grow_address_records(struct pm_strides *strides, uint32_t n) {
    const size_t bytes = sizeof(struct pm_address_walk **);
    if (!pm_mgrow(&strides->address_records, strides->n_address_records * bytes, n * bytes))
        return false;
    strides->n_address_records = n;
    return true;
}

static struct pm_address_walk *make_walk(struct pm_strides *strides, uint32_t reference) {
    if (PM_UNLIKELY(reference >= strides->n_places) && !grow_places(strides, pm_n_references)) {
        strides->failed = true;
        return NULL;
    }
    struct place *place = &strides->places[reference];
    if (!place->walk)
        place->walk = pm_arena_take(&strides->arena, sizeof *place->walk);
    strides->failed |= !place->walk;
    return place->walk;
}

/* References of an address record that have an address in common have a walk in common, that of the
   first.
 */
static struct pm_address_walk **make_address_record(struct pm_strides *strides, uint64_t number) {
    const struct pm_address_record *address_record = &pm_address_records[number];
    struct pm_address_walk **walks =
        pm_arena_take(&strides->arena, (1u + address_record->n_addresses) * sizeof *walks);
    if (!walks || (number >= strides->n_address_records &&
                   !grow_address_records(strides, pm_n_address_records))) {
        strides->failed = true;
        return NULL;
    }
    for (unsigned i = 0; i < address_record->n_accesses && !strides->failed; i++) {
        const struct pm_record_access *access = &address_record->accesses[i];
        struct pm_address_walk **walk = &walks[access->address];
        if (access->address == 0) { /* fixed: the only address of a walk of its own */
            struct pm_address_walk *fixed = make_walk(strides, access->reference);
            if (fixed) {
                fixed->lowest = fixed->highest = access->offset;
                fixed->n = 1;
            }
            continue;
        }
        if (!*walk)
            *walk = make_walk(strides, access->reference);
        else if (access->reference >= strides->n_places && !grow_places(strides, pm_n_references))
            strides->failed = true;
        if (!strides->failed)
            strides->places[access->reference] = (struct place){*walk, (int64_t)access->offset};
    }
    return strides->address_records[number] = walks;
}

void pm_strides_records(struct pm_strides *strides, uint32_t stream, const uint64_t *words,
                        const uint64_t *end) {
    const size_t n = (size_t)(end - words);
    const struct batch batch = {.words = words, .end = end};
    if (strides->failed || PM_LIKELY(!is_open(strides, stream, n, &batch)))
        return;
    while (words < end) {
        if (PM_UNLIKELY(*words & PM_RECORD_IS_EVENT)) {
            words += 2;
            continue;
        }
        const uint64_t number = *words++ ^ PM_RECORD_IS_ADDRESSES;
        struct pm_address_walk **walks = PM_LIKELY(number < strides->n_address_records)
                                             ? strides->address_records[number]
                                             : NULL;
        if (PM_UNLIKELY(!walks) && !(walks = make_address_record(strides, number)))
            break;
        if (PM_UNLIKELY(strides->failed)) /* a walk may be missing */
            break;
        strides->clock++;
        for (uint32_t i = 1; i <= pm_address_records[number].n_addresses; i++)
            execute(strides, walks[i], *words++);
    }
    pass(strides, n);
}

void pm_strides_accesses(struct pm_strides *strides, uint32_t stream,
                         const struct pmodel_access *batch, size_t count) {
    const size_t n = WORDS_OF_AN_ACCESS * count;
    const struct batch of_accesses = {.accesses = batch, .n_accesses = count};
    if (strides->failed || PM_LIKELY(!is_open(strides, stream, n, &of_accesses)))
        return;
    for (size_t i = 0; i < count; i++) {
        struct pm_address_walk *walk;
        if (batch[i].kind >= PM_CARRIED_ENTER)
            continue;
        if (!(walk = make_walk(strides, batch[i].reference)))
            break;
        strides->clock++;
        execute(strides, walk, batch[i].address);
    }
    pass(strides, n);
}
