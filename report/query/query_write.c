/* `pmodel query`: the fields of an answer and of what fits, and the report as JSON and CSV.

   JSON: {"format": "pmodel-query", "version": 1, program, measured_up_to, "question": "misses" |
   "cache" | "size" | "fits", "answers": […]}.  Ratios and shares are fractions of 1; an answer that
   there is not is null.  CSV: a line for each answer; of --fits, for each cluster of reuses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/query_fields.h"

struct pm_answer_row pm_answer_row(const struct pm_query_report *report, size_t i) {
    const struct pm_query_part *part = &report->parts->parts[report->answers.rows[i].part];
    return (struct pm_answer_row){
        report, part, {report->structure, part->scope}, report->answers.rows[i]};
}

struct pm_fits_row pm_fits_row(const struct pm_query_report *report, size_t part, size_t cache,
                               const struct pm_query_step *step) {
    const struct pm_query_part *p = &report->parts->parts[part];
    return (struct pm_fits_row){.report = report,
                                .part = p,
                                .place = {report->structure, p->scope},
                                .cache = &report->caches->caches[cache],
                                .step = step,
                                .up_to = step ? step->half_hit : NAN,
                                .share = step ? step->share : NAN};
}

void pm_query_report_range(struct pm_query_report *report, const struct pm_query_surface *surface) {
    const struct pm_query_range *range = &surface->range;
    report->solved = surface->name;
    report->range = *range;
    report->most_factor = pm_query_range_value(range, range->n - 1) / surface->largest_measured;
}

/* ---- parts and caches ------------------------------------------------------------------------ */

static json_t *part_json(const struct pm_query_part *part, const struct pm_row_place *place) {
    static const struct pm_field fields[] = {
        {"file", PM_TEXT, .get = pm_place_file},
        {"line_first", PM_POSITIVE, .get = pm_place_line_first},
        {"key", PM_HEX, .get = pm_place_key},
    };
    const struct pm_scope *scope = &place->structure->scopes[part->scope];
    json_t *object = json_object();
    json_object_set_new(object, "label", pm_json_text(part->label));
    json_object_set_new(
        object, "kind",
        json_string(part->group == PM_NONE ? pm_scope_kind_word(scope->kind) : "group"));
    json_object_set_new(object, "group",
                        part->group == PM_NONE ? json_null() : pm_json_integer(part->group));
    pm_fields_set(object, PM_FIELDS(fields), place);
    return object;
}

static json_t *json_of_response(const struct pm_response *response) {
    static const struct pm_field fields[] = {
        {"distance_bytes", PM_NUMBER, PM_MEMBER(struct pm_response_point, distance_bytes)},
        {"share", PM_NUMBER, PM_MEMBER(struct pm_response_point, share)},
        {"low", PM_NUMBER, PM_MEMBER(struct pm_response_point, low)},
        {"high", PM_NUMBER, PM_MEMBER(struct pm_response_point, high)},
    };
    return pm_fields_array(PM_FIELDS(fields), response->points, response->n_points,
                           sizeof *response->points);
}

static json_t *cache_json(const struct pm_query_cache *cache, const struct pm_set_cache *sets,
                          const char *name, const char *machine) {
    json_t *object = json_object();
    json_object_set_new(object, "name", pm_json_text(name));
    json_object_set_new(object, "machine", pm_json_text(machine));
    json_object_set_new(object, "block_bytes", pm_json_integer(cache->block_bytes));
    json_object_set_new(object, "blocks", pm_json_number(cache->blocks)); /* null: unlimited */
    json_object_set_new(object, "size_bytes",
                        pm_json_number(cache->blocks * (double)cache->block_bytes));
    json_object_set_new(object, "ways", /* null: fully associative */
                        sets->ways ? pm_json_integer(sets->ways) : json_null());
    json_object_set_new(object, "replacement", json_string(pm_replacement_word(sets->replacement)));
    json_object_set_new(object, "indexed", json_string(pm_indexing_word(sets->indexed)));
    json_object_set_new(object, "serves", /* null: it is a step */
                        cache->serves.n_points ? json_of_response(&cache->serves) : json_null());
    return object;
}

static struct pm_field_value group_of(const struct pm_query_part *part) {
    return part->group == PM_NONE ? pm_unknown() : pm_integer(part->group);
}

