/* `pmodel plan`: which of the admissible sizes to measure, and what that costs.

   The steps: options → admissible sizes (measure/size_design.c) → small trial runs (measure) → a
   plan (fit) → the table and the command that makes the runs. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/measuring.h"
#include "core/store/store.h"
#include "fit/plan/plan.h"
#include "measure/command/command.h"

static const double usual_seconds = 600, trial_seconds = 0.5, share_of_memory = 0.75;

enum { MOST_TRIALS = 8 };

struct planning {
    struct pm_measuring run;
    struct pm_report_options options;
    struct pm_parameters to;
    unsigned n_runs;
    double most_seconds;
    struct {
        PM_ARRAY(char *, arguments); /* options of run that the command keeps */
    } kept;
    struct pm_parameters *sizes;
    size_t n_sizes;
    const char *names[PM_MAX_PARAMETERS];
    struct {
        PM_ARRAY(struct pm_plan_trial, list);
    } trials;
};

/* ---- trials ---------------------------------------------------------------------------------- */

static struct pm_plan_request request_of(const struct planning *p, size_t n_names) {
    return (struct pm_plan_request){
        .sizes = p->sizes,
        .n_sizes = p->n_sizes,
        .names = p->names,
        .n_names = n_names,
        .trials = p->trials.list,
        .n_trials = p->trials.n_list,
        .n_runs = p->n_runs,
        .most_seconds = p->most_seconds,
        .most_bytes =
            share_of_memory * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
        .to = p->to.n ? &p->to : NULL,
    };
}

/* What the run at AT, which is the session's last, has cost. */
static bool read_cost(struct pm_measure_session *session, const struct pm_parameters *at,
                      struct pm_plan_cost *cost, struct pm_error *err) {
    struct pm_store *store = pm_measure_session_store(session);
    struct pm_profile *profile = pm_store_profile(store, at, err);
    if (!profile)
        return false;
    *cost = (struct pm_plan_cost){.touched_bytes = profile->n_block_sizes ? 0 : NAN};
    for (size_t e = 0; e < profile->n_edges; e++)
        cost->work += profile->edge_counts[e];
    for (size_t i = 0; i < profile->n_histograms; i++) {
        const struct pm_histogram *histogram = &profile->histograms[i].histogram;
        if (histogram->block_bytes == profile->block_sizes[0])
            cost->touched_bytes +=
                (histogram->cold_loads + histogram->cold_stores) * (double)histogram->block_bytes;
    }
    pm_profile_free(profile);
    pm_measure_session_last_cost(session, &cost->seconds, &cost->peak_bytes);
    return pm_store_run_bytes(store, at, &cost->store_bytes, err);
}

static int try_size(struct planning *p, struct pm_measure_session *session,
                    const struct pm_parameters *at) {
    struct pm_error err = {0};
    struct pm_plan_cost cost;
    char *size = pm_parameters_text(at);
    if (!p->run.quiet)
        fprintf(stderr, "pmodel plan: trying %s\n", size);
    free(size);
    int status = pm_measuring_sizes(session, at, 1);
    if (status != PM_EXIT_OK)
        return status;
    if (!read_cost(session, at, &cost, &err))
        return pm_complain(&err);
    *PM_PUSH(&p->trials, list) = (struct pm_plan_trial){*at, cost};
    return PM_EXIT_OK;
}

static int try_sizes(struct planning *p, size_t n_names) {
    struct pm_error err = {0};
    struct pm_measuring quiet = p->run;
    quiet.quiet = true;
    struct pm_plan_request request = request_of(p, n_names);
    const struct pm_parameters *next = pm_plan_next_trial(&request, trial_seconds);
    struct pm_measure_session *session = pm_measuring_begin(&quiet, next, &err);
    int status = session ? PM_EXIT_OK : pm_complain(&err);
    while (status == PM_EXIT_OK && next && p->trials.n_list < MOST_TRIALS) {
        status = try_size(p, session, next);
        request = request_of(p, n_names);
        if (status == PM_EXIT_OK)
            next = pm_plan_next_trial(&request, trial_seconds);
    }
    pm_measure_session_free(session);
    return status;
}

