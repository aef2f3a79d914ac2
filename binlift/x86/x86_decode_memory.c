/* Memory operands of an instruction: which bytes it may touch, and how the addresses of one
   execution are found (enum pm_access_kind). */
#include "binlift/x86/zydis.h"

#include <string.h>

#include "core/probe_abi.h"

bool pm_x86_is_string(const struct pm_x86 *x86) {
    return x86->insn.meta.category == ZYDIS_CATEGORY_STRINGOP ||
           x86->insn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

bool pm_x86_is_rep(const struct pm_x86 *x86) {
    return (x86->insn.attributes &
            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

bool pm_x86_is_gather(const struct pm_x86 *x86) {
    for (unsigned i = 0; i < x86->insn.operand_count; i++)
        if (x86->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            x86->operands[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            return pm_x86_is_access(x86, &x86->operands[i]);
    return false;
}

bool pm_x86_is_access(const struct pm_x86 *x86, const ZydisDecodedOperand *operand) {
    if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM && operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
        return false; /* lea and the like: an address only */
    switch (x86->insn.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_MPX:
        return false;
    default:
        break;
    }
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_CLZERO:
    case ZYDIS_MNEMONIC_MONITOR:
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_UMONITOR:
    case ZYDIS_MNEMONIC_VGATHERPF0DPD:
    case ZYDIS_MNEMONIC_VGATHERPF0DPS:
    case ZYDIS_MNEMONIC_VGATHERPF0QPD:
    case ZYDIS_MNEMONIC_VGATHERPF0QPS:
    case ZYDIS_MNEMONIC_VGATHERPF1DPD:
    case ZYDIS_MNEMONIC_VGATHERPF1DPS:
    case ZYDIS_MNEMONIC_VGATHERPF1QPD:
    case ZYDIS_MNEMONIC_VGATHERPF1QPS:
        return false;
    default:
        return (operand->actions &
                (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_MASK_WRITE)) != 0;
    }
}

/* What push, pop, call, ret, enter, leave move on the stack. */
static bool is_stack_traffic(const struct pm_x86 *x86, const ZydisDecodedOperand *operand) {
    if (operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN || pm_x86_is_string(x86))
        return false;
    return operand->mem.base == ZYDIS_REGISTER_RSP || operand->mem.base == ZYDIS_REGISTER_RBP;
}

/* The stack pointer moves before a push stores, and before `pop 8(%rsp)` computes its address. */
static int64_t stack_move(const struct pm_x86 *x86, const ZydisDecodedOperand *operand) {
    int64_t bytes = (int64_t)(operand->size / 8);
    if (is_stack_traffic(x86, operand))
        return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? -bytes : 0;
    return x86->insn.mnemonic == ZYDIS_MNEMONIC_POP && operand->mem.base == ZYDIS_REGISTER_RSP
               ? bytes
               : 0;
}

/* Bytes 464 … 511 of an fxsave area are the program's own.  xsave and its like count as the 576
   bytes that they always have; what the processor's state needs more is not seen. */
static unsigned size_bytes(const struct pm_x86 *x86, const ZydisDecodedOperand *operand) {
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
        return 464;
    default:
        return operand->size / 8;
    }
}

static uint8_t find_access(const ZydisDecodedOperand *operand) {
    uint8_t access = 0;
    if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        access |= PM_ACCESS_LOAD;
    if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        access |= PM_ACCESS_STORE;
    return access;
}

/* ---- masked accesses ------------------------------------------------------------------------ */

static bool has_mask_register(const struct pm_x86 *x86) {
    return x86->insn.avx.mask.reg > ZYDIS_REGISTER_K0 &&
           x86->insn.avx.mask.reg <= ZYDIS_REGISTER_K7;
}

/* Scalar forms of AVX-512 end in ss, sd or sh; names of integer vectors begin with vp. */
static bool is_scalar_form(const char *name) {
    size_t length = strlen(name);
    return length > 3 && strncmp(name, "vp", 2) != 0 && name[length - 2] == 's' &&
           strchr("sdh", name[length - 1]);
}

/* Does bit i of the mask stand for element i of memory?  Not where elements change places. */
static bool is_elementwise(const char *name) {
    static const char *const moving[] = {"valign",   "vbroadcast",  "vextract",  "vinsert",
                                         "vmovddup", "vmovshdup",   "vmovsldup", "vpack",
                                         "vpalignr", "vpbroadcast", "vperm",     "vpmultishift",
                                         "vpshufb",  "vpshufd",     "vpshufhw",  "vpshuflw",
                                         "vpunpck",  "vshuf",       "vunpck",    "vdbpsadbw"};
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        if (strncmp(name, moving[i], strlen(moving[i])) == 0)
            return false;
    return true;
}

/* Can the access be told element by element from the mask?  Not for a broadcast, whose element is
   read for any bit: it counts as read. */
static bool mask_selects_elements(const struct pm_x86 *x86, const ZydisDecodedOperand *memory) {
    const char *name = ZydisMnemonicGetString(x86->insn.mnemonic);
    if (!name || x86->insn.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID ||
        !memory->element_size || !is_elementwise(name))
        return false;
    if (memory->element_count == 1)
        return is_scalar_form(name);
    /* The first vector operand has the width: the one that is written, stored or compared. */
    for (unsigned i = 0; i < x86->insn.operand_count; i++)
        if (pm_x86_is_vector(&x86->operands[i]))
            return x86->operands[i].element_count == memory->element_count;
    return false;
}

/* AVX and SSE stores and loads whose mask is the sign bits of a vector. */
static const ZydisDecodedOperand *find_vector_mask(const struct pm_x86 *x86) {
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return &x86->operands[1];
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
        for (unsigned i = x86->insn.operand_count; i-- > 0;)
            if (pm_x86_is_vector(&x86->operands[i]))
                return &x86->operands[i];
        return NULL;
    default:
        return NULL;
    }
}

static unsigned vector_mask_element_bits(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
        return 32;
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return 64;
    default:
        return 8;
    }
}

/* Compressing stores and expanding loads touch as many elements as the mask has bits, packed from
   the address on. */
static bool is_packed(const struct pm_x86 *x86) {
    return x86->insn.meta.category == ZYDIS_CATEGORY_COMPRESS ||
           x86->insn.meta.category == ZYDIS_CATEGORY_EXPAND;
}

static void describe_mask(const struct pm_x86 *x86, const ZydisDecodedOperand *operand,
                          struct pm_memory_operand *memory) {
    const ZydisDecodedOperand *mask = find_vector_mask(x86);
    unsigned element_bits = operand->element_size;
    if (mask) {
        memory->kind = PM_ACCESS_MASK_V;
        memory->mask = pm_x86_register(mask->reg.value).number;
        element_bits = vector_mask_element_bits(x86->insn.mnemonic);
    } else if (has_mask_register(x86) && mask_selects_elements(x86, operand)) {
        memory->kind = is_packed(x86) ? PM_ACCESS_PACKED_K : PM_ACCESS_MASK_K;
        memory->mask = pm_x86_register(x86->insn.avx.mask.reg).number;
    } else {
        return;
    }
    memory->elements = (uint8_t)(operand->size / element_bits);
    memory->size_bytes = (uint16_t)(element_bits / 8);
}

/* ---- gathers and scatters ------------------------------------------------------------------- */

/* Bytes of an index and of an element, by the two letters in the mnemonic (d/q, then the type). */
static void gather_sizes(ZydisMnemonic mnemonic, uint8_t *index_bytes, uint8_t *element_bytes) {
    *index_bytes = 4;
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_VGATHERQPS:
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VSCATTERQPS:
    case ZYDIS_MNEMONIC_VPSCATTERQD:
        *index_bytes = 8;
        /* fall through */
    case ZYDIS_MNEMONIC_VGATHERDPS:
    case ZYDIS_MNEMONIC_VPGATHERDD:
    case ZYDIS_MNEMONIC_VSCATTERDPS:
    case ZYDIS_MNEMONIC_VPSCATTERDD:
        *element_bytes = 4;
        return;
    case ZYDIS_MNEMONIC_VGATHERQPD:
    case ZYDIS_MNEMONIC_VPGATHERQQ:
    case ZYDIS_MNEMONIC_VSCATTERQPD:
    case ZYDIS_MNEMONIC_VPSCATTERQQ:
        *index_bytes = 8;
        /* fall through */
    default:
        *element_bytes = 8;
    }
}

