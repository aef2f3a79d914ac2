/* Does each parameter that varies reach the program?  One that is in no text that a run is made of
   would give the same run again and again, and models that are constant in it. */
#include <stdlib.h>
#include <string.h>

#include "core/expression/expression.h"
#include "measure/command/command.h"
#include "measure/measure.h"

static bool varies(const char *name, const struct pm_parameters *sizes, size_t n_sizes) {
    double first, value;
    for (size_t i = 0; i < n_sizes; i++)
        if (pm_parameters_get(&sizes[0], name, &first) &&
            pm_parameters_get(&sizes[i], name, &value) && value != first)
            return true;
    return false;
}

static bool is_in_file(const char *path, const char *name) {
    char *text = pm_read_text(path, NULL); /* that it cannot be read is said where it is used */
    bool found = !text || pm_mentions(text, name);
    free(text);
    return found;
}

/* In a text of REQUEST itself. */
static bool is_mentioned(const struct pm_measure_request *request, const char *name) {
    const char *options = request->launcher.options; /* how many ranks, nodes … */
    bool found = (request->build && pm_mentions(request->build, name)) ||
                 (options && pm_mentions(options, name));
    for (size_t i = 0; request->argv[i] && !found; i++)
        found = pm_mentions(request->argv[i], name);
    for (size_t i = 0; i < request->n_environment && !found; i++)
        found = pm_mentions(request->environment[i], name);
    for (size_t i = 0; i < request->n_inputs && !found; i++)
        found = is_in_file(request->inputs[i].from, name);
    return found;
}

static bool is_in_formula(const char *formula, const char *name) {
    struct pm_expression *expression = pm_expression_parse(formula, NULL);
    const char *const *names;
    size_t n = 0;
    bool found = false;
    if (expression)
        pm_expression_names(expression, &names, &n);
    for (size_t i = 0; i < n && !found; i++)
        found = strcmp(names[i], name) == 0;
    pm_expression_free(expression);
    return found;
}

/* There, or in the formula of one that is used; DEPTH: formulas that may still be followed. */
static bool is_used(const struct pm_measure_request *request, const char *name, int depth) {
    const struct pm_given_formulas *formulas = &request->formulas;
    if (is_mentioned(request, name))
        return true;
    for (size_t i = 0; depth > 0 && i < formulas->n_list; i++)
        if (is_in_formula(formulas->list[i].text, name) &&
            is_used(request, formulas->list[i].name, depth - 1))
            return true;
    return false;
}

static bool may_be_unused(const struct pm_measure_request *request, const char *name) {
    for (size_t i = 0; i < request->n_unused; i++)
        if (strcmp(request->unused[i], name) == 0)
            return true;
    return pm_given_formulas_get(&request->formulas, name) != NULL; /* says nothing new */
}

bool pm_measure_check_used(const struct pm_measure_request *request,
                           const struct pm_parameters *sizes, size_t n_sizes,
                           struct pm_error *err) {
    for (size_t p = 0; n_sizes && p < sizes[0].n; p++) {
        const char *name = sizes[0].names[p];
        if (varies(name, sizes, n_sizes) && !may_be_unused(request, name) &&
            !is_used(request, name, PM_MAX_PARAMETERS))
            return pm_fail(err,
                           "-P gives %s several values, but no argument, --env, --input or --build "
                           "has {%s}, so that all runs would be the same: write {%s} where the "
                           "program takes it, or --unused %s",
                           name, name, name, name);
    }
    return true;
}
