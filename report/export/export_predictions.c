/* `pmodel report --as callgrind`, `--folded` and `--extrap`: predictions as files of other tools.

   Every row of a report is one function (callgrind), frame (folded stacks) or call path (Extra-P);
   the one around it, the loop or routine that it is in, is its caller. There is no call tree in a
   prediction, so that a routine has no caller.

   Figures are whole numbers in the first two formats.  They are rounded in turn so that they add up
   to the rounded whole: the k-th of v1, v2 … is  round (v1 + … + vk) − round (v1 + … + v(k−1)). */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/labels/labels.h"
#include "report/predictions/predictions.h"
#include "report/writers/writers.h"

/* ---- rows as a tree -------------------------------------------------------------------------- */

/* What is written of a prediction. */
struct exported {
    FILE *out;
    const struct pm_structure *structure;
    const struct pm_prediction *prediction;
    struct pm_rows *rows;
    uint32_t *around; /* for each row the row that it is in; PM_NONE: none */
};

static void begin(struct exported *of, FILE *out, const struct pm_structure *structure,
                  const struct pm_prediction *prediction) {
    *of = (struct exported){.out = out, .structure = structure, .prediction = prediction};
    of->rows = pm_rows_new(structure, prediction, NULL, NULL);
    of->around = pm_alloc(of->rows->n_rows, sizeof *of->around);
    for (size_t i = 0; i < of->rows->n_rows; i++) {
        uint32_t scope = structure->scopes[of->rows->rows[i].place.scope].parent;
        of->around[i] = scope == PM_NONE ? PM_NONE : of->rows->row_of_scope[scope];
    }
}

static void end(struct exported *of) {
    free(of->around);
    pm_rows_free(of->rows);
}

static bool is_written(const struct pm_row *row) { return row->counted && row->executed; }

/* "N=256 on r12000": what all figures are of. */
static char *size_and_machine(const struct pm_prediction *prediction) {
    char *size = pm_parameters_text(&prediction->parameters);
    char *text = pm_sprintf("%s%son %s", size, *size ? " " : "", prediction->machine_name);
    free(size);
    return text;
}

/* ---- figures as whole numbers ---------------------------------------------------------------- */

struct rounding {
    double sum;
    int64_t rounded;
};

static int64_t next_rounded(struct rounding *so_far, double value) {
    int64_t before = so_far->rounded;
    so_far->sum += value;
    so_far->rounded = llround(fmin(so_far->sum, 9e18));
    return so_far->rounded - before;
}

/* ---- callgrind ------------------------------------------------------------------------------- */

enum { MOST_EVENTS = 2 + PM_MAX_LEVELS };

struct events {
    size_t n;
    char *names[MOST_EVENTS]; /* letters and digits; owned */
    char *words[MOST_EVENTS]; /* owned */
    size_t offsets[MOST_EVENTS];
    struct rounding rounding[MOST_EVENTS];
};

static void add_event(struct events *events, char *name, char *words, size_t offset) {
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    events->names[events->n] = name;
    events->words[events->n] = words;
    events->offsets[events->n++] = offset;
}

static void find_events(const struct pm_prediction *prediction, struct events *events) {
    add_event(events, pm_strdup("Cycles"), pm_strdup("predicted cycles"),
              offsetof(struct pm_cost_sum, cycles));
    add_event(events, pm_strdup("Instructions"), pm_strdup("instructions executed"),
              offsetof(struct pm_cost_sum, instructions));
    for (size_t level = 0; !prediction->without_memory && level < prediction->n_levels; level++)
        add_event(events, pm_sprintf("%sm", prediction->level_names[level]),
                  pm_sprintf("misses of %s", prediction->level_names[level]),
                  offsetof(struct pm_cost_sum, level_misses) + level * sizeof(double));
}

static void free_events(struct events *events) {
    for (size_t e = 0; e < events->n; e++) {
        free(events->names[e]);
        free(events->words[e]);
    }
}

static double figure_at(const struct pm_cost_sum *cost, size_t offset) {
    double value = *(const double *)(const void *)((const char *)cost + offset);
    return value > 0 ? value : 0; /* what is not known counts as nothing here, as the header says */
}

