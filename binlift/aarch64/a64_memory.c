/* Loads and stores: what they move, where, and how the base register changes.  One description of
   an instruction (struct transfer) answers all questions. */
#include "binlift/aarch64/a64.h"
#include "core/probe_abi.h"

struct transfer {
    uint8_t form;     /* enum pm_a64_memory_form */
    uint8_t access;   /* enum pm_access */
    uint8_t n_data;   /* registers, consecutive from `data`; of a pair 2 */
    uint8_t data;     /* first register that is loaded or stored */
    uint8_t second;   /* of a pair */
    uint8_t index;    /* PM_REGISTER_NONE: none */
    uint8_t scale;    /* of index */
    uint8_t source;   /* general register that is read besides; 31 none */
    uint8_t result;   /* general register that is written besides (stxr, ldadd); 31 none */
    bool is_vector;   /* data in vector registers */
    bool is_pair;     /* ldp, stp, ldxp, stxp */
    bool merges;      /* one lane of the data registers */
    bool is_literal;  /* displacement is an address */
    bool by_register; /* what is added to the base register is `source` */
    bool writes_back; /* base += step, or += index where it is post-indexed by a register */
    uint16_t bytes;   /* of all data */
    int64_t displacement, step;
};

static void set_access(struct transfer *transfer, bool is_load) {
    transfer->access = is_load ? PM_ACCESS_LOAD : PM_ACCESS_STORE;
}

