/* The page: what is kept of each size, and the file that is written.

   The file is page.html with the style sheet and the script put in, and the data: a JSON document,
   four bytes before it that say how long it is, and behind it planes of bytes with the figures and
   reuse distances (private.h), all deflated together and as base64, which a browser takes apart
   again (DecompressionStream).

   JSON: {"format": "pmodel-page", "version": 1, "program", "parameter", "measured_low",
   "measured_high", "warnings", "machines": [{name, title, levels, roofs, fields, notes}], "points":
   [{value, measured, given, size, range, seconds, timed_on}], "rows": [{label, parent, file,
   line_first, …}], "block_sizes", "codes", "sources"}. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fit/analysis/analysis.h"
#include "report/labels/labels.h"
#include "report/page/private.h"

/* ---- what is kept ---------------------------------------------------------------------------- */

static void add_block_size(struct pm_html_page *page, uint64_t block_bytes) {
    for (size_t b = 0; b < page->n_block_sizes; b++)
        if (page->block_sizes[b] == block_bytes)
            return;
    *PM_PUSH(page, block_sizes) = block_bytes;
}

struct pm_html_page *pm_page_new(const struct pm_page_subject *subject) {
    struct pm_html_page *page = pm_alloc(1, sizeof *page);
    page->subject = *subject;
    page->fields = pm_alloc(subject->n_machines, sizeof *page->fields);
    page->rows = pm_alloc(subject->structure->n_scopes, sizeof *page->rows);
    page->sources = json_object();
    page->notes = json_array();
    for (size_t m = 0; m < subject->n_machines; m++) {
        const struct pm_machine *machine = subject->machines[m];
        page->fields[m] = pm_page_fields(machine, &subject->roofs[m]);
        json_array_append_new(page->notes, json_array());
        for (size_t l = 0; l < machine->n_levels; l++)
            add_block_size(page, machine->levels[l].block_bytes);
    }
    return page;
}

/* Of the size as a whole: its text, how far it is from what was measured, seconds on each machine.
 */
static json_t *size_facts(const struct pm_html_page *page, const struct pm_page_size *size) {
    json_t *object = json_object(), *seconds = json_array();
    char *text = pm_parameters_text(&size->profile->parameters);
    if (!*text) /* a run without parameters */
        pm_append(&text, "%s %g", page->subject.parameter, size->value);
    char *range = pm_prediction_range_text(size->predictions[0]);
    json_object_set_new(object, "value", pm_json_number(size->value));
    json_object_set_new(object, "measured", json_boolean(!size->profile->predicted));
    json_object_set_new(object, "given", json_boolean(size->is_given));
    json_object_set_new(object, "size", pm_json_text(text));
    json_object_set_new(object, "range", pm_json_text(range));
    for (size_t m = 0; m < page->subject.n_machines; m++)
        json_array_append_new(seconds,
                              json_string(pm_seconds_text(size->predictions[m]->seconds).text));
    json_object_set_new(object, "seconds", seconds);
    json_object_set_new(object, "timed_on",
                        pm_json_text(size->times ? size->times->machine : NULL));
    free(range);
    free(text);
    return object;
}

static json_t *notes_json(const struct pm_prediction *prediction) {
    json_t *notes = json_array();
    for (size_t i = 0; i < prediction->n_notes; i++)
        json_array_append_new(notes, pm_json_text(prediction->notes[i]));
    return notes;
}

void pm_page_add(struct pm_html_page *page, const struct pm_page_size *size) {
    size_t n_machines = page->subject.n_machines;
    struct pm_page_point point = {.value = size->value,
                                  .measured = !size->profile->predicted,
                                  .is_given = size->is_given,
                                  .facts = size_facts(page, size),
                                  .cells = pm_alloc(n_machines, sizeof *point.cells)};
    for (size_t m = 0; m < n_machines; m++) {
        pm_page_cells_make(page, m, size, &point.cells[m]);
        json_array_set_new(page->notes, m, notes_json(size->predictions[m]));
    }
    *PM_PUSH(page, points) = point;
    size_t n = page->n_points * page->n_block_sizes;
    page->distances = pm_realloc(page->distances, n, sizeof *page->distances);
    for (size_t b = 0; b < page->n_block_sizes; b++) {
        struct pm_page_bytes *bytes = &page->distances[page->n_distances++];
        *bytes = (struct pm_page_bytes){0};
        pm_page_distances_make(page->subject.structure, size->profile, page->block_sizes[b], bytes);
    }
}

