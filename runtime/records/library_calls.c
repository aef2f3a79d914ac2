/* What a routine of the C library is about to access, from its arguments, as records (enum
   pm_called of core/probe_abi.h), and what a string instruction is that may stop early.

   How far such a one reads (strlen, memcmp, repe cmpsb …) is found out here by reading the same
   bytes just before it does: later they may have changed.  Nothing is read that it would not read,
   or that does not lie in the same aligned word.  Where it would fault, the fault comes here
   already; nothing has been changed by then, so that the program's handler may map the memory and
   return, or jump away.

   Runs between two instructions of the program with its vectors in their registers: uses general
   registers only and calls nothing. */
#pragma GCC target("general-regs-only")
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* no loop becomes a call of strlen */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/records/library_calls.h"
#include "runtime/records/records.h"

#define ALL_BYTES UINT64_C(0x0101010101010101)
#define TOP_BITS UINT64_C(0x8080808080808080)

typedef const unsigned char *bytes;
typedef uint64_t __attribute__((may_alias)) word;
typedef uint16_t __attribute__((may_alias, aligned(1))) unaligned_16;
typedef uint32_t __attribute__((may_alias, aligned(1))) unaligned_32;
typedef uint64_t __attribute__((may_alias, aligned(1))) unaligned_64;

/* The top bit of each byte of WORD that is zero (of those above the lowest such, perhaps more). */
static inline uint64_t zeros(uint64_t word) { return (word - ALL_BYTES) & ~word & TOP_BITS; }

/* How many bytes of AT come before the first that is A or B; at most MOST. */
static uint64_t find(bytes at, unsigned a, unsigned b, uint64_t most) {
    uint64_t n = 0, all_a = (a & 0xff) * ALL_BYTES, all_b = (b & 0xff) * ALL_BYTES;
    for (; n < most && (uintptr_t)(at + n) % 8; n++)
        if (at[n] == (a & 0xff) || at[n] == (b & 0xff))
            return n;
    for (; most - n >= 8; n += 8) {
        uint64_t here = *(const word *)(at + n);
        uint64_t found = zeros(here ^ all_a) | zeros(here ^ all_b);
        if (found)
            return n + (unsigned)__builtin_ctzll(found) / 8;
    }
    for (; n < most; n++)
        if (at[n] == (a & 0xff) || at[n] == (b & 0xff))
            return n;
    return most;
}

/* Bytes up to the first that differs, and that one; of text (IS_TEXT) also up to the zero. */
static uint64_t compared(bytes a, bytes b, uint64_t most, bool is_text) {
    for (uint64_t n = 0; n < most; n++)
        if (a[n] != b[n] || (is_text && a[n] == 0))
            return n + 1;
    return most;
}

/* With the one that was found, if it was. */
static uint64_t with_found(uint64_t before, uint64_t most) {
    return before < most ? before + 1 : most;
}

static uint64_t text_bytes(bytes text) { return find(text, 0, 0, UINT64_MAX) + 1; }

static void append(struct pm_control_block *block, uint64_t reference, uint64_t address,
                   uint64_t n_bytes, uint64_t second, uint64_t second_reference) {
    if (n_bytes == 0)
        return;
    word *record = (word *)block->next;
    record[0] = reference;
    record[1] = address;
    record[2] = n_bytes;
    record[3] = second;
    record[4] = second_reference;
    record[5] = 0;
    block->next += 6 * sizeof *record;
}

static void put_string(struct pm_control_block *block, uint64_t reference, uint64_t address,
                       uint64_t count, uint64_t flags) {
    word *record = (word *)block->next;
    record[0] = reference;
    record[1] = address;
    record[2] = count;
    record[3] = flags;
    block->next += 4 * sizeof *record;
}

/* ---- string instructions --------------------------------------------------------------------- */

static uint64_t element(uint64_t address, unsigned scale) {
    switch (scale) {
    case 0:
        return *(const uint8_t *)address; /* NOLINT: an address of the program's */
    case 1:
        return *(const unaligned_16 *)address; /* NOLINT */
    case 2:
        return *(const unaligned_32 *)address; /* NOLINT */
    default:
        return *(const unaligned_64 *)address; /* NOLINT */
    }
}