/* ---- the command that makes the runs --------------------------------------------------------- */

/* Its arguments. */
struct argument_list {
    PM_ARRAY(char *, items);
};

static void add_argument(struct argument_list *list, char *argument) {
    *PM_PUSH(list, items) = argument;
}

static double value_of(const struct pm_parameters *at, const char *name) {
    double value = 0;
    pm_parameters_get(at, name, &value);
    return value;
}

static bool is_formula(const void *design, const char *name) {
    return pm_size_design_is_formula(design, name);
}

/* All that no formula gives. */
static char *points_text(const struct planning *p, const struct pm_plan *plan) {
    struct pm_parameters *points = pm_alloc(plan->n_runs, sizeof *points);
    for (size_t r = 0; r < plan->n_runs; r++)
        points[r] = plan->runs[r].at;
    char *text = pm_points_text(points, plan->n_runs, is_formula, &p->run.design);
    free(points);
    return text;
}

static char *store_name(const struct planning *p) {
    const char *program = p->run.request.exe ? p->run.request.exe : p->run.request.argv[0];
    const char *slash = strrchr(program, '/');
    program = slash ? slash + 1 : program;
    return pm_sprintf("%.*s.pmdb", (int)strcspn(program, ".{"), program);
}

static char *command_of(const struct planning *p, const struct pm_plan *plan) {
    const struct pm_size_design *design = &p->run.design;
    struct argument_list list = {0};
    add_argument(&list, pm_strdup("pmodel"));
    add_argument(&list, pm_strdup("run"));
    add_argument(&list, pm_strdup("-o"));
    add_argument(&list, store_name(p));
    if (p->sizes[0].n) {
        add_argument(&list, pm_strdup("-P"));
        add_argument(&list, points_text(p, plan));
    }
    for (size_t i = 0; i < design->n_specs; i++) {
        const char *spec = design->specs[i];
        char *name = strndup(spec, strcspn(spec, "="));
        if (name && pm_size_design_is_formula(design, name)) {
            add_argument(&list, pm_strdup("-P"));
            add_argument(&list, pm_strdup(spec));
        }
        free(name);
    }
    for (size_t i = 0; i < p->kept.n_arguments; i++)
        add_argument(&list, pm_strdup(p->kept.arguments[i]));
    add_argument(&list, pm_strdup("--"));
    for (size_t i = 0; p->run.request.argv[i]; i++)
        add_argument(&list, pm_strdup(p->run.request.argv[i]));
    add_argument(&list, NULL);
    char *text = pm_command_text(list.items);
    pm_free_strings(list.items);
    return text;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static bool fail_unknown(const struct planning *p, const char *name, struct pm_error *err) {
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < p->sizes[0].n; i++)
        pm_nearest_try(&nearest, name, p->sizes[0].names[i]);
    pm_fail(err, "--to: %s is no parameter of -P", name);
    return pm_fail_nearest(err, &nearest);
}

static bool check_target(const struct planning *p, struct pm_error *err) {
    for (size_t i = 0; i < p->to.n; i++) {
        double value;
        if (!pm_parameters_get(&p->sizes[0], p->to.names[i], &value))
            return fail_unknown(p, p->to.names[i], err);
    }
    return true;
}

/* What --to does not name has the largest admissible value. */
static void complete_target(struct planning *p) {
    for (size_t k = 0; p->to.n && k < p->sizes[0].n; k++) {
        const char *name = p->sizes[0].names[k];
        double most = value_of(&p->sizes[0], name), value;
        for (size_t i = 1; i < p->n_sizes; i++)
            most = fmax(most, value_of(&p->sizes[i], name));
        if (!pm_parameters_get(&p->to, name, &value))
            pm_parameters_set(&p->to, name, most, NULL);
    }
}

