/* Look-ups by address: the part of a routine that covers an address, and the instruction that
   starts there.  Needs routines; pm_index_insns also instructions.

   The instructions of a routine stand one after the other in `insns`, its hot part first, so that
   their order is that of addresses only within a part.  An instruction is found through a bit for
   each byte of text and the number of the first one in every 64 bytes: 0.19 bytes for each byte. */
#include "binlift/lifted.h"

#include <stdlib.h>

static int by_address(const void *a, const void *b) {
    const struct pm_range *x = a, *y = b;
    return PM_COMPARE(x->address, y->address);
}

/* Gives the parts of ROUTINE their share of its instructions. */
static void add_ranges(struct pm_lifted *lifted, uint32_t number) {
    const struct pm_routine *routine = &lifted->structure->routines[number];
    const struct pm_routine_code *code = &lifted->routine_codes[number];
    uint32_t k = code->first_insn, end = code->first_insn + code->n_insns;
    for (uint32_t p = routine->first_part; p < routine->first_part + routine->n_parts; p++) {
        const struct pm_part *part = &lifted->structure->parts[p];
        struct pm_range *range = PM_PUSH(lifted, ranges);
        *range = (struct pm_range){part->address, part->size_bytes, number, k, 0};
        while (k < end && lifted->insns[k].address - part->address < part->size_bytes)
            k++;
        range->n_insns = k - range->first_insn;
    }
}

void pm_index_ranges(struct pm_lifted *lifted) {
    lifted->n_ranges = 0;
    for (uint32_t r = 0; r < lifted->structure->n_routines; r++)
        add_ranges(lifted, r);
    PM_SORT(lifted->ranges, lifted->n_ranges, by_address);
}

void pm_index_insns(struct pm_lifted *lifted) {
    struct pm_insn_index *index = &lifted->insn_index;
    pm_index_ranges(lifted);
    free(index->starts);
    free(index->first);
    index->n_chunks = (lifted->text_high - lifted->text_low + 63) / 64;
    index->starts = pm_alloc(index->n_chunks, sizeof *index->starts);
    index->first = pm_alloc(index->n_chunks, sizeof *index->first);
    for (size_t r = 0; r < lifted->n_ranges; r++) {
        uint32_t k = lifted->ranges[r].first_insn, end = k + lifted->ranges[r].n_insns;
        for (; k < end; k++) {
            uint64_t offset = lifted->insns[k].address - lifted->text_low, chunk = offset / 64;
            if (!index->starts[chunk])
                index->first[chunk] = k;
            else if (index->first[chunk] != PM_NONE &&
                     index->first[chunk] + (uint32_t)__builtin_popcountll(index->starts[chunk]) !=
                         k)
                index->first[chunk] = PM_NONE;
            index->starts[chunk] |= UINT64_C(1) << offset % 64;
        }
    }
}

/* The number of the first range that starts behind ADDRESS. */
static size_t ranges_until(const struct pm_lifted *lifted, uint64_t address) {
    return PM_LOWER_BOUND(lifted->n_ranges, i, lifted->ranges[i].address <= address);
}

const struct pm_range *pm_range_at(const struct pm_lifted *lifted, uint64_t address) {
    size_t n = ranges_until(lifted, address);
    const struct pm_range *range = n ? &lifted->ranges[n - 1] : NULL;
    return range && address - range->address < range->size_bytes ? range : NULL;
}

uint32_t pm_routine_at(const struct pm_lifted *lifted, uint64_t address) {
    const struct pm_range *range = pm_range_at(lifted, address);
    return range ? range->routine : PM_NONE;
}

/* The first instruction of RANGE that is not before ADDRESS; the range's end: none. */
static uint32_t search(const struct pm_lifted *lifted, const struct pm_range *range,
                       uint64_t address) {
    const struct pm_insn *insns = &lifted->insns[range->first_insn];
    return range->first_insn +
           (uint32_t)PM_LOWER_BOUND(range->n_insns, k, insns[k].address < address);
}

uint32_t pm_insn_at(const struct pm_lifted *lifted, uint64_t address) {
    const struct pm_insn_index *index = &lifted->insn_index;
    uint64_t offset = address - lifted->text_low, chunk = offset / 64;
    if (address < lifted->text_low || chunk >= index->n_chunks ||
        !(index->starts[chunk] >> offset % 64 & 1))
        return PM_NONE;
    if (index->first[chunk] == PM_NONE)
        return search(lifted, pm_range_at(lifted, address), address);
    uint64_t before = index->starts[chunk] & ((UINT64_C(1) << offset % 64) - 1);
    return index->first[chunk] + (uint32_t)__builtin_popcountll(before);
}

/* The first instruction of range R or of a later one. */
static uint32_t first_of_ranges(const struct pm_lifted *lifted, size_t r) {
    for (; r < lifted->n_ranges; r++)
        if (lifted->ranges[r].n_insns)
            return lifted->ranges[r].first_insn;
    return PM_NONE;
}

uint32_t pm_first_insn_from(const struct pm_lifted *lifted, uint64_t address) {
    size_t n = ranges_until(lifted, address);
    if (n) {
        const struct pm_range *range = &lifted->ranges[n - 1];
        uint32_t k = search(lifted, range, address);
        if (k < range->first_insn + range->n_insns)
            return k;
    }
    return first_of_ranges(lifted, n);
}

uint32_t pm_insn_after(const struct pm_lifted *lifted, uint32_t insn) {
    uint64_t next = lifted->insns[insn].address + lifted->insns[insn].length;
    if (insn + 1 < lifted->n_insns && lifted->insns[insn + 1].address == next)
        return insn + 1;
    return pm_first_insn_from(lifted, next);
}

const uint8_t *pm_insn_bytes(const struct pm_lifted *lifted, uint32_t insn) {
    const struct pm_insn *found = &lifted->insns[insn];
    return pm_image_at(&lifted->image, found->address, found->length);
}
