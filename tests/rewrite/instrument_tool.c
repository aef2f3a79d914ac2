/* Drives the rewriter alone, for tests:
     instrument_tool [-m|-n] [-e] [-o] [-c FIRST_COUNTER] [-f FIRST_REFERENCE] -r RUNTIME IN OUT
   writes the instrumented copy, -m with memory records, -n without counters, -e with events of all
   routines and loops, -o with outcomes of branches instrument_tool -b IN RAW...   prints "address
   count" of every counted basic block, over all threads of all raw files, and says on standard
   error which branches were taken, or not, in another number than their edges instrument_tool -l IN
   RAW...   prints "SCOPE KIND entries" of every routine and loop that was entered, by the counts of
   edges instrument_tool -t IN RAW...   the same by the timers instrument_tool -d RAW...      prints
   all histograms, a line each instrument_tool -i IN          prints what lifting found, a line a
   routine */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "core/profile.h"
#include "core/probe_abi.h"
#include "measure/raw/raw.h"

static int fail(const struct pm_error *err) {
    fprintf(stderr, "instrument_tool: %s\n", err->text);
    return err->kind == PM_ERROR_SYSTEM ? 1 : 2;
}

static int instrument(struct pm_lifted *lifted, bool memory_records, bool no_counters, bool events,
                      bool outcomes, uint32_t first_counter, uint32_t first_reference,
                      const char *runtime, const char *out) {
    struct pm_error err = {0};
    size_t n_scopes = pm_lifted_structure(lifted)->n_scopes;
    uint8_t *all = memset(pm_alloc(n_scopes, 1), PM_PROBE_SCOPE_PROBED, n_scopes);
    const char *calls = getenv("PMODEL_CALLS");
    struct pm_instrument_options options = {.memory_records = memory_records,
                                            .no_counters = no_counters,
                                            .branches = outcomes,
                                            .calls_move = !calls || strcmp(calls, "kept") != 0,
                                            .first_counter = first_counter,
                                            .first_reference = first_reference,
                                            .runtime_path = runtime,
                                            .scope_events = events ? all : NULL};
    bool done = pm_instrument(lifted, &options, out, &err);
    free(all);
    return done ? 0 : fail(&err);
}

static struct {
    PM_ARRAY(struct pm_open_call, open_calls);
    struct pm_behaviour behaviour;
} sums;

static void add_branches(const struct pm_raw *raw) {
    for (size_t i = 0; i < raw->n_branches; i++)
        for (size_t b = 0; b < raw->branches[i].n_branches; b++) {
            const struct pm_raw_branch *from = &raw->branches[i].branches[b];
            const struct pm_measured_branch row = {.block = from->block,
                                                   .executions = (double)from->executions,
                                                   .taken = (double)from->taken};
            pm_behaviour_add_branch(&sums.behaviour, &row);
        }
}

/* A branch was taken as often as its edge was, and not as often as the other one. */
static void compare_branches(const struct pm_structure *structure, const uint64_t *counts) {
    pm_behaviour_sort(&sums.behaviour);
    for (size_t i = 0; i < sums.behaviour.n_branches; i++) {
        const struct pm_measured_branch *branch = &sums.behaviour.branches[i];
        double taken = 0, others = 0;
        for (size_t e = 0; e < structure->n_edges; e++)
            if (structure->edges[e].from == branch->block)
                *(structure->edges[e].kind == PM_EDGE_FALLTHROUGH ? &others : &taken) +=
                    (double)counts[e];
        if (taken != branch->taken || others != branch->executions - branch->taken)
            fprintf(stderr,
                    "branch at the end of %" PRIx64 ": taken %.0f of %.0f, edges %.0f and %.0f\n",
                    structure->blocks[branch->block].address, branch->taken, branch->executions,
                    taken, others);
    }
    fprintf(stderr, "branches: %zu\n", sums.behaviour.n_branches);
    pm_behaviour_free(&sums.behaviour);
}

static void add_frames(const struct pm_raw *raw) {
    for (size_t i = 0; i < raw->n_frames; i++)
        for (size_t f = 0; f < raw->frames[i].n_frames; f++) {
            const struct pm_raw_frame *frame = &raw->frames[i].frames[f];
            *PM_PUSH(&sums, open_calls) =
                (struct pm_open_call){0, frame->return_address, frame->count, false};
        }
}

