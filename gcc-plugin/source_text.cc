/* Expressions, references and types as a person would write them: SSA names become the variables
   they stand for, or what they were computed from; conversions are left out.  The text is for
   people; nothing is decided by it. */
#include "function_state.h"

/* Deeper expressions end in "…": an address of ten operands helps nobody. */
enum { MAX_TEXT_DEPTH = 6, MAX_LENGTH = 100 };

static std::string expression_text(tree expression, int depth);
static std::string reference_text(tree reference, int depth);

static std::string printed(tree t) {
    char *text = print_generic_expr_to_str(t);
    std::string result(text);
    free(text);
    for (char &c : result)
        if (c == '\n' || c == '\t')
            c = ' ';
    return result;
}

static std::string declaration_text(tree declaration) {
    return DECL_NAME(declaration) ? IDENTIFIER_POINTER(DECL_NAME(declaration)) : "?";
}

static const char *operator_text(enum tree_code code) {
    switch (code) {
    case PLUS_EXPR:
    case POINTER_PLUS_EXPR:
        return " + ";
    case MINUS_EXPR:
    case POINTER_DIFF_EXPR:
        return " - ";
    case MULT_EXPR:
        return "*";
    case TRUNC_DIV_EXPR:
    case EXACT_DIV_EXPR:
    case FLOOR_DIV_EXPR:
    case RDIV_EXPR:
        return "/";
    case TRUNC_MOD_EXPR:
    case FLOOR_MOD_EXPR:
        return " % ";
    case LSHIFT_EXPR:
        return " << ";
    case RSHIFT_EXPR:
        return " >> ";
    case BIT_AND_EXPR:
        return " & ";
    case BIT_IOR_EXPR:
        return " | ";
    default:
        return NULL;
    }
}

