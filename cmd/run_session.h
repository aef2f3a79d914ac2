/* Measuring a program at one or more sizes: what `pmodel run` and `pmodel validate` share.

   The steps: instrument the program once → for each size that the store does not have: substitute
   (run_substitute.c), start (run_launch.c), read what the runtime wrote (run_ingest.c), put it into
   the store. */
#ifndef PM_RUN_SESSION_H
#define PM_RUN_SESSION_H

#include "cmd/run_request.h"
#include "core/parameters.h"
#include "core/base/base.h"
#include "core/store/store.h"
#include "core/structure/structure.h"

struct pm_run_session;

/* Finds and instruments the program that REQUEST's command names at size FIRST; opens the store if
   it exists, so that a wrong one is noticed before anything runs.  REQUEST must outlive the
   session.  Errors: no such program, a script without --exe, a program that cannot be instrumented,
   a store of another program.  A request without a store keeps its runs in a temporary one. */
struct pm_run_session *pm_run_session_new(const struct pm_run_request *request,
                                          const struct pm_parameters *first, struct pm_error *err);

/* Closes the store and removes all temporary files; NULL is allowed. */
void pm_run_session_free(struct pm_run_session *session);

const struct pm_structure *pm_run_session_structure(const struct pm_run_session *session);

/* Where the runs are; NULL before the first one.  Owned by the session. */
struct pm_store *pm_run_session_store(struct pm_run_session *session);

/* What the last run of the session took; NAN before. */
void pm_run_session_last_cost(const struct pm_run_session *session, double *wall_seconds,
                              double *peak_bytes);

/* Measures the sizes that the store does not have, says so on standard error, and complains of each
   run that failed; the others are kept.  The exit status. */
int pm_run_session_measure(struct pm_run_session *session, const struct pm_parameters *sizes,
                           size_t n_sizes);

#endif
