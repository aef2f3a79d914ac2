/* Reading a command line by a table of its options. */
#ifndef PM_OPTIONS_H
#define PM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "report/report.h"

/* An option as it stands on the command line. */
struct pm_option_use {
    const char *command; /* "run" */
    const char *name;    /* as the table has it */
    char *value;         /* NULL: it takes none */
    void *to;            /* as the table has it */
};

/* How the value of an option is taken: exactly one of FLAG, TEXT, ADD and READ is not NULL. */
struct pm_option {
    const char *name;  /* of `--name`; NULL: it has a letter only */
    char letter;       /* 0: it has a name only */
    bool *flag;        /* no value: becomes true */
    const char **text; /* becomes the value, which stays the command line's */
    /* Puts the value into TO; false with a sentence. */
    bool (*add)(void *to, char *value, struct pm_error *err);
    bool is_list; /* ADD gets what stands between commas, one after the other */
    /* For what else an option may mean, and for complaints about the command line as a whole: 0, or
       the exit status after complaining. */
    int (*read)(const struct pm_option_use *use);
    bool takes_value; /* whether READ does */
    void *to;         /* for ADD, READ and FINISH */
    /* Called once all options are read, whether or not this one was given; NULL: nothing to do.
       False with a sentence. */
    bool (*finish)(void *to, struct pm_error *err);
};

/* Entries of a table, which ends with {0}. */
#define PM_OPTION_FLAG(name_, letter_, flag_)                                                      \
    { .name = name_, .letter = letter_, .flag = flag_ }
#define PM_OPTION_TEXT(name_, letter_, text_)                                                      \
    { .name = name_, .letter = letter_, .text = text_ }
#define PM_OPTION_ADD(name_, letter_, add_, to_)                                                   \
    { .name = name_, .letter = letter_, .add = add_, .to = to_ }
#define PM_OPTION_LIST(name_, letter_, add_, to_)                                                  \
    { .name = name_, .letter = letter_, .add = add_, .is_list = true, .to = to_ }
#define PM_OPTION_VALUE(name_, letter_, read_, to_)                                                \
    { .name = name_, .letter = letter_, .read = read_, .takes_value = true, .to = to_ }
#define PM_OPTION_ACTION(name_, letter_, read_, to_)                                               \
    { .name = name_, .letter = letter_, .read = read_, .to = to_ }

/* -m MACHINES and --set NAME=VALUE; LIST: struct pm_machine_list *. */
#define PM_OPTIONS_MACHINES(list_)                                                                 \
    {.name = "machine",                                                                            \
     .letter = 'm',                                                                                \
     .add = pm_add_machine,                                                                        \
     .is_list = true,                                                                              \
     .to = list_,                                                                                  \
     .finish = pm_read_machines},                                                                  \
        PM_OPTION_ADD("set", 0, pm_add_setting, list_)

/* --role, --interval and --ordinal; WORDS: struct pm_selection_words (ask/ask.h). */
#define PM_OPTIONS_SELECTION(words_)                                                               \
    PM_OPTION_TEXT("role", 0, &(words_)->role),                                                    \
        PM_OPTION_TEXT("interval", 0, &(words_)->interval),                                        \
        PM_OPTION_TEXT("ordinal", 0, &(words_)->ordinal)

struct pm_command_line {
    const char *command;             /* for messages */
    const struct pm_option *options; /* of this command */
    const struct pm_option *shared;  /* that it has in common with others; NULL none */
    struct pm_report_options *show;  /* takes --format and --wide; NULL: the command has neither */
    bool ends_at_argument;           /* what follows the first argument is no option of ours */
    /* Called for each of SHARED that was read; NULL: nobody wants to know. */
    void (*shared_seen)(void *context, const struct pm_option *option, const char *value);
    void *context;

    /* After pm_read_options: what stands there beside options, NULL behind it. */
    char **arguments;
    size_t n_arguments;
    bool has_show_options; /* --format or --wide was given */
};

/* Reads the options of ARGV, of which argv[0] is the command's name.  0, or the exit status after
   complaining. */
int pm_read_options(struct pm_command_line *line, int argc, char **argv);

/* ---- values of options that several commands have -------------------------------------------- */

/* For PM_OPTION_VALUE; TO is what stands behind. */
int pm_read_count(const struct pm_option_use *use);       /* unsigned, at least 1 */
int pm_read_percent(const struct pm_option_use *use);     /* double, 0 to 100 */
int pm_read_time_model(const struct pm_option_use *use);  /* enum pm_time_model (sched/sched.h) */
int pm_read_dependences(const struct pm_option_use *use); /* enum pm_unknown_dependences */

/* --format of a command that draws, too. */
struct pm_drawn_format {
    enum pm_report_format *format;
    bool *svg;
};
int pm_read_drawn_format(const struct pm_option_use *use); /* struct pm_drawn_format */

/* -P NAME=VALUE[,NAME=VALUE]..., for PM_OPTION_ADD; TO: struct pm_parameters. */
bool pm_add_parameters(void *to, char *value, struct pm_error *err);

/* --block SIZES, for PM_OPTION_LIST; TO: struct pm_block_sizes. */
bool pm_add_block_size(void *to, char *size, struct pm_error *err);

/* What PM_OPTIONS_MACHINES is made of; TO: struct pm_machine_list.  Machines are read when all
   settings are known. */
bool pm_add_machine(void *to, char *name, struct pm_error *err);
bool pm_add_setting(void *to, char *setting, struct pm_error *err);
bool pm_read_machines(void *to, struct pm_error *err);

#endif
