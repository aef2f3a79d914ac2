/* `pmodel query --format json`: {"format": "pmodel-query", "version": 1, program, measured_up_to,
   "question": "misses" | "cache" | "size" | "fits", "answers": […]}.  Ratios and shares are
   fractions of 1; unknown is null, and so is an answer that there is not. */
#include <math.h>
#include <stdlib.h>

#include "report/query/query_writers.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static json_t *part_json(const struct pm_query_report *report, size_t number) {
    const struct pm_query_part *part = &report->parts->parts[number];
    const struct pm_scope *scope = &report->structure->scopes[part->scope];
    json_t *object = json_object();
    json_object_set_new(object, "label", pm_json_text(part->label));
    json_object_set_new(
        object, "kind",
        json_string(part->group == PM_NONE ? pm_scope_kind_word(scope->kind) : "group"));
    json_object_set_new(object, "group",
                        part->group == PM_NONE ? json_null() : pm_json_integer(part->group));
    json_object_set_new(object, "file", pm_json_text(scope->file));
    json_object_set_new(object, "line_first", pm_json_line_number(scope->line_first));
    json_object_set_new(object, "key", pm_json_hex(scope->key));
    return object;
}

static json_t *cache_json(const struct pm_query_cache *cache, const char *name,
                          const char *machine) {
    json_t *object = json_object();
    json_object_set_new(object, "name", pm_json_text(name));
    json_object_set_new(object, "machine", pm_json_text(machine));
    json_object_set_new(object, "block_bytes", pm_json_integer(cache->block_bytes));
    json_object_set_new(object, "blocks", pm_json_number(cache->blocks)); /* null: unlimited */
    json_object_set_new(object, "size_bytes",
                        pm_json_number(cache->blocks * (double)cache->block_bytes));
    return object;
}

static const char *found_word(enum pm_query_found found) {
    return found == PM_QUERY_NONE ? "none" : found == PM_QUERY_BEYOND ? "beyond_range" : "found";
}

static void add_counts(json_t *object, const struct pm_query_row *row) {
    json_object_set_new(object, "accesses", pm_json_number(row->counts.accesses));
    json_object_set_new(object, "misses", pm_json_number(row->counts.misses));
    json_object_set_new(object, "first_touches", pm_json_number(row->counts.cold));
    json_object_set_new(object, "misses_upper_bound", json_boolean(row->counts.beyond > 0));
    json_object_set_new(object, "hit_ratio",
                        pm_json_number(pm_query_hit_ratio(&row->counts, true)));
    json_object_set_new(object, "hit_ratio_of_reuses",
                        pm_json_number(pm_query_hit_ratio(&row->counts, false)));
}

/* Of the answer; null if it was measured, and a bound outside what was looked at, too. */
static json_t *interval_json(const struct pm_query_report *report, const struct pm_query_row *row) {
    static const char *const answers[] = {"misses", "blocks", "largest"};
    if (isnan(row->low))
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "of", json_string(answers[report->kind]));
    json_object_set_new(object, "probability", pm_json_number(0.8));
    json_object_set_new(object, "low", pm_json_number(row->low));
    json_object_set_new(object, "high", pm_json_number(row->high));
    return object;
}

static json_t *row_json(const struct pm_query_report *report, const struct pm_query_row *row) {
    json_t *object = json_object();
    json_object_set_new(object, "part", part_json(report, row->part));
    json_object_set_new(object, "parameters", pm_json_parameters(&row->at));
    json_object_set_new(object, "cache", cache_json(&row->cache, row->cache_name, row->machine));
    if (report->kind != PM_QUERY_MISSES) {
        json_object_set_new(object, "wanted_hit_ratio", pm_json_number(row->wanted));
        json_object_set_new(object, "counts_first_touches", json_boolean(report->with_cold));
        json_object_set_new(object, "found", json_string(found_word(row->found)));
        json_object_set_new(object, "unlimited_hit_ratio",
                            pm_json_number(pm_query_hit_ratio(&row->unlimited, report->with_cold)));
    }
    if (report->kind == PM_QUERY_SIZE) {
        double size = NAN;
        pm_parameters_get(&row->at, report->solved, &size);
        json_object_set_new(object, "largest",
                            pm_json_number(row->found == PM_QUERY_NONE ? NAN : size));
        json_object_set_new(object, "next_does_not", pm_json_number(row->failing_size));
        json_object_set_new(object, "smaller_that_does_not", pm_json_number(row->gap_size));
    }
    json_object_set_new(object, "interval", interval_json(report, row));
    add_counts(object, row);
    json_object_set_new(object, "predicted", json_boolean(row->predicted));
    json_object_set_new(object, "extrapolation", pm_json_number(row->extrapolation));
    json_object_set_new(object, "relative_error", pm_json_number(row->relative_error));
    return object;
}

/* ---- what fits ------------------------------------------------------------------------------- */

static json_t *step_json(const struct pm_query_report *report, const struct pm_query_step *step) {
    const struct pm_histogram_model *models = &report->models->histograms[step->histogram];
    char *formula = pm_model_text(report->models->basis, &models->bins[step->bin].distance);
    json_t *object = json_object();
    json_object_set_new(object, "up_to", pm_json_number(step->half_hit));
    /* null: smaller, or larger, than what was looked at */
    json_object_set_new(object, "all_hit_up_to", pm_json_number(step->all_hit));
    json_object_set_new(object, "some_hit_up_to", pm_json_number(step->some_hit));
    json_object_set_new(object, "share_of_accesses", pm_json_number(step->share));
    json_object_set_new(object, "group", pm_json_integer(models->group));
    json_object_set_new(object, "object",
                        pm_json_text(models->group < report->structure->n_groups
                                         ? report->structure->groups[models->group].object
                                         : NULL));
    json_object_set_new(object, "distance_blocks", pm_json_text(formula));
    free(formula);
    return object;
}

static json_t *fits_json(const struct pm_query_report *report, size_t part, size_t cache) {
    const struct pm_query_fits *fits = &report->fits[part * report->n_caches + cache];
    const struct pm_query_level_cache *level = &report->caches[cache];
    json_t *object = json_object(), *steps = json_array();
    for (size_t i = 0; i < fits->n_steps; i++)
        json_array_append_new(steps, step_json(report, &fits->steps[i]));
    json_object_set_new(object, "part", part_json(report, part));
    json_object_set_new(object, "cache", cache_json(&level->cache, level->name, level->machine));
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

void pm_write_query_json(FILE *out, const struct pm_query_report *report) {
    static const char *const questions[] = {"misses", "cache", "size", "fits"};
    json_t *document = pm_json_document("query"), *answers = json_array();
    json_object_set_new(document, "program", pm_json_text(pm_program_name(report->structure)));
    json_object_set_new(document, "measured_up_to", pm_json_text(report->measured_up_to));
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
    for (size_t i = 0; i < report->n_rows; i++)
        json_array_append_new(answers, row_json(report, &report->rows[i]));
    if (report->kind == PM_QUERY_FITS)
        for (size_t p = 0; p < report->parts->n_parts; p++)
            for (size_t c = 0; c < report->n_caches; c++)
                json_array_append_new(answers, fits_json(report, p, c));
    json_object_set_new(document, "answers", answers);
    pm_json_print(out, document);
}
