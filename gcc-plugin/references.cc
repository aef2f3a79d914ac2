/* The accesses of a function's statements: which object, how many bytes, load or store, and the
   strides.  Each is recorded at three phases (enum pm_phase): at PHASE_SOURCE, where it is nearest
   to the source text; at PHASE_OPTIMIZED, where the code is what will be emitted, vectorised and
   with its induction variables, and scalar evolutions can still be had; and at PHASE_EXPAND, for
   what later passes made. */
#include "function_state.h"

struct memory_access {
    tree reference;
    bool store;
};

static bool is_memory(tree t) {
    tree base = get_base_address(t);
    if (!base)
        return false;
    if (TREE_CODE(base) == MEM_REF || TREE_CODE(base) == TARGET_MEM_REF)
        return true;
    return DECL_P(base) &&
           (VAR_P(base) || TREE_CODE(base) == PARM_DECL || TREE_CODE(base) == RESULT_DECL) &&
           !is_gimple_reg(base);
}

static void add_access(std::vector<memory_access> *accesses, tree reference, bool store) {
    if (TREE_CODE(reference) == WITH_SIZE_EXPR)
        reference = TREE_OPERAND(reference, 0);
    if (is_memory(reference))
        accesses->push_back({reference, store});
}

static bool add_load(gimple *, tree, tree reference, void *accesses) {
    add_access((std::vector<memory_access> *)accesses, reference, false);
    return false;
}

static bool add_store(gimple *, tree, tree reference, void *accesses) {
    add_access((std::vector<memory_access> *)accesses, reference, true);
    return false;
}

/* ---- analysis ---- */

static struct pm_marked_reference new_reference(gimple *statement, bool store,
                                                enum pm_phase phase) {
    struct pm_marked_reference reference;
    reference.phase = phase;
    reference.store = store;
    reference.source_loop = pm_source_loop_number(gimple_bb(statement)->loop_father);
    expanded_location place = expand_location(gimple_location(statement));
    reference.file = place.file ? place.file : "";
    reference.line = place.line;
    return reference;
}

/* The access as the source has it, or, where that cannot be told any more, `object[…]`. */
static std::string text_of(const memory_access &what, const struct pm_object &object) {
    std::string text = pm_reference_text(what.reference), rest = text;
    for (size_t at; (at = rest.find("[…]")) != std::string::npos;)
        rest.erase(at, strlen("[…]"));
    if (rest.find("…") == std::string::npos)
        return text;
    return object.known() ? object.name + "[…]" : std::string();
}

static bool all_known(const struct pm_marked_reference &reference) {
    for (const pm_level_stride &level : reference.levels)
        if (level.stride.kind == PM_STRIDE_UNKNOWN || level.stride.kind == PM_STRIDE_INDIRECT)
            return false;
    return true;
}

/* What was recorded at PHASE_SOURCE is nearer to the source: its text always, its object unless
   another one was found later (locations are copied to statements that GCC makes up). */
static void take_source_description(struct pm_marked_reference *reference, int identity) {
    struct pm_marked_reference *at_source = pm_find_reference(identity);
    if (at_source && at_source->phase != PHASE_SOURCE)
        at_source = pm_find_reference(at_source->source_reference);
    if (!at_source || at_source->store != reference->store)
        return;
    if (reference->object.known() && reference->object.name != at_source->object.name)
        return;
    reference->source_reference =
        at_source - &pm_state()->references[0] + pm_state()->first_identity;
    if (!at_source->text.empty())
        reference->text = at_source->text;
    if (at_source->object.known())
        reference->object = at_source->object;
}

/* SOURCE_IDENTITY: a tag that the statement has already, or 0. */
static int analyse(gimple *statement, const memory_access &what, enum pm_phase phase,
                   int source_identity) {
    struct pm_marked_reference reference = new_reference(statement, what.store, phase);
    tree size = TYPE_SIZE_UNIT(TREE_TYPE(what.reference));
    if (size && tree_fits_shwi_p(size))
        reference.size_bytes = tree_to_shwi(size);
    if (what.store)
        reference.flags |= PM_REFERENCE_STORE;
    if (TREE_THIS_VOLATILE(what.reference))
        reference.flags |= PM_REFERENCE_VOLATILE;
    reference.object = pm_object_of_reference(what.reference, gimple_bb(statement)->loop_father);
    reference.text = text_of(what, reference.object);

    std::vector<pm_address_term> terms = pm_address_of_reference(what.reference);
    reference.fixed_address = terms.empty();
    reference.levels = pm_strides_of_address(terms, gimple_bb(statement)->loop_father);
    struct pm_marked_reference *source = pm_find_reference(source_identity);
    if (source && source->phase == PHASE_OPTIMIZED && source->store == reference.store &&
        source->source_loop == reference.source_loop && !all_known(reference))
        reference.levels = source->levels;
    if (source)
        take_source_description(&reference, source_identity);

    int identity = pm_add_reference(reference);
    tree base = get_base_address(what.reference);
    if (phase == PHASE_EXPAND && base && DECL_P(base))
        pm_state()->references_of_decl[DECL_UID(base)].push_back(identity);
    return identity;
}

