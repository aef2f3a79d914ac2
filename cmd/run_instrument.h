/* The instrumented copies of what a run measures, and the structure that says what that is. */
#ifndef PM_RUN_INSTRUMENT_H
#define PM_RUN_INSTRUMENT_H

#include "binlift/binlift.h"
#include "cmd/run_request.h"

struct pm_run_copy {
    char *original;     /* real path of the module */
    char *instrumented; /* path of its copy; a library's has the name by which it is asked for */
};

struct pm_run_copies {
    PM_ARRAY(struct pm_run_copy, files);      /* the program first */
    PM_ARRAY(struct pm_module_place, places); /* of each file in the structure */
    struct pm_structure *structure;           /* of all */
    /* Per routine of the structure: has counters, but nothing else is measured, because of the
       lists of routines. */
    bool *not_recorded;
    char *runtime; /* path of libpmodel-rt.so */
};

/* Lifts PROGRAM and those of its libraries that REQUEST asks for, places counters, and writes the
   copies into FOLDER.  ENVIRONMENT: of the run, NAME=TEXT to add to ours, NULL at the end.  COPIES
   is zeroed before; what it owns is freed by pm_run_copies_free, also after an error. */
bool pm_run_instrument(const struct pm_run_request *request, const char *program,
                       char *const *environment, const char *folder, struct pm_run_copies *copies,
                       struct pm_error *err);
void pm_run_copies_free(struct pm_run_copies *copies);

/* A line of `pmodel run` on standard error, unless it is to be quiet. */
void pm_run_say(const struct pm_run_request *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
