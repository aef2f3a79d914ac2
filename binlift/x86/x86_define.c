/* What an instruction defines in terms of what was there before (isa.h, struct pm_definition):
   moves, sums, address arithmetic, products, conditional moves, the stack pointer; and when a
   conditional branch is taken.  A register of which only 8 or 16 bits are written is defined
   otherwise. */
#include "binlift/definitions.h"
#include "binlift/x86/zydis.h"
#include "core/probe_abi.h"

struct maker {
    const struct pm_x86 *x86;
    const struct pm_insn *insn;
    struct pm_definition *definitions;
    unsigned n;
};

/* ---- places ---------------------------------------------------------------------------------- */

static bool place_of_register(ZydisRegister name, uint8_t *place) {
    struct pm_x86_register which = pm_x86_register(name);
    *place = which.number;
    return which.file == PM_X86_FILE_GENERAL && which.bits >= 32;
}

/* Number of the operand that is not stack traffic. */
static bool find_memory(const struct pm_insn *insn, uint8_t *number) {
    for (uint8_t m = 0; m < insn->n_memory; m++)
        if (!insn->memory[m].implicit) {
            *number = m;
            return insn->memory[m].kind == PM_ACCESS_PLAIN;
        }
    return false;
}

/* Starts a definition of OPERAND; NULL: not a place that can be described. */
static struct pm_definition *define(struct maker *maker, const ZydisDecodedOperand *operand) {
    struct pm_definition definition = {.kind = PM_DEFINED_AS_SUM};
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        if (!place_of_register(operand->reg.value, &definition.place))
            return NULL;
    } else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->size >= 32 &&
               operand->size <= 64 && find_memory(maker->insn, &definition.operand)) {
        definition.place = PM_PLACE_MEMORY;
    } else {
        return NULL;
    }
    maker->definitions[maker->n] = definition;
    return &maker->definitions[maker->n++];
}

/* ---- terms ----------------------------------------------------------------------------------- */

static bool read_constant(const ZydisDecodedOperand *operand, int64_t *value) {
    if (operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    *value = operand->size == 32 ? (int32_t)operand->imm.value.u : operand->imm.value.s;
    return true;
}

/* Adds FACTOR times OPERAND, which may be narrower in memory, where it is extended. */
static void add(const struct maker *maker, struct pm_definition *definition,
                const ZydisDecodedOperand *operand, int64_t factor) {
    uint8_t place;
    int64_t value;
    if (read_constant(operand, &value))
        definition->constant += (int64_t)((uint64_t)factor * (uint64_t)value);
    else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
             place_of_register(operand->reg.value, &place))
        pm_definition_add(definition, place, factor);
    else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
             find_memory(maker->insn, &definition->operand))
        pm_definition_add(definition, PM_PLACE_MEMORY, factor);
    else
        pm_definition_give_up(definition);
}

