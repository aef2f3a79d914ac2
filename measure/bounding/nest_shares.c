/* Times of basic blocks, from timers that stand on larger scopes: what a timer says is shared out
   by instructions among the blocks whose time went there.  Of a routine without a timer that is
   where it was called, so often from here, so often from there. */
#include "measure/bounding/nest_shares.h"

#include <math.h>
#include <stdlib.h>

#include "core/profile.h"

/* A recursion's share comes back to itself; after so many rounds less than a thousandth of it is
   left. */
enum { ROUNDS = 40 };

struct shares {
    const struct pm_structure *structure;
    const struct pm_times *times;
    uint32_t *owners; /* per scope */
    double *executed; /* per basic block */
    double *calls;    /* per routine: from blocks that are known */
    double *callers; /* n_routines times n_timers: which share of a routine's calls comes from where
                        that timer runs */
    double *in_loops; /* per routine: which share of its calls comes from loops */
    size_t n_timers;
};

/* The timer of SCOPE; n_timers: none. */
static size_t timer_of(const struct shares *s, uint32_t scope) {
    uint32_t owner = s->owners[scope];
    size_t i = owner == PM_NONE ? s->n_timers
                                : PM_LOWER_BOUND(s->n_timers, k, s->times->scopes[k].scope < owner);
    return i;
}

static double *row_of(double *rows, const struct shares *s, uint32_t routine) {
    return rows + (size_t)routine * s->n_timers;
}

static void count_calls(struct shares *s) {
    for (size_t i = 0; i < s->structure->n_calls; i++)
        s->calls[s->structure->calls[i].routine] += s->executed[s->structure->calls[i].block];
}

/* One round: each call hands on what is known of the routine that it stands in. */
static void hand_on(struct shares *s) {
    const struct pm_structure *structure = s->structure;
    size_t n = structure->n_routines;
    double *callers = pm_alloc(n * s->n_timers + 1, sizeof *callers);
    double *in_loops = pm_alloc(n + 1, sizeof *in_loops);
    for (size_t i = 0; i < structure->n_calls; i++) {
        const struct pm_block *block = &structure->blocks[structure->calls[i].block];
        uint32_t to = structure->calls[i].routine;
        if (!(s->calls[to] > 0))
            continue;
        double share = s->executed[structure->calls[i].block] / s->calls[to];
        size_t timer = timer_of(s, block->scope);
        in_loops[to] += share * (block->loop != PM_NONE ? 1 : s->in_loops[block->routine]);
        if (timer < s->n_timers)
            row_of(callers, s, to)[timer] += share;
        else
            for (size_t t = 0; t < s->n_timers; t++)
                row_of(callers, s, to)[t] += share * row_of(s->callers, s, block->routine)[t];
    }
    free(s->callers);
    free(s->in_loops);
    s->callers = callers;
    s->in_loops = in_loops;
}

/* What block B has of a timer, in instructions. */
static double share_of(const struct shares *s, uint32_t b, size_t timer) {
    const struct pm_block *block = &s->structure->blocks[b];
    double instructions = s->executed[b] * block->n_instructions;
    size_t own = timer_of(s, block->scope);
    if (own < s->n_timers)
        return own == timer ? instructions : 0;
    return instructions * row_of(s->callers, s, block->routine)[timer];
}

static double *seconds_of_blocks(const struct shares *s) {
    size_t n = s->structure->n_blocks;
    double *seconds = pm_alloc(n + 1, sizeof *seconds);
    for (size_t t = 0; t < s->n_timers; t++) {
        double all = 0, timed = fmax(s->times->scopes[t].seconds, 0);
        for (uint32_t b = 0; b < n; b++)
            all += share_of(s, b, t);
        for (uint32_t b = 0; b < n && all > 0; b++)
            seconds[b] += timed * share_of(s, b, t) / all;
    }
    return seconds;
}

struct pm_shared_times pm_share_times(const struct pm_structure *structure,
                                      const double *edge_counts, const struct pm_times *times) {
    size_t n = structure->n_routines;
    struct shares s = {.structure = structure,
                       .times = times,
                       .owners = pm_times_owners(times, structure),
                       .executed = pm_block_executions(structure, edge_counts),
                       .calls = pm_alloc(n + 1, sizeof *s.calls),
                       .callers = pm_alloc(n * times->n_scopes + 1, sizeof *s.callers),
                       .in_loops = pm_alloc(n + 1, sizeof *s.in_loops),
                       .n_timers = times->n_scopes};
    count_calls(&s);
    for (unsigned round = 0; round < ROUNDS; round++)
        hand_on(&s);
    struct pm_shared_times shared = {.block_seconds = seconds_of_blocks(&s)};
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        const struct pm_block *block = &structure->blocks[b];
        shared.loop_seconds +=
            shared.block_seconds[b] * (block->loop != PM_NONE ? 1 : s.in_loops[block->routine]);
    }
    shared.owners = s.owners;
    free(s.executed);
    free(s.calls);
    free(s.callers);
    free(s.in_loops);
    return shared;
}

void pm_shared_times_free(struct pm_shared_times *shared) {
    free(shared->block_seconds);
    free(shared->owners);
}
