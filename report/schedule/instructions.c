/* `pmodel loops --schedule` of one loop: its instructions by units, as a table of a static analyser
   shows them; below it bounds, causes and gains.

   A unit's column says for how many cycles of an iteration the instruction keeps it busy, on
   average over the simulation; CHAIN whether it is on the longest chain of an iteration (c) or on
   the recurrence that bounds iterations (r). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/schedule/private.h"

/* An instruction of the path: the nodes FIRST … END − 1 of the graph. */
struct line {
    const struct pm_schedules_report *report;
    const struct pm_path_detail *detail;
    uint32_t first, end;
};

static char *instruction_text(const struct line *line, const uint8_t **code, uint64_t *address,
                              size_t left) {
    const struct pm_structure *structure = line->report->structure;
    char text[128];
    unsigned length = *code && structure->isa ? pm_print_instruction(structure->isa, *code, left,
                                                                     *address, text, sizeof text)
                                              : 0;
    if (length == 0) {
        const char *mnemonic =
            pm_op_mnemonic(structure, &structure->ops[line->detail->graph->nodes[line->first].op]);
        *code = NULL;
        return pm_strdup(mnemonic ? mnemonic : "?");
    }
    *code += length;
    *address += length;
    return pm_strdup(text);
}

static void add_figure(struct pm_text_table *table, double figure) {
    char *text = figure > 0.004 ? pm_sprintf("%.2f", figure) : pm_strdup("");
    pm_text_table_cell(table, text);
    free(text);
}

static void add_line(struct pm_text_table *table, const struct line *line, uint64_t used,
                     const char *text) {
    const struct pm_dep_graph *graph = line->detail->graph;
    double latency = 0, slots = 0;
    bool on_cycle = false, on_chain = false, is_known = true;
    for (uint32_t i = line->first; i < line->end; i++) {
        latency += graph->nodes[i].latency_cycles;
        slots += graph->nodes[i].slots;
        on_cycle |= line->detail->on_cycle[i];
        on_chain |= line->detail->on_chain[i];
        is_known &= graph->nodes[i].is_known;
    }
    for (uint64_t left = used; left; left &= left - 1) {
        double cycles = 0;
        for (uint32_t i = line->first; i < line->end; i++)
            cycles += line->detail
                          ->unit_cycles[i * PM_MACHINE_MAX_UNITS + (unsigned)__builtin_ctzll(left)];
        add_figure(table, cycles);
    }
    if (is_known)
        add_figure(table, latency);
    else
        pm_text_table_cell(table, "?");
    add_figure(table, slots);
    pm_text_table_cell(table, on_cycle && on_chain ? "c r" : on_cycle ? "r" : on_chain ? "c" : "");
    pm_text_table_cell(table, text);
}

static void add_sums(struct pm_text_table *table, const struct pm_path_detail *detail,
                     uint64_t used) {
    for (uint64_t left = used; left; left &= left - 1) {
        double cycles = 0;
        for (size_t i = 0; i < detail->graph->n_nodes; i++)
            cycles +=
                detail->unit_cycles[i * PM_MACHINE_MAX_UNITS + (unsigned)__builtin_ctzll(left)];
        add_figure(table, cycles);
    }
    pm_text_table_cell(table, "");
    add_figure(table, detail->graph->slots);
    pm_text_table_cell(table, "");
    pm_text_table_cell(table, "in all");
}

static uint64_t units_used(const struct pm_dep_graph *graph) {
    uint64_t used = 0;
    for (size_t m = 0; m < graph->n_micros; m++)
        used |= graph->micros[m].units;
    return used;
}

void pm_report_instructions(FILE *out, const struct pm_schedules_report *report,
                            const struct pm_path_detail *detail,
                            const struct pm_report_options *options) {
    const struct pm_structure *structure = report->structure;
    const struct pm_path_step *steps = &report->schedules->steps[0];
    const struct pm_dep_graph *graph = detail->graph;
    struct pm_text_table *table = pm_text_table_new();
    uint64_t used = units_used(graph), address = 0;
    for (uint64_t left = used; left; left &= left - 1)
        pm_text_table_column(table, report->machine->units[__builtin_ctzll(left)].name,
                             PM_COLUMN_NUMBER);
    pm_text_table_column(table, "LATENCY", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "SLOTS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "CHAIN", PM_COLUMN_TEXT);
    pm_text_table_column(table, "INSTRUCTION", PM_COLUMN_TEXT);
    uint32_t step = PM_NONE;
    const uint8_t *code = NULL, *end = NULL;
    for (uint32_t i = 0; i < graph->n_nodes;) {
        struct line line = {report, detail, i, i + 1};
        while (line.end < graph->n_nodes && !graph->nodes[line.end].starts_instruction)
            line.end++;
        if (graph->nodes[i].step != step) {
            step = graph->nodes[i].step;
            const struct pm_block *block = &structure->blocks[steps[step].block];
            code = report->files ? pm_block_code(report->files, steps[step].block) : NULL;
            end = code ? code + block->size_bytes : NULL;
            address = block->address;
        }
        char *text = instruction_text(&line, &code, &address, (size_t)(code ? end - code : 0));
        add_line(table, &line, used, text);
        free(text);
        i = line.end;
    }
    add_sums(table, detail, used);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
}

/* ---- what holds it back ---------------------------------------------------------------------- */

static void write_holds(FILE *out, const struct pm_schedules_report *report,
                        const struct pm_path_schedule *schedule,
                        const struct pm_report_options *options) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "HELD BY", PM_COLUMN_TEXT);
    pm_text_table_column(table, "BOUND", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "CAUSES", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "GAIN", PM_COLUMN_NUMBER);
    for (unsigned h = 0; h < PM_N_HOLDS; h++) {
        char *name = h == PM_CAUSE_UNITS && schedule->bounds[h] > 0
                         ? pm_sprintf("%s (%s)", pm_cause_words(h),
                                      report->machine->units[schedule->unit].name)
                         : pm_strdup(pm_cause_words(h));
        pm_text_table_cell(table, name);
        free(name);
        add_figure(table, schedule->bounds[h]);
        add_figure(table, schedule->causes[h]);
        add_figure(table, schedule->gains[h]);
    }
    fputc('\n', out);
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
    fputc('\n', out);
    pm_print_line(out, options,
                  "An iteration takes %s%.2f cycles; N of them %.0f more for filling and draining. "
                  "Modulo schedule: %.0f.",
                  schedule->n_unknown_operations ? "at least " : "", schedule->cycles,
                  schedule->start_cycles, schedule->modulo_cycles);
    if (schedule->n_unknown_operations)
        pm_print_note(out, options,
                      "%u of %u operations have no row in the machine file, and count nothing",
                      schedule->n_unknown_operations, schedule->n_operations);
}

void pm_report_schedule(FILE *out, const struct pm_schedules_report *report,
                        const struct pm_path_detail *detail,
                        const struct pm_report_options *options) {
    if (options->format != PM_REPORT_TABLE) {
        pm_report_schedules(out, report, options);
        return;
    }
    const struct pm_loop_schedule *item = &report->schedules->items[0];
    char *label = pm_scope_label(report->structure, item->scope);
    char *source = pm_scope_source(report->structure, item->scope);
    pm_print_title(out, options, "%s (%s) on %s", label, source, report->machine->title);
    free(label);
    free(source);
    pm_report_instructions(out, report, detail, options);
    write_holds(out, report, &item->schedule, options);
}
