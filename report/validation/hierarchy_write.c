/* `pmodel validate --hierarchy` as a table, JSON and CSV.  Needs the quantities of hierarchy.c. */
#include <math.h>
#include <stdlib.h>

#include "report/validation/hierarchy.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* "fp_add", "misses, 512 blocks of 64 bytes". */
static char *quantity_label(const struct pm_hierarchy_quantity *quantity) {
    if (!quantity->block_bytes)
        return pm_strdup(quantity->name);
    return pm_sprintf("%s, %.0f blocks of %s", quantity->name, quantity->cache_blocks,
                      pm_bytes_text(quantity->block_bytes).text);
}

/* "N=128", or "6 measured sizes up to N=64". */
static char *sizes_label(const struct pm_hierarchy *hierarchy) {
    char *last = pm_parameters_text(&hierarchy->sizes[hierarchy->n_sizes - 1].measured->parameters);
    char *label = hierarchy->request->together
                      ? pm_sprintf("the %zu measured sizes up to %s", hierarchy->n_sizes, last)
                      : pm_strdup(last);
    free(last);
    return label;
}

/* ---- table ----------------------------------------------------------------------------------- */

static void add_error(struct pm_text_table *table, double error) {
    if (error < PM_COUNT_ROUNDING) {
        pm_text_table_cell(table, "exact");
    } else if (!isfinite(error)) {
        pm_text_table_cell(table, isnan(error) ? "-" : "inf");
    } else {
        char *text = pm_sprintf("%s%%", pm_percent_text(error).text);
        pm_text_table_cell(table, text);
        free(text);
    }
}

static char *named_label(const struct pm_hierarchy_quantity *quantity) {
    enum { MOST_NAMED = 4 };
    char *label = pm_strdup("");
    size_t n_named = 0;
    for (size_t i = 0; i < quantity->n_rows; i++) {
        if (!quantity->rows[i].named)
            continue;
        if (n_named++ < MOST_NAMED)
            pm_append(&label, "%s%s", *label ? ", " : "", quantity->rows[i].label);
    }
    if (n_named > MOST_NAMED)
        pm_append(&label, " and %zu more", n_named - MOST_NAMED);
    return label;
}

static void print_quantities(FILE *out, const struct pm_hierarchy *hierarchy,
                             const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "ERROR OF", PM_COLUMN_TEXT);
    pm_text_table_column(table, "MEASURED", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "WHOLE", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "ROUTINES", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "PARTS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "WITHOUT", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "THESE ROUTINES", PM_COLUMN_TEXT);
    for (size_t q = 0; q < hierarchy->n_quantities; q++) {
        const struct pm_hierarchy_quantity *quantity = &hierarchy->quantities[q];
        char *label = quantity_label(quantity), *named = named_label(quantity);
        pm_text_table_cell(table, label);
        pm_text_table_cell(table, pm_count_text(quantity->measured).text);
        add_error(table, quantity->whole_error);
        add_error(table, quantity->routines_error);
        add_error(table, quantity->parts_error);
        if (*named)
            add_error(table, quantity->rest_error);
        else
            pm_text_table_cell(table, NULL);
        pm_text_table_cell(table, named);
        free(named);
        free(label);
    }
    pm_text_table_print(out, table, options->width, options->color);
    pm_text_table_free(table);
}

/* Of misses in blocks of one size the cache whose error is largest is looked into. */
static bool is_looked_into(const struct pm_hierarchy *hierarchy, size_t index) {
    const struct pm_hierarchy_quantity *quantity = &hierarchy->quantities[index];
    for (size_t q = 0; quantity->block_bytes && q < hierarchy->n_quantities; q++) {
        const struct pm_hierarchy_quantity *other = &hierarchy->quantities[q];
        if (other->block_bytes == quantity->block_bytes &&
            (other->parts_error > quantity->parts_error ||
             (other->parts_error == quantity->parts_error && q < index)))
            return false;
    }
    return quantity->n_rows > 0 && quantity->rows[0].part > 0;
}

