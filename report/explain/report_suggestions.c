/* What may be tried on a loop, as sentences. */
#include <stdlib.h>

#include "report/explain/private.h"

const char *pm_suggestion_word(enum pm_suggestion_kind kind) {
    static const char *const words[PM_N_SUGGESTIONS] = {
        [PM_TRY_FUSE] = "fuse",
        [PM_TRY_INTERCHANGE] = "interchange or tile",
        [PM_TRY_SKEW] = "skew",
        [PM_TRY_JOIN_CALLS] = "join calls",
        [PM_TRY_STRIDE] = "change the stride",
        [PM_TRY_SORT] = "sort, renumber or pack",
        [PM_TRY_PAD] = "pad",
        [PM_TRY_SPLIT] = "split the structure",
        [PM_TRY_VECTORISE] = "vectorise",
        [PM_TRY_CHAINS] = "several chains",
        [PM_TRY_BRANCHES] = "fewer branches",
        [PM_TRY_FEWER_BYTES] = "fewer bytes",
    };
    return words[kind];
}

static char *scope_text(const struct pm_row_place *place) {
    if (place->scope == PM_NONE)
        return pm_strdup("?");
    char *label = pm_scope_label_folded(place->structure, place->scope);
    char *source = pm_scope_source(place->structure, place->scope);
    char *text = pm_sprintf("%s (%s)", label, source);
    free(label);
    free(source);
    return text;
}

static char *object_text(const struct pm_explanation *e, uint32_t group) {
    const char *object = group == PM_NONE ? NULL : e->structure->groups[group].object;
    return object ? pm_sprintf("`%s`", object) : pm_strdup("its data");
}

static char *of_pattern(const struct pm_explanation *e, const struct pm_suggestion *suggestion) {
    const struct pm_carried_row *row = suggestion->pattern;
    char *carrier = scope_text(&row->carrier), *source = scope_text(&row->source);
    char *object = object_text(e, row->group), *text = NULL;
    switch (suggestion->kind) {
    case PM_TRY_FUSE:
        text = pm_sprintf("%s was used before by %s, in the same iteration of %s: fuse the two, if "
                          "need be shifted against each other",
                          object, source, carrier);
        break;
    case PM_TRY_INTERCHANGE:
        text = pm_sprintf("%s is used again in later iterations of %s: interchange that loop "
                          "inwards, or tile a loop inside it and move the tile loop outside it",
                          object, carrier);
        break;
    case PM_TRY_SKEW:
        text = pm_sprintf("%s was used before by %s, in an earlier iteration of %s: do several of "
                          "its iterations on a part of the data (time skewing)",
                          object, source, carrier);
        break;
    case PM_TRY_JOIN_CALLS:
        text = pm_sprintf("the loop comes back to %s within one iteration of %s: do the work of "
                          "these executions in one",
                          object, carrier);
        break;
    case PM_TRY_SORT:
        text = pm_sprintf("%s is picked here and there, carried by %s: sort the iterations, "
                          "renumber or pack what they pick",
                          object, carrier);
        break;
    default:
        text = pm_sprintf("the loop itself comes back to the blocks of %s after many others: give "
                          "it a shorter stride, by another order of loops or of the array",
                          object);
    }
    free(carrier);
    free(source);
    free(object);
    return text;
}

char *pm_suggestion_sentence(const struct pm_explanation *e,
                             const struct pm_suggestion *suggestion) {
    if (suggestion->pattern)
        return of_pattern(e, suggestion);
    char *object = object_text(e, suggestion->group), *text = NULL;
    switch (suggestion->kind) {
    case PM_TRY_PAD:
        text = pm_sprintf("blocks, most of them of %s, fall into the same sets: pad its rows, or "
                          "give arrays another distance",
                          object);
        break;
    case PM_TRY_SPLIT:
        text =
            pm_sprintf("much of the blocks of %s is fetched and never used: split the structure, "
                       "or put what is used together side by side",
                       object);
        break;
    case PM_TRY_VECTORISE:
        text = pm_strdup("it computes one element at a time: vectorise it (`pmodel loops --check`, "
                         "-fopt-info-vec-missed tell what is in the way)");
        break;
    case PM_TRY_CHAINS:
        text = pm_strdup("each iteration waits for the one before: work on several sums or chains "
                         "side by side");
        break;
    case PM_TRY_BRANCHES:
        text = pm_strdup("branches are predicted wrongly: sort the data, or compute both sides and "
                         "choose");
        break;
    default:
        text = pm_strdup("the bytes that it moves take longer than all else: smaller types, fewer "
                         "passes over the data, stores that do not read first");
    }
    free(object);
    return text;
}