/* ---- values as people read them -------------------------------------------------------------- */

/* A hit ratio in percent, with as many digits as it takes to tell it from 100. */
struct pm_number_text pm_query_hit_text(double ratio) {
    struct pm_number_text result = {"?"};
    double missing = 100 * (1 - ratio);
    if (missing > 0 && missing < 0.0005)
        snprintf(result.text, sizeof result.text, ">99.999");
    else if (!isnan(ratio))
        snprintf(result.text, sizeof result.text, "%.*f", missing > 0 && missing < 0.095 ? 3 : 2,
                 100 * ratio);
    return result;
}

struct pm_number_text pm_query_value_text(double value) {
    struct pm_number_text result = {""};
    pm_format_value(value, result.text, sizeof result.text);
    return result;
}

/* 1.5 MiB, where pm_bytes_text would count single bytes. */
static struct pm_number_text size_text(double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    struct pm_number_text result = {""};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof units[0] && bytes >= 1024) {
        bytes /= 1024;
        unit++;
    }
    snprintf(result.text, sizeof result.text, bytes == floor(bytes) ? "%.0f %s" : "%.4g %s", bytes,
             units[unit]);
    return result;
}

static struct pm_number_text limit_text(const struct pm_query_report *report, double size) {
    const struct pm_query_range *range = &report->range;
    if (isfinite(size))
        return pm_query_value_text(size);
    struct pm_number_text result = {{size < 0 ? '<' : '>'}};
    pm_format_value(pm_query_range_value(range, size < 0 ? 0 : range->n - 1), result.text + 1,
                    sizeof result.text - 1);
    return result;
}

static struct pm_number_text bound_text(const struct pm_query_report *report,
                                        const struct pm_query_row *row, double bound) {
    struct pm_number_text none = {"none"};
    if (report->kind == PM_QUERY_SIZE)
        return limit_text(report, bound);
    if (report->kind == PM_QUERY_MISSES)
        return pm_count_text(bound);
    return isinf(bound) ? none : size_text(bound * (double)row->cache.block_bytes);
}

/* Stands before figures of blocks that were not measured. */
static const char *interpolated_mark(const struct pm_query_row *row) {
    return row->interpolated_from ? "~" : "";
}

/* "1.2M…1.4M"; empty if measured, or both are outside what was looked at. */
static struct pm_field_value bounds_text(const struct pm_query_report *report,
                                         const struct pm_query_row *row) {
    if (isnan(row->low) || (isinf(row->low) && row->low == row->high))
        return pm_text("");
    char *text =
        pm_sprintf("%s%s…", interpolated_mark(row), bound_text(report, row, row->low).text);
    pm_append(&text, "%s", bound_text(report, row, row->high).text);
    return pm_owned_text(text);
}

/* "512 of 64 bytes" */
static char *blocks_text(const struct pm_query_cache *cache) {
    char *text = pm_sprintf("%s of ", pm_query_value_text(cache->blocks).text);
    pm_append(&text, "%s", pm_bytes_text(cache->block_bytes).text);
    return text;
}

/* "measured", "models, error 0.6%, extrapolated 4.0x", "measured, in blocks of 64 bytes" */
static char *from_text(const struct pm_query_row *row) {
    char *text = row->predicted
                     ? pm_sprintf("models, error %s%%", pm_percent_text(row->relative_error).text)
                     : pm_strdup("measured");
    if (row->predicted && row->extrapolation > 1)
        pm_append(&text, ", extrapolated %.1fx", row->extrapolation);
    if (row->interpolated_from)
        pm_append(&text, ", in blocks of %s", pm_bytes_text(row->interpolated_from).text);
    return text;
}

static char *size_answer(const struct pm_query_report *report, const struct pm_query_row *row) {
    double size = NAN;
    pm_parameters_get(&row->at, report->solved, &size);
    return row->found == PM_QUERY_NONE ? pm_strdup("none")
                                       : pm_sprintf("%s%s%s", interpolated_mark(row),
                                                    row->found == PM_QUERY_BEYOND ? "≥ " : "",
                                                    pm_query_value_text(size).text);
}

/* ---- the fields of an answer ----------------------------------------------------------------- */

