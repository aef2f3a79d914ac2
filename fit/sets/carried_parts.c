/* Who carries reuses: the innermost scope of which an entry lasts as long as they do, else, by
   their shares of the calls, those who call its routine (carriers.c).  Found once for the routines
   of a component of the calls and a distance, from what was found for their callers: the cost is
   that of the calls, not of the paths along them. */
#include <stdlib.h>

#include "fit/sets/private.h"

/* Of a routine's calls: callers with fewer are left out. */
static const double least_caller = 0.01;
/* Of one entry of a scope: what the last iteration lacks. */
static const double whole_entry = 1.02;

/* Of the largest part of a reuse: smaller ones are left out, and the others have their shares. */
static const double least_part = 1e-6;

enum { MOST_PARTS = 64 }; /* of the reuses at a distance, the largest: the others have the rest */

static bool carries(struct pm_carriers *carriers, uint32_t scope, size_t cell, double entries) {
    const struct pm_carrier *carrier = pm_carrier_of(carriers, scope);
    return entries > 0 && carrier->window[cell] <= whole_entry * carrier->accesses / entries;
}

/* The innermost scope from SCOPE outwards that carries, and is of the same routine; PM_NONE: none
   does.  All of the program carries whatever is left. */
static uint32_t carrier_from(struct pm_carriers *carriers, uint32_t scope, size_t cell) {
    const struct pm_structure *structure = carriers->structure;
    for (;; scope = structure->scopes[scope].parent) {
        if (!scope || carries(carriers, scope, cell, pm_carrier_of(carriers, scope)->entries))
            return scope;
        if (structure->scopes[scope].kind == PM_SCOPE_ROUTINE)
            return PM_NONE;
    }
}

static int compare_parts(const void *left, const void *right) {
    const struct pm_carried_part *a = left, *b = right;
    return a->share != b->share ? PM_COMPARE(b->share, a->share) : PM_COMPARE(a->scope, b->scope);
}

static void keep_largest(struct pm_carried_parts *parts) {
    double all = 0, kept = 0;
    size_t n = 0;
    for (size_t i = 0; i < parts->n_parts; i++)
        all += parts->parts[i].share;
    PM_SORT(parts->parts, parts->n_parts, compare_parts);
    while (n < parts->n_parts && n < MOST_PARTS &&
           parts->parts[n].share >= least_part * parts->parts[0].share)
        kept += parts->parts[n++].share;
    for (size_t i = 0; n < parts->n_parts && i < n; i++)
        parts->parts[i].share *= all / kept;
    parts->n_parts = n;
}

static void add_share(struct pm_carriers *carriers, uint32_t scope, double share,
                      struct pm_carried_parts *parts) {
    if (carriers->share_of[scope] <= 0)
        PM_PUSH(parts, parts)->scope = scope;
    carriers->share_of[scope] += share;
}

/* Who carries reuses that reach CALL from inside: a scope around it, or the routine that it enters
   from outside a recursion.  PM_NONE: who calls that. */
static uint32_t carrier_of_call(struct pm_carriers *carriers, const struct pm_call *call,
                                size_t cell) {
    const struct pm_structure *structure = carriers->structure;
    uint32_t entered = structure->routines[call->routine].scope;
    if (carriers->components.is_recursive[carriers->components.of[call->routine]] &&
        carries(carriers, entered, cell, carriers->entered[call->routine]))
        return entered;
    return carrier_from(carriers, structure->blocks[call->block].scope, cell);
}

static size_t parts_above(struct pm_carriers *carriers, uint32_t component, size_t cell);

/* Adds who carries what no entry of COMPONENT does, of which no call is known: what is around it.
 */
