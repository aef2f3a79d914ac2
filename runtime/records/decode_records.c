/* Decodes memory records (core/probe_abi.h) into accesses and hands them over in batches. */
#include "runtime/records/records.h"

#include <string.h>

#include "runtime/analyser/analyser.h"
#include "runtime/events/events.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/reuse/carried_reuse/carried_reuse.h"
#include "runtime/system.h"

/* No program touches more than this in one string operation; a larger count is a faulting one. */
#define LARGEST_STRING_BYTES (1ull << 40)
#define LARGEST_ACCESS_BYTES (1u << 30)

/* While measuring is off accesses are counted and forgotten; events are followed all the same. */
static void skip_accesses(struct pm_decoder *decoder) {
    struct pm_skipped *skipped = &decoder->thread->skipped;
    size_t n = 0;
    for (size_t i = 0; i < decoder->n_batch; i++)
        if (decoder->batch[i].kind >= PM_CARRIED_ENTER) {
            decoder->batch[n++] = decoder->batch[i];
        } else {
            skipped->loads += decoder->batch[i].kind & 1;
            skipped->stores += decoder->batch[i].kind >> 1;
        }
    decoder->n_batch = n;
}

static void flush(struct pm_decoder *decoder) {
    if (decoder->thread->stopped)
        skip_accesses(decoder);
    if (decoder->n_batch && pm_process_handler && pm_process_handler->accesses)
        pm_process_handler->accesses(decoder->stream, decoder->batch, decoder->n_batch);
    decoder->n_batch = 0;
}

void pm_decode_flush(struct pm_thread *thread) { flush(&thread->decoder); }

void pm_decode_add_event(struct pm_thread *thread, uint32_t event, uint32_t scope) {
    struct pm_decoder *decoder = &thread->decoder;
    if (decoder->n_batch == 0 && pm_analyser_event(thread->number, event, scope))
        return;
    if (decoder->n_batch == PM_BATCH)
        flush(decoder);
    decoder->batch[decoder->n_batch++] = (struct pmodel_access){.kind = event, .group = scope};
}

static void add_access(struct pm_decoder *decoder, const struct pm_memory_record *record,
                       const struct pm_probe_reference *reference, uint64_t address,
                       uint32_t size_bytes) {
    if (decoder->n_batch == PM_BATCH)
        flush(decoder);
    decoder->batch[decoder->n_batch++] = (struct pmodel_access){
        .address = address,
        .size_bytes = size_bytes,
        .reference = (uint32_t)record->reference,
        .group = reference->group,
        .kind = reference->access,
    };
}

/* ---- streams: string operations and called routines ------------------------------------------ */

/* Bytes one after the other, upwards or downwards, of the reference NUMBER. */
struct stream {
    uint64_t number, start; /* the lowest address; of one that goes down, the end */
    uint64_t n_bytes, done;
    bool down;
};

/* Bytes up to the next multiple of 64. */
static uint64_t next_chunk(const struct stream *stream) {
    enum { CHUNK_BYTES = 64 };
    uint64_t left = stream->n_bytes - stream->done, chunk = CHUNK_BYTES;
    if (stream->down)
        chunk -= -(stream->start - stream->done) % CHUNK_BYTES;
    else
        chunk -= (stream->start + stream->done) % CHUNK_BYTES;
    return chunk < left ? chunk : left;
}

static void add_chunk(struct pm_decoder *decoder, struct stream *stream) {
    uint64_t chunk = next_chunk(stream);
    const struct pm_memory_record record = {.reference = stream->number};
    add_access(decoder, &record, &pm_references[stream->number],
               stream->down ? stream->start - stream->done - chunk : stream->start + stream->done,
               (uint32_t)chunk);
    stream->done += chunk;
}

/* Piece by chunk.  The first goes ahead: a chunk of the second (NULL: there is none) comes when all
   bytes of the first that it stands for have come. */
static void interleave(struct pm_decoder *decoder, struct stream *first, struct stream *second) {
    while (first->done < first->n_bytes) {
        add_chunk(decoder, first);
        while (second && second->done < first->done &&
               second->done + next_chunk(second) <= first->done)
            add_chunk(decoder, second);
    }
}

static void decode_called(struct pm_decoder *decoder, const struct pm_memory_record *record,
                          const uint64_t *payload) {
    struct stream first = {record->reference, record->address, payload[0], 0, false};
    struct stream second = {payload[2], payload[1], payload[0], 0, false};
    bool has_second = second.number != PM_PROBE_NONE;
    if (first.n_bytes > LARGEST_STRING_BYTES)
        return; /* it faulted */
    if (has_second && (!pm_reference_is_known(second.number) ||
                       pm_references[second.number].kind != PM_ACCESS_CALLED)) {
        pm_note_add(PM_NOTE_UNUSABLE_REFERENCE, 1);
        return;
    }
    interleave(decoder, &first, has_second ? &second : NULL);
}

