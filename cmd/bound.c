/* `pmodel bound`: what a program's loop nests would take if nothing missed a cache; and what stores
   say of that, several builds side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/measuring.h"
#include "core/store/store.h"
#include "fit/query/query.h"
#include "machines/probe/clock/clock.h"
#include "report/report.h"

static const double usual_percent = 2, timers_percent = 0.75;

struct bounding {
    struct pm_measuring run;
    struct pm_report_options options;
    double least_percent;
    PM_ARRAY(char *, loops); /* --loops; owned */
    char **stores;           /* instead of a command; NULL behind the last */
    size_t n_stores;
};

/* ---- the command line ------------------------------------------------------------------------ */

static int read_threshold(const struct pm_option_use *use) {
    char *end;
    double percent = strtod(use->value, &end);
    end += *end == '%';
    if (end == use->value || *end || !(percent >= 0 && percent <= 100))
        return pm_usage_error("bound", "--threshold takes a percentage, not \"%s\"", use->value);
    *(double *)use->to = percent;
    return 0;
}

static bool add_loop(void *to, char *name, struct pm_error *err) {
    struct bounding *b = to;
    *PM_PUSH(b, loops) = pm_strdup(name);
    return *name || pm_fail(err, "--loops has an empty name");
}

static bool is_chosen(const void *context, const struct pm_structure *structure, uint32_t loop) {
    const struct bounding *b = context;
    for (size_t i = 0; i < b->n_loops; i++)
        if (pm_is_loop_called(structure, loop, b->loops[i]))
            return true;
    return false;
}

/* Stores, or a command. */
static int take_arguments(struct bounding *b, const struct pm_command_line *line) {
    if (line->n_arguments == 0 || !pm_is_store(line->arguments[0]))
        return pm_measuring_check(&b->run, line->arguments);
    for (size_t i = 0; i < line->n_arguments; i++)
        if (!pm_is_store(line->arguments[i]))
            return pm_usage_error("bound", "%s is a store, %s is none: give stores, or a command",
                                  line->arguments[0], line->arguments[i]);
    b->stores = line->arguments;
    b->n_stores = line->n_arguments;
    return b->run.request.store_path
               ? pm_usage_error("bound", "-o is for what is measured, and stores are read only")
               : 0;
}

#define AT(field) offsetof(struct bounding, field)
static const struct pm_option options[] = {
    PM_HEADING("which loops"),
    PM_READ("threshold", 0, "PERCENT", read_threshold, AT(least_percent),
            "what share of the time a nest must take (2)"),
    PM_LIST("loops", 0, "NAMES", add_loop, 0, "bounds these loops instead", .repeats = true),
    PM_READ("every", 0, "K", pm_read_count, AT(run.request.bound_every),
            "runs the copy before one of K executions of a nest"),
    PM_OPTIONS_OF("run", pm_measuring_options, AT(run)),
    PM_OPTIONS_TABLES(AT(options)),
    PM_OPTION_OUTPUT("STORE", AT(run.request.store_path), "keeps what was measured"),
    {0},
};

static int read_command_line(const struct pm_command *self, struct bounding *b, int argc,
                             char **argv) {
    struct pm_measure_request *request = &b->run.request;
    struct pm_command_line line = {.command = self, .request = b};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0)
        status = take_arguments(b, &line);
    request->bound = true;
    if (b->n_loops)
        request->bound_choice = (struct pm_nest_choice){is_chosen, b};
    request->bound_share = b->least_percent / 100;
    request->time_runs = 1;
    request->copies.no_memory = true;
    if (status == 0 && request->build)
        return pm_usage_error("bound", "--build is for several builds, and bounds are of one");
    return status;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* 0 where no clock is known. */
static double cycle_seconds(void) {
    struct pm_error err = {0};
    struct pm_clock *clock = pm_clock_new(&err);
    if (!clock)
        return 0;
    double seconds = pm_clock_cycle_seconds(clock).estimate;
    pm_clock_unbind(clock);
    pm_clock_free(clock);
    return seconds;
}

/* Each name of --loops is of a loop of the program itself. */
static bool check_loops(const struct bounding *b, const struct pm_structure *structure,
                        struct pm_error *err) {
    for (size_t i = 0; i < b->n_loops; i++) {
        bool found = false;
        for (uint32_t s = 0; s < structure->n_scopes && !found; s++)
            found = structure->scopes[s].kind == PM_SCOPE_LOOP &&
                    pm_is_loop_called(structure, s, b->loops[i]);
        if (!found)
            return pm_fail(err, "--loops: no loop is called %s (`pmodel loops PROGRAM` lists them)",
                           b->loops[i]);
    }
    return true;
}

