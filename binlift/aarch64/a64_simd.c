/* Registers of Advanced SIMD and floating-point instructions.  Most have one destination and one or
   two sources in the usual fields; what differs stands here: how many sources, which of them are
   general registers, and where the destination is read as well. */
#include "binlift/aarch64/a64.h"

static void use_vector(struct pm_registers *registers, unsigned number) {
    registers->uses.vector |= UINT64_C(1) << (number % 32);
}

/* ---- scalar floating point ------------------------------------------------------------------ */

/* Between floating point and integers; which of the two files an operand is in. */
static void convert_registers(uint32_t word, bool is_fixed_point, struct pm_registers *registers) {
    unsigned opcode = pm_a64_bits(word, 18, 16), mode = pm_a64_bits(word, 20, 19);
    bool from_general = opcode == 2 || opcode == 3 || (!is_fixed_point && opcode == 7);
    bool is_jcvt = !is_fixed_point && mode == 3 && opcode == 6 && pm_a64_bits(word, 23, 22) == 1;
    if (from_general) {
        pm_a64_add_general(&registers->uses, pm_a64_rn(word), false);
        if (opcode == 7 && mode == 1) /* the upper half: fmov v0.d[1], x0 */
            use_vector(registers, pm_a64_rd(word));
        pm_a64_define_vector(registers, pm_a64_rd(word));
        return;
    }
    use_vector(registers, pm_a64_rn(word));
    pm_a64_define(registers, pm_a64_rd(word), false);
    if (is_jcvt) {
        registers->defs.general |= PM_A64_NZCV;
        registers->kills.general |= PM_A64_NZCV;
    }
}

static void scalar_registers(uint32_t word, struct pm_registers *registers) {
    unsigned low = pm_a64_bits(word, 15, 10);
    if (!pm_a64_bits(word, 21, 21) || low == 0) {
        convert_registers(word, !pm_a64_bits(word, 21, 21), registers);
        return;
    }
    if ((low & 7) == 4) { /* fmov of a constant */
        pm_a64_define_vector(registers, pm_a64_rd(word));
        return;
    }
    use_vector(registers, pm_a64_rn(word));
    bool compares = (low & 0xf) == 8, compares_if = (low & 3) == 1, chooses = (low & 3) == 3;
    if (compares_if || chooses || (low & 3) == 2 || (compares && !pm_a64_bits(word, 3, 3)))
        use_vector(registers, pm_a64_rm(word));
    if (compares_if || chooses)
        registers->uses.general |= pm_a64_condition_flags(pm_a64_bits(word, 15, 12));
    if (compares || compares_if) {
        registers->defs.general |= PM_A64_NZCV;
        registers->kills.general |= PM_A64_NZCV;
    } else {
        pm_a64_define_vector(registers, pm_a64_rd(word));
    }
}

/* ---- destinations that are sources too ------------------------------------------------------- */

static bool is_copy(uint32_t word) {
    return (word & 0x9fe08400) == 0x0e000400 || (word & 0xdfe08400) == 0x5e000400;
}

/* Of three registers of the same shape, by bit 29 and opcode. */
static bool merges_same(uint32_t word) {
    unsigned opcode = pm_a64_bits(word, 15, 11);
    bool upper = pm_a64_bits(word, 29, 29);
    switch (opcode) {
    case 0x0f: /* saba, uaba */
        return true;
    case 0x12: /* mla, mls */
        return !pm_a64_bits(word, 28, 28);
    case 0x19: /* fmla, fmls; fmlal and fmulx otherwise */
        return !upper;
    case 0x1d: /* fmlal, fmlsl */
        return !upper && pm_a64_bits(word, 22, 22) == 0 && pm_a64_bits(word, 23, 23);
    case 0x03: /* bsl, bit, bif */
        return upper && pm_a64_bits(word, 23, 22) != 0;
    default:
        return false;
    }
}

