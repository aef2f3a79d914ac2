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

/* All commands and views that can be called; the caller frees. */
struct called {
    PM_ARRAY(const struct pm_command *, list);
};

static struct called all_called(const struct pm_command *const *commands, size_t n) {
    struct called all = {0};
    for (size_t i = 0; i < n; i++) {
        if (commands[i]->run)
            *PM_PUSH(&all, list) = commands[i];
        for (size_t k = 0; commands[i]->views && commands[i]->views[k]; k++)
            *PM_PUSH(&all, list) = commands[i]->views[k];
    }
    return all;
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

static void print_views(const struct pm_command *command) {
    printf(command->run ? "something else, by a first word:\n" : "views:\n");
    for (size_t i = 0; command->views[i]; i++) {
        const struct pm_command *view = command->views[i];
        const char *word = pm_view_word(view);
        char *head = pm_sprintf("  %s%s", command->run ? "" : "--as ", word);
        size_t column = (size_t)printf("%-*s", HELP_COLUMN - 1, head);
        print_wrapped(view->purpose, column, HELP_COLUMN);
        free(head);
    }
}

/* "report-loop" of `report --as loop`; owned by the caller. */
static char *page_of(const struct pm_command *command) {
    char *page = pm_strdup(command->page ? command->page : "");
    for (const char *at = command->page ? "" : command->name; *at; at++) {
        if (strncmp(at, " --as ", 6) == 0 || strncmp(at, " --", 3) == 0) {
            at += at[3] == 'a' && at[5] == ' ' ? 5 : 2;
            pm_append(&page, "-");
        } else {
            pm_append(&page, "%c", *at);
        }
    }
    return page;
}

void pm_print_command_help(const struct pm_command *command) {
    print_usage(command, "usage: ");
    char *purpose = pm_sprintf("%s.", command->purpose);
    print_wrapped(purpose, (size_t)printf(" "), 2);
    free(purpose);
    if (command->views)
        print_views(command);
    print_options(command->run ? command : command->views[0]);
    for (const char *line = command->examples; *line;) {
        size_t length = strcspn(line, "\n");
        printf("example: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    char *page = page_of(command);
    printf("See also `man pmodel-%s`.\n", page);
    free(page);
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

void pm_list_pages(const struct pm_command *const *commands, size_t n) {
    struct called all = all_called(commands, n);
    for (size_t i = 0; i < all.n_list; i++) {
        char *page = page_of(all.list[i]);
        printf("%s %s\n", page, all.list[i]->name);
        free(page);
    }
    free(all.list);
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

void pm_list_option_names(const struct pm_command *command, const struct pm_command *view) {
    struct pm_listed_options list = {0};
    pm_list_options(view->options, &list);
    for (size_t i = 0; i < list.n_options; i++) {
        const struct pm_option *option = list.options[i].option;
        if (option->letter)
            printf("-%c\n", option->letter);
        if (option->name)
            printf("--%s\n", option->name);
    }
    for (size_t i = 0; command->run && command->views && command->views[i]; i++)
        puts(pm_view_word(command->views[i]));
    puts(command->run ? "--help" : "--as\n--help");
    free(list.options);
}

/* Words in small letters, with bars between. */
static void print_words(const char *value) {
    if (value[strspn(value, "abcdefghijklmnopqrstuvwxyz|")] != '\0')
        return;
    for (const char *at = value; *at;) {
        size_t length = strcspn(at, "|");
        printf("%.*s\n", (int)length, at);
        at += length + (at[length] == '|');
    }
}

void pm_list_option_values(const struct pm_command *command, const struct pm_command *view,
                           const char *option) {
    struct pm_listed_options list = {0};
    if (!command->run && strcmp(option, "--as") == 0)
        for (size_t i = 0; command->views[i]; i++)
            puts(pm_view_word(command->views[i]));
    if (view)
        pm_list_options(view->options, &list);
    for (size_t i = 0; i < list.n_options; i++) {
        const struct pm_option *own = list.options[i].option;
        if (own->value && own->name && strcmp(own->name, option + strspn(option, "-")) == 0) {
            print_words(own->value);
            break;
        }
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
    struct called all = all_called(commands, n);
    bool found = false;
    for (size_t i = 0; i < all.n_list; i++)
        if (has_option(all.list[i], option)) {
            printf(found ? "" : "%s is an option of\n", option);
            printf("  pmodel %-24s %s\n", all.list[i]->name, all.list[i]->purpose);
            found = true;
        }
    free(all.list);
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
    struct called called = all_called(commands, n);
    for (size_t i = 0; i < called.n_list; i++) {
        struct pm_listed_options list = {0};
        pm_list_options(called.list[i]->options, &list);
        for (size_t k = 0; k < list.n_options; k++)
            if (list.options[k].option->name)
                *PM_PUSH(&all, names) = pm_sprintf("--%s", list.options[k].option->name);
        free(list.options);
    }
    free(called.list);
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
