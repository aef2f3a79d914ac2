/* From the cost of every scope to the rows of a report.

   Needs a prediction whose scopes are those of the structure.  Every scope's own cost (`self`) goes
   to exactly one row, so that rows add up to the whole:
     - a loop's to its own row, or to that of the loop it is folded into (Marin & Mellor-Crummey
       2004, section 2.3.1: loops of one parent with overlapping source lines are one loop of the
       source program that the compiler distributed, pipelined or peeled);
     - inlined code's to the row of the loop or routine that contains it; a loop in inlined code has
       a row of its own;
     - a routine's to its own row;
     - that of modules and of the program, normally nothing, to a row for each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/predictions/rows.h"
#include "report/labels/labels.h"

/* From this share of unknown operations or unrecorded accesses on a figure is marked. */
static const double unknown_share_marked = 0.01;

#define COST_FIELD(name)                                                                           \
    { #name, PM_NUMBER, PM_MEMBER(struct pm_cost_sum, name) }
const struct pm_field pm_cost_fields[] = {
    COST_FIELD(cycles),          COST_FIELD(schedule_cycles), COST_FIELD(memory_cycles),
    COST_FIELD(mispredictions),  COST_FIELD(lower_cycles),    COST_FIELD(upper_cycles),
    COST_FIELD(fallback_cycles), COST_FIELD(operations),      COST_FIELD(unknown_operations),
    COST_FIELD(instructions),    COST_FIELD(accesses),        COST_FIELD(unrecorded_accesses),
};
const size_t pm_n_cost_fields = sizeof pm_cost_fields / sizeof pm_cost_fields[0];

static double *cost_at(struct pm_cost_sum *cost, size_t i) {
    return (double *)(void *)((char *)cost + pm_cost_fields[i].offset);
}

/* ---- which row a scope belongs to ----------------------------------------------------------- */

static bool scope_is_counted(const struct pm_structure *structure, uint32_t scope) {
    uint8_t kind = structure->scopes[scope].kind;
    return kind == PM_SCOPE_PROGRAM || kind == PM_SCOPE_MODULE ||
           pm_scope_is_counted(structure, scope);
}

/* Adds a row for each scope that has one; modules and the program have one only if they cost
   something. */
static void make_rows(struct pm_rows *rows, const struct pm_structure *structure,
                      const struct pm_prediction *prediction) {
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++) {
        rows->row_of_scope[scope] = PM_NONE;
        uint8_t kind = structure->scopes[scope].kind;
        bool costs = prediction->scopes[scope].self.cycles != 0;
        if (pm_row_scope(structure, scope) != scope ||
            (kind != PM_SCOPE_LOOP && kind != PM_SCOPE_ROUTINE && !costs))
            continue;
        rows->row_of_scope[scope] = (uint32_t)rows->n_rows;
        struct pm_row *row = PM_PUSH(rows, rows);
        row->place = (struct pm_row_place){structure, scope};
        row->prediction = prediction;
        row->counted = scope_is_counted(structure, scope);
    }
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++)
        rows->row_of_scope[scope] = rows->row_of_scope[pm_row_scope(structure, scope)];
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Widens the row's lines by those of SCOPE, if it is in the same file. */
static void add_lines(struct pm_row *row, const struct pm_structure *structure, uint32_t scope) {
    const struct pm_scope *own = &structure->scopes[row->place.scope],
                          *s = &structure->scopes[scope];
    bool same_file = s->file && own->file && strcmp(s->file, own->file) == 0;
    if (scope != row->place.scope && !same_file)
        return;
    if (s->line_first && (!row->line_first || s->line_first < row->line_first))
        row->line_first = s->line_first;
    if (s->line_last > row->line_last)
        row->line_last = s->line_last;
}

static void add_scope(struct pm_row *row, const struct pm_structure *structure,
                      const struct pm_prediction *prediction, uint32_t scope) {
    const struct pm_scope_prediction *p = &prediction->scopes[scope];
    pm_cost_sum_add(&row->self, &p->self);
    if (structure->scopes[scope].kind == PM_SCOPE_INLINED)
        return; /* part of the total of what contains it */
    row->n_folded++;
    pm_cost_sum_add(&row->total, &p->total);
    row->entries += p->entries;
    row->iterations += p->iterations;
    row->resource_cycles_per_iteration += p->iterations * p->resource_cycles_per_iteration;
    row->recurrence_cycles_per_iteration += p->iterations * p->recurrence_cycles_per_iteration;
    for (int c = 0; c < PM_N_CAUSES; c++)
        row->gains[c] += p->gains[c];
    add_lines(row, structure, scope);
}

