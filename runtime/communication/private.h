/* Between the files of this folder. */
#ifndef PM_RUNTIME_COMMUNICATION_PRIVATE_H
#define PM_RUNTIME_COMMUNICATION_PRIVATE_H

#include "core/raw_file.h"
#include "runtime/communication/communication.h"
#include "runtime/communication/sequence.h"
#include "runtime/lock.h"
#include "runtime/system.h"

enum {
    PM_MOST_EVENT_KINDS = 1 << 20, /* of a thread */
    PM_WAITING_EVENTS =
        1 << 13, /* whose place in the order is known, behind one that is not complete */
};

/* Kinds of events of a thread, with how many there were of each. */
struct pm_counted_events {
    struct pm_raw_event *kinds; /* in the order of first events */
    uint32_t *by_hash;          /* index + 1; open addressing, at most half full */
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

/* Lists of requests (lists.c): the number of this one, which is added if it is not there. */
uint32_t pm_request_list_number(const uint32_t *numbers, uint32_t n);
void pm_request_lists_add(struct pm_raw_builder *builder);
void pm_request_lists_clear(void);

#endif
