/* `{N}` in arguments, environment and input files. */
#ifndef PM_RUN_SUBSTITUTE_H
#define PM_RUN_SUBSTITUTE_H

#include "core/parameters.h"
#include "core/base/base.h"

/* TEXT with `{NAME}` replaced by the parameter's value, `{PWD}` by the folder where pmodel was
   started; `{{NAME}}` gives a literal `{NAME}`; braces around anything but a name stay.  An unknown
   name is an error that tells the known ones.  Owned by the caller. */
char *pm_substitute(const char *text, const struct pm_parameters *at, struct pm_error *err);

/* Reads the template FROM, substitutes, writes TO (made or replaced). */
bool pm_substitute_file(const char *from, const char *to, const struct pm_parameters *at,
                        struct pm_error *err);

/* A whole file with a NUL behind it; owned by the caller. */
char *pm_read_text(const char *path, struct pm_error *err);

#endif
