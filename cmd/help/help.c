/* What `--help`, `pmodel help WORD` and completion print; see help.h. */
#define _GNU_SOURCE
#include "cmd/help/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/base.h"

/* What a beginner would type, a line each, and what it does; for each command at least one. */
static const struct {
    const char *command, *lines;
} examples[] = {
    {"flags", "gcc -O3 -g $(pmodel flags) -o heat heat.c    # the code stays the same"},
    {"loops", "pmodel loops --groups ./heat    # loops, their data and strides"},
    {"plan", "pmodel plan -P N=16:512:8 --runs 6 --to N=1024 -- ./heat {N}"},
    {"run", "pmodel run -o heat.pmdb -P N=24,32,40,48,56,64 -- ./heat {N}    # {N}: the size"},
    {"merge", "pmodel merge -o heat.pmdb node1/heat.pmdb node2/heat.pmdb"},
    {"instrument", "pmodel instrument -o copy ./heat; ./copy 64"},
    {"bound", "pmodel bound -- ./heat 64    # what is gained if nothing misses"},
    {"fit", "pmodel fit heat.pmdb    # then `pmodel report` at sizes never run"},
    {"model", "pmodel model heat.pmdb --classes fp_add,fp_mult    # 13.5*N^3 - 50*N^2 ..."},
    {"schedule", "pmodel schedule -m r12000 heat.pmdb step/4"},
    {"report", "pmodel report heat.pmdb -m r12000 -P N=64,128,256    # sizes side by side\n"
               "pmodel report heat.pmdb -m r12000 --tree --fields +L1/ki"},
    {"explain", "pmodel explain heat.pmdb step/4 -m r12000 -P N=256    # all of one loop"},
    {"diff", "pmodel diff before.pmdb after.pmdb -m r12000 -P N=256"},
    {"annotate", "pmodel annotate heat.pmdb heat.c -m r12000 -P N=256    # the source, by line"},
    {"compare", "pmodel compare -m r12000,itanium2 heat.pmdb@N=64:2 cg.pmdb@N=32"},
    {"plot", "pmodel plot heat.pmdb step/4 --what histogram -m r12000 -o step.svg"},
    {"html", "pmodel html -m r12000 -o heat.html heat.pmdb    # one page, for a browser"},
    {"communication", "pmodel communication cg.pmdb -P N=20000 -P p=4 --matrix"},
    {"profile", "pmodel profile heat.pmdb    # of a run with `pmodel run --profile`"},
    {"signature", "pmodel signature sapphire-rapids"},
    {"convolve", "pmodel convolve heat.pmdb -m sapphire-rapids"},
    {"roofline", "pmodel roofline heat.pmdb -m sapphire-rapids"},
    {"scale", "pmodel scale heat.pmdb -P N=16:256:16 -m r12000 --per 'N^3'"},
    {"replay", "pmodel replay cg.pmdb -m sapphire-rapids --platform switch-10g"},
    {"query", "pmodel query heat.pmdb -P N=256 --hit-ratio 0.95    # the smallest cache for it"},
    {"export", "pmodel export --histograms -s heat.pmdb -P N=64 >heat.json"},
    {"validate", "pmodel validate -s heat.pmdb -P N=128 -- ./heat {N}    # how far off?"},
    {"machines", "pmodel machines    # lists them\npmodel machines --diff r12000 itanium2"},
    {"probe", "pmodel probe -o here.conf    # then `pmodel report -m ./here.conf`"},
    {"doctor", "pmodel doctor    # what works here, and what to do about the rest"},
};

static const char *example_of(const char *command) {
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(examples[i].command, command) == 0)
            return examples[i].lines;
    return NULL;
}

/* ---- usage ----------------------------------------------------------------------------------- */

enum { SCREEN = 80 };

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

/* The synopsis, of which lines with `pmodel` are other ways to use the command, on a screen that is
   80 columns wide. */