static void print_routines(FILE *out, const struct pm_hierarchy *hierarchy,
                           const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    size_t n_shown = 0;
    pm_text_table_column(table, "ERROR OF", PM_COLUMN_TEXT);
    pm_text_table_column(table, "ROUTINE", PM_COLUMN_NAME);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
    pm_text_table_column(table, "% OF COUNT", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "OWN MODEL", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "PARTS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "% OF ERROR", PM_COLUMN_NUMBER);
    for (size_t q = 0; q < hierarchy->n_quantities; q++) {
        const struct pm_hierarchy_quantity *quantity = &hierarchy->quantities[q];
        if (!is_looked_into(hierarchy, q))
            continue;
        char *label = quantity_label(quantity);
        for (size_t i = 0; i < quantity->n_rows; i++) {
            const struct pm_hierarchy_row *row = &quantity->rows[i];
            if (row->part <= 0 || 100 * row->part < options->min_percent ||
                (options->max_rows && i >= options->max_rows))
                break;
            pm_text_table_cell(table, label);
            pm_text_table_cell(table, row->label);
            pm_text_table_cell(table, row->source);
            pm_text_table_cell(table, pm_percent_text(row->share).text);
            add_error(table, row->own_error);
            add_error(table, row->parts_error);
            pm_text_table_cell(table, pm_percent_text(row->part).text);
            n_shown++;
        }
        free(label);
    }
    if (n_shown) {
        fputs("\nwhere the error lives\n", out);
        pm_text_table_print(out, table, options->width, options->color);
    }
    pm_text_table_free(table);
}

static void write_table(FILE *out, const struct pm_hierarchy *hierarchy,
                        const struct pm_report_options *options) {
    const struct pm_hierarchy_request *request = hierarchy->request;
    char *sizes = sizes_label(hierarchy);
    char *title = pm_sprintf("%s: models of %zu runs at %s: of the whole, of its routines, and of "
                             "their edges and groups",
                             pm_program_name(request->structure), request->models->n_runs, sizes);
    pm_print_bold(out, title, options->color);
    print_quantities(out, hierarchy, options);
    print_routines(out, hierarchy, options);
    free(title);
    free(sizes);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *row_json(const struct pm_structure *structure, const struct pm_hierarchy_row *row) {
    json_t *object = json_object();
    json_object_set_new(object, "label", pm_json_text(row->label));
    json_object_set_new(object, "name", pm_json_text(pm_code_name(structure, row->scope)));
    json_object_set_new(object, "file", pm_json_text(structure->scopes[row->scope].file));
    json_object_set_new(object, "key", pm_json_hex(structure->scopes[row->scope].key));
    json_object_set_new(object, "module", pm_json_text(pm_scope_module(structure, row->scope)));
    json_object_set_new(object, "share", pm_json_number(row->share));
    json_object_set_new(object, "own_error", pm_json_number(row->own_error));
    json_object_set_new(object, "parts_error", pm_json_number(row->parts_error));
    json_object_set_new(object, "part_of_error", pm_json_number(row->part));
    json_object_set_new(object, "named", json_boolean(row->named));
    return object;
}

static json_t *quantity_json(const struct pm_structure *structure,
                             const struct pm_hierarchy_quantity *quantity) {
    json_t *object = json_object(), *rows = json_array();
    bool misses = quantity->block_bytes > 0;
    for (size_t i = 0; i < quantity->n_rows; i++)
        json_array_append_new(rows, row_json(structure, &quantity->rows[i]));
    json_object_set_new(object, "quantity", json_string(quantity->name));
    json_object_set_new(object, "block_bytes",
                        misses ? pm_json_integer(quantity->block_bytes) : json_null());
    json_object_set_new(object, "cache_blocks",
                        misses ? pm_json_number(quantity->cache_blocks) : json_null());
    json_object_set_new(object, "measured", pm_json_number(quantity->measured));
    json_object_set_new(object, "whole_error", pm_json_number(quantity->whole_error));
    json_object_set_new(object, "routines_error", pm_json_number(quantity->routines_error));
    json_object_set_new(object, "parts_error", pm_json_number(quantity->parts_error));
    json_object_set_new(object, "rest_error", pm_json_number(quantity->rest_error));
    json_object_set_new(object, "routines", rows);
    return object;
}

static json_t *hierarchy_json(const struct pm_hierarchy *hierarchy) {
    json_t *object = json_object(), *sizes = json_array(), *quantities = json_array();
    for (size_t k = 0; k < hierarchy->n_sizes; k++)
        json_array_append_new(sizes, pm_json_parameters(&hierarchy->sizes[k].measured->parameters));
    for (size_t q = 0; q < hierarchy->n_quantities; q++)
        json_array_append_new(
            quantities, quantity_json(hierarchy->request->structure, &hierarchy->quantities[q]));
    json_object_set_new(object, "sizes", sizes);
    json_object_set_new(object, "fitted", json_boolean(hierarchy->request->together));
    json_object_set_new(object, "quantities", quantities);
    return object;
}

static void write_json(FILE *out, const struct pm_hierarchy *hierarchies, size_t n) {
    const struct pm_hierarchy_request *request = hierarchies[0].request;
    json_t *document = pm_json_document("hierarchy"), *comparisons = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(comparisons, hierarchy_json(&hierarchies[i]));
    json_object_set_new(document, "program", pm_json_text(pm_program_name(request->structure)));
    json_object_set_new(document, "runs", pm_json_integer(request->models->n_runs));
    json_object_set_new(document, "comparisons", comparisons);
    pm_json_print(out, document);
}

/* ---- CSV: a line for the whole and each routine of each quantity ------------------------------
 */

static void write_line(struct pm_csv *csv, const struct pm_hierarchy *hierarchy,
                       const struct pm_hierarchy_quantity *quantity,
                       const struct pm_hierarchy_row *row) {
    bool misses = quantity->block_bytes > 0;
    char *sizes = sizes_label(hierarchy);
    pm_csv_text(csv, pm_program_name(hierarchy->request->structure));
    pm_csv_text(csv, sizes);
    pm_csv_text(csv, quantity->name);
    pm_csv_number(csv, misses ? (double)quantity->block_bytes : NAN);
    pm_csv_number(csv, misses ? quantity->cache_blocks : NAN);
    pm_csv_text(csv, row ? row->label : NULL);
    pm_csv_number(csv, row ? row->share : 1);
    pm_csv_number(csv, row ? row->own_error : quantity->whole_error);
    pm_csv_number(csv, row ? NAN : quantity->routines_error);
    pm_csv_number(csv, row ? row->parts_error : quantity->parts_error);
    pm_csv_number(csv, row ? NAN : quantity->rest_error);
    pm_csv_number(csv, row ? row->part : 1);
    pm_csv_text(csv, row ? (row->named ? "1" : "0") : NULL);
    pm_csv_end_line(csv);
    free(sizes);
}

static void write_csv(FILE *out, const struct pm_hierarchy *hierarchies, size_t n) {
    static const char *const names[] = {
        "program",    "sizes",         "quantity",  "block_bytes",    "cache_blocks",
        "routine",    "share",         "own_error", "routines_error", "parts_error",
        "rest_error", "part_of_error", "named"};
    struct pm_csv csv = {.out = out};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pm_csv_text(&csv, names[i]);
    pm_csv_end_line(&csv);
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; q < hierarchies[i].n_quantities; q++) {
            const struct pm_hierarchy_quantity *quantity = &hierarchies[i].quantities[q];
            write_line(&csv, &hierarchies[i], quantity, NULL);
            for (size_t r = 0; r < quantity->n_rows; r++)
                write_line(&csv, &hierarchies[i], quantity, &quantity->rows[r]);
        }
}

/* ---- the whole ------------------------------------------------------------------------------- */

void pm_write_hierarchies(FILE *out, const struct pm_hierarchy *hierarchies, size_t n,
                          const struct pm_report_options *options) {
    switch (options->format) {
    case PM_REPORT_JSON:
        write_json(out, hierarchies, n);
        break;
    case PM_REPORT_CSV:
        write_csv(out, hierarchies, n);
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            if (i)
                fputc('\n', out);
            write_table(out, &hierarchies[i], options);
        }
    }
}
