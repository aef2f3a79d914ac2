/* How long a call of MPI waits for other ranks: one definition for calls of a run that was timed
   (measure/call_times/) and of one on a simulated network (sched/replay/).

       a receive or probe    until the send of its message began
       a send                until its receive began, unless the send ended before: it was buffered
       a completion          the longest of its requests, a request being what began it
       a collective          until those had come whom it needs (enum pm_meeting)

   at most as long as the call took. */
#ifndef PM_MEETINGS_H
#define PM_MEETINGS_H

#include <stdbool.h>
#include <stddef.h>

/* When another comes, after a call began, in the unit of the call's LENGTH; negative: it was there
   before.  NAN: not known. */
#define PM_NEVER_LATE (-INFINITY) /* the call waits for nobody */

/* What a call of LENGTH waits, in its unit; NAN: not known. */
double pm_waiting(double length, double late);
/* The same of one that sends to a receive that begins so late. */
double pm_waiting_of_send(double length, double late);
/* The larger of both; NAN if one is not known. */
double pm_longer_waiting(double a, double b);

/* Who cannot go on before whom has come. */
enum pm_meeting {
    PM_MEETING_NONE,    /* it is no collective operation */
    PM_MEETING_ALL,     /* nobody before all */
    PM_MEETING_ROOT,    /* nobody before the root, which gives */
    PM_MEETING_AT_ROOT, /* the root, which takes, before all */
    PM_MEETING_BEFORE,  /* none before those with smaller ranks */
    PM_MEETING_UNKNOWN,
};

/* COMES: when those had come whom each of N members needs, that came at BEGINS, by rank; all by one
   clock.  IS_ALL: nobody is missing.  ROOT: its place among them; N: not known. */
void pm_meet(enum pm_meeting meeting, const double *begins, size_t n, bool is_all, size_t root,
             double *comes);

#endif
