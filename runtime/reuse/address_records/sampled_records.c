/* What the executions of an address record may touch, as tables; see sampled.h. */
#include "runtime/reuse/address_records/sampled_records.h"

#include <string.h>

/* ---- one base -------------------------------------------------------------------------------- */

/* The places in a block at which an address of WORD can be: first, first + step … last. */
struct places {
    uint64_t first, step, last;
};

static struct places places_of(const struct pm_sampled_record *state, uint32_t word,
                               unsigned shift) {
    uint64_t step = state->align_mask[word] + 1ull, block = 1ull << shift;
    if (step > block)
        step = block;
    uint64_t first = state->align_value[word] & (step - 1);
    return (struct places){first, step, block - step + first};
}

/* Bytes more than whole blocks in an access, but for the first byte. */
static uint32_t rest_of(const struct pm_probe_reference *reference, unsigned shift) {
    return (reference->size_bytes - 1u) & ((1u << shift) - 1);
}

/* Where in its block an address is from which on an access at OFFSET from it has a border in its
   REST of bytes. */
static uint32_t first_straddling(uint64_t offset, uint32_t rest, unsigned shift) {
    return (uint32_t)(-offset - rest) & ((1u << shift) - 1);
}

static bool may_straddle(const struct places *places, uint32_t first, uint32_t rest,
                         unsigned shift) {
    const uint64_t in_block = (1ull << shift) - 1;
    /* The first place at FIRST or behind it. */
    uint64_t behind = (places->first - first) & (places->step - 1) & in_block;
    return behind < rest;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool add_candidate(struct pm_sampled_record *state, uint32_t word, int64_t block,
                          unsigned access) {
    uint32_t i = 0;
    while (i < state->n_candidates &&
           (state->candidate_word[i] != word || state->candidate_block[i] != (uint32_t)block))
        i++;
    if (i == PM_SAMPLED_CANDIDATES)
        return false;
    if (i == state->n_candidates) {
        state->candidate_word[i] = word;
        state->candidate_block[i] = (uint32_t)block;
        state->candidate_accesses[i] = 0;
        state->n_candidates++;
    }
    state->candidate_accesses[i] |= 1ull << access;
    return true;
}

static void add_straddle(struct pm_sampled_record *state, uint32_t word, uint32_t first,
                         uint32_t length, unsigned access) {
    uint32_t i = 0;
    while (i < state->n_straddles &&
           (state->straddle_word[i] != word || state->straddle_first[i] != first ||
            state->straddle_length[i] != length))
        i++;
    if (i == state->n_straddles) {
        state->straddle_word[i] = word;
        state->straddle_first[i] = first;
        state->straddle_length[i] = length;
        state->straddle_accesses[i] = 0;
        state->n_straddles++;
    }
    state->straddle_accesses[i] |= 1ull << access;
}

/* False: too many candidates. */
static bool add_access(struct pm_sampled_record *state, unsigned number, unsigned shift) {
    const struct pm_record_access *access = &state->record->accesses[number];
    const struct pm_probe_reference *reference = pm_record_reference(access);
    struct places places = places_of(state, access->address, shift);
    uint32_t rest = rest_of(reference, shift);
    uint32_t first = first_straddling(access->offset, rest, shift);
    if (rest && may_straddle(&places, first, rest, shift))
        add_straddle(state, access->address, first, rest, number);
    int64_t low = (int64_t)(access->offset + places.first) >> shift;
    int64_t high = (int64_t)(access->offset + places.last + reference->size_bytes - 1) >> shift;
    for (int64_t block = low; block <= high; block++)
        if (!add_candidate(state, access->address, block, number))
            return false;
    return true;
}

static bool touches_sampled(const struct pm_reuse *reuse, uint64_t address, uint32_t size_bytes) {
    uint64_t last = (address + size_bytes - 1) >> reuse->shift;
    for (uint64_t block = address >> reuse->shift; block <= last; block++)
        if (pm_is_sampled(reuse, block))
            return true;
    return false;
}

/* Whole vectors: what is added says the same again, and counts nothing. */
static void fill_up(struct pm_sampled_record *state) {
    for (; state->n_candidates % PM_SAMPLED_LANES; state->n_candidates++) {
        state->candidate_word[state->n_candidates] = state->candidate_word[0];
        state->candidate_block[state->n_candidates] = state->candidate_block[0];
        state->candidate_accesses[state->n_candidates] = state->candidate_accesses[0];
    }
    for (; state->n_straddles % PM_SAMPLED_LANES; state->n_straddles++) {
        state->straddle_word[state->n_straddles] = 0;
        state->straddle_length[state->n_straddles] = 0;
        state->straddle_accesses[state->n_straddles] = 0;
    }
}

static void make_tables(const struct pm_reuse *reuse, struct pm_sampled_record *state) {
    const struct pm_address_record *record = state->record;
    bool few = true;
    state->n_candidates = state->n_straddles = 0;
    state->always = 0;
    for (unsigned i = 0; i < record->n_accesses; i++) {
        const struct pm_record_access *access = &record->accesses[i];
        if (access->address)
            few &= add_access(state, i, reuse->shift);
        else if (touches_sampled(reuse, access->offset, pm_record_reference(access)->size_bytes))
            state->always |= 1ull << i;
    }
    if (!few) {
        state->n_candidates = 0;
        state->always = ~0ull >> (64 - record->n_accesses);
    }
    fill_up(state);
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The bits of an address that are of use: those below the size of the largest access. */
static uint64_t widest_mask(const struct pm_sampled_record *state, uint32_t word) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < state->record->n_accesses; i++) {
        const struct pm_record_access *access = &state->record->accesses[i];
        uint32_t size = pm_record_reference(access)->size_bytes;
        while (access->address == word && mask + 1 < size && mask < PM_LARGEST_ALIGNMENT - 1)
            mask = 2 * mask + 1;
    }
    return mask;
}

