/* What makes a memory operand belong to a reference group: its loop, its object, its strides; see
   groups.h.  Needs the scope tree joined with metadata.

   The compiler's word counts where there is one: object and strides of the source reference, or
   that the operand is a spill, other stack traffic or the constant pool.  Else the operand itself
   is looked at: its access formula (formula.h) gives strides, the place in the frame, or the data
   symbol at its first address.  Where the compiler has unrolled a loop, one iteration of what is
   left goes over all copies of an access: copies lie nearer to each other than its stride.  What
   push, pop, call and ret move is in groups of its own, whatever the compiler says.  Outside of
   loops, where nothing has a stride, accesses to objects without a name are one group of their
   routine. */
#include "binlift/formula/groups.h"
#include "binlift/metadata/metadata.h"

#include <string.h>
#include <xxhash.h>

enum { MOST_STEPS_BACK = 3 };

/* ---- the compiler's word --------------------------------------------------------------------- */

/* One that stands in the instruction's text. */
static bool has_named_operand(const struct pm_insn *insn) {
    for (unsigned k = 0; k < insn->n_memory; k++)
        if (!insn->memory[k].implicit)
            return true;
    return false;
}

/* Memory records of an instruction.  A place of the compiler's may stand for several machine
   instructions; the records are then those of the nearest one before that has no operand itself. */
static const struct pm_metadata_memory *find_records(const struct pm_lifted *lifted, uint32_t insn,
                                                     size_t *n) {
    const struct pm_metadata_memory *records =
        pm_metadata_memory_at(lifted->metadata, lifted->insns[insn].address, n);
    uint32_t block = lifted->insn_block[insn];
    for (int steps = 0; *n == 0 && steps < MOST_STEPS_BACK; steps++) {
        if (insn == 0 || lifted->insn_block[--insn] != block ||
            has_named_operand(&lifted->insns[insn]))
            return NULL;
        records = pm_metadata_memory_at(lifted->metadata, lifted->insns[insn].address, n);
    }
    return *n ? records : NULL;
}

/* The record for OPERAND: the k-th record with the same access (or the last), if OPERAND is the
   k-th such operand; else one whose access includes it. */
static const struct pm_metadata_memory *find_record(const struct pm_lifted *lifted, uint32_t insn,
                                                    unsigned operand) {
    const struct pm_insn *code = &lifted->insns[insn];
    const struct pm_metadata_memory *best = NULL;
    size_t n;
    const struct pm_metadata_memory *records = find_records(lifted, insn, &n);
    if (!records)
        return NULL;
    uint8_t access = code->memory[operand].access;
    unsigned before = 0, seen = 0;
    for (unsigned k = 0; k < operand; k++)
        before += !code->memory[k].implicit && code->memory[k].access == access;
    for (size_t i = 0; i < n; i++)
        if (records[i].access == access && seen++ <= before)
            best = &records[i];
    for (size_t i = 0; i < n && !best; i++)
        if (records[i].access & access)
            best = &records[i];
    return best;
}

bool pm_compiler_says_apart(const struct pm_describer *describer, uint32_t loop, uint32_t insn_a,
                            unsigned operand_a, uint32_t insn_b, unsigned operand_b) {
    const struct pm_lifted *lifted = describer->lifted;
    const struct pm_metadata *m = lifted->metadata;
    if (!m || m->scope_loop[loop] == PM_NONE)
        return false;
    const struct pm_metadata_memory *a = find_record(lifted, insn_a, operand_a);
    const struct pm_metadata_memory *b = find_record(lifted, insn_b, operand_b);
    return a && b && a->contribution == b->contribution &&
           pm_metadata_may_alias(m, &m->contributions[a->contribution],
                                 m->loops[m->scope_loop[loop]].number, a->reference,
                                 b->reference) == PM_ALIAS_INDEPENDENT;
}

/* The reference's stride in the compiler's loop that SCOPE is tied to. */
static struct pm_step stride_in(const struct pm_metadata *m,
                                const struct pm_metadata_reference *reference, uint32_t scope) {
    uint32_t loop = m->scope_loop[scope];
    for (uint32_t i = 0; loop != PM_NONE && i < reference->n_levels; i++) {
        const struct pm_metadata_level *level = &m->levels[reference->first_level + i];
        if (level->loop == m->loops[loop].number)
            return (struct pm_step){(uint8_t)level->kind, level->bytes, level->expression};
    }
    return (struct pm_step){.kind = PM_STRIDE_UNKNOWN};
}

