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
/* What pages there are, of commands and views, a line each: "report-loop report --as loop". */
void pm_list_pages(const struct pm_command *const *commands, size_t n);

/* `pmodel help WORD`: WORD is a command, an option, or a word of the reports.  The exit status,
   after complaining where it is none of these. */
int pm_help_word(const struct pm_command *const *commands, size_t n, const char *word);

/* The words that a shell completes, one a line: names of commands; the options of a VIEW of
   COMMAND, which may be COMMAND itself; the words that OPTION of it takes (none, if it takes
   others). */
void pm_list_command_names(const struct pm_command *const *commands, size_t n);
void pm_list_option_names(const struct pm_command *command, const struct pm_command *view);
void pm_list_option_values(const struct pm_command *command, const struct pm_command *view,
                           const char *option);

/* A word of the reports (words.c); the last one has no word. */
struct pm_help_entry {
    const char *word;
    const char *meaning;
    const char *more; /* where to read on; NULL: nowhere */
};
extern const struct pm_help_entry pm_help_words[];

#endif
