/* Sums of terms: the arithmetic of access formulas; see formula.h.  Terms are kept in the order of
   their atoms, so that equal sums are equal bytes.  Numbers wrap around as addresses do. */
#include "binlift/formula/solver.h"

#include <string.h>

struct pm_formula pm_sum_constant(int64_t value) {
    struct pm_formula sum = {0};
    if (value != 0) {
        sum.n_terms = 1;
        sum.terms[0].factor = value;
    }
    return sum;
}

struct pm_formula pm_sum_atom(uint32_t atom) {
    struct pm_formula sum = {.n_terms = 1};
    sum.terms[0].factor = 1;
    sum.terms[0].atoms[0] = atom;
    return sum;
}

static int64_t times(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

static int compare_atoms(const struct pm_formula_term *a, const struct pm_formula_term *b) {
    for (int i = 0; i < PM_TERM_ATOMS; i++)
        if (a->atoms[i] != b->atoms[i])
            return a->atoms[i] < b->atoms[i] ? -1 : 1;
    return 0;
}

/* *SUM += TERM */
static bool add_term(struct pm_formula *sum, const struct pm_formula_term *term) {
    uint32_t at = 0;
    if (term->factor == 0)
        return true;
    while (at < sum->n_terms && compare_atoms(&sum->terms[at], term) < 0)
        at++;
    if (at < sum->n_terms && compare_atoms(&sum->terms[at], term) == 0) {
        sum->terms[at].factor = (int64_t)((uint64_t)sum->terms[at].factor + (uint64_t)term->factor);
        if (sum->terms[at].factor == 0) {
            sum->n_terms--;
            memmove(&sum->terms[at], &sum->terms[at + 1],
                    (sum->n_terms - at) * sizeof sum->terms[0]);
        }
        return true;
    }
    if (sum->n_terms == PM_FORMULA_TERMS)
        return false;
    memmove(&sum->terms[at + 1], &sum->terms[at], (sum->n_terms - at) * sizeof sum->terms[0]);
    sum->terms[at] = *term;
    sum->n_terms++;
    return true;
}

bool pm_formula_add(struct pm_formula *sum, const struct pm_formula *added, int64_t factor) {
    for (uint32_t i = 0; i < added->n_terms; i++) {
        struct pm_formula_term term = added->terms[i];
        term.factor = times(term.factor, factor);
        if (!add_term(sum, &term))
            return false;
    }
    return true;
}

static bool add_atom(struct pm_formula_term *term, uint32_t atom) {
    if (term->atoms[PM_TERM_ATOMS - 1])
        return false;
    int at = 0;
    while (term->atoms[at] && term->atoms[at] < atom)
        at++;
    memmove(&term->atoms[at + 1], &term->atoms[at],
            (size_t)(PM_TERM_ATOMS - 1 - at) * sizeof term->atoms[0]);
    term->atoms[at] = atom;
    return true;
}

static bool add_product(struct pm_formula *sum, const struct pm_formula_term *a,
                        const struct pm_formula_term *b) {
    struct pm_formula_term term = *a;
    term.factor = times(a->factor, b->factor);
    for (int i = 0; i < PM_TERM_ATOMS && b->atoms[i]; i++)
        if (!add_atom(&term, b->atoms[i]))
            return false;
    return add_term(sum, &term);
}

bool pm_sum_multiply(const struct pm_formula *a, const struct pm_formula *b,
                     struct pm_formula *product) {
    *product = (struct pm_formula){0};
    for (uint32_t i = 0; i < a->n_terms; i++)
        for (uint32_t k = 0; k < b->n_terms; k++)
            if (!add_product(product, &a->terms[i], &b->terms[k]))
                return false;
    return true;
}

bool pm_sum_equal(const struct pm_formula *a, const struct pm_formula *b) {
    return a->n_terms == b->n_terms &&
           memcmp(a->terms, b->terms, a->n_terms * sizeof a->terms[0]) == 0;
}

static int place_of(const struct pm_formula_term *term, uint32_t atom) {
    for (int i = 0; i < PM_TERM_ATOMS; i++)
        if (term->atoms[i] == atom)
            return i;
    return -1;
}

bool pm_sum_has(const struct pm_formula *sum, uint32_t atom) {
    for (uint32_t i = 0; i < sum->n_terms; i++)
        if (place_of(&sum->terms[i], atom) >= 0)
            return true;
    return false;
}

static void remove_atom(struct pm_formula_term *term, int at) {
    for (; at + 1 < PM_TERM_ATOMS; at++)
        term->atoms[at] = term->atoms[at + 1];
    term->atoms[PM_TERM_ATOMS - 1] = 0;
}

bool pm_sum_replace(struct pm_formula *sum, uint32_t atom, const struct pm_formula *value) {
    struct pm_formula replaced = {0};
    for (uint32_t i = 0; i < sum->n_terms; i++) {
        struct pm_formula_term term = sum->terms[i];
        int at = place_of(&term, atom);
        if (at < 0) {
            if (!add_term(&replaced, &term))
                return false;
            continue;
        }
        remove_atom(&term, at);
        struct pm_formula rest = {.n_terms = 1, .terms = {term}}, product;
        if (place_of(&term, atom) >= 0 && !pm_sum_replace(&rest, atom, value))
            return false;
        if (!pm_sum_multiply(&rest, value, &product) || !pm_formula_add(&replaced, &product, 1))
            return false;
    }
    *sum = replaced;
    return true;
}

bool pm_sum_split(const struct pm_formula *sum, uint32_t atom, struct pm_formula *rest,
                  struct pm_formula *factor) {
    *rest = *factor = (struct pm_formula){0};
    for (uint32_t i = 0; i < sum->n_terms; i++) {
        struct pm_formula_term term = sum->terms[i];
        int at = place_of(&term, atom);
        struct pm_formula *into = at < 0 ? rest : factor;
        if (at >= 0)
            remove_atom(&term, at);
        if (place_of(&term, atom) >= 0)
            return false;
        add_term(into, &term); /* no more terms than SUM has */
    }
    return true;
}

bool pm_formula_subtract(const struct pm_formula *left, const struct pm_formula *right,
                         struct pm_formula *difference) {
    *difference = *left;
    return pm_formula_add(difference, right, -1);
}

bool pm_formula_constant(const struct pm_formula *formula, int64_t *value) {
    *value = formula->n_terms ? formula->terms[0].factor : 0;
    return formula->n_terms == 0 || (formula->n_terms == 1 && formula->terms[0].atoms[0] == 0);
}