static struct stream stream_of_string(const struct pm_memory_record *record) {
    enum { DIRECTION_FLAG = 1 << 10 };
    const uint64_t *payload = (const uint64_t *)(record + 1);
    uint64_t size = pm_references[record->reference].size_bytes, count = payload[0];
    if (count > LARGEST_STRING_BYTES / size)
        count = LARGEST_STRING_BYTES / size;
    bool down = (payload[1] & DIRECTION_FLAG) != 0;
    return (struct stream){record->reference, record->address + (down ? size : 0), count * size, 0,
                           down};
}

static void decode_string(struct pm_decoder *decoder, const struct pm_memory_record *record,
                          const struct pm_probe_reference *reference) {
    struct stream stream = stream_of_string(record);
    if (stream.down) {
        interleave(decoder, &stream, NULL);
        return;
    }
    for (uint64_t chunk; stream.done < stream.n_bytes; stream.done += chunk) {
        chunk = stream.n_bytes - stream.done;
        chunk = chunk < LARGEST_ACCESS_BYTES ? chunk : LARGEST_ACCESS_BYTES;
        add_access(decoder, record, reference, stream.start + stream.done, (uint32_t)chunk);
    }
}

/* A string operation with two operands: the record of the other one follows. */
static bool decode_two_strings(struct pm_decoder *decoder, const struct pm_memory_record *record,
                               uint64_t n_words, uint64_t n_left) {
    const struct pm_memory_record *other = (const void *)((const uint64_t *)record + n_words);
    if (n_left < 2 * n_words || other->reference != record->reference + 1 ||
        !pm_reference_is_known(other->reference) ||
        pm_references[other->reference].kind != PM_ACCESS_STRING)
        return false;
    struct stream first = stream_of_string(record), second = stream_of_string(other);
    interleave(decoder, &first, &second);
    return true;
}

/* ---- kinds with payload ---------------------------------------------------------------------- */

/* Runs of neighbouring elements are one access each. */
static void decode_masked(struct pm_decoder *decoder, const struct pm_memory_record *record,
                          const struct pm_probe_reference *reference, uint64_t mask) {
    while (mask) {
        unsigned first = (unsigned)__builtin_ctzll(mask);
        uint64_t inverse = ~(mask >> first);
        unsigned length = inverse ? (unsigned)__builtin_ctzll(inverse) : 64;
        add_access(decoder, record, reference,
                   record->address + (uint64_t)first * reference->size_bytes,
                   length * reference->size_bytes);
        if (first + length >= 64)
            return;
        mask &= ~0ull << (first + length);
    }
}

