/* The instrumented modules of the process and what they say about their references. */
#ifndef PM_RUNTIME_MODULES_H
#define PM_RUNTIME_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/probe_abi.h"
#include "runtime/pmodel_handler.h"

enum { PM_MAX_MODULES = 1024 };

struct pm_loaded_module {
    struct pm_probe_header header; /* a copy: the module may be unloaded before the end */
    uint64_t load_bias;            /* what to add to a link-time address */
    uint32_t first_group;          /* number of its group 0 among all modules' groups */
    const struct pm_probe_trap *traps;
    /* The segment with .eh_frame_hdr, and .eh_frame behind it; NULL: there is none. */
    const uint8_t *unwind_low, *unwind_end;
    bool repeats;       /* the same file as a module before it, loaded twice: counts are those */
    bool gone;          /* not mapped any more: its traps and tables are not to be read */
    uint32_t last_seen; /* ordinal of the scan */
};

extern struct pm_loaded_module pm_modules[PM_MAX_MODULES];
extern uint32_t pm_n_modules;
extern uint32_t pm_n_groups;   /* of all modules */
extern uint32_t pm_n_counters; /* highest counter of all modules + 1 */

/* Reference number → its description, with `group` counted over all modules.  Numbers that a module
   has are `reserved` PM_REFERENCE_KNOWN; of those whose accesses cannot be known (no size, no
   group, a payload that is too small) the kind is PM_REFERENCE_UNUSABLE.  NULL while there are
   none. */
enum { PM_REFERENCE_KNOWN = 1, PM_REFERENCE_UNUSABLE = 0xff };
extern struct pm_probe_reference *pm_references;
extern uint32_t pm_n_references; /* highest number + 1 */

/* Reference number → that of the first reference of its basic block; NULL while no module says. */
extern uint32_t *pm_reference_blocks;

/* Address record number → its accesses, in order: a copy, because records of a module may be
   consumed after it is gone.  No accesses: no module has that number, or what it says of it is
   damaged. */
struct pm_address_record {
    const struct pm_record_access *accesses;
    uint16_t n_accesses, n_addresses;
    uint8_t n_loads, n_stores; /* one that is both counts as each */
};
struct pm_record_access {
    uint64_t offset;    /* from its address; if that is 0, it is the address in this process */
    uint32_t reference; /* in pm_references; known and plain */
    uint32_t address;   /* word of the record, 0: none */
};
extern struct pm_address_record *pm_address_records;
extern uint32_t pm_n_address_records; /* highest number + 1 */

/* Is the reference, or address record, of a module that was met already?  Then so are its groups:
                                                                           they are
   below pm_n_groups.  Another thread may be adding modules. */
static inline bool pm_reference_is_known(uint64_t number) {
    return number < __atomic_load_n(&pm_n_references, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&pm_references[number].reserved, __ATOMIC_ACQUIRE) == PM_REFERENCE_KNOWN;
}
static inline bool pm_record_is_known(uint64_t number) {
    return number < __atomic_load_n(&pm_n_address_records, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&pm_address_records[number].n_accesses, __ATOMIC_ACQUIRE) > 0;
}

/* Branch number → what the module says of it; those that no module has are of address 0.  NULL
   while there are none. */
extern struct pm_probe_branch *pm_branches;
extern uint32_t pm_n_branches; /* highest number + 1 */

/* Group, counted over all modules → number of the scope that it is directly in; NULL while no
   module describes it. */
extern uint32_t *pm_group_scopes;

/* All modules' scopes by number; NULL unless a module has events or pm_modules_describe was called.
   PM_RUNTIME_STARTS and …STOPS are flags beside those of enum pmodel_scope_flags. */
enum { PM_RUNTIME_STARTS = PM_PROBE_SCOPE_STARTS, PM_RUNTIME_STOPS = PM_PROBE_SCOPE_STOPS };
extern struct pmodel_scope *pm_scopes;
extern struct pmodel_program pm_program; /* the same and more, for event handlers */
extern bool pm_modules_have_events;
extern bool pm_modules_have_intervals;                       /* calls that end one */
extern bool pm_modules_have_markers, pm_modules_have_starts; /* routines that switch measuring */

/* From now on, also fills pm_scopes for modules without events. */
void pm_modules_describe(void);

/* Looks at all modules of the process, takes in the instrumented ones that are new and marks those
   that are gone.  What cannot be used is noted for the raw file. */
void pm_modules_scan(void);

/* The link-time address of MODULE that a call which returns to ADDRESS of the process returned to
   before it moved; of any other the link-time address itself.  MODULE must not be gone. */
uint64_t pm_module_old_return(const struct pm_loaded_module *module, uint64_t address);

/* Is ADDRESS in the segment that instrumentation added to MODULE, whose frames are known? */
static inline bool pm_module_has_new_frame(const struct pm_loaded_module *module,
                                           uint64_t address) {
    uint64_t low = module->load_bias + module->header.header_address;
    return module->header.n_returns && address >= low && address < (uint64_t)module->unwind_end;
}

/* Another number for each scan that met a change. */
extern uint32_t pm_modules_generation;

/* In the child of a fork: whoever was scanning is not there any more. */
void pm_modules_after_fork(void);

#endif
