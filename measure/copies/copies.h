/* Instrumented copies: of what a run measures, and of a program that is to be run by hand.

   Which routines, loops and calls are measured is decided here, by names and patterns
   (core/structure/structure.h); how a file is lifted and rewritten is binlift's. */
#ifndef PM_COPIES_H
#define PM_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binlift/binlift.h"
#include "core/base/base.h"
#include "core/structure/structure.h"
#include "measure/progress.h"

/* ---- which loops and routines are events (choose_events.c) ----------------------------------- */

enum pm_event_kinds {
    PM_EVENTS_NONE = 0,
    PM_EVENTS_ROUTINES = 1,
    PM_EVENTS_LOOPS = 2,
    PM_EVENTS_ITERATIONS = 4
};

/* A routine whose entry or exit switches measuring. */
struct pm_event_routine {
    const char *name;
    uint8_t flag;              /* PM_PROBE_SCOPE_STARTS, PM_PROBE_SCOPE_STOPS */
    bool found;                /* a module has it … */
    bool probed;               /* … and each entry and exit of it has a probe */
    struct pm_nearest nearest; /* routine that is called so, or nearly so */
};

/* Names that were given together: INTERVALS from FIRST to FIRST + N − 1. */
struct pm_interval_names {
    size_t first, n;
    char *file; /* where they stand; NULL: on the command line; owned */
    enum pm_interval_need {
        PM_INTERVALS_EACH, /* a call of each must be there */
        PM_INTERVALS_ONE,  /* of one of them */
        PM_INTERVALS_ANY,  /* they need not be called at all */
    } need;
    bool on_sockets; /* traffic on sockets is counted in their calls (--sockets) */
};

struct pm_event_choice {
    unsigned kinds; /* of enum pm_event_kinds */
    PM_ARRAY(struct pm_event_routine, routines);
    PM_ARRAY(char *, intervals); /* calls of these end an interval: names and patterns; owned */
    PM_ARRAY(struct pm_interval_names, interval_names);
    bool no_intervals;    /* not those that are usual, either */
    bool *interval_found; /* per interval, after pm_event_choice_lift and a lift */
};

void pm_event_choice_add(struct pm_event_choice *choice, const char *name, uint8_t flag);

/* Calls of the routines that VALUE names, with commas between, end an interval; each must be
   called. With a `/` it is a file with a name or pattern a line, where `#` begins a comment: one of
   them must be. */
bool pm_event_choice_add_intervals(struct pm_event_choice *choice, const char *value,
                                   struct pm_error *err);
/* Likewise, and traffic on sockets is counted in their calls. */
bool pm_event_choice_add_sockets(struct pm_event_choice *choice, const char *value,
                                 struct pm_error *err);
/* The names and patterns of those, semicolons between; NULL: there are none.  Owned by the caller.
 */
char *pm_event_choice_sockets(const struct pm_event_choice *choice);
/* The same of the file PATH. */
bool pm_event_choice_add_interval_file(struct pm_event_choice *choice, const char *path,
                                       enum pm_interval_need need, struct pm_error *err);

/* What a lift must know.  CHOICE must outlive it. */
void pm_event_choice_lift(struct pm_event_choice *choice, struct pm_lift_options *options);
/* After all modules: false with a sentence if a routine is not there or cannot be probed. */
bool pm_event_choice_check(const struct pm_event_choice *choice, struct pm_error *err);

void pm_event_choice_free(struct pm_event_choice *choice); /* what it owns */

/* ---- which routines are measured (routine_lists.c) ------------------------------------------- */

/* Files of names: a line is a name or a pattern; `#` begins a comment.  In a file of routines to
   leave out `!` before a name says that these must stay as they are. */
struct pm_routine_lists;

/* Reads the files; each may be NULL.  Without INCLUDE all routines are measured but those of
   EXCLUDE; with both, those included and not excluded. */
struct pm_routine_lists *pm_routine_lists_read(const char *include, const char *exclude,
                                               struct pm_error *err);
void pm_routine_lists_free(struct pm_routine_lists *lists);

/* For each routine of STRUCTURE whether it is left out; the caller frees.  To be called for each
   module of a program. */
