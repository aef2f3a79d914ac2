/* `pmodel validate --hierarchy`: the fields of a quantity and of a routine, and the report as a
   table, JSON and CSV.  Needs the quantities of fit/analysis/hierarchy.c. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/report.h"

/* "fp_add", "misses, 512 blocks of 64 bytes": of fully associative caches. */
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

static void append_label(char **list, const struct pm_row_place *place) {
    char *label = pm_scope_label(place->structure, place->scope);
    pm_append(list, "%s%s", **list ? ", " : "", label);
    free(label);
}

static char *named_label(const struct pm_hierarchy_quantity *quantity) {
    enum { MOST_NAMED = 4 };
    char *label = pm_strdup("");
    size_t n_named = 0;
    for (size_t i = 0; i < quantity->n_rows; i++) {
        if (!quantity->rows[i].named)
            continue;
        if (n_named++ < MOST_NAMED)
            append_label(&label, &quantity->rows[i].place);
    }
    if (n_named > MOST_NAMED)
        pm_append(&label, " and %zu more", n_named - MOST_NAMED);
    return label;
}

/* ---- what a line is about -------------------------------------------------------------------- */

/* A quantity of the program total, or of one routine. */
struct hierarchy_line {
    const struct pm_hierarchy *hierarchy;
    const struct pm_hierarchy_quantity *quantity;
    const struct pm_hierarchy_row *routine; /* NULL: the program total */
};

static struct hierarchy_line line_of(const struct pm_hierarchy *hierarchy, size_t quantity,
                                     const struct pm_hierarchy_row *routine) {
    return (struct hierarchy_line){hierarchy, &hierarchy->quantities[quantity], routine};
}

static struct pm_field_value if_misses(const struct hierarchy_line *row,
                                       struct pm_field_value value) {
    return row->quantity->block_bytes ? value : pm_unknown();
}

static struct pm_field_value error_value(double error) {
    if (error < pm_heuristics.rounding || !isfinite(error))
        return pm_text(error < pm_heuristics.rounding ? "exact" : isnan(error) ? "-" : "inf");
    return pm_percent_value(error);
}

/* The error without the named routines, where there are any. */
static struct pm_field_value rest_text(const struct pm_hierarchy_quantity *quantity) {
    for (size_t i = 0; i < quantity->n_rows; i++)
        if (quantity->rows[i].named)
            return error_value(quantity->rest_error);
    return pm_text("");
}

/* ---- the fields of a routine ----------------------------------------------------------------- */

#define ROW(member_) PM_MEMBER(struct pm_hierarchy_row, member_)
#define PLACE(get_) PM_PLACE(struct pm_hierarchy_row, place, get_)

static const struct pm_field routine_fields[] = {
    {"label", PM_TEXT, PLACE(label)},
    {"name", PM_TEXT, PLACE(name)},
    {"file", PM_TEXT, PLACE(file)},
    {"key", PM_HEX, PLACE(key)},
    {"module", PM_TEXT, PLACE(module)},
    {"share", PM_PERCENT, ROW(share)},
    {"own_error", PM_PERCENT, ROW(own_error)},
    {"parts_error", PM_PERCENT, ROW(parts_error)},
    {"part_of_error", PM_PERCENT, ROW(part)},
    {"named", PM_YES_NO, ROW(named)},
};

/* ---- the fields of a quantity, and of a line of CSV or a table ------------------------------- */

#define GETTER(name_, value_) PM_GETTER(name_, struct hierarchy_line, value_)
#define OF_WHOLE(member_) pm_number(row->routine ? NAN : row->quantity->member_)
#define OF_BOTH(member_, of_total_) pm_number(row->routine ? row->routine->member_ : of_total_)

GETTER(line_quantity, pm_text(row->quantity->name))
GETTER(line_block_bytes, if_misses(row, pm_integer(row->quantity->block_bytes)))
GETTER(line_cache_blocks, if_misses(row, pm_number(row->quantity->cache_blocks)))
GETTER(line_measured, pm_number(row->quantity->measured))
GETTER(line_total, pm_number(row->quantity->total_error))
GETTER(line_routines, OF_WHOLE(routines_error))
GETTER(line_parts, OF_BOTH(parts_error, row->quantity->parts_error))
GETTER(line_rest, OF_WHOLE(rest_error))
GETTER(line_rows,
       pm_json_value(pm_fields_array(PM_FIELDS(routine_fields), row->quantity->rows,
                                     row->quantity->n_rows, sizeof *row->quantity->rows)))