static bool is_sought(const void *row) {
    return ((const struct pm_answer_row *)row)->report->kind != PM_QUERY_MISSES;
}
static bool is_size(const void *row) {
    return ((const struct pm_answer_row *)row)->report->kind == PM_QUERY_SIZE;
}

static const char *found_word(enum pm_query_found found) {
    return found == PM_QUERY_NONE ? "none" : found == PM_QUERY_BEYOND ? "beyond_range" : "found";
}

/* Of the answer; null if it was measured, and a bound outside what was looked at, too. */
static struct pm_field_value interval(const struct pm_answer_row *row) {
    static const char *const answers[] = {"misses", "blocks", "largest"};
    if (isnan(row->row.low))
        return pm_unknown();
    json_t *object = json_object();
    json_object_set_new(object, "of", json_string(answers[row->report->kind]));
    json_object_set_new(object, "probability", pm_json_number(0.8));
    json_object_set_new(object, "low", pm_json_number(row->row.low));
    json_object_set_new(object, "high", pm_json_number(row->row.high));
    return pm_json_value(object);
}

static struct pm_field_value largest(const struct pm_answer_row *row) {
    double size = NAN;
    pm_parameters_get(&row->row.at, row->report->solved, &size);
    return pm_number(row->row.found == PM_QUERY_NONE ? NAN : size);
}

static struct pm_field_value hit_cell(const struct pm_answer_row *row, bool with_cold) {
    return pm_owned_text(
        pm_sprintf("%s%s", interpolated_mark(&row->row),
                   pm_query_hit_text(pm_query_hit_ratio(&row->row.counts, with_cold)).text));
}

static struct pm_field_value smallest_cache(const struct pm_query_row *row) {
    if (row->found == PM_QUERY_NONE)
        return pm_text("none: unlimited has");
    return pm_owned_text(
        pm_sprintf("%s%s", interpolated_mark(row),
                   size_text(row->cache.blocks * (double)row->cache.block_bytes).text));
}

#define GETTER(name_, value_) PM_GETTER(name_, struct pm_answer_row, value_)
GETTER(answer_part, pm_json_value(part_json(row->part, &row->place)))
GETTER(answer_label, pm_text(row->part->label))
GETTER(answer_source, pm_text(row->part->source))
GETTER(answer_group, group_of(row->part))
GETTER(answer_at, pm_json_value(pm_json_parameters(&row->row.at)))
GETTER(answer_at_text, pm_owned_text(pm_parameters_text(&row->row.at)))
GETTER(answer_cache, pm_json_value(cache_json(&row->row.cache, row->row.sets, row->row.cache_name,
                                              row->row.machine)))
GETTER(answer_with_cold, pm_integer(row->report->with_cold))
GETTER(answer_found, is_sought(row) ? pm_text(found_word(row->row.found)) : pm_unknown())
GETTER(answer_unlimited, pm_number(pm_query_hit_ratio(&row->row.unlimited, row->report->with_cold)))
GETTER(answer_largest, largest(row))
GETTER(answer_interval, interval(row))
GETTER(answer_beyond, pm_integer(row->row.counts.beyond > 0))
GETTER(answer_hits, pm_number(pm_query_hit_ratio(&row->row.counts, true)))
GETTER(answer_hits_of_reuses, pm_number(pm_query_hit_ratio(&row->row.counts, false)))
GETTER(wanted_cell, pm_copied_text(pm_query_value_text(100 * row->row.wanted).text))
GETTER(misses_cell, pm_owned_text(pm_sprintf("%s%s%s", interpolated_mark(&row->row),
                                             row->row.counts.beyond > 0 ? "<" : "",
                                             pm_count_text(row->row.counts.misses).text)))
GETTER(first_touches_cell, pm_owned_text(pm_sprintf("%s%s", interpolated_mark(&row->row),
                                                    pm_count_text(row->row.counts.cold).text)))
GETTER(hits_cell, hit_cell(row, true))
GETTER(hits_of_reuses_cell, hit_cell(row, false))
GETTER(hits_as_wanted_cell, hit_cell(row, row->report->with_cold))
GETTER(bounds_cell, bounds_text(row->report, &row->row))
GETTER(blocks_cell,
       row->row.found == PM_QUERY_NONE ? pm_text("") : pm_owned_text(blocks_text(&row->row.cache)))
