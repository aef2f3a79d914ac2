/* `pmodel report --as formulas`: how often things are executed, as functions of the size, at any
   level of the scope tree; from the runs that the store's models were made from. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/parallel/parallel.h"
#include "ask/ask.h"
#include "core/store/store.h"
#include "fit/fit.h"
#include "fit/query/query.h"
#include "fit/warnings/warnings.h"
#include "measure/copies/copies.h"

struct request {
    const char *store_path, *include_file, *exclude_file;
    struct pm_parameters at;
    struct pm_counts_request counts;
    struct pm_selection_words selection;
    char *selected; /* in words; owned */
    struct pm_fit_options fit;
    struct pm_fit_basis basis;
    struct pm_report_options options;
    bool communication;
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

/* --interval is a kind of interval of a store that has some, else routines whose calls end one. */
static bool select_part(struct request *request, struct pm_store *store, struct pm_error *err) {
    struct pm_interval_kinds kinds = {0};
    bool ok = pm_store_interval_kinds(store, &kinds, err);
    if (kinds.n_kinds || request->selection.ordinal) {
        request->selection.interval = request->counts.interval;
        request->counts.interval = NULL;
    }
    free(kinds.kinds);
    ok = ok && pm_select_words(store, &request->selection, &request->selected, err);
    request->options.selection = request->selected;
    return ok;
}

static bool report(struct request *request, struct pm_error *err) {
    struct pm_store *store = pm_store_open(request->store_path, PM_STORE_READ, err);
    struct pm_structure *structure =
        store && select_part(request, store, err) ? pm_store_structure(store, err) : NULL;
    struct pm_model_set *models = structure ? pm_store_models(store, err) : NULL;
    struct pm_profile **profiles = NULL;
    bool *left_out = NULL;
    if (structure && !models && err->kind == PM_ERROR_NONE)
        pm_fail(err, "%s has no models yet: call `pmodel fit` on it first", request->store_path);
    bool ok = models && read_lists(request, structure, &left_out, err);
    if (ok)
        profiles = pm_read_profiles(store, structure, models->runs, models->n_runs, err);
    request->counts.left_out = left_out;
    struct pm_warnings warnings = {0};
    if (ok) {
        const struct pm_origin origin = {structure, models, NULL};
        pm_warn(&origin, &warnings);
        pm_warn_of_counts(&origin, &warnings);
    }
    request->options.warnings = &warnings;
    ok = profiles &&
         pm_report_counts(stdout, structure, models, (const struct pm_profile *const *)profiles,
                          &request->fit, &request->counts, &request->options, err);
    pm_warnings_free(&warnings);
    if (models)
        pm_profiles_free(profiles, models->n_runs);
    free(left_out);
    pm_model_set_free(models);
    if (structure)
        pm_structure_free(structure);
    pm_store_close(store);
    return ok;
}

