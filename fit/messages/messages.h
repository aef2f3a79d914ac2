/* Models of numbers and sizes of messages, by call path and operation (core/messages/messages.h).
 */
#ifndef PM_FIT_MESSAGES_H
#define PM_FIT_MESSAGES_H

#include "core/messages/messages.h"
#include "core/store/store.h"
#include "fit/fit.h"

/* False: it is sent to MPI_PROC_NULL, or received from there, and so is none. */
bool pm_is_message(const struct pm_event_kind *kind);

/* From the runs of what is selected in STORE: of a role, of its mean rank; else of all ranks added
   up.  NULL, without a sentence, where communication was not traced in all of them; with one as of
   pm_fit_counts.  Owned by the caller. */
struct pm_message_models *
pm_fit_messages(struct pm_store *store, const struct pm_fit_options *options, struct pm_error *err);

#endif
