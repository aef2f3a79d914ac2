/* The form of a jump table, by slicing backwards from an indirect jump.  What GCC and Clang emit:

     jmp  *table(,idx,8)                                       absolute, not PIC
     mov  table(,idx,8), r;  jmp *r                            the same at -O0
     shl $3, r;  add $table, r;  mov (r), r;  jmp *r          absolute, 64-bit index at -O0
     lea  table(%rip), b;  movslq (b,idx,4), r;  add b, r;  jmp *r          relative, PIC
     lea  table(%rip), b;  mov (b,idx), %e;  cltq;  lea table(%rip), c;  add c, r;  jmp *r   -O0

   in front of which `cmp $n, idx; ja default` bounds the index.  Between these, instructions of
   the neighbourhood may stand, and the base register may be set far away, outside a loop.  So the
   base is searched for among all places in the routine before the jump that set that register,
   nearest first, and taken when the first entry leads into the code around the jump.  Where labels
   are computed (`goto *(&&label + offset[i])`) entries are relative to a label instead.

   The bound is searched for against the direction of control, over all ways that lead to the load:
   the largest one counts, and if one way shows none there is none. */
#include "binlift/lifted.h"
#include "binlift/x86/zydis.h"

#include <string.h>

enum { LOOK_BACK = 200, MAX_MOVES = 8, NEAR_CODE = 1 << 26 };

struct slice {
    const struct pm_insn *insns;
    uint32_t jump, first;
    const struct pm_way *ways;
    size_t n_ways;
    void *image;
    pm_read_memory *read;
    bool (*is_data)(const void *image, uint64_t address);
    unsigned n_steps; /* of the search for a bound */
    bool only_width;  /* a bound came from the width of the index, not from a comparison */
};

static bool decode_at(const struct slice *slice, uint32_t k, struct pm_x86 *x86) {
    const struct pm_insn *insn = &slice->insns[k];
    const uint8_t *bytes = slice->read(slice->image, insn->address, insn->length);
    return bytes && pm_x86_decode(bytes, insn->length, x86);
}

static bool defines(const struct pm_insn *insn, unsigned reg) {
    return insn->registers->defs.general >> reg & 1;
}

/* Number of a general register operand; PM_REGISTER_NONE for another kind of operand. */
static uint8_t general(const ZydisDecodedOperand *operand) {
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return PM_REGISTER_NONE;
    struct pm_x86_register found = pm_x86_register(operand->reg.value);
    return found.file == PM_X86_FILE_GENERAL ? found.number : PM_REGISTER_NONE;
}

static uint8_t address_part(ZydisRegister name) {
    struct pm_x86_register found = pm_x86_register(name);
    return found.file == PM_X86_FILE_GENERAL ? found.number : PM_REGISTER_NONE;
}

/* The nearest instruction before K that sets REG; false: none close by, or behind a place that
   control does not fall through (calls only destroy what they may). */
static bool find_definition(const struct slice *slice, uint32_t k, unsigned reg, uint32_t *at) {
    while (k-- > slice->first && slice->jump - k < LOOK_BACK) {
        if (defines(&slice->insns[k], reg)) {
            *at = k;
            return true;
        }
    }
    return false;
}

/* Does the first entry of TABLE, relative to BASE, lead near the jump? */
static bool is_plausible(const struct slice *slice, uint64_t table, bool relative, uint64_t base) {
    uint64_t jump = slice->insns[slice->jump].address, target = 0;
    const uint8_t *bytes = slice->read(slice->image, table, relative ? 4 : 8);
    if (!bytes || !slice->is_data(slice->image, table))
        return false;
    memcpy(&target, bytes, relative ? 4 : 8);
    if (!relative)
        return true; /* may be written by the dynamic linker */
    target = base + (uint64_t)(int64_t)(int32_t)target;
    return target - jump + NEAR_CODE < 2 * (uint64_t)NEAR_CODE;
}

