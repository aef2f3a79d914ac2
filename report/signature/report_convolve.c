/* `pmodel report --as convolution`: what the signatures of machines say of a program, as a table
   for each machine and one of their ratios, JSON or CSV. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/signature/private.h"

/* ---- machines ---------------------------------------------------------------------------------
 */

struct machine_row {
    const struct pm_convolution *convolution;
    double ratio;    /* of MetaSim numbers, to the first machine's */
    double speed_up; /* of times */
    double error;    /* of the time; NAN: not timed */
};

PM_GETTER(name_value, struct machine_row, pm_text(row->convolution->signature->machine->name))
PM_GETTER(synthesised_value, struct machine_row,
          pm_integer(row->convolution->signature->is_synthesised))
PM_GETTER(synthesised_cell, struct machine_row,
          pm_text(row->convolution->signature->is_synthesised ? "synthesised" : "measured"))
PM_GETTER(metasim_value, struct machine_row, pm_number(row->convolution->metasim_number))
PM_GETTER(metasim_cell, struct machine_row,
          pm_owned_text(pm_rate_label(row->convolution->metasim_number, "words/s")))
PM_GETTER(mean_value, struct machine_row, pm_number(row->convolution->mean_flops / 1e6))
PM_GETTER(mflops_value, struct machine_row, pm_number(row->convolution->flops_rate / 1e6))
PM_GETTER(mean_cell, struct machine_row,
          pm_copied_text(pm_count_text(row->convolution->mean_flops / 1e6).text))
PM_GETTER(mflops_cell, struct machine_row,
          pm_copied_text(pm_count_text(row->convolution->flops_rate / 1e6).text))
PM_GETTER(seconds_value, struct machine_row, pm_number(row->convolution->seconds))
PM_GETTER(domain_value, struct machine_row, pm_number(row->convolution->domain_share))

static const struct pm_field machine_fields[] = {
    {"machine", PM_NAME, .get = name_value, .header = "MACHINE"},
    {"synthesised", PM_YES_NO, .get = synthesised_value, .header = "SIGNATURE",
     .cell = synthesised_cell},
    {"metasim_number", PM_NUMBER, .get = metasim_value, .header = "METASIM (1)",
     .cell = metasim_cell},
    {"metasim_ratio", PM_RATE, PM_MEMBER(struct machine_row, ratio), .header = "RATIO"},
    {"mean_mflops", PM_NUMBER, .get = mean_value, .header = "MFLOP/S (2)", .cell = mean_cell},
    {"mflops", PM_NUMBER, .get = mflops_value, .header = "MFLOP/S", .cell = mflops_cell},
    {"seconds", PM_SECONDS, .get = seconds_value, .header = "TIME"},
    {"speed_up", PM_RATE, PM_MEMBER(struct machine_row, speed_up), .header = "SPEED-UP"},
    {"in_domain_share", PM_PERCENT, .get = domain_value, .header = "DOMAIN%"},
    {"error", PM_RATE, PM_MEMBER(struct machine_row, error)},
};

static struct machine_row machine_row(const struct pm_convolved_program *program,
                                      const struct pm_convolution *convolutions, size_t i) {
    const struct pm_convolution *c = &convolutions[i], *first = &convolutions[0];
    double measured = program->measured_seconds;
    return (struct machine_row){.convolution = c,
                                .ratio = c->metasim_number / first->metasim_number,
                                .speed_up = first->seconds / c->seconds,
                                .error = (c->seconds - measured) / measured};
}

/* ---- table ------------------------------------------------------------------------------------
 */

static const char *source_words(const struct pm_convolved_program *program) {
    return strcmp(program->source, "profile") == 0 ? "basic blocks of a profile"
           : strcmp(program->source, "run") == 0   ? "loops as they were measured"
                                                   : "loops as their models say";
}

static bool is_shown(const struct pm_part_row *row, size_t i,
                     const struct pm_report_options *options) {
    return (!options->max_rows || i < options->max_rows) &&
           !(100 * row->part->weight < options->min_percent &&
             row->part->seconds < options->min_percent / 100 * row->convolution->seconds);
}

static void print_parts(FILE *out, const struct pm_convolved_program *program,
                        const struct pm_convolution *c, const struct pm_report_options *options) {
    struct pm_part_row *rows = pm_part_rows(program->structure, c);
    char *names = pm_sprintf("number %slabel source memory_share cumulative_share flops_per_word "
                             "random_share hit_percents words_per_second seconds slowest_pattern "
                             "working_set_bytes in_domain",
                             strcmp(program->source, "profile") == 0 ? "block " : "");
    struct pm_table_rows table = pm_table_begin(pm_fields_named(pm_part_fields, names));
    for (size_t i = 0; i < c->n_parts; i++)
        if (is_shown(&rows[i], i, options))
            pm_table_row(&table, &rows[i]);
    pm_table_end(out, &table, NULL, options);
    free(names);
    free(rows);
}

