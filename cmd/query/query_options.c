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
    if (request->has_level && request->level == PM_QUERY_PROGRAM && request->n_scopes)
        return pm_usage_error("query", "--scope and --level program exclude each other");
    return 0;
}

#define AT(field) offsetof(struct pm_query_request, field)
const struct pm_option pm_query_options[] = {
    PM_HEADING("what is asked"),
    PM_LIST("cache", 0, "SIZES", pm_add_query_caches, 0,
            "capacities: 32K,1.5M; 64blocks; 16K:4M; 32K/8/plru", .repeats = true),
    PM_LIST("hit-ratio", 0, "R[,R]...", pm_add_hit_ratio, 0,
            "the smallest cache, or the largest size, with this hit ratio", .repeats = true),
    PM_ACTION("fits", 0, read_fits, 0, "up to which sizes reuses hit",
              .excludes = "hit-ratio interpolate"),
    PM_ADDED("range", 0, "NAME=LOW:HIGH[:STEP]|NAME=VALUES", pm_set_query_range, 0,
             "where to look for a size"),
    PM_FLAG("no-cold", 0, AT(without_cold), "hit ratios of reuses, without first touches",
            .needs = "hit-ratio"),
    PM_LIST("block", 0, "SIZES", pm_add_block_size, AT(blocks), "bytes of the caches' blocks"),
    PM_HEADING("which runs"),
    PM_ADDED(NULL, 'P', "NAME=VALUES", pm_add_size_list, AT(design), "sizes, as N=64,128",
             .repeats = true),
    PM_OPTIONS_SELECTION(AT(selection)),
    PM_OPTION_INTERPOLATE(AT(interpolate)),
    PM_HEADING("machine"),
    PM_OPTIONS_MACHINES(AT(on)),
    PM_HEADING("what is shown"),
    PM_READ("scope", 0, "NAME", read_scope, 0, "only this routine or loop", .repeats = true),
    PM_READ("level", 0, "program|routine|loop|group", read_level, 0, "what a row stands for"),
    PM_OPTION_MIN_PERCENT(AT(options), "leaves out parts with less of accesses and misses (0.5)"),
    PM_OPTION_TOP(AT(options), "at most N parts"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

int pm_read_query_request(const struct pm_command *self, struct pm_query_request *request, int argc,
                          char **argv) {
    struct pm_command_line line = {.command = self, .request = request};
    request->options = pm_default_report_options();
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
