/* `pmodel scale --platform`: replays of one program at many sizes. */
#include "cmd/replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/measuring.h"
#include "cmd/replay/private.h"

static bool is_in_grid(const struct pm_scaling_request *request, const char *name) {
    char *names = pm_strdup(request->grid ? request->grid : "p"), *rest = names;
    bool found = false;
    for (char *one; !found && (one = strsep(&rest, ","));)
        found = strcmp(one, name) == 0;
    free(names);
    return found;
}

/* Does only the number of ranks differ, but for what follows it by a formula? */
static bool is_strong(const struct pm_scaling_request *request, const struct pm_parameters *sizes,
                      size_t n) {
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

bool pm_scale_ranks(const struct pm_scaling_request *request, struct pm_error *err) {
    const struct pm_replay_options options = {.store_path = request->store_path,
                                              .platform = request->platform,
                                              .grid = request->grid,
                                              .on = *request->on,
                                              .predict = request->predict,
                                              .show = request->show};
    struct pm_rank_scaling scaling = {.platform = request->platform};
    struct pm_warnings warnings = {0};
    struct pm_report_options show = request->show;
    struct pm_parameters *sizes = NULL;
    size_t n = 0;
    bool ok = pm_size_design_expand(request->design, &sizes, &n, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = replay_point(&options, &sizes[i], &scaling, &warnings, err);
    show.warnings = &warnings;
    if (ok) {
        scaling.is_strong = is_strong(request, sizes, n);
        PM_SORT(scaling.points, scaling.n_points, by_ranks);
        if (request->svg)
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
