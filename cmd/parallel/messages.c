/* `pmodel report --as formulas --communication`: models of messages, role by role. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/parallel/parallel.h"
#include "fit/fit.h"
#include "report/parallel/parallel.h"

/* The value of the model at the size that was asked for, with its interval. */
static bool evaluate(const struct pm_model_set *set, const struct pm_model *model,
                     const struct pm_parameters *at, struct pm_message_row *row,
                     struct pm_error *err) {
    if (!pm_fit_check_parameters(set, at, err) ||
        !pm_model_evaluate(set->basis, model, at, &row->value, err))
        return false;
    if (!pm_fit_interval(set, model, at, pm_heuristics.interval_level, &row->low, &row->high))
        row->low = row->high = NAN;
    return true;
}

static bool is_nothing(const struct pm_model *model) {
    for (unsigned i = 0; i < model->n_terms; i++)
        if (model->coefficients[i] != 0)
            return false;
    return true;
}

static bool add_rows(const struct pm_message_models *messages, const struct pm_call_paths *paths,
                     const char *role, struct pm_messages_report *report, struct pm_error *err) {
    const struct pm_model_set *set = messages->models;
    for (size_t i = 0; i < set->n_edges; i++) {
        const struct pm_message_item *item = &messages->items[i / PM_N_MESSAGE_QUANTITIES];
        enum pm_message_quantity quantity = i % PM_N_MESSAGE_QUANTITIES;
        const struct pm_model *model = &set->edges[i];
        if (is_nothing(model) && !item->unknown[quantity])
            continue;
        if (item->path >= paths->n_sites)
            return pm_fail(err, "a model of messages is of a call that the store does not have: "
                                "call `pmodel fit` again");
        struct pm_message_row *row = PM_PUSH(report, rows);
        *row = (struct pm_message_row){
            .role = role,
            .number = item->path,
            .path = pm_call_path_text(report->structure, paths, item->path),
            .operation = pm_operation_name(item->operation),
            .quantity = pm_message_quantity_word(quantity),
            .formula = item->unknown[quantity] ? NULL : pm_model_text(set->basis, model),
            .exact = model->exact,
            .relative_error = model->relative_error,
            .value = NAN,
            .low = NAN,
            .high = NAN};
        if (row->formula && report->at && !evaluate(set, model, report->at, row, err))
            return false;
    }
    return true;
}

/* Names of the calls of all rows, which differ. */
static void name_calls(const struct pm_call_paths *paths, struct pm_messages_report *report) {
    bool *is_named = pm_alloc(paths->n_sites + 1, sizeof *is_named);
    for (size_t i = 0; i < report->n_rows; i++)
        is_named[report->rows[i].number] = true;
    char **names = pm_call_path_names(report->structure, paths, is_named);
    for (size_t i = 0; i < report->n_rows; i++)
        report->rows[i].call = pm_strdup(names[report->rows[i].number]);
    pm_call_path_names_free(names, paths);
    free(is_named);
}

/* Of ROLE, or of all ranks (PM_NONE).  Of a role that has no models there are no rows; one of
   several (ONLY: it is not) whose models cannot be asked there is left out, and named. */
static bool add_role(struct pm_store *store, uint32_t role, const char *name, bool only,
                     const struct pm_call_paths *paths, struct pm_messages_report *report,
                     struct pm_error *err) {
    struct pm_error why = {0};
    struct pm_selection selection = PM_SELECTION_ALL;
    selection.role = role;
    struct pm_message_models *messages =
        pm_store_select(store, &selection, err) ? pm_store_message_models(store, err) : NULL;
    bool ok = messages || err->kind == PM_ERROR_NONE;
    if (messages && !only && report->at &&
        !pm_fit_check_parameters(messages->models, report->at, &why))
        fprintf(stderr,
                "pmodel report --as formulas: messages of role %s are not known there: %s\n", name,
                why.text);
    else if (messages)
        ok = add_rows(messages, paths, name, report, err);
    pm_message_models_free(messages);
    return ok;
}

bool pm_print_messages(struct pm_store *store, const struct pm_parameters *at, const char *role,
                       const struct pm_report_options *options, struct pm_error *err) {
    struct pm_structure *structure = pm_store_structure(store, err);
    struct pm_messages_report report = {.structure = structure, .at = at};
    struct pm_call_paths paths = {0};
    struct pm_ranks names = {0};
    uint32_t only = PM_NONE;
    bool ok =
        structure && pm_store_call_paths(store, &paths, err) && pm_store_roles(store, &names, err);
    if (ok && role) {
        only = pm_ranks_role(&names, role, err);
        ok = only != PM_NONE;
    }
    for (uint32_t i = 0; ok && i < names.n_roles; i++)
        if (only == PM_NONE || only == i)
            ok = add_role(store, i, names.roles[i].name, only == i, &paths, &report, err);
    if (ok && !role)
        ok = add_role(store, PM_NONE, NULL, true, &paths, &report, err);
    if (ok && report.n_rows == 0)
        ok = pm_fail(err, "the store has no models of messages: they are of MPI programs whose "
                          "communication was traced (`pmodel run`), and `pmodel fit` makes them");
    if (ok)
        name_calls(&paths, &report);
    if (ok)
        pm_report_messages(stdout, &report, options);
    pm_messages_report_free(&report);
    pm_ranks_free(&names);
    pm_call_paths_free(&paths);
    if (structure)
        pm_structure_free(structure);
    return ok;
}
