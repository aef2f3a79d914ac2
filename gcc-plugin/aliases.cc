/* Which references of a loop may touch the same bytes.  Asks GCC's alias oracle about the memory
   operands of the final instructions, each by the expression it comes from, which register
   allocation and scheduling trust as well.  Needs the final loops and one note of each operand.

   The answer has to hold over all iterations of one execution of a loop.  Therefore only what stays
   through all of them is compared: declared objects, with the extent that an access can reach, and
   what a pointer may point to at any time.  Not used:
   - offsets from a pointer, which moves;
   - the types of two accesses through pointers: memory may change its type between a load and a
     store.  A declared object of C or Fortran cannot;
   - points-to facts in a loop that may free and allocate: the same bytes may come back under
     another name;
   - `restrict` of an inlined routine, which holds for one call of it, and of a function that calls
     itself, whose recursion may have become the loop. */
#include "function_state.h"

/* Above these a loop has no alias facts: comparing grows with the square of the references, and a
   list of nearly all pairs is not worth its bytes. */
enum { MAX_REFERENCES = 128, MAX_PAIRS_PER_REFERENCE = 8 };

struct loop_access {
    int reference;
    bool store;
    tree base;    /* a declaration, or what a pointer leads to (MEM_REF); NULL unknown */
    bool bounded; /* of a declaration: only these bits of it */
    poly_int64 bit, n_bits;
    alias_set_type set; /* of the access' type; 0 conflicts with all */
};

/* Of the function at hand, while pm_emit_labels runs. */
static std::map<int, std::vector<loop_access>> accesses_of_loop;

/* ---- functions that call themselves ---- */

static std::set<unsigned> recursive; /* by DECL_UID of the origin of clones */

/* Before a recursion becomes a loop, early and late. */
void pm_note_recursion() {
    basic_block block;
    FOR_EACH_BB_FN(block, cfun) {
        for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi)) {
            gcall *call = dyn_cast<gcall *>(gsi_stmt(gsi));
            tree callee = call ? gimple_call_fndecl(call) : NULL_TREE;
            if (callee && DECL_ORIGIN(callee) == DECL_ORIGIN(current_function_decl))
                recursive.insert(DECL_UID(DECL_ORIGIN(current_function_decl)));
        }
    }
}

static bool restrict_holds() {
    return !in_lto_p && !recursive.count(DECL_UID(DECL_ORIGIN(current_function_decl)));
}

/* ---- accesses ---- */

/* Bits that the access can reach in its declaration; false if they may be beyond it. */
static bool find_bounds(loop_access *what, const_rtx memory, poly_int64 bit, poly_int64 max_bits) {
    what->bounded = false;
    if (!MEM_OFFSET_KNOWN_P(memory) || !MEM_SIZE_KNOWN_P(memory) || !known_size_p(max_bits))
        return true;
    poly_int64 first = MEM_OFFSET(memory) * BITS_PER_UNIT;
    what->bit = bit;
    what->n_bits = first + upper_bound(max_bits, MEM_SIZE(memory) * BITS_PER_UNIT);
    tree size = DECL_SIZE(what->base);
    poly_int64 bits_of_declaration;
    if (!size || !poly_int_tree_p(size, &bits_of_declaration) || maybe_lt(first, 0) ||
        maybe_lt(bit, 0) || maybe_gt(what->bit + what->n_bits, bits_of_declaration))
        return false;
    what->bounded = true;
    return true;
}

/* Variables that share a place on the stack are spoken of by one pointer. */
static tree without_partition(tree declaration) {
    auto pointers = cfun->gimple_df ? cfun->gimple_df->decls_to_pointers : NULL;
    tree *pointer = pointers ? pointers->get(declaration) : NULL;
    return pointer ? build_simple_mem_ref(*pointer) : declaration;
}

void pm_note_access(int reference, int final_loop, const_rtx memory, bool store) {
    tree expression = MEM_EXPR(memory);
    loop_access what = {reference, store, NULL_TREE, false, 0, 0, 0};
    if (expression) {
        poly_int64 bit, n_bits, max_bits;
        bool reversed;
        what.base = get_ref_base_and_extent(expression, &bit, &n_bits, &max_bits, &reversed);
        what.set = MEM_ALIAS_SET(memory);
        if (DECL_P(what.base)) {
            what.base = without_partition(what.base);
            if (DECL_P(what.base) && !find_bounds(&what, memory, bit, max_bits))
                what.base = NULL_TREE;
        } else if (TREE_CODE(what.base) != MEM_REF && TREE_CODE(what.base) != TARGET_MEM_REF) {
            what.base = NULL_TREE;
        }
    }
    accesses_of_loop[final_loop].push_back(what);
}

/* ---- loops that may allocate ---- */

/* Functions that touch the memory that they are given, or none, and nothing else. */
static bool keeps_allocations(rtx_insn *call) {
    if (RTL_CONST_OR_PURE_CALL_P(call))
        return true;
    tree callee = get_call_fndecl(call);
    if (!callee || !fndecl_built_in_p(callee, BUILT_IN_NORMAL))
        return false;
    switch (DECL_FUNCTION_CODE(callee)) {
    case BUILT_IN_MEMCPY:
    case BUILT_IN_MEMMOVE:
    case BUILT_IN_MEMSET:
        return true;
    default:
        return mathfn_built_in_type(as_combined_fn(DECL_FUNCTION_CODE(callee))) != NULL_TREE;
    }
}

