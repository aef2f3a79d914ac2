/* Commands and their options, each declared once: what reads the command line, prints `--help`,
   completes words in a shell, checks the pages in docs/ and refuses what contradicts itself, reads
   these declarations (help/help.h, options.c). */
#ifndef PM_OPTIONS_H
#define PM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/dumps/dumps.h"
#include "report/report.h"

/* An option as it stands on the command line. */
struct pm_option_use {
    const char *command; /* "run" */
    const char *name;    /* as the table has it */
    char *value;         /* NULL: it takes none */
    void *to, *also;     /* what AT and ALSO of the table say, in the request */
};

enum pm_option_kind {
    PM_OPTION_IS_END,     /* of a table */
    PM_OPTION_IS_HEADING, /* of the options behind it */
    PM_OPTION_IS_TABLE,   /* a whole table of a part of the request, at AT */
    PM_OPTION_IS_FLAG,    /* a bool at AT becomes true */
    PM_OPTION_IS_TEXT,    /* a const char * at AT becomes the value */
    PM_OPTION_IS_ADDED,   /* ADD puts the value into what stands at AT */
    PM_OPTION_IS_LIST,    /* the same for what stands between commas */
    PM_OPTION_IS_READ,    /* READ reads the value */
    PM_OPTION_IS_ACTION,  /* the same without a value */
};

/* A line of a table of options. */
struct pm_option {
    enum pm_option_kind kind;
    const char *name;  /* of `--name`; NULL: it has a letter only */
    char letter;       /* 0: it has a name only */
    const char *value; /* what its value is called: NAME=VALUE, text|dot; NULL: it takes none */
    const char *help;  /* half a sentence; of a heading its text, of a table whose options it has */
    bool repeats;      /* may be given more than once, and all count */
    /* Options that exclude this one, and options of which it needs one: names, or letters of
       options without a name, separated by blanks. */
    const char *excludes, *needs;
    const char *because; /* why it excludes that, behind a colon; NULL: obvious */
    size_t at, also;     /* where in the request */
    bool (*add)(void *to, char *value, struct pm_error *err); /* false with a sentence */
    int (*read)(const struct pm_option_use *use); /* 0, or the exit status after complaining */
    const struct pm_option *table;
    /* Called once all options are read, whether or not this one was given; NULL: nothing to do.
       False with a sentence. */
    bool (*finish)(void *to, struct pm_error *err);
};

/* Lines of a table, which ends with {0}.  Behind HELP may stand further fields: .excludes = …  */
#define PM_HEADING(text_)                                                                          \
    { .kind = PM_OPTION_IS_HEADING, .help = text_ }
#define PM_FLAG(name_, letter_, at_, ...)                                                          \
    { .kind = PM_OPTION_IS_FLAG, .name = name_, .letter = letter_, .at = at_, .help = __VA_ARGS__ }
#define PM_TEXT(name_, letter_, value_, at_, ...)                                                  \
    {                                                                                              \
        .kind = PM_OPTION_IS_TEXT, .name = name_, .letter = letter_, .value = value_, .at = at_,   \
        .help = __VA_ARGS__                                                                        \
    }
#define PM_ADDED(name_, letter_, value_, add_, at_, ...)                                           \
    {                                                                                              \
        .kind = PM_OPTION_IS_ADDED, .name = name_, .letter = letter_, .value = value_,             \
        .add = add_, .at = at_, .help = __VA_ARGS__                                                \
    }
#define PM_LIST(name_, letter_, value_, add_, at_, ...)                                            \
    {                                                                                              \
        .kind = PM_OPTION_IS_LIST, .name = name_, .letter = letter_, .value = value_, .add = add_, \
        .at = at_, .help = __VA_ARGS__                                                             \
    }
#define PM_READ(name_, letter_, value_, read_, at_, ...)                                           \
    {                                                                                              \
        .kind = PM_OPTION_IS_READ, .name = name_, .letter = letter_, .value = value_,              \
        .read = read_, .at = at_, .help = __VA_ARGS__                                              \
    }
#define PM_ACTION(name_, letter_, read_, at_, ...)                                                 \
    {                                                                                              \
        .kind = PM_OPTION_IS_ACTION, .name = name_, .letter = letter_, .read = read_, .at = at_,   \
        .help = __VA_ARGS__                                                                        \
    }
/* The options of TABLE, which are those of the command OF, too. */
#define PM_OPTIONS_OF(of_, table_, at_)                                                            \
    { .kind = PM_OPTION_IS_TABLE, .help = of_, .table = table_, .at = at_ }

/* ---- lines that several commands have -------------------------------------------------------- */

