/* `pmodel replay --scaling`: replays of one program at many sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/measuring.h"
#include "cmd/replay/private.h"

struct request {
    struct pm_replay_options replay; /* its size is none */
    struct pm_size_design design;
};

static bool is_in_grid(const struct request *request, const char *name) {
    char *names = pm_strdup(request->replay.grid ? request->replay.grid : "p"), *rest = names;
    bool found = false;
    for (char *one; !found && (one = strsep(&rest, ","));)
        found = strcmp(one, name) == 0;
    free(names);
    return found;
}

/* Does only the number of ranks differ, but for what follows it by a formula? */
static bool is_strong(const struct request *request, const struct pm_parameters *sizes, size_t n) {
    for (size_t p = 0; p < sizes[0].n; p++) {
        if (is_in_grid(request, sizes[0].names[p]))
            continue;
        for (size_t i = 1; i < n; i++)
            if (sizes[i].values[p] != sizes[0].values[p])
                return false;
    }
    return true;
}

static void add_point(struct pm_rank_scaling *scaling, const struct pm_replaying *r,
                      const struct pm_replay *replay) {
    struct pm_rank_scaling_point *point = PM_PUSH(scaling, points);
    point->at = pm_strdup(r->at);
    point->ranks = (double)replay->n_ranks;
    point->seconds = replay->seconds;
    point->events = (double)pm_actions_count(&r->actions);
    point->engine_seconds = replay->engine_seconds;
    for (size_t i = 0; i < replay->n_ranks; i++) {
        point->computation += replay->ranks[i].computation / point->ranks;
        point->communication += replay->ranks[i].communication / point->ranks;
        point->waiting += replay->ranks[i].waiting / point->ranks;
    }
}

/* Warnings are of the last point. */
static bool replay_point(const struct pm_replay_options *options, const struct pm_parameters *at,
                         struct pm_rank_scaling *scaling, struct pm_warnings *warnings,
                         struct pm_error *err) {
    struct pm_replaying r = {.request = options, .size = at, .computation = {NAN, NAN, NAN}};
    const struct pm_replay_scales as_it_is = {1, 1, 1};
    struct pm_replay replay = {0};
    bool ok = pm_replay_prepare(&r, err) && pm_actions_of_store(&r, err) &&
              pm_actions_check(&r.actions, err) && pm_replay_scaled(&r, &as_it_is, &replay, err);
    if (ok) {
        add_point(scaling, &r, &replay);
        pm_warnings_free(warnings);
        *warnings = r.warnings;
        r.warnings = (struct pm_warnings){0};
        if (!scaling->program) {
            scaling->program = pm_strdup(r.program);
            scaling->machine = pm_strdup(r.machine);
        }
    }
    pm_replay_free(&replay);
    pm_replaying_free(&r);
    return ok;
}

static int by_ranks(const void *left, const void *right) {
    const struct pm_rank_scaling_point *a = left, *b = right;
    return PM_COMPARE(a->ranks, b->ranks);
}

/* Replays the program at all sizes of the design, and prints how its time goes with the ranks. */
static bool scale(const struct request *request, struct pm_error *err) {
    struct pm_rank_scaling scaling = {.platform = request->replay.platform};
    struct pm_warnings warnings = {0};
    struct pm_report_options show = request->replay.show;
    struct pm_parameters *sizes = NULL;
    size_t n = 0;
    bool ok = pm_size_design_expand(&request->design, &sizes, &n, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = replay_point(&request->replay, &sizes[i], &scaling, &warnings, err);
    show.warnings = &warnings;
    if (ok) {
        scaling.is_strong = is_strong(request, sizes, n);
        PM_SORT(scaling.points, scaling.n_points, by_ranks);
        if (request->replay.svg)
            pm_report_rank_scaling_svg(stdout, &scaling);
        else
            pm_report_rank_scaling(stdout, &scaling, &show);
    }
    for (size_t i = 0; i < scaling.n_points; i++)
        free(scaling.points[i].at);
    free(scaling.points);
    free(scaling.program);
    free(scaling.machine);
    free(sizes);
    pm_warnings_free(&warnings);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which sizes"),
    PM_ADDED(NULL, 'P', "NAME=VALUES", pm_add_size_list, AT(design), "as p=4,8,16",
             .repeats = true),
    PM_TEXT("grid", 0, "NAME,...", AT(replay.grid), "the parameters that are the grid of ranks"),
    PM_HEADING("machine"),
    PM_OPTIONS_ONE_MACHINE(AT(replay.on)),
    PM_OPTION_TIME(AT(replay.predict)),
    PM_TEXT("platform", 0, "FILE.xml", AT(replay.platform), "the network"),
    PM_OPTIONS_DRAWN(AT(replay.show), AT(replay.svg)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.replay.show = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 1)
        status = pm_usage_error(self->name, "give one store");
    else if (status == 0 && request.design.n_specs == 0)
        status = pm_usage_error(self->name, "give sizes to follow, as in -P p=4,8,16");
    else if (status == 0 && request.replay.on.n_machines != 1)
        status = pm_usage_error(self->name, "name the machine that computes with -m NAME");
    else if (status == 0 && !request.replay.platform)
        status = pm_usage_error(self->name, "name the network with --platform FILE.xml");
    request.replay.store_path = line.arguments[0];
    if (status == 0 && !scale(&request, &err))
        status = pm_complain(&err);
    pm_size_design_free(&request.design);
    pm_free_machines(&request.replay.on);
    return status;
}

const struct pm_command pm_command_replay_scaling = {
    .name = "replay --scaling",
    .page = "replay",
    .purpose = "how the parallel time goes with the number of ranks",
    .usage = "-P NAME=VALUES... -m MACHINE --platform FILE.xml [OPTION]... STORE",
    .examples =
        "pmodel replay --scaling cg.pmdb -m sapphire-rapids --platform switch-10g -P p=4,8,16",
    .options = options,
    .run = run,
};
