/* `pmodel export --format csv`: for each histogram a line `cold` (reuse patterns have none), a line
   `reuse` for each bin, and a line `beyond` where there are distances of which only a bound is
   known (in distance_low).  What is told once for a histogram stands in its line `cold`; the fields
   of the group in all. */
#include <math.h>
#include <stdlib.h>

#include "report/export/export.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

void pm_export_csv_begin(struct pm_export *export) {
    static const char *const names[] = {"program",      "parameters",    "module",
                                        "routine",      "label",         "kind",
                                        "key",          "file",          "line_first",
                                        "line_last",    "group",         "object",
                                        "object_type",  "strides",       "irregular",
                                        "block_bytes",  "stream",        "process",
                                        "thread",       "sample",        "record",
                                        "distance_low", "distance_high", "distance_mean",
                                        "loads",        "stores",        "bytes_touched_first",
                                        "unused_share"};
    static const char *const of_patterns[] = {"source", "source_key", "carrier", "carrier_key",
                                              "across"};
    struct pm_csv csv = {.out = export->out};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pm_csv_text(&csv, names[i]);
    for (size_t i = 0; export->carried && i < sizeof of_patterns / sizeof *of_patterns; i++)
        pm_csv_text(&csv, of_patterns[i]);
    pm_csv_end_line(&csv);
}

static void write_place(struct pm_csv *csv, const struct pm_export *export,
                        const struct pm_export_histogram *item) {
    const struct pm_structure *structure = export->structure;
    const struct pm_group *group = &structure->groups[item->group];
    const struct pm_scope *scope = &structure->scopes[group->scope];
    char *label = pm_scope_label(structure, group->scope), *strides = pm_strides_label(group);
    pm_csv_text(csv, pm_program_name(structure));
    pm_csv_text(csv, export->size);
    pm_csv_text(csv, pm_scope_module(structure, group->scope));
    pm_csv_text(csv, pm_code_name(structure, group->scope));
    pm_csv_text(csv, label);
    pm_csv_text(csv, pm_scope_kind_word(scope->kind));
    pm_csv_hex(csv, scope->key);
    pm_csv_text(csv, scope->file);
    pm_csv_line_number(csv, scope->line_first);
    pm_csv_line_number(csv, scope->line_last);
    pm_csv_integer(csv, item->group);
    pm_csv_text(csv, group->object);
    pm_csv_text(csv, group->object_type);
    pm_csv_text(csv, strides);
    pm_csv_text(csv, group->flags & PM_GROUP_IRREGULAR ? "true" : "false");
    free(label);
    free(strides);
}

static void write_stream(struct pm_csv *csv, const struct pm_export_histogram *item) {
    const struct pm_stream *stream = item->stream;
    pm_csv_integer(csv, item->histogram->block_bytes);
    pm_csv_text(csv, pm_export_stream_word(stream));
    if (stream && stream->kind != PM_STREAM_SUM)
        pm_csv_integer(csv, stream->process);
    else
        pm_csv_text(csv, NULL);
    if (stream && stream->kind == PM_STREAM_THREAD)
        pm_csv_integer(csv, stream->thread);
    else
        pm_csv_text(csv, NULL);
    pm_csv_integer(csv, item->histogram->sample);
}

/* PM_NONE: empty. */
static void write_scope(struct pm_csv *csv, const struct pm_structure *structure, uint32_t scope) {
    char *label = scope == PM_NONE ? NULL : pm_scope_label(structure, scope);
    pm_csv_text(csv, label);
    if (label)
        pm_csv_hex(csv, structure->scopes[scope].key);
    else
        pm_csv_text(csv, NULL);
    free(label);
}

static void write_pattern(struct pm_csv *csv, const struct pm_structure *structure,
                          const struct pm_reuse_pattern *pattern) {
    write_scope(csv, structure, pattern->source);
    write_scope(csv, structure, pattern->carrier);
    pm_csv_text(csv, pattern->carrier == PM_NONE ? NULL : pattern->across ? "true" : "false");
}

/* What a line has beside the fields of its histogram; NAN: empty. */
struct record {
    const char *kind;
    double low, high, mean, loads, stores, bytes_touched, unused_share;
};

static void write_line(const struct pm_export *export, const struct pm_export_histogram *item,
                       const struct record *record) {
    struct pm_csv csv = {.out = export->out};
    write_place(&csv, export, item);
    write_stream(&csv, item);
    pm_csv_text(&csv, record->kind);
    pm_csv_number(&csv, record->low);
    pm_csv_number(&csv, record->high);
    pm_csv_number(&csv, record->mean);
    pm_csv_number(&csv, record->loads);
    pm_csv_number(&csv, record->stores);
    pm_csv_number(&csv, record->bytes_touched);
    pm_csv_number(&csv, record->unused_share);
    if (item->pattern)
        write_pattern(&csv, export->structure, item->pattern);
    pm_csv_end_line(&csv);
}

void pm_export_csv_add(struct pm_export *export, const struct pm_export_histogram *item) {
    const struct pm_histogram *histogram = item->histogram;
    if (!item->pattern)
        write_line(export, item,
                   &(struct record){"cold", NAN, NAN, NAN, histogram->cold_loads,
                                    histogram->cold_stores, histogram->bytes_touched,
                                    pm_histogram_unused_share(histogram)});
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        write_line(export, item,
                   &(struct record){"reuse", bin->low, bin->high, bin->mean, bin->loads,
                                    bin->stores, NAN, NAN});
    }
    if (histogram->at_least > 0)
        write_line(export, item,
                   &(struct record){"beyond", histogram->at_least, NAN, NAN,
                                    histogram->beyond_loads, histogram->beyond_stores, NAN, NAN});
}
