/* `pmodel report`: a store at one size, on one or more machines. */
#include "report/report.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/query_session.h"
#include "cmd/report_carried.h"
#include "cmd/report_threads.h"
#include "cmd/runs_of_store.h"
#include "core/base/base.h"
#include "core/store/store.h"
#include "fit/fit.h"
#include "sched/sched.h"

struct request {
    struct pm_machine_list on;
    struct pm_parameters at; /* n == 0: the largest measured size */
    struct pm_report_options options;
    enum pm_unknown_dependences dependences;
    bool carried;
    bool threads;
    bool fits;
};

/* ---- the profile at the size that was asked for ---------------------------------------------- */

/* The run of exactly size AT, and its times where there are some. */
static struct pm_profile *measured_profile(struct pm_store *store,
                                           const struct pm_structure *structure,
                                           const struct pm_parameters *at, struct pm_times **times,
                                           struct pm_error *err) {
    struct pm_profile *profile = pm_store_profile(store, at, err);
    bool ok = profile && pm_profile_fits(profile, structure, err);
    if (ok) {
        *times = pm_store_times(store, at, err);
        ok = *times ? pm_times_fit(*times, structure, err) : err->kind == PM_ERROR_NONE;
    }
    if (ok || !profile)
        return profile;
    pm_profile_free(profile);
    return NULL;
}

/* The profile, and, of a predicted one, those of both ends of its intervals. */
struct found {
    struct pm_profile *profile, *low, *high;
};

static void predict_profile(const struct pm_structure *structure, const struct pm_model_set *models,
                            const struct pm_parameters *at, struct found *found,
                            struct pm_error *err) {
    struct pm_profile *profile = pm_fit_instantiate(structure, models, at, err);
    if (profile)
        found->low = pm_fit_instantiate_end(structure, models, at, PM_FIT_LEVEL, false, err);
    if (found->low)
        found->high = pm_fit_instantiate_end(structure, models, at, PM_FIT_LEVEL, true, err);
    if (found->high)
        found->profile = profile;
    else if (profile)
        pm_profile_free(profile);
}

static void free_found(struct found *found) {
    if (found->profile)
        pm_profile_free(found->profile);
    if (found->low)
        pm_profile_free(found->low);
    if (found->high)
        pm_profile_free(found->high);
}

/* Measured at this very size? Else the models'.  *TIMES: what was timed at this size, NULL if
   nothing was; owned by the caller. */
