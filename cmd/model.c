/* `pmodel model`: how often things are executed, as functions of the size, at any level of the
   scope tree; from the runs that the store's models were made from. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/routine_lists.h"
#include "cmd/runs_of_store.h"
#include "core/store/store.h"
#include "fit/fit.h"

struct request {
    const char *store_path, *include_file, *exclude_file;
    struct pm_parameters at;
    struct pm_counts_request counts;
    struct pm_fit_options fit;
    struct pm_fit_basis basis;
    struct pm_report_options options;
    bool has_level;
};

/* ---- the store ------------------------------------------------------------------------------- */

/* Puts flags for the routines that --include and --exclude leave out into *LEFT_OUT. */
static bool read_lists(const struct request *request, const struct pm_structure *structure,
                       bool **left_out, struct pm_error *err) {
    struct pm_routine_lists *lists =
        pm_routine_lists_read(request->include_file, request->exclude_file, err);
    if (!lists)
        return false;
    *left_out = pm_routine_lists_left_out(lists, structure);
    bool ok = pm_routine_lists_all_found(lists, err);
    pm_routine_lists_free(lists);
    return ok;
}

static bool report(struct request *request, struct pm_error *err) {
    struct pm_store *store = pm_store_open(request->store_path, PM_STORE_READ, err);
    struct pm_structure *structure = store ? pm_store_structure(store, err) : NULL;
    struct pm_model_set *models = structure ? pm_store_models(store, err) : NULL;
    struct pm_profile **profiles = NULL;
    bool *left_out = NULL;
    if (structure && !models && err->kind == PM_ERROR_NONE)
        pm_fail(err, "%s has no models yet: call `pmodel fit` on it first", request->store_path);
    bool ok = models && read_lists(request, structure, &left_out, err);
    if (ok)
        profiles = pm_read_profiles(store, structure, models->runs, models->n_runs, err);
    request->counts.left_out = left_out;
    ok = profiles &&
         pm_report_counts(stdout, structure, models, (const struct pm_profile *const *)profiles,
                          &request->fit, &request->counts, &request->options, err);
    if (models)
        pm_profiles_free(profiles, models->n_runs);
    free(left_out);
    pm_model_set_free(models);
    if (structure)
        pm_structure_free(structure);
    pm_store_close(store);
    return ok;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* "1%" or "0.5%": least share; "20": most rows. */
static bool read_threshold(struct request *request, const char *text) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    bool percent = strcmp(end, "%") == 0, read = end != text && errno == 0;
    if (read && percent && value >= 0 && value <= 100) {
        request->counts.least_share = value / 100;
        return true;
    }
    if (read && *end == '\0' && value >= 1 && value <= 1e9 && value == (double)(size_t)value) {
        request->counts.most_rows = (size_t)value;
        return true;
    }
    pm_usage_error("model",
                   "--threshold takes a share of the count as 1%% or a number of rows as 20, "
                   "not \"%s\"",
                   text);
    return false;
}

static bool read_level(struct request *request, const char *name) {
    request->has_level = true;
    if (pm_mix_level_from_name(name, &request->counts.level) &&
        request->counts.level != PM_MIX_BLOCK)
        return true;
    pm_usage_error("model", "--level is program, module, routine or loop, not \"%s\"", name);
    return false;
}

static bool read_sort(struct request *request, const char *name) {
    request->counts.by_count = strcmp(name, "count") == 0;
    if (request->counts.by_count || strcmp(name, "place") == 0)
        return true;
    pm_usage_error("model", "--sort is place or count, not \"%s\"", name);
    return false;
}

enum {
    OPT_CLASSES = 256,
    OPT_LEVEL,
    OPT_SORT,
    OPT_THRESHOLD,
    OPT_INTERVAL,
    OPT_ELEMENTS,
    OPT_EDGES,
    OPT_ROUTINE,
    OPT_INCLUDE,
    OPT_EXCLUDE,
    OPT_BASIS,
    OPT_SEARCH,
    OPT_THREADS,
    OPT_FORMAT,
};

/* 0, or the exit status after complaining; -1: no such option. */
static int read_option(struct request *request, int c, struct pm_error *err) {
    struct pm_counts_request *counts = &request->counts;
    bool good = true;
    switch (c) {
    case 'P':
        counts->at = &request->at;
        return pm_parameters_add(optarg, &request->at, err) ? 0 : pm_complain(err);
    case OPT_CLASSES:
        counts->classes = optarg;
        break;
    case OPT_LEVEL:
        good = read_level(request, optarg);
        break;
    case OPT_SORT:
        good = read_sort(request, optarg);
        break;
    case OPT_THRESHOLD:
        good = read_threshold(request, optarg);
        break;
    case OPT_INTERVAL:
        counts->interval = optarg;
        break;
    case OPT_ELEMENTS:
        counts->elements = true;
        break;
    case OPT_EDGES:
        counts->edges = true;
        break;
    case OPT_ROUTINE:
        counts->routines = optarg;
        break;
    case OPT_INCLUDE:
        request->include_file = optarg;
        break;
    case OPT_EXCLUDE:
        request->exclude_file = optarg;
        break;
    case OPT_BASIS:
        request->basis.functions = optarg;
        request->fit.bases = &request->basis;
        request->fit.n_bases = 1;
        break;
    case OPT_SEARCH:
        request->fit.search = true;
        break;
    case OPT_THREADS:
        good = pm_option_number("model", "--threads", optarg, 1, &request->fit.n_threads);
        break;
    case OPT_FORMAT:
        good = pm_option_format("model", optarg, &request->options.format);
        break;
    default:
        return -1;
    }
    return good ? 0 : PM_EXIT_INPUT;
}

int pm_cmd_model(int argc, char **argv) {
    static const struct option long_options[] = {
        {"classes", required_argument, NULL, OPT_CLASSES},
        {"level", required_argument, NULL, OPT_LEVEL},
        {"sort", required_argument, NULL, OPT_SORT},
        {"threshold", required_argument, NULL, OPT_THRESHOLD},
        {"interval", required_argument, NULL, OPT_INTERVAL},
        {"elements", no_argument, NULL, OPT_ELEMENTS},
        {"edges", no_argument, NULL, OPT_EDGES},
        {"routine", required_argument, NULL, OPT_ROUTINE},
        {"include", required_argument, NULL, OPT_INCLUDE},
        {"exclude", required_argument, NULL, OPT_EXCLUDE},
        {"basis", required_argument, NULL, OPT_BASIS},
        {"search", no_argument, NULL, OPT_SEARCH},
        {"threads", required_argument, NULL, OPT_THREADS},
        {"format", required_argument, NULL, OPT_FORMAT},
        {0},
    };
    struct request request = {.counts.level = PM_MIX_ROUTINE,
                              .options = pm_default_report_options()};
    struct pm_error err = {0};
    opterr = 0;
    for (int c, status; (c = getopt_long(argc, argv, "P:", long_options, NULL)) != -1;) {
        status = read_option(&request, c, &err);
        if (status < 0)
            return pm_usage_error("model", "cannot read option \"%s\"", argv[optind - 1]);
        if (status)
            return status;
    }
    if (argc - optind != 1)
        return pm_usage_error("model", "give one store");
    const struct pm_counts_request *counts = &request.counts;
    if (counts->edges &&
        (request.has_level || counts->classes || counts->elements || counts->interval))
        return pm_usage_error("model", "--edges counts edges of the control flow, so that it "
                                       "excludes --level, --classes, --elements and --interval");
    request.store_path = argv[optind];
    return report(&request, &err) ? PM_EXIT_OK : pm_complain(&err);
}
