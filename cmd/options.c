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

/* ---- views ----------------------------------------------------------------------------------- */

const char *pm_view_word(const struct pm_command *view) {
    return view->view ? view->view : strrchr(view->name, ' ') + 1;
}

static const struct pm_command *find_view(const struct pm_command *command, const char *word,
                                          struct pm_error *err) {
    struct pm_nearest nearest = {0};
    char *words = NULL;
    for (size_t i = 0; command->views[i]; i++) {
        const char *own = pm_view_word(command->views[i]);
        if (strcmp(own, word) == 0) {
            free(words);
            return command->views[i];
        }
        pm_nearest_try(&nearest, word, own);
        pm_append(&words, "%s%s", words ? ", " : "", own);
    }
    pm_fail(err, "`pmodel %s --as` takes %s, not \"%s\"", command->name, words, word);
    pm_fail_nearest(err, &nearest);
    free(words);
    return NULL;
}

static void take_out(char **words, int *n, int at, int how_many) {
    *n -= how_many;
    memmove(words + at, words + at + how_many, (size_t)(*n - at) * sizeof *words);
    words[*n] = NULL;
}

const struct pm_command *pm_choose_view(const struct pm_command *command, char **words, int *n,
                                        struct pm_error *err) {
    if (!command->views)
        return command;
    for (size_t i = 0; command->run && *n > 0 && command->views[i]; i++)
        if (strcmp(pm_view_word(command->views[i]), words[0]) == 0) {
            take_out(words, n, 0, 1);
            return command->views[i];
        }
    if (command->run)
        return command;
    const struct pm_command *view = command->views[0];
    for (int i = 0; view && i < *n && strcmp(words[i], "--") != 0;) {
        bool joined = strncmp(words[i], "--as=", 5) == 0;
        if (!joined && (strcmp(words[i], "--as") != 0 || i + 1 == *n)) {
            i++;
            continue;
        }
        view = find_view(command, joined ? words[i] + 5 : words[i + 1], err);
        take_out(words, n, i, joined ? 1 : 2);
    }
    return view;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void list_table(const struct pm_option *table, size_t base, const char *of,
                       struct pm_listed_options *list) {
    const char *under = NULL;
    for (; table && table->kind != PM_OPTION_IS_END; table++)
        if (table->kind == PM_OPTION_IS_HEADING)
            under = table->help;
        else if (table->kind == PM_OPTION_IS_TABLE)
            list_table(table->table, base + table->at, table->help, list);
        else
            *PM_PUSH(list, options) =
                (struct pm_listed_option){.option = table, .base = base, .of = of, .under = under};
}

void pm_list_options(const struct pm_option *table, struct pm_listed_options *list) {
    list_table(table, 0, NULL, list);
}

char *pm_option_text(const struct pm_option *option) {
    return option->letter ? pm_sprintf("-%c", option->letter) : pm_sprintf("--%s", option->name);
}

/* What getopt_long wants to know of a table. */
struct getopt_tables {
    PM_ARRAY(struct option, longs);
    char *letters;
};

enum { FIRST_INDEX = 256 }; /* getopt gives this and the option's index, or a letter */

static void make_tables(const struct pm_listed_options *list, bool ends_at_argument,
                        struct getopt_tables *tables) {
    /* With the colon getopt tells a missing value from an unknown option. */
    tables->letters = pm_strdup(ends_at_argument ? "+:" : ":");
    for (size_t i = 0; i < list->n_options; i++) {
        const struct pm_option *option = list->options[i].option;
        int has_value = option->value ? required_argument : no_argument;
        if (option->name)
            *PM_PUSH(tables, longs) =
                (struct option){option->name, has_value, NULL, FIRST_INDEX + (int)i};
        if (option->letter)
            pm_append(&tables->letters, "%c%s", option->letter, has_value ? ":" : "");
    }
    *PM_PUSH(tables, longs) = (struct option){0};
}

/* NULL: getopt met none of these. */
static struct pm_listed_option *find_option(const struct pm_listed_options *list, int c) {
    if (c >= FIRST_INDEX)
        return &list->options[c - FIRST_INDEX];
    for (size_t i = 0; i < list->n_options; i++)
        if (list->options[i].option->letter == c)
            return &list->options[i];
    return NULL;
}

static bool add_value(const struct pm_option *option, void *to, char *value, struct pm_error *err) {
    if (option->kind != PM_OPTION_IS_LIST)
        return option->add(to, value, err);
    char *copy = pm_strdup(value), *rest = copy;
    bool ok = true;
    for (char *item; ok && (item = strsep(&rest, ","));)
        ok = option->add(to, item, err);
    free(copy);
    return ok;
}

static int take(struct pm_command_line *line, struct pm_listed_option *listed, char *value) {
    const struct pm_option *option = listed->option;
    char *request = (char *)line->request + listed->base;
    void *to = request + option->at;
    struct pm_error err = {0};
    int status = 0;
    listed->is_given = true;
    if (option->kind == PM_OPTION_IS_FLAG)
        *(bool *)to = true;
    else if (option->kind == PM_OPTION_IS_TEXT)
        *(const char **)to = value;
    else if (option->add)
        status = add_value(option, to, value, &err) ? 0 : pm_complain(&err);
    else
        status = option->read(&(struct pm_option_use){line->command->name, option->name, value, to,
                                                      request + option->also});
    if (status == 0 && line->shared_seen && listed->of)
        line->shared_seen(line->context, option, value);
    return status;
}

static struct pm_nearest nearest_option(const struct pm_listed_options *list, const char *name) {
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < list->n_options; i++) {
        const char *own = list->options[i].option->name;
        char *known = own ? pm_sprintf("--%s", own) : NULL;
        if (known)
            pm_nearest_try(&nearest, name, known);
        free(known);
    }
    return nearest;
}

