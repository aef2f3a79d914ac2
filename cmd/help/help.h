/* What `--help`, `pmodel help WORD` and completion print; from the table of commands. */
#ifndef PM_HELP_H
#define PM_HELP_H

#include <stddef.h>
#include <stdio.h>

#include "cmd/cmd.h"

/* Usage, purpose, examples. */
void pm_print_command_help(const struct pm_command *command);

/* `pmodel help WORD`: WORD is a command, an option, or a word of the reports.  The exit status,
   after complaining where it is none of these. */
int pm_help_word(const struct pm_command *commands, size_t n, const char *word);

/* The words that a shell completes, one a line: names of commands, or the options of COMMAND
   (NULL: there is no such command, so nothing). */
void pm_list_commands(const struct pm_command *commands, size_t n);
void pm_list_options(const struct pm_command *commands, size_t n, const struct pm_command *command);

/* A word of the reports (words.c); the last one has no word. */
struct pm_help_entry {
    const char *word;
    const char *meaning;
    const char *more; /* where to read on; NULL: nowhere */
};
extern const struct pm_help_entry pm_help_words[];

#endif