/* Those in flight: the path has the flags and %rcx at the top of the private stack. */
static void append_string(struct pm_control_block *block, uint64_t reference, unsigned called,
                          unsigned scale, uint64_t to, uint64_t from) {
    enum { DIRECTION_FLAG = 1 << 10 };
    const uint64_t *saved = (const uint64_t *)block->stack;
    uint64_t flags = saved[-1], most = saved[-2], n = 0, step = UINT64_C(1) << scale;
    uint64_t value = block->saved_rax & (step == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * step) - 1);
    bool has_two = called == PM_CALLED_REPE_CMPS || called == PM_CALLED_REPNE_CMPS;
    bool until_equal = called == PM_CALLED_REPNE_CMPS || called == PM_CALLED_REPNE_SCAS;
    uint64_t stride = flags & DIRECTION_FLAG ? -step : step;
    for (bool stops = false; n < most && !stops; n++) {
        uint64_t other = has_two ? element(from + n * stride, scale) : value;
        stops = (element(to + n * stride, scale) == other) == until_equal;
    }
    if (n == 0)
        return;
    if (has_two) {
        put_string(block, reference, from, n, flags);
        reference++;
    }
    put_string(block, reference, to, n, flags);
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool pm_called(struct pm_control_block *block, uint64_t first, uint64_t second, uint64_t third) {
    uint64_t reference = block->event & ((1u << 22) - 1), n;
    unsigned called = (unsigned)(block->event >> 22) & 31, scale = (block->event >> 27) & 3;
    bytes a = (bytes)first, b = (bytes)second; /* NOLINT: addresses of the program's */
    if (!block->consume)
        return false;
    switch ((enum pm_called)called) {
    case PM_CALLED_SYNCHRONISE:
        return pm_records_are_shared;
    case PM_CALLED_COPY:
        append(block, reference, second, third << scale, first, reference + 1);
        break;
    case PM_CALLED_COPY_BACK:
        append(block, reference, first, third, second, reference + 1);
        break;
    case PM_CALLED_FILL:
        append(block, reference, first, third << scale, 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_CLEAR:
        append(block, reference, first, second, 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_COMPARE:
        append(block, reference, first, compared(a, b, third, false), second, reference);
        break;
    case PM_CALLED_COMPARE_TEXT:
        append(block, reference, first, compared(a, b, UINT64_MAX, true), second, reference);
        break;
    case PM_CALLED_COMPARE_TEXT_AT_MOST:
        append(block, reference, first, compared(a, b, third, true), second, reference);
        break;
    case PM_CALLED_FIND:
        n = with_found(find(a, (unsigned)second, (unsigned)second, third), third);
        append(block, reference, first, n, 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_FIND_LAST:
        for (n = third; n > 0 && a[n - 1] != (second & 0xff);)
            n--;
        n -= n > 0; /* with the one that was found */
        append(block, reference, first + n, third - n, 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_FIND_ALWAYS:
        n = find(a, (unsigned)second, (unsigned)second, UINT64_MAX) + 1;
        append(block, reference, first, n, 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_TEXT:
        append(block, reference, first, text_bytes(a), 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_TEXT_AT_MOST:
        n = with_found(find(a, 0, 0, second), second);
        append(block, reference, first, n, 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_FIND_IN_TEXT:
        n = find(a, 0, (unsigned)second, UINT64_MAX) + 1;
        append(block, reference, first, n, 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_COPY_TEXT:
        append(block, reference, second, text_bytes(b), first, reference + 1);
        break;
    case PM_CALLED_FILL_TEXT:
        n = with_found(find(b, 0, 0, third), third);
        append(block, reference, second, n, first, reference + 1);
        append(block, reference + 1, first + n, third - n, 0, PM_PROBE_NONE);
        break;
    case PM_CALLED_APPEND:
        n = text_bytes(a);
        append(block, reference, first, n, 0, PM_PROBE_NONE);
        append(block, reference, second, text_bytes(b), first + n - 1, reference + 1);
        break;
    case PM_CALLED_APPEND_AT_MOST: {
        uint64_t before = find(b, 0, 0, third);
        n = text_bytes(a);
        append(block, reference, first, n, 0, PM_PROBE_NONE);
        append(block, reference, second, with_found(before, third), first + n - 1, reference + 1);
        if (before == third) /* the zero is not of the text that was read */
            append(block, reference + 1, first + n - 1 + third, 1, 0, PM_PROBE_NONE);
        break;
    }
    default:
        append_string(block, reference, called, scale, first, second);
    }
    return block->next > block->limit;
}
