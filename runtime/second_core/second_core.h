/* The analysis on other cores, beside the program (PMODEL_SECOND_CORE).

   A control block then has a ring of buffers instead of one.  The slow path hands the full one
   over, to the queue of its thread, and goes on with the next of the ring; threads of the runtime
   (analysis_threads.h) decode and analyse what is handed over.

   Pieces.  PM_PIECE_BUFFERS buffers of a queue, one after the other, are a piece of the thread's
   trace.  Different pieces, of one thread or of several, are analysed at the same time by whoever
   has a CPU for it, each in a stream of its own; what it leaves open, the first touch of each
   block, is resolved in the order of the pieces, by one at a time, the queue's owner
   (reuse/pieces.h).  So the results are those of the accesses in their order.
   In order.  Where records are wanted one after the other (pm_analyser_takes_pieces says no; events
   are among them; measuring is off), the owner takes buffer by buffer.

   Whoever needs all of a thread analysed (its end, a marker, fork, exec, exit) drains its queue;
   then a piece may have fewer buffers.  Who waits for a buffer or for a drained queue analyses
   himself if no analysis thread is free, so that nothing depends on there being one. */
#ifndef PM_RUNTIME_SECOND_CORE_H
#define PM_RUNTIME_SECOND_CORE_H

#include <stdbool.h>
#include <stdint.h>

struct pm_control_block;
struct pm_thread;

enum {
    /* 3 MB of records: a program that goes through 1 MB of data again and again touches 16,384
       blocks in it, each of which has to be resolved; that is a fiftieth of the touches. */
    PM_PIECE_BUFFERS = 16,
    PM_QUEUE_PIECES = 8, /* under way at once, of one queue */
    /* Pieces of a ring for each CPU: one is analysed, one waits and one is filled. */
    PM_MOST_RING_BUFFERS = (PM_QUEUE_PIECES + 2) * PM_PIECE_BUFFERS,
    PM_QUEUE_ITEMS = 256, /* a power of two; more than a ring's, for handlers of signals */
};

/* The records from address FROM up to TO of a buffer of BLOCK. */
struct pm_handed_records {
    struct pm_control_block *block;
    uint64_t from, to;
};

/* Items that are analysed together. */
struct pm_queue_piece {
    uint32_t from, to;    /* numbers of items */
    uint32_t stream;      /* analyser.h; PM_NO_STREAM: to be analysed when it is its turn */
    uint32_t is_analysed; /* atomic: but for what is to be resolved */
};

/* Of a thread.  Numbers of items and pieces count from 0 and wrap around. */
struct pm_record_queue {
    uint32_t handed; /* atomic: items ever handed over; changed with the thread's `busy` held */
    struct pm_handed_records items[PM_QUEUE_ITEMS]; /* number modulo PM_QUEUE_ITEMS */
    uint32_t done __attribute__((aligned(64)));     /* atomic, a futex: items ever analysed */
    uint32_t wake_at;                               /* who waits for `done` wants this number … */
    uint32_t waits;                                 /* atomic: … and sleeps */
    int owned;                                      /* atomic: somebody analyses in order, or
                                                       resolves */
    int taking;         /* atomic, a lock of what changes when a piece is taken */
    uint32_t taken;     /* atomic: items ever taken */
    uint32_t n_taken;   /* atomic: pieces ever taken */
    uint32_t n_done;    /* atomic: pieces ever resolved */
    uint32_t is_wanted; /* atomic: somebody waits for all that was handed over */
    struct pm_queue_piece pieces[PM_QUEUE_PIECES]; /* number modulo PM_QUEUE_PIECES */
};

/* Buffers of a control block. */
struct pm_record_ring {
    uint32_t n;
    uint32_t current;
    uint64_t starts[PM_MOST_RING_BUFFERS];
    uint32_t numbers[PM_MOST_RING_BUFFERS]; /* free once so many items of the queue are done */
};

/* Hands the records of BLOCK that are not consumed yet over and gives it another, empty buffer.
   False, and nothing is changed, if they are to be analysed here (no second core, no memory).  The
   caller is the block's thread, in the slow path, and has `busy`. */
bool pm_queue_hand_over(struct pm_control_block *block);

/* Waits until all that was handed over of THREAD is analysed.  The caller has `busy`, so nothing
   can be handed over meanwhile. */
void pm_queue_drain(struct pm_thread *thread);

/* In the child of a fork: forgets what was handed over. */
void pm_queue_after_fork(struct pm_thread *thread);

/* To be called once, at the begin of the process, if PM_ENV_SECOND_CORE is set. */
void pm_analysis_begin(void);

/* Around the analysis of a buffer, on whatever core, and other changes of an analysis.  A fork is
   between pause and resume, in the parent, where nothing is analysed, so that the child's copy of
   it is whole. */
void pm_analysis_enter(void);
void pm_analysis_leave(void);

/* The same around that of a piece, which is long: a fork comes in where it breathes. */
void pm_analysis_enter_piece(void);
void pm_analysis_breathe(void);
void pm_analysis_leave_piece(void);

void pm_analysis_pause(void);
void pm_analysis_resume(void);
void pm_analysis_after_fork(void);

/* The same for a thread of ours, however long it takes until the release: no analysis changes in
   between, and no buffer or piece is half done.  False: that could not be had soon, and nothing is
   held. */
bool pm_analysis_hold(void);
void pm_analysis_release(void);

/* An analysis thread must not call the dynamic linker: it asks a thread of the program to look for
   modules, and waits.  False on a thread of the program, which may look itself. */
bool pm_analysis_ask_for_scan(void);

/* ---- threads of ours (own_threads.c) ------------------------------------------------------------

   Made by plain system calls.  The C library does not know them; they have all signals blocked, run
   C of the runtime only, and have a thread pointer (%fs) of their own that leads to zeros.  A
   program sees them in /proc/self/task and in its CPU time only. */

struct pm_own_thread {
    uint32_t id; /* atomic, of the system; 0: none.  The kernel clears it when the thread is gone */
    char *memory; /* for it and the next one: pointer area, then stack */
};

/* Starts RUN (ARGUMENT) in a place whose id is 0; the thread ends when that returns.  The caller
   has blocked all signals, which the new thread inherits.  0 or negative errno. */
long pm_own_thread_start(struct pm_own_thread *thread, void (*run)(void *), void *argument);

#endif