struct pm_sampled_record *pm_sampled_record(struct pm_record_reuse *address_records,
                                            const uint64_t *words) {
    uint64_t number = *words ^ PM_RECORD_IS_ADDRESSES;
    if (!pm_record_is_known(number) || !pm_address_records[number].accesses)
        return NULL;
    struct pm_sampled_record *state = pm_record_take(address_records, sizeof *state);
    if (!pm_reuse_make_histograms(address_records->reuse, pm_n_groups))
        address_records->reuse->failed = true;
    if (!state || address_records->reuse->failed)
        return NULL;
    state->record = &pm_address_records[number];
    state->n_words = 1u + state->record->n_addresses;
    for (uint32_t word = 1; word < state->n_words; word++) {
        state->align_mask[word] = widest_mask(state, word);
        state->align_value[word] = words[word] & state->align_mask[word];
    }
    make_tables(address_records->reuse, state);
    return address_records->sampled[number] = state;
}

void pm_sampled_record_align(struct pm_reuse *reuse, struct pm_sampled_record *state,
                             const uint64_t *words) {
    pm_sampled_record_flush(reuse, state);
    for (uint32_t word = 1; word < state->n_words; word++) {
        while ((words[word] ^ state->align_value[word]) & state->align_mask[word])
            state->align_mask[word] /= 2;
        state->align_value[word] &= state->align_mask[word];
    }
    make_tables(reuse, state);
}

void pm_sampled_record_flush(struct pm_reuse *reuse, struct pm_sampled_record *state) {
    for (unsigned i = 0; i < state->record->n_accesses; i++) {
        const struct pm_record_access *access = &state->record->accesses[i];
        const struct pm_probe_reference *reference = pm_record_reference(access);
        uint64_t place = access->address ? 0 : access->offset & ((1ull << reuse->shift) - 1);
        uint64_t last = place + (access->address ? (reference->size_bytes - 1u) &
                                                       ~rest_of(reference, reuse->shift)
                                                 : reference->size_bytes - 1u);
        uint64_t touches = state->n_executions * ((last >> reuse->shift) + 1);
        for (uint32_t s = 0; s < state->n_straddles; s++)
            if (state->straddle_accesses[s] >> i & 1)
                touches += state->straddle_count[s];
        reuse->histograms[reference->group].touches[reference->access - 1] += touches;
    }
    state->n_executions = 0;
    memset(state->straddle_count, 0, sizeof state->straddle_count);
}
