/* One attempt at a modulo schedule of a given interval (Rau 1994, section 3).

   Operations are placed by height: the longest way from them to the end, of which iterations that
   are crossed take the interval off.  Each goes to the first cycle, within one interval from when
   its operands are there, in which a unit is free; where there is none it goes there all the same,
   and what stands in its way is taken out and waits to be placed again.  Attempts end when the
   budget of placements is used up; then priorities are shaken, and it begins anew.

   Beyond Rau: operations that are in a cycle already move to other units of theirs if that makes
   room (an augmenting path), so that no choice of units has to be guessed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/modulo/private.h"

enum {
    SMALL = 96,  /* operations; larger loops are not looked at so thoroughly: */
    BUDGET = 12, /* placements for each operation */
    LARGE_BUDGET = 3,
    ATTEMPTS = 10, /* with priorities shaken; of large loops one */
    NOBODY = -1,
    NEVER = -1,
};

struct attempt {
    const struct pm_modulo_problem *problem;
    uint32_t interval;
    int64_t *at;      /* cycle of each operation; NEVER */
    int64_t *last_at; /* where it was before */
    int8_t *unit;     /* that it has */
    double *height;
    double *room;          /* [interval][64]: of each unit in each cycle, 1 free */
    int32_t *holder;       /* [interval][64]: who has all of it alone; NOBODY */
    double *slots;         /* [interval] taken */
    unsigned pressure[64]; /* operations that may take each unit */
};

static size_t cell(const struct attempt *a, int64_t cycle, unsigned unit) {
    return (size_t)(cycle % a->interval) * 64 + unit;
}

static bool is_single(const struct pm_modulo_op *op) { return op->busy_cycles == 1; }

/* ---- room ------------------------------------------------------------------------------------ */

static bool has_room(const struct attempt *a, const struct pm_modulo_op *op, int64_t cycle,
                     unsigned unit) {
    double left = op->busy_cycles;
    if (left > a->interval + 1e-9)
        return false;
    for (int64_t c = cycle + (int64_t)op->start_cycle; left > 1e-9; c++, left -= 1)
        if (a->room[cell(a, c, unit)] < fmin(1, left) - 1e-9)
            return false;
    return true;
}

static void take(struct attempt *a, uint32_t i, int64_t cycle, unsigned unit, double sign) {
    const struct pm_modulo_op *op = &a->problem->ops[i];
    double left = op->busy_cycles;
    for (int64_t c = cycle + (int64_t)op->start_cycle; left > 1e-9; c++, left -= 1)
        a->room[cell(a, c, unit)] -= sign * fmin(1, left);
    if (is_single(op))
        a->holder[cell(a, cycle + (int64_t)op->start_cycle, unit)] = sign > 0 ? (int32_t)i : NOBODY;
    a->unit[i] = sign > 0 ? (int8_t)unit : NOBODY;
}

/* The free unit that fewest others ask for; NOBODY. */
static int free_unit(const struct attempt *a, const struct pm_modulo_op *op, int64_t cycle) {
    int best = NOBODY;
    for (uint64_t left = op->units; left; left &= left - 1) {
        unsigned u = (unsigned)__builtin_ctzll(left);
        if (has_room(a, op, cycle, u) && (best < 0 || a->pressure[u] < a->pressure[best]))
            best = (int)u;
    }
    return best;
}

/* A unit of OP's at CYCLE that becomes free if single-cycle operations there move; NOBODY. */
static int make_room(struct attempt *a, const struct pm_modulo_op *op, int64_t cycle,
                     uint64_t *passed) {
    int unit = free_unit(a, op, cycle);
    if (unit >= 0 || !is_single(op))
        return unit;
    int64_t c = cycle + (int64_t)op->start_cycle;
    for (uint64_t left = op->units & ~*passed; left; left &= left - 1) {
        unsigned u = (unsigned)__builtin_ctzll(left);
        int32_t other = a->holder[cell(a, c, u)];
        *passed |= UINT64_C(1) << u;
        if (other == NOBODY)
            continue;
        int to = make_room(a, &a->problem->ops[other], a->at[other], passed);
        if (to < 0)
            continue;
        take(a, (uint32_t)other, a->at[other], u, -1);
        take(a, (uint32_t)other, a->at[other], (unsigned)to, 1);
        return (int)u;
    }
    return NOBODY;
}

