/* Names of the generic instruction classes; see op_class.h. */
#include "core/structure/op_class.h"

#include <string.h>

static const struct {
    const char *name;
    char kind;
} classes[] = {
#define PM_OP_ROW(id, name, kind) [id] = {name, kind},
    PM_OP_CLASSES(PM_OP_ROW)
#undef PM_OP_ROW
};

const char *pm_op_class_name(enum pm_op_class op_class) {
    return (unsigned)op_class < PM_N_OP_CLASSES ? classes[op_class].name : "unknown";
}

char pm_op_class_kind(enum pm_op_class op_class) {
    return (unsigned)op_class < PM_N_OP_CLASSES ? classes[op_class].kind : 'o';
}

bool pm_op_class_from_name(const char *name, enum pm_op_class *op_class) {
    for (unsigned i = 0; i < PM_N_OP_CLASSES; i++)
        if (strcmp(classes[i].name, name) == 0) {
            *op_class = (enum pm_op_class)i;
            return true;
        }
    return false;
}
