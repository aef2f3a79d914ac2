/* Scalable vectors (SVE): the loads, stores and instructions on general registers and predicates
   that compiled loops have; of all others, which vector registers their fields name.  How long a
   vector is, is not known: an access has the size of one element, and is masked by its
   predicate. */
#include "binlift/aarch64/a64.h"
#include "core/probe_abi.h"

static uint64_t predicate(unsigned number) {
    return UINT64_C(1) << (PM_A64_PREDICATE + number % 16);
}

/* ---- loads and stores ----------------------------------------------------------------------- */

struct sve_transfer {
    uint8_t access;  /* enum pm_access; 0: prefetch */
    uint8_t n_data;  /* consecutive vector registers */
    uint8_t element; /* bytes in memory */
    uint8_t index;   /* general register, or vector register of a gather; PM_REGISTER_NONE */
    uint8_t mask;    /* predicate; PM_REGISTER_NONE: not masked */
    uint8_t scale;   /* of a general index */
    bool is_gather;  /* index is a vector; base_is_vector: there is no general base */
    bool base_is_vector;
    bool moves_predicate; /* ldr p0: data is a predicate */
    bool is_broadcast;    /* one element of memory for the whole register: not masked */
    int64_t displacement; /* where it does not depend on the length of vectors */
};

static bool is_memory(uint32_t word) { return word >> 31; }

/* Bytes of an element in memory by the type field of a contiguous load: the shorter one is
   extended, and types 4, 8 (…) are the signed ones counted from the other end. */
static uint8_t bytes_of_load_type(unsigned type) {
    static const uint8_t bytes[16] = {1, 1, 1, 1, 4, 2, 2, 2, 2, 2, 4, 4, 1, 1, 1, 8};
    return bytes[type];
}

static void set_scalar_index(uint32_t word, struct sve_transfer *transfer) {
    if (pm_a64_rm(word) == 31)
        return;
    transfer->index = (uint8_t)pm_a64_rm(word);
    transfer->scale = transfer->element;
}

/* Bits 31 … 25 are 1010010. */
static bool read_contiguous_load(uint32_t word, struct sve_transfer *transfer) {
    unsigned form = pm_a64_bits(word, 15, 13), n = pm_a64_bits(word, 22, 21);
    uint8_t by_size = (uint8_t)(1u << pm_a64_bits(word, 24, 23));
    transfer->access = PM_ACCESS_LOAD;
    switch (form) {
    case 0: /* ld1rq, ld1ro: by register, by constant */
    case 1:
        transfer->element = by_size;
        if (form == 0)
            set_scalar_index(word, transfer);
        else
            transfer->displacement = 16 * pm_a64_signed_bits(word, 19, 16);
        return true;
    case 2: /* ld1, ldff1 by register */
    case 3:
        transfer->element = bytes_of_load_type(pm_a64_bits(word, 24, 21));
        set_scalar_index(word, transfer);
        return true;
    case 5: /* ld1, ldnf1 by constant: in vector lengths */
        transfer->element = bytes_of_load_type(pm_a64_bits(word, 24, 21));
        return true;
    case 6: /* ldnt1, ld2 … ld4 */
    case 7:
        transfer->element = by_size;
        transfer->n_data = (uint8_t)(n + 1);
        if (form == 6)
            set_scalar_index(word, transfer);
        return true;
    default:
        return false;
    }
}

