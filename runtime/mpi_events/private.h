/* Between the files of this folder. */
#ifndef PM_RUNTIME_MPI_EVENTS_PRIVATE_H
#define PM_RUNTIME_MPI_EVENTS_PRIVATE_H

#include "core/raw_file.h"
#include "runtime/mpi_events/mpi_events.h"
#include "runtime/mpi_events/sequence.h"
#include "runtime/lock.h"
#include "runtime/system.h"

enum {
    PM_MOST_EVENT_KINDS = 1 << 20, /* of a thread */
    PM_WAITING_EVENTS =
        1 << 13, /* whose place in the order is known, behind one that is not complete */
};

/* Kinds of events of a thread, with how many there were of each. */
struct pm_counted_events {
    struct pm_raw_event *kinds;     /* in the order of first events */
    struct pm_raw_call_time *times; /* of each; NULL: not wanted */
    uint32_t *by_hash;              /* index + 1; open addressing, at most half full */
    uint32_t n_kinds, room, n_slots;
};

/* The index of EVENT's kind, whatever its N; UINT32_MAX: there is no room for one more. */
uint32_t pm_event_kind(struct pm_counted_events *kinds, const struct pm_raw_event *event);
void pm_counted_events_free(struct pm_counted_events *kinds);

/* The call path of the function CALLEE, whose frame is at FRAME (path_cache.c): as the stack says,
   without a walk where it is as it was at the same place. */
struct pm_path_cache;
uint32_t pm_call_path_cached(struct pm_path_cache **cache, const void *frame, const char *callee);
void pm_path_cache_free(struct pm_path_cache **cache);

/* When the calls of a thread began and ended (call_log.c): two numbers of LEB128 each, with the
   time since the call before, which are 5 to 8 bytes as a rule.  When it is full, the log ends. */
enum { PM_MOST_LOG_BYTES = 1 << 24 };
struct pm_call_log {
    uint8_t *bytes;
    uint32_t n_bytes, room;
    uint64_t n; /* calls */
    uint64_t last_end_ns;
    bool is_full;
};
void pm_call_log_add(struct pm_call_log *log, uint64_t begin_ns, uint64_t end_ns);
void pm_call_log_free(struct pm_call_log *log);
/* Both sections of a THREAD. */
void pm_call_times_add_thread(struct pm_raw_builder *builder, uint32_t thread,
                              const struct pm_counted_events *kinds, const struct pm_call_log *log);
/* That of the process; then its span is forgotten. */
void pm_mpi_span_add(struct pm_raw_builder *builder);
void pm_mpi_span_clear(void);

/* Lists of requests (lists.c): the number of this one, which is added if it is not there. */
uint32_t pm_request_list_number(const uint32_t *numbers, uint32_t n);
void pm_request_lists_add(struct pm_raw_builder *builder);
void pm_request_lists_clear(void);

#endif
