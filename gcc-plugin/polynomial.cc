/* A stride or a trip count as a polynomial in the program's variables: `8*n*n - 3`, whichever way
   the compiler came to compute it.  Equal strides get equal text, and one whose variables cancel
   turns out to be a constant. */
#include "function_state.h"

enum { MAX_POLYNOMIAL_DEPTH = 12, MAX_TERMS = 24 };

/* What is not computed from other things: a variable, a load.  Two values of one variable are told
   apart by their SSA version, which is not printed. */
typedef std::pair<std::string, unsigned> pm_atom;
typedef std::vector<pm_atom> pm_monomial; /* sorted; empty = 1 */
typedef std::map<pm_monomial, HOST_WIDE_INT> pm_polynomial;

static pm_polynomial polynomial_of(tree expression, int depth);

static pm_polynomial constant(HOST_WIDE_INT value) {
    pm_polynomial result;
    if (value)
        result[pm_monomial()] = value;
    return result;
}

static pm_polynomial atom(const std::string &name, unsigned version) {
    pm_polynomial result;
    result[pm_monomial(1, pm_atom(name, version))] = 1;
    return result;
}

static void add(pm_polynomial *to, const pm_polynomial &what, HOST_WIDE_INT factor) {
    for (const auto &term : what) {
        HOST_WIDE_INT &coefficient = (*to)[term.first];
        coefficient += term.second * factor;
        if (!coefficient)
            to->erase(term.first);
    }
}

static pm_polynomial product(const pm_polynomial &a, const pm_polynomial &b) {
    pm_polynomial result;
    for (const auto &x : a)
        for (const auto &y : b) {
            pm_monomial monomial(x.first);
            monomial.insert(monomial.end(), y.first.begin(), y.first.end());
            std::sort(monomial.begin(), monomial.end());
            pm_polynomial term;
            term[monomial] = x.second * y.second;
            add(&result, term, 1);
        }
    return result;
}

/* True and *POLYNOMIAL / DIVISOR if every coefficient can be divided. */
static bool divide(pm_polynomial *polynomial, HOST_WIDE_INT divisor) {
    for (const auto &term : *polynomial)
        if (divisor == 0 || term.second % divisor != 0)
            return false;
    for (auto &term : *polynomial)
        term.second /= divisor;
    return true;
}

/* The operation, or an empty monomial list in *FAILED for what is no polynomial. */
static pm_polynomial operation(enum tree_code code, tree a, tree b, int depth, bool *failed) {
    *failed = false;
    if (CONVERT_EXPR_CODE_P(code) || code == SSA_NAME || code == PAREN_EXPR)
        return polynomial_of(a, depth);
    pm_polynomial left = polynomial_of(a, depth);
    if (code == NEGATE_EXPR) {
        pm_polynomial result;
        add(&result, left, -1);
        return result;
    }
    if (b && (code == PLUS_EXPR || code == POINTER_PLUS_EXPR || code == MINUS_EXPR)) {
        add(&left, polynomial_of(b, depth), code == MINUS_EXPR ? -1 : 1);
        return left;
    }
    if (b && code == MULT_EXPR) {
        pm_polynomial right = polynomial_of(b, depth);
        if (left.size() * right.size() <= MAX_TERMS)
            return product(left, right);
    }
    if (b && code == MAX_EXPR && integer_zerop(b)) /* an extent; of an empty array nothing runs */
        return left;
    if (b && code == LSHIFT_EXPR && tree_fits_uhwi_p(b) && tree_to_uhwi(b) < 32)
        return product(left, constant(HOST_WIDE_INT_1 << tree_to_uhwi(b)));
    if (b && code == EXACT_DIV_EXPR && tree_fits_shwi_p(b) && divide(&left, tree_to_shwi(b)))
        return left;
    *failed = true;
    return left;
}

