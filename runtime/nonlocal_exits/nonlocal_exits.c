/* Notes calls at which activations were left or resumed; see nonlocal_exits.h.

   Notes are kept in a hash table over module and return address, which is never cleared but by
   fork: an item is claimed by exchanging its key, its counts are added to.  So any thread and any
   signal handler may write at any time. */
#define _GNU_SOURCE
#include "runtime/nonlocal_exits/frames.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

#include "core/raw_file.h"
#include "runtime/thread_intervals/thread_intervals.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/sort.h"
#include "runtime/system.h"
#include "runtime/append_text.h"
#include "runtime/threads.h"

enum { N_ITEMS = 1 << 16, ADDRESS_BITS = 48, DEEPEST_WALK = 1 << 22 };

struct item {
    uint64_t key; /* (module + 1) << ADDRESS_BITS | return address; 0: free */
    int64_t left, resumed;
};
static struct item items[N_ITEMS]; /* only touched pages exist */
static uint32_t n_used;

/* ---- one note -------------------------------------------------------------------------------- */

/* The instrumented module that has ADDRESS, where a call returns to, in its old text, or whose call
   it is that moved; false if none has. */
static bool find_key(uint64_t address, uint64_t *key) {
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++) {
        const struct pm_loaded_module *module = &pm_modules[i];
        if (module->gone)
            continue;
        uint64_t at = pm_module_old_return(module, address);
        if (at <= module->header.old_text || at > module->header.old_text_end || at >> ADDRESS_BITS)
            continue;
        *key = (uint64_t)(i + 1) << ADDRESS_BITS | at;
        return true;
    }
    return false;
}

static struct item *find_item(uint64_t key) {
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    for (uint32_t tries = 0; tries < N_ITEMS; tries++, at++) {
        struct item *item = &items[at % N_ITEMS];
        uint64_t found = __atomic_load_n(&item->key, __ATOMIC_RELAXED);
        if (found == key)
            return item;
        if (found == 0 && __atomic_compare_exchange_n(&item->key, &found, key, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            __atomic_fetch_add(&n_used, 1, __ATOMIC_RELAXED);
            return item;
        }
        if (found == key)
            return item;
    }
    return NULL;
}

static void add(struct pm_thread *thread, uint64_t key, enum pm_activation_event event,
                int64_t count) {
    struct item *item = find_item(key);
    pm_intervals_note_exit(thread, (uint32_t)(key >> ADDRESS_BITS) - 1,
                           key & ((UINT64_C(1) << ADDRESS_BITS) - 1),
                           event == PM_ACTIVATION_RESUMED, count);
    if (item)
        __atomic_fetch_add(event == PM_ACTIVATION_LEFT ? &item->left : &item->resumed, count,
                           __ATOMIC_RELAXED);
    else
        pm_note_add(PM_NOTE_LOST_FRAMES, 1);
}

bool pm_exits_is_instrumented(uint64_t address) {
    uint64_t key;
    return find_key(address, &key);
}

/* How far a routine came that a signal interrupted is not known to the instruction. */
static void note_interrupted(uint64_t address) {
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++)
        if (!pm_modules[i].gone && pm_module_has_new_frame(&pm_modules[i], address))
            pm_note_add(PM_NOTE_LOST_FRAMES, 1);
}

