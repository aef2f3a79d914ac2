/* The structure as bytes and back (core/codec.h). */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/codec.h"
#include "core/structure/private.h"

static const struct pm_codec_kind kind = {"PMDS", PM_STRUCTURE_VERSION,
                                          "the program's structure is",
                                          "measure the program again into a new store"};

/* ---- the fields ------------------------------------------------------------------------------ */

static void code_module(struct pm_codec *codec, struct pm_module *module) {
    pm_code_text(codec, &module->path);
    pm_code_text(codec, &module->name);
    pm_code_raw(codec, module->build_id, sizeof module->build_id);
    U32(module->build_id_bytes);
    BOOL(module->has_metadata);
    BOOL(module->has_lines);
    BOOL(module->only_imports);
    INDEX(module->scope);
    U64(module->text_bytes);
    U64(module->lifted_bytes);
    U64(module->code_hash);
}

static void code_routine(struct pm_codec *codec, struct pm_routine *routine) {
    pm_code_text(codec, &routine->name);
    pm_code_text(codec, &routine->display_name);
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
    pm_code_text(codec, &routine->reason);
}

static void code_part(struct pm_codec *codec, struct pm_part *part) {
    U64(part->address);
    U64(part->size_bytes);
    INDEX(part->routine);
}

static void code_block(struct pm_codec *codec, struct pm_block *block) {
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

static void code_edge(struct pm_codec *codec, struct pm_edge *edge) {
    INDEX(edge->from);
    INDEX(edge->to);
    INDEX(edge->routine);
    INDEX(edge->counter);
    U8(edge->kind);
    pm_code_raw(codec, &edge->weight, sizeof edge->weight);
}

static void code_scope(struct pm_codec *codec, struct pm_scope *scope) {
    U8(scope->kind);
    U8(scope->depth);
    U16(scope->flags);
    INDEX(scope->parent);
    INDEX(scope->routine);
    INDEX(scope->header);
    INDEX(scope->fold);
    pm_code_text(codec, &scope->name);
    pm_code_text(codec, &scope->file);
    U32(scope->line_first);
    U32(scope->line_last);
    pm_code_text(codec, &scope->call_file);
    U32(scope->call_file_line);
    U64(scope->address_low);
    U64(scope->address_high);
    pm_code_text(codec, &scope->trip_count);
    U32(scope->unroll);
    U64(scope->key);
}

static void code_reference(struct pm_codec *codec, struct pm_reference *reference) {
    U64(reference->address);
    INDEX(reference->block);
    INDEX(reference->group);
    U32(reference->size_bytes);
    U8(reference->access);
    U8(reference->kind);
    U8(reference->operand);
    BOOL(reference->recorded);
    if (!BOOL(reference->has_address))
        return;
    U8(reference->base);
    U8(reference->index);
    U8(reference->scale);
    pm_code_signed(codec, &reference->displacement);
}

static void code_stride(struct pm_codec *codec, struct pm_stride *stride) {
    U8(stride->kind);
    pm_code_signed(codec, &stride->bytes);
    pm_code_text(codec, &stride->expression);
}

static void code_group(struct pm_codec *codec, struct pm_group *group) {
    INDEX(group->scope);
    INDEX(group->module);
    pm_code_text(codec, &group->object);
    pm_code_text(codec, &group->object_type);
    U32(group->flags);
    group->flags &= codec->reading ? ~(uint32_t)PM_GROUP_JOINED : UINT32_MAX; /* is of the runs */
    size_t n_strides = group->n_strides;
    group->strides = pm_code_array(codec, group->strides, &n_strides, sizeof *group->strides, 1);
    group->n_strides = (uint32_t)n_strides;
    for (size_t i = 0; i < n_strides && !codec->in.fault; i++)
        code_stride(codec, &group->strides[i]);
    U32(group->n_loads);
    U32(group->n_stores);
    U32(group->bytes_min);
    U32(group->bytes_max);
}

static void code_op(struct pm_codec *codec, struct pm_op *op) {
    U8(op->op_class);
    U8(op->element_bytes);
    uint16_t width_and_start = (uint16_t)(op->width_bits << 1 | op->instruction_start);
    U16(width_and_start);
    op->width_bits = width_and_start >> 1;
    op->instruction_start = width_and_start & 1;
    pm_code_raw(codec, op->defs, sizeof op->defs);
    pm_code_raw(codec, op->uses, sizeof op->uses);
    INDEX(op->reference);
    U32(op->mnemonic);
}

static void code_mnemonic(struct pm_codec *codec, char **mnemonic) {
    pm_code_text(codec, mnemonic);
}

static void code_unknown(struct pm_codec *codec, struct pm_unknown *unknown) {
    INDEX(unknown->block);
    U32(unknown->count);
    pm_code_text(codec, &unknown->mnemonic);
}

static void code_dependence(struct pm_codec *codec, struct pm_dependence *dependence) {
    INDEX(dependence->scope);
    INDEX(dependence->from);
    INDEX(dependence->to);
    U32(dependence->distance);
    U8(dependence->kind);
}

static void code_call(struct pm_codec *codec, struct pm_call *call) {
    INDEX(call->block);
    INDEX(call->routine);
}

static void code_import(struct pm_codec *codec, struct pm_import *import) {
    INDEX(import->block);
    BOOL(import->same_file);
    pm_code_text(codec, &import->symbol);
}

static void code_assignment(struct pm_codec *codec, struct pm_assignment *assignment) {
    INDEX(assignment->op);
    INDEX(assignment->callee);
    U8(assignment->place);
    pm_code_signed(codec, &assignment->constant);
    U8(assignment->n_terms);
    for (unsigned t = 0; t < assignment->n_terms && t < PM_MOST_ASSIGNED; t++) {
        int64_t factor = assignment->factors[t];
        U8(assignment->places[t]);
        pm_code_signed(codec, &factor);
        assignment->factors[t] = (int32_t)factor;
    }
}

static void code_structure(struct pm_codec *codec, struct pm_structure *s) {
    pm_code_text(codec, &s->isa);
    U64(s->hash);
    U32(s->n_counters);
    GROWABLE(s, modules, code_module);
    GROWABLE(s, routines, code_routine);
    GROWABLE(s, parts, code_part);
    GROWABLE(s, blocks, code_block);
    GROWABLE(s, edges, code_edge);
    GROWABLE(s, scopes, code_scope);
    GROWABLE(s, references, code_reference);
    GROWABLE(s, groups, code_group);
    GROWABLE(s, ops, code_op);
    GROWABLE(s, dependences, code_dependence);
    GROWABLE(s, unknowns, code_unknown);
    GROWABLE(s, calls, code_call);
    GROWABLE(s, imports, code_import);
    GROWABLE(s, mnemonics, code_mnemonic);
    GROWABLE(s, assignments, code_assignment);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_structure_encode(const struct pm_structure *structure, void **bytes, size_t *n_bytes) {
    struct pm_codec codec = {.reading = false};
    code_structure(&codec, (struct pm_structure *)structure); /* which it does not change */
    pm_codec_seal(&codec, &kind, bytes, n_bytes);
}

struct pm_structure *pm_structure_decode(const void *bytes, size_t n_bytes, struct pm_error *err) {
    struct pm_codec codec;
    if (!pm_codec_open(&codec, &kind, bytes, n_bytes, err))
        return NULL;
    struct pm_structure *structure = pm_alloc(1, sizeof *structure);
    code_structure(&codec, structure);
    if (pm_codec_close(&codec, &kind, err) && pm_structure_check(structure, err))
        return structure;
    pm_structure_free(structure);
    return NULL;
}