GETTER(smallest_cell, smallest_cache(&row->row))
GETTER(largest_cell, pm_owned_text(size_answer(row->report, &row->row)))
GETTER(from_cell, pm_owned_text(from_text(&row->row)))
#undef GETTER

#define ROW(member_) PM_MEMBER(struct pm_answer_row, row.member_)
#define PLACE(get_) PM_PLACE(struct pm_answer_row, place, get_)
#define NOT_IN_JSON .not_in_json = true

static const struct pm_field answer_fields[] = {
    {"part", PM_JSON_ONLY, .get = answer_part},
    {"parameters", PM_JSON_ONLY, .get = answer_at},
    {"cache", PM_JSON_ONLY, .get = answer_cache},
    {"wanted_hit_ratio", PM_NUMBER, ROW(wanted), .csv_name = "wanted", .json_when = is_sought,
     .header = "WANTED %", .cell = wanted_cell},
    {"counts_first_touches", PM_YES_NO, .get = answer_with_cold, .json_when = is_sought},
    {"found", PM_TEXT, .get = answer_found, .json_when = is_sought},
    {"unlimited_hit_ratio", PM_NUMBER, .get = answer_unlimited, .json_when = is_sought},
    {"largest", PM_NUMBER, .get = answer_largest, .json_when = is_size, .cell = largest_cell},
    {"next_does_not", PM_NUMBER, ROW(failing_size), .json_when = is_size},
    {"smaller_that_does_not", PM_NUMBER, ROW(gap_size), .json_when = is_size},
    {"interval", PM_JSON_ONLY, .get = answer_interval, .header = "80% BETWEEN", .cell = bounds_cell,
     .dispensable = 2},
    {"accesses", PM_COUNT, ROW(counts.accesses), .header = "ACCESSES", .dispensable = 3},
    {"misses", PM_COUNT, ROW(counts.misses), .header = "MISSES", .cell = misses_cell},
    {"first_touches", PM_COUNT, ROW(counts.cold), .header = "FIRST TOUCHES",
     .cell = first_touches_cell, .dispensable = 4},
    {"misses_upper_bound", PM_YES_NO, .get = answer_beyond},
    {"write_backs", PM_COUNT, ROW(write_backs), .header = "WRITE-BACKS", .dispensable = 3},
    {"hit_ratio", PM_NUMBER, .get = answer_hits, .header = "HIT %", .cell = hits_cell},
    {"hit_ratio_of_reuses", PM_NUMBER, .get = answer_hits_of_reuses, .header = "OF REUSES %",
     .cell = hits_of_reuses_cell, .dispensable = 5},
    {"predicted", PM_YES_NO, ROW(predicted)},
    {"extrapolation", PM_NUMBER, ROW(extrapolation)},
    {"relative_error", PM_NUMBER, ROW(relative_error)},
    {"interpolated_from_block_bytes", PM_POSITIVE, ROW(interpolated_from)},
    {"threads_together", PM_POSITIVE, ROW(n_threads)},
    {"program", PM_TEXT, PLACE(program), NOT_IN_JSON},
    {"label", PM_NAME, .get = answer_label, .csv_name = "part", NOT_IN_JSON, .header = "PART"},
    {"source", PM_TEXT, .get = answer_source, NOT_IN_JSON, .header = "SOURCE", .dispensable = 6},
    {"file", PM_TEXT, PLACE(file), NOT_IN_JSON},
    {"line", PM_POSITIVE, PLACE(line_first), NOT_IN_JSON},
    {"key", PM_HEX, PLACE(key), NOT_IN_JSON},
    {"group", PM_INDEX, .get = answer_group, NOT_IN_JSON},
    {"at", PM_TEXT, .get = answer_at_text, .csv_name = "parameters", NOT_IN_JSON},
    {"machine", PM_TEXT, ROW(machine), NOT_IN_JSON, .header = "MACHINE"},
    {"cache_name", PM_TEXT, ROW(cache_name), .csv_name = "cache", NOT_IN_JSON, .header = "CACHE"},
    {"block_bytes", PM_INTEGER, ROW(cache.block_bytes), NOT_IN_JSON},
    {"blocks", PM_NUMBER, ROW(cache.blocks), NOT_IN_JSON},
    {"cache_blocks", PM_TEXT, .cell = blocks_cell, NOT_IN_JSON, .header = "BLOCKS",
     .dispensable = 7},
    {"smallest", PM_TEXT, .cell = smallest_cell, NOT_IN_JSON, .header = "SMALLEST CACHE"},
    {"hits", PM_NUMBER, .cell = hits_as_wanted_cell, NOT_IN_JSON, .header = "HIT %"},
    {"from", PM_TEXT, .cell = from_cell, NOT_IN_JSON, .header = "FROM", .dispensable = 1},
    {"interval_low", PM_NUMBER, ROW(low), NOT_IN_JSON},
    {"interval_high", PM_NUMBER, ROW(high), NOT_IN_JSON},
};
const struct pm_fields pm_answer_fields = {.fields = (struct pm_field *)(uintptr_t)answer_fields,
                                           .n_fields =
                                               sizeof answer_fields / sizeof *answer_fields};
