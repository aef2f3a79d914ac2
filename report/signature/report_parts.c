/* The parts of a convolved program as rows: the paper's tables 1 and 2, with the rate of each and
   the point of the curve that it was read at. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/signature/private.h"

double pm_megabytes_a_second(const struct pm_signature *signature) {
    return signature->machine->clock_hz / 1e6;
}

char *pm_rate_label(double rate, const char *unit) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t prefix = 0;
    if (isnan(rate))
        return pm_strdup("?");
    for (; rate >= 1000 && prefix + 1 < sizeof prefixes / sizeof *prefixes; prefix++)
        rate /= 1000;
    return pm_sprintf("%.3g %s%s", rate, prefixes[prefix], unit);
}

char *pm_working_set_label(double bytes, bool is_beyond) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    return pm_sprintf("%s%.3g %s", is_beyond ? ">" : "", bytes, units[unit]);
}

char *pm_pattern_label(int kind, int bin) {
    const char *what = kind == PM_PATTERN_STORES ? "stores" : "loads";
    return bin == PM_STRIDE_BIN_RANDOM
               ? pm_sprintf("%s, random", what)
               : pm_sprintf("%s, stride %s", what, pm_stride_bin_name((enum pm_stride_bin)bin));
}

char *pm_part_label(const struct pm_structure *structure, const struct pm_program_part *part) {
    char *label = pm_scope_label(structure, part->scope);
    char *source = pm_scope_source(structure, part->scope);
    char *text = part->block == PM_NONE
                     ? pm_sprintf("%s, %s", label, source)
                     : pm_sprintf("%s, %s, basic block %u", label, source, (unsigned)part->block);
    free(label);
    free(source);
    return text;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static char *hit_rates(const struct pm_part_row *row) {
    const struct pm_signature *signature = row->convolution->signature;
    char *text = pm_strdup("");
    for (size_t l = 0; l < signature->n_caches; l++)
        pm_append(&text, "%s%.4g", l ? " " : "", 100 * row->part->hit_rates[l]);
    return text;
}

static json_t *hit_rates_json(const struct pm_part_row *row) {
    const struct pm_signature *signature = row->convolution->signature;
    json_t *object = json_object();
    for (size_t l = 0; l < signature->n_caches; l++)
        json_object_set_new(object, signature->machine->levels[l].name,
                            pm_json_number(row->part->hit_rates[l]));
    return object;
}

/* Each pattern, with the point that its rate was read at. */
static json_t *patterns_json(const struct pm_part_row *row) {
    const struct pm_signature *signature = row->convolution->signature;
    json_t *array = json_array();
    for (int kind = 0; kind < PM_N_PATTERN_KINDS; kind++)
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++) {
            const struct pm_pattern *pattern = &row->part->part->patterns.of[kind][bin];
            struct pm_read_rate rate;
            if (!(pattern->words > 0))
                continue;
            pm_signature_read(signature, kind == PM_PATTERN_STORES, (enum pm_stride_bin)bin,
                              pattern, &rate);
            json_array_append_new(
                array, json_pack("{s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:b}", "kind",
                                 kind == PM_PATTERN_STORES ? "stores" : "loads", "stride",
                                 pm_stride_bin_name((enum pm_stride_bin)bin), "references",
                                 pm_json_number(pattern->references), "words",
                                 pm_json_number(pattern->words), "curve", rate.curve->name,
                                 "working_set_bytes", pm_json_number(rate.working_set_bytes),
                                 "words_per_second",
                                 pm_json_number(signature->machine->clock_hz / rate.cycles),
                                 "beyond", (int)rate.is_beyond));
        }
    return array;
}

PM_GETTER(machine_value, struct pm_part_row, pm_text(row->machine))
PM_GETTER(block_value, struct pm_part_row,
          row->part->part->block == PM_NONE ? pm_absent() : pm_integer(row->part->part->block))