static void describe_gather(const struct pm_x86 *x86, const ZydisDecodedOperand *operand,
                            struct pm_memory_operand *memory) {
    uint8_t index_bytes, element_bytes;
    gather_sizes(x86->insn.mnemonic, &index_bytes, &element_bytes);
    bool by_mask_register = x86->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    memory->kind = by_mask_register ? PM_ACCESS_GATHER_K : PM_ACCESS_GATHER_V;
    /* The AVX2 form has three operands: destination, memory, mask. */
    memory->mask =
        pm_x86_register(by_mask_register ? x86->insn.avx.mask.reg : x86->operands[2].reg.value)
            .number;
    memory->index = pm_x86_register(operand->mem.index).number;
    memory->index_bytes = index_bytes;
    memory->size_bytes = element_bytes;
    unsigned widest = index_bytes > element_bytes ? index_bytes : element_bytes;
    memory->elements = (uint8_t)(x86->insn.avx.vector_length / (8 * widest));
}

/* ---- bits ----------------------------------------------------------------------------------- */

/* bt and its like with the bit's number in a register, which may lie far from the address. */
static bool is_bit_string(const struct pm_x86 *x86) {
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        return x86->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    default:
        return false;
    }
}

/* ---- all of them ---------------------------------------------------------------------------- */

