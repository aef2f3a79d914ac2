/* `pmodel loops` for people: what was found in the file, then routines with their loops.  Needs the
   rows of loops.c. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/loops/loops.h"
#include "report/loops/mix.h"
#include "report/labels/labels.h"
#include "report/writers/writers.h"

/* ---- the header ----------------------------------------------------------------------------- */

static void print_line(FILE *out, char *text, const struct pm_report_options *options) {
    pm_print_wrapped(out, "  ", "    ", text, options->width);
    free(text);
}

static void print_coverage(FILE *out, const struct pm_loops_report *report,
                           const struct pm_report_options *options) {
    const struct pm_loops_totals *totals = &report->rows->totals;
    const struct pm_lift_statistics *statistics = report->statistics;
    print_line(out,
               pm_sprintf("routines: %" PRIu32 " lifted, %" PRIu32 " partial, %" PRIu32
                          " refused; loops: %" PRIu32,
                          totals->n_lifted, totals->n_partial, totals->n_refused, totals->n_loops),
               options);
    double covered =
        totals->text_bytes ? (double)totals->lifted_bytes / (double)totals->text_bytes : NAN;
    print_line(out,
               pm_sprintf("text: %" PRIu64 " bytes, %s%% covered by lifted routines",
                          totals->text_bytes, pm_percent_text(covered).text),
               options);
    if (!statistics)
        return;
    size_t n_unknowns;
    struct pm_mix_unknown *unknowns = pm_unknowns_of(report->structure, &n_unknowns);
    char *names = pm_unknowns_label(unknowns, n_unknowns);
    print_line(out,
               pm_sprintf("instructions: %" PRIu64 ", of these %" PRIu64
                          " without a generic class%s%s%s; indirect jumps: %" PRIu32 " of %" PRIu32
                          " resolved",
                          statistics->n_instructions, statistics->n_unknown_instructions,
                          *names ? " (" : "", names, *names ? ")" : "",
                          statistics->n_resolved_jumps, statistics->n_indirect_jumps),
               options);
    free(names);
    free(unknowns);
}

/* What the compiler would have told. */
static void print_missing(FILE *out, const struct pm_loops_report *report,
                          const struct pm_report_options *options) {
    const struct pm_loops_totals *totals = &report->rows->totals;
    if (!totals->has_metadata)
        print_line(out,
                   pm_strdup("no compiler metadata (.pmodel): names of objects, trip counts, most "
                             "strides and the compiler's loops are missing, loops come from the "
                             "code alone; compile and link with $(pmodel flags) to have them"),
                   options);
    else
        print_line(out,
                   pm_sprintf("compiler metadata (.pmodel): %" PRIu32 " of %" PRIu32 " routines",
                              totals->n_with_metadata, totals->n_routines),
                   options);
    if (report->statistics && report->statistics->debug_note)
        print_line(out, pm_strdup(report->statistics->debug_note), options);
    else if (!totals->has_lines)
        print_line(out,
                   pm_strdup("no debug information (DWARF): source files, lines and inlined code "
                             "are missing; compile with -g to have them"),
                   options);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static struct pm_text_table *new_table(void) {
    struct pm_text_table *table = pm_text_table_new();
    pm_text_table_column(table, "ROUTINE / LOOP", PM_COLUMN_NAME);
    pm_text_table_column(table, "SOURCE", PM_COLUMN_NAME);
    pm_text_table_column(table, "BLOCKS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "EDGES", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "FORMULA", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "COUNTERS", PM_COLUMN_NUMBER);
    pm_text_table_column(table, "TRIPS", PM_COLUMN_TEXT);
    pm_text_table_column(table, "REMARKS", PM_COLUMN_TEXT);
    return table;
}

static void add_row(struct pm_text_table *table, const struct pm_loops_report *report,
                    const struct pm_loop_row *row) {
    char *label = pm_sprintf("%*s%s", (int)(2 * row->indent), "", row->label);
    bool is_loop = report->structure->scopes[row->scope].kind == PM_SCOPE_LOOP;
    const struct pm_routine *routine = row->routine;
    pm_text_table_cell(table, label);
    pm_text_table_cell(table, row->source);
    pm_text_table_number(table, row->n_blocks);
    if (routine && routine->state != PM_ROUTINE_REFUSED) {
        pm_text_table_number(table, routine->n_edges);
        pm_text_table_number(table, routine->n_counters_formula);
        pm_text_table_number(table, routine->n_counters);
    } else {
        for (int i = 0; i < 3; i++)
            pm_text_table_cell(table, routine ? "?" : NULL);
    }
    pm_text_table_cell(table, row->trip_count ? row->trip_count : is_loop ? "?" : NULL);
    pm_text_table_cell(table, row->remarks);
    free(label);
}

/* "group 3: u (double), 6 loads, 1 store, 8 bytes, strides 8, 8*N [irregular]" */
static void add_group(struct pm_text_table *table, const struct pm_structure *structure,
                      uint32_t index, unsigned indent) {
    const struct pm_group *group = &structure->groups[index];
    char *strides = pm_strides_label(group), *flags = pm_group_flags_label(group);
    char *bytes = group->bytes_min == group->bytes_max
                      ? pm_sprintf("%" PRIu32, group->bytes_min)
                      : pm_sprintf("%" PRIu32 " to %" PRIu32, group->bytes_min, group->bytes_max);
    char *line = pm_sprintf("%*sgroup %" PRIu32 ": %s (%s), loads %" PRIu32 ", stores %" PRIu32
                            ", %s bytes each; strides: %s%s%s%s",
                            (int)(2 * indent + 2), "", index, group->object ? group->object : "?",
                            group->object_type ? group->object_type : "?", group->n_loads,
                            group->n_stores, bytes, *strides ? strides : "none", *flags ? " [" : "",
                            flags, *flags ? "]" : "");
    pm_text_table_line(table, line);
    free(line);
    free(bytes);
    free(strides);
    free(flags);
}

static void print_totals(FILE *out, const struct pm_loops_totals *totals) {
    fprintf(out,
            "total: %" PRIu32 " basic blocks, %" PRIu32 " edges, %" PRIu32
            " counters (formula E - V + 2: %" PRIu32 "), %" PRIu32 " references in %" PRIu32
            " groups\n",
            totals->n_blocks, totals->n_edges, totals->n_counters, totals->n_counters_formula,
            totals->n_references, totals->n_groups);
}

void pm_write_loops_table(FILE *out, const struct pm_loops_report *report,
                          const struct pm_report_options *options) {
    const struct pm_structure *structure = report->structure;
    char *title =
        pm_sprintf("%s (%s)", pm_program_name(structure), structure->isa ? structure->isa : "?");
    pm_print_bold(out, title, options->color);
    free(title);
    print_coverage(out, report, options);
    print_missing(out, report, options);
    fputc('\n', out);
    if (!report->rows->n_rows) {
        char *nothing = report->routine ? pm_sprintf("no routine is called %s", report->routine)
                                        : pm_strdup("no routines");
        print_line(out, nothing, options);
        return;
    }
    struct pm_text_table *table = new_table();
    for (size_t i = 0; i < report->rows->n_rows; i++) {
        const struct pm_loop_row *row = &report->rows->rows[i];
        add_row(table, report, row);
        for (uint32_t j = 0; report->with_groups && j < row->n_groups; j++)
            add_group(table, structure, report->rows->groups[row->first_group + j], row->indent);
    }
    pm_text_table_print(out, table, options->width, options->color);
    pm_text_table_free(table);
    print_totals(out, &report->rows->totals);
}
