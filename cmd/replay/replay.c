/* `pmodel replay`: a parallel program on a simulated network.

   The steps: what each rank does, of a run (replay_store.c) or of a trace → SimGrid's replay of it
   on the platform, and again with what is asked for otherwise → a table, JSON, CSV or a drawing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/replay/private.h"

/* ---- the platform ---------------------------------------------------------------------------- */

/* A file, or the name of one that is shipped. */
static char *find_platform(const char *name, struct pm_error *err) {
    if (strchr(name, '/') || access(name, R_OK) == 0)
        return pm_strdup(name);
    char *shipped = pm_sprintf("machines/networks/%s.xml", name);
    char *path = pm_share_path(shipped, NULL);
    free(shipped);
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    pm_fail(err,
            "there is no platform %s: name a file of SimGrid's format, or one of those that "
            "docs/pmodel-replay.md lists",
            name);
    return NULL;
}

/* ---- replays --------------------------------------------------------------------------------- */

bool pm_replay_scaled(const struct pm_replaying *r, const struct pm_replay_scales *scales,
                      struct pm_replay *replay, struct pm_error *err) {
    const struct pm_replay_request request = {&r->actions, r->platform, r->engine, *scales};
    return pm_replay_run(&request, replay, err);
}

/* NAN with a sentence. */
static double seconds_with(const struct pm_replaying *r, double processor, double bandwidth,
                           double latency, struct pm_error *err) {
    struct pm_replay replay = {0};
    const struct pm_replay_scales scales = {processor, bandwidth, latency};
    double seconds = pm_replay_scaled(r, &scales, &replay, err) ? replay.seconds : NAN;
    pm_replay_free(&replay);
    return seconds;
}

