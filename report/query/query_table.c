/* `pmodel query` for people: what was asked, a row for each answer, what the figures count.  Needs
   the fields of query_write.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/query_fields.h"

static void note_hidden(FILE *out, const struct pm_query_report *report,
                        const struct pm_report_options *options) {
    size_t n = report->parts->n_left_out;
    if (n == 0)
        return;
    pm_print_note(out, options, "%zu smaller one%s not shown (--min-percent, --top).", n,
                  n == 1 ? " is" : "s are");
}

/* The machine that all caches are of; NULL if there is none. */
static const char *common_machine(const struct pm_query_report *report) {
    const char *first = NULL;
    size_t n = report->kind == PM_QUERY_FITS ? report->caches->n_caches : report->answers.n_rows;
    for (size_t i = 0; i < n; i++) {
        const char *machine = report->kind == PM_QUERY_FITS ? report->caches->caches[i].machine
                                                            : report->answers.rows[i].machine;
        if (!machine || (first && strcmp(machine, first) != 0))
            return NULL;
        first = machine;
    }
    return first;
}

static void print_header(FILE *out, const struct pm_query_report *report,
                         const struct pm_report_options *options) {
    const char *program = pm_program_name(report->structure), *name = report->solved;
    char *line = NULL;
    const struct pm_query_range *range = &report->range;
    switch (report->kind) {
    case PM_QUERY_MISSES:
        line = pm_sprintf("%s: misses of caches", program);
        break;
    case PM_QUERY_CACHE:
        line = pm_sprintf("%s: smallest fully associative LRU cache for a hit ratio", program);
        break;
    case PM_QUERY_SIZE:
        line = pm_sprintf("%s: largest %s for a hit ratio of fully associative LRU caches", program,
                          name);
        break;
    case PM_QUERY_FITS:
        line =
            pm_sprintf("%s: largest %s at which reuses still hit in fully associative LRU caches",
                       program, name);
        break;
    }
    if (common_machine(report))
        pm_append(&line, " on %s", common_machine(report));
    if (report->kind == PM_QUERY_SIZE || report->kind == PM_QUERY_FITS) {
        pm_append(&line, ", looked for from %s=%s to ", name,
                  pm_query_value_text(pm_query_range_value(range, 0)).text);
        pm_append(&line, "%s", pm_query_value_text(pm_query_range_value(range, range->n - 1)).text);
    }
    if (report->fixed.n) {
        char *fixed = pm_parameters_text(&report->fixed);
        pm_append(&line, ", at %s", fixed);
        free(fixed);
    }
    pm_append(&line, "   measured up to %s", report->measured_up_to);
    pm_print_title(out, options, "%s", line);
    free(line);
}

/* ---- answers --------------------------------------------------------------------------------- */

struct columns { /* that not every table needs */
    bool part, source, machine, cold, write_backs;
};

static struct columns needed_columns(const struct pm_query_report *report) {
    const struct pm_query_parts *parts = report->parts;
    struct columns columns = {.part = parts->n_parts > 1 || parts->parts[0].scope != 0};
    columns.source = columns.part && parts->level != PM_QUERY_ROUTINE;
    const char *first = report->answers.n_rows ? report->answers.rows[0].machine : NULL;
    for (size_t i = 0; i < report->answers.n_rows; i++) {
        const char *machine = report->answers.rows[i].machine;
        columns.machine |= (machine != NULL) != (first != NULL) ||
                           (machine && first && strcmp(machine, first) != 0);
        columns.write_backs |= !isnan(report->answers.rows[i].write_backs);
    }
    return columns;
}

/* Columns of the parameters that are no answer: from the row's values. */
static void add_parameters(struct pm_fields *fields, const struct pm_query_report *report) {
    const struct pm_parameters *at =
        report->answers.n_rows ? &report->answers.rows[0].at : &report->fixed;
    for (size_t i = 0; i < at->n; i++)
        if (report->kind != PM_QUERY_SIZE || strcmp(at->names[i], report->solved) != 0)
            *PM_PUSH(fields, fields) = (struct pm_field){
                at->names[i], PM_NUMBER, PM_MEMBER(struct pm_answer_row, row.at.values[i]),
                .header = at->names[i]};
}

static void add_columns(struct pm_fields *fields, const char *names) {
    struct pm_fields named = pm_fields_named(pm_answer_fields, names);
    for (size_t i = 0; i < named.n_fields; i++)
        *PM_PUSH(fields, fields) = named.fields[i];
    free(named.fields);
}