static void add_address(const struct maker *maker, struct pm_definition *definition,
                        const ZydisDecodedOperandMem *memory) {
    uint8_t place;
    definition->constant = memory->disp.value;
    if (memory->base == ZYDIS_REGISTER_RIP)
        definition->constant += (int64_t)(maker->insn->address + maker->insn->length);
    else if (memory->base != ZYDIS_REGISTER_NONE && place_of_register(memory->base, &place))
        pm_definition_add(definition, place, 1);
    else if (memory->base != ZYDIS_REGISTER_NONE)
        pm_definition_give_up(definition);
    if (memory->index != ZYDIS_REGISTER_NONE && definition->kind == PM_DEFINED_AS_SUM) {
        if (place_of_register(memory->index, &place))
            pm_definition_add(definition, place, memory->scale);
        else
            pm_definition_give_up(definition);
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* operand 0 = operand 0 + FACTOR · operand 1, and the flags. */
static void define_sum(struct maker *maker, int64_t factor) {
    const ZydisDecodedOperand *operands = maker->x86->operands;
    struct pm_definition *sum = define(maker, &operands[0]);
    if (!sum)
        return;
    add(maker, sum, &operands[0], 1);
    if (sum->kind == PM_DEFINED_AS_SUM)
        add(maker, sum, &operands[1], factor);
    maker->definitions[maker->n] = *sum;
    maker->definitions[maker->n++].place = PM_PLACE_FLAGS;
}

static void define_step(struct maker *maker, int64_t step) {
    struct pm_definition *sum = define(maker, &maker->x86->operands[0]);
    if (!sum)
        return;
    add(maker, sum, &maker->x86->operands[0], 1);
    sum->constant += step;
    maker->definitions[maker->n] = *sum;
    maker->definitions[maker->n++].place = PM_PLACE_FLAGS;
}

static void define_scaled(struct maker *maker, const ZydisDecodedOperand *from, int64_t factor) {
    struct pm_definition *scaled = define(maker, &maker->x86->operands[0]);
    if (scaled)
        add(maker, scaled, from, factor);
}

static void define_product(struct maker *maker) {
    const ZydisDecodedOperand *operands = maker->x86->operands;
    int64_t factor;
    if (maker->x86->insn.operand_count_visible == 3 && read_constant(&operands[2], &factor)) {
        define_scaled(maker, &operands[1], factor);
        return;
    }
    if (maker->x86->insn.operand_count_visible != 2)
        return;
    struct pm_definition *product = define(maker, &operands[0]);
    if (!product)
        return;
    add(maker, product, &operands[0], 1);
    if (product->kind == PM_DEFINED_AS_SUM)
        add(maker, product, &operands[1], 1);
    if (product->kind != PM_DEFINED_AS_SUM)
        return;
    product->kind = PM_DEFINED_AS_PRODUCT;
    if (product->n_terms == 1) { /* a square */
        product->terms[0].factor = 1;
        product->terms[1] = product->terms[0];
        product->n_terms = 2;
    }
}

static void define_shift(struct maker *maker) {
    int64_t bits;
    if (read_constant(&maker->x86->operands[1], &bits) && bits >= 0 && bits < 32)
        define_scaled(maker, &maker->x86->operands[0], INT64_C(1) << bits);
}

static void define_quotient(struct maker *maker) {
    int64_t bits;
    if (!read_constant(&maker->x86->operands[1], &bits) || bits < 0 || bits >= 32)
        return;
    struct pm_definition *quotient = define(maker, &maker->x86->operands[0]);
    if (!quotient)
        return;
    add(maker, quotient, &maker->x86->operands[0], 1);
    quotient->kind = PM_DEFINED_AS_QUOTIENT;
    quotient->constant = INT64_C(1) << bits;
}

static void define_choice(struct maker *maker) {
    struct pm_definition *choice = define(maker, &maker->x86->operands[0]);
    if (!choice)
        return;
    add(maker, choice, &maker->x86->operands[0], 1);
    add(maker, choice, &maker->x86->operands[1], 1);
    if (choice->kind == PM_DEFINED_AS_SUM && choice->n_terms == 2)
        choice->kind = PM_DEFINED_AS_CHOICE;
    else if (choice->n_terms == 1)
        choice->terms[0].factor = 1;
}

static void define_compared(struct maker *maker) {
    const ZydisDecodedOperand *operands = maker->x86->operands;
    struct pm_definition *flags = pm_define(maker->definitions, &maker->n, PM_PLACE_FLAGS);
    bool is_test = maker->x86->insn.mnemonic == ZYDIS_MNEMONIC_TEST;
    if (operands[0].size < 32 || (is_test && (operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
                                              operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
                                              operands[0].reg.value != operands[1].reg.value))) {
        pm_definition_give_up(flags);
        return;
    }
    add(maker, flags, &operands[0], 1);
    if (!is_test && flags->kind == PM_DEFINED_AS_SUM)
        add(maker, flags, &operands[1], -1);
}

/* An extension in a register is the value itself from 32 bits only. */
static void define_move(struct maker *maker) {
    const ZydisDecodedOperand *operands = maker->x86->operands;
    uint8_t ignored;
    if (operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        !place_of_register(operands[1].reg.value, &ignored))
        return;
    struct pm_definition *moved = define(maker, &operands[0]);
    if (moved)
        add(maker, moved, &operands[1], 1);
}

static void define_stack(struct maker *maker) {
    const struct pm_x86 *x86 = maker->x86;
    struct pm_definition *stack = pm_define(maker->definitions, &maker->n, PM_X86_RSP);
    uint8_t pushed;
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_LEAVE:
        pm_definition_add(stack, PM_X86_RBP, 1);
        stack->constant = 8;
        return;
    case ZYDIS_MNEMONIC_PUSH:
        pm_definition_add(stack, PM_X86_RSP, 1);
        stack->constant = -(int64_t)(x86->insn.operand_width / 8);
        if (x86->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            place_of_register(x86->operands[0].reg.value, &pushed) && maker->insn->n_memory == 1)
            pm_definition_add(pm_define(maker->definitions, &maker->n, PM_PLACE_MEMORY), pushed, 1);
        return;
    default: /* pop */
        pm_definition_add(stack, PM_X86_RSP, 1);
        stack->constant = x86->insn.operand_width / 8;
        if (x86->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !place_of_register(x86->operands[0].reg.value, &pushed) || maker->insn->n_memory != 1)
            return;
        if (pushed == PM_X86_RSP)
            pm_definition_give_up(stack);
        else
            pm_definition_add(pm_define(maker->definitions, &maker->n, pushed), PM_PLACE_MEMORY, 1);
    }
}

static void define_exchange(struct maker *maker) {
    const ZydisDecodedOperand *operands = maker->x86->operands;
    uint8_t places[2];
    for (int i = 0; i < 2; i++)
        if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !place_of_register(operands[i].reg.value, &places[i]))
            return;
    pm_definition_add(pm_define(maker->definitions, &maker->n, places[0]), places[1], 1);
    pm_definition_add(pm_define(maker->definitions, &maker->n, places[1]), places[0], 1);
}

