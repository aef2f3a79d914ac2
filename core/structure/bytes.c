/* The structure as bytes and back; see structure.h.  One description of the fields serves both
   directions, so that they cannot differ: every `code_…` function either appends its value to the
   buffer or reads it from there.

   Layout: struct bytes_header, then a zstd frame.  Inside it numbers are ULEB128 (an index is
   stored plus one, so that PM_NONE is 0), doubles are 8 bytes, a string is its length plus one (0:
   NULL) and its bytes, an array is its length and its elements. */
#include "core/structure/private.h"
#include "core/base/base.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#define STRUCTURE_MAGIC 0x53444d50u /* "PMDS" */
enum { COMPRESSION_LEVEL = 3 };
enum {
    VERSION_WITH_CODE_HASH = 5,
    VERSION_WITH_CALLS = 6,
    VERSION_WITH_MNEMONICS = 7,
    VERSION_WITH_ADDRESSES = 8
};
#define MOST_RAW_BYTES UINT32_MAX /* no program that can be lifted comes near */

struct bytes_header {
    uint32_t magic, version;
    uint64_t raw_bytes; /* of the contents before compression */
    uint64_t checksum;  /* XXH3 of the compressed bytes, seeded with raw_bytes */
};

struct codec {
    bool reading;
    uint32_t version;         /* of the bytes */
    struct pm_reader in;      /* reading */
    PM_ARRAY(uint8_t, bytes); /* writing */
};

/* ---- numbers and strings --------------------------------------------------------------------- */

static void put_byte(struct codec *codec, uint8_t byte) {
    if (codec->n_bytes == codec->cap_bytes) {
        codec->cap_bytes = codec->cap_bytes ? 2 * codec->cap_bytes : 4096;
        codec->bytes = pm_realloc(codec->bytes, codec->cap_bytes, 1);
    }
    codec->bytes[codec->n_bytes++] = byte;
}

static void put_number(struct codec *codec, uint64_t value) {
    while (value >= 0x80) {
        put_byte(codec, (uint8_t)(value | 0x80));
        value >>= 7;
    }
    put_byte(codec, (uint8_t)value);
}

/* A number of at most MOST; else the codec fails and it is 0. */
static uint64_t take_number(struct codec *codec, uint64_t most) {
    uint64_t value = pm_take_uleb(&codec->in);
    if (value <= most)
        return value;
    codec->in.fault = PM_READ_BAD;
    return 0;
}

static uint64_t code_number(struct codec *codec, uint64_t value, uint64_t most) {
    if (codec->reading)
        return take_number(codec, most);
    put_number(codec, value);
    return value;
}

#define U8(field) ((field) = (uint8_t)code_number(codec, (field), UINT8_MAX))
#define U16(field) ((field) = (uint16_t)code_number(codec, (field), UINT16_MAX))
#define U32(field) ((field) = (uint32_t)code_number(codec, (field), UINT32_MAX))
#define U64(field) ((field) = code_number(codec, (field), UINT64_MAX))
#define BOOL(field) ((field) = code_number(codec, (field), 1) != 0)
#define INDEX(field)                                                                               \
    ((field) = (uint32_t)code_number(codec, (uint32_t)((field) + 1), UINT32_MAX) - 1)