#undef ROW
#undef PLACE

/* ---- the fields of what fits ----------------------------------------------------------------- */

static const struct pm_histogram_model *histogram_of(const struct pm_fits_row *row) {
    return &row->report->models->histograms[row->step->histogram];
}

static const struct pm_model *distance_of(const struct pm_fits_row *row) {
    return &histogram_of(row)->bins[row->step->bin].distance;
}

static const char *object_of(const struct pm_fits_row *row) {
    uint32_t group = histogram_of(row)->group;
    const struct pm_structure *structure = row->report->structure;
    return group < structure->n_groups ? structure->groups[group].object : NULL;
}

/* With three digits for a coefficient, and without terms that are but rounding errors. */
static char *short_formula(const struct pm_basis *basis, const struct pm_model *model) {
    struct pm_model rounded = *model;
    double largest = 0;
    for (size_t i = 0; i < rounded.n_terms; i++)
        largest = fmax(largest, fabs(rounded.coefficients[i]));
    for (size_t i = 0; i < rounded.n_terms; i++) {
        char text[40];
        snprintf(text, sizeof text, "%.3g", rounded.coefficients[i]);
        rounded.coefficients[i] =
            fabs(rounded.coefficients[i]) < 1e-30 * largest ? 0 : strtod(text, NULL);
    }
    return pm_model_text(basis, &rounded);
}

/* "9.5", "0.024": percent, of shares that may be small because blocks are large. */
static struct pm_number_text share_text(double share) {
    struct pm_number_text result = {""};
    snprintf(result.text, sizeof result.text, "%.2g", 100 * share);
    return result;
}

/* "24…40": the sizes at which all, and any, of the reuses hit, where that differs. */
static struct pm_field_value spread_text(const struct pm_fits_row *row) {
    const struct pm_query_step *step = row->step;
    if (!step || (step->all_hit == step->half_hit && step->some_hit == step->half_hit))
        return pm_text("");
    char *text = pm_sprintf("%s…", limit_text(row->report, step->all_hit).text);
    pm_append(&text, "%s", limit_text(row->report, step->some_hit).text);
    return pm_owned_text(text);
}

#define GETTER(name_, value_) PM_GETTER(name_, struct pm_fits_row, value_)
GETTER(fits_part, pm_text(row->part->label))
GETTER(fits_group, group_of(row->part))
GETTER(fits_fixed, pm_owned_text(pm_parameters_text(&row->report->fixed)))
GETTER(fits_machine, pm_text(row->cache->machine))
GETTER(fits_cache, pm_text(row->cache->name))
GETTER(fits_block_bytes, pm_integer(row->cache->cache.block_bytes))
GETTER(fits_blocks, pm_number(row->cache->cache.blocks))
GETTER(fits_solved, pm_text(row->report->solved))
GETTER(fits_all, pm_number(row->step->all_hit))
GETTER(fits_some, pm_number(row->step->some_hit))
GETTER(fits_step_group, pm_integer(histogram_of(row)->group))
GETTER(fits_object, pm_text(object_of(row)))
GETTER(fits_distance, pm_owned_text(pm_model_text(row->report->models->basis, distance_of(row))))
GETTER(part_cell, pm_text(row->same_part ? "" : row->part->label))
GETTER(part_source_cell, pm_text(row->same_part ? "" : row->part->source))
GETTER(machine_cell, pm_text(row->same_cache ? "" : row->cache->machine))
GETTER(cache_cell, pm_text(row->same_cache ? "" : row->cache->name))
GETTER(up_to_cell, pm_copied_text(limit_text(row->report, row->up_to).text))
GETTER(spread_cell, spread_text(row))
GETTER(share_cell, isnan(row->share) ? pm_text("") : pm_copied_text(share_text(row->share).text))
GETTER(distance_cell,
       row->step ? pm_owned_text(short_formula(row->report->models->basis, distance_of(row)))
                 : pm_text(""))