static void define_any(struct maker *maker) {
    const struct pm_x86 *x86 = maker->x86;
    const ZydisDecodedOperand *operands = x86->operands;
    struct pm_definition *made;
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
        define_move(maker);
        break;
    case ZYDIS_MNEMONIC_CDQE:
        pm_definition_add(pm_define(maker->definitions, &maker->n, PM_X86_RAX), PM_X86_RAX, 1);
        break;
    case ZYDIS_MNEMONIC_LEA:
        if ((made = define(maker, &operands[0])))
            add_address(maker, made, &operands[1].mem);
        break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (x86->insn.mnemonic == ZYDIS_MNEMONIC_SUB && pm_x86_is_constant_idiom(x86))
            define(maker, &operands[0]);
        else
            define_sum(maker, x86->insn.mnemonic == ZYDIS_MNEMONIC_ADD ? 1 : -1);
        break;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        define_step(maker, x86->insn.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1);
        break;
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_NOT:
        define_scaled(maker, &operands[0], -1);
        if (maker->n && x86->insn.mnemonic == ZYDIS_MNEMONIC_NOT)
            maker->definitions[0].constant -= 1;
        break;
    case ZYDIS_MNEMONIC_SHL:
        define_shift(maker);
        break;
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
        define_quotient(maker);
        break;
    case ZYDIS_MNEMONIC_IMUL:
        define_product(maker);
        break;
    case ZYDIS_MNEMONIC_XOR:
        if (pm_x86_is_constant_idiom(x86))
            define(maker, &operands[0]);
        break;
    case ZYDIS_MNEMONIC_OR: /* with all ones, a short way to write −1 */
        if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[1].imm.value.s == -1 &&
            (made = define(maker, &operands[0])))
            made->constant = -1;
        break;
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST:
        define_compared(maker);
        break;
    case ZYDIS_MNEMONIC_XCHG:
        define_exchange(maker);
        break;
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_LEAVE:
        define_stack(maker);
        break;
    default:
        if (x86->insn.meta.category == ZYDIS_CATEGORY_CMOV)
            define_choice(maker);
    }
}

unsigned pm_x86_isa_define(const uint8_t *bytes, const struct pm_insn *insn,
                           struct pm_definition definitions[PM_MOST_DEFINITIONS]) {
    struct pm_x86 x86;
    if (insn->control != PM_CONTROL_NONE || !pm_x86_decode(bytes, insn->length, &x86) ||
        x86.insn.operand_count == 0)
        return 0;
    struct maker maker = {&x86, insn, definitions, 0};
    define_any(&maker);
    return maker.n;
}

enum pm_condition pm_x86_isa_condition(const uint8_t *bytes, const struct pm_insn *insn) {
    struct pm_x86 x86;
    if (insn->control != PM_CONTROL_BRANCH || !pm_x86_decode(bytes, insn->length, &x86))
        return PM_IF_UNKNOWN;
    switch (x86.insn.mnemonic) {
    case ZYDIS_MNEMONIC_JZ:
        return PM_IF_EQUAL;
    case ZYDIS_MNEMONIC_JNZ:
        return PM_IF_NOT_EQUAL;
    case ZYDIS_MNEMONIC_JL:
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JS:
        return PM_IF_LESS;
    case ZYDIS_MNEMONIC_JLE:
    case ZYDIS_MNEMONIC_JBE:
        return PM_IF_LESS_OR_EQUAL;
    case ZYDIS_MNEMONIC_JNLE:
    case ZYDIS_MNEMONIC_JNBE:
        return PM_IF_GREATER;
    case ZYDIS_MNEMONIC_JNL:
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JNS:
        return PM_IF_GREATER_OR_EQUAL;
    default:
        return PM_IF_UNKNOWN;
    }
}
