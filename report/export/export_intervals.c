/* `pmodel show --as intervals`: for each run its kinds of intervals, with the call paths of both
   ends, and their rows with counts of edges (core/intervals/intervals.h).  JSON is {"format":
   "pmodel-intervals", "version": 1, "runs": [{parameters, "kinds": [{…, "rows": [{…, "edges":
   [{…}]}]}]}]}, a row on a line of its own; CSV has a line for each edge. */
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/writers/writers.h"

struct line {
    const struct pm_structure *structure;
    const struct pm_intervals *intervals;
    const struct pm_interval *row;
    const struct pm_edge_count *count;
    const struct pm_edge *edge;
    uint64_t n_of_kind; /* intervals */
    char **names;       /* of paths */
    char *size;         /* "N=64" */
};

static struct pm_field_value address_of(const struct line *line, uint32_t block) {
    return block == PM_NONE ? pm_unknown() : pm_integer(line->structure->blocks[block].address);
}

static const char *edge_kind(const struct pm_edge *edge) {
    static const char *const names[] = {[PM_EDGE_ENTRY] = "entry",
                                        [PM_EDGE_FALLTHROUGH] = "fallthrough",
                                        [PM_EDGE_TAKEN] = "taken",
                                        [PM_EDGE_TABLE] = "table",
                                        [PM_EDGE_EXIT] = "exit",
                                        [PM_EDGE_NO_RETURN] = "no return",
                                        [PM_EDGE_INDIRECT_ENTRY] = "indirect-entry"};
    return edge->kind < sizeof names / sizeof *names ? names[edge->kind] : NULL;
}

#define GETTER(name_, value_) PM_GETTER(line_##name_, struct line, value_)
#define PATH(end_)                                                                                 \
    pm_owned_text(pm_call_path_text(row->structure, &row->intervals->paths, row->row->end_))
GETTER(parameters, pm_text(row->size))
GETTER(kind, pm_integer(row->row->kind))
GETTER(begin_path, pm_integer(row->row->begin))
GETTER(end_path, pm_integer(row->row->end))
GETTER(begin, PATH(begin))
GETTER(end, PATH(end))
GETTER(begin_name, pm_text(row->names[row->row->begin]))
GETTER(end_name, pm_text(row->names[row->row->end]))
GETTER(n_of_kind, pm_integer(row->n_of_kind))
GETTER(process, pm_integer(row->row->process))
GETTER(thread, pm_integer(row->row->thread))
GETTER(first, pm_integer(row->row->first))
GETTER(n, pm_integer(row->row->n))
GETTER(routine, pm_text(row->structure->routines[row->edge->routine].display_name))
GETTER(edge, pm_integer(row->count->edge))
GETTER(edge_kind, pm_text(edge_kind(row->edge)))
GETTER(from, address_of(row, row->edge->from))
GETTER(to, address_of(row, row->edge->to))
GETTER(count, pm_integer(row->count->count))

static const struct pm_field kind_fields[] = {
    {"kind", PM_INTEGER, .get = line_kind},
    {"begin_path", PM_INTEGER, .get = line_begin_path},
    {"begin", PM_TEXT, .get = line_begin},
    {"begin_name", PM_TEXT, .get = line_begin_name},
    {"end_path", PM_INTEGER, .get = line_end_path},
    {"end", PM_TEXT, .get = line_end},
    {"end_name", PM_TEXT, .get = line_end_name},
    {"intervals_of_kind", PM_INTEGER, .get = line_n_of_kind},
};

static const struct pm_field row_fields[] = {
    {"process", PM_INTEGER, .get = line_process},
    {"thread", PM_INTEGER, .get = line_thread},
    {"first", PM_INTEGER, .get = line_first},
    {"intervals", PM_INTEGER, .get = line_n},
};

static const struct pm_field edge_fields[] = {
    {"routine", PM_TEXT, .get = line_routine},     {"edge", PM_INTEGER, .get = line_edge},
    {"edge_kind", PM_TEXT, .get = line_edge_kind}, {"from_address", PM_HEX, .get = line_from},
    {"to_address", PM_HEX, .get = line_to},        {"count", PM_INTEGER, .get = line_count},
};

static const struct pm_field size_fields[] = {{"parameters", PM_TEXT, .get = line_parameters}};

static void choose_edge(struct line *line, size_t i) {
    line->count = &line->row->edges[i];
    line->edge = &line->structure->edges[line->count->edge];
}

