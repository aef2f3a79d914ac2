/* Shares of source lines in a prediction; see lines.h.

     schedule of a scope  →  basic blocks, by executions · instructions  →  their instructions,
   evenly misses of a group    →  its references, by executions cycles of misses     →  groups by
   their misses of the level; what else memory costs (bandwidth), by misses of the first level */
#include "fit/analysis/lines.h"

#include <math.h>
#include <stdlib.h>

#include "fit/sets/sets.h"

struct sharing {
    const struct pm_structure *structure;
    const struct pm_prediction *prediction;
    const struct pm_code_lines *lines;
    struct pm_line_costs *costs;
    size_t
        *at; /* per row of LINES: its place in the costs; the last one is that of unknown lines */
    double *blocks;    /* executions */
    double *work;      /* per scope: executions · instructions of its blocks */
    double *misses;    /* [group · PM_MAX_LEVELS + level] */
    double *of_scope;  /* [scope · PM_MAX_LEVELS + level]: sums of these */
    double *referring; /* per group: executions of its references */
};

/* ---- which line ------------------------------------------------------------------------------ */

static int by_place(const void *left, const void *right) {
    const struct pm_line_cost *a = left, *b = right;
    return a->file != b->file ? PM_COMPARE(a->file, b->file) : PM_COMPARE(a->line, b->line);
}

static void list_lines(struct sharing *s) {
    struct pm_line_costs *costs = s->costs;
    for (size_t i = 0; i < s->lines->n_rows; i++)
        if (s->lines->rows[i].line && s->lines->rows[i].file != PM_NONE)
            *PM_PUSH(costs, rows) = (struct pm_line_cost){.file = s->lines->rows[i].file,
                                                          .line = s->lines->rows[i].line};
    PM_SORT(costs->rows, costs->n_rows, by_place);
    size_t n = 0;
    for (size_t i = 0; i < costs->n_rows; i++)
        if (n == 0 || by_place(&costs->rows[n - 1], &costs->rows[i]) != 0)
            costs->rows[n++] = costs->rows[i];
    costs->n_rows = n;
    *PM_PUSH(costs, rows) = (struct pm_line_cost){.file = PM_NONE};
    s->at = pm_alloc(s->lines->n_rows + 1, sizeof *s->at);
    for (size_t i = 0; i < s->lines->n_rows; i++) {
        const struct pm_code_line *row = &s->lines->rows[i];
        const struct pm_line_cost key = {.file = row->file, .line = row->line};
        const struct pm_line_cost *found =
            row->line ? bsearch(&key, costs->rows, n, sizeof *costs->rows, by_place) : NULL;
        s->at[i] = found ? (size_t)(found - costs->rows) : n;
    }
    s->at[s->lines->n_rows] = n;
}

