/* What the passes of the modelling stage made, as text (core/dumps/dumps.h), but for the segments
   of histograms and the candidates of series, which their folders dump. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dumps/dumps.h"
#include "fit/items.h"

const struct pm_dump_pass pm_fit_passes[] = {
    {"bases", "the functions that models of a part of the program are sums of"},
    {"candidates", "of each series the sums of functions that were tried, and in which shape"},
    {"partition", "the segments that each group's histograms are cut into, at each size"},
    {"edges", "models of the counts of edges, beside the counts"},
    {"bins", "models of each group's accesses, first touches, and of its bins"},
    {"strides", "models of how references go through memory"},
    {"runs", "the runs that models were made from, and their parameters"},
    {"held-out", "the same models without the largest sizes, and how far off misses are"},
    {0},
};

void pm_dump_sum(const struct pm_dumping *dumping, const struct pm_basis *basis,
                 const struct pm_model *model) {
    for (size_t i = model->n_terms; i-- > 0;) {
        double coefficient = model->coefficients[i];
        const char *function = basis->texts[model->terms[i]];
        bool is_first = i + 1 == model->n_terms;
        fputs(is_first ? "" : coefficient < 0 ? " - " : " + ", dumping->out);
        bool is_one = fabs(coefficient) == 1 && strcmp(function, "1") != 0;
        if (is_one && is_first)
            fputs(coefficient < 0 ? "-" : "", dumping->out);
        else if (!is_one)
            pm_dump_value(dumping, is_first ? coefficient : fabs(coefficient));
        if (strcmp(function, "1") != 0)
            fprintf(dumping->out, "%s%s", is_one ? "" : "*", function);
    }
    if (model->n_terms == 0)
        fputs("0", dumping->out);
    if (model->power != 0)
        fprintf(dumping->out, ", to the power %.5g", model->power);
}

/* "2*N^2 - 1", and what is known of it. */
static void put_model(const struct pm_dumping *dumping, const struct pm_basis *basis,
                      const struct pm_model *model) {
    static const char *const shapes[] = {"constant", "increasing", "decreasing", "convex",
                                         "concave"};
    pm_dump_sum(dumping, basis, model);
    if (model->exact) {
        fputs(", exact", dumping->out);
    } else {
        fputs(", error ", dumping->out);
        pm_dump_value(dumping, model->relative_error);
        fputs(" left-one-out ", dumping->out);
        pm_dump_value(dumping, model->leave_one_out_error);
    }
    fprintf(dumping->out, ", %u points", (unsigned)model->n_points);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (model->shape >> i & 1)
            fprintf(dumping->out, ", %s", shapes[i]);
    fputc('\n', dumping->out);
}

/* ---- runs and bases -------------------------------------------------------------------------- */

void pm_dump_runs(const struct pm_dumping *dumping, const struct pm_profile *const *profiles,
                  size_t n, const struct pm_model_set *set,
                  const struct pm_fit_statistics *statistics) {
    static const char *const roles[] = {
        [PM_PARAMETER_TAKEN] = "models are functions of it",
        [PM_PARAMETER_FORMULA] = "a formula of others",
        [PM_PARAMETER_FOLLOWS] = "its values are a function of others",
        [PM_PARAMETER_WORSE] = "what was measured is predicted worse in it",
        [PM_PARAMETER_NOT_ASKED] = "not asked for",
        [PM_PARAMETER_IDLE] = "it changes nothing",
    };
    if (!pm_dumps(dumping, "runs"))
        return;
    for (size_t i = 0; i < n; i++) {
        char *size = pm_parameters_text(&profiles[i]->parameters);
        bool fitted = false;
        for (size_t k = 0; k < set->n_runs; k++)
            fitted |= pm_parameters_equal(&profiles[i]->parameters, &set->runs[k]);
        fprintf(dumping->out, "run %s %s\n", size, fitted ? "fitted" : "left out");
        free(size);
    }
    for (size_t p = 0; statistics && p < statistics->n_parameters; p++)
        fprintf(dumping->out, "parameter %s: %s\n", statistics->parameters[p].name,
                roles[statistics->parameters[p].role]);
    for (size_t d = 0; statistics && d < statistics->n_outliers; d++) {
        const struct pm_outlier_size *size = &statistics->outliers[d];
        char *text = pm_parameters_text(&size->parameters);
        fprintf(dumping->out, "outlier %s: %zu of %zu groups, by ", text, size->n_groups,
                size->of_groups);
        pm_dump_value(dumping, size->difference);
        fputc('\n', dumping->out);
        free(text);
    }
}

static void put_design(const struct pm_dumping *dumping, const struct pm_basis *basis,
                       const struct pm_design *design) {
    for (size_t f = 0; f < design->n_basis; f++)
        fprintf(dumping->out, "%s%s%s", f ? ", " : " ", basis->texts[design->basis[f].index],
                design->basis[f].for_exact ? " (if exact)" : "");
    fputc('\n', dumping->out);
}