static bool report_messages(struct request *request, struct pm_error *err) {
    struct pm_store *store = pm_store_open(request->store_path, PM_STORE_READ, err);
    bool ok = store && pm_print_messages(store, request->at.n ? &request->at : NULL,
                                         request->selection.role, &request->options, err);
    pm_store_close(store);
    return ok;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* "1%" or "0.5%": least share; "20": most rows. */
static int read_threshold(const struct pm_option_use *use) {
    struct pm_counts_request *counts = use->to;
    char *end;
    errno = 0;
    double value = strtod(use->value, &end);
    bool percent = strcmp(end, "%") == 0, read = end != use->value && errno == 0;
    if (read && percent && value >= 0 && value <= 100) {
        counts->least_share = value / 100;
        return 0;
    }
    if (read && *end == '\0' && value >= 1 && value <= 1e9 && value == (double)(size_t)value) {
        counts->most_rows = (size_t)value;
        return 0;
    }
    return pm_usage_error(pm_command_report_formulas.name,
                          "--threshold takes a share of the count as 1%% or a number of rows as "
                          "20, not \"%s\"",
                          use->value);
}

static int read_level(const struct pm_option_use *use) {
    struct request *request = use->to;
    if (pm_mix_level_from_name(use->value, &request->counts.level) &&
        request->counts.level != PM_MIX_BLOCK)
        return 0;
    return pm_usage_error(pm_command_report_formulas.name,
                          "--level is program, module, routine or loop, not \"%s\"", use->value);
}

static int read_sort(const struct pm_option_use *use) {
    struct pm_counts_request *counts = use->to;
    counts->by_count = strcmp(use->value, "count") == 0;
    if (counts->by_count || strcmp(use->value, "place") == 0)
        return 0;
    return pm_usage_error(pm_command_report_formulas.name, "--sort is place or count, not \"%s\"",
                          use->value);
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("what is shown"),
    PM_TEXT("classes", 0, "LIST", AT(counts.classes), "what to count: classes, all, accesses ..."),
    PM_READ("level", 0, "program|module|routine|loop", read_level, 0, "what a row stands for"),
    PM_FLAG("elements", 0, AT(counts.elements), "a vector operation counts its elements"),
    PM_FLAG("edges", 0, AT(counts.edges), "rows are edges of the control flow",
            .excludes = "level classes elements interval"),
    PM_FLAG("communication", 0, AT(communication), "models of messages, not of counts",
            .excludes = "level classes elements interval edges routine basis search",
            .because = "models of messages are as `pmodel fit` made them"),
    PM_READ("sort", 0, "place|count", read_sort, AT(counts), "the order of rows"),
    PM_READ("threshold", 0, "P%|N", read_threshold, AT(counts),
            "only rows of at least this share, or so many"),
    PM_TEXT("routine", 0, "NAMES", AT(counts.routines), "only these routines"),
    PM_TEXT("include", 0, "FILE", AT(include_file), "only the routines that FILE names"),
    PM_TEXT("exclude", 0, "FILE", AT(exclude_file), "all routines but those that FILE names"),
    PM_HEADING("which runs"),
    PM_ADDED(NULL, 'P', "NAME=VALUE[,...]", pm_add_parameters, AT(at),
             "also the values at this size", .repeats = true),
    PM_TEXT("role", 0, "NAME", AT(selection.role), "the mean rank of a role"),
    PM_TEXT("interval", 0, "NAMES", AT(counts.interval),
            "one kind of interval, or counts for each call of these routines"),
    PM_TEXT("ordinal", 0, "NAME", AT(selection.ordinal), "the interval's number is parameter NAME"),
    PM_HEADING("models of rows"),
    PM_TEXT("basis", 0, "FUNCTIONS", AT(basis.functions), "sums of these functions"),
    PM_FLAG("search", 0, AT(fit.search), "also tries N^(i/j)*log2(N)^k"),
    PM_READ("threads", 0, "N", pm_read_count, AT(fit.n_threads), "makes them with N threads"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.counts.level = PM_MIX_ROUTINE,
                              .options = pm_default_report_options()};
    struct pm_counts_request *counts = &request.counts;
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status)
        return status;
    if (line.n_arguments != 1)
        return pm_usage_error(pm_command_report_formulas.name, "give one store");
    counts->at = request.at.n ? &request.at : NULL;
    if (request.basis.functions) {
        request.fit.bases = &request.basis;
        request.fit.n_bases = 1;
    }
    request.store_path = line.arguments[0];
    bool ok = request.communication ? report_messages(&request, &err) : report(&request, &err);
    status = ok ? PM_EXIT_OK : pm_complain(&err);
    free(request.selected);
    return status;
}

const struct pm_command pm_command_report_formulas = {
    .name = "report --as formulas",
    .purpose = "models of how often instructions of each class are executed, for each scope",
    .usage = "[OPTION]... STORE\n--edges [OPTION]... STORE\n--communication [OPTION]... STORE",
    .examples =
        "pmodel report --as formulas heat.pmdb --classes fp_add,fp_mult    # 13.5*N^3 - 50*N^2 ...",
    .options = options,
    .run = run,
};
