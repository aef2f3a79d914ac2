/* The object that an access goes to: the variable, or the pointer through which it is reached.
   Works on GIMPLE in SSA form: follows pointer arithmetic, and joins at loop headers to the value
   on entry, back to a declaration, a parameter or a load. */
#include "function_state.h"

static class loop *innermost_loop; /* of the access in question; NULL for none */

static bool is_pointer(tree t) { return t && (DECL_P(t) || POINTER_TYPE_P(TREE_TYPE(t))); }

static tree origin_of_pointer(tree pointer, int depth);

/* Of the two operands of an addition the one that is the pointer; NULL if both or none are. */
static tree origin_of_sum(tree a, tree b, int depth) {
    a = origin_of_pointer(a, depth);
    b = origin_of_pointer(b, depth);
    if (is_pointer(a) && !is_pointer(b))
        return a;
    return is_pointer(b) && !is_pointer(a) ? b : NULL_TREE;
}

/* The argument of the header's PHI that comes from outside the loop; NULL if there are several. */
static tree value_on_entry(gphi *phi) {
    class loop *loop = gimple_bb(phi)->loop_father;
    if (!loop || loop->header != gimple_bb(phi))
        return NULL_TREE;
    tree entry = NULL_TREE;
    for (unsigned i = 0; i < gimple_phi_num_args(phi); i++)
        if (!flow_bb_inside_loop_p(loop, gimple_phi_arg_edge(phi, i)->src)) {
            if (entry)
                return NULL_TREE;
            entry = gimple_phi_arg_def(phi, i);
        }
    return entry;
}

/* Whether NAME is a pointer variable of the program that stays while the innermost loop of the
   access runs: the name under which the source knows the object. */
static bool is_name_of_object(tree name, gimple *definition) {
    return POINTER_TYPE_P(TREE_TYPE(name)) && pm_has_user_name(name) &&
           (!innermost_loop || !loop_outer(innermost_loop) || !gimple_bb(definition) ||
            !flow_bb_inside_loop_p(innermost_loop, gimple_bb(definition)));
}

static tree origin_of_name(tree name, int depth) {
    tree self = POINTER_TYPE_P(TREE_TYPE(name)) ? name : NULL_TREE;
    if (SSA_NAME_IS_DEFAULT_DEF(name))
        return self && SSA_NAME_VAR(name) ? SSA_NAME_VAR(name) : self;
    gimple *definition = SSA_NAME_DEF_STMT(name);
    if (is_name_of_object(name, definition))
        return name;
    if (gphi *phi = dyn_cast<gphi *>(definition)) {
        tree entry = value_on_entry(phi);
        return entry && entry != name ? origin_of_pointer(entry, depth) : self;
    }
    if (!is_gimple_assign(definition))
        return self;
    enum tree_code code = gimple_assign_rhs_code(definition);
    tree first = gimple_assign_rhs1(definition);
    if (code == POINTER_PLUS_EXPR || CONVERT_EXPR_CODE_P(code) || code == SSA_NAME ||
        code == ADDR_EXPR)
        return origin_of_pointer(first, depth);
    if (code == PLUS_EXPR)
        return origin_of_sum(first, gimple_assign_rhs2(definition), depth);
    if (self && gimple_assign_load_p(definition))
        return first;
    return self;
}

/* A declaration (reached directly, or a pointer parameter), an SSA name, the reference from which
   the pointer was loaded, or NULL. */
static tree origin_of_pointer(tree pointer, int depth) {
    if (!pointer || depth > 40)
        return NULL_TREE;
    depth++;
    STRIP_NOPS(pointer);
    switch (TREE_CODE(pointer)) {
    case ADDR_EXPR: {
        tree base = get_base_address(TREE_OPERAND(pointer, 0));
        if (!base)
            return NULL_TREE;
        if (TREE_CODE(base) == MEM_REF || TREE_CODE(base) == TARGET_MEM_REF)
            return origin_of_pointer(TREE_OPERAND(base, 0), depth);
        return base;
    }
    case POLYNOMIAL_CHREC:
        return origin_of_pointer(CHREC_LEFT(pointer), depth);
    case POINTER_PLUS_EXPR:
        return origin_of_pointer(TREE_OPERAND(pointer, 0), depth);
    case PLUS_EXPR:
        return origin_of_sum(TREE_OPERAND(pointer, 0), TREE_OPERAND(pointer, 1), depth);
    case SSA_NAME:
        return origin_of_name(pointer, depth);
    default:
        return DECL_P(pointer) ? pointer : NULL_TREE;
    }
}

static tree pointee(tree t) {
    return POINTER_TYPE_P(TREE_TYPE(t)) ? TREE_TYPE(TREE_TYPE(t)) : NULL_TREE;
}

static struct pm_object object_of_declaration(tree declaration) {
    struct pm_object object;
    if (DECL_NAME(declaration))
        object.name = IDENTIFIER_POINTER(DECL_NAME(declaration));
    object.type = pm_type_text(TREE_TYPE(declaration));
    object.kind =
        VAR_P(declaration) && is_global_var(declaration) ? PM_OBJECT_GLOBAL : PM_OBJECT_LOCAL;
    return object;
}

