/* Which registers the copies of an instruction get.

   general  r15 counts, rdi points at what is loaded, rbp at where is stored, rbx and ecx are
            constants, rax, rdx and rcx belong to instructions that do not name them; r8 … r14 and
            rsi are the pool
   vector   0 … 10 the pool, 11 and 12 numbers of single precision, 13 and 14 of double, 15 zero
   mask     1 all bits, 2 … 7 the pool */
#include "machines/probe/code/private.h"

enum { POOL_VECTOR = PM_MOST_POOL, POOL_MASK = 6 };
static const unsigned char GENERAL[PM_GENERAL_POOL] = {8, 9, 10, 11, 12, 13, 14, 6};

/* The register of the same class as LIKE with number ID. */
static ZydisRegister like(ZydisRegister reg, unsigned id) {
    ZydisRegisterClass class = ZydisRegisterGetClass(reg);
    if (class == ZYDIS_REGCLASS_GPR8)
        id += id >= 4 ? 4 : 0; /* ah, ch, dh, bh stand before spl */
    return ZydisRegisterEncode(class, (ZyanU8)id);
}

struct pm_register_pools pm_register_pools(bool chain) {
    return (struct pm_register_pools){.general = {.n = PM_GENERAL_POOL},
                                      .vector = {.n = POOL_VECTOR},
                                      .mask = {.n = POOL_MASK},
                                      .chain = chain};
}

/* What it takes from a result to one that reads it; 1 or more of vectors, all alike. */
static unsigned chain_cycles(const struct pm_form *form) {
    return form->op_class == PM_OP_INT_MULT || form->op_class == PM_OP_CRYPTO ? 3 : 1;
}

unsigned pm_general_chain_cycles(const struct pm_form *form) {
    bool is_general = form->to == PM_FILE_GENERAL && !form->needs_prelude;
    return is_general && form->code->keeps_result ? chain_cycles(form) : 0;
}

/* The number in POOL of the register for a result that adds CYCLES to what it held; 0: nothing of
   it is left. */
static unsigned next(struct pm_register_pool *pool, unsigned cycles) {
    unsigned best = 0;
    for (unsigned i = 1; i < pool->n; i++) {
        unsigned here = pool->cycles[i], there = pool->cycles[best];
        bool better = cycles ? here < there : here > there;
        if (better || (here == there && pool->given_at[i] < pool->given_at[best]))
            best = i;
    }
    pool->cycles[best] = cycles ? pool->cycles[best] + cycles : 0;
    pool->given_at[best] = ++pool->now;
    return best;
}

/* A register for operand REG, a result that adds CYCLES to what it held, or of a chain. */
static ZydisRegister pool_register(ZydisRegister reg, unsigned cycles,
                                   struct pm_register_pools *pools) {
    ZydisRegisterClass class = ZydisRegisterGetClass(reg);
    bool is_mask = class == ZYDIS_REGCLASS_MASK;
    bool is_vector =
        class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM;
    struct pm_register_pool *pool = is_mask     ? &pools->mask
                                    : is_vector ? &pools->vector
                                                : &pools->general;
    unsigned number = pools->chain ? 0 : next(pool, cycles);
    return like(reg, is_mask ? 2 + number : is_vector ? number : GENERAL[number]);
}

ZydisRegister pm_begin_chain_anew(struct pm_register_pools *pools) {
    return pool_register(ZYDIS_REGISTER_EAX, 0, pools);
}

static ZydisRegister constant_register(const struct pm_form *form, ZydisRegister reg,
                                       unsigned ordinal) {
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_MASK:
        return like(reg, 1);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return like(reg, (form->element_bytes == 4 ? 11 : 13) + (ordinal > 0));
    default:
        return like(reg, form->op_class == PM_OP_INT_DIV || ordinal > 0 ? 1 : 3);
    }
}

/* What is loaded as numbers and what is stored have places of their own in the data; a chain of
   loads goes through the word that holds its own address. */
static void place_memory(const struct pm_form *form, ZydisEncoderOperand *operand,
                         struct pm_register_pools *pools) {
    operand->mem.index = ZYDIS_REGISTER_NONE;
    operand->mem.scale = 0;
    if (form->is_store) {
        /* Through a register of its own, and at another offset: cores that guess by these that a
           load will get what a store wrote would guess wrongly. */
        operand->mem.base = ZYDIS_REGISTER_RBP;
        operand->mem.displacement = 320;
    } else if (form->to == PM_FILE_VECTOR)
        operand->mem.displacement = form->element_bytes == 4 ? 64 : 128;
    if (pools->chain) {
        operand->mem.base = ZYDIS_REGISTER_R8;
        operand->mem.displacement = 0;
    }
}

ZydisEncoderRequest pm_assign_registers(const struct pm_form *form,
                                        struct pm_register_pools *pools) {
    ZydisEncoderRequest request = form->code->request;
    ZydisRegister result = ZYDIS_REGISTER_NONE;
    unsigned n_sources = 0;
    bool linked = !pools->chain || form->code->reads_result;
    for (int i = 0; i < request.operand_count; i++) {
        ZydisEncoderOperand *operand = &request.operands[i];
        switch (form->code->roles[i]) {
        case PM_OPERAND_RESULT:
            operand->reg.value = pool_register(
                operand->reg.value, form->code->keeps_result ? chain_cycles(form) : 0, pools);
            if (result == ZYDIS_REGISTER_NONE)
                result = operand->reg.value;
            break;
        case PM_OPERAND_SOURCE:
            if (!linked && n_sources == 0) {
                operand->reg.value = pool_register(operand->reg.value, 0, pools);
                linked = true;
            } else
                operand->reg.value = constant_register(form, operand->reg.value, n_sources);
            n_sources++;
            break;
        case PM_OPERAND_INDEX:
            operand->mem.index = like(operand->mem.index, 15);
            operand->mem.displacement = form->is_store ? PM_STORES_AT + 320 : 128;
            break;
        case PM_OPERAND_MEMORY:
            place_memory(form, operand, pools);
            break;
        case PM_OPERAND_ADDRESS:
            operand->mem.base =
                linked ? ZYDIS_REGISTER_RBX : pool_register(ZYDIS_REGISTER_RAX, 0, pools);
            if (operand->mem.index != ZYDIS_REGISTER_NONE)
                operand->mem.index = ZYDIS_REGISTER_RBX;
            break;
        case PM_OPERAND_FIXED:
            break;
        }
    }
    return request;
}
