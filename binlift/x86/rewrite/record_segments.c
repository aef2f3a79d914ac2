/* Groups the recorded instructions of a basic block into segments: runs that share one check of the
   buffer's limit, one register that points into the buffer, and one bump at their end.

   A segment ends at a call at the latest, because the callee appends records of its own, and at a
   string instruction that may stop early, because the runtime appends them there.  Its pointer is a
   register that is dead all along, else one that no instruction of it touches, which then is
   spilled around it.  The check needs the flags: it is put where they are dead, if need be before
   the first recorded instruction, else they are saved.  Where a jump of the routine has unknown
   targets it may come in between any two instructions: each has a segment of its own then.

   Needs liveness, references, and the direction of strings.  Source: one check per block instead of
   one per record is four times faster on stencils. */
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

enum { RECORD_BYTES = 16, MAX_SEGMENT_BYTES = PM_RECORD_SLACK / 2 };

static uint32_t insn_record_bytes(const struct pm_lifted *lifted, uint32_t k) {
    uint32_t n_bytes = 0;
    for (uint32_t r = lifted->insn_references[k]; r < pm_x86_end_references(lifted, k); r++)
        n_bytes += RECORD_BYTES * (1u + pm_payload_slots(lifted->structure->references[r].kind));
    return n_bytes;
}

/* What the instructions of a segment leave free for its pointer. */
struct freedom {
    pm_live_set live;    /* live before any of them */
    pm_live_set defined; /* by those before the last */
    pm_live_set touched; /* used or defined by those before the last, or used by the last */
};

static struct freedom find_freedom(const struct pm_rewrite *rewrite, uint32_t first,
                                   uint32_t last) {
    struct freedom freedom = {0, 0, 0};
    for (uint32_t k = first; k <= last; k++) {
        const struct pm_insn *insn = &rewrite->lifted->insns[k];
        freedom.live |= rewrite->live[k];
        freedom.touched |= pm_live_from(insn->registers->uses);
        if (k < last) {
            freedom.defined |= pm_live_from(insn->registers->defs);
            freedom.touched |= pm_live_from(insn->registers->defs);
        }
    }
    return freedom;
}

/* Chooses the pointer for instructions first … last of SEGMENT; false: there is none. */
static bool choose_pointer(const struct pm_rewrite *rewrite, struct pm_segment *segment) {
    struct freedom freedom = find_freedom(rewrite, segment->first, segment->last);
    pm_live_set never = PM_LIVE_BIT(PM_RSP);
    if (segment->saves_flags)
        never |= PM_LIVE_BIT(PM_RAX);
    pm_live_set dead = ~(freedom.live | freedom.defined | never) & PM_LIVE_REGISTERS;
    pm_live_set idle = ~(freedom.touched | never) & PM_LIVE_REGISTERS;
    if (!dead && !idle)
        return false;
    segment->spills_pointer = !dead;
    segment->pointer = (uint8_t)__builtin_ctz(dead ? dead : idle);
    return true;
}

static bool flags_live(const struct pm_rewrite *rewrite, uint32_t k) {
    return (rewrite->live[k] & PM_LIVE_FLAGS) != 0;
}

/* A segment for instruction K alone, begun where the flags are dead if that is not before EARLIEST.
 */
static struct pm_segment begin_segment(const struct pm_rewrite *rewrite, uint32_t k,
                                       uint32_t earliest) {
    struct pm_segment segment = {.first = k, .last = k};
    for (;;) {
        segment.saves_flags = flags_live(rewrite, segment.first);
        if (!segment.saves_flags && choose_pointer(rewrite, &segment))
            return segment;
        if (segment.first == earliest)
            break;
        segment.first--;
    }
    segment.first = k;
    segment.saves_flags = flags_live(rewrite, k);
    choose_pointer(rewrite, &segment); /* one instruction never touches all registers */
    return segment;
}

static bool extend_segment(const struct pm_rewrite *rewrite, struct pm_segment *segment, uint32_t k,
                           uint32_t n_bytes) {
    struct pm_segment longer = *segment;
    longer.last = k;
    longer.n_bytes += n_bytes;
    if (longer.n_bytes > MAX_SEGMENT_BYTES || !choose_pointer(rewrite, &longer))
        return false;
    *segment = longer;
    return true;
}

/* Do at least two instructions find no dead register for the address that they store? */
static bool addresses_are_crowded(const struct pm_rewrite *rewrite,
                                  const struct pm_segment *segment) {
    pm_live_set never = PM_LIVE_BIT(PM_RSP) | PM_LIVE_BIT(segment->pointer);
    unsigned n = 0;
    for (uint32_t k = segment->first; k <= segment->last; k++)
        if (pm_x86_stores_address(rewrite, k))
            n += !(~(rewrite->live[k] | never) & PM_LIVE_REGISTERS);
    return n >= 2;
}

/* One register for the addresses of the whole segment is spilled once instead of at each. */
static void choose_address(const struct pm_rewrite *rewrite, struct pm_segment *segment) {
    struct freedom freedom = find_freedom(rewrite, segment->first, segment->last);
    pm_live_set never = PM_LIVE_BIT(PM_RSP) | PM_LIVE_BIT(segment->pointer);
    if (segment->saves_flags)
        never |= PM_LIVE_BIT(PM_RAX);
    pm_live_set idle = ~(freedom.touched | never) & PM_LIVE_REGISTERS;
    segment->address = PM_REGISTER_NONE;
    if (idle && addresses_are_crowded(rewrite, segment))
        segment->address = (uint8_t)__builtin_ctz(idle);
}

struct pm_segment *pm_x86_plan_segments(struct pm_rewrite *rewrite, uint32_t block,
                                        uint32_t *n_segments) {
    const struct pm_lifted *lifted = rewrite->lifted;
    const struct pm_block_code *code = &lifted->block_codes[block];
    struct pm_segment *segments = pm_alloc(code->n_insns, sizeof *segments);
    uint32_t n = 0, earliest = code->first_insn, routine = lifted->structure->blocks[block].routine;
    bool alone = pm_may_be_entered_anywhere(lifted, routine);
    bool open = false; /* the last segment may still grow */
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        uint32_t n_bytes = insn_record_bytes(lifted, k);
        if (n_bytes && !(open && extend_segment(rewrite, &segments[n - 1], k, n_bytes))) {
            if (n > 0 && segments[n - 1].last >= earliest)
                earliest = segments[n - 1].last + 1;
            segments[n] = begin_segment(rewrite, k, alone ? k : earliest);
            segments[n++].n_bytes = n_bytes;
            open = !alone;
        }
        if (pm_is_call(lifted->insns[k].control) || pm_x86_stops_early(&lifted->insns[k])) {
            open = false;
            earliest = k + 1;
        }
    }
    for (uint32_t s = 0; s < n; s++) {
        pm_x86_plan_address_records(rewrite, &segments[s]);
        choose_address(rewrite, &segments[s]);
    }
    *n_segments = n;
    return segments;
}
