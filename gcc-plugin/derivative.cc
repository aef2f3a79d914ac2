/* By how many bytes (or units) an SSA expression changes in one iteration of a loop, found by
   walking its definitions.  Needs the loop tree only: no preheaders, no closed SSA form, no scalar
   evolutions; so it also works after the loop passes.  It sees through joins whose arguments
   are the same value and through conversions, where scalar evolutions give up; it assumes, as they
   do not, that a narrow induction variable does not wrap.  Arguments that only change alike are not
   enough: the next iteration may take another of them.

   A value loaded in the loop from an address that stays is taken to stay too, unless the loop
   stores to that very place. */
#include "function_state.h"

/* Calls of change_of and step_of for one question: joins of many arguments could otherwise take
   exponential time. */
enum { MAX_STEPS = 3000, MAX_DERIVATIVE_DEPTH = 80 };

/* By SSA version, numbers of the loop and of the loop of the use. */
static std::map<std::tuple<unsigned, int, int>, pm_derivative> known;
static class loop *place_of_use; /* the innermost loop around what is asked for */
static int steps_left;
static bool met_moving_load;

static tree change_of(tree expression, class loop *loop, int depth);

void pm_derivative_forget() { known.clear(); }

tree pm_as_ssizetype(tree expression) {
    /* Unsigned constants of any width stand for negative numbers too. */
    if (TREE_CODE(expression) == INTEGER_CST) {
        unsigned precision = TYPE_PRECISION(TREE_TYPE(expression));
        HOST_WIDE_INT value = (HOST_WIDE_INT)TREE_INT_CST_LOW(expression);
        return build_int_cst(ssizetype, precision < 64 ? sext_hwi(value, precision) : value);
    }
    return fold_convert(ssizetype, expression);
}

static tree zero() { return ssize_int(0); }
static bool is_zero(tree t) { return t && integer_zerop(t); }

static bool is_scalar(tree t) {
    return INTEGRAL_TYPE_P(TREE_TYPE(t)) || POINTER_TYPE_P(TREE_TYPE(t));
}

/* NULL, "not known", is passed on by all three. */
static tree sum(tree a, tree b) {
    return a && b ? fold_build2(PLUS_EXPR, ssizetype, a, b) : NULL_TREE;
}

static tree difference(tree a, tree b) {
    return a && b ? fold_build2(MINUS_EXPR, ssizetype, a, b) : NULL_TREE;
}

static tree product(tree a, tree b) {
    return a && b ? fold_build2(MULT_EXPR, ssizetype, a, b) : NULL_TREE;
}

static bool is_inside(class loop *loop, gimple *statement) {
    return gimple_bb(statement) && flow_bb_inside_loop_p(loop, gimple_bb(statement));
}

static bool comes_from_inside(class loop *loop, gphi *phi, unsigned argument) {
    return flow_bb_inside_loop_p(loop, gimple_phi_arg_edge(phi, argument)->src);
}

/* RESULT if it is the first or equals ALL, else NULL: the common value of a join's arguments. */
static tree merged(tree all, tree result, bool first) {
    if (!result || (!first && !all))
        return NULL_TREE;
    return first || operand_equal_p(all, result, 0) ? result : NULL_TREE;
}

/* ---- the step of a header's PHI: the value on a back edge minus the PHI ---- */

static tree step_of(tree value, tree phi_result, class loop *loop, int depth);

/* The PHI of an inner loop's header: only if the inner loop leaves the value as it was. */
static tree step_through_inner_loop(gphi *phi, tree phi_result, class loop *loop, int depth) {
    class loop *inner = gimple_bb(phi)->loop_father;
    tree entry = NULL_TREE;
    for (unsigned i = 0; i < gimple_phi_num_args(phi); i++) {
        tree argument = gimple_phi_arg_def(phi, i);
        if (!comes_from_inside(inner, phi, i))
            entry = argument;
        else if (!is_zero(step_of(argument, gimple_phi_result(phi), inner, depth)))
            return NULL_TREE;
    }
    return entry ? step_of(entry, phi_result, loop, depth) : NULL_TREE;
}

