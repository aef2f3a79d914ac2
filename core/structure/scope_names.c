/* Routines and loops by name, see structure.h. */
#include "core/structure/structure.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a name says of loops.  Its texts are parts of one copy of the name. */
struct wanted {
    char *code;         /* routine or inlined callee, a pattern; NULL any */
    char *file;         /* NULL any */
    char *variable;     /* NULL any */
    unsigned long line; /* 0 any */
    unsigned long depth;
};

/* The number that is all of TEXT; 0 if there is none. */
static unsigned long whole_number(const char *text) {
    char *end;
    if (!isdigit((unsigned char)*text))
        return 0;
    unsigned long number = strtoul(text, &end, 10);
    return *end ? 0 : number;
}

/* "main/2", "main/2 i", "main/2 :31 (vector)"; changes NAME. */
static bool read_loop(char *name, struct wanted *wanted) {
    char *slash = strrchr(name, '/');
    if (!slash || slash == name)
        return false;
    char *depth = slash + 1, *rest = strchr(depth, ' ');
    *slash = '\0';
    wanted->code = name;
    if (rest) {
        *rest++ = '\0';
        char *remark = strchr(rest, '(');
        if (remark) {
            while (remark > rest && remark[-1] == ' ')
                remark--;
            *remark = '\0';
        }
        if (*rest == ':') {
            wanted->line = whole_number(rest + 1);
            if (!wanted->line)
                return false;
        } else if (*rest) {
            wanted->variable = rest;
        }
    }
    wanted->depth = whole_number(depth);
    return wanted->depth != 0;
}

/* "heat.c:31"; changes NAME. */
static bool read_place(char *name, struct wanted *wanted) {
    char *colon = strrchr(name, ':');
    if (!colon || colon == name)
        return false;
    *colon = '\0';
    wanted->file = name;
    wanted->line = whole_number(colon + 1);
    return wanted->line != 0;
}

/* What the code that SCOPE is in is called, by each name that it has: the innermost inlined callee,
   else the routine.  *N: how many. */
static void code_names(const struct pm_structure *structure, uint32_t scope, const char *names[3],
                       size_t *n) {
    *n = 0;
    for (; scope != PM_NONE && *n == 0; scope = structure->scopes[scope].parent) {
        const struct pm_scope *s = &structure->scopes[scope];
        if (s->kind != PM_SCOPE_ROUTINE && s->kind != PM_SCOPE_INLINED)
            continue;
        const struct pm_routine *routine =
            s->kind == PM_SCOPE_ROUTINE && s->routine < structure->n_routines
                ? &structure->routines[s->routine]
                : NULL;
        const char *all[] = {routine ? routine->display_name : NULL, routine ? routine->name : NULL,
                             s->name};
        for (int i = 0; i < 3; i++)
            if (all[i])
                names[(*n)++] = all[i];
        if (s->kind == PM_SCOPE_ROUTINE)
            return;
    }
}

static bool is_in_code(const struct pm_structure *structure, uint32_t scope, const char *code) {
    const char *names[3];
    size_t n;
    code_names(structure, scope, names, &n);
    for (size_t i = 0; i < n; i++)
        if (pm_matches(code, names[i]))
            return true;
    return false;
}

static bool is_wanted(const struct pm_structure *structure, uint32_t scope,
                      const struct wanted *wanted) {
    const struct pm_scope *s = &structure->scopes[scope];
    return s->kind == PM_SCOPE_LOOP && (!wanted->depth || wanted->depth == s->depth) &&
           (!wanted->line || wanted->line == s->line_first) &&
           (!wanted->variable || (s->name && strcmp(s->name, wanted->variable) == 0)) &&
           (!wanted->file || (s->file && (strcmp(s->file, wanted->file) == 0 ||
                                          strcmp(pm_base_name(s->file), wanted->file) == 0))) &&
           (!wanted->code || is_in_code(structure, scope, wanted->code));
}

bool *pm_scopes_named(const struct pm_structure *structure, const char *name, uint32_t *n_named) {
    bool *named = pm_alloc(structure->n_scopes + 1, sizeof *named);
    uint32_t n_routines;
    bool *routines = pm_routines_named(structure, name, &n_routines);
    *n_named = 0;
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        uint32_t scope = structure->routines[r].scope;
        if (routines[r] && scope < structure->n_scopes && !named[scope]) {
            named[scope] = true;
            ++*n_named;
        }
    }
    free(routines);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_scope *scope = &structure->scopes[s];
        if (scope->kind == PM_SCOPE_INLINED && scope->name && pm_matches(name, scope->name)) {
            named[s] = true;
            ++*n_named;
        }
    }
    for (int form = 0; form < 2 && !*n_named; form++) {
        struct wanted wanted = {0};
        char *copy = pm_strdup(name);
        bool read = form == 0 ? read_loop(copy, &wanted) : read_place(copy, &wanted);
        for (uint32_t s = 0; read && s < structure->n_scopes; s++)
            if (is_wanted(structure, s, &wanted)) {
                named[s] = true;
                ++*n_named;
            }
        free(copy);
    }
    return named;
}

bool pm_fail_nearest_scope(struct pm_error *err, const struct pm_structure *structure,
                           const char *name) {
    struct pm_nearest nearest = {0};
    pm_nearest_routine(structure, name, &nearest);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const struct pm_scope *scope = &structure->scopes[s];
        const char *code[3];
        size_t n = 0;
        if (scope->kind == PM_SCOPE_INLINED && scope->name)
            pm_nearest_try(&nearest, name, scope->name);
        if (scope->kind == PM_SCOPE_LOOP)
            code_names(structure, s, code, &n);
        if (n) {
            char *loop = pm_sprintf("%s/%u", code[0], (unsigned)scope->depth);
            pm_nearest_try(&nearest, name, loop);
            free(loop);
        }
    }
    return pm_fail_nearest(err, &nearest);
}