static bool add_counters(const char *path, uint64_t *counters, uint32_t n_counters,
                         struct pm_error *err) {
    struct pm_raw *raw = pm_raw_read(path, err);
    if (!raw)
        return false;
    for (size_t i = 0; i < raw->n_counters; i++) {
        const struct pm_raw_counters *of_thread = &raw->counters[i];
        if (raw->modules[of_thread->module].n_counters != n_counters)
            return pm_fail(err, "%s: another number of counters than the program has", path);
        for (size_t c = 0; c < of_thread->n_counts; c++)
            counters[of_thread->counts[c].counter] += of_thread->counts[c].count;
    }
    add_frames(raw);
    add_branches(raw);
    for (size_t i = 0; i < raw->n_notes; i++)
        fprintf(stderr, "note: %s\n", raw->notes[i]);
    fprintf(stderr, "missed jumps: %" PRIu64 "\n", raw->n_missed_jumps);
    pm_raw_free(raw);
    return true;
}

static void print_block_counts(const struct pm_structure *structure, const uint64_t *counts) {
    double *real = pm_alloc(structure->n_edges, sizeof *real);
    for (size_t e = 0; e < structure->n_edges; e++)
        real[e] = (double)counts[e];
    double *executions = pm_block_executions(structure, real);
    for (uint32_t b = 0; b < structure->n_blocks; b++)
        if (structure->routines[structure->blocks[b].routine].n_counters > 0)
            printf("%" PRIx64 " %.0f\n", structure->blocks[b].address, executions[b]);
    free(executions);
    free(real);
}

static bool is_in(const struct pm_structure *structure, uint32_t block, uint32_t loop) {
    uint32_t at = block == PM_NONE ? PM_NONE : structure->blocks[block].loop;
    while (at != PM_NONE && at != loop)
        at = pm_outer_loop(structure, at);
    return at == loop;
}

/* By the definition: along edges from outside into the loop. */
static void print_entries(const struct pm_structure *structure, const uint64_t *counts) {
    uint64_t *entries = pm_alloc(structure->n_scopes, sizeof *entries);
    for (size_t e = 0; e < structure->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[e];
        if (edge->kind == PM_EDGE_ENTRY)
            entries[structure->routines[edge->routine].scope] += counts[e];
        if (edge->to == PM_NONE || edge->kind == PM_EDGE_INDIRECT_ENTRY)
            continue;
        for (uint32_t loop = structure->blocks[edge->to].loop; loop != PM_NONE;
             loop = pm_outer_loop(structure, loop))
            if (!is_in(structure, edge->from, loop))
                entries[loop] += counts[e];
    }
    for (size_t s = 0; s < structure->n_scopes; s++)
        if (entries[s])
            printf("%zu %s %" PRIu64 "\n", s,
                   structure->scopes[s].kind == PM_SCOPE_LOOP ? "loop" : "routine", entries[s]);
    free(entries);
}

static int print_counts(struct pm_structure *structure, bool of_scopes, int n_paths, char **paths) {
    struct pm_error err = {0};
    uint64_t *counters = pm_alloc(structure->n_counters, sizeof *counters);
    uint64_t *counts = pm_alloc(structure->n_edges, sizeof *counts);
    bool *inexact = pm_alloc(structure->n_routines, sizeof *inexact);
    for (int i = 0; i < n_paths; i++)
        if (!add_counters(paths[i], counters, structure->n_counters, &err))
            return fail(&err);
    bool *all = memset(pm_alloc(structure->n_routines, sizeof *all), true, structure->n_routines);
    pm_solve_edges(structure, counters, all, sums.open_calls, sums.n_open_calls, counts, inexact);
    (of_scopes ? print_entries : print_block_counts)(structure, counts);
    compare_branches(structure, counts);
    for (size_t r = 0; r < structure->n_routines; r++)
        if (inexact[r])
            fprintf(stderr, "inexact: %s\n", structure->routines[r].name);
    free(counters);
    free(counts);
    free(inexact);
    free(all);
    free(sums.open_calls);
    return 0;
}

/* As the timers counted, over all threads of all raw files. */
static int print_timed(const struct pm_structure *structure, int n_paths, char **paths) {
    struct pm_error err = {0};
    uint64_t *entries = pm_alloc(structure->n_scopes, sizeof *entries);
    for (int i = 0; i < n_paths; i++) {
        struct pm_raw *raw = pm_raw_read(paths[i], &err);
        if (!raw)
            return fail(&err);
        for (size_t k = 0; k < raw->n_times; k++)
            for (size_t t = 0; t < raw->times[k].n_times; t++)
                if (raw->times[k].times[t].module != PM_RAW_OUTSIDE)
                    entries[raw->times[k].times[t].scope] += raw->times[k].times[t].entries;
        for (size_t n = 0; n < raw->n_notes; n++)
            fprintf(stderr, "note: %s\n", raw->notes[n]);
        pm_raw_free(raw);
    }
    for (size_t s = 0; s < structure->n_scopes; s++)
        if (entries[s])
            printf("%zu %s %" PRIu64 "\n", s,
                   structure->scopes[s].kind == PM_SCOPE_LOOP ? "loop" : "routine", entries[s]);
    free(entries);
    return 0;
}

