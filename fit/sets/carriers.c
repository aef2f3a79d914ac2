/* The scopes that carry reuses, and how much of them a reuse spans.

   m(x)   touches of blocks in the scope, and in all that is called there, at a distance of x blocks
          or more, over the whole run
   A      touches of blocks there at all
   T(d)   touches in which d distinct blocks are touched: each further touch is of one more with
          the probability m/A that it reaches beyond those that were touched already, hence

              T(d) = ∫ from 0 to d of  A / m(x) dx

          of which a group g touches  ∫ m_g(x) / m(x) dx  (Denning's working set, of LRU stacks).
   A scope carries the reuses at distance d of its code if one entry lasts T(d) or longer, and no
   scope in it does.  Around a routine's outermost loops that is whoever calls it, each caller
   with its share of the calls; where that is not known, all of the program.  Routines that call
   each other are one: what no call inside spans is of one from outside, and their shares of its
   executions are alike. */
#include <math.h>
#include <stdlib.h>

#include "fit/heuristics.h"
#include "fit/sets/private.h"

enum { MOST_CALLS = 12 }; /* calls within calls of a recursion that are followed */

struct pm_carriers *pm_carriers_new(const struct pm_structure *structure,
                                    const struct pm_profile *profile, const double *executions,
                                    const struct pm_distance_cells *groups, const bool *is_random,
                                    size_t n_cells) {
    struct pm_carriers *carriers = pm_alloc(1, sizeof *carriers);
    *carriers = (struct pm_carriers){
        .structure = structure,
        .profile = profile,
        .executions = executions,
        .groups = groups,
        .is_random = is_random,
        .n_cells = n_cells,
        .called = pm_alloc(structure->n_routines, sizeof(double)),
        .entered = pm_alloc(structure->n_routines, sizeof(double)),
        .component_entered = pm_alloc(structure->n_routines, sizeof(double)),
        .shares = pm_alloc(structure->n_routines, sizeof(double)),
        .inflow = pm_alloc(structure->n_routines, sizeof(double)),
        .share_of = pm_alloc(structure->n_scopes, sizeof(double)),
        .of_scope = pm_alloc(structure->n_scopes, sizeof(struct pm_carrier *))};
    uint32_t *keys = pm_alloc(structure->n_groups + structure->n_calls, sizeof *keys);
    uint32_t *within = pm_alloc_none(structure->n_calls);
    for (uint32_t g = 0; g < structure->n_groups; g++)
        keys[g] = groups[g].n_cells || groups[g].always_missing > 0
                      ? structure->scopes[structure->groups[g].scope].routine
                      : PM_NONE;
    carriers->groups_of_routine =
        pm_lists_by_key(keys, NULL, structure->n_groups, structure->n_routines);
    pm_call_components_make(structure, executions, &carriers->components);
    const struct pm_call_components *components = &carriers->components;
    for (size_t c = 0; c < structure->n_calls; c++) {
        const struct pm_call *call = &structure->calls[c];
        double calls = executions[call->block];
        uint32_t component = components->of[call->routine];
        bool is_within = components->of[pm_caller_of(structure, call)] == component;
        keys[c] = calls > 0 && !is_within ? component : PM_NONE;
        within[c] = calls > 0 && is_within ? call->routine : PM_NONE;
        carriers->called[call->routine] += calls;
        if (keys[c] == PM_NONE)
            continue;
        carriers->entered[call->routine] += calls;
        carriers->component_entered[component] += calls;
    }
    carriers->calls_of = pm_lists_by_key(keys, NULL, structure->n_calls, components->n);
    carriers->calls_within =
        pm_lists_by_key(within, NULL, structure->n_calls, structure->n_routines);
    free(keys);
    free(within);
    return carriers;
}

void pm_carriers_free(struct pm_carriers *carriers) {
    if (!carriers)
        return;
    for (uint32_t s = 0; s < carriers->structure->n_scopes; s++)
        if (carriers->of_scope[s]) {
            free(carriers->of_scope[s]->window);
            free(carriers->of_scope[s]->random_blocks);
            free(carriers->of_scope[s]->called);
            free(carriers->of_scope[s]);
        }
    free(carriers->of_scope);
    for (size_t i = 0; i < carriers->n_above; i++)
        free(carriers->above[i].parts.parts);
    free(carriers->above);
    pm_map_free(&carriers->above_map);
    free(carriers->called);
    free(carriers->entered);
    free(carriers->component_entered);
    free(carriers->shares);
    free(carriers->inflow);
    free(carriers->share_of);
    pm_call_components_free(&carriers->components);
    pm_lists_free(&carriers->groups_of_routine);
    pm_lists_free(&carriers->calls_of);
    pm_lists_free(&carriers->calls_within);
    free(carriers);
}