/* An operand of an operator, in parentheses where it has operators itself. */
static std::string operand_text(tree operand, int depth) {
    std::string text = expression_text(operand, depth);
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

/* A constant of the type that an unsigned `- 1` has is printed as -1. */
static std::string constant_text(tree constant) {
    if (TREE_CODE(constant) == INTEGER_CST && TYPE_PRECISION(TREE_TYPE(constant)) <= 64)
        return std::to_string((long long)TREE_INT_CST_LOW(pm_as_ssizetype(constant)));
    return printed(constant);
}

static std::string operation_text(enum tree_code code, tree a, tree b, int depth) {
    if (CONVERT_EXPR_CODE_P(code) || code == SSA_NAME || code == VIEW_CONVERT_EXPR ||
        code == PAREN_EXPR)
        return expression_text(a, depth);
    if (code == NEGATE_EXPR)
        return "-" + operand_text(a, depth);
    if (code == ADDR_EXPR)
        return "&" + reference_text(a, depth);
    if (code == MAX_EXPR || code == MIN_EXPR)
        return std::string(code == MAX_EXPR ? "max(" : "min(") + expression_text(a, depth) + ", " +
               expression_text(b, depth) + ")";
    const char *sign = operator_text(code);
    if (!sign || !b)
        return "…";
    if (code == PLUS_EXPR && CONSTANT_CLASS_P(b)) {
        std::string constant = constant_text(b);
        if (constant[0] == '-')
            return expression_text(a, depth) + " - " + constant.substr(1);
    }
    bool sum = code == PLUS_EXPR || code == POINTER_PLUS_EXPR;
    return (sum ? expression_text(a, depth) : operand_text(a, depth)) + sign +
           (sum ? expression_text(b, depth) : operand_text(b, depth));
}

/* The front ends' own variables have names with a dot ("ubound.77"). */
bool pm_has_user_name(tree ssa_name) {
    tree variable = SSA_NAME_VAR(ssa_name);
    return variable && DECL_NAME(variable) && !DECL_IGNORED_P(variable) &&
           !strchr(IDENTIFIER_POINTER(DECL_NAME(variable)), '.');
}

static std::string name_text(tree name, int depth) {
    if (pm_has_user_name(name))
        return declaration_text(SSA_NAME_VAR(name));
    gimple *definition = SSA_NAME_DEF_STMT(name);
    if (!SSA_NAME_IS_DEFAULT_DEF(name) && is_gimple_assign(definition)) {
        if (gimple_assign_load_p(definition))
            return reference_text(gimple_assign_rhs1(definition), depth);
        if (gimple_num_ops(definition) <= 3)
            return operation_text(
                gimple_assign_rhs_code(definition), gimple_assign_rhs1(definition),
                gimple_num_ops(definition) > 2 ? gimple_assign_rhs2(definition) : NULL_TREE, depth);
    }
    return "…";
}

static std::string expression_text(tree expression, int depth) {
    if (!expression || depth > MAX_TEXT_DEPTH)
        return "…";
    depth++;
    if (TREE_CODE(expression) == SSA_NAME)
        return name_text(expression, depth);
    if (DECL_P(expression))
        return declaration_text(expression);
    if (CONSTANT_CLASS_P(expression))
        return constant_text(expression);
    if (TREE_CODE(expression) == ADDR_EXPR)
        return "&" + reference_text(TREE_OPERAND(expression, 0), depth);
    if (REFERENCE_CLASS_P(expression))
        return reference_text(expression, depth);
    if (UNARY_CLASS_P(expression))
        return operation_text(TREE_CODE(expression), TREE_OPERAND(expression, 0), NULL_TREE, depth);
    if (BINARY_CLASS_P(expression))
        return operation_text(TREE_CODE(expression), TREE_OPERAND(expression, 0),
                              TREE_OPERAND(expression, 1), depth);
    return "…";
}

/* The index X of OFFSET = X * SIZE; NULL if it is not written so. */
static tree index_of_offset(tree offset, tree size) {
    if (TREE_CODE(offset) != SSA_NAME || SSA_NAME_IS_DEFAULT_DEF(offset) || !size ||
        !tree_fits_uhwi_p(size))
        return NULL_TREE;
    gimple *definition = SSA_NAME_DEF_STMT(offset);
    if (!is_gimple_assign(definition) || gimple_num_ops(definition) != 3)
        return NULL_TREE;
    tree by = gimple_assign_rhs2(definition);
    if (!tree_fits_uhwi_p(by))
        return NULL_TREE;
    enum tree_code code = gimple_assign_rhs_code(definition);
    bool times = code == MULT_EXPR && tree_to_uhwi(by) == tree_to_uhwi(size);
    bool shift = code == LSHIFT_EXPR && tree_to_uhwi(by) < 63 &&
                 HOST_WIDE_INT_1U << tree_to_uhwi(by) == tree_to_uhwi(size);
    return times || shift ? gimple_assign_rhs1(definition) : NULL_TREE;
}

/* `*(p + 8*i)` of doubles as `p[i]`. */
static std::string dereference_text(tree pointer, tree type, int depth) {
    if (TREE_CODE(pointer) == ADDR_EXPR)
        return reference_text(TREE_OPERAND(pointer, 0), depth);
    if (TREE_CODE(pointer) == SSA_NAME && !SSA_NAME_IS_DEFAULT_DEF(pointer)) {
        gimple *definition = SSA_NAME_DEF_STMT(pointer);
        if (is_gimple_assign(definition) &&
            gimple_assign_rhs_code(definition) == POINTER_PLUS_EXPR) {
            tree index = index_of_offset(gimple_assign_rhs2(definition), TYPE_SIZE_UNIT(type));
            std::string base = operand_text(gimple_assign_rhs1(definition), depth);
            if (index)
                return base + "[" + expression_text(index, depth) + "]";
            if (TYPE_SIZE_UNIT(type) && !tree_fits_uhwi_p(TYPE_SIZE_UNIT(type)))
                return base + "[…]";
        }
    }
    std::string text = operand_text(pointer, depth);
    if (pm_is_fortran()) /* which writes no dereference */
        return text;
    return text[0] == '&' ? text.substr(1) : "*" + text;
}

static std::string reference_text(tree reference, int depth) {
    if (!reference || depth > MAX_TEXT_DEPTH)
        return "…";
    depth++;
    if (DECL_P(reference))
        return declaration_text(reference);
    switch (TREE_CODE(reference)) {
    case COMPONENT_REF: {
        tree base = TREE_OPERAND(reference, 0);
        std::string field = declaration_text(TREE_OPERAND(reference, 1));
        if (TREE_CODE(base) == MEM_REF && integer_zerop(TREE_OPERAND(base, 1)) &&
            TREE_CODE(TREE_OPERAND(base, 0)) == SSA_NAME)
            return operand_text(TREE_OPERAND(base, 0), depth) + "->" + field;
        return reference_text(base, depth) + "." + field;
    }
    case ARRAY_REF: {
        std::string base = reference_text(TREE_OPERAND(reference, 0), depth);
        if (base[0] == '*') /* an array behind a pointer, as Fortran's dummy arguments */
            base.erase(0, 1);
        return base + "[" + expression_text(TREE_OPERAND(reference, 1), depth) + "]";
    }
    case MEM_REF: {
        tree pointer = TREE_OPERAND(reference, 0), offset = TREE_OPERAND(reference, 1);
        if (integer_zerop(offset))
            return dereference_text(pointer, TREE_TYPE(reference), depth);
        tree size = TYPE_SIZE_UNIT(TREE_TYPE(reference));
        HOST_WIDE_INT bytes = TREE_INT_CST_LOW(pm_as_ssizetype(offset));
        std::string base = operand_text(pointer, depth);
        if (size && tree_fits_shwi_p(size) && tree_to_shwi(size) > 0 &&
            bytes % tree_to_shwi(size) == 0 && base[0] != '&')
            return base + "[" + std::to_string((long long)(bytes / tree_to_shwi(size))) + "]";
        return "*(" + base + " + " + std::to_string((long long)bytes) + " bytes)";
    }
    case TARGET_MEM_REF:
        return "*" + operand_text(TMR_BASE(reference), depth);
    case BIT_FIELD_REF:
    case REALPART_EXPR:
    case IMAGPART_EXPR:
    case VIEW_CONVERT_EXPR:
        return reference_text(TREE_OPERAND(reference, 0), depth);
    case SSA_NAME:
        return expression_text(reference, depth);
    case STRING_CST:
        return "\"…\"";
    default:
        return "…";
    }
}

static std::string shortened(const std::string &text) {
    if (text.size() <= MAX_LENGTH)
        return text;
    size_t end = MAX_LENGTH;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) /* not inside a character */
        end--;
    return text.substr(0, end) + "…";
}

std::string pm_expression_text(tree expression) {
    return shortened(expression_text(expression, 0));
}

std::string pm_reference_text(tree reference) { return shortened(reference_text(reference, 0)); }

/* Bounds that GCC computes itself have no name to print: `double[0:D.4856]` becomes `double[]`. */
std::string pm_type_text(tree type) {
    std::string text = type ? printed(type) : std::string();
    for (size_t open = text.find('['); open != std::string::npos; open = text.find('[', open + 1)) {
        size_t close = text.find(']', open);
        if (close != std::string::npos && text.find("D.", open) < close)
            text.erase(open + 1, close - open - 1);
    }
    return shortened(text);
}
