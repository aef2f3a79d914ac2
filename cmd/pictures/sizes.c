/* The sizes over which plots and pages follow a program; see private.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/pictures/private.h"
#include "core/store/store.h"
#include "fit/fit.h"
#include "machines/probe/clock/clock.h"

/* ---- which parameter is followed ------------------------------------------------------------- */

/* Sizes of -P. */
struct given {
    struct pm_parameters *sizes;
    size_t n;
};

enum values { NONE, ONE, SEVERAL };

static enum values count_values(const struct given *given, const char *name) {
    double first = NAN, value;
    enum values found = NONE;
    for (size_t i = 0; i < given->n; i++) {
        if (!pm_parameters_get(&given->sizes[i], name, &value))
            continue;
        if (found == ONE && value != first)
            return SEVERAL;
        found = ONE;
        first = value;
    }
    return found;
}

/* Does what the program does depend on NAME?  Without models: do the runs differ in it? */
static bool matters(const struct pm_followed *followed, const char *name) {
    const struct pm_program *program = &followed->subject.program;
    if (followed->models)
        return pm_query_depends_on(followed->models, name);
    double first = NAN, value = NAN;
    pm_parameters_get(&program->runs[0], name, &first);
    for (size_t i = 1; i < program->n_runs; i++)
        if (pm_parameters_get(&program->runs[i], name, &value) && value != first)
            return true;
    return program->runs[0].n == 1;
}

static bool find_parameter(struct pm_followed *followed, const struct pm_size_design *design,
                           const struct given *given, struct pm_error *err) {
    const struct pm_parameters *known = &followed->subject.program.runs[0];
    const char *found[3] = {NULL, NULL, NULL}; /* the last with none, one, several values */
    size_t n[3] = {0};
    char *all = pm_strdup("");
    for (size_t p = 0; p < known->n; p++) {
        const char *name = known->names[p];
        if (!matters(followed, name) || pm_size_design_is_formula(design, name))
            continue;
        enum values values = count_values(given, name);
        found[values] = name;
        n[values]++;
        pm_append(&all, "%s%s", *all ? ", " : "", name);
    }
    const char *parameter = n[SEVERAL] == 1 && n[NONE] == 0            ? found[SEVERAL]
                            : n[SEVERAL] == 0 && n[NONE] == 1          ? found[NONE]
                            : n[SEVERAL] + n[NONE] == 0 && n[ONE] == 1 ? found[ONE]
                                                                       : NULL;
    followed->is_by_run = !*all;
    if (parameter || followed->is_by_run)
        followed->parameter = pm_strdup(parameter ? parameter : "run");
    else
        pm_fail(err, "it depends on %s: give all but one of them one value with -P", all);
    free(all);
    return followed->parameter != NULL;
}

/* ---- the sizes ------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right) {
    const struct pm_followed_size *a = left, *b = right;
    return PM_COMPARE(a->value, b->value);
}

/* Adds AT, or what it says to a size that is there. */
static void add_size(struct pm_followed *followed, const struct pm_parameters *at, bool is_given) {
    double value = (double)followed->n_sizes + 1;
    if (!followed->is_by_run && !pm_parameters_get(at, followed->parameter, &value))
        return;
    for (size_t i = 0; i < followed->n_sizes; i++)
        if (followed->sizes[i].value == value) {
            followed->sizes[i].is_given |= is_given;
            return;
        }
    *PM_PUSH(followed, sizes) =
        (struct pm_followed_size){.at = *at, .value = value, .is_given = is_given};
}

/* Do RUN and what -P gives the other parameters agree? */
static bool is_of_these(const struct pm_followed *followed, const struct pm_size_design *design,
                        const struct given *given, const struct pm_parameters *run) {
    for (size_t p = 0; p < run->n; p++) {
        double value;
        if (strcmp(run->names[p], followed->parameter) != 0 &&
            !pm_size_design_is_formula(design, run->names[p]) &&
            pm_parameters_get(&given->sizes[0], run->names[p], &value) && value != run->values[p])
            return false;
    }
    return true;
}

/* DESIGN with other values of the parameter, as text; false for a list of points, which gives
   several parameters at once. */
static bool with_values(const struct pm_followed *followed, const struct pm_size_design *design,
                        const char *values, struct pm_size_design *changed) {
    size_t length = strlen(followed->parameter);
    for (size_t i = 0; i < design->n_specs; i++) {
        const char *spec = design->specs[i];
        size_t names = strcspn(spec, "=");
        if (names == length && strncmp(spec, followed->parameter, length) == 0)
            continue;
        if (memchr(spec, ',', names))
            return false;
        *PM_PUSH(changed, specs) = pm_strdup(spec);
    }
    *PM_PUSH(changed, specs) = pm_sprintf("%s=%s", followed->parameter, values);
    return true;
}

/* "16,17,19 …": N values from LOW to HIGH, each about as many times the one before. */
static char *evenly_text(double low, double high, unsigned n, bool whole) {
    char *text = pm_strdup("");
    double last = NAN;
    for (unsigned i = 0; i < n; i++) {
        double value = n > 1 ? low * pow(high / low, i / (double)(n - 1)) : low;
        char number[32];
        if (whole)
            value = round(value);
        else
            snprintf(number, sizeof number, "%.4g", value), value = strtod(number, NULL);
        if (value == last)
            continue;
        last = value;
        pm_format_value(value, number, sizeof number);
        pm_append(&text, "%s%s", *text ? "," : "", number);
    }
    return text;
}