/* Bits 31 … 25 are 1110010. */
static bool read_store(uint32_t word, struct sve_transfer *transfer) {
    unsigned form = pm_a64_bits(word, 15, 13), n = pm_a64_bits(word, 22, 21);
    transfer->access = PM_ACCESS_STORE;
    transfer->element = (uint8_t)(1u << pm_a64_bits(word, 24, 23));
    switch (form) {
    case 0: /* str of a predicate, of a vector */
    case 2:
        if (pm_a64_bits(word, 24, 22) == 6) {
            transfer->mask = PM_REGISTER_NONE;
            transfer->moves_predicate = form == 0;
            transfer->element = 1;
            return true;
        }
        if (form == 0)
            return false;
        set_scalar_index(word, transfer);
        return true;
    case 3: /* stnt1, st2 … st4 by register */
        transfer->n_data = (uint8_t)(n + 1);
        set_scalar_index(word, transfer);
        return true;
    case 7: /* by constant: st1; stnt1, st2 … st4 */
        if (pm_a64_bits(word, 20, 20))
            transfer->n_data = (uint8_t)(n + 1);
        return true;
    default: /* scatters; the constant is added to a vector */
        transfer->is_gather = true;
        transfer->base_is_vector = form == 5 && pm_a64_bits(word, 22, 22);
        transfer->index = (uint8_t)(transfer->base_is_vector ? pm_a64_rn(word) : pm_a64_rm(word));
        return true;
    }
}

/* Bits 31 … 25 are 1000010 or 1100010: gathers, ldr, and one element for all. */
static bool read_gather(uint32_t word, struct sve_transfer *transfer) {
    unsigned form = pm_a64_bits(word, 15, 13);
    bool is_64 = pm_a64_bits(word, 30, 30);
    transfer->access = PM_ACCESS_LOAD;
    transfer->element = (uint8_t)(1u << pm_a64_bits(word, 24, 23));
    if (!is_64 && (word & 0xffc00000) == 0x85800000) {
        transfer->mask = PM_REGISTER_NONE;
        transfer->element = 1;
        transfer->moves_predicate = form == 0;
        if (form == 0 || form == 2)
            return true;
        transfer->access = 0; /* prf */
        return true;
    }
    if (!is_64 && pm_a64_bits(word, 22, 22) && form >= 4) { /* ld1r */
        unsigned type = pm_a64_bits(word, 24, 23) << 2 | pm_a64_bits(word, 14, 13);
        transfer->element = bytes_of_load_type(type);
        transfer->displacement = (int64_t)pm_a64_bits(word, 21, 16) * transfer->element;
        transfer->is_broadcast = true;
        return true;
    }
    bool is_prefetch = form == 7 && !pm_a64_bits(word, 22, 21);
    transfer->is_gather = true;
    transfer->base_is_vector = form >= 4 && pm_a64_bits(word, 22, 21) == 1;
    transfer->index = (uint8_t)(transfer->base_is_vector ? pm_a64_rn(word) : pm_a64_rm(word));
    if (is_prefetch)
        transfer->access = 0;
    return true;
}

static bool read_transfer(uint32_t word, struct sve_transfer *transfer) {
    *transfer = (struct sve_transfer){.n_data = 1,
                                      .index = PM_REGISTER_NONE,
                                      .mask = (uint8_t)pm_a64_bits(word, 12, 10),
                                      .scale = 1};
    switch (pm_a64_bits(word, 31, 25)) {
    case 0x52:
        return read_contiguous_load(word, transfer);
    case 0x72:
        return read_store(word, transfer);
    case 0x42:
    case 0x62:
        return read_gather(word, transfer);
    default:
        return false;
    }
}

unsigned pm_a64_sve_operands(uint32_t word, struct pm_memory_operand operands[PM_INSN_MEMORY]) {
    struct sve_transfer transfer;
    if (!is_memory(word) || !read_transfer(word, &transfer) || !transfer.access)
        return 0;
    bool is_plain = transfer.is_broadcast;
    operands[0] = (struct pm_memory_operand){
        .displacement = transfer.displacement,
        .base = transfer.base_is_vector ? PM_REGISTER_NONE : (uint8_t)pm_a64_rn(word),
        .index = transfer.index,
        .scale = transfer.scale,
        .access = transfer.access,
        .kind = transfer.is_gather ? PM_ACCESS_GATHER_K
                : is_plain         ? PM_ACCESS_PLAIN
                                   : PM_ACCESS_MASK_K,
        .mask = transfer.mask,
        .size_bytes = (uint16_t)(transfer.element * transfer.n_data)};
    return 1;
}