static bool has_slots(const struct attempt *a, const struct pm_modulo_op *op, int64_t cycle) {
    double width = a->problem->width;
    return width <= 0 || op->slots <= 0 ||
           a->slots[cycle % a->interval] + fmin(op->slots, width) <= width + 1e-9;
}

/* ---- placing --------------------------------------------------------------------------------- */

static void remove_op(struct attempt *a, uint32_t i) {
    const struct pm_modulo_op *op = &a->problem->ops[i];
    if (op->units)
        take(a, i, a->at[i], (unsigned)a->unit[i], -1);
    if (a->problem->width > 0)
        a->slots[a->at[i] % a->interval] -= fmin(op->slots, a->problem->width);
    a->at[i] = NEVER;
}

static void put(struct attempt *a, uint32_t i, int64_t cycle, int unit) {
    const struct pm_modulo_op *op = &a->problem->ops[i];
    a->at[i] = a->last_at[i] = cycle;
    if (op->units)
        take(a, i, cycle, (unsigned)unit, 1);
    if (a->problem->width > 0)
        a->slots[cycle % a->interval] += fmin(op->slots, a->problem->width);
}

static int64_t earliest(const struct attempt *a, const struct pm_modulo_op *op) {
    int64_t cycle = 0;
    for (uint32_t k = 0; k < op->n_in; k++) {
        const struct pm_modulo_edge *edge = &a->problem->edges[a->problem->in[op->first_in + k]];
        if (a->at[edge->from] == NEVER)
            continue;
        int64_t ready = a->at[edge->from] + edge->cycles - (int64_t)a->interval * edge->distance;
        cycle = ready > cycle ? ready : cycle;
    }
    return cycle;
}

/* Whoever has a part of what OP would take of UNIT. */
static void clear_unit(struct attempt *a, const struct pm_modulo_op *op, int64_t cycle,
                       unsigned unit) {
    for (uint32_t i = 0; i < a->problem->n_ops && !has_room(a, op, cycle, unit); i++)
        if (a->at[i] != NEVER && a->problem->ops[i].units && a->unit[i] == (int8_t)unit) {
            int64_t at = a->at[i];
            remove_op(a, i);
            if (has_room(a, op, cycle, unit))
                return;
            /* Was it in the way at all? */
            double left = op->busy_cycles;
            bool meets = false;
            for (int64_t c = cycle + (int64_t)op->start_cycle; left > 1e-9; c++, left -= 1) {
                double other = a->problem->ops[i].busy_cycles;
                for (int64_t d = at + (int64_t)a->problem->ops[i].start_cycle; other > 1e-9;
                     d++, other -= 1)
                    meets |= (c - d) % a->interval == 0;
            }
            if (!meets)
                put(a, i, at, (int)unit);
        }
}

static void clear_slots(struct attempt *a, const struct pm_modulo_op *op, int64_t cycle) {
    for (uint32_t i = 0; i < a->problem->n_ops && !has_slots(a, op, cycle); i++)
        if (a->at[i] != NEVER && a->problem->ops[i].slots > 0 &&
            (a->at[i] - cycle) % a->interval == 0)
            remove_op(a, i);
}

/* Those whose dependences on the operation placed at I do not hold any more. */
static void remove_violated(struct attempt *a, uint32_t i) {
    const struct pm_modulo_op *op = &a->problem->ops[i];
    for (uint32_t k = 0; k < op->n_out; k++) {
        const struct pm_modulo_edge *edge = &a->problem->edges[a->problem->out[op->first_out + k]];
        if (edge->to != i && a->at[edge->to] != NEVER &&
            a->at[edge->to] < a->at[i] + edge->cycles - (int64_t)a->interval * edge->distance)
            remove_op(a, edge->to);
    }
}

static bool place(struct attempt *a, uint32_t i) {
    const struct pm_modulo_op *op = &a->problem->ops[i];
    int64_t from = earliest(a, op);
    for (int64_t cycle = from; cycle < from + a->interval; cycle++) {
        uint64_t passed = 0;
        if (!has_slots(a, op, cycle))
            continue;
        int unit = op->units ? make_room(a, op, cycle, &passed) : 0;
        if (unit >= 0) {
            put(a, i, cycle, unit);
            remove_violated(a, i);
            return true;
        }
    }
    int64_t cycle = a->last_at[i] == NEVER || from > a->last_at[i] ? from : a->last_at[i] + 1;
    unsigned unit = op->units ? (unsigned)__builtin_ctzll(op->units) : 0;
    for (uint64_t left = op->units; left; left &= left - 1)
        if (a->pressure[__builtin_ctzll(left)] < a->pressure[unit])
            unit = (unsigned)__builtin_ctzll(left);
    clear_slots(a, op, cycle);
    if (op->units) {
        clear_unit(a, op, cycle, unit);
        if (!has_room(a, op, cycle, unit))
            return false; /* busy for longer than the interval */
    }
    put(a, i, cycle, (int)unit);
    remove_violated(a, i);
    return true;
}

