/* What `--help`, `pmodel help WORD` and completion print; from the table of commands. */
#ifndef PM_HELP_H
#define PM_HELP_H

#include <stddef.h>
#include <stdio.h>

#include "cmd/cmd.h"

/* Usage, purpose, options in groups, examples. */
void pm_print_command_help(const struct pm_command *command);

/* What a page in docs/ begins with: SYNOPSIS, and OPTIONS with half a sentence on each. */
void pm_print_page(const struct pm_command *command);

/* `pmodel help WORD`: WORD is a command, an option, or a word of the reports.  The exit status,
   after complaining where it is none of these. */
int pm_help_word(const struct pm_command *const *commands, size_t n, const char *word);

/* The words that a shell completes, one a line: names of commands, the options of one, the words
   that its option NAME takes (none, if it takes others). */
void pm_list_command_names(const struct pm_command *const *commands, size_t n);
void pm_list_option_names(const struct pm_command *command);
void pm_list_option_values(const struct pm_command *command, const char *name);

/* A word of the reports (words.c); the last one has no word. */
struct pm_help_entry {
    const char *word;
    const char *meaning;
    const char *more; /* where to read on; NULL: nowhere */
};
extern const struct pm_help_entry pm_help_words[];

#endif
