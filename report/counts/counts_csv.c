/* `pmodel model --format csv`: a line for each class in each scope, or for each edge. */
#include <stdlib.h>

#include "report/counts/counts.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void write_row(struct pm_csv *csv, const struct pm_counts *counts,
                      const struct pm_count_row *row) {
    const struct pm_structure *structure = counts->structure;
    const struct pm_scope *scope = &structure->scopes[row->scope];
    char *from = NULL, *to = NULL;
    if (row->edge != PM_NONE) {
        from = pm_edge_end_label(structure, structure->edges[row->edge].from, "entry");
        to = pm_edge_end_label(structure, structure->edges[row->edge].to, "exit");
    }
    pm_csv_text(csv, pm_program_name(structure));
    pm_csv_text(csv, row->label);
    pm_csv_text(csv, pm_scope_kind_word(scope->kind));
    pm_csv_text(csv, scope->file);
    pm_csv_line_number(csv, scope->line_first);
    pm_csv_hex(csv, scope->key);
    pm_csv_text(csv, pm_scope_module(structure, row->scope));
    pm_csv_text(csv, from);
    pm_csv_text(csv, to);
    pm_csv_text(csv, row->edge != PM_NONE
                         ? NULL
                         : pm_count_class_name(&counts->classes.classes[row->class_index]));
    pm_csv_number(csv, row->count);
    pm_csv_number(csv, row->low);
    pm_csv_number(csv, row->high);
    pm_csv_number(csv, row->share);
    pm_csv_text(csv, row->formula);
    pm_csv_number(csv, row->model->relative_error);
    pm_csv_number(csv, row->model->leave_one_out_error);
    pm_csv_integer(csv, row->model->exact);
    pm_csv_text(csv, row->sum_formula);
    pm_csv_number(csv, row->sum_error);
    pm_csv_end_line(csv);
    free(to);
    free(from);
}

void pm_write_counts_csv(FILE *out, const struct pm_counts *counts) {
    static const char *const names[] = {"program",
                                        "label",
                                        "kind",
                                        "file",
                                        "line_first",
                                        "key",
                                        "module",
                                        "from",
                                        "to",
                                        "class",
                                        "count",
                                        "low_80",
                                        "high_80",
                                        "share",
                                        "formula",
                                        "relative_error",
                                        "leave_one_out_error",
                                        "exact",
                                        "sum_formula",
                                        "sum_relative_error"};
    struct pm_csv csv = {.out = out};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pm_csv_text(&csv, names[i]);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < counts->n_rows; i++)
        write_row(&csv, counts, &counts->rows[i]);
}