/* `lea table(%rip), reg` or `mov $table, reg`: the constant. */
static bool constant_of(const struct slice *slice, uint32_t k, unsigned reg, uint64_t *value) {
    struct pm_x86 x86;
    if (!decode_at(slice, k, &x86) || general(&x86.operands[0]) != reg)
        return false;
    const ZydisDecodedOperand *source = &x86.operands[1];
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_LEA && source->mem.base == ZYDIS_REGISTER_RIP) {
        *value =
            slice->insns[k].address + slice->insns[k].length + (uint64_t)source->mem.disp.value;
        return true;
    }
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV && source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        *value = source->imm.value.u;
        return true;
    }
    return false;
}

/* The store that a reload `mov d(%rsp), reg` at K takes its value from; registers only. */
static bool find_spill(const struct slice *slice, uint32_t k, uint32_t *at, uint8_t *reg) {
    struct pm_x86 reload, store;
    if (!decode_at(slice, k, &reload) || reload.insn.mnemonic != ZYDIS_MNEMONIC_MOV ||
        reload.operands[1].type != ZYDIS_OPERAND_TYPE_MEMORY ||
        reload.operands[1].mem.index != ZYDIS_REGISTER_NONE)
        return false;
    const ZydisDecodedOperandMem *slot = &reload.operands[1].mem;
    if (slot->base != ZYDIS_REGISTER_RSP && slot->base != ZYDIS_REGISTER_RBP)
        return false;
    while (k-- > slice->first) {
        if (!slice->insns[k].n_memory || slice->insns[k].memory[0].access != PM_ACCESS_STORE ||
            slice->insns[k].memory[0].displacement != slot->disp.value ||
            !decode_at(slice, k, &store) || store.insn.mnemonic != ZYDIS_MNEMONIC_MOV ||
            store.operands[0].mem.base != slot->base ||
            store.operands[0].mem.index != ZYDIS_REGISTER_NONE)
            continue;
        *at = k;
        *reg = general(&store.operands[1]);
        if (*reg != PM_REGISTER_NONE)
            return true;
    }
    return false;
}

static bool is_move_of_quadword(const struct pm_x86 *x86) {
    return x86->insn.mnemonic == ZYDIS_MNEMONIC_MOVQ || x86->insn.mnemonic == ZYDIS_MNEMONIC_VMOVQ;
}

/* The move into a vector register that `vmovq %xmm, reg` at K takes its value from: where general
   registers run out, the compiler keeps the address of a table there. */
static bool find_kept(const struct slice *slice, uint32_t k, uint32_t *at, uint8_t *reg) {
    struct pm_x86 back, kept;
    if (!decode_at(slice, k, &back) || !is_move_of_quadword(&back) ||
        back.operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        general(&back.operands[1]) != PM_REGISTER_NONE)
        return false;
    while (k-- > slice->first) {
        if (!decode_at(slice, k, &kept) || !is_move_of_quadword(&kept) ||
            kept.operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            kept.operands[0].reg.value != back.operands[1].reg.value)
            continue;
        *at = k;
        *reg = general(&kept.operands[1]);
        if (*reg != PM_REGISTER_NONE)
            return true;
    }
    return false;
}

enum wanted { WANT_ABSOLUTE, WANT_RELATIVE, WANT_RELATIVE_TO_LABEL, WANT_LABEL };

static bool is_wanted(const struct slice *slice, enum wanted wanted, uint64_t value,
                      uint64_t label) {
    enum { NEAR_LABEL = 1 << 20 };
    switch (wanted) {
    case WANT_ABSOLUTE:
        return is_plausible(slice, value, false, 0);
    case WANT_RELATIVE:
        return is_plausible(slice, value, true, value);
    case WANT_RELATIVE_TO_LABEL:
        return is_plausible(slice, value, true, label);
    default:
        return value - slice->insns[slice->jump].address + NEAR_LABEL < 2 * (uint64_t)NEAR_LABEL;
    }
}

/* Where the value that instruction K copies into a register comes from: *REG before *AT. */
static bool find_copied(const struct slice *slice, uint32_t k, uint32_t *at, uint8_t *reg) {
    struct pm_x86 x86;
    *at = k;
    if (!decode_at(slice, k, &x86))
        return false;
    *reg = general(&x86.operands[1]);
    if (*reg == PM_REGISTER_NONE && find_kept(slice, k, at, reg))
        return true;
    return x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
           (*reg != PM_REGISTER_NONE || find_spill(slice, k, at, reg));
}

