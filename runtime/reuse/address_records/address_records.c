/* Begin and end of an analysis of bundles, and the classes of their bases; see address_records.h
   and record_state.h. */
#include "runtime/reuse/address_records/record_state.h"

#include <string.h>

#include "runtime/reuse/address_records/sampled_records.h"
#include "runtime/system.h"

enum { FIRST_SEQUENCES = 4 };

struct pm_bundle_reuse *pm_bundle_reuse_new(struct pm_reuse *reuse) {
    struct pm_bundle_reuse *bundles = pm_mmap(sizeof *bundles);
    if (!bundles)
        return NULL;
    bundles->reuse = reuse;
    bundles->first_direct = PM_FIRST_DIRECT;
    if (reuse->subsamples)
        bundles->sampled = pm_mmap(PM_MAX_BUNDLES * sizeof(struct pm_sampled_bundle *));
    else
        bundles->states = pm_mmap(PM_MAX_BUNDLES * sizeof(struct pm_bundle_state *));
    if (bundles->states || bundles->sampled)
        return bundles;
    pm_bundle_reuse_free(bundles);
    return NULL;
}

void pm_bundle_reuse_free(struct pm_bundle_reuse *bundles) {
    if (!bundles)
        return;
    pm_arena_free(&bundles->arena);
    pm_munmap(bundles->states, PM_MAX_BUNDLES * sizeof(struct pm_bundle_state *));
    pm_munmap(bundles->sampled, PM_MAX_BUNDLES * sizeof(struct pm_sampled_bundle *));
    pm_munmap(bundles, sizeof *bundles);
}

/* At the beginning of a cache line: a row that crosses lines cannot be forwarded from the store
   that made it to the comparison that follows. */
void *pm_bundle_take(struct pm_bundle_reuse *bundles, size_t bytes) {
    enum { LINE = 64 };
    char *memory = pm_arena_take(&bundles->arena, (bytes + LINE - 1 + 7) & ~7ul);
    if (!memory)
        bundles->reuse->failed = true;
    return memory ? (void *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1)) : NULL;
}

void pm_bundle_reuse_interrupt(struct pm_bundle_reuse *bundles) { bundles->last = NULL; }

/* ---- classes --------------------------------------------------------------------------------- */

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
        n = add_bound(bounds, n, access->offset + pm_bundle_reference(access)->size_bytes - 1,
                      shift);
    }
    base->n_bounds = n;
    base->bounds = pm_bundle_take(bundles, (n + 1) * sizeof *bounds);
    if (!base->bounds)
        return false;
    memcpy(base->bounds, bounds, n * sizeof *bounds);
    if (shift > PM_TABLED_SHIFT)
        return true;
    base->class_of = pm_bundle_take(bundles, 1ul << shift);
    if (!base->class_of)
        return false;
    for (uint32_t offset = 0, class = 0; offset < 1u << shift; offset++) {
        class += class < n && bounds[class] == offset;
        base->class_of[offset] = (uint8_t) class;
    }
    return true;
}

/* A small bundle begins access by access: most are executed a few times only, and need no sequences
   then. */
static void make_direct(const struct pm_bundle_reuse *bundles, struct pm_bundle_state *state,
                        const struct pm_bundle *bundle) {
    if (bundle->n_accesses > PM_DIRECT_ACCESSES)
        return;
    for (unsigned i = 0; i < bundle->n_accesses; i++) {
        const struct pm_bundle_access *access = &bundle->accesses[i];
        const struct pm_probe_reference *reference = pm_bundle_reference(access);
        uint64_t histogram = reference->group * sizeof(struct pm_touch_histogram);
        if (reference->size_bytes - 1 > UINT8_MAX || histogram > UINT32_MAX)
            return;
        state->direct[i] = (struct pm_direct_access){
            .offset = access->offset,
            .histogram = (uint32_t)histogram,
            .word = (uint8_t)access->address,
            .last_byte = (uint8_t)(reference->size_bytes - 1),
            .kind = (uint8_t)(reference->access - 1),
        };
    }
    state->n_accesses = bundle->n_accesses;
    state->n_direct = bundles->first_direct;
    state->direct_turns = PM_FIRST_DIRECT;
    state->credit = PM_DIRECT_CREDIT;
}

struct pm_bundle_state *pm_bundle_state(struct pm_bundle_reuse *bundles, uint64_t number) {
    if (!pm_bundle_is_known(number) || !pm_bundles[number].accesses)
        return NULL;
    if (PM_LIKELY(bundles->states[number] != NULL))
        return bundles->states[number];
    const struct pm_bundle *bundle = &pm_bundles[number];
    struct pm_bundle_state *state = pm_bundle_take(bundles, sizeof *state);
    if (!pm_reuse_make_histograms(bundles->reuse, pm_n_groups))
        bundles->reuse->failed = true;
    if (!state || bundles->reuse->failed)
        return NULL;
    state->bundle = bundle;
    state->n_words = 1u + bundle->n_addresses;
    state->words = (1u << state->n_words) - 1;
    make_direct(bundles, state, bundle);
    state->sequence_mask = FIRST_SEQUENCES - 1;
    state->sequences = pm_bundle_take(bundles, FIRST_SEQUENCES * sizeof *state->sequences);
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

/* ---- the whole ------------------------------------------------------------------------------- */

static void flush_bundle(struct pm_bundle_reuse *bundles, struct pm_bundle_state *state) {
    for (uint32_t i = 0; state && i <= state->sequence_mask; i++) {
        struct pm_touch_sequence *sequence = state->sequences[i];
        if (!sequence)
            continue;
        for (uint32_t p = 0; p < sequence->n_transitions; p++)
            pm_bundle_flush_transition(bundles->reuse, sequence, sequence->transitions[p]);
        pm_bundle_flush_sequence(bundles->reuse, state->bundle, sequence);
    }
}

void pm_bundle_reuse_flush(struct pm_bundle_reuse *bundles) {
    if (!bundles->dirty)
        return;
    bundles->dirty = false;
    for (uint32_t b = 0; b < pm_n_bundles; b++)
        if (!bundles->sampled)
            flush_bundle(bundles, bundles->states[b]);
        else if (bundles->sampled[b])
            pm_sampled_bundle_flush(bundles->reuse, bundles->sampled[b]);
}

const uint64_t *pm_bundle_reuse_walk(struct pm_bundle_reuse *bundles, const uint64_t *words,
                                     const uint64_t *end) {
    static pm_bundle_walk *const walks[PM_REUSE_N_VARIANTS][2] = {
        [PM_REUSE_SSE2] = {pm_bundle_walk_sse2, pm_sampled_walk_sse2},
        [PM_REUSE_AVX2] = {pm_bundle_walk_avx2, pm_sampled_walk_avx2},
        [PM_REUSE_AVX512] = {pm_bundle_walk_avx512, pm_sampled_walk_avx512},
    };
    bundles->dirty = true;
    return bundles->reuse->failed
               ? end
               : walks[bundles->reuse->variant][bundles->sampled != NULL](bundles, words, end);
}
