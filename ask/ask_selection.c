/* What of a store's runs a question is about, from the words that name it. */
#include "ask/ask.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of intervals ---------------------------------------------------------------------- */

struct kinds {
    struct pm_structure *structure;
    struct pm_call_paths paths;
    struct pm_interval_kinds list;
    char **names; /* of their ends (pm_interval_end_names) */
};

static bool read_kinds(struct pm_store *store, struct kinds *kinds, struct pm_error *err) {
    kinds->structure = pm_store_structure(store, err);
    bool ok = kinds->structure && pm_store_call_paths(store, &kinds->paths, err) &&
              pm_store_interval_kinds(store, &kinds->list, err);
    if (ok)
        kinds->names = pm_interval_end_names(kinds->structure, &kinds->paths, &kinds->list);
    return ok;
}

static void free_kinds(struct kinds *kinds) {
    if (kinds->structure)
        pm_structure_free(kinds->structure);
    if (kinds->names)
        pm_call_path_names_free(kinds->names, &kinds->paths);
    pm_call_paths_free(&kinds->paths);
    free(kinds->list.kinds);
}

char **pm_interval_end_names(const struct pm_structure *structure,
                             const struct pm_call_paths *paths,
                             const struct pm_interval_kinds *kinds) {
    bool *is_named = pm_alloc(paths->n_sites + 1, sizeof *is_named);
    for (size_t i = 0; i < kinds->n_kinds; i++)
        is_named[kinds->kinds[i].begin] = is_named[kinds->kinds[i].end] = true;
    char **names = pm_call_path_names(structure, paths, is_named);
    free(is_named);
    return names;
}

const char *pm_interval_begin(char *const *names, const struct pm_interval_kind *kind) {
    return kind->begin == PM_NO_PATH ? "begin" : names[kind->begin];
}

const char *pm_interval_end(char *const *names, const struct pm_interval_kind *kind) {
    return kind->end == PM_NO_PATH ? "end" : names[kind->end];
}

static char *kind_name(const struct kinds *kinds, const struct pm_interval_kind *kind) {
    return pm_sprintf("%s..%s", pm_interval_begin(kinds->names, kind),
                      pm_interval_end(kinds->names, kind));
}

/* Is NAME the path of a call, in full or short, what is called there, or, of no path, OF_THREAD? */
static bool is_called(const struct kinds *kinds, uint32_t path, const char *of_thread,
                      const char *name) {
    if (path == PM_NO_PATH)
        return strcmp(name, of_thread) == 0;
    const char *callee = kinds->paths.callees[path];
    char *text = pm_call_path_text(kinds->structure, &kinds->paths, path),
         *brief = pm_call_path_name(kinds->structure, &kinds->paths, path);
    bool is = (callee && strcmp(callee, name) == 0) || strcmp(text, name) == 0 ||
              strcmp(brief, name) == 0 || strcmp(kinds->names[path], name) == 0;
    free(text);
    free(brief);
    return is;
}

static bool is_asked_for(const struct kinds *kinds, const struct pm_interval_kind *kind,
                         const char *text) {
    const char *dots = strstr(text, "..");
    char *end;
    if (isdigit((unsigned char)*text)) {
        unsigned long number = strtoul(text, &end, 10);
        return *end == '\0' && number == kind->number;
    }
    if (!dots)
        return is_called(kinds, kind->end, "end", text);
    char *begin = pm_sprintf("%.*s", (int)(dots - text), text);
    bool is = is_called(kinds, kind->begin, "begin", begin) &&
              is_called(kinds, kind->end, "end", dots + 2);
    free(begin);
    return is;
}

