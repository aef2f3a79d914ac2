/* What is counted: classes by name, and how much of each one execution of a basic block is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"
#include "fit/analysis/counts.h"

static const char *const kind_names[] = {[PM_COUNT_INSTRUCTIONS] = "instructions",
                                         [PM_COUNT_OPERATIONS] = "operations",
                                         [PM_COUNT_ACCESSES] = "accesses"};
enum { N_KINDS = sizeof kind_names / sizeof kind_names[0] };

const char *pm_count_class_name(const struct pm_count_class *class) {
    return class->kind == PM_COUNT_OF_CLASS ? pm_op_class_name(class->op_class)
                                            : kind_names[class->kind];
}

static void add_class(struct pm_count_classes *classes, struct pm_count_class class) {
    for (size_t i = 0; i < classes->n_classes; i++)
        if (classes->classes[i].kind == class.kind &&
            classes->classes[i].op_class == class.op_class)
            return;
    *PM_PUSH(classes, classes) = class;
}

static bool fail_unknown(const char *name, struct pm_error *err) {
    struct pm_nearest nearest = {0};
    for (int kind = PM_COUNT_INSTRUCTIONS; kind < N_KINDS; kind++)
        pm_nearest_try(&nearest, name, kind_names[kind]);
    for (int i = 0; i < PM_N_OP_CLASSES; i++)
        pm_nearest_try(&nearest, name, pm_op_class_name((enum pm_op_class)i));
    pm_fail(err,
            "there is no instruction class \"%s\": there are instructions, operations, accesses, "
            "all, and those that `pmodel loops --mix` names, as fp_add or fp_*",
            name);
    return pm_fail_nearest(err, &nearest);
}

static bool add_named(struct pm_count_classes *classes, const char *name, struct pm_error *err) {
    size_t n_matching = 0;
    for (int kind = PM_COUNT_INSTRUCTIONS; kind < N_KINDS; kind++)
        if (strcmp(name, kind_names[kind]) == 0) {
            add_class(classes, (struct pm_count_class){.kind = (enum pm_count_kind)kind});
            return true;
        }
    for (int i = 0; i < PM_N_OP_CLASSES; i++)
        if (strcmp(name, "all") == 0 || pm_matches(name, pm_op_class_name((enum pm_op_class)i))) {
            add_class(classes, (struct pm_count_class){.op_class = (enum pm_op_class)i});
            n_matching++;
        }
    return n_matching || fail_unknown(name, err);
}

bool pm_count_classes_read(const char *list, struct pm_count_classes *classes,
                           struct pm_error *err) {
    char *copy = pm_strdup(list), *rest = copy;
    bool ok = true;
    *classes = (struct pm_count_classes){0};
    for (char *item; ok && (item = strsep(&rest, ","));)
        ok = add_named(classes, item, err);
    free(copy);
    if (!ok) {
        free(classes->classes);
        *classes = (struct pm_count_classes){0};
    }
    return ok;
}

static double accesses_of(const struct pm_structure *structure, const struct pm_block *block) {
    double accesses = 0;
    for (uint32_t i = 0; i < block->n_references; i++) {
        const struct pm_reference *reference = &structure->references[block->first_reference + i];
        if (reference->recorded)
            accesses += pm_reference_accesses(reference);
    }
    return accesses;
}

/* Operations of one execution of BLOCK by class (PM_N_OP_CLASSES values). */
static void operations_of(const struct pm_structure *structure, uint32_t block, bool elements,
                          double *by_class) {
    const struct pm_block *b = &structure->blocks[block];
    for (size_t i = 0; i < PM_N_OP_CLASSES; i++)
        by_class[i] = 0;
    for (uint32_t i = 0; i < b->n_ops; i++) {
        const struct pm_op *op = &structure->ops[b->first_op + i];
        unsigned element_bits = 8u * op->element_bytes;
        bool several = elements && element_bits && op->width_bits > element_bits;
        if (op->op_class < PM_N_OP_CLASSES)
            by_class[op->op_class] += several ? op->width_bits / element_bits : 1;
    }
}

void pm_count_block(const struct pm_structure *structure, uint32_t block,
                    const struct pm_count_classes *classes, bool elements, double *counts) {
    const struct pm_block *b = &structure->blocks[block];
    double by_class[PM_N_OP_CLASSES], all = 0;
    operations_of(structure, block, elements, by_class);
    for (size_t i = 0; i < PM_N_OP_CLASSES; i++)
        all += by_class[i];
    for (size_t c = 0; c < classes->n_classes; c++)
        switch (classes->classes[c].kind) {
        case PM_COUNT_OF_CLASS:
            counts[c] = by_class[classes->classes[c].op_class];
            break;
        case PM_COUNT_INSTRUCTIONS:
            counts[c] = b->n_instructions;
            break;
        case PM_COUNT_OPERATIONS:
            counts[c] = all;
            break;
        case PM_COUNT_ACCESSES:
            counts[c] = accesses_of(structure, b);
            break;
        }
}

uint32_t pm_count_scope(const struct pm_structure *structure, uint32_t block,
                        enum pm_mix_level level) {
    return pm_fold_root(structure, pm_mix_scope(structure, block, level));
}

void pm_count_scopes(const struct pm_counting *counting, double *counts) {
    const struct pm_structure *structure = counting->structure;
    size_t n_classes = counting->classes->n_classes, n = counting->n_columns;
    double *of_block = pm_alloc(n_classes, sizeof *of_block);
    for (uint32_t b = 0; b < structure->n_blocks; b++) {
        if (counting->left_out && counting->left_out[structure->blocks[b].routine])
            continue;
        pm_count_block(structure, b, counting->classes, counting->elements, of_block);
        size_t scope = pm_count_scope(structure, b, counting->level);
        for (size_t c = 0; c < n_classes; c++)
            for (size_t k = 0; of_block[c] > 0 && k < n; k++)
                counts[(scope * n_classes + c) * n + k] += of_block[c] * counting->executions[k][b];
    }
    free(of_block);
}

double pm_count_error(const double *predicted, const double *measured, size_t n) {
    double sum = 0;
    size_t n_used = 0;
    for (size_t k = 0; k < n; k++) {
        if (measured[k] == 0 && fabs(predicted[k]) < 0.5)
            continue;
        double error = measured[k] == 0 ? INFINITY : predicted[k] / measured[k] - 1;
        sum += error * error;
        n_used++;
    }
    return n_used ? sqrt(sum / (double)n_used) : NAN;
}
