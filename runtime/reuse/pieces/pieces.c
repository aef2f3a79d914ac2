/* Pieces of a trace: what they leave open, and how it is resolved; see pieces.h. */
#include "runtime/reuse/pieces/pieces.h"

#include <string.h>

#include "runtime/reuse/analysis.h"
#include "runtime/reuse/bundles/bundles.h"
#include "runtime/reuse/shadow.h"
#include "runtime/reuse/stamps.h"
#include "runtime/system.h"

/* A block's first touch in the piece. */
struct touch {
    uint64_t block;
    uint64_t slot; /* of the block: in the piece's table, and while it is resolved in the whole's */
    uint32_t group, kind;
};

struct pm_piece {
    struct touch *touches; /* in their order */
    uint32_t *order; /* ordinals of these, by the blocks' last touches; the last one is last */
    uint32_t n, room;
};

enum { FIRST_ROOM = 1 << 14, AHEAD = 16 };
#define MOST_TOUCHES (1u << 30)

/* ---- the touches of a piece ------------------------------------------------------------------ */

static bool make_room(struct pm_piece *piece) {
    uint32_t room = piece->room ? 2 * piece->room : FIRST_ROOM;
    if (piece->room >= MOST_TOUCHES ||
        !pm_mgrow(&piece->touches, piece->room * sizeof *piece->touches,
                  room * sizeof *piece->touches) ||
        !pm_mgrow(&piece->order, piece->room * sizeof *piece->order, room * sizeof *piece->order))
        return false;
    piece->room = room;
    return true;
}

void pm_piece_touched(struct pm_reuse *reuse, uint64_t block, uint64_t slot) {
    struct pm_piece *piece = reuse->piece;
    if (PM_UNLIKELY(piece->n == piece->room) && !make_room(piece))
        reuse->failed = true;
    else
        piece->touches[piece->n++] = (struct touch){.block = block, .slot = slot};
}

void pm_piece_touched_by(struct pm_reuse *reuse, uint32_t group, unsigned kind) {
    struct touch *touch = &reuse->piece->touches[reuse->piece->n - 1];
    if (PM_UNLIKELY(reuse->failed))
        return;
    touch->group = group;
    touch->kind = kind;
}

bool pm_piece_make_analysis(struct pm_reuse *reuse) {
    reuse->piece = pm_mmap(sizeof *reuse->piece);
    reuse->options.max_blocks = 0; /* the bound stays */
    return reuse->piece && make_room(reuse->piece);
}

void pm_piece_free(struct pm_reuse *reuse) {
    struct pm_piece *piece = reuse->piece;
    if (!piece)
        return;
    pm_munmap(piece->touches, piece->room * sizeof *piece->touches);
    pm_munmap(piece->order, piece->room * sizeof *piece->order);
    pm_munmap(piece, sizeof *piece);
    reuse->piece = NULL;
}

/* ---- its end --------------------------------------------------------------------------------- */

static unsigned place_in_front(const struct pm_reuse *reuse, uint64_t block) {
    unsigned place = 0;
    while (place < PM_REUSE_FRONT - 1 && reuse->front[place] != block)
        place++;
    return place;
}

void pm_piece_end(struct pm_reuse *reuse, struct pm_bundle_reuse *bundles) {
    struct pm_piece *piece = reuse->piece;
    if (reuse->failed)
        return;
    pm_stamps_rank_words(&reuse->stamps);
    /* Behind those with a stamp are those of the front.  Slots are left as if never touched, so
       that the next piece need not make their pages again. */
    for (uint32_t i = 0; i < piece->n; i++) {
        uint32_t *slot = &reuse->slots[piece->touches[i].slot], stamp = *slot, place;
        if (stamp >= PM_FIRST_STAMP && pm_stamp_in_use(&reuse->stamps, stamp))
            place = pm_stamp_rank(&reuse->stamps, stamp);
        else
            place = piece->n - 1 - place_in_front(reuse, piece->touches[i].block);
        piece->order[place] = i;
        *slot = PM_SLOT_NEVER;
    }
    memset(reuse->front, 0xff, sizeof reuse->front);
    pm_stamps_begin(&reuse->stamps, reuse->stamps.capacity, 0);
    if (bundles)
        pm_bundle_reuse_interrupt(bundles);
}

/* ---- resolving ------------------------------------------------------------------------------- */

/* Room for N stamps more. */
static void make_stamps(struct pm_reuse *whole, uint32_t n) {
    enum { SHARE = 8 }; /* of the stamps, so that they are not numbered anew for each piece */
    if (whole->stamps.next + (uint64_t)n < whole->stamps.capacity && !pm_reuse_has_too_many(whole))
        return;
    if (whole->least_capacity < (uint64_t)SHARE * n)
        whole->least_capacity = (uint64_t)SHARE * n;
    pm_reuse_compact(whole);
    if (whole->stamps.next + (uint64_t)n >= whole->stamps.capacity)
        whole->failed = true;
}

/* The blocks of the front get stamps, the most recent one the last. */
static void empty_front(struct pm_reuse *whole) {
    for (unsigned place = PM_REUSE_FRONT; place-- > 0;) {
        if (whole->front[place] == PM_NO_BLOCK)
            continue;
        *pm_reuse_slot(whole, whole->front[place]) = whole->stamps.next;
        pm_stamp_give_out(&whole->stamps);
    }
}

