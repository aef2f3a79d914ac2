/* What fits series in one parameter N.  After cmocka.h. */
#ifndef PM_TESTS_FITTER_H
#define PM_TESTS_FITTER_H

#include "fit/series/series.h"

struct fitter {
    struct pm_basis *basis;
    struct pm_design *design;
    struct pm_series_workspace *workspace;
};

/* TEXTS: the basis; X: N sizes, ascending. */
static struct fitter fitter_new(const char *const *texts, size_t n_basis, const double *x,
                                size_t n) {
    struct pm_error err = {0};
    struct fitter f;
    f.basis = pm_basis_new(n_basis, texts, &err);
    assert_non_null(f.basis);
    f.design = pm_design_new(f.basis, "N", x, n, &err);
    assert_non_null(f.design);
    f.workspace = pm_series_workspace_new(f.design);
    return f;
}

static void fitter_free(struct fitter *f) {
    pm_series_workspace_free(f->workspace);
    pm_design_free(f->design);
    pm_basis_free(f->basis);
}

#endif