/* MOVES: how many copies may be followed, in all. */
static bool find_base_by(const struct slice *slice, uint32_t k, uint8_t reg, enum wanted wanted,
                         uint64_t label, unsigned *moves, uint64_t *table) {
    if (reg == PM_REGISTER_NONE)
        return false;
    while (k-- > slice->first) {
        uint32_t at;
        uint8_t source;
        if (!defines(&slice->insns[k], reg))
            continue;
        if (constant_of(slice, k, reg, table) && is_wanted(slice, wanted, *table, label))
            return true;
        if (*moves == 0 || !find_copied(slice, k, &at, &source))
            continue;
        --*moves;
        if (find_base_by(slice, at, source, wanted, label, moves, table))
            return true; /* else it stands on another way, in the order of addresses before this */
    }
    return false;
}

/* Value of REG before instruction K as what is wanted. */
static bool find_base(const struct slice *slice, uint32_t k, uint8_t reg, enum wanted wanted,
                      uint64_t label, uint64_t *table) {
    unsigned moves = MAX_MOVES;
    return find_base_by(slice, k, reg, wanted, label, &moves, table);
}

/* ---- the bounds check ----------------------------------------------------------------------- */

/* Where the index is: a register or, at -O0, a place in memory. */
struct place {
    uint8_t reg;
    ZydisDecodedOperandMem memory; /* if reg is PM_REGISTER_NONE */
};

static bool is_same(const struct place *place, const ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return place->reg == PM_REGISTER_NONE && operand->mem.base == place->memory.base &&
               operand->mem.index == place->memory.index &&
               operand->mem.disp.value == place->memory.disp.value;
    return place->reg != PM_REGISTER_NONE && general(operand) == place->reg;
}

/* Values that the branch at K lets through behind `cmp $limit`; 0: it does not say.  TAKEN: control
   goes to its target. */
static uint64_t entries_of_branch(const struct slice *slice, uint32_t k, bool taken,
                                  uint64_t limit) {
    struct pm_x86 x86;
    bool small = limit < INT16_MAX; /* else a signed comparison is no bound */
    if (!decode_at(slice, k, &x86))
        return 0;
    switch (x86.insn.mnemonic) {
    case ZYDIS_MNEMONIC_JNBE: /* ja */
        return taken ? 0 : limit + 1;
    case ZYDIS_MNEMONIC_JBE:
        return taken ? limit + 1 : 0;
    case ZYDIS_MNEMONIC_JNB: /* jae */
        return taken ? 0 : limit;
    case ZYDIS_MNEMONIC_JB:
        return taken ? limit : 0;
    case ZYDIS_MNEMONIC_JNLE: /* jg */
        return taken || !small ? 0 : limit + 1;
    case ZYDIS_MNEMONIC_JLE:
        return taken && small ? limit + 1 : 0;
    case ZYDIS_MNEMONIC_JNL: /* jge */
        return taken || !small ? 0 : limit;
    case ZYDIS_MNEMONIC_JL:
        return taken && small ? limit : 0;
    case ZYDIS_MNEMONIC_JZ:
        return taken ? limit + 1 : 0;
    case ZYDIS_MNEMONIC_JNZ:
        return taken ? 0 : limit + 1;
    default:
        return 0;
    }
}

/* The largest value of so many bits, at most 32: an immediate is sign-extended, an index is not. */
static uint64_t values_of_width(unsigned bits) { return UINT32_MAX >> (bits < 32 ? 32 - bits : 0); }

/* What is looked for on the way back. */
struct trail {
    struct place place;
    uint64_t ceiling; /* values that the width of an extension lets through; 0 none */
    int64_t added;    /* to the value since then */
    uint32_t branch;  /* the last branch passed whose flags are not set yet; PM_NONE */
    bool taken;
    struct { /* comparisons of other registers, which a copy may turn out to be */
        uint8_t reg;
        uint64_t bound;
    } compared[4];
    unsigned n_compared;
};

