/* Loops and routines that are entered and left: from events of rewritten code (core/probe_abi.h) to
   a stack of open scopes that is right whatever way control took.

   Every control block has such a stack.  A scope is open from its entry to its exit; one that is
   left by longjmp, by an exception or by the end of its thread has no exit event, and is closed as
   soon as the stack pointer or an event of its routine shows that it is gone.  So entries and exits
   as the receiver sees them always nest. */
#ifndef PM_RUNTIME_EVENTS_OPEN_SCOPES_H
#define PM_RUNTIME_EVENTS_OPEN_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

struct pm_open_scope {
    uint32_t scope;
    uint32_t unused;
    uint64_t stack; /* pointer when it was entered */
};

struct pm_open_scopes {
    uint32_t n;
    uint32_t n_too_deep; /* entries that found no room */
    struct pm_open_scope items[];
};

/* A frame needs 8 bytes at least: more than the usual stack holds. */
enum { PM_MOST_OPEN = 1 << 21 };

/* Who is called.  All get CONTEXT. */
struct pm_scope_receiver {
    void (*entered)(void *context, uint32_t scope);
    void (*left)(void *context, uint32_t scope);
    /* The loop is the innermost open one; may be NULL. */
    void (*iterated)(void *context, uint32_t scope);
    void *context;
};

/* An empty stack; NULL when there is no memory. */
struct pm_open_scopes *pm_open_scopes_new(void);

/* Takes EVENT (enter, leave, here, an iteration) with the stack pointer STACK. */
void pm_scope_event(struct pm_open_scopes *open, uint64_t event, uint64_t stack,
                    const struct pm_scope_receiver *receiver);

/* Closes what is open above the lowest KEEP entries. */
void pm_close_scopes(struct pm_open_scopes *open, uint32_t keep,
                     const struct pm_scope_receiver *receiver);

#endif
