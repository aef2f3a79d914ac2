/* Which row a scope belongs to; see rows.h. */
#include "fit/analysis/rows.h"

uint32_t pm_row_scope(const struct pm_structure *structure, uint32_t scope) {
    while (structure->scopes[scope].kind == PM_SCOPE_INLINED &&
           structure->scopes[scope].parent != PM_NONE)
        scope = structure->scopes[scope].parent;
    return pm_fold_root(structure, scope);
}

uint32_t pm_mix_scope(const struct pm_structure *structure, uint32_t block,
                      enum pm_mix_level level) {
    const struct pm_block *b = &structure->blocks[block];
    const struct pm_routine *routine = &structure->routines[b->routine];
    if (level == PM_MIX_PROGRAM)
        return 0;
    if (level == PM_MIX_MODULE)
        return structure->modules[routine->module].scope;
    if (level == PM_MIX_ROUTINE || b->loop == PM_NONE)
        return routine->scope;
    return b->loop;
}