static void memory_registers(uint32_t word, struct pm_registers *registers) {
    struct sve_transfer transfer;
    if (!read_transfer(word, &transfer)) {
        registers->uses.vector = registers->defs.vector = UINT32_MAX;
        return;
    }
    if (transfer.base_is_vector)
        registers->uses.vector |= UINT64_C(1) << pm_a64_rn(word);
    else
        pm_a64_add_general(&registers->uses, pm_a64_rn(word), true);
    if (transfer.index != PM_REGISTER_NONE && transfer.is_gather)
        registers->uses.vector |= UINT64_C(1) << transfer.index;
    else if (transfer.index != PM_REGISTER_NONE)
        pm_a64_add_general(&registers->uses, transfer.index, false);
    if (transfer.mask != PM_REGISTER_NONE)
        registers->uses.general |= predicate(transfer.mask);
    for (unsigned i = 0; transfer.access && i < transfer.n_data; i++) {
        unsigned number = (pm_a64_rd(word) + i) % 32;
        bool is_load = transfer.access == PM_ACCESS_LOAD;
        if (transfer.moves_predicate && is_load)
            registers->defs.general |= predicate(number);
        else if (transfer.moves_predicate)
            registers->uses.general |= predicate(number);
        else if (is_load)
            pm_a64_define_vector(registers, number);
        else
            registers->uses.vector |= UINT64_C(1) << number;
    }
}

/* ---- general registers and predicates ------------------------------------------------------- */

/* Counts of elements, and lengths of vectors, to general registers. */
static bool count_registers(uint32_t word, struct pm_registers *registers) {
    unsigned rd = pm_a64_rd(word);
    bool steps = (word & 0xff30f800) == 0x0430e000;     /* incb … decd */
    bool saturates = (word & 0xff20f000) == 0x0420f000; /* sqincb … */
    bool counts = (word & 0xff30fc00) == 0x0420e000;    /* cntb … */
    if (steps || saturates || counts) {
        if (!counts)
            pm_a64_add_general(&registers->uses, rd, false);
        pm_a64_define(registers, rd, false);
        return true;
    }
    if ((word & 0xffa0f800) == 0x04205000) { /* addvl, addpl */
        pm_a64_add_general(&registers->uses, pm_a64_rm(word), true);
        pm_a64_define(registers, rd, true);
        return true;
    }
    if ((word & 0xfffff800) == 0x04bf5000) { /* rdvl */
        pm_a64_define(registers, rd, false);
        return true;
    }
    if ((word & 0xff3fc200) == 0x25208000) { /* cntp */
        registers->uses.general |=
            predicate(pm_a64_bits(word, 13, 10)) | predicate(pm_a64_bits(word, 8, 5));
        pm_a64_define(registers, rd, false);
        return true;
    }
    if ((word & 0xff38f800) == 0x25288800) { /* incp, decp of a general register */
        registers->uses.general |= predicate(pm_a64_bits(word, 8, 5));
        pm_a64_add_general(&registers->uses, rd, false);
        pm_a64_define(registers, rd, false);
        return true;
    }
    return false;
}