enum { MOST_STEPS = 2000, MOST_SPLITS = 6, MOST_BYTES = 256 };

static uint64_t settle(struct slice *slice, const struct trail *trail, uint64_t bound) {
    bound += (uint64_t)trail->added;
    if (trail->ceiling && (bound == 0 || bound > trail->ceiling)) {
        slice->only_width = true;
        return trail->ceiling;
    }
    return bound <= UINT32_MAX ? bound : 0;
}

static uint64_t nothing_found(struct slice *slice, const struct trail *trail) {
    slice->only_width |= trail->ceiling != 0;
    return trail->ceiling && !trail->added ? trail->ceiling : 0;
}

static uint64_t follow(struct slice *slice, uint32_t k, struct trail trail, unsigned n_splits);

/* `movzbl (bytes, idx), reg`: a table of bytes that the index is looked up in. */
static uint64_t largest_of_bytes(struct slice *slice, uint32_t k,
                                 const ZydisDecodedOperand *source) {
    uint64_t table, n;
    if (source->size != 8 || source->mem.scale > 1 || source->mem.index == ZYDIS_REGISTER_NONE)
        return 0;
    uint8_t index = address_part(source->mem.index);
    if (source->mem.base == ZYDIS_REGISTER_NONE)
        table = (uint64_t)source->mem.disp.value;
    else if (find_base(slice, k, address_part(source->mem.base), WANT_ABSOLUTE, 0, &table))
        table += (uint64_t)source->mem.disp.value;
    else
        return 0;
    struct trail trail = {.place = {index, {0}}, .branch = PM_NONE};
    n = follow(slice, k, trail, MOST_SPLITS);
    const uint8_t *bytes = n && n <= MOST_BYTES ? slice->read(slice->image, table, n) : NULL;
    uint64_t largest = 0;
    for (uint64_t i = 0; bytes && i < n; i++)
        largest = bytes[i] + UINT64_C(1) > largest ? bytes[i] + UINT64_C(1) : largest;
    return largest;
}