static struct found find_profile(struct pm_store *store, const struct pm_structure *structure,
                                 const struct pm_parameters *at, char **measured_up_to,
                                 struct pm_times **times, struct pm_error *err) {
    struct found found = {0};
    struct pm_parameters *runs;
    size_t n_runs;
    if (!pm_store_runs(store, &runs, &n_runs, err))
        return found;
    const struct pm_parameters *hit = NULL;
    if (n_runs == 0) {
        pm_fail(err, "the store holds no run yet: measure with `pmodel run`");
    } else if (pm_check_parameter_names(&runs[n_runs - 1], at, err)) {
        *measured_up_to = pm_parameters_text(&runs[n_runs - 1]);
        for (size_t i = n_runs; i-- > 0 && !hit;)
            if (pm_run_matches(&runs[i], at))
                hit = &runs[i];
        if (hit) {
            found.profile = measured_profile(store, structure, hit, times, err);
        } else {
            struct pm_model_set *models = pm_store_models(store, err);
            if (models) {
                predict_profile(structure, models, at, &found, err);
                pm_model_set_free(models);
            } else if (err->kind == PM_ERROR_NONE) {
                pm_fail(err, "this size was not measured and there are no models yet: call "
                             "`pmodel fit` on the store first");
            }
        }
    }
    free(runs);
    return found;
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* On one machine; NULL after an error. */
static struct pm_prediction *predict_one(const struct request *request,
                                         const struct pm_structure *structure,
                                         const struct found *found,
                                         const struct pm_machine *machine, struct pm_error *err) {
    struct pm_prediction *prediction =
        pm_predict(structure, found->profile, machine, request->dependences, err);
    if (!prediction || !found->low)
        return prediction;
    prediction->level = PM_FIT_LEVEL;
    prediction->low = pm_predict(structure, found->low, machine, request->dependences, err);
    prediction->high = pm_predict(structure, found->high, machine, request->dependences, err);
    if (prediction->low && prediction->high)
        return prediction;
    pm_prediction_free(prediction);
    return NULL;
}

static bool predict_all(const struct request *request, struct pm_store *store,
                        struct pm_error *err) {
    struct pm_structure *structure = pm_store_structure(store, err);
    if (!structure)
        return false;
    char *measured_up_to = NULL;
    struct pm_times *times = NULL;
    struct found found = find_profile(store, structure, &request->at, &measured_up_to, &times, err);
    const struct pm_profile *profile = found.profile;
    size_t n = request->on.n_machines;
    struct pm_prediction **predictions = pm_alloc(n, sizeof *predictions);
    bool ok = profile != NULL;
    if (ok && request->threads && profile->predicted)
        ok = pm_fail(err, "--threads is for sizes that were measured: models are of all threads "
                          "together");
    for (size_t i = 0; i < n && ok; i++) {
        predictions[i] = predict_one(request, structure, &found, request->on.machines[i], err);
        ok = predictions[i] != NULL;
        if (ok && !predictions[i]->measured_up_to)
            predictions[i]->measured_up_to = pm_strdup(measured_up_to);
    }
    if (ok)
        pm_report_predictions(stdout, structure, (const struct pm_prediction *const *)predictions,
                              n, times, &request->options);
    if (ok && request->threads)
        ok = pm_print_threads(store, &profile->parameters, &request->on, &request->options, err);
    if (ok && request->fits)
        ok =
            pm_report_store_fits(store, &profile->parameters, &request->on, &request->options, err);
    for (size_t i = 0; i < n; i++)
        if (predictions[i])
            pm_prediction_free(predictions[i]);
    free(predictions);
    free(measured_up_to);
    pm_times_free(times);
    free_found(&found);
    pm_structure_free(structure);
    return ok;
}

/* ---- the command line ------------------------------------------------------------------------ */

enum { OPT_FORMAT = 256, OPT_MIN_PERCENT, OPT_TOP, OPT_DEPS, OPT_CARRIED, OPT_THREADS, OPT_FITS };

/* 0, or the exit status after complaining. */
static int read_option(struct request *request, int c, struct pm_error *err) {
    char *end;
    switch (c) {
    case 'm':
        return pm_add_machines(&request->on, optarg, err) ? 0 : pm_complain(err);
    case 'P':
        return pm_parameters_add(optarg, &request->at, err) ? 0 : pm_complain(err);
    case OPT_FORMAT:
        return pm_option_format("report", optarg, &request->options.format) ? 0 : PM_EXIT_INPUT;
    case OPT_TOP:
        return pm_option_number("report", "--top", optarg, 1, &request->options.max_rows)
                   ? 0
                   : PM_EXIT_INPUT;
    case OPT_DEPS:
        if (strcmp(optarg, "optimistic") == 0)
            request->dependences = PM_DEPS_OPTIMISTIC;
        else if (strcmp(optarg, "pessimistic") == 0)
            request->dependences = PM_DEPS_PESSIMISTIC;
        else
            return pm_usage_error("report", "--deps takes optimistic or pessimistic, not \"%s\"",
                                  optarg);
        return 0;
    case OPT_THREADS:
        request->threads = true;
        return 0;
    case OPT_FITS:
        request->fits = true;
        return 0;
    case OPT_MIN_PERCENT:
        request->options.min_percent = strtod(optarg, &end);
        if (end != optarg && *end == '\0' && request->options.min_percent >= 0 &&
            request->options.min_percent <= 100)
            return 0;
        return pm_usage_error("report", "--min-percent takes 0 to 100, not \"%s\"", optarg);
    case OPT_CARRIED:
        request->carried = true;
        return 0;
    default:
        return -1;
    }
}

int pm_cmd_report(int argc, char **argv) {
    static const struct option long_options[] = {
        {"machine", required_argument, NULL, 'm'},
        {"format", required_argument, NULL, OPT_FORMAT},
        {"min-percent", required_argument, NULL, OPT_MIN_PERCENT},
        {"top", required_argument, NULL, OPT_TOP},
        {"deps", required_argument, NULL, OPT_DEPS},
        {"carried", no_argument, NULL, OPT_CARRIED},
        {"threads", no_argument, NULL, OPT_THREADS},
        {"fits", no_argument, NULL, OPT_FITS},
        {0},
    };
    struct request request = {.options = pm_default_report_options()};
    struct pm_error err = {0};
    int status = 0;
    opterr = 0;
    for (int c; status == 0 && (c = getopt_long(argc, argv, "m:P:", long_options, NULL)) != -1;) {
        status = read_option(&request, c, &err);
        if (status < 0)
            status = pm_usage_error("report", "cannot read option \"%s\"", argv[optind - 1]);
    }
    if (status == 0 && argc - optind != 1)
        status = pm_usage_error("report", "give one store");
    if (status == 0 && request.threads && request.carried)
        status = pm_usage_error("report", "--threads and --carried exclude each other");
    if (status == 0 && request.threads && request.options.format != PM_REPORT_TABLE)
        status = pm_usage_error("report", "--threads is a table; `pmodel export --histograms "
                                          "--threads` writes JSON and CSV");
    if (status == 0 && request.fits && request.carried)
        status = pm_usage_error("report", "--fits and --carried exclude each other");
    if (status == 0 && request.fits && request.options.format != PM_REPORT_TABLE)
        status = pm_usage_error("report", "--fits is a table; `pmodel query --fits` writes JSON "
                                          "and CSV");
    if (status == 0) {
        struct pm_store *store = pm_store_open(argv[optind], PM_STORE_READ, &err);
        bool ok = store && (request.on.n_machines || pm_add_all_machines(&request.on, &err)) &&
                  (request.carried ? pm_report_store_carried(store, &request.at, &request.on,
                                                             &request.options, &err)
                                   : predict_all(&request, store, &err));
        pm_store_close(store);
        status = ok ? PM_EXIT_OK : pm_complain(&err);
    }
    pm_free_machines(&request.on);
    return status;
}
