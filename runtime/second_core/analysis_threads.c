/* Threads of the runtime: made, woken, asleep, paused for a fork; see analysis_threads.h. */
#define _GNU_SOURCE
#include "runtime/second_core/analysis_threads.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>

#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/second_core/second_core.h"
#include "runtime/system.h"
#include "runtime/threads.h"

enum {
    MOST_THREADS = 64,
    N_PLACES = MOST_THREADS + 8, /* one that ends keeps its place for a moment */
    SPINS = 400,
};
#define SHORT_SLEEP_NS 1000000l
#define LONGEST_IDLE_NS 300000000l
/* Who forks may wait for a lock of the program's that a thread which waits here has. */
#define LONGEST_PAUSE_NS 1000000000l

static struct place {
    struct pm_own_thread thread;
    uint32_t taken; /* atomic: somebody makes a thread here, or one runs */
} places[N_PLACES];

static bool is_concurrent;
static int most_threads;
static unsigned long affinity[128]; /* of the process when it began */
static size_t affinity_bytes;

static uint32_t n_wakes;   /* atomic, a futex: work was handed over */
static uint32_t n_threads; /* atomic */
static uint32_t n_idle;    /* atomic: they sleep, or are about to */
static uint32_t n_active;  /* atomic: analyse a buffer, whatever thread they are of */
static uint32_t n_pauses;  /* atomic: forks that wait for that, and holds */
static uint32_t n_holds;   /* atomic */
static uint32_t n_pieces;  /* atomic: analysed, or between two buffers of one */
static uint32_t n_scans_wanted, n_scans_done; /* atomic */

/* ---- system calls ---------------------------------------------------------------------------- */

bool pm_futex_wait(const uint32_t *word, uint32_t value, long nanoseconds) {
    struct {
        long seconds, nanoseconds;
    } time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return pm_syscall(SYS_futex, (long)word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, (long)&time, 0,
                      0) != -ETIMEDOUT;
}

void pm_futex_wake(const uint32_t *word, int most) {
    pm_syscall3(SYS_futex, (long)word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, most);
}

/* ---- what they do ---------------------------------------------------------------------------- */

static bool look_for_work(void) {
    bool found = false;
    uint32_t n = __atomic_load_n(&pm_n_threads, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++) {
        struct pm_thread *thread = __atomic_load_n(&pm_threads[i], __ATOMIC_ACQUIRE);
        found |= thread && pm_queue_take(thread);
    }
    return found;
}

