/* Which parallel parts a program has, and for which of them each routine works; see cores.h.

       S(r) = (Σ over calls of r  n · S(caller)  +  n_outside · part of r) / entries of r

   S(r) is a vector of shares that add up to 1, n the executions of a call, n_outside the entries of
   r that no known call makes.  Calls may go in circles, so it is found by iteration.  The idea is
   that of gprof (Graham, Kessler & McKusick 1982). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/cores/cores.h"

enum { MOST_ROUNDS = 200 };
static const double settled = 1e-9;
/* Entries from outside that are fewer are rounding: counts of predicted sizes are no integers. */
static const double least_outside = 1e-3;

/* What a thread's counts say of calls. */
struct call_counts {
    double *blocks;  /* executions of each basic block */
    double *entries; /* of each routine */
    double *outside; /* of these by no known call */
};

static void count_calls(const struct pm_structure *structure, const double *edge_counts,
                        struct call_counts *counts) {
    counts->blocks = pm_block_executions(structure, edge_counts);
    counts->entries = pm_alloc(structure->n_routines, sizeof *counts->entries);
    counts->outside = pm_alloc(structure->n_routines, sizeof *counts->outside);
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].kind == PM_EDGE_ENTRY)
            counts->entries[structure->edges[e].routine] += edge_counts[e];
    for (size_t r = 0; r < structure->n_routines; r++)
        counts->outside[r] = counts->entries[r];
    for (size_t c = 0; c < structure->n_calls; c++)
        counts->outside[structure->calls[c].routine] -= counts->blocks[structure->calls[c].block];
    for (size_t r = 0; r < structure->n_routines; r++)
        if (!(counts->outside[r] > least_outside * counts->entries[r]))
            counts->outside[r] = 0;
}

static void free_counts(struct call_counts *counts) {
    free(counts->blocks);
    free(counts->entries);
    free(counts->outside);
}

void pm_parts_find(const struct pm_structure *structure, const struct pm_profile *profile,
                   struct pm_parts *parts) {
    *parts = (struct pm_parts){.structure = structure,
                               .part_of = pm_alloc(structure->n_routines, sizeof *parts->part_of)};
    *PM_PUSH(parts, routines) = PM_NONE;
    for (size_t t = 1; t < profile->n_threads; t++) {
        struct call_counts counts;
        count_calls(structure, profile->threads[t]->edge_counts, &counts);
        for (uint32_t r = 0; r < structure->n_routines; r++)
            if (counts.outside[r] > 0 && parts->part_of[r] == 0) {
                parts->part_of[r] = (uint32_t)parts->n_routines;
                *PM_PUSH(parts, routines) = r;
            }
        free_counts(&counts);
    }
    struct call_counts counts;
    count_calls(structure, profile->threads[0]->edge_counts, &counts);
    for (uint32_t r = 0; r < structure->n_routines; r++)
        parts->first_works |= parts->part_of[r] > 0 && counts.outside[r] > 0;
    free_counts(&counts);
}

void pm_parts_free(struct pm_parts *parts) {
    free(parts->routines);
    free(parts->part_of);
    *parts = (struct pm_parts){0};
}

/* Adds SHARES of the callers to NEXT; one round. */
static void pass_on(const struct pm_parts *parts, const struct call_counts *counts,
                    const double *shares, double *next) {
    const struct pm_structure *s = parts->structure;
    size_t n = parts->n_routines;
    for (size_t r = 0; r < s->n_routines; r++)
        next[r * n + parts->part_of[r]] += counts->outside[r];
    for (size_t c = 0; c < s->n_calls; c++) {
        double times = counts->blocks[s->calls[c].block];
        const double *from = &shares[s->blocks[s->calls[c].block].routine * n];
        double *to = &next[s->calls[c].routine * n];
        for (size_t p = 0; p < n && times > 0; p++)
            to[p] += times * from[p];
    }
}

/* The largest change of a share. */
static double normalise(size_t n_routines, size_t n, const double *shares, double *next) {
    double change = 0;
    for (size_t r = 0; r < n_routines; r++) {
        const double *before = &shares[r * n];
        double sum = 0, *row = &next[r * n];
        for (size_t p = 0; p < n; p++)
            sum += row[p];
        if (!(sum > 0)) {
            memcpy(row, before, n * sizeof *row);
            continue;
        }
        for (size_t p = 0; p < n; p++) {
            row[p] /= sum;
            double changed = fabs(row[p] - before[p]);
            change = changed > change ? changed : change;
        }
    }
    return change;
}

double *pm_parts_shares(const struct pm_parts *parts, const double *edge_counts) {
    size_t n_routines = parts->structure->n_routines, n = parts->n_routines;
    double *shares = pm_alloc(n_routines * n, sizeof *shares);
    double *next = pm_alloc(n_routines * n, sizeof *next), change = 1;
    struct call_counts counts;
    count_calls(parts->structure, edge_counts, &counts);
    for (size_t r = 0; r < n_routines; r++)
        shares[r * n + (counts.outside[r] > 0 ? parts->part_of[r] : 0)] = 1;
    for (int round = 0; round < MOST_ROUNDS && change > settled; round++) {
        memset(next, 0, n_routines * n * sizeof *next);
        pass_on(parts, &counts, shares, next);
        change = normalise(n_routines, n, shares, next);
        double *swap = shares;
        shares = next;
        next = swap;
    }
    free_counts(&counts);
    free(next);
    return shares;
}
