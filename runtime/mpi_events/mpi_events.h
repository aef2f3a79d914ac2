/* Communication events of the process: counted by kind, and kept in their order (sequence.h), for
   each thread.

   Who knows of events, the wrappers of an MPI library (runtime/mpi/), is a library of its own and
   finds the functions below by dlsym: where they are not, or events are not wanted, there is
   nothing to tell.  An event costs a lock that nobody else holds as a rule, and no system call.

   Where times are wanted, too, those of the calls are added up by kind of event, and when each
   began and ended goes to a log, up to a length.  Clocks are read by who sees the calls. */
#ifndef PM_RUNTIME_COMMUNICATION_H
#define PM_RUNTIME_COMMUNICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event as who saw it knows it; numbers as in core/communication/communication.h. */
struct pmodel_event {
    uint16_t operation;    /* enum pm_operation */
    uint32_t communicator; /* by pmodel_communicator; UINT32_MAX: none, or unknown */
    int32_t partner, source, tag, source_tag;
    uint64_t bytes_sent, bytes_received;
    const uint32_t *requests; /* their numbers */
    uint32_t n_requests;
    uint64_t begin_ns, end_ns; /* of the call, by CLOCK_MONOTONIC; 0: not wanted */
    const void *frame;  /* __builtin_frame_address(0) of the function that the program called */
    const char *callee; /* its name, which stays readable */
};

/* Are events wanted?  The same for all of the process's life. */
bool pmodel_communication_wanted(void);
typedef bool pmodel_communication_wanted_function(void);

/* And when their calls began and ended? */
bool pmodel_call_times_wanted(void);
typedef bool pmodel_call_times_wanted_function(void);

/* When MPI_Init came back; with END_NS not 0 when MPI_Finalize was called. */
void pmodel_mpi_span(uint64_t begin_ns, uint64_t end_ns);
typedef void pmodel_mpi_span_function(uint64_t, uint64_t);

/* Takes an event.  IS_OPEN: partner, tag and bytes received are not known yet; the ticket is what
   pmodel_event_complete wants.  0: the event is not measured, or is not open. */
uint64_t pmodel_event(const struct pmodel_event *event, bool is_open);
typedef uint64_t pmodel_event_function(const struct pmodel_event *, bool);

/* Any thread, once for each ticket. */
void pmodel_event_complete(uint64_t ticket, int32_t partner, int32_t tag, uint64_t bytes_received);
typedef void pmodel_event_complete_function(uint64_t, int32_t, int32_t, uint64_t);

/* The number of a communicator that is new to the process.  MEMBERS, and those of the REMOTE group,
   are ranks of the world.  MADE_BY: enum pm_operation. */
uint32_t pmodel_communicator(uint16_t made_by, const int32_t *members, uint32_t n_members,
                             const int32_t *remote, uint32_t n_remote);
typedef uint32_t pmodel_communicator_function(uint16_t, const int32_t *, uint32_t, const int32_t *,
                                              uint32_t);

/* ---- for the rest of the runtime --------------------------------------------------------------
 */

struct pm_raw_builder;

/* Sections of communication, if events are wanted. */
void pm_communication_add(struct pm_raw_builder *builder);

/* In the child of a fork: forgets all. */
void pm_communication_after_fork(void);

#endif
