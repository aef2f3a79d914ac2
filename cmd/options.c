/* Reading a command line by a table of its options; see options.h. */
#define _GNU_SOURCE
#include "cmd/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "sched/sched.h"

/* ---- the table ------------------------------------------------------------------------------- */

/* What getopt_long wants to know of a table. */
struct getopt_tables {
    PM_ARRAY(const struct pm_option *, options);
    PM_ARRAY(struct option, longs);
    char *letters;
};

enum { FIRST_INDEX = 256 }; /* getopt gives this and the option's index, or a letter */

static bool takes_value(const struct pm_option *option) {
    return option->text || option->add || option->takes_value;
}

static void add_table(struct getopt_tables *tables, const struct pm_option *options) {
    for (; options && (options->name || options->letter); options++) {
        int has_value = takes_value(options) ? required_argument : no_argument;
        if (options->name)
            *PM_PUSH(tables, longs) = (struct option){options->name, has_value, NULL,
                                                      FIRST_INDEX + (int)tables->n_options};
        if (options->letter)
            pm_append(&tables->letters, "%c%s", options->letter, has_value ? ":" : "");
        *PM_PUSH(tables, options) = options;
    }
}

/* NULL: getopt met none of these. */
static const struct pm_option *find_option(const struct getopt_tables *tables, int c) {
    if (c >= FIRST_INDEX)
        return tables->options[c - FIRST_INDEX];
    for (size_t i = 0; i < tables->n_options; i++)
        if (tables->options[i]->letter == c)
            return tables->options[i];
    return NULL;
}

static bool is_of(const struct pm_option *table, const struct pm_option *option) {
    for (; table && (table->name || table->letter); table++)
        if (table == option)
            return true;
    return false;
}

static bool add_value(const struct pm_option *option, char *value, struct pm_error *err) {
    if (!option->is_list)
        return option->add(option->to, value, err);
    char *copy = pm_strdup(value), *rest = copy;
    bool ok = true;
    for (char *item; ok && (item = strsep(&rest, ","));)
        ok = option->add(option->to, item, err);
    free(copy);
    return ok;
}

static int take(struct pm_command_line *line, const struct pm_option *show,
                const struct pm_option *option, char *value) {
    struct pm_error err = {0};
    int status = 0;
    if (option->flag)
        *option->flag = true;
    else if (option->text)
        *option->text = value;
    else if (option->add)
        status = add_value(option, value, &err) ? 0 : pm_complain(&err);
    else
        status =
            option->read(&(struct pm_option_use){line->command, option->name, value, option->to});
    if (status == 0 && line->shared_seen && is_of(line->shared, option))
        line->shared_seen(line->context, option, value);
    line->has_show_options |= is_of(show, option);
    return status;
}

static int read_format(const struct pm_option_use *use) {
    if (pm_report_format_from_name(use->value, use->to))
        return 0;
    return pm_usage_error(use->command, "--format is table, json or csv, not \"%s\"", use->value);
}

static struct pm_nearest nearest_option(const struct getopt_tables *tables, const char *name) {
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < tables->n_options; i++) {
        const char *own = tables->options[i]->name;
        char *known = own ? pm_sprintf("--%s", own) : NULL;
        if (known)
            pm_nearest_try(&nearest, name, known);
        free(known);
    }
    return nearest;
}

/* Of WORD getopt says by C that its value is missing, or else that it is no option. */
static int complain(const struct pm_command_line *line, const struct getopt_tables *tables, int c,
                    const char *word) {
    if (c == ':')
        return pm_usage_error(line->command, "option \"%s\" needs a value", word);
    char *name = pm_sprintf("%.*s", (int)strcspn(word, "="), word);
    struct pm_nearest nearest = nearest_option(tables, name);
    struct pm_error err = {0};
    if (strcmp(nearest.name, name) == 0) {
        pm_fail(&err, "option \"%s\" takes no value", name);
    } else {
        pm_fail(&err, "cannot read option \"%s\"", word);
        pm_fail_nearest(&err, &nearest);
    }
    free(name);
    return pm_usage_error(line->command, "%s", err.text);
}