/* ---- attempts -------------------------------------------------------------------------------- */

static void find_heights(struct attempt *a) {
    const struct pm_modulo_problem *problem = a->problem;
    for (size_t i = 0; i < problem->n_ops; i++)
        a->height[i] = 0;
    bool grows = true;
    for (size_t round = 0; round <= problem->n_ops && grows; round++) {
        grows = false;
        for (size_t i = problem->n_ops; i-- > 0;)
            for (uint32_t k = 0; k < problem->ops[i].n_out; k++) {
                const struct pm_modulo_edge *edge =
                    &problem->edges[problem->out[problem->ops[i].first_out + k]];
                double height =
                    a->height[edge->to] + edge->cycles - (double)a->interval * edge->distance;
                if (height > a->height[i] + 1e-9) {
                    a->height[i] = height;
                    grows = true;
                }
            }
    }
}

/* Numbers that are the same in every run. */
static double shake(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24);
}

static void begin_anew(struct attempt *a) {
    size_t n_cells = (size_t)a->interval * 64;
    for (size_t i = 0; i < a->problem->n_ops; i++)
        a->at[i] = a->last_at[i] = NEVER;
    for (size_t c = 0; c < n_cells; c++) {
        a->room[c] = 1;
        a->holder[c] = NOBODY;
    }
    memset(a->slots, 0, a->interval * sizeof *a->slots);
}

/* The highest that has no place; PM_NONE: all have one. */
static uint32_t next_op(const struct attempt *a) {
    uint32_t best = PM_NONE;
    for (uint32_t i = 0; i < a->problem->n_ops; i++)
        if (a->at[i] == NEVER && (best == PM_NONE || a->height[i] > a->height[best]))
            best = i;
    return best;
}

static bool attempt_once(struct attempt *a) {
    begin_anew(a);
    size_t n = a->problem->n_ops;
    for (size_t left = (n > SMALL ? LARGE_BUDGET : BUDGET) * n + 1; left > 0; left--) {
        uint32_t i = next_op(a);
        if (i == PM_NONE)
            return true;
        if (!place(a, i))
            return false;
    }
    return false;
}

bool pm_modulo_try(const struct pm_modulo_problem *problem, uint32_t interval, uint32_t *cycle,
                   int8_t *unit) {
    size_t n = problem->n_ops, n_cells = (size_t)interval * 64;
    struct attempt a = {.problem = problem,
                        .interval = interval,
                        .at = pm_alloc(n, sizeof *a.at),
                        .last_at = pm_alloc(n, sizeof *a.last_at),
                        .unit = unit,
                        .height = pm_alloc(n, sizeof *a.height),
                        .room = pm_alloc(n_cells, sizeof *a.room),
                        .holder = pm_alloc(n_cells, sizeof *a.holder),
                        .slots = pm_alloc(interval, sizeof *a.slots)};
    uint32_t state = 1;
    memset(unit, NOBODY, n);
    unsigned attempts = n > SMALL ? 1 : ATTEMPTS;
    bool found = false;
    for (size_t i = 0; i < n; i++)
        for (uint64_t left = problem->ops[i].units; left; left &= left - 1)
            a.pressure[__builtin_ctzll(left)]++;
    for (unsigned attempt = 0; attempt < attempts && !found; attempt++) {
        find_heights(&a);
        for (size_t i = 0; i < n && attempt; i++)
            a.height[i] += shake(&state) * attempt * interval / 4;
        found = attempt_once(&a);
    }
    for (size_t i = 0; i < n; i++)
        cycle[i] = found ? (uint32_t)a.at[i] : 0;
    free(a.at);
    free(a.last_at);
    free(a.height);
    free(a.room);
    free(a.holder);
    free(a.slots);
    return found;
}
