/* What the runtime must know of an instrumented module (struct pm_probe_header): its identity, how
   many counters and groups it has, how the addresses of each reference's accesses follow from a
   record, and the scope tree by name.  Needs the finished structure. */
#include "binlift/copy/private.h"

#include <stdlib.h>
#include <string.h>

uint8_t pm_payload_slots(uint8_t kind) {
    switch (kind) {
    case PM_ACCESS_STRING:
    case PM_ACCESS_MASK_K:
    case PM_ACCESS_PACKED_K:
    case PM_ACCESS_BIT:
        return 1;
    case PM_ACCESS_MASK_V:
    case PM_ACCESS_CALLED:
        return 2;
    case PM_ACCESS_GATHER_K:
        return 5;
    case PM_ACCESS_GATHER_V:
        return 4;
    default:
        return 0;
    }
}

struct blob {
    PM_ARRAY(uint8_t, bytes);
};

static uint64_t append(struct blob *blob, const void *bytes, size_t n_bytes) {
    uint64_t at = blob->n_bytes;
    if (at + n_bytes > blob->cap_bytes) {
        blob->cap_bytes = 2 * (at + n_bytes);
        blob->bytes = pm_realloc(blob->bytes, blob->cap_bytes, 1);
    }
    if (n_bytes)
        memcpy(blob->bytes + at, bytes, n_bytes);
    blob->n_bytes += n_bytes;
    return at;
}

static void align(struct blob *blob) {
    static const uint8_t zeros[16];
    append(blob, zeros, -blob->n_bytes & 15);
}

static uint64_t append_references(struct blob *blob, const struct pm_lifted *lifted) {
    const struct pm_structure *structure = lifted->structure;
    uint64_t at = blob->n_bytes;
    for (uint32_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        const struct pm_insn *insn = &lifted->insns[pm_insn_at(lifted, reference->address)];
        const struct pm_memory_operand called = {.kind = PM_ACCESS_CALLED,
                                                 .access = reference->access,
                                                 .size_bytes = (uint16_t)reference->size_bytes};
        const struct pm_memory_operand *memory =
            reference->kind == PM_ACCESS_CALLED ? &called : &insn->memory[reference->operand];
        struct pm_probe_reference probe = {.group = reference->group,
                                           .size_bytes = memory->size_bytes,
                                           .access = memory->access,
                                           .kind = memory->kind,
                                           .elements = memory->elements,
                                           .index_bytes = memory->index_bytes,
                                           .scale = memory->scale,
                                           .payload_slots = pm_payload_slots(memory->kind),
                                           .takes_turns = reference->kind == PM_ACCESS_STRING &&
                                                          reference->operand == 0 &&
                                                          insn->n_memory == 2};
        append(blob, &probe, sizeof probe);
    }
    align(blob);
    return at;
}

/* Texts behind the scopes; a file's name stands once for all scopes in a row that have it. */
struct texts {
    uint64_t next; /* offset of the next one */
    const char *file;
    uint64_t file_at;
};

static uint64_t take_text(struct texts *texts, const char *text) {
    uint64_t at = texts->next;
    texts->next += strlen(text) + 1;
    return at;
}

static bool is_new_file(const struct texts *texts, const char *file) {
    return !texts->file || strcmp(texts->file, file) != 0;
}

static const char *or_empty(const char *text) { return text ? text : ""; }

static uint64_t append_scopes(struct blob *blob, const struct pm_structure *structure,
                              const uint8_t *flags) {
    uint64_t at = blob->n_bytes;
    struct texts texts = {.next = at + structure->n_scopes * sizeof(struct pm_probe_scope)};
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_scope *scope = &structure->scopes[s];
        struct pm_probe_scope probe = {.parent = scope->parent,
                                       .kind = scope->kind,
                                       .name = take_text(&texts, or_empty(scope->name)),
                                       .line = scope->line_first,
                                       .flags = flags[s]};
        if (is_new_file(&texts, or_empty(scope->file))) {
            texts.file = or_empty(scope->file);
            texts.file_at = take_text(&texts, texts.file);
        }
        probe.file = texts.file_at;
        append(blob, &probe, sizeof probe);
    }
    texts.file = NULL;
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const char *name = or_empty(structure->scopes[s].name);
        const char *file = or_empty(structure->scopes[s].file);
        append(blob, name, strlen(name) + 1);
        if (is_new_file(&texts, file))
            append(blob, texts.file = file, strlen(file) + 1);
    }
    align(blob);
    return at;
}

