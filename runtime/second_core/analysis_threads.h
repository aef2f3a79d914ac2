/* Threads of the runtime that analyse beside the program.

   They are made by plain system calls when there is work, up to one less than the CPUs that the
   process had when it began, and end by themselves when there was none for a while: so a process
   whose last thread ends by exit alone ends too.
   If none can be made (one CPU, a limit, a seccomp filter), the raw file has a note and each thread
   analyses its own records as without them.

   User's event handlers stay on the program's threads: their contract says so. */
#ifndef PM_RUNTIME_SECOND_CORE_ANALYSIS_THREADS_H
#define PM_RUNTIME_SECOND_CORE_ANALYSIS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct pm_thread;

/* Is what is full to be handed over? */
bool pm_analysis_is_concurrent(void);

/* How many there may be. */
unsigned pm_analysis_most_threads(void);

/* There is work: wakes an analysis thread, or makes one. */
void pm_analysis_wake(void);

/* Is there one that has nothing else to do? */
bool pm_analysis_has_idle_thread(void);

/* Threads of the program, where they wait or hand over: answers pm_analysis_ask_for_scan. */
void pm_analysis_serve(void);

/* For analysis threads: analyses a piece of what stands in the queue; in order, all of it if nobody
   else does.  False: nothing. */
bool pm_queue_take(struct pm_thread *thread);

/* False: WORD did not change its value, and nobody woke us, for NANOSECONDS. */
bool pm_futex_wait(const uint32_t *word, uint32_t value, long nanoseconds);
void pm_futex_wake(const uint32_t *word, int most);

#endif