static tree step_of(tree value, tree phi_result, class loop *loop, int depth) {
    if (depth > MAX_DERIVATIVE_DEPTH || steps_left-- <= 0)
        return NULL_TREE;
    depth++;
    if (value == phi_result)
        return zero();
    if (TREE_CODE(value) != SSA_NAME)
        return NULL_TREE;
    gimple *definition = SSA_NAME_DEF_STMT(value);
    if (!is_inside(loop, definition))
        return NULL_TREE;
    if (gphi *phi = dyn_cast<gphi *>(definition)) {
        class loop *owner = gimple_bb(phi)->loop_father;
        if (owner->header == gimple_bb(phi))
            return owner == loop ? NULL_TREE
                                 : step_through_inner_loop(phi, phi_result, loop, depth);
        tree all = NULL_TREE;
        for (unsigned i = 0; i < gimple_phi_num_args(phi); i++) {
            tree step = step_of(gimple_phi_arg_def(phi, i), phi_result, loop, depth);
            all = merged(all, step, i == 0);
            if (!all)
                return NULL_TREE;
        }
        return all;
    }
    if (!is_gimple_assign(definition))
        return NULL_TREE;
    enum tree_code code = gimple_assign_rhs_code(definition);
    tree a = gimple_assign_rhs1(definition), b = gimple_assign_rhs2(definition);
    if (CONVERT_EXPR_CODE_P(code) || code == SSA_NAME || code == VIEW_CONVERT_EXPR)
        return step_of(a, phi_result, loop, depth);
    if ((code != PLUS_EXPR && code != POINTER_PLUS_EXPR && code != MINUS_EXPR) || !is_scalar(a) ||
        !is_scalar(b))
        return NULL_TREE;
    tree step = step_of(a, phi_result, loop, depth);
    if (step && is_zero(change_of(b, loop, depth)))
        return code == MINUS_EXPR ? difference(step, pm_as_ssizetype(b))
                                  : sum(step, pm_as_ssizetype(b));
    if (code == MINUS_EXPR)
        return NULL_TREE;
    step = step_of(b, phi_result, loop, depth);
    return step && is_zero(change_of(a, loop, depth)) ? sum(step, pm_as_ssizetype(a)) : NULL_TREE;
}

/* ---- the change of any expression ---- */

static tree change_of_operation(enum tree_code code, tree a, tree b, class loop *loop, int depth) {
    tree change_a = a ? change_of(a, loop, depth) : zero();
    tree change_b = b ? change_of(b, loop, depth) : zero();
    if (is_zero(change_a) && is_zero(change_b))
        return zero();
    switch (code) {
    case NOP_EXPR:
    case CONVERT_EXPR:
    case SSA_NAME:
    case VIEW_CONVERT_EXPR:
    case PAREN_EXPR:
        return change_a;
    case PLUS_EXPR:
    case POINTER_PLUS_EXPR:
        return sum(change_a, change_b);
    case MINUS_EXPR:
    case POINTER_DIFF_EXPR:
        return difference(change_a, change_b);
    case NEGATE_EXPR:
    case BIT_NOT_EXPR:
        return difference(zero(), change_a);
    case MULT_EXPR:
        if (change_a && is_zero(change_b) && is_scalar(b))
            return product(change_a, pm_as_ssizetype(b));
        if (change_b && is_zero(change_a) && is_scalar(a))
            return product(change_b, pm_as_ssizetype(a));
        return NULL_TREE;
    case LSHIFT_EXPR:
        if (change_a && tree_fits_uhwi_p(b) && tree_to_uhwi(b) < 63)
            return product(change_a, build_int_cst(ssizetype, HOST_WIDE_INT_1 << tree_to_uhwi(b)));
        return NULL_TREE;
    default:
        return NULL_TREE;
    }
}