GETTER(line_program, pm_text(pm_program_name(row->hierarchy->request->structure)))
GETTER(line_sizes, pm_owned_text(sizes_label(row->hierarchy)))
GETTER(line_routine, row->routine ? pm_place_label(&row->routine->place) : pm_unknown())
GETTER(line_source, row->routine ? pm_place_source(&row->routine->place) : pm_unknown())
GETTER(line_share, OF_BOTH(share, 1))
GETTER(line_own, OF_BOTH(own_error, row->quantity->total_error))
GETTER(line_part, OF_BOTH(part, 1))
GETTER(line_named, row->routine ? pm_integer(row->routine->named) : pm_unknown())
GETTER(quantity_cell, pm_owned_text(quantity_label(row->quantity)))
GETTER(total_cell, error_value(row->quantity->total_error))
GETTER(routines_cell, error_value(row->quantity->routines_error))
GETTER(parts_cell,
       error_value(row->routine ? row->routine->parts_error : row->quantity->parts_error))
GETTER(rest_cell, rest_text(row->quantity))
GETTER(named_cell, pm_owned_text(named_label(row->quantity)))
GETTER(own_cell, error_value(row->routine->own_error))

#define NOT_IN_JSON .not_in_json = true

static const struct pm_field quantity_fields[] = {
    {"quantity", PM_TEXT, .get = line_quantity, .header = "ERROR OF", .cell = quantity_cell},
    {"block_bytes", PM_POSITIVE, .get = line_block_bytes},
    {"cache_blocks", PM_POSITIVE, .get = line_cache_blocks},
    {"measured", PM_COUNT, .get = line_measured, .header = "MEASURED", .dispensable = 1},
    {"total_error", PM_PERCENT, .get = line_total, .header = "TOTAL", .cell = total_cell},
    {"routines_error", PM_PERCENT, .get = line_routines, .header = "ROUTINES",
     .cell = routines_cell},
    {"parts_error", PM_PERCENT, .get = line_parts, .header = "PARTS", .cell = parts_cell},
    {"rest_error", PM_PERCENT, .get = line_rest, .header = "WITHOUT", .cell = rest_cell},
    {"routines", PM_JSON_ONLY, .get = line_rows},
    {"program", PM_TEXT, .get = line_program, NOT_IN_JSON},
    {"sizes", PM_TEXT, .get = line_sizes, NOT_IN_JSON},
    {"routine", PM_NAME, .get = line_routine, NOT_IN_JSON, .header = "ROUTINE"},
    {"source", PM_NAME, .get = line_source, NOT_IN_JSON, .header = "SOURCE", .dispensable = 2},
    {"share", PM_PERCENT, .get = line_share, NOT_IN_JSON, .header = "% OF COUNT", .dispensable = 1},
    {"own_error", PM_PERCENT, .get = line_own, NOT_IN_JSON, .header = "OWN MODEL",
     .cell = own_cell},
    {"part_of_error", PM_PERCENT, .get = line_part, NOT_IN_JSON, .header = "% OF ERROR"},
    {"named", PM_YES_NO, .get = line_named, NOT_IN_JSON},
    {"these_routines", PM_TEXT, .cell = named_cell, NOT_IN_JSON, .header = "THESE ROUTINES"},
};

/* ---- table ----------------------------------------------------------------------------------- */

static void print_quantities(FILE *out, const struct pm_hierarchy *hierarchy,
                             const struct pm_report_options *options) {
    struct pm_table_rows table = pm_table_begin(pm_fields_named(
        PM_FIELDS(quantity_fields),
        "quantity measured total_error routines_error parts_error rest_error these_routines"));
    for (size_t q = 0; q < hierarchy->n_quantities; q++) {
        struct hierarchy_line line = line_of(hierarchy, q, NULL);
        pm_table_row(&table, &line);
    }
    pm_table_end(out, &table, NULL, options);
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
    struct pm_table_rows table = pm_table_begin(
        pm_fields_named(PM_FIELDS(quantity_fields),
                        "quantity routine source share own_error parts_error part_of_error"));
    for (size_t q = 0; q < hierarchy->n_quantities; q++) {
        const struct pm_hierarchy_quantity *quantity = &hierarchy->quantities[q];
        for (size_t i = 0; is_looked_into(hierarchy, q) && i < quantity->n_rows; i++) {
            struct hierarchy_line line = line_of(hierarchy, q, &quantity->rows[i]);
            if (line.routine->part <= 0 || 100 * line.routine->part < options->min_percent ||
                (options->max_rows && i >= options->max_rows))
                break;
            pm_table_row(&table, &line);
        }
    }
    pm_table_end(out, &table, "\nwhere the error lives\n", options);
}

