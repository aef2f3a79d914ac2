/* Threads that are still there when another one ends the process: what routines they are in.

   The kernel tells where a thread that waits went into it (/proc/self/task/ID/syscall: … stack
   pointer, instruction pointer).  From there its stack is walked, which is as it is as long as the
   thread waits; that is looked at again before anything is noted.  Registers other than these two
   are not known, so a walk may be lost; then a thread without a single address of instrumented code
   on its stack, as those that OpenMP keeps, is in no instrumented routine all the same. */
#include <fcntl.h>

#include "runtime/modules.h"
#include "runtime/nonlocal_exits/frames.h"
#include "runtime/notes.h"
#include "runtime/system.h"
#include "runtime/append_text.h"
#include "runtime/threads.h"

enum { MOST_FRAMES = 256, MOST_PAUSES = 20, MOST_STACK_BYTES = 1 << 20 };

struct place {
    uint64_t stack, rip;
};
enum state { WAITS, RUNS, IS_GONE };

/* The last two numbers of LINE. */
static enum state parse_place(const char *line, long n, struct place *place) {
    uint64_t numbers[2] = {0, 0};
    unsigned n_numbers = 0;
    for (long i = 0; i + 1 < n; i++) {
        if (line[i] != '0' || line[i + 1] != 'x')
            continue;
        uint64_t value = 0;
        for (i += 2; i < n; i++) {
            char c = line[i];
            if (c >= '0' && c <= '9')
                value = value * 16 + (uint64_t)(c - '0');
            else if (c >= 'a' && c <= 'f')
                value = value * 16 + (uint64_t)(c - 'a' + 10);
            else
                break;
        }
        numbers[0] = numbers[1];
        numbers[1] = value;
        n_numbers++;
    }
    *place = (struct place){numbers[0], numbers[1]};
    return n_numbers >= 2 ? WAITS : RUNS;
}

/* One that waits in the slow path is as good as running: its stack is another one there. */
static enum state find_place(const struct pm_thread *thread, struct place *place) {
    if (__atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE))
        return RUNS;
    char path[64], line[256];
    struct pm_text text = {path, sizeof path, 0};
    pm_text_add(&text, "/proc/self/task/");
    pm_text_number(&text, (uint64_t)thread->system_id);
    pm_text_add(&text, "/syscall");
    long file = pm_syscall3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return file == -2 /* ENOENT */ ? IS_GONE : RUNS;
    long n = pm_syscall3(SYS_read, file, (long)line, sizeof line);
    pm_syscall3(SYS_close, file, 0, 0);
    return n == -3 /* ESRCH */ ? IS_GONE : n <= 0 ? RUNS : parse_place(line, n, place);
}

/* Waits a little for a thread that runs: OpenMP's go to sleep soon after a parallel region. */
static enum state wait_for_place(const struct pm_thread *thread, struct place *place, int *pauses) {
    enum state state;
    while ((state = find_place(thread, place)) == RUNS && (*pauses)-- > 0)
        pm_sleep_ns(1000000);
    return state;
}

static struct pm_call_frame frame_at(const struct place *place) {
    struct pm_call_frame frame = {.interrupted = true};
    frame.registers[PM_DWARF_RSP] = place->stack;
    frame.registers[PM_DWARF_RIP] = place->rip;
    frame.known = 1u << PM_DWARF_RSP | 1u << PM_DWARF_RIP;
    return frame;
}

static bool stack_is_foreign(const struct place *place) {
    struct pm_call_frame frame = frame_at(place);
    uint64_t word;
    for (uint64_t at = place->stack & ~7ul; at < place->stack + MOST_STACK_BYTES; at += 8) {
        if (!pm_unwind_read(&frame, at, &word))
            break;
        if (pm_exits_is_instrumented(word))
            return false;
    }
    return true;
}

/* False if what the thread is in cannot be found out. */
static bool note_thread(struct pm_thread *thread, int *pauses) {
    struct place place, again;
    struct pm_call_frame frames[MOST_FRAMES];
    unsigned n = 0;
    enum state state = wait_for_place(thread, &place, pauses);
    if (state != WAITS)
        return state == IS_GONE;
    enum pm_unwind_result result = PM_UNWIND_FRAME;
    for (frames[0] = frame_at(&place); result == PM_UNWIND_FRAME && n + 1 < MOST_FRAMES; n++) {
        frames[n + 1] = frames[n];
        result = pm_unwind_step(&frames[n + 1]);
    }
    if (result != PM_UNWIND_END)
        return stack_is_foreign(&place);
    if (find_place(thread, &again) != WAITS || again.stack != place.stack || again.rip != place.rip)
        return false;
    for (unsigned i = 0; i < n; i++)
        pm_exits_note_frame(thread, &frames[i], PM_ACTIVATION_LEFT, 1);
    return true;
}

void pm_exits_note_other_threads(void) {
    int pauses = MOST_PAUSES;
    const struct pm_thread *current = pm_current_thread();
    for (uint32_t i = 0; i < pm_n_threads; i++) {
        struct pm_thread *thread = pm_threads[i];
        if (thread && thread != current && thread->in_use && !thread->stopped &&
            !note_thread(thread, &pauses))
            pm_note_add(PM_NOTE_LOST_THREADS, 1);
    }
}