/* ld1 … ld4, st1 … st4 of whole registers. */
static void read_structures(uint32_t word, struct transfer *transfer) {
    static const uint8_t n_registers[16] = {
        [0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
    transfer->n_data = n_registers[pm_a64_bits(word, 15, 12)];
    transfer->bytes = (uint16_t)(transfer->n_data * (pm_a64_bits(word, 30, 30) ? 16 : 8));
}

/* The same of one lane, or of one element for all lanes (ld1r). */
static void read_lane(uint32_t word, struct transfer *transfer) {
    unsigned opcode = pm_a64_bits(word, 15, 13), size = pm_a64_bits(word, 11, 10);
    unsigned element = opcode >> 1;
    transfer->merges = element < 3 && transfer->access == PM_ACCESS_LOAD;
    transfer->n_data = (uint8_t)(((opcode & 1) << 1 | pm_a64_bits(word, 21, 21)) + 1);
    if (element == 3)
        element = size;
    else if (element == 2)
        element += size & 1;
    transfer->bytes = (uint16_t)(transfer->n_data << element);
}

static void read_vector_structure(uint32_t word, struct transfer *transfer) {
    transfer->is_vector = true;
    set_access(transfer, pm_a64_bits(word, 22, 22));
    if (pm_a64_bits(word, 24, 24))
        read_lane(word, transfer);
    else
        read_structures(word, transfer);
    if (transfer->n_data == 0) {
        transfer->form = PM_A64_NO_MEMORY;
        return;
    }
    if (!pm_a64_bits(word, 23, 23))
        return;
    transfer->writes_back = true;
    transfer->step = transfer->bytes;
    if (pm_a64_rm(word) != 31) {
        transfer->by_register = true;
        transfer->source = (uint8_t)pm_a64_rm(word);
    }
}

/* Exclusive, ordered, and compare-and-swap. */
static void read_exclusive(uint32_t word, struct transfer *transfer) {
    unsigned size = pm_a64_bits(word, 31, 30), rs = pm_a64_rm(word);
    bool is_ordered = pm_a64_bits(word, 23, 23), is_load = pm_a64_bits(word, 22, 22);
    bool is_double = pm_a64_bits(word, 21, 21);
    transfer->bytes = (uint16_t)(1u << size);
    set_access(transfer, is_load);
    if (is_ordered && !is_double) {
        transfer->form = PM_A64_ORDERED;
    } else if (is_ordered || (is_double && size < 2)) { /* cas, casp: rs is compared and loaded */
        transfer->form = PM_A64_ATOMIC;
        transfer->access = PM_ACCESS_BOTH;
        transfer->source = transfer->result = (uint8_t)rs;
        if (!is_ordered) {
            transfer->n_data = 2;
            transfer->bytes = pm_a64_bits(word, 30, 30) ? 16 : 8;
        }
    } else {
        transfer->form = PM_A64_EXCLUSIVE;
        if (is_double) {
            transfer->is_pair = true;
            transfer->n_data = 2;
            transfer->second = (uint8_t)pm_a64_ra(word);
            transfer->bytes *= 2;
        }
        if (!is_load)
            transfer->result = (uint8_t)rs; /* did it succeed? */
    }
}

static void read_literal(uint32_t word, uint64_t address, struct transfer *transfer) {
    static const uint8_t general_bytes[] = {4, 8, 4, 0};
    unsigned size = pm_a64_bits(word, 31, 30);
    transfer->is_literal = true;
    transfer->is_vector = pm_a64_bits(word, 26, 26);
    transfer->bytes = transfer->is_vector ? (uint16_t)(4u << size) : general_bytes[size];
    transfer->displacement = (int64_t)address + pm_a64_signed_bits(word, 23, 5) * 4;
    set_access(transfer, true);
    if (transfer->bytes == 0)
        transfer->form = PM_A64_NO_DATA;
    else if (size == 3)
        transfer->form = PM_A64_NO_MEMORY;
}

/* How the offset is meant: bits 1 of a pair, or the low bits of the other forms. */
static void set_offset(struct transfer *transfer, int64_t offset, bool pre, bool post) {
    transfer->writes_back = pre || post;
    if (!post)
        transfer->displacement = offset;
    if (pre || post)
        transfer->step = offset;
}

static void read_pair(uint32_t word, struct transfer *transfer) {
    unsigned size = pm_a64_bits(word, 31, 30), kind = pm_a64_bits(word, 24, 23);
    bool is_load = pm_a64_bits(word, 22, 22);
    transfer->is_vector = pm_a64_bits(word, 26, 26);
    transfer->is_pair = true;
    transfer->n_data = 2;
    transfer->second = (uint8_t)pm_a64_ra(word);
    unsigned each = transfer->is_vector ? 4u << size : size == 2 ? 8 : 4;
    int64_t unit = each;
    if (!transfer->is_vector && size == 1 &&
        !is_load) { /* stgp: with the tag, two whole registers */
        each = 8;
        unit = 16;
    }
    if (size == 3)
        transfer->form = PM_A64_NO_MEMORY;
    transfer->bytes = (uint16_t)(2 * each);
    set_access(transfer, is_load);
    set_offset(transfer, pm_a64_signed_bits(word, 21, 15) * unit, kind == 3, kind == 1);
}

/* Atomic operations of ARMv8.1. */
static void read_atomic(uint32_t word, struct transfer *transfer) {
    bool is_load_acquire = pm_a64_bits(word, 15, 12) == 12;
    if (is_load_acquire) {
        transfer->form = PM_A64_ORDERED;
        set_access(transfer, true);
        return;
    }
    transfer->form = PM_A64_ATOMIC;
    transfer->access = PM_ACCESS_BOTH;
    transfer->source = (uint8_t)pm_a64_rm(word);
    transfer->result = (uint8_t)pm_a64_rd(word);
    transfer->n_data = 0;
}

static void set_index(uint32_t word, unsigned shift, struct transfer *transfer) {
    if (pm_a64_rm(word) == 31)
        return;
    transfer->index = (uint8_t)pm_a64_rm(word);
    transfer->scale = (uint8_t)(pm_a64_bits(word, 12, 12) ? 1u << shift : 1);
}

/* One register, by constant or register offset. */
static void read_single(uint32_t word, struct transfer *transfer) {
    unsigned size = pm_a64_bits(word, 31, 30), opc = pm_a64_bits(word, 23, 22);
    unsigned kind = pm_a64_bits(word, 11, 10);
    bool is_scaled = pm_a64_bits(word, 24, 24), is_short = !pm_a64_bits(word, 21, 21);
    transfer->is_vector = pm_a64_bits(word, 26, 26);
    if (transfer->is_vector && size == 0 && opc >= 2)
        size = 4;
    transfer->bytes = (uint16_t)(1u << size);
    set_access(transfer, transfer->is_vector ? opc & 1 : opc != 0);
    if (!transfer->is_vector && size == 3 && opc >= 2) {
        transfer->form = opc == 2 ? PM_A64_NO_DATA : PM_A64_NO_MEMORY;
        transfer->n_data = 0;
    }
    if (is_scaled) {
        transfer->displacement = (int64_t)pm_a64_bits(word, 21, 10) << size;
    } else if (is_short) {
        set_offset(transfer, pm_a64_signed_bits(word, 20, 12), kind == 3, kind == 1);
    } else if (kind == 2) {
        set_index(word, size, transfer);
    } else if (kind == 0) {
        read_atomic(word, transfer);
    } else { /* ldraa, ldrab */
        transfer->form = PM_A64_PLAIN;
        transfer->n_data = 1;
        set_access(transfer, true);
        int64_t offset = pm_a64_bits(word, 20, 12) - (pm_a64_bits(word, 22, 22) ? 512 : 0);
        set_offset(transfer, 8 * offset, kind == 3, false);
    }
}

/* Tags of memory, in a memory of their own; stzg and stz2g clear the bytes as well. */
static void read_tags(uint32_t word, struct transfer *transfer) {
    unsigned opc = pm_a64_bits(word, 23, 22), kind = pm_a64_bits(word, 11, 10);
    int64_t offset = pm_a64_signed_bits(word, 20, 12) * 16;
    bool is_load = kind == 0 && (opc & 1);
    bool clears = kind != 0 && (opc & 1);
    transfer->form = clears ? PM_A64_PLAIN : PM_A64_NO_DATA;
    transfer->n_data = 0;
    transfer->bytes = opc == 3 ? 32 : 16;
    transfer->source = (uint8_t)pm_a64_rd(word);
    if (is_load)
        transfer->result = transfer->source;
    set_access(transfer, is_load);
    set_offset(transfer, offset, kind == 3, kind == 1);
}

/* ldapur, stlur. */
static void read_unscaled(uint32_t word, struct transfer *transfer) {
    unsigned opc = pm_a64_bits(word, 23, 22);
    if (pm_a64_bits(word, 21, 21) && word >> 30 == 3 && !pm_a64_bits(word, 26, 26)) {
        read_tags(word, transfer);
        return;
    }
    if (pm_a64_bits(word, 21, 21) || pm_a64_bits(word, 11, 10) || pm_a64_bits(word, 26, 26)) {
        transfer->form = PM_A64_NO_MEMORY;
        return;
    }
    transfer->form = PM_A64_ORDERED;
    transfer->bytes = (uint16_t)(1u << pm_a64_bits(word, 31, 30));
    transfer->displacement = pm_a64_signed_bits(word, 20, 12);
    set_access(transfer, opc != 0);
}

static struct transfer read_transfer(uint32_t word, uint64_t address) {
    struct transfer transfer = {.form = PM_A64_PLAIN,
                                .n_data = 1,
                                .data = (uint8_t)pm_a64_rd(word),
                                .index = PM_REGISTER_NONE,
                                .scale = 1,
                                .source = 31,
                                .result = 31};
    bool high = pm_a64_bits(word, 24, 24);
    if (pm_a64_group(word) != PM_A64_MEMORY) {
        transfer.form = PM_A64_NO_MEMORY;
        return transfer;
    }
    switch (pm_a64_bits(word, 29, 28)) {
    case 0:
        if (pm_a64_bits(word, 26, 26))
            read_vector_structure(word, &transfer);
        else if (!high)
            read_exclusive(word, &transfer);
        else
            transfer.form = PM_A64_NO_MEMORY;
        break;
    case 1:
        if (high)
            read_unscaled(word, &transfer);
        else
            read_literal(word, address, &transfer);
        break;
    case 2:
        read_pair(word, &transfer);
        break;
    default:
        read_single(word, &transfer);
    }
    return transfer;
}

/* ---- answers -------------------------------------------------------------------------------- */

/* A word of this group that is none of the known: it may read and write what its fields name. */
static void add_unknown(uint32_t word, struct pm_registers *registers) {
    static const uint8_t fields[] = {0, 5, 10, 16};
    for (size_t i = 0; i < sizeof fields; i++) {
        unsigned number = word >> fields[i] & 31;
        pm_a64_add_general(&registers->uses, number, true);
        pm_a64_add_general(&registers->defs, number, true);
        registers->uses.vector |= UINT64_C(1) << number;
        registers->defs.vector |= UINT64_C(1) << number;
    }
}

static void add_data(const struct transfer *transfer, unsigned number,
                     struct pm_registers *registers) {
    bool stores = transfer->access != PM_ACCESS_LOAD || transfer->merges;
    bool loads = transfer->access == PM_ACCESS_LOAD;
    if (transfer->is_vector) {
        if (stores)
            registers->uses.vector |= UINT64_C(1) << number;
        if (loads)
            pm_a64_define_vector(registers, number);
        return;
    }
    if (stores)
        pm_a64_add_general(&registers->uses, number, false);
    if (loads)
        pm_a64_define(registers, number, false);
}

void pm_a64_memory_registers(uint32_t word, struct pm_registers *registers) {
    struct transfer transfer = read_transfer(word, 0);
    if (transfer.form == PM_A64_NO_MEMORY) {
        add_unknown(word, registers);
        return;
    }
    if (!transfer.is_literal)
        pm_a64_add_general(&registers->uses, pm_a64_rn(word), true);
    if (transfer.index != PM_REGISTER_NONE)
        pm_a64_add_general(&registers->uses, transfer.index, false);
    if (transfer.form != PM_A64_NO_DATA)
        for (unsigned i = 0; i < transfer.n_data; i++)
            add_data(&transfer,
                     i == 1 && transfer.is_pair ? transfer.second : (transfer.data + i) % 32,
                     registers);
    bool compares_pair = transfer.form == PM_A64_ATOMIC && transfer.n_data == 2;
    for (unsigned i = 0; i < (compares_pair ? 2u : 1u); i++) {
        unsigned source = transfer.source + i, result = transfer.result + i;
        if (transfer.source != 31)
            pm_a64_add_general(&registers->uses, source, false);
        if (transfer.result != 31)
            pm_a64_define(registers, result, false);
    }
    if (transfer.writes_back)
        pm_a64_define(registers, pm_a64_rn(word), true);
}

unsigned pm_a64_memory_operands(uint32_t word, uint64_t address,
                                struct pm_memory_operand operands[PM_INSN_MEMORY]) {
    struct transfer transfer = read_transfer(word, address);
    if (transfer.form == PM_A64_NO_MEMORY || transfer.form == PM_A64_NO_DATA)
        return 0;
    operands[0] = (struct pm_memory_operand){.displacement = transfer.displacement,
                                             .base = transfer.is_literal ? PM_REGISTER_PC
                                                                         : (uint8_t)pm_a64_rn(word),
                                             .index = transfer.index,
                                             .scale = transfer.scale,
                                             .access = transfer.access,
                                             .kind = PM_ACCESS_PLAIN,
                                             .mask = PM_REGISTER_NONE,
                                             .size_bytes = transfer.bytes};
    return 1;
}

enum pm_a64_memory_form pm_a64_memory_form(uint32_t word) {
    return (enum pm_a64_memory_form)read_transfer(word, 0).form;
}

bool pm_a64_writeback(uint32_t word, unsigned *base, int64_t *step) {
    struct transfer transfer = read_transfer(word, 0);
    *base = pm_a64_rn(word);
    *step = transfer.step;
    return transfer.form != PM_A64_NO_MEMORY && transfer.writes_back && !transfer.by_register;
}

bool pm_a64_is_pair(uint32_t word) { return read_transfer(word, 0).is_pair; }