/* Fortran reaches an array through the field `data` of a descriptor that has the array's name. */
static std::string without_descriptor(const std::string &name) {
    for (const char *field : {"->data", ".data"}) {
        size_t length = strlen(field);
        if (pm_is_fortran() && name.size() > length &&
            name.compare(name.size() - length, length, field) == 0)
            return name.substr(0, name.size() - length);
    }
    return name;
}

/* What lies behind a pointer that was itself loaded, from REFERENCE. */
static struct pm_object object_behind_load(tree reference) {
    struct pm_object object;
    object.name = without_descriptor(pm_reference_text(reference));
    if (object.name.find("…") != std::string::npos)
        object.name = "?";
    object.kind = TREE_CODE(reference) == PARM_DECL ? PM_OBJECT_PARAMETER : PM_OBJECT_POINTER;
    tree type = pointee(reference);
    if (type && !VOID_TYPE_P(type))
        object.type = pm_type_text(type);
    return object;
}

/* The variable that a debugger would show for NAME: of the function itself, not of an inlined
   routine (of an allocator, say); the one declared first. */
static tree shown_variable(tree name) {
    imm_use_iterator iterator;
    use_operand_p use;
    tree best = NULL_TREE;
    FOR_EACH_IMM_USE_FAST(use, iterator, name) {
        gimple *statement = USE_STMT(use);
        if (!gimple_debug_bind_p(statement) || gimple_debug_bind_get_value(statement) != name)
            continue;
        tree variable = gimple_debug_bind_get_var(statement);
        if (VAR_P(variable) && DECL_NAME(variable) && !DECL_ABSTRACT_ORIGIN(variable) &&
            (!best || DECL_UID(variable) < DECL_UID(best)))
            best = variable;
    }
    return best;
}

/* The name of what a call returned, an allocation mostly: of the variable or field that the result
   is put into. */
static std::string name_of_result(tree result) {
    imm_use_iterator iterator;
    use_operand_p use;
    tree variable = pm_has_user_name(result) ? SSA_NAME_VAR(result) : NULL_TREE;
    if (!variable || DECL_ABSTRACT_ORIGIN(variable))
        if (tree shown = shown_variable(result))
            variable = shown;
    if (variable && !DECL_ABSTRACT_ORIGIN(variable))
        return IDENTIFIER_POINTER(DECL_NAME(variable));
    FOR_EACH_IMM_USE_FAST(use, iterator, result) {
        gimple *statement = USE_STMT(use);
        if (gimple_assign_single_p(statement) && gimple_assign_rhs1(statement) == result &&
            gimple_vdef(statement))
            return without_descriptor(pm_reference_text(gimple_assign_lhs(statement)));
    }
    return variable ? IDENTIFIER_POINTER(DECL_NAME(variable)) : "?";
}

struct pm_object pm_object_of_pointer(tree pointer, class loop *innermost) {
    struct pm_object object;
    innermost_loop = innermost;
    tree origin = origin_of_pointer(pointer, 0);
    if (!origin)
        return object;
    if (REFERENCE_CLASS_P(origin))
        return object_behind_load(origin);
    if (DECL_P(origin)) {
        /* An ADDR_EXPR leads to the object itself; a default definition to a pointer variable. */
        if (!POINTER_TYPE_P(TREE_TYPE(origin)) || TREE_ADDRESSABLE(origin) ||
            (VAR_P(origin) && is_global_var(origin)))
            return object_of_declaration(origin);
        return object_behind_load(origin);
    }
    if (TREE_CODE(origin) != SSA_NAME)
        return object;
    if (is_gimple_call(SSA_NAME_DEF_STMT(origin)))
        object.name = name_of_result(origin);
    else if (pm_has_user_name(origin))
        object.name = IDENTIFIER_POINTER(DECL_NAME(SSA_NAME_VAR(origin)));
    object.kind = PM_OBJECT_POINTER;
    tree type = pointee(origin);
    if (type && !VOID_TYPE_P(type))
        object.type = pm_type_text(type);
    return object;
}

struct pm_object pm_object_of_reference(tree reference, class loop *innermost) {
    tree base = get_base_address(reference);
    if (!base)
        return pm_object();
    if (DECL_P(base))
        return object_of_declaration(base);
    if (TREE_CODE(base) == TARGET_MEM_REF) {
        /* The base may be a bare offset and the pointer the index. */
        struct pm_object object = pm_object_of_pointer(TMR_BASE(base), innermost);
        if (!object.known() && TMR_INDEX2(base))
            object = pm_object_of_pointer(TMR_INDEX2(base), innermost);
        return object;
    }
    if (TREE_CODE(base) != MEM_REF)
        return pm_object();
    struct pm_object object = pm_object_of_pointer(TREE_OPERAND(base, 0), innermost);
    if (object.type.empty() && object.known() && !VECTOR_TYPE_P(TREE_TYPE(base)))
        object.type = pm_type_text(TREE_TYPE(base));
    return object;
}