/* Zigzag, so that small negative numbers stay short. */
static void code_signed(struct codec *codec, int64_t *value) {
    uint64_t folded = ((uint64_t)*value << 1) ^ (*value < 0 ? UINT64_MAX : 0);
    U64(folded);
    *value = (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
}

static void code_raw(struct codec *codec, void *data, size_t n_bytes) {
    if (codec->reading)
        pm_take_into(&codec->in, data, n_bytes);
    else
        for (size_t i = 0; i < n_bytes; i++)
            put_byte(codec, ((uint8_t *)data)[i]);
}

static void code_string(struct codec *codec, char **text) {
    uint64_t length = !codec->reading && *text ? strlen(*text) + 1 : 0;
    U64(length);
    if (!codec->reading) {
        if (length)
            code_raw(codec, *text, length - 1);
        return;
    }
    if (length == 0)
        return;
    if (length - 1 > pm_bytes_left(&codec->in)) {
        codec->in.fault = PM_READ_BAD;
        return;
    }
    *text = pm_alloc(length, 1);
    code_raw(codec, *text, length - 1);
    if (strlen(*text) != length - 1)
        codec->in.fault = PM_READ_BAD;
}

/* Length of an array; reading: no more than the bytes that are left, each element takes one. */
static size_t code_length(struct codec *codec, size_t n) {
    n = code_number(codec, n, UINT64_MAX);
    if (codec->reading && n > pm_bytes_left(&codec->in)) {
        codec->in.fault = PM_READ_BAD;
        return 0;
    }
    return n;
}

#define CODE_ARRAY(codec, s, name, code_element)                                                   \
    do {                                                                                           \
        size_t length = code_length(codec, (s)->n_##name);                                         \
        for (size_t i = 0; i < length && !(codec)->in.fault; i++)                                  \
            code_element(codec, (codec)->reading ? PM_PUSH(s, name) : &(s)->name[i]);              \
    } while (0)

/* ---- the fields ------------------------------------------------------------------------------ */

static void code_module(struct codec *codec, struct pm_module *module) {
    code_string(codec, &module->path);
    code_string(codec, &module->name);
    code_raw(codec, module->build_id, sizeof module->build_id);
    U32(module->build_id_bytes);
    BOOL(module->has_metadata);
    BOOL(module->has_lines);
    INDEX(module->scope);
    U64(module->text_bytes);
    U64(module->lifted_bytes);
    if (codec->version >= VERSION_WITH_CODE_HASH)
        U64(module->code_hash);
}

static void code_routine(struct codec *codec, struct pm_routine *routine) {
    code_string(codec, &routine->name);
    code_string(codec, &routine->display_name);
    U64(routine->address);
    U64(routine->size_bytes);
    INDEX(routine->module);
    INDEX(routine->scope);
    U32(routine->first_part);
    U32(routine->n_parts);
    U32(routine->first_block);
    U32(routine->n_blocks);
    U32(routine->first_edge);
    U32(routine->n_edges);
    U8(routine->state);
    BOOL(routine->has_metadata);
    BOOL(routine->counted);
    U32(routine->n_counters);
    U32(routine->n_counters_formula);
    code_string(codec, &routine->reason);
}

static void code_part(struct codec *codec, struct pm_part *part) {
    U64(part->address);
    U64(part->size_bytes);
    INDEX(part->routine);
}

static void code_block(struct codec *codec, struct pm_block *block) {
    U64(block->address);
    U32(block->size_bytes);
    U32(block->n_instructions);
    INDEX(block->routine);
    INDEX(block->scope);
    INDEX(block->loop);
    U32(block->first_op);
    U32(block->n_ops);
    U32(block->first_reference);
    U32(block->n_references);
    U32(block->line);
}

static void code_edge(struct codec *codec, struct pm_edge *edge) {
    INDEX(edge->from);
    INDEX(edge->to);
    INDEX(edge->routine);
    INDEX(edge->counter);
    U8(edge->kind);
    code_raw(codec, &edge->weight, sizeof edge->weight);
}

static void code_scope(struct codec *codec, struct pm_scope *scope) {
    U8(scope->kind);
    U8(scope->depth);
    U16(scope->flags);
    INDEX(scope->parent);
    INDEX(scope->routine);
    INDEX(scope->header);
    INDEX(scope->fold);
    code_string(codec, &scope->name);
    code_string(codec, &scope->file);
    U32(scope->line_first);
    U32(scope->line_last);
    code_string(codec, &scope->call_file);
    U32(scope->call_file_line);
    U64(scope->address_low);
    U64(scope->address_high);
    code_string(codec, &scope->trip_count);
    U32(scope->unroll);
    U64(scope->key);
}

static void code_reference(struct codec *codec, struct pm_reference *reference) {
    U64(reference->address);
    INDEX(reference->block);
    INDEX(reference->group);
    U32(reference->size_bytes);
    U8(reference->access);
    U8(reference->kind);
    U8(reference->operand);
    BOOL(reference->recorded);
    if (codec->version < VERSION_WITH_ADDRESSES || !BOOL(reference->has_address))
        return;
    U8(reference->base);
    U8(reference->index);
    U8(reference->scale);
    code_signed(codec, &reference->displacement);
}

static void code_stride(struct codec *codec, struct pm_stride *stride) {
    U8(stride->kind);
    code_signed(codec, &stride->bytes);
    code_string(codec, &stride->expression);
}

static void code_group(struct codec *codec, struct pm_group *group) {
    INDEX(group->scope);
    INDEX(group->module);
    code_string(codec, &group->object);
    code_string(codec, &group->object_type);
    U32(group->flags);
    group->flags &= codec->reading ? ~(uint32_t)PM_GROUP_JOINED : UINT32_MAX; /* is of the runs */
    size_t n_strides = code_length(codec, group->n_strides);
    if (codec->reading) {
        group->n_strides = (uint32_t)n_strides;
        group->strides = pm_alloc(n_strides, sizeof *group->strides);
    }
    for (size_t i = 0; i < n_strides && !codec->in.fault; i++)
        code_stride(codec, &group->strides[i]);
    U32(group->n_loads);
    U32(group->n_stores);
    U32(group->bytes_min);
    U32(group->bytes_max);
}

static void code_op(struct codec *codec, struct pm_op *op) {
    U8(op->op_class);
    U8(op->element_bytes);
    uint16_t width_and_start = (uint16_t)(op->width_bits << 1 | op->instruction_start);
    U16(width_and_start);
    op->width_bits = width_and_start >> 1;
    op->instruction_start = width_and_start & 1;
    code_raw(codec, op->defs, sizeof op->defs);
    code_raw(codec, op->uses, sizeof op->uses);
    INDEX(op->reference);
    if (codec->version >= VERSION_WITH_MNEMONICS)
        U32(op->mnemonic);
}

static void code_mnemonic(struct codec *codec, char **mnemonic) { code_string(codec, mnemonic); }

static void code_unknown(struct codec *codec, struct pm_unknown *unknown) {
    INDEX(unknown->block);
    U32(unknown->count);
    code_string(codec, &unknown->mnemonic);
}

static void code_dependence(struct codec *codec, struct pm_dependence *dependence) {
    INDEX(dependence->scope);
    INDEX(dependence->from);
    INDEX(dependence->to);
    U32(dependence->distance);
    U8(dependence->kind);
}

static void code_call(struct codec *codec, struct pm_call *call) {
    INDEX(call->block);
    INDEX(call->routine);
}

static void code_assignment(struct codec *codec, struct pm_assignment *assignment) {
    INDEX(assignment->op);
    INDEX(assignment->callee);
    U8(assignment->place);
    code_signed(codec, &assignment->constant);
    U8(assignment->n_terms);
    for (unsigned t = 0; t < assignment->n_terms && t < PM_MOST_ASSIGNED; t++) {
        int64_t factor = assignment->factors[t];
        U8(assignment->places[t]);
        code_signed(codec, &factor);
        assignment->factors[t] = (int32_t)factor;
    }
}

static void code_structure(struct codec *codec, struct pm_structure *s) {
    code_string(codec, &s->isa);
    U64(s->hash);
    U32(s->n_counters);
    CODE_ARRAY(codec, s, modules, code_module);
    CODE_ARRAY(codec, s, routines, code_routine);
    CODE_ARRAY(codec, s, parts, code_part);
    CODE_ARRAY(codec, s, blocks, code_block);
    CODE_ARRAY(codec, s, edges, code_edge);
    CODE_ARRAY(codec, s, scopes, code_scope);
    CODE_ARRAY(codec, s, references, code_reference);
    CODE_ARRAY(codec, s, groups, code_group);
    CODE_ARRAY(codec, s, ops, code_op);
    CODE_ARRAY(codec, s, dependences, code_dependence);
    CODE_ARRAY(codec, s, unknowns, code_unknown);
    if (codec->version >= VERSION_WITH_CALLS)
        CODE_ARRAY(codec, s, calls, code_call);
    if (codec->version >= VERSION_WITH_MNEMONICS)
        CODE_ARRAY(codec, s, mnemonics, code_mnemonic);
    if (codec->version >= VERSION_WITH_ADDRESSES)
        CODE_ARRAY(codec, s, assignments, code_assignment);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_structure_encode(const struct pm_structure *structure, void **bytes, size_t *n_bytes) {
    struct codec codec = {.reading = false, .version = PM_STRUCTURE_VERSION};
    code_structure(&codec, (struct pm_structure *)structure); /* which it does not change */
    size_t room = ZSTD_compressBound(codec.n_bytes);
    uint8_t *out = pm_alloc(sizeof(struct bytes_header) + room, 1);
    size_t packed = ZSTD_compress(out + sizeof(struct bytes_header), room, codec.bytes,
                                  codec.n_bytes, COMPRESSION_LEVEL);
    if (ZSTD_isError(packed)) /* there is room, so only memory can lack */
        abort();
    struct bytes_header header = {
        .magic = STRUCTURE_MAGIC,
        .version = PM_STRUCTURE_VERSION,
        .raw_bytes = codec.n_bytes,
        .checksum = XXH3_64bits_withSeed(out + sizeof(struct bytes_header), packed, codec.n_bytes)};
    memcpy(out, &header, sizeof header);
    free(codec.bytes);
    *n_bytes = sizeof header + packed;
    *bytes = pm_realloc(out, *n_bytes, 1);
}

/* The contents behind the header, or NULL. */
static uint8_t *unpack(const uint8_t *bytes, size_t n_bytes, struct bytes_header *header,
                       struct pm_error *err) {
    if (n_bytes >= sizeof *header)
        memcpy(header, bytes, sizeof *header);
    if (n_bytes < sizeof *header || header->magic != STRUCTURE_MAGIC) {
        pm_fail(err, "not the structure of a program");
        return NULL;
    }
    if (header->version < PM_STRUCTURE_OLDEST || header->version > PM_STRUCTURE_VERSION) {
        pm_fail(err,
                "the program's structure has format %u and this pmodel reads format %u: "
                "measure the program again",
                header->version, PM_STRUCTURE_VERSION);
        return NULL;
    }
    bytes += sizeof *header;
    n_bytes -= sizeof *header;
    if (header->raw_bytes > MOST_RAW_BYTES ||
        header->checksum != XXH3_64bits_withSeed(bytes, n_bytes, header->raw_bytes)) {
        pm_fail(err, "the program's structure is damaged: its checksum does not fit; measure the "
                     "program again into a new store");
        return NULL;
    }
    size_t got = 0;
    uint8_t *raw = pm_unpack(bytes, n_bytes, &got);
    if (!raw || got != header->raw_bytes) {
        free(raw);
        pm_fail(err, "the program's structure is damaged: it cannot be decompressed; measure the "
                     "program again into a new store");
        return NULL;
    }
    return raw;
}

struct pm_structure *pm_structure_decode(const void *bytes, size_t n_bytes, struct pm_error *err) {
    struct bytes_header header;
    uint8_t *raw = unpack(bytes, n_bytes, &header, err);
    if (!raw)
        return NULL;
    struct codec codec = {
        .reading = true, .version = header.version, .in = pm_reader_of(raw, header.raw_bytes)};
    struct pm_structure *structure = pm_alloc(1, sizeof *structure);
    code_structure(&codec, structure);
    bool good = !codec.in.fault && codec.in.at == codec.in.end;
    free(raw);
    if (!good)
        pm_fail(err, "the program's structure is damaged: it ends early or goes on too long; "
                     "measure the program again into a new store");
    if (!good || !pm_structure_check(structure, err)) {
        pm_structure_free(structure);
        return NULL;
    }
    return structure;
}
