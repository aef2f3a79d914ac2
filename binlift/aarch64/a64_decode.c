/* One A64 word → struct pm_insn: control flow, and the registers of all but loads, stores and SIMD.
   What an instruction reads (uses) and writes (defs) is read from its fields; a word of the spaces
   that no processor has instructions in (0: udf) is none. */
#include "binlift/aarch64/a64.h"

enum pm_a64_group pm_a64_group(uint32_t word) {
    unsigned op0 = pm_a64_bits(word, 28, 25);
    if (op0 == 2)
        return PM_A64_SVE;
    if ((op0 & 0xe) == 8)
        return PM_A64_IMMEDIATE;
    if ((op0 & 0xe) == 10)
        return PM_A64_BRANCH;
    if ((op0 & 5) == 4)
        return PM_A64_MEMORY;
    if ((op0 & 7) == 5)
        return PM_A64_REGISTER;
    if ((op0 & 7) == 7)
        return PM_A64_SIMD;
    return PM_A64_RESERVED;
}

uint64_t pm_a64_condition_flags(unsigned condition) {
    switch (condition >> 1) {
    case 0: /* eq, ne */
        return PM_A64_Z;
    case 1: /* hs, lo */
        return PM_A64_C;
    case 2: /* mi, pl */
        return PM_A64_N;
    case 3: /* vs, vc */
        return PM_A64_V;
    case 4: /* hi, ls */
        return PM_A64_C | PM_A64_Z;
    case 5: /* ge, lt */
        return PM_A64_N | PM_A64_V;
    case 6: /* gt, le */
        return PM_A64_N | PM_A64_V | PM_A64_Z;
    default: /* always */
        return 0;
    }
}

void pm_a64_add_general(struct pm_register_set *set, unsigned number, bool sp) {
    if (number != PM_A64_SP || sp)
        set->general |= UINT64_C(1) << number;
}

void pm_a64_define(struct pm_registers *registers, unsigned number, bool sp) {
    pm_a64_add_general(&registers->defs, number, sp);
    pm_a64_add_general(&registers->kills, number, sp);
}

/* A shorter write clears the rest of a vector register, so every one is whole. */
void pm_a64_define_vector(struct pm_registers *registers, unsigned number) {
    registers->defs.vector |= UINT64_C(1) << number;
    registers->kills.vector |= UINT64_C(1) << number;
}

static void use(struct pm_registers *registers, unsigned number) {
    pm_a64_add_general(&registers->uses, number, false);
}

void pm_a64_define_flags(struct pm_registers *registers) {
    registers->defs.general |= PM_A64_NZCV;
    registers->kills.general |= PM_A64_NZCV;
}

/* ---- data processing ------------------------------------------------------------------------ */

static void immediate_registers(uint32_t word, struct pm_registers *registers) {
    unsigned kind = pm_a64_bits(word, 25, 23), rd = pm_a64_rd(word), rn = pm_a64_rn(word);
    bool sets_flags;
    switch (kind) {
    case 2: /* add, sub */
        sets_flags = pm_a64_bits(word, 29, 29);
        pm_a64_add_general(&registers->uses, rn, true);
        pm_a64_define(registers, rd, !sets_flags);
        if (sets_flags)
            pm_a64_define_flags(registers);
        break;
    case 3: /* addg, subg */
        pm_a64_add_general(&registers->uses, rn, true);
        pm_a64_define(registers, rd, true);
        break;
    case 4: /* and, orr, eor, ands */
        sets_flags = pm_a64_bits(word, 30, 29) == 3;
        use(registers, rn);
        pm_a64_define(registers, rd, !sets_flags);
        if (sets_flags)
            pm_a64_define_flags(registers);
        break;
    case 5: /* movn, movz, movk */
        if (pm_a64_bits(word, 30, 29) == 3)
            use(registers, rd);
        pm_a64_define(registers, rd, false);
        break;
    case 6: /* sbfm, bfm, ubfm */
        use(registers, rn);
        if (pm_a64_bits(word, 30, 29) == 1)
            use(registers, rd);
        pm_a64_define(registers, rd, false);
        break;
    case 7: /* extr */
        use(registers, rn);
        use(registers, pm_a64_rm(word));
        pm_a64_define(registers, rd, false);
        break;
    default: /* adr, adrp */
        pm_a64_define(registers, rd, false);
    }
}

