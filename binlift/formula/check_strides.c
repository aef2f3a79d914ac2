/* Strides found in the code against those that the compiler wrote down, for every reference that
   the compiler describes and every loop around it that it knows.  Needs reference groups, made with
   metadata.

   Symbolic strides agree if both are symbolic: the compiler writes them in the source's names, the
   lifter in those of registers.  A stride that the compiler calls indirect and the code alone
   leaves unknown, or the other way round, is unknown to that side, not a disagreement. */
#include "binlift/formula/groups.h"
#include "binlift/metadata/metadata.h"

#include <stdlib.h>

static struct pm_stride copy_step(struct pm_step step) {
    return (struct pm_stride){step.kind, step.bytes,
                              step.expression ? pm_strdup(step.expression) : NULL};
}

static void compare_steps(struct pm_strides_check *check, uint32_t reference, uint32_t loop,
                          struct pm_step compiler, struct pm_step binary) {
    if (compiler.kind == PM_STRIDE_UNKNOWN && binary.kind == PM_STRIDE_UNKNOWN) {
        check->n_both_unknown++;
    } else if (compiler.kind == PM_STRIDE_UNKNOWN) {
        check->n_compiler_unknown++;
    } else if (binary.kind == PM_STRIDE_UNKNOWN) {
        check->n_binary_unknown++;
    } else if (compiler.kind == binary.kind &&
               (compiler.kind != PM_STRIDE_CONSTANT || compiler.bytes == binary.bytes)) {
        check->n_agree++;
    } else {
        *PM_PUSH(check, differences) =
            (struct pm_stride_difference){reference, loop, copy_step(compiler), copy_step(binary)};
    }
}

static void check_reference(struct pm_describer *describer, uint32_t insn, uint32_t reference,
                            struct pm_strides_check *check) {
    struct pm_group_key key;
    struct pm_formula_level levels[PM_MOST_LEVELS];
    unsigned operand = describer->lifted->structure->references[reference].operand;
    if (!pm_describe_by_compiler(describer, insn, operand, &key))
        return;
    uint32_t n = pm_formula_levels(describer->formulas, insn, operand, levels, PM_MOST_LEVELS);
    for (uint32_t i = 0; i < n && i < key.n_strides; i++)
        if (describer->lifted->metadata->scope_loop[levels[i].loop] != PM_NONE)
            compare_steps(check, reference, levels[i].loop, key.strides[i], levels[i].step);
}

void pm_check_strides(struct pm_lifted *lifted, struct pm_strides_check *check) {
    struct pm_describer describer = {.lifted = lifted};
    uint32_t routine = PM_NONE;
    *check = (struct pm_strides_check){0};
    if (!lifted->metadata)
        return;
    for (uint32_t i = 0; i < lifted->n_insns; i++) {
        uint32_t b = lifted->insn_block[i];
        if (b == PM_NONE || lifted->structure->blocks[b].loop == PM_NONE)
            continue;
        if (lifted->structure->blocks[b].routine != routine) {
            routine = lifted->structure->blocks[b].routine;
            pm_formulas_free(describer.formulas);
            describer.formulas = pm_formulas_new(lifted, routine);
        }
        for (uint32_t r = lifted->insn_references[i]; r < lifted->insn_references[i + 1]; r++)
            check_reference(&describer, i, r, check);
    }
    pm_formulas_free(describer.formulas);
}

void pm_strides_check_free(struct pm_strides_check *check) {
    for (size_t i = 0; i < check->n_differences; i++) {
        free(check->differences[i].compiler.expression);
        free(check->differences[i].binary.expression);
    }
    free(check->differences);
    *check = (struct pm_strides_check){0};
}