/* A join of values that are alike, as loop-closed form and versioned loops have them. */
static bool polynomial_of_join(gphi *phi, int depth, pm_polynomial *result) {
    class loop *loop = gimple_bb(phi)->loop_father;
    if (depth >= MAX_POLYNOMIAL_DEPTH || gimple_phi_num_args(phi) > 4 ||
        (loop && loop->header == gimple_bb(phi)))
        return false;
    *result = polynomial_of(gimple_phi_arg_def(phi, 0), depth + 2);
    for (unsigned i = 1; i < gimple_phi_num_args(phi); i++)
        if (polynomial_of(gimple_phi_arg_def(phi, i), depth + 2) != *result)
            return false;
    return true;
}

static pm_polynomial polynomial_of_name(tree name, int depth) {
    unsigned version = SSA_NAME_VERSION(name);
    bool named = pm_has_user_name(name);
    gimple *definition = SSA_NAME_DEF_STMT(name);
    pm_polynomial joined;
    if (gphi *phi = dyn_cast<gphi *>(definition))
        if (!named && polynomial_of_join(phi, depth, &joined))
            return joined;
    if (named || SSA_NAME_IS_DEFAULT_DEF(name) || !is_gimple_assign(definition))
        return atom(pm_expression_text(name), version);
    if (gimple_assign_load_p(definition))
        return atom(pm_reference_text(gimple_assign_rhs1(definition)), 0);
    if (gimple_num_ops(definition) <= 3 && depth < MAX_POLYNOMIAL_DEPTH) {
        bool failed;
        pm_polynomial result =
            operation(gimple_assign_rhs_code(definition), gimple_assign_rhs1(definition),
                      gimple_num_ops(definition) > 2 ? gimple_assign_rhs2(definition) : NULL_TREE,
                      depth, &failed);
        if (!failed)
            return result;
    }
    return atom(pm_expression_text(name), version);
}

static pm_polynomial polynomial_of(tree expression, int depth) {
    depth++;
    if (TREE_CODE(expression) == INTEGER_CST)
        return constant(TREE_INT_CST_LOW(pm_as_ssizetype(expression)));
    if (TREE_CODE(expression) == SSA_NAME)
        return polynomial_of_name(expression, depth);
    if ((UNARY_CLASS_P(expression) || BINARY_CLASS_P(expression)) && depth < MAX_POLYNOMIAL_DEPTH) {
        bool failed;
        pm_polynomial result = operation(
            TREE_CODE(expression), TREE_OPERAND(expression, 0),
            BINARY_CLASS_P(expression) ? TREE_OPERAND(expression, 1) : NULL_TREE, depth, &failed);
        if (!failed)
            return result;
    }
    return atom(pm_expression_text(expression), 0);
}

static std::string monomial_text(const pm_monomial &monomial, HOST_WIDE_INT coefficient) {
    std::string text;
    if (coefficient != 1 || monomial.empty())
        text = std::to_string((long long)coefficient);
    for (const pm_atom &factor : monomial) {
        bool sum = factor.first.find(' ') != std::string::npos;
        text += (text.empty() ? "" : "*") + (sum ? "(" + factor.first + ")" : factor.first);
    }
    return text;
}

std::string pm_polynomial_text(tree expression, HOST_WIDE_INT *value) {
    pm_polynomial polynomial = polynomial_of(expression, 0);
    *value = 0;
    if (polynomial.empty())
        return std::string();
    if (polynomial.size() == 1 && polynomial.begin()->first.empty()) {
        *value = polynomial.begin()->second;
        return std::string();
    }
    if (polynomial.size() > MAX_TERMS)
        return "…";
    std::string text;
    for (auto term = polynomial.rbegin(); term != polynomial.rend(); ++term) {
        HOST_WIDE_INT coefficient = term->second;
        if (!text.empty()) {
            text += coefficient < 0 ? " - " : " + ";
            coefficient = coefficient < 0 ? -coefficient : coefficient;
        }
        text += monomial_text(term->first, coefficient);
    }
    return text;
}