static uint64_t append_counters(struct blob *blob, const struct pm_structure *structure,
                                const struct pm_counter_plan *plan) {
    uint64_t at = blob->n_bytes;
    struct pm_probe_counter *counters = pm_alloc(plan->n_counters, sizeof *counters);
    for (uint32_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (plan->counter_of[e] == PM_NONE)
            continue;
        const struct pm_block *from = edge->from == PM_NONE ? NULL : &structure->blocks[edge->from];
        const struct pm_block *to = edge->to == PM_NONE ? NULL : &structure->blocks[edge->to];
        counters[plan->counter_of[e]] =
            (struct pm_probe_counter){.from = from ? from->address : 0,
                                      .to = to ? to->address : 0,
                                      .scope = to ? to->scope : from->scope};
    }
    append(blob, counters, plan->n_counters * sizeof *counters);
    free(counters);
    align(blob);
    return at;
}

static uint64_t append_group_scopes(struct blob *blob, const struct pm_structure *structure) {
    uint64_t at = blob->n_bytes;
    for (uint32_t g = 0; g < structure->n_groups; g++)
        append(blob, &structure->groups[g].scope, sizeof structure->groups[g].scope);
    align(blob);
    return at;
}

static uint64_t append_reference_blocks(struct blob *blob, const struct pm_structure *structure) {
    uint64_t at = blob->n_bytes;
    for (uint32_t r = 0; r < structure->n_references; r++) {
        const uint32_t block = structure->references[r].block;
        append(blob, &structure->blocks[block].first_reference, sizeof(uint32_t));
    }
    align(blob);
    return at;
}

static int by_address(const void *left, const void *right) {
    const struct pm_probe_moved *a = left, *b = right;
    return PM_COMPARE(a->address, b->address);
}

/* Parts of routines that move, with the routines' names behind them. */
static uint64_t append_moved(struct blob *blob, const struct pm_structure *structure,
                             const bool *moves, uint32_t *n_moved) {
    uint64_t at = blob->n_bytes, names = 0;
    struct pm_probe_moved *moved = pm_alloc(structure->n_parts, sizeof *moved);
    uint32_t n = 0;
    for (uint32_t p = 0; p < structure->n_parts; p++)
        n += moves[structure->parts[p].routine];
    names = at + n * sizeof *moved;
    for (uint32_t r = 0, i = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        for (uint32_t p = 0; moves[r] && p < routine->n_parts; p++) {
            const struct pm_part *part = &structure->parts[routine->first_part + p];
            moved[i++] =
                (struct pm_probe_moved){part->address, part->address + part->size_bytes, names};
        }
        names += moves[r] ? strlen(routine->name) + 1 : 0;
    }
    PM_SORT(moved, n, by_address);
    append(blob, moved, n * sizeof *moved);
    for (uint32_t r = 0; r < structure->n_routines; r++)
        if (moves[r])
            append(blob, structure->routines[r].name, strlen(structure->routines[r].name) + 1);
    free(moved);
    align(blob);
    *n_moved = n;
    return at;
}

void pm_build_descriptors(const struct pm_lifted *lifted,
                          const struct pm_instrumentation_plan *plan, uint64_t segment_address,
                          uint8_t **bytes, size_t *n_bytes) {
    const struct pm_instrument_options *options = plan->options;
    const struct pm_structure *structure = lifted->structure;
    struct blob blob = {0};
    struct pm_probe_header header = {
        .magic = PM_PROBE_MAGIC,
        .version = PM_PROBE_VERSION,
        .header_bytes = sizeof header,
        .structure_hash = pm_placement_hash(structure),
        .build_id_bytes = lifted->image.build_id_bytes,
        .first_counter = options->first_counter,
        .n_counters = options->no_counters ? 0 : plan->counters->n_counters,
        .first_reference = options->first_reference,
        .first_address_record = options->first_reference, /* there are at most as many */
        .n_references = options->memory_records ? (uint32_t)structure->n_references : 0,
        .n_groups = (uint32_t)structure->n_groups,
        .n_scopes = (uint32_t)structure->n_scopes,
        .has_memory_records = options->memory_records,
        .first_scope = options->first_scope,
        .first_branch = options->first_branch,
        .n_branches = (uint32_t)plan->n_branches,
        .old_text = lifted->text_low,
        .old_text_end = lifted->text_high,
        .header_address = segment_address,
    };
    memcpy(header.build_id, lifted->image.build_id, sizeof header.build_id);
    append(&blob, &header, sizeof header);
    align(&blob);
    if (options->memory_records)
        header.references = append_references(&blob, lifted);
    header.branches = append(&blob, plan->branches, plan->n_branches * sizeof *plan->branches);
    align(&blob);
    header.scopes = append_scopes(&blob, structure, plan->scope_flags);
    if (options->memory_records) {
        header.group_scopes = append_group_scopes(&blob, structure);
        header.reference_blocks = append_reference_blocks(&blob, structure);
    }
    if (options->describe_counters)
        header.counters = append_counters(&blob, structure, plan->counters);
    header.moved = append_moved(&blob, structure, plan->moves, &header.n_moved);
    memcpy(blob.bytes, &header, sizeof header);
    *bytes = blob.bytes;
    *n_bytes = blob.n_bytes;
}
