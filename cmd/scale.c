/* `pmodel report --as scaling`: misses and time over a range of sizes, on one or more machines.

   The steps: the sizes that -P gives, and those that the store has between them → for each what the
   models predict, and what was measured → figures on each machine → the sizes at which loops fall
   out of levels → a table, JSON, CSV or a drawing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "cmd/cmd.h"
#include "cmd/measuring.h"
#include "cmd/progress.h"
#include "core/expression/expression.h"
#include "core/store/store.h"
#include "fit/fit.h"
#include "fit/query/query.h"
#include "fit/warnings/warnings.h"
#include "sched/sched.h"

struct request {
    const char *store_path, *per;
    struct pm_size_design design;
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_selection_words selection;
    struct pm_report_options options;
    bool svg;
};

struct scaling {
    struct request *request;
    struct pm_subject subject;
    const struct pm_model_set *models; /* NULL: there are none */
    struct pm_warnings warnings;       /* of the largest size, whose figures are the least sure */
    struct pm_expression *per;         /* NULL: 1 */
    struct pm_parameters *sizes;       /* of -P */
    size_t n_sizes;
    struct pm_scale scale;
};

/* ---- the sizes ------------------------------------------------------------------------------- */

/* The one parameter with more than one value; others may follow it by formulas. */
static const char *find_parameter(const struct scaling *s, struct pm_error *err) {
    const struct pm_parameters *first = &s->sizes[0];
    const char *found = NULL;
    for (size_t p = 0; p < first->n; p++) {
        bool varies = false;
        for (size_t i = 1; i < s->n_sizes && !varies; i++)
            varies = s->sizes[i].values[p] != first->values[p];
        if (!varies || pm_size_design_is_formula(&s->request->design, first->names[p]))
            continue;
        if (found) {
            pm_fail(err,
                    "-P gives several values of both %s and %s: scale follows one parameter, "
                    "so fix one of them",
                    found, first->names[p]);
            return NULL;
        }
        found = first->names[p];
    }
    if (!found)
        pm_fail(err, "give a range of sizes to follow, as in -P N=16:256:16");
    return found;
}

static bool unit_at(const struct scaling *s, const struct pm_parameters *at, double *unit,
                    struct pm_error *err) {
    const char *names[PM_MAX_PARAMETERS];
    for (size_t i = 0; i < at->n; i++)
        names[i] = at->names[i];
    *unit = 1;
    if (s->per && !pm_expression_evaluate(s->per, at->n, names, at->values, unit, err))
        return false;
    if (*unit > 0 && isfinite(*unit))
        return true;
    char *text = pm_parameters_text(at);
    pm_fail(err, "--per %s is %g at %s, which is no amount of work", s->request->per, *unit, text);
    free(text);
    return false;
}

static bool add_point(struct scaling *s, const struct pm_parameters *at, struct pm_error *err) {
    struct pm_scale_point point = {.at = *at};
    pm_parameters_get(at, s->scale.parameter, &point.value);
    if (!unit_at(s, at, &point.unit, err))
        return false;
    *PM_PUSH(&s->scale, points) = point;
    return true;
}

/* A measured size within the range that differs from those of -P in the parameter alone. */
static bool lies_between(const struct scaling *s, const struct pm_parameters *run) {
    const struct pm_parameters *first = &s->sizes[0];
    double value, low = INFINITY, high = -INFINITY;
    if (!pm_parameters_get(run, s->scale.parameter, &value))
        return false;
    for (size_t i = 0; i < s->n_sizes; i++) {
        double given;
        pm_parameters_get(&s->sizes[i], s->scale.parameter, &given);
        low = fmin(low, given);
        high = fmax(high, given);
        if (given == value)
            return false; /* it is there */
    }
    for (size_t p = 0; p < first->n; p++) {
        double same;
        if (strcmp(first->names[p], s->scale.parameter) != 0 &&
            !pm_size_design_is_formula(&s->request->design, first->names[p]) &&
            pm_parameters_get(run, first->names[p], &same) && same != first->values[p])
            return false;
    }
    return low < value && value < high;
}

static int by_value(const void *left, const void *right) {
    const struct pm_scale_point *a = left, *b = right;
    return PM_COMPARE(a->value, b->value);
}

