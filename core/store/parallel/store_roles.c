/* The profile store: what the ranks of its runs do in the communication, over all runs.  Found when
   first asked for, and again when a run was added. */
#include <stdlib.h>

#include "core/store/private.h"

struct pm_store_roles {
    struct pm_ranks names; /* roles only */
    PM_ARRAY(struct pm_rank_deeds, deeds);
    PM_ARRAY(int64_t, runs); /* by the ordinal in the deeds */
};

void pm_store_forget_roles(struct pm_store *store) {
    struct pm_store_roles *roles = store->roles;
    store->roles = NULL;
    if (!roles)
        return;
    for (size_t i = 0; i < roles->n_deeds; i++)
        free(roles->deeds[i].paths);
    pm_ranks_free(&roles->names);
    free(roles->deeds);
    free(roles->runs);
    free(roles);
}

/* ---- what each rank does --------------------------------------------------------------------- */

/* Sets while the events of a run are read, of one rank. */
struct sets {
    PM_ARRAY(uint64_t, paths);
    PM_ARRAY(uint64_t, partners);
};

static void add_event(struct sets *sets, const struct pm_event_kind *kind) {
    int32_t partner;
    if (pm_event_sends(kind, &partner)) {
        *PM_PUSH(sets, paths) = kind->path;
        *PM_PUSH(sets, partners) = (uint64_t)partner;
    }
    if (pm_event_receives(kind, &partner)) {
        *PM_PUSH(sets, paths) = kind->path;
        *PM_PUSH(sets, partners) = (uint64_t)partner;
    }
}

/* Adds what the events of RUN say to the SETS of each of its RANKS, by its place in them. */
static bool read_events(struct pm_store *store, int64_t run, const struct pm_ranks *ranks,
                        struct sets *sets, struct pm_error *err) {
    uint32_t n_processes = 0;
    for (size_t i = 0; i < ranks->n_ranks; i++)
        n_processes =
            ranks->ranks[i].process >= n_processes ? ranks->ranks[i].process + 1 : n_processes;
    uint32_t *places = pm_alloc_none(n_processes);
    for (size_t i = 0; i < ranks->n_ranks; i++)
        places[ranks->ranks[i].process] = (uint32_t)i;
    struct pm_store_rows rows = pm_rows_of(store, PM_EVENTS, run, err);
    const struct pm_event_count *row;
    while ((row = pm_rows_next(&rows)))
        if (row->process < n_processes && places[row->process] != PM_NONE)
            add_event(&sets[places[row->process]], &row->kind);
    free(places);
    return pm_rows_end(&rows);
}

/* Of several processes of a rank all they do is its. */
static void add_deeds(struct pm_store_roles *roles, const struct pm_ranks *ranks,
                      struct sets *sets) {
    for (size_t i = 0; i < ranks->n_ranks;) {
        struct pm_rank_deeds *deeds = PM_PUSH(roles, deeds);
        *deeds = (struct pm_rank_deeds){
            .run = roles->n_runs - 1, .rank = ranks->ranks[i].rank, .size = ranks->ranks[i].size};
        struct sets *all = &sets[i];
        for (i++; i < ranks->n_ranks && !pm_ranks_is_first_process(ranks, i); i++) {
            for (size_t k = 0; k < sets[i].n_paths; k++)
                *PM_PUSH(all, paths) = sets[i].paths[k];
            for (size_t k = 0; k < sets[i].n_partners; k++)
                *PM_PUSH(all, partners) = sets[i].partners[k];
        }
        size_t n_paths = pm_make_set(all->paths, all->n_paths);
        for (size_t k = 0; k < n_paths; k++)
            *PM_PUSH(deeds, paths) = (uint32_t)all->paths[k];
        deeds->n_partners = (uint32_t)pm_make_set(all->partners, all->n_partners);
    }
}

static bool add_run(struct pm_store *store, int64_t run, bool with_events,
                    struct pm_store_roles *roles, struct pm_error *err) {
    struct pm_ranks ranks = {0};
    *PM_PUSH(roles, runs) = run;
    bool ok = pm_store_ranks_of_run(store, run, &ranks, err);
    struct sets *sets = pm_alloc(ranks.n_ranks, sizeof *sets);
    ok = ok && (!with_events || read_events(store, run, &ranks, sets, err));
    if (ok)
        add_deeds(roles, &ranks, sets);
    for (size_t i = 0; i < ranks.n_ranks; i++) {
        free(sets[i].paths);
        free(sets[i].partners);
    }
    free(sets);
    pm_ranks_free(&ranks);
    return ok;
}

