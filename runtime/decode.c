/* Decodes memory records (core/probe_abi.h) into accesses and hands them over in batches. */
#include "runtime/decode.h"

#include <string.h>

#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/system.h"
#include "runtime/tell.h"

/* No program touches more than this in one string operation; a larger count is a faulting one. */
#define LARGEST_STRING_BYTES (1ull << 40)
#define LARGEST_ACCESS_BYTES (1u << 30)

static void flush(struct pm_thread *thread) {
    if (thread->n_batch && !thread->stopped && pm_process_handler && pm_process_handler->accesses)
        pm_process_handler->accesses(thread->number, thread->batch, thread->n_batch);
    thread->n_batch = 0;
}

static void add_access(struct pm_thread *thread, const struct pm_memory_record *record,
                       const struct pm_probe_reference *reference, uint64_t address,
                       uint32_t size_bytes) {
    thread->batch[thread->n_batch++] = (struct pmodel_access){
        .address = address,
        .size_bytes = size_bytes,
        .reference = (uint32_t)record->reference,
        .group = reference->group,
        .kind = reference->access,
    };
    if (thread->n_batch == PM_BATCH)
        flush(thread);
}

static bool is_known(uint64_t reference) {
    return reference < pm_n_references && pm_references[reference].reserved == PM_REFERENCE_KNOWN;
}

/* ---- kinds with payload ---------------------------------------------------------------------- */

static void decode_string(struct pm_thread *thread, const struct pm_memory_record *record,
                          const struct pm_probe_reference *reference, const uint64_t *payload) {
    enum { DIRECTION_FLAG = 1 << 10 };
    uint64_t count = payload[0];
    if (count == 0)
        return;
    if (reference->may_stop_early) {
        pm_note(PM_NOTE_MAY_STOP_EARLY, 1);
        count = 1;
    }
    if (count > LARGEST_STRING_BYTES / reference->size_bytes)
        count = LARGEST_STRING_BYTES / reference->size_bytes;
    uint64_t address = record->address;
    if (payload[1] & DIRECTION_FLAG)
        address -= (count - 1) * reference->size_bytes;
    for (uint64_t bytes = count * reference->size_bytes; bytes;) {
        uint32_t piece = bytes < LARGEST_ACCESS_BYTES ? (uint32_t)bytes : LARGEST_ACCESS_BYTES;
        add_access(thread, record, reference, address, piece);
        address += piece;
        bytes -= piece;
    }
}

/* Runs of neighbouring elements are one access each. */
static void decode_masked(struct pm_thread *thread, const struct pm_memory_record *record,
                          const struct pm_probe_reference *reference, uint64_t mask) {
    while (mask) {
        unsigned first = (unsigned)__builtin_ctzll(mask);
        uint64_t inverse = ~(mask >> first);
        unsigned length = inverse ? (unsigned)__builtin_ctzll(inverse) : 64;
        add_access(thread, record, reference,
                   record->address + (uint64_t)first * reference->size_bytes,
                   length * reference->size_bytes);
        if (first + length >= 64)
            return;
        mask &= ~0ull << (first + length);
    }
}

static void decode_gather(struct pm_thread *thread, const struct pm_memory_record *record,
                          const struct pm_probe_reference *reference, uint64_t mask,
                          const unsigned char *indices) {
    for (; mask; mask &= mask - 1) {
        unsigned element = (unsigned)__builtin_ctzll(mask);
        int64_t index;
        if (reference->index_bytes == 8) {
            memcpy(&index, indices + 8 * element, 8);
        } else {
            int32_t narrow;
            memcpy(&narrow, indices + 4 * element, 4);
            index = narrow;
        }
        add_access(thread, record, reference, record->address + (uint64_t)index * reference->scale,
                   reference->size_bytes);
    }
}

static uint64_t first_elements(uint64_t mask, unsigned elements) {
    return elements < 64 ? mask & ((1ull << elements) - 1) : mask;
}

/* One bit for each element: the sign of its lane of WIDTH bytes. */
static uint64_t sign_bits(const unsigned char *lanes, unsigned elements, unsigned width) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < elements; i++)
        mask |= (uint64_t)(lanes[(i + 1) * width - 1] >> 7) << i;
    return mask;
}

/* The bytes of ADDRESS … up to the next multiple of 64, of the reference NUMBER. */
static uint64_t add_piece(struct pm_thread *thread, uint64_t number, uint64_t address,
                          uint64_t n_bytes) {
    enum { PIECE_BYTES = 64 };
    uint64_t piece = PIECE_BYTES - address % PIECE_BYTES;
    const struct pm_memory_record record = {.reference = number};
    if (piece > n_bytes)
        piece = n_bytes;
    add_access(thread, &record, &pm_references[number], address, (uint32_t)piece);
    return piece;
}

static bool is_called(uint64_t number) {
    return is_known(number) && pm_references[number].kind == PM_PROBE_CALLED;
}

/* Upwards in pieces that end at multiples of 64.  Of two streams the first goes ahead: a piece of
   the second comes when all bytes of the first that it stands for have come. */
