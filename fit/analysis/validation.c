/* From two profiles of one size, predicted and measured, to a table of pairs.

   Rows are those of `pmodel report` (analysis_rows.c): each scope's own figures, without inner
   loops, are in one row, so that rows add up to the program.  Misses are those of fully associative
   LRU caches.
 */
#include "fit/analysis/validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct comparing {
    struct pm_validation_table *table;
    const struct pm_structure *structure;
    size_t *row_of_scope;
};

/* ---- block sizes ----------------------------------------------------------------------------- */

uint64_t *pm_validation_block_sizes(const struct pm_profile *profile, const uint64_t *asked,
                                    size_t n_asked, const char *store, size_t *n,
                                    struct pm_error *err) {
    static const uint64_t usual[] = {64, 4096};
    size_t n_known = profile->n_block_sizes;
    for (size_t i = 0; i < n_asked; i++)
        if (!pm_profile_has_block_size(profile, asked[i])) {
            pm_fail(err,
                    "%s has no models for blocks of %llu bytes: measure with `pmodel run "
                    "--block` and call `pmodel fit`",
                    store, (unsigned long long)asked[i]);
            return NULL;
        }
    if (n_known == 0) {
        pm_fail(err,
                "%s was measured without reuse distances (--no-memory), so that there are only "
                "counts to compare: add --no-memory",
                store);
        return NULL;
    }
    uint64_t *chosen = pm_alloc(n_asked + n_known, sizeof *chosen);
    *n = 0;
    for (size_t i = 0; i < n_asked; i++)
        chosen[(*n)++] = asked[i];
    for (size_t i = 0; !n_asked && i < sizeof usual / sizeof usual[0]; i++)
        if (pm_profile_has_block_size(profile, usual[i]))
            chosen[(*n)++] = usual[i];
    for (size_t i = 0, none = *n == 0; none && i < n_known; i++)
        chosen[(*n)++] = profile->block_sizes[i];
    return chosen;
}

/* ---- columns --------------------------------------------------------------------------------- */

static void add_column(struct pm_validation_table *table, enum pm_quantity quantity,
                       uint64_t block_bytes, double cache_blocks, size_t machine) {
    struct pm_validation_column *column = PM_PUSH(table, columns);
    column->quantity = quantity;
    column->block_bytes = block_bytes;
    column->cache_blocks = cache_blocks;
    column->machine = machine;
    column->worst_row = PM_NONE;
}

