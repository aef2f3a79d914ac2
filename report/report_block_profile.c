/* `pmodel show --as profile`: basic blocks by their share of the references to memory, as tables 1
   and 2 of Snavely, Wolter & Carrington 2001 have them.

   JSON: {"format": "pmodel-profile", "version": 1, program, parameters, "stride_window",
   "cpu_seconds", "levels": [a simulated level each], "total": the program as a block,
   "blocks": [a basic block each]}.  Hit rates are cumulative: the share of the references that this
   level or one before it held. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/labels/labels.h"
#include "report/report.h"
#include "report/writers/writers.h"

enum { MOST_LEVELS = 8 };

/* The kinds of operations (core/structure/op_class.h), by their letters. */
enum mix_kind { MEMORY, INTEGER, FLOATING, CONTROL, OTHER, N_MIX_KINDS };
static const char mix_letters[N_MIX_KINDS + 1] = "mifco";

struct profile_row {
    struct pm_row_place place;
    const struct pm_block_profile *profile;
    const struct pm_profiled_block *block; /* `block` PM_NONE: the program total, or the rest */
    const char *machine;                   /* whose hit rates HITS are; NULL: none was simulated */
    char *label, *source;                  /* owned */
    uint64_t address;
    double share, cumulative_share, flops_per_reference, arithmetic_per_reference, random_share;
    double bytes_per_reference;
    double strides[PM_N_STRIDE_BINS]; /* shares of the references */
    double mix[N_MIX_KINDS];          /* shares of the operations */
    double hits[MOST_LEVELS];         /* cumulative */
    double hit_percents[MOST_LEVELS]; /* the same, as tables have them */
    bool at_most;                     /* the operations */
};

/* ---- figures --------------------------------------------------------------------------------- */

static double ratio(double part, double whole) { return whole > 0 ? part / whole : NAN; }

/* Adds the operations of BLOCK's executions by kind; their sum is that of arithmetic ones. */
static double add_mix(const struct pm_structure *structure, const struct pm_profiled_block *block,
                      double mix[N_MIX_KINDS]) {
    double counts[PM_N_OP_CLASSES];
    pm_block_mix(structure, block->block, counts);
    for (int class = 0; class < PM_N_OP_CLASSES; class ++) {
        const char kind = pm_op_class_kind((enum pm_op_class) class);
        const char *letter = strchr(mix_letters, kind);
        mix[letter ? letter - mix_letters : OTHER] += counts[class] * block->executions;
    }
    return pm_arithmetic_operations(counts) * block->executions;
}

/* Fills the figures that follow from BLOCK with its operations MIX, of which ARITHMETIC are
   arithmetic. */
static void set_figures(struct profile_row *row, const double mix[N_MIX_KINDS], double arithmetic,
                        double all_references) {
    const struct pm_profiled_block *block = row->block;
    const double references = block->references;
    double operations = 0;
    for (int kind = 0; kind < N_MIX_KINDS; kind++)
        operations += mix[kind];
    for (int kind = 0; kind < N_MIX_KINDS; kind++)
        row->mix[kind] = ratio(mix[kind], operations);
    for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++)
        row->strides[bin] = ratio(block->strides[bin], references);
    row->share = ratio(references, all_references);
    row->flops_per_reference = ratio(block->flops, references);
    row->arithmetic_per_reference = ratio(arithmetic, references);
    row->random_share = row->strides[PM_STRIDE_BIN_RANDOM];
    row->bytes_per_reference = ratio(block->bytes, references);
    row->at_most = block->masked_flops > 0;
}

