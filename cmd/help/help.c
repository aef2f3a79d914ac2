/* What `--help`, `pmodel help WORD` and completion print; see help.h. */
#define _GNU_SOURCE
#include "cmd/help/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/options.h"
#include "core/base/base.h"

enum { SCREEN = 80, HELP_COLUMN = 30 };

/* ---- usage ----------------------------------------------------------------------------------- */

/* Length of what may not be broken: up to the next blank outside of brackets. */
static size_t unit_length(const char *at) {
    size_t length = 0;
    for (int depth = 0; at[length] && at[length] != '\n'; length++) {
        depth += (at[length] == '[') - (at[length] == ']');
        if (at[length] == ' ' && depth == 0)
            break;
    }
    return length;
}

/* TEXT from COLUMN on, what is too long for the screen in further lines behind INDENT blanks. */
static void print_wrapped(const char *text, size_t column, size_t indent) {
    for (const char *at = text; *at && *at != '\n'; at += strspn(at, " ")) {
        size_t length = unit_length(at);
        if (column + 1 + length > SCREEN && column > indent)
            column = (size_t)printf("\n%*s", (int)indent - 1, "") - 1;
        column += (size_t)printf(" %.*s", (int)length, at);
        at += length;
    }
    putchar('\n');
}

/* A line for each way to use it, behind BEFORE and blanks of the same width. */
static void print_usage(const struct pm_command *command, const char *before) {
    size_t width = strlen(before);
    for (const char *at = command->usage; at; at = strchr(at, '\n'), at += at != NULL) {
        size_t column = (size_t)printf("%*s%s", (int)width, at == command->usage ? before : "", "");
        column += (size_t)printf("pmodel %s", command->name);
        print_wrapped(at, column, column + 1);
    }
}

/* ---- options --------------------------------------------------------------------------------- */

/* "-m, --machine MACHINE", in a page `-m MACHINE`, `--machine MACHINE`; owned by the caller. */
static char *head_of(const struct pm_option *option, bool in_page) {
    const char *quote = in_page ? "`" : "", *blank = option->value ? " " : "",
               *value = option->value ? option->value : "";
    char *text = NULL;
    if (option->letter && (in_page || !option->name))
        pm_append(&text, "%s-%c%s%s%s", quote, option->letter, blank, value, quote);
    else if (option->letter)
        pm_append(&text, "-%c", option->letter);
    if (option->name)
        pm_append(&text, "%s%s--%s%s%s%s", text ? ", " : "", quote, option->name, blank, value,
                  quote);
    return text;
}

static void print_option(const struct pm_option *option) {
    char *head = head_of(option, false);
    size_t column = (size_t)printf("  %s", head);
    if (column >= HELP_COLUMN)
        column = (size_t)printf("\n%*s", HELP_COLUMN - 1, "") - 1;
    else
        column += (size_t)printf("%*s", (int)(HELP_COLUMN - 1 - column), "");
    print_wrapped(option->help, column, HELP_COLUMN);
    free(head);
}

/* Those of another command only by name. */
static void print_shared(const struct pm_listed_options *list, const char *of) {
    char *names = pm_strdup("");
    for (size_t i = 0; i < list->n_options; i++)
        if (list->options[i].of && strcmp(list->options[i].of, of) == 0) {
            const struct pm_option *option = list->options[i].option;
            if (option->letter)
                pm_append(&names, "-%c ", option->letter);
            if (option->name)
                pm_append(&names, "--%s ", option->name);
        }
    printf("as of `pmodel %s`:\n ", of);
    print_wrapped(names, 1, 2);
    free(names);
}

static bool is_own(const struct pm_command *command, const struct pm_listed_option *listed) {
    return !listed->of || strcmp(listed->of, command->name) == 0;
}

static void print_options(const struct pm_command *command) {
    struct pm_listed_options list = {0};
    const char *under = NULL, *shared = NULL;
    pm_list_options(command->options, &list);
    for (size_t i = 0; i < list.n_options; i++) {
        const struct pm_listed_option *listed = &list.options[i];
        if (!is_own(command, listed)) {
            if (!shared)
                print_shared(&list, shared = listed->of);
            continue;
        }
        if (listed->under && (!under || strcmp(under, listed->under) != 0))
            printf("%s:\n", under = listed->under);
        print_option(listed->option);
    }
    free(list.options);
}

