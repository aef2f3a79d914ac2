/* The memory operands of one final instruction: load or store, what kind of access, and which
   reference of the source it is. */
#include "function_state.h"

struct operand {
    const_rtx memory;
    bool load, store;
};

static bool is_phantom(const_rtx memory) { return GET_CODE(XEXP(memory, 0)) == SCRATCH; }

static void note_store(rtx target, const_rtx, void *stores) {
    while (GET_CODE(target) == SUBREG || GET_CODE(target) == ZERO_EXTRACT ||
           GET_CODE(target) == STRICT_LOW_PART)
        target = XEXP(target, 0);
    if (MEM_P(target))
        ((std::set<const_rtx> *)stores)->insert(target);
}

/* An instruction that reads and writes one place names it twice; it has one operand. */
static void add_operand(std::vector<operand> *operands, const_rtx memory, bool store) {
    for (operand &known : *operands)
        if (rtx_equal_p(XEXP(known.memory, 0), XEXP(memory, 0))) {
            known.load |= !store;
            known.store |= store;
            return;
        }
    operands->push_back({memory, !store, store});
}

/* A masked store is written as merging with what was there, which it does not read. */
static const_rtx merged_with(rtx_insn *insn) {
    rtx set = single_set(insn);
    if (!set || !MEM_P(SET_DEST(set)) || GET_CODE(SET_SRC(set)) != VEC_MERGE)
        return NULL_RTX;
    const_rtx kept = XEXP(SET_SRC(set), 1);
    return rtx_equal_p(kept, SET_DEST(set)) ? kept : NULL_RTX;
}

static std::vector<operand> operands_of(rtx_insn *insn) {
    std::vector<operand> operands;
    rtx pattern = PATTERN(insn);
    if (GET_CODE(pattern) == USE || GET_CODE(pattern) == CLOBBER || GET_CODE(pattern) == ADDR_VEC ||
        GET_CODE(pattern) == ADDR_DIFF_VEC)
        return operands;
    const_rtx kept = merged_with(insn);
    std::set<const_rtx> stores;
    note_stores(insn, note_store, &stores);
    subrtx_iterator::array_type array;
    FOR_EACH_SUBRTX(iterator, array, pattern, NONCONST) {
        const_rtx x = *iterator;
        if (GET_CODE(x) == CLOBBER || GET_CODE(x) == USE) {
            iterator.skip_subrtxes();
        } else if (GET_CODE(x) == CALL) {
            /* (call (mem TARGET)): TARGET is memory itself in an indirect call through it. */
            const_rtx target = XEXP(XEXP(x, 0), 0);
            if (MEM_P(target))
                add_operand(&operands, target, false);
            iterator.skip_subrtxes();
        } else if (MEM_P(x)) {
            if (is_phantom(x) || (x == kept && !stores.count(x)))
                iterator.skip_subrtxes();
            else
                add_operand(&operands, x, stores.count(x) != 0);
        }
    }
    return operands;
}

bool pm_has_memory_operand(rtx_insn *insn) { return !operands_of(insn).empty(); }

/* ---- what kind ---- */

static bool uses_frame(const_rtx address) {
    subrtx_iterator::array_type array;
    FOR_EACH_SUBRTX(iterator, array, address, NONCONST) {
        if (REG_P(*iterator) &&
            (REGNO(*iterator) == STACK_POINTER_REGNUM ||
             (frame_pointer_needed && REGNO(*iterator) == HARD_FRAME_POINTER_REGNUM)))
            return true;
    }
    return false;
}

static bool is_constant_pool(const_rtx address) {
    subrtx_iterator::array_type array;
    FOR_EACH_SUBRTX(iterator, array, address, ALL) {
        if (GET_CODE(*iterator) == SYMBOL_REF && CONSTANT_POOL_ADDRESS_P(*iterator))
            return true;
    }
    return false;
}

/* Position-independent code loads a table's entry first and jumps later. */
static bool loads_jump_table(rtx_insn *insn, const_rtx memory) {
    if (tablejump_p(insn, NULL, NULL))
        return true;
    if (!MEM_READONLY_P(memory) || !MEM_NOTRAP_P(memory) || MEM_EXPR(memory))
        return false;
    rtx_insn *next = NEXT_INSN(insn);
    while (next && !JUMP_P(next) && !LABEL_P(next) && !BARRIER_P(next))
        next = NEXT_INSN(next);
    return next && JUMP_P(next) && tablejump_p(next, NULL, NULL);
}

static enum pm_operand_class class_of(rtx_insn *insn, const operand &what) {
    const_rtx address = XEXP(what.memory, 0);
    tree expression = MEM_EXPR(what.memory);
    if (GET_RTX_CLASS(GET_CODE(address)) == RTX_AUTOINC && uses_frame(address)) /* push and pop */
        return PM_OPERAND_FRAME;
    if (expression && expression == get_spill_slot_decl(false))
        return PM_OPERAND_SPILL;
    if (is_constant_pool(address))
        return PM_OPERAND_CONSTANT_POOL;
    if (CALL_P(insn))
        return PM_OPERAND_CALL_TARGET;
    if (asm_noperands(PATTERN(insn)) >= 0)
        return PM_OPERAND_ASM;
    if (RTX_FRAME_RELATED_P(insn))
        return PM_OPERAND_FRAME;
    if (loads_jump_table(insn, what.memory))
        return PM_OPERAND_JUMP_TABLE;
    if (expression)
        return PM_OPERAND_SOURCE;
    return uses_frame(address) ? PM_OPERAND_FRAME : PM_OPERAND_OTHER;
}

