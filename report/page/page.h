/* `pmodel report --as page`: one page that holds a program's loops, their source and figures at
   many sizes on several machines, and draws them in a browser, without a network. */
#ifndef PM_PAGE_H
#define PM_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/machine/machine.h"
#include "core/prediction.h"
#include "core/profile.h"
#include "core/source/source.h"
#include "core/structure/structure.h"
#include "core/times.h"
#include "core/warnings.h"
#include "sched/sched.h"

/* What the page is of; all must outlive it. */
struct pm_page_subject {
    const struct pm_structure *structure;
    const char *parameter; /* that is followed */
    double measured_low,
        measured_high; /* of it, of what the models were made from; NAN: no models */
    const struct pm_machine *const *machines;
    size_t n_machines;
    const struct pm_roofs *roofs; /* of each machine; without any where they are not known */
};
struct pm_html_page;
struct pm_html_page *pm_page_new(const struct pm_page_subject *subject);

/* One size, by the models or as counted in a run, with a prediction for each machine. */
struct pm_page_size {
    double value;  /* of the parameter */
    bool is_given; /* asked for by name, so that it is marked */
    const struct pm_profile *profile;
    struct pm_prediction *const *predictions;
    const struct pm_roofline *rooflines; /* for each machine; without points: none */
    const struct pm_times *times;        /* of the run; NULL: not timed */
};
/* Keeps what a report says of each row, and its reuse distances; nothing of SIZE is needed after
   it.  Sizes are added in ascending order, of equal ones the models' first. */
void pm_page_add(struct pm_html_page *page, const struct pm_page_size *size);

/* SOURCE is that of FILE, as the structure calls it. */
void pm_page_add_source(struct pm_html_page *page, const char *file,
                        const struct pm_source *source);

bool pm_page_write(FILE *to, struct pm_html_page *page, const struct pm_warnings *warnings,
                   struct pm_error *err);
void pm_page_free(struct pm_html_page *page); /* NULL is fine */

#endif
