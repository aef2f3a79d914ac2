/* The profile store: what of its runs is looked at (core/selection/selection.h).  Nothing in the
   file changes by that. */
#include <stdlib.h>
#include <string.h>

#include "core/store/selection/private.h"

static bool has_kind(struct pm_store *store, uint32_t kind, bool *has, struct pm_error *err) {
    struct pm_interval_kinds kinds = {0};
    *has = false;
    bool ok = pm_store_interval_kinds(store, &kinds, err);
    for (size_t i = 0; ok && i < kinds.n_kinds; i++)
        *has |= kinds.kinds[i].number == kind;
    free(kinds.kinds);
    return ok;
}

bool pm_store_select(struct pm_store *store, const struct pm_selection *selection,
                     struct pm_error *err) {
    struct pm_ranks names = {0};
    bool found = true;
    if (selection->role != PM_NONE) {
        found = pm_store_roles(store, &names, err);
        if (found && selection->role >= names.n_roles)
            found = pm_fail(err, "%s: its ranks have no such role", store->path);
        pm_ranks_free(&names);
    }
    bool has = true;
    if (found && selection->kind != PM_NONE && !has_kind(store, selection->kind, &has, err))
        return false;
    if (found && !has)
        found = pm_fail(err, "%s: there is no such kind of interval", store->path);
    if (found)
        store->selection = *selection;
    return found;
}

struct pm_selection pm_store_selection(const struct pm_store *store) {
    return store->selection;
}

bool pm_store_is_selected(const struct pm_store *store) {
    return !pm_selection_is_all(&store->selection);
}

char *pm_store_run_text(const struct pm_store *store, const struct pm_parameters *parameters) {
    struct pm_parameters of_run = {0};
    if (!store->selection.by_ordinal)
        return pm_parameters_text(parameters);
    for (size_t i = 0; i < parameters->n; i++)
        if (strcmp(parameters->names[i], store->selection.ordinal_name) != 0)
            pm_parameters_set(&of_run, parameters->names[i], parameters->values[i], NULL);
    return pm_parameters_text(&of_run);
}

char *pm_store_selection_text(struct pm_store *store, struct pm_error *err) {
    const struct pm_selection *selection = &store->selection;
    struct pm_ranks names = {0};
    char *text = pm_strdup("");
    if (selection->role != PM_NONE) {
        if (!pm_store_roles(store, &names, err)) {
            free(text);
            return NULL;
        }
        pm_append(&text, "role %s", names.roles[selection->role].name);
        pm_ranks_free(&names);
    }
    if (selection->group != PM_NONE)
        pm_append(&text, "%sgroup %u", *text ? ", " : "", selection->group);
    if (selection->kind != PM_NONE)
        pm_append(&text, "%sinterval %u", *text ? ", " : "", selection->kind);
    if (selection->by_ordinal)
        pm_append(&text, " by %s", selection->ordinal_name);
    return text;
}

/* ---- of a run -------------------------------------------------------------------------------- */

void pm_selected_free(struct pm_selected *selected) {
    free(selected->takes);
    pm_ranks_free(&selected->ranks);
}

/* Processes that are no rank are never selected. */
static void list_processes(struct pm_selected *selected) {
    const struct pm_selection *selection = selected->selection;
    const struct pm_ranks *ranks = &selected->ranks;
    for (size_t i = 0; i < ranks->n_ranks; i++)
        if (ranks->ranks[i].process >= selected->n_processes)
            selected->n_processes = ranks->ranks[i].process + 1;
    selected->takes = pm_alloc(selected->n_processes, sizeof *selected->takes);
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        const struct pm_rank *rank = &ranks->ranks[i];
        selected->takes[rank->process] =
            (selection->role == PM_NONE || selection->role == rank->role) &&
            (selection->group == PM_NONE || selection->group == rank->group);
    }
}

bool pm_selected_find(struct pm_store *store, int64_t run, struct pm_selected *selected,
                      bool *is_there, struct pm_error *err) {
    *selected = (struct pm_selected){.selection = &store->selection};
    *is_there = true;
    if (!pm_selection_has_ranks(&store->selection))
        return true;
    if (!pm_store_ranks_with_roles(store, run, &selected->ranks, err))
        return false;
    list_processes(selected);
    selected->n_ranks =
        pm_ranks_count(&selected->ranks, store->selection.role, store->selection.group);
    *is_there = selected->n_ranks > 0;
    return true;
}

bool pm_selected_takes(const struct pm_selected *selected, uint32_t process) {
    return selected->takes ? process < selected->n_processes && selected->takes[process]
                           : !pm_selection_has_ranks(selected->selection);
}

static bool add_parameter(const struct pm_store *store, struct pm_parameters *parameters,
                          double value, struct pm_error *err) {
    double there;
    const char *name = store->selection.ordinal_name;
    if (pm_parameters_get(parameters, name, &there))
        return pm_fail(err,
                       "the runs of %s have a parameter \"%s\" of their own: --ordinal takes "
                       "another name",
                       store->path, name);
    return pm_parameters_set(parameters, name, value, err);
}

bool pm_store_list_selected(struct pm_store *store, int64_t run, const struct pm_parameters *of_run,
                            struct pm_run_list *list, struct pm_error *err) {
    struct pm_selected selected;
    struct pm_ordinal_list ordinals = {0};
    bool is_there, has_kind = store->selection.kind != PM_NONE;
    bool ok =
        pm_selected_find(store, run, &selected, &is_there, err) &&
        (!is_there || !has_kind || pm_selected_ordinals(store, run, &selected, &ordinals, err));
    if (ok && is_there && (!has_kind || (ordinals.n_list && !store->selection.by_ordinal)))
        *PM_PUSH(list, rows) = *of_run;
    for (size_t i = 0; ok && store->selection.by_ordinal && i < ordinals.n_list; i++) {
        struct pm_parameters at = *of_run;
        ok = add_parameter(store, &at, pm_ordinals_value(&ordinals.list[i]), err);
        *PM_PUSH(list, rows) = at;
    }
    free(ordinals.list);
    pm_selected_free(&selected);
    return ok;
}
