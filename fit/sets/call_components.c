/* Routines that call each other in a circle: the strongly connected components of the calls that
   are executed (R. Tarjan, "Depth-first search and linear graph algorithms", 1972). */
#include <stdlib.h>

#include "fit/sets/private.h"

uint32_t pm_caller_of(const struct pm_structure *structure, const struct pm_call *call) {
    return structure->scopes[structure->blocks[call->block].scope].routine;
}

struct search {
    struct pm_lists called;       /* [routine]: those it calls */
    uint32_t *number, *low;       /* [routine]: Tarjan's; PM_NONE: not seen yet */
    uint32_t *next;               /* [routine]: the call to be looked at */
    uint32_t *path, n_path;       /* from the routine where the search began */
    uint32_t *waiting, n_waiting; /* routines without a component */
    uint32_t n_seen;
};

static void enter(struct search *search, uint32_t routine) {
    search->number[routine] = search->low[routine] = search->n_seen++;
    search->next[routine] = search->called.first[routine];
    search->path[search->n_path++] = routine;
    search->waiting[search->n_waiting++] = routine;
}

/* All that ROUTINE reaches has been seen. */
static void leave(struct search *search, uint32_t routine, struct pm_call_components *components) {
    search->n_path--;
    if (search->low[routine] == search->number[routine]) {
        uint32_t last;
        do {
            last = search->waiting[--search->n_waiting];
            components->of[last] = components->n;
        } while (last != routine);
        components->n++;
    }
    if (search->n_path) {
        uint32_t *low = &search->low[search->path[search->n_path - 1]];
        *low = search->low[routine] < *low ? search->low[routine] : *low;
    }
}

static void find_from(struct search *search, uint32_t root, struct pm_call_components *components) {
    enter(search, root);
    while (search->n_path) {
        uint32_t routine = search->path[search->n_path - 1];
        if (search->next[routine] == search->called.first[routine + 1]) {
            leave(search, routine, components);
            continue;
        }
        uint32_t callee = search->called.items[search->next[routine]++];
        if (search->number[callee] == PM_NONE)
            enter(search, callee);
        else if (components->of[callee] == PM_NONE && search->number[callee] < search->low[routine])
            search->low[routine] = search->number[callee];
    }
}

uint32_t pm_routine_around(const struct pm_structure *structure, uint32_t routine) {
    uint32_t around = structure->scopes[structure->routines[routine].scope].parent;
    return around == PM_NONE ? PM_NONE : structure->scopes[around].routine;
}

void pm_call_components_make(const struct pm_structure *structure, const double *executions,
                             struct pm_call_components *components) {
    const size_t n = structure->n_routines, n_edges = structure->n_calls + n;
    uint32_t *callers = pm_alloc_none(n_edges), *callees = pm_alloc_none(n_edges);
    for (size_t c = 0; c < structure->n_calls; c++) {
        const struct pm_call *call = &structure->calls[c];
        if (executions[call->block] > 0)
            callers[c] = pm_caller_of(structure, call);
        callees[c] = call->routine;
    }
    for (uint32_t r = 0; r < n; r++) {
        callers[structure->n_calls + r] = pm_routine_around(structure, r);
        callees[structure->n_calls + r] = r;
    }
    struct search search = {.called = pm_lists_by_key(callers, callees, n_edges, n),
                            .number = pm_alloc_none(n),
                            .low = pm_alloc_none(n),
                            .next = pm_alloc_none(n),
                            .path = pm_alloc_none(n),
                            .waiting = pm_alloc_none(n)};
    *components = (struct pm_call_components){.of = pm_alloc_none(n)};
    for (uint32_t r = 0; r < n; r++)
        if (components->of[r] == PM_NONE)
            find_from(&search, r, components);
    components->routines = pm_lists_by_key(components->of, NULL, n, components->n);
    components->is_recursive = pm_alloc(components->n, sizeof *components->is_recursive);
    for (size_t c = 0; c < n_edges; c++)
        if (callers[c] != PM_NONE && components->of[callers[c]] == components->of[callees[c]])
            components->is_recursive[components->of[callees[c]]] = true;
    free(callers);
    free(callees);
    free(search.number);
    free(search.low);
    free(search.next);
    free(search.path);
    free(search.waiting);
    pm_lists_free(&search.called);
}

void pm_call_components_free(struct pm_call_components *components) {
    free(components->of);
    free(components->is_recursive);
    pm_lists_free(&components->routines);
    *components = (struct pm_call_components){0};
}