static uint8_t address_register(ZydisRegister name) {
    struct pm_x86_register found = pm_x86_register(name);
    if (found.file == PM_X86_FILE_PC)
        return PM_REGISTER_PC;
    return found.file == PM_X86_FILE_GENERAL ? found.number : PM_REGISTER_NONE;
}

/* repe and repne of cmps and scas. */
static uint8_t stops_early(const struct pm_x86 *x86) {
    bool until_equal = (x86->insn.attributes & ZYDIS_ATTRIB_HAS_REPNE) != 0;
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
        return until_equal ? PM_CALLED_REPNE_CMPS : PM_CALLED_REPE_CMPS;
    case ZYDIS_MNEMONIC_SCASB:
    case ZYDIS_MNEMONIC_SCASW:
    case ZYDIS_MNEMONIC_SCASD:
    case ZYDIS_MNEMONIC_SCASQ:
        return until_equal ? PM_CALLED_REPNE_SCAS : PM_CALLED_REPE_SCAS;
    default:
        return 0;
    }
}

static void describe(const struct pm_x86 *x86, const ZydisDecodedOperand *operand,
                     const struct pm_insn *insn, struct pm_memory_operand *memory) {
    memory->base = address_register(operand->mem.base);
    memory->index = address_register(operand->mem.index);
    memory->scale = operand->mem.scale;
    memory->displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
    if (memory->base == PM_REGISTER_PC)
        memory->displacement += (int64_t)(insn->address + insn->length);
    memory->displacement += stack_move(x86, operand);
    if (operand->mem.segment == ZYDIS_REGISTER_FS)
        memory->segment = 1;
    else if (operand->mem.segment == ZYDIS_REGISTER_GS)
        memory->segment = 2;
    memory->access = find_access(operand);
    memory->size_bytes = (uint16_t)size_bytes(x86, operand);
    memory->mask = PM_REGISTER_NONE;
    memory->implicit = is_stack_traffic(x86, operand);
    if (pm_x86_is_string(x86) && pm_x86_is_rep(x86)) {
        memory->kind = PM_ACCESS_STRING;
        memory->stops_early = stops_early(x86);
    } else if (is_bit_string(x86)) {
        memory->kind = PM_ACCESS_BIT;
        memory->mask = pm_x86_register(x86->operands[1].reg.value).number;
    } else if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
        describe_gather(x86, operand, memory);
    } else {
        describe_mask(x86, operand, memory);
    }
}

void pm_x86_find_memory(const struct pm_x86 *x86, struct pm_insn *insn,
                        struct pm_memory_operand *memory) {
    insn->n_memory = 0;
    for (unsigned i = 0; i < x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &x86->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || !pm_x86_is_access(x86, operand) ||
            insn->n_memory == PM_INSN_MEMORY)
            continue;
        describe(x86, operand, insn, &memory[insn->n_memory]);
        insn->n_memory++;
    }
    /* movs: Zydis names the destination first; memory is read before it is written. */
    if (insn->n_memory == 2 && memory[0].access == PM_ACCESS_STORE &&
        memory[1].access == PM_ACCESS_LOAD) {
        struct pm_memory_operand store = memory[0];
        memory[0] = memory[1];
        memory[1] = store;
    }
}
