/* Starting processes: the user's command, so that it runs the instrumented program in place of the
   plain one, and the command that builds the program for a size. */
#ifndef PM_LAUNCH_H
#define PM_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/base.h"
#include "core/parameters.h"
#include "measure/copies/copies.h"
#include "measure/progress.h"

struct pm_launch {
    char *const *argv;           /* command and arguments, NULL at the end */
    const char *command_path;    /* the file to execute */
    const struct pm_copy *files; /* what was instrumented, the program first */
    size_t n_files;
    const char *runtime; /* path of libpmodel-rt.so */
    const char *wrapper; /* what stands before the calls of an MPI library; NULL: nothing does */
    const char *folder;  /* to run in; NULL: where we are */
    char *const *environment; /* NAME=TEXT to add, NULL at the end */
    double timeout_seconds;   /* 0: none */
    double grace_seconds;  /* between SIGTERM and SIGKILL when the command is to end; 0: at once */
    bool output_to_errors; /* standard output goes where pmodel's standard error goes */
    bool silent;           /* neither output nor errors go anywhere */
};

enum { PM_OUTPUT_TAIL = 4096 };

/* The last that a process wrote; a NUL byte shows as a space. */
struct pm_output_tail {
    char text[PM_OUTPUT_TAIL + 1];
    size_t length;
};

void pm_tail_add(struct pm_output_tail *tail, const char *bytes, size_t n);
/* The last line with something in it, cut off where spaces follow; "" if there is none. */
const char *pm_tail_last_line(struct pm_output_tail *tail);

struct pm_launch_result {
    int status; /* as waitpid gives it */
    bool timed_out;
    bool interrupted; /* pmodel itself was told to end (interruption.h) */
    bool in_place;    /* false: no mount namespace, the copy ran under its own path */
    double wall_seconds, cpu_seconds;
    double peak_bytes;          /* resident memory of its largest process */
    struct pm_output_tail tail; /* of its standard error */
};

/* Runs the command and waits.  In the child's own mount namespace the instrumented copies lie over
   the originals' paths, so that argv[0], /proc/self/exe, $ORIGIN, scripts and launchers see what
   they are used to, and nothing outside is changed.  Where the system allows no namespace and the
   command is the program itself, the copy is executed from a temporary name in the program's folder
   (argv[0] and $ORIGIN are kept, /proc/self/exe is not), and the folder of the libraries' copies
   comes first in LD_LIBRARY_PATH; with a launcher that is an error.  Where libraries are
   instrumented, LD_PRELOAD names the runtime, because any process of the command may load one of
   them.  Standard output is the child's; standard error is passed on and its end kept.  At the end
   of the time, or when pmodel is to end, the command and what it started gets SIGTERM and, after
   the grace, SIGKILL. */
bool pm_launch_run(const struct pm_launch *launch, struct pm_launch_result *result,
                   struct pm_error *err);

/* Becomes the command, in a mount namespace of its own: with its environment, its standard files
   and its folder.  Where the system allows none, and the command is the program itself, becomes the
   copy under its own path.  Returns only with a sentence. */
bool pm_launch_become(const struct pm_launch *launch, struct pm_error *err);

/* How the command ended, as in "`…` was ended by signal 15 (Terminated)"; owned by the caller. */
char *pm_launch_ending(const struct pm_launch *launch, const struct pm_launch_result *result);

/* False with a sentence if the run timed out or did not end with status 0. */
bool pm_launch_check(const struct pm_launch *launch, struct pm_launch_result *result,
                     struct pm_error *err);

/* Runs COMMAND with `{NAME}` replaced in a shell, in the current folder; what it writes goes to
   PROGRESS.  False with its status and the last that it wrote, if it fails. */
bool pm_build_program(const char *command, const struct pm_parameters *at,
                      const struct pm_progress *progress, struct pm_error *err);

#endif
