/* `pmodel bound`: what a program's loop nests would take if nothing missed a cache. */
#include <stdlib.h>

#include "cmd/measuring.h"
#include "core/store/store.h"
#include "report/report.h"

static const double usual_percent = 2, timers_percent = 0.75;

struct bounding {
    struct pm_measuring run;
    struct pm_report_options options;
    double least_percent;
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

static int read_command_line(struct bounding *b, int argc, char **argv) {
    struct pm_measure_request *request = &b->run.request;
    struct pm_option shared[PM_N_MEASURING_OPTIONS];
    const struct pm_option own[] = {
        PM_OPTION_TEXT(NULL, 'o', &request->store_path),
        PM_OPTION_VALUE("threshold", 0, read_threshold, &b->least_percent),
        PM_OPTION_VALUE("every", 0, pm_read_count, &request->bound_every),
        {0},
    };
    struct pm_command_line line = {.command = "bound",
                                   .options = own,
                                   .shared = shared,
                                   .show = &b->options,
                                   .ends_at_argument = true};
    pm_measuring_options(&b->run, shared);
    int status = pm_read_options(&line, argc, argv);
    if (status == 0)
        status = pm_measuring_check(&b->run, line.arguments);
    request->bound = true;
    request->bound_share = b->least_percent / 100;
    request->time_runs = 1;
    request->copies.no_memory = true;
    if (status == 0 && request->build)
        return pm_usage_error("bound", "--build is for several builds, and bounds are of one");
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

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
    struct pm_measure_session *session = pm_measuring_begin(&b->run, &sizes[0], &err);
    int status = session ? pm_measuring_sizes(session, sizes, n_sizes) : pm_complain(&err);
    for (size_t i = 0; i < n_sizes && status == PM_EXIT_OK; i++)
        status = show(b, session, &sizes[i]);
    pm_measure_session_free(session);
    free(sizes);
    return status;
}

int pm_cmd_bound(int argc, char **argv) {
    struct bounding b = {
        .run = {.command = "bound",
                .request = {.output_to_errors = true, .time_cost_percent = timers_percent}},
        .options = pm_default_report_options(),
        .least_percent = usual_percent};
    int status = read_command_line(&b, argc, argv);
    if (status == 0)
        status = measure(&b);
    pm_measuring_free(&b.run);
    return status;
}
