/* Counters against memory records: a plain reference is accessed exactly as often as its basic
   block is executed, although the one number comes from counters on a few edges and the other from
   records of addresses.

     check_references STORE N=8 BLOCK_BYTES   per group: accesses in the histograms for blocks so
                                              large that no access crosses into the next one
     check_references STORE N=8 -t TRACE      per reference: accesses in a recorded trace

   Named differences, whose number of accesses depends on data and which are only counted and
   printed: string instructions with a repeat prefix, masked accesses, gathers and scatters.  None
   of these may be accessed where its basic block is not executed.  Status 3 where something
   differs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "core/profile.h"
#include "core/probe_abi.h"
#include "core/store/store.h"
#include "tests/truth/touches.h"

struct facts {
    struct pm_structure *structure;
    struct pm_profile *profile;
    double *executions; /* of each reference: those of its basic block; 0 if it is not recorded */
};

static unsigned n_differences, n_equal, n_equal_executed, n_named;

static void compare(const char *what, uint32_t index, uint64_t address, double found,
                    double expected) {
    if (found == expected) {
        n_equal++;
        n_equal_executed += expected > 0;
    } else if (n_differences++ < 20) {
        fprintf(stderr, "%s %u (0x%" PRIx64 "): %.0f accesses, executed %.0f times\n", what, index,
                address, found, expected);
    }
}

/* What may have any number of accesses, but none where it is not executed. */
static void compare_named(const char *what, uint32_t index, uint64_t address, double found,
                          double executions) {
    n_named++;
    if (found > 0 && executions == 0)
        compare(what, index, address, found, executions);
}

static void count_executions(struct facts *facts) {
    const struct pm_structure *structure = facts->structure;
    facts->executions = pm_alloc(structure->n_references + 1, sizeof(double));
    double *blocks = pm_block_executions(structure, facts->profile->edge_counts);
    for (size_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        uint32_t routine = structure->blocks[reference->block].routine;
        if (reference->recorded && structure->routines[routine].counted)
            facts->executions[r] = blocks[reference->block];
    }
    free(blocks);
}

static void check_trace(const struct facts *facts, const struct trace *trace) {
    const struct pm_structure *structure = facts->structure;
    double *accesses = pm_alloc(structure->n_references + 1, sizeof *accesses);
    for (size_t i = 0; i < trace->n; i++) {
        const struct pmodel_access *access = &trace->accesses[i];
        const struct pm_reference *reference = &structure->references[access->reference];
        if (access->reference >= structure->n_references || access->group != reference->group ||
            access->kind != reference->access ||
            (reference->kind == PM_ACCESS_PLAIN && access->size_bytes != reference->size_bytes)) {
            fprintf(stderr, "access %zu is not as its reference %u says\n", i, access->reference);
            n_differences++;
            break;
        }
        accesses[access->reference]++;
    }
    for (uint32_t r = 0; r < structure->n_references; r++)
        (structure->references[r].kind == PM_ACCESS_PLAIN ? compare : compare_named)(
            "reference", r, structure->references[r].address, accesses[r], facts->executions[r]);
    free(accesses);
}

static void check_groups(const struct facts *facts, uint64_t block_bytes) {
    const struct pm_structure *structure = facts->structure;
    double *expected = pm_alloc(structure->n_groups + 1, sizeof *expected);
    bool *is_named = pm_alloc(structure->n_groups + 1, sizeof *is_named);
    for (size_t r = 0; r < structure->n_references; r++) {
        const struct pm_reference *reference = &structure->references[r];
        bool both = reference->access == PM_ACCESS_BOTH;
        if (reference->group == PM_NONE)
            continue;
        expected[reference->group] += facts->executions[r] * (both ? 2 : 1);
        is_named[reference->group] |= reference->kind != PM_ACCESS_PLAIN;
    }
    for (uint32_t g = 0; g < structure->n_groups; g++) {
        const struct pm_histogram *histogram = pm_profile_histogram(facts->profile, g, block_bytes);
        double found = histogram ? pm_histogram_accesses(histogram) : 0;
        (is_named[g] ? compare_named : compare)("group", g, 0, found, expected[g]);
    }
    free(expected);
    free(is_named);
}

static bool read_facts(const char *path, const char *size, struct facts *facts,
                       struct pm_error *err) {
    struct pm_parameters parameters = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    if (!store)
        return false;
    facts->structure = pm_store_structure(store, err);
    if (facts->structure && pm_parameters_parse(size, &parameters, err))
        facts->profile = pm_store_profile(store, &parameters, err);
    pm_store_close(store);
    return facts->profile || err->text[0] ? facts->profile != NULL
                                          : pm_fail(err, "%s: there is no run with %s", path, size);
}

static int fail(const struct pm_error *err) {
    fprintf(stderr, "check_references: %s\n", err->text);
    return err->kind == PM_ERROR_SYSTEM ? 1 : 2;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct facts facts = {0};
    struct trace trace = {0};
    bool with_trace = argc == 5 && strcmp(argv[3], "-t") == 0;
    if (argc != 4 && !with_trace) {
        fprintf(stderr, "usage: check_references STORE N=8 BLOCK_BYTES | STORE N=8 -t TRACE\n");
        return 2;
    }
    if (!read_facts(argv[1], argv[2], &facts, &err) ||
        (with_trace && !trace_read(argv[4], &trace, &err)))
        return fail(&err);
    count_executions(&facts);
    if (with_trace)
        check_trace(&facts, &trace);
    else
        check_groups(&facts, strtoull(argv[3], NULL, 10));
    printf("    %u %s equal (%u executed); %u with string, masked or gathered accesses; "
           "%u different\n",
           n_equal, with_trace ? "references" : "groups", n_equal_executed, n_named, n_differences);
    free(trace.accesses);
    free(facts.executions);
    pm_profile_free(facts.profile);
    pm_structure_free(facts.structure);
    return n_differences || !n_equal_executed ? 3 : 0;
}
