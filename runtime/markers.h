/* Measuring is on or off, for the whole process: pmodel_start and pmodel_stop of pmodel.h, and
   routines that switch it (--start-at, --stop-after). */
#ifndef PM_RUNTIME_MARKERS_H
#define PM_RUNTIME_MARKERS_H

#include "runtime/threads.h"

/* At the begin of the process: off if a routine is to switch it on. */
void pm_markers_begin(void);

/* For threads that begin. */
bool pm_measuring_is_on(void);

/* A routine that switches was entered or left in THREAD; what follows from it is done by
   pm_markers_switch, which the thread calls once it has its records consumed, without `busy`.
   AT_CALL: the program is at the routine's first or last instruction. */
void pm_markers_entered(struct pm_thread *thread, uint32_t scope, bool at_call);
void pm_markers_left(struct pm_thread *thread, uint32_t scope, bool at_call);
void pm_markers_switch(struct pm_thread *thread);

void pm_markers_after_fork(void);

#endif
