/* What parsing and evaluating expressions share: an expression is an array of nodes in which
   children come before their parents. */
#ifndef PM_EXPRESSION_PRIVATE_H
#define PM_EXPRESSION_PRIVATE_H

#include <stdint.h>

#include "core/expression/expression.h"

enum { PM_MAX_ARGUMENTS = 8 };

enum operation {
    OP_NUMBER,
    OP_NAME,
    OP_OR,
    OP_AND,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_LESS_EQUAL,
    OP_GREATER_EQUAL,
    OP_LESS,
    OP_GREATER,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_NEGATE,
    OP_NOT,
    OP_POWER,
    OP_CALL,
};

struct node {
    enum operation operation;
    double number; /* OP_NUMBER */
    size_t index;  /* OP_NAME: of the name; OP_CALL: of the function */
    size_t n_children;
    uint32_t children[PM_MAX_ARGUMENTS]; /* indices of nodes */
};

struct pm_expression {
    char *text;
    PM_ARRAY(struct node, nodes);
    PM_ARRAY(char *, names);
    size_t root;
};

/* The functions that may be called; evaluate.c. */
struct pm_expression_function {
    const char *name;
    size_t least, most; /* number of arguments */
    double (*call)(double);
};
enum { PM_FUNCTION_POW = 10, PM_FUNCTION_MIN, PM_FUNCTION_MAX, PM_N_FUNCTIONS };
extern const struct pm_expression_function pm_expression_functions[PM_N_FUNCTIONS];

#endif
