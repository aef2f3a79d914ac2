/* How many entries a jump table has: what bounds the index, searched for against the direction of
   control over all paths that lead to the load.  The largest bound counts, and if one path shows
   none there is none.  Needs decoded instructions and the jumps between them. */
#include "binlift/x86/x86_tables.h"

#include <string.h>

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
    return place->reg != PM_REGISTER_NONE && pm_slice_general(operand) == place->reg;
}

/* Values that the branch at K lets through behind `cmp $limit`; 0: it does not say.  TAKEN: control
   goes to its target. */
static uint64_t entries_of_branch(const struct pm_slice *slice, uint32_t k, bool taken,
                                  uint64_t limit) {
    struct pm_x86 x86;
    bool small = limit < INT16_MAX; /* else a signed comparison is no bound */
    if (!pm_slice_decode(slice, k, &x86))
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

static uint64_t settle(struct pm_slice *slice, const struct trail *trail, uint64_t bound) {
    bound += (uint64_t)trail->added;
    if (trail->ceiling && (bound == 0 || bound > trail->ceiling)) {
        slice->only_width = true;
        return trail->ceiling;
    }
    return bound <= UINT32_MAX ? bound : 0;
}

static uint64_t nothing_found(struct pm_slice *slice, const struct trail *trail) {
    slice->only_width |= trail->ceiling != 0;
    return trail->ceiling && !trail->added ? trail->ceiling : 0;
}

static uint64_t follow(struct pm_slice *slice, uint32_t k, struct trail trail, unsigned n_splits);

/* `movzbl (bytes, idx), reg`: a table of bytes that the index is looked up in. */
static uint64_t largest_of_bytes(struct pm_slice *slice, uint32_t k,
                                 const ZydisDecodedOperand *source) {
    uint64_t table, n;
    if (source->size != 8 || source->mem.scale > 1 || source->mem.index == ZYDIS_REGISTER_NONE)
        return 0;
    uint8_t index = pm_slice_address_part(source->mem.index);
    if (source->mem.base == ZYDIS_REGISTER_NONE)
        table = (uint64_t)source->mem.disp.value;
    else if (pm_slice_base(slice, k, pm_slice_address_part(source->mem.base), WANT_ABSOLUTE, 0,
                           &table))
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
static uint64_t bound_of_compare(const struct pm_slice *slice, const struct pm_x86 *x86,
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
        if (!pm_slice_defines(insn, trail->compared[i].reg))
            trail->compared[n++] = trail->compared[i];
    trail->n_compared = n;
}

static bool move_to(struct pm_slice *slice, struct trail *trail, uint8_t reg, uint64_t *bound) {
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
static uint64_t bound_of_shift(struct pm_slice *slice, uint32_t k, const struct trail *trail,
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
static bool trace_definition(struct pm_slice *slice, uint32_t k, const struct pm_x86 *x86,
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
            return move_to(slice, trail, pm_slice_address_part(second->mem.index),
                           bound); /* -O0: lea 0(,idx,4) */
        if (second->mem.index != ZYDIS_REGISTER_NONE || second->mem.disp.value < -INT16_MAX ||
            second->mem.disp.value > INT16_MAX)
            return true;
        trail->added += second->mem.disp.value;
        return move_to(slice, trail, pm_slice_address_part(second->mem.base), bound);
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
    uint8_t source = pm_slice_general(second);
    *bound = 0;
    return source == PM_REGISTER_NONE || move_to(slice, trail, source, bound);
}

/* Steps back over instruction K; true: *BOUND is the answer. */
static bool step_back(struct pm_slice *slice, uint32_t k, struct trail *trail, uint64_t *bound) {
    const struct pm_insn *insn = &slice->insns[k];
    struct pm_x86 x86;
    *bound = 0;
    if (insn->control == PM_CONTROL_BRANCH)
        return false;
    if (insn->control == PM_CONTROL_CALL || insn->control == PM_CONTROL_CALL_INDIRECT) {
        trail->branch = PM_NONE;
        forget_compared(trail, insn);
        return trail->place.reg != PM_REGISTER_NONE && pm_slice_defines(insn, trail->place.reg);
    }
    if (!pm_slice_decode(slice, k, &x86))
        return true;
    const ZydisDecodedOperand *first = &x86.operands[0], *second = &x86.operands[1];
    uint64_t compared = bound_of_compare(slice, &x86, trail);
    if (insn->registers->defs.general & PM_FLAGS_MASK)
        trail->branch = PM_NONE;
    if (compared && is_same(&trail->place, first)) {
        *bound = settle(slice, trail, compared);
        return true;
    }
    if (compared && pm_slice_general(first) != PM_REGISTER_NONE && trail->n_compared < 4) {
        trail->compared[trail->n_compared].reg = pm_slice_general(first);
        trail->compared[trail->n_compared++].bound = compared;
    }
    if (trail->place.reg == PM_REGISTER_NONE && x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV &&
        is_same(&trail->place, second) && pm_slice_general(first) != PM_REGISTER_NONE) {
        struct trail copied = *trail; /* loaded once to be compared, and again to be used */
        if (move_to(slice, &copied, pm_slice_general(first), bound))
            return true;
    }
    forget_compared(trail, insn);
    if (trail->place.reg == PM_REGISTER_NONE) {
        bool stores = x86.insn.mnemonic == ZYDIS_MNEMONIC_MOV && is_same(&trail->place, first);
        /* cmp before the value was stored */
        if (stores && pm_slice_general(second) != PM_REGISTER_NONE)
            return move_to(slice, trail, pm_slice_general(second), bound);
        return stores;
    }
    return pm_slice_defines(insn, trail->place.reg) &&
           trace_definition(slice, k, &x86, trail, bound);
}

bool pm_slice_runs_into(const struct pm_insn *insn) {
    return insn->control != PM_CONTROL_JUMP && insn->control != PM_CONTROL_JUMP_INDIRECT &&
           insn->control != PM_CONTROL_RETURN && insn->control != PM_CONTROL_STOP;
}

/* Goes back over instruction FROM, which control left by its target if JUMPED. */
static bool cross(struct pm_slice *slice, uint32_t from, bool jumped, struct trail *trail,
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
static uint64_t follow(struct pm_slice *slice, uint32_t k, struct trail trail, unsigned n_splits) {
    for (;;) {
        uint64_t bound;
        if (slice->n_steps++ > MOST_STEPS)
            return nothing_found(slice, &trail);
        size_t at = pm_first_jump_to(slice->jumps, slice->n_jumps, k), n_jumps = 0;
        while (at + n_jumps < slice->n_jumps && slice->jumps[at + n_jumps].to == k)
            n_jumps++;
        bool runs = k > slice->first && pm_slice_runs_into(&slice->insns[k - 1]);
        if (n_jumps + runs == 0 || (n_jumps + runs > 1 && n_splits == 0))
            return nothing_found(slice, &trail);
        if (n_jumps + runs == 1) {
            k = runs ? k - 1 : slice->jumps[at].from;
            if (cross(slice, k, !runs, &trail, &bound))
                return bound;
            continue;
        }
        uint64_t most = 0;
        for (size_t i = 0; i < n_jumps + runs; i++) { /* each by itself; the fall-through last */
            struct trail other = trail;
            uint32_t from = i < n_jumps ? slice->jumps[at + i].from : k - 1;
            if (!cross(slice, from, i < n_jumps, &other, &bound))
                bound = follow(slice, from, other, n_splits - 1);
            if (!bound)
                return 0;
            most = bound > most ? bound : most;
        }
        return most;
    }
}

/* How many entries the index lets through that instruction LOAD uses; 0 not known. */
uint64_t pm_slice_bound(struct pm_slice *slice, uint32_t load, uint8_t index) {
    struct trail trail = {.place = {index, {0}}, .branch = PM_NONE};
    if (index == PM_REGISTER_NONE)
        return 0;
    slice->n_steps = 0;
    slice->only_width = false;
    return follow(slice, load, trail, MOST_SPLITS);
}
