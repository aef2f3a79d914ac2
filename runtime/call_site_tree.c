/* The tree of call paths; see call_paths.h.

   Nodes stand in one array, which a hash table over (parent, module, return address) points into: a
   slot is taken by exchanging its 0 for the node's number, once the node is complete.  Who loses
   the race leaves a node behind that nothing names.

   A walk finds the calls from the inside outwards, the tree is descended the other way; so what a
   walk meets waits in the thread's room, which also remembers where the last walks went on: a call
   that was met before costs a comparison instead of two searches. */
#include "runtime/call_site_tree.h"

#include <string.h>

#include "core/raw_file.h"
#include "runtime/modules.h"
#include "runtime/system.h"
#include "runtime/threads.h"

enum {
    MOST_PATHS = 1 << 20,
    N_SLOTS = 1 << 21,
    MOST_DEPTH = 1 << 20,
    N_REMEMBERED = 1 << 10,
    TEXT_BYTES = 1 << 20,
};

struct node {
    struct pm_path_call call;
    uint32_t callee; /* offset in `texts`; 0: not known */
    uint32_t unused;
};

static struct node *nodes; /* [MOST_PATHS], number 0 is no path */
static uint32_t *slots;    /* [N_SLOTS] numbers; 0: free */
static char *texts;        /* [TEXT_BYTES], from byte 1 on */
static uint32_t n_nodes, n_text_bytes;
static uint32_t n_written; /* nodes, in the last section */