/* Of WORD getopt says by C that its value is missing, or else that it is no option. */
static int complain(const char *command, const struct pm_listed_options *list, int c,
                    const char *word) {
    if (c == ':')
        return pm_usage_error(command, "option \"%s\" needs a value", word);
    char *name = pm_sprintf("%.*s", (int)strcspn(word, "="), word);
    struct pm_nearest nearest = nearest_option(list, name);
    struct pm_error err = {0};
    if (strcmp(nearest.name, name) == 0) {
        pm_fail(&err, "option \"%s\" takes no value", name);
    } else {
        pm_fail(&err, "cannot read option \"%s\"", word);
        pm_fail_nearest(&err, &nearest);
    }
    free(name);
    return pm_usage_error(command, "%s", err.text);
}

/* ---- what options exclude and need ----------------------------------------------------------- */

static bool is_named(const struct pm_option *option, const char *name, size_t length) {
    if (!option->name)
        return length == 1 && option->letter == *name;
    return strlen(option->name) == length && strncmp(option->name, name, length) == 0;
}

/* The next of NAMES, with blanks between, that LIST has; NULL: no more. */
static const struct pm_listed_option *next_named(const struct pm_listed_options *list,
                                                 const char **names) {
    while (**names) {
        const char *name = *names;
        size_t length = strcspn(name, " ");
        *names += length + strspn(name + length, " ");
        for (size_t i = 0; i < list->n_options; i++)
            if (is_named(list->options[i].option, name, length))
                return &list->options[i];
    }
    return NULL;
}

static int check_excluded(const char *command, const struct pm_listed_options *list,
                          const struct pm_option *option) {
    const char *names = option->excludes ? option->excludes : "";
    for (const struct pm_listed_option *other; (other = next_named(list, &names));) {
        if (!other->is_given || other->option == option)
            continue;
        char *a = pm_option_text(option), *b = pm_option_text(other->option);
        int status =
            pm_usage_error(command, "%s and %s exclude each other%s%s", a, b,
                           option->because ? ": " : "", option->because ? option->because : "");
        free(a);
        free(b);
        return status;
    }
    return 0;
}

static int check_needed(const char *command, const struct pm_listed_options *list,
                        const struct pm_option *option) {
    if (!option->needs)
        return 0;
    char *needed = NULL, *text = pm_option_text(option);
    const char *names = option->needs;
    bool found = false;
    for (const struct pm_listed_option *other; (other = next_named(list, &names));) {
        char *one = pm_option_text(other->option);
        found |= other->is_given;
        pm_append(&needed, "%s%s", needed ? " or " : "", one);
        free(one);
    }
    int status = found ? 0 : pm_usage_error(command, "%s needs %s", text, needed);
    free(needed);
    free(text);
    return status;
}

static int check_together(const char *command, const struct pm_listed_options *list) {
    int status = 0;
    for (size_t i = 0; status == 0 && i < list->n_options; i++)
        if (list->options[i].is_given)
            status = check_excluded(command, list, list->options[i].option);
    for (size_t i = 0; status == 0 && i < list->n_options; i++)
        if (list->options[i].is_given)
            status = check_needed(command, list, list->options[i].option);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int finish(const struct pm_command_line *line, const struct pm_listed_options *list) {
    int status = 0;
    for (size_t i = 0; status == 0 && i < list->n_options; i++) {
        struct pm_error err = {0};
        const struct pm_option *option = list->options[i].option;
        void *to = (char *)line->request + list->options[i].base + option->at;
        if (option->finish && !option->finish(to, &err))
            status = pm_complain(&err);
    }
    return status;
}

int pm_read_options(struct pm_command_line *line, int argc, char **argv) {
    const char *command = line->command->name;
    struct pm_listed_options list = {0};
    struct getopt_tables tables = {0};
    int status = 0;
    pm_list_options(line->command->options, &list);
    make_tables(&list, line->command->runs_program, &tables);
    opterr = 0;
    for (int c;
         status == 0 && (c = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1;) {
        struct pm_listed_option *listed = find_option(&list, c);
        status =
            listed ? take(line, listed, optarg) : complain(command, &list, c, argv[optind - 1]);
    }
    if (status == 0)
        status = check_together(command, &list);
    if (status == 0)
        status = finish(line, &list);
    line->arguments = argv + optind;
    line->n_arguments = (size_t)(argc - optind);
    free(list.options);
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

int pm_read_dump(const struct pm_option_use *use) {
    struct pm_error err = {0};
    if (pm_dumping_read(use->to, use->value, &err))
        return 0;
    return pm_usage_error(use->command, "%s", err.text);
}

int pm_list_passes(const struct pm_dumping *dumping) {
    pm_dumping_list(dumping, stdout);
    return PM_EXIT_OK;
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

int pm_read_format(const struct pm_option_use *use) {
    if (pm_report_format_from_name(use->value, use->to))
        return 0;
    return pm_usage_error(use->command, "--format is table, json or csv, not \"%s\"", use->value);
}

int pm_read_drawn_format(const struct pm_option_use *use) {
    bool *svg = use->also;
    *svg = strcmp(use->value, "svg") == 0;
    if (*svg || pm_report_format_from_name(use->value, use->to))
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