/* ---- masked loads and stores, gathers and scatters ---- */

/* Where the call's pointer and its vector of offsets stand; false for other calls. */
static bool is_vector_access(gcall *call, tree *pointer, tree *offsets, bool *store) {
    *offsets = NULL_TREE;
    if (gimple_call_internal_p(call)) {
        internal_fn function = gimple_call_internal_fn(call);
        *store = internal_store_fn_p(function);
        if (!internal_load_fn_p(function) && !*store)
            return false;
        *pointer = gimple_call_arg(call, 0);
        if (internal_gather_scatter_fn_p(function))
            *offsets = gimple_call_arg(call, 1);
        return POINTER_TYPE_P(TREE_TYPE(*pointer));
    }
    /* On x86 the vectoriser gathers by the target's built-in functions:
       gather (old, pointer, offsets, mask, scale), scatter (pointer, mask, offsets, …). */
    if (!gimple_call_builtin_p(call, BUILT_IN_MD) || gimple_call_num_args(call) != 5)
        return false;
    const char *name = IDENTIFIER_POINTER(DECL_NAME(gimple_call_fndecl(call)));
    *store = strstr(name, "_scatter") != NULL;
    if (!*store && !strstr(name, "_gather"))
        return false;
    *pointer = gimple_call_arg(call, *store ? 0 : 1);
    *offsets = gimple_call_arg(call, 2);
    return POINTER_TYPE_P(TREE_TYPE(*pointer));
}

/* The size of one element of a gather, of the whole vector of a masked access. */
static HOST_WIDE_INT vector_access_size(gcall *call, bool store, bool gather) {
    const unsigned value_of_builtin_scatter = 3; /* the scale stands behind it */
    unsigned last = gimple_call_num_args(call) - 1;
    tree value = gimple_call_lhs(call);
    if (store)
        value =
            gimple_call_arg(call, gimple_call_internal_p(call) ? last : value_of_builtin_scatter);
    if (!value || !VECTOR_TYPE_P(TREE_TYPE(value)))
        return 0;
    tree type = gather ? TREE_TYPE(TREE_TYPE(value)) : TREE_TYPE(value);
    tree size = TYPE_SIZE_UNIT(type);
    return size && tree_fits_shwi_p(size) ? tree_to_shwi(size) : 0;
}

/* The address' own expression, which the instruction's memory attributes keep: a call of the
   vectoriser's has no location to tag.  NULL if the pointer is a plain one. */
static tree addressed_tree(tree pointer) {
    gimple *definition = TREE_CODE(pointer) == SSA_NAME ? SSA_NAME_DEF_STMT(pointer) : NULL;
    if (definition && is_gimple_assign(definition) &&
        gimple_assign_rhs_code(definition) == ADDR_EXPR)
        pointer = gimple_assign_rhs1(definition);
    return TREE_CODE(pointer) == ADDR_EXPR ? TREE_OPERAND(pointer, 0) : NULL_TREE;
}

static void tag_vector_access(gcall *call, enum pm_phase phase) {
    tree pointer, offsets;
    bool store;
    if (!is_vector_access(call, &pointer, &offsets, &store))
        return;
    int tag = pm_tag_of_location(gimple_location(call));
    struct pm_marked_reference *source = pm_find_reference(tag);
    tree addressed = offsets ? NULL_TREE : addressed_tree(pointer);
    struct pm_marked_reference *other =
        addressed ? pm_find_reference(pm_tag_of_tree(addressed)) : NULL;
    for (struct pm_marked_reference *seen : {source, other})
        if (phase == PHASE_EXPAND && seen && (seen->flags & PM_REFERENCE_MASKED))
            return; /* recorded at PHASE_OPTIMIZED */
    int other_identity = other ? pm_tag_of_tree(addressed) : 0;
    bool is_pair = other && other->phase == phase && other->store != store;
    struct pm_marked_reference reference = new_reference(call, store, phase);
    reference.flags = PM_REFERENCE_MASKED | (store ? PM_REFERENCE_STORE : 0) |
                      (offsets ? PM_REFERENCE_GATHER : 0);
    reference.size_bytes = vector_access_size(call, store, offsets != NULL_TREE);
    reference.object = pm_object_of_pointer(pointer, gimple_bb(call)->loop_father);
    std::vector<pm_address_term> terms = {{pointer, NULL_TREE}};
    if (offsets)
        terms.push_back({offsets, NULL_TREE});
    reference.levels = pm_strides_of_address(terms, gimple_bb(call)->loop_father);
    if (reference.text.empty() && reference.object.known())
        reference.text = reference.object.name + "[…]";
    take_source_description(&reference, tag);
    int identity = pm_add_reference(reference);
    pm_tag_statement(call, identity);
    if (!addressed || !CAN_HAVE_LOCATION_P(addressed))
        return;
    pm_tag_tree(addressed, identity);
    if (is_pair) { /* a masked load and a masked store of one place share its expression */
        pm_find_reference(identity)->copy_partner = other_identity;
        pm_find_reference(other_identity)->copy_partner = identity;
    }
}