static void sum_scopes(struct pm_rows *rows, const struct pm_structure *structure,
                       const struct pm_prediction *prediction) {
    double *most_cycles = pm_alloc(rows->n_rows, sizeof *most_cycles);
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++) {
        if (rows->row_of_scope[scope] == PM_NONE)
            continue;
        struct pm_row *row = &rows->rows[rows->row_of_scope[scope]];
        const struct pm_scope_prediction *p = &prediction->scopes[scope];
        add_scope(row, structure, prediction, scope);
        row->n_members++;
        double *most = &most_cycles[rows->row_of_scope[scope]];
        if (row->bound == PM_BOUND_NONE || p->self.cycles > *most) {
            *most = p->self.cycles;
            row->bound = p->bound;
            row->bound_unit = p->bound_unit;
            row->bound_level = p->bound_level;
        }
    }
    free(most_cycles);
}

static bool misses_operations(const struct pm_cost_sum *cost) {
    return cost->unknown_operations > 0 &&
           cost->unknown_operations >= unknown_share_marked * cost->operations;
}

static bool misses_accesses(const struct pm_cost_sum *cost) {
    return cost->unrecorded_accesses > 0 &&
           cost->unrecorded_accesses >=
               unknown_share_marked * (cost->accesses + cost->unrecorded_accesses);
}

/* What misses of its accesses cost is not in the time. */
static bool lacks_misses(const struct pm_prediction *prediction, const struct pm_cost_sum *cost) {
    return prediction->without_memory && cost->unrecorded_accesses > 0;
}

/* What is not counted costs something, but nobody knows what. */
static void forget_costs(struct pm_row *row) {
    for (size_t i = 0; i < pm_n_cost_fields; i++)
        *cost_at(&row->self, i) = *cost_at(&row->total, i) = NAN;
    for (int c = 0; c < PM_N_CAUSES; c++)
        row->self.causes[c] = row->total.causes[c] = NAN;
    for (size_t level = 0; level < PM_MAX_LEVELS; level++) {
        row->self.level_misses[level] = row->self.level_cycles[level] = NAN;
        row->total.level_misses[level] = row->total.level_cycles[level] = NAN;
        row->self.level_write_backs[level] = row->total.level_write_backs[level] = NAN;
    }
}

/* What follows from the sums.  0 iterations of code that ran means that they are not known. */
static void derive(struct pm_row *row, const struct pm_structure *structure,
                   const struct pm_prediction *prediction) {
    const struct pm_cost_sum *self = &row->self;
    row->executed =
        self->cycles > 0 || self->instructions > 0 || row->iterations > 0 || row->entries > 0;
    row->seconds = row->counted ? self->cycles / prediction->clock_hz : NAN;
    row->total_seconds = row->counted ? row->total.cycles / prediction->clock_hz : NAN;
    row->lower_seconds = row->counted ? self->lower_cycles / prediction->clock_hz : NAN;
    row->upper_seconds = row->counted ? self->upper_cycles / prediction->clock_hz : NAN;
    row->share = prediction->seconds > 0 ? row->seconds / prediction->seconds : NAN;
    row->total_share = prediction->seconds > 0 ? row->total_seconds / prediction->seconds : NAN;
    if (!row->counted || (row->executed && row->iterations == 0))
        row->iterations = NAN;
    if (!row->counted || (row->executed && row->entries == 0))
        row->entries = NAN;
    row->resource_cycles_per_iteration /= row->iterations; /* 0/0 is NAN: never executed */
    row->recurrence_cycles_per_iteration /= row->iterations;
    row->cycles_per_iteration = self->cycles / row->iterations;
    row->instructions_per_iteration = self->instructions / row->iterations;
    bool no_access_recorded = self->accesses == 0 && self->unrecorded_accesses > 0;
    for (size_t level = 0; level < prediction->n_levels; level++) {
        double misses = no_access_recorded ? NAN : self->level_misses[level];
        row->misses_per_iteration[level] = misses / row->iterations;
        row->misses_per_kilo_instruction[level] = 1000 * misses / self->instructions;
    }
    row->lacks_operations = misses_operations(self);
    row->time_is_lower_bound = row->lacks_operations || lacks_misses(prediction, self);
    row->misses_are_lower_bound = misses_accesses(self);
    row->label = row->n_folded > 1 ? pm_scope_label_folded(structure, row->place.scope)
                                   : pm_scope_label(structure, row->place.scope);
    row->source = pm_scope_source(structure, row->place.scope);
    row->bound_label =
        row->counted ? pm_bound_label(prediction, row->bound, row->bound_unit, row->bound_level)
                     : NULL;
    if (!row->counted)
        forget_costs(row);
}