/* The first row at ADDRESS or above. */
static size_t row_from(const struct sharing *s, uint64_t address) {
    size_t low = 0, high = s->lines->n_rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->lines->rows[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_of_program(const struct sharing *s, uint32_t block) {
    return s->structure->routines[s->structure->blocks[block].routine].module == 0;
}

/* Of an instruction in BLOCK. */
static struct pm_line_cost *line_at(const struct sharing *s, uint32_t block, uint64_t address) {
    size_t row = is_of_program(s, block) ? row_from(s, address + 1) : 0;
    bool is_known =
        row > 0 && s->lines->rows[row - 1].address >= s->structure->blocks[block].address;
    return &s->costs->rows[s->at[is_known ? row - 1 : s->lines->n_rows]];
}

/* ---- the schedule ---------------------------------------------------------------------------- */

static double work_of(const struct sharing *s, uint32_t block) {
    return s->blocks[block] * s->structure->blocks[block].n_instructions;
}

/* CYCLES of a block, evenly to its instructions. */
static void share_block(const struct sharing *s, uint32_t block, double cycles) {
    const struct pm_block *b = &s->structure->blocks[block];
    size_t first = 0, end = 0;
    if (is_of_program(s, block)) {
        first = row_from(s, b->address);
        end = row_from(s, b->address + b->size_bytes);
    }
    if (first == end) {
        struct pm_line_cost *unknown = &s->costs->rows[s->costs->n_rows - 1];
        unknown->cycles += cycles;
        unknown->instructions += work_of(s, block);
    }
    for (size_t i = first; i < end; i++) {
        struct pm_line_cost *line = &s->costs->rows[s->at[i]];
        line->cycles += cycles / (double)(end - first);
        line->instructions += work_of(s, block) / (double)(end - first);
    }
}

/* ---- misses ---------------------------------------------------------------------------------- */

static void count_misses(struct sharing *s, const struct pm_profile *profile,
                         const struct pm_machine *machine) {
    double **misses = pm_set_misses_of_levels(s->structure, profile, NULL, machine);
    for (size_t i = 0; i < profile->n_histograms; i++)
        for (size_t l = 0; l < machine->n_levels; l++) {
            uint32_t group = profile->histograms[i].group;
            s->misses[group * PM_MAX_LEVELS + l] += misses[l][i];
            s->of_scope[s->structure->groups[group].scope * PM_MAX_LEVELS + l] += misses[l][i];
        }
    pm_set_misses_free(misses, machine->n_levels);
}

/* What the misses of GROUP cost. */
static double miss_cycles(const struct sharing *s, uint32_t group) {
    uint32_t scope = s->structure->groups[group].scope;
    const struct pm_cost_sum *self = &s->prediction->scopes[scope].self;
    double cycles = 0, left = self->cycles - self->schedule_cycles;
    for (size_t l = 0; l < s->prediction->n_levels; l++) {
        double all = s->of_scope[scope * PM_MAX_LEVELS + l];
        if (all > 0) {
            left -= self->level_cycles[l];
            cycles += s->misses[group * PM_MAX_LEVELS + l] / all * self->level_cycles[l];
        }
    }
    double first = s->of_scope[scope * PM_MAX_LEVELS];
    return cycles + (first > 0 ? s->misses[group * PM_MAX_LEVELS] / first * left : 0);
}

static void share_misses(const struct sharing *s) {
    double *cycles = pm_alloc(s->structure->n_groups + 1, sizeof *cycles);
    for (uint32_t g = 0; g < s->structure->n_groups; g++)
        cycles[g] = miss_cycles(s, g);
    for (uint32_t r = 0; r < s->structure->n_references; r++) {
        const struct pm_reference *reference = &s->structure->references[r];
        uint32_t group = reference->group;
        if (group == PM_NONE || !(s->referring[group] > 0))
            continue;
        struct pm_line_cost *line = line_at(s, reference->block, reference->address);
        double share = s->blocks[reference->block] / s->referring[group];
        line->cycles += share * cycles[group];
        for (size_t l = 0; l < s->prediction->n_levels; l++)
            line->misses[l] += share * s->misses[group * PM_MAX_LEVELS + l];
    }
    free(cycles);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void share_schedules(const struct sharing *s) {
    for (uint32_t b = 0; b < s->structure->n_blocks; b++) {
        uint32_t scope = s->structure->blocks[b].scope;
        if (!(s->work[scope] > 0) || !(work_of(s, b) > 0))
            continue;
        share_block(s, b,
                    work_of(s, b) / s->work[scope] *
                        s->prediction->scopes[scope].self.schedule_cycles);
    }
}

/* What belongs to no instruction and no reference. */
static void add_rest(const struct sharing *s) {
    double sum = 0, all = s->prediction->scopes[0].total.cycles;
    struct pm_line_cost *unknown = &s->costs->rows[s->costs->n_rows - 1];
    for (size_t i = 0; i < s->costs->n_rows; i++)
        sum += s->costs->rows[i].cycles;
    if (fabs(all - sum) > 1e-9 * all)
        unknown->cycles += all - sum;
}

void pm_line_costs_make(const struct pm_structure *structure, const struct pm_profile *profile,
                        const struct pm_machine *machine, const struct pm_prediction *prediction,
                        const struct pm_code_lines *lines, struct pm_line_costs *costs) {
    size_t n_groups = structure->n_groups + 1;
    struct sharing s = {.structure = structure,
                        .prediction = prediction,
                        .lines = lines,
                        .costs = costs,
                        .blocks = pm_block_executions(structure, profile->edge_counts),
                        .work = pm_alloc(structure->n_scopes, sizeof(double)),
                        .misses = pm_alloc(n_groups * PM_MAX_LEVELS, sizeof(double)),
                        .of_scope = pm_alloc(structure->n_scopes * PM_MAX_LEVELS, sizeof(double)),
                        .referring = pm_alloc(n_groups, sizeof(double))};
    *costs = (struct pm_line_costs){0};
    list_lines(&s);
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        s.work[structure->blocks[b].scope] += work_of(&s, b);
    for (uint32_t r = 0; r < structure->n_references; r++)
        if (structure->references[r].group != PM_NONE)
            s.referring[structure->references[r].group] += s.blocks[structure->references[r].block];
    if (!prediction->without_memory)
        count_misses(&s, profile, machine);
    share_schedules(&s);
    share_misses(&s);
    add_rest(&s);
    free(s.at);
    free(s.blocks);
    free(s.work);
    free(s.misses);
    free(s.of_scope);
    free(s.referring);
}
