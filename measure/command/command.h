/* The command as the user gave it: parameters filled in, and the file that it names.  Strings that
 * functions return are owned by the caller. */
#ifndef PM_COMMAND_H
#define PM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"
#include "core/parameters.h"

/* ---- `{N}` in arguments, environment and input files (substitute.c) ---------------------------
 */

/* TEXT with `{NAME}` replaced by the parameter's value, `{PWD}` by the folder where pmodel was
   started; `{{NAME}}` gives a literal `{NAME}`; braces around anything but a name stay.  An unknown
   name is an error that names the known ones. */
char *pm_substitute(const char *text, const struct pm_parameters *at, struct pm_error *err);

/* Whether pm_substitute would replace NAME in TEXT. */
bool pm_mentions(const char *text, const char *name);

/* Reads the template FROM, substitutes, writes TO (made or replaced). */
bool pm_substitute_file(const char *from, const char *to, const struct pm_parameters *at,
                        struct pm_error *err);

/* The N texts with their parameters filled in, NULL at the end (pm_free_strings). */
char **pm_substitute_all(char *const *texts, size_t n, const struct pm_parameters *at,
                         struct pm_error *err);
size_t pm_count_strings(char *const *strings);
void pm_free_strings(char **strings); /* the array too; NULL is allowed */

/* A whole file with a NUL behind it. */
char *pm_read_text(const char *path, struct pm_error *err);

/* ---- what is executed (command.c) -------------------------------------------------------------
 */

char *pm_absolute_path(const char *path, struct pm_error *err);

/* The file that a shell would execute for NAME; absolute, because the run may be elsewhere. */
char *pm_find_command(const char *name, struct pm_error *err);
bool pm_is_script(const char *path);

/* The program that ARGV starts on several processes, where it begins with a known launcher (mpirun,
   mpiexec, orterun, srun): the first argument that is an executable file and no script, one with a
   `/` in it before one that is in PATH.  NULL: it begins with none, or names no such file. */
char *pm_launched_program(char *const *argv);

/* Arguments, NULL at the end, as one would type them. */
char *pm_command_text(char *const *argv);

#endif
