/* What nests call: routines of the same file, whose copies their copies call, and routines of the
   mathematical library, which are called as they are. */
#include "binlift/bound/bound.h"
#include "binlift/elf/elf.h"
#include "core/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* They follow from their arguments alone, and change nothing but errno and what pointers name.
   Ascending; of each its form for float (f behind it) and GCC's vectors of it (_ZGVdN4v_ before it)
   count as well. */
static const char *const pure[] = {
    "acos",     "acosh",  "asin",  "asinh", "atan", "atan2",     "atanh", "cbrt",      "ceil",
    "copysign", "cos",    "cosh",  "erf",   "erfc", "exp",       "exp10", "exp2",      "expm1",
    "fabs",     "fdim",   "floor", "fma",   "fmax", "fmin",      "fmod",  "hypot",     "ldexp",
    "log",      "log10",  "log1p", "log2",  "logb", "nearbyint", "pow",   "remainder", "rint",
    "round",    "scalbn", "sin",   "sinh",  "sqrt", "tan",       "tanh",  "tgamma",    "trunc",
};

static int compare_names(const void *name, const void *text) {
    return strcmp(name, *(const char *const *)text);
}

static bool is_listed(const char *name) {
    return bsearch(name, pure, sizeof pure / sizeof *pure, sizeof *pure, compare_names) != NULL;
}

/* _ZGV, the instruction set, N or M, how many elements, a v for each argument, _ and the name. */
static const char *without_vector_prefix(const char *name) {
    static const char prefix[] = "_ZGV";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return name;
    const char *at = name + sizeof prefix - 1;
    if (!*at || at[1] != 'N')
        return name;
    at += 2;
    at += strspn(at, "0123456789");
    at += strspn(at, "v");
    return *at == '_' ? at + 1 : name;
}

static bool is_pure(const char *name) {
    char plain[16];
    if (!strcmp(name, "__powidf2") || !strcmp(name, "__powisf2"))
        return true;
    name = without_vector_prefix(name);
    size_t n = strlen(name);
    if (is_listed(name))
        return true;
    if (n < 2 || n > sizeof plain || name[n - 1] != 'f')
        return false;
    memcpy(plain, name, n - 1);
    plain[n - 1] = 0;
    return is_listed(plain);
}

uint8_t pm_bound_call_of(const struct pm_lifted *lifted, const struct pm_insn *insn,
                         uint32_t *routine, unsigned *n_stored) {
    uint64_t address;
    const char *name;
    *routine = PM_NONE;
    *n_stored = 0;
    if (!pm_is_call(insn->control))
        return PM_BOUND_NO_CALL;
    if (!pm_call_target(lifted, insn, &address, &name))
        return PM_BOUND_CALLS_OTHER;
    if (!address) {
        bool is_sincos = !strcmp(name, "sincos") || !strcmp(name, "sincosf");
        *n_stored = is_sincos ? 2 : 0;
        return is_sincos || is_pure(name) ? PM_BOUND_CALLS_LIBRARY : PM_BOUND_CALLS_OTHER;
    }
    *routine = pm_routine_at(lifted, address);
    bool is_begin = *routine != PM_NONE && insn->control == PM_CONTROL_CALL &&
                    lifted->structure->routines[*routine].address == address;
    return is_begin ? PM_BOUND_CALLS_INSIDE : PM_BOUND_CALLS_OTHER;
}

/* ---- what calls take ------------------------------------------------------------------------- */

struct calls {
    const struct pm_structure *structure;
    const double *own;
    double *executed, *entries;
    double *per_call; /* the result; NAN: not looked at yet */
    bool *open;       /* being looked at: what comes back there is recursion */
};

static double find_per_call(struct calls *c, uint32_t routine) {
    if (c->open[routine])
        return INFINITY;
    if (!isnan(c->per_call[routine]))
        return c->per_call[routine];
    const struct pm_structure *s = c->structure;
    const struct pm_routine *r = &s->routines[routine];
    double all = c->own[routine];
    c->open[routine] = true;
    size_t i = PM_LOWER_BOUND(s->n_calls, k, s->calls[k].block < r->first_block);
    for (; i < s->n_calls && s->calls[i].block < r->first_block + r->n_blocks; i++)
        if (c->executed[s->calls[i].block] > 0)
            all += c->executed[s->calls[i].block] * find_per_call(c, s->calls[i].routine);
    c->open[routine] = false;
    c->per_call[routine] = c->entries[routine] > 0 ? all / c->entries[routine] : 0;
    return c->per_call[routine];
}

double *pm_bound_per_call(const struct pm_structure *structure, const double *edge_counts,
                          const double *own) {
    size_t n = structure->n_routines;
    struct calls c = {.structure = structure,
                      .own = own,
                      .executed = pm_block_executions(structure, edge_counts),
                      .entries = pm_alloc(n + 1, sizeof *c.entries),
                      .per_call = pm_alloc(n + 1, sizeof *c.per_call),
                      .open = pm_alloc(n + 1, sizeof *c.open)};
    for (uint32_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].kind == PM_EDGE_ENTRY)
            c.entries[structure->edges[e].routine] += edge_counts[e];
    for (uint32_t r = 0; r < n; r++)
        c.per_call[r] = NAN;
    for (uint32_t r = 0; r < n; r++)
        find_per_call(&c, r);
    free(c.executed);
    free(c.entries);
    free(c.open);
    return c.per_call;
}