/* ---- what is called in a scope -----------------------------------------------------------------
 */

static int compare_called(const void *left, const void *right) {
    return PM_COMPARE(((const struct pm_carried_routine *)left)->routine,
                      ((const struct pm_carried_routine *)right)->routine);
}

/* The calls of ROUTINE are numbers *FIRST … of the structure's; gives their end. */
static size_t calls_in(const struct pm_structure *structure, uint32_t routine, size_t *first) {
    const struct pm_routine *r = &structure->routines[routine];
    *first = PM_LOWER_BOUND(structure->n_calls, i, structure->calls[i].block < r->first_block);
    return PM_LOWER_BOUND(structure->n_calls, i,
                          structure->calls[i].block < r->first_block + r->n_blocks);
}

/* The share of a call's executions that are in CARRIER. */
static double share_of_call(const struct pm_carriers *carriers, const struct pm_carrier *carrier,
                            const struct pm_call *call) {
    return pm_block_is_inside(carriers->structure, call->block, carrier->scope)
               ? 1
               : carriers->shares[pm_caller_of(carriers->structure, call)];
}

/* The shares of the routines of COMPONENT, which CARRIER's is one of: while the carrier is under
   way they are called from in it, or by one of them that is.  From outside all of them enter as
   one, which says where what follows begins. */
static void share_out_recursion(struct pm_carriers *carriers, uint32_t component,
                                const struct pm_carrier *carrier) {
    const struct pm_structure *structure = carriers->structure;
    const struct pm_lists *routines = &carriers->components.routines;
    const uint32_t first = routines->first[component], end = routines->first[component + 1];
    const struct pm_scope *scope = &structure->scopes[carrier->scope];
    if (scope->kind == PM_SCOPE_ROUTINE && carriers->component_entered[component] > 0)
        for (uint32_t i = first; i < end; i++)
            carriers->shares[routines->items[i]] =
                carriers->entered[scope->routine] / carriers->component_entered[component];
    for (unsigned round = 0; round < MOST_CALLS; round++)
        for (uint32_t i = first; i < end; i++) {
            uint32_t routine = routines->items[i];
            double calls = 0;
            const struct pm_lists *into = &carriers->calls_within;
            for (uint32_t c = into->first[routine]; c < into->first[routine + 1]; c++) {
                const struct pm_call *call = &structure->calls[into->items[c]];
                calls += carriers->executions[call->block] * share_of_call(carriers, carrier, call);
            }
            carriers->shares[routine] = fmin(1, calls / carriers->called[routine]);
        }
}

/* Adds what the routines of COMPONENT, as far as they are in CARRIER, call in others. */
static void flow_on(struct pm_carriers *carriers, uint32_t component,
                    const struct pm_carrier *carrier) {
    const struct pm_structure *structure = carriers->structure;
    const struct pm_call_components *components = &carriers->components;
    const struct pm_lists *routines = &components->routines;
    for (uint32_t i = routines->first[component]; i < routines->first[component + 1]; i++) {
        size_t c, end = calls_in(structure, routines->items[i], &c);
        for (; c < end; c++) {
            const struct pm_call *call = &structure->calls[c];
            uint32_t to = components->of[call->routine];
            if (to != component && carriers->executions[call->block] > 0)
                carriers->inflow[to] +=
                    carriers->executions[call->block] * share_of_call(carriers, carrier, call);
        }
    }
}

/* The shares of the routines that are called while CARRIER, a scope of ROUTINE, is under way:
   from callers to those they call. */
