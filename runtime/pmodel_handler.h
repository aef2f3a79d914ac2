/* The event handler's interface: PMODEL_HANDLER=./mine.so replaces what the runtime does with what
   happens in an instrumented program, without rewriting the program again.  The shared object
   defines

       const struct pmodel_handler pmodel_handler = {.version = PMODEL_HANDLER_VERSION, …};

   Callbacks that are NULL are not called.  Which events there are, the copy of the program decides:
   `pmodel run --instrument` and `pmodel run --handler` say.  runtime/examples/ has a handler to
   begin with.

   What a callback may do.  It runs inside the program, on a private stack of 64 KiB of the thread
   that it is told of, between two of the program's instructions, whatever the program is doing
   there: maybe in the middle of malloc or printf, with a lock in its hand.  All signals are
   blocked.  So it must not call what the program may be inside of (malloc, stdio, locks, dlopen),
   nor throw, nor jump away.  It may compute, use memory that it made ready in `begin` or takes by
   mmap, and make system calls (write). errno, the floating-point environment and vector registers
   are kept by the runtime.  In `begin` and `end` the program is not running: there everything is
   allowed, and what goes to standard output mixes with the program's.  Callbacks of different
   threads may run at the same time; those of one thread do not, but for events in handlers of
   signals, which are told when the handler returns or its buffer is full: they may come before
   earlier ones of the code that was interrupted.

   Accesses, entries and exits of one thread are told in the order in which they happened, some time
   later: when a buffer is full, at an interval's end, at pmodel_stop, at the end of the thread. */
#ifndef PMODEL_HANDLER_H
#define PMODEL_HANDLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMODEL_HANDLER_VERSION 2
#define PMODEL_NONE UINT32_MAX

/* ---- the program ----------------------------------------------------------------------------- */

enum pmodel_scope_kind {
    PMODEL_PROGRAM = 0,
    PMODEL_MODULE = 1, /* a program's or library's file */
    PMODEL_ROUTINE = 2,
    PMODEL_LOOP = 3,
    PMODEL_INLINED = 4, /* code of another routine, inlined */
};

enum pmodel_scope_flags {
    PMODEL_SCOPE_TOLD = 1, /* all its entries and exits are told */
};

/* A part of the program, by its number. */
struct pmodel_scope {
    const char *name; /* of a routine, a module, inlined code; a loop's variable; "" unknown */
    const char *file; /* source; "" unknown */
    uint32_t line;    /* where it begins; 0 unknown */
    uint32_t kind;    /* enum pmodel_scope_kind; PMODEL_NONE: there is no scope with this number */
    uint32_t parent;  /* scope around it, whose number is smaller; PMODEL_NONE */
    uint32_t routine; /* the routine that it is in, or is; PMODEL_NONE of modules */
    uint32_t flags;   /* enum pmodel_scope_flags */
};

/* What a counter counts: how often control went along an edge between basic blocks. */
struct pmodel_counter {
    uint64_t from, to; /* addresses of the blocks in the file; 0: from a caller, to a caller */
    uint32_t scope;    /* the innermost that the edge leads to, else that it comes from */
    uint32_t reserved;
};

struct pmodel_program {
    uint32_t n_scopes;   /* highest number + 1 */
    uint32_t n_counters; /* the same */
    uint32_t n_groups;   /* of references to memory */
    uint32_t has_accesses;
    const struct pmodel_scope *scopes;
    const struct pmodel_counter *counters; /* NULL: the copy does not describe them */
};

/* ---- what happens ---------------------------------------------------------------------------- */

/* One memory access as it happened; vectors and string operations arrive element by element or as
   one access of their whole size where they are contiguous. */
struct pmodel_access {
    uint64_t address;
    uint32_t size_bytes;
    uint32_t reference; /* number of the instruction's operand, over all modules */
    uint32_t group;     /* as `pmodel loops --groups` numbers them */
    uint32_t kind;      /* 1 load, 2 store, 3 both */
};

struct pmodel_handler {
    uint32_t version;
    uint32_t reserved;
    /* Once, before the program's constructors.  PROGRAM stays where it is; what it describes grows
       when the program loads an instrumented library.  0: go on; else the runtime says so on the
       program's standard error and the program runs without the handler. */
    int (*begin)(const struct pmodel_program *program);
    /* A batch of accesses.  Threads count from 0; a number is used again after its thread ended. */
    void (*accesses)(uint32_t thread, const struct pmodel_access *batch, size_t count);
    /* A routine or loop with PMODEL_SCOPE_TOLD is entered, or left by whatever way: return, jump,
       tail call, exception, longjmp, exit of the thread.  Entries and exits of a thread nest. */
    void (*enter)(uint32_t thread, uint32_t scope);
    void (*leave)(uint32_t thread, uint32_t scope);
    /* How often each counter went up since the last time: before an interval's end, at pmodel_stop,
       and before the end of a thread.  All edges follow from these; without
       (core/structure/structure.h, pm_solve_edges) they are the counted edges' own frequencies. */
    void (*counters)(uint32_t thread, const uint64_t *counts, size_t count);
    /* The thread is about to make a call that ends an interval, in the scope SCOPE. */
    void (*interval_end)(uint32_t thread, uint32_t scope);
    /* A thread (thread 0: the process) ends. */
    void (*thread_end)(uint32_t thread);
    /* After the program's destructors; the last call.  Not where a signal ends the process. */
    void (*end)(void);
};

#ifdef __cplusplus
}
#endif

#endif
