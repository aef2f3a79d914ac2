/* pmodel itself is told to end (SIGINT, SIGTERM, SIGHUP) while it measures.

   Where that is possible at any time, it ends at once: one sentence, the temporary folder is
   removed, and it dies of the signal.  While a command of the user's runs and while its results are
   taken in it is held: who holds it ends the command, keeps what is whole, and returns. */
#ifndef PM_MEASURE_INTERRUPTION_H
#define PM_MEASURE_INTERRUPTION_H

#include <stdbool.h>

/* From here to the end signals that are not ignored come to us, and what cannot be written for want
   of room is an error, not a signal. */
void pm_interruption_begin(void);
void pm_interruption_end(void);

/* What is to be removed; NULL: nothing; borrowed. */
void pm_interruption_removes(const char *folder);

/* Between these it is held; they nest. */
void pm_interruption_hold(void);
void pm_interruption_release(void);

/* The signal that came while it was held; 0: none. */
int pm_interrupting_signal(void);

/* Did that go to all processes of the terminal, and so to the user's command? */
bool pm_interruption_is_everybodys(void);

#endif
