/* Threads of the program as the runtime sees them.  A thread keeps its pm_thread until it has run
   its last destructor; then a new thread may take it over, number and counts included, so that
   memory is bounded by the threads that live at once. */
#ifndef PM_RUNTIME_THREADS_H
#define PM_RUNTIME_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/control_block.h"
#include "runtime/pmodel_handler.h"
#include "runtime/second_core/second_core.h"

enum { PM_MAX_THREADS = 1 << 16, PM_BATCH = 1024 };

/* What a thread did while measuring was off: no analysis sees it, but it is counted, so that the
   raw file can say how much was left out. */
struct pm_skipped {
    uint64_t loads, stores; /* accesses; what is both counts as each */
    uint64_t n_stops;       /* how often measuring was switched off while the thread was there */
};

/* Accesses on their way from records to a handler. */
struct pm_decoder {
    struct pm_thread *thread; /* whose records they are */
    uint32_t stream;          /* what the handler is told: the thread's number, or analyser.h */
    size_t n_batch;
    struct pmodel_access batch[PM_BATCH];
};

struct pm_thread {
    uint32_t number;
    int in_use;         /* atomic */
    int busy;           /* atomic: somebody consumes its records */
    bool stopped;       /* measuring is off (markers.h) */
    uint32_t last_jump; /* path of the last end of an interval, if that was at a jump; 0: a call */
    uint8_t switch_to;  /* of markers.c */
    bool restore_signals;
    int key_rounds; /* how often the thread's last destructor was put off */
    uint64_t signal_mask;
    uint64_t exit_stack; /* of the last frame noted while the first thread exits; 0: it does not */
    uint64_t readable_low, readable_end; /* of the stack, as the last walk over it found */
    long system_id;                      /* that the kernel knows it by */
    struct pm_control_block *block; /* its own, level 0; signal handlers' blocks follow by inner */
    uint64_t *kept;                 /* counts up to the last stop or thread's end; NULL: none */
    uint64_t *base;        /* what its counters stood at when measuring began; NULL: all at 0 */
    uint64_t *kept_before; /* counts that an event handler has had already; NULL: none */
    uint64_t *difference;  /* since then; room for what it gets */
    struct pm_thread_times *times;         /* timers.h; NULL none */
    struct pm_path_room *path_room;        /* call_paths.h; NULL: no walk yet */
    struct pm_thread_branches *branches;   /* branch_outcomes/branch_outcomes.h; NULL: none yet */
    struct pm_thread_intervals *intervals; /* thread_intervals/thread_intervals.h; NULL: none yet */
    void *(*start)(void *);
    int (*start_c11)(void *);
    void *argument;
    struct pm_record_queue queue;
    struct pm_skipped skipped; /* while measuring was off */
    struct pm_decoder decoder;
};

extern struct pm_thread *pm_threads[PM_MAX_THREADS]; /* in order of number */
extern uint32_t pm_n_threads;                        /* pm_thread structures */
extern uint64_t pm_n_threads_started;                /* threads that there ever were */

/* To be called once, in the first thread, before others exist. */
void pm_threads_begin(void);

/* In the child of a fork: forgets the other threads, and everything that was counted. */
void pm_threads_after_fork(void);

/* A thread that nobody uses, for a new one; NULL when there is none.  Untake: it did not begin. */
struct pm_thread *pm_thread_take(void);
void pm_thread_untake(struct pm_thread *thread);

/* The calling thread is THREAD from now on.  Begin: of the C library's, given back by itself when
   it ends; enter: without thread-local storage, given back by pm_thread_leave. */
void pm_thread_begin(struct pm_thread *thread);
void pm_thread_enter(struct pm_thread *thread);

/* The calling thread is about to end by a system call of its own. */
void pm_thread_leave(void);

static inline struct pm_thread *pm_current_thread(void) { return pm_current_block()->thread; }

/* What a thread's counter stands at; parts that were not to be measured left out. */
uint64_t pm_thread_count(const struct pm_thread *thread, uint32_t counter);

/* The first counter from FROM on that does not stand at zero; END if there is none before it. */
uint32_t pm_thread_next_counted(const struct pm_thread *thread, uint32_t from, uint32_t end);

/* Adds to `kept` what the counters of a thread, which may be running, rose by since the last time
   (KEEP), and remembers what they stand at. */
void pm_thread_take_counters(struct pm_thread *thread, bool keep);

/* pthread_create of the C library for a library that passes by ours (interpose/dlsym.c). */
int pm_create_thread_below(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *),
                           void *argument);

#endif
