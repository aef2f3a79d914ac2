/* The command line of `pmodel validate`, and what contradicts itself there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/validate/private.h"
#include "cmd/validate/times.h"

/* Powers of two from the first to the last. */
enum { SMALLEST_CACHE = 64, LARGEST_CACHE = 131072 };
#define MOST_CACHE_BLOCKS (1ull << 48)

static void add_cache(struct pm_validate_request *request, double blocks) {
    size_t n = request->n_caches, at = PM_LOWER_BOUND(n, i, request->cache_blocks[i] < blocks);
    if (at < n && request->cache_blocks[at] == blocks)
        return;
    request->cache_blocks = pm_realloc(request->cache_blocks, n + 1, sizeof *request->cache_blocks);
    memmove(request->cache_blocks + at + 1, request->cache_blocks + at,
            (n - at) * sizeof *request->cache_blocks);
    request->cache_blocks[at] = blocks;
    request->n_caches++;
}

static int read_caches(const struct pm_option_use *use) {
    char *copy = pm_strdup(use->value), *rest = copy;
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
            add_cache(use->to, (double)blocks);
    }
    free(copy);
    return status;
}

static int read_min_percent(const struct pm_option_use *use) {
    struct pm_validate_request *request = use->to;
    struct pm_option_use same = *use;
    same.to = &request->options.min_percent;
    request->has_min_percent = true;
    return pm_read_percent(&same);
}

static int read_repetitions(const struct pm_option_use *use) {
    struct pm_validate_request *request = use->to;
    struct pm_option_use same = *use;
    same.to = &request->n_repetitions;
    return pm_read_count(&same);
}

static bool is_same_file(const char *a, const char *b) {
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 &&
           status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

/* What contradicts itself about --time; NULL: nothing. */
static const char *find_time_contradiction(const struct pm_validate_request *request) {
    const struct pm_measure_request *run = &request->run.request;
    if (!request->time)
        return request->n_repetitions || request->measured
                   ? "--repeat and --measured are for --time"
                   : NULL;
    if (request->hierarchy || request->n_caches || run->blocks.n)
        return "--time compares seconds: it excludes --hierarchy, --caches and --block";
    if (run->build)
        return "--build excludes --time, which is for one build";
    if (run->copies.events.n_routines)
        return "--time measures whole runs: it excludes --start-at and --stop-after";
    if (request->run.on.n_machines == 0)
        return "--time needs the machine that times are predicted for: -m NAME, which `pmodel "
               "probe` describes if it is this one";
    if (request->measured && request->n_repetitions)
        return "--repeat is for runs, and with --measured there are none";
    return NULL;
}

/* Counts are enough to choose what gets a timer. */
static void ask_for_times(struct pm_validate_request *request) {
    static const double least_percent = 2;
    struct pm_measure_request *run = &request->run.request;
    run->copies.no_memory = true;
    run->time_runs = request->n_repetitions ? request->n_repetitions : PM_USUAL_REPETITIONS;
    run->time_again = true;
    run->time_cost_percent = pm_usual_time_cost_percent;
    if (!request->has_min_percent)
        request->options.min_percent = least_percent;
}

static int check(struct pm_validate_request *request) {
    const char *contradiction = find_time_contradiction(request);
    if (contradiction)
        return pm_usage_error("validate", "%s", contradiction);
    if (!request->store_path)
        return pm_usage_error("validate", "name the store that has the models with -s NAME.pmdb");
    if (request->run.request.store_path &&
        is_same_file(request->run.request.store_path, request->store_path))
        return pm_usage_error("validate",
                              "--keep %s is the store with the models, which is only read",
                              request->run.request.store_path);
    if (request->hierarchy && request->run.on.n_machines)
        return pm_usage_error("validate", "--hierarchy compares counts and misses, so that it "
                                          "excludes -m");
    if (request->counts && !request->hierarchy)
        return pm_usage_error("validate", "--counts says what --hierarchy counts");
    if (request->time)
        ask_for_times(request);
    if (request->n_caches == 0)
        for (unsigned blocks = SMALLEST_CACHE; blocks <= LARGEST_CACHE; blocks *= 2)
            add_cache(request, blocks);
    return 0;
}

int pm_validate_read_command_line(struct pm_validate_request *request, int argc, char **argv) {
    struct pm_report_options *options = &request->options;
    struct pm_option shared[PM_N_MEASURING_OPTIONS];
    const struct pm_option own[] = {
        PM_OPTION_TEXT("store", 's', &request->store_path),
        PM_OPTION_VALUE("caches", 0, read_caches, request),
        PM_OPTION_TEXT("keep", 0, &request->run.request.store_path),
        PM_OPTION_VALUE("min-percent", 0, read_min_percent, request),
        PM_OPTION_VALUE("top", 0, pm_read_count, &options->max_rows),
        PM_OPTION_FLAG("hierarchy", 0, &request->hierarchy),
        PM_OPTION_FLAG("time", 0, &request->time),
        PM_OPTION_VALUE("time-model", 0, pm_read_time_model, &request->predict.time),
        PM_OPTION_VALUE("repeat", 0, read_repetitions, request),
        PM_OPTION_TEXT("measured", 0, &request->measured),
        PM_OPTION_TEXT("counts", 0, &request->counts),
        {0},
    };
    struct pm_command_line line = {.command = "validate",
                                   .options = own,
                                   .shared = shared,
                                   .show = options,
                                   .ends_at_argument = true};
    pm_measuring_options(&request->run, shared);
    int status = pm_read_options(&line, argc, argv);
    request->measured_only = (request->hierarchy || request->measured) && line.n_arguments == 0;
    if (status == 0 && request->measured && line.n_arguments)
        status =
            pm_usage_error("validate", "--measured FILE has the times, so that nothing is run: "
                                       "give no command");
    if (status == 0 && !request->measured_only)
        status = pm_measuring_check(&request->run, line.arguments);
    return status ? status : check(request);
}
