/* Reads contributions of the section `.pmodel` (core/pmodel_section.h) into struct pm_metadata.
   Nothing in the section is trusted: each read is checked against its contribution's end, each
   string and number against what was declared. */
#include "binlift/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct pm_metadata *metadata;
    const char *path;
    const uint8_t *bytes; /* the section */
    struct pm_reader in;  /* the contribution, from what comes next on */
    size_t record;        /* where the record at hand starts: offset in the section */
    uint32_t contribution;
    PM_ARRAY(const char *, strings); /* of the contribution: number 1 is strings[0] */
    const char *problem;             /* the first thing that is wrong; NULL */
};

static void wrong(struct reader *reader, const char *problem) {
    if (!reader->problem)
        reader->problem = problem;
    reader->in.at = reader->in.end;
}

static size_t offset_of(const struct reader *reader) {
    return (size_t)(reader->in.at - reader->bytes);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void check_number(struct reader *reader) {
    if (reader->in.fault)
        wrong(reader, reader->in.fault == PM_READ_TOO_LONG
                          ? "a number is longer than 64 bits"
                          : "a record goes beyond its contribution");
}

static uint64_t take_u64(struct reader *reader) {
    uint64_t value = pm_take_uleb(&reader->in);
    check_number(reader);
    return value;
}

static int64_t take_s64(struct reader *reader) {
    int64_t value = pm_take_sleb(&reader->in);
    check_number(reader);
    return value;
}

static uint32_t take_u32(struct reader *reader) {
    uint64_t value = take_u64(reader);
    if (value >= UINT32_MAX) {
        wrong(reader, "a number is too large");
        return 0;
    }
    return (uint32_t)value;
}

static const char *take_string(struct reader *reader) {
    uint32_t number = take_u32(reader);
    if (number > reader->n_strings)
        wrong(reader, "a string's number is used before the string");
    if (number == 0 || number > reader->n_strings)
        return NULL;
    const char *text = reader->strings[number - 1];
    return text[0] ? text : NULL;
}

static uint64_t take_place(struct reader *reader) {
    const struct pm_contribution *c = &reader->metadata->contributions[reader->contribution];
    uint32_t part = take_u32(reader);
    uint64_t offset = take_u64(reader);
    if (part > 1 || (part == 1 && c->cold_base == 0 && c->base != 0))
        wrong(reader, "a place is neither in the function's hot nor in its cold part");
    return (part ? c->cold_base : c->base) + offset;
}

/* ---- records --------------------------------------------------------------------------------- */

static void take_string_record(struct reader *reader) {
    const void *text = reader->in.at;
    const uint8_t *nul = memchr(text, 0, pm_bytes_left(&reader->in));
    if (!nul) {
        wrong(reader, "a string has no end");
        return;
    }
    reader->in.at = nul + 1;
    *PM_PUSH(reader, strings) = text;
}

static void take_loop(struct reader *reader) {
    struct pm_metadata_loop *loop = PM_PUSH(reader->metadata, loops);
    loop->number = take_u32(reader);
    loop->parent = take_u32(reader);
    loop->depth = take_u32(reader);
    loop->file = take_string(reader);
    loop->line = take_u32(reader);
    loop->line_last = take_u32(reader);
    loop->trip_count = take_string(reader);
    loop->unroll = take_u32(reader);
    loop->flags = take_u32(reader);
    loop->variable = take_string(reader);
    if (loop->unroll == 0)
        loop->unroll = 1;
}

static void take_object(struct reader *reader) {
    struct pm_metadata_object *object = PM_PUSH(reader->metadata, objects);
    object->number = take_u32(reader);
    object->name = take_string(reader);
    object->type = take_string(reader);
    object->kind = take_u32(reader);
    if (object->name && strcmp(object->name, "?") == 0)
        object->name = NULL;
}

static void take_reference(struct reader *reader) {
    struct pm_metadata *metadata = reader->metadata;
    struct pm_metadata_reference reference = {0};
    reference.number = take_u32(reader);
    reference.loop = take_u32(reader);
    reference.object = take_u32(reader);
    reference.flags = take_u32(reader);
    reference.size_bytes = take_u32(reader);
    reference.text = take_string(reader);
    reference.file = take_string(reader);
    reference.line = take_u32(reader);
    reference.first_level = (uint32_t)metadata->n_levels;
    reference.n_levels = take_u32(reader);
    for (uint32_t i = 0; i < reference.n_levels && !reader->problem; i++) {
        struct pm_metadata_level *level = PM_PUSH(metadata, levels);
        level->loop = take_u32(reader);
        level->kind = take_u32(reader);
        if (level->kind == PM_STRIDE_CONSTANT)
            level->bytes = take_s64(reader);
        else if (level->kind == PM_STRIDE_SYMBOLIC)
            level->expression = take_string(reader);
        else if (level->kind > PM_STRIDE_INDIRECT)
            wrong(reader, "a stride is of an unknown kind");
    }
    *PM_PUSH(metadata, references) = reference;
}

static void take_may_alias(struct reader *reader) {
    uint32_t first = take_u32(reader);
    for (uint32_t n = take_u32(reader); n > 0 && !reader->problem; n--) {
        uint32_t other = take_u32(reader);
        struct pm_metadata_pair *pair = PM_PUSH(reader->metadata, pairs);
        pair->low = first < other ? first : other;
        pair->high = first < other ? other : first;
    }
}

static void take_block(struct reader *reader) {
    struct pm_metadata_block *block = PM_PUSH(reader->metadata, blocks);
    block->address = take_place(reader);
    block->number = take_u32(reader);
    block->loop = take_u32(reader);
}

static void take_edge(struct reader *reader) {
    struct pm_metadata_edge *edge = PM_PUSH(reader->metadata, edges);
    edge->from = take_u32(reader);
    edge->to = take_u32(reader);
    edge->flags = take_u32(reader);
}

static void take_memory(struct reader *reader) {
    struct pm_metadata *metadata = reader->metadata;
    uint32_t order = (uint32_t)metadata->n_memory;
    struct pm_metadata_memory *memory = PM_PUSH(metadata, memory);
    memory->contribution = reader->contribution;
    memory->order = order;
    memory->address = take_place(reader);
    memory->reference = take_u32(reader);
    uint32_t operand_class = take_u32(reader), access = take_u32(reader);
    memory->loop = take_u32(reader);
    if (operand_class > PM_OPERAND_OTHER || access < PM_ACCESS_LOAD || access > PM_ACCESS_BOTH)
        wrong(reader, "a memory operand is of an unknown kind");
    memory->operand_class = (uint8_t)operand_class;
    memory->access = (uint8_t)access;
}

static void take_table(struct reader *reader) {
    struct pm_metadata *metadata = reader->metadata;
    struct pm_metadata_table *table = PM_PUSH(metadata, tables);
    table->address = take_place(reader);
    table->first_target = (uint32_t)metadata->n_table_targets;
    table->n_targets = take_u32(reader);
    for (uint32_t i = 0; i < table->n_targets && !reader->problem; i++) {
        uint64_t target = take_place(reader);
        *PM_PUSH(metadata, table_targets) = target;
    }
}

static void take_record(struct reader *reader) {
    struct pm_contribution *c = &reader->metadata->contributions[reader->contribution];
    reader->record = offset_of(reader);
    switch (*reader->in.at++) {
    case PM_RECORD_STRING:
        take_string_record(reader);
        break;
    case PM_RECORD_PRODUCER:
        c->compiler = take_string(reader);
        c->options = take_string(reader);
        break;
    case PM_RECORD_LOOP:
        take_loop(reader);
        break;
    case PM_RECORD_OBJECT:
        take_object(reader);
        break;
    case PM_RECORD_REFERENCE:
        take_reference(reader);
        break;
    case PM_RECORD_BLOCK:
        take_block(reader);
        break;
    case PM_RECORD_EDGE:
        take_edge(reader);
        break;
    case PM_RECORD_MEMORY:
        take_memory(reader);
        break;
    case PM_RECORD_JUMP_TABLE:
        take_table(reader);
        break;
    case PM_RECORD_NORETURN: {
        uint64_t address = take_place(reader);
        *PM_PUSH(reader->metadata, no_returns) = address;
        break;
    }
    case PM_RECORD_MAY_ALIAS:
        take_may_alias(reader);
        break;
    default:
        wrong(reader, "a record is of an unknown kind");
    }
}

/* ---- contributions --------------------------------------------------------------------------- */

#define COMPARE_NUMBERS(name)                                                                      \
    static int compare_##name(const void *left, const void *right) {                               \
        const struct pm_metadata_##name *a = left, *b = right;                                     \
        return PM_COMPARE(a->number, b->number);                                                   \
    }
