/* How far long work is, and what it is at, on a terminal: one line on standard error that each step
   replaces.  Nothing is shown where standard error is no terminal. */
#ifndef PM_CMD_PROGRESS_H
#define PM_CMD_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "ask/ask.h"
#include "core/parameters.h"

struct pm_steps {
    const char *command;        /* "run" */
    bool is_shown;              /* there is a line that is to be cleared */
    double began;               /* the step at hand, in seconds; 0: none yet */
    double at_work;             /* of the step at hand, what its work grows with */
    double work[2], seconds[2]; /* of the first step that took time, and of the last */
};

/* Step DONE of the N at SIZES begins. */
void pm_steps_begin(struct pm_steps *steps, const struct pm_parameters *sizes, size_t done,
                    size_t n);
/* Takes the line away, before something else is printed or the work ends. */
void pm_steps_clear(struct pm_steps *steps);

/* What a command is at, "making models", between both; shown once the command has taken a second.
 */
void pm_work_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void pm_work_end(void);

/* As pm_ask and pm_answer_predict; they say meanwhile what is predicted. */
struct pm_answer *pm_ask_and_say(struct pm_subject *subject, const struct pm_question *question,
                                 struct pm_error *err);
bool pm_predict_and_say(struct pm_answer *answer, const struct pm_question *question,
                        struct pm_error *err);

#endif
