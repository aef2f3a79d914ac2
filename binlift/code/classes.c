/* Reads files of instruction classes and finds a mnemonic's rule in them.

       isa x86-64                                     # first; which ISA's mnemonics these are
       int_add:              add adc sub sbb          # a class and what belongs to it
           inc dec                                    # a line that begins with a space goes on
       fp_add scalar:        (v)adds[sdh]             # four … six names: () may be there, [] one of
       shuffle + fp_add:     haddp[sd]                # two operations
       int_mult element=2:   pmul*                    # * any characters: a pattern

   Of one file a name counts more than a pattern, and of two patterns the first; a file that is read
   later counts more than the files before it. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "binlift/code/code.h"
#include "binlift/lifted.h"
#include "core/base/base.h"

enum {
    MAX_FILE_BYTES = 1 << 20,
    MAX_WORD = 255,
    MAX_NAME = 47,
    MAX_NAMES = 64,
    MAX_ENTRIES = 1 << 16
};

struct entry {
    char name[MAX_NAME + 1];
    unsigned line;
    struct pm_class_rule rule;
};

/* One file. */
struct layer {
    char *path;
    PM_ARRAY(struct entry, names);    /* ascending, each once */
    PM_ARRAY(struct entry, patterns); /* in the order of the file */
};

struct pm_classes {
    PM_ARRAY(struct layer, layers);     /* in the order of reading */
    const struct pm_class_rule **rules; /* by number of the mnemonic, after pm_classes_resolve */
    uint32_t n_rules;
};

