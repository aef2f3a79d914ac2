/* The table of functions of AArch64, and its calling convention (AAPCS64). */
#include "binlift/aarch64/a64.h"

#include <elf.h>

static const char *why(const uint8_t *bytes, const struct pm_insn *insn) {
    (void)bytes;
    (void)insn;
    return "cannot be moved";
}

/* `adrp x16, page; ldr x17, [x16, #offset]`, perhaps behind a bti. */
static bool plt_slot(const uint8_t *bytes, uint64_t n_bytes, uint64_t address, uint64_t *slot) {
    for (uint64_t at = 0; at + 8 <= n_bytes && at <= 4; at += 4) {
        uint32_t page = pm_a64_word(bytes + at), load = pm_a64_word(bytes + at + 4);
        if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
            continue;
        int64_t pages = pm_a64_signed_bits(page, 23, 5) * 4 + (int64_t)pm_a64_bits(page, 30, 29);
        *slot = ((address + at) & ~UINT64_C(0xfff)) + (uint64_t)pages * 4096 +
                8 * (uint64_t)pm_a64_bits(load, 21, 10);
        return true;
    }
    return false;
}

/* adrp, and close behind it the add that completes the address. */
static uint64_t formed_address(const struct pm_insn *insns, uint32_t k, uint32_t first, void *image,
                               pm_read_memory *read) {
    enum { LOOK_BACK = 16 };
    const uint8_t *bytes = read(image, insns[k].address, 4);
    uint32_t add = bytes ? pm_a64_word(bytes) : 0;
    if ((add & 0xffc00000) != 0x91000000)
        return 0;
    for (uint32_t at = k; at-- > first && k - at <= LOOK_BACK;) {
        struct pm_definition definitions[PM_MOST_DEFINITIONS];
        if (!(insns[at].registers->defs.general >> pm_a64_rn(add) & 1))
            continue;
        bytes = read(image, insns[at].address, 4);
        if (!bytes || (pm_a64_word(bytes) & 0x9f000000) != 0x90000000)
            return 0;
        pm_a64_define_places(bytes, &insns[at], definitions);
        return (uint64_t)definitions[0].constant + pm_a64_bits(add, 21, 10);
    }
    return 0;
}

#define BITS(high, low) ((UINT64_C(2) << (high)) - (UINT64_C(1) << (low)))
#define ALL_PREDICATES BITS(PM_A64_PREDICATE + 15, PM_A64_PREDICATE)
#define STATUS (UINT64_C(1) << PM_A64_STATUS)
#define SP (UINT64_C(1) << PM_A64_SP)

static const char *const register_names[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                             "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
                                             "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
                                             "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};

const struct pm_isa pm_isa_aarch64 = {
    .name = "aarch64",
    .elf_machine = EM_AARCH64,
    .decode = pm_a64_decode,
    .translate = pm_a64_translate,
    .n_mnemonics = PM_A64_N_MNEMONICS,
    .mnemonic = pm_a64_mnemonic,
    .print = pm_a64_print,
    .find_table = pm_a64_find_table,
    .formed_address = formed_address,
    .plt_slot = plt_slot,
    .relocations = {.relative = R_AARCH64_RELATIVE,
                    .indirect = R_AARCH64_IRELATIVE,
                    .absolute = R_AARCH64_ABS64,
                    .data_slot = R_AARCH64_GLOB_DAT,
                    .code_slot = R_AARCH64_JUMP_SLOT},
    .switches_from_labels = true,
    .why = why,
    .define = pm_a64_define_places,
    .condition = pm_a64_condition,
    .stack_pointer = PM_A64_SP,
    .register_names = register_names,
    .n_register_names = sizeof register_names / sizeof *register_names,
    /* x8: where a large result goes; x18: of the platform.  Of v8 … v15 the lower half is saved. */
    .argument_registers = {BITS(8, 0) | SP | STATUS, 0xff},
    .result_registers = {BITS(7, 0) | SP | STATUS, 0xff},
    .callee_saved = {BITS(29, 19) | SP | STATUS, 0xff00},
    .all_registers = {BITS(31, 0) | PM_A64_NZCV | ALL_PREDICATES | STATUS, UINT32_MAX},
};