static void write_table(FILE *out, const struct pm_hierarchy *hierarchy,
                        const struct pm_report_options *options) {
    const struct pm_hierarchy_request *request = hierarchy->request;
    char *sizes = sizes_label(hierarchy);
    pm_print_title(out, options,
                   "%s: models of %zu runs at %s: of the program total, of its routines, and of "
                   "their edges and groups",
                   pm_program_name(request->structure), request->models->n_runs, sizes);
    print_quantities(out, hierarchy, options);
    print_routines(out, hierarchy, options);
    free(sizes);
}

static void write_tables(FILE *out, const struct pm_hierarchy *hierarchies, size_t n,
                         const struct pm_report_options *options) {
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "\n" : "", out);
        write_table(out, &hierarchies[i], options);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *hierarchy_json(const struct pm_hierarchy *hierarchy) {
    json_t *object = json_object(), *sizes = json_array(), *quantities = json_array();
    for (size_t k = 0; k < hierarchy->n_sizes; k++)
        json_array_append_new(sizes, pm_json_parameters(&hierarchy->sizes[k].measured->parameters));
    for (size_t q = 0; q < hierarchy->n_quantities; q++) {
        struct hierarchy_line line = line_of(hierarchy, q, NULL);
        json_array_append_new(quantities, PM_JSON_OBJECT(quantity_fields, &line));
    }
    json_object_set_new(object, "sizes", sizes);
    json_object_set_new(object, "fitted", json_boolean(hierarchy->request->together));
    json_object_set_new(object, "quantities", quantities);
    return object;
}

static void write_json(FILE *out, const struct pm_hierarchy *hierarchies, size_t n,
                       const struct pm_report_options *options) {
    const struct pm_hierarchy_request *request = hierarchies[0].request;
    json_t *document = pm_program_document("hierarchy", request->structure),
           *comparisons = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(comparisons, hierarchy_json(&hierarchies[i]));
    pm_json_set_warnings(document, options);
    json_object_set_new(document, "runs", pm_json_integer(request->models->n_runs));
    json_object_set_new(document, "comparisons", comparisons);
    pm_json_print(out, document);
}

/* ---- CSV: a line for the program total and each routine of each quantity
 * ------------------------------
 */

static void write_csv(FILE *out, const struct pm_hierarchy *hierarchies, size_t n) {
    struct pm_csv_lines lines =
        pm_csv_begin(out, PM_FIELDS(quantity_fields),
                     "program sizes quantity block_bytes cache_blocks routine share own_error "
                     "routines_error parts_error rest_error part_of_error named");
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; q < hierarchies[i].n_quantities; q++) {
            const struct pm_hierarchy_quantity *quantity = &hierarchies[i].quantities[q];
            for (size_t r = 0; r <= quantity->n_rows; r++) {
                struct hierarchy_line line =
                    line_of(&hierarchies[i], q, r ? &quantity->rows[r - 1] : NULL);
                pm_csv_line(&lines, &line);
            }
        }
    pm_csv_end(&lines);
}

/* ---- the program total
 * ------------------------------------------------------------------------------- */

bool pm_report_hierarchy(FILE *out, const struct pm_hierarchy_request *request,
                         const struct pm_report_options *options, struct pm_error *err) {
    size_t n;
    struct pm_hierarchy *hierarchies = pm_hierarchies_new(request, &n, err);
    if (!hierarchies)
        return false;
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, write_tables(out, hierarchies, n, options),
                 write_json(out, hierarchies, n, options), write_csv(out, hierarchies, n));
    pm_hierarchies_free(hierarchies, n);
    return true;
}
