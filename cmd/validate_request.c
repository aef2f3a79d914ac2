/* The command line of `pmodel validate`; see validate_request.h. */
#define _GNU_SOURCE
#include "cmd/validate_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Powers of two from the first to the last. */
enum { SMALLEST_CACHE = 64, LARGEST_CACHE = 131072 };
#define MOST_CACHE_BLOCKS (1ull << 48)

static void add_cache(struct pm_validate_request *request, double blocks) {
    size_t at = request->n_caches;
    for (size_t i = 0; i < request->n_caches; i++)
        if (request->cache_blocks[i] == blocks)
            return;
    request->cache_blocks =
        pm_realloc(request->cache_blocks, request->n_caches + 1, sizeof *request->cache_blocks);
    for (; at > 0 && request->cache_blocks[at - 1] > blocks; at--)
        request->cache_blocks[at] = request->cache_blocks[at - 1];
    request->cache_blocks[at] = blocks;
    request->n_caches++;
}

static int add_caches(struct pm_validate_request *request, const char *list) {
    char *copy = pm_strdup(list), *rest = copy;
    int status = 0;
    for (char *item; status == 0 && (item = strsep(&rest, ","));) {
        char *end;
        errno = 0;
        unsigned long long blocks = strtoull(item, &end, 10);
        if (errno || end == item || *end || *item == '-' || blocks == 0 ||
            blocks > MOST_CACHE_BLOCKS)
            status = pm_usage_error(
                "validate", "--caches takes sizes in blocks, as in 512,16384, not \"%s\"", item);
        else
            add_cache(request, (double)blocks);
    }
    free(copy);
    return status;
}

static int read_percent(struct pm_validate_request *request, const char *text) {
    char *end;
    double percent = strtod(text, &end);
    if (end == text || *end || !(percent >= 0 && percent <= 100))
        return pm_usage_error("validate", "--min-percent takes 0 to 100, not \"%s\"", text);
    request->options.min_percent = percent;
    return 0;
}

enum {
    OPT_CACHES = PM_RUN_OPTIONS_END,
    OPT_KEEP,
    OPT_MIN_PERCENT,
    OPT_TOP,
    OPT_FORMAT,
    OPT_HIERARCHY,
    OPT_COUNTS
};

static const struct option long_options[] = {
    PM_RUN_LONG_OPTIONS,
    {"store", required_argument, NULL, 's'},
    {"machine", required_argument, NULL, 'm'},
    {"caches", required_argument, NULL, OPT_CACHES},
    {"keep", required_argument, NULL, OPT_KEEP},
    {"min-percent", required_argument, NULL, OPT_MIN_PERCENT},
    {"top", required_argument, NULL, OPT_TOP},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"hierarchy", no_argument, NULL, OPT_HIERARCHY},
    {"counts", required_argument, NULL, OPT_COUNTS},
    {0},
};

/* 0, the exit status after complaining, or -1: no such option. */
static int read_option(struct pm_validate_request *request, int c, struct pm_error *err) {
    struct pm_report_options *options = &request->options;
    switch (c) {
    case 's':
        request->store_path = optarg;
        return 0;
    case 'm':
        return pm_add_machines(&request->on, optarg, err) ? 0 : pm_complain(err);
    case OPT_CACHES:
        return add_caches(request, optarg);
    case OPT_KEEP:
        request->run.store_path = optarg;
        return 0;
    case OPT_MIN_PERCENT:
        return read_percent(request, optarg);
    case OPT_TOP:
        return pm_option_number("validate", "--top", optarg, 1, &options->max_rows) ? 0
                                                                                    : PM_EXIT_INPUT;
    case OPT_FORMAT:
        return pm_option_format("validate", optarg, &options->format) ? 0 : PM_EXIT_INPUT;
    case OPT_HIERARCHY:
        request->hierarchy = true;
        return 0;
    case OPT_COUNTS:
        request->counts = optarg;
        return 0;
    default:
        return pm_read_run_option(&request->run, c, err);
    }
}

static bool is_same_file(const char *a, const char *b) {
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 &&
           status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

static int check_request(struct pm_validate_request *request) {
    if (!request->store_path)
        return pm_usage_error("validate", "name the store that has the models with -s NAME.pmdb");
    if (request->run.store_path && is_same_file(request->run.store_path, request->store_path))
        return pm_usage_error("validate",
                              "--keep %s is the store with the models, which is only read",
                              request->run.store_path);
    if (request->run.no_memory && request->on.n_machines)
        return pm_usage_error("validate", "-m needs misses, so that --no-memory excludes it");
    if (request->hierarchy && request->on.n_machines)
        return pm_usage_error("validate", "--hierarchy compares counts and misses, so that it "
                                          "excludes -m");
    if (request->counts && !request->hierarchy)
        return pm_usage_error("validate", "--counts says what --hierarchy counts");
    if (request->n_caches == 0)
        for (unsigned blocks = SMALLEST_CACHE; blocks <= LARGEST_CACHE; blocks *= 2)
            add_cache(request, blocks);
    return 0;
}

int pm_read_validate_request(struct pm_validate_request *request, int argc, char **argv) {
    struct pm_error err = {0};
    int status = 0;
    opterr = 0;
    request->run.command = "validate";
    request->run.output_to_errors = true;
    request->options = pm_default_report_options();
    request->options.min_percent = 1;
    for (int c; status == 0 && (c = getopt_long(argc, argv, "+s:m:" PM_RUN_SHORT_OPTIONS,
                                                long_options, NULL)) != -1;) {
        status = read_option(request, c, &err);
        if (status < 0)
            return pm_usage_error("validate", "cannot read option \"%s\"", argv[optind - 1]);
    }
    request->measured_only = request->hierarchy && !argv[optind];
    if (status == 0 && !request->measured_only)
        status = pm_read_run_command(&request->run, argv + optind);
    return status ? status : check_request(request);
}

void pm_validate_request_free(struct pm_validate_request *request) {
    pm_run_request_free(&request->run);
    pm_free_machines(&request->on);
    free(request->cache_blocks);
}
