/* The `pmodel` command: the list of subcommands is the pipeline. */
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/help/help.h"
#include "cmd/options.h"
#include "core/version.h"

/* In the order of the pipeline. */
static const struct pm_command *const commands[] = {
    &pm_command_go,     &pm_command_flags,  &pm_command_loops,    &pm_command_plan,
    &pm_command_run,    &pm_command_merge,  &pm_command_bound,    &pm_command_fit,
    &pm_command_report, &pm_command_show,   &pm_command_diff,     &pm_command_compare,
    &pm_command_replay, &pm_command_query,  &pm_command_validate, &pm_command_machines,
    &pm_command_probe,  &pm_command_doctor,
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static int complain_unknown(const char *name) {
    struct pm_error err = {0};
    struct pm_nearest nearest = {0};
    for (size_t i = 0; i < N_COMMANDS; i++)
        pm_nearest_try(&nearest, name, commands[i]->name);
    pm_fail(&err, "no command \"%s\" (see `pmodel --help`)", name);
    pm_fail_nearest(&err, &nearest);
    return pm_complain(&err);
}

static const struct pm_command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

void pm_say_core_share(const char *command, double before, double after) {
    if (!isnan(before + after))
        fprintf(stderr, "pmodel %s: the host gave %.2f of a core meanwhile\n", command,
                (before + after) / 2);
}

int pm_complain(const struct pm_error *err) {
    fprintf(stderr, "pmodel: %s\n", err->text);
    return pm_exit_status(err);
}

int pm_exit_status(const struct pm_error *err) {
    return err->kind == PM_ERROR_SYSTEM ? PM_EXIT_SYSTEM : PM_EXIT_INPUT;
}

int pm_usage_error(const char *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "pmodel %s: ", command);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, " (see `pmodel %s --help`)\n", command);
    va_end(arguments);
    return PM_EXIT_INPUT;
}

static int print_help(FILE *out) {
    fprintf(out, "pmodel: how will this code behave at ten times the size, on another machine, and "
                 "which loop should be mended first?\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  pmodel %-10s %s\n", commands[i]->name, commands[i]->purpose);
    fprintf(out,
            "\nexample: pmodel run -o heat.pmdb -P N=24,32,40,48 -- ./heat {N}; pmodel fit "
            "heat.pmdb; pmodel report heat.pmdb -P N=96\n"
            "`pmodel COMMAND --help` shows a command's options, `pmodel help WORD` explains an "
            "option or a word of a report, `man pmodel` has all of it.\n");
    return out == stdout ? PM_EXIT_OK : PM_EXIT_INPUT;
}

/* The command, or the view of it, that the N WORDS begin with; NULL with a sentence. */
static const struct pm_command *named_by(char **words, int n, struct pm_error *err) {
    const struct pm_command *command = n > 0 ? find_command(words[0]) : NULL;
    n--;
    return command ? pm_choose_view(command, words + 1, &n, err) : NULL;
}

/* `pmodel help [WORD | --list [COMMAND...] | --values COMMAND... --OPTION | --page [COMMAND...]]`.
 */
static int help(int argc, char **argv) {
    if (argc == 0)
        return print_help(stdout);
    bool lists = strcmp(argv[0], "--list") == 0, has_values = strcmp(argv[0], "--values") == 0;
    if (!lists && !has_values && strcmp(argv[0], "--page") != 0)
        return pm_help_word(commands, N_COMMANDS, argv[0]);
    if (argc == 1 && lists)
        pm_list_command_names(commands, N_COMMANDS);
    else if (argc == 1)
        pm_list_pages(commands, N_COMMANDS);
    struct pm_error err = {0};
    char *last = argv[argc - 1];
    const struct pm_command *of = argc > 1 ? find_command(argv[1]) : NULL,
                            *command = argc > 1 ? named_by(argv + 1, argc - 1, &err) : NULL;
    if (has_values && of)
        pm_list_option_values(of, command, last);
    else if (lists && command)
        pm_list_option_names(of, command);
    else if (!lists && !has_values && argc > 1 && !command)
        return err.kind ? pm_complain(&err) : complain_unknown(argv[1]);
    else if (!lists && !has_values && command)
        pm_print_page(command);
    return PM_EXIT_OK;
}

/* Large arrays, of millions of instructions, go back to the system as soon as they are freed; by
   default the C library would come to keep them.  What one prediction frees the next one takes: a
   page of sixty sizes spent a tenth of its time on getting that back from the system. */
static void return_large_memory(void) {
    enum { LARGE = 4 << 20, KEPT = 16 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, KEPT);
}

int main(int argc, char **argv) {
    return_large_memory();
    if (argc < 2)
        return print_help(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(stdout);
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0) {
        puts("pmodel " PM_VERSION);
        return PM_EXIT_OK;
    }
    if (strcmp(argv[1], "run-one") == 0) /* what jobs execute */
        return pm_run_one(argc - 1, argv + 1);
    pm_replace_old_name(&argc, &argv);
    const struct pm_command *command = find_command(argv[1]);
    if (!command)
        return complain_unknown(argv[1]);
    struct pm_error err = {0};
    int n = argc - 2;
    const struct pm_command *view = pm_choose_view(command, argv + 2, &n, &err);
    if (!view)
        return pm_complain(&err);
    if (n > 0 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        pm_print_command_help(argc - 2 == n ? command : view);
        return PM_EXIT_OK;
    }
    int status = view->run(view, n + 1, argv + 1);
    pm_die_of_interruption();
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "pmodel: cannot write to standard output\n");
        return PM_EXIT_SYSTEM;
    }
    return status;
}
