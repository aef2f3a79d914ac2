/* Which loop carries each reuse: one thread's accesses for one block size, with the loops and
   routines that the thread enters, iterates and leaves.

   Model (G. Marin and J. Mellor-Crummey, "Pinpointing and Exploiting Opportunities for Enhancing
   Data Reuse", ISPASS 2008; the tool MIAMI).  A reuse is a touch of a block that was touched
   before (reuse.h).  It has
     source       the scope of the access that touched the block last: the innermost loop that this
                  code is directly in, else its routine.  Inlined code is in the loop or routine
                  that it was inlined to;
     destination  the reference group of the access that touches it now;
     carrier      of the activations of loops and routines that are open now, the innermost one that
                  was entered before the last touch: source and destination are both inside it, in
                  no smaller activation are both.  PM_CARRIED_OUTSIDE: none of them was, as between
                  two calls from code that is not measured;
     across       true if an iteration of the carrier began since the last touch, so that source and
                  destination lie in different ones.  An iteration begins whenever control comes to
                  the loop's header.  Of a routine, whose body is executed once an activation,
   false. A first touch has none of these.  An access that loads and stores is a load, and then a
   store that reuses what the load touched: its source is its own scope, its carrier the innermost
   activation.

   Activations.  A routine that calls itself is open as often as it was entered and not left, and
   the carrier is one of these activations, named by its scope.  A loop or routine whose entries and
   exits cannot all be seen (binlift/copy/copy.h) is never open: the next one around it carries.
   What is left by longjmp, an exception or the end of its thread is closed as
   runtime/events/open_scopes.h says.  A handler of a signal opens its scopes within what it
   interrupted; its events come when it returns, so that what it touches may come before the last
   part of what it interrupted.  Each thread has activations and blocks of its own.  Where measuring
   is switched off activations go on, accesses do not. */
#ifndef PM_RUNTIME_REUSE_CARRIED_H
#define PM_RUNTIME_REUSE_CARRIED_H

#include "runtime/reuse/reuse.h"

struct pm_carried;

/* In a batch of accesses an item whose `kind` is one of these is no access: the loop or routine
   numbered `group` is entered or left, or begins an iteration. */
enum pm_carried_event { PM_CARRIED_ENTER = 4, PM_CARRIED_LEAVE = 5, PM_CARRIED_ITERATE = 6 };

/* Number of what is around all scopes, as carrier. */
#define PM_CARRIED_OUTSIDE (1u << 22)

/* An analysis for blocks of 2^SHIFT bytes; CAPACITY as pm_reuse_new.  NULL without memory. */
struct pm_carried *pm_carried_new(unsigned shift, uint64_t capacity, enum pm_reuse_variant variant);
void pm_carried_free(struct pm_carried *carried);

/* Analyses COUNT accesses and events, all accesses of groups below N_GROUPS; GROUP_SCOPES: the
   scope that each of these is in. */
void pm_carried_accesses(struct pm_carried *carried, uint32_t n_groups,
                         const uint32_t *group_scopes, const struct pmodel_access *batch,
                         size_t count);

/* The record of an iteration of the innermost open loop, which changes nothing else: its first
   word, and the highest stack pointer that may stand behind it. */
struct pm_carried_iteration {
    uint64_t record; /* PM_CARRIED_NO_RECORD: there is none */
    uint64_t stack;
    uint32_t scope;
};
#define PM_CARRIED_NO_RECORD UINT64_MAX

/* Analyses the records from WORDS up to END, which stand in a buffer with room for PM_RECORD_BASES
   words more: those of known address records, and ITERATIONs, up to the first other record.  Where
   that is. GROUP_SCOPES: of all groups that are known. */
const uint64_t *pm_carried_records(struct pm_carried *carried, const uint32_t *group_scopes,
                                   const uint64_t *words, const uint64_t *end,
                                   const struct pm_carried_iteration *iteration);

/* What is analysed by pm_carried_accesses as an item: EVENT of SCOPE. */
void pm_carried_event(struct pm_carried *carried, enum pm_carried_event event, uint32_t scope);

/* Forgets all blocks and closes all scopes, as if a new thread began. */
void pm_carried_forget_blocks(struct pm_carried *carried);

/* Fills the histograms of pm_carried_reuse: of each group the sum over its patterns.  May be called
   again when more has been analysed. */
void pm_carried_sum(struct pm_carried *carried);

/* The distances that it finds; owned by CARRIED. */
struct pm_reuse *pm_carried_reuse(const struct pm_carried *carried);

/* Out of memory: nothing is analysed any more. */
bool pm_carried_has_failed(const struct pm_carried *carried);

/* Reuses of one group with one source and one carrier. */
struct pm_carried_result {
    uint32_t group;
    uint32_t source, carrier; /* scopes; the carrier may be PM_CARRIED_OUTSIDE */
    bool across;
    struct pm_reuse_result reuses;
};

/* The next of them from *POSITION on, which is 0 at first, in no particular order; its bins,
   ascending, into BINS with room for pm_reuse_most_bins.  False: that was all. */
bool pm_carried_next(const struct pm_carried *carried, uint64_t *position,
                     struct pm_carried_result *result, struct pm_raw_bin *bins);

#endif