static void decode_called(struct pm_thread *thread, const struct pm_memory_record *record,
                          const uint64_t *payload) {
    uint64_t n_bytes = payload[0], second = payload[1], number = payload[2];
    uint64_t done = 0, done_second = 0;
    bool has_second = number != PM_PROBE_NONE;
    if (n_bytes > LARGEST_STRING_BYTES)
        return; /* it faulted */
    if (has_second && !is_called(number)) {
        pm_note(PM_NOTE_UNUSABLE_REFERENCE, 1);
        return;
    }
    while (done < n_bytes) {
        done += add_piece(thread, record->reference, record->address + done, n_bytes - done);
        while (has_second && done_second < done) {
            uint64_t piece_end = ((second + done_second) | 63) + 1 - second;
            if (piece_end > done && done < n_bytes)
                break;
            done_second += add_piece(thread, number, second + done_second, n_bytes - done_second);
        }
    }
}

static void decode_payload(struct pm_thread *thread, const struct pm_memory_record *record,
                           const struct pm_probe_reference *reference) {
    const uint64_t *words = (const uint64_t *)(record + 1);
    const unsigned char *bytes = (const unsigned char *)words;
    unsigned elements = reference->elements;
    uint64_t mask;
    switch (reference->kind) {
    case PM_PROBE_STRING:
        decode_string(thread, record, reference, words);
        return;
    case PM_PROBE_MASK_K:
        decode_masked(thread, record, reference, first_elements(words[0], elements));
        return;
    case PM_PROBE_PACKED_K:
        mask = first_elements(words[0], elements);
        if (mask)
            add_access(thread, record, reference, record->address,
                       (uint32_t)__builtin_popcountll(mask) * reference->size_bytes);
        return;
    case PM_PROBE_MASK_V:
        mask = sign_bits(bytes, elements, reference->size_bytes);
        decode_masked(thread, record, reference, mask);
        return;
    case PM_PROBE_GATHER_K:
        mask = first_elements(words[0], elements);
        decode_gather(thread, record, reference, mask, bytes + 16);
        return;
    case PM_PROBE_GATHER_V:
        mask = sign_bits(bytes, elements, reference->size_bytes);
        decode_gather(thread, record, reference, mask, bytes + 32);
        return;
    case PM_PROBE_CALLED:
        decode_called(thread, record, words);
        return;
    default:
        pm_note(PM_NOTE_UNUSABLE_REFERENCE, 1);
    }
}

/* ---- a buffer -------------------------------------------------------------------------------- */

/* Of a record with the first word HEADER: what it is of may have been loaded by dlopen since. */
static const struct pm_bundle *find_bundle(uint64_t header) {
    uint64_t number = header ^ PM_RECORD_IS_BUNDLE;
    if (number >= pm_n_bundles || !pm_bundles[number].n_accesses)
        pm_modules_scan();
    return number < pm_n_bundles && pm_bundles[number].n_accesses ? &pm_bundles[number] : NULL;
}

/* ---- plain references ------------------------------------------------------------------------ */

static void expand_bundle(struct pm_thread *thread, const struct pm_bundle *bundle,
                          const uint64_t *words) {
    if (!bundle->accesses) {
        pm_note(PM_NOTE_UNUSABLE_REFERENCE, 1);
        return;
    }
    if (thread->n_batch > PM_BATCH - PM_BUNDLE_ACCESSES)
        flush(thread);
    struct pmodel_access *into = thread->batch + thread->n_batch;
    for (unsigned i = 0; i < bundle->n_accesses; i++) {
        const struct pm_bundle_access *access = &bundle->accesses[i];
        const struct pm_probe_reference *reference = &pm_references[access->reference];
        into[i] = (struct pmodel_access){
            .address = access->offset + (access->address ? words[access->address] : 0),
            .size_bytes = reference->size_bytes,
            .reference = access->reference,
            .group = reference->group,
            .kind = reference->access,
        };
    }
    thread->n_batch += bundle->n_accesses;
}

/* ---- a buffer -------------------------------------------------------------------------------- */

/* The record at WORDS; how many words it has, 0 if nobody knows. */
static uint64_t decode_record(struct pm_control_block *block, const uint64_t *words,
                              const uint64_t *end) {
    struct pm_thread *thread = block->thread;
    const struct pm_memory_record *record = (const void *)words;
    if (*words & PM_RECORD_IS_EVENT) {
        flush(thread);
        pm_tell_event(block, *words, words[1]);
        return 2;
    }
    if (*words & PM_RECORD_IS_BUNDLE) {
        const struct pm_bundle *bundle = find_bundle(*words);
        if (!bundle)
            return 0;
        expand_bundle(thread, bundle, words);
        return 1ul + bundle->n_addresses;
    }
    if (!is_known(*words))
        pm_modules_scan();
    if (!is_known(*words))
        return 0;
    const struct pm_probe_reference *reference = &pm_references[*words];
    uint64_t n_words = 2 + 2ul * reference->payload_slots;
    if (reference->kind == PM_PROBE_PLAIN)
        add_access(thread, record, reference, record->address, reference->size_bytes);
    else if (n_words <= (uint64_t)(end - words))
        decode_payload(thread, record, reference);
    return n_words;
}

void pm_decode_records(struct pm_control_block *block, uint64_t from, uint64_t to) {
    const uint64_t *words = (const uint64_t *)from, *end = (const uint64_t *)to;
    while (words < end) {
        uint64_t n_words = decode_record(block, words, end);
        if (n_words == 0) {
            pm_note(PM_NOTE_UNKNOWN_RECORDS, 1);
            break;
        }
        words += n_words;
    }
    flush(block->thread);
}