static void set_hits(struct profile_row *row, size_t first, size_t n) {
    for (size_t l = 0; l < MOST_LEVELS; l++) {
        row->hits[l] =
            l < n ? 1 - ratio(row->block->misses[first + l], row->block->references) : NAN;
        row->hit_percents[l] = floor(1e4 * row->hits[l]) / 100; /* 100: all of them */
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

#define ROW(member_) PM_MEMBER(struct profile_row, member_)
#define PLACE(get_) PM_PLACE(struct profile_row, place, get_)

static bool is_block(const void *row) {
    return ((const struct profile_row *)row)->block->block != PM_NONE;
}

static json_t *hits_json(const struct profile_row *row) {
    json_t *array = json_array();
    const struct pm_block_profile *profile = row->profile;
    for (size_t i = 0; i < profile->n_levels; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "machine", pm_json_text(profile->levels[i].machine));
        json_object_set_new(object, "level", pm_json_text(profile->levels[i].name));
        json_object_set_new(object, "misses", pm_json_number(row->block->misses[i]));
        json_object_set_new(
            object, "hit_rate",
            pm_json_number(1 - ratio(row->block->misses[i], row->block->references)));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *mix_json(const struct profile_row *row) {
    double counts[PM_N_OP_CLASSES];
    json_t *object = json_object();
    pm_block_mix(row->place.structure, row->block->block, counts);
    for (int class = 0; class < PM_N_OP_CLASSES; class ++)
        if (counts[class] > 0)
            json_object_set_new(object, pm_op_class_name((enum pm_op_class) class),
                                pm_json_number(counts[class] * row->block->executions));
    return object;
}

static struct pm_field_value label_text(const struct profile_row *row) {
    return is_block(row) ? pm_owned_text(pm_sprintf("%s 0x%" PRIx64, row->label, row->address))
                         : pm_text(row->label);
}

PM_GETTER(label_cell, struct profile_row, label_text(row))
PM_GETTER(cumulative_cell, struct profile_row,
          is_block(row) ? pm_number(row->cumulative_share) : pm_absent())
PM_GETTER(number_value, struct profile_row, pm_integer(row->block->block))
PM_GETTER(executions_value, struct profile_row, pm_number(row->block->executions))
PM_GETTER(references_value, struct profile_row, pm_number(row->block->references))
PM_GETTER(bytes_value, struct profile_row, pm_number(row->block->bytes))
PM_GETTER(flops_value, struct profile_row, pm_number(row->block->flops))
PM_GETTER(masked_value, struct profile_row, pm_number(row->block->masked_flops))
PM_GETTER(hits_value, struct profile_row, pm_json_value(hits_json(row)))
PM_GETTER(mix_value, struct profile_row, pm_json_value(mix_json(row)))

static const struct pm_field fields[] = {
    {"label", PM_NAME, ROW(label), .header = "BASIC BLOCK", .cell = label_cell},
    {"block", PM_INTEGER, .get = number_value, .json_when = is_block},
    {"address", PM_HEX, ROW(address), .json_when = is_block},
    {"key", PM_HEX, PLACE(key), .json_when = is_block},
    {"source", PM_NAME, ROW(source), .json_when = is_block, .header = "SOURCE", .dispensable = 2},
    {"machine", PM_TEXT, ROW(machine), .not_in_json = true},
    {"cumulative_share", PM_PERCENT, ROW(cumulative_share), .json_when = is_block,
     .header = "CUM %", .cell = cumulative_cell},
    {"share", PM_PERCENT, ROW(share), .header = "%"},
    {"executions", PM_COUNT, .get = executions_value, .json_when = is_block},
    {"references", PM_COUNT, .get = references_value},
    {"bytes", PM_COUNT, .get = bytes_value},
    {"bytes_per_reference", PM_RATE, ROW(bytes_per_reference)},
    {"flops", PM_COUNT, .get = flops_value},
    {"masked_flops", PM_COUNT, .get = masked_value},
    {"flops_per_reference", PM_RATE, ROW(flops_per_reference), .header = "FLOPS/MOPS",
     PM_MARKED("<", struct profile_row, at_most)},
    {"arithmetic_per_reference", PM_RATE, ROW(arithmetic_per_reference), .header = "ARITH/MOPS"},
    {"stride_0", PM_PERCENT, ROW(strides[PM_STRIDE_BIN_0]), .header = "0"},
    {"stride_1", PM_PERCENT, ROW(strides[PM_STRIDE_BIN_1]), .header = "1"},
    {"stride_2", PM_PERCENT, ROW(strides[PM_STRIDE_BIN_2]), .header = "2"},
    {"stride_4", PM_PERCENT, ROW(strides[PM_STRIDE_BIN_4]), .header = "4"},
    {"stride_8", PM_PERCENT, ROW(strides[PM_STRIDE_BIN_8]), .header = "8"},
    {"stride_random", PM_PERCENT, ROW(random_share), .header = "RANDOM"},
    {"memory_share", PM_PERCENT, ROW(mix[MEMORY]), .header = "MEMORY"},
    {"integer_share", PM_PERCENT, ROW(mix[INTEGER]), .header = "INTEGER"},
    {"floating_share", PM_PERCENT, ROW(mix[FLOATING]), .header = "FLOATING"},
    {"control_share", PM_PERCENT, ROW(mix[CONTROL]), .header = "CONTROL"},
    {"other_share", PM_PERCENT, ROW(mix[OTHER]), .header = "OTHER"},
    {"mix", PM_JSON_ONLY, .get = mix_value, .json_when = is_block},
    {"hits", PM_JSON_ONLY, .get = hits_value},
    {"hit_rate_1", PM_NUMBER, ROW(hits[0]), .not_in_json = true},
    {"hit_rate_2", PM_NUMBER, ROW(hits[1]), .not_in_json = true},
    {"hit_rate_3", PM_NUMBER, ROW(hits[2]), .not_in_json = true},
    {"hit_rate_4", PM_NUMBER, ROW(hits[3]), .not_in_json = true},
};

static const char *columns_of(enum pm_profile_view view) {
    switch (view) {
    case PM_PROFILE_STRIDES:
        return "label source cumulative_share share stride_0 stride_1 stride_2 stride_4 stride_8 "
               "stride_random";
    case PM_PROFILE_MIX:
        return "label source cumulative_share share memory_share integer_share floating_share "
               "control_share other_share arithmetic_per_reference flops_per_reference";
    default:
        return "label source cumulative_share share flops_per_reference stride_random";
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct profile_rows {
    struct profile_row *rows; /* of all blocks, most references first */
    size_t n;
    struct pm_profiled_block sum; /* of all */
    struct profile_row total;
};

static int by_references(const void *left, const void *right) {
    const struct profile_row *a = left, *b = right;
    return a->block->references != b->block->references
               ? PM_COMPARE(b->block->references, a->block->references)
               : PM_COMPARE(a->block->block, b->block->block);
}

static char *source_of(const struct pm_structure *structure, uint32_t block) {
    const struct pm_block *b = &structure->blocks[block];
    const char *file = b->scope != PM_NONE ? structure->scopes[b->scope].file : NULL;
    return file && b->line ? pm_sprintf("%s:%u", pm_base_name(file), b->line) : pm_strdup("?");
}

static void make_row(struct profile_row *row, const struct pm_structure *structure,
                     const struct pm_block_profile *profile, const struct pm_profiled_block *block,
                     double all_references, double total_mix[N_MIX_KINDS],
                     double *total_arithmetic) {
    double mix[N_MIX_KINDS] = {0};
    const uint32_t scope = pm_mix_scope(structure, block->block, PM_MIX_BLOCK);
    *row = (struct profile_row){.place = {structure, scope},
                                .profile = profile,
                                .block = block,
                                .address = structure->blocks[block->block].address,
                                .label = pm_scope_label(structure, scope),
                                .source = source_of(structure, block->block)};
    const double arithmetic = add_mix(structure, block, mix);
    set_figures(row, mix, arithmetic, all_references);
    for (int kind = 0; kind < N_MIX_KINDS; kind++)
        total_mix[kind] += mix[kind];
    *total_arithmetic += arithmetic;
}

static struct profile_rows make_rows(const struct pm_structure *structure,
                                     const struct pm_block_profile *profile) {
    static char program[] = "program", nothing[] = "";
    struct profile_rows all = {.n = profile->n_blocks, .sum = pm_block_profile_sum(profile)};
    double mix[N_MIX_KINDS] = {0}, arithmetic = 0, references = 0;
    all.rows = pm_alloc(all.n + 1, sizeof *all.rows);
    for (size_t i = 0; i < all.n; i++)
        make_row(&all.rows[i], structure, profile, &profile->blocks[i], all.sum.references, mix,
                 &arithmetic);
    PM_SORT(all.rows, all.n, by_references);
    for (size_t i = 0; i < all.n; i++) {
        references += all.rows[i].block->references;
        all.rows[i].cumulative_share = ratio(references, all.sum.references);
    }
    all.total = (struct profile_row){.place = {structure, 0},
                                     .profile = profile,
                                     .label = program,
                                     .source = nothing,
                                     .cumulative_share = NAN};
    all.total.block = &all.sum;
    set_figures(&all.total, mix, arithmetic, all.sum.references);
    return all; /* whose caller lets total.block point to its own `sum` */
}

static void free_rows(struct profile_rows *all) {
    for (size_t i = 0; i < all->n; i++) {
        free(all->rows[i].label);
        free(all->rows[i].source);
    }
    free(all->rows);
    free(all->sum.misses);
}

/* Rows get the hit rates of the machine whose levels begin at FIRST. */
static void choose_machine(struct profile_rows *all, const char *machine, size_t first, size_t n) {
    for (size_t i = 0; i <= all->n; i++) {
        struct profile_row *row = i < all->n ? &all->rows[i] : &all->total;
        row->machine = machine;
        set_hits(row, first, n);
    }
}

/* ---- the three formats ----------------------------------------------------------------------- */

static bool is_shown(const struct profile_row *row, const struct pm_profile_request *request) {
    return !request->only_random || row->random_share > 0;
}

/* Columns of the hit rates of N levels from FIRST on. */
static void add_hit_columns(struct pm_fields *columns, const struct pm_simulated_level *levels,
                            size_t n, char **heads) {
    for (size_t l = 0; l < n && l < MOST_LEVELS; l++) {
        heads[l] = pm_sprintf("%s HIT %%", levels[l].name);
        *PM_PUSH(columns, fields) = (struct pm_field){
            .name = "hit_rate",
            .kind = PM_NUMBER,
            .header = heads[l],
            .offset = offsetof(struct profile_row, hit_percents) + l * sizeof(double),
            .member = PM_DOUBLE,
        };
    }
}

/* Rows below the least share are one, and so are those behind the most rows. */
static void write_rows(FILE *out, const struct profile_rows *all, struct pm_fields columns,
                       const struct pm_profile_request *request,
                       const struct pm_report_options *options) {
    struct pm_table_rows table = pm_table_begin(columns);
    size_t n_shown = 0, n_left = 0;
    double left = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct profile_row *row = &all->rows[i];
        if (!is_shown(row, request))
            continue;
        const bool fits = !options->max_rows || n_shown < options->max_rows;
        if (fits && 100 * row->share >= options->min_percent) {
            pm_table_row(&table, row);
            n_shown++;
        } else {
            n_left++;
            left += row->share;
        }
    }
    pm_table_row(&table, &all->total);
    pm_table_end(out, &table, NULL, options);
    if (n_left)
        pm_print_line(out, options, "not shown: %zu basic blocks with %s%% of the references",
                      n_left, pm_percent_text(left).text);
}

static void write_machine(FILE *out, struct profile_rows *all, size_t first, size_t n,
                          const struct pm_profile_request *request,
                          const struct pm_report_options *options) {
    const struct pm_simulated_level *levels = all->total.profile->levels + first;
    char *heads[MOST_LEVELS] = {NULL};
    struct pm_fields columns = pm_fields_named(PM_FIELDS(fields), columns_of(request->view));
    choose_machine(all, n ? levels[0].machine : NULL, first, n);
    add_hit_columns(&columns, levels, n, heads);
    if (n) {
        char *text = pm_strdup("");
        for (size_t l = 0; l < n; l++)
            pm_append(&text, "%s%s of %s", l ? ", " : "", levels[l].name,
                      pm_bytes_text(levels[l].size_bytes).text);
        pm_print_title(out, options, "caches of %s: %s", levels[0].machine, text);
        free(text);
    }
    write_rows(out, all, columns, request, options);
    for (size_t l = 0; l < MOST_LEVELS; l++)
        free(heads[l]);
}

/* Calls for each machine; once with no levels if none was simulated. */
#define FOR_MACHINES(profile_, first_, n_)                                                         \
    for (size_t first_ = 0, n_ = machine_levels(profile_, 0), once_ = 1;                           \
         once_ || first_ < (profile_)->n_levels;                                                   \
         once_ = 0, first_ += n_, n_ = machine_levels(profile_, first_))

/* How many levels the machine has whose first is FIRST. */
static size_t machine_levels(const struct pm_block_profile *profile, size_t first) {
    size_t n = 0;
    while (first + n < profile->n_levels &&
           strcmp(profile->levels[first + n].machine, profile->levels[first].machine) == 0)
        n++;
    return n;
}

/* Share of the references in blocks with more references than the window, which then has no address
   of the previous execution. */
static double short_window_share(const struct profile_rows *all) {
    double share = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct profile_row *row = &all->rows[i];
        const struct pm_block *block = &row->place.structure->blocks[row->block->block];
        if (block->n_references > row->profile->stride_window && row->share > 0)
            share += row->share;
    }
    return share;
}

static void write_notes(FILE *out, const struct profile_rows *all,
                        const struct pm_report_options *options) {
    const struct pm_block_profile *profile = all->total.profile;
    const double share = short_window_share(all);
    pm_print_note(out, options,
                  "strides: from the nearest of the last %u addresses of the basic block, in "
                  "elements as large as the access; hit rates: of all references, in this cache or "
                  "one nearer the core",
                  profile->stride_window);
    if (share > 0)
        pm_print_note(out, options,
                      "%s%% of the references are in basic blocks of more than %u, whose addresses "
                      "are not compared with those of the execution before: --stride-window N",
                      pm_percent_text(share).text, profile->stride_window);
    if (all->sum.masked_flops > 0)
        pm_print_note(out, options,
                      "<: at most; %s%% of the floating-point operations are under masks that are "
                      "not known",
                      pm_percent_text(ratio(all->sum.masked_flops, all->sum.flops)).text);
    if (profile->notes)
        pm_print_note(out, options, "%s", profile->notes);
}

static void write_table(FILE *out, struct profile_rows *all, const struct pm_parameters *at,
                        const struct pm_profile_request *request,
                        const struct pm_report_options *options) {
    const struct pm_block_profile *profile = all->total.profile;
    char *size = pm_parameters_text(at);
    pm_print_title(out, options, "%s%s%s: %s references, %s floating-point operations",
                   pm_program_name(all->total.place.structure), *size ? "  " : "", size,
                   pm_count_text(all->sum.references).text, pm_count_text(all->sum.flops).text);
    free(size);
    FOR_MACHINES(profile, first, n)
    write_machine(out, all, first, n, request, options);
    write_notes(out, all, options);
}

/* Levels are numbered in the names of CSV's fields. */
static void write_csv(FILE *out, struct profile_rows *all,
                      const struct pm_profile_request *request) {
    struct pm_csv_lines lines = pm_csv_begin(
        out, PM_FIELDS(fields),
        "label block address key source machine share cumulative_share executions references bytes "
        "flops masked_flops flops_per_reference arithmetic_per_reference stride_0 stride_1 "
        "stride_2 "
        "stride_4 stride_8 stride_random memory_share integer_share floating_share control_share "
        "other_share hit_rate_1 hit_rate_2 hit_rate_3 hit_rate_4");
    FOR_MACHINES(all->total.profile, first, n) {
        choose_machine(all, n ? all->total.profile->levels[first].machine : NULL, first, n);
        for (size_t i = 0; i < all->n; i++)
            if (is_shown(&all->rows[i], request))
                pm_csv_line(&lines, &all->rows[i]);
    }
    pm_csv_end(&lines);
}

static const struct pm_field level_fields[] = {
    {"machine", PM_TEXT, PM_MEMBER(struct pm_simulated_level, machine)},
    {"level", PM_TEXT, PM_MEMBER(struct pm_simulated_level, name)},
    {"size_bytes", PM_INTEGER, PM_MEMBER(struct pm_simulated_level, size_bytes)},
    {"line_bytes", PM_INTEGER, PM_MEMBER(struct pm_simulated_level, line_bytes)},
    {"ways", PM_POSITIVE, PM_MEMBER(struct pm_simulated_level, ways)},
};

static void write_json(FILE *out, const struct profile_rows *all, const struct pm_parameters *at,
                       const struct pm_profile_request *request) {
    const struct pm_block_profile *profile = all->total.profile;
    json_t *document = pm_program_document("profile", all->total.place.structure);
    json_t *blocks = json_array();
    json_object_set_new(document, "parameters", pm_json_parameters(at));
    json_object_set_new(document, "stride_window", pm_json_integer(profile->stride_window));
    json_object_set_new(document, "cpu_seconds", pm_json_number(profile->cpu_seconds));
    json_object_set_new(document, "short_window_share", pm_json_number(short_window_share(all)));
    json_object_set_new(document, "levels",
                        pm_fields_array(PM_FIELDS(level_fields), profile->levels, profile->n_levels,
                                        sizeof *profile->levels));
    json_object_set_new(document, "total", PM_JSON_OBJECT(fields, &all->total));
    for (size_t i = 0; i < all->n; i++)
        if (is_shown(&all->rows[i], request))
            json_array_append_new(blocks, PM_JSON_OBJECT(fields, &all->rows[i]));
    json_object_set_new(document, "blocks", blocks);
    pm_json_print(out, document);
}

void pm_report_block_profile(FILE *out, const struct pm_structure *structure,
                             const struct pm_parameters *at, const struct pm_block_profile *profile,
                             const struct pm_profile_request *request,
                             const struct pm_report_options *options) {
    struct profile_rows all = make_rows(structure, profile);
    all.total.block = &all.sum;
    if (options->format == PM_REPORT_JSON)
        write_json(out, &all, at, request);
    else if (options->format == PM_REPORT_CSV)
        write_csv(out, &all, request);
    else
        write_table(out, &all, at, request, options);
    free_rows(&all);
}
