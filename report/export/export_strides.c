/* `pmodel show --as strides`: for each run and reference the levels of its addresses
   (core/strides/strides.h), innermost first.  JSON is {"format": "pmodel-strides", "version": 1,
   "runs":
   [{parameters, "references": [{…, "levels": [{…}], "variants": [{…, "levels": [{…}]}]}]}]}; CSV
   has a line for each level, one with empty fields for a reference that stayed where it was, and
   no variants. */
#include "report/export/export.h"
#include "report/labels/labels.h"
#include "report/loops/loops.h"
#include "report/writers/writers.h"

struct line {
    struct pm_row_place place;
    const struct pm_reference *reference;
    const struct pm_group *group;
    const struct pm_reference_strides *strides;
    const struct pm_stride_level *level; /* NULL: none */
    char *size;                          /* "N=64" */
};

#define GETTER(name_, value_) PM_GETTER(name_, struct line, value_)
#define LEVEL(member_) (row->level ? pm_number(row->level->member_) : pm_unknown())
GETTER(line_parameters, pm_text(row->size))
GETTER(line_reference, pm_integer(row->strides->reference))
GETTER(line_address, pm_integer(row->reference->address))
GETTER(line_group, pm_integer(row->reference->group))
GETTER(line_object, pm_text(row->group ? row->group->object : NULL))
GETTER(line_looked_at, pm_number(row->strides->executions))
GETTER(line_lowest, pm_number(row->strides->lowest))
GETTER(line_highest, pm_number(row->strides->highest))
GETTER(level_number,
       row->level ? pm_integer((uint64_t)(row->level - row->strides->levels)) : pm_unknown())
GETTER(level_stride, LEVEL(stride_bytes))
GETTER(level_stride_share, LEVEL(stride_share))
GETTER(level_count, LEVEL(count))
GETTER(level_count_share, LEVEL(count_share))
GETTER(level_mean_count, LEVEL(mean_count))

#define PLACE(get_) PM_PLACE(struct line, place, get_)

static const struct pm_field reference_fields[] = {
    {"module", PM_TEXT, PLACE(module)},
    {"routine", PM_TEXT, PLACE(name)},
    {"label", PM_TEXT, PLACE(label)},
    {"key", PM_HEX, PLACE(key)},
    {"file", PM_TEXT, PLACE(file)},
    {"line_first", PM_POSITIVE, PLACE(line_first)},
    {"reference", PM_INTEGER, .get = line_reference},
    {"address", PM_HEX, .get = line_address},
    {"group", PM_INDEX, .get = line_group},
    {"object", PM_TEXT, .get = line_object},
    {"executions_looked_at", PM_NUMBER, .get = line_looked_at},
    {"lowest_address", PM_NUMBER, .get = line_lowest},
    {"highest_address", PM_NUMBER, .get = line_highest},
};

static const struct pm_field level_fields[] = {
    {"level", PM_INTEGER, .get = level_number},
    {"stride_bytes", PM_NUMBER, .get = level_stride},
    {"stride_share", PM_NUMBER, .get = level_stride_share},
    {"count", PM_NUMBER, .get = level_count},
    {"count_share", PM_NUMBER, .get = level_count_share},
    {"mean_count", PM_NUMBER, .get = level_mean_count},
};

#define VARIANT(name_) PM_GETTER(variant_##name_, struct pm_stride_variant, pm_number(row->name_))
VARIANT(share)
VARIANT(since)
VARIANT(phase)
VARIANT(lowest)
VARIANT(highest)

static const struct pm_field variant_fields[] = {
    {"share", PM_NUMBER, .get = variant_share},
    {"since", PM_NUMBER, .get = variant_since},
    {"phase_executions", PM_NUMBER, .get = variant_phase},
    {"lowest_address", PM_NUMBER, .get = variant_lowest},
    {"highest_address", PM_NUMBER, .get = variant_highest},
};

PM_GETTER(variant_stride, struct pm_variant_level, pm_number(row->stride_bytes))
PM_GETTER(variant_count, struct pm_variant_level, pm_number(row->count))

static const struct pm_field variant_level_fields[] = {
    {"stride_bytes", PM_NUMBER, .get = variant_stride},
    {"count", PM_NUMBER, .get = variant_count},
};