static bool add_what_ifs(struct pm_replaying *r, struct pm_error *err) {
    static const struct {
        const char *name, *words;
        double processor, bandwidth, latency;
    } cases[] = {
        {"bandwidth", "twice the bandwidth", 1, 2, 1},
        {"latency", "half the latency", 1, 1, 0.5},
        {"processor", "a processor twice as fast", 2, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds =
            seconds_with(r, cases[i].processor, cases[i].bandwidth, cases[i].latency, err);
        if (isnan(seconds))
            return false;
        *PM_PUSH(&r->report, what_ifs) =
            (struct pm_what_if){cases[i].name, cases[i].words, seconds};
    }
    return true;
}

/* What the prediction of the computation may be off by, in the time of the whole. */
static bool add_interval(struct pm_replaying *r, struct pm_error *err) {
    r->report.seconds = (struct pm_estimate){NAN, r->replay.seconds, NAN};
    double estimate = r->computation.estimate;
    if (!(estimate > 0) || isnan(r->computation.low) || isnan(r->computation.high))
        return true;
    r->report.seconds.low = seconds_with(r, estimate / r->computation.low, 1, 1, err);
    r->report.seconds.high = seconds_with(r, estimate / r->computation.high, 1, 1, err);
    return err->kind == PM_ERROR_NONE;
}

/* What the other machine computes, so many times as fast.  NAN: not known, or with a sentence. */
static double seconds_by_ratio(const struct pm_replaying *r, double ratio, struct pm_error *err) {
    return isnan(ratio) ? NAN : seconds_with(r, ratio / r->report.ratio.predicted, 1, 1, err);
}

static bool add_ratio(struct pm_replaying *r, struct pm_error *err) {
    struct pm_processor_ratio *ratio = &r->report.ratio;
    if (!ratio->other)
        return true;
    ratio->convolved_seconds = seconds_by_ratio(r, ratio->convolved, err);
    ratio->peak_seconds = seconds_by_ratio(r, ratio->peak, err);
    return err->kind == PM_ERROR_NONE;
}

static bool replay(struct pm_replaying *r, struct pm_error *err) {
    const struct pm_replay_scales as_it_is = {1, 1, 1};
    return pm_actions_check(&r->actions, err) && pm_replay_scaled(r, &as_it_is, &r->replay, err) &&
           add_interval(r, err) && add_ratio(r, err) && (r->request->svg || add_what_ifs(r, err));
}

bool pm_replay_prepare(struct pm_replaying *r, struct pm_error *err) {
    if (!(r->engine = pm_library_path("pmodel-replay", err)))
        return pm_fail(err, "the replay needs SimGrid (on Debian libsimgrid-dev, and then `make` "
                            "again): lib/pmodel/pmodel-replay is not there");
    return (r->platform = find_platform(r->request->platform, err)) != NULL;
}

/* As DIMEMAS takes the ratio of two processors: what is between messages gets shorter. */
static void apply_ratio(struct pm_replaying *r) {
    double ratio = r->request->ratio;
    r->report.faster = ratio > 0 ? ratio : 1;
    if (!(ratio > 0))
        return;
    pm_actions_scale_work(&r->actions, 1 / ratio);
    *PM_PUSH(&r->report, notes) =
        pm_sprintf("Computation is %.4g times as fast as %s: --ratio.", ratio,
                   r->request->trace ? "in the trace" : "predicted");
}

static bool make_and_print(struct pm_replaying *r, struct pm_error *err) {
    const struct pm_replay_options *request = r->request;
    if (!pm_replay_prepare(r, err))
        return false;
    r->report.platform = request->platform;
    r->report.actions = &r->actions;
    r->report.replay = &r->replay;
    if (!(request->trace ? pm_actions_read(request->trace, &r->actions, err)
                         : pm_actions_of_store(r, err)))
        return false;
    apply_ratio(r);
    if (request->write && !pm_actions_write(&r->actions, request->write, err))
        return false;
    if (!replay(r, err))
        return false;
    struct pm_report_options show = request->show;
    show.warnings = &r->warnings;
    if (request->svg)
        pm_report_replay_svg(stdout, &r->report);
    else
        pm_report_replay(stdout, &r->report, &show);
    return true;
}

void pm_replaying_free(struct pm_replaying *r) {
    pm_replay_free(&r->replay);
    pm_actions_free(&r->actions);
    for (size_t i = 0; i < r->report.n_notes; i++)
        free(r->report.notes[i]);
    free(r->report.notes);
    pm_warnings_free(&r->warnings);
    free(r->report.what_ifs);
    free(r->program);
    free(r->at);
    free(r->machine);
    free(r->other);
    free(r->platform);
    free(r->engine);
}

/* ---- the command line ------------------------------------------------------------------------ */

/* What contradicts itself or is missing; NULL: nothing. */
static const char *find_mistake(const struct pm_replay_options *request, size_t n_arguments) {
    if (!request->platform)
        return "name the network with --platform FILE.xml";
    if (request->trace ? n_arguments > 0 : n_arguments != 1)
        return "give one store with -m MACHINE, or --trace FILE alone";
    if (!request->trace && request->on.n_machines != 1)
        return "name the machine that computes with -m NAME";
    if (request->against.n_machines > 1)
        return "--against takes one machine";
    return NULL;
}

static int read_ratio(const struct pm_option_use *use) {
    char *end;
    double ratio = strtod(use->value, &end);
    if (end == use->value || *end || !(ratio > 0 && isfinite(ratio)))
        return pm_usage_error(use->command, "--ratio takes a number above 0, not \"%s\"",
                              use->value);
    *(double *)use->to = ratio;
    return 0;
}

#define AT(field) offsetof(struct pm_replay_options, field)
static const struct pm_option options[] = {
    PM_HEADING("which run"),
    PM_OPTION_SIZE(AT(at)),
    PM_TEXT("grid", 0, "NAME,...", AT(grid), "the parameters that are the grid of ranks"),
    PM_TEXT("trace", 0, "FILE", AT(trace), "a trace of `smpirun -trace-ti` instead of a store",
            .excludes = "machine against"),
    PM_OPTION_INTERPOLATE(AT(interpolate)),
    PM_HEADING("machine"),
    PM_OPTIONS_ONE_MACHINE(AT(on)),
    PM_OPTION_TIME(AT(predict)),
    PM_TEXT("platform", 0, "FILE.xml", AT(platform), "the network"),
    {.kind = PM_OPTION_IS_LIST,
     .name = "against",
     .value = "MACHINE",
     .add = pm_add_machine,
     .finish = pm_read_machines,
     .at = AT(against),
     .help = "also the processor ratio to this machine",
     .excludes = "ratio"},
    PM_READ("ratio", 0, "R", read_ratio, AT(ratio), "computation R times as fast"),
    PM_OPTIONS_DRAWN(AT(show), AT(svg)),
    PM_TEXT("write", 0, "FOLDER", AT(write), "keeps the traces in FOLDER"),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct pm_replay_options request = {.show = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    const char *mistake = status == 0 ? find_mistake(&request, line.n_arguments) : NULL;
    if (mistake)
        status = pm_usage_error("replay", "%s", mistake);
    if (status == 0) {
        struct pm_replaying replaying = {
            .request = &request, .size = &request.at, .computation = {NAN, NAN, NAN}};
        request.store_path = line.n_arguments ? line.arguments[0] : NULL;
        if (!make_and_print(&replaying, &err))
            status = pm_complain(&err);
        pm_replaying_free(&replaying);
    }
    pm_free_machines(&request.on);
    pm_free_machines(&request.against);
    return status;
}

static const struct pm_command *const views[] = {&pm_command_replay_scaling, NULL};
const struct pm_command pm_command_replay = {
    .name = "replay",
    .purpose = "the parallel time on a network that is not there: traces replayed by SimGrid",
    .usage = "-m MACHINE --platform FILE.xml [OPTION]... STORE\n--trace FILE --platform FILE.xml "
             "[OPTION]...",
    .examples = "pmodel replay cg.pmdb -m sapphire-rapids --platform switch-10g",
    .options = options,
    .run = run,
    .views = views,
};
