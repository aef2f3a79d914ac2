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
    if (request->time && request->run.on.n_machines == 0)
        return pm_usage_error("validate", "--time needs the machine that times are predicted for: "
                                          "-m NAME, which `pmodel probe` describes if it is this "
                                          "one");
    if (!request->store_path)
        return pm_usage_error("validate", "name the store that has the models with -s NAME.pmdb");
    if (request->run.request.store_path &&
        is_same_file(request->run.request.store_path, request->store_path))
        return pm_usage_error("validate",
                              "--keep %s is the store with the models, which is only read",
                              request->run.request.store_path);
    if (request->time)
        ask_for_times(request);
    if (request->n_caches == 0)
        for (unsigned blocks = SMALLEST_CACHE; blocks <= LARGEST_CACHE; blocks *= 2)
            add_cache(request, blocks);
    return 0;
}

#define AT(field) offsetof(struct pm_validate_request, field)
const struct pm_option pm_validate_options[] = {
    PM_HEADING("what is compared"),
    PM_TEXT("store", 's', "STORE", AT(store_path), "the store with the models"),
    PM_READ("caches", 0, "BLOCKS", read_caches, 0, "misses in caches of so many blocks",
            .repeats = true),
    PM_FLAG("hierarchy", 0, AT(hierarchy),
            "which routines the error of the program total comes from", .excludes = "time machine",
            .because = "counts and misses are compared then"),
    PM_TEXT("counts", 0, "CLASSES", AT(counts), "what it counts beside misses",
            .needs = "hierarchy"),
    PM_FLAG("time", 0, AT(time), "seconds, measured on this machine",
            .excludes = "caches block build start-at stop-after",
            .because = "seconds are of whole runs of one build"),
    PM_READ("time-model", 0, "window|simple|signature", pm_read_time_model, AT(predict.time),
            "what misses add to the predicted time"),
    PM_READ("repeat", 0, "K", read_repetitions, 0, "how many processes it measures (5)",
            .needs = "time", .excludes = "measured", .because = "nothing is run then"),
    PM_TEXT("measured", 0, "FILE", AT(measured), "times of another machine", .needs = "time"),
    PM_TEXT("keep", 0, "STORE", AT(run.request.store_path), "keeps the new runs in STORE"),
    PM_HEADING("what is shown"),
    PM_READ("min-percent", 0, "P", read_min_percent, 0,
            "leaves out loops with a smaller share (1; of times 2)"),
    PM_OPTION_TOP(AT(options), "at most N loops in each table"),
    PM_OPTIONS_OF("run", pm_measuring_options, AT(run)),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

int pm_validate_read_command_line(const struct pm_command *self,
                                  struct pm_validate_request *request, int argc, char **argv) {
    struct pm_command_line line = {.command = self, .request = request};
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