static std::set<int> find_allocating_loops() {
    struct pm_function_state *s = pm_state();
    std::set<int> loops;
    for (rtx_insn *insn = get_insns(); insn; insn = NEXT_INSN(insn)) {
        if (!NONDEBUG_INSN_P(insn))
            continue;
        bool unknown = CALL_P(insn)
                           ? !keeps_allocations(insn)
                           : asm_noperands(PATTERN(insn)) >= 0 ||
                                 GET_CODE(PATTERN(insn)) == ASM_INPUT || cfun->calls_alloca;
        auto in_loop = s->final_loop_of_insn.find(INSN_UID(insn));
        if (!unknown || in_loop == s->final_loop_of_insn.end())
            continue;
        for (int loop = in_loop->second; loop; loop = s->final_loops[loop].parent)
            loops.insert(loop);
    }
    return loops;
}

/* ---- the oracle ---- */

static tree pointer_of(tree base) {
    return TREE_CODE(base) == TARGET_MEM_REF ? TMR_BASE(base) : TREE_OPERAND(base, 0);
}

/* GCC marks with clique 1 what its own function's restrict parameters tell apart; other cliques
   come from inlined routines. */
static bool apart_by_restrict(tree a, tree b, bool allocates) {
    if (MR_DEPENDENCE_CLIQUE(a) != 1 || MR_DEPENDENCE_CLIQUE(b) != 1 ||
        MR_DEPENDENCE_BASE(a) == MR_DEPENDENCE_BASE(b))
        return false;
    return restrict_holds() && (!allocates || (MR_DEPENDENCE_BASE(a) && MR_DEPENDENCE_BASE(b)));
}

static bool declarations_keep_their_type() {
    const char *language = pm_language();
    return !in_lto_p && (pm_is_fortran() || strncmp(language, "GNU C++", strlen("GNU C++")) != 0);
}

/* What a pointer may point to leaves out, for a restrict parameter, what others point to. */
static bool depends_on_restrict(tree pointer) {
    STRIP_NOPS(pointer);
    if (TREE_CODE(pointer) != SSA_NAME || !POINTER_TYPE_P(TREE_TYPE(pointer)))
        return false;
    struct ptr_info_def *known = SSA_NAME_PTR_INFO(pointer);
    return known && known->pt.vars_contains_restrict;
}

static bool may_point_alike(tree a, tree b) {
    if (!restrict_holds() && (depends_on_restrict(a) || depends_on_restrict(b)))
        return true;
    return ptr_derefs_may_alias_p(a, b);
}

static bool pointer_may_reach(const loop_access &through, const loop_access &declared) {
    if (declarations_keep_their_type() &&
        !alias_sets_conflict_p(get_alias_set(TREE_TYPE(declared.base)), through.set))
        return false;
    return may_point_alike(pointer_of(through.base),
                           build1(ADDR_EXPR, ptr_type_node, declared.base));
}

static bool may_alias(const loop_access &a, const loop_access &b, bool allocates) {
    if (!a.base || !b.base)
        return true;
    if (DECL_P(a.base) && DECL_P(b.base)) {
        int same = compare_base_decls(a.base, b.base);
        if (same != 1)
            return same != 0;
        return !a.bounded || !b.bounded || ranges_maybe_overlap_p(a.bit, a.n_bits, b.bit, b.n_bits);
    }
    if (DECL_P(a.base))
        return pointer_may_reach(b, a);
    if (DECL_P(b.base))
        return pointer_may_reach(a, b);
    if (apart_by_restrict(a.base, b.base, allocates))
        return false;
    return allocates || may_point_alike(pointer_of(a.base), pointer_of(b.base));
}

static void compare_references(int final_loop, const std::vector<loop_access> &accesses,
                               bool allocates) {
    std::map<std::pair<int, int>, bool> pairs; /* references → may alias */
    std::set<int> references;
    for (const loop_access &what : accesses)
        references.insert(what.reference);
    if (references.size() < 2 || references.size() > MAX_REFERENCES)
        return;
    for (size_t i = 0; i < accesses.size(); i++)
        for (size_t j = 0; j < i; j++) {
            const loop_access &a = accesses[i], &b = accesses[j];
            if (a.reference == b.reference || (!a.store && !b.store))
                continue;
            bool &known = pairs[std::minmax(a.reference, b.reference)];
            known = known || may_alias(a, b, allocates);
        }
    size_t n_listed = 0;
    for (const auto &pair : pairs)
        n_listed += pair.second;
    if (n_listed == pairs.size() || n_listed > MAX_PAIRS_PER_REFERENCE * references.size())
        return;
    pm_state()->final_loops[final_loop].flags |= PM_LOOP_ALIAS_KNOWN;
    for (const auto &pair : pairs)
        if (pair.second)
            pm_state()->may_alias.push_back({final_loop, pair.first.first, pair.first.second});
}

void pm_record_aliases() {
    std::set<int> allocating = find_allocating_loops();
    for (const auto &entry : accesses_of_loop)
        compare_references(entry.first, entry.second, allocating.count(entry.first) != 0);
    accesses_of_loop.clear();
}
