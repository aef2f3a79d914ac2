/* What the outcomes of a thread's branches are counted and learnt in. */
#include "runtime/branch_outcomes/branch_outcomes.h"

#include <stdlib.h>

#include "core/raw_file.h"
#include "runtime/branch_outcomes/bursts.h"
#include "runtime/branch_outcomes/reference_predictors.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/raw_output/raw_output.h"
#include "runtime/system.h"

/* By number of the branch, in a thread. */
struct branch_counts {
    uint64_t executions, taken, analysed;
    uint64_t wrong[PM_N_PREDICTORS];
};

/* By number of the branch, in a thread: entries of the loop that it is the only way out of.  Memory
   of branches that are no such way is not touched. */
struct trip_counts {
    uint64_t under_way; /* iterations of the entry that is not over */
    uint64_t entries[PM_N_TRIP_RANGES], iterations[PM_N_TRIP_RANGES];
};

struct pm_thread_branches {
    struct branch_counts *counts;
    struct trip_counts *trips;
    uint32_t n_counts;  /* of both */
    uint64_t n_buffers; /* that came */
    bool failed;        /* there is no memory */
    struct pm_predictors predictors;
};

bool pm_branches_are_followed;

void pm_branches_begin(void) {
    const char *asked = getenv(PM_ENV_BEHAVIOUR);
    pm_branches_are_followed = asked && *asked;
    if (pm_branches_are_followed)
        pm_first_block->branch_path = (uint64_t)pm_branch_path;
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static void judge(struct branch_counts *counts, unsigned wrong) {
    counts->analysed++;
    for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
        counts->wrong[p] += wrong >> p & 1;
}

static void count_entry(struct trip_counts *trips, uint64_t n) {
    unsigned range = pm_trip_range(n);
    trips->entries[range]++;
    trips->iterations[range] += n;
}

/* An iteration of a loop that LEAVES taken or not taken. */
static void count_iteration(struct trip_counts *trips, bool taken, uint32_t leaves) {
    trips->under_way++;
    if (taken != (leaves == PM_BRANCH_LEAVES_TAKEN))
        return;
    count_entry(trips, trips->under_way);
    trips->under_way = 0;
}

/* A visit of a loop: back N times, then out.  When the history is full of the same outcome nothing
   more is to be learnt: the rest is right. */
static void learn_visit(struct pm_thread_branches *branches, struct branch_counts *counts,
                        const struct pm_probe_branch *branch, uint64_t n, enum pm_burst burst) {
    enum { LEARNT_MOST = PM_TAGE_LONGEST + 16 };
    bool back = branch->kind == PM_BRANCH_LOOP_TAKEN;
    uint64_t learnt = n < LEARNT_MOST ? n : LEARNT_MOST;
    for (uint64_t i = 0; i <= learnt; i++) {
        bool taken = i < learnt ? back : !back;
        unsigned wrong = pm_predictors_learn(&branches->predictors, branch->address, taken);
        if (burst == PM_BURST_JUDGES)
            judge(counts, wrong);
    }
    if (burst == PM_BURST_JUDGES)
        counts->analysed += n - learnt;
}

static void follow(struct pm_thread_branches *branches, const struct pm_branch_record *record,
                   enum pm_burst burst) {
    const struct pm_probe_branch *branch = &pm_branches[record->branch];
    struct branch_counts *counts = &branches->counts[record->branch];
    if (pm_branch_is_loop(branch->kind)) {
        uint64_t n = record->value;
        count_entry(&branches->trips[record->branch], n + 1);
        counts->executions += n + 1;
        counts->taken += branch->kind == PM_BRANCH_LOOP_TAKEN ? n : 1;
        if (burst != PM_BURST_NONE)
            learn_visit(branches, counts, branch, n, burst);
        return;
    }
    bool taken = record->value & 1;
    counts->executions++;
    counts->taken += taken;
    if (branch->kind != PM_BRANCH_EACH)
        count_iteration(&branches->trips[record->branch], taken, branch->kind);
    if (burst == PM_BURST_NONE)
        return;
    unsigned wrong = pm_predictors_learn(&branches->predictors, branch->address, taken);
    if (burst == PM_BURST_JUDGES)
        judge(counts, wrong);
}

/* Room for all branches that are known by now. */
static bool make_room(struct pm_thread *thread) {
    struct pm_thread_branches *branches = thread->branches;
    uint32_t n = __atomic_load_n(&pm_n_branches, __ATOMIC_ACQUIRE);
    if (!branches) {
        branches = pm_mmap(sizeof *branches);
        if (!branches)
            return false;
        pm_predictors_begin(&branches->predictors);
        thread->branches = branches;
    }
    if (n > branches->n_counts &&
        (!pm_mgrow(&branches->counts, branches->n_counts * sizeof *branches->counts,
                   n * sizeof *branches->counts) ||
         !pm_mgrow(&branches->trips, branches->n_counts * sizeof *branches->trips,
                   n * sizeof *branches->trips)))
        return false;
    branches->n_counts = n;
    return true;
}

void pm_branches_follow(struct pm_thread *thread, const struct pm_branch_record *from,
                        const struct pm_branch_record *end) {
    if (from == end)
        return;
    if (!make_room(thread)) {
        pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
        return;
    }
    struct pm_thread_branches *branches = thread->branches;
    enum pm_burst burst = pm_branch_burst(branches->n_buffers++);
    for (; from < end; from++) {
        if (from->branch >= branches->n_counts) {
            pm_modules_scan();
            if (!make_room(thread) || from->branch >= branches->n_counts)
                continue;
        }
        follow(branches, from, burst);
    }
}

void pm_branches_after_fork(struct pm_thread *thread) {
    struct pm_thread_branches *branches = thread->branches;
    if (branches) {
        pm_munmap(branches->counts, branches->n_counts * sizeof *branches->counts);
        pm_munmap(branches->trips, branches->n_counts * sizeof *branches->trips);
        pm_munmap(branches, sizeof *branches);
    }
    thread->branches = NULL;
    for (struct pm_control_block *block = thread->block; block; block = block->inner)
        block->branch_left = block->branches_done = -PM_BRANCH_BUFFER_BYTES;
}

/* ---- what was found -------------------------------------------------------------------------- */

static void add_trips(struct pm_raw_builder *builder, uint32_t block,
                      const struct trip_counts *trips) {
    for (uint32_t range = 0; range < PM_N_TRIP_RANGES; range++) {
        struct pm_raw_trips row = {.block = block,
                                   .range = range,
                                   .entries = trips->entries[range],
                                   .iterations = trips->iterations[range]};
        if (row.entries)
            pm_raw_add(builder, &row, sizeof row);
    }
}

void pm_branches_add(struct pm_raw_builder *builder, uint32_t module,
                     const struct pm_thread *thread) {
    const struct pm_probe_header *header = &pm_modules[module].header;
    const struct pm_thread_branches *branches = thread->branches;
    if (!branches || header->n_branches == 0)
        return;
    pm_raw_section_begin(builder, PM_RAW_BRANCHES);
    pm_raw_add_u64(builder, module);
    pm_raw_add_u64(builder, thread->number);
    for (uint32_t i = header->first_branch;
         i < header->first_branch + header->n_branches && i < branches->n_counts; i++) {
        const struct branch_counts *counts = &branches->counts[i];
        struct pm_raw_branch row = {.block = pm_branches[i].block,
                                    .executions = counts->executions,
                                    .taken = counts->taken,
                                    .analysed = counts->analysed};
        for (unsigned p = 0; p < PM_N_PREDICTORS; p++)
            row.wrong[p] = counts->wrong[p];
        if (row.executions)
            pm_raw_add(builder, &row, sizeof row);
    }
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_TRIPS);
    pm_raw_add_u64(builder, module);
    pm_raw_add_u64(builder, thread->number);
    for (uint32_t i = header->first_branch;
         i < header->first_branch + header->n_branches && i < branches->n_counts; i++)
        if (pm_branches[i].kind != PM_BRANCH_EACH)
            add_trips(builder, pm_branches[i].block, &branches->trips[i]);
    pm_raw_section_end(builder);
}
