/* Which shared libraries of a program are instrumented: `--lib`, `--all-libs`. */
#ifndef PM_RUN_LIBRARIES_H
#define PM_RUN_LIBRARIES_H

#include "cmd/run_request.h"
#include "core/base/base.h"

struct pm_run_library {
    char *name;                  /* as the program asks for it, `libm.so.6`; else the file's name */
    char *path;                  /* real path */
    bool is_kept;                /* the runtime runs on it: it stays as it is */
    bool is_asked_for, is_named; /* at all; by --lib, so that it must work */
};

struct pm_run_libraries {
    PM_ARRAY(struct pm_run_library, items); /* in the order in which they are loaded */
};

/* The libraries that PROGRAM needs, as the dynamic linker INTERPRETER (NULL: the system's) finds
   them with ENVIRONMENT (NAME=TEXT, NULL at the end) added to ours, and those that REQUEST names by
   their path.  RUNTIME: path of libpmodel-rt.so.  Errors: a name that fits none, one that must stay
   as it is.  Freed by pm_run_libraries_free, also after an error. */
bool pm_run_libraries_find(const struct pm_run_request *request, const char *program,
                           const char *interpreter, const char *runtime, char *const *environment,
                           struct pm_run_libraries *libraries, struct pm_error *err);
void pm_run_libraries_free(struct pm_run_libraries *libraries);

#endif
