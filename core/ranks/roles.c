/* Which roles ranks have, over all runs of a store; what a role is stands in ranks.h. */
#include <stdlib.h>
#include <string.h>

#include "core/ranks/ranks.h"

/* Ranks with the same paths; with N_PARTNERS, where that tells some of them apart. */
struct class {
    const struct pm_rank_deeds *first; /* in the largest run, the lowest rank */
    uint32_t n_partners;               /* PM_NONE: whatever it is */
    bool are_first, are_last;          /* all of them the first, the last rank of their run */
    uint32_t least, most;              /* partners of ranks in the run of FIRST */
};

struct classes {
    PM_ARRAY(struct class, list);
};

/* ---- telling them apart ---------------------------------------------------------------------- */

static bool have_same_paths(const struct pm_rank_deeds *a, const struct pm_rank_deeds *b) {
    return a->n_paths == b->n_paths &&
           (a->n_paths == 0 || memcmp(a->paths, b->paths, a->n_paths * sizeof *a->paths) == 0);
}

/* For each of N ranks whether others of its run with the same paths have more partners, or fewer,
   in whichever run; the caller frees. */
static bool *find_differing_partners(const struct pm_rank_deeds *deeds, size_t n) {
    struct paths {
        const struct pm_rank_deeds *last;
        bool differ;
    };
    struct {
        PM_ARRAY(struct paths, list);
    } seen = {0};
    size_t *of = pm_alloc(n, sizeof *of);
    bool *differ = pm_alloc(n, sizeof *differ);
    for (size_t i = 0; i < n; i++) {
        while (of[i] < seen.n_list && !have_same_paths(seen.list[of[i]].last, &deeds[i]))
            of[i]++;
        struct paths *paths = of[i] < seen.n_list ? &seen.list[of[i]] : PM_PUSH(&seen, list);
        paths->differ |= paths->last && paths->last->run == deeds[i].run &&
                         paths->last->n_partners != deeds[i].n_partners;
        paths->last = &deeds[i];
    }
    for (size_t i = 0; i < n; i++)
        differ[i] = seen.list[of[i]].differ;
    free(seen.list);
    free(of);
    return differ;
}

static bool comes_before(const struct pm_rank_deeds *a, const struct pm_rank_deeds *b) {
    return a->size != b->size ? a->size > b->size : a->rank < b->rank;
}