/* What compares and makes predicates. */
static bool predicate_registers(uint32_t word, struct pm_registers *registers) {
    if ((word & 0xff20e000) == 0x25200000) { /* while…, ctermeq */
        pm_a64_add_general(&registers->uses, pm_a64_rn(word), false);
        pm_a64_add_general(&registers->uses, pm_a64_rm(word), false);
        if (!pm_a64_bits(word, 13, 13) || !pm_a64_bits(word, 23, 23))
            registers->defs.general |= predicate(word & 15);
        pm_a64_define_flags(registers);
        return true;
    }
    bool is_predicate_space = (word & 0xff200000) == 0x25000000;
    bool compares = (word & 0xff000000) == 0x24000000 ||
                    (is_predicate_space && !pm_a64_bits(word, 14, 14)) ||
                    (word & 0xff20c000) == 0x6500c000 || (word & 0xff204000) == 0x65004000;
    bool makes = is_predicate_space && pm_a64_bits(word, 14, 14); /* ptrue, and, brk … */
    bool permutes = (word & 0xff20e000) == 0x05204000;
    if (!compares && !makes && !permutes)
        return false;
    registers->defs.general |= predicate(word & 15);
    registers->uses.general |= predicate(pm_a64_bits(word, 12, 10));
    if (makes || permutes) {
        registers->uses.general |= predicate(pm_a64_bits(word, 13, 10)) |
                                   predicate(pm_a64_bits(word, 8, 5)) |
                                   predicate(pm_a64_bits(word, 19, 16)) | predicate(word & 15);
    } else {
        registers->uses.vector |= UINT64_C(1) << pm_a64_rn(word) | UINT64_C(1) << pm_a64_rm(word);
    }
    if (!permutes && word >> 24 != 0x65)
        registers->defs.general |= PM_A64_NZCV;
    return true;
}

/* Elements from and to general registers: dup, cpy, insr, index; lasta, clasta. */
static bool element_registers(uint32_t word, struct pm_registers *registers) {
    unsigned rd = pm_a64_rd(word), rn = pm_a64_rn(word), rm = pm_a64_rm(word);
    bool fills = (word & 0xff3ffc00) == 0x05203800 || (word & 0xff3ffc00) == 0x05243800;
    bool copies = (word & 0xff3fe000) == 0x0528a000;
    bool is_index = (word & 0xff20f000) == 0x04204000;
    bool takes = (word & 0xff3ee000) == 0x0520a000, chooses = (word & 0xff3ee000) == 0x0530a000;
    if (takes || chooses) {
        registers->uses.general |= predicate(pm_a64_bits(word, 12, 10));
        registers->uses.vector |= UINT64_C(1) << rn;
        if (chooses)
            pm_a64_add_general(&registers->uses, rd, false);
        pm_a64_define(registers, rd, false);
        return true;
    }
    if ((word & 0xff308000) == 0x05100000 || (word & 0xff30e000) == 0x0510c000) {
        registers->uses.general |= predicate(pm_a64_bits(word, 19, 16)); /* cpy, fcpy: a constant */
        registers->uses.vector |= UINT64_C(1) << rd;
        pm_a64_define_vector(registers, rd);
        return true;
    }
    if (!fills && !copies && !is_index)
        return false;
    if (fills || copies)
        pm_a64_add_general(&registers->uses, rn, true);
    if (is_index && pm_a64_bits(word, 10, 10))
        pm_a64_add_general(&registers->uses, rn, false);
    if (is_index && pm_a64_bits(word, 11, 11))
        pm_a64_add_general(&registers->uses, rm, false);
    if (copies) {
        registers->uses.general |= predicate(pm_a64_bits(word, 12, 10));
        registers->uses.vector |= UINT64_C(1) << rd;
    }
    pm_a64_define_vector(registers, rd);
    return true;
}

void pm_a64_sve_registers(uint32_t word, struct pm_registers *registers) {
    if (is_memory(word)) {
        memory_registers(word, registers);
        return;
    }
    if (count_registers(word, registers) || predicate_registers(word, registers) ||
        element_registers(word, registers))
        return;
    registers->uses.vector |= UINT64_C(1) << pm_a64_rn(word) | UINT64_C(1) << pm_a64_rm(word) |
                              UINT64_C(1) << pm_a64_rd(word);
    registers->uses.general |= predicate(pm_a64_bits(word, 12, 10));
    pm_a64_define_vector(registers, pm_a64_rd(word));
}