/* Loops around the reference, innermost first; as many as there is room for. */
static void take_compiler_strides(const struct pm_lifted *lifted,
                                  const struct pm_metadata_reference *reference, uint32_t loop,
                                  struct pm_group_key *key) {
    for (; loop != PM_NONE && key->n_strides < PM_MOST_LEVELS;
         loop = pm_outer_loop(lifted->structure, loop)) {
        struct pm_step step = {.kind = PM_STRIDE_CONSTANT};
        if (reference)
            step = stride_in(lifted->metadata, reference, loop);
        if (step.kind == PM_STRIDE_INDIRECT)
            key->flags |= PM_GROUP_IRREGULAR;
        key->strides[key->n_strides++] = step;
    }
}

/* Strides that the compiler does not know, as after jump threading, the code may still tell. */
static void complete_strides(struct pm_describer *describer, uint32_t insn, unsigned operand,
                             struct pm_group_key *key) {
    struct pm_formula_level levels[PM_MOST_LEVELS];
    bool is_complete = true;
    for (uint32_t i = 0; i < key->n_strides; i++)
        is_complete &= key->strides[i].kind != PM_STRIDE_UNKNOWN;
    if (is_complete)
        return;
    uint32_t n = pm_formula_levels(describer->formulas, insn, operand, levels, PM_MOST_LEVELS);
    for (uint32_t i = 0; i < n && i < key->n_strides; i++) {
        if (key->strides[i].kind != PM_STRIDE_UNKNOWN)
            continue;
        key->strides[i] = levels[i].step;
        if (levels[i].step.kind == PM_STRIDE_INDIRECT)
            key->flags |= PM_GROUP_IRREGULAR;
    }
}

/* False: the compiler says nothing that helps. */
static bool describe_by_metadata(const struct pm_describer *describer, uint32_t insn,
                                 unsigned operand, uint32_t loop, struct pm_group_key *key) {
    const struct pm_metadata *m = describer->lifted->metadata;
    const struct pm_metadata_memory *record =
        m ? find_record(describer->lifted, insn, operand) : NULL;
    if (!record)
        return false;
    const struct pm_contribution *contribution = &m->contributions[record->contribution];
    const struct pm_metadata_reference *reference =
        pm_metadata_find_reference(m, contribution, record->reference);
    key->flags = PM_GROUP_FROM_COMPILER;
    if (!reference) {
        if (record->operand_class == PM_OPERAND_SPILL || record->operand_class == PM_OPERAND_FRAME)
            key->flags |= PM_GROUP_STACK;
        else if (record->operand_class == PM_OPERAND_CONSTANT_POOL)
            key->flags |= PM_GROUP_CONSTANTS;
        else
            return false;
        take_compiler_strides(describer->lifted, NULL, loop, key);
        return true;
    }
    const struct pm_metadata_object *object =
        pm_metadata_find_object(m, contribution, reference->object);
    if (object) {
        key->object = object->name;
        key->object_type = object->type;
        if (!object->name)
            key->origin = (uint64_t)(object - m->objects) + 1;
    }
    take_compiler_strides(describer->lifted, reference, loop, key);
    if (reference->flags & PM_REFERENCE_GATHER)
        key->flags |= PM_GROUP_IRREGULAR;
    return true;
}

/* ---- the operand alone ----------------------------------------------------------------------- */

static bool is_read_only(const struct pm_image *image, uint64_t address) {
    const struct pm_section *section = pm_image_section_at(image, address);
    return section &&
           (!(section->header.sh_flags & SHF_WRITE) || strncmp(section->name, ".got", 4) == 0 ||
            strcmp(section->name, ".data.rel.ro") == 0);
}

/* The object behind a formula: by its name where the address is known, else by a number for what
   the address starts from. */
static void find_object(struct pm_describer *describer, const struct pm_formula *address,
                        struct pm_group_key *key) {
    int64_t constant;
    bool is_fixed = pm_formula_is_fixed(describer->formulas, address, &constant);
    const char *name = pm_data_symbol_at(describer->lifted->data_symbols, (uint64_t)constant);
    if (is_fixed && name)
        key->object = name;
    else if (is_fixed && is_read_only(&describer->lifted->image, (uint64_t)constant))
        key->flags |= PM_GROUP_CONSTANTS;
    else if (is_fixed && pm_formula_constant(address, &constant))
        key->origin = (uint64_t)constant;
    else {
        key->origin = pm_formula_origin(describer->formulas, address, &key->anchor);
        key->neighbour = name ? XXH3_64bits(name, strlen(name)) : 0;
    }
}