/* Bit 28 set: carries, comparisons and choices by flags, one, two or three sources. */
static void more_registers(uint32_t word, struct pm_registers *registers) {
    unsigned rd = pm_a64_rd(word), rn = pm_a64_rn(word), rm = pm_a64_rm(word);
    unsigned kind = pm_a64_bits(word, 24, 21);
    use(registers, rn);
    if (kind >= 8) { /* madd, smulh … */
        use(registers, rm);
        use(registers, pm_a64_ra(word));
        pm_a64_define(registers, rd, false);
        return;
    }
    switch (kind) {
    case 0:
        if (pm_a64_bits(word, 15, 10) & 0x3) { /* rmif, setf8, setf16 */
            registers->uses.general |= PM_A64_NZCV;
            registers->defs.general |= PM_A64_NZCV;
            return;
        }
        use(registers, rm);
        registers->uses.general |= PM_A64_C;
        pm_a64_define(registers, rd, false);
        if (pm_a64_bits(word, 29, 29))
            pm_a64_define_flags(registers);
        return;
    case 2: /* ccmn, ccmp */
        if (!pm_a64_bits(word, 11, 11))
            use(registers, rm);
        registers->uses.general |= pm_a64_condition_flags(pm_a64_bits(word, 15, 12));
        pm_a64_define_flags(registers);
        return;
    case 4: /* csel … */
        use(registers, rm);
        registers->uses.general |= pm_a64_condition_flags(pm_a64_bits(word, 15, 12));
        pm_a64_define(registers, rd, false);
        return;
    default:
        if (pm_a64_bits(word, 30, 30)) { /* one source; pac* and aut* sign what is there */
            if (pm_a64_bits(word, 20, 16) == 1) {
                use(registers, rd);
                pm_a64_add_general(&registers->uses, rn, true);
            }
        } else {
            unsigned opcode = pm_a64_bits(word, 15, 10);
            bool tags = opcode == 0 || opcode == 4 || opcode == 5; /* subp, irg, gmi */
            pm_a64_add_general(&registers->uses, rn, tags);
            pm_a64_add_general(&registers->uses, rm, opcode == 0 || opcode == 12);
            if (pm_a64_bits(word, 29, 29))
                pm_a64_define_flags(registers);
            pm_a64_define(registers, rd, opcode == 4);
            return;
        }
        pm_a64_define(registers, rd, false);
    }
}

static void register_registers(uint32_t word, struct pm_registers *registers) {
    unsigned rd = pm_a64_rd(word), rn = pm_a64_rn(word);
    if (pm_a64_bits(word, 28, 28)) {
        more_registers(word, registers);
        return;
    }
    bool is_sum = pm_a64_bits(word, 24, 24), extends = is_sum && pm_a64_bits(word, 21, 21);
    bool sets_flags = is_sum ? pm_a64_bits(word, 29, 29) : pm_a64_bits(word, 30, 29) == 3;
    pm_a64_add_general(&registers->uses, rn, extends);
    use(registers, pm_a64_rm(word));
    pm_a64_define(registers, rd, extends && !sets_flags);
    if (sets_flags)
        pm_a64_define_flags(registers);
}

/* ---- branches, exceptions, system ----------------------------------------------------------- */

static enum pm_control branch_by_register(uint32_t word, struct pm_registers *registers) {
    static const enum pm_control controls[] = {PM_CONTROL_JUMP_INDIRECT, PM_CONTROL_CALL_INDIRECT,
                                               PM_CONTROL_RETURN};
    unsigned kind = pm_a64_bits(word, 23, 21);
    if (kind > 2) /* eret and drps, which leave for another program */
        return PM_CONTROL_STOP;
    if (kind == 2 && pm_a64_bits(word, 11, 11)) { /* retaa, retab */
        pm_a64_add_general(&registers->uses, PM_A64_LINK, true);
        pm_a64_add_general(&registers->uses, PM_A64_SP, true);
    } else {
        use(registers, pm_a64_rn(word));
        if (pm_a64_bits(word, 24, 24)) /* braa …: the modifier */
            pm_a64_add_general(&registers->uses, pm_a64_rd(word), true);
    }
    if (kind == 1)
        pm_a64_define(registers, PM_A64_LINK, false);
    return controls[kind];
}

