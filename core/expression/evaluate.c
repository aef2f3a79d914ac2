/* The value of an expression: a walk over its nodes; see expression.h. */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/expression/private.h"

const struct pm_expression_function pm_expression_functions[PM_N_FUNCTIONS] = {
    {"floor", 1, 1, floor},
    {"ceil", 1, 1, ceil},
    {"round", 1, 1, round},
    {"sqrt", 1, 1, sqrt},
    {"cbrt", 1, 1, cbrt},
    {"log", 1, 1, log},
    {"log2", 1, 1, log2},
    {"log10", 1, 1, log10},
    {"exp", 1, 1, exp},
    {"abs", 1, 1, fabs},
    [PM_FUNCTION_POW] = {"pow", 2, 2, NULL},
    [PM_FUNCTION_MIN] = {"min", 1, PM_MAX_ARGUMENTS, NULL},
    [PM_FUNCTION_MAX] = {"max", 1, PM_MAX_ARGUMENTS, NULL},
};

struct evaluation {
    const struct pm_expression *expression;
    size_t n;
    const char *const *names;
    const double *values;
    struct pm_error *err;
};

static bool evaluate(const struct evaluation *e, size_t index, double *result);

static bool evaluate_call(const struct evaluation *e, const struct node *node, double *result) {
    double values[PM_MAX_ARGUMENTS];
    for (size_t i = 0; i < node->n_children; i++)
        if (!evaluate(e, node->children[i], &values[i]))
            return false;
    if (pm_expression_functions[node->index].call) {
        *result = pm_expression_functions[node->index].call(values[0]);
    } else if (node->index == PM_FUNCTION_POW) {
        *result = pow(values[0], values[1]);
    } else {
        *result = values[0];
        for (size_t i = 1; i < node->n_children; i++)
            if (node->index == PM_FUNCTION_MIN ? values[i] < *result : values[i] > *result)
                *result = values[i];
    }
    return true;
}

static bool evaluate_name(const struct evaluation *e, const struct node *node, double *result) {
    const char *name = e->expression->names[node->index];
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->names[i], name) == 0) {
            *result = e->values[i];
            return true;
        }
    return pm_fail(e->err, "the expression `%.200s` uses `%.100s`, which has no value here",
                   e->expression->text, name);
}

static double apply_binary(enum operation operation, double a, double b) {
    switch (operation) {
    case OP_EQUAL:
        return a == b;
    case OP_NOT_EQUAL:
        return a != b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_GREATER_EQUAL:
        return a >= b;
    case OP_LESS:
        return a < b;
    case OP_GREATER:
        return a > b;
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return a / b;
    case OP_REMAINDER:
        return fmod(a, b);
    default:
        return pow(a, b);
    }
}

static bool evaluate(const struct evaluation *e, size_t index, double *result) {
    const struct node *node = &e->expression->nodes[index];
    double left, right;
    if (node->operation == OP_NUMBER) {
        *result = node->number;
        return true;
    }
    if (node->operation == OP_NAME)
        return evaluate_name(e, node, result);
    if (node->operation == OP_CALL)
        return evaluate_call(e, node, result);
    if (!evaluate(e, node->children[0], &left))
        return false;
    if (node->operation == OP_NEGATE || node->operation == OP_NOT) {
        *result = node->operation == OP_NEGATE ? -left : left == 0;
        return true;
    }
    if (node->operation == OP_AND || node->operation == OP_OR) {
        /* The right side is not evaluated where the left one decides: `N>0 && M/N>2`. */
        if ((left != 0) == (node->operation == OP_OR)) {
            *result = node->operation == OP_OR;
            return true;
        }
        if (!evaluate(e, node->children[1], &right))
            return false;
        *result = right != 0;
        return true;
    }
    if (!evaluate(e, node->children[1], &right))
        return false;
    *result = apply_binary(node->operation, left, right);
    return true;
}

bool pm_expression_evaluate(const struct pm_expression *expression, size_t n,
                            const char *const *names, const double *values, double *result,
                            struct pm_error *err) {
    struct evaluation e = {
        .expression = expression, .n = n, .names = names, .values = values, .err = err};
    double value;
    if (!evaluate(&e, expression->root, &value))
        return false;
    if (!isfinite(value))
        return pm_fail(err,
                       "the expression `%.200s` has no finite value here (a division by zero, or "
                       "a logarithm or root outside its range)",
                       expression->text);
    *result = value;
    return true;
}
