/* What an A64 instruction defines in terms of what was there before (isa.h, struct pm_definition):
   sums, address arithmetic, products, choices, page addresses, the base register of an access with
   writeback; and when a conditional branch is taken. */
#include "binlift/aarch64/a64.h"
#include "binlift/definitions.h"

struct maker {
    uint32_t word;
    uint64_t address;
    struct pm_definition *definitions;
    unsigned n;
};

/* Register 31 is the stack pointer if SP, else zero. */
static void add_register(struct pm_definition *definition, unsigned number, bool sp,
                         int64_t factor) {
    if (number != PM_A64_SP || sp)
        pm_definition_add(definition, (uint8_t)number, factor);
}

/* SUM is made; it goes to RD, and to the flags. */
static void finish_sum(struct maker *maker, const struct pm_definition *sum, unsigned rd, bool sp,
                       bool sets_flags) {
    if (rd != PM_A64_SP || sp) {
        struct pm_definition *definition = pm_define(maker->definitions, &maker->n, (uint8_t)rd);
        *definition = *sum;
        definition->place = (uint8_t)rd;
    }
    if (sets_flags) {
        struct pm_definition *definition = pm_define(maker->definitions, &maker->n, PM_PLACE_FLAGS);
        *definition = *sum;
        definition->place = PM_PLACE_FLAGS;
    }
}

static bool is_64(const struct maker *maker) { return maker->word >> 31; }

/* ---- sums ----------------------------------------------------------------------------------- */

static void define_sum_of_constant(struct maker *maker) {
    uint32_t word = maker->word;
    bool subtracts = pm_a64_bits(word, 30, 30), sets_flags = pm_a64_bits(word, 29, 29);
    int64_t constant = (int64_t)pm_a64_bits(word, 21, 10) << (pm_a64_bits(word, 22, 22) ? 12 : 0);
    struct pm_definition sum = {.kind = PM_DEFINED_AS_SUM};
    add_register(&sum, pm_a64_rn(word), true, 1);
    sum.constant = subtracts ? -constant : constant;
    finish_sum(maker, &sum, pm_a64_rd(word), !sets_flags, sets_flags);
}

/* The factor of the second register: a shift to the left, or an extension from 32 bits. */
static bool factor_of(uint32_t word, bool extends, int64_t *factor) {
    if (extends) {
        unsigned kind = pm_a64_bits(word, 15, 13), shift = pm_a64_bits(word, 12, 10);
        *factor = INT64_C(1) << shift;
        return (kind & 3) >= 2 && shift <= 4; /* uxtw, uxtx, sxtw, sxtx */
    }
    unsigned kind = pm_a64_bits(word, 23, 22), shift = pm_a64_bits(word, 15, 10);
    *factor = INT64_C(1) << (shift < 32 ? shift : 0);
    return shift == 0 || (kind == 0 && shift < 32);
}

static void define_sum(struct maker *maker) {
    uint32_t word = maker->word;
    bool extends = pm_a64_bits(word, 21, 21), sets_flags = pm_a64_bits(word, 29, 29);
    struct pm_definition sum = {.kind = PM_DEFINED_AS_SUM};
    int64_t factor;
    if (!factor_of(word, extends, &factor)) {
        pm_definition_give_up(&sum);
    } else {
        add_register(&sum, pm_a64_rn(word), extends, 1);
        add_register(&sum, pm_a64_rm(word), false, pm_a64_bits(word, 30, 30) ? -factor : factor);
    }
    finish_sum(maker, &sum, pm_a64_rd(word), extends && !sets_flags, sets_flags);
}

/* orr and orn of the zero register are moves; ands of a register with itself tests it. */
static void define_logical(struct maker *maker) {
    uint32_t word = maker->word;
    unsigned kind = pm_a64_bits(word, 30, 29), rn = pm_a64_rn(word), rm = pm_a64_rm(word);
    bool inverts = pm_a64_bits(word, 21, 21), sets_flags = kind == 3;
    struct pm_definition sum = {.kind = PM_DEFINED_AS_SUM};
    int64_t factor;
    bool is_known = factor_of(word, false, &factor);
    if (is_known && kind == 1 && rn == 31) {
        add_register(&sum, rm, false, inverts ? -factor : factor);
        sum.constant = inverts ? -1 : 0;
    } else if (is_known && sets_flags && !inverts && rn == rm && factor == 1) {
        add_register(&sum, rn, false, 1);
    } else if (kind != 2 || rn != rm || inverts || factor != 1) { /* eor with itself: zero */
        pm_definition_give_up(&sum);
    }
    finish_sum(maker, &sum, pm_a64_rd(word), false, sets_flags);
}