/* -o FILE; AT: const char *. */
#define PM_OPTION_OUTPUT(value_, at_, ...) PM_TEXT("output", 'o', value_, at_, __VA_ARGS__)
#define PM_OPTION_QUIET(at_) PM_FLAG("quiet", 'q', at_, "says nothing but errors")

/* -m and --set; AT: struct pm_machine_list.  Machines are read when all settings are known. */
#define PM_OPTION_SET(at_)                                                                         \
    PM_ADDED("set", 0, "NAME=VALUE", pm_add_setting, at_,                                          \
             "changes a figure of the machine, as L2.size=4MiB", .repeats = true)
#define PM_OPTIONS_MACHINE(at_, value_, ...)                                                       \
    {.kind = PM_OPTION_IS_LIST,                                                                    \
     .name = "machine",                                                                            \
     .letter = 'm',                                                                                \
     .value = value_,                                                                              \
     .add = pm_add_machine,                                                                        \
     .finish = pm_read_machines,                                                                   \
     .at = at_,                                                                                    \
     .help = __VA_ARGS__},                                                                         \
        PM_OPTION_SET(at_)
#define PM_OPTIONS_ONE_MACHINE(at_)                                                                \
    PM_OPTIONS_MACHINE(at_, "MACHINE",                                                             \
                       "the machine: a name that `pmodel machines` lists, or a file")
#define PM_OPTIONS_MACHINES(at_)                                                                   \
    PM_OPTIONS_MACHINE(at_, "MACHINE[,MACHINE]...",                                                \
                       "machines: names that `pmodel machines` lists, or files", .repeats = true)

/* The size of one run; AT: struct pm_parameters. */
#define PM_OPTION_SIZE(at_)                                                                        \
    PM_ADDED(NULL, 'P', "NAME=VALUE[,...]", pm_add_parameters, at_,                                \
             "the size; without it the largest one that was measured", .repeats = true)

/* AT: struct pm_predict_options. */
#define PM_OPTION_TIME(at_)                                                                        \
    PM_READ("time", 0, "window|simple|signature", pm_read_time_model,                              \
            at_ + offsetof(struct pm_predict_options, time), "what misses add to the time")
#define PM_OPTION_DEPS(at_)                                                                        \
    PM_READ("deps", 0, "optimistic|pessimistic", pm_read_dependences,                              \
            at_ + offsetof(struct pm_predict_options, dependences),                                \
            "what is assumed of dependences that are not known")
/* AT: struct pm_dumping, which has the passes of the stage. */
#define PM_OPTION_DUMP(at_, ...) PM_READ("dump", 0, "PASS[:PART]", pm_read_dump, at_, __VA_ARGS__)
#define PM_INTERPOLATE_HELP "takes the nearest block size that was measured"
#define PM_OPTION_INTERPOLATE(at_) PM_FLAG("interpolate", 0, at_, PM_INTERPOLATE_HELP)
#define PM_OPTION_SOURCE_DIR(at_)                                                                  \
    PM_ADDED("source-dir", 0, "FOLDER", pm_add_source_folder, at_,                                 \
             "where sources lie that are not where they were compiled", .repeats = true)

/* AT: struct pm_report_options. */
#define PM_OPTION_MIN_PERCENT(at_, ...)                                                            \
    PM_READ("min-percent", 0, "P", pm_read_percent,                                                \
            at_ + offsetof(struct pm_report_options, min_percent), __VA_ARGS__)
#define PM_OPTION_TOP(at_, ...)                                                                    \
    PM_READ("top", 0, "N", pm_read_count, at_ + offsetof(struct pm_report_options, max_rows),      \
            __VA_ARGS__)
#define PM_OPTION_WIDE(at_)                                                                        \
    PM_FLAG("wide", 0, at_ + offsetof(struct pm_report_options, wide),                             \
            "all columns and whole names, whatever the width")
#define PM_OPTIONS_TABLES(at_)                                                                     \
    PM_HEADING("output"),                                                                          \
        PM_READ("format", 0, "table|json|csv", pm_read_format,                                     \
                at_ + offsetof(struct pm_report_options, format),                                  \
                "for people (the default) or for programs"),                                       \
        PM_OPTION_WIDE(at_)
/* The same of a command that draws, too; SVG: bool. */
#define PM_OPTIONS_DRAWN(at_, svg_)                                                                \
    PM_HEADING("output"),                                                                          \
        PM_READ("format", 0, "table|json|csv|svg", pm_read_drawn_format,                           \
                at_ + offsetof(struct pm_report_options, format),                                  \
                "for people (the default), for programs, or a drawing", .also = svg_),             \
        PM_OPTION_WIDE(at_)