/* A comparison with a constant at K: the bound of what it compares, 0 none. */
static uint64_t bound_of_compare(const struct slice *slice, const struct pm_x86 *x86,
                                 const struct trail *trail) {
    if (x86->insn.mnemonic != ZYDIS_MNEMONIC_CMP || trail->branch == PM_NONE ||
        x86->operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return 0;
    return entries_of_branch(slice, trail->branch, trail->taken,
                             x86->operands[1].imm.value.u & values_of_width(x86->operands[0].size));
}

static void forget_compared(struct trail *trail, const struct pm_insn *insn) {
    unsigned n = 0;
    for (unsigned i = 0; i < trail->n_compared; i++)
        if (!defines(insn, trail->compared[i].reg))
            trail->compared[n++] = trail->compared[i];
    trail->n_compared = n;
}

static bool move_to(struct slice *slice, struct trail *trail, uint8_t reg, uint64_t *bound) {
    trail->place.reg = reg;
    for (unsigned i = 0; i < trail->n_compared; i++)
        if (trail->compared[i].reg == reg) {
            *bound = settle(slice, trail, trail->compared[i].bound);
            return true;
        }
    return false;
}

static void lower_ceiling(struct trail *trail, unsigned bits) {
    uint64_t values = UINT64_C(1) << bits;
    if (!trail->added && (!trail->ceiling || values < trail->ceiling))
        trail->ceiling = values;
}

/* `shr $n` at K: by the width, or by a comparison of what is shifted. */
static uint64_t bound_of_shift(struct slice *slice, uint32_t k, const struct trail *trail,
                               uint64_t n, unsigned width) {
    enum { MOST_BITS = 15 };
    struct trail source = *trail;
    bool only_width = slice->only_width;
    source.added = 0;
    source.ceiling = 0;
    slice->only_width = false;
    uint64_t bound = follow(slice, k, source, MOST_SPLITS);
    bound = bound && !slice->only_width ? ((bound - 1) >> n) + 1 : 0;
    slice->only_width = only_width;
    if (width - n <= MOST_BITS && (!bound || bound > UINT64_C(1) << (width - n)))
        bound = UINT64_C(1) << (width - n);
    return bound ? settle(slice, trail, bound) : 0;
}

/* Instruction K defines the register that TRAIL follows; true: *BOUND is the answer. */
static bool trace_definition(struct slice *slice, uint32_t k, const struct pm_x86 *x86,
                             struct trail *trail, uint64_t *bound) {
    const ZydisDecodedOperand *first = &x86->operands[0], *second = &x86->operands[1];
    bool immediate =
        x86->insn.operand_count_visible >= 2 && second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    *bound = 0;
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_CDQE:
    case ZYDIS_MNEMONIC_CWDE:
        return false;
    case ZYDIS_MNEMONIC_AND:
        if (immediate && second->imm.value.u < UINT16_MAX)
            *bound = settle(slice, trail, second->imm.value.u + 1);
        return true;
    case ZYDIS_MNEMONIC_SHR:
        if (immediate && second->imm.value.u < first->size)
            *bound = bound_of_shift(slice, k, trail, second->imm.value.u, first->size);
        return true;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_ADD: {
        if (!immediate)
            return true;
        int64_t step = second->imm.value.s;
        if (step < -INT16_MAX || step > INT16_MAX)
            return true;
        trail->added += x86->insn.mnemonic == ZYDIS_MNEMONIC_SUB ? -step : step;
        return false;
    }
    case ZYDIS_MNEMONIC_LEA:
        if (second->mem.base == ZYDIS_REGISTER_NONE && second->mem.disp.value == 0)
            return move_to(slice, trail, address_part(second->mem.index),
                           bound); /* -O0: lea 0(,idx,4) */
        if (second->mem.index != ZYDIS_REGISTER_NONE || second->mem.disp.value < -INT16_MAX ||
            second->mem.disp.value > INT16_MAX)
            return true;
        trail->added += second->mem.disp.value;
        return move_to(slice, trail, address_part(second->mem.base), bound);
    case ZYDIS_MNEMONIC_MOVZX:
        lower_ceiling(trail, second->size);
        break;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        break;
    default:
        return true;
    }
    if (second->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        uint64_t largest =
            x86->insn.mnemonic == ZYDIS_MNEMONIC_MOVZX ? largest_of_bytes(slice, k, second) : 0;
        if (largest) {
            *bound = settle(slice, trail, largest);
            return true;
        }
        trail->place = (struct place){PM_REGISTER_NONE, second->mem};
        return false;
    }
    if (immediate) {
        *bound = settle(slice, trail, (second->imm.value.u & UINT32_MAX) + 1);
        return true;
    }
    uint8_t source = general(second);
    *bound = 0;
    return source == PM_REGISTER_NONE || move_to(slice, trail, source, bound);
}

/* Steps back over instruction K; true: *BOUND is the answer. */
static bool step_back(struct slice *slice, uint32_t k, struct trail *trail, uint64_t *bound) {
    const struct pm_insn *insn = &slice->insns[k];
    struct pm_x86 x86;
    *bound = 0;
    if (insn->control == PM_CONTROL_BRANCH)
        return false;
    if (insn->control == PM_CONTROL_CALL || insn->control == PM_CONTROL_CALL_INDIRECT) {
        trail->branch = PM_NONE;
        forget_compared(trail, insn);
        return trail->place.reg != PM_REGISTER_NONE && defines(insn, trail->place.reg);
    }
    if (!decode_at(slice, k, &x86))
        return true;
    const ZydisDecodedOperand *first = &x86.operands[0], *second = &x86.operands[1];
    uint64_t compared = bound_of_compare(slice, &x86, trail);
    if (insn->registers->defs.general & PM_FLAGS_MASK)
        trail->branch = PM_NONE;
    if (compared && is_same(&trail->place, first)) {
        *bound = settle(slice, trail, compared);
        return true;
    }
    if (compared && general(first) != PM_REGISTER_NONE && trail->n_compared < 4) {
        trail->compared[trail->n_compared].reg = general(first);
        trail->compared[trail->n_compared++].bound = compared;
    }
    if (trail->place.reg == PM_REGISTER_NONE && x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
        is_same(&trail->place, second) && general(first) != PM_REGISTER_NONE) {
        struct trail copied = *trail; /* loaded once to be compared, and again to be used */
        if (move_to(slice, &copied, general(first), bound))
            return true;
    }
    forget_compared(trail, insn);
    if (trail->place.reg == PM_REGISTER_NONE) {
        bool stores = x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV && is_same(&trail->place, first);
        /* cmp before the value was stored */
        if (stores && general(second) != PM_REGISTER_NONE)
            return move_to(slice, trail, general(second), bound);
        return stores;
    }
    return defines(insn, trail->place.reg) && trace_definition(slice, k, &x86, trail, bound);
}