/* ---- constants ------------------------------------------------------------------------------ */

static void define_address(struct maker *maker) {
    uint32_t word = maker->word;
    int64_t offset = pm_a64_signed_bits(word, 23, 5) * 4 + (int64_t)pm_a64_bits(word, 30, 29);
    struct pm_definition sum = {.kind = PM_DEFINED_AS_SUM};
    if (word >> 31) /* adrp: of 4096 bytes each */
        sum.constant = (int64_t)(maker->address & ~UINT64_C(0xfff)) + offset * 4096;
    else
        sum.constant = (int64_t)maker->address + offset;
    finish_sum(maker, &sum, pm_a64_rd(word), false, false);
}

static void define_wide_constant(struct maker *maker) {
    uint32_t word = maker->word;
    unsigned kind = pm_a64_bits(word, 30, 29), shift = 16 * pm_a64_bits(word, 22, 21);
    uint64_t value = (uint64_t)pm_a64_bits(word, 20, 5) << shift;
    struct pm_definition sum = {.kind = PM_DEFINED_AS_SUM};
    if (kind == 3) { /* movk: 16 bits of it */
        sum.kind = PM_DEFINED_AS_CONSTANT_WITH;
        sum.n_terms = 1;
        sum.terms[0].place = (uint8_t)pm_a64_rd(word);
        sum.terms[0].factor = (int64_t)(UINT64_C(0xffff) << shift);
        sum.constant = (int64_t)value;
    } else if (kind == 0) {
        sum.constant = (int64_t)~value;
    } else {
        sum.constant = is_64(maker) ? (int64_t)value : (int32_t)value;
    }
    finish_sum(maker, &sum, pm_a64_rd(word), false, false);
}

/* The constant of and, orr, eor: a run of ones, rotated, and repeated in elements of 2 … 64 bits.
 */
static bool bit_mask(uint32_t word, uint64_t *mask) {
    unsigned n = pm_a64_bits(word, 22, 22), rotation = pm_a64_bits(word, 21, 16);
    unsigned ones = pm_a64_bits(word, 15, 10), size = 64;
    unsigned sizes = n << 6 | (~ones & 63);
    while (size > 1 && !(sizes & size))
        size >>= 1;
    if (size < 2)
        return false;
    rotation &= size - 1;
    ones = (ones & (size - 1)) + 1;
    if (ones == size)
        return false;
    uint64_t run = (UINT64_C(1) << ones) - 1,
             all = size == 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1;
    uint64_t element = rotation ? (run >> rotation | run << (size - rotation)) & all : run;
    *mask = 0;
    for (unsigned at = 0; at < 64; at += size)
        *mask |= element << at;
    return true;
}

static void define_logical_of_constant(struct maker *maker) {
    uint32_t word = maker->word;
    bool sets_flags = pm_a64_bits(word, 30, 29) == 3;
    struct pm_definition sum = {.kind = PM_DEFINED_AS_SUM};
    uint64_t mask;
    if (pm_a64_bits(word, 30, 29) == 1 && pm_a64_rn(word) == 31 && bit_mask(word, &mask))
        sum.constant = is_64(maker) ? (int64_t)mask : (int32_t)mask;
    else
        pm_definition_give_up(&sum);
    finish_sum(maker, &sum, pm_a64_rd(word), !sets_flags, sets_flags);
}

/* ---- shifts, extensions, products, choices -------------------------------------------------- */

