/* Begin and end of an analysis of address records, and the classes of their bases; see
   address_records.h and record_state.h. */
#include "runtime/reuse/address_records/record_state.h"

#include <string.h>

#include "runtime/reuse/address_records/sampled_records.h"
#include "runtime/system.h"

enum { FIRST_SEQUENCES = 4 };

struct pm_record_reuse *pm_record_reuse_new(struct pm_reuse *reuse) {
    struct pm_record_reuse *address_records = pm_mmap(sizeof *address_records);
    if (!address_records)
        return NULL;
    address_records->reuse = reuse;
    address_records->first_direct = PM_FIRST_DIRECT;
    if (reuse->subsamples)
        address_records->sampled =
            pm_mmap(PM_MAX_ADDRESS_RECORDS * sizeof(struct pm_sampled_record *));
    else
        address_records->states =
            pm_mmap(PM_MAX_ADDRESS_RECORDS * sizeof(struct pm_record_state *));
    if (address_records->states || address_records->sampled)
        return address_records;
    pm_record_reuse_free(address_records);
    return NULL;
}

void pm_record_reuse_free(struct pm_record_reuse *address_records) {
    if (!address_records)
        return;
    pm_arena_free(&address_records->arena);
    pm_munmap(address_records->states, PM_MAX_ADDRESS_RECORDS * sizeof(struct pm_record_state *));
    pm_munmap(address_records->sampled,
              PM_MAX_ADDRESS_RECORDS * sizeof(struct pm_sampled_record *));
    pm_munmap(address_records, sizeof *address_records);
}

/* At the beginning of a cache line: a row that crosses lines cannot be forwarded from the store
   that made it to the comparison that follows. */
void *pm_record_take(struct pm_record_reuse *address_records, size_t bytes) {
    enum { LINE = 64 };
    char *memory = pm_arena_take(&address_records->arena, (bytes + LINE - 1 + 7) & ~7ul);
    if (!memory)
        address_records->reuse->failed = true;
    return memory ? (void *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1)) : NULL;
}

void pm_record_reuse_interrupt(struct pm_record_reuse *address_records) {
    address_records->last = NULL;
}

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

static bool make_base(struct pm_record_reuse *address_records,
                      const struct pm_address_record *record, uint32_t number,
                      struct pm_record_base *base) {
    const unsigned shift = address_records->reuse->shift;
    uint32_t bounds[2 * PM_RECORD_ACCESSES], n = 0;
    for (unsigned i = 0; i < record->n_accesses; i++) {
        const struct pm_record_access *access = &record->accesses[i];
        if (access->address != number)
            continue;
        n = add_bound(bounds, n, access->offset, shift);
        n = add_bound(bounds, n, access->offset + pm_record_reference(access)->size_bytes - 1,
                      shift);
    }
    base->n_bounds = n;
    base->bounds = pm_record_take(address_records, (n + 1) * sizeof *bounds);
    if (!base->bounds)
        return false;
    memcpy(base->bounds, bounds, n * sizeof *bounds);
    if (shift > PM_TABLED_SHIFT)
        return true;
    base->class_of = pm_record_take(address_records, 1ul << shift);
    if (!base->class_of)
        return false;
    for (uint32_t offset = 0, class = 0; offset < 1u << shift; offset++) {
        class += class < n && bounds[class] == offset;
        base->class_of[offset] = (uint8_t) class;
    }
    return true;
}

/* A small address record begins access by access: most are executed a few times only, and need no
   sequences then. */
static void make_direct(const struct pm_record_reuse *address_records,
                        struct pm_record_state *state, const struct pm_address_record *record) {
    if (record->n_accesses > PM_DIRECT_ACCESSES)
        return;
    for (unsigned i = 0; i < record->n_accesses; i++) {
        const struct pm_record_access *access = &record->accesses[i];
        const struct pm_probe_reference *reference = pm_record_reference(access);
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
    state->n_accesses = record->n_accesses;
    state->n_direct = address_records->first_direct;
    state->direct_turns = PM_FIRST_DIRECT;
    state->credit = PM_DIRECT_CREDIT;
}

struct pm_record_state *pm_record_state(struct pm_record_reuse *address_records, uint64_t number) {
    if (!pm_record_is_known(number) || !pm_address_records[number].accesses)
        return NULL;
    if (PM_LIKELY(address_records->states[number] != NULL))
        return address_records->states[number];
    const struct pm_address_record *record = &pm_address_records[number];
    struct pm_record_state *state = pm_record_take(address_records, sizeof *state);
    if (!pm_reuse_make_histograms(address_records->reuse, pm_n_groups))
        address_records->reuse->failed = true;
    if (!state || address_records->reuse->failed)
        return NULL;
    state->record = record;
    state->n_words = 1u + record->n_addresses;
    state->words = (1u << state->n_words) - 1;
    make_direct(address_records, state, record);
    state->sequence_mask = FIRST_SEQUENCES - 1;
    state->sequences = pm_record_take(address_records, FIRST_SEQUENCES * sizeof *state->sequences);
    for (uint32_t base = 1; base < state->n_words; base++)
        if (!make_base(address_records, record, base, &state->bases[base]))
            return NULL;
    if (!state->sequences)
        return NULL;
    /* No address is in its interval yet; the header always is. */
    state->low[0] = PM_RECORD_IS_ADDRESSES + number;
    state->length[0] = 1;
    return address_records->states[number] = state;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void flush_address_record(struct pm_record_reuse *address_records,
                                 struct pm_record_state *state) {
    for (uint32_t i = 0; state && i <= state->sequence_mask; i++) {
        struct pm_touch_sequence *sequence = state->sequences[i];
        if (!sequence)
            continue;
        for (uint32_t p = 0; p < sequence->n_transitions; p++)
            pm_record_flush_transition(address_records->reuse, sequence, sequence->transitions[p]);
        pm_record_flush_sequence(address_records->reuse, state->record, sequence);
    }
}

void pm_record_reuse_flush(struct pm_record_reuse *address_records) {
    if (!address_records->dirty)
        return;
    address_records->dirty = false;
    for (uint32_t b = 0; b < pm_n_address_records; b++)
        if (!address_records->sampled)
            flush_address_record(address_records, address_records->states[b]);
        else if (address_records->sampled[b])
            pm_sampled_record_flush(address_records->reuse, address_records->sampled[b]);
}

const uint64_t *pm_record_reuse_walk(struct pm_record_reuse *address_records, const uint64_t *words,
                                     const uint64_t *end) {
    static pm_record_walk *const walks[PM_REUSE_N_VARIANTS][2] = {
        [PM_REUSE_SSE2] = {pm_record_walk_sse2, pm_sampled_walk_sse2},
        [PM_REUSE_AVX2] = {pm_record_walk_avx2, pm_sampled_walk_avx2},
        [PM_REUSE_AVX512] = {pm_record_walk_avx512, pm_sampled_walk_avx512},
    };
    address_records->dirty = true;
    return address_records->reuse->failed
               ? end
               : walks[address_records->reuse->variant][address_records->sampled != NULL](
                     address_records, words, end);
}
