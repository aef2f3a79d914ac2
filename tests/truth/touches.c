/* See touches.h.  Plain on purpose: this is what the fast analyser is judged by. */
#include "tests/truth/touches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/raw_file.h"
#include "core/structure/structure.h"

/* ---- the trace ------------------------------------------------------------------------------- */

bool trace_read(const char *path, struct trace *trace, struct pm_error *err) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return pm_fail_errno(err, "%s", path);
    size_t room = 0, n;
    do {
        room = room ? 2 * room : 1 << 16;
        trace->accesses = pm_realloc(trace->accesses, room, sizeof *trace->accesses);
        n = fread(trace->accesses + trace->n, sizeof *trace->accesses, room - trace->n, file);
        trace->n += n;
    } while (trace->n == room);
    fclose(file);
    for (size_t i = 0; i < trace->n; i++)
        if (trace->accesses[i].group >= trace->n_groups)
            trace->n_groups = trace->accesses[i].group + 1;
    return trace->n ? true : pm_fail(err, "%s: the trace is empty", path);
}

/* ---- the stack ------------------------------------------------------------------------------- */

struct stack {
    uint64_t *blocks; /* most recent last */
    size_t used, room;
};

static int64_t stack_touch(struct stack *stack, uint64_t block) {
    size_t place = stack->used;
    while (place > 0 && stack->blocks[place - 1] != block)
        place--;
    if (place > 0) {
        int64_t distance = (int64_t)(stack->used - place);
        memmove(stack->blocks + place - 1, stack->blocks + place,
                (size_t)distance * sizeof *stack->blocks);
        stack->blocks[stack->used - 1] = block;
        return distance;
    }
    if (stack->used == stack->room) {
        stack->room = stack->room ? 2 * stack->room : 1024;
        stack->blocks = pm_realloc(stack->blocks, stack->room, sizeof *stack->blocks);
    }
    stack->blocks[stack->used++] = block;
    return COLD;
}

static void keep(struct touches *of_group, int64_t distance, bool store) {
    *PM_PUSH(of_group, touch) = (struct touch){distance, store};
}

static int by_distance(const void *a, const void *b) {
    const struct touch *first = a, *second = b;
    return (first->distance > second->distance) - (first->distance < second->distance);
}

struct touches *touches_search(const struct trace *trace, uint64_t block_bytes, size_t *n_blocks) {
    struct touches *groups = pm_alloc(trace->n_groups, sizeof *groups);
    struct stack stack = {0};
    for (size_t i = 0; i < trace->n; i++) {
        const struct pmodel_access *access = &trace->accesses[i];
        uint64_t last = (access->address + access->size_bytes - 1) / block_bytes;
        for (uint64_t block = access->address / block_bytes; block <= last; block++) {
            int64_t distance = stack_touch(&stack, block);
            keep(&groups[access->group], distance, access->kind == PM_ACCESS_STORE);
            if (access->kind == PM_ACCESS_BOTH)
                keep(&groups[access->group], 0, true);
        }
    }
    for (uint32_t g = 0; g < trace->n_groups; g++)
        if (groups[g].n_touch)
            qsort(groups[g].touch, groups[g].n_touch, sizeof *groups[g].touch, by_distance);
    *n_blocks = stack.used;
    free(stack.blocks);
    return groups;
}

void touches_free(struct touches *groups, uint32_t n_groups) {
    for (uint32_t g = 0; g < n_groups; g++)
        free(groups[g].touch);
    free(groups);
}

void touches_print(const struct trace *trace, const struct touches *groups, uint64_t block_bytes,
                   size_t n_blocks) {
    size_t n_touches = 0, n_used = 0;
    int64_t longest = 0;
    for (uint32_t g = 0; g < trace->n_groups; g++) {
        n_touches += groups[g].n_touch;
        n_used += groups[g].n_touch != 0;
        if (groups[g].n_touch && groups[g].touch[groups[g].n_touch - 1].distance > longest)
            longest = groups[g].touch[groups[g].n_touch - 1].distance;
    }
    printf("    blocks of %" PRIu64 " bytes: %zu accesses, %zu touches of %zu blocks, %zu groups, "
           "longest distance %" PRId64 "\n",
           block_bytes, trace->n, n_touches, n_blocks, n_used, longest);
}

/* ---- one group's bins against its touches ---------------------------------------------------- */

unsigned touches_n_differences;

static void differ(uint64_t block_bytes, uint32_t group, const char *what, double found,
                   double expected) {
    if (touches_n_differences++ < 20)
        fprintf(stderr, "blocks of %" PRIu64 " bytes, group %u: %s %.17g, stack says %.17g\n",
                block_bytes, group, what, found, expected);
}

/* Takes the touches from *NEXT on that lie up to HIGH. */
static struct pm_raw_bin take(const struct touches *of_group, size_t *next, int64_t high) {
    struct pm_raw_bin bin = {0};
    for (; *next < of_group->n_touch && of_group->touch[*next].distance <= high; ++*next) {
        const struct touch *touch = &of_group->touch[*next];
        *(touch->store ? &bin.stores : &bin.loads) += 1;
        bin.distance_sum += (double)touch->distance;
    }
    return bin;
}

void touches_compare_value(uint64_t block_bytes, uint32_t group, const char *what, double found,
                           double expected) {
    if (found != expected)
        differ(block_bytes, group, what, found, expected);
}

/* HISTOGRAM's mean distances come from a division: their product with the count is rounded. */
/* Distances below 16 of blocks that follow from smaller ones (core/raw_file.h): their sum is that
   of the middle. */
static bool is_merged(const struct pm_bin *bin) { return bin->low == 0 && bin->high == 15; }

void touches_compare(const struct touches *of_group, const struct pm_histogram *histogram,
                     uint32_t group) {
    uint64_t bytes = histogram->block_bytes;
    size_t next = 0;
    struct pm_raw_bin cold = take(of_group, &next, COLD);
    touches_compare_value(bytes, group, "cold loads", histogram->cold_loads, (double)cold.loads);
    touches_compare_value(bytes, group, "cold stores", histogram->cold_stores, (double)cold.stores);
    for (size_t b = 0; b < histogram->n_bins; b++) {
        const struct pm_bin *bin = &histogram->bins[b];
        struct pm_raw_bin between = take(of_group, &next, (int64_t)bin->low - 1);
        touches_compare_value(bytes, group, "touches that no bin holds", 0,
                              (double)(between.loads + between.stores));
        struct pm_raw_bin expected = take(of_group, &next, (int64_t)bin->high);
        touches_compare_value(bytes, group, "loads in a bin", bin->loads, (double)expected.loads);
        touches_compare_value(bytes, group, "stores in a bin", bin->stores,
                              (double)expected.stores);
        double sum = bin->mean * (bin->loads + bin->stores);
        double expected_sum = is_merged(bin) ? 7.5 * (double)(expected.loads + expected.stores)
                                             : expected.distance_sum;
        if (__builtin_fabs(sum - expected_sum) > 1e-12 * expected_sum)
            differ(bytes, group, "sum of distances", sum, expected_sum);
    }
    touches_compare_value(bytes, group, "touches beyond the last bin", 0,
                          (double)(of_group->n_touch - next));
}
