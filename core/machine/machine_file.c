/* Machine files: libconfuse text → struct pm_machine.

   libconfuse parses and calls back: for every figure and word, whose value is checked while its
   line is known, and at the end of every section, which becomes part of the machine at once
   (sections.c). A file that begins with `include = "NAME"` changes that machine: NAME is read
   first.  The format is described in machines/README.md. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

enum { MAX_FILE_BYTES = 1 << 20, MOST_INCLUDES = 8 };

_Thread_local struct pm_machine_reader *pm_machine_reading;

/* ---- mistakes -------------------------------------------------------------------------------- */

static void keep_mistake(const char *path, int line, const char *sentence) {
    struct pm_mistake *mistake = pm_machine_reading->options->mistake;
    if (!mistake)
        return;
    pm_mistake_free(mistake);
    *mistake =
        (struct pm_mistake){.path = pm_strdup(path), .line = line, .sentence = pm_strdup(sentence)};
}

static void __attribute__((format(printf, 3, 0)))
fail_at(const char *path, int line, const char *format, va_list arguments) {
    struct pm_machine_reader *reader = pm_machine_reading;
    if (reader->failed)
        return;
    reader->failed = true;
    char text[PM_ERROR_TEXT_SIZE / 2];
    vsnprintf(text, sizeof text, format, arguments);
    if (line > 0)
        pm_fail(reader->err, "%s:%d: %s", path, line, text);
    else
        pm_fail(reader->err, "%s: %s", path, text);
    keep_mistake(path, line, text);
}

static void on_confuse_error(cfg_t *cfg, const char *format, va_list arguments) {
    fail_at(pm_machine_reading->path, cfg ? cfg->line : 0, format, arguments);
}

int pm_machine_refuse(int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_at(pm_machine_reading->path, line, format, arguments);
    va_end(arguments);
    return -1;
}

int pm_machine_refuse_at(const struct pm_trust *trust, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_at(trust->path ? trust->path : pm_machine_reading->machine->path, trust->line, format,
            arguments);
    va_end(arguments);
    return -1;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

/* Checks a value where its line is known. */
static int on_value(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result) {
    const struct pm_machine_section *section = pm_section_named(cfg->name);
    const struct pm_machine_field *field = &section->fields[pm_field_named(section, opt->name)];
    struct pm_machine_value value;
    struct pm_error why = {0};
    if (!pm_value_parse(field, text, &value, &why))
        return pm_machine_refuse(cfg->line, "%s", why.text);
    *(const char **)result = text;
    return 0;
}

static cfg_t *last_section(cfg_opt_t *opt) { return cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1); }

static int on_section(cfg_t *cfg, cfg_opt_t *opt) {
    static const struct {
        const char *name;
        int (*take)(cfg_t *section, int line);
    } kinds[] = {{"unit", pm_take_unit},     {"cost", pm_take_cost},
                 {"bypass", pm_take_bypass}, {"foreign", pm_take_foreign},
                 {"cache", pm_take_cache},   {"tlb", pm_take_tlb},
                 {"memory", pm_take_memory}, {"prefetcher", pm_take_prefetcher},
                 {"curve", pm_take_curve}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, opt->name) == 0)
            return kinds[i].take(last_section(opt), cfg->line);
    return 0;
}

static int on_include(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result) {
    if (strcmp(pm_machine_reading->source_tag ? pm_machine_reading->source_tag : "", text) != 0)
        return pm_machine_refuse(cfg->line, "`%s` stands first in a file, and once", opt->name);
    *(const char **)result = text;
    return 0;
}

/* ---- one file -------------------------------------------------------------------------------- */

enum { MOST_OPTIONS = 64 };

/* What may stand in sections of a kind: its fields, what EXTRA lists besides, and trust. */
static void fill_options(enum pm_machine_section_kind number, const cfg_opt_t *extra,
                         cfg_opt_t options[MOST_OPTIONS]) {
    const struct pm_machine_section *section = &pm_sections[number];
    size_t n = 0;
    for (size_t i = 0; i < section->n_fields; i++) {
        const char *name = section->fields[i].name;
        if (section->fields[i].type == PM_FIELD_LIST)
            options[n++] = (cfg_opt_t)CFG_STR_LIST(name, 0, CFGF_NODEFAULT);
        else
            options[n++] = (cfg_opt_t)CFG_STR_CB(name, 0, CFGF_NODEFAULT, on_value);
    }
    while (extra && extra->name)
        options[n++] = *extra++;
    options[n++] = (cfg_opt_t)CFG_STR("source", 0, CFGF_NODEFAULT);
    options[n++] = (cfg_opt_t)CFG_BOOL("verified", cfg_true, CFGF_NONE);
    options[n++] = (cfg_opt_t)CFG_STR_LIST("not_verified", 0, CFGF_NONE);
    options[n] = (cfg_opt_t)CFG_END();
}