/* Of the rows that a table has. */
static void tell_rows_apart(struct pm_rows *rows, const struct pm_structure *structure) {
    struct pm_shown_label *labels = pm_alloc(rows->n_rows, sizeof *labels);
    size_t n = 0;
    for (size_t i = 0; i < rows->n_rows; i++)
        if (rows->rows[i].counted && rows->rows[i].executed)
            labels[n++] = (struct pm_shown_label){&rows->rows[i].label, rows->rows[i].place.scope};
    pm_tell_labels_apart(structure, labels, n);
    free(labels);
}

/* ---- measured times ------------------------------------------------------------------------- */

/* A scope's own time is in the row of the scope with its timer: itself, or else the nearest scope
   around it with a timer. */
static void add_times(struct pm_rows *rows, const struct pm_structure *structure,
                      const struct pm_prediction *prediction, const struct pm_times *times) {
    rows->times = times;
    rows->measured_seconds = NAN;
    for (size_t i = 0; i < rows->n_rows; i++) {
        rows->rows[i].measured_seconds = NAN;
        rows->rows[i].measured_in = PM_NONE;
        rows->rows[i].timed = times != NULL;
    }
    if (!times)
        return;
    rows->measured_seconds = times->outside_seconds;
    for (size_t i = 0; i < times->n_scopes; i++) {
        uint32_t at = rows->row_of_scope[times->scopes[i].scope];
        rows->measured_seconds += times->scopes[i].seconds;
        if (at == PM_NONE)
            continue; /* of a damaged structure */
        double *seconds = &rows->rows[at].measured_seconds;
        *seconds = (isnan(*seconds) ? 0 : *seconds) + times->scopes[i].seconds;
    }
    uint32_t *owners = pm_times_owners(times, structure);
    for (uint32_t scope = 0; scope < structure->n_scopes; scope++) {
        uint32_t row = rows->row_of_scope[scope], owner = owners[scope];
        uint32_t holder = owner == PM_NONE ? PM_NONE : rows->row_of_scope[owner];
        if (holder == PM_NONE || row == PM_NONE || holder == row ||
            prediction->scopes[scope].self.instructions == 0)
            continue;
        rows->rows[row].measured_in = owner;
        rows->rows[holder].measured_with_inner = true;
    }
    free(owners);
}

/* ---- lower bounds ---------------------------------------------------------------------------- */

/* A bound is of all loops of its nest: it stands in the outermost one's row, which others name. */
static void add_bounds(struct pm_rows *rows, const struct pm_structure *structure,
                       const struct pm_bounds *bounds) {
    rows->bounds = bounds;
    for (size_t i = 0; i < rows->n_rows; i++) {
        rows->rows[i].lower_bound_seconds = NAN;
        rows->rows[i].lower_bound_in = PM_NONE;
        rows->rows[i].has_bounds = bounds != NULL;
    }
    for (size_t i = 0; bounds && i < bounds->n_nests; i++) {
        const struct pm_nest_bound *nest = &bounds->nests[i];
        double seconds = pm_nest_bound_of_original(nest);
        uint32_t at = rows->row_of_scope[nest->scope];
        if (at == PM_NONE || isnan(seconds))
            continue;
        double *sum = &rows->rows[at].lower_bound_seconds;
        *sum = (isnan(*sum) ? 0 : *sum) + seconds;
        for (uint32_t scope = nest->scope + 1; scope < structure->n_scopes; scope++) {
            uint32_t row = rows->row_of_scope[scope];
            if (structure->scopes[scope].kind == PM_SCOPE_LOOP && row != PM_NONE && row != at &&
                pm_scope_is_inside(structure, scope, nest->scope))
                rows->rows[row].lower_bound_in = nest->scope;
        }
    }
}