static void take_strides(struct pm_describer *describer, uint32_t insn, unsigned number,
                         struct pm_group_key *key) {
    struct pm_formula_level levels[PM_MOST_LEVELS];
    uint32_t n = pm_formula_levels(describer->formulas, insn, number, levels, PM_MOST_LEVELS);
    for (uint32_t i = 0; i < n; i++) {
        if (levels[i].step.kind == PM_STRIDE_INDIRECT)
            key->flags |= PM_GROUP_IRREGULAR;
        key->strides[key->n_strides++] = levels[i].step;
    }
}

static void describe_by_operand(struct pm_describer *describer, uint32_t insn, unsigned number,
                                uint32_t loop, struct pm_group_key *key) {
    struct pm_formulas *formulas = describer->formulas;
    const struct pm_memory_operand *operand = &describer->lifted->insns[insn].memory[number];
    key->flags = 0;
    if (operand->kind == PM_ACCESS_GATHER_K || operand->kind == PM_ACCESS_GATHER_V)
        key->flags |= PM_GROUP_IRREGULAR;
    if (loop == PM_NONE) {
        bool is_fixed = operand->base == PM_REGISTER_PC || operand->base == PM_REGISTER_NONE;
        struct pm_formula address = {.n_terms = 1, .terms = {{.factor = operand->displacement}}};
        if (pm_formula_is_frame_register(formulas, operand->base))
            key->flags |= PM_GROUP_STACK;
        else if (is_fixed && operand->segment == 0)
            find_object(describer, &address, key);
        return;
    }
    take_strides(describer, insn, number, key);
    struct pm_formula address = pm_formula_of_operand(formulas, insn, number);
    int64_t offset;
    if (pm_formula_is_frame(formulas, &address, &offset))
        key->flags |= PM_GROUP_STACK;
    else
        find_object(describer, &address, key);
}

bool pm_describe_by_compiler(const struct pm_describer *describer, uint32_t insn, unsigned operand,
                             struct pm_group_key *key) {
    const struct pm_lifted *lifted = describer->lifted;
    const struct pm_block *block = &lifted->structure->blocks[lifted->insn_block[insn]];
    *key = (struct pm_group_key){0};
    return describe_by_metadata(describer, insn, operand, block->loop, key) &&
           !(key->flags & (PM_GROUP_STACK | PM_GROUP_CONSTANTS));
}

static uint32_t scope_of(const struct pm_structure *structure, const struct pm_block *block) {
    return block->loop != PM_NONE ? block->loop : structure->routines[block->routine].scope;
}

void pm_describe_called(const struct pm_lifted *lifted, uint32_t insn, const char *name,
                        struct pm_group_key *key) {
    const struct pm_structure *structure = lifted->structure;
    const struct pm_block *block = &structure->blocks[lifted->insn_block[insn]];
    *key = (struct pm_group_key){
        .scope = scope_of(structure, block), .flags = PM_GROUP_CALLED, .object = name};
    for (uint32_t loop = block->loop; loop != PM_NONE && key->n_strides < PM_MOST_LEVELS;
         loop = pm_outer_loop(structure, loop))
        key->strides[key->n_strides++] = (struct pm_step){.kind = PM_STRIDE_UNKNOWN};
}

void pm_describe_operand(struct pm_describer *describer, uint32_t insn, unsigned operand,
                         struct pm_group_key *key) {
    const struct pm_lifted *lifted = describer->lifted;
    const struct pm_structure *structure = lifted->structure;
    const struct pm_block *block = &structure->blocks[lifted->insn_block[insn]];
    *key = (struct pm_group_key){0};
    key->scope = scope_of(structure, block);
    if (lifted->insns[insn].memory[operand].implicit) {
        key->flags = PM_GROUP_STACK | PM_GROUP_PUSHED;
        if (block->loop != PM_NONE)
            take_strides(describer, insn, operand, key);
        return;
    }
    if (describe_by_metadata(describer, insn, operand, block->loop, key)) {
        complete_strides(describer, insn, operand, key);
        bool is_anonymous = !key->object && key->origin == 0 &&
                            !(key->flags & (PM_GROUP_STACK | PM_GROUP_CONSTANTS));
        if (is_anonymous && key->n_strides > 0) {
            struct pm_formula address = pm_formula_of_operand(describer->formulas, insn, operand);
            int64_t ignored;
            key->origin = pm_formula_origin(describer->formulas, &address, &ignored);
        }
        return;
    }
    describe_by_operand(describer, insn, operand, block->loop, key);
}