int pm_read_options(struct pm_command_line *line, int argc, char **argv) {
    /* With the colon getopt tells a value that is missing from an option that is. */
    struct getopt_tables tables = {.letters = pm_strdup(line->ends_at_argument ? "+:" : ":")};
    struct pm_option show[3] = {{0}};
    int status = 0;
    if (line->show) {
        show[0] = (struct pm_option)PM_OPTION_VALUE("format", 0, read_format, &line->show->format);
        show[1] = (struct pm_option)PM_OPTION_FLAG("wide", 0, &line->show->wide);
    }
    add_table(&tables, line->options);
    add_table(&tables, line->shared);
    add_table(&tables, show);
    *PM_PUSH(&tables, longs) = (struct option){0};
    opterr = 0;
    for (int c;
         status == 0 && (c = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1;) {
        const struct pm_option *option = find_option(&tables, c);
        status = option ? take(line, show, option, optarg)
                        : complain(line, &tables, c, argv[optind - 1]);
    }
    for (size_t i = 0; status == 0 && i < tables.n_options; i++) {
        struct pm_error err = {0};
        const struct pm_option *option = tables.options[i];
        if (option->finish && !option->finish(option->to, &err))
            status = pm_complain(&err);
    }
    line->arguments = argv + optind;
    line->n_arguments = (size_t)(argc - optind);
    free(tables.options);
    free(tables.longs);
    free(tables.letters);
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

int pm_read_count(const struct pm_option_use *use) {
    char *end;
    errno = 0;
    long read = strtol(use->value, &end, 10);
    if (errno || end == use->value || *end || read < 1 || read > INT_MAX)
        return pm_usage_error(use->command, "--%s takes a whole number of at least 1, not \"%s\"",
                              use->name, use->value);
    *(unsigned *)use->to = (unsigned)read;
    return 0;
}

int pm_read_percent(const struct pm_option_use *use) {
    char *end;
    double percent = strtod(use->value, &end);
    if (end == use->value || *end || !(percent >= 0 && percent <= 100))
        return pm_usage_error(use->command, "--%s takes 0 to 100, not \"%s\"", use->name,
                              use->value);
    *(double *)use->to = percent;
    return 0;
}

int pm_read_drawn_format(const struct pm_option_use *use) {
    struct pm_drawn_format *drawn = use->to;
    *drawn->svg = strcmp(use->value, "svg") == 0;
    if (*drawn->svg || pm_report_format_from_name(use->value, drawn->format))
        return 0;
    return pm_usage_error(use->command, "--format is table, json, csv or svg, not \"%s\"",
                          use->value);
}

int pm_read_time_model(const struct pm_option_use *use) {
    enum pm_time_model *model = use->to;
    if (strcmp(use->value, "window") == 0)
        *model = PM_TIME_WINDOW;
    else if (strcmp(use->value, "simple") == 0)
        *model = PM_TIME_SIMPLE;
    else if (strcmp(use->value, "signature") == 0)
        *model = PM_TIME_SIGNATURE;
    else
        return pm_usage_error(use->command, "--%s takes window, simple or signature, not \"%s\"",
                              use->name, use->value);
    return 0;
}

int pm_read_dependences(const struct pm_option_use *use) {
    enum pm_unknown_dependences *dependences = use->to;
    if (strcmp(use->value, "optimistic") == 0)
        *dependences = PM_DEPS_OPTIMISTIC;
    else if (strcmp(use->value, "pessimistic") == 0)
        *dependences = PM_DEPS_PESSIMISTIC;
    else
        return pm_usage_error(use->command, "--deps takes optimistic or pessimistic, not \"%s\"",
                              use->value);
    return 0;
}

bool pm_add_parameters(void *to, char *value, struct pm_error *err) {
    return pm_parameters_add(value, to, err);
}

bool pm_add_block_size(void *to, char *text, struct pm_error *err) {
    char *end;
    errno = 0;
    unsigned long long size = strtoull(text, &end, 10);
    if (errno || end == text || *end || size == 0 || size & (size - 1) || size > 2u << 20)
        return pm_fail(err, "--block takes powers of two from 1 to 2097152 bytes, not \"%s\"",
                       text);
    pm_block_sizes_add(to, size);
    return true;
}

/* ---- how results are shown ------------------------------------------------------------------- */

struct pm_report_options pm_default_report_options(void) {
    struct pm_report_options options = {.format = PM_REPORT_TABLE, .min_percent = 0.5};
    struct winsize size;
    if (isatty(STDOUT_FILENO)) {
        const char *no_color = getenv("NO_COLOR");
        options.color = !(no_color && *no_color);
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
            options.width = size.ws_col;
    }
    return options;
}
