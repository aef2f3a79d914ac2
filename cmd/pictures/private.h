/* What `pmodel report --as plot` and `pmodel report --as page` have in common: the sizes that they
   follow a program over; private to the folder. */
#ifndef PM_CMD_PICTURES_PRIVATE_H
#define PM_CMD_PICTURES_PRIVATE_H

#include "ask/ask.h"
#include "cmd/cmd.h"
#include "cmd/measuring.h"

enum { PM_USUAL_SIZES = 60 }; /* that are spaced evenly in the logarithm */

struct pm_followed_size {
    struct pm_parameters at;
    double value;  /* of the parameter that is followed */
    bool is_given; /* by -P */
};

/* A program over the values of one parameter. */
struct pm_followed {
    struct pm_subject subject;
    const struct pm_model_set
        *models;     /* NULL: none; then only sizes that were measured are followed */
    char *parameter; /* owned */
    bool is_by_run;  /* nothing depends on a parameter: runs are followed, by their number */
    double measured_low,
        measured_high; /* of the parameter, of what the models were made from; NAN */
    PM_ARRAY(struct pm_followed_size, sizes); /* ascending, each value once; owned */
};

/* Opens the store, finds which parameter is followed, and lists its values: N_EVENLY of them, from
   the smallest that was measured, or given in DESIGN, to the largest that queries look at or that
   is given; those of DESIGN; and those that were measured.  DESIGN gives the other parameters one
   value each.  Freed by pm_followed_free, also after an error. */
bool pm_follow(struct pm_followed *followed, const char *store_path,
               const struct pm_size_design *design, unsigned n_evenly, struct pm_error *err);
void pm_followed_free(struct pm_followed *followed);

/* Answers of QUESTION at SIZE: by the models, and as it was counted in a whole run; ANSWER: NULL if
   there are none of these.  Owned by the caller. */
bool pm_followed_predicted(struct pm_followed *followed, const struct pm_followed_size *size,
                           struct pm_question question, struct pm_answer **answer,
                           struct pm_error *err);
bool pm_followed_measured(struct pm_followed *followed, const struct pm_followed_size *size,
                          struct pm_question question, struct pm_answer **answer,
                          struct pm_error *err);

/* On a terminal the share that is done and how long the rest will take; nothing else. */
struct pm_picture_progress {
    const char *view;
    double began, said;
    bool is_terminal;
};
struct pm_picture_progress pm_picture_progress_begin(const char *view);
void pm_picture_progress_show(struct pm_picture_progress *progress, double share);
void pm_picture_progress_end(struct pm_picture_progress *progress);

#endif