static void print_histogram(const struct pm_raw_histogram *from) {
    const struct pm_histogram *histogram = &from->histogram;
    printf("module %u thread %" PRId64 " group %u block %" PRIu64 " of %" PRIu64
           " bytes %.0f cold %.0f %.0f:",
           from->module, (int64_t)from->thread, from->group, histogram->block_bytes, from->n_blocks,
           histogram->bytes_touched, histogram->cold_loads, histogram->cold_stores);
    for (size_t i = 0; i < histogram->n_bins; i++) {
        const struct pm_bin *bin = &histogram->bins[i];
        printf(" %.0f-%.0f %.17g %.0f %.0f", bin->low, bin->high, bin->mean, bin->loads,
               bin->stores);
    }
    putchar('\n');
}

static int print_histograms(int n_paths, char **paths) {
    struct pm_error err = {0};
    for (int i = 0; i < n_paths; i++) {
        struct pm_raw *raw = pm_raw_read(paths[i], &err);
        if (!raw)
            return fail(&err);
        for (size_t h = 0; h < raw->n_histograms; h++)
            print_histogram(&raw->histograms[h]);
        for (size_t n = 0; n < raw->n_notes; n++)
            fprintf(stderr, "note: %s\n", raw->notes[n]);
        pm_raw_free(raw);
    }
    return 0;
}

static int print_routines(const struct pm_structure *structure) {
    for (size_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        printf("%" PRIx64 " %s state %u blocks %u edges %u counters %u %s\n", routine->address,
               routine->name, routine->state, routine->n_blocks, routine->n_edges,
               routine->n_counters, routine->reason ? routine->reason : "");
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *runtime = NULL;
    bool memory_records = false, no_counters = false, events = false, blocks = false,
         scopes = false, outcomes = false, timed = false, routines = false, histograms = false;
    uint32_t first_counter = 0, first_reference = 0;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        memory_records |= strcmp(argv[i], "-m") == 0;
        no_counters |= strcmp(argv[i], "-n") == 0;
        events |= strcmp(argv[i], "-e") == 0;
        outcomes |= strcmp(argv[i], "-o") == 0;
        blocks |= strcmp(argv[i], "-b") == 0;
        scopes |= strcmp(argv[i], "-l") == 0;
        histograms |= strcmp(argv[i], "-d") == 0;
        timed |= strcmp(argv[i], "-t") == 0;
        routines |= strcmp(argv[i], "-i") == 0;
        if (strcmp(argv[i], "-r") == 0 && i + 1 < argc)
            runtime = argv[++i];
        else if (strcmp(argv[i], "-c") == 0 && i + 1 < argc)
            first_counter = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "-f") == 0 && i + 1 < argc)
            first_reference = (uint32_t)strtoul(argv[++i], NULL, 10);
    }
    if (histograms)
        return print_histograms(argc - i, argv + i);
    if (argc - i < (routines ? 1 : 2)) {
        fprintf(stderr, "usage: instrument_tool [-m|-n] [-e] [-o] [-c FIRST_COUNTER] [-f "
                        "FIRST_REFERENCE] -r RUNTIME IN OUT "
                        "| -b|-l|-t IN RAW... | -d RAW... | -i IN\n");
        return 2;
    }
    struct pm_error err = {0};
    struct pm_lift_options options = {0};
    struct pm_lifted *lifted = pm_lift(argv[i], &options, &err);
    if (!lifted)
        return fail(&err);
    int status = blocks || scopes
                     ? print_counts(pm_lifted_structure(lifted), scopes, argc - i - 1, argv + i + 1)
                 : timed    ? print_timed(pm_lifted_structure(lifted), argc - i - 1, argv + i + 1)
                 : routines ? print_routines(pm_lifted_structure(lifted))
                            : instrument(lifted, memory_records, no_counters, events, outcomes,
                                         first_counter, first_reference, runtime, argv[i + 1]);
    pm_lifted_free(lifted);
    return status;
}
