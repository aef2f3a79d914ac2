/* Gives every thread a control block of its own, by standing before pthread_create and thrd_create.
   interpose/clone.c has other ways in which threads begin. */
#define _GNU_SOURCE
#include "runtime/threads.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <threads.h>

#include "runtime/branch_outcomes/branch_outcomes.h"
#include "runtime/interpose/interpose.h"
#include "runtime/markers.h"
#include "runtime/modules.h"
#include "runtime/nonlocal_exits/nonlocal_exits.h"
#include "runtime/process.h"
#include "runtime/records/records.h"
#include "runtime/signals/signals.h"
#include "runtime/system.h"
#include "runtime/timers/timers.h"

struct pm_thread *pm_threads[PM_MAX_THREADS];
uint32_t pm_n_threads;
uint64_t pm_n_threads_started;
static pthread_key_t end_of_thread;
static bool has_key;

/* What the counter of THREAD rose by since the last pm_thread_take_counters. */
static uint64_t rise(const struct pm_thread *thread, uint32_t counter) {
    uint64_t count = thread->base ? 0 - thread->base[counter] : 0;
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        count += block->counters[counter];
    return count;
}

uint64_t pm_thread_count(const struct pm_thread *thread, uint32_t counter) {
    uint64_t count = thread->kept ? thread->kept[counter] : 0;
    return thread->stopped ? count : count + rise(thread, counter);
}

uint32_t pm_thread_next_counted(const struct pm_thread *thread, uint32_t from, uint32_t end) {
    const struct pm_control_block *block = thread->block;
    bool is_plain = !thread->kept && !thread->base && !block->inner && !thread->stopped;
    while (from < end && (is_plain ? block->counters[from] : pm_thread_count(thread, from)) == 0)
        from++;
    return from;
}

/* Counters themselves stay: their thread may be about to write one. */
void pm_thread_take_counters(struct pm_thread *thread, bool keep) {
    if (keep && !thread->kept)
        thread->kept = pm_mmap(8ul * PM_MAX_COUNTERS);
    if (!thread->base)
        thread->base = pm_mmap(8ul * PM_MAX_COUNTERS);
    for (uint32_t i = 0; thread->base && i < pm_n_counters; i++) {
        uint64_t count = rise(thread, i);
        if (count == 0)
            continue; /* leaves untouched pages untouched */
        if (keep && thread->kept)
            thread->kept[i] += count;
        thread->base[i] += count;
    }
}

/* ---- taking and giving back ------------------------------------------------------------------ */