/* Of the address of REFERENCE. */
static tree change_of_address(tree reference, class loop *loop, int depth) {
    tree total = zero();
    for (const pm_address_term &term : pm_address_of_reference(reference)) {
        tree change = change_of(term.value, loop, depth);
        if (change && term.factor && !is_zero(change))
            change = product(change, pm_as_ssizetype(term.factor));
        total = sum(total, change);
    }
    return total;
}

static bool loop_stores_to(class loop *loop, tree reference) {
    basic_block *blocks = get_loop_body(loop);
    bool found = false;
    for (unsigned i = 0; i < loop->num_nodes && !found; i++)
        for (gimple_stmt_iterator gsi = gsi_start_bb(blocks[i]); !gsi_end_p(gsi) && !found;
             gsi_next(&gsi)) {
            tree target = gimple_get_lhs(gsi_stmt(gsi));
            found = target && TREE_CODE(target) != SSA_NAME && gimple_vdef(gsi_stmt(gsi)) &&
                    operand_equal_p(target, reference, OEP_ADDRESS_OF);
        }
    free(blocks);
    return found;
}

static tree change_of_load(tree reference, class loop *loop, int depth) {
    if (is_zero(change_of_address(reference, loop, depth)) && !TREE_THIS_VOLATILE(reference) &&
        !loop_stores_to(loop, reference))
        return zero();
    met_moving_load = true;
    return NULL_TREE;
}

/* Do A and B always have the same value where both are known?  Looks at their definitions. */
static bool same_value(tree a, tree b, int depth) {
    enum { MAX_DEFINITIONS = 6 };
    if (a == b || operand_equal_p(a, b, 0))
        return true;
    if (depth > MAX_DEFINITIONS || TREE_CODE(a) != SSA_NAME || TREE_CODE(b) != SSA_NAME ||
        !is_gimple_assign(SSA_NAME_DEF_STMT(a)) || !is_gimple_assign(SSA_NAME_DEF_STMT(b)))
        return false;
    gimple *left = SSA_NAME_DEF_STMT(a), *right = SSA_NAME_DEF_STMT(b);
    if (gimple_assign_rhs_code(left) != gimple_assign_rhs_code(right) ||
        gimple_num_ops(left) != gimple_num_ops(right) || gimple_vuse(left) != gimple_vuse(right))
        return false;
    for (unsigned i = 1; i < gimple_num_ops(left); i++)
        if (!gimple_op(left, i) || !gimple_op(right, i) ||
            !same_value(gimple_op(left, i), gimple_op(right, i), depth + 1))
            return false;
    return true;
}

/* A header's PHI stands for its first value only to what is in that loop; behind it, it has its
   last one, which must be the first. */
static bool is_first_value(gphi *phi, class loop *owner, int depth) {
    if (owner == place_of_use || flow_loop_nested_p(owner, place_of_use))
        return true;
    for (unsigned i = 0; i < gimple_phi_num_args(phi); i++)
        if (comes_from_inside(owner, phi, i) &&
            !is_zero(step_of(gimple_phi_arg_def(phi, i), gimple_phi_result(phi), owner, depth)))
            return false;
    return true;
}

static tree change_of_phi(gphi *phi, class loop *loop, int depth) {
    class loop *owner = gimple_bb(phi)->loop_father;
    bool is_header = owner->header == gimple_bb(phi);
    if (is_header && owner != loop && !is_first_value(phi, owner, depth))
        return NULL_TREE;
    for (unsigned i = 1; !is_header && i < gimple_phi_num_args(phi); i++)
        if (!same_value(gimple_phi_arg_def(phi, 0), gimple_phi_arg_def(phi, i), 0))
            return NULL_TREE;
    tree all = NULL_TREE;
    bool first = true;
    for (unsigned i = 0; i < gimple_phi_num_args(phi); i++) {
        tree argument = gimple_phi_arg_def(phi, i), change;
        bool inside = is_header && comes_from_inside(owner, phi, i);
        if (is_header && inside != (owner == loop))
            continue; /* the back edges of this loop tell its step; the entry of an inner one */
        if (is_header && owner == loop) {
            change = step_of(argument, gimple_phi_result(phi), loop, depth);
            /* A value computed anew in each iteration, always the same: a load moved here from
               the loop's entry, for instance. */
            if (!change && is_zero(change_of(argument, loop, depth)))
                change = zero();
        } else {
            change = change_of(argument, loop, depth);
        }
        all = merged(all, change, first);
        if (!all)
            return NULL_TREE;
        first = false;
    }
    return all;
}