static void find_called(struct pm_carriers *carriers, uint32_t routine,
                        struct pm_carrier *carrier) {
    const struct pm_call_components *components = &carriers->components;
    const uint32_t own = components->of[routine];
    for (uint32_t component = own + 1; component-- > 0;) {
        const uint32_t first = components->routines.first[component],
                       end = components->routines.first[component + 1];
        if (component == own && components->is_recursive[own])
            share_out_recursion(carriers, own, carrier);
        else if (component != own && carriers->inflow[component] <= 0)
            continue;
        for (uint32_t i = first; component != own && i < end; i++)
            carriers->shares[components->routines.items[i]] =
                fmin(1, carriers->inflow[component] / carriers->component_entered[component]);
        carriers->inflow[component] = 0;
        flow_on(carriers, component, carrier);
        for (uint32_t i = first; i < end; i++) {
            uint32_t called = components->routines.items[i];
            if (carriers->shares[called] > 0)
                *PM_PUSH(carrier, called) =
                    (struct pm_carried_routine){called, carriers->shares[called]};
        }
        for (uint32_t i = first; i < end; i++)
            carriers->shares[components->routines.items[i]] = 0;
    }
    PM_SORT(carrier->called, carrier->n_called, compare_called);
}

double pm_carrier_share(const struct pm_carriers *carriers, const struct pm_carrier *carrier,
                        uint32_t inner) {
    const struct pm_structure *structure = carriers->structure;
    uint32_t routine = structure->scopes[inner].routine;
    if (structure->scopes[carrier->scope].routine == PM_NONE ||
        pm_scope_is_inside(structure, inner, carrier->scope))
        return 1;
    size_t at = PM_LOWER_BOUND(carrier->n_called, i, carrier->called[i].routine < routine);
    return at < carrier->n_called && carrier->called[at].routine == routine
               ? carrier->called[at].share
               : 0;
}

/* ---- windows -----------------------------------------------------------------------------------
 */

/* Touches of blocks in each cell, and in the last one those that always miss. */
struct cell_sums {
    double *all, *random; /* the latter by random groups */
};

static void add_group(const struct pm_carriers *carriers, struct pm_carrier *carrier,
                      uint32_t group, double share, struct cell_sums *sums) {
    const struct pm_distance_cells *cells = &carriers->groups[group];
    double *random = carriers->is_random[group] ? sums->random : NULL;
    for (size_t i = 0; i <= cells->n_cells; i++) {
        bool is_last = i == cells->n_cells;
        size_t cell = is_last ? carriers->n_cells : cells->cells[i].cell;
        double accesses = share * (is_last ? cells->always_missing : cells->cells[i].accesses);
        carrier->accesses += accesses;
        sums->all[cell] += accesses;
        if (random)
            random[cell] += accesses;
    }
}

static void add_routine(const struct pm_carriers *carriers, struct pm_carrier *carrier,
                        uint32_t routine, struct cell_sums *sums) {
    const struct pm_lists *groups = &carriers->groups_of_routine;
    for (uint32_t i = groups->first[routine]; i < groups->first[routine + 1]; i++) {
        uint32_t group = groups->items[i];
        double share =
            pm_carrier_share(carriers, carrier, carriers->structure->groups[group].scope);
        if (share > 0)
            add_group(carriers, carrier, group, share, sums);
    }
}

static void integrate(const struct pm_carriers *carriers, struct pm_carrier *carrier,
                      struct cell_sums *sums) {
    size_t n = carriers->n_cells;
    for (size_t c = n; c-- > 0;) {
        sums->all[c] += sums->all[c + 1];
        sums->random[c] += sums->random[c + 1];
    }
    for (size_t c = 0; c + 1 < n; c++) {
        double width = pm_distance_begin(c + 1) - pm_distance_begin(c), reach = sums->all[c];
        carrier->window[c + 1] =
            reach > 0 ? carrier->window[c] + width * carrier->accesses / reach : INFINITY;
        carrier->random_blocks[c + 1] =
            carrier->random_blocks[c] + (reach > 0 ? width * sums->random[c] / reach : 0);
    }
}