COMPARE_NUMBERS(loop)
COMPARE_NUMBERS(object)
COMPARE_NUMBERS(reference)

static int compare_pairs(const void *left, const void *right) {
    const struct pm_metadata_pair *a = left, *b = right;
    if (a->low != b->low)
        return PM_COMPARE(a->low, b->low);
    return PM_COMPARE(a->high, b->high);
}

/* Whether the references of C name loops and objects that it has; a number used twice shows as
   equal neighbours. */
static const char *check_numbers(const struct pm_metadata *m, const struct pm_contribution *c) {
    for (uint32_t i = 0; i < c->n_loops; i++) {
        const struct pm_metadata_loop *loop = &m->loops[c->first_loop + i];
        if (loop->number == 0 || (i && loop[-1].number == loop->number))
            return "two loops have the same number";
        if (loop->parent && !pm_metadata_find_loop(m, c, loop->parent))
            return "a loop's parent is not there";
    }
    for (uint32_t i = 0; i < c->n_objects; i++) {
        const struct pm_metadata_object *object = &m->objects[c->first_object + i];
        if (object->number == 0 || (i && object[-1].number == object->number))
            return "two objects have the same number";
    }
    for (uint32_t i = 0; i < c->n_references; i++) {
        const struct pm_metadata_reference *reference = &m->references[c->first_reference + i];
        if (reference->number == 0 || (i && reference[-1].number == reference->number))
            return "two references have the same number";
        if (reference->object && !pm_metadata_find_object(m, c, reference->object))
            return "a reference's object is not there";
    }
    for (uint32_t i = 0; i < c->n_pairs; i++) {
        const struct pm_metadata_pair *pair = &m->pairs[c->first_pair + i];
        const struct pm_metadata_reference *low = pm_metadata_find_reference(m, c, pair->low);
        const struct pm_metadata_reference *high = pm_metadata_find_reference(m, c, pair->high);
        if (!low || !high || low == high || low->loop != high->loop)
            return "a pair is not of two references of one loop";
    }
    return NULL;
}

