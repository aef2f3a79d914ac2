/* What the process's handler gets beside accesses: entries and exits of scopes, counters, interval
   ends. Event records keep a stack of open scopes (open_scopes.h), whose changes are delivered. All
   is called by the thread itself, or for a thread whose `busy` the caller has, with signals
   blocked. */
#ifndef PM_RUNTIME_EVENTS_H
#define PM_RUNTIME_EVENTS_H

#include "runtime/events/open_scopes.h"
#include "runtime/threads.h"

/* Does anybody want events? */
bool pm_wants_events(void);

/* An event record of BLOCK: event and stack pointer.  What came before it has been delivered. */
void pm_deliver_event(struct pm_control_block *block, uint64_t event, uint64_t stack);

/* What the counters of THREAD rose by since the last time. */
void pm_deliver_counters(struct pm_thread *thread);

/* Measuring ends or begins for THREAD: what is open counts as left, or as entered. */
void pm_deliver_stop(struct pm_thread *thread);
void pm_deliver_start(struct pm_thread *thread);

/* An analysis of carried reuse begins anew for THREAD, which is in the middle of something. */
void pm_deliver_open_scopes(struct pm_thread *thread);

/* Is something open on BLOCK, or on those that interrupted it? */
bool pm_has_open_scopes(const struct pm_control_block *block);

/* Nothing is open on BLOCK, and on those that interrupted it, any more. */
void pm_deliver_all_exits(struct pm_control_block *block);

#endif