static bool list_points(struct scaling *s, struct pm_error *err) {
    if (!pm_check_parameter_names(&s->subject.program.runs[0], &s->sizes[0], err))
        return false;
    for (size_t i = 0; i < s->n_sizes; i++)
        if (!add_point(s, &s->sizes[i], err))
            return false;
    for (size_t r = 0; r < s->subject.program.n_runs; r++)
        if (s->subject.program.is_whole[r] && lies_between(s, &s->subject.program.runs[r]) &&
            !add_point(s, &s->subject.program.runs[r], err))
            return false;
    PM_SORT(s->scale.points, s->scale.n_points, by_value);
    return true;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* The predictions of an answer at POINT, owned by the caller, with what was timed there; NULL with
   a sentence. */
static struct pm_prediction **ask(struct scaling *s, struct pm_scale_point *point,
                                  const struct pm_parameters *at, enum pm_answer_source source,
                                  struct pm_error *err) {
    const struct pm_machine_list *on = &s->request->on;
    const struct pm_question question = {.at = at,
                                         .source = source,
                                         .machines = on->machines,
                                         .n_machines = on->n_machines,
                                         .predict = s->request->predict,
                                         .needs_misses = true};
    struct pm_answer *answer = pm_ask_and_say(&s->subject, &question, err);
    if (!answer)
        return NULL;
    struct pm_prediction **predictions = answer->predictions;
    if (source == PM_FROM_MODELS && point == &s->scale.points[s->scale.n_points - 1])
        pm_answer_warn(answer, on->machines, &s->warnings);
    if (source == PM_FROM_RUN)
        point->times = answer->times;
    answer->predictions = NULL;
    answer->n_predictions = 0;
    answer->times = source == PM_FROM_RUN ? NULL : answer->times;
    pm_answer_free(answer);
    return predictions;
}

static bool predict_point(struct scaling *s, struct pm_scale_point *point, struct pm_error *err) {
    point->predicted = ask(s, point, &point->at, PM_FROM_MODELS, err);
    return point->predicted != NULL;
}

static bool measured_point(struct scaling *s, struct pm_scale_point *point, struct pm_error *err) {
    const struct pm_parameters *run = pm_program_run(&s->subject.program, &point->at, true);
    if (!run)
        return true;
    point->measured = ask(s, point, run, PM_FROM_RUN, err);
    return point->measured != NULL;
}

static bool find_figures(struct scaling *s, struct pm_error *err) {
    for (size_t i = 0; i < s->scale.n_points; i++) {
        struct pm_scale_point *point = &s->scale.points[i];
        if ((s->models && !predict_point(s, point, err)) || !measured_point(s, point, err))
            return false;
        if (point->predicted || point->measured)
            continue;
        char *text = pm_parameters_text(&point->at);
        pm_fail(err, "%s was not measured, and %s has no models yet: call `pmodel fit` on it first",
                text, s->request->store_path);
        free(text);
        return false;
    }
    return true;
}

/* ---- sizes at which loops fall out of levels ------------------------------------------------- */

static void add_steps(struct scaling *s, size_t machine, const struct pm_query_parts *parts,
                      const struct pm_query_caches *levels, const struct pm_query_fits *fits) {
    for (size_t p = 0; p < parts->n_parts; p++)
        for (size_t c = 0; c < levels->n_caches; c++) {
            const struct pm_query_fits *of = &fits[p * levels->n_caches + c];
            for (size_t i = 0; i < of->n_steps; i++)
                if (isfinite(of->steps[i].half_hit))
                    *PM_PUSH(&s->scale, steps) = (struct pm_scale_step){
                        .machine = machine,
                        .level = pm_strdup(levels->caches[c].name),
                        .label = pm_strdup(parts->parts[p].label),
                        .source = pm_strdup(parts->parts[p].source),
                        .size = of->steps[i].half_hit,
                        .share = of->steps[i].share,
                        .weight = parts->parts[p].weight,
                    };
        }
}

static bool find_steps_on(struct scaling *s, size_t machine, const struct pm_query_surface *surface,
                          struct pm_error *err) {
    struct pm_query_caches levels = {0};
    struct pm_query_parts parts = {0};
    struct pm_profile *profile = pm_query_profile(surface, surface->largest_measured, err);
    bool ok = profile && pm_query_find_parts(s->subject.program.structure, PM_QUERY_LOOP, NULL, 0,
                                             &parts, err);
    if (ok) {
        pm_query_add_levels(&levels, s->request->on.machines[machine]);
        pm_query_weigh(&parts, s->subject.program.structure, profile, &levels);
        const struct pm_query_groups **groups = pm_query_parts_groups(&parts);
        struct pm_query_cache *caches = pm_alloc(levels.n_caches, sizeof *caches);
        size_t n = parts.n_parts * levels.n_caches;
        struct pm_query_fits *fits = pm_alloc(n, sizeof *fits);
        for (size_t c = 0; c < levels.n_caches; c++)
            caches[c] = levels.caches[c].cache;
        pm_work_begin("looking for sizes that fit");
        ok = pm_query_fits(surface, s->models, groups, parts.n_parts, caches, levels.n_caches, fits,
                           err);
        pm_work_end();
        if (ok)
            add_steps(s, machine, &parts, &levels, fits);
        for (size_t i = 0; i < n; i++)
            pm_query_fits_free(&fits[i]);
        free(fits);
        free(caches);
        free(groups);
    }
    if (profile)
        pm_profile_free(profile);
    pm_query_parts_free(&parts);
    pm_query_caches_free(&levels);
    return ok;
}

static bool find_steps(struct scaling *s, struct pm_error *err) {
    const char *name = s->scale.parameter;
    if (!s->models || !pm_query_depends_on(s->models, name))
        return true;
    struct pm_parameters fixed = {0};
    for (size_t p = 0; p < s->sizes[0].n; p++)
        if (strcmp(s->sizes[0].names[p], name) != 0 &&
            !pm_size_design_is_formula(&s->request->design, s->sizes[0].names[p]))
            pm_parameters_set(&fixed, s->sizes[0].names[p], s->sizes[0].values[p], NULL);
    struct pm_query_surface surface;
    bool ok = pm_query_find_surface(&s->subject.program, &fixed, NULL, NULL, &surface, err);
    for (size_t m = 0; m < s->request->on.n_machines && ok; m++)
        ok = find_steps_on(s, m, &surface, err);
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The range of the parameter that the models were made from. */
static void find_measured_range(struct scaling *s) {
    s->scale.measured_low = s->scale.measured_high = NAN;
    if (s->models) {
        pm_parameters_get(&s->models->low, s->scale.parameter, &s->scale.measured_low);
        pm_parameters_get(&s->models->high, s->scale.parameter, &s->scale.measured_high);
    }
}

static bool make_scale(struct scaling *s, struct pm_error *err) {
    struct request *request = s->request;
    if (request->per && !(s->per = pm_expression_parse(request->per, err)))
        return false;
    if (!pm_size_design_expand(&request->design, &s->sizes, &s->n_sizes, err) ||
        !(s->scale.parameter = find_parameter(s, err)))
        return false;
    s->models = pm_program_models(&s->subject.program, err);
    if (err->kind != PM_ERROR_NONE)
        return false;
    s->scale.structure = s->subject.program.structure;
    s->scale.per = request->per;
    s->scale.machines = (const struct pm_machine *const *)request->on.machines;
    s->scale.n_machines = request->on.n_machines;
    find_measured_range(s);
    return list_points(s, err) && find_figures(s, err) && find_steps(s, err);
}

static void print_scale(struct scaling *s) {
    struct pm_report_options options = s->request->options;
    options.selection = s->subject.selected;
    options.warnings = &s->warnings;
    if (s->request->svg)
        pm_report_scale_svg(stdout, &s->scale);
    else
        pm_report_scale(stdout, &s->scale, &options);
}

static bool scale(struct request *request, struct pm_error *err) {
    struct scaling s = {.request = request};
    bool ok = pm_subject_open(&s.subject, request->store_path, &request->selection, err) &&
              make_scale(&s, err);
    if (ok)
        print_scale(&s);
    pm_scale_free(&s.scale);
    pm_expression_free(s.per);
    free(s.sizes);
    pm_warnings_free(&s.warnings);
    pm_subject_close(&s.subject);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which sizes"),
    PM_ADDED(NULL, 'P', "NAME=VALUES", pm_add_size_list, AT(design),
             "the sizes to follow, as N=16:256:16", .repeats = true),
    PM_TEXT("per", 0, "EXPR", AT(per), "how many units of work a run has"),
    PM_OPTIONS_SELECTION(AT(selection)),
    PM_HEADING("machine"),
    PM_OPTIONS_MACHINES(AT(on)),
    PM_OPTION_TIME(AT(predict)),
    PM_HEADING("what is shown"),
    PM_OPTION_MIN_PERCENT(AT(options),
                          "leaves loops with a smaller share out of the table of levels (5)"),
    PM_OPTIONS_DRAWN(AT(options), AT(svg)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    request.options.min_percent = 5;
    request.predict.without_causes = true;
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 1)
        status = pm_usage_error(pm_command_report_scaling.name, "give one store");
    else if (status == 0 && request.design.n_specs == 0)
        status = pm_usage_error(pm_command_report_scaling.name,
                                "give a range of sizes to follow, as in -P N=16:256:16");
    else if (status == 0 && request.on.n_machines == 0)
        status = pm_usage_error(pm_command_report_scaling.name,
                                "name one or more machines with -m NAME");
    if (status == 0) {
        request.store_path = line.arguments[0];
        if (!scale(&request, &err))
            status = pm_complain(&err);
    }
    pm_size_design_free(&request.design);
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_report_scaling = {
    .name = "report --as scaling",
    .purpose = "misses and time over a range of sizes, and where loops fall out of levels",
    .usage = "-P NAME=VALUES... -m MACHINE [OPTION]... STORE",
    .examples = "pmodel report --as scaling heat.pmdb -P N=16:256:16 -m r12000 --per 'N^3'",
    .options = options,
    .run = run,
};