/* --role, --interval and --ordinal; AT: struct pm_selection_words (ask/ask.h). */
#define PM_OPTIONS_SELECTION(at_)                                                                  \
    PM_TEXT("role", 0, "NAME", at_ + offsetof(struct pm_selection_words, role),                    \
            "the mean rank of a role of an MPI program"),                                          \
        PM_TEXT("interval", 0, "KIND", at_ + offsetof(struct pm_selection_words, interval),        \
                "one kind of interval, all of them added up"),                                     \
        PM_TEXT("ordinal", 0, "NAME", at_ + offsetof(struct pm_selection_words, ordinal),          \
                "one interval; its number is parameter NAME")

/* ---- commands -------------------------------------------------------------------------------- */

/* A command, or one view of a command that has several: `report --as loop`, `machines --curves`. */
struct pm_command {
    const char *name;     /* with the words that choose the view */
    const char *view;     /* what chooses it, where its name does not end so: it is the usual one */
    const char *page;     /* of docs/, without "pmodel-" and ".md"; NULL: called as the name */
    const char *purpose;  /* half a sentence */
    const char *usage;    /* what follows the name, a line for each way to use it */
    const char *examples; /* what a beginner would type, a line each */
    const struct pm_option *options; /* of a request; NULL: none */
    bool runs_program;               /* what follows the first argument is no option of ours */
    int (*run)(const struct pm_command *self, int argc, char **argv); /* the exit status */
    /* Its views, NULL behind the last; NULL: it has one.  What chooses a view is the end of its
       name: `--as WORD` anywhere, or an option that stands first.  Without it the command itself is
       meant, or, if it has no RUN, the first of the views. */
    const struct pm_command *const *views;
};

/* The word that chooses a view: "loop", "--curves". */
const char *pm_view_word(const struct pm_command *view);
/* The view of COMMAND that the N WORDS behind its name choose, which are taken out of them; NULL
   with a sentence: there is no such view. */
const struct pm_command *pm_choose_view(const struct pm_command *command, char **words, int *n,
                                        struct pm_error *err);

struct pm_command_line {
    const struct pm_command *command;
    void *request; /* what the command's table is of */
    /* Called for each option of a table of another command that was read; NULL: nobody wants to
       know. */
    void (*shared_seen)(void *context, const struct pm_option *option, const char *value);
    void *context;

    /* After pm_read_options: what stands there beside options, NULL behind it. */
    char **arguments;
    size_t n_arguments;
};

/* Reads the options of ARGV, of which argv[0] is the command's name.  0, or the exit status after
   complaining. */
int pm_read_options(struct pm_command_line *line, int argc, char **argv);

/* The options of a table and of those in it, in one list. */
struct pm_listed_option {
    const struct pm_option *option;
    size_t base;       /* where in the request its table begins */
    const char *of;    /* the command whose table it is in; NULL: the command itself */
    const char *under; /* its heading; NULL: none */
    bool is_given;
};
struct pm_listed_options {
    PM_ARRAY(struct pm_listed_option, options); /* owned */
};
void pm_list_options(const struct pm_option *table, struct pm_listed_options *list);
/* "-m" or "--tree", as sentences call it; owned by the caller. */
char *pm_option_text(const struct pm_option *option);

/* ---- values of options that several commands have -------------------------------------------- */

/* For PM_READ; TO is what stands behind. */
int pm_read_count(const struct pm_option_use *use);        /* unsigned, at least 1 */
int pm_read_percent(const struct pm_option_use *use);      /* double, 0 to 100 */
int pm_read_time_model(const struct pm_option_use *use);   /* enum pm_time_model (sched/sched.h) */
int pm_read_dependences(const struct pm_option_use *use);  /* enum pm_unknown_dependences */
int pm_read_dump(const struct pm_option_use *use);         /* struct pm_dumping */
int pm_read_format(const struct pm_option_use *use);       /* enum pm_report_format */
int pm_read_drawn_format(const struct pm_option_use *use); /* the same; ALSO: bool, a drawing */

/* What `--dump list` prints; the exit status. */
int pm_list_passes(const struct pm_dumping *dumping);

/* -P NAME=VALUE[,NAME=VALUE]..., for PM_ADDED; TO: struct pm_parameters. */
bool pm_add_parameters(void *to, char *value, struct pm_error *err);

/* --block SIZES, for PM_LIST; TO: struct pm_block_sizes. */
bool pm_add_block_size(void *to, char *size, struct pm_error *err);

/* What PM_OPTIONS_MACHINE is made of; TO: struct pm_machine_list. */
bool pm_add_machine(void *to, char *name, struct pm_error *err);
bool pm_add_setting(void *to, char *setting, struct pm_error *err);
bool pm_read_machines(void *to, struct pm_error *err);

#endif