void pm_page_add_source(struct pm_html_page *page, const char *file,
                        const struct pm_source *source) {
    json_t *lines = json_array();
    for (size_t i = 0; i < source->n_lines; i++)
        json_array_append_new(lines, pm_json_text(source->lines[i]));
    json_object_set_new(page->sources, file, lines);
}

void pm_page_free(struct pm_html_page *page) {
    if (!page)
        return;
    for (size_t p = 0; p < page->n_points; p++) {
        for (size_t m = 0; m < page->subject.n_machines; m++) {
            free(page->points[p].cells[m].scopes);
            free(page->points[p].cells[m].codes);
        }
        free(page->points[p].cells);
        json_decref(page->points[p].facts);
    }
    free(page->points);
    for (size_t m = 0; m < page->subject.n_machines; m++)
        pm_page_fields_free(&page->fields[m]);
    free(page->fields);
    for (size_t s = 0; s < page->subject.structure->n_scopes; s++)
        free(page->rows[s].label);
    free(page->rows);
    for (size_t i = 0; i < page->n_distances; i++)
        free(page->distances[i].bytes);
    free(page->distances);
    free(page->block_sizes);
    json_decref(page->notes);
    json_decref(page->sources);
    pm_page_codes_free(&page->codes);
    free(page);
}

/* ---- the JSON document ----------------------------------------------------------------------- */

static json_t *machine_json(const struct pm_html_page *page, size_t number) {
    const struct pm_machine *machine = page->subject.machines[number];
    json_t *object = json_object(), *levels = json_array();
    json_object_set_new(object, "name", pm_json_text(machine->name));
    json_object_set_new(object, "title", pm_json_text(machine->title));
    json_object_set_new(object, "clock_hz", pm_json_number(machine->clock_hz));
    for (size_t l = 0; l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        json_t *item = json_object();
        json_object_set_new(item, "name", pm_json_text(level->name));
        json_object_set_new(item, "block_bytes", pm_json_integer(level->block_bytes));
        json_object_set_new(item, "blocks",
                            pm_json_integer((uint64_t)pm_level_capacity_blocks(level)));
        json_array_append_new(levels, item);
    }
    const struct pm_roofs *roofs = &page->subject.roofs[number];
    json_t *under = json_array();
    for (size_t r = 0; r < roofs->n_roofs; r++)
        json_array_append_new(under,
                              json_pack("{ssso}", "name", roofs->roofs[r].name, "bytes_per_second",
                                        pm_json_number(roofs->roofs[r].bytes_per_second)));
    json_object_set_new(object, "levels", levels);
    json_object_set_new(object, "roofs", under);
    json_object_set_new(object, "flops_per_second", pm_json_number(roofs->flops_per_second));
    json_object_set_new(object, "fields", pm_page_fields_json(&page->fields[number]));
    json_object_set(object, "notes", json_array_get(page->notes, number));
    return object;
}

/* The page's rows are those of which a size was executed, in the order of the scope tree. */
static uint32_t *list_rows(const struct pm_html_page *page, size_t *n) {
    size_t n_scopes = page->subject.structure->n_scopes;
    uint32_t *scopes = pm_alloc(n_scopes, sizeof *scopes);
    *n = 0;
    for (uint32_t s = 0; s < n_scopes; s++)
        if (page->rows[s].label)
            scopes[(*n)++] = s;
    return scopes;
}

/* The scope of the row around that of SCOPE; PM_NONE: none. */
static uint32_t row_around(const struct pm_html_page *page, uint32_t scope) {
    const struct pm_structure *structure = page->subject.structure;
    for (scope = structure->scopes[scope].parent; scope != PM_NONE;
         scope = structure->scopes[scope].parent) {
        uint32_t row = pm_row_scope(structure, scope);
        if (page->rows[row].label)
            return row;
    }
    return PM_NONE;
}

static json_t *rows_json(const struct pm_html_page *page, const uint32_t *scopes, size_t n) {
    const struct pm_structure *structure = page->subject.structure;
    json_t *array = json_array();
    size_t *number = pm_alloc(structure->n_scopes, sizeof *number);
    for (size_t i = 0; i < n; i++)
        number[scopes[i]] = i;
    for (size_t i = 0; i < n; i++) {
        const struct pm_scope *scope = &structure->scopes[scopes[i]];
        const struct pm_page_row *row = &page->rows[scopes[i]];
        uint32_t around = row_around(page, scopes[i]);
        char *source = pm_scope_source(structure, scopes[i]);
        json_t *object = json_object();
        json_object_set_new(object, "label", pm_json_text(row->label));
        json_object_set_new(object, "kind", json_string(pm_scope_kind_word(scope->kind)));
        json_object_set_new(object, "parent",
                            around == PM_NONE ? json_null() : pm_json_integer(number[around]));
        json_object_set_new(object, "file", pm_json_text(scope->file));
        json_object_set_new(object, "source", pm_json_text(source));
        json_object_set_new(object, "line_first", pm_json_integer(row->line_first));
        json_object_set_new(object, "line_last", pm_json_integer(row->line_last));
        json_array_append_new(array, object);
        free(source);
    }
    free(number);
    return array;
}