GETTER(object_cell, pm_text(!row->step ? "" : object_of(row) ? object_of(row) : "?"))
#undef GETTER

#define PLACE(get_) PM_PLACE(struct pm_fits_row, place, get_)

static const struct pm_field fits_fields[] = {
    {"up_to", PM_NUMBER, PM_MEMBER(struct pm_fits_row, up_to), .cell = up_to_cell},
    {"all_hit_up_to", PM_NUMBER,
     .get = fits_all}, /* null, as the next: outside what was looked at */
    {"some_hit_up_to", PM_NUMBER, .get = fits_some},
    {"share_of_accesses", PM_NUMBER, PM_MEMBER(struct pm_fits_row, share),
     .header = "% OF ACCESSES", .cell = share_cell},
    {"group", PM_INTEGER, .get = fits_step_group, .csv_name = "step_group"},
    {"object", PM_NAME, .get = fits_object, .header = "DATA", .cell = object_cell},
    {"distance_blocks", PM_NAME, .get = fits_distance, .header = "BLOCKS BETWEEN",
     .cell = distance_cell, .dispensable = 2},
    {"program", PM_TEXT, PLACE(program), NOT_IN_JSON},
    {"part", PM_NAME, .get = fits_part, NOT_IN_JSON, .header = "LOOP", .cell = part_cell},
    {"source", PM_TEXT, .cell = part_source_cell, NOT_IN_JSON, .header = "SOURCE",
     .dispensable = 3},
    {"file", PM_TEXT, PLACE(file), NOT_IN_JSON},
    {"line", PM_POSITIVE, PLACE(line_first), NOT_IN_JSON},
    {"key", PM_HEX, PLACE(key), NOT_IN_JSON},
    {"part_group", PM_INDEX, .get = fits_group, .csv_name = "group", NOT_IN_JSON},
    {"parameters", PM_TEXT, .get = fits_fixed, NOT_IN_JSON},
    {"machine", PM_TEXT, .get = fits_machine, NOT_IN_JSON, .header = "MACHINE",
     .cell = machine_cell},
    {"cache", PM_TEXT, .get = fits_cache, NOT_IN_JSON, .header = "LEVEL", .cell = cache_cell},
    {"block_bytes", PM_INTEGER, .get = fits_block_bytes, NOT_IN_JSON},
    {"blocks", PM_NUMBER, .get = fits_blocks, NOT_IN_JSON},
    {"solved", PM_TEXT, .get = fits_solved, NOT_IN_JSON},
    {"spread", PM_NUMBER, .cell = spread_cell, NOT_IN_JSON, .header = "ALL…SOME", .dispensable = 1},
};
const struct pm_fields pm_fits_fields = {.fields = (struct pm_field *)(uintptr_t)fits_fields,
                                         .n_fields = sizeof fits_fields / sizeof *fits_fields};

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *fits_json(const struct pm_query_report *report, size_t part, size_t cache) {
    const struct pm_query_fits *fits = &report->fits[part * report->caches->n_caches + cache];
    const struct pm_query_level_cache *level = &report->caches->caches[cache];
    struct pm_fits_row row = pm_fits_row(report, part, cache, NULL);
    json_t *object = json_object(), *steps = json_array();
    for (size_t i = 0; i < fits->n_steps; i++) {
        row = pm_fits_row(report, part, cache, &fits->steps[i]);
        json_array_append_new(steps, pm_fields_json(pm_fits_fields, &row));
    }
    json_object_set_new(object, "part", part_json(row.part, &row.place));
    json_object_set_new(object, "cache",
                        cache_json(&level->cache, &level->sets, level->name, level->machine));
    bool fits_first = fits->missed_share < pm_query_least_share(level->cache.block_bytes);
    double up_to = !fits_first ? NAN : fits->n_steps ? fits->steps[0].all_hit : INFINITY;
    json_object_set_new(object, "found",
                        json_string(found_word(!fits_first || up_to < 0 ? PM_QUERY_NONE
                                               : isinf(up_to)           ? PM_QUERY_BEYOND
                                                                        : PM_QUERY_FOUND)));
    json_object_set_new(object, "fits_up_to", pm_json_number(up_to));
    json_object_set_new(object, "missed_from_the_start", pm_json_number(fits->missed_share));
    json_object_set_new(object, "hit_to_the_end", pm_json_number(fits->hit_share));
    json_object_set_new(object, "steps", steps);
    return object;
}

