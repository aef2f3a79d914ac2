/* The process as a whole: what the environment asks for, begin and end, and what is written. */
#ifndef PM_RUNTIME_PROCESS_H
#define PM_RUNTIME_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/pmodel_handler.h"

struct pm_thread;

/* What gets the accesses; NULL: nobody wants them. */
extern const struct pmodel_handler *pm_process_handler;

/* True between the constructor of this library and the end, if the process has an instrumented
   module. */
bool pm_process_is_measured(void);

/* True once the end has begun: no more accesses are taken. */
bool pm_process_is_finished(void);

/* False in a child that shares our memory or copied it behind our back (vfork, clone): it must
   leave everything as it is. */
bool pm_process_is_ours(void);

/* Tells the event handler that a thread ended. */
void pm_process_thread_end(struct pm_thread *thread);

/* The end: drains all buffers and writes the raw file.  Does nothing the second time. */
void pm_process_finish(void);

/* The same where SIGNAL is about to end the process: the file is marked.  Safe in a handler that
   blocks all signals. */
void pm_process_truncated(int signal);

/* Writes what was measured until now, for raw_output/checkpoints.c: what was measured must not
   change until BUILT is called.  NAME: pm_raw_save_again. */
void pm_process_write_checkpoint(void (*built)(void), char *name, size_t name_size);

/* In the child of a fork: it is a process of its own, measured from here on. */
void pm_process_forked(void);

/* Writes the raw file before an exec; pm_process_exec_failed removes it again. */
void pm_process_before_exec(void);
void pm_process_exec_failed(void);

#endif