/* ---- blocks ---- */

static struct pm_marked_reference block_reference(gcall *call, tree pointer, bool store,
                                                  enum pm_phase phase) {
    class loop *innermost = gimple_bb(call)->loop_father;
    struct pm_marked_reference reference = new_reference(call, store, phase);
    tree size = gimple_call_arg(call, 2);
    reference.flags = store ? PM_REFERENCE_STORE : 0;
    reference.size_bytes = tree_fits_shwi_p(size) ? tree_to_shwi(size) : 0;
    reference.object = pm_object_of_pointer(pointer, innermost);
    reference.text = reference.object.known() ? reference.object.name + "[…]" : "";
    std::vector<pm_address_term> terms;
    if (TREE_CODE(pointer) != ADDR_EXPR)
        terms.push_back({pointer, NULL_TREE});
    else
        terms = pm_address_of_reference(TREE_OPERAND(pointer, 0));
    /* Where the size is not known, so is not where in the block an instruction of the copy begins;
       and a loop that the copy may become is none of the source's. */
    if (reference.size_bytes)
        reference.levels = pm_strides_of_address(terms, innermost);
    return reference;
}

/* A copy or a clearing of memory whose size is known may be expanded in line. */
static void tag_block_access(gcall *call, enum pm_phase phase) {
    bool copies = gimple_call_builtin_p(call, BUILT_IN_MEMCPY) ||
                  gimple_call_builtin_p(call, BUILT_IN_MEMMOVE) ||
                  gimple_call_builtin_p(call, BUILT_IN_MEMPCPY);
    if (!copies && !gimple_call_builtin_p(call, BUILT_IN_MEMSET))
        return;
    struct pm_marked_reference *seen = pm_find_reference(pm_tag_of_location(gimple_location(call)));
    if (phase == PHASE_EXPAND && seen && seen->phase == PHASE_OPTIMIZED && seen->store)
        return; /* scalar evolutions were there */
    int target = pm_add_reference(block_reference(call, gimple_call_arg(call, 0), true, phase));
    if (copies) {
        int source =
            pm_add_reference(block_reference(call, gimple_call_arg(call, 1), false, phase));
        pm_find_reference(target)->copy_partner = source;
        pm_find_reference(source)->copy_partner = target;
    }
    pm_tag_statement(call, target);
}

/* ---- the three looks ---- */

/* Statements that have the same location and the same text before stay alike, so that a warning
   given once for a place is not given twice. */
static void record_source(gimple *statement, const std::vector<memory_access> &accesses) {
    const memory_access &first = accesses[0];
    auto key = std::make_pair(gimple_location(statement),
                              (first.store ? "=" : "") + pm_reference_text(first.reference));
    auto &identities = pm_state()->source_identities;
    auto found = identities.find(key);
    if (found == identities.end())
        found = identities.insert({key, analyse(statement, first, PHASE_SOURCE, 0)}).first;
    pm_tag_statement(statement, found->second);
}

/* Tags the access' tree, and the statement too where it has but one access, or where it copies:
   then the store names the statement. */
static void record_emitted(gimple *statement, const std::vector<memory_access> &accesses,
                           enum pm_phase phase) {
    int tag = pm_tag_of_location(gimple_location(statement)), identity_of_statement = 0,
        partner = 0;
    for (const memory_access &what : accesses) {
        int identity = pm_tag_of_tree(what.reference);
        struct pm_marked_reference *seen = pm_find_reference(identity);
        if (phase == PHASE_OPTIMIZED || !seen || seen->phase == PHASE_SOURCE ||
            seen->store != what.store)
            identity = analyse(statement, what, phase, identity ? identity : tag);
        if (CAN_HAVE_LOCATION_P(what.reference))
            pm_tag_tree(what.reference, identity);
        if (partner) {
            pm_find_reference(identity)->copy_partner = partner;
            pm_find_reference(partner)->copy_partner = identity;
        }
        partner = identity;
        if (!identity_of_statement || what.store)
            identity_of_statement = identity;
    }
    if (is_gimple_assign(statement))
        pm_tag_statement(statement, identity_of_statement);
}

static void look_at(gimple *statement, enum pm_phase phase) {
    std::vector<memory_access> accesses;
    walk_stmt_load_store_ops(statement, &accesses, add_load, add_store);
    if (phase == PHASE_SOURCE) {
        if (is_gimple_assign(statement) && !accesses.empty())
            record_source(statement, accesses);
        return;
    }
    if (!accesses.empty()) {
        record_emitted(statement, accesses, phase);
    } else if (gcall *call = dyn_cast<gcall *>(statement)) {
        tag_vector_access(call, phase);
        tag_block_access(call, phase);
    }
}

void pm_record_references(enum pm_phase phase) {
    basic_block block;
    pm_derivative_forget();
    FOR_EACH_BB_FN(block, cfun) {
        for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi)) {
            gimple *statement = gsi_stmt(gsi);
            if (!is_gimple_debug(statement) && !gimple_clobber_p(statement))
                look_at(statement, phase);
        }
    }
    pm_derivative_forget();
}
