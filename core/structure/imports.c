/* Calls from one file to another, by the name of the symbol. */
#include "core/structure/structure.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

bool pm_is_mathematics(const char *library) {
    return !strcmp(library, "libm.so.6") || !strcmp(library, "libmvec.so.1");
}

static const char variant[] = ".variant";

char *pm_variant_name(const char *symbol, unsigned number) {
    return pm_sprintf("%s%s%u", symbol, variant, number);
}

/* Does NAME stand for SYMBOL or for a variant of it? */
static bool is_of_symbol(const char *name, const char *symbol) {
    size_t length = strlen(symbol);
    return strncmp(name, symbol, length) == 0 &&
           (name[length] == '\0' || strncmp(name + length, variant, sizeof variant - 1) == 0);
}

/* ---- what is measured of them ---------------------------------------------------------------- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool *pm_imports_measured(const struct pm_structure *structure) {
    bool *measured = pm_alloc(structure->n_imports, sizeof *measured);
    const char **names = pm_alloc(structure->n_routines, sizeof *names);
    size_t n = 0;
    for (size_t r = 0; r < structure->n_routines; r++)
        if (structure->routines[r].module > 0)
            names[n++] = structure->routines[r].name;
    PM_SORT(names, n, by_text);
    for (size_t i = 0; n && i < structure->n_imports; i++) {
        const struct pm_import *import = &structure->imports[i];
        const char *symbol = import->symbol;
        measured[i] =
            !import->same_file && bsearch(&symbol, names, n, sizeof *names, by_text) != NULL;
    }
    free(names);
    return measured;
}

/* ---- who calls whom -------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    const struct pm_routine *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : PM_COMPARE(*x, *y);
}

/* Those that ran. */
static const struct pm_routine **sort_by_name(const struct pm_structure *structure,
                                              const double *executed, size_t *n) {
    const struct pm_routine **sorted = pm_alloc(structure->n_routines, sizeof *sorted);
    *n = 0;
    for (size_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        if (routine->n_blocks && executed[routine->first_block] > 0)
            sorted[(*n)++] = routine;
    }
    PM_SORT(sorted, *n, by_name);
    return sorted;
}

struct pm_known_calls pm_known_calls_find(const struct pm_structure *structure,
                                          const double *executed) {
    struct pm_known_calls known = {0};
    size_t n;
    const struct pm_routine **sorted = sort_by_name(structure, executed, &n);
    for (size_t i = 0; i < structure->n_calls; i++)
        *PM_PUSH(&known, items) = structure->calls[i];
    for (size_t i = 0; i < structure->n_imports; i++) {
        const struct pm_import *import = &structure->imports[i];
        uint32_t module = structure->routines[structure->blocks[import->block].routine].module;
        size_t k = PM_LOWER_BOUND(n, at, strcmp(sorted[at]->name, import->symbol) < 0);
        size_t length = strlen(import->symbol);
        for (; k < n && strncmp(sorted[k]->name, import->symbol, length) == 0; k++)
            if (is_of_symbol(sorted[k]->name, import->symbol) &&
                (sorted[k]->module == module) == import->same_file)
                *PM_PUSH(&known, items) =
                    (struct pm_call){import->block, (uint32_t)(sorted[k] - structure->routines)};
    }
    free(sorted);
    return known;
}
