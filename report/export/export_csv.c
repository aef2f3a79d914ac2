/* `pmodel show --format csv`: for each histogram a line `cold` (reuse patterns have none), a line
   `reuse` for each bin, and a line `beyond` where there are distances of which only a bound is
   known (in distance_low).  What is said once for a histogram stands in its line `cold`; the fields
   of the group in all. */
#include <math.h>
#include <stdlib.h>

#include "report/export/export.h"
#include "report/labels/labels.h"

/* A line: NAN is empty. */
struct line {
    const struct pm_export *export;
    const struct pm_export_histogram *item;
    struct pm_row_place place;
    const struct pm_group *group;
    const char *record;
    double low, high, mean, loads, stores, bytes_touched, unused_share;
};

static bool is_of(const struct line *row, enum pm_stream_kind kind) {
    return row->item->stream && row->item->stream->kind == kind;
}

/* The source or the carrier of the line's pattern. */
static struct pm_row_place place_of(const struct line *row, uint32_t scope) {
    return (struct pm_row_place){row->export->structure, scope};
}

static struct pm_field_value across(const struct pm_reuse_pattern *pattern) {
    return pm_text(pattern->carrier == PM_NONE ? NULL : pattern->across ? "true" : "false");
}

#define GETTER(name_, value_) PM_GETTER(name_, struct line, value_)
#define IN_PATTERN(scope_, get_)                                                                   \
    pm_place_##get_(&(struct pm_row_place[]){place_of(row, row->item->pattern->scope_)})
GETTER(line_parameters, pm_text(row->export->size))
GETTER(line_group, pm_integer(row->item->group))
GETTER(line_object, pm_text(row->group->object))
GETTER(line_object_type, pm_text(row->group->object_type))
GETTER(line_strides, pm_owned_text(pm_strides_label(row->group)))
GETTER(line_irregular, pm_text(row->group->flags &PM_GROUP_IRREGULAR ? "true" : "false"))
GETTER(line_block_bytes, pm_integer(row->item->histogram->block_bytes))
GETTER(line_stream, pm_text(pm_export_stream_word(row->item->stream)))
GETTER(line_process, is_of(row, PM_STREAM_THREAD) || is_of(row, PM_STREAM_SHARED)
                         ? pm_integer(row->item->stream->process)
                         : pm_unknown())
GETTER(line_thread,
       is_of(row, PM_STREAM_THREAD) ? pm_integer(row->item->stream->thread) : pm_unknown())
GETTER(line_sample, pm_integer(row->item->histogram->sample))
GETTER(line_source, IN_PATTERN(source, label))
GETTER(line_source_key, IN_PATTERN(source, key))
GETTER(line_carrier, IN_PATTERN(carrier, label))
GETTER(line_carrier_key, IN_PATTERN(carrier, key))
GETTER(line_across, across(row->item->pattern))

#define LINE(member_) PM_MEMBER(struct line, member_)
#define PLACE(get_) PM_PLACE(struct line, place, get_)

static const struct pm_field line_fields[] = {
    {"program", PM_TEXT, PLACE(program)},
    {"parameters", PM_TEXT, .get = line_parameters},
    {"module", PM_TEXT, PLACE(module)},
    {"routine", PM_TEXT, PLACE(name)},
    {"label", PM_TEXT, PLACE(label)},
    {"kind", PM_TEXT, PLACE(kind)},
    {"key", PM_HEX, PLACE(key)},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"line_last", PM_POSITIVE, PLACE(line_last)},
    {"group", PM_INTEGER, .get = line_group},
    {"object", PM_TEXT, .get = line_object},
    {"object_type", PM_TEXT, .get = line_object_type},
    {"strides", PM_TEXT, .get = line_strides},
    {"irregular", PM_TEXT, .get = line_irregular},
    {"block_bytes", PM_INTEGER, .get = line_block_bytes},
    {"stream", PM_TEXT, .get = line_stream},
    {"process", PM_INTEGER, .get = line_process},
    {"thread", PM_INTEGER, .get = line_thread},
    {"sample", PM_INTEGER, .get = line_sample},
    {"record", PM_TEXT, LINE(record)},
    {"distance_low", PM_NUMBER, LINE(low)},
    {"distance_high", PM_NUMBER, LINE(high)},
    {"distance_mean", PM_NUMBER, LINE(mean)},
    {"loads", PM_NUMBER, LINE(loads)},
    {"stores", PM_NUMBER, LINE(stores)},
    {"bytes_touched_first", PM_NUMBER, LINE(bytes_touched)},
    {"unused_share", PM_NUMBER, LINE(unused_share)},
};

/* Of lines of patterns, after the others. */
static const struct pm_field pattern_fields[] = {
    {"source", PM_TEXT, .get = line_source},   {"source_key", PM_HEX, .get = line_source_key},
    {"carrier", PM_TEXT, .get = line_carrier}, {"carrier_key", PM_HEX, .get = line_carrier_key},
    {"across", PM_TEXT, .get = line_across},
};

void pm_export_csv_begin(struct pm_export *export) {
    struct pm_csv csv = {.out = export->out};
    pm_fields_csv_names(&csv, PM_FIELDS(line_fields));
    if (export->carried)
        pm_fields_csv_names(&csv, PM_FIELDS(pattern_fields));
    pm_csv_end_line(&csv);
}

static void write_line(const struct pm_export *export, const struct line *line) {
    struct pm_csv csv = {.out = export->out};
    pm_fields_csv_values(&csv, PM_FIELDS(line_fields), line);
    if (line->item->pattern)
        pm_fields_csv_values(&csv, PM_FIELDS(pattern_fields), line);
    pm_csv_end_line(&csv);
}

void pm_export_csv_add(struct pm_export *export, const struct pm_export_histogram *item) {
    const struct pm_histogram *histogram = item->histogram;
    const struct pm_group *group = &export->structure->groups[item->group];
    struct line empty = {.export = export,
                         .item = item,
                         .place = {export->structure, group->scope},
                         .group = group,
                         .low = NAN,
                         .high = NAN,
                         .mean = NAN,
                         .bytes_touched = NAN,
                         .unused_share = NAN};
    if (!item->pattern) {
        struct line line = empty;
        line.record = "cold";
        line.loads = histogram->cold_loads;
        line.stores = histogram->cold_stores;
        line.bytes_touched = histogram->bytes_touched;
        line.unused_share = pm_histogram_unused_share(histogram);
        write_line(export, &line);
    }
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        struct line line = empty;
        line.record = "reuse";
        line.low = bin->low;
        line.high = bin->high;
        line.mean = bin->mean;
        line.loads = bin->loads;
        line.stores = bin->stores;
        write_line(export, &line);
    }
    if (histogram->at_least > 0) {
        struct line line = empty;
        line.record = "beyond";
        line.low = histogram->at_least;
        line.loads = histogram->beyond_loads;
        line.stores = histogram->beyond_stores;
        write_line(export, &line);
    }
}