static bool spin(uint32_t seen) {
    for (int i = 0; i < SPINS; i++) {
        if (__atomic_load_n(&n_wakes, __ATOMIC_ACQUIRE) != seen)
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

/* False if there was nothing to do for long, and the thread does not count any more. */
static bool wait_for_work(uint32_t seen) {
    if (spin(seen))
        return true;
    __atomic_fetch_add(&n_idle, 1, __ATOMIC_SEQ_CST);
    bool woken = pm_futex_wait(&n_wakes, seen, LONGEST_IDLE_NS);
    __atomic_fetch_sub(&n_idle, 1, __ATOMIC_SEQ_CST);
    if (woken || __atomic_load_n(&n_wakes, __ATOMIC_SEQ_CST) != seen)
        return true;
    /* Who hands over next either sees one thread less, or we see that there is work. */
    __atomic_fetch_sub(&n_threads, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&n_wakes, __ATOMIC_SEQ_CST) == seen)
        return false;
    __atomic_fetch_add(&n_threads, 1, __ATOMIC_SEQ_CST);
    return true;
}

static void run(void *argument) {
    struct place *place = argument;
    pm_syscall3(SYS_sched_setaffinity, 0, (long)affinity_bytes, (long)affinity);
    uint32_t seen;
    do {
        seen = __atomic_load_n(&n_wakes, __ATOMIC_SEQ_CST);
        while (look_for_work())
            ;
    } while (wait_for_work(seen));
    /* Nobody takes the place before the kernel has cleared its id. */
    __atomic_store_n(&place->taken, 0, __ATOMIC_RELEASE);
}

/* ---- making them ----------------------------------------------------------------------------- */

static struct place *take_place(void) {
    for (struct place *place = places; place < places + N_PLACES; place++) {
        uint32_t unused = 0;
        if (__atomic_load_n(&place->thread.id, __ATOMIC_ACQUIRE) == 0 &&
            __atomic_compare_exchange_n(&place->taken, &unused, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            if (__atomic_load_n(&place->thread.id, __ATOMIC_ACQUIRE) == 0)
                return place;
            __atomic_store_n(&place->taken, 0, __ATOMIC_RELEASE); /* it is about to end */
        }
    }
    return NULL;
}

/* 0 or negative errno. */
static long start_thread(void) {
    struct place *place = take_place();
    if (!place)
        return -EAGAIN; /* one is about to be free */
    long result = pm_own_thread_start(&place->thread, run, place);
    if (result < 0)
        __atomic_store_n(&place->taken, 0, __ATOMIC_RELEASE);
    return result;
}

/* Room for one more, taken. */
static bool count_one_more(void) {
    uint32_t n = __atomic_load_n(&n_threads, __ATOMIC_SEQ_CST);
    while (n < (uint32_t)most_threads)
        if (__atomic_compare_exchange_n(&n_threads, &n, n + 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return true;
    return false;
}

void pm_analysis_wake(void) {
    __atomic_fetch_add(&n_wakes, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&n_idle, __ATOMIC_SEQ_CST)) {
        pm_futex_wake(&n_wakes, 1);
        return;
    }
    /* A child of vfork is not the one to make threads of ours: they would end with it. */
    if (!is_concurrent || __atomic_load_n(&n_threads, __ATOMIC_RELAXED) >= (uint32_t)most_threads ||
        !pm_process_is_ours() || !count_one_more())
        return;
    if (start_thread() < 0) {
        /* Those that there are go on. */
        if (__atomic_sub_fetch(&n_threads, 1, __ATOMIC_SEQ_CST) == 0) {
            __atomic_store_n(&is_concurrent, false, __ATOMIC_RELAXED);
            pm_note_add(PM_NOTE_NO_SECOND_CORE, 1);
        }
    }
}

bool pm_analysis_has_idle_thread(void) { return __atomic_load_n(&n_idle, __ATOMIC_RELAXED) != 0; }

unsigned pm_analysis_most_threads(void) { return (unsigned)most_threads; }

bool pm_analysis_is_concurrent(void) { return __atomic_load_n(&is_concurrent, __ATOMIC_RELAXED); }

void pm_analysis_begin(void) {
    long bytes = pm_syscall3(SYS_sched_getaffinity, 0, sizeof affinity, (long)affinity);
    int n_cpus = 0;
    for (long i = 0; i < bytes / (long)sizeof *affinity; i++)
        n_cpus += __builtin_popcountl(affinity[i]);
    affinity_bytes = bytes > 0 ? (size_t)bytes : 0;
    most_threads = n_cpus - 1 < MOST_THREADS ? n_cpus - 1 : MOST_THREADS;
    is_concurrent = most_threads > 0;
    if (!is_concurrent)
        pm_note_add(PM_NOTE_ONE_CPU, 1);
}

/* ---- fork ------------------------------------------------------------------------------------ */

void pm_analysis_enter(void) {
    for (;;) {
        __atomic_fetch_add(&n_active, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&n_pauses, __ATOMIC_SEQ_CST))
            return;
        pm_analysis_leave();
        uint32_t pauses = __atomic_load_n(&n_pauses, __ATOMIC_ACQUIRE);
        if (pauses && !pm_futex_wait(&n_pauses, pauses, LONGEST_PAUSE_NS) &&
            !__atomic_load_n(&n_holds, __ATOMIC_ACQUIRE)) {
            __atomic_fetch_add(&n_active, 1, __ATOMIC_SEQ_CST);
            return;
        }
    }
}

void pm_analysis_enter_piece(void) {
    pm_analysis_enter();
    __atomic_fetch_add(&n_pieces, 1, __ATOMIC_SEQ_CST);
}

void pm_analysis_leave_piece(void) {
    __atomic_fetch_sub(&n_pieces, 1, __ATOMIC_SEQ_CST);
    pm_analysis_leave();
}

/* A hold waits for the end of the piece. */
static bool fork_waits(void) {
    uint32_t holds = __atomic_load_n(&n_holds, __ATOMIC_SEQ_CST);
    return (int32_t)(__atomic_load_n(&n_pauses, __ATOMIC_SEQ_CST) - holds) > 0;
}

void pm_analysis_breathe(void) {
    if (PM_LIKELY(!fork_waits()))
        return;
    for (bool was_long = false; fork_waits() && !was_long;) {
        pm_analysis_leave();
        uint32_t pauses = __atomic_load_n(&n_pauses, __ATOMIC_ACQUIRE);
        was_long = fork_waits() && !pm_futex_wait(&n_pauses, pauses, LONGEST_PAUSE_NS);
        __atomic_fetch_add(&n_active, 1, __ATOMIC_SEQ_CST);
    }
}

void pm_analysis_leave(void) { __atomic_fetch_sub(&n_active, 1, __ATOMIC_SEQ_CST); }

void pm_analysis_pause(void) {
    __atomic_fetch_add(&n_pauses, 1, __ATOMIC_SEQ_CST);
    /* Not for ever: what is analysed may itself wait for who forks. */
    enum { SHORT = 1000, LONG = 2000 };
    for (int tries = 0; tries < LONG && __atomic_load_n(&n_active, __ATOMIC_SEQ_CST); tries++) {
        pm_analysis_serve();
        if (tries < SHORT)
            pm_syscall3(SYS_sched_yield, 0, 0, 0);
        else
            pm_futex_wait(&n_pauses, __atomic_load_n(&n_pauses, __ATOMIC_RELAXED), SHORT_SLEEP_NS);
    }
}

void pm_analysis_resume(void) {
    __atomic_fetch_sub(&n_pauses, 1, __ATOMIC_SEQ_CST);
    pm_futex_wake(&n_pauses, INT_MAX);
}

bool pm_analysis_hold(void) {
    enum { TRIES = 1000 };
    __atomic_fetch_add(&n_holds, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&n_pauses, 1, __ATOMIC_SEQ_CST);
    for (int tries = 0; tries < TRIES; tries++) {
        if (!__atomic_load_n(&n_active, __ATOMIC_SEQ_CST) &&
            !__atomic_load_n(&n_pieces, __ATOMIC_SEQ_CST))
            return true;
        pm_sleep_ns(SHORT_SLEEP_NS);
    }
    pm_analysis_release();
    return false;
}

void pm_analysis_release(void) {
    __atomic_fetch_sub(&n_holds, 1, __ATOMIC_SEQ_CST);
    pm_analysis_resume();
}

void pm_analysis_after_fork(void) {
    for (struct place *place = places; place < places + N_PLACES; place++)
        place->thread.id = place->taken = 0;
    n_threads = n_idle = n_active = n_pauses = n_holds = n_pieces = 0;
    n_scans_done = n_scans_wanted;
}

/* ---- modules --------------------------------------------------------------------------------- */

static bool is_ours(uint32_t id) {
    for (const struct place *place = places; place < places + N_PLACES; place++)
        if (__atomic_load_n(&place->thread.id, __ATOMIC_RELAXED) == id)
            return true;
    return false;
}

bool pm_analysis_ask_for_scan(void) {
    if (!__atomic_load_n(&n_threads, __ATOMIC_RELAXED) ||
        !is_ours((uint32_t)pm_syscall3(SYS_gettid, 0, 0, 0)))
        return false;
    uint32_t number = __atomic_add_fetch(&n_scans_wanted, 1, __ATOMIC_SEQ_CST), done;
    while ((int32_t)((done = __atomic_load_n(&n_scans_done, __ATOMIC_ACQUIRE)) - number) < 0)
        pm_futex_wait(&n_scans_done, done, LONGEST_IDLE_NS);
    return true;
}

void pm_analysis_serve(void) {
    uint32_t wanted = __atomic_load_n(&n_scans_wanted, __ATOMIC_ACQUIRE);
    uint32_t done = __atomic_load_n(&n_scans_done, __ATOMIC_ACQUIRE);
    if (PM_LIKELY((int32_t)(wanted - done) <= 0))
        return;
    pm_modules_scan();
    while ((int32_t)(wanted - done) > 0 &&
           !__atomic_compare_exchange_n(&n_scans_done, &done, wanted, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_ACQUIRE))
        ;
    pm_futex_wake(&n_scans_done, MOST_THREADS);
}