static void write_csv_row(FILE *out, struct line *line) {
    for (size_t i = 0; i < line->row->n_edges; i++) {
        struct pm_csv csv = {.out = out};
        choose_edge(line, i);
        pm_fields_csv_values(&csv, PM_FIELDS(size_fields), line);
        pm_fields_csv_values(&csv, PM_FIELDS(kind_fields), line);
        pm_fields_csv_values(&csv, PM_FIELDS(row_fields), line);
        pm_fields_csv_values(&csv, PM_FIELDS(edge_fields), line);
        pm_csv_end_line(&csv);
    }
}

static void write_json_row(FILE *out, struct line *line, bool is_first) {
    json_t *object = PM_JSON_OBJECT(row_fields, line), *edges = json_array();
    for (size_t i = 0; i < line->row->n_edges; i++) {
        choose_edge(line, i);
        json_array_append_new(edges, PM_JSON_OBJECT(edge_fields, line));
    }
    json_object_set_new(object, "edges", edges);
    fputs(is_first ? "\n   " : ",\n   ", out);
    json_dumpf(object, out, JSON_COMPACT);
    json_decref(object);
}

/* The head of a kind, whose rows follow. */
static void begin_json_kind(FILE *out, struct line *line, bool is_first) {
    json_t *object = PM_JSON_OBJECT(kind_fields, line);
    char *text = json_dumps(object, JSON_COMPACT);
    size_t length = strlen(text);
    fprintf(out, "%s\n  %.*s,\"rows\":[", is_first ? "" : "]},", (int)length - 1, text);
    free(text);
    json_decref(object);
}

static bool begins_kind(const struct pm_intervals *intervals, size_t i) {
    const struct pm_interval *row = &intervals->rows[i];
    return i == 0 || row[-1].begin != row->begin || row[-1].end != row->end;
}

static uint64_t count_kind(const struct pm_intervals *intervals, size_t first) {
    uint64_t n = intervals->rows[first].n;
    for (size_t i = first + 1; i < intervals->n_rows && !begins_kind(intervals, i); i++)
        n += intervals->rows[i].n;
    return n;
}

/* Of all ends, so that each is told from the others. */
static char **name_ends(const struct pm_structure *structure,
                        const struct pm_intervals *intervals) {
    bool *is_end = pm_alloc(intervals->paths.n_sites + 1, sizeof *is_end);
    for (size_t i = 0; i < intervals->n_rows; i++)
        is_end[intervals->rows[i].begin] = is_end[intervals->rows[i].end] = true;
    char **names = pm_call_path_names(structure, &intervals->paths, is_end);
    free(is_end);
    return names;
}

void pm_export_intervals_begin(FILE *out, enum pm_report_format format) {
    if (format != PM_REPORT_CSV) {
        fputs("{\"format\":\"pmodel-intervals\",\"version\":1,\"runs\":[", out);
        return;
    }
    struct pm_csv csv = {.out = out};
    pm_fields_csv_names(&csv, PM_FIELDS(size_fields));
    pm_fields_csv_names(&csv, PM_FIELDS(kind_fields));
    pm_fields_csv_names(&csv, PM_FIELDS(row_fields));
    pm_fields_csv_names(&csv, PM_FIELDS(edge_fields));
    pm_csv_end_line(&csv);
}

void pm_export_intervals(FILE *out, const struct pm_structure *structure,
                         const struct pm_parameters *at, const struct pm_intervals *intervals,
                         bool is_first, enum pm_report_format format) {
    bool is_csv = format == PM_REPORT_CSV;
    struct line line = {.structure = structure,
                        .intervals = intervals,
                        .names = name_ends(structure, intervals),
                        .size = pm_parameters_text(at)};
    if (!is_csv) {
        json_t *parameters = pm_json_parameters(at);
        fprintf(out, "%s\n {\"parameters\":", is_first ? "" : ",");
        json_dumpf(parameters, out, JSON_COMPACT);
        fputs(",\"kinds\":[", out);
        json_decref(parameters);
    }
    for (size_t i = 0; i < intervals->n_rows; i++) {
        line.row = &intervals->rows[i];
        if (begins_kind(intervals, i)) {
            line.n_of_kind = count_kind(intervals, i);
            if (!is_csv)
                begin_json_kind(out, &line, i == 0);
        }
        if (is_csv)
            write_csv_row(out, &line);
        else
            write_json_row(out, &line, begins_kind(intervals, i));
    }
    if (!is_csv)
        fputs(intervals->n_rows ? "]}]}" : "]}", out);
    pm_call_path_names_free(line.names, &intervals->paths);
    free(line.size);
}

void pm_export_intervals_end(FILE *out, enum pm_report_format format) {
    if (format != PM_REPORT_CSV)
        fputs("]}\n", out);
}
