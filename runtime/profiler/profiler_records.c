/* The states of address records and basic blocks, made where they are first executed; see
   profiler_state.h. */
#include <string.h>

#include "runtime/profiler/profiler_state.h"

/* ---- basic blocks ---------------------------------------------------------------------------- */

static void *take(struct pm_profiler *profile, size_t bytes) {
    enum { LINE = 64 };
    char *memory = pm_arena_take(&profile->arena, (bytes + LINE - 1 + 7) & ~7ul);
    if (!memory)
        profile->failed = true;
    return memory ? (void *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1)) : NULL;
}

/* A module that does not say which references share a basic block has one for each. */
static uint32_t first_of_block(uint32_t reference) {
    return pm_reference_blocks ? pm_reference_blocks[reference] : reference;
}

struct pm_profiler_block *pm_profiler_block(struct pm_profiler *profile, uint32_t reference) {
    const uint32_t first = first_of_block(reference);
    const size_t history = pm_profiler_settings.window + PM_HISTORY_ROOM;
    struct pm_profiler_block *block = profile->blocks[first];
    if (PM_LIKELY(block != NULL))
        return block;
    block = take(profile, sizeof *block);
    if (!block)
        return NULL;
    block->served = take(profile, (pm_profiler_settings.n_served + 1ul) * sizeof *block->served);
    block->history = take(profile, history * sizeof *block->history);
    if (!block->served || !block->history)
        return NULL;
    block->first_reference = first;
    while (pm_reference_is_known(first + block->n_references) &&
           first_of_block(first + block->n_references) == first)
        block->n_references++;
    pm_profiler_begin_history(block);
    block->next = profile->first;
    profile->first = block;
    return profile->blocks[first] = block;
}

/* ---- address records ------------------------------------------------------------------------- */

static void add_accesses(struct pm_profiler_record *state, const struct pm_address_record *record,
                         uint64_t header) {
    for (unsigned i = 0; i < record->n_accesses; i++) {
        const struct pm_record_access *access = &record->accesses[i];
        const struct pm_probe_reference *reference = &pm_references[access->reference];
        state->accesses[i] =
            (struct pm_profiler_access){.offset = access->offset - (access->address ? 0 : header),
                                        .size_bytes = reference->size_bytes,
                                        .word = (uint8_t)access->address,
                                        .is_store = reference->access & PM_ACCESS_STORE};
        state->has_stores |= (reference->access & PM_ACCESS_STORE) != 0;
        state->bytes += reference->size_bytes;
    }
    state->n_accesses = record->n_accesses;
}

/* Bytes from OFFSET on, of which those that fit go to a span of the same word. */
static void add_span(struct pm_profiler_record *state, uint32_t word, uint64_t offset,
                     uint64_t size) {
    const uint64_t most = 1ull << pm_profiler_settings.least_line_shift;
    for (uint32_t i = 0; i < state->n_spans; i++) {
        struct pm_profiler_span *span = &state->spans[i];
        const int64_t before = (int64_t)(offset - span->offset);
        if (span->word != word)
            continue;
        if (before >= 0 && (uint64_t)before + size <= most) {
            if ((uint64_t)before + size > span->last_byte + 1ull)
                span->last_byte = (uint32_t)((uint64_t)before + size - 1);
            return;
        }
        if (before < 0 && -(uint64_t)before + span->last_byte < most &&
            size <= -(uint64_t)before + span->last_byte + 1) {
            span->last_byte += (uint32_t) - (uint64_t)before;
            span->offset = offset;
            return;
        }
    }
    state->spans[state->n_spans++] = (struct pm_profiler_span){offset, (uint32_t)size - 1, word};
}

/* Accesses that are larger than a span are several. */
static bool add_spans(struct pm_profiler *profile, struct pm_profiler_record *state) {
    const uint64_t most = 1ull << pm_profiler_settings.least_line_shift;
    size_t n = 0;
    for (uint32_t i = 0; i < state->n_accesses; i++)
        n += (state->accesses[i].size_bytes + most - 1) / most;
    state->spans = take(profile, n * sizeof *state->spans);
    if (!state->spans)
        return false;
    for (uint32_t i = 0; i < state->n_accesses; i++) {
        const struct pm_profiler_access *access = &state->accesses[i];
        for (uint64_t done = 0; done < access->size_bytes; done += most) {
            const uint64_t left = access->size_bytes - done;
            add_span(state, access->word, access->offset + done, left < most ? left : most);
        }
    }
    return true;
}

struct pm_profiler_record *pm_profiler_record(struct pm_profiler *profile, uint64_t number) {
    if (!pm_record_is_known(number) || !pm_address_records[number].accesses)
        return NULL;
    if (PM_LIKELY(profile->address_records[number] != NULL))
        return profile->address_records[number];
    const struct pm_address_record *record = &pm_address_records[number];
    struct pm_profiler_record *state =
        take(profile, sizeof *state + record->n_accesses * sizeof *state->accesses);
    struct pm_profiler_block *block =
        state ? pm_profiler_block(profile, record->accesses[0].reference) : NULL;
    if (!block)
        return NULL;
    const uint64_t header = PM_RECORD_IS_ADDRESSES + number;
    state->block = block;
    state->n_words = 1u + record->n_addresses;
    state->words_mask = (1u << state->n_words) - 1;
    state->previous[0] = header;
    add_accesses(state, record, header);
    if (state->n_accesses == block->n_references)
        state->lag = (pm_profiler_settings.window + state->n_accesses - 1) / state->n_accesses;
    if (!add_spans(profile, state))
        return NULL;
    return profile->address_records[number] = state;
}