/* sbfm and ubfm: a field of at least 32 bits keeps the value; moved to the left, its multiple. */
static void define_field(struct maker *maker) {
    uint32_t word = maker->word;
    unsigned kind = pm_a64_bits(word, 30, 29), width = is_64(maker) ? 64 : 32;
    unsigned from = pm_a64_bits(word, 21, 16), last = pm_a64_bits(word, 15, 10);
    struct pm_definition sum = {.kind = PM_DEFINED_AS_SUM};
    bool moves_left = from > last, is_shift = moves_left && width - from + last + 1 == width;
    unsigned left = moves_left ? width - from : 0;
    bool keeps_value = is_shift || (last >= 31 && (moves_left || from == 0));
    bool moves_right = from > 0 && last == width - 1 && from < 32;
    if (kind != 1 && moves_right) { /* lsr, asr */
        sum.kind = PM_DEFINED_AS_QUOTIENT;
        sum.constant = INT64_C(1) << from;
        add_register(&sum, pm_a64_rn(word), false, 1);
    } else if (kind == 1 || !keeps_value || left > 32) {
        pm_definition_give_up(&sum);
    } else {
        add_register(&sum, pm_a64_rn(word), false, INT64_C(1) << left);
    }
    finish_sum(maker, &sum, pm_a64_rd(word), false, false);
}

/* madd, smaddl, umaddl and their differences. */
static void define_product(struct maker *maker) {
    uint32_t word = maker->word;
    unsigned kind = pm_a64_bits(word, 23, 21), ra = pm_a64_ra(word);
    bool subtracts = pm_a64_bits(word, 15, 15);
    struct pm_definition product = {.kind = PM_DEFINED_AS_PRODUCT};
    if ((kind != 0 && kind != 1 && kind != 5) || pm_a64_rn(word) == 31 || pm_a64_rm(word) == 31) {
        pm_definition_give_up(&product);
    } else {
        product.terms[0].place = (uint8_t)pm_a64_rn(word);
        product.terms[0].factor = subtracts ? -1 : 1;
        product.terms[1].place = (uint8_t)pm_a64_rm(word);
        product.terms[1].factor = 1;
        product.n_terms = 2;
        if (ra != 31) {
            product.terms[2].place = (uint8_t)ra;
            product.terms[2].factor = 1;
            product.n_terms = 3;
        }
    }
    finish_sum(maker, &product, pm_a64_rd(word), false, false);
}

static void define_choice(struct maker *maker) {
    uint32_t word = maker->word;
    unsigned rn = pm_a64_rn(word), rm = pm_a64_rm(word);
    bool is_plain = !pm_a64_bits(word, 30, 30) && !pm_a64_bits(word, 10, 10);
    struct pm_definition choice = {.kind = PM_DEFINED_AS_CHOICE};
    if (!is_plain || rn == 31 || rm == 31) {
        pm_definition_give_up(&choice);
    } else {
        choice.n_terms = 2;
        choice.terms[0].place = (uint8_t)rn;
        choice.terms[1].place = (uint8_t)rm;
        choice.terms[0].factor = choice.terms[1].factor = 1;
    }
    finish_sum(maker, &choice, pm_a64_rd(word), false, false);
}

