/* Probing the machine that this runs on: what it does, measured without performance counters or
   privileges, as a machine file (machines/README.md).  The clock, loops of instructions, memory and
   the loop runner are folders of their own; README.md says what each measures. */
#ifndef PM_PROBE_H
#define PM_PROBE_H

#include <stdint.h>
#include <stdio.h>

#include "core/base/base.h"
#include "machines/probe/clock/clock.h"
#include "machines/probe/code/code.h"
#include "machines/probe/effort.h"
#include "machines/probe/instructions/instructions.h"
#include "machines/probe/memory/memory.h"

/* What the processor and the system say of themselves.  In a guest both can be made up: it stands
   beside what was measured, in comments, and decides nothing. */
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

/* What was measured. */
struct pm_machine_probe {
    struct pm_said said;
    struct pm_clock_rates rates;
    struct pm_forms forms; /* that the instructions' costs point to */
    struct pm_instruction_costs instructions;
    struct pm_memory_probe memory;
    struct pm_estimate page_fault_cycles;
    uint64_t rounds, discarded; /* of the clock */
    double seconds;             /* that it took */
    bool quick, stopped;        /* stopped: parts are missing */
};

/* Probes.  FORMS_PATH: the list of probe instructions of this ISA.  False: nothing could be
   measured. */
bool pm_probe(const char *forms_path, const struct pm_probe_effort *effort,
              struct pm_machine_probe *probe, struct pm_error *err);
void pm_machine_probe_free(struct pm_machine_probe *probe);

/* Writes the machine file, with what was said in comments. */
void pm_machine_probe_write(FILE *to, const struct pm_machine_probe *probe);

#endif
