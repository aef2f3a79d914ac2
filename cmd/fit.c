/* `pmodel fit`: models of all runs of a store, put into the store. */
#include "fit/fit.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/runs_of_store.h"
#include "core/base/base.h"
#include "core/store/store.h"

enum output { SUMMARY, MODELS, FLAGGED };

/* The profiles in the order of the runs of MODELS, which were made from these or some of them. */
static void print_flagged(const struct pm_structure *structure, const struct pm_model_set *models,
                          struct pm_profile *const *profiles, size_t n_profiles,
                          const struct pm_report_options *options) {
    const struct pm_profile **ordered = pm_alloc(models->n_runs, sizeof *ordered);
    for (size_t k = 0; k < models->n_runs; k++)
        for (size_t i = 0; i < n_profiles; i++)
            if (pm_parameters_equal(&models->runs[k], &profiles[i]->parameters))
                ordered[k] = profiles[i];
    pm_report_flagged(stdout, structure, models, ordered, options);
    free(ordered);
}

/* Says which share of the accesses has no models, because builds differ (--build). */
static void say_unmatched(struct pm_profile *const *profiles, size_t n_profiles) {
    double most = 0;
    char *size = NULL;
    for (size_t i = 0; i < n_profiles; i++) {
        const struct pm_profile *profile = profiles[i];
        const struct pm_skipped_accesses *lost = &profile->skipped[PM_SKIPPED_UNMATCHED];
        double kept = 0, n_lost = lost->loads + lost->stores;
        for (size_t h = 0; h < profile->n_histograms; h++)
            if (profile->histograms[h].histogram.block_bytes == profile->block_sizes[0])
                kept += pm_histogram_accesses(&profile->histograms[h].histogram);
        if (n_lost == 0 || n_lost / (n_lost + kept) <= most)
            continue;
        most = n_lost / (n_lost + kept);
        free(size);
        size = pm_parameters_text(&profile->parameters);
    }
    if (size && most > 0)
        fprintf(stderr,
                "pmodel fit: %.3g%% of the accesses at %s are in code that is not the same in all "
                "builds and has no models (--flagged lists it)\n",
                100 * most, size);
    free(size);
}

static bool fit_store(struct pm_store *store, const struct pm_fit_options *fit_options,
                      const struct pm_report_options *options, enum output output,
                      struct pm_error *err) {
    struct pm_structure *structure = pm_store_structure(store, err);
    if (!structure)
        return false;
    struct pm_parameters *sizes = NULL;
    struct pm_profile **profiles = NULL;
    size_t n_profiles = 0;
    if (pm_store_runs(store, &sizes, &n_profiles, err))
        profiles = pm_read_profiles(store, structure, sizes, n_profiles, err);
    free(sizes);
    struct pm_fit_statistics statistics = {0};
    struct pm_model_set *models = NULL;
    if (profiles)
        models = pm_fit(structure, (const struct pm_profile *const *)profiles, n_profiles,
                        fit_options, &statistics, err);
    bool ok = models && pm_store_put_models(store, models, err);
    if (ok)
        say_unmatched(profiles, n_profiles);
    if (ok && output == FLAGGED)
        print_flagged(structure, models, profiles, n_profiles, options);
    else if (ok)
        pm_report_models(stdout, structure, models, &statistics, output == MODELS, options);
    if (models)
        pm_model_set_free(models);
    pm_profiles_free(profiles, n_profiles);
    pm_structure_free(structure);
    return ok;
}

static bool read_partition(const char *text, enum pm_fit_partition *partition) {
    bool gaps = strcmp(text, "gaps") == 0;
    *partition = gaps ? PM_FIT_GAPS : PM_FIT_SIGMETRICS;
    if (gaps || strcmp(text, "sigmetrics") == 0)
        return true;
    pm_usage_error("fit", "--partition is gaps or sigmetrics, not \"%s\"", text);
    return false;
}

