/* Transitions of the stack top (record_state.h): remembered for the executions of a sequence, and
   turned into counts. */
#include <string.h>

#include "runtime/reuse/address_records/record_state.h"

/* The stack top while an execution is followed: places that its blocks had before it, and behind
   them PM_STACK_TOP + m for the m-th block once it was touched. */
struct symbolic_stack_top {
    uint8_t at[PM_STACK_TOP];
};

static struct symbolic_stack_top begin_stack_top(void) {
    struct symbolic_stack_top stack_top;
    for (uint8_t place = 0; place < PM_STACK_TOP; place++)
        stack_top.at[place] = place;
    return stack_top;
}

/* The distance of the first touch of the M-th block; PM_STACK_TOP: it is far, and what stood last
   is pushed out. */
static unsigned touch_symbolic(struct symbolic_stack_top *stack_top,
                               const struct pm_top_transition *transition, uint32_t m) {
    unsigned distance = PM_STACK_TOP;
    if (transition->present >> m & 1)
        for (distance = 0; distance < PM_STACK_TOP; distance++)
            if (stack_top->at[distance] == transition->place[m])
                break;
    memmove(stack_top->at + 1, stack_top->at,
            distance < PM_STACK_TOP ? distance : PM_STACK_TOP - 1);
    stack_top->at[0] = (uint8_t)(PM_STACK_TOP + m);
    return distance;
}

/* Distances of first touches that were where the transition says. */
void pm_record_flush_transition(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                                struct pm_top_transition *transition) {
    for (uint32_t m = 0; m < sequence->n_blocks && transition->n; m++)
        if (transition->distance[m] < PM_STACK_TOP)
            reuse->histograms[sequence->group[m]]
                .stack_top[sequence->kind[m]][transition->distance[m]] += transition->n;
    sequence->n_single += transition->n;
    transition->n = 0;
}

/* A transition of blocks that were FOUND there. */
struct pm_top_transition pm_record_transition(struct pm_touch_sequence *sequence,
                                              const uint32_t *found) {
    struct pm_top_transition transition = {.sequence = sequence};
    struct symbolic_stack_top stack_top = begin_stack_top();
    for (uint32_t m = 0, n_far = 0; m < sequence->n_blocks; m++) {
        transition.present |= (uint32_t)(found[m] != 0) << m;
        transition.place[m] = found[m] ? (uint8_t)__builtin_ctz(found[m]) : 0;
        uint8_t last = stack_top.at[PM_STACK_TOP - 1];
        transition.distance[m] = (uint8_t)touch_symbolic(&stack_top, &transition, m);
        if (transition.distance[m] < PM_STACK_TOP)
            continue;
        transition.far |= 1u << m;
        transition.evicted[n_far++] = last;
    }
    for (uint32_t i = 0; i < PM_STACK_TOP; i++)
        transition.from[i] = stack_top.at[i];
    for (uint32_t i = 0; i < sequence->n_blocks; i++)
        transition.from[i] = (uint8_t)(PM_STACK_TOP + sequence->order[i]);
    return transition;
}

/* The index of a transition like WANTED, or the number of those there are. */
static uint32_t find_transition(const struct pm_touch_sequence *sequence,
                                const struct pm_top_transition *wanted) {
    uint32_t i = 0;
    while (i < sequence->n_transitions &&
           (sequence->transitions[i]->present != wanted->present ||
            memcmp(sequence->transitions[i]->place, wanted->place, sizeof wanted->place) != 0))
        i++;
    return i;
}

struct pm_top_transition *pm_record_learn(struct pm_record_reuse *address_records,
                                          struct pm_touch_sequence *sequence,
                                          const uint32_t *found) {
    const struct pm_top_transition wanted = pm_record_transition(sequence, found);
    uint32_t i = find_transition(sequence, &wanted);
    struct pm_top_transition *transition;
    if (i < sequence->n_transitions) {
        transition = sequence->transitions[i];
    } else if (i < PM_TRANSITIONS) {
        transition = pm_record_take(address_records, sizeof *transition);
        if (!transition)
            return NULL;
        *transition = wanted;
        sequence->n_transitions++;
    } else { /* whoever expects the one it was will find that it does not hold */
        transition = sequence->transitions[--i];
        pm_record_flush_transition(address_records->reuse, sequence, transition);
        *transition = wanted;
    }
    memmove(sequence->transitions + 1, sequence->transitions, i * sizeof *sequence->transitions);
    return sequence->transitions[0] = transition;
}