static bool add_evenly(struct pm_followed *followed, const struct pm_size_design *design,
                       unsigned n, struct pm_error *err) {
    double low = followed->measured_low, high = PM_QUERY_FACTOR * followed->measured_high;
    bool whole = low == floor(low) && followed->measured_high == floor(followed->measured_high);
    for (size_t i = 0; i < followed->n_sizes; i++) {
        low = fmin(low, followed->sizes[i].value);
        high = fmax(high, followed->sizes[i].value);
        whole &= followed->sizes[i].value == floor(followed->sizes[i].value);
    }
    for (size_t r = 0; r < followed->subject.program.n_runs && !(low > 0); r++)
        if (pm_parameters_get(&followed->subject.program.runs[r], followed->parameter, &low) &&
            low > 0)
            break; /* ascending: the smallest that has a logarithm */
    if (!(low > 0))
        return pm_fail(err,
                       "%s is at most 0 in all runs, so sizes cannot be spaced evenly in its "
                       "logarithm",
                       followed->parameter);
    struct pm_size_design changed = {0};
    struct pm_parameters *sizes = NULL;
    size_t n_sizes = 0;
    char *values = evenly_text(low, high, n, whole);
    bool ok = with_values(followed, design, values, &changed)
                  ? pm_size_design_expand(&changed, &sizes, &n_sizes, err)
                  : pm_fail(err, "-P with points of several parameters leaves open which sizes are "
                                 "between them: give the others one value each");
    for (size_t i = 0; ok && i < n_sizes; i++)
        add_size(followed, &sizes[i], false);
    free(values);
    free(sizes);
    pm_size_design_free(&changed);
    return ok;
}

static bool list_sizes(struct pm_followed *followed, const struct pm_size_design *design,
                       const struct given *given, unsigned n_evenly, struct pm_error *err) {
    const struct pm_program *program = &followed->subject.program;
    bool can_predict = followed->models && !followed->is_by_run;
    if (can_predict)
        for (size_t i = 0; i < given->n; i++)
            add_size(followed, &given->sizes[i], true);
    if (can_predict && n_evenly && !add_evenly(followed, design, n_evenly, err))
        return false;
    for (size_t r = 0; r < program->n_runs; r++)
        if (program->is_whole[r] && is_of_these(followed, design, given, &program->runs[r]))
            add_size(followed, &program->runs[r], false);
    PM_SORT(followed->sizes, followed->n_sizes, by_value);
    return followed->n_sizes > 0 ||
           pm_fail(err, "no whole run has these values (-P), and there are "
                        "no models: call `pmodel fit` on the store first");
}

bool pm_follow(struct pm_followed *followed, const char *store_path,
               const struct pm_size_design *design, unsigned n_evenly, struct pm_error *err) {
    struct given given = {0};
    *followed = (struct pm_followed){.measured_low = NAN, .measured_high = NAN};
    if (!pm_subject_open(&followed->subject, store_path, NULL, err))
        return false;
    followed->models = pm_program_models(&followed->subject.program, err);
    bool ok = err->kind == PM_ERROR_NONE &&
              pm_size_design_expand(design, &given.sizes, &given.n, err) &&
              pm_check_parameter_names(&followed->subject.program.runs[0], &given.sizes[0], err) &&
              find_parameter(followed, design, &given, err);
    if (ok && followed->models) {
        pm_parameters_get(&followed->models->low, followed->parameter, &followed->measured_low);
        pm_parameters_get(&followed->models->high, followed->parameter, &followed->measured_high);
    }
    ok = ok && list_sizes(followed, design, &given, n_evenly, err);
    free(given.sizes);
    return ok;
}

void pm_followed_free(struct pm_followed *followed) {
    free(followed->sizes);
    free(followed->parameter);
    pm_subject_close(&followed->subject);
}

/* ---- answers --------------------------------------------------------------------------------- */

bool pm_followed_predicted(struct pm_followed *followed, const struct pm_followed_size *size,
                           struct pm_question question, struct pm_answer **answer,
                           struct pm_error *err) {
    question.at = &size->at;
    question.source = PM_FROM_MODELS;
    *answer = followed->models ? pm_ask(&followed->subject, &question, err) : NULL;
    return *answer || !followed->models;
}

bool pm_followed_measured(struct pm_followed *followed, const struct pm_followed_size *size,
                          struct pm_question question, struct pm_answer **answer,
                          struct pm_error *err) {
    question.at = pm_program_run(&followed->subject.program, &size->at, true);
    question.source = PM_FROM_RUN;
    *answer = question.at ? pm_ask(&followed->subject, &question, err) : NULL;
    return *answer || !question.at;
}

/* ---- progress ---------------------------------------------------------------------------- */

struct pm_picture_progress pm_picture_progress_begin(const char *view) {
    return (struct pm_picture_progress){
        .view = view, .began = pm_clock_now(), .is_terminal = isatty(STDERR_FILENO)};
}

void pm_picture_progress_show(struct pm_picture_progress *progress, double share) {
    double now = pm_clock_now(), passed = now - progress->began;
    if (!progress->is_terminal || now - progress->said < 0.2)
        return;
    progress->said = now;
    fprintf(stderr, "\r\033[Kpmodel report --as %s: %3.0f%%", progress->view, 100 * share);
    if (share > 0 && passed > 1)
        fprintf(stderr, ", about %.0f s to go", passed * (1 - share) / share);
    fflush(stderr);
}

void pm_picture_progress_end(struct pm_picture_progress *progress) {
    if (progress->is_terminal)
        fputs("\r\033[K", stderr);
}
