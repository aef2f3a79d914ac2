/* From text to the nodes of an expression, by recursive descent, and lists of expressions; see
   expression.h for the grammar.  Length and nesting are limited, so that no text can exhaust the
   stack. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/expression/private.h"

enum { MAX_LENGTH = 4096, MAX_NESTING = 200, SHOWN_LENGTH = 160 };

/* ---- parsing -------------------------------------------------------------------------------- */

struct parser {
    struct pm_expression *expression;
    const char *text, *at;
    int nesting;
    const char *const *known; /* names that may occur, n_known of them; NULL: any */
    size_t n_known;
    struct pm_error *err;
};

bool pm_expression_fail_at(struct pm_error *err, const char *text, size_t position,
                           const char *sentence) {
    size_t length = strlen(text);
    size_t first = position > SHOWN_LENGTH / 2 ? position - SHOWN_LENGTH / 2 : 0;
    size_t shown = length - first < SHOWN_LENGTH ? length - first : SHOWN_LENGTH;
    char line[SHOWN_LENGTH + 1];
    for (size_t i = 0; i < shown; i++) /* a tab would shift the caret */
        line[i] = iscntrl((unsigned char)text[first + i]) ? ' ' : text[first + i];
    line[shown] = '\0';
    return pm_fail(err, "%s\n  %s\n  %*s^", sentence, line, (int)(position - first), "");
}

static bool fail_at(const struct parser *parser, const char *at, const char *sentence) {
    return pm_expression_fail_at(parser->err, parser->text, (size_t)(at - parser->text), sentence);
}

