/* Traffic on sockets while control is inside one of the routines that PM_ENV_SOCKETS names, for
   communication libraries other than MPI (Marin 2003, section 3.3.2).

   Who sees transfers, the functions that stand before the C library's (runtime/socket_calls/), is a
   library of its own: where it was not asked for, nothing stands before anything.  A call is known
   to be of a named routine by the call path, whose callee the end of an interval right before the
   call has told; frames of code that is not instrumented are left out of paths, so that the library
   may do what it likes between the call and the transfer. */
#ifndef PM_RUNTIME_SOCKETS_H
#define PM_RUNTIME_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* BYTES went out on FILE, or came in, in N_TRANSFERS; it may be no socket.  Any thread, any signal
   handler; errno stays. */
void pmodel_socket_transfer(int file, bool is_sent, uint64_t bytes, uint64_t n_transfers);

/* ---- for the rest of the runtime --------------------------------------------------------------
 */

struct pm_raw_builder;

/* To be called once, before the program begins. */
void pm_sockets_begin(void);

/* The section PM_RAW_SOCKETS, if traffic is wanted.  Behind that of call paths. */
void pm_sockets_add(struct pm_raw_builder *builder);

/* In the child of a fork: forgets what was counted. */
void pm_sockets_after_fork(void);

#endif
