/* What the files of this folder share; see copies.h for what others use. */
#ifndef PM_COPIES_PRIVATE_H
#define PM_COPIES_PRIVATE_H

#include "measure/copies/copies.h"

/* ---- the lift and the copy of one module (copier.c) ------------------------------------------ */

/* What stays from module to module. */
struct pm_copier {
    const struct pm_copies_request *request;
    struct pm_lift_options lift;
    struct pm_edge_weights *weights; /* NULL: none were given */
    struct pm_routine_lists *lists;  /* the same */
    struct pm_event_choice events;   /* with what was found of them */
};

/* Reads the files that REQUEST names.  What COPIER owns is freed by pm_copier_free, also after an
   error. */
bool pm_copier_new(struct pm_copier *copier, const struct pm_copies_request *request,
                   struct pm_error *err);
void pm_copier_free(struct pm_copier *copier);

/* Writes the copy of LIFTED, a lift with COPIER->lift, to TO.  OPTIONS say which routines are left
   out and where numbers begin; what the request says of all modules is added.  *N_EVENTS (or NULL):
   scopes with probes. */
bool pm_copier_write(struct pm_copier *copier, struct pm_lifted *lifted,
                     struct pm_instrument_options *options, const char *to, size_t *n_events,
                     struct pm_error *err);

/* ---- events (choose_events.c) ---------------------------------------------------------------- */

/* Names of routines stay with who owns them. */
void pm_event_choice_copy(struct pm_event_choice *to, const struct pm_event_choice *from);
/* A line of a file of names without comment and blanks around it, in place (routine_lists.c). */
char *pm_trim_line(char *text);
/* After a lift: is there a call that ends an interval? */
bool pm_event_choice_ends_intervals(const struct pm_event_choice *choice);
/* pm_instrument_options.scope_events for a module; NULL: no events.  The caller frees. */
uint8_t *pm_event_choice_flags(struct pm_event_choice *choice,
                               const struct pm_structure *structure);
/* After the module was instrumented: PROBED as pm_instrument_options has it. */
void pm_event_choice_probed(struct pm_event_choice *choice, const struct pm_structure *structure,
                            const uint8_t *probed);

/* ---- shared libraries (libraries.c) ---------------------------------------------------------- */

struct pm_library {
    char *name;                  /* as the program asks for it, `libm.so.6`; else the file's name */
    char *path;                  /* real path */
    bool is_kept;                /* the runtime runs on it: it stays as it is */
    bool is_asked_for, is_named; /* at all; by --lib, so that it must work */
    bool only_imports;           /* asked for as far as the program's imports reach into it */
};

struct pm_libraries {
    PM_ARRAY(struct pm_library, items); /* in the order in which they are loaded */
};

/* The libraries that PROGRAM needs, as the dynamic linker INTERPRETER (NULL: the system's) finds
   them with ENVIRONMENT (NAME=TEXT, NULL at the end) added to ours, and those that REQUEST names by
   their path.  Errors: a name that fits none, one that must stay as it is.  Freed by
   pm_libraries_free, also after an error. */
bool pm_libraries_find(const struct pm_copies_request *request, const char *program,
                       const char *interpreter, char *const *environment,
                       struct pm_libraries *libraries, struct pm_error *err);
void pm_libraries_free(struct pm_libraries *libraries);
/* enum pm_raw_library: the MPI library that is among them; 0: none is. */
int pm_libraries_mpi(const struct pm_libraries *libraries);

/* ---- known frequencies of edges (earlier_weights.c) ------------------------------------------ */

struct pm_edge_weights {
    struct pm_structure *structure;
    double *edge_counts;
    struct pm_known_weights known; /* of both; for pm_lift_options */
};

/* Sums the runs of the store PATH, each with the same weight whatever its size. */
struct pm_edge_weights *pm_edge_weights_read(const char *path, struct pm_error *err);
void pm_edge_weights_free(struct pm_edge_weights *weights);

#endif
