/* `pmodel show --format json`: {"format": "pmodel-histograms", "version": 1, program, isa,
   structure_hash, "runs": [{parameters, threads, processes, notes, "histograms": [...]}]}, with one
   histogram a line; or "pmodel-patterns", whose histograms have source, carrier and across beside.
    Written piece by piece; each piece is a whole JSON value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/loops/loops.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void print_value(FILE *out, const char *name, json_t *value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    fprintf(out, "\"%s\":%s", name, text);
    free(text);
    json_decref(value);
}

void pm_export_json_begin(struct pm_export *export) {
    fprintf(export->out, "{\"format\":\"pmodel-%s\",\"version\":1,\n",
            export->carried ? "patterns" : "histograms");
    print_value(export->out, "program", pm_json_text(pm_program_name(export->structure)));
    fputc(',', export->out);
    print_value(export->out, "isa", pm_json_text(export->structure->isa));
    fputc(',', export->out);
    print_value(export->out, "structure_hash", pm_json_hex(pm_structure_hash(export->structure)));
    fputs(",\n\"runs\":[", export->out);
}

static void set_stream(json_t *object, const struct pm_stream *stream) {
    bool of_process = stream && stream->kind != PM_STREAM_SUM;
    bool of_thread = stream && stream->kind == PM_STREAM_THREAD;
    json_object_set_new(object, "stream", json_string(pm_export_stream_word(stream)));
    json_object_set_new(object, "process",
                        of_process ? json_integer(stream->process) : json_null());
    json_object_set_new(object, "thread", of_thread ? json_integer(stream->thread) : json_null());
}

static json_t *estimates_json(const struct pm_export_run *run) {
    json_t *array = json_array();
    for (size_t i = 0; i < run->n_estimates; i++) {
        const struct pm_stream_estimate *estimate = &run->estimates[i];
        if (estimate->stream >= run->n_streams)
            continue;
        json_t *object = json_object();
        set_stream(object, &run->streams[estimate->stream]);
        json_object_set_new(object, "block_bytes", pm_json_integer(estimate->block_bytes));
        json_object_set_new(object, "cache_blocks", pm_json_integer(estimate->cache_blocks));
        json_object_set_new(object, "misses", pm_json_number(estimate->misses));
        json_object_set_new(object, "standard_error", pm_json_number(estimate->standard_error));
        json_array_append_new(array, object);
    }
    return array;
}

void pm_export_json_begin_run(struct pm_export *export, const struct pm_export_run *run) {
    fputs(export->n_runs ? ",\n{" : "\n{", export->out);
    print_value(export->out, "parameters", pm_json_parameters(run->parameters));
    fputc(',', export->out);
    print_value(export->out, "threads", json_integer(run->n_threads));
    fputc(',', export->out);
    print_value(export->out, "processes", json_integer(run->n_processes));
    fputc(',', export->out);
    print_value(export->out, "notes", pm_json_text(run->notes));
    fputs(",\n", export->out);
    print_value(export->out, "estimates", estimates_json(run));
    fputs(",\n\"histograms\":[", export->out);
}

static json_t *scope_json(const struct pm_structure *structure, uint32_t index) {
    static const struct pm_field fields[] = {
        {"label", PM_TEXT, .get = pm_place_label},
        {"kind", PM_TEXT, .get = pm_place_kind},
        {"key", PM_HEX, .get = pm_place_key},
        {"file", PM_TEXT, .get = pm_place_file},
        {"line_first", PM_POSITIVE, .get = pm_place_line_first},
        {"line_last", PM_POSITIVE, .get = pm_place_line_last},
    };
    struct pm_row_place place = {structure, index};
    return PM_JSON_OBJECT(fields, &place);
}

static const struct pm_field bin_fields[] = {
    {"low", PM_NUMBER, PM_MEMBER(struct pm_bin, low)},
    {"high", PM_NUMBER, PM_MEMBER(struct pm_bin, high)},
    {"mean", PM_NUMBER, PM_MEMBER(struct pm_bin, mean)},
    {"loads", PM_NUMBER, PM_MEMBER(struct pm_bin, loads)},
    {"stores", PM_NUMBER, PM_MEMBER(struct pm_bin, stores)},
};

static json_t *beyond_json(const struct pm_histogram *histogram) {
    if (!(histogram->at_least > 0))
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "at_least", pm_json_number(histogram->at_least));
    json_object_set_new(object, "loads", pm_json_number(histogram->beyond_loads));
    json_object_set_new(object, "stores", pm_json_number(histogram->beyond_stores));
    return object;
}

static void set_pattern(json_t *object, const struct pm_structure *structure,
                        const struct pm_reuse_pattern *pattern) {
    bool known = pattern->carrier != PM_NONE;
    json_object_set_new(object, "source", scope_json(structure, pattern->source));
    json_object_set_new(object, "carrier",
                        known ? scope_json(structure, pattern->carrier) : json_null());
    json_object_set_new(object, "across", known ? json_boolean(pattern->across) : json_null());
}

static json_t *histogram_json(const struct pm_structure *structure,
                              const struct pm_export_histogram *item) {
    const struct pm_histogram *histogram = item->histogram;
    uint32_t scope = structure->groups[item->group].scope;
    json_t *object = json_object();
    json_object_set_new(object, "module", pm_json_text(pm_scope_module(structure, scope)));
    json_object_set_new(object, "routine", pm_json_text(pm_code_name(structure, scope)));
    json_object_set_new(object, "scope", scope_json(structure, scope));
    json_object_set_new(object, "group", pm_group_json(structure, item->group));
    if (item->pattern)
        set_pattern(object, structure, item->pattern);
    json_object_set_new(object, "block_bytes", pm_json_integer(histogram->block_bytes));
    set_stream(object, item->stream);
    json_object_set_new(object, "sample", pm_json_integer(histogram->sample));
    json_object_set_new(object, "accesses", pm_json_number(pm_histogram_accesses(histogram)));
    json_object_set_new(object, "cold_loads", pm_json_number(histogram->cold_loads));
    json_object_set_new(object, "cold_stores", pm_json_number(histogram->cold_stores));
    json_object_set_new(object, "bytes_touched_first", pm_json_number(histogram->bytes_touched));
    json_object_set_new(object, "unused_share",
                        pm_json_number(pm_histogram_unused_share(histogram)));
    json_object_set_new(object, "beyond", beyond_json(histogram));
    json_object_set_new(object, "bins",
                        pm_fields_array(PM_FIELDS(bin_fields), histogram->bins, histogram->n_bins,
                                        sizeof *histogram->bins));
    return object;
}

void pm_export_json_add(struct pm_export *export, const struct pm_export_histogram *item) {
    json_t *object = histogram_json(export->structure, item);
    fputs(export->n_histograms ? ",\n" : "\n", export->out);
    json_dumpf(object, export->out, JSON_COMPACT);
    json_decref(object);
}

void pm_export_json_end_run(struct pm_export *export) { fputs("]}", export->out); }

void pm_export_json_end(struct pm_export *export) { fputs("]}\n", export->out); }
