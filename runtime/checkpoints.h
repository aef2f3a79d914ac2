/* Checkpoints (PM_ENV_CHECKPOINT): every so many seconds a raw file of what the process measured
   until then, FOLDER/ID.checkpoint, in place of the one before, whole or not at all.  What is lost
   when the process is killed is what came after it. */
#ifndef PM_RUNTIME_CHECKPOINTS_H
#define PM_RUNTIME_CHECKPOINTS_H

/* To be called once, at the begin of the process, if raw files are to be written. */
void pm_checkpoints_begin(void);

/* In the child of a fork: it has checkpoints of its own. */
void pm_checkpoints_after_fork(void);

/* Before the raw file itself is written: no checkpoint is being written from here on, until
   pm_checkpoints_go_on. */
void pm_checkpoints_stop(void);
void pm_checkpoints_go_on(void);

/* The raw file is there, or could not be written: the last checkpoint goes. */
void pm_checkpoints_remove(void);

#endif