/* Narrow or long results: sums onto the destination, or into its upper half. */
static bool merges_different(uint32_t word) {
    unsigned opcode = pm_a64_bits(word, 15, 12);
    bool is_narrow = opcode == 4 || opcode == 6;
    bool sums = opcode == 5 || opcode == 8 || opcode == 9 || opcode == 10 || opcode == 11;
    return sums || (is_narrow && pm_a64_bits(word, 30, 30));
}

/* One source. */
static bool merges_single(uint32_t word) {
    unsigned opcode = pm_a64_bits(word, 16, 12);
    bool is_upper_half = pm_a64_bits(word, 30, 30) && !pm_a64_bits(word, 28, 28);
    if (pm_a64_bits(word, 21, 17) == 0x14) { /* aese, aesd; sha1su1, sha256su0 */
        bool is_sha = pm_a64_bits(word, 28, 28);
        return is_sha ? opcode == 1 || opcode == 2 : opcode == 4 || opcode == 5;
    }
    if (pm_a64_bits(word, 21, 17) != 0x10)
        return false;
    switch (opcode) {
    case 0x03: /* suqadd, usqadd */
    case 0x06: /* sadalp, uadalp */
        return true;
    case 0x12: /* xtn2, sqxtun2 */
    case 0x14:
    case 0x16: /* fcvtn2 */
        return is_upper_half;
    default:
        return false;
    }
}

static bool merges_constant(uint32_t word) {
    unsigned opcode = pm_a64_bits(word, 15, 11);
    bool upper = pm_a64_bits(word, 29, 29);
    if (!pm_a64_bits(word, 10, 10)) { /* by element: mla, fmla, smlal … */
        opcode = pm_a64_bits(word, 15, 12);
        bool is_accumulating = opcode == 0 || opcode == 1 || opcode == 2 || opcode == 3 ||
                               opcode == 4 || opcode == 5 || opcode == 6 || opcode == 7 ||
                               opcode == 14 || (upper && (opcode == 13 || opcode == 15));
        return is_accumulating;
    }
    if (pm_a64_bits(word, 22, 19) == 0) { /* orr and bic with a constant */
        unsigned mode = pm_a64_bits(word, 15, 12);
        return (mode & 1) && mode < 12;
    }
    switch (opcode) {
    case 0x02: /* ssra, usra */
    case 0x06: /* srsra, ursra */
        return true;
    case 0x08: /* sri */
    case 0x0a: /* sli */
        return upper;
    case 0x10: /* shrn2 and the like */
    case 0x11:
    case 0x12:
    case 0x13:
        return pm_a64_bits(word, 30, 30) && !pm_a64_bits(word, 28, 28);
    default:
        return false;
    }
}

/* Does the instruction keep a part of its destination, or add to it? */
static bool merges(uint32_t word) {
    if (word >> 31)
        return false;
    if (is_copy(word)) { /* ins */
        bool is_scalar = pm_a64_bits(word, 28, 28);
        return !is_scalar && (pm_a64_bits(word, 29, 29) || pm_a64_bits(word, 14, 11) == 3);
    }
    if (pm_a64_bits(word, 24, 24))
        return merges_constant(word);
    if (pm_a64_bits(word, 21, 21)) {
        if (pm_a64_bits(word, 10, 10))
            return merges_same(word);
        return pm_a64_bits(word, 11, 11) ? merges_single(word) : merges_different(word);
    }
    if (pm_a64_bits(word, 15, 15) && pm_a64_bits(word, 10, 10))
        return pm_a64_bits(word, 14, 11) != 12 && pm_a64_bits(word, 14, 11) != 14; /* not fcadd */
    if ((word & 0xff208c00) == 0x5e000000) /* sha1c, sha256h … */
        return true;
    return (word & 0xbfe09c00) == 0x0e001000; /* tbx */
}

/* ---- vectors -------------------------------------------------------------------------------- */

