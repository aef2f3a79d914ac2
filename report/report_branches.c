/* `pmodel show --as branches`: the conditional branches of a run, most mispredictions first.

   JSON: {"format": "pmodel-branches", "version": 1, program, parameters, "branches": [a branch
   each]}. Shares are fractions of 1.  Trips are of a loop that the branch is the only way out of,
   each range of them with entries and iterations; unknown of other branches. */
#include <math.h>
#include <stdlib.h>

#include "report/labels/labels.h"
#include "report/report.h"
#include "report/writers/writers.h"

struct branch_row {
    struct pm_row_place place;
    char *label, *source; /* owned */
    uint64_t address;     /* of the basic block that it ends */
    double executions, mispredictions;
    double taken, analysed, wrong[PM_N_PREDICTORS]; /* shares of the executions */
    double share;                                   /* of all mispredictions */
    const struct pm_measured_trips *trips;
    size_t n_trips;
    struct pm_trips_summary summary;
};

struct trips_range {
    double trips, entries, iterations; /* TRIPS: of an entry, on average */
};

#define ROW(member_) PM_MEMBER(struct branch_row, member_)
#define PLACE(get_) PM_PLACE(struct branch_row, place, get_)

static json_t *trips_json(const struct branch_row *row) {
    static const struct pm_field range_fields[] = {
        {"trips", PM_NUMBER, PM_MEMBER(struct trips_range, trips)},
        {"entries", PM_NUMBER, PM_MEMBER(struct trips_range, entries)},
        {"iterations", PM_NUMBER, PM_MEMBER(struct trips_range, iterations)},
    };
    json_t *array = json_array();
    for (size_t i = 0; i < row->n_trips; i++) {
        const struct pm_measured_trips *from = &row->trips[i];
        const struct trips_range range = {from->iterations / from->entries, from->entries,
                                          from->iterations};
        json_array_append_new(array, PM_JSON_OBJECT(range_fields, &range));
    }
    return array;
}

PM_GETTER(get_trips, struct branch_row,
          row->n_trips ? pm_json_value(trips_json(row)) : pm_unknown())
PM_GETTER(trips_cell, struct branch_row,
          row->n_trips == 0 ? pm_text("")
          : row->n_trips == 1
              ? pm_copied_text(pm_count_text(row->summary.mean).text)
              : pm_owned_text(pm_sprintf("%s to %s", pm_count_text(row->summary.shortest).text,
                                         pm_count_text(row->summary.longest).text)))

static const struct pm_field fields[] = {
    {"label", PM_NAME, ROW(label), .header = "BRANCH IN"},
    {"file", PM_TEXT, PLACE(file)},
    {"source", PM_NAME, ROW(source), .header = "SOURCE"},
    {"key", PM_HEX, PLACE(key)},
    {"address", PM_HEX, ROW(address)},
    {"executions", PM_COUNT, ROW(executions), .header = "EXECUTED"},
    {"taken_share", PM_PERCENT, ROW(taken), .header = "TAKEN %"},
    {"analysed_share", PM_PERCENT, ROW(analysed)},
    {"mispredictions", PM_COUNT, ROW(mispredictions), .header = "MISPREDICTED"},
    {"wrong_tage_share", PM_PERCENT, ROW(wrong[PM_PREDICTOR_TAGE]), .header = "WRONG %"},
    {"wrong_gshare_share", PM_PERCENT, ROW(wrong[PM_PREDICTOR_GSHARE]), .header = "GSHARE %",
     .dispensable = 3},
    {"wrong_bimodal_share", PM_PERCENT, ROW(wrong[PM_PREDICTOR_BIMODAL]), .header = "BIMODAL %",
     .dispensable = 4},
    {"trips_mean", PM_NUMBER, ROW(summary.mean)},
    {"trips_shortest", PM_NUMBER, ROW(summary.shortest), .header = "TRIPS", .cell = trips_cell,
     .dispensable = 2},
    {"trips_longest", PM_NUMBER, ROW(summary.longest)},
    {"trips", PM_JSON_ONLY, .get = get_trips},
};

/* Unknown ones last. */
static int by_mispredictions(const void *left, const void *right) {
    const struct branch_row *a = left, *b = right;
    double of_a = isnan(a->mispredictions) ? -1 : a->mispredictions;
    double of_b = isnan(b->mispredictions) ? -1 : b->mispredictions;
    return of_a != of_b ? PM_COMPARE(of_b, of_a) : PM_COMPARE(a->address, b->address);
}

