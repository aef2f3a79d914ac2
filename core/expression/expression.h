/* Expressions over named parameters: `floor((N-1)/3)`, `N%4==0`, `n^2*log2(n)`.

   Grammar, loosest first: || ; && ; == != < <= > >= ; + - ; * / % ; unary - ! ; ^ (right
   associative) ; number, name, name(expr, …), (expr).  Functions: floor ceil round sqrt cbrt log
   log2 log10 exp abs min max pow.  All values are doubles; a comparison gives 1 or 0; % is fmod. */
#ifndef PM_EXPRESSION_H
#define PM_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"

struct pm_expression; /* opaque */

/* Parses TEXT whole.  On an error the sentence shows the text and points at the character with a
   caret on a line of its own. */
struct pm_expression *pm_expression_parse(const char *text, struct pm_error *err);
void pm_expression_free(struct pm_expression *expression);

/* The parts of a list, "1, N, N^2, N*log2(N)": commas within parentheses belong to an expression.
 */
struct pm_expression_list {
    size_t n;
    char **texts;      /* of each part, without blanks at its ends; owned */
    size_t *positions; /* where each begins in the list; owned */
};

/* Reads TEXT whole.  NAMES: those that may occur; another one is an error like the others, with the
   list and a caret.  So is a part that is missing. */
struct pm_expression_list *pm_expression_list_parse(const char *text, size_t n_names,
                                                    const char *const *names, struct pm_error *err);
void pm_expression_list_free(struct pm_expression_list *list);

/* SENTENCE, then TEXT (the part around POSITION if it is long) and a caret under POSITION.  Returns
   false. */
bool pm_expression_fail_at(struct pm_error *err, const char *text, size_t position,
                           const char *sentence);

/* Names that occur, each once, in order of appearance: *NAMES has *N_NAMES entries owned by the
   expression. */
void pm_expression_names(const struct pm_expression *expression, const char *const **names,
                         size_t *n_names);

/* Value where parameter NAMES[i] is VALUES[i].  An unknown name is an error that names it. */
bool pm_expression_evaluate(const struct pm_expression *expression, size_t n,
                            const char *const *names, const double *values, double *result,
                            struct pm_error *err);

#endif