static void define_by_registers(struct maker *maker) {
    uint32_t word = maker->word;
    if (!pm_a64_bits(word, 28, 28)) {
        if (pm_a64_bits(word, 24, 24))
            define_sum(maker);
        else
            define_logical(maker);
    } else if (pm_a64_bits(word, 24, 24)) {
        define_product(maker);
    } else if (pm_a64_bits(word, 23, 21) == 4) {
        define_choice(maker);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

/* One general register of 4 or 8 bytes to or from memory, and the base register. */
static void define_by_memory(struct maker *maker, const struct pm_insn *insn) {
    uint32_t word = maker->word;
    unsigned base, rt = pm_a64_rd(word);
    int64_t step;
    bool writes_back = pm_a64_writeback(word, &base, &step);
    bool is_vector = pm_a64_bits(word, 26, 26);
    enum pm_a64_memory_form form = pm_a64_memory_form(word);
    if (insn->n_memory == 1 && !is_vector && !pm_a64_is_pair(word) &&
        (form == PM_A64_PLAIN || form == PM_A64_ORDERED) &&
        (insn->memory[0].size_bytes == 4 || insn->memory[0].size_bytes == 8)) {
        struct pm_definition sum = {.kind = PM_DEFINED_AS_SUM};
        bool is_load = insn->memory[0].access == PM_ACCESS_LOAD;
        if (is_load) {
            sum.n_terms = 1;
            sum.terms[0].place = PM_PLACE_MEMORY;
            sum.terms[0].factor = 1;
            finish_sum(maker, &sum, rt, false, false);
        } else {
            struct pm_definition *stored =
                pm_define(maker->definitions, &maker->n, PM_PLACE_MEMORY);
            add_register(stored, rt, false, 1);
        }
    }
    if (writes_back) {
        struct pm_definition *moved = pm_define(maker->definitions, &maker->n, (uint8_t)base);
        add_register(moved, base, true, 1);
        moved->constant = step;
    } else if (insn->n_memory && insn->registers->defs.general >> base & 1 && is_vector &&
               pm_a64_bits(word, 29, 28) == 0) { /* ld1 and its like, by a register */
        struct pm_definition *moved = pm_define(maker->definitions, &maker->n, (uint8_t)base);
        add_register(moved, base, true, 1);
        add_register(moved, pm_a64_rm(word), false, 1);
    }
}

/* tbz, tbnz of the highest bit.  Bit 31 may be another bit of a longer value. */
static bool tests_sign(uint32_t word) {
    enum { BIT_63 = 0x80f80000 };
    return (word & 0x7e000000) == 0x36000000 && (word & BIT_63) == BIT_63;
}

/* cbz, and tbz of the sign: the register against zero. */
static void define_test(struct maker *maker) {
    uint32_t word = maker->word;
    if ((word & 0x7e000000) == 0x34000000 || tests_sign(word))
        add_register(pm_define(maker->definitions, &maker->n, PM_PLACE_FLAGS), pm_a64_rd(word),
                     false, 1);
}

unsigned pm_a64_define_places(const uint8_t *bytes, const struct pm_insn *insn,
                              struct pm_definition definitions[PM_MOST_DEFINITIONS]) {
    struct maker maker = {pm_a64_word(bytes), insn->address, definitions, 0};
    switch (pm_a64_group(maker.word)) {
    case PM_A64_IMMEDIATE:
        switch (pm_a64_bits(maker.word, 25, 23)) {
        case 0:
        case 1:
            define_address(&maker);
            break;
        case 2:
            define_sum_of_constant(&maker);
            break;
        case 4:
            define_logical_of_constant(&maker);
            break;
        case 5:
            define_wide_constant(&maker);
            break;
        case 6:
            define_field(&maker);
            break;
        default:
            break;
        }
        break;
    case PM_A64_REGISTER:
        define_by_registers(&maker);
        break;
    case PM_A64_MEMORY:
        define_by_memory(&maker, insn);
        break;
    case PM_A64_BRANCH:
        define_test(&maker);
        break;
    default:
        break;
    }
    return maker.n;
}

enum pm_condition pm_a64_condition(const uint8_t *bytes, const struct pm_insn *insn) {
    static const enum pm_condition by_flags[16] = {
        [0] = PM_IF_EQUAL,
        [1] = PM_IF_NOT_EQUAL,
        [2] = PM_IF_GREATER_OR_EQUAL, /* hs */
        [3] = PM_IF_LESS,             /* lo */
        [4] = PM_IF_LESS,             /* mi */
        [5] = PM_IF_GREATER_OR_EQUAL, /* pl */
        [8] = PM_IF_GREATER,          /* hi */
        [9] = PM_IF_LESS_OR_EQUAL,    /* ls */
        [10] = PM_IF_GREATER_OR_EQUAL,
        [11] = PM_IF_LESS,
        [12] = PM_IF_GREATER,
        [13] = PM_IF_LESS_OR_EQUAL,
    };
    uint32_t word = pm_a64_word(bytes);
    bool is_nonzero = pm_a64_bits(word, 24, 24);
    if (insn->control != PM_CONTROL_BRANCH)
        return PM_IF_UNKNOWN;
    if ((word & 0xff000000) == 0x54000000)
        return by_flags[pm_a64_bits(word, 3, 0)];
    if ((word & 0x7e000000) == 0x34000000)
        return is_nonzero ? PM_IF_NOT_EQUAL : PM_IF_EQUAL;
    if (!tests_sign(word))
        return PM_IF_UNKNOWN;
    return is_nonzero ? PM_IF_LESS : PM_IF_GREATER_OR_EQUAL;
}
