/* Where a program's time goes, file by file: the program as it is, stopped a thousand times a
   second to see which file's code it is in.  So that work which is not measured does not go
   unnoticed. */
#ifndef PM_OUTSIDE_H
#define PM_OUTSIDE_H

#include "core/base/base.h"
#include "core/times.h"

struct pm_sampled_command {
    char *const *argv;        /* command and arguments, NULL at the end */
    const char *command_path; /* the file to execute */
    const char *program;      /* real path: only its processes count */
    const char *folder;       /* to run in; NULL: where we are */
    char *const *environment; /* NAME=TEXT to add, NULL at the end */
    unsigned timeout_seconds; /* 0: none */
};

/* Runs the command with its output going nowhere and adds its samples to TIMES, by the real path of
   the file (NULL: in no file).  False if it cannot be followed (ptrace), did not end with status 0,
   or took too long or too short: then TIMES mean nothing. */
bool pm_sample_files(const struct pm_sampled_command *command, struct pm_file_times *times);

#endif
