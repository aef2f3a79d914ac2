/* `pmodel report --carried --format csv`: a line for each machine, row and level with misses. Needs
   the rows of carried.c. */
#include <stdlib.h>

#include "report/carried/carried.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

static void write_header(struct pm_csv *csv) {
    static const char *const names[] = {"program",          "parameters",
                                        "machine",          "level",
                                        "block_bytes",      "misses",
                                        "cycles",           "carrier",
                                        "across",           "carrier_file",
                                        "carrier_line",     "carrier_key",
                                        "source",           "source_file",
                                        "source_line",      "source_key",
                                        "destination",      "destination_file",
                                        "destination_line", "destination_key",
                                        "object",           "advice"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pm_csv_text(csv, names[i]);
    pm_csv_end_line(csv);
}

/* Four fields, the first of them LABEL; empty if there is no scope. */
static void write_place(struct pm_csv *csv, const struct pm_structure *structure, uint32_t number) {
    const struct pm_scope *scope = number == PM_NONE ? NULL : &structure->scopes[number];
    pm_csv_text(csv, scope ? scope->file : NULL);
    pm_csv_line_number(csv, scope ? scope->line_first : 0);
    if (scope)
        pm_csv_hex(csv, scope->key);
    else
        pm_csv_text(csv, NULL);
}

static void write_line(struct pm_csv *csv, const struct pm_carried_report *report,
                       const char *parameters, const struct pm_machine *machine,
                       const struct pm_carried_row *row, size_t l) {
    const struct pm_level *level = &machine->levels[l];
    pm_csv_text(csv, pm_program_name(report->structure));
    pm_csv_text(csv, parameters);
    pm_csv_text(csv, machine->name);
    pm_csv_text(csv, level->name);
    pm_csv_integer(csv, level->block_bytes);
    pm_csv_number(csv, row->misses[l]);
    pm_csv_number(csv, row->misses[l] * level->miss_penalty_cycles * level->exposed);
    pm_csv_text(csv, row->carrier == PM_NONE ? NULL : row->carrier_label);
    if (row->carrier == PM_NONE)
        pm_csv_text(csv, NULL);
    else
        pm_csv_integer(csv, row->across);
    write_place(csv, report->structure, row->carrier);
    pm_csv_text(csv, row->source == PM_NONE ? NULL : row->source_label);
    write_place(csv, report->structure, row->source);
    pm_csv_text(csv, row->destination_label);
    write_place(csv, report->structure, row->destination);
    pm_csv_text(csv, row->object);
    pm_csv_text(csv, pm_advice_word(row->advice));
    pm_csv_end_line(csv);
}

void pm_write_carried_csv(FILE *out, const struct pm_carried_report *report,
                          struct pm_carried_rows *const *rows) {
    struct pm_csv csv = {.out = out};
    char *parameters = pm_parameters_text(&report->profile->parameters);
    write_header(&csv);
    for (size_t m = 0; m < report->n_machines; m++)
        for (size_t r = 0; r < rows[m]->n_rows; r++)
            for (size_t l = 0; l < rows[m]->machine->n_levels; l++)
                if (rows[m]->rows[r].misses[l] > 0)
                    write_line(&csv, report, parameters, rows[m]->machine, &rows[m]->rows[r], l);
    free(parameters);
}