/* All runs of MPI programs, without those whose communication is not known where that of others is.
 */
static bool find_roles(struct pm_store *store, struct pm_store_roles *roles, struct pm_error *err) {
    double any;
    bool ok =
        pm_store_number(store, "SELECT EXISTS (SELECT 1 FROM communication_of_run)", 0, &any, err);
    sqlite3_stmt *s =
        ok ? pm_store_prepare(store,
                              any ? "SELECT DISTINCT run FROM rank WHERE run IN (SELECT run"
                                    " FROM communication_of_run) ORDER BY run"
                                  : "SELECT DISTINCT run FROM rank ORDER BY run",
                              err)
           : NULL;
    ok = s != NULL;
    while (pm_store_next_row(store, s, &ok, err))
        ok = add_run(store, sqlite3_column_int64(s, 0), any > 0, roles, err);
    sqlite3_finalize(s);
    if (ok)
        pm_ranks_find_roles(roles->deeds, roles->n_deeds, &roles->names);
    return ok;
}

static const struct pm_store_roles *get_roles(struct pm_store *store, struct pm_error *err) {
    if (store->roles)
        return store->roles;
    store->roles = pm_alloc(1, sizeof *store->roles);
    if (find_roles(store, store->roles, err))
        return store->roles;
    pm_store_forget_roles(store);
    return NULL;
}

/* ---- asked for ------------------------------------------------------------------------------- */

static void copy_names(const struct pm_store_roles *roles, struct pm_ranks *to) {
    for (size_t i = 0; i < roles->names.n_roles; i++)
        PM_PUSH(to, roles)->name = pm_strdup(roles->names.roles[i].name);
}

bool pm_store_roles(struct pm_store *store, struct pm_ranks *names, struct pm_error *err) {
    const struct pm_store_roles *roles = get_roles(store, err);
    if (roles)
        copy_names(roles, names);
    return roles != NULL;
}

/* Groups were made of counts alone; of each those of one role stay together. */
static void split_groups(struct pm_ranks *ranks) {
    struct group {
        uint32_t old, role;
    };
    struct {
        PM_ARRAY(struct group, list);
    } groups = {0};
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        struct pm_rank *rank = &ranks->ranks[i];
        uint32_t g = 0;
        while (g < groups.n_list &&
               (groups.list[g].old != rank->group || groups.list[g].role != rank->role))
            g++;
        if (g == groups.n_list)
            *PM_PUSH(&groups, list) = (struct group){rank->group, rank->role};
        rank->group = g;
    }
    free(groups.list);
}

bool pm_store_ranks_with_roles(struct pm_store *store, int64_t run, struct pm_ranks *ranks,
                               struct pm_error *err) {
    const struct pm_store_roles *roles = get_roles(store, err);
    if (!roles || !pm_store_ranks_of_run(store, run, ranks, err))
        return false;
    copy_names(roles, ranks);
    /* Both are by rank. */
    size_t d = 0;
    while (d < roles->n_deeds && roles->runs[roles->deeds[d].run] != run)
        d++;
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        struct pm_rank *rank = &ranks->ranks[i];
        while (d < roles->n_deeds && roles->runs[roles->deeds[d].run] == run &&
               roles->deeds[d].rank < rank->rank)
            d++;
        bool is_there = d < roles->n_deeds && roles->runs[roles->deeds[d].run] == run &&
                        roles->deeds[d].rank == rank->rank;
        rank->role = is_there ? roles->deeds[d].role : PM_NONE;
    }
    split_groups(ranks);
    return true;
}

bool pm_store_ranks(struct pm_store *store, const struct pm_parameters *parameters,
                    struct pm_ranks *ranks, struct pm_error *err) {
    int64_t run = pm_store_find_run(store, parameters, err);
    return run == 0 || (run > 0 && pm_store_ranks_with_roles(store, run, ranks, err));
}
