/* Lists of ranks; see ranks.h. */
#include "core/ranks/ranks.h"

#include <stdlib.h>

void pm_ranks_free(struct pm_ranks *ranks) {
    for (size_t i = 0; i < ranks->n_ranks; i++)
        free(ranks->ranks[i].host);
    for (size_t i = 0; i < ranks->n_roles; i++)
        free(ranks->roles[i].name);
    free(ranks->ranks);
    free(ranks->roles);
    *ranks = (struct pm_ranks){0};
}

static int by_rank(const void *left, const void *right) {
    const struct pm_rank *a = left, *b = right;
    int order = PM_COMPARE(a->rank, b->rank);
    return order ? order : PM_COMPARE(a->process, b->process);
}

void pm_ranks_sort(struct pm_ranks *ranks) { PM_SORT(ranks->ranks, ranks->n_ranks, by_rank); }

bool pm_ranks_is_first_process(const struct pm_ranks *ranks, size_t i) {
    return i == 0 || ranks->ranks[i].rank != ranks->ranks[i - 1].rank;
}

unsigned pm_ranks_count(const struct pm_ranks *ranks, uint32_t role, uint32_t group) {
    unsigned n = 0;
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        const struct pm_rank *rank = &ranks->ranks[i];
        n += pm_ranks_is_first_process(ranks, i) && (role == PM_NONE || rank->role == role) &&
             (group == PM_NONE || rank->group == group);
    }
    return n;
}

unsigned pm_ranks_n_groups(const struct pm_ranks *ranks) {
    unsigned n = 0;
    for (size_t i = 0; i < ranks->n_ranks; i++)
        n = ranks->ranks[i].group + 1 > n ? ranks->ranks[i].group + 1 : n;
    return n;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void append_range(char **text, uint32_t first, uint32_t last) {
    pm_append(text, *text ? ", %u" : "%u", first);
    if (last > first)
        pm_append(text, "–%u", last);
}

char *pm_ranks_text(const struct pm_ranks *ranks, uint32_t role, uint32_t group) {
    char *text = NULL;
    bool open = false;
    uint32_t first = 0, last = 0;
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        const struct pm_rank *rank = &ranks->ranks[i];
        if ((role != PM_NONE && rank->role != role) || (group != PM_NONE && rank->group != group))
            continue;
        if (open && rank->rank > last + 1) {
            append_range(&text, first, last);
            open = false;
        }
        if (!open)
            first = rank->rank;
        last = rank->rank;
        open = true;
    }
    if (open)
        append_range(&text, first, last);
    return text;
}

char *pm_ranks_missing(const struct pm_ranks *ranks) {
    char *text = NULL;
    uint32_t next = 0;
    for (size_t i = 0; i < ranks->n_ranks; i++) {
        uint32_t rank = ranks->ranks[i].rank;
        if (rank > next)
            append_range(&text, next, rank - 1);
        next = rank + 1;
    }
    if (ranks->n_ranks && next < ranks->ranks[0].size)
        append_range(&text, next, ranks->ranks[0].size - 1);
    return text;
}
