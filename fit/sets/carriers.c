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
   with its share of the calls; where that is not known, all of the program. */
#include <math.h>
#include <stdlib.h>

#include "fit/heuristics.h"
#include "fit/sets/private.h"

/* Of a routine's calls: callers with fewer are left out. */
static const double least_caller = 0.01;
/* Of one entry of a scope: what the last iteration lacks. */
static const double whole_entry = 1.02;

enum { MOST_CALLS = 12 }; /* calls within calls that are followed */

struct pm_carriers {
    const struct pm_structure *structure;
    const struct pm_profile *profile;
    const double *executions;
    const struct pm_distance_cells *groups;
    const bool *is_random;
    size_t n_cells;
    struct pm_lists groups_of_routine;
    struct pm_lists calls_of; /* [routine]: the calls that enter it */
    double *called;           /* [routine]: how often they do */
    double *shares;           /* [routine]: while a carrier is made */
    struct pm_carrier **of_scope;
};

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
        .shares = pm_alloc(structure->n_routines, sizeof(double)),
        .of_scope = pm_alloc(structure->n_scopes, sizeof(struct pm_carrier *))};
    uint32_t *keys = pm_alloc(structure->n_groups + structure->n_calls, sizeof *keys);
    for (uint32_t g = 0; g < structure->n_groups; g++)
        keys[g] = groups[g].n_cells || groups[g].always_missing > 0
                      ? structure->scopes[structure->groups[g].scope].routine
                      : PM_NONE;
    carriers->groups_of_routine =
        pm_lists_by_key(keys, NULL, structure->n_groups, structure->n_routines);
    for (size_t c = 0; c < structure->n_calls; c++) {
        const struct pm_call *call = &structure->calls[c];
        double calls = executions[call->block];
        keys[c] = calls > 0 ? call->routine : PM_NONE;
        carriers->called[call->routine] += calls;
    }
    carriers->calls_of = pm_lists_by_key(keys, NULL, structure->n_calls, structure->n_routines);
    free(keys);
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
    free(carriers->called);
    free(carriers->shares);
    pm_lists_free(&carriers->groups_of_routine);
    pm_lists_free(&carriers->calls_of);
    free(carriers);
}

/* ---- what is called in a scope -----------------------------------------------------------------
 */

/* Adds the share WEIGHT of the executions of each routine that code of ROUTINE calls, of SCOPE in
   it or all (PM_NONE); CALLED lists those that have a share, some twice. */
static void add_called(struct pm_carriers *carriers, uint32_t routine, uint32_t scope,
                       double weight, unsigned depth, struct pm_carrier *carrier) {
    const struct pm_structure *structure = carriers->structure;
    const struct pm_routine *r = &structure->routines[routine];
    size_t c = PM_LOWER_BOUND(structure->n_calls, i, structure->calls[i].block < r->first_block);
    for (; c < structure->n_calls && structure->calls[c].block < r->first_block + r->n_blocks;
         c++) {
        const struct pm_call *call = &structure->calls[c];
        double calls = carriers->executions[call->block], *sum = &carriers->shares[call->routine];
        if (calls <= 0 || (scope != PM_NONE && !pm_block_is_inside(structure, call->block, scope)))
            continue;
        double share = weight * calls / carriers->called[call->routine];
        if (*sum <= 0)
            PM_PUSH(carrier, called)->routine = call->routine;
        *sum = fmin(1, *sum + share);
        if (depth < MOST_CALLS && share >= least_caller && call->routine != routine)
            add_called(carriers, call->routine, PM_NONE, share, depth + 1, carrier);
    }
}

static int compare_called(const void *left, const void *right) {
    return PM_COMPARE(((const struct pm_carried_routine *)left)->routine,
                      ((const struct pm_carried_routine *)right)->routine);
}

static void find_called(struct pm_carriers *carriers, uint32_t routine,
                        struct pm_carrier *carrier) {
    add_called(carriers, routine, carrier->scope, 1, 0, carrier);
    for (size_t i = 0; i < carrier->n_called; i++) {
        double *share = &carriers->shares[carrier->called[i].routine];
        carrier->called[i].share = *share;
        *share = 0;
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

/* ---- who carries -------------------------------------------------------------------------------
 */

static void add_part(struct pm_carried_parts *parts, uint32_t scope, double share) {
    for (size_t i = 0; i < parts->n_parts; i++)
        if (parts->parts[i].scope == scope) {
            parts->parts[i].share += share;
            return;
        }
    *PM_PUSH(parts, parts) = (struct pm_carried_part){scope, share};
}

static void find(struct pm_carriers *carriers, uint32_t scope, size_t cell, double share,
                 unsigned depth, struct pm_carried_parts *parts) {
    const struct pm_structure *structure = carriers->structure;
    for (;; scope = structure->scopes[scope].parent) {
        const struct pm_carrier *carrier = pm_carrier_of(carriers, scope);
        if (!scope || depth > MOST_CALLS ||
            (carrier->entries > 0 &&
             carrier->window[cell] <= whole_entry * carrier->accesses / carrier->entries)) {
            add_part(parts, scope, share);
            return;
        }
        if (structure->scopes[scope].kind != PM_SCOPE_ROUTINE)
            continue;
        uint32_t routine = structure->scopes[scope].routine;
        const struct pm_lists *calls = &carriers->calls_of;
        double called = 0;
        for (uint32_t i = calls->first[routine]; i < calls->first[routine + 1]; i++) {
            double n = carriers->executions[structure->calls[calls->items[i]].block];
            called += n >= least_caller * carriers->called[routine] ? n : 0;
        }
        if (called <= 0)
            continue;
        for (uint32_t i = calls->first[routine]; i < calls->first[routine + 1]; i++) {
            uint32_t block = structure->calls[calls->items[i]].block;
            double n = carriers->executions[block];
            if (n >= least_caller * carriers->called[routine])
                find(carriers, structure->blocks[block].scope, cell, share * n / called, depth + 1,
                     parts);
        }
        return;
    }
}

void pm_carriers_find(struct pm_carriers *carriers, uint32_t scope, size_t cell,
                      struct pm_carried_parts *parts) {
    find(carriers, scope, cell, 1, 0, parts);
}
