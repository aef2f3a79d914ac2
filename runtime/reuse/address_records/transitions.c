/* Transitions of the front (record_state.h): remembered for the executions of a sequence, and
   turned into counts. */
#include <string.h>

#include "runtime/reuse/address_records/record_state.h"

/* The front while an execution is followed: places that its blocks had before it, and behind them
   PM_REUSE_FRONT + m for the m-th block once it was touched. */
struct symbolic_front {
    uint8_t at[PM_REUSE_FRONT];
};

static struct symbolic_front begin_front(void) {
    struct symbolic_front front;
    for (uint8_t place = 0; place < PM_REUSE_FRONT; place++)
        front.at[place] = place;
    return front;
}

/* The distance of the first touch of the M-th block; PM_REUSE_FRONT: it is far, and what stood last
   is pushed out. */
static unsigned touch_symbolic(struct symbolic_front *front,
                               const struct pm_front_transition *transition, uint32_t m) {
    unsigned distance = PM_REUSE_FRONT;
    if (transition->present >> m & 1)
        for (distance = 0; distance < PM_REUSE_FRONT; distance++)
            if (front->at[distance] == transition->place[m])
                break;
    memmove(front->at + 1, front->at, distance < PM_REUSE_FRONT ? distance : PM_REUSE_FRONT - 1);
    front->at[0] = (uint8_t)(PM_REUSE_FRONT + m);
    return distance;
}

/* Distances of first touches that were where the transition says. */
void pm_bundle_flush_transition(struct pm_reuse *reuse, struct pm_touch_sequence *sequence,
                                struct pm_front_transition *transition) {
    for (uint32_t m = 0; m < sequence->n_blocks && transition->n; m++)
        if (transition->distance[m] < PM_REUSE_FRONT)
            reuse->histograms[sequence->group[m]]
                .front[sequence->kind[m]][transition->distance[m]] += transition->n;
    sequence->n_single += transition->n;
    transition->n = 0;
}

/* A transition of blocks that were FOUND there. */
struct pm_front_transition pm_bundle_transition(struct pm_touch_sequence *sequence,
                                                const uint32_t *found) {
    struct pm_front_transition transition = {.sequence = sequence};
    struct symbolic_front front = begin_front();
    for (uint32_t m = 0, n_far = 0; m < sequence->n_blocks; m++) {
        transition.present |= (uint32_t)(found[m] != 0) << m;
        transition.place[m] = found[m] ? (uint8_t)__builtin_ctz(found[m]) : 0;
        uint8_t last = front.at[PM_REUSE_FRONT - 1];
        transition.distance[m] = (uint8_t)touch_symbolic(&front, &transition, m);
        if (transition.distance[m] < PM_REUSE_FRONT)
            continue;
        transition.far |= 1u << m;
        transition.evicted[n_far++] = last;
    }
    for (uint32_t i = 0; i < PM_REUSE_FRONT; i++)
        transition.from[i] = front.at[i];
    for (uint32_t i = 0; i < sequence->n_blocks; i++)
        transition.from[i] = (uint8_t)(PM_REUSE_FRONT + sequence->order[i]);
    return transition;
}

/* The index of a transition like WANTED, or the number of those there are. */
static uint32_t find_transition(const struct pm_touch_sequence *sequence,
                                const struct pm_front_transition *wanted) {
    uint32_t i = 0;
    while (i < sequence->n_transitions &&
           (sequence->transitions[i]->present != wanted->present ||
            memcmp(sequence->transitions[i]->place, wanted->place, sizeof wanted->place) != 0))
        i++;
    return i;
}

struct pm_front_transition *pm_bundle_learn(struct pm_bundle_reuse *bundles,
                                            struct pm_touch_sequence *sequence,
                                            const uint32_t *found) {
    const struct pm_front_transition wanted = pm_bundle_transition(sequence, found);
    uint32_t i = find_transition(sequence, &wanted);
    struct pm_front_transition *transition;
    if (i < sequence->n_transitions) {
        transition = sequence->transitions[i];
    } else if (i < PM_TRANSITIONS) {
        transition = pm_bundle_take(bundles, sizeof *transition);
        if (!transition)
            return NULL;
        *transition = wanted;
        sequence->n_transitions++;
    } else { /* whoever expects the one it was will find that it does not hold */
        transition = sequence->transitions[--i];
        pm_bundle_flush_transition(bundles->reuse, sequence, transition);
        *transition = wanted;
    }
    memmove(sequence->transitions + 1, sequence->transitions, i * sizeof *sequence->transitions);
    return sequence->transitions[0] = transition;
}