static const struct pm_field size_fields[] = {{"parameters", PM_TEXT, .get = line_parameters}};

static struct line line_of(const struct pm_structure *structure,
                           const struct pm_reference_strides *strides, char *size) {
    const struct pm_reference *reference = &structure->references[strides->reference];
    const struct pm_group *group =
        reference->group == PM_NONE ? NULL : &structure->groups[reference->group];
    uint32_t scope = group ? group->scope : structure->blocks[reference->block].scope;
    return (struct line){.place = {structure, scope},
                         .reference = reference,
                         .group = group,
                         .strides = strides,
                         .size = size};
}

static void write_csv_line(FILE *out, const struct line *line) {
    struct pm_csv csv = {.out = out};
    pm_fields_csv_values(&csv, PM_FIELDS(size_fields), line);
    pm_fields_csv_values(&csv, PM_FIELDS(reference_fields), line);
    pm_fields_csv_values(&csv, PM_FIELDS(level_fields), line);
    pm_csv_end_line(&csv);
}

static void write_csv(FILE *out, struct line *line) {
    if (line->strides->n_levels == 0)
        write_csv_line(out, line);
    for (uint32_t k = 0; k < line->strides->n_levels; k++) {
        line->level = &line->strides->levels[k];
        write_csv_line(out, line);
    }
}

static json_t *variant_json(const struct pm_stride_variant *variant) {
    json_t *object = PM_JSON_OBJECT(variant_fields, variant), *levels = json_array();
    for (uint32_t k = 0; k < variant->n_levels; k++)
        json_array_append_new(levels, PM_JSON_OBJECT(variant_level_fields, &variant->levels[k]));
    json_object_set_new(object, "levels", levels);
    return object;
}

static json_t *reference_json(const struct pm_run_strides *strides, struct line *line) {
    json_t *object = PM_JSON_OBJECT(reference_fields, line), *levels = json_array();
    for (uint32_t k = 0; k < line->strides->n_levels; k++) {
        line->level = &line->strides->levels[k];
        json_array_append_new(levels, PM_JSON_OBJECT(level_fields, line));
    }
    json_object_set_new(object, "levels", levels);
    json_t *variants = json_array();
    for (uint32_t v = 0; v < line->strides->n_variants; v++)
        json_array_append_new(variants,
                              variant_json(&strides->variants[line->strides->first_variant + v]));
    json_object_set_new(object, "variants", variants);
    return object;
}

static void write_run(FILE *out, const struct pm_structure *structure,
                      const struct pm_profile *profile, const bool *chosen, json_t *runs) {
    char *size = pm_parameters_text(&profile->parameters);
    json_t *references = json_array();
    for (size_t i = 0; i < profile->strides.n_references; i++) {
        struct line line = line_of(structure, &profile->strides.references[i], size);
        if (!line.group || !chosen[line.reference->group])
            continue;
        if (runs)
            json_array_append_new(references, reference_json(&profile->strides, &line));
        else
            write_csv(out, &line);
    }
    if (runs) {
        json_t *run = json_object();
        json_object_set_new(run, "parameters", pm_json_parameters(&profile->parameters));
        json_object_set(run, "references", references);
        json_array_append_new(runs, run);
    }
    json_decref(references);
    free(size);
}

void pm_export_strides(FILE *out, const struct pm_structure *structure,
                       struct pm_profile *const *profiles, size_t n, const bool *chosen,
                       enum pm_report_format format) {
    json_t *runs = format == PM_REPORT_CSV ? NULL : json_array();
    if (!runs) {
        struct pm_csv csv = {.out = out};
        pm_fields_csv_names(&csv, PM_FIELDS(size_fields));
        pm_fields_csv_names(&csv, PM_FIELDS(reference_fields));
        pm_fields_csv_names(&csv, PM_FIELDS(level_fields));
        pm_csv_end_line(&csv);
    }
    for (size_t i = 0; i < n; i++)
        write_run(out, structure, profiles[i], chosen, runs);
    if (!runs)
        return;
    json_t *document = json_object();
    json_object_set_new(document, "format", json_string("pmodel-strides"));
    json_object_set_new(document, "version", json_integer(1));
    json_object_set_new(document, "runs", runs);
    json_dumpf(document, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(document);
}