void pm_print_command_help(const struct pm_command *command) {
    print_usage(command, "usage: ");
    char *purpose = pm_sprintf("%s.", command->purpose);
    print_wrapped(purpose, (size_t)printf(" "), 2);
    free(purpose);
    print_options(command);
    for (const char *line = command->examples; *line;) {
        size_t length = strcspn(line, "\n");
        printf("example: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    printf("See also `man pmodel-%s`.\n", command->name);
}

void pm_print_page(const struct pm_command *command) {
    struct pm_listed_options list = {0};
    puts("# SYNOPSIS\n");
    print_usage(command, "    ");
    puts("\n# OPTIONS");
    pm_list_options(command->options, &list);
    for (size_t i = 0; i < list.n_options; i++)
        if (is_own(command, &list.options[i])) {
            char *head = head_of(list.options[i].option, true);
            printf("\n%s\n:   %c%s.\n", head, toupper((unsigned char)*list.options[i].option->help),
                   list.options[i].option->help + 1);
            free(head);
        }
    free(list.options);
}

static bool has_option(const struct pm_command *command, const char *option) {
    struct pm_listed_options list = {0};
    bool found = false;
    pm_list_options(command->options, &list);
    for (size_t i = 0; i < list.n_options && !found; i++) {
        const struct pm_option *own = list.options[i].option;
        found =
            (own->name && strncmp(option, "--", 2) == 0 && strcmp(own->name, option + 2) == 0) ||
            (own->letter && option[0] == '-' && option[1] == own->letter && !option[2]);
    }
    free(list.options);
    return found;
}

/* ---- what a shell completes ------------------------------------------------------------------ */

void pm_list_command_names(const struct pm_command *const *commands, size_t n) {
    for (size_t i = 0; i < n; i++)
        puts(commands[i]->name);
    puts("help");
}

void pm_list_option_names(const struct pm_command *command) {
    struct pm_listed_options list = {0};
    pm_list_options(command->options, &list);
    for (size_t i = 0; i < list.n_options; i++) {
        const struct pm_option *option = list.options[i].option;
        if (option->letter)
            printf("-%c\n", option->letter);
        if (option->name)
            printf("--%s\n", option->name);
    }
    puts("--help");
    free(list.options);
}

void pm_list_option_values(const struct pm_command *command, const char *name) {
    struct pm_listed_options list = {0};
    pm_list_options(command->options, &list);
    for (size_t i = 0; i < list.n_options; i++) {
        const struct pm_option *option = list.options[i].option;
        const char *value = option->value;
        if (!value || !option->name || strcmp(option->name, name) != 0)
            continue;
        /* Words in small letters, with bars between. */
        if (value[strspn(value, "abcdefghijklmnopqrstuvwxyz|")] == '\0')
            for (; *value; putchar('\n'))
                for (; *value && *value++ != '|';)
                    if (value[-1] != '|')
                        putchar(value[-1]);
        break;
    }
    free(list.options);
}

static const struct pm_command *find_command(const struct pm_command *const *commands, size_t n,
                                             const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* ---- help WORD ------------------------------------------------------------------------------- */

static bool help_option(const struct pm_command *const *commands, size_t n, const char *word) {
    char *option = *word == '-' ? pm_strdup(word) : pm_sprintf("--%s", word);
    bool found = false;
    for (size_t i = 0; i < n; i++)
        if (has_option(commands[i], option)) {
            if (!found)
                printf("%s is an option of\n", option);
            printf("  pmodel %-10s %s    (man pmodel-%s)\n", commands[i]->name,
                   commands[i]->purpose, commands[i]->name);
            found = true;
        }
    free(option);
    return found;
}

/* "L2/it" is explained as "L1/it". */
static bool is_level_head(const char *word, const char *entry) {
    const char *slash = strrchr(word, '/'), *end = strrchr(entry, '/');
    return slash && end && strcasecmp(slash, end) == 0;
}

static bool help_entry(const char *word) {
    for (const struct pm_help_entry *entry = pm_help_words; entry->word; entry++)
        if (strcasecmp(entry->word, word) == 0 || is_level_head(word, entry->word)) {
            printf("%s: %s\n", entry->word, entry->meaning);
            if (entry->more)
                printf("More: %s.\n", entry->more);
            return true;
        }
    return false;
}

/* "--carry" and so on, of all commands; NULL behind the last; the caller frees each and
   the array. */
static char **all_options(const struct pm_command *const *commands, size_t n) {
    struct {
        PM_ARRAY(char *, names);
    } all = {0};
    for (size_t i = 0; i < n; i++) {
        struct pm_listed_options list = {0};
        pm_list_options(commands[i]->options, &list);
        for (size_t k = 0; k < list.n_options; k++)
            if (list.options[k].option->name)
                *PM_PUSH(&all, names) = pm_sprintf("--%s", list.options[k].option->name);
        free(list.options);
    }
    *PM_PUSH(&all, names) = NULL;
    return all.names;
}

static int complain(const struct pm_command *const *commands, size_t n, const char *word) {
    struct pm_error err = {0};
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < n; i++)
        pm_nearest_try(&nearest, word, commands[i]->name);
    char **options = all_options(commands, n);
    for (size_t i = 0; options[i]; i++)
        pm_nearest_try(&nearest, word, options[i]);
    char *words = NULL;
    for (const struct pm_help_entry *entry = pm_help_words; entry->word; entry++) {
        pm_nearest_try(&nearest, word, entry->word);
        pm_append(&words, "%s%s", words ? ", " : "", entry->word);
    }
    pm_fail(&err, "\"%s\" is no command, no option, and none of the words %s", word, words);
    pm_fail_nearest(&err, &nearest);
    free(words);
    for (size_t i = 0; options[i]; i++)
        free(options[i]);
    free(options);
    return pm_complain(&err);
}

int pm_help_word(const struct pm_command *const *commands, size_t n, const char *word) {
    const struct pm_command *command = find_command(commands, n, word);
    if (command)
        pm_print_command_help(command);
    bool found = help_entry(word);
    found |= command || help_option(commands, n, word);
    return found ? PM_EXIT_OK : complain(commands, n, word);
}
