/* `pmodel report --as tree`: loops under the loop or routine that they are in.  Needs the rows of
   rows.c.

   Times are those of a row with all that is in it: what stands under it and its own time, in the
   column SELF, add up to it.  A routine has no callees under it: they are routines of their own. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/predictions/tables.h"

struct tree {
    const struct pm_prediction *prediction;
    const struct pm_rows *rows;
    const struct pm_row **in_order;
    const struct pm_report_options *options;
    struct pm_text_table *table;
    struct pm_fields fields;
    struct pm_seen seen;
    uint32_t *parents; /* of each row; PM_NONE: it stands at the left */
    bool *is_wanted;   /* it or a row in it fits the filter */
    size_t n_shown;
};

/* The row around ROW. */
static uint32_t parent_of(const struct pm_rows *rows, const struct pm_row *row) {
    const struct pm_structure *structure = row->place.structure;
    uint32_t own = (uint32_t)(row - rows->rows);
    uint32_t scope = structure->scopes[row->place.scope].parent;
    while (scope != PM_NONE &&
           (rows->row_of_scope[scope] == PM_NONE || rows->row_of_scope[scope] == own))
        scope = structure->scopes[scope].parent;
    uint8_t kind = scope == PM_NONE ? PM_SCOPE_PROGRAM : structure->scopes[scope].kind;
    return kind == PM_SCOPE_PROGRAM || kind == PM_SCOPE_MODULE ? PM_NONE
                                                               : rows->row_of_scope[scope];
}

static void find_parents(struct tree *tree) {
    size_t n = tree->rows->n_rows;
    for (size_t i = 0; i < n; i++)
        tree->parents[i] = parent_of(tree->rows, &tree->rows->rows[i]);
    for (size_t i = 0; i < n; i++)
        if (pm_row_is_called(&tree->rows->rows[i], tree->options->filter))
            for (uint32_t row = (uint32_t)i; row != PM_NONE && !tree->is_wanted[row];
                 row = tree->parents[row])
                tree->is_wanted[row] = true;
}

static bool is_shown(const struct tree *tree, const struct pm_row *row, bool parent_fits) {
    const struct pm_report_options *options = tree->options;
    double share = fmax(row->total_share, isnan(row->measured_share) ? 0 : row->measured_share);
    return (parent_fits || tree->is_wanted[row - tree->rows->rows]) &&
           (!options->max_rows || tree->n_shown < options->max_rows) &&
           (!(100 * share < options->min_percent) || !isnan(row->lower_bound_seconds));
}

static void add_row(struct tree *tree, const struct pm_row *row, int depth) {
    struct pm_row indented = *row;
    indented.label = pm_sprintf("%*s%s", 2 * depth, "", row->label);
    pm_fields_cells(tree->table, tree->fields, NULL, &indented);
    free(indented.label);
    pm_see(&tree->seen, row);
    tree->n_shown++;
}

/* Adds the own figures of ROW and of all rows in it. */
static void add_hidden(struct tree *tree, struct pm_row *rest, const struct pm_row *row) {
    uint32_t at = (uint32_t)(row - tree->rows->rows);
    if (row->counted)
        pm_add_to_rest(rest, row);
    for (size_t i = 0; i < tree->rows->n_rows; i++)
        if (tree->parents[i] == at)
            add_hidden(tree, rest, &tree->rows->rows[i]);
}

/* Prints the rows in PARENT and below them; FITS: the filter matches PARENT or a scope around it.
 */
static void add_rows_in(struct tree *tree, uint32_t parent, int depth, bool fits) {
    struct pm_row other = {.counted = true};
    size_t n_other = 0;
    for (size_t i = 0; i < tree->rows->n_rows; i++) {
        const struct pm_row *row = tree->in_order[i];
        uint32_t at = (uint32_t)(row - tree->rows->rows);
        if (!row->counted || !(row->executed || row->total_seconds > 0) ||
            tree->parents[at] != parent)
            continue;
        if (!is_shown(tree, row, fits)) {
            n_other++;
            add_hidden(tree, &other, row);
            continue;
        }
        add_row(tree, row, depth);
        bool own = tree->options->filter && pm_row_is_called(row, tree->options->filter);
        add_rows_in(tree, at, depth + 1, fits || own);
    }
    if (n_other) {
        char *label = pm_other_label(n_other, tree->options);
        other.total_seconds = other.seconds;
        other.total_share = other.share;
        pm_add_sum(tree->table, tree->fields, tree->prediction, other,
                   pm_sprintf("%*s%s", 2 * depth, "", label));
        free(label);
    }
}

static int compare_totals(const void *left, const void *right) {
    const struct pm_row *a = *(const struct pm_row *const *)left;
    const struct pm_row *b = *(const struct pm_row *const *)right;
    int order = PM_COMPARE(b->counted, a->counted);
    if (order == 0 && a->counted)
        order = PM_COMPARE(b->total_seconds, a->total_seconds);
    return order ? order : PM_COMPARE(a, b);
}

void pm_write_predictions_tree(FILE *out, const struct pm_prediction *prediction,
                               const struct pm_rows *rows,
                               const struct pm_report_options *options) {
    struct pm_error err = {0}; /* names of fields were looked at before */
    struct pm_columns columns;
    char *own = pm_sprintf("total_seconds,total_share,self_seconds,%s%slabel,source,bound,"
                           "misses_per_iteration",
                           rows->times ? "measured_seconds," : "",
                           rows->bounds ? "lower_bound_seconds," : "");
    const struct pm_row **in_order = pm_rows_in_order(rows, prediction, options, &err);
    if (in_order && pm_columns_make(prediction, own, options, &columns, &err)) {
        for (size_t i = 0; i < columns.fields.n_fields; i++) /* TIME is another thing elsewhere */
            if (columns.fields.fields[i].offset == offsetof(struct pm_row, seconds))
                columns.fields.fields[i].header = "SELF";
        pm_mark_interpolated(prediction, &columns);
        struct tree tree = {
            .prediction = prediction,
            .rows = rows,
            .in_order = in_order,
            .options = options,
            .table = pm_text_table_new(),
            .fields = columns.fields,
            .parents = pm_alloc(rows->n_rows + 1, sizeof *tree.parents),
            .is_wanted = pm_alloc(rows->n_rows + 1, sizeof *tree.is_wanted),
        };
        if (!options->sort)
            PM_SORT(in_order, rows->n_rows, compare_totals);
        find_parents(&tree);
        pm_fields_columns(tree.table, columns.fields);
        add_rows_in(&tree, PM_NONE, 0, false);
        pm_add_sums(tree.table, columns.fields, prediction, rows);
        pm_print_prediction_header(out, prediction, rows, options);
        pm_text_table_print(out, tree.table, options);
        pm_print_cores(out, rows->n_rows ? rows->rows[0].place.structure : NULL, prediction,
                       options);
        pm_print_prediction_notes(out, prediction, rows, &tree.seen, options);
        pm_text_table_free(tree.table);
        pm_columns_free(&columns);
        free(tree.parents);
        free(tree.is_wanted);
    }
    free(in_order);
    free(own);
}