struct reading {
    struct layer *layer;
    const char *isa;
    unsigned line;
    bool has_isa, has_rule;
    struct pm_class_rule rule; /* that names are being listed for */
    struct pm_error *err;
};

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Does NAME match PATTERN, in which * stands for any characters? */
static bool matches(const char *pattern, const char *name) {
    const char *star = NULL, *resume = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            resume = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool add_entry(struct reading *reading, const char name[MAX_NAME + 1]) {
    struct layer *layer = reading->layer;
    if (layer->n_names + layer->n_patterns >= MAX_ENTRIES)
        return pm_fail(reading->err, "%s:%u: the file lists more than %d names", layer->path,
                       reading->line, MAX_ENTRIES);
    struct entry *entry = strchr(name, '*') ? PM_PUSH(layer, patterns) : PM_PUSH(layer, names);
    memcpy(entry->name, name, sizeof entry->name);
    entry->line = reading->line;
    entry->rule = reading->rule;
    return true;
}

/* A word being taken apart: NAME holds LENGTH characters of one of its names. */
struct expansion {
    struct reading *reading;
    const char *word;
    char name[MAX_NAME + 1];
    size_t length;
    unsigned n_names;
};

static bool bad_word(const struct expansion *expansion, const char *why) {
    const struct reading *reading = expansion->reading;
    return pm_fail(reading->err, "%s:%u: \"%s\" does not name instructions: %s",
                   reading->layer->path, reading->line, expansion->word, why);
}

static bool expand(struct expansion *expansion, const char *at);

/* Goes on behind CHARACTERS (N of them) at REST, then takes them back. */
static bool expand_with(struct expansion *expansion, const char *characters, size_t n,
                        const char *rest) {
    size_t length = expansion->length;
    for (size_t i = 0; i < n; i++)
        if (!is_name_character(characters[i]) && !(n == 1 && *characters == '*'))
            return bad_word(expansion, "names are small letters, digits, `.` and `_`, with (x), "
                                       "[xyz] and *");
    if (length + n > MAX_NAME)
        return bad_word(expansion, "the name is too long");
    memcpy(expansion->name + length, characters, n);
    expansion->length += n;
    bool ok = expand(expansion, rest);
    expansion->length = length;
    return ok;
}

/* Every name that begins with what is in EXPANSION and goes on as AT says. */
static bool expand(struct expansion *expansion, const char *at) {
    if (!*at) {
        expansion->name[expansion->length] = '\0';
        if (++expansion->n_names > MAX_NAMES)
            return bad_word(expansion, "it stands for more than 64 names; write several words");
        return add_entry(expansion->reading, expansion->name);
    }
    if (*at != '(' && *at != '[')
        return expand_with(expansion, at, 1, at + 1);
    const char *end = strchr(at, *at == '(' ? ')' : ']');
    size_t n = end ? (size_t)(end - at - 1) : 0;
    if (!n)
        return bad_word(expansion, "its bracket is empty or is not closed");
    if (*at == '(')
        return expand(expansion, end + 1) && expand_with(expansion, at + 1, n, end + 1);
    for (size_t i = 1; i <= n; i++)
        if (!expand_with(expansion, at + i, 1, end + 1))
            return false;
    return true;
}

static bool add_names(struct reading *reading, const char *word) {
    struct expansion expansion = {.reading = reading, .word = word};
    if (strlen(word) > MAX_WORD)
        return pm_fail(reading->err, "%s:%u: a word is longer than %d characters",
                       reading->layer->path, reading->line, MAX_WORD);
    return expand(&expansion, word);
}

static bool read_names(struct reading *reading, char *text) {
    for (char *word, *rest = text; (word = strtok_r(rest, " \t", &rest));)
        if (!add_names(reading, word))
            return false;
    return true;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static bool add_class(struct reading *reading, const char *word) {
    struct pm_class_rule *rule = &reading->rule;
    enum pm_op_class op_class;
    if (!pm_op_class_from_name(word, &op_class))
        return pm_fail(reading->err,
                       "%s:%u: there is no class \"%s\" (machines/README.md lists the classes)",
                       reading->layer->path, reading->line, word);
    if (rule->n_ops == PM_CLASS_OPS)
        return pm_fail(reading->err, "%s:%u: an instruction breaks into %d operations at most",
                       reading->layer->path, reading->line, PM_CLASS_OPS);
    rule->op_class[rule->n_ops++] = (uint8_t)op_class;
    return true;
}

/* "scalar" or "element=8" */
static bool read_property(struct reading *reading, const char *word) {
    static const char element[] = "element=";
    if (strcmp(word, "scalar") == 0) {
        reading->rule.scalar = true;
        return true;
    }
    if (strncmp(word, element, sizeof element - 1) == 0) {
        char *end;
        unsigned long bytes = strtoul(word + sizeof element - 1, &end, 10);
        if (isdigit((unsigned char)word[sizeof element - 1]) && !*end && bytes >= 1 &&
            bytes <= 64) {
            reading->rule.element_bytes = (uint8_t)bytes;
            return true;
        }
        return pm_fail(reading->err, "%s:%u: `element` is a size of 1 to 64 bytes, not \"%s\"",
                       reading->layer->path, reading->line, word + sizeof element - 1);
    }
    return pm_fail(reading->err,
                   "%s:%u: \"%s\" is not understood after a class: `+` and another class, "
                   "`scalar` or `element=BYTES` may stand there",
                   reading->layer->path, reading->line, word);
}

/* "shuffle + fp_add scalar element=8", up to the colon */
static bool read_rule(struct reading *reading, char *text) {
    reading->rule = (struct pm_class_rule){0};
    bool wants_class = true;
    for (char *word, *rest = text; (word = strtok_r(rest, " \t", &rest));) {
        bool is_plus = strcmp(word, "+") == 0;
        bool is_property = reading->rule.scalar || reading->rule.element_bytes;
        if (is_plus && !wants_class && !is_property)
            wants_class = true;
        else if (wants_class ? !add_class(reading, word) : !read_property(reading, word))
            return false;
        else
            wants_class = false;
    }
    if (wants_class)
        return pm_fail(reading->err, "%s:%u: a class is missing before the colon",
                       reading->layer->path, reading->line);
    reading->has_rule = true;
    return true;
}

static bool read_isa(struct reading *reading, char *text) {
    char *word = strtok_r(text, " \t", &text);
    if (!word || strcmp(word, "isa") != 0 || !(word = strtok_r(text, " \t", &text)))
        return pm_fail(reading->err,
                       "%s:%u: a file of instruction classes begins with `isa NAME`, here `isa %s`",
                       reading->layer->path, reading->line, reading->isa);
    if (strcmp(word, reading->isa) != 0)
        return pm_fail(reading->err, "%s:%u: these classes are for %s, the program is for %s",
                       reading->layer->path, reading->line, word, reading->isa);
    if (strtok_r(text, " \t", &text))
        return pm_fail(reading->err, "%s:%u: nothing may stand after the ISA's name",
                       reading->layer->path, reading->line);
    reading->has_isa = true;
    return true;
}

static bool read_line(struct reading *reading, char *line) {
    line[strcspn(line, "#\r")] = '\0';
    if (!line[strspn(line, " \t")])
        return true;
    if (!reading->has_isa)
        return read_isa(reading, line);
    if (*line == ' ' || *line == '\t') {
        if (!reading->has_rule)
            return pm_fail(reading->err,
                           "%s:%u: the line begins with a space, so it goes on with a class's "
                           "names, but no class stands before it",
                           reading->layer->path, reading->line);
        return read_names(reading, line);
    }
    char *colon = strchr(line, ':');
    if (!colon)
        return pm_fail(reading->err,
                       "%s:%u: a line is `CLASS: NAMES`, or begins with a space and goes on with "
                       "names",
                       reading->layer->path, reading->line);
    *colon = '\0';
    return read_rule(reading, line) && read_names(reading, colon + 1);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : PM_COMPARE(x->line, y->line);
}

static bool sort_names(struct reading *reading) {
    struct layer *layer = reading->layer;
    PM_SORT(layer->names, layer->n_names, compare_entries);
    for (size_t i = 1; i < layer->n_names; i++)
        if (strcmp(layer->names[i - 1].name, layer->names[i].name) == 0)
            return pm_fail(reading->err, "%s:%u: \"%s\" already has a class, in line %u",
                           layer->path, layer->names[i].line, layer->names[i].name,
                           layer->names[i - 1].line);
    return true;
}

/* The whole file with a zero at its end; NULL after an error. */
static char *read_text(const char *path, size_t *n_bytes, struct pm_error *err) {
    struct stat status;
    FILE *file = NULL;
    if (stat(path, &status) != 0 || (S_ISREG(status.st_mode) && !(file = fopen(path, "re")))) {
        pm_fail_errno(err, "cannot open the instruction classes %s", path);
        return NULL;
    }
    if (!file || status.st_size > MAX_FILE_BYTES) {
        pm_fail(err, "%s holds no instruction classes: it is %s", path,
                file ? "larger than 1 MiB" : "not a regular file");
        if (file)
            fclose(file);
        return NULL;
    }
    char *text = pm_alloc(MAX_FILE_BYTES + 1, 1);
    *n_bytes = fread(text, 1, MAX_FILE_BYTES, file);
    bool failed = ferror(file);
    if (failed)
        pm_fail_errno(err, "cannot read the instruction classes %s", path);
    fclose(file);
    if (!failed)
        return text;
    free(text);
    return NULL;
}

static bool read_lines(struct reading *reading, char *text, size_t n_bytes) {
    for (char *line = text, *end = text + n_bytes; line < end;) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *stop = newline ? newline : end;
        reading->line++;
        if (memchr(line, '\0', (size_t)(stop - line)))
            return pm_fail(reading->err, "%s:%u: the line holds a zero byte, so this is no text",
                           reading->layer->path, reading->line);
        *stop = '\0';
        if (!read_line(reading, line))
            return false;
        line = stop + 1;
    }
    if (!reading->has_isa)
        return pm_fail(reading->err,
                       "%s: the file is empty; a file of instruction classes begins with `isa %s`",
                       reading->layer->path, reading->isa);
    return sort_names(reading);
}

static void free_layer(struct layer *layer) {
    free(layer->path);
    free(layer->names);
    free(layer->patterns);
}

bool pm_classes_read(struct pm_classes *classes, const char *path, const char *isa,
                     struct pm_error *err) {
    size_t n_bytes = 0;
    char *text = read_text(path, &n_bytes, err);
    if (!text)
        return false;
    struct layer *layer = PM_PUSH(classes, layers);
    struct reading reading = {.layer = layer, .isa = isa, .err = err};
    layer->path = pm_strdup(path);
    bool ok = read_lines(&reading, text, n_bytes);
    free(text);
    if (!ok) {
        free_layer(layer);
        classes->n_layers--;
    }
    return ok;
}

struct pm_classes *pm_classes_new(void) {
    return pm_alloc(1, sizeof(struct pm_classes));
}

void pm_classes_free(struct pm_classes *classes) {
    if (!classes)
        return;
    for (size_t i = 0; i < classes->n_layers; i++)
        free_layer(&classes->layers[i]);
    free(classes->layers);
    free(classes->rules);
    free(classes);
}

/* ---- finding -------------------------------------------------------------------------------- */

static int compare_with_name(const void *name, const void *entry) {
    return strcmp(name, ((const struct entry *)entry)->name);
}

static const struct pm_class_rule *find_in(const struct layer *layer, const char *mnemonic) {
    const struct entry *found = layer->n_names ? bsearch(mnemonic, layer->names, layer->n_names,
                                                         sizeof *layer->names, compare_with_name)
                                               : NULL;
    for (size_t i = 0; i < layer->n_patterns && !found; i++)
        if (matches(layer->patterns[i].name, mnemonic))
            found = &layer->patterns[i];
    return found ? &found->rule : NULL;
}

const struct pm_class_rule *pm_classes_find(const struct pm_classes *classes,
                                            const char *mnemonic) {
    for (size_t i = classes->n_layers; i-- > 0;) {
        const struct pm_class_rule *found = find_in(&classes->layers[i], mnemonic);
        if (found)
            return found;
    }
    return NULL;
}

void pm_classes_resolve(struct pm_classes *classes, uint32_t n_mnemonics,
                        const char *(*mnemonic)(uint32_t number)) {
    free(classes->rules);
    classes->rules = pm_alloc(n_mnemonics, sizeof *classes->rules);
    classes->n_rules = n_mnemonics;
    for (uint32_t i = 0; i < n_mnemonics; i++) {
        const char *name = mnemonic(i);
        classes->rules[i] = name ? pm_classes_find(classes, name) : NULL;
    }
}

const struct pm_class_rule *pm_class_of(const struct pm_classes *classes, uint32_t number) {
    return classes && number < classes->n_rules ? classes->rules[number] : NULL;
}

void pm_classes_visit(const struct pm_classes *classes,
                      void (*visit)(void *data, const char *path, unsigned line, const char *name),
                      void *data) {
    for (size_t i = 0; i < classes->n_layers; i++) {
        const struct layer *layer = &classes->layers[i];
        for (size_t k = 0; k < layer->n_names; k++)
            visit(data, layer->path, layer->names[k].line, layer->names[k].name);
        for (size_t k = 0; k < layer->n_patterns; k++)
            visit(data, layer->path, layer->patterns[k].line, layer->patterns[k].name);
    }
}

/* ---- the files of a lift --------------------------------------------------------------------- */

/* FOLDER/ISA.classes; MUST_BE: it is an error if it is not there. */
static bool read_of_folder(struct pm_lifted *lifted, const char *folder, bool must_be,
                           struct pm_error *err) {
    char *path = pm_sprintf("%s/%s.classes", folder, lifted->isa->name);
    bool ok = (!must_be && access(path, F_OK) != 0) ||
              pm_classes_read(lifted->classes, path, lifted->isa->name, err);
    free(path);
    return ok;
}

bool pm_read_classes(struct pm_lifted *lifted, const struct pm_lift_options *options,
                     struct pm_error *err) {
    const struct pm_isa *isa = lifted->isa;
    if (!options ||
        (!options->classes_folder && !options->own_classes_folder && !options->classes_file))
        return true;
    lifted->classes = pm_classes_new();
    bool ok =
        !options->classes_folder || read_of_folder(lifted, options->classes_folder, true, err);
    if (ok && options->own_classes_folder)
        ok = read_of_folder(lifted, options->own_classes_folder, false, err);
    if (ok && options->classes_file)
        ok = pm_classes_read(lifted->classes, options->classes_file, isa->name, err);
    if (ok)
        pm_classes_resolve(lifted->classes, isa->n_mnemonics, isa->mnemonic);
    return ok;
}
