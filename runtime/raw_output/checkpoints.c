/* Writes what was measured so far at intervals; see raw.h.

   A thread of the runtime does it, so that it needs nothing of the program's threads, not even that
   they execute instrumented code.  While it puts the file together no analysis changes; counters
   run on.  Records that are still in buffers are not in it, and activations that are open do not
   count as left, so counts of their routines may be off by one each. */
#include "runtime/raw_output/raw_output.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/probe_abi.h"
#include "runtime/read_clock.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/second_core/second_core.h"
#include "runtime/system.h"
#include "runtime/threads.h"

enum { LONGEST_SECONDS = 1000000000 };

static uint64_t interval_ns; /* 0: no checkpoints */
static struct pm_own_thread writer;
static int stops;   /* atomic: who wants none to be written */
static int writing; /* atomic */
static char file[4400];

static bool program_runs(void) {
    for (uint32_t i = 0; i < pm_n_threads; i++) {
        const struct pm_thread *thread = __atomic_load_n(&pm_threads[i], __ATOMIC_ACQUIRE);
        if (thread && __atomic_load_n(&thread->in_use, __ATOMIC_ACQUIRE))
            return true;
    }
    return false;
}

static void write_checkpoint(void) {
    __atomic_store_n(&writing, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&stops, __ATOMIC_SEQ_CST) && pm_analysis_hold())
        pm_process_write_checkpoint(pm_analysis_release, file, sizeof file);
    __atomic_store_n(&writing, 0, __ATOMIC_SEQ_CST);
}

/* A process whose last thread ends by exit alone ends, too. */
static void run(void *unused) {
    enum { NAP_NS = 250000000 };
    (void)unused;
    uint64_t next = pm_clock_ns(CLOCK_MONOTONIC) + interval_ns;
    while (program_runs()) {
        uint64_t now = pm_clock_ns(CLOCK_MONOTONIC);
        if (now < next) {
            pm_sleep_ns(next - now < NAP_NS ? (long)(next - now) : NAP_NS);
            continue;
        }
        write_checkpoint();
        next = pm_clock_ns(CLOCK_MONOTONIC) + interval_ns;
    }
}

static void start(void) {
    uint64_t mask = pm_signals_block();
    if (pm_own_thread_start(&writer, run, NULL) < 0)
        pm_note_add(PM_NOTE_NO_CHECKPOINTS, 1);
    pm_signals_restore(mask);
}

void pm_checkpoints_begin(void) {
    const char *text = getenv(PM_ENV_CHECKPOINT);
    unsigned long seconds = text ? strtoul(text, NULL, 10) : 0;
    if (seconds == 0)
        return;
    interval_ns = (seconds < LONGEST_SECONDS ? seconds : LONGEST_SECONDS) * UINT64_C(1000000000);
    start();
}

void pm_checkpoints_after_fork(void) {
    stops = writing = 0;
    writer.id = 0;
    file[0] = 0;
    if (interval_ns)
        start();
}

void pm_checkpoints_stop(void) {
    __atomic_fetch_add(&stops, 1, __ATOMIC_SEQ_CST);
    while (interval_ns && __atomic_load_n(&writing, __ATOMIC_SEQ_CST))
        pm_sleep_ns(1000000);
}

void pm_checkpoints_go_on(void) { __atomic_fetch_sub(&stops, 1, __ATOMIC_SEQ_CST); }

void pm_checkpoints_remove(void) {
    if (file[0])
        pm_syscall3(SYS_unlink, (long)file, 0, 0);
    file[0] = 0;
}
