/* The copies of all loop nests of a file from which lower bounds would be measured, for a script to
   compare with what objdump and llvm-mca make of them.

     shadow_loops FILE FOLDER

   writes the code of nest I to FOLDER/I.bin and prints, in the order of the copy,

     nest I ROUTINE DATA-BYTES CODE-BYTES RELOCATIONS ADDED CHAINED
     insn I ADDRESS WAY    an instruction of FILE: same, slot, apart (load and store have different
                           slots), replayed, dropped (no-ops), or jump

   and at the end the number of nests whose copies cannot be made. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "binlift/bound/bound.h"
#include "binlift/code/code.h"

static const struct pm_bound_access *access_of(const struct pm_bound_plan *plan,
                                               const struct pm_bound_nest *nest, uint32_t r) {
    for (uint32_t i = nest->first_access; i < nest->first_access + nest->n_accesses; i++)
        if (plan->accesses[i].reference == r)
            return &plan->accesses[i];
    return NULL;
}

static bool is_replayed(const struct pm_bound_plan *plan, const struct pm_bound_nest *nest,
                        uint32_t k) {
    for (uint32_t i = 0; i < nest->n_replayed; i++)
        if (plan->replayed[nest->first_replayed + i] == k)
            return true;
    return false;
}

static const char *way_of(const struct pm_lifted *lifted, const struct pm_bound_plan *plan,
                          const struct pm_bound_nest *nest, uint32_t k) {
    const struct pm_insn *insn = &lifted->insns[k];
    if (insn->is_nop)
        return "dropped";
    if (is_replayed(plan, nest, k))
        return "replayed";
    if (insn->control == PM_CONTROL_JUMP)
        return "jump";
    const struct pm_bound_access *access = NULL;
    for (uint32_t r = lifted->insn_references[k]; r < lifted->insn_references[k + 1]; r++) {
        const struct pm_bound_access *of = access_of(plan, nest, r);
        if (of && pm_bound_slot_of(of) != PM_NONE)
            access = of;
    }
    if (!access)
        return "same";
    return access->load_slot != PM_NONE && access->store_slot != PM_NONE &&
                   access->load_slot != access->store_slot
               ? "apart"
               : "slot";
}

static void put_insns(const struct pm_lifted *lifted, const struct pm_bound_plan *plan,
                      const struct pm_bound_nest *nest, size_t number) {
    for (uint32_t i = nest->first_block; i < nest->first_block + nest->n_blocks; i++) {
        const struct pm_block_code *code = &lifted->block_codes[plan->blocks[i]];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++)
            printf("insn %zu 0x%" PRIx64 " %s\n", number, (uint64_t)lifted->insns[k].address,
                   way_of(lifted, plan, nest, k));
    }
}

static bool put_code(const struct pm_shadow_loop *copy, const char *folder, size_t number) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%zu.bin", folder, number);
    FILE *file = fopen(path, "w");
    bool good = file && fwrite(copy->code, 1, copy->n_code, file) == copy->n_code;
    return file && fclose(file) == 0 && good;
}

int main(int argc, char **argv) {
    struct pm_error err = {0};
    struct pm_lift_options options = {.end = PM_LIFT_DEPS};
    struct pm_lifted *lifted = argc == 3 ? pm_lift(argv[1], &options, &err) : NULL;
    if (!lifted) {
        fprintf(stderr, "shadow_loops: %s\n", argc == 3 ? err.text : "FILE FOLDER");
        return 2;
    }
    struct pm_bound_plan *plan = pm_plan_bounds(lifted, &(struct pm_bound_wishes){0});
    pm_live_set *live = pm_bound_liveness(lifted, plan);
    size_t n_impossible = 0;
    for (size_t i = 0; i < plan->n_nests; i++) {
        const struct pm_bound_nest *nest = &plan->nests[i];
        struct pm_bound_request request = {
            .lifted = lifted, .live = live, .plan = plan, .nest = nest};
        struct pm_shadow_loop copy = {0};
        if (!pm_make_shadow_loop(&request, &copy)) {
            n_impossible++;
        } else {
            const struct pm_scope *scope = &lifted->structure->scopes[nest->loop];
            printf("nest %zu %s %zu %zu %zu %" PRIu32 " %" PRIu32 "\n", i,
                   lifted->structure->routines[scope->routine].name, copy.n_data, copy.n_code,
                   copy.n_relocations, copy.n_added_insns, copy.n_chained);
            put_insns(lifted, plan, nest, i);
            if (!put_code(&copy, argv[2], i))
                return 2;
        }
        pm_shadow_loop_free(&copy);
    }
    printf("impossible %zu\n", n_impossible);
    free(live);
    pm_bound_plan_free(plan);
    pm_lifted_free(lifted);
    return 0;
}