/* "1 (begin..MPI_Init), 2 (…)": those of KINDS that are like TEXT; all, if it is NULL. */
static char *list_kinds(const struct kinds *kinds, const char *text) {
    enum { MOST_KINDS = 8 };
    char *list = NULL;
    size_t n = 0;
    for (size_t i = 0; i < kinds->list.n_kinds; i++) {
        const struct pm_interval_kind *kind = &kinds->list.kinds[i];
        if ((text && !is_asked_for(kinds, kind, text)) || n++ >= MOST_KINDS)
            continue;
        char *name = kind_name(kinds, kind);
        pm_append(&list, "%s%u (%s)", list ? ", " : "", kind->number, name);
        free(name);
    }
    if (n > MOST_KINDS)
        pm_append(&list, " and %zu more", n - MOST_KINDS);
    return list;
}

/* The kind that TEXT names. */
static bool find_kind(const struct kinds *kinds, const char *text, struct pm_interval_kind *found,
                      struct pm_error *err) {
    size_t n = 0;
    for (size_t i = 0; i < kinds->list.n_kinds; i++)
        if (is_asked_for(kinds, &kinds->list.kinds[i], text)) {
            *found = kinds->list.kinds[i];
            n++;
        }
    if (n == 1)
        return true;
    if (kinds->list.n_kinds == 0)
        return pm_fail(err, "the store has no intervals: measure with `pmodel run --interval`");
    char *list = list_kinds(kinds, n ? text : NULL);
    if (n)
        pm_fail(err, "--interval %s: several kinds of intervals are called so: %s; give a number",
                text, list);
    else
        pm_fail(err, "--interval %s: no such kind of interval; the store has %s", text, list);
    free(list);
    return false;
}

/* ---- selecting ------------------------------------------------------------------------------- */

static bool add_role(struct pm_store *store, const char *name, struct pm_selection *selection,
                     char **text, struct pm_error *err) {
    struct pm_ranks names = {0};
    bool ok = pm_store_roles(store, &names, err);
    if (ok)
        selection->role = pm_ranks_role(&names, name, err);
    pm_ranks_free(&names);
    pm_append(text, "the mean rank of role %s", name);
    return ok && selection->role != PM_NONE;
}

static bool add_kind(struct pm_store *store, const struct pm_selection_words *words,
                     struct pm_selection *selection, char **text, struct pm_error *err) {
    struct kinds kinds = {0};
    struct pm_interval_kind found = {0};
    bool ok = read_kinds(store, &kinds, err) && find_kind(&kinds, words->interval, &found, err);
    if (ok) {
        char *name = kind_name(&kinds, &found);
        selection->kind = found.number;
        pm_append(text,
                  words->ordinal ? "%sone interval %s, by its number %s"
                                 : "%sall intervals %s added up",
                  *text ? ": " : "", name, words->ordinal ? words->ordinal : "");
        free(name);
    }
    free_kinds(&kinds);
    return ok;
}

static bool has_runs(struct pm_store *store, const char *selected, struct pm_error *err) {
    struct pm_parameters *runs = NULL;
    size_t n = 0;
    bool ok = pm_store_runs(store, &runs, &n, err);
    free(runs);
    return ok && (n > 0 || pm_fail(err, "no run of the store has %s", selected));
}

bool pm_select_words(struct pm_store *store, const struct pm_selection_words *words,
                     char **selected, struct pm_error *err) {
    struct pm_selection selection = PM_SELECTION_ALL;
    struct pm_parameters ignored = {0};
    const char *ordinal = words->ordinal;
    if (ordinal && !words->interval)
        return pm_fail(err, "--ordinal numbers intervals of one kind: it needs --interval");
    if (ordinal && !pm_parameters_set(&ignored, ordinal, 0, err))
        return pm_fail_in(err, "--ordinal");
    if ((words->role && !add_role(store, words->role, &selection, selected, err)) ||
        (words->interval && !add_kind(store, words, &selection, selected, err)))
        return false;
    selection.by_ordinal = ordinal != NULL;
    if (ordinal)
        memcpy(selection.ordinal_name, ignored.names[0], sizeof selection.ordinal_name);
    return pm_store_select(store, &selection, err) &&
           (!*selected || has_runs(store, *selected, err));
}