static void print_answers(FILE *out, const struct pm_query_report *report,
                          const struct columns *columns, const struct pm_report_options *options) {
    static const char *const answers[] = {
        [PM_QUERY_MISSES] = "cache_name cache_blocks accesses misses interval first_touches "
                            "hit_ratio hit_ratio_of_reuses",
        [PM_QUERY_CACHE] = "wanted_hit_ratio smallest interval cache_blocks hits",
        [PM_QUERY_SIZE] = "cache_name wanted_hit_ratio largest interval hits",
    };
    struct pm_text_table *table = pm_text_table_new();
    struct pm_fields fields = {0};
    char *title = pm_sprintf("LARGEST %s", report->solved ? report->solved : "");
    if (columns->part)
        add_columns(&fields, "label");
    if (columns->source)
        add_columns(&fields, "source");
    add_parameters(&fields, report);
    if (columns->machine)
        add_columns(&fields, "machine");
    add_columns(&fields, answers[report->kind]);
    if (report->kind == PM_QUERY_SIZE) {
        fields.fields[fields.n_fields - 3].header = title;
        fields.fields[fields.n_fields - 1].header = "HIT % THERE";
    }
    if (columns->write_backs)
        add_columns(&fields, "write_backs");
    add_columns(&fields, "from");
    pm_fields_columns(table, fields);
    for (size_t i = 0; i < report->answers.n_rows; i++) {
        struct pm_answer_row row = pm_answer_row(report, i);
        pm_fields_cells(table, fields, NULL, &row);
    }
    pm_text_table_print(out, table, options);
    pm_text_table_free(table);
    free(fields.fields);
    free(title);
}

/* ---- what fits: a row for each cluster of reuses that outgrows a level ------------------------
 */

static bool has_several_machines(const struct pm_query_report *report) {
    bool several = false;
    for (size_t c = 1; c < report->caches->n_caches; c++) {
        const char *a = report->caches->caches[0].machine, *b = report->caches->caches[c].machine;
        several |= (a != NULL) != (b != NULL) || (a && b && strcmp(a, b) != 0);
    }
    return several;
}

struct fits_table {
    struct pm_text_table *table;
    struct pm_fields fields;
    const struct pm_query_part *last_part; /* of the row before */
    const struct pm_query_level_cache *last_cache;
};

static void add_fits_row(struct fits_table *t, struct pm_fits_row row) {
    row.same_part = row.part == t->last_part;
    row.same_cache = row.same_part && row.cache == t->last_cache;
    pm_fields_cells(t->table, t->fields, NULL, &row);
    t->last_part = row.part;
    t->last_cache = row.cache;
}

static void add_fits(struct fits_table *t, const struct pm_query_report *report, size_t part,
                     size_t cache) {
    const struct pm_query_fits *fits = &report->fits[part * report->caches->n_caches + cache];
    bool missed =
        fits->missed_share >= pm_query_least_share(report->caches->caches[cache].cache.block_bytes);
    struct pm_fits_row limit = pm_fits_row(report, part, cache, NULL);
    limit.up_to = missed ? -INFINITY : INFINITY;
    limit.share = missed ? fits->missed_share : NAN;
    if (missed)
        add_fits_row(t, limit);
    for (size_t i = 0; i < fits->n_steps; i++)
        add_fits_row(t, pm_fits_row(report, part, cache, &fits->steps[i]));
    if (fits->n_steps == 0 && !missed)
        add_fits_row(t, limit);
}

/* COLUMNS: names of fields, `up_to` among them. */
static void write_fits(FILE *out, const struct pm_query_report *report, const char *columns,
                       const struct pm_report_options *options) {
    struct fits_table t = {.table = pm_text_table_new(),
                           .fields = pm_fields_named(pm_fits_fields, columns)};
    char *title = pm_sprintf("%s UP TO", report->solved);
    for (size_t i = 0; i < t.fields.n_fields; i++)
        if (strcmp(t.fields.fields[i].name, "up_to") == 0)
            t.fields.fields[i].header = title;
    pm_fields_columns(t.table, t.fields);
    for (size_t p = 0; p < report->parts->n_parts; p++)
        for (size_t c = 0; c < report->caches->n_caches; c++)
            add_fits(&t, report, p, c);
    pm_text_table_print(out, t.table, options);
    pm_text_table_free(t.table);
    free(t.fields.fields);
    free(title);
}

void pm_report_fits_of_one(FILE *out, const struct pm_query_report *report,
                           const struct pm_report_options *options) {
    write_fits(out, report, "cache up_to share_of_accesses object distance_blocks", options);
}

