/* The parts of the program that a query is about; see query.h.

   At the levels routine, loop and group every reference group is in exactly one part, so that parts
   add up to the whole, or to the scopes that were named. */
#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"
#include "fit/analysis/analysis.h"
#include "report/query/query.h"
#include "report/labels/labels.h"

bool pm_query_level_from_name(const char *name, enum pm_query_level *level) {
    static const char *const names[] = {"program", "routine", "loop", "group"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            *level = (enum pm_query_level)i;
            return true;
        }
    return false;
}

/* ---- scopes by name -------------------------------------------------------------------------- */

static bool is_called(const char *pattern, const char *text, bool exactly) {
    return text && (exactly ? strcmp(pattern, text) == 0 : pm_matches(pattern, text));
}

static bool scope_is_called(const struct pm_structure *structure, uint32_t s, const char *pattern,
                            bool exactly) {
    const struct pm_scope *scope = &structure->scopes[s];
    if (scope->kind != PM_SCOPE_ROUTINE && scope->kind != PM_SCOPE_LOOP &&
        scope->kind != PM_SCOPE_INLINED)
        return false;
    bool found = scope->kind != PM_SCOPE_LOOP && is_called(pattern, scope->name, exactly);
    if (scope->kind == PM_SCOPE_ROUTINE && scope->routine < structure->n_routines)
        found |= is_called(pattern, structure->routines[scope->routine].name, exactly) ||
                 is_called(pattern, structure->routines[scope->routine].display_name, exactly);
    if (found)
        return true;
    char *label = pm_scope_label_folded(structure, s), *source = pm_scope_source(structure, s);
    found = is_called(pattern, label, exactly) ||
            (scope->kind == PM_SCOPE_LOOP && is_called(pattern, source, exactly));
    label[strcspn(label, " ")] = '\0';
    found = found || (scope->kind == PM_SCOPE_LOOP && is_called(pattern, label, exactly));
    free(label);
    free(source);
    return found;
}

/* Marks the scopes that stand for those called PATTERN; how many. */
static size_t mark_called(const struct pm_structure *structure, const char *pattern,
                          bool *is_named) {
    size_t n = 0;
    for (int exactly = 1; exactly >= 0 && n == 0; exactly--)
        for (uint32_t s = 0; s < structure->n_scopes; s++)
            if (scope_is_called(structure, s, pattern, exactly)) {
                is_named[pm_fold_root(structure, s)] = true;
                n++;
            }
    return n;
}

static bool is_in(const struct pm_structure *structure, uint32_t scope, uint32_t named) {
    for (; scope != PM_NONE; scope = structure->scopes[scope].parent)
        if (pm_fold_root(structure, scope) == named)
            return true;
    return false;
}

static bool is_in_any(const struct pm_structure *structure, uint32_t scope, const bool *is_named) {
    for (; scope != PM_NONE; scope = structure->scopes[scope].parent)
        if (is_named[pm_fold_root(structure, scope)])
            return true;
    return false;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static struct pm_query_part *add_part(const struct pm_structure *structure,
                                      struct pm_query_parts *parts, uint32_t scope,
                                      uint32_t group) {
    struct pm_query_part *part = PM_PUSH(parts, parts);
    part->scope = scope;
    part->group = group;
    part->source = pm_scope_source(structure, scope);
    part->label = scope == 0 ? pm_strdup(pm_program_name(structure))
                             : pm_scope_label_folded(structure, scope);
    if (group != PM_NONE) {
        char *in = part->label;
        const char *object = structure->groups[group].object;
        part->label = pm_sprintf("#%u %s in %s", group, object ? object : "?", in);
        free(in);
    }
    return part;
}

static uint32_t routine_around(const struct pm_structure *structure, uint32_t scope) {
    uint32_t at = scope;
    while (at != PM_NONE && structure->scopes[at].kind != PM_SCOPE_ROUTINE)
        at = structure->scopes[at].parent;
    return at == PM_NONE ? scope : at;
}

/* One part for each scope that stands for groups at this level. */
static void add_level(const struct pm_structure *structure, struct pm_query_parts *parts,
                      const bool *is_named) {
    size_t *part_of = pm_alloc(structure->n_scopes, sizeof *part_of); /* its number + 1 */
    for (uint32_t g = 0; g < structure->n_groups; g++) {
        uint32_t scope = structure->groups[g].scope;
        if (is_named && !is_in_any(structure, scope, is_named))
            continue;
        if (parts->level == PM_QUERY_GROUP) {
            struct pm_query_part *part =
                add_part(structure, parts, pm_row_scope(structure, scope), g);
            *PM_PUSH(&part->groups, groups) = g;
            continue;
        }
        uint32_t root = parts->level == PM_QUERY_PROGRAM   ? 0
                        : parts->level == PM_QUERY_ROUTINE ? routine_around(structure, scope)
                                                           : pm_row_scope(structure, scope);
        if (!part_of[root]) {
            add_part(structure, parts, root, PM_NONE);
            part_of[root] = parts->n_parts;
        }
        *PM_PUSH(&parts->parts[part_of[root] - 1].groups, groups) = g;
    }
    free(part_of);
}

/* One part for each named scope, with all that is in it. */
static void add_named(const struct pm_structure *structure, struct pm_query_parts *parts,
                      const bool *is_named) {
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        if (!is_named[s])
            continue;
        struct pm_query_part *part = add_part(structure, parts, s, PM_NONE);
        for (uint32_t g = 0; g < structure->n_groups; g++)
            if (is_in(structure, structure->groups[g].scope, s))
                *PM_PUSH(&part->groups, groups) = g;
    }
}