static void write_costs(FILE *out, uint32_t line, const int64_t *costs, size_t n) {
    fprintf(out, "%" PRIu32, line);
    for (size_t e = 0; e < n; e++)
        fprintf(out, " %" PRId64, costs[e]);
    fputc('\n', out);
}

/* "fl=", and "fn=" with the row's number, by which it is known from then on. */
static void write_function(const struct exported *of, size_t row, const char *file_key,
                           const char *name_key) {
    const struct pm_row *r = &of->rows->rows[row];
    const char *file = of->structure->scopes[r->place.scope].file;
    fprintf(of->out, "%s=%s\n%s=(%zu) %s\n", file_key, file ? file : "???", name_key, row + 1,
            r->label);
}

static void write_callgrind_rows(const struct exported *of, struct events *events) {
    const struct pm_rows *rows = of->rows;
    size_t n = events->n;
    int64_t *own = pm_alloc(rows->n_rows * n, sizeof *own);
    int64_t *total = pm_alloc(rows->n_rows * n, sizeof *total); /* with all in it */
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t e = 0; e < n && is_written(&rows->rows[i]); e++) {
            own[i * n + e] = next_rounded(&events->rounding[e],
                                          figure_at(&rows->rows[i].self, events->offsets[e]));
            size_t steps = 0; /* a damaged tree may go round */
            for (size_t at = i; at != PM_NONE && steps++ < rows->n_rows; at = of->around[at])
                total[at * n + e] += own[i * n + e];
        }
    for (size_t i = 0; i < rows->n_rows; i++) {
        if (!is_written(&rows->rows[i]))
            continue;
        fputc('\n', of->out);
        write_function(of, i, "fl", "fn");
        write_costs(of->out, rows->rows[i].line_first, own + i * n, n);
        for (size_t inner = 0; inner < rows->n_rows; inner++) {
            const struct pm_row *r = &rows->rows[inner];
            if (of->around[inner] != i || !is_written(r))
                continue;
            write_function(of, inner, "cfi", "cfn");
            fprintf(of->out, "calls=%.0f %" PRIu32 "\n", isnan(r->entries) ? 1 : r->entries,
                    r->line_first);
            write_costs(of->out, r->line_first, total + inner * n, n);
        }
    }
    free(own);
    free(total);
}

void pm_export_callgrind(FILE *out, const struct pm_structure *structure,
                         const struct pm_prediction *prediction) {
    struct exported of;
    struct events events = {0};
    begin(&of, out, structure, prediction);
    find_events(prediction, &events);
    char *what = size_and_machine(prediction);
    fprintf(out,
            "# callgrind format\nversion: 1\ncreator: pmodel\ncmd: %s\n"
            "desc: Trigger: predicted %s, nothing was executed\n"
            "desc: Loops: are functions here, \"calls\" of them are entries\n"
            "positions: line\n",
            prediction->program, what);
    free(what);
    for (size_t e = 0; e < events.n; e++)
        fprintf(out, "event: %s : %s\n", events.names[e], events.words[e]);
    fputs("events:", out);
    for (size_t e = 0; e < events.n; e++)
        fprintf(out, " %s", events.names[e]);
    fputc('\n', out);
    write_callgrind_rows(&of, &events);
    double unattributed = of.rows->unattributed_seconds * prediction->clock_hz;
    if (unattributed > 0)
        fprintf(out, "\nfl=???\nfn=in no scope\n0 %" PRId64 "\n",
                next_rounded(&events.rounding[0], unattributed));
    fputs("\ntotals:", out);
    for (size_t e = 0; e < events.n; e++)
        fprintf(out, " %" PRId64, events.rounding[e].rounded);
    fputc('\n', out);
    free_events(&events);
    end(&of);
}

/* ---- folded stacks --------------------------------------------------------------------------- */

/* TEXT as a frame, which ends at a semicolon. */
static void write_frame(FILE *out, const char *text) {
    for (; *text; text++)
        fputc(*text == ';' ? ',' : *text, out);
}