static char *source_of(const struct pm_structure *structure, const struct pm_block *block) {
    const char *file = structure->scopes[block->scope].file;
    return file && block->line ? pm_sprintf("%s:%u", pm_base_name(file), block->line)
                               : pm_scope_source(structure, block->scope);
}

static struct branch_row row_of(const struct pm_structure *structure,
                                const struct pm_behaviour *behaviour,
                                const struct pm_measured_branch *branch) {
    const struct pm_block *block = &structure->blocks[branch->block];
    struct branch_row row = {.place = {structure, block->scope},
                             .label = pm_scope_label(structure, block->scope),
                             .source = source_of(structure, block),
                             .address = block->address,
                             .executions = branch->executions,
                             .taken = branch->taken / branch->executions,
                             .analysed = branch->analysed / branch->executions};
    for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
        row.wrong[p] = branch->analysed > 0 ? branch->wrong[p] / branch->analysed : NAN;
    row.trips = pm_behaviour_trips(behaviour, branch->block, &row.n_trips);
    row.summary = pm_trips_summary(row.trips, row.n_trips);
    row.mispredictions = pm_branch_mispredictions(branch, PM_PREDICTOR_TAGE);
    return row;
}

static void write_table(FILE *out, const struct branch_row *rows, size_t n, double executions,
                        double mispredictions, const struct pm_structure *structure,
                        const struct pm_parameters *at, const struct pm_report_options *options) {
    char *size = pm_parameters_text(at);
    pm_print_title(out, options, "%s%s%s: %s branches executed, %s mispredicted",
                   pm_program_name(structure), *size ? "  " : "", size,
                   pm_count_text(executions).text, pm_count_text(mispredictions).text);
    free(size);
    struct pm_table_rows table = pm_table_begin(pm_fields_named(
        PM_FIELDS(fields), "label source executions taken_share mispredictions "
                           "wrong_tage_share wrong_gshare_share wrong_bimodal_share "
                           "trips_shortest"));
    size_t n_more = 0;
    for (size_t i = 0; i < n; i++)
        if (100 * rows[i].share >= options->min_percent)
            pm_table_row(&table, &rows[i]);
        else
            n_more++;
    pm_table_end(out, &table, NULL, options);
    if (n_more)
        pm_print_line(out, options, "%zu more with less than %g%% of the mispredictions each",
                      n_more, options->min_percent);
    pm_print_note(out, options,
                  "WRONG: by a TAGE predictor of usual size; mispredictions are those of all "
                  "executions, at the share of those that were analysed; TRIPS: iterations of an "
                  "entry of the loop that the branch alone leaves");
}

void pm_report_branches(FILE *out, const struct pm_structure *structure,
                        const struct pm_parameters *at, const struct pm_behaviour *behaviour,
                        const struct pm_report_options *options) {
    size_t n = behaviour->n_branches;
    struct branch_row *rows = pm_alloc(n + 1, sizeof *rows);
    double executions = 0, mispredictions = 0;
    for (size_t i = 0; i < n; i++) {
        rows[i] = row_of(structure, behaviour, &behaviour->branches[i]);
        executions += rows[i].executions;
        mispredictions += isnan(rows[i].mispredictions) ? 0 : rows[i].mispredictions;
    }
    for (size_t i = 0; i < n; i++)
        rows[i].share = mispredictions > 0 && !isnan(rows[i].mispredictions)
                            ? rows[i].mispredictions / mispredictions
                            : 0;
    PM_SORT(rows, n, by_mispredictions);
    if (options->format == PM_REPORT_TABLE) {
        write_table(out, rows, n, executions, mispredictions, structure, at, options);
    } else if (options->format == PM_REPORT_CSV) {
        pm_fields_csv(out, PM_FIELDS(fields),
                      "label file source key address executions taken_share analysed_share "
                      "mispredictions wrong_tage_share wrong_gshare_share wrong_bimodal_share "
                      "trips_mean trips_shortest trips_longest",
                      rows, n, sizeof *rows);
    } else {
        json_t *document = pm_program_document("branches", structure);
        json_object_set_new(document, "parameters", pm_json_parameters(at));
        json_object_set_new(document, "branches",
                            pm_fields_array(PM_FIELDS(fields), rows, n, sizeof *rows));
        pm_json_print(out, document);
    }
    for (size_t i = 0; i < n; i++) {
        free(rows[i].label);
        free(rows[i].source);
    }
    free(rows);
}
