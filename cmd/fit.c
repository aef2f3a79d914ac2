/* `pmodel fit`: models of all runs of a store, put into the store. */
#include "fit/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "ask/ask.h"
#include "cmd/progress.h"
#include "core/base/base.h"
#include "core/messages/messages.h"
#include "core/store/store.h"
#include "fit/query/query.h"
#include "fit/warnings/warnings.h"

enum output { SUMMARY, MODELS, FLAGGED };

struct request {
    PM_ARRAY(char *, parameters); /* of --in; owned */
    struct pm_fit_options fit;
    struct pm_fit_basis *bases; /* room for as many as there are arguments */
    struct pm_dumping dump;
    struct pm_report_options options;
    enum output output;
    bool with_partial;
    struct pm_selection_words selection;
    char *selected; /* in words; owned */
};

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
    const struct pm_profile *of;
    double share = pm_unmatched_share(profiles, n_profiles, &of);
    char *size = of ? pm_parameters_text(&of->parameters) : NULL;
    if (size)
        fprintf(stderr,
                "pmodel fit: %.3g%% of the accesses at %s are in code that is not the same in all "
                "builds and has no models (--flagged lists it)\n",
                100 * share, size);
    free(size);
}

/* Leaves the profiles of runs that were truncated out of PROFILES and says so; with them: only says
   so.  How many of those that stay were truncated. */
static size_t choose_profiles(struct pm_profile **profiles, size_t *n_profiles, bool with_partial) {
    size_t n = 0, n_truncated = 0;
    for (size_t i = 0; i < *n_profiles; i++) {
        if (!profiles[i]->truncated) {
            profiles[n++] = profiles[i];
            continue;
        }
        char *size = pm_parameters_text(&profiles[i]->parameters);
        fprintf(stderr, "pmodel fit: %s%sthe run did not come to its end (it %s), and is %s\n",
                size, *size ? ": " : "", profiles[i]->truncated,
                with_partial ? "taken all the same" : "left out (--with-partial takes it)");
        free(size);
        n_truncated++;
        if (with_partial)
            profiles[n++] = profiles[i];
        else
            pm_profile_free(profiles[i]);
    }
    *n_profiles = n;
    return with_partial ? n_truncated : 0;
}

/* What was fitted: all runs, or what is selected of them. */
struct fitted {
    struct pm_structure *structure;
    struct pm_profile **profiles;
    size_t n_profiles;
    struct pm_model_set *models;
    struct pm_fit_statistics statistics;
    struct pm_given_formulas formulas; /* which the statistics name */
};

static void free_fitted(struct fitted *fitted) {
    if (fitted->models)
        pm_model_set_free(fitted->models);
    pm_given_formulas_free(&fitted->formulas);
    pm_profiles_free(fitted->profiles, fitted->n_profiles);
    if (fitted->structure)
        pm_structure_free(fitted->structure);
}

/* Models of messages of what is selected, where communication was traced.  Some have too few runs
   of their own for models.  MODELS are those of the selection's counts. */
static bool fit_messages(struct pm_store *store, const struct pm_model_set *models,
                         const struct pm_fit_options *options, struct pm_error *err) {
    struct pm_error why = {0};
    struct pm_fit_options in_parameters = *options;
    const char *names[PM_MAX_PARAMETERS];
    struct pm_selection selection = pm_store_selection(store);
    pm_fit_in_parameters_of(models, &in_parameters, names);
    struct pm_message_models *messages =
        selection.kind == PM_NONE ? pm_fit_messages(store, &in_parameters, &why) : NULL;
    bool ok = !messages || pm_store_put_message_models(store, messages, err);
    if (why.kind != PM_ERROR_NONE)
        fprintf(stderr, "pmodel fit: messages have no models: %s\n", why.text);
    pm_message_models_free(messages);
    return ok;
}

