/* What of a dump is the same for all stages: which pass, which part, and words; see dumps.h. */
#include "core/dumps/dumps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smaller values are what rounding left of 0. */
static const double rounding = 1e-9;

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool fail_pass(const struct pm_dumping *dumping, const char *name, struct pm_error *err) {
    char *names = NULL;
    for (const struct pm_dump_pass *pass = dumping->passes; pass->name; pass++)
        pm_append(&names, "%s, ", pass->name);
    pm_fail(err, "--dump is %sor list, not \"%s\"", names, name);
    free(names);
    return false;
}

bool pm_dumping_read(struct pm_dumping *dumping, char *text, struct pm_error *err) {
    char *part = text;
    char *name = strsep(&part, ":");
    dumping->part = part;
    dumping->list = strcmp(name, "list") == 0;
    for (const struct pm_dump_pass *pass = dumping->passes; pass->name; pass++)
        if (strcmp(name, pass->name) == 0)
            dumping->pass = pass;
    return dumping->list || dumping->pass || fail_pass(dumping, name, err);
}

void pm_dumping_list(const struct pm_dumping *dumping, FILE *out) {
    for (const struct pm_dump_pass *pass = dumping->passes; pass->name; pass++)
        fprintf(out, "%-12s %s\n", pass->name, pass->what);
}

bool pm_dumping_begin(struct pm_dumping *dumping, const struct pm_structure *structure, FILE *out,
                      struct pm_error *err) {
    uint32_t n_named = 0;
    dumping->structure = structure;
    dumping->out = out;
    if (!dumping->part)
        return true;
    dumping->wanted = pm_scopes_named(structure, dumping->part, &n_named);
    if (n_named == 0) {
        pm_fail(err, "no routine or loop is called \"%s\"", dumping->part);
        return pm_fail_nearest_scope(err, structure, dumping->part);
    }
    for (uint32_t s = 1; s < structure->n_scopes; s++) /* parents stand first */
        dumping->wanted[s] |= dumping->wanted[structure->scopes[s].parent];
    return true;
}

void pm_dumping_end(struct pm_dumping *dumping) {
    free(dumping->wanted);
    dumping->wanted = NULL;
}

bool pm_dumps(const struct pm_dumping *dumping, const char *name) {
    return dumping && dumping->pass && strcmp(dumping->pass->name, name) == 0;
}

bool pm_dumps_scope(const struct pm_dumping *dumping, uint32_t scope) {
    return !dumping->wanted || (scope < dumping->structure->n_scopes && dumping->wanted[scope]);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The routine or inlined callee that SCOPE is in. */
static const char *code_of(const struct pm_structure *structure, uint32_t scope) {
    for (; scope != PM_NONE; scope = structure->scopes[scope].parent) {
        const struct pm_scope *s = &structure->scopes[scope];
        if (s->kind == PM_SCOPE_ROUTINE && s->routine < structure->n_routines)
            return structure->routines[s->routine].display_name;
        if (s->kind == PM_SCOPE_INLINED)
            return s->name;
    }
    return NULL;
}

void pm_dump_scope(const struct pm_dumping *dumping, uint32_t scope) {
    FILE *out = dumping->out;
    if (scope >= dumping->structure->n_scopes) {
        fputs("?", out);
        return;
    }
    const struct pm_scope *s = &dumping->structure->scopes[scope];
    const char *code = code_of(dumping->structure, scope);
    fputs(code ? code : s->name ? s->name : "?", out);
    if (s->kind == PM_SCOPE_LOOP) {
        fprintf(out, "/%u", (unsigned)s->depth);
        if (s->name)
            fprintf(out, " %s", s->name);
    }
    if (s->file && s->line_first)
        fprintf(out, " %s:%" PRIu32, pm_base_name(s->file), s->line_first);
}

void pm_dump_block(const struct pm_dumping *dumping, uint32_t block, bool is_from) {
    const struct pm_structure *structure = dumping->structure;
    if (block == PM_NONE)
        fputs(is_from ? "ENTRY" : "EXIT", dumping->out);
    else
        fprintf(dumping->out, "b%" PRIu32,
                block - structure->routines[structure->blocks[block].routine].first_block);
}

void pm_dump_value(const struct pm_dumping *dumping, double value) {
    fprintf(dumping->out, "%.5g", fabs(value) < rounding ? 0 : value);
}