enum { NO_SOURCE = 0, ONE_SOURCE = 1, TWO_SOURCES = 2 };

/* Bit 24 set: constants, shifts by a constant, products with one element. */
static unsigned n_sources_of_constant(uint32_t word) {
    if (!pm_a64_bits(word, 10, 10))
        return TWO_SOURCES; /* by element */
    return pm_a64_bits(word, 22, 19) ? ONE_SOURCE : NO_SOURCE;
}

static unsigned n_sources(uint32_t word) {
    if (pm_a64_bits(word, 24, 24))
        return n_sources_of_constant(word);
    unsigned kind = pm_a64_bits(word, 21, 17), low = pm_a64_bits(word, 11, 10);
    bool is_single = low == 2 && (kind == 0x10 || kind == 0x18 || kind == 0x14 ||
                                  (kind == 0x1c && pm_a64_bits(word, 22, 22)));
    return is_single ? ONE_SOURCE : TWO_SOURCES;
}

/* dup, ins, smov, umov: an element from or to a vector or general register. */
static void copy_registers(uint32_t word, struct pm_registers *registers) {
    unsigned kind = pm_a64_bits(word, 14, 11);
    bool is_scalar = pm_a64_bits(word, 28, 28), is_element = pm_a64_bits(word, 29, 29);
    bool from_general = !is_scalar && !is_element && (kind == 1 || kind == 3);
    bool to_general = !is_scalar && !is_element && (kind == 5 || kind == 7);
    if (from_general)
        pm_a64_add_general(&registers->uses, pm_a64_rn(word), false);
    else
        use_vector(registers, pm_a64_rn(word));
    if (to_general)
        pm_a64_define(registers, pm_a64_rd(word), false);
    else
        pm_a64_define_vector(registers, pm_a64_rd(word));
    if (merges(word))
        use_vector(registers, pm_a64_rd(word));
}

/* eor3, bcax, sha512h …: bit 31 set. */
static void crypto_registers(uint32_t word, struct pm_registers *registers) {
    use_vector(registers, pm_a64_rn(word));
    use_vector(registers, pm_a64_rm(word));
    use_vector(registers, pm_a64_ra(word));
    use_vector(registers, pm_a64_rd(word));
    pm_a64_define_vector(registers, pm_a64_rd(word));
}

static void vector_registers(uint32_t word, struct pm_registers *registers) {
    if (is_copy(word)) {
        copy_registers(word, registers);
        return;
    }
    unsigned n = n_sources(word), first = pm_a64_rn(word);
    bool is_lookup = (word & 0xbfe08c00) == 0x0e000000; /* tbl, tbx: a list of registers */
    unsigned n_first = n == NO_SOURCE ? 0 : is_lookup ? pm_a64_bits(word, 14, 13) + 1 : 1;
    for (unsigned i = 0; i < n_first; i++)
        use_vector(registers, first + i);
    if (n == TWO_SOURCES) {
        bool is_half = pm_a64_bits(word, 24, 24) && pm_a64_bits(word, 23, 22) < 2;
        use_vector(registers, pm_a64_rm(word) & (is_half ? 15 : 31));
    }
    if (merges(word))
        use_vector(registers, pm_a64_rd(word));
    pm_a64_define_vector(registers, pm_a64_rd(word));
}

void pm_a64_simd_registers(uint32_t word, struct pm_registers *registers) {
    if ((word & 0x5f000000) == 0x1e000000) {
        scalar_registers(word, registers);
    } else if ((word & 0x5f000000) == 0x1f000000) { /* fmadd … */
        use_vector(registers, pm_a64_rn(word));
        use_vector(registers, pm_a64_rm(word));
        use_vector(registers, pm_a64_ra(word));
        pm_a64_define_vector(registers, pm_a64_rd(word));
    } else if (word >> 31) {
        crypto_registers(word, registers);
    } else {
        vector_registers(word, registers);
    }
}