static int show(struct bounding *b, struct pm_measure_session *session,
                const struct pm_parameters *at) {
    struct pm_error err = {0};
    const struct pm_structure *structure = pm_measure_session_structure(session);
    struct pm_bounds *bounds = pm_store_bounds(pm_measure_session_store(session), at, &err);
    bool ok = bounds && pm_bounds_fit(bounds, structure, &err);
    if (ok)
        pm_report_bounds(stdout, structure, at, bounds, &b->options);
    pm_bounds_free(bounds);
    return ok ? PM_EXIT_OK : pm_complain(&err);
}

static int measure(struct bounding *b) {
    struct pm_error err = {0};
    struct pm_parameters *sizes = NULL;
    size_t n_sizes = 0;
    if (!pm_measuring_expand(&b->run, &sizes, &n_sizes, &err))
        return pm_complain(&err);
    b->run.request.bound_cycle_seconds = cycle_seconds();
    struct pm_measure_session *session = pm_measuring_begin(&b->run, &sizes[0], &err);
    bool ok = session && check_loops(b, pm_measure_session_structure(session), &err);
    int status = ok ? pm_measuring_sizes(session, sizes, n_sizes) : pm_complain(&err);
    for (size_t i = 0; i < n_sizes && status == PM_EXIT_OK; i++)
        status = show(b, session, &sizes[i]);
    pm_measure_session_free(session);
    free(sizes);
    return status;
}

/* ---- what stores have ------------------------------------------------------------------------ */

/* Of the largest run with bounds; NULL with a sentence.  *AT: its size. */
static struct pm_bounds *find_bounds(const struct pm_program *program, const char *path,
                                     struct pm_parameters *at, struct pm_error *err) {
    for (size_t i = program->n_runs; i-- > 0;) {
        struct pm_bounds *bounds = pm_store_bounds(program->store, &program->runs[i], err);
        if (bounds) {
            *at = program->runs[i];
            if (pm_bounds_fit(bounds, program->structure, err))
                return bounds;
            pm_bounds_free(bounds);
        }
        if (err->kind != PM_ERROR_NONE)
            return NULL;
    }
    pm_fail(err, "%s has no lower bounds: `pmodel bound -o %s -- COMMAND` measures them", path,
            path);
    return NULL;
}

/* Shows the bounds of a store, or puts them into BUILD. */
static bool read_store(struct bounding *b, const char *path, struct pm_bound_build *build,
                       struct pm_error *err) {
    struct pm_program program = {0};
    struct pm_parameters at = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    struct pm_bounds *bounds = NULL;
    if (store && pm_program_open(&program, store, err))
        bounds = find_bounds(&program, path, &at, err);
    if (bounds && build)
        *build = (struct pm_bound_build){
            .name = pm_strdup(path),
            .parameters = pm_parameters_text(&at),
            .seconds = bounds->plain_seconds,
            .bound_seconds = pm_bounds_seconds(program.structure, bounds),
            .bounded_share =
                bounds->timed_seconds > 0 ? bounds->bounded_seconds / bounds->timed_seconds : NAN};
    else if (bounds)
        pm_report_bounds(stdout, program.structure, &at, bounds, &b->options);
    pm_bounds_free(bounds);
    pm_program_close(&program);
    pm_store_close(store);
    return bounds != NULL;
}

static int compare_stores(struct bounding *b) {
    struct pm_error err = {0};
    struct pm_bound_build *builds = pm_alloc(b->n_stores, sizeof *builds);
    bool ok = true;
    for (size_t i = 0; i < b->n_stores && ok; i++)
        ok = read_store(b, b->stores[i], &builds[i], &err);
    if (ok)
        pm_report_bound_builds(stdout, builds, b->n_stores, &b->options);
    for (size_t i = 0; i < b->n_stores; i++) {
        free(builds[i].name);
        free(builds[i].parameters);
    }
    free(builds);
    return ok ? PM_EXIT_OK : pm_complain(&err);
}

static int show_stores(struct bounding *b) {
    struct pm_error err = {0};
    if (b->n_stores > 1)
        return compare_stores(b);
    return read_store(b, b->stores[0], NULL, &err) ? PM_EXIT_OK : pm_complain(&err);
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct bounding b = {
        .run = {.request = {.output_to_errors = true, .time_cost_percent = timers_percent}},
        .options = pm_default_report_options(),
        .least_percent = usual_percent};
    pm_measuring_init(&b.run, self->name);
    int status = read_command_line(self, &b, argc, argv);
    if (status == 0)
        status = b.stores ? show_stores(&b) : measure(&b);
    pm_measuring_free(&b.run);
    for (size_t i = 0; i < b.n_loops; i++)
        free(b.loops[i]);
    free(b.loops);
    return status;
}

const struct pm_command pm_command_bound = {
    .name = "bound",
    .purpose = "what loop nests would take if nothing missed a cache, measured",
    .usage = "[OPTION]... -- COMMAND [ARGUMENT]...\nSTORE...",
    .examples = "pmodel bound -- ./heat 64    # what is gained if nothing misses",
    .options = options,
    .runs_program = true,
    .run = run,
};
