/* Which basis functions the models of each part of the program may use.

   All models of a set share one list of functions: 1, N … N^4 and their logarithms first, then what
   --basis names, then what --search tries.  A design is a choice from that list, with the
   functions' values at the measured sizes; each scope has one (basis_functions.c makes them). */
#include "fit/prepare/private.h"

#include <stdlib.h>

#include "core/base/base.h"

/* ---- whose they are -------------------------------------------------------------------------- */

/* OWN[scope] becomes NUMBER where NAME names the scope. */
static bool give_to(const struct pm_structure *structure, const char *name, uint16_t number,
                    uint16_t *own, struct pm_error *err) {
    uint32_t n_named;
    bool *named = pm_scopes_named(structure, name, &n_named);
    for (size_t s = 0; s < structure->n_scopes; s++)
        if (named[s])
            own[s] = number;
    free(named);
    if (n_named)
        return true;
    pm_fail(err,
            "basis: the program has no routine or loop `%.100s` (`pmodel loops` and `pmodel "
            "fit --models` list them)",
            name);
    return pm_fail_nearest_scope(err, structure, name);
}

/* Each scope gets its own basis number; without one, that of the scope it is shown with, else that
   of the scope around it. */
static void inherit(const struct pm_structure *structure, const uint16_t *own, uint16_t *of_scope) {
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        uint32_t fold = pm_fold_root(structure, s), parent = structure->scopes[s].parent;
        of_scope[s] = own[s]                                    ? own[s]
                      : fold < structure->n_scopes && own[fold] ? own[fold]
                      : parent < s                              ? of_scope[parent]
                                                                : 0;
    }
}

static bool add_given(const struct pm_structure *structure, const struct pm_path *path,
                      const struct pm_fit_options *options, struct pm_function_list *all,
                      struct pm_fit_bases *bases, struct pm_fit_statistics *statistics,
                      struct pm_error *err) {
    uint16_t *own = pm_alloc(structure->n_scopes + 1, sizeof *own);
    bool ok = true;
    for (size_t b = 0; ok && b < options->n_bases; b++) {
        const struct pm_fit_basis *basis = &options->bases[b];
        struct pm_design *design = pm_design_of_list(all, basis->functions, path, statistics, err);
        ok = design != NULL;
        if (!ok)
            break;
        size_t number = basis->scope ? bases->n_designs++ : 0;
        pm_design_free(bases->designs[number]);
        bases->designs[number] = design;
        bases->given[number] = true;
        if (basis->scope)
            ok = give_to(structure, basis->scope, (uint16_t)number, own, err);
    }
    inherit(structure, own, bases->of_scope);
    free(own);
    return ok;
}

bool pm_fit_bases_new(const struct pm_structure *structure, const struct pm_path *path,
                      const struct pm_fit_options *options, struct pm_model_set *set,
                      struct pm_fit_bases *bases, struct pm_fit_statistics *statistics,
                      struct pm_error *err) {
    static const struct pm_fit_options no_options;
    struct pm_function_list all = {0};
    if (!options)
        options = &no_options;
    *bases =
        (struct pm_fit_bases){.n_designs = 1,
                              .designs = pm_alloc(options->n_bases + 1, sizeof(struct pm_design *)),
                              .given = pm_alloc(options->n_bases + 1, sizeof(bool)),
                              .of_scope = pm_alloc(structure->n_scopes + 1, sizeof(uint16_t)),
                              .n_scopes = structure->n_scopes};
    bool several = path->n_axes > 1;
    if (!several)
        pm_functions_add_standard(&all, path->parameter);
    bases->designs[0] = pm_design_of_list(&all, NULL, path, statistics, err);
    bool ok =
        bases->designs[0] && add_given(structure, path, options, &all, bases, statistics, err);
    if (ok && !several && !bases->given[0] && path->n >= pm_heuristics.enough_sizes &&
        !pm_fit_without(PM_STEP_LOGARITHMS))
        ok = pm_design_add_logarithms(&all, bases->designs[0], path, err);
    if (ok && options->search && several)
        ok = pm_fail(err,
                     "--search looks for functions of one parameter, and %s and %s vary: give "
                     "functions of each with --basis",
                     path->axes[0], path->axes[1]);
    else if (ok && options->search)
        ok = bases->given[0]
                 ? pm_fail(err, "a basis for everything leaves nothing to search: give either "
                                "that or --search")
                 : pm_design_add_search(&all, bases->designs[0], path, err);
    for (size_t d = 0; ok && d < bases->n_designs; d++)
        pm_design_number_functions(bases->designs[d], all.n_texts);
    if (ok)
        set->basis = pm_basis_new(all.n_texts, (const char *const *)all.texts, err);
    for (size_t i = 0; i < all.n_texts; i++)
        free(all.texts[i]);
    free(all.texts);
    return ok && set->basis;
}

void pm_fit_bases_free(struct pm_fit_bases *bases) {
    for (size_t i = 0; i < bases->n_designs; i++)
        pm_design_free(bases->designs[i]);
    free(bases->designs);
    free(bases->given);
    free(bases->of_scope);
    *bases = (struct pm_fit_bases){0};
}

static size_t design_of_scope(const struct pm_fit_bases *bases, uint32_t scope) {
    return scope < bases->n_scopes ? bases->of_scope[scope] : 0;
}

/* An edge is where it goes to: a loop's iterations are the edges into its header. */
size_t pm_fit_design_of_edge(const struct pm_fit_bases *bases, const struct pm_structure *structure,
                             size_t edge) {
    const struct pm_edge *e = &structure->edges[edge];
    uint32_t block = e->to < structure->n_blocks ? e->to : e->from;
    if (bases->n_designs == 1 || block >= structure->n_blocks)
        return 0;
    return design_of_scope(bases, structure->blocks[block].scope);
}

size_t pm_fit_design_of_group(const struct pm_fit_bases *bases,
                              const struct pm_structure *structure, uint32_t group) {
    return group < structure->n_groups ? design_of_scope(bases, structure->groups[group].scope) : 0;
}

/* ---- what is left of the list ---------------------------------------------------------------- */

static void mark_used(struct pm_model *model, void *context) {
    uint16_t *places = context;
    for (size_t t = 0; t < model->n_terms; t++)
        places[model->terms[t]] = 1;
}

static void move_terms(struct pm_model *model, void *context) {
    const uint16_t *places = context;
    for (size_t t = 0; t < model->n_terms; t++)
        model->terms[t] = places[model->terms[t]];
}

void pm_fit_trim_basis(struct pm_model_set *set, size_t n) {
    size_t n_all = set->basis->n, kept = 0;
    if (n_all <= n)
        return;
    uint16_t *places = pm_alloc(n_all, sizeof *places);
    const char **texts = pm_alloc(n_all, sizeof *texts);
    pm_model_set_visit(set, mark_used, places);
    for (size_t i = 0; i < n_all; i++)
        if (i < n || places[i]) {
            texts[kept] = set->basis->texts[i];
            places[i] = (uint16_t)kept++;
        }
    pm_model_set_visit(set, move_terms, places);
    struct pm_basis *basis = pm_basis_new(kept, texts, NULL);
    free(texts);
    free(places);
    pm_basis_free(set->basis);
    set->basis = basis;
}