bool *pm_routine_lists_left_out(struct pm_routine_lists *lists,
                                const struct pm_structure *structure);
/* The same of those that a line with `!` names, which are left out in any case. */
bool *pm_routine_lists_untouched(struct pm_routine_lists *lists,
                                 const struct pm_structure *structure);

/* False with a sentence if a line named no routine in any structure so far. */
bool pm_routine_lists_all_found(const struct pm_routine_lists *lists, struct pm_error *err);

/* ---- copies of a program and its libraries (copies.c) ---------------------------------------- */

/* Do calls move with the code around them, where that is certain, or stay at their old places? */
enum pm_calls { PM_CALLS_MOVED = 1, PM_CALLS_KEPT };

/* How programs are instrumented.  Strings are borrowed and may be NULL but for the first two; the
   arrays are owned (pm_copies_request_free). */
struct pm_copies_request {
    const char *runtime;        /* path of libpmodel-rt.so */
    const char *classes_folder; /* as struct pm_lift_options has these three */
    const char *own_classes_folder, *classes_file;
    const char *include_file, *exclude_file; /* pm_routine_lists_read */
    const char *weights_store; /* counters stand where little ran in it; NULL: estimates decide */
    struct pm_event_choice events;     /* which loops and routines are events */
    PM_ARRAY(const char *, libraries); /* names, patterns, paths */
    bool all_libraries;
    bool no_mathematics; /* leaves out those of mathematics that the program uses */
    bool no_memory;      /* edge counters only */
    bool behaviour;      /* the copy stores outcomes of branches, too */
    enum pm_calls calls;
    bool for_handler; /* an event handler gets what is measured, not the analysis */
};
void pm_copies_request_free(struct pm_copies_request *request); /* what it owns */

struct pm_copy {
    char *original;     /* real path of the module */
    char *instrumented; /* path of its copy; a library's has the name by which it is asked for */
    size_t n_imports;   /* of a library only what so many imports reach; 0: all of the module */
};

struct pm_copies {
    PM_ARRAY(struct pm_copy, files);          /* the program first */
    struct pm_imports imports;                /* of all of them, in their order; owned */
    PM_ARRAY(struct pm_module_place, places); /* of each file in the structure */
    PM_ARRAY(char *, measurable);             /* libraries that may be asked for, and are not
                                                 measured: real paths; owned */
    int mpi; /* enum pm_raw_library that the program needs, itself or by a library; 0: none */
    struct pm_structure *structure; /* of all */
    /* Per routine of the structure: has counters, but nothing else is measured, because of the
       lists of routines. */
    bool *not_recorded;
    bool has_intervals; /* a call that ends one is there */
};

/* Lifts PROGRAM and those of its libraries that REQUEST asks for, places counters, and writes the
   copies into FOLDER.  ENVIRONMENT: of the run, NAME=TEXT to add to ours, NULL at the end.  COPIES
   is zeroed before; what it owns is freed by pm_copies_free, also after an error.  Errors: a file
   that cannot be lifted or instrumented, a name of REQUEST that fits nothing. */
bool pm_copies_make(const struct pm_copies_request *request, const char *program,
                    char *const *environment, const char *folder,
                    const struct pm_progress *progress, struct pm_copies *copies,
                    struct pm_error *err);
void pm_copies_free(struct pm_copies *copies);

/* Lifts file I of COPIES, which REQUEST made, as it was lifted for its copy.  NULL with a sentence
   if it cannot be, or has changed since; the caller frees. */
struct pm_lifted *pm_copies_lift_again(const struct pm_copies_request *request,
                                       const struct pm_copies *copies, size_t i,
                                       struct pm_error *err);

/* ---- a copy to be run by hand (by_hand.c) ---------------------------------------------------- */

struct pm_copy_summary {
    size_t n_routines, n_instrumented;
    uint32_t n_counters;
    size_t n_events; /* loops and routines whose entries and exits are events */
};

/* Writes the instrumented copy of PROGRAM to the file TO; without libraries.  Errors as those of
   pm_copies_make; then there is no file TO, or it is as it was. */
bool pm_copy_by_hand(const struct pm_copies_request *request, const char *program, const char *to,
                     struct pm_copy_summary *summary, struct pm_error *err);

#endif