static bool parse_text(const char *text) {
    static cfg_opt_t of_cost[] = {CFG_STR_LIST("of", 0, CFGF_NODEFAULT),
                                  CFG_STR_LIST("mnemonic", 0, CFGF_NODEFAULT),
                                  CFG_BOOL("free", cfg_false, CFGF_NONE), CFG_END()};
    static cfg_opt_t of_bypass[] = {CFG_STR_LIST("from", 0, CFGF_NODEFAULT),
                                    CFG_STR_LIST("to", 0, CFGF_NODEFAULT), CFG_END()};
    static cfg_opt_t of_hits[] = {CFG_STR_LIST("share", 0, CFGF_NODEFAULT), CFG_END()};
    static cfg_opt_t of_curve[] = {CFG_SEC("hits", of_hits, CFGF_MULTI | CFGF_TITLE), CFG_END()};
    static const cfg_opt_t *const extras[PM_N_SECTIONS] = {[PM_SECTION_COST] = of_cost,
                                                           [PM_SECTION_BYPASS] = of_bypass,
                                                           [PM_SECTION_CURVE] = of_curve};
    cfg_opt_t options[PM_N_SECTIONS][MOST_OPTIONS];
    cfg_opt_t of_root[PM_N_SECTIONS + 2] = {CFG_STR_CB("include", 0, CFGF_NODEFAULT, on_include)};
    for (int kind = PM_SECTION_ROOT + 1; kind < PM_N_SECTIONS; kind++) {
        bool has_title =
            kind != PM_SECTION_COST && kind != PM_SECTION_BYPASS && kind != PM_SECTION_MEMORY;
        cfg_flag_t flags = CFGF_MULTI | (has_title ? CFGF_TITLE | CFGF_NO_TITLE_DUPES : CFGF_NONE);
        fill_options(kind, extras[kind], options[kind]);
        of_root[kind] = (cfg_opt_t)CFG_SEC(pm_sections[kind].name, options[kind], flags);
    }
    of_root[PM_N_SECTIONS] = (cfg_opt_t)CFG_STR_CB("neighbour", 0, CFGF_NODEFAULT, on_include);
    of_root[PM_N_SECTIONS + 1] = (cfg_opt_t)CFG_END();
    fill_options(PM_SECTION_ROOT, of_root, options[PM_SECTION_ROOT]);

    cfg_t *cfg = cfg_init(options[PM_SECTION_ROOT], CFGF_NONE);
    if (!cfg)
        return pm_machine_refuse(0, "libconfuse could not be initialised") == 0;
    cfg_set_error_function(cfg, on_confuse_error);
    for (int kind = PM_SECTION_ROOT + 1; kind < PM_N_SECTIONS; kind++)
        cfg_set_validate_func(cfg, pm_sections[kind].name, on_section);
    bool parsed = cfg_parse_buf(cfg, text) == CFG_SUCCESS && !pm_machine_reading->failed &&
                  pm_take_root(cfg, 0) == 0;
    cfg_free(cfg);
    if (!parsed)
        pm_machine_refuse(0, "not a machine file");
    return parsed;
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

/* ---- includes -------------------------------------------------------------------------------- */

/* What a file without comments that begins with `include = NAME`, or `neighbour = NAME`, includes;
   NULL: it does not.  Owned by the caller. */
static char *included_name(const char *text, int *line, bool *is_neighbour) {
    static const char *const words[] = {"include", "neighbour"};
    *line = 1;
    for (; strchr(" \t\r\n", *text) && *text; text++)
        *line += *text == '\n';
    *is_neighbour = strncmp(text, words[1], strlen(words[1])) == 0;
    const char *word = words[*is_neighbour];
    if (strncmp(text, word, strlen(word)) != 0)
        return NULL;
    text += strlen(word);
    text += strspn(text, " \t");
    if (*text != '=')
        return NULL;
    text++;
    text += strspn(text, " \t");
    char quote[2] = {*text, '\0'};
    bool is_quoted = *text == '"' || *text == '\'';
    size_t length = is_quoted ? strcspn(++text, quote) : strcspn(text, " \t\r\n#{}");
    char *name = pm_sprintf("%.*s", (int)length, text);
    return name;
}

/* Beside the file that includes, else where machines are found by name. */
static char *included_path(const char *name, struct pm_error *err) {
    const char *path = pm_machine_reading->path, *slash = strrchr(path, '/');
    const char *suffix = strchr(name, '/') || strstr(name, ".conf") ? "" : ".conf";
    char *beside = *name == '/' ? pm_sprintf("%s%s", name, suffix)
                                : pm_sprintf("%.*s%s%s", slash ? (int)(slash - path + 1) : 0, path,
                                             name, suffix);
    FILE *file = fopen(beside, "re");
    if (file) {
        fclose(file);
        return beside;
    }
    if (pm_machine_reading->options->find) {
        free(beside);
        return pm_machine_reading->options->find(name, err);
    }
    pm_fail(err, "there is no machine file %s", beside);
    free(beside);
    return NULL;
}

static bool read_file(const char *path);

static bool is_being_read(const char *path) {
    const struct pm_machine *machine = pm_machine_reading->machine;
    for (size_t i = 0; i < machine->n_paths; i++)
        if (strcmp(machine->paths[i], path) == 0)
            return true;
    return false;
}

/* What the included file's sections say of their sources is about its list of sources. */
static void tag_source(void *context, const struct pm_machine_section *section, const char *name,
                       void *content) {
    (void)name;
    const char *tag = context;
    struct pm_trust *trust = pm_trust_of(section, content);
    if (!trust->source || trust->path != pm_machine_reading->path)
        return;
    char *tagged = pm_sprintf("%s %s", tag, trust->source);
    free(trust->source);
    trust->source = tagged;
}

/* Another machine's figures stand in for those that are not known. */
static void mark_all(void *context, const struct pm_machine_section *section, const char *name,
                     void *content) {
    struct pm_trust *trust = pm_trust_of(section, content);
    (void)context;
    (void)name;
    for (size_t i = 0; i < section->n_fields; i++)
        if (pm_field_is_figure(&section->fields[i]))
            trust->unverified |= trust->given & (UINT64_C(1) << i);
}

/* Reads the file that NAME stands for; its sources are then cited by NAME. */
static bool read_included(const char *name, int line, bool is_neighbour) {
    struct pm_machine_reader *reader = pm_machine_reading;
    struct pm_machine *machine = reader->machine;
    struct pm_error why = {0};
    const char *includer = reader->path;
    char *path = included_path(name, &why);
    bool ok = false;
    if (!path)
        pm_machine_refuse(line, "`include = %s`: %s", name, why.text);
    else if (is_being_read(path) || machine->n_paths == MOST_INCLUDES)
        pm_machine_refuse(line, "`include = %s`: the files include each other in a circle", name);
    else
        ok = read_file(path);
    if (ok) {
        pm_visit_sections(machine, tag_source, (void *)name); /* reader->path is still PATH's */
        if (is_neighbour)
            pm_visit_sections(machine, mark_all, NULL);
        char *sources = machine->sources;
        machine->sources = pm_sprintf("%s: %s", name, sources ? sources : "not said");
        free(sources);
        pm_append(&machine->includes, "%s%s", machine->includes ? ", " : "", name);
    }
    free(path);
    reader->path = includer;
    return ok;
}

/* Reads the file at PATH into the machine, after what it includes.  The reader's path stays at it.
 */
static bool read_file(const char *path) {
    struct pm_machine_reader *reader = pm_machine_reading;
    struct pm_machine *machine = reader->machine;
    const char *tag = reader->source_tag;
    char *text = read_text(path, reader->err);
    if (!text) {
        reader->failed = true;
        return false;
    }
    *PM_PUSH(machine, paths) = pm_strdup(path);
    reader->path = machine->paths[machine->n_paths - 1];
    pm_machine_blank_comments(text);
    int line;
    bool is_neighbour;
    char *name = included_name(text, &line, &is_neighbour);
    bool ok = !name || read_included(name, line, is_neighbour);
    char *inherited = machine->sources;
    machine->sources = NULL;
    reader->source_tag = name;
    ok = ok && parse_text(text);
    reader->source_tag = tag;
    if (inherited && machine->sources)
        pm_append(&machine->sources, "; %s", inherited);
    else if (inherited)
        machine->sources = pm_strdup(inherited);
    free(inherited);
    free(name);
    free(text);
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static char *name_of(const char *path) {
    char *name = pm_strdup(pm_base_name(path));
    char *suffix = strstr(name, ".conf");
    if (suffix && suffix != name && !suffix[5])
        *suffix = 0;
    return name;
}

struct pm_machine *pm_machine_read_with(const char *path, const struct pm_machine_options *options,
                                        struct pm_error *err) {
    struct pm_machine *machine = pm_alloc(1, sizeof *machine);
    machine->path = pm_strdup(path);
    machine->name = name_of(path);
    struct pm_error ignored = {0};
    struct pm_machine_reader reader = {
        .path = machine->path, .machine = machine, .options = options, .err = err ? err : &ignored};
    pm_machine_reading = &reader;
    bool ok = read_file(path);
    for (size_t i = 0; ok && i < options->n_settings; i++)
        ok = pm_machine_set(options->settings[i]);
    reader.path = machine->path;
    ok = ok && pm_machine_check();
    if (ok && machine->changes)
        pm_append(&machine->name, " (%s)", machine->changes);
    pm_machine_reading = NULL;
    if (ok)
        return machine;
    pm_machine_free(machine);
    return NULL;
}

struct pm_machine *pm_machine_read(const char *path, struct pm_error *err) {
    static const struct pm_machine_options none;
    return pm_machine_read_with(path, &none, err);
}
