/* From a question to its answer: the one way for every command.

   A subject is a store, and what of its runs is looked at.  A question to it is a size, machines
   and how time is predicted.  The answer is the profile of that size, measured or from the models,
   with what each thread did, the ends of the models' intervals, what was timed and bounded of a
   measured size, and a prediction on each machine.  Every view of a question shows figures of the
   same answer, so that no two views differ: tests/e2e/answers.sh asks all commands and compares. */
#ifndef PM_ASK_H
#define PM_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/bounds/bounds.h"
#include "core/machine/machine.h"
#include "core/parameters.h"
#include "core/profile.h"
#include "core/selection/selection.h"
#include "core/store/store.h"
#include "core/times.h"
#include "core/warnings.h"
#include "fit/query/query.h"
#include "fit/warnings/warnings.h"
#include "measure/measure.h"
#include "sched/sched.h"

/* ---- what is asked about (subject.c, ask_selection.c) ---------------------------------------- */

/* What of a store's runs is meant, in the words of a command line; NULL: all. */
struct pm_selection_words {
    const char *role, *interval, *ordinal;
};

/* Schedules that predictions on one machine have in common. */
struct pm_machine_paths {
    const struct pm_machine *machine;
    struct pm_known_paths *known;
};

struct pm_subject {
    const char *store_path; /* borrowed; NULL: of a store that is at hand */
    struct pm_store *store;
    struct pm_program program;                /* structure, runs, models */
    char *selected;                           /* "the mean rank of role corner"; NULL: all */
    bool is_at_hand;                          /* store and structure are somebody else's */
    PM_ARRAY(struct pm_machine_paths, paths); /* of machines that outlive the subject */
};

/* Opens the store at PATH and selects WORDS (NULL: all) in it.  Errors: no store, no run in it; a
   store without ranks or intervals, a role or kind that there is not, a name that several kinds
   have.  Closed by pm_subject_close, also after an error. */
bool pm_subject_open(struct pm_subject *subject, const char *path,
                     const struct pm_selection_words *words, struct pm_error *err);
void pm_subject_close(struct pm_subject *subject);
/* The same of a STORE that is at hand, whose runs are in the numbers of STRUCTURE; both stay the
   caller's and outlive the subject. */
bool pm_subject_at_hand(struct pm_subject *subject, struct pm_store *store,
                        struct pm_structure *structure, struct pm_error *err);

/* From here on block sizes that MACHINES need and that were not measured are interpolated from the
   nearest that were (fit/query/interpolate.c). */
void pm_subject_interpolate(struct pm_subject *subject, struct pm_machine *const *machines,
                            size_t n_machines);

/* Selects WORDS in STORE; there must be a run of the selection. *SELECTED: the selection in words;
   owned by the caller, also after an error. */
bool pm_select_words(struct pm_store *store, const struct pm_selection_words *words,
                     char **selected, struct pm_error *err);

/* Looks at SELECTION from here on; models are read again. */
bool pm_subject_select(struct pm_subject *subject, const struct pm_selection *selection,
                       struct pm_error *err);

/* Names of the calls at the ends of KINDS, by path, which all differ; freed by
   pm_call_path_names_free. */
char **pm_interval_end_names(const struct pm_structure *structure,
                             const struct pm_call_paths *paths,
                             const struct pm_interval_kinds *kinds);
/* With these NAMES both ends of KIND: "solve:112 MPI_Recv", "begin", "end". */
const char *pm_interval_begin(char *const *names, const struct pm_interval_kind *kind);
const char *pm_interval_end(char *const *names, const struct pm_interval_kind *kind);

/* ---- the question, and its answer (ask.c) ---------------------------------------------------- */

enum pm_answer_source {
    PM_FROM_RUN_OR_MODELS, /* a run, if there is one of the size */
    PM_FROM_RUN,
    PM_FROM_MODELS, /* also where there is a run */
};

struct pm_question {
    const struct pm_parameters *at; /* NULL or n == 0: the largest measured size */
    enum pm_answer_source source;
    struct pm_machine *const *machines;
    size_t n_machines; /* 0: the profile is all that is wanted */
    struct pm_predict_options predict;
    bool without_ends;    /* of intervals, which no figure shows */
    bool needs_misses;    /* no answer without reuse distances: the view cannot say that its times
                             are lower bounds */
    bool can_interpolate; /* a refusal for want of block sizes names --interpolate */
    bool interpolate;     /* pm_subject_interpolate for these machines, first */
};

struct pm_answer {
    struct pm_subject *subject; /* borrowed */
    struct pm_profile *profile;
    struct pm_profile *ends[2]; /* of the models' intervals, fewer misses first; NULL: measured, or
                                   not asked for */
    struct pm_times *times;     /* of a measured size; NULL: it was not timed */
    struct pm_bounds *bounds;   /* … nor bounded */
    struct pm_spin_loops spin;  /* loops of ranks that are left out, for they only wait */
    PM_ARRAY(struct pm_prediction *, predictions); /* one for each machine, in their order */
};

/* NULL with a sentence: there is no run of the size and no model, a block size that a machine needs
   was not measured (with the command that measures it).  Freed by pm_answer_free. */
struct pm_answer *pm_ask(struct pm_subject *subject, const struct pm_question *question,
                         struct pm_error *err);
/* Adds predictions on further machines: of QUESTION only machines and how to predict are read.
   Errors as of pm_ask. */
bool pm_answer_predict(struct pm_answer *answer, const struct pm_question *question,
                       struct pm_error *err);
/* What the same profile would take on MACHINE, a changed one, without intervals; owned by the
   caller. */
struct pm_prediction *pm_answer_what_if(const struct pm_answer *answer,
                                        const struct pm_machine *machine,
                                        const struct pm_predict_options *predict,
                                        struct pm_error *err);
void pm_answer_free(struct pm_answer *answer); /* NULL is allowed */

/* What must be known before ANSWER is read (core/warnings.h); MACHINES are those of its
   predictions. */
void pm_answer_warn(const struct pm_answer *answer, struct pm_machine *const *machines,
                    struct pm_warnings *warnings);

/* Warns where the time of the largest run went outside measured code, if a run knows it; else that
   it is not known. */
bool pm_subject_warn_of_outside(const struct pm_subject *subject, struct pm_warnings *warnings,
                                struct pm_error *err);

/* ---- block sizes that were not measured (missing_blocks.c) ----------------------------------- */

/* True if PROFILE has the block sizes of all levels; else the sentence says which it lacks and,
   made of what the store knows, the command that measures them. */
bool pm_need_machine_blocks(const struct pm_subject *subject, const struct pm_profile *profile,
                            const struct pm_machine *machine, bool can_interpolate,
                            struct pm_error *err);

/* Block sizes that the runs of a store lack, and how `pmodel run` is told of them. */
struct pm_missing_blocks {
    const char *option, *value; /* "-m", "r12000" */
    const char *settings;       /* "L1.line=16, L2.line=32"; NULL none */
    struct pm_block_sizes block_sizes;
    bool can_interpolate; /* the command has --interpolate */
};
/* Adds to the sentence of ERR how they are measured, and FITS: modelled; false. */
bool pm_advise_measuring(const struct pm_subject *subject, const struct pm_missing_blocks *missing,
                         bool fits, struct pm_error *err);

#endif
