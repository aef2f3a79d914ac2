/* Formulas of definitions: what an instruction gives to a register or a slot of the frame, as a sum
   of what it read, by the ISA's `define`.  What cannot be said so is an atom: a result, a loaded
   value, or a function of its operands.  Needs the values that reach each place
   (reaching_values.c). */
#include "binlift/formula/solver.h"

#include <string.h>

/* What INSN gives to VARIABLE, if all that it needs are general registers. */
static struct pm_formula formula_of_result(struct pm_formulas *f, uint32_t insn,
                                           uint32_t variable) {
    const struct pm_insn *code = &f->lifted->insns[insn];
    uint32_t loop = pm_loop_of_insn(f, insn);
    uint32_t uses = (uint32_t)code->registers->uses.general;
    if (variable >= PM_N_GENERAL || pm_is_call(code->control) || code->n_memory ||
        code->registers->uses.vector || code->registers->uses.general >> PM_N_GENERAL)
        return pm_sum_atom(pm_atom(f, PM_ATOM_RESULT, insn, variable, loop));
    if (!(code->registers->kills.general >> variable & 1))
        uses |= UINT32_C(1) << variable;
    struct pm_formula arguments[4];
    unsigned n = 0;
    for (; uses && n < 4; uses &= uses - 1)
        arguments[n++] = pm_formula_of_place(f, insn, (uint8_t)__builtin_ctz(uses), 0);
    if (uses)
        return pm_sum_atom(pm_atom(f, PM_ATOM_RESULT, insn, variable, loop));
    uint32_t atom = pm_atom(f, PM_ATOM_FUNCTION, insn, variable, loop);
    if (f->atoms[atom].n_arguments == 0)
        for (unsigned k = 0; k < n; k++)
            pm_atom_add_argument(f, atom, &arguments[k]);
    return pm_sum_atom(atom);
}

/* A word that the dynamic linker or nobody writes. */
static bool fixed_word(const struct pm_formulas *f, const struct pm_memory_operand *operand,
                       int64_t address, uint64_t *word) {
    const struct pm_section *section = pm_image_section_at(&f->lifted->image, (uint64_t)address);
    return operand->size_bytes == 8 && section &&
           (!(section->header.sh_flags & SHF_WRITE) || strncmp(section->name, ".got", 4) == 0 ||
            strcmp(section->name, ".data.rel.ro") == 0) &&
           pm_word_at(f->lifted, (uint64_t)address, word) && *word != 0;
}

struct pm_formula pm_formula_of_load(struct pm_formulas *f, uint32_t insn, uint8_t number) {
    const struct pm_memory_operand *operand = &f->lifted->insns[insn].memory[number];
    uint32_t loop = pm_loop_of_insn(f, insn);
    const struct pm_frame_access *access = pm_frame_access_of(f, insn, number);
    uint32_t slot = access ? pm_slot_at(f, access->offset) : PM_NONE;
    if (slot != PM_NONE && operand->size_bytes >= 4)
        return pm_formula_of_value(f, pm_value_before(f, insn, slot), loop);
    struct pm_formula address = pm_formula_of_operand(f, insn, number);
    int64_t constant;
    uint64_t word;
    if (pm_formula_constant(&address, &constant) && fixed_word(f, operand, constant, &word))
        return pm_sum_constant((int64_t)word);
    uint32_t atom = pm_atom(f, PM_ATOM_LOAD, insn, number, loop);
    if (f->atoms[atom].n_arguments == 0)
        pm_atom_add_argument(f, atom, &address);
    return pm_sum_atom(atom);
}

struct pm_formula pm_formula_of_place(struct pm_formulas *f, uint32_t insn, uint8_t place,
                                      uint8_t operand) {
    if (place == PM_PLACE_MEMORY)
        return pm_formula_of_load(f, insn, operand);
    return pm_formula_of_value(f, pm_value_before(f, insn, place), pm_loop_of_insn(f, insn));
}

/* False: too many terms, or not of that kind. */
bool pm_formula_evaluate(struct pm_formulas *f, uint32_t insn,
                         const struct pm_definition *definition, struct pm_formula *formula) {
    struct pm_formula terms[PM_MOST_TERMS], product;
    int64_t value;
    if (definition->kind == PM_DEFINED_OTHERWISE || definition->n_terms > PM_MOST_TERMS)
        return false;
    for (unsigned t = 0; t < definition->n_terms; t++)
        terms[t] = pm_formula_of_place(f, insn, definition->terms[t].place, definition->operand);
    *formula = pm_sum_constant(definition->constant);
    switch (definition->kind) {
    case PM_DEFINED_AS_SUM:
        for (unsigned t = 0; t < definition->n_terms; t++)
            if (!pm_formula_add(formula, &terms[t], definition->terms[t].factor))
                return false;
        return true;
    case PM_DEFINED_AS_PRODUCT:
        return definition->n_terms >= 2 && pm_sum_multiply(&terms[0], &terms[1], &product) &&
               pm_formula_add(formula, &product, definition->terms[0].factor) &&
               (definition->n_terms == 2 ||
                pm_formula_add(formula, &terms[2], definition->terms[2].factor));
    case PM_DEFINED_AS_CONSTANT_WITH:
        if (definition->n_terms != 1 || !pm_formula_constant(&terms[0], &value))
            return false;
        *formula = pm_sum_constant((value & ~definition->terms[0].factor) | definition->constant);
        return true;
    case PM_DEFINED_AS_QUOTIENT: /* where it is surely exact */
        *formula = terms[0];
        for (uint32_t i = 0; i < formula->n_terms; i++) {
            if (definition->constant <= 0 || formula->terms[i].factor % definition->constant != 0)
                return false;
            formula->terms[i].factor /= definition->constant;
        }
        return definition->n_terms == 1;
    default: /* a choice between equal values is none */
        *formula = terms[0];
        for (unsigned t = 1; t < definition->n_terms; t++)
            if (!pm_sum_equal(&terms[t], &terms[0]))
                return false;
        return definition->n_terms > 0;
    }
}

/* The definition that stores to the slot VARIABLE whole. */
static bool defines_slot(const struct pm_formulas *f, uint32_t insn,
                         const struct pm_definition *definition, uint32_t variable) {
    const struct pm_slot *slot = &f->slots[variable - PM_N_GENERAL];
    if (definition->place != PM_PLACE_MEMORY)
        return false;
    const struct pm_frame_access *access = pm_frame_access_of(f, insn, definition->operand);
    const struct pm_memory_operand *operand = &f->lifted->insns[insn].memory[definition->operand];
    return access && access->offset == slot->offset && operand->size_bytes == slot->size_bytes;
}

struct pm_formula pm_formula_of_definition(struct pm_formulas *f, uint32_t insn,
                                           uint32_t variable) {
    const struct pm_insn *code = &f->lifted->insns[insn];
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    struct pm_formula formula;
    unsigned n = pm_is_call(code->control)
                     ? 0
                     : f->lifted->isa->define(pm_insn_bytes(f->lifted, insn), code, definitions);
    for (unsigned i = 0; i < n; i++) {
        bool is_it = variable < PM_N_GENERAL ? definitions[i].place == variable
                                             : defines_slot(f, insn, &definitions[i], variable);
        if (is_it && pm_formula_evaluate(f, insn, &definitions[i], &formula))
            return formula;
    }
    return formula_of_result(f, insn, variable);
}