static bool runs_into(const struct pm_insn *insn) {
    return insn->control != PM_CONTROL_JUMP && insn->control != PM_CONTROL_JUMP_INDIRECT &&
           insn->control != PM_CONTROL_RETURN && insn->control != PM_CONTROL_STOP;
}

/* Goes back over instruction FROM, which control left by its target if JUMPED. */
static bool cross(struct slice *slice, uint32_t from, bool jumped, struct trail *trail,
                  uint64_t *bound) {
    if (slice->insns[from].control == PM_CONTROL_BRANCH) {
        trail->branch = from;
        trail->taken = jumped;
        return false;
    }
    if (slice->insns[from].control != PM_CONTROL_NONE && jumped)
        return false;
    if (!step_back(slice, from, trail, bound))
        return false;
    if (!*bound)
        *bound = nothing_found(slice, trail);
    return true;
}

/* The bound of what TRAIL looks for before instruction K. */
static uint64_t follow(struct slice *slice, uint32_t k, struct trail trail, unsigned n_splits) {
    for (;;) {
        uint64_t bound;
        if (slice->n_steps++ > MOST_STEPS)
            return nothing_found(slice, &trail);
        size_t way = pm_first_way(slice->ways, slice->n_ways, k), n_ways = 0;
        while (way + n_ways < slice->n_ways && slice->ways[way + n_ways].to == k)
            n_ways++;
        bool runs = k > slice->first && runs_into(&slice->insns[k - 1]);
        if (n_ways + runs == 0 || (n_ways + runs > 1 && n_splits == 0))
            return nothing_found(slice, &trail);
        if (n_ways + runs == 1) {
            k = runs ? k - 1 : slice->ways[way].from;
            if (cross(slice, k, !runs, &trail, &bound))
                return bound;
            continue;
        }
        uint64_t most = 0;
        for (size_t i = 0; i < n_ways + runs; i++) { /* each by itself; the fall-through last */
            struct trail other = trail;
            uint32_t from = i < n_ways ? slice->ways[way + i].from : k - 1;
            if (!cross(slice, from, i < n_ways, &other, &bound))
                bound = follow(slice, from, other, n_splits - 1);
            if (!bound)
                return 0;
            most = bound > most ? bound : most;
        }
        return most;
    }
}

/* How many entries the index lets through that instruction LOAD uses; 0 not known. */
static uint64_t find_bound(struct slice *slice, uint32_t load, uint8_t index) {
    struct trail trail = {.place = {index, {0}}, .branch = PM_NONE};
    if (index == PM_REGISTER_NONE)
        return 0;
    slice->n_steps = 0;
    slice->only_width = false;
    return follow(slice, load, trail, MOST_SPLITS);
}

/* ---- the forms ------------------------------------------------------------------------------ */

