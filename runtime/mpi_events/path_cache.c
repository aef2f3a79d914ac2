/* Call paths at places that were seen before.

   A walk over the stack takes some 100 ns, too long for a message of 500.  But a loop that sends
   comes to the same call with the same stack again and again: the frame of the called function at
   the same place, with the same return address, and at each place where the walk found a return
   address the same one.  Then the walk would find the same again. */
#include "runtime/call_site_tree.h"
#include "runtime/mpi_events/private.h"
#include "runtime/modules.h"
#include "runtime/threads.h"
#include "runtime/unwind/unwind.h"

enum { N_SETS = 64, WAYS = 4, MOST_FRAMES = 30 };

struct entry {
    const uint64_t *frame; /* NULL: free */
    uint64_t return_address;
    uint32_t path, n;
    struct {
        const uint64_t *at;
        uint64_t address;
    } returns[MOST_FRAMES];
};

struct pm_path_cache {
    long thread;         /* as the kernel knows it: another one has another stack */
    uint32_t generation; /* of the modules */
    struct set {
        struct entry entries[WAYS];
        unsigned next; /* that is taken for another place */
    } sets[N_SETS];
};

static bool is_as_it_was(const struct entry *entry, const uint64_t *frame) {
    if (entry->frame != frame || entry->return_address != frame[1])
        return false;
    for (uint32_t i = 0; i < entry->n; i++)
        if (*entry->returns[i].at != entry->returns[i].address)
            return false;
    return true;
}

/* CALLER is where FRAME's function was called; false: its stack cannot be followed to its end, or
   is too deep. */
static bool remember(struct entry *entry, const uint64_t *frame, struct pm_call_frame caller) {
    enum pm_unwind_result result;
    entry->return_address = frame[1];
    entry->n = 0;
    while ((result = pm_unwind_step(&caller)) == PM_UNWIND_FRAME && !caller.interrupted) {
        if (entry->n == MOST_FRAMES)
            return false;
        entry->returns[entry->n].at = (const uint64_t *)pm_call_frame_stack(&caller) - 1;
        entry->returns[entry->n].address = pm_call_frame_rip(&caller);
        if (*entry->returns[entry->n].at != entry->returns[entry->n].address)
            return false;
        entry->n++;
    }
    return result == PM_UNWIND_END;
}

/* From this function out to the one that called FRAME's. */
static bool find_caller(const uint64_t *frame, struct pm_call_frame *caller) {
    const struct pm_thread *thread = pm_current_thread();
    pm_unwind_begin(caller, thread ? thread->readable_low : 0, thread ? thread->readable_end : 0);
    while (pm_call_frame_stack(caller) < (uint64_t)(frame + 2))
        if (pm_unwind_step(caller) != PM_UNWIND_FRAME)
            return false;
    return pm_call_frame_rip(caller) == frame[1];
}

static struct pm_path_cache *cache_of_thread(struct pm_path_cache **cache) {
    struct pm_thread *thread = pm_current_thread();
    long id = thread ? thread->system_id : 0;
    if (!*cache && !(*cache = pm_mmap(sizeof **cache)))
        return NULL;
    if ((*cache)->thread != id || (*cache)->generation != pm_modules_generation)
        for (unsigned i = 0; i < N_SETS * WAYS; i++)
            (*cache)->sets[i / WAYS].entries[i % WAYS].frame = NULL;
    (*cache)->thread = id;
    (*cache)->generation = pm_modules_generation;
    return *cache;
}

uint32_t pm_call_path_cached(struct pm_path_cache **of, const void *at, const char *callee) {
    const uint64_t *frame = at;
    struct pm_path_cache *cache = cache_of_thread(of);
    uint64_t hash = (frame[1] ^ (uint64_t)frame >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    struct set *set = cache ? &cache->sets[hash >> 58] : NULL;
    for (unsigned i = 0; set && i < WAYS; i++)
        if (is_as_it_was(&set->entries[i], frame))
            return set->entries[i].path;
    pm_modules_scan();
    struct pm_call_frame caller;
    if (!find_caller(frame, &caller))
        return PM_NO_CALL_PATH;
    uint32_t path = pm_call_path_here(&caller, NULL);
    if (path == PM_CALL_PATH_LOST)
        path = PM_NO_CALL_PATH;
    if (path != PM_NO_CALL_PATH)
        pm_call_path_set_callee(path, callee);
    if (set) {
        struct entry *entry = &set->entries[set->next++ % WAYS];
        entry->frame = remember(entry, frame, caller) ? frame : NULL;
        entry->path = path;
    }
    return path;
}

void pm_path_cache_free(struct pm_path_cache **cache) {
    pm_munmap(*cache, sizeof **cache);
    *cache = NULL;
}