json_t *pm_fits_json_of_one(const struct pm_query_report *report) {
    json_t *array = json_array();
    for (size_t c = 0; c < report->caches->n_caches; c++)
        json_array_append_new(array, fits_json(report, 0, c));
    return array;
}

static void write_json(FILE *out, const struct pm_query_report *report,
                       const struct pm_report_options *options) {
    static const char *const questions[] = {"misses", "cache", "size", "fits"};
    json_t *document = pm_program_document("query", report->structure), *answers = json_array();
    json_object_set_new(document, "measured_up_to", pm_json_text(report->measured_up_to));
    pm_json_set_warnings(document, options);
    json_object_set_new(document, "question", json_string(questions[report->kind]));
    if (report->solved) {
        const struct pm_query_range *range = &report->range;
        json_t *looked = json_object();
        json_object_set_new(looked, "parameter", pm_json_text(report->solved));
        json_object_set_new(looked, "from", pm_json_number(pm_query_range_value(range, 0)));
        json_object_set_new(looked, "to",
                            pm_json_number(pm_query_range_value(range, range->n - 1)));
        json_object_set_new(looked, "by_largest_measured", pm_json_number(report->most_factor));
        json_object_set_new(document, "looked_for", looked);
    }
    for (size_t i = 0; i < report->answers.n_rows; i++) {
        struct pm_answer_row row = pm_answer_row(report, i);
        json_array_append_new(answers, pm_fields_json(pm_answer_fields, &row));
    }
    if (report->kind == PM_QUERY_FITS)
        for (size_t p = 0; p < report->parts->n_parts; p++)
            for (size_t c = 0; c < report->caches->n_caches; c++)
                json_array_append_new(answers, fits_json(report, p, c));
    json_object_set_new(document, "answers", answers);
    pm_json_print(out, document);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv(FILE *out, const struct pm_query_report *report) {
    bool of_fits = report->kind == PM_QUERY_FITS;
    struct pm_csv_lines lines =
        of_fits ? pm_csv_begin(out, pm_fits_fields,
                               "program part file line key part_group parameters machine cache "
                               "block_bytes blocks solved up_to all_hit_up_to some_hit_up_to "
                               "share_of_accesses group distance_blocks")
                : pm_csv_begin(out, pm_answer_fields,
                               "program label file line key group at machine cache_name "
                               "block_bytes blocks wanted_hit_ratio found accesses misses "
                               "first_touches write_backs hit_ratio hit_ratio_of_reuses predicted "
                               "extrapolation relative_error interval_low interval_high "
                               "interpolated_from_block_bytes threads_together");
    for (size_t i = 0; i < report->answers.n_rows; i++) {
        struct pm_answer_row row = pm_answer_row(report, i);
        pm_csv_line(&lines, &row);
    }
    for (size_t i = 0; of_fits && i < report->parts->n_parts * report->caches->n_caches; i++)
        for (size_t k = 0; k < report->fits[i].n_steps; k++) {
            struct pm_fits_row row =
                pm_fits_row(report, i / report->caches->n_caches, i % report->caches->n_caches,
                            &report->fits[i].steps[k]);
            pm_csv_line(&lines, &row);
        }
    pm_csv_end(&lines);
}

void pm_report_query(FILE *out, const struct pm_query_report *report,
                     const struct pm_report_options *options) {
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, pm_write_query_table(out, report, options),
                 write_json(out, report, options), write_csv(out, report));
}