/* shl $3, r;  add $table, r;  mov (r), …: the index of a 64-bit switch at -O0. */
static bool added_form(struct slice *slice, uint32_t k, uint8_t reg, struct pm_table_form *form) {
    struct pm_x86 x86;
    uint32_t add, shift;
    if (reg == PM_REGISTER_NONE || !find_definition(slice, k, reg, &add) ||
        !decode_at(slice, add, &x86) || x86.insn.mnemonic != ZYDIS_MNEMONIC_ADD ||
        x86.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    uint64_t table = x86.operands[1].imm.value.u;
    if (!is_plausible(slice, table, false, 0) || !find_definition(slice, add, reg, &shift) ||
        !decode_at(slice, shift, &x86) || x86.insn.mnemonic != ZYDIS_MNEMONIC_SHL ||
        x86.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || x86.operands[1].imm.value.u != 3)
        return false;
    uint64_t bound = find_bound(slice, shift, reg);
    *form = (struct pm_table_form){
        .table = table, .entry_bytes = 8, .is_checked = !slice->only_width, .max_entries = bound};
    return true;
}

/* `table(,idx,8)`, or `(b,idx,8)` with a constant b, read by instruction K. */
static bool absolute_form(struct slice *slice, uint32_t k, const ZydisDecodedOperandMem *memory,
                          struct pm_table_form *form) {
    if (memory->index == ZYDIS_REGISTER_NONE && memory->disp.value == 0)
        return added_form(slice, k, address_part(memory->base), form);
    if (memory->index == ZYDIS_REGISTER_NONE || memory->scale != 8)
        return false;
    uint64_t table = (uint64_t)memory->disp.value;
    if (memory->base != ZYDIS_REGISTER_NONE) {
        uint64_t base;
        if (!find_base(slice, k, address_part(memory->base), WANT_ABSOLUTE, 0, &base))
            return false;
        table += base;
    } else if (!is_plausible(slice, table, false, 0)) {
        return false;
    }
    uint64_t bound = find_bound(slice, k, address_part(memory->index));
    *form = (struct pm_table_form){
        .table = table, .entry_bytes = 8, .is_checked = !slice->only_width, .max_entries = bound};
    return true;
}

/* The label that REG surely has before instruction K, set in the straight line that leads there. */
static bool straight_label(const struct slice *slice, uint32_t k, uint8_t reg, uint64_t *label) {
    while (k > slice->first) {
        size_t way = pm_first_way(slice->ways, slice->n_ways, k);
        if ((way < slice->n_ways && slice->ways[way].to == k) || !runs_into(&slice->insns[k - 1]))
            return false;
        if (defines(&slice->insns[--k], reg))
            return constant_of(slice, k, reg, label) && !slice->is_data(slice->image, *label) &&
                   is_wanted(slice, WANT_LABEL, *label, 0);
    }
    return false;
}

/* Offsets that are relative to a label, not to their table: the register or constant that the load
   MEMORY at K has beside its index is the table. */
static bool find_labelled_table(const struct slice *slice, uint32_t k, uint32_t add, uint8_t base,
                                const ZydisDecodedOperandMem *memory, uint64_t *table,
                                uint64_t *label) {
    if (memory->scale != 4 || !find_base(slice, add, base, WANT_LABEL, 0, label))
        return false;
    if (memory->base == ZYDIS_REGISTER_NONE) {
        *table = (uint64_t)memory->disp.value;
        return is_plausible(slice, *table, true, *label);
    }
    return memory->disp.value == 0 &&
           find_base(slice, k, address_part(memory->base), WANT_RELATIVE_TO_LABEL, *label, table);
}

/* `movslq (b,idx,4), r` or `mov (b,idx), %r; cltq` at K, whose result is added to BASE before
   instruction ADD. */
static bool relative_form(struct slice *slice, uint32_t k, uint32_t add, uint8_t base,
                          struct pm_table_form *form) {
    struct pm_x86 x86;
    uint64_t table, label;
    if (!decode_at(slice, k, &x86))
        return false;
    bool loads =
        (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD || x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV) &&
        x86.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY && x86.operands[1].size == 32;
    if (!loads)
        return false;
    const ZydisDecodedOperandMem *memory = &x86.operands[1].mem;
    bool same_register = address_part(memory->base) == base;
    bool relative = find_base(slice, add, base, WANT_RELATIVE, 0, &table);
    uint64_t loaded; /* the address that the load has, if it is a table's by itself */
    bool has_label = straight_label(slice, add, base, &label);
    bool agrees = relative && !has_label &&
                  (same_register || memory->scale == 1 ||
                   (find_base(slice, k, address_part(memory->base), WANT_RELATIVE, 0, &loaded) &&
                    loaded == table));
    if (agrees || !find_labelled_table(slice, k, add, base, memory, &table, &label)) {
        if (!relative || has_label)
            return false;
        find_base(slice, add, base, WANT_RELATIVE, 0, &table);
        label = table;
    }
    uint8_t index = address_part(memory->scale == 4 ? memory->index : memory->base);
    uint64_t bound = index == PM_REGISTER_NONE ? 0 : find_bound(slice, k, index);
    if (!bound && memory->scale == 1) /* -O0: base and index are interchangeable */
        bound = find_bound(slice, k, address_part(memory->index));
    *form = (struct pm_table_form){.table = table,
                                   .entry_bytes = 4,
                                   .relative = true,
                                   .is_signed = true,
                                   .scale = 1,
                                   .base = label,
                                   .is_checked = !slice->only_width,
                                   .max_entries = bound};
    return true;
}

/* The load of a table entry into REG that the extension `cltq` at *K belongs to, if there is one.
 */
static bool skip_extension(const struct slice *slice, uint32_t *k, uint8_t reg) {
    struct pm_x86 x86;
    if (!decode_at(slice, *k, &x86))
        return false;
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_CDQE)
        return find_definition(slice, *k, PM_X86_RAX, k);
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD && general(&x86.operands[1]) != PM_REGISTER_NONE)
        return find_definition(slice, *k, general(&x86.operands[1]), k);
    return reg != PM_REGISTER_NONE;
}

