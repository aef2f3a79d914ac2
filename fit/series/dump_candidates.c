/* The dump `candidates`: for each series the sums of functions that were looked at, best free fit
   first, what each is worth, and what came of it (shape.c).  A series that is zero, one value, or
   exact in several parameters has none. */
#include "fit/series/private.h"

void pm_series_about(struct pm_series_workspace *w, const struct pm_series_subject *subject) {
    w->about = *subject;
    for (size_t a = 0; a < w->design->n_alternatives; a++)
        pm_series_about(w->alternatives[a], subject);
}

static void put_direction(FILE *out, const struct pm_direction *direction) {
    static const char *const ways[] = {"falls", "turns", "grows"};
    static const char *const curves[] = {", concave", "", ", convex"};
    fprintf(out, "%s, beyond %s%s", ways[1 + direction->within], ways[1 + direction->beyond],
            curves[1 + direction->curvature]);
}

/* The points that are fitted, and the shape that they have. */
static void put_series(const struct pm_series_workspace *w, const struct pm_series_shape *shape) {
    const struct pm_dumping *dumping = w->about.dumping;
    const struct pm_design *d = w->design;
    fprintf(dumping->out, "series %s\n points", w->about.what);
    for (size_t i = 0; i < w->n; i++) {
        fputc(' ', dumping->out);
        for (size_t a = 0; a < d->n_axes; a++)
            fprintf(dumping->out, "%s%.6g", a ? "," : "", pm_design_at(d, w->at->point[i], a));
        fputc(':', dumping->out);
        pm_dump_value(dumping, w->y[i]);
    }
    for (size_t a = 0; a < d->n_axes; a++) {
        fprintf(dumping->out, "\n shape%s%s ", d->n_axes > 1 ? " in " : "", d->axes[a].name);
        put_direction(dumping->out, &shape->axes[a]);
    }
    fputc('\n', dumping->out);
}

static void put_sum(const struct pm_series_workspace *w, const struct pm_candidate *c) {
    struct pm_model model = {.n_terms = (uint8_t)c->n_terms};
    for (size_t j = 0; j < c->n_terms; j++) {
        const struct pm_function *f = &w->design->basis[c->terms[j]];
        model.terms[j] = f->index;
        model.coefficients[j] = c->coefficients[j] / f->scale;
    }
    pm_dump_sum(w->about.dumping, w->about.basis, &model);
}

void pm_dump_candidate(const struct pm_series_workspace *w, const struct pm_series_shape *shape,
                       size_t rank, const struct pm_candidate *c, enum pm_candidate_fate fate,
                       bool is_best) {
    static const char *const fates[PM_N_CANDIDATE_FATES] = {
        [PM_CANDIDATE_UNSOLVED] = "cannot be solved",
        [PM_CANDIDATE_OUTSIDE] = "not in shape",
        [PM_CANDIDATE_FREE] = "in shape",
        [PM_CANDIDATE_PUT] = "put in shape",
    };
    const struct pm_dumping *dumping = w->about.dumping;
    if (!dumping)
        return;
    if (rank == 0)
        put_series(w, shape);
    if (fate == PM_CANDIDATE_UNSOLVED) {
        fprintf(dumping->out, " candidate %zu %s\n", rank, fates[fate]);
        return;
    }
    fprintf(dumping->out, " candidate %zu ", rank);
    put_sum(w, c);
    fputs(": error ", dumping->out);
    pm_dump_value(dumping, c->residual);
    fputs(" left-one-out ", dumping->out);
    pm_dump_value(dumping, c->leave_one_out);
    fputs(" score ", dumping->out);
    pm_dump_value(dumping, c->score);
    fprintf(dumping->out, ", %s%s\n", fates[fate], is_best ? ", best so far" : "");
}
