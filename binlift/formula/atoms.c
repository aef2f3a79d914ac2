/* Atoms of access formulas, each made once; formulas kept for later; and the loops that they are
   seen from.  See solver.h. */
#include "binlift/formula/solver.h"

#include <stdlib.h>
#include <string.h>

/* ---- loops ----------------------------------------------------------------------------------- */

uint32_t pm_loop_of_insn(const struct pm_formulas *f, uint32_t insn) {
    uint32_t block = f->lifted->insn_block[insn];
    return block == PM_NONE ? PM_NONE : f->structure->blocks[block].loop;
}

/* Parents have smaller numbers. */
bool pm_loop_is_in(const struct pm_formulas *f, uint32_t loop, uint32_t outer) {
    if (outer == PM_NONE)
        return true;
    while (loop != PM_NONE && loop > outer)
        loop = pm_outer_loop(f->structure, loop);
    return loop == outer;
}

/* ---- atoms ----------------------------------------------------------------------------------- */

static uint64_t hash_atom(uint32_t kind, uint32_t where, uint32_t place, uint32_t loop) {
    uint64_t hash = kind * UINT64_C(0x9e3779b97f4a7c15) + where;
    hash = hash * UINT64_C(0xc2b2ae3d27d4eb4f) + place;
    hash = hash * UINT64_C(0x165667b19e3779f9) + loop;
    return hash ^ hash >> 29;
}

uint32_t pm_atom(struct pm_formulas *f, enum pm_atom_kind kind, uint32_t where, uint32_t place,
                 uint32_t loop) {
    uint64_t hash = hash_atom(kind, where, place, loop);
    if (f->n_atoms == 0)
        PM_PUSH(f, atoms);
    for (struct pm_map_entry at = pm_map_find(&f->atom_map, hash); at.found;
         pm_map_next(&f->atom_map, &at)) {
        const struct pm_atom *atom = &f->atoms[at.item];
        if (atom->kind == kind && atom->where == where && atom->place == place &&
            atom->loop == loop)
            return at.item;
    }
    uint32_t number = (uint32_t)f->n_atoms;
    pm_map_add(&f->atom_map, hash, number);
    *PM_PUSH(f, atoms) = (struct pm_atom){
        .kind = (uint8_t)kind, .place = (uint8_t)place, .where = where, .loop = loop};
    return number;
}

/* ---- formulas that are kept ------------------------------------------------------------------ */

struct pm_stored_formula pm_store_formula(struct pm_formulas *f, const struct pm_formula *formula) {
    struct pm_stored_formula stored = {(uint32_t)f->n_terms, formula->n_terms};
    for (uint32_t i = 0; i < formula->n_terms; i++)
        *PM_PUSH(f, terms) = formula->terms[i];
    return stored;
}

struct pm_formula pm_load_formula(const struct pm_formulas *f, struct pm_stored_formula stored) {
    struct pm_formula formula = {.n_terms = stored.n_terms};
    if (stored.n_terms)
        memcpy(formula.terms, f->terms + stored.first_term,
               stored.n_terms * sizeof formula.terms[0]);
    return formula;
}

/* All arguments of one atom one after the other. */
void pm_atom_add_argument(struct pm_formulas *f, uint32_t atom, const struct pm_formula *argument) {
    struct pm_stored_formula stored = pm_store_formula(f, argument);
    struct pm_atom *a = &f->atoms[atom];
    if (a->n_arguments == 0)
        a->first_argument = (uint32_t)f->n_arguments;
    a->n_arguments++;
    *PM_PUSH(f, arguments) = stored;
}