PM_GETTER(weight_value, struct pm_part_row, pm_number(row->part->weight))
PM_GETTER(references_value, struct pm_part_row, pm_number(row->part->references))
PM_GETTER(words_value, struct pm_part_row, pm_number(row->part->words))
PM_GETTER(flops_value, struct pm_part_row, pm_number(row->part->part->flops))
PM_GETTER(intensity_value, struct pm_part_row, pm_number(row->part->intensity))
PM_GETTER(random_value, struct pm_part_row, pm_number(row->part->random_share))
PM_GETTER(hits_value, struct pm_part_row, pm_owned_text(hit_rates(row)))
PM_GETTER(hits_json, struct pm_part_row, pm_json_value(hit_rates_json(row)))
PM_GETTER(rate_value, struct pm_part_row, pm_number(row->part->rate))
PM_GETTER(rate_cell, struct pm_part_row, pm_owned_text(pm_rate_label(row->part->rate, "")))
PM_GETTER(seconds_value, struct pm_part_row, pm_number(row->part->seconds))
PM_GETTER(pattern_value, struct pm_part_row,
          pm_owned_text(pm_pattern_label(row->part->kind, row->part->bin)))
PM_GETTER(set_value, struct pm_part_row, pm_number(row->part->working_set_bytes))
PM_GETTER(set_cell, struct pm_part_row,
          pm_owned_text(pm_working_set_label(row->part->working_set_bytes, row->part->is_beyond)))
PM_GETTER(domain_value, struct pm_part_row, pm_integer(row->part->in_domain))
PM_GETTER(domain_cell, struct pm_part_row, pm_text(row->part->in_domain ? "" : "outside"))
PM_GETTER(patterns_value, struct pm_part_row, pm_json_value(patterns_json(row)))

#define PLACE(get_) PM_PLACE(struct pm_part_row, place, get_)

static const struct pm_field fields[] = {
    {"machine", PM_TEXT, .get = machine_value, .not_in_json = true},
    {"number", PM_INTEGER, PM_MEMBER(struct pm_part_row, number), .header = "#"},
    {"block", PM_INTEGER, .get = block_value, .header = "BB"},
    {"label", PM_NAME, PLACE(label), .header = "CODE"},
    {"source", PM_NAME, PLACE(source), .header = "SOURCE", .dispensable = 3},
    {"key", PM_HEX, PLACE(key)},
    {"memory_share", PM_PERCENT, .get = weight_value, .header = "MEM%"},
    {"cumulative_share", PM_PERCENT, PM_MEMBER(struct pm_part_row, cumulative), .header = "CUM%",
     .dispensable = 2},
    {"references", PM_COUNT, .get = references_value},
    {"words", PM_COUNT, .get = words_value},
    {"flops", PM_COUNT, .get = flops_value},
    {"flops_per_word", PM_RATE, .get = intensity_value, .header = "FLOP/W"},
    {"random_share", PM_PERCENT, .get = random_value, .header = "RND%"},
    {"hit_rates", PM_JSON_ONLY, .get = hits_json},
    {"hit_percents", PM_TEXT, .get = hits_value, .not_in_json = true, .header = "HITS%",
     .dispensable = 1},
    {"words_per_second", PM_NUMBER, .get = rate_value, .header = "WORDS/S", .cell = rate_cell},
    {"seconds", PM_SECONDS, .get = seconds_value, .header = "TIME"},
    {"slowest_pattern", PM_TEXT, .get = pattern_value, .header = "MOSTLY", .dispensable = 2},
    {"working_set_bytes", PM_NUMBER, .get = set_value, .header = "POINT", .cell = set_cell},
    {"in_domain", PM_YES_NO, .get = domain_value, .header = "DOMAIN", .cell = domain_cell},
    {"patterns", PM_JSON_ONLY, .get = patterns_value},
};
const struct pm_fields pm_part_fields = {.fields = (struct pm_field *)(uintptr_t)fields,
                                         .n_fields = sizeof fields / sizeof *fields};

struct pm_part_row *pm_part_rows(const struct pm_structure *structure,
                                 const struct pm_convolution *convolution) {
    struct pm_part_row *rows = pm_alloc(convolution->n_parts, sizeof *rows);
    double cumulative = 0;
    for (size_t i = 0; i < convolution->n_parts; i++) {
        const struct pm_convolved_part *part = &convolution->parts[i];
        cumulative += part->weight;
        rows[i] = (struct pm_part_row){.place = {structure, part->part->scope},
                                       .convolution = convolution,
                                       .part = part,
                                       .machine = convolution->signature->machine->name,
                                       .number = (uint32_t)(i + 1),
                                       .cumulative = cumulative};
    }
    return rows;
}