static void print_fits(FILE *out, const struct pm_query_report *report,
                       const struct pm_report_options *options) {
    write_fits(out, report,
               has_several_machines(report)
                   ? "part source machine cache up_to spread share_of_accesses distance_blocks "
                     "object"
                   : "part source cache up_to spread share_of_accesses distance_blocks object",
               options);
    pm_print_note(
        out, options,
        "Up to this %s so many of the loop's accesses still find their data in the level, because "
        "BLOCKS BETWEEN two uses of it (blocks of the level) are fewer than it has; beyond, they "
        "miss. ALL…SOME: the last %s at which all, and any, of them hit, where that differs.",
        report->solved, report->solved);
    note_hidden(out, report, options);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static char *row_name(const struct pm_query_report *report, const struct columns *columns,
                      const struct pm_query_row *row) {
    char *name =
        columns->part ? pm_sprintf("%s, ", report->parts->parts[row->part].label) : pm_strdup("");
    if (columns->machine && row->machine)
        pm_append(&name, "%s ", row->machine);
    pm_append(&name, "%s", row->cache_name);
    return name;
}

static void note_size(FILE *out, const struct pm_query_report *report,
                      const struct columns *columns, const struct pm_query_row *row,
                      const struct pm_report_options *options) {
    double size = NAN;
    pm_parameters_get(&row->at, report->solved, &size);
    char *name = row_name(report, columns, row);
    if (row->found == PM_QUERY_NONE) {
        char *text = pm_sprintf("%s: no %s in the range has %s%%; ", name, report->solved,
                                pm_query_value_text(100 * row->wanted).text);
        pm_append(&text, "%s=%s comes nearest with %s%%, ", report->solved,
                  pm_query_value_text(size).text,
                  pm_query_hit_text(pm_query_hit_ratio(&row->counts, report->with_cold)).text);
        pm_append(&text, "and even an unlimited cache has %s%% there.",
                  pm_query_hit_text(pm_query_hit_ratio(&row->unlimited, report->with_cold)).text);
        pm_print_note(out, options, "%s", text);
        free(text);
    } else if (!isnan(row->gap_size)) {
        pm_print_note(out, options, "%s: not all smaller ones have it: %s=%s has not.", name,
                      report->solved, pm_query_value_text(row->gap_size).text);
    }
    free(name);
}

static void print_size_notes(FILE *out, const struct pm_query_report *report,
                             const struct columns *columns,
                             const struct pm_report_options *options) {
    bool beyond = false;
    for (size_t i = 0; i < report->answers.n_rows; i++) {
        note_size(out, report, columns, &report->answers.rows[i], options);
        beyond |= report->answers.rows[i].found == PM_QUERY_BEYOND;
    }
    char *text = NULL;
    if (beyond)
        pm_append(&text,
                  "≥: the largest size that was looked at has it too; --range %s=LOW:HIGH "
                  "looks further. ",
                  report->solved);
    if (report->answers.coarsest > 0 && report->range.n > PM_QUERY_MOST_SCANNED)
        pm_append(&text,
                  "Looked at in steps of at most %.1f%%, then exactly at the border: that sizes "
                  "beyond it have the hit ratio again for less than such a step is not seen.",
                  100 * report->answers.coarsest);
    if (text)
        pm_print_note(out, options, "%s", text);
    free(text);
}

static void print_notes(FILE *out, const struct pm_query_report *report,
                        const struct columns *columns, const struct pm_report_options *options) {
    bool beyond = false, unreachable = false, interpolated = false;
    uint32_t n_threads = 0;
    for (size_t i = 0; i < report->answers.n_rows; i++) {
        beyond |= report->answers.rows[i].counts.beyond > 0;
        unreachable |= report->answers.rows[i].found == PM_QUERY_NONE;
        interpolated |= report->answers.rows[i].interpolated_from != 0;
        if (report->answers.rows[i].n_threads > n_threads)
            n_threads = report->answers.rows[i].n_threads;
    }
    if (report->kind == PM_QUERY_SIZE)
        print_size_notes(out, report, columns, options);
    if (report->kind == PM_QUERY_MISSES)
        pm_print_note(
            out, options,
            "HIT %% counts first touches as misses, which no cache avoids; OF REUSES %% leaves "
            "them out.");
    else if (!report->with_cold)
        pm_print_note(out, options, "Hit ratios are those of reuses: first touches are left out.");
    else
        pm_print_note(
            out, options, "%s",
            unreachable ? "First touches count as misses, which no cache avoids: --no-cold leaves "
                          "them out."
                        : "First touches count as misses; --no-cold leaves them out.");
    if (beyond)
        pm_print_note(
            out, options,
            "<: some reuses are only known to be long; they count as misses, of which there may "
            "be fewer.");
    if (n_threads)
        pm_print_note(out, options,
                      "Of all %u threads together, in caches that they share; those of `pmodel "
                      "report` are of the cores that take longest.",
                      (unsigned)n_threads);
    if (interpolated)
        pm_print_note(out, options,
                      "~: interpolated from blocks of another size, as if all data were walked "
                      "over from end to end; 80%% does not cover what that is off by.");
    note_hidden(out, report, options);
}

void pm_write_query_table(FILE *out, const struct pm_query_report *report,
                          const struct pm_report_options *options) {
    print_header(out, report, options);
    for (size_t c = 0; c < report->caches->n_caches; c++)
        if (report->caches->caches[c].serves)
            pm_print_line(out, options, "%s", report->caches->caches[c].serves);
    if (report->kind == PM_QUERY_FITS) {
        print_fits(out, report, options);
        return;
    }
    struct columns columns = needed_columns(report);
    print_answers(out, report, &columns, options);
    print_notes(out, report, &columns, options);
}