/* ---- which reference ---- */

/* Of a tag the side that fits, where it names a copy from memory to memory. */
static int fitting_side(int identity, bool store) {
    struct pm_marked_reference *reference = pm_find_reference(identity);
    if (!reference || reference->phase == PHASE_SOURCE)
        return 0;
    if (reference->store != store && reference->copy_partner)
        return reference->copy_partner;
    return identity;
}

static bool same_strides(const struct pm_marked_reference &a, const struct pm_marked_reference &b) {
    if (a.source_loop != b.source_loop || a.levels.size() != b.levels.size())
        return false;
    for (size_t i = 0; i < a.levels.size(); i++) {
        const struct pm_marked_stride &x = a.levels[i].stride, &y = b.levels[i].stride;
        if (x.kind != y.kind || x.bytes != y.bytes || x.expression != y.expression)
            return false;
    }
    return true;
}

/* The reference to a variable that is the only one, or like all others, in the source loop. */
static int only_reference_to(tree declaration, bool store, int source_loop) {
    auto &of_declaration = pm_state()->references_of_decl;
    auto found = of_declaration.find(DECL_UID(declaration));
    if (found == of_declaration.end())
        return 0;
    int result = 0;
    for (int identity : found->second) {
        struct pm_marked_reference *candidate = pm_find_reference(identity);
        if (candidate->source_loop != source_loop || candidate->store != store)
            continue;
        if (result && !same_strides(*candidate, *pm_find_reference(result)))
            return 0;
        result = identity;
    }
    return result;
}

/* A place that no statement names, as a variable that lives on the stack without optimisation: its
   memory attributes tell the object and whether the address stays. */
static int reference_by_attributes(rtx_insn *insn, const operand &what) {
    tree expression = MEM_EXPR(what.memory), base = get_base_address(expression);
    if (!base || !DECL_P(base))
        return 0;
    struct pm_marked_reference reference;
    reference.phase = PHASE_EXPAND;
    reference.store = what.store;
    reference.flags = what.store ? PM_REFERENCE_STORE : 0;
    if (MEM_SIZE_KNOWN_P(what.memory) && MEM_SIZE(what.memory).is_constant())
        reference.size_bytes = MEM_SIZE(what.memory).to_constant();
    reference.object = pm_object_of_reference(expression, NULL);
    reference.text = pm_reference_text(expression);
    reference.fixed_address = pm_address_of_reference(expression).empty();
    expanded_location place = expand_location(INSN_LOCATION(insn));
    reference.file = place.file ? place.file : "";
    reference.line = place.line;
    return pm_add_reference(reference);
}

/* A variable that lives on the stack, as all do without optimisation, is loaded on the way to an
   access of something else, by an instruction that has that access's location. */
static bool is_another_variable(tree expression, int identity) {
    if (!expression || !DECL_P(expression))
        return false;
    auto &of_declaration = pm_state()->references_of_decl;
    auto found = of_declaration.find(DECL_UID(expression));
    return found == of_declaration.end() ||
           std::find(found->second.begin(), found->second.end(), identity) == found->second.end();
}

static int reference_of(rtx_insn *insn, const operand &what, int source_loop) {
    tree expression = MEM_EXPR(what.memory);
    if (expression) {
        int identity = fitting_side(pm_tag_of_tree(expression), what.store);
        if (identity)
            return identity;
    }
    int identity = fitting_side(pm_tag_of_location(INSN_LOCATION(insn)), what.store);
    if (identity && pm_find_reference(identity)->store == what.store &&
        !is_another_variable(expression, identity))
        return identity;
    if (!expression)
        return 0;
    tree base = get_base_address(expression);
    if (base && DECL_P(base)) {
        identity = only_reference_to(base, what.store, source_loop);
        if (identity)
            return identity;
    }
    return reference_by_attributes(insn, what);
}

void pm_record_operands(rtx_insn *insn, struct pm_code_position at) {
    struct pm_function_state *s = pm_state();
    auto in_loop = s->final_loop_of_insn.find(INSN_UID(insn));
    int final_loop = in_loop == s->final_loop_of_insn.end() ? 0 : in_loop->second;
    int source_loop = final_loop ? s->final_loops[final_loop].source_loop : 0;
    for (const operand &what : operands_of(insn)) {
        struct pm_marked_operand record;
        record.at = at;
        record.operand_class = class_of(insn, what);
        record.access = (what.load ? 1 : 0) | (what.store ? 2 : 0);
        record.final_loop = final_loop;
        record.reference = 0;
        if (record.operand_class == PM_OPERAND_SOURCE || record.operand_class == PM_OPERAND_ASM ||
            record.operand_class == PM_OPERAND_OTHER)
            record.reference = reference_of(insn, what, source_loop);
        if (record.operand_class == PM_OPERAND_OTHER && record.reference)
            record.operand_class = PM_OPERAND_SOURCE;
        s->memory_operands.push_back(record);
        if (record.reference && final_loop)
            pm_note_access(record.reference, final_loop, what.memory, what.store);
    }
}