static void add_around(struct pm_carriers *carriers, uint32_t component, size_t cell,
                       struct pm_carried_parts *parts) {
    const struct pm_structure *structure = carriers->structure;
    const struct pm_call_components *components = &carriers->components;
    uint32_t routine = components->routines.items[components->routines.first[component]], carrier;
    for (;;) {
        uint32_t around = structure->scopes[structure->routines[routine].scope].parent;
        carrier = carrier_from(carriers, around, cell);
        if (carrier != PM_NONE)
            break;
        routine = structure->scopes[around].routine;
        if (components->of[routine] == component)
            continue; /* it is called in a circle, from nowhere else */
        size_t number = parts_above(carriers, components->of[routine], cell);
        const struct pm_carried_parts *above = &carriers->above[number].parts;
        for (size_t p = 0; p < above->n_parts; p++)
            add_share(carriers, above->parts[p].scope, above->parts[p].share, parts);
        return;
    }
    add_share(carriers, carrier, 1, parts);
}

/* The number of the parts above COMPONENT, which are found from those above its callers. */
static size_t parts_above(struct pm_carriers *carriers, uint32_t component, size_t cell) {
    const struct pm_structure *structure = carriers->structure;
    const uint32_t key[2] = {component, (uint32_t)cell};
    const uint64_t hash = pm_hash_bytes(key, sizeof key);
    for (struct pm_map_entry at = pm_map_find(&carriers->above_map, hash); at.found;
         pm_map_next(&carriers->above_map, &at))
        if (carriers->above[at.item].component == component &&
            carriers->above[at.item].cell == cell)
            return at.item;
    const struct pm_lists *calls = &carriers->calls_of;
    const double least = least_caller * carriers->component_entered[component];
    double entered = 0;
    for (uint32_t i = calls->first[component]; i < calls->first[component + 1]; i++) {
        const struct pm_call *call = &structure->calls[calls->items[i]];
        if (carriers->executions[call->block] < least)
            continue;
        entered += carriers->executions[call->block];
        if (carrier_of_call(carriers, call, cell) == PM_NONE) /* before any are added up */
            parts_above(carriers, carriers->components.of[pm_caller_of(structure, call)], cell);
    }
    struct pm_carried_parts parts = {0};
    if (entered <= 0)
        add_around(carriers, component, cell, &parts);
    for (uint32_t i = calls->first[component]; i < calls->first[component + 1]; i++) {
        const struct pm_call *call = &structure->calls[calls->items[i]];
        double n = carriers->executions[call->block];
        if (n < least)
            continue;
        uint32_t carrier = carrier_of_call(carriers, call, cell);
        if (carrier != PM_NONE) {
            add_share(carriers, carrier, n / entered, &parts);
            continue;
        }
        size_t number =
            parts_above(carriers, carriers->components.of[pm_caller_of(structure, call)], cell);
        const struct pm_carried_parts *above = &carriers->above[number].parts;
        for (size_t p = 0; p < above->n_parts; p++)
            add_share(carriers, above->parts[p].scope, n / entered * above->parts[p].share, &parts);
    }
    for (size_t p = 0; p < parts.n_parts; p++) {
        double *share = &carriers->share_of[parts.parts[p].scope];
        parts.parts[p].share = *share;
        *share = 0;
    }
    keep_largest(&parts);
    size_t number = carriers->n_above;
    *PM_PUSH(carriers, above) = (struct pm_parts_above){component, (uint32_t)cell, parts};
    pm_map_add(&carriers->above_map, hash, (uint32_t)number);
    return number;
}

void pm_carriers_find(struct pm_carriers *carriers, uint32_t scope, size_t cell,
                      struct pm_carried_parts *parts) {
    uint32_t carrier = carrier_from(carriers, scope, cell);
    if (carrier != PM_NONE) {
        *PM_PUSH(parts, parts) = (struct pm_carried_part){carrier, 1};
        return;
    }
    uint32_t component = carriers->components.of[carriers->structure->scopes[scope].routine];
    size_t number = parts_above(carriers, component, cell);
    const struct pm_carried_parts *above = &carriers->above[number].parts;
    for (size_t p = 0; p < above->n_parts; p++)
        *PM_PUSH(parts, parts) = above->parts[p];
}