void pm_dump_bases(const struct pm_fit_job *job) {
    const struct pm_dumping *dumping = job->dumping;
    if (!pm_dumps(dumping, "bases"))
        return;
    for (size_t d = 0; d < job->bases.n_designs; d++) {
        const struct pm_design *design = job->bases.designs[d];
        fprintf(dumping->out, "basis %zu%s:", d, job->bases.given[d] ? ", given" : "");
        put_design(dumping, job->set->basis, design);
        for (size_t a = 0; a < design->n_alternatives; a++) {
            fprintf(dumping->out, " or%s, at a score below %.4g of that:",
                    design->alternatives[a]->counts_only ? ", of counts" : "",
                    design->alternatives[a]->gain);
            put_design(dumping, job->set->basis, design->alternatives[a]);
        }
    }
    for (uint32_t s = 0; s < job->bases.n_scopes; s++) {
        if (job->bases.of_scope[s] == 0 || !pm_dumps_scope(dumping, s))
            continue;
        fprintf(dumping->out, "basis %u of ", (unsigned)job->bases.of_scope[s]);
        pm_dump_scope(dumping, s);
        fputc('\n', dumping->out);
    }
}

/* ---- candidates: what they are of ------------------------------------------------------------ */

static uint32_t scope_of_edge(const struct pm_structure *structure, size_t e) {
    const struct pm_edge *edge = &structure->edges[e];
    uint32_t block = edge->from == PM_NONE ? edge->to : edge->from;
    return block == PM_NONE ? structure->routines[edge->routine].scope
                            : structure->blocks[block].scope;
}

static uint32_t scope_of_group(const struct pm_structure *structure, uint32_t group) {
    return group < structure->n_groups ? structure->groups[group].scope : PM_NONE;
}

/* "edge step b0 -> EXIT" */
static void put_edge(const struct pm_dumping *dumping, size_t e) {
    const struct pm_edge *edge = &dumping->structure->edges[e];
    fputs("edge ", dumping->out);
    pm_dump_scope(dumping, scope_of_edge(dumping->structure, e));
    fputc(' ', dumping->out);
    pm_dump_block(dumping, edge->from, true);
    fputs(" -> ", dumping->out);
    pm_dump_block(dumping, edge->to, false);
}

static void begin_series(const struct pm_fit_job *job, struct pm_series_workspace *series,
                         struct pm_series_subject *subject) {
    subject->dumping = job->dumping;
    subject->basis = job->set->basis;
    pm_series_about(series, subject);
}

void pm_dump_series_of_edge(const struct pm_fit_job *job, struct pm_series_workspace *series,
                            size_t edge) {
    struct pm_series_subject subject;
    if (!pm_dumps(job->dumping, "candidates") ||
        !pm_dumps_scope(job->dumping, scope_of_edge(job->structure, edge)))
        return;
    snprintf(subject.what, sizeof subject.what, "of edge %zu", edge);
    begin_series(job, series, &subject);
}

void pm_dump_series_of_histogram(const struct pm_fit_job *job, struct pm_series_workspace *series,
                                 size_t h) {
    const struct pm_histogram_model *model = &job->set->histograms[h];
    struct pm_series_subject subject;
    if (!pm_dumps(job->dumping, "candidates") ||
        !pm_dumps_scope(job->dumping, scope_of_group(job->structure, model->group)))
        return;
    snprintf(subject.what, sizeof subject.what, "of group %" PRIu32 ", blocks of %" PRIu64 " bytes",
             model->group, model->block_bytes);
    begin_series(job, series, &subject);
}

void pm_dump_series_of_nothing(struct pm_series_workspace *series) {
    pm_series_about(series, &(struct pm_series_subject){0});
}

/* ---- models ---------------------------------------------------------------------------------- */

static void dump_edges(const struct pm_fit_job *job) {
    const struct pm_dumping *dumping = job->dumping;
    for (size_t e = 0; e < job->set->n_edges; e++) {
        if (!pm_dumps_scope(dumping, scope_of_edge(job->structure, e)))
            continue;
        put_edge(dumping, e);
        fprintf(dumping->out, " (edge %zu)\n model ", e);
        put_model(dumping, job->set->basis, &job->set->edges[e]);
        for (size_t k = 0; k < job->n; k++) {
            struct pm_error ignored = {0};
            double value = NAN;
            char *size = pm_parameters_text(&job->set->runs[k]);
            pm_model_evaluate(job->set->basis, &job->set->edges[e], &job->set->runs[k], &value,
                              &ignored);
            fprintf(dumping->out, " at %s counted ", size);
            pm_dump_value(dumping, job->profiles[k]->edge_counts[e]);
            fputs(" model ", dumping->out);
            pm_dump_value(dumping, value);
            fputc('\n', dumping->out);
            free(size);
        }
    }
}

