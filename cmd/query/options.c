/* The command line of `pmodel query`. */
#include <stdlib.h>

#include "cmd/measuring.h"
#include "cmd/query/private.h"

static int read_scope(const struct pm_option_use *use) {
    struct pm_query_request *request = use->to;
    *PM_PUSH(request, scopes) = use->value;
    return 0;
}

static int read_fits(const struct pm_option_use *use) {
    struct pm_query_request *request = use->to;
    request->kind = PM_QUERY_FITS;
    return 0;
}

static int read_level(const struct pm_option_use *use) {
    struct pm_query_request *request = use->to;
    request->has_level = true;
    if (pm_query_level_from_name(use->value, &request->level))
        return 0;
    return pm_usage_error("query", "--level is program, routine, loop or group, not \"%s\"",
                          use->value);
}

/* What is asked follows from what is given; 0, or the exit status after complaining. */
static int decide(struct pm_query_request *request) {
    bool has_caches = request->n_caches || request->on.n_machines;
    if (request->kind == PM_QUERY_FITS) {
        if (!request->has_level && request->n_scopes == 0)
            request->level = PM_QUERY_LOOP;
        if (request->n_ratios)
            return pm_usage_error("query", "--fits and --hit-ratio exclude each other");
    } else if (request->n_ratios == 0) {
        request->kind = PM_QUERY_MISSES;
    } else {
        request->kind = has_caches ? PM_QUERY_SIZE : PM_QUERY_CACHE;
    }
    if (request->kind != PM_QUERY_CACHE && !has_caches)
        return pm_usage_error("query", "give caches with --cache (as in 32K,512K) or -m, or "
                                       "--hit-ratio to ask for the smallest one");
    for (size_t i = 0; i < request->n_caches; i++)
        if (pm_query_is_organised(&request->caches[i]) && request->kind != PM_QUERY_MISSES)
            return pm_usage_error("query",
                                  "what stands behind a / in --cache is for queries for misses; "
                                  "--hit-ratio and --fits take fully associative caches");
    bool solves = request->kind == PM_QUERY_SIZE || request->kind == PM_QUERY_FITS;
    if (request->range_of && !solves)
        return pm_usage_error("query", "--range is for queries whose answer is a size: --hit-ratio "
                                       "with --cache or -m, and --fits");
    if (request->interpolate && request->kind == PM_QUERY_FITS)
        return pm_usage_error("query", "--fits asks the models of what was measured: it excludes "
                                       "--interpolate");
    if (request->without_cold && request->n_ratios == 0)
        return pm_usage_error("query", "--no-cold is for --hit-ratio");
    if (request->has_level && request->level == PM_QUERY_WHOLE && request->n_scopes)
        return pm_usage_error("query", "--scope and --level program exclude each other");
    return 0;
}

int pm_read_query_request(struct pm_query_request *request, int argc, char **argv) {
    struct pm_report_options *options = &request->options;
    const struct pm_option table[] = {
        PM_OPTION_ADD(NULL, 'P', pm_add_size_list, &request->design),
        PM_OPTIONS_MACHINES(&request->on),
        PM_OPTION_LIST("cache", 0, pm_add_query_caches, request),
        PM_OPTION_LIST("hit-ratio", 0, pm_add_hit_ratio, request),
        PM_OPTION_ACTION("fits", 0, read_fits, request),
        PM_OPTION_ADD("range", 0, pm_set_query_range, request),
        PM_OPTION_VALUE("scope", 0, read_scope, request),
        PM_OPTION_VALUE("level", 0, read_level, request),
        PM_OPTION_LIST("block", 0, pm_add_block_size, &request->blocks),
        PM_OPTIONS_SELECTION(&request->selection),
        PM_OPTION_FLAG("no-cold", 0, &request->without_cold),
        PM_OPTION_FLAG("interpolate", 0, &request->interpolate),
        PM_OPTION_VALUE("min-percent", 0, pm_read_percent, &options->min_percent),
        PM_OPTION_VALUE("top", 0, pm_read_count, &options->max_rows),
        {0},
    };
    struct pm_command_line line = {.command = "query", .options = table, .show = options};
    *options = pm_default_report_options();
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 1)
        status = pm_usage_error("query", "give one store");
    if (status)
        return status;
    request->store_path = line.arguments[0];
    return decide(request);
}

void pm_query_request_free(struct pm_query_request *request) {
    pm_size_design_free(&request->design);
    pm_free_machines(&request->on);
    free(request->caches);
    free(request->ratios);
    free(request->blocks.bytes);
    free(request->scopes);
    free(request->range_of);
    free(request->range.values);
}