static void decode_gather(struct pm_decoder *decoder, const struct pm_memory_record *record,
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
        add_access(decoder, record, reference, record->address + (uint64_t)index * reference->scale,
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

static void decode_bit(struct pm_decoder *decoder, const struct pm_memory_record *record,
                       const struct pm_probe_reference *reference, uint64_t number) {
    unsigned bits = 8 * reference->size_bytes;
    if (bits < 16 || bits > 64 || bits & (bits - 1))
        return;
    int64_t element = (int64_t)(number << (64 - bits)) >> (64 - bits);
    element >>= __builtin_ctz(bits);
    add_access(decoder, record, reference,
               record->address + (uint64_t)element * reference->size_bytes, reference->size_bytes);
}

static void decode_payload(struct pm_decoder *decoder, const struct pm_memory_record *record,
                           const struct pm_probe_reference *reference) {
    const uint64_t *words = (const uint64_t *)(record + 1);
    const unsigned char *bytes = (const unsigned char *)words;
    unsigned elements = reference->elements;
    uint64_t mask;
    switch (reference->kind) {
    case PM_ACCESS_STRING:
        decode_string(decoder, record, reference);
        return;
    case PM_ACCESS_MASK_K:
        decode_masked(decoder, record, reference, first_elements(words[0], elements));
        return;
    case PM_ACCESS_PACKED_K:
        mask = first_elements(words[0], elements);
        if (mask)
            add_access(decoder, record, reference, record->address,
                       (uint32_t)__builtin_popcountll(mask) * reference->size_bytes);
        return;
    case PM_ACCESS_MASK_V:
        mask = sign_bits(bytes, elements, reference->size_bytes);
        decode_masked(decoder, record, reference, mask);
        return;
    case PM_ACCESS_GATHER_K:
        mask = first_elements(words[0], elements);
        decode_gather(decoder, record, reference, mask, bytes + 16);
        return;
    case PM_ACCESS_GATHER_V:
        mask = sign_bits(bytes, elements, reference->size_bytes);
        decode_gather(decoder, record, reference, mask, bytes + 32);
        return;
    case PM_ACCESS_BIT:
        decode_bit(decoder, record, reference, words[0]);
        return;
    case PM_ACCESS_CALLED:
        decode_called(decoder, record, words);
        return;
    default:
        pm_note_add(PM_NOTE_UNUSABLE_REFERENCE, 1);
    }
}

/* ---- address records ------------------------------------------------------------------------- */

static bool is_address_record(uint64_t header) {
    return (header & (PM_RECORD_IS_ADDRESSES | PM_RECORD_IS_EVENT)) == PM_RECORD_IS_ADDRESSES;
}

/* Of a record with the first word HEADER: what it is of may have been loaded by dlopen since. */
static const struct pm_address_record *find_address_record(uint64_t header) {
    uint64_t number = header ^ PM_RECORD_IS_ADDRESSES;
    if (!pm_record_is_known(number))
        pm_modules_scan();
    return pm_record_is_known(number) ? &pm_address_records[number] : NULL;
}

static void expand_address_record(struct pm_decoder *decoder,
                                  const struct pm_address_record *address_record,
                                  const uint64_t *words) {
    if (!address_record->accesses) {
        pm_note_add(PM_NOTE_UNUSABLE_REFERENCE, 1);
        return;
    }
    if (decoder->n_batch > PM_BATCH - PM_RECORD_ACCESSES)
        flush(decoder);
    struct pmodel_access *into = decoder->batch + decoder->n_batch;
    for (unsigned i = 0; i < address_record->n_accesses; i++) {
        const struct pm_record_access *access = &address_record->accesses[i];
        const struct pm_probe_reference *reference = &pm_references[access->reference];
        into[i] = (struct pmodel_access){
            .address = access->offset + (access->address ? words[access->address] : 0),
            .size_bytes = reference->size_bytes,
            .reference = access->reference,
            .group = reference->group,
            .kind = reference->access,
        };
    }
    decoder->n_batch += address_record->n_accesses;
}

/* ---- a buffer -------------------------------------------------------------------------------- */

/* The record at WORDS; how many words it has, 0 if nobody knows. */
static uint64_t decode_record(struct pm_decoder *decoder, struct pm_control_block *block,
                              const uint64_t *words, const uint64_t *end) {
    const struct pm_memory_record *record = (const void *)words;
    if (*words & PM_RECORD_IS_EVENT) {
        if (!pm_analyser_carries)
            flush(decoder);
        pm_deliver_event(block, *words, words[1]);
        return 2;
    }
    if (is_address_record(*words)) {
        const struct pm_address_record *address_record = find_address_record(*words);
        if (!address_record)
            return 0;
        if (decoder->thread->stopped) {
            decoder->thread->skipped.loads += address_record->n_loads;
            decoder->thread->skipped.stores += address_record->n_stores;
        } else {
            expand_address_record(decoder, address_record, words);
        }
        return 1ul + address_record->n_addresses;
    }
    if (!pm_reference_is_known(*words))
        pm_modules_scan();
    if (!pm_reference_is_known(*words))
        return 0;
    const struct pm_probe_reference *reference = &pm_references[*words];
    uint64_t n_words = 2 + 2ul * reference->payload_slots;
    if (reference->kind == PM_ACCESS_STRING && reference->takes_turns &&
        decode_two_strings(decoder, record, n_words, (uint64_t)(end - words)))
        return 2 * n_words;
    if (reference->kind == PM_ACCESS_PLAIN)
        add_access(decoder, record, reference, record->address, reference->size_bytes);
    else if (n_words <= (uint64_t)(end - words))
        decode_payload(decoder, record, reference);
    return n_words;
}

/* The record of an iteration of the innermost scope that is open, if that is a loop: with a stack
   pointer up to the loop's own it closes nothing (events/open_scopes.h). */
static struct pm_carried_iteration next_iteration(const struct pm_control_block *block) {
    const struct pm_open_scopes *open = block->open_scopes;
    if (!pm_analyser_carries || !open || open->n == 0)
        return (struct pm_carried_iteration){.record = PM_CARRIED_NO_RECORD};
    const struct pm_open_scope *top = &open->items[open->n - 1];
    return (struct pm_carried_iteration){.record = PM_RECORD_IS_EVENT | PM_EVENT_ITERATION |
                                                   (uint64_t)top->scope << 2,
                                         .stack = top->stack,
                                         .scope = top->scope};
}

void pm_decode_records(struct pm_decoder *decoder, struct pm_control_block *block, uint64_t from,
                       uint64_t to) {
    const uint64_t *words = (const uint64_t *)from, *end = (const uint64_t *)to;
    while (words < end) {
        if (is_address_record(*words) && pm_analyser_takes_records() && !decoder->thread->stopped) {
            const uint64_t *first = words;
            flush(decoder);
            const struct pm_carried_iteration iteration = next_iteration(block);
            words = pm_analyser_records(decoder->stream, words, end, &iteration);
            if (words != first)
                continue;
        }
        uint64_t n_words = decode_record(decoder, block, words, end);
        if (n_words == 0) {
            pm_note_add(PM_NOTE_UNKNOWN_RECORDS, 1);
            break;
        }
        words += n_words;
    }
    flush(decoder);
}
