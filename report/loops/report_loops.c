/* From a structure to the rows of `pmodel loops`: the scope tree in depth-first order, routines by
   address.  Needs assigned scopes (children after their parents) and, for counters, the placement
   by the lifter. */
#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"
#include "report/loops/loops.h"
#include "report/labels/labels.h"

/* ---- lists by scope ------------------------------------------------------------------------- */

static struct pm_lists children_by_scope(const struct pm_structure *structure) {
    uint32_t *parents = pm_alloc(structure->n_scopes, sizeof *parents);
    for (size_t i = 0; i < structure->n_scopes; i++)
        parents[i] = structure->scopes[i].parent;
    struct pm_lists lists =
        pm_lists_by_key(parents, NULL, structure->n_scopes, structure->n_scopes);
    free(parents);
    return lists;
}

static struct pm_lists groups_by_scope(const struct pm_structure *structure) {
    uint32_t *scopes = pm_alloc(structure->n_groups, sizeof *scopes);
    for (size_t i = 0; i < structure->n_groups; i++)
        scopes[i] = structure->groups[i].scope;
    struct pm_lists lists = pm_lists_by_key(scopes, NULL, structure->n_groups, structure->n_scopes);
    free(scopes);
    return lists;
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct walk {
    const struct pm_structure *structure;
    struct pm_loop_rows *rows;
    struct pm_lists children, groups;
    bool *is_shown;     /* by scope: routines, loops, inlined code with loops or groups in it */
    uint32_t *n_blocks; /* by scope: basic blocks directly in it */
};

/* Inlined code has a row if something in it has one; children come after their parents. */
static void mark_shown(struct walk *walk) {
    const struct pm_structure *structure = walk->structure;
    for (uint32_t i = (uint32_t)structure->n_scopes; i-- > 0;) {
        const struct pm_scope *scope = &structure->scopes[i];
        bool has_groups = walk->groups.first[i + 1] > walk->groups.first[i];
        if (scope->kind == PM_SCOPE_LOOP || scope->kind == PM_SCOPE_ROUTINE || has_groups)
            walk->is_shown[i] = true;
        if (walk->is_shown[i] && scope->parent != PM_NONE)
            walk->is_shown[scope->parent] = true;
    }
}

static void count_blocks(struct walk *walk) {
    const struct pm_structure *structure = walk->structure;
    for (size_t i = 0; i < structure->n_blocks; i++)
        if (structure->blocks[i].scope < structure->n_scopes)
            walk->n_blocks[structure->blocks[i].scope]++;
}

/* "cold part", "parallel region ._omp_fn.0", "clone .constprop.0"; empty for a routine that was not
   made of another one. */
static char *clone_remark(const struct pm_structure *structure, const struct pm_routine *routine) {
    uint32_t parent = structure->scopes[routine->scope].parent;
    if (parent == PM_NONE || structure->scopes[parent].kind != PM_SCOPE_ROUTINE)
        return pm_strdup("");
    const char *source = structure->routines[structure->scopes[parent].routine].name;
    size_t length = strlen(source);
    const char *suffix =
        strncmp(routine->name, source, length) == 0 ? routine->name + length : routine->name;
    if (strncmp(suffix, ".cold", 5) == 0)
        return pm_strdup("cold part");
    bool is_region = strncmp(suffix, "._omp_fn", 8) == 0;
    return pm_sprintf("%s %s", is_region ? "parallel region" : "clone", suffix);
}

static char *routine_remarks(const struct pm_structure *structure,
                             const struct pm_routine *routine) {
    char *remarks = clone_remark(structure, routine);
    const char *separator = *remarks ? "; " : "";
    if (routine->state != PM_ROUTINE_LIFTED)
        pm_append(&remarks, "%s%s: %s", separator, pm_routine_state_word(routine->state),
                  routine->reason ? routine->reason : "?");
    else if (routine->reason)
        pm_append(&remarks, "%s%s", separator, routine->reason);
    return remarks;
}

static void add_row(struct walk *walk, uint32_t scope, unsigned indent) {
    const struct pm_structure *structure = walk->structure;
    const struct pm_scope *s = &structure->scopes[scope];
    struct pm_loop_row *row = PM_PUSH(walk->rows, rows);
    row->place = (struct pm_row_place){structure, scope};
    row->record = pm_scope_kind_word(s->kind);
    row->indent = indent;
    row->label = pm_scope_label(structure, scope);
    row->source = pm_scope_source(structure, scope);
    row->trip_count = s->trip_count;
    row->n_blocks = walk->n_blocks[scope];
    row->first_group = walk->groups.first[scope];
    row->n_groups = walk->groups.first[scope + 1] - walk->groups.first[scope];
    if (s->kind == PM_SCOPE_ROUTINE && s->routine < structure->n_routines) {
        row->routine = &structure->routines[s->routine];
        row->n_blocks = row->routine->n_blocks;
        row->remarks = routine_remarks(structure, row->routine);
    } else {
        row->remarks = pm_scope_remarks(structure, scope);
    }
}

/* Visits SCOPE and all scopes in it, without recursion: a file can nest scopes to any depth. */
static void add_tree(struct walk *walk, uint32_t root) {
    struct {
        PM_ARRAY(uint32_t, scopes);
        PM_ARRAY(unsigned, indents);
    } stack = {0};
    *PM_PUSH(&stack, scopes) = root;
    *PM_PUSH(&stack, indents) = 0;
    while (stack.n_scopes) {
        uint32_t scope = stack.scopes[--stack.n_scopes];
        unsigned indent = stack.indents[--stack.n_indents];
        add_row(walk, scope, indent);
        for (uint32_t i = walk->children.first[scope + 1]; i-- > walk->children.first[scope];) {
            uint32_t child = walk->children.items[i];
            if (!walk->is_shown[child])
                continue;
            *PM_PUSH(&stack, scopes) = child;
            *PM_PUSH(&stack, indents) = indent + 1;
        }
    }
    free(stack.scopes);
    free(stack.indents);
}

/* ---- totals --------------------------------------------------------------------------------- */

static void add_routine_totals(struct pm_loops_totals *totals, const struct pm_structure *structure,
                               const struct pm_routine *routine) {
    totals->n_routines++;
    totals->n_lifted += routine->state == PM_ROUTINE_LIFTED;
    totals->n_partial += routine->state == PM_ROUTINE_PARTIAL;
    totals->n_refused += routine->state == PM_ROUTINE_REFUSED;
    totals->n_with_metadata += routine->has_metadata;
    totals->n_nameless += !pm_has_symbol(routine);
    totals->n_blocks += routine->n_blocks;
    totals->n_edges += routine->n_edges;
    totals->n_counters += routine->n_counters;
    totals->n_counters_formula += routine->n_counters_formula;
    for (uint32_t i = 0; i < routine->n_blocks; i++)
        totals->n_references += structure->blocks[routine->first_block + i].n_references;
}

static void add_module_totals(struct pm_loops_totals *totals,
                              const struct pm_structure *structure) {
    for (size_t i = 0; i < structure->n_modules; i++) {
        totals->text_bytes += structure->modules[i].text_bytes;
        totals->lifted_bytes += structure->modules[i].lifted_bytes;
        totals->has_metadata |= structure->modules[i].has_metadata;
        totals->has_lines |= structure->modules[i].has_lines;
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Whether a part or clone stands in the tree of a routine that is shown.  NAMED: per routine. */
static bool is_inside_shown(const struct pm_structure *structure, const struct pm_routine *clone,
                            const bool *named) {
    for (uint32_t s = structure->scopes[clone->scope].parent; s != PM_NONE;
         s = structure->scopes[s].parent)
        if (structure->scopes[s].kind == PM_SCOPE_ROUTINE && named[structure->scopes[s].routine])
            return true;
    return false;
}

/* The row of a loop stands below the row of the scope around it. */
static void tell_rows_apart(struct pm_loop_rows *rows, const struct pm_structure *structure) {
    struct pm_shown_label *labels = pm_alloc(rows->n_rows, sizeof *labels);
    size_t n = 0;
    for (size_t i = 0; i < rows->n_rows; i++)
        if (structure->scopes[rows->rows[i].place.scope].kind != PM_SCOPE_LOOP)
            labels[n++] = (struct pm_shown_label){&rows->rows[i].label, rows->rows[i].place.scope};
    pm_tell_labels_apart(structure, labels, n);
    free(labels);
}

struct pm_loop_rows *pm_loop_rows_new(const struct pm_structure *structure, const char *routine) {
    struct walk walk = {.structure = structure,
                        .rows = pm_alloc(1, sizeof *walk.rows),
                        .children = children_by_scope(structure),
                        .groups = groups_by_scope(structure),
                        .is_shown = pm_alloc(structure->n_scopes, sizeof *walk.is_shown),
                        .n_blocks = pm_alloc(structure->n_scopes, sizeof *walk.n_blocks)};
    struct pm_loop_rows *rows = walk.rows;
    uint32_t n_named;
    bool *named = pm_routines_named(structure, routine, &n_named);
    mark_shown(&walk);
    count_blocks(&walk);
    add_module_totals(&rows->totals, structure);
    for (size_t i = 0; i < structure->n_routines; i++) {
        const struct pm_routine *r = &structure->routines[i];
        if (!named[i] || r->scope >= structure->n_scopes)
            continue;
        add_routine_totals(&rows->totals, structure, r);
        if (!is_inside_shown(structure, r, named)) /* else it is in that one's tree */
            add_tree(&walk, r->scope);
    }
    for (size_t i = 0; i < rows->n_rows; i++) {
        rows->totals.n_loops += structure->scopes[rows->rows[i].place.scope].kind == PM_SCOPE_LOOP;
        rows->totals.n_groups += rows->rows[i].n_groups;
    }
    tell_rows_apart(rows, structure);
    rows->groups = walk.groups.items;
    free(walk.groups.first);
    pm_lists_free(&walk.children);
    free(walk.is_shown);
    free(walk.n_blocks);
    free(named);
    return rows;
}

void pm_loop_rows_free(struct pm_loop_rows *rows) {
    for (size_t i = 0; i < rows->n_rows; i++) {
        free(rows->rows[i].label);
        free(rows->rows[i].source);
        free(rows->rows[i].remarks);
    }
    free(rows->rows);
    free(rows->groups);
    free(rows);
}

void pm_report_loops(FILE *out, const struct pm_structure *structure,
                     const struct pm_lift_statistics *statistics, bool with_groups,
                     const char *routine, const struct pm_report_options *options) {
    struct pm_loop_rows *rows = pm_loop_rows_new(structure, routine);
    struct pm_loops_report report = {structure, statistics, routine, with_groups, rows};
    for (size_t i = 0; i < rows->n_rows; i++)
        rows->rows[i].report = &report;
    pm_write_loops(out, &report, options);
    pm_loop_rows_free(rows);
}
