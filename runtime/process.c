/* Begin and end of the measured process; see process.h.

   The constructor looks for instrumented modules and does nothing at all if there are none.  The
   destructor runs after those of the program, because the program depends on this library. */
#define _GNU_SOURCE
#include "runtime/process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/raw_file.h"
#include "runtime/analyser/analyser.h"
#include "runtime/branch_outcomes/branch_outcomes.h"
#include "runtime/shadow_loops/shadow_loops.h"
#include "runtime/read_clock.h"
#include "runtime/mpi_events/mpi_events.h"
#include "runtime/sockets/sockets.h"
#include "runtime/events/events.h"
#include "runtime/thread_intervals/thread_intervals.h"
#include "runtime/markers.h"
#include "runtime/modules.h"
#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/notes.h"
#include "runtime/mpi_rank.h"
#include "runtime/raw_output/raw_output.h"
#include "runtime/records/records.h"
#include "runtime/second_core/second_core.h"
#include "runtime/signals/signals.h"
#include "runtime/system.h"
#include "runtime/append_text.h"
#include "runtime/timers/timers.h"

const struct pmodel_handler *pm_process_handler;
static struct { uint64_t start_unix_ns, start_monotonic_ns; } times;

enum state { NOT_MEASURED, RUNNING, FINISHING, FINISHED };
static int state; /* enum state, atomic */
static bool forked;
static long process_id;
static char folder[4096];    /* of raw files; empty: none are written */
static char exec_file[4400]; /* written before an exec that may fail; empty: none */

bool pm_process_is_measured(void) {
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE) != NOT_MEASURED;
}

bool pm_process_is_finished(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) >= FINISHING; }

bool pm_process_is_ours(void) { return pm_syscall3(SYS_getpid, 0, 0, 0) == process_id; }

