/* The `pmodel` command: one file per subcommand.  Only this folder prints errors and exits. */
#ifndef PM_CMD_H
#define PM_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binlift/binlift.h"
#include "core/base/base.h"
#include "core/machine/machine.h"
#include "fit/query/query.h"
#include "measure/measure.h"
#include "report/report.h"

/* Exit status of the command. */
enum { PM_EXIT_OK = 0, PM_EXIT_SYSTEM = 1, PM_EXIT_INPUT = 2 };

/* The commands, each declared beside its code (options.h). */
struct pm_command;
extern const struct pm_command pm_command_go, pm_command_flags, pm_command_loops, pm_command_plan,
    pm_command_run, pm_command_merge, pm_command_bound, pm_command_fit, pm_command_report,
    pm_command_show, pm_command_diff, pm_command_compare, pm_command_replay, pm_command_query,
    pm_command_validate, pm_command_machines, pm_command_probe, pm_command_doctor;
/* Their views. */
extern const struct pm_command pm_command_loops_schedule, pm_command_run_instrument,
    pm_command_report_table, pm_command_report_tree, pm_command_report_loop,
    pm_command_report_source, pm_command_report_page, pm_command_report_plot,
    pm_command_report_roofline, pm_command_report_convolution, pm_command_report_formulas,
    pm_command_report_scaling, pm_command_report_callgrind, pm_command_report_folded,
    pm_command_report_extrap, pm_command_report_ranks, pm_command_report_intervals,
    pm_command_report_threads, pm_command_report_carried, pm_command_show_runs,
    pm_command_show_histograms, pm_command_show_strides, pm_command_show_carried,
    pm_command_show_intervals, pm_command_show_branches, pm_command_show_profile,
    pm_command_show_communication, pm_command_replay_scaling, pm_command_machines_curves;
/* Puts the words of today in place of a name that a command had before, and says so on standard
   error (old_names.c). */
void pm_replace_old_name(int *argc, char ***argv);
int pm_run_one(int argc, char **argv); /* a job of run, on its node */

/* ---- saying things (main.c) ------------------------------------------------------------------ */

/* "pmodel: SENTENCE" on standard error; pm_exit_status. */
int pm_complain(const struct pm_error *err);
/* Says on standard error how much of a core the host gave while COMMAND timed something: the mean
   of what a loop at full width got before and after (pm_core_share). */
void pm_say_core_share(const char *command, double before, double after);
/* As pm_complain for a mistake in the command line; adds where to read on.  PM_EXIT_INPUT. */
int pm_usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The exit status that fits the error's kind. */
int pm_exit_status(const struct pm_error *err);

/* How results are shown on standard output: the terminal's width, colour and so on (options.c). */
struct pm_report_options pm_default_report_options(void);

/* ---- where things are (paths.c) -------------------------------------------------------------- */

/* "PREFIX/lib/pmodel/NAME" of this installation, found from the command's own file; owned by the
   caller.  Errors: /proc is not there, the file is missing. */
char *pm_library_path(const char *name, struct pm_error *err);

/* Where the files of instruction classes are: those of the installation, and the folder that
   $PMODEL_MACHINES names (NULL: none).  OPTIONS points to what stays until the process ends. */
bool pm_find_classes(struct pm_lift_options *options, struct pm_error *err);
/* The same for REQUEST, and the runtime library. */
bool pm_find_instrumenting(struct pm_copies_request *request, struct pm_error *err);
/* "PREFIX/share/pmodel/NAME"; owned by the caller.  Errors as of pm_library_path. */
char *pm_share_path(const char *name, struct pm_error *err);
/* The file of that name that describes a launcher; owned by the caller. */
char *pm_launcher_path(const char *name, struct pm_error *err);

/* WRITE writes PATH, which gets its name when it is whole; NULL: standard output. */
bool pm_write_file(const char *path, bool (*write)(FILE *to, void *context, struct pm_error *err),
                   void *context, struct pm_error *err);

/* ---- machines (machine_list.c) --------------------------------------------------------------- */

/* Names of all machine files that `-m NAME` finds: those of $PMODEL_MACHINES first, then the
   shipped ones; ascending, each once.  Owned by the caller (free each and the array). */
bool pm_machine_names(char ***names, size_t *n_names, struct pm_error *err);
/* Reads a machine by name or by file, with the SETTINGS of --set.  MISTAKE: NULL, or where one
   stands. */
struct pm_machine *pm_find_machine(const char *name, char *const *settings, size_t n_settings,
                                   struct pm_mistake *mistake, struct pm_error *err);

/* Machines that a command was asked for. */
struct pm_machine_list {
    PM_ARRAY(struct pm_machine *, machines); /* owned */
    PM_ARRAY(char *, names);                 /* of -m, until the machines are read; owned */
    PM_ARRAY(char *, settings);              /* of --set; owned */
};
/* Adds all that pm_machine_names gives. */
bool pm_add_all_machines(struct pm_machine_list *list, struct pm_error *err);
void pm_free_machines(struct pm_machine_list *list); /* what it owns */

/* Path of the machine file that NAME stands for; owned by the caller. */
char *pm_machine_path(const char *name, struct pm_error *err);
/* The name of the machine that describes this processor's core, by what it says of itself;
   MAY_BE_NEAR: or of the nearest core.  NULL without an error: none.  Owned by the caller. */
char *pm_core_here(bool may_be_near, struct pm_error *err);

#endif