static void system_registers(uint32_t word, struct pm_registers *registers) {
    enum { HINT = 0xd503201f, NZCV = 0xda10, CONTROL = 0xda20, STATUS = 0xda21 };
    unsigned rt = pm_a64_rd(word);
    if ((word & 0xfffff01f) == HINT) {
        unsigned number = pm_a64_bits(word, 11, 5);
        if (number >= 24 && number < 32) { /* paciasp … */
            pm_a64_add_general(&registers->uses, PM_A64_LINK, true);
            pm_a64_add_general(&registers->uses, PM_A64_SP, true);
            pm_a64_define(registers, PM_A64_LINK, true);
        } else if (number == 8 || number == 10 || number == 12 || number == 14) {
            use(registers, 16);
            use(registers, 17);
            pm_a64_define(registers, 17, false);
        } else if (number == 7) {
            use(registers, PM_A64_LINK);
            pm_a64_define(registers, PM_A64_LINK, false);
        }
        return;
    }
    if ((word & 0xfff8f01f) == 0xd500401f) { /* msr of a part of the state; cfinv, axflag */
        registers->uses.general |= PM_A64_NZCV;
        registers->defs.general |= PM_A64_NZCV;
        return;
    }
    unsigned name = pm_a64_bits(word, 20, 5);
    if ((word & 0xfff00000) == 0xd5300000 || (word & 0xfff80000) == 0xd5280000) { /* mrs, sysl */
        pm_a64_define(registers, rt, false);
        if (name == NZCV)
            registers->uses.general |= PM_A64_NZCV;
    } else if (word >= 0xd5080000) { /* msr, sys */
        use(registers, rt);
        if (name == NZCV)
            pm_a64_define_flags(registers);
        if (name == CONTROL || name == STATUS)
            registers->defs.general |= UINT64_C(1) << PM_A64_STATUS;
    }
}

/* The kernel's call: its number in x8, six arguments, a result in x0. */
static void call_system(struct pm_registers *registers) {
    registers->uses.general |= 0x13f;
    pm_a64_define(registers, 0, false);
}

static int64_t branch_offset(uint32_t word, unsigned high, unsigned low) {
    return pm_a64_signed_bits(word, high, low) * 4;
}

static void find_flow(uint32_t word, struct pm_insn *insn, struct pm_registers *registers) {
    if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
        bool is_call = word >> 31;
        insn->control = is_call ? PM_CONTROL_CALL : PM_CONTROL_JUMP;
        insn->target = insn->address + (uint64_t)branch_offset(word, 25, 0);
        if (is_call)
            pm_a64_define(registers, PM_A64_LINK, false);
    } else if ((word & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
        insn->control = PM_CONTROL_BRANCH;
        insn->target = insn->address + (uint64_t)branch_offset(word, 23, 5);
        use(registers, pm_a64_rd(word));
    } else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
        insn->control = PM_CONTROL_BRANCH;
        insn->target = insn->address + (uint64_t)branch_offset(word, 18, 5);
        use(registers, pm_a64_rd(word));
    } else if ((word & 0xff000000) == 0x54000000) { /* b.cond */
        unsigned condition = pm_a64_bits(word, 3, 0);
        insn->control = condition >= 14 ? PM_CONTROL_JUMP : PM_CONTROL_BRANCH;
        insn->target = insn->address + (uint64_t)branch_offset(word, 23, 5);
        registers->uses.general |= pm_a64_condition_flags(condition);
    } else if ((word & 0xff000000) == 0xd4000000) {
        unsigned kind = pm_a64_bits(word, 23, 21);
        if (kind == 1 || kind == 2 || kind == 5) /* brk, hlt, dcps */
            insn->control = PM_CONTROL_STOP;
        else
            call_system(registers);
    } else if ((word & 0xffc00000) == 0xd5000000) {
        system_registers(word, registers);
    } else if ((word & 0xfe000000) == 0xd6000000) {
        insn->control = branch_by_register(word, registers);
    }
}

/* ---- the ISA's function --------------------------------------------------------------------- */

bool pm_a64_decode(const uint8_t *bytes, uint64_t n_bytes, uint64_t address, struct pm_insn *insn,
                   struct pm_insn_parts *parts) {
    memset(insn, 0, sizeof *insn);
    memset(parts, 0, sizeof *parts);
    insn->memory = parts->memory;
    insn->registers = &parts->registers;
    if (n_bytes < 4 || address % 4)
        return false;
    uint32_t word = pm_a64_word(bytes);
    enum pm_a64_group group = pm_a64_group(word);
    insn->address = address;
    insn->length = 4;
    switch (group) {
    case PM_A64_RESERVED:
        return false;
    case PM_A64_IMMEDIATE:
        immediate_registers(word, &parts->registers);
        break;
    case PM_A64_REGISTER:
        register_registers(word, &parts->registers);
        break;
    case PM_A64_BRANCH:
        find_flow(word, insn, &parts->registers);
        insn->is_nop = word == 0xd503201f;
        break;
    case PM_A64_MEMORY:
        pm_a64_memory_registers(word, &parts->registers);
        insn->n_memory = pm_a64_memory_operands(word, address, parts->memory) & 3;
        break;
    case PM_A64_SIMD:
        pm_a64_simd_registers(word, &parts->registers);
        break;
    case PM_A64_SVE:
        pm_a64_sve_registers(word, &parts->registers);
        insn->n_memory = pm_a64_sve_operands(word, parts->memory) & 3;
        break;
    }
    return true;
}