static void begin_times(void) {
    process_id = pm_syscall3(SYS_getpid, 0, 0, 0);
    times.start_unix_ns = pm_clock_ns(CLOCK_REALTIME);
    times.start_monotonic_ns = pm_clock_ns(CLOCK_MONOTONIC);
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* The program may change its working directory: keep an absolute path. */
static void remember_folder(void) {
    const char *out = getenv(PM_ENV_OUT);
    if (!out || !*out)
        return;
    struct pm_text path = {folder, sizeof folder, 0};
    if (*out != '/' && getcwd(folder, sizeof folder / 2)) {
        path.used = strlen(folder);
        pm_text_add(&path, "/");
    }
    pm_text_add(&path, out);
}

static void complain(const char *what, const char *name, const char *why) {
    char line[1024];
    struct pm_text text = {line, sizeof line, 0};
    pm_text_add(&text, "pmodel: ");
    pm_text_add(&text, what);
    pm_text_add(&text, name);
    pm_text_add(&text, why);
    pm_text_add(&text, "\n");
    pm_syscall3(SYS_write, 2, (long)line, (long)text.used);
}

/* The handler that PMODEL_HANDLER names; NULL if there is none or it does not work. */
static const struct pmodel_handler *load_handler(void) {
    const char *name = getenv(PM_ENV_HANDLER);
    if (!name || !*name)
        return NULL;
    void *object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const struct pmodel_handler *handler = object ? dlsym(object, "pmodel_handler") : NULL;
    if (!handler)
        complain("the event handler cannot be used: ", dlerror(), "");
    else if (handler->version != PMODEL_HANDLER_VERSION)
        complain("the event handler ", name, " was built for another version of pmodel_handler.h");
    else if (handler->begin && handler->begin(&pm_program) != 0)
        complain("the event handler ", name, " did not begin; the program runs without it");
    else
        return handler;
    return NULL;
}

static void choose_handler(void) {
    pm_process_handler = load_handler();
    if (!pm_process_handler && pm_analyser.begin(&pm_program) == 0)
        pm_process_handler = &pm_analyser;
}

void pm_process_forked(void) {
    if (!pm_process_is_measured())
        return;
    forked = true;
    exec_file[0] = 0;
    state = RUNNING;
    begin_times();
    pm_modules_after_fork();
    pm_notes_clear();
    pm_signals_after_fork();
    pm_default_actions_after_fork();
    pm_markers_after_fork();
    pm_analysis_after_fork();
    pm_records_after_fork();
    pm_threads_after_fork();
    pm_intervals_after_fork();
    pm_analyser_after_fork();
    if (pm_analyser_carries)
        pm_deliver_open_scopes(pm_current_thread());
    pm_timers_after_fork();
    pm_checkpoints_after_fork();
    pm_communication_after_fork();
    pm_sockets_after_fork();
    pm_exits_after_fork();
}

__attribute__((constructor(101))) static void begin(void) {
    if (getenv(PM_ENV_HANDLER))
        pm_modules_describe();
    pm_modules_scan();
    if (pm_n_modules == 0 && !getenv(PM_ENV_LIBRARIES))
        return;
    begin_times();
    remember_folder();
    pm_ranks_begin();
    pm_sockets_begin();
    pm_control_block_detect();
    choose_handler();
    pm_intervals_begin();
    pm_branches_begin();
    bool wants_events = pm_wants_events();
    pm_first_block->consume = wants_events || (pm_process_handler && pm_process_handler->accesses);
    pm_first_block->event_path = (uint64_t)(wants_events ? pm_event_record : pm_event_ignore);
    pm_markers_begin();
    pm_threads_begin();
    if (pm_bounds_wanted())
        pm_bounds_begin();
    else if (pm_timers_wanted())
        pm_timers_begin();
    if (pm_process_handler == &pm_analyser && getenv(PM_ENV_SHARED))
        pm_records_share();
    else if (pm_process_handler == &pm_analyser && getenv(PM_ENV_SECOND_CORE))
        pm_analysis_begin();
    pthread_atfork(pm_analysis_pause, pm_analysis_resume, pm_process_forked);
    if (at_quick_exit(pm_process_finish) != 0)
        pm_note_add(PM_NOTE_NO_QUICK_EXIT, 1);
    pm_signals_begin();
    if (folder[0] && (!pm_process_handler || pm_process_handler == &pm_analyser))
        pm_default_actions_begin();
    if (folder[0])
        pm_checkpoints_begin();
    __atomic_store_n(&state, RUNNING, __ATOMIC_RELEASE);
}

/* ---- end ------------------------------------------------------------------------------------- */

/* Other threads may still run.  Most are parked, as OpenMP's are, with records in their buffers. */
static void drain_all_threads(void) {
    for (uint32_t i = 0; i < pm_n_threads; i++)
        if (pm_threads[i] && !pm_consume_pending_of(pm_threads[i]))
            pm_note_add(PM_NOTE_BUSY_THREAD, 1);
}

void pm_process_thread_end(struct pm_thread *thread) {
    const struct pmodel_handler *handler = pm_process_handler;
    pm_deliver_all_exits(thread->block);
    if (handler == &pm_analyser)
        pm_analyser_thread_end(thread->number);
    pm_intervals_thread_end(thread);
    if (!handler || handler == &pm_analyser)
        return;
    pm_deliver_counters(thread);
    if (handler->thread_end)
        handler->thread_end(thread->number);
}

static void end_handler(void) {
    if (!pm_process_handler || pm_process_handler == &pm_analyser)
        return;
    for (uint32_t i = 0; i < pm_n_threads; i++)
        if (pm_threads[i] && pm_threads[i]->in_use)
            pm_process_thread_end(pm_threads[i]);
    if (pm_process_handler->end)
        pm_process_handler->end();
}

static void build_raw_file(struct pm_raw_builder *builder, uint64_t flags) {
    struct pm_raw_run run = {
        .process_id = (uint64_t)process_id,
        .parent_id = (uint64_t)pm_syscall3(SYS_getppid, 0, 0, 0),
        .start_unix_ns = times.start_unix_ns,
        .wall_ns = pm_clock_ns(CLOCK_MONOTONIC) - times.start_monotonic_ns,
        .cpu_ns = pm_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
        .flags = flags | (forked ? PM_RAW_FORKED : 0),
    };
    pm_raw_begin(builder);
    pm_raw_add_content(builder, &run);
}

static void write_raw_file(uint64_t flags, char *name, size_t name_size) {
    struct pm_raw_builder builder = {0};
    pm_modules_scan();
    if (!folder[0] || pm_n_modules == 0)
        return;
    pm_timers_finish();
    build_raw_file(&builder, flags);
    pm_raw_save(&builder, folder, (uint64_t)process_id, name, name_size);
    pm_raw_builder_free(&builder);
    pm_checkpoints_remove();
}

void pm_process_write_checkpoint(void (*built)(void), char *name, size_t name_size) {
    struct pm_raw_builder builder = {0};
    bool has_modules = pm_n_modules > 0;
    if (has_modules)
        build_raw_file(&builder, PM_RAW_CHECKPOINT);
    built();
    if (has_modules)
        pm_raw_save_again(&builder, folder, (uint64_t)process_id, name, name_size);
    pm_raw_builder_free(&builder);
}

/* The caller has blocked signals. */
static void finish(uint64_t flags) {
    int expected = RUNNING;
    if (__atomic_compare_exchange_n(&state, &expected, FINISHING, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        pm_checkpoints_stop();
        pm_exits_note_open(PM_ACTIVATION_LEFT, 1);
        pm_exits_note_other_threads();
        drain_all_threads();
        if (!(flags & PM_RAW_TRUNCATED))
            end_handler();
        write_raw_file(flags, NULL, 0);
        __atomic_store_n(&state, FINISHED, __ATOMIC_RELEASE);
    }
    /* Another thread may have been first: do not end the process under its hands. */
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != FINISHED)
        pm_sleep_ns(1000000);
}

void pm_process_finish(void) {
    if (!pm_process_is_measured() || !pm_process_is_ours())
        return;
    uint64_t mask = pm_signals_block();
    finish(0);
    pm_signals_restore(mask);
}

void pm_process_truncated(int signal) {
    finish(PM_RAW_TRUNCATED | (uint64_t)signal << PM_RAW_SIGNAL_SHIFT);
}

__attribute__((destructor(101))) static void end(void) { pm_process_finish(); }

void pm_process_before_exec(void) {
    if (!pm_process_is_measured() || pm_process_is_finished() || !pm_process_is_ours())
        return;
    uint64_t mask = pm_signals_block();
    pm_checkpoints_stop();
    drain_all_threads();
    pm_exits_note_open(PM_ACTIVATION_LEFT, 1);
    write_raw_file(PM_RAW_BEFORE_EXEC, exec_file, sizeof exec_file);
    pm_signals_restore(mask);
}

void pm_process_exec_failed(void) {
    if (!pm_process_is_measured() || pm_process_is_finished() || !pm_process_is_ours())
        return;
    pm_exits_note_open(PM_ACTIVATION_LEFT, -1);
    if (exec_file[0])
        pm_syscall3(SYS_unlink, (long)exec_file, 0, 0);
    exec_file[0] = 0;
    pm_checkpoints_go_on();
}