static int make_plan(struct planning *p) {
    struct pm_error err = {0};
    if (!pm_measuring_expand(&p->run, &p->sizes, &p->n_sizes, &err) || !check_target(p, &err))
        return pm_complain(&err);
    complete_target(p);
    size_t n_names = pm_plan_varying(p->sizes, p->n_sizes, is_formula, &p->run.design, p->names);
    if (n_names == 0)
        return pm_usage_error("plan", "give the admissible sizes, as in -P N=16:512:8");
    int status = try_sizes(p, n_names);
    if (status != PM_EXIT_OK)
        return status;
    struct pm_plan_request request = request_of(p, n_names);
    struct pm_plan *plan = pm_fit_plan(&request);
    char *command = command_of(p, plan);
    struct pm_plan_report report = {.plan = plan,
                                    .trials = p->trials.list,
                                    .n_trials = p->trials.n_list,
                                    .to = request.to,
                                    .command = command};
    pm_report_plan(stdout, &report, &p->options);
    free(command);
    pm_fit_plan_free(plan);
    return PM_EXIT_OK;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* "90", "90s", "10m", "2h". */
static bool read_seconds(const char *text, double *seconds) {
    char *end;
    *seconds = strtod(text, &end);
    double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    if (end != text && strchr("smh", *end) && *end)
        end++;
    *seconds *= unit;
    return end != text && *end == '\0' && *seconds > 0 && isfinite(*seconds);
}

static int read_time(const struct pm_option_use *use) {
    if (read_seconds(use->value, use->to))
        return 0;
    return pm_usage_error("plan", "--time takes a time, as in 90s, 10m or 2h, not \"%s\"",
                          use->value);
}

static bool set_target(void *to, char *value, struct pm_error *err) {
    return pm_parameters_parse(value, to, err) || pm_fail_in(err, "--to");
}

/* The command that is proposed has the same options, but for what says which sizes. */
static void keep(void *context, const struct pm_option *option, const char *value) {
    struct planning *p = context;
    if (!option->name || strcmp(option->name, "where") == 0 || strcmp(option->name, "design") == 0)
        return;
    *PM_PUSH(&p->kept, arguments) = pm_sprintf("--%s", option->name);
    if (value)
        *PM_PUSH(&p->kept, arguments) = pm_strdup(value);
}

#define AT(field) offsetof(struct planning, field)
static const struct pm_option options[] = {
    PM_HEADING("the plan"),
    PM_READ("runs", 0, "N", pm_read_count, AT(n_runs), "how many runs (6 for one parameter)"),
    PM_READ("time", 0, "T", read_time, AT(most_seconds),
            "how long all runs together may take: 90s, 10m (the default), 2h"),
    PM_ADDED("to", 0, "NAME=VALUE[,...]", set_target, AT(to), "the size that is to be predicted"),
    PM_OPTIONS_OF("run", pm_measuring_options, AT(run)),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int read_command_line(const struct pm_command *self, struct planning *p, int argc,
                             char **argv) {
    struct pm_command_line line = {
        .command = self, .request = p, .shared_seen = keep, .context = p};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0)
        status = pm_measuring_check(&p->run, line.arguments);
    pm_measuring_usual(&p->run);
    return status;
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct planning p = {.run = {.request.output_to_errors = true},
                         .options = pm_default_report_options(),
                         .most_seconds = usual_seconds};
    pm_measuring_init(&p.run, self->name);
    int status = read_command_line(self, &p, argc, argv);
    if (status == 0)
        status = make_plan(&p);
    for (size_t i = 0; i < p.kept.n_arguments; i++)
        free(p.kept.arguments[i]);
    free(p.kept.arguments);
    free(p.trials.list);
    free(p.sizes);
    pm_measuring_free(&p.run);
    return status;
}

const struct pm_command pm_command_plan = {
    .name = "plan",
    .purpose = "propose which sizes to measure, and what that costs",
    .usage = "-P NAME=VALUES... [OPTION]... -- COMMAND [ARGUMENT]...",
    .examples = "pmodel plan -P N=16:512:8 --runs 6 --to N=1024 -- ./heat {N}",
    .options = options,
    .runs_program = true,
    .run = run,
};