/* The `=` between a scope and its functions: the first that is not part of a comparison, of which
   functions may have some; NULL if there is none. */
static char *end_of_scope(char *text) {
    for (; *text; text++) {
        if (text[0] == '=' && text[1] != '=')
            return text;
        if (strchr("=<>!", text[0]) && text[1] == '=')
            text++;
    }
    return NULL;
}

/* "FUNCTIONS" or "SCOPE=FUNCTIONS"; changes TEXT. */
static struct pm_fit_basis read_basis(char *text) {
    char *equals = end_of_scope(text);
    if (!equals)
        return (struct pm_fit_basis){NULL, text};
    *equals = '\0';
    return (struct pm_fit_basis){text, equals + 1};
}

/* BASES has room for as many as there are arguments. */
static int fit(int argc, char **argv, struct pm_fit_basis *bases) {
    enum {
        OPT_THREADS = 256,
        OPT_MODELS,
        OPT_FLAGGED,
        OPT_TOP,
        OPT_DROP_DIVERGENT,
        OPT_FORMAT,
        OPT_BASIS,
        OPT_SEARCH,
        OPT_PARTITION
    };
    static const struct option long_options[] = {
        {"basis", required_argument, NULL, OPT_BASIS},
        {"search", no_argument, NULL, OPT_SEARCH},
        {"threads", required_argument, NULL, OPT_THREADS},
        {"models", no_argument, NULL, OPT_MODELS},
        {"flagged", no_argument, NULL, OPT_FLAGGED},
        {"top", required_argument, NULL, OPT_TOP},
        {"drop-divergent", no_argument, NULL, OPT_DROP_DIVERGENT},
        {"format", required_argument, NULL, OPT_FORMAT},
        {"partition", required_argument, NULL, OPT_PARTITION},
        {0},
    };
    struct pm_fit_options fit_options = {.bases = bases};
    struct pm_report_options options = pm_default_report_options();
    enum output output = SUMMARY;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (c) {
        case OPT_BASIS:
            bases[fit_options.n_bases++] = read_basis(optarg);
            break;
        case OPT_SEARCH:
            fit_options.search = true;
            break;
        case OPT_THREADS:
            if (!pm_option_number("fit", "--threads", optarg, 1, &fit_options.n_threads))
                return PM_EXIT_INPUT;
            break;
        case OPT_MODELS:
            output = MODELS;
            break;
        case OPT_FLAGGED:
            output = FLAGGED;
            break;
        case OPT_TOP:
            if (!pm_option_number("fit", "--top", optarg, 1, &options.max_rows))
                return PM_EXIT_INPUT;
            break;
        case OPT_DROP_DIVERGENT:
            fit_options.drop_divergent = true;
            break;
        case OPT_FORMAT:
            if (!pm_option_format("fit", optarg, &options.format))
                return PM_EXIT_INPUT;
            break;
        case OPT_PARTITION:
            if (!read_partition(optarg, &fit_options.partition))
                return PM_EXIT_INPUT;
            break;
        default:
            return pm_usage_error("fit", "cannot read option \"%s\"", argv[optind - 1]);
        }
    if (argc - optind != 1)
        return pm_usage_error("fit", "give one store");
    struct pm_error err = {0};
    struct pm_store *store = pm_store_open(argv[optind], PM_STORE_READ, &err);
    if (store) { /* it is a store: now for writing */
        pm_store_close(store);
        store = pm_store_open(argv[optind], PM_STORE_CREATE, &err);
    }
    bool ok = store && fit_store(store, &fit_options, &options, output, &err);
    pm_store_close(store);
    return ok ? PM_EXIT_OK : pm_complain(&err);
}

int pm_cmd_fit(int argc, char **argv) {
    struct pm_fit_basis *bases = pm_alloc((size_t)argc + 1, sizeof *bases);
    int status = fit(argc, argv, bases);
    free(bases);
    return status;
}