static struct pm_thread *new_thread(struct pm_control_block *block) {
    struct pm_thread *thread = pm_mmap(sizeof *thread);
    if (!thread)
        return NULL;
    thread->block = block ? block : pm_control_block_new(thread, NULL);
    if (!thread->block) {
        pm_munmap(thread, sizeof *thread);
        return NULL;
    }
    thread->block->thread = thread;
    thread->stopped = !pm_measuring_is_on();
    thread->in_use = 1;
    thread->number = __atomic_fetch_add(&pm_n_threads, 1, __ATOMIC_RELAXED);
    if (thread->number >= PM_MAX_THREADS) {
        __atomic_fetch_sub(&pm_n_threads, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    thread->decoder.thread = thread;
    thread->decoder.stream = thread->number;
    __atomic_store_n(&pm_threads[thread->number], thread, __ATOMIC_RELEASE);
    return thread;
}

struct pm_thread *pm_thread_take(void) {
    __atomic_fetch_add(&pm_n_threads_started, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < pm_n_threads; i++) {
        struct pm_thread *thread = __atomic_load_n(&pm_threads[i], __ATOMIC_ACQUIRE);
        int unused = 0;
        if (thread && __atomic_compare_exchange_n(&thread->in_use, &unused, 1, false,
                                                  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            thread->stopped = !pm_measuring_is_on();
            return thread;
        }
    }
    return new_thread(NULL);
}

void pm_thread_untake(struct pm_thread *thread) {
    __atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
}

/* Called by the thread itself, on its own block.  No handler of the program may run on that block
   afterwards, so signals stay blocked; those to the process go to other threads. */
static void give_back(struct pm_thread *thread) {
    pm_signals_block();
    pm_consume_pending(thread);
    pm_analysis_enter();
    pm_process_thread_end(thread);
    pm_timers_thread_end(thread);
    pm_thread_take_counters(thread, !thread->stopped);
    pm_analysis_leave();
    pm_thread_untake(thread);
}

/* Destructors of other keys may still run code of the program: be the last of the last round. */
static void put_off_end(void *value) {
    struct pm_thread *thread = value;
    if (++thread->key_rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(end_of_thread, thread);
    else
        give_back(thread);
}

void pm_thread_enter(struct pm_thread *thread) {
    pm_control_block_use(thread->block);
    thread->key_rounds = 0;
    thread->exit_stack = 0;
    thread->system_id = pm_syscall3(SYS_gettid, 0, 0, 0);
    pm_signal_stack_begin();
    if (thread->restore_signals)
        pm_signals_restore(thread->signal_mask);
}

void pm_thread_begin(struct pm_thread *thread) {
    if (has_key)
        pthread_setspecific(end_of_thread, thread);
    pm_thread_enter(thread);
}

void pm_thread_leave(void) {
    if (!pm_process_is_measured() || pm_process_is_finished() || !pm_process_is_ours())
        return;
    pm_exits_note_open(PM_ACTIVATION_LEFT, 1);
    give_back(pm_current_thread());
}

/* Called by the thread's first frame, pm_thread_base. */
void *pm_run_thread(struct pm_thread *thread);
void *pm_run_thread(struct pm_thread *thread) {
    pm_thread_begin(thread);
    if (thread->start_c11)
        return (void *)(intptr_t)thread->start_c11(thread->argument);
    return thread->start(thread->argument);
}

/* thread_base.S; what it returns is an int for the C11 kind, in the same register. */
void *pm_thread_base(void *thread);

void pm_threads_begin(void) {
    struct pm_thread *first = new_thread(pm_first_block);
    if (first)
        first->system_id = pm_syscall3(SYS_gettid, 0, 0, 0);
    pm_n_threads_started = 1;
    has_key = pthread_key_create(&end_of_thread, put_off_end) == 0;
}

void pm_threads_after_fork(void) {
    struct pm_thread *current = pm_current_thread();
    for (uint32_t i = 0; i < pm_n_threads; i++) {
        struct pm_thread *thread = pm_threads[i];
        if (!thread)
            continue;
        for (struct pm_control_block *block = thread->block; block; block = block->inner)
            block->next = block->consumed = block->start;
        pm_branches_after_fork(thread);
        pm_queue_after_fork(thread);
        pm_thread_take_counters(thread, false);
        for (uint32_t j = 0; thread->kept && j < pm_n_counters; j++)
            thread->kept[j] = 0;
        for (uint32_t j = 0; thread->kept_before && j < pm_n_counters; j++)
            thread->kept_before[j] = 0;
        thread->skipped = (struct pm_skipped){0};
        thread->busy = 0;
        thread->decoder.n_batch = 0;
        thread->stopped = !pm_measuring_is_on();
        thread->in_use = thread == current;
        thread->system_id = pm_syscall3(SYS_gettid, 0, 0, 0);
    }
    pm_n_threads_started = 1;
}

/* ---- what the program calls ------------------------------------------------------------------ */

/* A signal that comes before the new thread is on its own block would use its creator's: so the
   thread starts with signals blocked, unless its attributes say which mask it gets. */
static bool attributes_have_mask(const pthread_attr_t *attributes) {
    sigset_t mask;
    return attributes && pthread_attr_getsigmask_np(attributes, &mask) == 0;
}

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static int create(create_function *original, pthread_t *id, const pthread_attr_t *attributes,
                  void *(*start)(void *), void *argument) {
    struct pm_thread *thread = pm_thread_take();
    if (!thread)
        return EAGAIN;
    thread->start = start;
    thread->start_c11 = NULL;
    thread->argument = argument;
    thread->restore_signals = !attributes_have_mask(attributes);
    uint64_t mask = pm_signals_block();
    thread->signal_mask = mask;
    int result = original(id, attributes, pm_thread_base, thread);
    pm_signals_restore(mask);
    if (result != 0)
        pm_thread_untake(thread);
    return result;
}

PM_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                             void *(*start)(void *), void *argument) {
    create_function *original = PM_ORIGINAL(pthread_create);
    return pm_process_is_measured() ? create(original, id, attributes, start, argument)
                                    : original(id, attributes, start, argument);
}

/* From a library between this one and the C library (interpose/dlsym.c): the thread may be one that
   came by us already. */
int pm_create_thread_below(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *),
                           void *argument) {
    create_function *original = (create_function *)pm_function_of_c_library("pthread_create");
    return pm_process_is_measured() && start != pm_thread_base
               ? create(original, id, attributes, start, argument)
               : original(id, attributes, start, argument);
}

PM_EXPORT int thrd_create(thrd_t *id, thrd_start_t start, void *argument) {
    if (!pm_process_is_measured())
        return PM_ORIGINAL(thrd_create)(id, start, argument);
    struct pm_thread *thread = pm_thread_take();
    if (!thread)
        return thrd_nomem;
    thread->start_c11 = start;
    thread->argument = argument;
    thread->restore_signals = true;
    uint64_t mask = pm_signals_block();
    thread->signal_mask = mask;
    int result = PM_ORIGINAL(thrd_create)(id, (thrd_start_t)(void *)pm_thread_base, thread);
    pm_signals_restore(mask);
    if (result != thrd_success)
        pm_thread_untake(thread);
    return result;
}