/* Those of groups have numbers. */
static void tell_parts_apart(const struct pm_structure *structure, struct pm_query_parts *parts) {
    struct pm_shown_label *labels = pm_alloc(parts->n_parts, sizeof *labels);
    size_t n = 0;
    for (size_t i = 0; i < parts->n_parts; i++)
        if (parts->parts[i].group == PM_NONE)
            labels[n++] = (struct pm_shown_label){&parts->parts[i].label, parts->parts[i].scope};
    pm_tell_labels_apart(structure, labels, n);
    free(labels);
}

static bool fail_unknown(const struct pm_structure *structure, const char *name,
                         struct pm_error *err) {
    pm_fail(err,
            "no routine or loop of the program is called \"%.100s\": `pmodel report` "
            "names them, as in step, step/3 or heat.c:126",
            name);
    return pm_fail_nearest_scope(err, structure, name);
}

bool pm_query_find_parts(const struct pm_structure *structure, enum pm_query_level level,
                         const char *const *names, size_t n_names, struct pm_query_parts *parts,
                         struct pm_error *err) {
    *parts = (struct pm_query_parts){.level = level};
    bool *is_named = n_names ? pm_alloc(structure->n_scopes, sizeof *is_named) : NULL;
    bool ok = true;
    for (size_t i = 0; i < n_names && ok; i++)
        if (mark_called(structure, names[i], is_named) == 0)
            ok = fail_unknown(structure, names[i], err);
    if (ok && is_named && level == PM_QUERY_PROGRAM)
        add_named(structure, parts, is_named);
    else if (ok)
        add_level(structure, parts, is_named);
    free(is_named);
    tell_parts_apart(structure, parts);
    if (ok && parts->n_parts == 0)
        ok = pm_fail(err, "there is no memory access in what was asked for");
    return ok;
}

static void free_part(struct pm_query_part *part) {
    free(part->label);
    free(part->source);
    free(part->groups.groups);
}

void pm_query_parts_free(struct pm_query_parts *parts) {
    for (size_t i = 0; i < parts->n_parts; i++)
        free_part(&parts->parts[i]);
    free(parts->parts);
}

/* ---- weights --------------------------------------------------------------------------------- */

static int compare_weights(const void *a, const void *b) {
    const struct pm_query_part *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->scope != y->scope)
        return x->scope > y->scope ? 1 : -1;
    return (x->group > y->group) - (x->group < y->group);
}

const struct pm_query_groups **pm_query_parts_groups(const struct pm_query_parts *parts) {
    const struct pm_query_groups **groups = pm_alloc(parts->n_parts, sizeof *groups);
    for (size_t i = 0; i < parts->n_parts; i++)
        groups[i] = &parts->parts[i].groups;
    return groups;
}

void pm_query_weigh(struct pm_query_parts *parts, const struct pm_structure *structure,
                    const struct pm_profile *profile, const struct pm_query_caches *caches) {
    const struct pm_query_groups **groups = pm_query_parts_groups(parts);
    double *weights = pm_alloc(parts->n_parts, sizeof *weights);
    pm_query_weights(structure, profile, caches, groups, parts->n_parts, weights);
    for (size_t i = 0; i < parts->n_parts; i++)
        parts->parts[i].weight = weights[i];
    free(weights);
    free(groups);
    if (parts->n_parts)
        qsort(parts->parts, parts->n_parts, sizeof *parts->parts, compare_weights);
}

static bool is_shown(const struct pm_query_parts *parts, size_t part,
                     const struct pm_report_options *options) {
    if (options->max_rows && part >= options->max_rows)
        return false;
    if (parts->level == PM_QUERY_PROGRAM) /* asked for by name */
        return parts->parts[part].weight > 0;
    return 100 * parts->parts[part].weight >= options->min_percent;
}

/* They stand in order, so that those that are not shown are the last; one always is. */
void pm_query_keep_shown(struct pm_query_parts *parts, const struct pm_report_options *options) {
    if (options->format != PM_REPORT_TABLE)
        return;
    for (; parts->n_parts > 1 && !is_shown(parts, parts->n_parts - 1, options); parts->n_left_out++)
        free_part(&parts->parts[--parts->n_parts]);
}