static bool register_form(struct slice *slice, uint8_t reg, struct pm_table_form *form) {
    struct pm_x86 x86;
    uint32_t k = slice->jump, load;
    for (unsigned moves = 0; moves < MAX_MOVES; moves++) {
        if (!find_definition(slice, k, reg, &k) || !decode_at(slice, k, &x86))
            return false;
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
            x86.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return absolute_form(slice, k, &x86.operands[1].mem, form);
        if (x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
            general(&x86.operands[1]) != PM_REGISTER_NONE) {
            reg = general(&x86.operands[1]);
            continue;
        }
        break;
    }
    uint8_t a, b;
    if (x86.insn.mnemonic == ZYDIS_MNEMONIC_ADD) {
        a = general(&x86.operands[0]);
        b = general(&x86.operands[1]);
    } else if (x86.insn.mnemonic == ZYDIS_MNEMONIC_LEA && x86.operands[1].mem.scale <= 1 &&
               x86.operands[1].mem.disp.value == 0) {
        a = address_part(x86.operands[1].mem.base);
        b = address_part(x86.operands[1].mem.index);
    } else {
        return false;
    }
    if (a == PM_REGISTER_NONE || b == PM_REGISTER_NONE)
        return false;
    for (int swap = 0; swap < 2; swap++) {
        uint8_t entry = swap ? b : a, base = swap ? a : b;
        if (find_definition(slice, k, entry, &load) && skip_extension(slice, &load, entry) &&
            relative_form(slice, load, k, base, form))
            return true;
    }
    return false;
}

struct pm_table_form pm_x86_isa_find_table(const struct pm_table_query *query, bool *found) {
    struct slice slice = {query->insns, query->jump, query->first,   query->ways, query->n_ways,
                          query->image, query->read, query->is_data, 0,           false};
    struct pm_table_form form = {0};
    struct pm_x86 x86;
    *found = false;
    if (query->has_register) {
        *found = register_form(&slice, query->looks_for, &form);
        return form;
    }
    if (!decode_at(&slice, query->jump, &x86))
        return form;
    const ZydisDecodedOperand *target = &x86.operands[0];
    if (target->type == ZYDIS_OPERAND_TYPE_MEMORY)
        *found = absolute_form(&slice, query->jump, &target->mem, &form);
    else if (general(target) != PM_REGISTER_NONE)
        *found = register_form(&slice, general(target), &form);
    return form;
}
