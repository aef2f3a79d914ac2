/* What a report says of the rows at each size on each machine: cells of its columns, and cycles by
   cause for the pictures, as codes. */
#include <stdlib.h>
#include <string.h>

#include "fit/analysis/analysis.h"
#include "report/page/private.h"

/* ---- the fields ------------------------------------------------------------------------------ */

static void add_field(struct pm_fields *fields, char *name, char *header, enum pm_field_kind kind,
                      size_t offset) {
    *PM_PUSH(fields, fields) = (struct pm_field){
        .name = name, .header = header, .kind = kind, .member = PM_DOUBLE, .offset = offset};
}

/* Names and heads are owned here, so that all can be freed alike. */
struct pm_fields pm_page_fields(const struct pm_machine *machine, const struct pm_roofs *roofs) {
    struct pm_fields fields =
        pm_fields_named(pm_row_fields, "self_seconds self_share total_seconds bound entries "
                                       "iterations measured_seconds");
    for (size_t i = 0; i < fields.n_fields; i++) {
        struct pm_field *field = &fields.fields[i];
        field->name = pm_strdup(field->name);
        field->header = field->header ? pm_strdup(field->header) : NULL;
    }
    for (size_t l = 0; l < machine->n_levels; l++) {
        const char *level = machine->levels[l].name;
        add_field(&fields, pm_sprintf("misses:%s", level), pm_sprintf("%s/it", level), PM_RATE,
                  offsetof(struct pm_row, misses_per_iteration) + l * sizeof(double));
        struct pm_field *field = &fields.fields[fields.n_fields - 1];
        field->mark[0] = '>';
        field->marked_if = offsetof(struct pm_row, misses_are_lower_bound);
    }
    for (size_t c = 0; c < PM_N_CAUSES; c++)
        add_field(&fields, pm_sprintf("cause:%s", pm_cause_name((enum pm_cause)c)), NULL, PM_COUNT,
                  offsetof(struct pm_row, self.causes) + c * sizeof(double));
    for (size_t l = 0; l < machine->n_levels; l++)
        add_field(&fields, pm_sprintf("cause:%s misses", machine->levels[l].name), NULL, PM_COUNT,
                  offsetof(struct pm_row, self.level_cycles) + l * sizeof(double));
    if (roofs->n_roofs)
        add_field(&fields, pm_strdup("flops"), NULL, PM_COUNT, 0);
    for (size_t r = 0; r < roofs->n_roofs; r++)
        add_field(&fields, pm_sprintf("bytes:%s", roofs->roofs[r].name), NULL, PM_COUNT, 0);
    return fields;
}

void pm_page_fields_free(struct pm_fields *fields) {
    for (size_t i = 0; i < fields->n_fields; i++) {
        free((char *)(uintptr_t)fields->fields[i].name);
        free((char *)(uintptr_t)fields->fields[i].header);
    }
    free(fields->fields);
}

/* [{"name", "header"}] */
json_t *pm_page_fields_json(const struct pm_fields *fields) {
    json_t *array = json_array();
    for (size_t i = 0; i < fields->n_fields; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "name", pm_json_text(fields->fields[i].name));
        json_object_set_new(object, "header", pm_json_text(fields->fields[i].header));
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* What is known of the row whatever the size: of the last one that is added. */
static void keep_place(struct pm_html_page *page, const struct pm_row *row) {
    struct pm_page_row *kept = &page->rows[row->place.scope];
    free(kept->label);
    *kept = (struct pm_page_row){pm_strdup(row->label), row->line_first, row->line_last};
}

/* Floating-point operations of each row, and bytes for each roof, N_FIELDS for each scope. */
static double *figures_under_roofs(const struct pm_structure *structure,
                                   const struct pm_roofline *roofline, size_t n_fields) {
    double *figures = pm_alloc(structure->n_scopes * n_fields, sizeof *figures);
    for (size_t i = 0; i < roofline->n_points; i++) {
        double *row = figures + pm_row_scope(structure, roofline->points[i].scope) * n_fields;
        row[0] += roofline->points[i].flops;
        for (size_t f = 1; f < n_fields; f++)
            row[f] += roofline->points[i].bytes[f - 1];
    }
    return figures;
}

void pm_page_cells_make(struct pm_html_page *page, size_t machine, const struct pm_page_size *size,
                        struct pm_page_cells *cells) {
    const struct pm_structure *structure = page->subject.structure;
    const struct pm_fields *fields = &page->fields[machine];
    size_t n_roofs = page->subject.roofs[machine].n_roofs, n_roofed = n_roofs ? n_roofs + 1 : 0;
    size_t n_members = fields->n_fields - n_roofed;
    double *roofed = figures_under_roofs(structure, &size->rooflines[machine], n_roofs + 1);
    struct pm_rows *rows = pm_rows_new(structure, size->predictions[machine], size->times, NULL);
    cells->scopes = pm_alloc(rows->n_rows, sizeof *cells->scopes);
    cells->codes = pm_alloc(rows->n_rows * fields->n_fields, sizeof *cells->codes);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct pm_row *row = &rows->rows[i];
        if (!row->counted || !row->executed)
            continue;
        uint32_t *codes = cells->codes + cells->n_rows * fields->n_fields;
        for (size_t f = 0; f < n_members; f++) {
            bool is_there = row->timed || strcmp(fields->fields[f].name, "measured_seconds") != 0;
            char *cell = is_there ? pm_field_cell(&fields->fields[f], row) : NULL;
            codes[f] = pm_page_code(&page->codes, cell);
            free(cell);
        }
        const double *of_roofs = roofed + row->place.scope * (n_roofs + 1);
        for (size_t f = 0; f < n_roofed; f++)
            codes[n_members + f] = pm_page_code(&page->codes, pm_count_text(of_roofs[f]).text);
        keep_place(page, row);
        cells->scopes[cells->n_rows++] = row->place.scope;
    }
    pm_rows_free(rows);
    free(roofed);
}

void pm_page_put_figures(const struct pm_html_page *page, const uint32_t *scopes, size_t n,
                         struct pm_page_bytes *to) {
    size_t n_points = page->n_points, n_machines = page->subject.n_machines;
    size_t n_scopes = page->subject.structure->n_scopes;
    uint32_t *number = pm_alloc(n_scopes, sizeof *number);
    for (size_t i = 0; i < n; i++)
        number[scopes[i]] = (uint32_t)i;
    size_t n_codes = 0;
    for (size_t m = 0; m < n_machines; m++)
        n_codes += page->fields[m].n_fields * n * n_points;
    uint32_t *codes = pm_alloc(n_codes, sizeof *codes), *of_machine = codes;
    for (size_t m = 0; m < n_machines; m++) {
        size_t n_fields = page->fields[m].n_fields;
        for (size_t p = 0; p < n_points; p++) {
            const struct pm_page_cells *cells = &page->points[p].cells[m];
            for (size_t r = 0; r < cells->n_rows; r++)
                for (size_t f = 0; f < n_fields; f++)
                    of_machine[(f * n + number[cells->scopes[r]]) * n_points + p] =
                        cells->codes[r * n_fields + f];
        }
        of_machine += n_fields * n * n_points;
    }
    for (int shift = 16; shift >= 0; shift -= 8)
        for (size_t i = 0; i < n_codes; i++)
            *PM_PUSH(to, bytes) = (uint8_t)(codes[i] >> shift);
    free(codes);
    free(number);
}