static void put_histogram(const struct pm_dumping *dumping, const struct pm_histogram_model *h) {
    fprintf(dumping->out, "group %" PRIu32 " in ", h->group);
    pm_dump_scope(dumping, scope_of_group(dumping->structure, h->group));
    fprintf(dumping->out, ", blocks of %" PRIu64 " bytes\n", h->block_bytes);
}

static void dump_bins(const struct pm_fit_job *job) {
    const struct pm_dumping *dumping = job->dumping;
    const struct pm_basis *basis = job->set->basis;
    for (size_t i = 0; i < job->set->n_histograms; i++) {
        const struct pm_histogram_model *h = &job->set->histograms[i];
        if (!pm_dumps_scope(dumping, scope_of_group(job->structure, h->group)))
            continue;
        put_histogram(dumping, h);
        fprintf(dumping->out, " %s ", h->per_execution ? "touches of an access" : "accesses");
        put_model(dumping, basis, &h->accesses);
        fputs(" first touches ", dumping->out);
        put_model(dumping, basis, &h->cold);
        for (size_t b = 0; b < h->n_bins; b++) {
            const struct pm_bin_model *bin = &h->bins[b];
            fprintf(dumping->out, " bin %zu accesses ", b);
            put_model(dumping, basis, &bin->count);
            fputs("  distance ", dumping->out);
            put_model(dumping, basis, &bin->distance);
            fprintf(dumping->out, "  from %.4g to %.4g of it%s%s\n", bin->low, bin->high,
                    bin->constant_distance ? ", the same at all sizes" : "",
                    bin->takes_rest ? ", takes what is left" : "");
        }
    }
}

static void dump_strides(const struct pm_fit_job *job) {
    const struct pm_dumping *dumping = job->dumping;
    for (size_t i = 0; i < job->set->n_strides; i++) {
        const struct pm_stride_model *model = &job->set->strides[i];
        const struct pm_reference *reference = &job->structure->references[model->reference];
        if (!pm_dumps_scope(dumping, job->structure->blocks[reference->block].scope))
            continue;
        fprintf(dumping->out, "reference %" PRIu32 " of group %" PRIu32 " in ", model->reference,
                reference->group);
        pm_dump_scope(dumping, job->structure->blocks[reference->block].scope);
        fprintf(dumping->out, "%s\n", model->known ? "" : ": no models");
        for (uint32_t l = 0; model->known && l < model->n_levels; l++) {
            const struct pm_stride_level_model *level = &model->levels[l];
            fprintf(dumping->out, " level %" PRIu32 " stride%s ", l,
                    level->downwards ? " downwards" : "");
            put_model(dumping, job->set->basis, &level->stride);
            fputs("  elements ", dumping->out);
            put_model(dumping, job->set->basis, &level->count);
        }
        if (model->known) {
            fprintf(dumping->out, " address in space %" PRIu32 "%s ", model->space,
                    model->below ? ", below," : "");
            put_model(dumping, job->set->basis, &model->offset);
        }
    }
}

void pm_dump_models(const struct pm_fit_job *job) {
    if (pm_dumps(job->dumping, "edges"))
        dump_edges(job);
    if (pm_dumps(job->dumping, "bins"))
        dump_bins(job);
    if (pm_dumps(job->dumping, "strides"))
        dump_strides(job);
}

/* ---- sets held out --------------------------------------------------------------------------- */

void pm_dump_held_out(const struct pm_dumping *dumping, const struct pm_model_set *set) {
    if (!pm_dumps(dumping, "held-out"))
        return;
    for (size_t i = 0; i < set->n_held_out; i++) {
        const struct pm_model_set *without = set->held_out[i];
        char *high = pm_parameters_text(&without->high);
        fprintf(dumping->out, "held-out %zu of %zu runs, up to %s\n", set->n_runs - without->n_runs,
                set->n_runs, high);
        for (size_t h = 0; h < without->n_histograms; h++) {
            const struct pm_histogram_model *model = &without->histograms[h];
            if (!pm_dumps_scope(dumping, scope_of_group(dumping->structure, model->group)))
                continue;
            put_histogram(dumping, model);
            fprintf(dumping->out, " %zu bins, first touches ", model->n_bins);
            put_model(dumping, without->basis, &model->cold);
        }
        free(high);
    }
    for (size_t i = 0; i < set->n_residuals; i++) {
        fprintf(dumping->out, "misses in blocks of %" PRIu64 " bytes are off by ",
                set->residuals[i].block_bytes);
        pm_dump_value(dumping, set->residuals[i].error);
        fputs(" at the measured sizes\n", dumping->out);
    }
}