static bool damaged(const struct reader *reader, size_t offset, struct pm_error *err) {
    return pm_fail(err,
                   "%s: section " PM_SECTION_NAME " is damaged at offset %#zx (%s): rebuild the "
                   "program with this pmodel's plugin",
                   reader->path, offset, reader->problem);
}

static bool parse_contribution(struct reader *reader, struct pm_error *err) {
    struct pm_metadata *m = reader->metadata;
    struct pm_reader *in = &reader->in;
    const uint8_t *end = in->end;
    size_t start = offset_of(reader);
    reader->problem = "a contribution is cut short";
    if (pm_bytes_left(in) < PM_SECTION_HEADER_BYTES)
        return damaged(reader, start, err);
    uint32_t magic = (uint32_t)pm_take_unsigned(in, 4), version = (uint32_t)pm_take_unsigned(in, 2);
    if (magic != PM_SECTION_MAGIC) {
        reader->problem = "a contribution does not start with its mark";
        return damaged(reader, start, err);
    }
    if (version != PM_SECTION_VERSION)
        return pm_fail(err,
                       "%s: section " PM_SECTION_NAME " at offset %#zx has version %u and this "
                       "pmodel reads version %u: rebuild the program with this pmodel's plugin",
                       reader->path, start, version, PM_SECTION_VERSION);
    struct pm_contribution c = {.flags = (uint32_t)pm_take_unsigned(in, 2),
                                .first_loop = (uint32_t)m->n_loops,
                                .first_object = (uint32_t)m->n_objects,
                                .first_reference = (uint32_t)m->n_references,
                                .first_block = (uint32_t)m->n_blocks,
                                .first_edge = (uint32_t)m->n_edges,
                                .first_pair = (uint32_t)m->n_pairs};
    size_t payload = pm_take_unsigned(in, 4);
    c.base = pm_take_unsigned(in, 8);
    c.cold_base = pm_take_unsigned(in, 8);
    if (payload > pm_bytes_left(in))
        return damaged(reader, start, err);
    in->end = in->at + payload;
    reader->problem = NULL;
    reader->contribution = (uint32_t)m->n_contributions;
    reader->n_strings = 0;
    c.used = c.base != 0;
    *PM_PUSH(m, contributions) = c;
    size_t n_tables = m->n_tables, n_no_returns = m->n_no_returns;
    while (in->at < in->end)
        take_record(reader);
    in->end = end;
    struct pm_contribution *done = &m->contributions[reader->contribution];
    if (!c.used) { /* its places are nowhere */
        m->n_tables = n_tables;
        m->n_no_returns = n_no_returns;
    }
    done->n_loops = (uint32_t)m->n_loops - done->first_loop;
    done->n_objects = (uint32_t)m->n_objects - done->first_object;
    done->n_references = (uint32_t)m->n_references - done->first_reference;
    done->n_blocks = (uint32_t)m->n_blocks - done->first_block;
    done->n_edges = (uint32_t)m->n_edges - done->first_edge;
    done->n_pairs = (uint32_t)m->n_pairs - done->first_pair;
    if (reader->problem)
        return damaged(reader, reader->record, err);
    PM_SORT(m->loops + done->first_loop, done->n_loops, compare_loop);
    PM_SORT(m->objects + done->first_object, done->n_objects, compare_object);
    PM_SORT(m->references + done->first_reference, done->n_references, compare_reference);
    PM_SORT(m->pairs + done->first_pair, done->n_pairs, compare_pairs);
    reader->problem = check_numbers(m, done);
    return !reader->problem || damaged(reader, start, err);
}

bool pm_metadata_parse(struct pm_metadata *metadata, const char *path, const uint8_t *bytes,
                       size_t n_bytes, struct pm_error *err) {
    struct reader reader = {
        .metadata = metadata, .path = path, .bytes = bytes, .in = pm_reader_of(bytes, n_bytes)};
    bool good = true;
    while (good && reader.in.at < reader.in.end)
        if (*reader.in.at == 0)
            reader.in.at++; /* padding between contributions */
        else
            good = parse_contribution(&reader, err);
    free(reader.strings);
    return good;
}
