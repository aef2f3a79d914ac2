/* A stack of blocks that is searched from its top: the definition of the reuse distance, which
   tests compare with; and numbers that look random.  After cmocka.h. */
#ifndef PM_TESTS_LRU_STACK_H
#define PM_TESTS_LRU_STACK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct stack {
    uint64_t *blocks; /* most recent last */
    size_t used, room;
};

enum { COLD = -1 };

static inline int64_t stack_touch(struct stack *stack, uint64_t block) {
    int64_t distance = COLD;
    size_t place = stack->used;
    while (place > 0 && stack->blocks[place - 1] != block)
        place--;
    if (place > 0) {
        distance = (int64_t)(stack->used - place);
        memmove(stack->blocks + place - 1, stack->blocks + place,
                (stack->used - place) * sizeof *stack->blocks);
        stack->blocks[stack->used - 1] = block;
        return distance;
    }
    if (stack->used == stack->room) {
        stack->room = stack->room ? 2 * stack->room : 1024;
        stack->blocks = realloc(stack->blocks, stack->room * sizeof *stack->blocks);
        assert_non_null(stack->blocks);
    }
    stack->blocks[stack->used++] = block;
    return distance;
}

static uint64_t random_state;

static uint64_t random_number(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint64_t)(((unsigned __int128)(random_state ^ random_state >> 29) * below) >> 64);
}

#endif
