/* The values of a machine file: figures in their ranges, and words.  They are checked while
   libconfuse parses, so that the line is still known; see machine_file.c. */
#include "core/machine/private.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/machine.h"

/* ---- figures --------------------------------------------------------------------------------- */

struct figure_rule {
    const char *name;
    double low, high;
    bool whole, power_of_two;
};

static const struct figure_rule figure_rules[] = {
    {"clock_mhz", 1, 1e5, false, false},
    {"issue_width", 0.1, 64, false, false},
    {"vector_width", 8, 65536, true, true},
    {"window", 1, 1e6, true, false},
    {"store_forward_latency", 0, 1e5, false, false},
    {"memory_bandwidth_gbs", 1e-3, 1e5, false, false},
    {"width", 1, 65536, true, false},
    {"element", 1, 64, true, false},
    {"latency", 0, 1e5, false, false},
    {"repeat", 0, 1e5, false, false},
    {"operations", 1, 4096, true, false},
    {"size", 1, 1125899906842624.0, true, false},
    {"line", 1, 2097152, true, true},
    {"page", 1, 1125899906842624.0, true, true},
    {"entries", 1, 1e9, true, false},
    {"ways", 0, 1e6, true, false},
    {"miss_penalty", 0, 1e6, false, false},
    {"exposed", 0, 1, false, false},
    {"shared_by", 1, 1e5, true, false},
};

static const struct figure_rule *rule_of(const char *name) {
    for (size_t i = 0; i < sizeof figure_rules / sizeof figure_rules[0]; i++)
        if (strcmp(figure_rules[i].name, name) == 0)
            return &figure_rules[i];
    return NULL;
}

/* Scale of a unit behind a number; 0 if it is none. */
static double suffix_scale(const char *suffix) {
    static const struct {
        const char *name;
        double scale;
    } suffixes[] = {{"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
    while (*suffix == ' ')
        suffix++;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(suffix, suffixes[i].name) == 0)
            return suffixes[i].scale;
    return 0;
}

int pm_machine_figure(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result) {
    const struct figure_rule *rule = rule_of(opt->name);
    char *end;
    double value = strtod(text, &end);
    double scale = end == text ? 0 : suffix_scale(end);
    bool is_bytes = strcmp(opt->name, "size") == 0 || strcmp(opt->name, "line") == 0 ||
                    strcmp(opt->name, "page") == 0;
    if (scale == 0 || (scale != 1 && !is_bytes) || !isfinite(value))
        return pm_machine_refuse(cfg, "`%s = %s` is not a number%s", opt->name, text,
                                 is_bytes ? " of bytes (32768 or 32KiB)" : "");
    value *= scale;
    if (value < rule->low || value > rule->high)
        return pm_machine_refuse(cfg, "`%s = %s` is out of range: it must lie between %g and %.15g",
                                 opt->name, text, rule->low, rule->high);
    if (rule->whole && value != floor(value))
        return pm_machine_refuse(cfg, "`%s = %s` must be a whole number", opt->name, text);
    if (rule->power_of_two && ((uint64_t)value & ((uint64_t)value - 1)))
        return pm_machine_refuse(cfg, "`%s = %s` must be a power of two", opt->name, text);
    *(double *)result = value;
    return 0;
}

/* ---- words ----------------------------------------------------------------------------------- */

enum { MOST_WORDS = 4 };

static const struct word_rule {
    const char *name;
    const char *words[MOST_WORDS + 1]; /* by enumerator, then NULL */
} word_rules[] = {
#define WORD(id, word) [id] = (word),
    {"replacement", {PM_REPLACEMENTS(WORD)}},
    {"indexed", {PM_INDEXINGS(WORD)}},
    {"inclusion", {PM_INCLUSIONS(WORD)}},
    {"write", {PM_WRITE_POLICIES(WORD)}},
    {"unified", {[false] = "false", [true] = "true"}},
    {"write_allocate", {[false] = "false", [true] = "true"}},
#undef WORD
};

static const struct word_rule *words_of(const char *name) {
    for (size_t i = 0; i < sizeof word_rules / sizeof word_rules[0]; i++)
        if (strcmp(word_rules[i].name, name) == 0)
            return &word_rules[i];
    return NULL;
}

const char *pm_replacement_word(enum pm_replacement replacement) {
    return words_of("replacement")->words[replacement];
}

const char *pm_indexing_word(enum pm_indexing indexing) {
    return words_of("indexed")->words[indexing];
}

/* The number of WORD among those of NAME; −1: it is none. */
static int number_of(const char *name, const char *word, size_t length) {
    const char *const *words = words_of(name)->words;
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return i;
    return -1;
}

bool pm_replacement_of(const char *word, size_t length, enum pm_replacement *replacement) {
    int number = number_of("replacement", word, length);
    if (number >= 0)
        *replacement = (enum pm_replacement)number;
    return number >= 0;
}

bool pm_indexing_of(const char *word, size_t length, enum pm_indexing *indexing) {
    int number = number_of("indexed", word, length);
    if (number >= 0)
        *indexing = (enum pm_indexing)number;
    return number >= 0;
}

int pm_machine_word(cfg_t *cfg, cfg_opt_t *opt, const char *text, void *result) {
    const char *const *words = words_of(opt->name)->words;
    int number = number_of(opt->name, text, strlen(text));
    char known[64] = "";
    if (number >= 0) {
        *(long *)result = number;
        return 0;
    }
    for (size_t i = 0; words[i]; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 words[i]);
    return pm_machine_refuse(cfg, "`%s = %s` is none of %s", opt->name, text, known);
}

bool pm_machine_is_value(const char *name) { return rule_of(name) || words_of(name); }