static void write_stack(const struct exported *of, size_t row, size_t n_more) {
    if (of->around[row] != PM_NONE && n_more)
        write_stack(of, of->around[row], n_more - 1);
    fputc(';', of->out);
    write_frame(of->out, of->rows->rows[row].label);
}

bool pm_export_folded(FILE *out, const struct pm_structure *structure,
                      const struct pm_prediction *prediction, const char *figure,
                      struct pm_error *err) {
    struct exported of;
    struct events events = {0};
    size_t e = 0;
    find_events(prediction, &events);
    while (e < events.n && strcasecmp(figure, events.names[e]) != 0)
        e++;
    if (e == events.n) {
        char *all = pm_strdup("");
        for (size_t i = 0; i < events.n; i++)
            pm_append(&all, "%s%s", i ? ", " : "", events.names[i]);
        pm_fail(err, "--of %s: there are %s", figure, all);
        free(all);
        free_events(&events);
        return false;
    }
    begin(&of, out, structure, prediction);
    char *what = size_and_machine(prediction);
    char *root = pm_sprintf("%s %s [%s]", prediction->program, what, events.words[e]);
    for (size_t i = 0; i < of.rows->n_rows; i++) {
        const struct pm_row *row = &of.rows->rows[i];
        int64_t own = is_written(row) ? next_rounded(&events.rounding[e],
                                                     figure_at(&row->self, events.offsets[e]))
                                      : 0;
        if (own == 0)
            continue;
        write_frame(out, root);
        write_stack(&of, i, of.rows->n_rows);
        fprintf(out, " %" PRId64 "\n", own);
    }
    double unattributed = of.rows->unattributed_seconds * prediction->clock_hz;
    if (e == 0 && unattributed > 0) {
        write_frame(out, root);
        fprintf(out, ";in no scope %" PRId64 "\n", next_rounded(&events.rounding[e], unattributed));
    }
    free(root);
    free(what);
    free_events(&events);
    end(&of);
    return true;
}

/* ---- Extra-P --------------------------------------------------------------------------------- */

/* "heat->step->step/2 i": Extra-P cuts call paths at the arrows. */
static void append_path(const struct exported *of, size_t row, size_t n_more, char **path) {
    if (of->around[row] != PM_NONE && n_more)
        append_path(of, of->around[row], n_more - 1, path);
    else
        pm_append(path, "%s", of->prediction->program);
    pm_append(path, "->%s", of->rows->rows[row].label);
}

static void write_measurement(const struct exported *of, const char *path, const char *metric,
                              double value) {
    if (isnan(value))
        return;
    json_t *line = json_object();
    json_object_set_new(line, "params", pm_json_parameters(&of->prediction->parameters));
    json_object_set_new(line, "callpath", pm_json_text(path));
    json_object_set_new(line, "metric", json_string(metric));
    json_object_set_new(line, "value", pm_json_number(value));
    json_dumpf(line, of->out, JSON_COMPACT);
    fputc('\n', of->out);
    json_decref(line);
}

void pm_export_extrap(FILE *out, const struct pm_structure *structure,
                      const struct pm_prediction *prediction) {
    struct exported of;
    begin(&of, out, structure, prediction);
    for (size_t i = 0; i < of.rows->n_rows; i++) {
        const struct pm_row *row = &of.rows->rows[i];
        if (!is_written(row))
            continue;
        char *path = NULL;
        append_path(&of, i, of.rows->n_rows, &path);
        write_measurement(&of, path, "iterations", row->iterations);
        write_measurement(&of, path, "instructions", row->self.instructions);
        write_measurement(&of, path, "accesses", row->self.accesses);
        for (size_t level = 0; !prediction->without_memory && level < prediction->n_levels;
             level++) {
            char *metric = pm_sprintf("%s misses", prediction->level_names[level]);
            write_measurement(&of, path, metric, row->self.level_misses[level]);
            free(metric);
        }
        write_measurement(&of, path, "predicted seconds", row->seconds);
        free(path);
    }
    end(&of);
}
