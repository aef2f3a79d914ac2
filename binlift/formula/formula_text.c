/* Access formulas as text: "rdi + 8*i2 - 16"; see formula.h.

   A register that has its value from the routine's entry is its name; iN is the number of the
   iteration of the loop at depth N, nN how often that loop went round, [401200] what the
   instruction there loads, rax@401200 what it gives, rax.401200 the value where the basic block
   begins, stack+8 an argument on the stack. */
#include "binlift/formula/solver.h"

#include <inttypes.h>
#include <stdlib.h>

static void append_variable(const struct pm_formulas *f, char **text, uint32_t variable) {
    const struct pm_isa *isa = f->lifted->isa;
    if (variable >= 0xf0)
        pm_append(text, "segment%u", 0xff - variable);
    else if (variable >= PM_N_GENERAL && variable - PM_N_GENERAL < f->n_slots)
        pm_append(text, "stack%+" PRId64, f->slots[variable - PM_N_GENERAL].offset);
    else if (isa->register_names && variable < isa->n_register_names)
        pm_append(text, "%s", isa->register_names[variable]);
    else
        pm_append(text, "r%u", variable);
}

static void append_atom(const struct pm_formulas *f, char **text, uint32_t number) {
    const struct pm_atom *atom = &f->atoms[number];
    uint64_t address = 0;
    if (atom->kind == PM_ATOM_ITERATION || atom->kind == PM_ATOM_TRIPS) {
        uint32_t loop = atom->kind == PM_ATOM_TRIPS ? atom->where : atom->loop;
        pm_append(text, "%c%u", atom->kind == PM_ATOM_TRIPS ? 'n' : 'i',
                  f->structure->scopes[loop].depth);
        return;
    }
    if (atom->kind == PM_ATOM_LOAD || atom->kind == PM_ATOM_RESULT ||
        atom->kind == PM_ATOM_FUNCTION)
        address = f->lifted->insns[atom->where].address;
    else if (atom->where < f->structure->n_blocks)
        address = f->structure->blocks[atom->where].address;
    switch (atom->kind) {
    case PM_ATOM_LOAD:
        pm_append(text, "[%" PRIx64 "]", address);
        return;
    case PM_ATOM_ENTRY:
        append_variable(f, text, atom->place);
        return;
    case PM_ATOM_RESULT:
        if (atom->place >= 0xf0) {
            pm_append(text, "gather@%" PRIx64, address);
            return;
        }
        break;
    default:
        break;
    }
    append_variable(f, text, atom->place);
    if (atom->kind == PM_ATOM_JOIN && atom->where >> 31)
        pm_append(text, "'%u", atom->where & INT32_MAX); /* after a loop */
    else
        pm_append(text, "%c%" PRIx64,
                  atom->kind == PM_ATOM_LOOP || atom->kind == PM_ATOM_JOIN ? '.' : '@', address);
}

static void append_term(const struct pm_formulas *f, char **text,
                        const struct pm_formula_term *term) {
    uint64_t size = term->factor < 0 ? 0 - (uint64_t)term->factor : (uint64_t)term->factor;
    if (*text)
        pm_append(text, term->factor < 0 ? " - " : " + ");
    else if (term->factor < 0)
        pm_append(text, "-");
    if (!term->atoms[0])
        pm_append(text, size < 0x10000 ? "%" PRIu64 : "0x%" PRIx64, size);
    else if (size != 1)
        pm_append(text, "%" PRIu64 "*", size);
    for (int k = 0; k < PM_TERM_ATOMS && term->atoms[k]; k++) {
        if (k)
            pm_append(text, "*");
        append_atom(f, text, term->atoms[k]);
    }
}

char *pm_formula_text(struct pm_formulas *f, const struct pm_formula *formula) {
    char *text = NULL;
    bool has_constant = formula->n_terms && formula->terms[0].atoms[0] == 0;
    for (uint32_t i = has_constant; i < formula->n_terms; i++)
        append_term(f, &text, &formula->terms[i]);
    if (has_constant)
        append_term(f, &text, &formula->terms[0]);
    return text ? text : pm_strdup("0");
}