static void add_to_class(struct classes *classes, struct pm_rank_deeds *deeds, bool by_partners) {
    uint32_t n_partners = by_partners ? deeds->n_partners : PM_NONE;
    size_t c = 0;
    while (c < classes->n_list && (classes->list[c].n_partners != n_partners ||
                                   !have_same_paths(classes->list[c].first, deeds)))
        c++;
    if (c == classes->n_list)
        *PM_PUSH(classes, list) = (struct class){
            .first = deeds, .n_partners = n_partners, .are_first = true, .are_last = true};
    struct class *class = &classes->list[c];
    if (comes_before(deeds, class->first))
        class->first = deeds;
    class->are_first &= deeds->rank == 0;
    class->are_last &= deeds->rank + 1 == deeds->size;
    deeds->role = (uint32_t)c;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* What a rank with N_PARTNERS is where ranks have up to MOST, as in grids of one, two and three
   dimensions, without and with diagonal neighbours; NULL: that says nothing. */
static const char *word_of(uint32_t n_partners, uint32_t most) {
    static const struct {
        uint32_t most, n_partners;
        const char *word;
    } words[] = {
        {2, 1, "end"},    {2, 2, "inside"}, {3, 2, "corner"}, {3, 3, "edge"},   {4, 2, "corner"},
        {4, 3, "edge"},   {4, 4, "inside"}, {6, 3, "corner"}, {6, 4, "edge"},   {6, 5, "face"},
        {6, 6, "inside"}, {8, 3, "corner"}, {8, 5, "edge"},   {8, 8, "inside"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].most == most && words[i].n_partners == n_partners)
            return words[i].word;
    return NULL;
}

/* Sizes may have grids of other dimensions: what counts is the run that CLASS was first seen in. */
static void find_partners(struct class *class, const struct pm_rank_deeds *deeds, size_t n) {
    class->least = PM_NONE;
    for (size_t i = 0; i < n; i++) {
        uint32_t n_partners = deeds[i].n_partners;
        if (deeds[i].run != class->first->run || n_partners == 0)
            continue;
        class->most = n_partners > class->most ? n_partners : class->most;
        class->least = n_partners < class->least ? n_partners : class->least;
    }
}

static const char *name_of(const struct classes *classes, const struct class *class) {
    const char *word =
        class->least < class->most ? word_of(class->first->n_partners, class->most) : NULL;
    bool is_end = !word || strcmp(word, "end") == 0;
    if (classes->n_list == 1)
        return "all";
    if (class->first->n_paths == 0)
        return "alone";
    if (is_end && class->are_first && !class->are_last)
        return "first";
    if (is_end && class->are_last && !class->are_first)
        return "last";
    return word ? word : "role";
}

static int by_first_rank(const void *left, const void *right) {
    const struct pm_rank_deeds *a = ((const struct class *)left)->first,
                               *b = ((const struct class *)right)->first;
    int order = PM_COMPARE(b->size, a->size);
    return order ? order : PM_COMPARE(a->rank, b->rank);
}

/* Names that several have get numbers. */
static void name_roles(const struct classes *classes, struct pm_ranks *to) {
    for (size_t i = 0; i < classes->n_list; i++) {
        const char *name = name_of(classes, &classes->list[i]);
        unsigned n = 0, number = 0;
        for (size_t k = 0; k < classes->n_list; k++) {
            bool is_same = strcmp(name_of(classes, &classes->list[k]), name) == 0;
            n += is_same;
            number += is_same && k <= i;
        }
        PM_PUSH(to, roles)->name = n > 1 || strcmp(name, "role") == 0
                                       ? pm_sprintf("%s-%u", name, number)
                                       : pm_strdup(name);
    }
}

void pm_ranks_find_roles(struct pm_rank_deeds *deeds, size_t n, struct pm_ranks *to) {
    struct classes classes = {0};
    bool *differ = find_differing_partners(deeds, n);
    for (size_t i = 0; i < n; i++)
        add_to_class(&classes, &deeds[i], differ[i]);
    free(differ);
    for (size_t c = 0; c < classes.n_list; c++)
        find_partners(&classes.list[c], deeds, n);
    const struct pm_rank_deeds **firsts = pm_alloc(classes.n_list, sizeof *firsts);
    uint32_t *places = pm_alloc(classes.n_list, sizeof *places);
    for (size_t c = 0; c < classes.n_list; c++)
        firsts[c] = classes.list[c].first;
    PM_SORT(classes.list, classes.n_list, by_first_rank);
    for (size_t c = 0; c < classes.n_list; c++)
        for (size_t old = 0; old < classes.n_list; old++)
            if (classes.list[c].first == firsts[old])
                places[old] = (uint32_t)c;
    for (size_t i = 0; i < n; i++)
        deeds[i].role = places[deeds[i].role];
    name_roles(&classes, to);
    free(places);
    free(firsts);
    free(classes.list);
}

uint32_t pm_ranks_role(const struct pm_ranks *ranks, const char *name, struct pm_error *err) {
    struct pm_nearest nearest = {0};
    char *names = NULL;
    for (uint32_t i = 0; i < ranks->n_roles; i++) {
        if (strcmp(ranks->roles[i].name, name) == 0) {
            free(names);
            return i;
        }
        pm_nearest_try(&nearest, name, ranks->roles[i].name);
        pm_append(&names, "%s%s", names ? ", " : "", ranks->roles[i].name);
    }
    if (names)
        pm_fail(err, "no role \"%s\" in this store: its ranks have %s", name, names);
    else
        pm_fail(err,
                "no role \"%s\": the store has no runs of an MPI program whose ranks are "
                "known",
                name);
    free(names);
    pm_fail_nearest(err, &nearest);
    return PM_NONE;
}