static void skip_blanks(struct parser *parser) {
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool accept(struct parser *parser, const char *token) {
    skip_blanks(parser);
    size_t length = strlen(token);
    if (strncmp(parser->at, token, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static size_t add_node(struct parser *parser, enum operation operation, size_t n_children,
                       const size_t *children) {
    struct node *node = PM_PUSH(parser->expression, nodes);
    node->operation = operation;
    node->n_children = n_children;
    for (size_t i = 0; i < n_children; i++)
        node->children[i] = (uint32_t)children[i];
    return parser->expression->n_nodes - 1;
}

static bool parse_level(struct parser *parser, int level, size_t *result);
static bool parse_unary(struct parser *parser, size_t *result);

static bool parse_number(struct parser *parser, size_t *result) {
    const char *end = parser->at;
    while (isdigit((unsigned char)*end) || *end == '.')
        end++;
    if ((*end == 'e' || *end == 'E') &&
        isdigit((unsigned char)end[1 + (end[1] == '+' || end[1] == '-')])) {
        end += 2;
        while (isdigit((unsigned char)*end))
            end++;
    }
    char *read_to, *copy = pm_strdup(parser->at);
    copy[end - parser->at] = '\0'; /* else strtod would take hexadecimal digits and the like */
    double number = strtod(copy, &read_to);
    bool whole = *read_to == '\0' && read_to != copy && isfinite(number);
    free(copy);
    if (!whole)
        return fail_at(parser, parser->at, "this is not a number that can be read:");
    *result = add_node(parser, OP_NUMBER, 0, NULL);
    parser->expression->nodes[*result].number = number;
    parser->at = end;
    return true;
}

static size_t intern_name(struct pm_expression *expression, const char *name, size_t length) {
    for (size_t i = 0; i < expression->n_names; i++)
        if (strlen(expression->names[i]) == length &&
            memcmp(expression->names[i], name, length) == 0)
            return i;
    char *copy = pm_alloc(length + 1, 1);
    memcpy(copy, name, length);
    *PM_PUSH(expression, names) = copy;
    return expression->n_names - 1;
}

/* Only names that are known may occur, where the caller says which. */
static bool check_name(const struct parser *parser, const char *name, size_t length) {
    if (!parser->known)
        return true;
    char *list = NULL, *written = pm_sprintf("%.*s", (int)length, name);
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < parser->n_known; i++) {
        if (strlen(parser->known[i]) == length && memcmp(parser->known[i], name, length) == 0) {
            free(written);
            free(list);
            return true;
        }
        pm_append(&list, "%s%s", i ? " " : "", parser->known[i]);
        pm_nearest_try(&nearest, written, parser->known[i]);
    }
    bool is_near = *nearest.name;
    char *sentence =
        pm_sprintf("there is no parameter of this name (known: %s%s%s%s):", list ? list : "none",
                   is_near ? "; did you mean " : "", nearest.name, is_near ? "?" : "");
    free(written);
    fail_at(parser, name, sentence);
    free(sentence);
    free(list);
    return false;
}

static bool parse_call(struct parser *parser, const char *name, size_t length, size_t *result) {
    size_t function = 0;
    while (function < PM_N_FUNCTIONS &&
           (strlen(pm_expression_functions[function].name) != length ||
            memcmp(pm_expression_functions[function].name, name, length) != 0))
        function++;
    if (function == PM_N_FUNCTIONS)
        return fail_at(parser, name,
                       "there is no function of this name (known: floor ceil round sqrt cbrt log "
                       "log2 log10 exp abs min max pow):");
    size_t arguments[PM_MAX_ARGUMENTS], n = 0;
    do {
        if (n == pm_expression_functions[function].most)
            return fail_at(parser, parser->at, "this function takes no further argument:");
        if (!parse_level(parser, 0, &arguments[n++]))
            return false;
    } while (accept(parser, ","));
    if (!accept(parser, ")"))
        return fail_at(parser, parser->at, "',' or ')' is expected here:");
    if (n < pm_expression_functions[function].least)
        return fail_at(parser, parser->at - 1, "this function needs another argument:");
    *result = add_node(parser, OP_CALL, n, arguments);
    parser->expression->nodes[*result].index = function;
    return true;
}

static bool parse_primary(struct parser *parser, size_t *result) {
    if (accept(parser, "(")) {
        if (!parse_level(parser, 0, result))
            return false;
        return accept(parser, ")") || fail_at(parser, parser->at, "')' is expected here:");
    }
    unsigned char first = (unsigned char)*parser->at;
    if (isdigit(first) || first == '.')
        return parse_number(parser, result);
    if (!isalpha(first) && first != '_')
        return fail_at(parser, parser->at, "a number, a name or '(' is expected here:");
    const char *name = parser->at;
    while (isalnum((unsigned char)*parser->at) || *parser->at == '_')
        parser->at++;
    size_t length = (size_t)(parser->at - name);
    if (accept(parser, "("))
        return parse_call(parser, name, length, result);
    if (!check_name(parser, name, length))
        return false;
    *result = add_node(parser, OP_NAME, 0, NULL);
    parser->expression->nodes[*result].index = intern_name(parser->expression, name, length);
    return true;
}

/* Right associative; its right side may carry a sign, as in 2^-1. */
static bool parse_power(struct parser *parser, size_t *result) {
    size_t sides[2];
    if (!parse_primary(parser, &sides[0]))
        return false;
    if (!accept(parser, "^")) {
        *result = sides[0];
        return true;
    }
    if (!parse_unary(parser, &sides[1]))
        return false;
    *result = add_node(parser, OP_POWER, 2, sides);
    return true;
}

static bool parse_unary(struct parser *parser, size_t *result) {
    if (parser->nesting >= MAX_NESTING)
        return fail_at(parser, parser->at, "the expression is nested too deeply here:");
    parser->nesting++;
    size_t operand;
    bool ok;
    skip_blanks(parser);
    if (*parser->at == '-' || *parser->at == '!') {
        enum operation operation = *parser->at++ == '-' ? OP_NEGATE : OP_NOT;
        ok = parse_unary(parser, &operand);
        if (ok)
            *result = add_node(parser, operation, 1, &operand);
    } else {
        ok = parse_power(parser, result);
    }
    parser->nesting--;
    return ok;
}

/* Binary operators by level, loosest first; a longer token stands before its prefix. */
static const struct {
    int level;
    const char *token;
    enum operation operation;
} binary_operators[] = {
    {0, "||", OP_OR},        {1, "&&", OP_AND},        {2, "==", OP_EQUAL},
    {2, "!=", OP_NOT_EQUAL}, {2, "<=", OP_LESS_EQUAL}, {2, ">=", OP_GREATER_EQUAL},
    {2, "<", OP_LESS},       {2, ">", OP_GREATER},     {3, "+", OP_ADD},
    {3, "-", OP_SUBTRACT},   {4, "*", OP_MULTIPLY},    {4, "/", OP_DIVIDE},
    {4, "%", OP_REMAINDER},
};
enum {
    N_BINARY = sizeof binary_operators / sizeof *binary_operators,
    LEVEL_COMPARISON = 2,
    LEVEL_UNARY = 5
};

static bool parse_level(struct parser *parser, int level, size_t *result) {
    if (level == LEVEL_UNARY)
        return parse_unary(parser, result);
    size_t sides[2];
    if (!parse_level(parser, level + 1, &sides[0]))
        return false;
    for (int n_operators = 0;; n_operators++) {
        size_t i = 0;
        skip_blanks(parser);
        const char *operator_at = parser->at;
        while (i < N_BINARY &&
               !(binary_operators[i].level == level && accept(parser, binary_operators[i].token)))
            i++;
        if (i == N_BINARY) {
            *result = sides[0];
            return true;
        }
        if (level == LEVEL_COMPARISON && n_operators > 0)
            return fail_at(parser, operator_at,
                           "comparisons cannot be chained, write `a<b && b<c`:");
        if (!parse_level(parser, level + 1, &sides[1]))
            return false;
        sides[0] = add_node(parser, binary_operators[i].operation, 2, sides);
    }
}

static bool check_length(const char *text, const char *what, struct pm_error *err) {
    return strlen(text) <= MAX_LENGTH ||
           pm_fail(err, "the %s that begins `%.40s` is longer than %d characters", what, text,
                   MAX_LENGTH);
}

struct pm_expression *pm_expression_parse(const char *text, struct pm_error *err) {
    if (!check_length(text, "expression", err))
        return NULL;
    struct pm_expression *expression = pm_alloc(1, sizeof *expression);
    expression->text = pm_strdup(text);
    struct parser parser = {
        .expression = expression, .text = expression->text, .at = expression->text, .err = err};
    bool ok = parse_level(&parser, 0, &expression->root);
    skip_blanks(&parser);
    if (ok && *parser.at)
        ok = fail_at(&parser, parser.at, "an operator or the end of the text is expected here:");
    if (ok)
        return expression;
    pm_expression_free(expression);
    return NULL;
}

void pm_expression_free(struct pm_expression *expression) {
    if (!expression)
        return;
    for (size_t i = 0; i < expression->n_names; i++)
        free(expression->names[i]);
    free(expression->names);
    free(expression->nodes);
    free(expression->text);
    free(expression);
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* Parses the part that begins at parser->at and adds it to LIST. */
static bool parse_part(struct parser *parser, struct pm_expression_list *list) {
    size_t root;
    skip_blanks(parser);
    const char *first = parser->at, *last;
    parser->expression = pm_alloc(1, sizeof *parser->expression);
    bool ok = parse_level(parser, 0, &root);
    pm_expression_free(parser->expression);
    if (!ok)
        return false;
    for (last = parser->at; last > first && isspace((unsigned char)last[-1]);)
        last--;
    size_t n = ++list->n, length = (size_t)(last - first);
    list->texts = pm_realloc(list->texts, n, sizeof *list->texts);
    list->positions = pm_realloc(list->positions, n, sizeof *list->positions);
    list->texts[n - 1] = pm_alloc(length + 1, 1);
    memcpy(list->texts[n - 1], first, length);
    list->positions[n - 1] = (size_t)(first - parser->text);
    return true;
}

struct pm_expression_list *pm_expression_list_parse(const char *text, size_t n_names,
                                                    const char *const *names,
                                                    struct pm_error *err) {
    if (!check_length(text, "list", err))
        return NULL;
    struct pm_expression_list *list = pm_alloc(1, sizeof *list);
    struct parser parser = {
        .text = text, .at = text, .known = names, .n_known = n_names, .err = err};
    bool ok;
    do
        ok = parse_part(&parser, list);
    while (ok && accept(&parser, ","));
    skip_blanks(&parser);
    if (ok && *parser.at)
        ok = fail_at(&parser, parser.at, "an operator, ',' or the end is expected here:");
    if (ok)
        return list;
    pm_expression_list_free(list);
    return NULL;
}

void pm_expression_list_free(struct pm_expression_list *list) {
    if (!list)
        return;
    for (size_t i = 0; i < list->n; i++)
        free(list->texts[i]);
    free(list->texts);
    free(list->positions);
    free(list);
}

void pm_expression_names(const struct pm_expression *expression, const char *const **names,
                         size_t *n_names) {
    *names = (const char *const *)expression->names;
    *n_names = expression->n_names;
}