static tree change_of_definition(gimple *definition, class loop *loop, int depth) {
    if (gphi *phi = dyn_cast<gphi *>(definition))
        return change_of_phi(phi, loop, depth);
    if (gimple_assign_load_p(definition))
        return change_of_load(gimple_assign_rhs1(definition), loop, depth);
    if (!is_gimple_assign(definition) || gimple_vuse(definition))
        return NULL_TREE;
    enum tree_code code = gimple_assign_rhs_code(definition);
    tree first = gimple_assign_rhs1(definition);
    if (code == COND_EXPR) /* the choice may fall otherwise in the next iteration */
        return same_value(gimple_assign_rhs2(definition), gimple_assign_rhs3(definition), 0)
                   ? change_of(gimple_assign_rhs2(definition), loop, depth)
                   : NULL_TREE;
    if (gimple_num_ops(definition) >
        3) { /* a permutation, say: of what does not move, or unknown */
        bool stays = true;
        for (unsigned i = 1; i < gimple_num_ops(definition); i++)
            stays &= is_zero(change_of(gimple_op(definition, i), loop, depth));
        return stays ? zero() : NULL_TREE;
    }
    if (code == ADDR_EXPR)
        return change_of(first, loop, depth);
    return change_of_operation(
        code, first, gimple_num_ops(definition) > 2 ? gimple_assign_rhs2(definition) : NULL_TREE,
        loop, depth);
}

static tree change_of(tree expression, class loop *loop, int depth) {
    if (!expression || is_gimple_min_invariant(expression) || DECL_P(expression))
        return zero();
    if (depth > MAX_DERIVATIVE_DEPTH || steps_left-- <= 0)
        return NULL_TREE;
    depth++;
    if (TREE_CODE(expression) == ADDR_EXPR)
        return change_of_address(TREE_OPERAND(expression, 0), loop, depth);
    if (UNARY_CLASS_P(expression))
        return change_of_operation(TREE_CODE(expression), TREE_OPERAND(expression, 0), NULL_TREE,
                                   loop, depth);
    if (BINARY_CLASS_P(expression))
        return change_of_operation(TREE_CODE(expression), TREE_OPERAND(expression, 0),
                                   TREE_OPERAND(expression, 1), loop, depth);
    if (TREE_CODE(expression) != SSA_NAME)
        return NULL_TREE;
    if (SSA_NAME_IS_DEFAULT_DEF(expression) || !is_inside(loop, SSA_NAME_DEF_STMT(expression)))
        return zero();

    auto key =
        std::make_tuple((unsigned)SSA_NAME_VERSION(expression), loop->num, place_of_use->num);
    auto found = known.find(key);
    if (found != known.end()) {
        met_moving_load |= found->second.indirect;
        return found->second.value;
    }
    known[key] = {NULL_TREE, false}; /* ends the walk around a cycle */
    bool outer_met = met_moving_load;
    met_moving_load = false;
    tree value = change_of_definition(SSA_NAME_DEF_STMT(expression), loop, depth);
    known[key] = {value, !value && met_moving_load};
    met_moving_load |= outer_met;
    return value;
}

struct pm_derivative pm_derivative_of(tree expression, class loop *loop, class loop *innermost) {
    place_of_use = innermost;
    steps_left = MAX_STEPS;
    met_moving_load = false;
    tree value = change_of(expression, loop, 0);
    return {value, !value && met_moving_load};
}
