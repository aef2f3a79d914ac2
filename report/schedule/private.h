/* What the files of schedule/ share. */
#ifndef PM_SCHEDULE_PRIVATE_H
#define PM_SCHEDULE_PRIVATE_H

#include "report/labels/labels.h"
#include "report/report.h"
#include "report/writers/writers.h"
#include "sched/graph/graph.h"

/* A loop. */
struct pm_schedule_row {
    struct pm_row_place place;
    const struct pm_machine *machine;
    struct pm_path_schedule schedule;
    const struct pm_dep_graph *graph; /* NULL: not asked for */
    struct pm_path_code code;         /* owned; no bytes: there is none */
    uint32_t n_bytes;
    char *label, *source; /* owned */
    uint64_t address;
    const char *result, *why_not;
    bool is_scheduled, has_causes;
};

const char *pm_hold_plain(enum pm_cause cause); /* "front end" */

/* {"operations": [...], "waits": [...]} (graph_json.c) */
json_t *pm_schedule_graph_json(const struct pm_machine *machine, const struct pm_dep_graph *graph);

#endif
