/* Probing the machine that this runs on: what it does, measured without performance counters or
   privileges, as a machine file (machines/README.md).  The clock, loops of instructions, memory and
   the loop runner are folders of their own; README.md says what each measures. */
#ifndef PM_PROBE_H
#define PM_PROBE_H

#include <stdint.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/machine/machine.h"
#include "machines/probe/clock/clock.h"
#include "machines/probe/code/code.h"
#include "machines/probe/effort.h"
#include "machines/probe/instructions/instructions.h"
#include "machines/probe/memory/memory.h"

/* What the processor and the system say of themselves.  In a guest both can be made up: it stands
   beside what was measured, in comments; only the core's name is taken from it, and checked. */
struct pm_said_cache {
    unsigned level;
    char type[16];                                       /* "Data", "Instruction", "Unified" */
    uint64_t size_bytes, line_bytes, ways, sharing_cpus; /* 0: not said */
};

struct pm_said {
    char vendor[16]; /* "AuthenticAMD" */
    char brand[64];
    unsigned family, model, stepping;
    bool is_guest;
    PM_ARRAY(struct pm_said_cache, caches);
    PM_ARRAY(int, cpus); /* that this process may use */
};

struct pm_said pm_what_is_said(void);
void pm_said_free(struct pm_said *said);

/* ---- the core -------------------------------------------------------------------------------- */

/* The name of the machine that describes the core, by the list at CORES_PATH; MAY_BE_NEAR: of the
   nearest one that is described.  NULL without an error: none.  Owned by the caller. */
char *pm_recognise_core(const char *cores_path, const struct pm_said *said, bool may_be_near,
                        struct pm_error *err);

/* What instructions say of a core beside another one: of DIFFER figures that differ between the
   two, AGREE are nearer to the first. */
struct pm_core_check {
    const char *other; /* its name */
    size_t differ, agree;
};
/* Is what was measured nearer to CORE? */
bool pm_core_is(const struct pm_machine *core, const struct pm_machine *other,
                const struct pm_instruction_costs *costs, struct pm_core_check *check);

/* ---- the probe ------------------------------------------------------------------------------- */

struct pm_probe_request {
    const char *forms_path;        /* the list of probe instructions of this ISA */
    const struct pm_machine *core; /* that cpuid names; NULL: none, so units are inferred */
    const struct pm_machine *const *others; /* described cores that it might be instead */
    size_t n_others;
};

/* What was measured. */
struct pm_machine_probe {
    struct pm_said said;
    struct pm_clock_rates rates;
    const struct pm_machine *core; /* of the request, if instructions agree; NULL: not known */
    struct pm_core_check check;    /* beside the one that is nearest to it, or against it */
    struct pm_forms forms;         /* that the instructions' costs point to */
    struct pm_instruction_costs instructions;
    struct pm_memory_probe memory;
    struct pm_estimate page_fault_cycles;
    struct pm_clock_load load;
    double seconds;      /* that it took */
    bool quick, stopped; /* stopped: parts are missing */
};

/* Probes.  False: nothing could be measured. */
bool pm_probe(const struct pm_probe_request *request, const struct pm_probe_effort *effort,
              struct pm_machine_probe *probe, struct pm_error *err);
void pm_machine_probe_free(struct pm_machine_probe *probe);

/* Writes the machine file, with what was said in comments. */
void pm_machine_probe_write(FILE *to, const struct pm_machine_probe *probe);

#endif
