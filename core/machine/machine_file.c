/* Machine files: libconfuse text → struct pm_machine.

   libconfuse parses and calls back: for every figure and word (values.c checks them) and at the end
   of every section (which becomes a row of the machine at once).  Its callbacks carry no pointer of
   ours, so the reader that is at work stands in a variable of the thread.  The format is described
   in machines/README.md. */
#include "core/machine/machine.h"

#include <confuse.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/machine/private.h"
#include "core/prediction.h"

enum { MAX_FILE_BYTES = 1 << 20 };

struct reader {
    const char *path;
    struct pm_machine *machine;
    PM_ARRAY(struct pm_cost, costs);
    PM_ARRAY(struct pm_level, levels);
    struct pm_error *err;
    bool failed;
};

static _Thread_local struct reader *reading;

/* Keeps the first mistake only: what follows it is mostly its consequence. */
static void __attribute__((format(printf, 2, 0)))
fail_at(int line, const char *format, va_list arguments) {
    if (reading->failed)
        return;
    reading->failed = true;
    char text[PM_ERROR_TEXT_SIZE / 2];
    vsnprintf(text, sizeof text, format, arguments);
    pm_fail(reading->err, "%s:%d: %s", reading->path, line, text);
}

static void on_confuse_error(cfg_t *cfg, const char *format, va_list arguments) {
    fail_at(cfg ? cfg->line : 0, format, arguments);
}