const struct pm_carrier *pm_carrier_of(struct pm_carriers *carriers, uint32_t scope) {
    const struct pm_structure *structure = carriers->structure;
    if (carriers->of_scope[scope])
        return carriers->of_scope[scope];
    struct pm_carrier *carrier = carriers->of_scope[scope] = pm_alloc(1, sizeof *carrier);
    const size_t n = carriers->n_cells;
    uint32_t own_routine = structure->scopes[scope].routine;
    *carrier = (struct pm_carrier){.scope = scope,
                                   .entries = 1,
                                   .window = pm_alloc(n, sizeof(double)),
                                   .random_blocks = pm_alloc(n, sizeof(double))};
    struct cell_sums sums = {pm_alloc(n + 1, sizeof(double)), pm_alloc(n + 1, sizeof(double))};
    if (own_routine == PM_NONE)
        for (uint32_t r = 0; r < structure->n_routines; r++)
            add_routine(carriers, carrier, r, &sums);
    else {
        carrier->entries = pm_scope_entries(structure, carriers->profile->edge_counts, scope);
        find_called(carriers, own_routine, carrier);
        size_t at = PM_LOWER_BOUND(carrier->n_called, i, carrier->called[i].routine < own_routine);
        if (at == carrier->n_called || carrier->called[at].routine != own_routine)
            add_routine(carriers, carrier, own_routine, &sums);
        for (size_t i = 0; i < carrier->n_called; i++)
            add_routine(carriers, carrier, carrier->called[i].routine, &sums);
    }
    integrate(carriers, carrier, &sums);
    free(sums.all);
    free(sums.random);
    return carrier;
}

static double code_of_routine(const struct pm_carriers *carriers, const struct pm_carrier *carrier,
                              uint32_t routine, double accesses, uint64_t block_bytes) {
    const struct pm_structure *structure = carriers->structure;
    const struct pm_routine *r = &structure->routines[routine];
    const double part = accesses / carrier->accesses;
    uint64_t n = 0, next = 0; /* the first block that was not counted yet */
    for (uint32_t b = r->first_block; b < r->first_block + r->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        double share = pm_carrier_share(carriers, carrier, block->scope);
        if (carriers->executions[b] * share * part < 1 || !block->size_bytes)
            continue;
        uint64_t first = block->address / block_bytes;
        uint64_t end = (block->address + block->size_bytes - 1) / block_bytes + 1;
        first = first > next ? first : next;
        n += end > first ? end - first : 0;
        next = end > next ? end : next;
    }
    return (double)n;
}

double pm_carrier_code_blocks(const struct pm_carriers *carriers, const struct pm_carrier *carrier,
                              double accesses, uint64_t block_bytes) {
    const struct pm_structure *structure = carriers->structure;
    uint32_t routine = structure->scopes[carrier->scope].routine;
    double n = 0;
    if (routine == PM_NONE) {
        for (uint32_t r = 0; r < structure->n_routines; r++)
            n += code_of_routine(carriers, carrier, r, accesses, block_bytes);
        return n;
    }
    n = code_of_routine(carriers, carrier, routine, accesses, block_bytes);
    for (size_t i = 0; i < carrier->n_called; i++)
        if (carrier->called[i].routine != routine)
            n += code_of_routine(carriers, carrier, carrier->called[i].routine, accesses,
                                 block_bytes);
    return n;
}

void pm_carried_sum_begin(const struct pm_carriers *carriers, struct pm_carried_sum *sum) {
    const struct pm_lists *groups = &carriers->groups_of_routine;
    for (uint32_t r = 0; r < carriers->structure->n_routines; r++) {
        sum->of_routine[r] = 0;
        for (uint32_t i = groups->first[r]; i < groups->first[r + 1]; i++)
            sum->of_routine[r] += sum->of_group[groups->items[i]];
    }
}

double pm_carried_sum_in(const struct pm_carriers *carriers, const struct pm_carrier *carrier,
                         const struct pm_carried_sum *sum) {
    const struct pm_structure *structure = carriers->structure;
    const struct pm_lists *groups = &carriers->groups_of_routine;
    uint32_t routine = structure->scopes[carrier->scope].routine;
    double result = 0;
    for (uint32_t r = 0; routine == PM_NONE && r < structure->n_routines; r++)
        result += sum->of_routine[r];
    if (routine == PM_NONE)
        return result;
    for (size_t i = 0; i < carrier->n_called; i++)
        if (carrier->called[i].routine != routine)
            result += carrier->called[i].share * sum->of_routine[carrier->called[i].routine];
    for (uint32_t i = groups->first[routine]; i < groups->first[routine + 1]; i++) {
        uint32_t group = groups->items[i];
        result += sum->of_group[group] *
                  pm_carrier_share(carriers, carrier, structure->groups[group].scope);
    }
    return result;
}