void pm_exits_note_frame(struct pm_thread *thread, const struct pm_call_frame *frame,
                         enum pm_activation_event event, int64_t count) {
    uint64_t key;
    if (frame->interrupted)
        note_interrupted(pm_call_frame_rip(frame));
    else if (find_key(pm_call_frame_rip(frame), &key))
        add(thread, key, event, count);
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* A thread between pmodel_stop and pmodel_start is not measured: nothing to correct. */
static bool is_measured(void) {
    struct pm_thread *thread = pm_current_thread();
    return pm_process_is_measured() && thread && !thread->stopped;
}

/* What is found readable of the stack is kept for the thread's next walk.  Inlined, so that the
   frame is the caller's. */
static inline __attribute__((always_inline)) void begin(struct pm_call_frame *frame) {
    const struct pm_thread *thread = pm_current_thread();
    pm_unwind_begin(frame, thread->readable_low, thread->readable_end);
}

static void end(const struct pm_call_frame *frame) {
    struct pm_thread *thread = pm_current_thread();
    thread->readable_low = frame->readable_low;
    thread->readable_end = frame->readable_end;
}

/* FRAME is the slow path at an event of a routine that is just entered or left: it becomes the
   routine's caller.  The path has two registers that calls preserve on its stack, right below the
   nine that they do not. */
static bool leave_slow_path(struct pm_call_frame *frame) {
    const struct pm_control_block *block = pm_current_block();
    uint64_t rip = pm_call_frame_rip(frame);
    if (rip < (uint64_t)pm_slow_path || rip >= (uint64_t)pm_slow_path_end)
        return false;
    const uint64_t *saved = (const uint64_t *)block->stack, *stack = (void *)block->saved_rsp;
    frame->registers[PM_DWARF_RBX] = saved[-10];
    frame->registers[PM_DWARF_RBP] = saved[-11];
    frame->registers[PM_DWARF_RSP] = block->saved_rsp + 8;
    frame->registers[PM_DWARF_RIP] = *stack;
    frame->known |= 1u << PM_DWARF_RBX | 1u << PM_DWARF_RBP | 1u << PM_DWARF_RSP;
    return true;
}

void pm_exits_note_open(enum pm_activation_event event, int64_t count) {
    struct pm_call_frame frame;
    enum pm_unwind_result result = PM_UNWIND_FRAME;
    if (!is_measured())
        return;
    pm_modules_scan(); /* a frame may be of one that was loaded since */
    begin(&frame);
    for (int n = 0; n < DEEPEST_WALK && result == PM_UNWIND_FRAME; n++) {
        pm_exits_note_frame(pm_current_thread(), &frame, event, count);
        if (!leave_slow_path(&frame))
            result = pm_unwind_step(&frame);
    }
    end(&frame);
    if (result != PM_UNWIND_END)
        pm_note_add(PM_NOTE_LOST_FRAMES, 1);
}

/* Up to the frame of STACK; false if the way there is lost. */
static bool note_jump(struct pm_call_frame *frame, uint64_t stack, uint64_t n_handlers) {
    for (int n = 0; n < DEEPEST_WALK; n++) {
        if (frame->interrupted && n_handlers)
            n_handlers--;
        if (n_handlers == 0 && pm_call_frame_stack(frame) > stack)
            return true;
        pm_exits_note_frame(pm_current_thread(), frame, PM_ACTIVATION_LEFT, 1);
        enum pm_unwind_result result = pm_unwind_step(frame);
        if (result != PM_UNWIND_FRAME)
            return result == PM_UNWIND_END;
    }
    return false;
}

void pm_exits_note_jump(uint64_t stack, uint64_t n_handlers) {
    struct pm_call_frame frame;
    if (!is_measured())
        return;
    pm_modules_scan(); /* a frame may be of one that was loaded since */
    begin(&frame);
    if (!note_jump(&frame, stack, n_handlers))
        pm_note_add(PM_NOTE_LOST_FRAMES, 1);
    end(&frame);
}

/* From the personality routine that FRAME is in, and what called it in the unwinder, to the last
   frame of the unwinder: those before it return, it is left.  Without one nothing changes. */
static void skip_returning(struct pm_call_frame *frame, uint64_t low, uint64_t end) {
    enum { FARTHEST = 64 };
    struct pm_call_frame at = *frame, last = *frame;
    bool is_inside = false;
    for (int n = 0; n < FARTHEST; n++) {
        bool is_unwinder = pm_call_frame_rip(&at) - low < end - low;
        if (is_inside && !is_unwinder) {
            *frame = last;
            return;
        }
        is_inside |= is_unwinder;
        last = at;
        if (pm_unwind_step(&at) != PM_UNWIND_FRAME)
            return;
    }
}

void pm_exits_note_landing_pad(uint64_t stack, const void *unwinder) {
    struct pm_call_frame frame;
    struct dl_find_object object;
    if (!is_measured())
        return;
    pm_modules_scan();
    begin(&frame);
    if (_dl_find_object((void *)(uintptr_t)unwinder, &object) == 0)
        skip_returning(&frame, (uint64_t)object.dlfo_map_start, (uint64_t)object.dlfo_map_end);
    if (!note_jump(&frame, stack, 0))
        pm_note_add(PM_NOTE_LOST_FRAMES, 1);
    end(&frame);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void write_frame(struct pm_raw_builder *builder, uint64_t address, int64_t count) {
    struct pm_raw_frame frame = {address, count};
    if (count)
        pm_raw_add(builder, &frame, sizeof frame);
}

void pm_exits_write(struct pm_raw_builder *builder, uint32_t module) {
    size_t n = 0, n_frames = 0;
    struct item *list = n_used ? pm_mmap(sizeof items) : NULL;
    for (uint32_t i = 0; list && i < N_ITEMS; i++)
        if (items[i].key >> ADDRESS_BITS == module + 1u && (items[i].left || items[i].resumed)) {
            list[n++] = items[i];
            n_frames += (items[i].left != 0) + (items[i].resumed != 0);
        }
    if (n) {
        pm_sort_by_key(list, n, sizeof *list);
        pm_raw_section_begin(builder, PM_RAW_FRAMES);
        pm_raw_add_u64(builder, module);
        pm_raw_add_u64(builder, n_frames);
        for (size_t i = 0; i < n; i++) {
            uint64_t address = list[i].key & ((UINT64_C(1) << ADDRESS_BITS) - 1);
            write_frame(builder, address, -list[i].resumed);
            write_frame(builder, address, list[i].left);
        }
        pm_raw_section_end(builder);
    }
    pm_munmap(list, sizeof items);
}

void pm_exits_after_fork(void) {
    for (uint32_t i = 0; n_used && i < N_ITEMS; i++)
        if (items[i].key)
            items[i] = (struct item){0};
    n_used = 0;
    pm_exits_note_open(PM_ACTIVATION_RESUMED, 1);
}
