/* The stack of open scopes; see open_scopes.h.

   By the stack pointer: stacks grow downwards, and at the entry of a routine the pointer stands at
   its return address.  What was entered with a lower pointer than the present one is gone, because
   its frame is; when a routine is entered, so is what was entered with the same pointer, because
   the return address now stands there.  Within one frame the order of nesting decides: a loop that
   is not around the one that is entered is gone. */
#include "runtime/events/open_scopes.h"

#include "core/probe_abi.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/system.h"

enum { MOST_NESTED = 64 }; /* loops that an arrival can enter at once */

#define OPEN_BYTES (sizeof(struct pm_open_scopes) + PM_MOST_OPEN * sizeof(struct pm_open_scope))

struct pm_open_scopes *pm_open_scopes_new(void) {
    return pm_mmap(OPEN_BYTES);
}

/* ---- the scope tree -------------------------------------------------------------------------- */

static bool is_loop(uint32_t scope) { return pm_scopes[scope].kind == PMODEL_LOOP; }

/* Is OUTER the scope INNER or one around it? */
static bool is_around(uint32_t outer, uint32_t inner) {
    while (inner != PMODEL_NONE && inner > outer) /* a parent's number is smaller */
        inner = pm_scopes[inner].parent;
    return inner == outer;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void push(struct pm_open_scopes *open, uint32_t scope, uint64_t stack,
                 const struct pm_scope_receiver *receiver) {
    if (open->n == PM_MOST_OPEN) {
        pm_note_add(PM_NOTE_TOO_DEEP, 1);
        return;
    }
    open->items[open->n++] = (struct pm_open_scope){.scope = scope, .stack = stack};
    receiver->entered(receiver->context, scope);
}

void pm_close_scopes(struct pm_open_scopes *open, uint32_t keep,
                     const struct pm_scope_receiver *receiver) {
    while (open->n > keep) {
        uint32_t scope = open->items[--open->n].scope;
        receiver->left(receiver->context, scope);
    }
}

static const struct pm_open_scope *top(const struct pm_open_scopes *open) {
    return open->n ? &open->items[open->n - 1] : NULL;
}

static void close_below(struct pm_open_scopes *open, uint64_t stack,
                        const struct pm_scope_receiver *receiver) {
    while (open->n && top(open)->stack < stack)
        pm_close_scopes(open, open->n - 1, receiver);
}

static void enter(struct pm_open_scopes *open, uint32_t scope, uint64_t stack,
                  const struct pm_scope_receiver *receiver) {
    if (!is_loop(scope))
        close_below(open, stack + 1, receiver);
    else
        while (open->n && top(open)->stack == stack && is_loop(top(open)->scope) &&
               pm_scopes[top(open)->scope].routine == pm_scopes[scope].routine &&
               (top(open)->scope == scope || !is_around(top(open)->scope, scope)))
            pm_close_scopes(open, open->n - 1, receiver);
    push(open, scope, stack, receiver);
}

/* What is open inside SCOPE is gone with it.  An exit without an entry is none. */
static void leave(struct pm_open_scopes *open, uint32_t scope, uint64_t stack,
                  const struct pm_scope_receiver *receiver) {
    for (uint32_t i = open->n; i > 0; i--) {
        const struct pm_open_scope *item = &open->items[i - 1];
        if (item->scope == scope) {
            if (is_loop(scope) || item->stack == stack)
                pm_close_scopes(open, i - 1, receiver);
            return;
        }
        if (!is_loop(item->scope) || pm_scopes[item->scope].routine != pm_scopes[scope].routine)
            return;
    }
}

/* Control is directly in SCOPE.  If its routine is not probed, loops of a caller that is another
   activation of it are known by their stack pointer. */
static void here(struct pm_open_scopes *open, uint32_t scope, uint64_t stack,
                 const struct pm_scope_receiver *receiver) {
    uint32_t routine = pm_scopes[scope].routine;
    bool has_frame = pm_scopes[routine].flags & PMODEL_SCOPE_TOLD;
    while (open->n && is_loop(top(open)->scope) && pm_scopes[top(open)->scope].routine == routine &&
           !is_around(top(open)->scope, scope) && (has_frame || top(open)->stack == stack))
        pm_close_scopes(open, open->n - 1, receiver);
    uint32_t missing[MOST_NESTED], n = 0;
    bool within = open->n && pm_scopes[top(open)->scope].routine == routine;
    for (uint32_t s = scope; s != PMODEL_NONE && s >= routine && n < MOST_NESTED;
         s = pm_scopes[s].parent) {
        if (within && top(open)->scope == s)
            break;
        if (pm_scopes[s].flags & PMODEL_SCOPE_TOLD)
            missing[n++] = s;
    }
    while (n > 0)
        push(open, missing[--n], stack, receiver);
}

static void iterate(struct pm_open_scopes *open, uint32_t scope, uint64_t stack,
                    const struct pm_scope_receiver *receiver) {
    if (!receiver->iterated)
        return;
    if (!open->n || top(open)->scope != scope)
        here(open, scope, stack, receiver);
    if (open->n && top(open)->scope == scope)
        receiver->iterated(receiver->context, scope);
}

void pm_scope_event(struct pm_open_scopes *open, uint64_t event, uint64_t stack,
                    const struct pm_scope_receiver *receiver) {
    uint32_t scope = pm_event_scope(event);
    if (scope >= pm_program.n_scopes || pm_scopes[scope].kind == PMODEL_NONE ||
        pm_scopes[scope].routine == PMODEL_NONE)
        return;
    close_below(open, stack, receiver);
    if (event & PM_EVENT_ITERATION) {
        iterate(open, scope, stack, receiver);
        return;
    }
    switch (pm_event_what(event)) {
    case PM_EVENT_ENTER:
        enter(open, scope, stack, receiver);
        break;
    case PM_EVENT_LEAVE:
        leave(open, scope, stack, receiver);
        break;
    case PM_EVENT_HERE:
        here(open, scope, stack, receiver);
        break;
    default:
        break;
    }
}
