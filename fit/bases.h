/* Which basis functions the models of each part of the program may use.  Private to fit/. */
#ifndef PM_BASES_H
#define PM_BASES_H

#include "core/structure/structure.h"
#include "fit/fit.h"
#include "fit/series.h"

struct pm_fit_bases {
    /* Over one list of functions, the set's: [0] for all that has no basis of its own, then one for
       each that was given for a scope.  Owned. */
    size_t n_designs;
    struct pm_design **designs;
    bool *given;        /* [design]: by the user; else it is the default.  Owned */
    uint16_t *of_scope; /* [scope]: the design of its models; owned */
    size_t n_scopes;
};

/* Makes SET's basis and the designs over it.  Errors are those of --basis and of the sizes; what
   was left out harmlessly is noted in STATISTICS. */
bool pm_fit_bases_new(const struct pm_structure *structure, const struct pm_path *path,
                      const struct pm_fit_options *options, struct pm_model_set *set,
                      struct pm_fit_bases *bases, struct pm_fit_statistics *statistics,
                      struct pm_error *err);
void pm_fit_bases_free(struct pm_fit_bases *bases);

/* The designs of an edge and of a reference group: numbers among bases->designs. */
size_t pm_fit_design_of_edge(const struct pm_fit_bases *bases, const struct pm_structure *structure,
                             size_t edge);
size_t pm_fit_design_of_group(const struct pm_fit_bases *bases,
                              const struct pm_structure *structure, uint32_t group);

/* The candidates of `--search` in parameter NAME, N^(i/j)·log2(N)^k, as texts: fills TEXTS if it is
   not NULL (the caller frees them) and returns how many there are. */
size_t pm_fit_search_functions(const char *name, char **texts);

/* Leaves out the functions of SET's basis that no model uses, but for the first N. */
void pm_fit_trim_basis(struct pm_model_set *set, size_t n);

#endif
