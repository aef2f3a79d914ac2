/* The command as the user gave it: which file it is, what it looks like at one size, and what makes
   two runs the same.  Strings that functions return are owned by the caller. */
#ifndef PM_RUN_COMMAND_H
#define PM_RUN_COMMAND_H

#include "cmd/run_request.h"
#include "core/parameters.h"
#include "core/base/base.h"

char *pm_absolute_path(const char *path, struct pm_error *err);

/* The file that a shell would execute for NAME; absolute, because the run may be elsewhere. */
char *pm_find_command(const char *name, struct pm_error *err);
bool pm_is_script(const char *path);

/* Arguments as one would type them. */
char *pm_command_text(char *const *argv);

/* The N texts with their parameters filled in, NULL at the end (pm_free_strings). */
char **pm_substitute_all(char *const *texts, size_t n, const struct pm_parameters *at,
                         struct pm_error *err);
size_t pm_count_strings(char *const *strings);
void pm_free_strings(char **strings); /* the array too; NULL is allowed */

/* What must be equal for a run not to be repeated: command, environment, inputs' contents. */
char *pm_settings_text(const struct pm_run_request *request, struct pm_error *err);

#endif
