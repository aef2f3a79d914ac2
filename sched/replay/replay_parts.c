/* Collectives of a part of the ranks, for which SimGrid's replay has no word, as messages: up and
   down a binomial tree, whose root is that of the operation or the first member.

       reductions, gatherings     up the tree
       broadcasts, scatterings    down the tree
       all others                 up and down
       all to all, scans          to each in turn; from one to the next

   MPI libraries do short ones so.  Members of a gathering send what they have gathered. */
#include "sched/replay/private.h"

/* What one member does. */
struct member {
    struct pm_rank_actions *to;
    const struct pm_replay_part *part;
    const struct pm_action *like;
    size_t place; /* from the root of the tree */
};

static int32_t rank_at(const struct member *m, size_t place) {
    return m->part->members[(place + m->part->root) % m->part->n];
}

static void add_message(const struct member *m, enum pm_action_kind kind, size_t place,
                        uint64_t bytes) {
    *PM_PUSH(m->to, actions) = (struct pm_action){.kind = (uint8_t)kind,
                                                  .label = m->like->label,
                                                  .partner = rank_at(m, place),
                                                  .tag = m->part->tag,
                                                  .bytes = bytes};
}

/* Members below and at PLACE, of a tree whose branch there is MASK wide. */
static uint64_t below(const struct member *m, size_t place, size_t mask) {
    size_t left = m->part->n - place;
    return mask < left ? mask : left;
}

static void go_up(const struct member *m, bool gathers) {
    for (size_t mask = 1; mask < m->part->n; mask <<= 1) {
        if (m->place & mask) {
            add_message(m, PM_ACTION_SEND, m->place - mask,
                        m->like->bytes * (gathers ? below(m, m->place, mask) : 1));
            return;
        }
        if (m->place + mask < m->part->n)
            add_message(m, PM_ACTION_RECV, m->place + mask,
                        m->like->bytes * (gathers ? below(m, m->place + mask, mask) : 1));
    }
}

static void go_down(const struct member *m, bool scatters, uint64_t bytes) {
    size_t mask = 1;
    for (; mask < m->part->n; mask <<= 1)
        if (m->place & mask) {
            add_message(m, PM_ACTION_RECV, m->place - mask,
                        bytes * (scatters ? below(m, m->place, mask) : 1));
            break;
        }
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (m->place + mask < m->part->n)
            add_message(m, PM_ACTION_SEND, m->place + mask,
                        bytes * (scatters ? below(m, m->place + mask, mask) : 1));
}

static void to_each(const struct member *m) {
    size_t n = m->part->n;
    for (size_t step = 1; step < n; step++) {
        size_t from = (m->place + n - step) % n;
        add_message(m, PM_ACTION_IRECV, from, m->like->bytes);
        add_message(m, PM_ACTION_SEND, (m->place + step) % n, m->like->bytes);
        add_message(m, PM_ACTION_WAIT, from, 0);
    }
}

static void to_the_next(const struct member *m) {
    if (m->place > 0)
        add_message(m, PM_ACTION_RECV, m->place - 1, m->like->bytes);
    if (m->place + 1 < m->part->n)
        add_message(m, PM_ACTION_SEND, m->place + 1, m->like->bytes);
}

void pm_add_part(struct pm_rank_actions *to, const struct pm_replay_part *part,
                 const struct pm_action *like) {
    const struct member m = {to, part, like, (part->mine + part->n - part->root) % part->n};
    switch ((enum pm_action_kind)like->kind) {
    case PM_ACTION_BCAST:
        go_down(&m, false, like->bytes);
        break;
    case PM_ACTION_SCATTER:
        go_down(&m, true, like->bytes);
        break;
    case PM_ACTION_REDUCE:
        go_up(&m, false);
        break;
    case PM_ACTION_GATHER:
        go_up(&m, true);
        break;
    case PM_ACTION_ALLGATHER:
        go_up(&m, true);
        go_down(&m, false, like->bytes * part->n);
        break;
    case PM_ACTION_ALLTOALL:
        to_each(&m);
        break;
    case PM_ACTION_SCAN:
    case PM_ACTION_EXSCAN:
        to_the_next(&m);
        break;
    default:
        go_up(&m, false);
        go_down(&m, false, like->bytes);
        break;
    }
}