static void make_columns(struct pm_validation_table *table,
                         const struct pm_validation_caches *caches, size_t n_machines) {
    add_column(table, PM_QUANTITY_EXECUTIONS, 0, 0, 0);
    add_column(table, PM_QUANTITY_ITERATIONS, 0, 0, 0);
    if (caches->n_block_sizes)
        add_column(table, PM_QUANTITY_ACCESSES, 0, 0, 0);
    for (size_t b = 0; b < caches->n_block_sizes; b++)
        for (size_t c = 0; c < caches->n_caches; c++)
            add_column(table, PM_QUANTITY_MISSES, caches->block_sizes[b], caches->cache_blocks[c],
                       0);
    for (size_t m = 0; m < n_machines; m++)
        add_column(table, PM_QUANTITY_SECONDS, 0, 0, m);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* What a profile is: the measured one, the predicted one, or that of the ends of the intervals. */
enum side { MEASURED, PREDICTED, LOW, HIGH };

static double *value_at(const struct comparing *comparing, size_t row, size_t column,
                        enum side side) {
    struct pm_pair *pair = &comparing->table->pairs[row * comparing->table->n_columns + column];
    return side == MEASURED    ? &pair->measured
           : side == PREDICTED ? &pair->predicted
           : side == LOW       ? &pair->low
                               : &pair->high;
}

/* To the row of SCOPE and to the program. */
static void add_value(const struct comparing *comparing, uint32_t scope, size_t column,
                      enum side side, double value) {
    *value_at(comparing, 0, column, side) += value;
    size_t row = comparing->row_of_scope[scope];
    if (row != 0)
        *value_at(comparing, row, column, side) += value;
}

/* A loop's header is executed once an iteration; a routine is entered once a call. */
static void add_iterations(const struct comparing *comparing, const double *edges,
                           const double *blocks, size_t column, enum side side) {
    const struct pm_structure *structure = comparing->structure;
    for (uint32_t s = 0; s < structure->n_scopes; s++)
        if (structure->scopes[s].kind == PM_SCOPE_LOOP && structure->scopes[s].header != PM_NONE)
            add_value(comparing, s, column, side, blocks[structure->scopes[s].header]);
    for (size_t e = 0; e < structure->n_edges; e++)
        if (structure->edges[e].kind == PM_EDGE_ENTRY)
            add_value(comparing, structure->routines[structure->edges[e].routine].scope, column,
                      side, edges[e]);
    *value_at(comparing, 0, column, side) = NAN; /* a sum over unlike things */
}

/* Loads and stores, by the executions of the references' basic blocks: unlike the touches of blocks
   in the histograms, they do not depend on where data lie. */
static void add_accesses(const struct comparing *comparing, const double *blocks, size_t column,
                         enum side side) {
    const struct pm_structure *structure = comparing->structure;
    for (size_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        if (reference->recorded)
            add_value(comparing, structure->groups[reference->group].scope, column, side,
                      pm_reference_accesses(reference) * blocks[reference->block]);
    }
}

static void add_counts(const struct comparing *comparing, const struct pm_profile *profile,
                       const double *blocks, enum side side) {
    const struct pm_structure *structure = comparing->structure;
    for (size_t c = 0; c < comparing->table->n_columns; c++) {
        enum pm_quantity quantity = comparing->table->columns[c].quantity;
        if (quantity == PM_QUANTITY_ITERATIONS)
            add_iterations(comparing, profile->edge_counts, blocks, c, side);
        if (quantity == PM_QUANTITY_ACCESSES)
            add_accesses(comparing, blocks, c, side);
        for (size_t b = 0; quantity == PM_QUANTITY_EXECUTIONS && b < structure->n_blocks; b++)
            add_value(comparing, structure->blocks[b].scope, c, side, blocks[b]);
    }
}

static void add_misses(const struct comparing *comparing, const struct pm_profile *profile,
                       enum side side) {
    for (size_t h = 0; h < profile->n_histograms; h++) {
        const struct pm_histogram *histogram = &profile->histograms[h].histogram;
        uint32_t scope = comparing->structure->groups[profile->histograms[h].group].scope;
        for (size_t c = 0; c < comparing->table->n_columns; c++) {
            const struct pm_validation_column *column = &comparing->table->columns[c];
            if (column->quantity == PM_QUANTITY_MISSES &&
                column->block_bytes == histogram->block_bytes)
                add_value(comparing, scope, c, side,
                          pm_fully_associative_misses(histogram, column->cache_blocks));
        }
    }
}

static void add_times(const struct comparing *comparing,
                      const struct pm_prediction *const *predictions, enum side side) {
    for (size_t c = 0; c < comparing->table->n_columns; c++) {
        const struct pm_validation_column *column = &comparing->table->columns[c];
        if (column->quantity != PM_QUANTITY_SECONDS)
            continue;
        const struct pm_prediction *prediction = predictions[column->machine];
        for (uint32_t s = 0; s < prediction->n_scopes; s++)
            add_value(comparing, s, c, side,
                      prediction->scopes[s].self.cycles / prediction->clock_hz);
        *value_at(comparing, 0, c, side) = prediction->seconds; /* to the bit, as reports have it */
    }
}

/* As add_times, with all models at one end of their intervals. */
static void add_times_at_end(const struct comparing *comparing,
                             const struct pm_prediction *const *predictions, enum side side) {
    for (size_t c = 0; c < comparing->table->n_columns; c++) {
        const struct pm_validation_column *column = &comparing->table->columns[c];
        if (column->quantity != PM_QUANTITY_SECONDS)
            continue;
        const struct pm_prediction *prediction = predictions[column->machine];
        for (uint32_t s = 0; s < prediction->n_scopes; s++) {
            const struct pm_cost_sum *self = &prediction->scopes[s].self;
            double change = side == LOW ? self->spread.low.cycles : self->spread.high.cycles;
            add_value(comparing, s, c, side, (self->cycles + change) / prediction->clock_hz);
        }
    }
}

/* The figures at one end of the intervals; NULL: there are none. */
static void add_end(const struct comparing *comparing, const struct pm_profile *end,
                    const struct pm_prediction *const *predictions, enum side side) {
    const struct pm_validation_table *table = comparing->table;
    if (!end) {
        for (size_t i = 0; i < table->n_rows; i++)
            for (size_t c = 0; c < table->n_columns; c++)
                *value_at(comparing, i, c, side) = NAN;
        return;
    }
    double *blocks = pm_block_executions(comparing->structure, end->edge_counts);
    add_counts(comparing, end, blocks, side);
    free(blocks);
    add_misses(comparing, end, side);
    add_times_at_end(comparing, predictions, side);
}

/* Where flow conservation or a scaled bin made an end cross the prediction. */
static void put_around_predictions(struct pm_validation_table *table) {
    for (size_t i = 0; i < table->n_rows * table->n_columns; i++) {
        struct pm_pair *pair = &table->pairs[i];
        if (isnan(pair->predicted) || isnan(pair->low) || isnan(pair->high))
            continue;
        pair->low = fmin(pair->low, pair->predicted);
        pair->high = fmax(pair->high, pair->predicted);
    }
}

/* Which basic blocks' executions the models give to the unit. */
static void compare_blocks(const struct comparing *comparing, const double *predicted,
                           const double *measured) {
    for (size_t b = 0; b < comparing->structure->n_blocks; b++) {
        bool executed = measured[b] > 0 || predicted[b] >= 0.5;
        comparing->table->n_blocks_executed += executed;
        comparing->table->n_blocks_exact += executed && fabs(predicted[b] - measured[b]) < 0.5;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_row(struct pm_validation_table *table, const struct pm_structure *structure,
                    uint32_t scope) {
    struct pm_validation_row *row = PM_PUSH(table, rows);
    row->place = (struct pm_row_place){structure, scope};
}

/* Every scope's own figures go to the row of the scope that it is shown under; those of modules and
   of the program itself, normally nothing, to the program's alone (row 0). */
static void make_rows(struct comparing *comparing) {
    const struct pm_structure *structure = comparing->structure;
    add_row(comparing->table, structure, 0);
    for (uint32_t s = 1; s < structure->n_scopes; s++) {
        uint8_t kind = structure->scopes[s].kind;
        if (pm_row_scope(structure, s) != s || (kind != PM_SCOPE_LOOP && kind != PM_SCOPE_ROUTINE))
            continue;
        comparing->row_of_scope[s] = comparing->table->n_rows;
        add_row(comparing->table, structure, s);
    }
    for (uint32_t s = 1; s < structure->n_scopes; s++)
        comparing->row_of_scope[s] = comparing->row_of_scope[pm_row_scope(structure, s)];
}

/* Row numbers by executions, the program first. */
struct row_order {
    double executions;
    size_t row;
};

static int compare_order(const void *left, const void *right) {
    const struct row_order *a = left, *b = right;
    if (a->executions != b->executions)
        return a->executions > b->executions ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Leaves out what neither ran nor was predicted to. */
static void sort_rows(struct pm_validation_table *table) {
    size_t n = table->n_rows, n_columns = table->n_columns, kept = 0;
    struct row_order *order = pm_alloc(n, sizeof *order);
    for (size_t r = 0; r < n; r++) {
        struct pm_pair executions = pm_validation_pair(table, r, 0);
        order[r].row = r;
        order[r].executions = r ? fmax(executions.predicted, executions.measured) : INFINITY;
    }
    qsort(order, n, sizeof *order, compare_order);
    struct pm_validation_row *rows = pm_alloc(n, sizeof *rows);
    struct pm_pair *pairs = pm_alloc(n * n_columns, sizeof *pairs);
    for (size_t r = 0; r < n; r++) {
        if (order[r].executions <= 0)
            continue;
        rows[kept] = table->rows[order[r].row];
        memcpy(pairs + kept * n_columns, table->pairs + order[r].row * n_columns,
               n_columns * sizeof *pairs);
        kept++;
    }
    free(order);
    free(table->rows);
    free(table->pairs);
    table->rows = rows;
    table->pairs = pairs;
    table->n_rows = kept;
}

/* ---- errors ---------------------------------------------------------------------------------- */

double pm_pair_error(struct pm_pair pair) {
    if (isnan(pair.predicted) || isnan(pair.measured))
        return NAN;
    if (pair.predicted == pair.measured)
        return 0;
    return pair.measured == 0 ? INFINITY : (pair.predicted - pair.measured) / pair.measured;
}

struct pm_errors pm_summarise_errors(double *errors, size_t n) {
    if (n == 0)
        return (struct pm_errors){0, NAN, NAN};
    qsort(errors, n, sizeof *errors, pm_compare_doubles);
    double median = n % 2 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
    return (struct pm_errors){n, median, errors[n - 1]};
}

struct pm_pair pm_validation_pair(const struct pm_validation_table *table, size_t row,
                                  size_t column) {
    return table->pairs[row * table->n_columns + column];
}

/* Iterations of different loops have no common whole: there the share of the executions decides. */
bool pm_validation_is_large(const struct pm_validation_table *table, size_t row, size_t column) {
    if (table->columns[column].quantity == PM_QUANTITY_ITERATIONS)
        column = 0;
    struct pm_pair pair = pm_validation_pair(table, row, column);
    double whole = pm_validation_pair(table, 0, column).measured;
    return row > 0 && whole > 0 &&
           fmax(pair.predicted, pair.measured) >= table->least_share * whole;
}

static struct pm_errors errors_of(const struct pm_validation_table *table,
                                  enum pm_quantity quantity, uint64_t block_bytes, bool of_rows) {
    double *errors = pm_alloc(table->n_rows * table->n_columns, sizeof *errors);
    size_t n = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct pm_validation_column *column = &table->columns[c];
        if (column->quantity != quantity || (block_bytes && column->block_bytes != block_bytes))
            continue;
        for (size_t r = of_rows; r < (of_rows ? table->n_rows : 1); r++) {
            double error = fabs(pm_pair_error(pm_validation_pair(table, r, c)));
            if (!isnan(error) && (r == 0 || pm_validation_is_large(table, r, c)))
                errors[n++] = error;
        }
    }
    struct pm_errors summary = pm_summarise_errors(errors, n);
    free(errors);
    return summary;
}

struct pm_errors pm_validation_program_errors(const struct pm_validation_table *table,
                                              enum pm_quantity quantity, uint64_t block_bytes) {
    return errors_of(table, quantity, block_bytes, false);
}

struct pm_errors pm_validation_loop_errors(const struct pm_validation_table *table,
                                           enum pm_quantity quantity, uint64_t block_bytes) {
    return errors_of(table, quantity, block_bytes, true);
}

struct pm_errors pm_validation_row_errors(const struct pm_validation_table *table, size_t row,
                                          enum pm_quantity quantity, uint64_t block_bytes,
                                          size_t *worst) {
    double *errors = pm_alloc(table->n_columns, sizeof *errors), largest = NAN;
    size_t n = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        const struct pm_validation_column *column = &table->columns[c];
        if (column->quantity != quantity || (block_bytes && column->block_bytes != block_bytes) ||
            !pm_validation_is_large(table, row, c))
            continue;
        errors[n] = fabs(pm_pair_error(pm_validation_pair(table, row, c)));
        if (n == 0 || errors[n] > largest) {
            largest = errors[n];
            *worst = c;
        }
        n++;
    }
    struct pm_errors summary = pm_summarise_errors(errors, n);
    free(errors);
    return summary;
}

static void summarise_column(struct pm_validation_table *table, size_t c) {
    struct pm_validation_column *column = &table->columns[c];
    double *errors = pm_alloc(table->n_rows, sizeof *errors), worst = -1;
    size_t n = 0;
    for (size_t r = 1; r < table->n_rows; r++) {
        if (!pm_validation_is_large(table, r, c))
            continue;
        errors[n] = fabs(pm_pair_error(pm_validation_pair(table, r, c)));
        if (errors[n] > worst) {
            worst = errors[n];
            column->worst_row = (uint32_t)r;
        }
        n++;
    }
    column->loops = pm_summarise_errors(errors, n);
    free(errors);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct pm_validation_table *pm_validation_table_new(const struct pm_structure *structure,
                                                    const struct pm_validation_caches *caches,
                                                    const struct pm_validation *validation,
                                                    double least_share) {
    struct pm_validation_table *table = pm_alloc(1, sizeof *table);
    struct comparing comparing = {.table = table, .structure = structure};
    comparing.row_of_scope = pm_alloc(structure->n_scopes, sizeof *comparing.row_of_scope);
    table->least_share = least_share;
    make_columns(table, caches, validation->n_machines);
    make_rows(&comparing);
    table->pairs = pm_alloc(table->n_rows * table->n_columns, sizeof *table->pairs);

    double *predicted = pm_block_executions(structure, validation->predicted->edge_counts);
    double *measured = pm_block_executions(structure, validation->measured->edge_counts);
    add_counts(&comparing, validation->predicted, predicted, PREDICTED);
    add_counts(&comparing, validation->measured, measured, MEASURED);
    compare_blocks(&comparing, predicted, measured);
    free(predicted);
    free(measured);
    add_misses(&comparing, validation->predicted, PREDICTED);
    add_misses(&comparing, validation->measured, MEASURED);
    add_times(&comparing, validation->predicted_times, PREDICTED);
    add_times(&comparing, validation->measured_times, MEASURED);
    add_end(&comparing, validation->low, validation->predicted_times, LOW);
    add_end(&comparing, validation->high, validation->predicted_times, HIGH);
    put_around_predictions(table);
    free(comparing.row_of_scope);
    sort_rows(table);
    for (size_t c = 0; c < table->n_columns; c++)
        summarise_column(table, c);
    return table;
}

void pm_validation_table_free(struct pm_validation_table *table) {
    free(table->rows);
    free(table->columns);
    free(table->pairs);
    free(table);
}
