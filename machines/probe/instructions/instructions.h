/* What instructions cost on this machine: latencies, reciprocal throughputs, which of them share
   execution units; and the core around them: issue width, window, mispredictions, store
   forwarding. */
#ifndef PM_PROBE_INSTRUCTIONS_H
#define PM_PROBE_INSTRUCTIONS_H

#include "machines/probe/clock/clock.h"
#include "machines/probe/code/code.h"
#include "machines/probe/effort.h"
#include "machines/probe/ports/ports.h"

/* One probe instruction.  What could not be measured is NAN. */
struct pm_instruction_cost {
    const struct pm_form *form;
    struct pm_estimate throughput_cycles; /* reciprocal: cycles an instruction, many independent */
    struct pm_estimate latency_cycles;    /* from its first source to its result; where these are
                                             registers of two files only the way there and back can
                                             be measured, and the interval is wide */
    unsigned throughput_visits, latency_visits; /* that agree on it */
    double slots;                               /* of the issue width */
    uint32_t kind;                              /* of the resource model; PM_NONE: none */
};

struct pm_instruction_costs {
    PM_ARRAY(struct pm_instruction_cost, costs); /* of the forms that execute */
    double issue_width; /* slots a cycle: of the instructions that are fastest alone, which need no
                           unit */

    /* Units. */
    size_t n_kinds;
    uint32_t *leaders; /* of each kind: the index in costs of its first instruction */
    struct pm_port_model ports;
    struct pm_resource_model resources;
    size_t n_judged; /* multisets of three to six classes that took no part in the fit and that
                        the issue width does not bound */
    double median_error, p90_error; /* of |predicted / measured − 1| */

    /* The core. */
    struct pm_estimate window;    /* instructions in flight */
    struct pm_estimate scheduler; /* that wait for their operands */
    struct pm_estimate mispredict_cycles;
    struct pm_estimate
        store_forward_cycles;              /* low: the best case that was tried, high: the worst */
    struct pm_estimate store_block_cycles; /* to a load of what two stores have */
    struct pm_estimate store_line_cycles; /* of a store that is not to the line of the one before */
    double taken_jumps;                   /* a cycle, of the shortest loop */
};

void pm_measure_instructions(struct pm_clock *clock, const struct pm_forms *forms,
                             const struct pm_probe_effort *effort,
                             struct pm_instruction_costs *costs);
/* Which of them share units, of a core that is not known; after pm_measure_instructions. */
void pm_measure_units(struct pm_clock *clock, const struct pm_probe_effort *effort,
                      struct pm_instruction_costs *costs);
/* Another visit to throughputs and latencies on which no two visits agree yet. */
void pm_measure_instructions_again(struct pm_clock *clock, const struct pm_probe_effort *effort,
                                   struct pm_instruction_costs *costs);
void pm_instruction_costs_free(struct pm_instruction_costs *costs);

#endif