static json_t *document(const struct pm_html_page *page, const uint32_t *scopes, size_t n,
                        const struct pm_warnings *warnings) {
    json_t *whole = pm_program_document("page", page->subject.structure);
    json_t *machines = json_array(), *points = json_array(), *block_sizes = json_array();
    const struct pm_report_options options = {.warnings = warnings};
    for (size_t m = 0; m < page->subject.n_machines; m++)
        json_array_append_new(machines, machine_json(page, m));
    for (size_t p = 0; p < page->n_points; p++)
        json_array_append(points, page->points[p].facts);
    for (size_t b = 0; b < page->n_block_sizes; b++)
        json_array_append_new(block_sizes, pm_json_integer(page->block_sizes[b]));
    json_object_set_new(whole, "parameter", pm_json_text(page->subject.parameter));
    json_object_set_new(whole, "measured_low", pm_json_number(page->subject.measured_low));
    json_object_set_new(whole, "measured_high", pm_json_number(page->subject.measured_high));
    pm_json_set_warnings(whole, &options);
    json_object_set_new(whole, "machines", machines);
    json_object_set_new(whole, "points", points);
    json_object_set_new(whole, "rows", rows_json(page, scopes, n));
    json_object_set_new(whole, "block_sizes", block_sizes);
    json_object_set_new(whole, "codes", pm_page_codes_json(&page->codes));
    json_object_set(whole, "sources", page->sources);
    return whole;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_document(struct pm_page_bytes *to, json_t *whole) {
    char *text = json_dumps(whole, JSON_COMPACT);
    size_t length = strlen(text);
    for (int i = 0; i < 4; i++)
        *PM_PUSH(to, bytes) = (uint8_t)(length >> (8 * i));
    for (size_t i = 0; i < length; i++)
        *PM_PUSH(to, bytes) = (uint8_t)text[i];
    free(text);
    json_decref(whole);
}

static void write_base64(FILE *to, const uint8_t *bytes, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? bytes[i + 2] : 0);
        char text[4] = {digits[three >> 18], digits[three >> 12 & 63],
                        i + 1 < n ? digits[three >> 6 & 63] : '=',
                        i + 2 < n ? digits[three & 63] : '='};
        fwrite(text, 1, sizeof text, to);
    }
}

/* Copies TEXT up to MARK; returns what stands behind it. */
static const char *write_up_to(FILE *to, const char *text, const char *mark) {
    const char *at = strstr(text, mark);
    fwrite(text, 1, (size_t)(at - text), to);
    return at + strlen(mark);
}

static void write_title(FILE *to, const struct pm_html_page *page) {
    pm_svg_text(to, pm_program_name(page->subject.structure));
    fputs(": loops over ", to);
    pm_svg_text(to, page->subject.parameter);
}

bool pm_page_write(FILE *to, struct pm_html_page *page, const struct pm_warnings *warnings,
                   struct pm_error *err) {
    size_t n;
    uint32_t *scopes = list_rows(page, &n);
    struct pm_page_bytes data = {0};
    put_document(&data, document(page, scopes, n, warnings));
    pm_page_put_figures(page, scopes, n, &data);
    pm_page_put_distances(page, scopes, n, &data);
    uLongf n_packed = compressBound(data.n_bytes);
    uint8_t *packed = pm_alloc(n_packed, 1);
    bool ok = compress2(packed, &n_packed, data.bytes, data.n_bytes, Z_BEST_COMPRESSION) == Z_OK ||
              pm_fail(err, "the page's data cannot be compressed");
    if (ok) {
        const char *rest = write_up_to(to, pm_page_html, "@TITLE@");
        write_title(to, page);
        rest = write_up_to(to, rest, "@STYLE@");
        fputs(pm_page_css, to);
        rest = write_up_to(to, rest, "@DATA@");
        write_base64(to, packed, n_packed);
        rest = write_up_to(to, rest, "@SCRIPT@");
        fputs(pm_page_js, to);
        fputs(rest, to);
    }
    free(packed);
    free(data.bytes);
    free(scopes);
    return ok;
}