/* Memory at the pointer at PLACE, which another thread may be making, too. */
static void *make(void *place, size_t bytes) {
    void **pointer = place, *made = __atomic_load_n(pointer, __ATOMIC_ACQUIRE), *mine;
    if (made || !(mine = pm_mmap(bytes)))
        return made;
    if (__atomic_compare_exchange_n(pointer, &made, mine, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return mine;
    pm_munmap(mine, bytes);
    return made;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct pm_path_call *call) {
    uint64_t hash = ((uint64_t)call->parent << 10 ^ call->module) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ call->return_address) * UINT64_C(0xbf58476d1ce4e5b9) >> 40;
}

static bool is_same(const struct pm_path_call *a, const struct pm_path_call *b) {
    return a->parent == b->parent && a->module == b->module &&
           a->return_address == b->return_address;
}

/* A number for CALL that nothing names yet; 0: there is no room. */
static uint32_t new_node(const struct pm_path_call *call) {
    uint32_t number = __atomic_add_fetch(&n_nodes, 1, __ATOMIC_RELAXED);
    if (number >= MOST_PATHS) {
        __atomic_sub_fetch(&n_nodes, 1, __ATOMIC_RELAXED);
        return 0;
    }
    nodes[number].call = *call;
    return number;
}

static uint32_t find(const struct pm_path_call *call) {
    uint32_t made = 0;
    if (!make(&nodes, MOST_PATHS * sizeof *nodes) || !make(&slots, N_SLOTS * sizeof *slots))
        return PM_CALL_PATH_LOST;
    for (uint64_t at = hash_of(call);; at++) { /* there are more slots than nodes */
        uint32_t *slot = &slots[at % N_SLOTS];
        uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (number == 0) {
            if (!made && !(made = new_node(call)))
                return PM_CALL_PATH_LOST;
            if (__atomic_compare_exchange_n(slot, &number, made, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                return made;
        }
        if (is_same(&nodes[number].call, call))
            return number;
    }
}

void pm_call_path_set_callee(uint32_t path, const char *name) {
    if (path == PM_NO_CALL_PATH || path == PM_CALL_PATH_LOST || !name || !*name ||
        __atomic_load_n(&nodes[path].callee, __ATOMIC_ACQUIRE) || !make(&texts, TEXT_BYTES))
        return;
    uint32_t length = (uint32_t)strlen(name) + 1, none = 0;
    uint32_t at = __atomic_fetch_add(&n_text_bytes, length, __ATOMIC_RELAXED) + 1;
    if (at >= TEXT_BYTES || length >= TEXT_BYTES - at)
        return;
    memcpy(texts + at, name, length);
    __atomic_compare_exchange_n(&nodes[path].callee, &none, at, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

const char *pm_call_path_callee(uint32_t path) {
    uint32_t callee = __atomic_load_n(&nodes[path].callee, __ATOMIC_ACQUIRE);
    return callee ? texts + callee : NULL;
}

struct pm_path_call pm_call_path_last(uint32_t path) {
    return nodes[path].call;
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* From PARENT a call that returns to RIP leads to PATH; it is PARENT where the call is of no
   instrumented module. */
struct remembered {
    uint64_t rip;
    uint32_t generation, parent, path;
    uint32_t unused;
};

struct pm_path_room {
    bool is_used; /* by a walk that a signal interrupted */
    struct remembered remembered[N_REMEMBERED];
    uint64_t rips[MOST_DEPTH]; /* only touched pages exist */
};

static uint32_t extend(uint32_t parent, uint64_t rip) {
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++) {
        const struct pm_loaded_module *module = &pm_modules[i];
        if (module->gone)
            continue;
        uint64_t at = pm_module_old_return(module, rip);
        if (at <= module->header.old_text || at > module->header.old_text_end)
            continue;
        const struct pm_path_call call = {parent, i, at};
        return find(&call);
    }
    return parent;
}

/* From the path PARENT on with the call that returns to RIP. */
static uint32_t go_on(struct pm_path_room *room, uint32_t parent, uint64_t rip) {
    uint64_t hash = (rip ^ (uint64_t)parent << 32) * UINT64_C(0x9e3779b97f4a7c15) >> 54;
    struct remembered *last = &room->remembered[hash % N_REMEMBERED];
    if (last->rip == rip && last->parent == parent && last->generation == pm_modules_generation)
        return last->path;
    uint32_t path = extend(parent, rip);
    if (path != PM_CALL_PATH_LOST)
        *last = (struct remembered){rip, pm_modules_generation, parent, path, 0};
    return path;
}

/* What FROM and its callers return to, innermost first, but for where signals interrupted; how
   many.  *IS_WHOLE: the walk came to where the thread began. */
static uint32_t walk(struct pm_thread *thread, const struct pm_call_frame *from, uint64_t *rips,
                     bool *is_whole) {
    struct pm_call_frame frame = *from;
    enum pm_unwind_result result = PM_UNWIND_FRAME;
    uint32_t n = 0;
    while (result == PM_UNWIND_FRAME && n < MOST_DEPTH) {
        if (!frame.interrupted)
            rips[n++] = pm_call_frame_rip(&frame);
        result = pm_unwind_step(&frame);
    }
    thread->readable_low = frame.readable_low;
    thread->readable_end = frame.readable_end;
    *is_whole = result == PM_UNWIND_END;
    return n;
}

uint32_t pm_call_path_here(const struct pm_call_frame *from, bool *was_lost) {
    struct pm_thread *thread = pm_current_thread();
    struct pm_path_room *room = thread ? make(&thread->path_room, sizeof *room) : NULL;
    bool is_whole = false;
    if (!room || __atomic_exchange_n(&room->is_used, true, __ATOMIC_ACQUIRE))
        return PM_CALL_PATH_LOST;
    uint32_t n = walk(thread, from, room->rips, &is_whole), path = PM_NO_CALL_PATH;
    while (n > 0 && path != PM_CALL_PATH_LOST)
        path = go_on(room, path, room->rips[--n]);
    __atomic_store_n(&room->is_used, false, __ATOMIC_RELEASE);
    if (was_lost)
        *was_lost = !is_whole;
    return path;
}

/* ---- the file -------------------------------------------------------------------------------- */

void pm_call_paths_write(struct pm_raw_builder *builder) {
    uint32_t n = __atomic_load_n(&n_nodes, __ATOMIC_ACQUIRE);
    n_written = n;
    if (n == 0)
        return;
    pm_raw_section_begin(builder, PM_RAW_PATHS);
    pm_raw_add_u64(builder, n);
    for (uint32_t i = 1; i <= n; i++) {
        const struct pm_path_call *call = &nodes[i].call;
        struct pm_raw_call_site site = {call->parent, call->module, call->return_address};
        pm_raw_add(builder, &site, sizeof site);
    }
    for (uint32_t i = 1; i <= n; i++) {
        const char *name = pm_call_path_callee(i);
        pm_raw_add(builder, name ? name : "", name ? strlen(name) + 1 : 1);
    }
    pm_raw_section_end(builder);
}

bool pm_call_path_is_written(uint32_t path) { return path <= n_written; }