/* Fits what is selected in STORE, and puts the models into it; passes dump what DUMP asks for. */
static bool fit_selected(struct pm_store *store, const struct pm_fit_options *fit_options,
                         bool with_partial, struct pm_dumping *dump, struct fitted *fitted,
                         struct pm_error *err) {
    struct pm_parameters *sizes = NULL;
    struct pm_fit_options with_formulas = *fit_options;
    fitted->structure = pm_store_structure(store, err);
    if (fitted->structure && pm_store_runs(store, &sizes, &fitted->n_profiles, err))
        fitted->profiles =
            pm_read_profiles(store, fitted->structure, sizes, fitted->n_profiles, err);
    free(sizes);
    if (!fitted->profiles)
        return false;
    size_t n_truncated = choose_profiles(fitted->profiles, &fitted->n_profiles, with_partial);
    const struct pm_profile *const *profiles = (const struct pm_profile *const *)fitted->profiles;
    with_formulas.formulas = &fitted->formulas;
    if (dump->pass && !pm_dumping_begin(dump, fitted->structure, stdout, err))
        return false;
    with_formulas.dumping = dump->pass ? dump : NULL;
    if (!dump->pass) /* which prints meanwhile */
        pm_work_begin("making models of %zu runs", fitted->n_profiles);
    if (pm_store_formulas(store, &fitted->formulas, err))
        fitted->models = pm_fit(fitted->structure, profiles, fitted->n_profiles, &with_formulas,
                                &fitted->statistics, err);
    if (fitted->models) {
        pm_fit_hold_out(fitted->structure, profiles, fitted->n_profiles, &with_formulas,
                        fitted->models);
        pm_fit_write_backs(fitted->structure, profiles, fitted->n_profiles, &with_formulas,
                           fitted->models);
        pm_fit_branches(profiles, fitted->n_profiles, &with_formulas, fitted->models);
    }
    pm_work_end();
    with_formulas.dumping = NULL;
    pm_dumping_end(dump);
    bool ok = fitted->models && pm_store_put_models(store, fitted->models, err) &&
              fit_messages(store, fitted->models, &with_formulas, err);
    if (ok)
        fitted->models->n_truncated = n_truncated;
    return ok;
}

static void print_fitted(const struct fitted *fitted, const struct pm_report_options *options,
                         enum output output) {
    struct pm_warnings warnings = {0};
    struct pm_report_options with_warnings = *options;
    const struct pm_origin origin = {fitted->structure, fitted->models, NULL};
    say_unmatched(fitted->profiles, fitted->n_profiles);
    pm_warn(&origin, &warnings);
    pm_warn_of_counts(&origin, &warnings);
    pm_warn_of_misses(&origin, NULL, 0, &warnings);
    with_warnings.warnings = &warnings;
    if (output == FLAGGED)
        print_flagged(fitted->structure, fitted->models, fitted->profiles, fitted->n_profiles,
                      &with_warnings);
    else
        pm_report_models(stdout, fitted->structure, fitted->models, &fitted->statistics,
                         output == MODELS, &with_warnings);
    pm_warnings_free(&warnings);
}

/* ---- roles of ranks -------------------------------------------------------------------------- */

/* Models of the mean rank of a role; of one that has too few sizes there are none, which is said.
 */
/* A role that has no models any more has not those of an earlier fit either. */
static bool fit_role(struct pm_store *store, const struct pm_ranks *names, uint32_t role,
                     const struct request *request, struct pm_error *err) {
    struct pm_selection selection = PM_SELECTION_ALL;
    struct fitted fitted = {0};
    struct pm_error why = {0};
    selection.role = role;
    if (!pm_store_select(store, &selection, err) || !pm_store_forget_models(store, err))
        return false;
    if (fit_selected(store, &request->fit, request->with_partial, &(struct pm_dumping){0}, &fitted,
                     &why))
        fprintf(stderr, "pmodel fit: role %s: %zu runs, %zu models, %zu of them exact\n",
                names->roles[role].name, fitted.n_profiles, fitted.statistics.n_models,
                fitted.statistics.n_exact);
    else
        fprintf(stderr, "pmodel fit: role %s has no models: %s\n", names->roles[role].name,
                why.text);
    free_fitted(&fitted);
    return true;
}

static bool fit_roles(struct pm_store *store, const struct request *request, struct pm_error *err) {
    struct pm_ranks names = {0};
    bool ok = pm_store_roles(store, &names, err);
    for (uint32_t role = 0; ok && role < names.n_roles; role++)
        ok = fit_role(store, &names, role, request, err);
    pm_ranks_free(&names);
    return ok && pm_store_select(store, &PM_SELECTION_ALL, err);
}

/* Of all runs, and then of each role of their ranks; or of what was asked for. */
static bool fit_store(struct pm_store *store, struct request *request, struct pm_error *err) {
    struct fitted fitted = {0};
    bool ok = pm_select_words(store, &request->selection, &request->selected, err);
    request->options.selection = request->selected;
    ok = ok &&
         fit_selected(store, &request->fit, request->with_partial, &request->dump, &fitted, err);
    if (ok && !request->selected)
        ok = fit_roles(store, request, err);
    if (ok && !request->dump.pass)
        print_fitted(&fitted, &request->options, request->output);
    free_fitted(&fitted);
    return ok;
}

