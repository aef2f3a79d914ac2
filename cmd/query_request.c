/* The command line of `pmodel query`; see query_request.h. */
#include "cmd/query_request.h"

#include <getopt.h>
#include <stdlib.h>

enum {
    OPT_CACHE = 256,
    OPT_HIT_RATIO,
    OPT_FITS,
    OPT_RANGE,
    OPT_SCOPE,
    OPT_LEVEL,
    OPT_BLOCK,
    OPT_NO_COLD,
    OPT_MIN_PERCENT,
    OPT_TOP,
    OPT_FORMAT
};

static const struct option long_options[] = {
    {"machine", required_argument, NULL, 'm'},
    {"cache", required_argument, NULL, OPT_CACHE},
    {"hit-ratio", required_argument, NULL, OPT_HIT_RATIO},
    {"fits", no_argument, NULL, OPT_FITS},
    {"range", required_argument, NULL, OPT_RANGE},
    {"scope", required_argument, NULL, OPT_SCOPE},
    {"level", required_argument, NULL, OPT_LEVEL},
    {"block", required_argument, NULL, OPT_BLOCK},
    {"no-cold", no_argument, NULL, OPT_NO_COLD},
    {"min-percent", required_argument, NULL, OPT_MIN_PERCENT},
    {"top", required_argument, NULL, OPT_TOP},
    {"format", required_argument, NULL, OPT_FORMAT},
    {0},
};

static int read_percent(struct pm_query_request *request, const char *text) {
    char *end;
    double percent = strtod(text, &end);
    if (end == text || *end || !(percent >= 0 && percent <= 100))
        return pm_usage_error("query", "--min-percent takes 0 to 100, not \"%s\"", text);
    request->options.min_percent = percent;
    return 0;
}

static int read_level(struct pm_query_request *request, const char *text) {
    request->has_level = true;
    return pm_query_level_from_name(text, &request->level)
               ? 0
               : pm_usage_error("query", "--level is program, routine, loop or group, not \"%s\"",
                                text);
}

/* 0, the exit status after complaining, or -1: no such option. */
static int read_option(struct pm_query_request *request, int c, struct pm_error *err) {
    struct pm_report_options *options = &request->options;
    bool ok;
    switch (c) {
    case 'm':
        ok = pm_add_machines(&request->on, optarg, err);
        return ok ? 0 : pm_complain(err);
    case 'P':
        *PM_PUSH(&request->design, specs) = pm_strdup(optarg);
        return 0;
    case OPT_CACHE:
        ok = pm_add_query_caches(request, optarg, err);
        return ok ? 0 : pm_complain(err);
    case OPT_HIT_RATIO:
        ok = pm_add_hit_ratios(request, optarg, err);
        return ok ? 0 : pm_complain(err);
    case OPT_FITS:
        request->kind = PM_QUERY_FITS;
        return 0;
    case OPT_RANGE:
        request->range = optarg;
        return 0;
    case OPT_SCOPE:
        *PM_PUSH(request, scopes) = optarg;
        return 0;
    case OPT_LEVEL:
        return read_level(request, optarg);
    case OPT_BLOCK:
        ok = pm_option_block_sizes(optarg, &request->block_sizes, &request->n_block_sizes, err);
        return ok ? 0 : pm_complain(err);
    case OPT_NO_COLD:
        request->without_cold = true;
        return 0;
    case OPT_MIN_PERCENT:
        return read_percent(request, optarg);
    case OPT_TOP:
        ok = pm_option_number("query", "--top", optarg, 1, &options->max_rows);
        return ok ? 0 : PM_EXIT_INPUT;
    case OPT_FORMAT:
        return pm_option_format("query", optarg, &options->format) ? 0 : PM_EXIT_INPUT;
    default:
        return -1;
    }
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
    bool solves = request->kind == PM_QUERY_SIZE || request->kind == PM_QUERY_FITS;
    if (request->range && !solves)
        return pm_usage_error("query", "--range is for queries whose answer is a size: --hit-ratio "
                                       "with --cache or -m, and --fits");
    if (request->without_cold && request->n_ratios == 0)
        return pm_usage_error("query", "--no-cold is for --hit-ratio");
    if (request->has_level && request->level == PM_QUERY_WHOLE && request->n_scopes)
        return pm_usage_error("query", "--scope and --level program exclude each other");
    return 0;
}

int pm_read_query_request(struct pm_query_request *request, int argc, char **argv) {
    struct pm_error err = {0};
    int status = 0;
    request->options = pm_default_report_options();
    opterr = 0;
    for (int c; status == 0 && (c = getopt_long(argc, argv, "m:P:", long_options, NULL)) != -1;) {
        status = read_option(request, c, &err);
        if (status < 0)
            status = pm_usage_error("query", "cannot read option \"%s\"", argv[optind - 1]);
    }
    if (status == 0 && argc - optind != 1)
        status = pm_usage_error("query", "give one store");
    if (status == 0) {
        request->store_path = argv[optind];
        status = decide(request);
    }
    return status;
}

void pm_query_request_free(struct pm_query_request *request) {
    pm_run_design_free(&request->design);
    pm_free_machines(&request->on);
    free(request->caches);
    free(request->ratios);
    free(request->block_sizes);
    free(request->scopes);
}