static void print_notes(FILE *out, const struct pm_convolved_program *program,
                        const struct pm_convolution *c, const struct pm_report_options *options) {
    if (c->signature->is_synthesised)
        pm_print_note(out, options,
                      "The signature is made from the machine's description: nobody measured it.");
    if (!(c->flops > 0))
        pm_print_note(out, options,
                      "No part has a floating-point operation, so there are no FLOP/s.");
    else if (c->share_without_flops > 0.005)
        pm_print_note(out, options,
                      "%.3g%% of the words are of code without a floating-point operation: they "
                      "take time, and (2) counts none of their rate.",
                      100 * c->share_without_flops);
    if (c->domain_share < 0.995)
        pm_print_note(out, options,
                      "%.3g%% of the words are outside the paper's domain: fewer than one memory "
                      "operation for %g floating-point ones, or less than %g%% random.",
                      100 * (1 - c->domain_share), pm_domain_most_flops,
                      100 * pm_domain_least_random);
    if (!isnan(program->measured_seconds))
        pm_print_note(out, options, "Measured by a clock, where it was timed: %s, %.4g MFLOP/s.",
                      pm_seconds_text(program->measured_seconds).text,
                      c->flops / program->measured_seconds / 1e6);
}

static void print_table(FILE *out, const struct pm_convolved_program *program,
                        const struct pm_convolution *convolutions, size_t n,
                        const struct pm_report_options *options) {
    char *size = pm_parameters_text(&program->at);
    struct pm_table_rows machines = pm_table_begin(pm_fields_named(
        PM_FIELDS(machine_fields), "machine synthesised metasim_number metasim_ratio "
                                   "mean_mflops mflops seconds speed_up in_domain_share"));
    for (size_t i = 0; i < n; i++) {
        pm_print_title(out, options, "%s  %s  on %s: %s", pm_program_name(program->structure), size,
                       convolutions[i].signature->machine->title, source_words(program));
        print_parts(out, program, &convolutions[i], options);
        print_notes(out, program, &convolutions[i], options);
        fputc('\n', out);
        struct machine_row row = machine_row(program, convolutions, i);
        pm_table_row(&machines, &row);
    }
    pm_table_end(out, &machines, NULL, options);
    pm_print_note(out, options,
                  "(1), (2): means of rates weighted by references, as the paper has them. MFLOP/S "
                  "and TIME: the sum of times, words over rate.");
    free(size);
}

/* ---- JSON, CSV ---------------------------------------------------------------------------------
 */

static void print_json(FILE *out, const struct pm_convolved_program *program,
                       const struct pm_convolution *convolutions, size_t n,
                       const struct pm_report_options *options) {
    json_t *document = pm_program_document("convolution", program->structure);
    json_t *machines = json_array();
    json_object_set_new(document, "parameters", pm_json_parameters(&program->at));
    json_object_set_new(document, "source", json_string(program->source));
    json_object_set_new(document, "measured_seconds", pm_json_number(program->measured_seconds));
    for (size_t i = 0; i < n; i++) {
        struct machine_row row = machine_row(program, convolutions, i);
        struct pm_part_row *rows = pm_part_rows(program->structure, &convolutions[i]);
        json_t *machine = PM_JSON_OBJECT(machine_fields, &row);
        json_object_set_new(machine, "words", pm_json_number(convolutions[i].words));
        json_object_set_new(machine, "flops", pm_json_number(convolutions[i].flops));
        json_object_set_new(
            machine, "parts",
            pm_fields_array(pm_part_fields, rows, convolutions[i].n_parts, sizeof *rows));
        json_array_append_new(machines, machine);
        free(rows);
    }
    json_object_set_new(document, "machines", machines);
    pm_json_set_warnings(document, options);
    pm_json_print(out, document);
}

static void print_csv(FILE *out, const struct pm_convolved_program *program,
                      const struct pm_convolution *convolutions, size_t n) {
    struct pm_csv_lines lines = pm_csv_begin(
        out, pm_part_fields,
        "machine number block label source key memory_share cumulative_share references words "
        "flops flops_per_word random_share hit_percents words_per_second seconds slowest_pattern "
        "working_set_bytes in_domain");
    for (size_t i = 0; i < n; i++) {
        struct pm_part_row *rows = pm_part_rows(program->structure, &convolutions[i]);
        for (size_t k = 0; k < convolutions[i].n_parts; k++)
            pm_csv_line(&lines, &rows[k]);
        free(rows);
    }
    pm_csv_end(&lines);
}

void pm_report_convolutions(FILE *out, const struct pm_convolved_program *program,
                            const struct pm_convolution *convolutions, size_t n,
                            const struct pm_report_options *options) {
    pm_print_warnings(out, options);
    PM_BY_FORMAT(options, print_table(out, program, convolutions, n, options),
                 print_json(out, program, convolutions, n, options),
                 print_csv(out, program, convolutions, n));
}