/* ---- the command line ------------------------------------------------------------------------ */

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

/* "FUNCTIONS" or "SCOPE=FUNCTIONS". */
static int read_basis(const struct pm_option_use *use) {
    struct request *request = use->to;
    char *equals = end_of_scope(use->value);
    struct pm_fit_basis *basis = &request->bases[request->fit.n_bases++];
    *basis = (struct pm_fit_basis){NULL, use->value};
    if (equals) {
        *equals = '\0';
        *basis = (struct pm_fit_basis){use->value, equals + 1};
    }
    return 0;
}

/* --in N,M */
static bool add_parameter(void *to, char *item, struct pm_error *err) {
    struct request *request = to;
    if (request->n_parameters == PM_MAX_PARAMETERS)
        return pm_fail(err, "--in takes at most %d parameters", PM_MAX_PARAMETERS);
    *PM_PUSH(request, parameters) = pm_strdup(item);
    return true;
}

/* --models, --flagged: the last one counts. */
static int read_output(const struct pm_option_use *use) {
    enum output *output = use->to;
    *output = strcmp(use->name, "flagged") == 0 ? FLAGGED : MODELS;
    return 0;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which runs"),
    PM_OPTIONS_SELECTION(AT(selection)),
    PM_FLAG("with-partial", 0, AT(with_partial), "also runs that did not come to their end"),
    PM_FLAG("drop-outliers", 0, AT(fit.drop_outliers), "leaves out outliers among the sizes"),
    PM_HEADING("models"),
    PM_READ("basis", 0, "[SCOPE=]FUNCTIONS", read_basis, 0,
            "sums of these functions, for all or a part of the program", .repeats = true),
    PM_FLAG("search", 0, AT(fit.search), "also tries N^(i/j)*log2(N)^k"),
    PM_LIST("in", 0, "NAMES", add_parameter, 0, "functions of these parameters", .repeats = true),
    PM_READ("threads", 0, "N", pm_read_count, AT(fit.n_threads),
            "uses N threads (as many as there are processors)"),
    PM_HEADING("what is shown"),
    PM_ACTION("models", 0, read_output, AT(output), "also formulas and poor models"),
    PM_ACTION("flagged", 0, read_output, AT(output), "only the models that are poor, and why"),
    PM_OPTION_TOP(AT(options), "at most N rows of --flagged"),
    PM_OPTION_DUMP(AT(dump), "instead what a pass made, of all or of a loop",
                   .excludes = "models flagged format wide"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

/* 0, or the exit status after complaining. */
static int read_command_line(struct request *request, struct pm_command_line *line, int argc,
                             char **argv) {
    struct pm_fit_options *fit = &request->fit;
    int status = pm_read_options(line, argc, argv);
    fit->bases = request->bases;
    fit->parameters = (const char *const *)request->parameters;
    fit->n_parameters = request->n_parameters;
    if (status == 0 && !request->dump.list && line->n_arguments != 1)
        status = pm_usage_error("fit", "give one store");
    return status;
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.bases = pm_alloc((size_t)argc + 1, sizeof *request.bases),
                              .options = pm_default_report_options(),
                              .dump.passes = pm_fit_passes};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = read_command_line(&request, &line, argc, argv);
    if (status == 0 && request.dump.list) {
        status = pm_list_passes(&request.dump);
    } else if (status == 0) {
        struct pm_store *store = pm_store_open(line.arguments[0], PM_STORE_READ, &err);
        if (store) { /* it is a store: now for writing */
            pm_store_close(store);
            store = pm_store_open(line.arguments[0], PM_STORE_CREATE, &err);
        }
        bool ok = store && fit_store(store, &request, &err);
        pm_store_close(store);
        status = ok ? PM_EXIT_OK : pm_complain(&err);
    }
    free(request.selected);
    free(request.bases);
    for (size_t i = 0; i < request.n_parameters; i++)
        free(request.parameters[i]);
    free(request.parameters);
    return status;
}

const struct pm_command pm_command_fit = {
    .name = "fit",
    .purpose = "make models of the measurements",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel fit heat.pmdb    # then `pmodel report` at sizes never run",
    .options = options,
    .run = run,
};