int pm_machine_refuse(const cfg_t *cfg, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_at(cfg->line, format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- what a section gives -------------------------------------------------------------------- */

static bool is_given(cfg_t *cfg, const char *name) { return cfg_size(cfg, name) > 0; }

static bool need(cfg_t *section, int line, const char *what, const char *const *names) {
    for (; *names; names++)
        if (!is_given(section, *names)) {
            cfg_t at = {.line = line};
            pm_machine_refuse(&at, "%s has no `%s`", what, *names);
            return false;
        }
    return true;
}

/* How many figures and words of SECTION are marked: all with `verified = false`, else those that
   `not_verified` names; −1 after a mistake. */
static int count_not_verified(cfg_t *section, int line) {
    int given = 0;
    for (cfg_opt_t *opt = section->opts; opt->name; opt++)
        given += pm_machine_is_value(opt->name) && cfg_opt_size(opt) > 0;
    if (!cfg_getbool(section, "verified"))
        return given;
    unsigned marked = cfg_size(section, "not_verified");
    for (unsigned i = 0; i < marked; i++) {
        const char *name = cfg_getnstr(section, "not_verified", i);
        cfg_t at = {.line = line};
        bool known = false;
        for (cfg_opt_t *opt = section->opts; opt->name; opt++)
            known |=
                strcmp(opt->name, name) == 0 && pm_machine_is_value(name) && cfg_opt_size(opt) > 0;
        if (!known)
            return pm_machine_refuse(
                &at, "`not_verified` names `%s`, which is no figure given here", name);
    }
    return (int)marked;
}

/* ---- sections -------------------------------------------------------------------------------- */

static cfg_t *last_section(cfg_opt_t *opt) { return cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1); }

static int on_unit(cfg_t *cfg, cfg_opt_t *opt) {
    struct pm_machine *machine = reading->machine;
    if (machine->n_units == PM_MACHINE_MAX_UNITS)
        return pm_machine_refuse(cfg, "more than %d units", PM_MACHINE_MAX_UNITS);
    machine->units[machine->n_units++].name = pm_strdup(cfg_title(last_section(opt)));
    return 0;
}

static int on_unit_name(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result) {
    const struct pm_machine *machine = reading->machine;
    (void)opt;
    for (size_t i = 0; i < machine->n_units; i++)
        if (strcmp(machine->units[i].name, text) == 0) {
            *(const char **)result = machine->units[i].name;
            return 0;
        }
    return pm_machine_refuse(
        cfg, "there is no unit `%s` (a `unit` section must stand above its use)", text);
}

static int on_class_name(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result) {
    enum pm_op_class op_class;
    (void)opt;
    if (!pm_op_class_from_name(text, &op_class) || op_class == PM_OP_UNKNOWN)
        return pm_machine_refuse(
            cfg, "there is no operation class `%s` (machines/README.md lists them)", text);
    *(const char **)result = pm_op_class_name(op_class);
    return 0;
}

static uint64_t unit_set(cfg_t *section) {
    const struct pm_machine *machine = reading->machine;
    uint64_t set = 0;
    for (unsigned i = 0; i < cfg_size(section, "units"); i++)
        for (size_t unit = 0; unit < machine->n_units; unit++)
            if (strcmp(machine->units[unit].name, cfg_getnstr(section, "units", i)) == 0)
                set |= UINT64_C(1) << unit;
    return set;
}

/* One row for each class of the section. */
static int on_cost(cfg_t *cfg, cfg_opt_t *opt) {
    static const char *const required[] = {"latency", NULL};
    cfg_t *section = last_section(opt);
    unsigned n_classes = cfg_size(section, "of");
    bool is_free = cfg_getbool(section, "free");
    uint64_t units = unit_set(section);
    if (!n_classes)
        return pm_machine_refuse(cfg, "the `cost` section has no class: write `of = {fp_add, …}`");
    if (!need(section, cfg->line, "the `cost` section", required))
        return -1;
    if (is_free == (units != 0))
        return pm_machine_refuse(cfg,
                                 "the `cost` section needs either `units = {…}` or `free = true`");
    int marked = count_not_verified(section, cfg->line);
    if (marked < 0)
        return -1;
    reading->machine->n_not_verified += (size_t)marked;

    struct pm_cost row = {
        .width_bits = (uint32_t)cfg_getfloat(section, "width"),
        .element_bytes = (uint32_t)cfg_getfloat(section, "element"),
        .latency_cycles = cfg_getfloat(section, "latency"),
        .repeat_cycles = is_given(section, "repeat") ? cfg_getfloat(section, "repeat") : 1,
        .units = units,
        .operations =
            is_given(section, "operations") ? (uint32_t)cfg_getfloat(section, "operations") : 1,
        .verified = marked == 0};
    for (unsigned i = 0; i < n_classes; i++) {
        pm_op_class_from_name(cfg_getnstr(section, "of", i), &row.op_class);
        for (size_t k = 0; k < reading->n_costs; k++)
            if (reading->costs[k].op_class == row.op_class &&
                reading->costs[k].width_bits == row.width_bits &&
                reading->costs[k].element_bytes == row.element_bytes)
                return pm_machine_refuse(cfg,
                                         "a second cost of `%s` for the same `width` and `element`",
                                         pm_op_class_name(row.op_class));
        *PM_PUSH(reading, costs) = row;
    }
    return 0;
}

/* Sets and their ways; a size that is not a number of blocks was refused before. */
static int check_sets(cfg_t *cfg, const char *title, const struct pm_level *level) {
    const char *kind = level->kind == PM_LEVEL_TLB ? "tlb" : "cache";
    const char *blocks_word = level->kind == PM_LEVEL_TLB ? "entries" : "lines";
    uint64_t blocks = level->size_bytes / level->block_bytes;
    uint64_t ways = level->associativity ? level->associativity : blocks;
    if (blocks % ways)
        return pm_machine_refuse(
            cfg, "%s `%s`: its %llu %s are not a whole number of sets of `ways = %llu`", kind,
            title, (unsigned long long)blocks, blocks_word, (unsigned long long)ways);
    if (level->replacement == PM_REPLACEMENT_PLRU && (ways & (ways - 1)))
        return pm_machine_refuse(
            cfg, "%s `%s`: `replacement = plru` needs a power of two of ways, not %llu", kind,
            title, (unsigned long long)ways);
    return 0;
}

static int check_inclusion(cfg_t *cfg, const char *title, const struct pm_level *level) {
    const struct pm_level *before = NULL;
    for (size_t i = 0; i < reading->n_levels; i++)
        if (reading->levels[i].kind == PM_LEVEL_CACHE)
            before = &reading->levels[i];
    if (level->inclusion == PM_INCLUSION_NEITHER)
        return 0;
    if (!before)
        return pm_machine_refuse(
            cfg, "cache `%s`: no cache stands above it, which `inclusion` could be towards", title);
    if (level->inclusion == PM_INCLUSION_EXCLUSIVE && before->block_bytes != level->block_bytes)
        return pm_machine_refuse(
            cfg, "cache `%s`: `inclusion = exclusive` needs the line of `%s` above it, %llu bytes",
            title, before->name, (unsigned long long)before->block_bytes);
    return 0;
}

static int add_level(cfg_t *cfg, cfg_t *section, struct pm_level level) {
    int marked = count_not_verified(section, cfg->line);
    if (marked < 0)
        return -1;
    if (reading->n_levels == PM_MAX_LEVELS)
        return pm_machine_refuse(cfg, "more than %d caches and TLBs", PM_MAX_LEVELS);
    for (size_t i = 0; i < reading->n_levels; i++)
        if (strcmp(reading->levels[i].name, cfg_title(section)) == 0)
            return pm_machine_refuse(cfg, "a second level of the name `%s`", cfg_title(section));
    level.associativity = (uint32_t)cfg_getfloat(section, "ways");
    level.replacement = (enum pm_replacement)cfg_getint(section, "replacement");
    level.unified = cfg_getint(section, "unified");
    if (check_sets(cfg, cfg_title(section), &level) ||
        check_inclusion(cfg, cfg_title(section), &level))
        return -1;
    reading->machine->n_not_verified += (size_t)marked;
    level.name = pm_strdup(cfg_title(section));
    level.miss_penalty_cycles = cfg_getfloat(section, "miss_penalty");
    level.exposed = cfg_getfloat(section, "exposed");
    level.verified = marked == 0;
    *PM_PUSH(reading, levels) = level;
    return 0;
}

static int on_cache(cfg_t *cfg, cfg_opt_t *opt) {
    static const char *const required[] = {"size",         "line",    "ways", "latency",
                                           "miss_penalty", "exposed", NULL};
    cfg_t *section = last_section(opt);
    if (!need(section, cfg->line, "the `cache` section", required))
        return -1;
    struct pm_level level = {.kind = PM_LEVEL_CACHE,
                             .size_bytes = (uint64_t)cfg_getfloat(section, "size"),
                             .block_bytes = (uint64_t)cfg_getfloat(section, "line"),
                             .latency_cycles = cfg_getfloat(section, "latency"),
                             .shared_by = is_given(section, "shared_by")
                                              ? (uint32_t)cfg_getfloat(section, "shared_by")
                                              : 1,
                             .indexed = (enum pm_indexing)cfg_getint(section, "indexed"),
                             .inclusion = (enum pm_inclusion)cfg_getint(section, "inclusion"),
                             .write = (enum pm_write_policy)cfg_getint(section, "write"),
                             .write_allocate = !is_given(section, "write_allocate") ||
                                               cfg_getint(section, "write_allocate")};
    if (level.size_bytes % level.block_bytes)
        return pm_machine_refuse(cfg, "cache `%s`: its size is not a multiple of its line",
                                 cfg_title(section));
    for (size_t i = 0; i < reading->n_levels; i++)
        if (reading->levels[i].kind == PM_LEVEL_CACHE &&
            reading->levels[i].size_bytes > level.size_bytes)
            return pm_machine_refuse(
                cfg,
                "cache `%s` is smaller than `%s` above it: caches stand in order from "
                "the core outwards",
                cfg_title(section), reading->levels[i].name);
    return add_level(cfg, section, level);
}

static int on_tlb(cfg_t *cfg, cfg_opt_t *opt) {
    static const char *const required[] = {"entries", "page", "miss_penalty", "exposed", NULL};
    cfg_t *section = last_section(opt);
    if (!need(section, cfg->line, "the `tlb` section", required))
        return -1;
    double bytes = cfg_getfloat(section, "entries") * cfg_getfloat(section, "page");
    if (bytes > 0x1p62)
        return pm_machine_refuse(cfg, "tlb `%s` maps more than an address space",
                                 cfg_title(section));
    struct pm_level level = {.kind = PM_LEVEL_TLB,
                             .size_bytes = (uint64_t)bytes,
                             .block_bytes = (uint64_t)cfg_getfloat(section, "page"),
                             .shared_by = 1,
                             .write_allocate = true};
    return add_level(cfg, section, level);
}

/* ---- the file -------------------------------------------------------------------------------- */

#define FIGURE(name) CFG_FLOAT_CB(name, 0, CFGF_NODEFAULT, pm_machine_figure)
#define WORD(name) CFG_INT_CB(name, 0, CFGF_NODEFAULT, pm_machine_word)
#define TRUST CFG_BOOL("verified", cfg_true, CFGF_NONE), CFG_STR_LIST("not_verified", 0, CFGF_NONE)

/* The figures outside sections; MARKED of them are not verified. */
static void take_machine(cfg_t *cfg, int marked) {
    struct pm_machine *machine = reading->machine;
    machine->title = pm_strdup(cfg_getstr(cfg, "title"));
    machine->sources = pm_strdup(is_given(cfg, "sources") ? cfg_getstr(cfg, "sources") : "");
    machine->clock_hz = cfg_getfloat(cfg, "clock_mhz") * 1e6;
    machine->issue_width = cfg_getfloat(cfg, "issue_width");
    machine->vector_width_bits = (uint32_t)cfg_getfloat(cfg, "vector_width");
    machine->window = (uint32_t)cfg_getfloat(cfg, "window");
    machine->store_forward_cycles = cfg_getfloat(cfg, "store_forward_latency");
    machine->memory_bandwidth_bytes_per_cycle =
        cfg_getfloat(cfg, "memory_bandwidth_gbs") * 1e9 / machine->clock_hz;
    machine->out_of_order = cfg_getbool(cfg, "out_of_order");
    machine->has_fma = cfg_getbool(cfg, "fma");
    machine->fuses_memory = is_given(cfg, "fuses_memory") && cfg_getbool(cfg, "fuses_memory");
    machine->n_not_verified += (size_t)marked;
}

static bool parse_text(const char *text) {
    cfg_opt_t unit[] = {CFG_STR("does", 0, CFGF_NODEFAULT), CFG_END()};
    cfg_opt_t cost[] = {CFG_STR_LIST_CB("of", 0, CFGF_NODEFAULT, on_class_name),
                        FIGURE("width"),
                        FIGURE("element"),
                        FIGURE("latency"),
                        FIGURE("repeat"),
                        FIGURE("operations"),
                        CFG_STR_LIST_CB("units", 0, CFGF_NODEFAULT, on_unit_name),
                        CFG_BOOL("free", cfg_false, CFGF_NONE),
                        CFG_STR("source", 0, CFGF_NODEFAULT),
                        TRUST,
                        CFG_END()};
    cfg_opt_t cache[] = {FIGURE("size"),
                         FIGURE("line"),
                         FIGURE("ways"),
                         FIGURE("latency"),
                         FIGURE("miss_penalty"),
                         FIGURE("exposed"),
                         FIGURE("shared_by"),
                         WORD("replacement"),
                         WORD("unified"),
                         WORD("indexed"),
                         WORD("inclusion"),
                         WORD("write"),
                         WORD("write_allocate"),
                         CFG_STR("source", 0, CFGF_NODEFAULT),
                         TRUST,
                         CFG_END()};
    cfg_opt_t tlb[] = {FIGURE("entries"),
                       FIGURE("page"),
                       FIGURE("ways"),
                       WORD("replacement"),
                       WORD("unified"),
                       FIGURE("miss_penalty"),
                       FIGURE("exposed"),
                       CFG_STR("source", 0, CFGF_NODEFAULT),
                       TRUST,
                       CFG_END()};
    cfg_opt_t top[] = {CFG_STR("title", 0, CFGF_NODEFAULT),
                       CFG_STR("sources", 0, CFGF_NODEFAULT),
                       FIGURE("clock_mhz"),
                       FIGURE("issue_width"),
                       FIGURE("vector_width"),
                       FIGURE("window"),
                       FIGURE("store_forward_latency"),
                       FIGURE("memory_bandwidth_gbs"),
                       CFG_BOOL("out_of_order", cfg_false, CFGF_NODEFAULT),
                       CFG_BOOL("fma", cfg_false, CFGF_NODEFAULT),
                       CFG_BOOL("fuses_memory", cfg_false, CFGF_NODEFAULT),
                       TRUST,
                       CFG_SEC("unit", unit, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
                       CFG_SEC("cost", cost, CFGF_MULTI),
                       CFG_SEC("cache", cache, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
                       CFG_SEC("tlb", tlb, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
                       CFG_END()};
    static const char *const required[] = {
        "title", "clock_mhz", "issue_width", "vector_width", "out_of_order", "fma", NULL};

    cfg_t *cfg = cfg_init(top, CFGF_NONE);
    if (!cfg)
        return pm_fail(reading->err, "%s: libconfuse could not be initialised", reading->path);
    cfg_set_error_function(cfg, on_confuse_error);
    cfg_set_validate_func(cfg, "unit", on_unit);
    cfg_set_validate_func(cfg, "cost", on_cost);
    cfg_set_validate_func(cfg, "cache", on_cache);
    cfg_set_validate_func(cfg, "tlb", on_tlb);
    bool parsed = cfg_parse_buf(cfg, text) == CFG_SUCCESS && !reading->failed;
    int marked = 0;
    if (parsed)
        parsed = need(cfg, cfg->line, "the file", required) &&
                 (marked = count_not_verified(cfg, cfg->line)) >= 0;
    if (parsed)
        take_machine(cfg, marked);
    cfg_free(cfg);
    if (!parsed && !reading->failed)
        pm_fail(reading->err, "%s: not a machine file", reading->path);
    return parsed;
}

/* The machine's arrays from the reader's; levels: caches first, then TLBs, both in file order. */
static bool take_rows(struct reader *reader) {
    struct pm_machine *machine = reader->machine;
    machine->costs = reader->costs;
    machine->n_costs = reader->n_costs;
    machine->levels = pm_alloc(reader->n_levels, sizeof *machine->levels);
    for (int kind = PM_LEVEL_CACHE; kind <= PM_LEVEL_TLB; kind++)
        for (size_t i = 0; i < reader->n_levels; i++)
            if (reader->levels[i].kind == kind)
                machine->levels[machine->n_levels++] = reader->levels[i];
    free(reader->levels);
    if (reader->failed)
        return false;
    if (!machine->n_costs)
        return pm_fail(reader->err, "%s: has no `cost` section, so nothing could be scheduled",
                       reader->path);
    if (!machine->n_levels || machine->levels[0].kind != PM_LEVEL_CACHE)
        return pm_fail(reader->err, "%s: has no `cache` section", reader->path);
    return true;
}

/* libconfuse's scanner ends the process when a read fails (a directory is enough), so the file is
   read here. */
static char *read_text(const char *path, struct pm_error *err) {
    FILE *file = fopen(path, "re");
    if (!file) {
        int reason = errno;
        pm_fail_errno(err, "cannot open machine file %s", path);
        if (err && (reason == ENOENT || reason == ENOTDIR))
            err->kind = PM_ERROR_INPUT; /* a name that the user got wrong */
        return NULL;
    }
    char *text = pm_alloc(MAX_FILE_BYTES + 1, 1);
    size_t bytes = fread(text, 1, MAX_FILE_BYTES + 1, file);
    bool bad = true;
    if (ferror(file) && errno == EISDIR)
        pm_fail(err, "%s is a directory, not a machine file", path);
    else if (ferror(file))
        pm_fail_errno(err, "cannot read machine file %s", path);
    else if (bytes > MAX_FILE_BYTES)
        pm_fail(err, "%s: larger than %d bytes, so not a machine file", path, MAX_FILE_BYTES);
    else if (memchr(text, 0, bytes))
        pm_fail(err, "%s: holds zero bytes, so not a machine file (a text file is expected)", path);
    else
        bad = false;
    fclose(file);
    if (bad) {
        free(text);
        return NULL;
    }
    text[bytes] = 0;
    return text;
}

static char *name_of(const char *path) {
    char *name = pm_strdup(pm_base_name(path));
    char *suffix = strstr(name, ".conf");
    if (suffix && suffix != name && !suffix[5])
        *suffix = 0;
    return name;
}

struct pm_machine *pm_machine_read(const char *path, struct pm_error *err) {
    char *text = read_text(path, err);
    if (!text)
        return NULL;
    pm_machine_blank_comments(text);
    struct pm_machine *machine = pm_alloc(1, sizeof *machine);
    machine->path = pm_strdup(path);
    machine->name = name_of(path);
    struct pm_error ignored = {0};
    struct reader reader = {.path = path, .machine = machine, .err = err ? err : &ignored};
    reading = &reader;
    bool parsed = parse_text(text);
    reading = NULL;
    free(text);
    reader.failed |= !parsed;
    if (take_rows(&reader))
        return machine;
    pm_machine_free(machine);
    return NULL;
}
