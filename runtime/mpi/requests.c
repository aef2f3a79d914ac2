/* Requests that are not complete; see call.h. */
#include <string.h>

#include "runtime/arena.h"
#include "runtime/mpi/call.h"

enum { N_SLOTS = 1 << 14, MOST_NUMBERS = 1 << 20 };

/* Entries of one slot are in the order in which they were made. */
static struct slot { struct pm_mpi_request *first, *last; } slots[N_SLOTS];
static struct {
    int lock;
    struct pm_arena arena;
    struct pm_mpi_request *free;
    uint64_t used[MOST_NUMBERS / 64]; /* bit of each number that a request has */
    uint32_t lowest;                  /* no word before this one has a free number */
} known;

static struct slot *slot_of(uint64_t handle) {
    return &slots[handle * UINT64_C(0x9e3779b97f4a7c15) >> 50];
}

static uint64_t bits_of(MPI_Request handle) {
    uint64_t bits = 0;
    memcpy(&bits, &handle, sizeof handle);
    return bits;
}

uint32_t pm_mpi_request_number(void) {
    uint32_t number = PM_MPI_NO_NUMBER;
    pm_mpi_lock(&known.lock);
    while (known.lowest < MOST_NUMBERS / 64 && known.used[known.lowest] == UINT64_MAX)
        known.lowest++;
    if (known.lowest < MOST_NUMBERS / 64) {
        unsigned bit = (unsigned)__builtin_ctzll(~known.used[known.lowest]);
        known.used[known.lowest] |= 1ull << bit;
        number = 64 * known.lowest + bit;
    }
    pm_mpi_unlock(&known.lock);
    return number;
}

void pm_mpi_request_add(MPI_Request handle, const struct pm_mpi_request *request) {
    pm_mpi_lock(&known.lock);
    struct pm_mpi_request *entry = known.free;
    if (entry)
        known.free = entry->next;
    else
        entry = pm_arena_take(&known.arena, sizeof *entry);
    if (entry) {
        *entry = *request;
        entry->handle = bits_of(handle);
        entry->next = NULL;
        struct slot *slot = slot_of(entry->handle);
        if (slot->last)
            slot->last->next = entry;
        else
            slot->first = entry;
        slot->last = entry;
    }
    pm_mpi_unlock(&known.lock);
}

struct pm_mpi_request *pm_mpi_request_take(MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL)
        return NULL;
    uint64_t bits = bits_of(handle);
    pm_mpi_lock(&known.lock);
    struct pm_mpi_request *entry = slot_of(bits)->first;
    while (entry && (entry->handle != bits || entry->is_taken))
        entry = entry->next;
    if (entry)
        entry->is_taken = true;
    pm_mpi_unlock(&known.lock);
    return entry;
}

void pm_mpi_request_put_back(struct pm_mpi_request *request) {
    pm_mpi_lock(&known.lock);
    request->is_taken = false;
    pm_mpi_unlock(&known.lock);
}

void pm_mpi_request_end(struct pm_mpi_request *request) {
    pm_mpi_lock(&known.lock);
    struct slot *slot = slot_of(request->handle);
    struct pm_mpi_request *before = NULL;
    for (struct pm_mpi_request *at = slot->first; at && at != request; at = at->next)
        before = at;
    *(before ? &before->next : &slot->first) = request->next;
    if (slot->last == request)
        slot->last = before;
    uint32_t word = request->number / 64;
    if (request->number != PM_MPI_NO_NUMBER) {
        known.used[word] &= ~(1ull << request->number % 64);
        known.lowest = word < known.lowest ? word : known.lowest;
    }
    request->next = known.free;
    known.free = request;
    pm_mpi_unlock(&known.lock);
}
