/* Traces, which are nested loops over sequences of events; see communication.h. */
#include "core/communication/communication.h"

#include <stdlib.h>

const struct pm_trace_node *pm_trace_sequence(const struct pm_trace *trace, uint32_t number,
                                              size_t *n) {
    uint32_t first = trace->sequences[number];
    size_t end = number + 1 < trace->n_sequences ? trace->sequences[number + 1] : trace->n_nodes;
    *n = end - first;
    return &trace->nodes[first];
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void enter(struct pm_trace_walk *walk, uint32_t sequence, uint32_t times) {
    size_t n;
    uint32_t first = (uint32_t)(pm_trace_sequence(walk->trace, sequence, &n) - walk->trace->nodes);
    *PM_PUSH(walk, open) = (struct pm_trace_place){first, first + (uint32_t)n, first, times};
}

struct pm_trace_walk pm_trace_walk(const struct pm_trace *trace) {
    struct pm_trace_walk walk = {.trace = trace};
    if (trace->n_sequences > 0)
        enter(&walk, (uint32_t)trace->n_sequences - 1, 1);
    return walk;
}

bool pm_trace_next(struct pm_trace_walk *walk, uint32_t *event) {
    while (walk->n_open > 0) {
        struct pm_trace_place *place = &walk->open[walk->n_open - 1];
        if (place->next < place->end) {
            struct pm_trace_node node = walk->trace->nodes[place->next++];
            if (node.times == 0) {
                *event = node.item;
                return true;
            }
            enter(walk, node.item, node.times);
        } else if (place->times > 1) {
            place->times--;
            place->next = place->first;
        } else {
            walk->n_open--;
        }
    }
    pm_trace_walk_free(walk);
    return false;
}

void pm_trace_walk_free(struct pm_trace_walk *walk) {
    free(walk->open);
    *walk = (struct pm_trace_walk){0};
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* LENGTHS: of the sequences before it.  A sum that does not fit is none. */
static bool add_length(const struct pm_trace_node *node, const uint64_t *lengths, uint32_t number,
                       size_t n_counts, uint64_t *length) {
    uint64_t more = 1;
    if (node->times == 0 ? node->item >= n_counts : node->times < 2 || node->item >= number)
        return false;
    if (node->times > 0 &&
        __builtin_mul_overflow(lengths[node->item], (uint64_t)node->times, &more))
        return false;
    return !__builtin_add_overflow(*length, more, length);
}

bool pm_trace_is_valid(const struct pm_trace *trace, size_t n_counts) {
    bool valid = trace->n_sequences > 0 && trace->sequences[0] == 0;
    uint64_t *lengths = pm_alloc(trace->n_sequences + 1, sizeof *lengths);
    for (uint32_t i = 0; i < trace->n_sequences && valid; i++) {
        size_t n;
        uint32_t end =
            i + 1 < trace->n_sequences ? trace->sequences[i + 1] : (uint32_t)trace->n_nodes;
        bool is_last = i + 1 == trace->n_sequences;
        valid = end <= trace->n_nodes &&
                (is_last ? trace->sequences[i] <= end : trace->sequences[i] < end);
        const struct pm_trace_node *nodes = valid ? pm_trace_sequence(trace, i, &n) : NULL;
        for (size_t k = 0; valid && k < n; k++)
            valid = add_length(&nodes[k], lengths, i, n_counts, &lengths[i]);
    }
    valid = valid && lengths[trace->n_sequences - 1] == trace->n_events;
    free(lengths);
    return valid;
}
