/* Sequences as nested loops; see sequence.h. */
#include "runtime/mpi_events/sequence.h"

#include <string.h>

#include "runtime/system.h"

/* So many earlier places, and so many loops before the tail, are tried. */
enum { TRIED_PLACES = 24, TRIED_LOOPS = 6, FIRST_ROOM = 1 << 10 };

static bool is_same(struct pm_sequence_node a, struct pm_sequence_node b) {
    return a.item == b.item && a.times == b.times;
}

static uint64_t mix(uint64_t hash, struct pm_sequence_node node) {
    hash = (hash ^ ((uint64_t)node.times << 32 | node.item)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool are_same(const struct pm_sequence_node *a, const struct pm_sequence_node *b,
                     uint32_t n) {
    while (n > 0 && is_same(a[n - 1], b[n - 1]))
        n--;
    return n == 0;
}

/* ---- room ------------------------------------------------------------------------------------ */

static bool grow_list(struct pm_sequence *s) {
    uint32_t room = s->room ? 2 * s->room : FIRST_ROOM;
    if (!s->seen && !(s->seen = pm_mmap(PM_SEQUENCE_SEEN * sizeof *s->seen)))
        return false;
    if (!s->loops && !(s->loops = pm_mmap(PM_SEQUENCE_LOOPS * sizeof *s->loops)))
        return false;
    if (room > PM_SEQUENCE_NODES ||
        !pm_mgrow(&s->list, s->room * sizeof *s->list, room * sizeof *s->list) ||
        !pm_mgrow(&s->before, s->room * sizeof *s->before, room * sizeof *s->before))
        return false;
    s->room = room;
    return true;
}

static bool grow_bodies(struct pm_sequence *s, uint32_t n) {
    uint32_t room = s->room_bodies ? s->room_bodies : FIRST_ROOM;
    while (room < s->n_bodies + n)
        room *= 2;
    if (room > PM_SEQUENCE_NODES)
        return false;
    if (room != s->room_bodies &&
        !pm_mgrow(&s->bodies, s->room_bodies * sizeof *s->bodies, room * sizeof *s->bodies))
        return false;
    s->room_bodies = room;
    if (s->n_starts + 2 <= s->room_starts)
        return true;
    room = s->room_starts ? 2 * s->room_starts : FIRST_ROOM;
    if (!pm_mgrow(&s->starts, s->room_starts * sizeof *s->starts, room * sizeof *s->starts))
        return false;
    s->room_starts = room;
    return true;
}

void pm_sequence_free(struct pm_sequence *s) {
    pm_munmap(s->list, s->room * sizeof *s->list);
    pm_munmap(s->before, s->room * sizeof *s->before);
    pm_munmap(s->seen, PM_SEQUENCE_SEEN * sizeof *s->seen);
    pm_munmap(s->loops, PM_SEQUENCE_LOOPS * sizeof *s->loops);
    pm_munmap(s->bodies, s->room_bodies * sizeof *s->bodies);
    pm_munmap(s->starts, s->room_starts * sizeof *s->starts);
    pm_munmap(s->by_hash, s->room_by_hash * sizeof *s->by_hash);
    *s = (struct pm_sequence){0};
}

/* ---- bodies, each of which is there once ----------------------------------------------------- */

static uint64_t hash_of(const struct pm_sequence_node *nodes, uint32_t n) {
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++)
        hash = mix(hash, nodes[i]);
    return hash;
}

static uint32_t body_length(const struct pm_sequence *s, uint32_t body) {
    return s->starts[body + 1] - s->starts[body];
}

static bool is_body(const struct pm_sequence *s, uint32_t body,
                    const struct pm_sequence_node *nodes, uint32_t n) {
    return body_length(s, body) == n && are_same(&s->bodies[s->starts[body]], nodes, n);
}

static void enter_body(struct pm_sequence *s, uint32_t body) {
    uint32_t mask = s->room_by_hash - 1;
    uint32_t at = (uint32_t)hash_of(&s->bodies[s->starts[body]], body_length(s, body)) & mask;
    while (s->by_hash[at])
        at = (at + 1) & mask;
    s->by_hash[at] = body + 1;
}

static bool grow_table(struct pm_sequence *s) {
    uint32_t room = s->room_by_hash ? 2 * s->room_by_hash : FIRST_ROOM;
    uint32_t *table = pm_mmap(room * sizeof *table);
    if (!table)
        return false;
    pm_munmap(s->by_hash, s->room_by_hash * sizeof *s->by_hash);
    s->by_hash = table;
    s->room_by_hash = room;
    for (uint32_t i = 0; i < s->n_starts; i++)
        enter_body(s, i);
    return true;
}

/* The body of these nodes; UINT32_MAX: there is no room. */
static uint32_t body_of(struct pm_sequence *s, const struct pm_sequence_node *nodes, uint32_t n) {
    if (2 * (s->n_starts + 1) > s->room_by_hash && !grow_table(s))
        return UINT32_MAX;
    uint32_t mask = s->room_by_hash - 1, at = (uint32_t)hash_of(nodes, n) & mask;
    for (; s->by_hash[at]; at = (at + 1) & mask)
        if (is_body(s, s->by_hash[at] - 1, nodes, n))
            return s->by_hash[at] - 1;
    if (!grow_bodies(s, n))
        return UINT32_MAX;
    memcpy(&s->bodies[s->n_bodies], nodes, n * sizeof *nodes);
    s->n_bodies += n;
    s->starts[s->n_starts + 1] = s->n_bodies;
    s->by_hash[at] = s->n_starts + 1;
    return s->n_starts++;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* The list is N nodes long, the last of which has become another one. */
static void shorten(struct pm_sequence *s, uint32_t n) {
    s->n_list = n;
    while (s->n_loops > 0 && s->loops[s->n_loops - 1] + 1 >= n)
        s->n_loops--;
    if (s->list[n - 1].times == 0)
        return;
    if (s->n_loops == PM_SEQUENCE_LOOPS) {
        memmove(s->loops, s->loops + PM_SEQUENCE_LOOPS / 2,
                PM_SEQUENCE_LOOPS / 2 * sizeof *s->loops);
        s->n_loops = PM_SEQUENCE_LOOPS / 2;
    }
    s->loops[s->n_loops++] = n - 1;
}

/* Where in `seen` the last place of the last node stands. */
static uint32_t *place_of_last(const struct pm_sequence *s) {
    return &s->seen[mix(0, s->list[s->n_list - 1]) & (PM_SEQUENCE_SEEN - 1)];
}

/* The place from AT on, + 1, that is before the last node; 0: none.  Of places that were given up
   when the list became shorter `before` leads on all the same: whether the node that stands there
   is the right one, those who look for it see. */
static uint32_t place_before_last(const struct pm_sequence *s, uint32_t at) {
    for (unsigned i = 0; at >= s->n_list; i++, at = s->before[at - 1])
        if (i == TRIED_PLACES)
            return 0;
    return at;
}

/* The last node is final, because another one comes behind it. */
static void remember_last(struct pm_sequence *s) {
    uint32_t *place = place_of_last(s);
    s->before[s->n_list - 1] = place_before_last(s, *place);
    *place = s->n_list;
}

/* A loop that the tail is one more round of. */
static bool extend_loop(struct pm_sequence *s) {
    const struct pm_sequence_node *end = &s->list[s->n_list];
    for (uint32_t i = s->n_loops; i-- > 0 && s->n_loops - i <= TRIED_LOOPS;) {
        struct pm_sequence_node *loop = &s->list[s->loops[i]];
        uint32_t n = (uint32_t)(end - loop) - 1;
        if (n == 0 || loop->times == UINT32_MAX || !is_body(s, loop->item, loop + 1, n))
            continue;
        loop->times++;
        shorten(s, s->loops[i] + 1);
        return true;
    }
    return false;
}

/* Two loops over the same become one. */
static bool join_loops(struct pm_sequence *s) {
    struct pm_sequence_node *last = &s->list[s->n_list - 1];
    uint32_t times;
    if (s->n_list < 2 || last->times == 0 || last[-1].times == 0 || last->item != last[-1].item ||
        __builtin_add_overflow(last->times, last[-1].times, &times))
        return false;
    last[-1].times = times;
    shorten(s, s->n_list - 1);
    return true;
}

/* The tail stands there twice. */
static bool make_loop(struct pm_sequence *s) {
    uint32_t last = s->n_list - 1, at = place_before_last(s, *place_of_last(s));
    for (unsigned i = 0; i < TRIED_PLACES && at > 0; i++, at = s->before[at - 1]) {
        uint32_t n = last - (at - 1);
        if (n > PM_SEQUENCE_WINDOW || 2 * n > s->n_list)
            return false;
        struct pm_sequence_node *first = &s->list[s->n_list - 2 * n];
        if (!is_same(s->list[at - 1], s->list[last]) || !are_same(first, first + n, n))
            continue;
        uint32_t body = body_of(s, first, n);
        if (body == UINT32_MAX)
            return false;
        *first = (struct pm_sequence_node){body, 2};
        shorten(s, s->n_list - 2 * n + 1);
        return true;
    }
    return false;
}

bool pm_sequence_add(struct pm_sequence *s, uint32_t number) {
    if (s->n_list == s->room && !grow_list(s))
        return false;
    if (s->n_list > 0)
        remember_last(s);
    s->list[s->n_list++] = (struct pm_sequence_node){number, 0};
    s->n++;
    while (extend_loop(s) || join_loops(s) || make_loop(s))
        ;
    return true;
}