/* The slot that the whole has for a block, or will have; a page that is not there is made when it
   is needed. */
static void look_ahead(const struct pm_reuse *whole, struct touch *touch) {
    touch->slot = pm_reuse_slot_number(whole, touch->block);
    __builtin_prefetch(&whole->slots[touch->slot], 1);
}

static void look_half_ahead(const struct pm_reuse *whole, const struct touch *touch) {
    uint32_t stamp = whole->slots[touch->slot];
    __builtin_prefetch(&whole->stamps.bits[stamp >> 6], 1);
}

/* The distance of the touch with ordinal I, whose block has no stamp from now on. */
static uint64_t resolve(struct pm_reuse *whole, struct touch *touch, uint32_t i) {
    uint32_t stamp = whole->slots[touch->slot];
    if (PM_LIKELY(stamp >= PM_FIRST_STAMP)) {
        uint64_t distance = (uint64_t)pm_stamp_take_back(&whole->stamps, stamp) + i;
        return distance < whole->bound ? distance : PM_BEYOND;
    }
    uint32_t *slot = pm_reuse_new_slot(whole, touch->block);
    if (!slot) {
        whole->failed = true;
        return PM_COLD;
    }
    touch->slot = (uint64_t)(slot - whole->slots);
    if (*slot == PM_SLOT_FORGOTTEN)
        return PM_BEYOND;
    whole->n_blocks++;
    return PM_COLD;
}

static void resolve_touches(struct pm_reuse *whole, struct pm_piece *piece) {
    struct touch *touches = piece->touches;
    for (uint32_t i = 0; i < piece->n && i < AHEAD; i++)
        look_ahead(whole, &touches[i]);
    for (uint32_t i = 0; i < piece->n && !whole->failed; i++) {
        if (i + AHEAD < piece->n)
            look_ahead(whole, &touches[i + AHEAD]);
        if (i + AHEAD / 2 < piece->n)
            look_half_ahead(whole, &touches[i + AHEAD / 2]);
        uint64_t distance = resolve(whole, &touches[i], i);
        if (!pm_touch_histogram_count(&whole->histograms[touches[i].group], &whole->arena,
                                      touches[i].kind, distance))
            whole->failed = true;
    }
}

/* The most recent blocks are in the front: the last of the piece and, where they are fewer than it
   holds, those of the front before that the piece did not touch.  The others of the piece get
   stamps. */
static void fill_front(struct pm_reuse *whole, const struct pm_piece *piece) {
    uint64_t front[PM_REUSE_FRONT];
    unsigned place = 0;
    for (; place < PM_REUSE_FRONT && place < piece->n; place++) {
        const struct touch *touch = &piece->touches[piece->order[piece->n - 1 - place]];
        front[place] = touch->block;
        whole->slots[touch->slot] = PM_SLOT_FRONT;
    }
    for (unsigned i = 0; i < PM_REUSE_FRONT && place < PM_REUSE_FRONT; i++) {
        uint32_t *slot = pm_reuse_slot(whole, whole->front[i]), stamp = *slot;
        if (stamp < PM_FIRST_STAMP || !pm_stamp_in_use(&whole->stamps, stamp))
            continue;
        pm_stamp_take_back(&whole->stamps, stamp);
        *slot = PM_SLOT_FRONT;
        front[place++] = whole->front[i];
    }
    for (; place < PM_REUSE_FRONT; place++)
        front[place] = PM_NO_BLOCK;
    memcpy(whole->front, front, sizeof front);
}

static void give_out_stamps(struct pm_reuse *whole, const struct pm_piece *piece) {
    for (uint32_t i = 0; i + PM_REUSE_FRONT < piece->n; i++) {
        if (i + AHEAD < piece->n)
            __builtin_prefetch(&piece->touches[piece->order[i + AHEAD]]);
        whole->slots[piece->touches[piece->order[i]].slot] = whole->stamps.next;
        pm_stamp_give_out(&whole->stamps);
    }
}

void pm_piece_resolve(struct pm_reuse *whole, struct pm_bundle_reuse *bundles,
                      struct pm_reuse *reuse) {
    struct pm_piece *piece = reuse->piece;
    if (reuse->failed || !pm_reuse_make_histograms(whole, reuse->n_groups))
        whole->failed = true;
    if (whole->failed || piece->n == 0)
        return;
    if (bundles)
        pm_bundle_reuse_interrupt(bundles);
    make_stamps(whole, PM_REUSE_FRONT + piece->n);
    if (whole->failed)
        return;
    empty_front(whole);
    resolve_touches(whole, piece);
    if (!whole->failed) {
        fill_front(whole, piece);
        give_out_stamps(whole, piece);
    }
    piece->n = 0;
}

/* ---- counts ---------------------------------------------------------------------------------- */

void pm_piece_move_counts(struct pm_reuse *whole, struct pm_reuse *reuse) {
    if (whole->failed || !pm_reuse_make_histograms(whole, reuse->n_groups)) {
        whole->failed = true;
        return;
    }
    for (uint32_t group = 0; group < reuse->n_groups; group++) {
        if (!pm_touch_histogram_sum(&whole->histograms[group], &reuse->histograms[group],
                                    &whole->arena))
            whole->failed = true;
        pm_touch_histogram_clear(&reuse->histograms[group]);
    }
}