static void print_usage(const struct pm_command *command) {
    size_t indent = strlen("usage: pmodel ") + strlen(command->name) + 1, column;
    printf("usage: pmodel %s", command->name);
    column = indent - 1;
    for (const char *at = command->synopsis; *at;) {
        bool new_line = *at == '\n';
        at += strspn(at, " \n");
        if (new_line && strncmp(at, "pmodel ", 7) == 0) {
            at += 7 + strlen(command->name);
            printf("\n       pmodel %s", command->name);
            column = indent - 1;
            continue;
        }
        size_t length = unit_length(at);
        if (column + 1 + length > SCREEN && column >= indent)
            column = (size_t)printf("\n%*s", (int)indent - 1, "") - 1;
        column += (size_t)printf(" %.*s", (int)length, at);
        at += length;
    }
    putchar('\n');
}

void pm_print_command_help(const struct pm_command *command) {
    print_usage(command);
    printf("%s.\n", command->purpose);
    for (const char *line = example_of(command->name); line && *line;) {
        size_t length = strcspn(line, "\n");
        printf("example: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    printf("See also `man pmodel-%s`.\n", command->name);
}

/* ---- options in synopses --------------------------------------------------------------------- */

/* The next option of SYNOPSIS, "--carry" or "-P"; its length, 0 at the end. */
static size_t next_option(const char **synopsis) {
    for (const char *at = *synopsis; *at; at++) {
        bool begins = at == *synopsis || strchr(" [|\n", at[-1]);
        if (*at != '-' || !begins)
            continue;
        size_t dashes = at[1] == '-' ? 2 : 1, length = dashes;
        while (isalnum((unsigned char)at[length]) || (length > dashes && at[length] == '-'))
            length++;
        if (length > dashes) {
            *synopsis = at;
            return length;
        }
    }
    return 0;
}

static bool has_option(const struct pm_command *command, const char *option) {
    const char *at = command->synopsis;
    for (size_t length; (length = next_option(&at)) > 0; at += length)
        if (strlen(option) == length && strncmp(at, option, length) == 0)
            return true;
    return false;
}

void pm_list_commands(const struct pm_command *commands, size_t n) {
    for (size_t i = 0; i < n; i++)
        puts(commands[i].name);
    puts("help");
}

static const struct pm_command *find_command(const struct pm_command *commands, size_t n,
                                             const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

void pm_list_options(const struct pm_command *commands, size_t n,
                     const struct pm_command *command) {
    const char *at = command ? command->synopsis : "";
    for (size_t length; (length = next_option(&at)) > 0; at += length)
        printf("%.*s\n", (int)length, at);
    if (command && strstr(command->synopsis, "options of run"))
        pm_list_options(commands, n, find_command(commands, n, "run"));
    if (command)
        puts("--help");
}

/* ---- help WORD ------------------------------------------------------------------------------- */

static bool help_option(const struct pm_command *commands, size_t n, const char *word) {
    char *option = *word == '-' ? pm_strdup(word) : pm_sprintf("--%s", word);
    bool found = false;
    for (size_t i = 0; i < n; i++)
        if (has_option(&commands[i], option)) {
            if (!found)
                printf("%s is an option of\n", option);
            printf("  pmodel %-10s %s    (man pmodel-%s)\n", commands[i].name, commands[i].purpose,
                   commands[i].name);
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

static int complain(const struct pm_command *commands, size_t n, const char *word) {
    struct pm_error err = {0};
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < n; i++) {
        const char *at = commands[i].synopsis;
        pm_nearest_try(&nearest, word, commands[i].name);
        for (size_t length; (length = next_option(&at)) > 0; at += length) {
            char *option = pm_sprintf("%.*s", (int)length, at);
            pm_nearest_try(&nearest, word, option);
            free(option);
        }
    }
    char *words = NULL;
    for (const struct pm_help_entry *entry = pm_help_words; entry->word; entry++) {
        pm_nearest_try(&nearest, word, entry->word);
        pm_append(&words, "%s%s", words ? ", " : "", entry->word);
    }
    pm_fail(&err, "\"%s\" is no command, no option, and none of the words %s", word, words);
    pm_fail_nearest(&err, &nearest);
    free(words);
    return pm_complain(&err);
}

int pm_help_word(const struct pm_command *commands, size_t n, const char *word) {
    const struct pm_command *command = find_command(commands, n, word);
    if (command)
        pm_print_command_help(command);
    bool found = help_entry(word);
    found |= command || help_option(commands, n, word);
    return found ? PM_EXIT_OK : complain(commands, n, word);
}