/* ---- order ---------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right) {
    const struct pm_row *a = left, *b = right;
    if (a->counted != b->counted)
        return a->counted ? -1 : 1;
    if (a->counted && a->seconds != b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return PM_COMPARE(a->place.scope, b->place.scope);
}

static void sort_rows(struct pm_rows *rows, size_t n_scopes) {
    uint32_t *scope_of_row = pm_alloc(rows->n_rows, sizeof *scope_of_row);
    uint32_t *new_place =
        pm_alloc(n_scopes, sizeof *new_place); /* by the scope a row is named after */
    for (size_t i = 0; i < rows->n_rows; i++)
        scope_of_row[i] = rows->rows[i].place.scope;
    if (rows->n_rows)
        qsort(rows->rows, rows->n_rows, sizeof *rows->rows, compare_rows);
    uint32_t n_members = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        new_place[rows->rows[i].place.scope] = (uint32_t)i;
        rows->rows[i].members = rows->members + n_members;
        n_members += rows->rows[i].n_members;
        rows->rows[i].n_members = 0;
    }
    for (uint32_t scope = 0; scope < n_scopes; scope++) {
        uint32_t old = rows->row_of_scope[scope];
        if (old == PM_NONE)
            continue;
        uint32_t place = rows->row_of_scope[scope] = new_place[scope_of_row[old]];
        struct pm_row *row = &rows->rows[place];
        rows->members[row->members - rows->members + row->n_members++] = scope;
    }
    free(new_place);
    free(scope_of_row);
}

/* ---- ends of intervals ----------------------------------------------------------------------- */

static struct pm_row_end end_of(const struct pm_row *row, bool high) {
    const struct pm_spread *spread = &row->self.spread;
    struct pm_estimate cycles = pm_cycles_between(&row->self);
    const struct pm_cost_change *change = high ? &spread->high : &spread->low;
    struct pm_row_end found = {.seconds = NAN, .iterations = NAN};
    double (*side)(double, double) = high ? fmax : fmin;
    double iterations = 0;
    for (uint32_t i = 0; i < row->n_members; i++) {
        const struct pm_scope_prediction *p = &row->prediction->scopes[row->members[i]];
        if (row->place.structure->scopes[row->members[i]].kind != PM_SCOPE_INLINED)
            iterations += high ? p->high_iterations : p->low_iterations;
    }
    for (size_t level = 0; level < row->prediction->n_levels; level++)
        found.level_misses[level] =
            row->counted ? row->self.level_misses[level] + side(change->level_misses[level], 0)
                         : NAN;
    if (!row->counted)
        return found;
    if (row->prediction->level > 0)
        found.seconds = (high ? cycles.high : cycles.low) / row->prediction->clock_hz;
    if (!isnan(row->iterations))
        found.iterations = side(iterations, row->iterations);
    return found;
}

/* ---- the whole ------------------------------------------------------------------------------ */

struct pm_rows *pm_rows_new(const struct pm_structure *structure,
                            const struct pm_prediction *prediction, const struct pm_times *times,
                            const struct pm_bounds *bounds) {
    struct pm_rows *rows = pm_alloc(1, sizeof *rows);
    rows->members = pm_alloc(structure->n_scopes, sizeof *rows->members);
    rows->row_of_scope = pm_alloc(structure->n_scopes, sizeof *rows->row_of_scope);
    make_rows(rows, structure, prediction);
    sum_scopes(rows, structure, prediction);
    add_times(rows, structure, prediction, times);
    add_bounds(rows, structure, bounds);
    double attributed = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        struct pm_row *row = &rows->rows[i];
        derive(row, structure, prediction);
        row->measured_share = row->measured_seconds / rows->measured_seconds;
        rows->n_not_counted += !row->counted;
        rows->n_never_executed += row->counted && !row->executed;
        attributed += row->counted ? row->seconds : 0;
    }
    tell_rows_apart(rows, structure);
    rows->lacks_operations = misses_operations(&prediction->scopes[0].total);
    rows->time_is_lower_bound =
        rows->lacks_operations || lacks_misses(prediction, &prediction->scopes[0].total);
    double difference = prediction->seconds - attributed;
    /* Sums in another order differ by rounding, which is no part of the program. */
    rows->unattributed_seconds = fabs(difference) > 1e-9 * prediction->seconds ? difference : 0;
    sort_rows(rows, structure->n_scopes);
    for (size_t i = 0; i < rows->n_rows; i++) {
        rows->rows[i].low = end_of(&rows->rows[i], false);
        rows->rows[i].high = end_of(&rows->rows[i], true);
    }
    return rows;
}

void pm_rows_free(struct pm_rows *rows) {
    for (size_t i = 0; i < rows->n_rows; i++) {
        free(rows->rows[i].label);
        free(rows->rows[i].source);
        free(rows->rows[i].bound_label);
    }
    free(rows->rows);
    free(rows->members);
    free(rows->row_of_scope);
    free(rows);
}
