/* `pmodel compare`: several stores, each at a size and with a weight, on several machines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask/ask.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "fit/fit.h"
#include "report/report.h"

struct request {
    struct pm_parameters at; /* of stores that name no size of their own */
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_report_options options;
    PM_ARRAY(struct pm_compared_program, programs);
    PM_ARRAY(char *, paths); /* owned */
    bool interpolate, geometric;
};

/* ---- STORE[@SIZE][:WEIGHT] ------------------------------------------------------------------- */

static bool read_weight(const char *text, double *weight) {
    char *end;
    *weight = strtod(text, &end);
    return end != text && !*end && *weight > 0 && isfinite(*weight);
}

static bool add_program(struct request *request, const char *argument, struct pm_error *err) {
    struct pm_compared_program program = {.weight = 1, .at = request->at};
    char *path = pm_strdup(argument);
    *PM_PUSH(request, paths) = path;
    char *colon = access(path, F_OK) == 0 ? NULL : strrchr(path, ':'); /* a file may be called so */
    if (colon && !read_weight(colon + 1, &program.weight))
        return pm_fail(err, "%s: behind the colon stands a weight above 0", argument);
    if (colon)
        *colon = '\0';
    char *size = access(path, F_OK) == 0 ? NULL : strrchr(path, '@');
    if (size) {
        *size = '\0';
        program.at = (struct pm_parameters){0};
        if (!pm_parameters_add(size + 1, &program.at, err))
            return pm_fail_in(err, "%s", argument);
    }
    program.store = path;
    *PM_PUSH(request, programs) = program;
    return true;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static struct pm_estimate estimate_of(const struct pm_prediction *p, bool *has_interval) {
    struct pm_estimate seconds = pm_prediction_seconds(p);
    *has_interval = !isnan(seconds.low);
    return *has_interval ? seconds : (struct pm_estimate){p->seconds, p->seconds, p->seconds};
}

/* What pm_rows_new marks as a lower bound, of the whole. */
static bool is_lower_bound(const struct pm_prediction *p) {
    static const double unknown_share = 0.01;
    const struct pm_cost_sum *total = &p->scopes[0].total;
    return (p->without_memory && total->unrecorded_accesses > 0) ||
           total->unknown_operations > unknown_share * total->operations;
}

static bool predict(const struct request *request, struct pm_compared_program *program,
                    struct pm_estimate *seconds, bool *bounds, struct pm_warnings *warnings,
                    struct pm_error *err) {
    const struct pm_question question = {.at = &program->at,
                                         .machines = request->on.machines,
                                         .n_machines = request->on.n_machines,
                                         .predict = request->predict,
                                         .can_interpolate = true,
                                         .interpolate = request->interpolate};
    struct pm_subject subject;
    struct pm_answer *answer = pm_subject_open(&subject, program->store, NULL, err)
                                   ? pm_ask_and_say(&subject, &question, err)
                                   : NULL;
    bool ok = answer != NULL;
    for (size_t m = 0; ok && m < answer->n_predictions; m++) {
        seconds[m] = estimate_of(answer->predictions[m], &program->has_interval);
        bounds[m] = is_lower_bound(answer->predictions[m]);
    }
    if (ok) {
        pm_answer_warn(answer, request->on.machines, warnings);
        program->name = pm_strdup(answer->predictions[0]->program);
        program->at = answer->profile->parameters;
        program->predicted = answer->profile->predicted;
    }
    pm_answer_free(answer);
    pm_subject_close(&subject);
    return ok;
}

static bool compare(struct request *request, struct pm_error *err) {
    size_t n_machines = request->on.n_machines, n = request->n_programs;
    struct pm_estimate *seconds = pm_alloc(n * n_machines, sizeof *seconds);
    bool *bounds = pm_alloc(n * n_machines, sizeof *bounds), ok = true;
    double *weights = pm_alloc(n, sizeof *weights);
    struct pm_warnings warnings = {0};
    struct pm_report_options options = request->options;
    options.warnings = &warnings;
    for (size_t p = 0; ok && p < n; p++) {
        weights[p] = request->programs[p].weight;
        ok = predict(request, &request->programs[p], &seconds[p * n_machines],
                     &bounds[p * n_machines], &warnings, err);
    }
    if (ok)
        pm_report_comparison(stdout,
                             &(struct pm_comparison){
                                 .machines = (const struct pm_machine *const *)request->on.machines,
                                 .ranking = {.n_programs = n,
                                             .n_machines = n_machines,
                                             .weights = weights,
                                             .seconds = seconds,
                                             .geometric = request->geometric},
                                 .programs = request->programs,
                                 .is_lower_bound = bounds,
                                 .level = pm_heuristics.interval_level},
                             &options);
    free(seconds);
    free(bounds);
    pm_warnings_free(&warnings);
    free(weights);
    return ok;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int read_mean(const struct pm_option_use *use) {
    bool *geometric = use->to;
    *geometric = strcmp(use->value, "geometric") == 0;
    if (*geometric || strcmp(use->value, "sum") == 0)
        return 0;
    return pm_usage_error("compare", "--mean is sum or geometric, not \"%s\"", use->value);
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which run"),
    PM_OPTION_SIZE(AT(at)),
    PM_OPTION_INTERPOLATE(AT(interpolate)),
    PM_HEADING("machine"),
    PM_OPTIONS_MACHINES(AT(on)),
    PM_OPTION_DEPS(AT(predict)),
    PM_OPTION_TIME(AT(predict)),
    PM_HEADING("what is shown"),
    PM_READ("mean", 0, "sum|geometric", read_mean, AT(geometric),
            "how several programs make one figure"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options(),
                              .predict.without_causes = true};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments == 0)
        status = pm_usage_error("compare", "give one or more stores");
    else if (status == 0 && request.on.n_machines < 2)
        status = pm_usage_error("compare", "give two or more machines (-m)");
    bool ok = status == 0;
    for (size_t i = 0; ok && i < line.n_arguments; i++)
        ok = add_program(&request, line.arguments[i], &err);
    if (ok)
        ok = compare(&request, &err);
    if (status == 0 && !ok)
        status = pm_complain(&err);
    for (size_t i = 0; i < request.n_programs; i++)
        free(request.programs[i].name);
    for (size_t i = 0; i < request.n_paths; i++)
        free(request.paths[i]);
    free(request.programs);
    free(request.paths);
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_compare = {
    .name = "compare",
    .purpose = "machines ranked by several programs, and whether the ranking is sure",
    .usage = "-m MACHINE,MACHINE... [OPTION]... STORE[@NAME=VALUE[,...]][:WEIGHT]...",
    .examples = "pmodel compare -m r12000,itanium2 heat.pmdb@N=64:2 cg.pmdb@N=32",
    .options = options,
    .run = run,
};
