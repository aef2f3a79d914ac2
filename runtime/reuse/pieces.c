/* Pieces of a trace: what they leave open, and how it is resolved; see pieces.h. */
#include "runtime/reuse/pieces.h"

#include <string.h>

#include "runtime/reuse/reuse_state.h"
#include "runtime/reuse/address_records/address_records.h"
#include "runtime/reuse/larger_size.h"
#include "runtime/reuse/shadow.h"
#include "runtime/reuse/stamps.h"
#include "runtime/system.h"

/* A block's first touch in the piece. */
struct touch {
    uint64_t block;
    uint64_t slot; /* of the block: in the piece's table, and while it is resolved in the whole's */
    struct pm_toucher toucher;
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

void pm_piece_touched(struct pm_reuse *reuse, uint64_t block, uint64_t slot,
                      struct pm_toucher toucher) {
    struct pm_piece *piece = reuse->piece;
    if (PM_UNLIKELY(piece->n == piece->room) && !make_room(piece))
        reuse->failed = true;
    else
        piece->touches[piece->n++] = (struct touch){block, slot, toucher};
}

bool pm_piece_make_analysis(struct pm_reuse *reuse) {
    reuse->piece = pm_mmap(sizeof *reuse->piece);
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

/* ---- the stack top --------------------------------------------------------------------------- */

/* The distinct blocks, larger by 2^BY, of those in STACK_TOP, the most recent one first; how
   many. */
static unsigned recent_blocks(const uint64_t *stack_top, unsigned by, uint64_t *recent) {
    unsigned n = 0;
    for (unsigned i = 0; i < PM_STACK_TOP; i++) {
        unsigned place = 0;
        if (stack_top[i] == PM_NO_BLOCK)
            continue;
        while (place < n && recent[place] != stack_top[i] >> by)
            place++;
        recent[place] = stack_top[i] >> by;
        n += place == n;
    }
    return n;
}

static struct pm_larger *first_larger(const struct pm_reuse *base) {
    return base->far ? base->far->larger : NULL;
}

/* The larger size of BASE, a piece's analysis, that corresponds to LARGER; NULL: there was no
   memory for it. */
static struct pm_larger *same_size(const struct pm_reuse *base, const struct pm_larger *larger) {
    struct pm_larger *same = first_larger(base);
    while (same && same->by != larger->by)
        same = same->next;
    return same;
}

/* ---- its end --------------------------------------------------------------------------------- */

/* Behind blocks with a stamp are those of STACK_TOP, whose blocks are smaller by 2^BY.  Slots are
   left as if never touched, so that the next piece need not make their pages again. */
static void end_size(struct pm_reuse *reuse, const uint64_t *stack_top, unsigned by) {
    struct pm_piece *piece = reuse->piece;
    uint64_t recent[PM_STACK_TOP];
    unsigned n_recent = recent_blocks(stack_top, by, recent);
    pm_stamps_rank_words(&reuse->stamps);
    for (uint32_t i = 0; i < piece->n; i++) {
        uint32_t *slot = &reuse->slots[piece->touches[i].slot], stamp = *slot, place;
        if (stamp >= PM_FIRST_STAMP && pm_stamp_in_use(&reuse->stamps, stamp))
            piece->order[pm_stamp_rank(&reuse->stamps, stamp)] = i;
        else
            for (place = 0; place < n_recent; place++)
                if (recent[place] == piece->touches[i].block)
                    piece->order[piece->n - 1 - place] = i;
        *slot = PM_SLOT_NEVER;
    }
    pm_stamps_begin(&reuse->stamps, reuse->stamps.capacity, 0);
}

void pm_piece_end(struct pm_reuse *reuse, struct pm_record_reuse *address_records) {
    if (reuse->failed)
        return;
    if (reuse->far)
        pm_larger_take(reuse);
    for (struct pm_larger *larger = first_larger(reuse); larger; larger = larger->next)
        if (!larger->reuse->failed)
            end_size(larger->reuse, reuse->stack_top, larger->by);
    end_size(reuse, reuse->stack_top, 0);
    memset(reuse->stack_top, 0xff, sizeof reuse->stack_top);
    if (reuse->far)
        pm_larger_set_stack_tops(reuse);
    if (address_records)
        pm_record_reuse_interrupt(address_records);
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

/* The blocks of the stack top, larger by 2^BY, get stamps, the most recent one the last. */
static void stamp_stack_top(struct pm_reuse *whole, const uint64_t *stack_top, unsigned by) {
    uint64_t recent[PM_STACK_TOP];
    for (unsigned n = recent_blocks(stack_top, by, recent); n-- > 0;) {
        *pm_reuse_slot(whole, recent[n]) = whole->stamps.next;
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

static void resolve_touches(struct pm_reuse *whole, const struct pm_piece *piece) {
    struct touch *touches = piece->touches;
    for (uint32_t i = 0; i < piece->n && i < AHEAD; i++)
        look_ahead(whole, &touches[i]);
    for (uint32_t i = 0; i < piece->n && !whole->failed; i++) {
        if (i + AHEAD < piece->n)
            look_ahead(whole, &touches[i + AHEAD]);
        if (i + AHEAD / 2 < piece->n)
            look_half_ahead(whole, &touches[i + AHEAD / 2]);
        uint64_t distance = resolve(whole, &touches[i], i);
        if (distance < PM_STACK_TOP && whole->near_is_one_bin)
            continue;
        if (!pm_touch_histogram_count(&whole->histograms[touches[i].toucher.group], &whole->arena,
                                      touches[i].toucher.kind, distance))
            whole->failed = true;
    }
}

/* All blocks of the piece are on top of the others. */
static void stamp_piece(struct pm_reuse *whole, const struct pm_piece *piece) {
    for (uint32_t i = 0; i < piece->n; i++) {
        if (i + AHEAD < piece->n)
            __builtin_prefetch(&piece->touches[piece->order[i + AHEAD]]);
        whole->slots[piece->touches[piece->order[i]].slot] = whole->stamps.next;
        pm_stamp_give_out(&whole->stamps);
    }
}

/* One size, whose blocks are larger by 2^BY than those in the stack top.  Behind it the stack top's
   have stamps as well. */
static void resolve_size(struct pm_reuse *whole, struct pm_reuse *reuse, const uint64_t *stack_top,
                         unsigned by) {
    const struct pm_piece piece = *reuse->piece;
    reuse->piece->n = 0;
    if (reuse->failed)
        whole->failed = true;
    if (whole->failed)
        return;
    make_stamps(whole, PM_STACK_TOP + piece.n);
    if (whole->failed)
        return;
    stamp_stack_top(whole, stack_top, by);
    resolve_touches(whole, &piece);
    if (!whole->failed)
        stamp_piece(whole, &piece);
}

/* The stack top behind PIECE: its most recent blocks and, where they are fewer than the stack top
   holds, those of the stack top before that it did not touch. */
static void next_stack_top(const struct pm_reuse *whole, const struct pm_piece *piece,
                           uint64_t *stack_top) {
    const uint32_t first = whole->stamps.next - piece->n; /* of the piece's stamps */
    unsigned place = 0;
    for (; place < PM_STACK_TOP && place < piece->n; place++)
        stack_top[place] = piece->touches[piece->order[piece->n - 1 - place]].block;
    for (unsigned i = 0; i < PM_STACK_TOP && place < PM_STACK_TOP; i++)
        if (whole->stack_top[i] != PM_NO_BLOCK &&
            *pm_reuse_slot(whole, whole->stack_top[i]) < first)
            stack_top[place++] = whole->stack_top[i];
    for (; place < PM_STACK_TOP; place++)
        stack_top[place] = PM_NO_BLOCK;
}

/* BLOCKS, those of the stack top in any order, need no stamps. */
static void unstamp_stack_top(struct pm_reuse *whole, const uint64_t *blocks) {
    for (unsigned i = 0; i < PM_STACK_TOP && !whole->failed; i++) {
        if (blocks[i] == PM_NO_BLOCK)
            continue;
        uint32_t *slot = pm_reuse_slot(whole, blocks[i]);
        pm_stamp_take_back(&whole->stamps, *slot);
        *slot = PM_SLOT_FRONT;
    }
}

static void resolve_larger(struct pm_reuse *whole, struct pm_reuse *reuse) {
    bool failed = false; /* the next larger ones too */
    for (struct pm_larger *larger = first_larger(whole); larger; larger = larger->next) {
        struct pm_larger *piece = same_size(reuse, larger);
        failed = larger->reuse->failed |= failed || !piece;
        if (piece)
            resolve_size(larger->reuse, piece->reuse, whole->stack_top, larger->by);
    }
}

void pm_piece_resolve(struct pm_reuse *whole, struct pm_record_reuse *address_records,
                      struct pm_reuse *reuse) {
    uint64_t stack_top[PM_STACK_TOP];
    if (reuse->failed || !pm_reuse_make_histograms(whole, reuse->n_groups))
        whole->failed = true;
    if (whole->failed || reuse->piece->n == 0)
        return;
    if (address_records)
        pm_record_reuse_interrupt(address_records);
    if (whole->far)
        pm_larger_take(whole);
    resolve_larger(whole, reuse);
    const struct pm_piece piece = *reuse->piece;
    resolve_size(whole, reuse, whole->stack_top, 0);
    if (whole->failed)
        return;
    next_stack_top(whole, &piece, stack_top);
    memcpy(whole->stack_top, stack_top, sizeof stack_top);
    unstamp_stack_top(whole, stack_top);
    if (!whole->far)
        return;
    pm_larger_set_stack_tops(whole);
    for (struct pm_larger *larger = first_larger(whole); larger; larger = larger->next)
        unstamp_stack_top(larger->reuse, larger->blocks);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* What is cold in a piece has been resolved. */
static void move_size(struct pm_reuse *whole, struct pm_reuse *reuse) {
    for (uint32_t group = 0; group < reuse->n_groups && !whole->failed; group++) {
        struct pm_touch_histogram *from = &reuse->histograms[group];
        memset(from->cold, 0, sizeof from->cold);
        if (!pm_touch_histogram_sum(&whole->histograms[group], from, &whole->arena))
            whole->failed = true;
        pm_touch_histogram_clear(from);
    }
}

static void move_uncounted(struct pm_larger *whole, struct pm_larger *piece) {
    for (uint32_t group = 0; group < piece->n_uncounted && group < whole->n_uncounted; group++) {
        for (unsigned kind = 0; kind < PM_KINDS; kind++)
            whole->uncounted[group].n[kind] += piece->uncounted[group].n[kind];
        piece->uncounted[group] = (struct pm_touch_counts){{0}};
    }
}

void pm_piece_move_counts(struct pm_reuse *whole, struct pm_reuse *reuse) {
    if (reuse->failed || !pm_reuse_make_histograms(whole, reuse->n_groups))
        whole->failed = true;
    if (whole->failed)
        return;
    move_size(whole, reuse);
    for (struct pm_larger *larger = first_larger(whole); larger; larger = larger->next) {
        struct pm_larger *piece = same_size(reuse, larger);
        if (!piece || piece->reuse->failed)
            larger->reuse->failed = true;
        if (larger->reuse->failed)
            continue;
        move_size(larger->reuse, piece->reuse);
        move_uncounted(larger, piece);
    }
}
