/* The event handler's interface: PMODEL_HANDLER=./mine.so replaces what the runtime does with
   memory records, without rewriting the program again.  The shared object defines const struct
   pmodel_handler pmodel_handler = { .version = PMODEL_HANDLER_VERSION, … }; Callbacks that are NULL
   are not called.  They run on the runtime's private stack (64 KiB), inside the thread that met the
   event, with signals of the program possibly pending: no malloc of the program, no stdio, no locks
   that the program may hold.  The runtime's own analyser is such a handler. */
#ifndef PMODEL_HANDLER_H
#define PMODEL_HANDLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMODEL_HANDLER_VERSION 1

/* One memory access as it happened; vectors and string operations arrive element by element or as
   one access of their whole size where they are contiguous. */
struct pmodel_access {
    uint64_t address;
    uint32_t size_bytes;
    uint32_t reference; /* as `pmodel loops --groups` numbers them */
    uint32_t group;
    uint32_t kind; /* 1 load, 2 store, 3 both */
};

struct pmodel_handler {
    uint32_t version;
    uint32_t reserved;
    /* Once, before the program's constructors.  n_groups of all instrumented modules.  0: go on;
       else the runtime says so on the program's standard error and goes on without the handler. */
    int (*begin)(uint32_t n_groups);
    /* A batch of accesses of one thread, in program order.  thread counts from 0. */
    void (*accesses)(uint32_t thread, const struct pmodel_access *batch, size_t count);
    /* A thread (thread 0: the process) ends; its counters, in the order of `pmodel loops`. */
    void (*thread_end)(uint32_t thread, const uint64_t *counters, size_t count);
    /* After the program's destructors; the last call. */
    void (*end)(void);
};

#ifdef __cplusplus
}
#endif

#endif
