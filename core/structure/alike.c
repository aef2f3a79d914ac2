/* Which builds have interchangeable profiles although their bytes differ; see structure.h.

   The same code gives the same control flow and references, but scopes come from debug information
   and groups from the compiler's metadata too: these have to be equal but for lines and files. */
#include <stdlib.h>
#include <string.h>

#include "core/structure/structure.h"

static bool are_equal_texts(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool are_alike_modules(const struct pm_module *a, const struct pm_module *b) {
    bool same_build = a->build_id_bytes && a->build_id_bytes == b->build_id_bytes &&
                      memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
    return same_build || (a->code_hash && a->code_hash == b->code_hash);
}

static bool are_alike_blocks(const struct pm_block *a, const struct pm_block *b) {
    return a->size_bytes == b->size_bytes && a->n_instructions == b->n_instructions &&
           a->routine == b->routine && a->scope == b->scope && a->loop == b->loop;
}

static bool are_alike_edges(const struct pm_edge *a, const struct pm_edge *b) {
    return a->from == b->from && a->to == b->to && a->kind == b->kind && a->routine == b->routine;
}

static bool are_alike_scopes(const struct pm_scope *a, const struct pm_scope *b) {
    return a->kind == b->kind && a->parent == b->parent && a->routine == b->routine &&
           a->header == b->header && a->fold == b->fold && a->depth == b->depth &&
           (a->kind <= PM_SCOPE_MODULE || are_equal_texts(a->name, b->name));
}

static bool are_alike_references(const struct pm_reference *a, const struct pm_reference *b) {
    return a->block == b->block && a->group == b->group && a->size_bytes == b->size_bytes &&
           a->access == b->access && a->kind == b->kind && a->operand == b->operand;
}

static bool are_alike_groups(const struct pm_group *a, const struct pm_group *b) {
    bool alike = a->scope == b->scope && a->module == b->module && a->n_strides == b->n_strides &&
                 are_equal_texts(a->object, b->object);
    for (uint32_t i = 0; alike && i < a->n_strides; i++)
        alike = a->strides[i].kind == b->strides[i].kind &&
                a->strides[i].bytes == b->strides[i].bytes &&
                are_equal_texts(a->strides[i].expression, b->strides[i].expression);
    return alike;
}

static bool are_alike_routines(const struct pm_routine *a, const struct pm_routine *b) {
    return a->module == b->module && a->scope == b->scope && a->first_block == b->first_block &&
           a->first_edge == b->first_edge && a->n_blocks == b->n_blocks &&
           are_equal_texts(a->name, b->name);
}

#define ARE_ALIKE(a, b, name)                                                                      \
    ({                                                                                             \
        bool alike_ = (a)->n_##name == (b)->n_##name;                                              \
        for (size_t i_ = 0; alike_ && i_ < (a)->n_##name; i_++)                                    \
            alike_ = are_alike_##name(&(a)->name[i_], &(b)->name[i_]);                             \
        alike_;                                                                                    \
    })

bool pm_structures_are_alike(const struct pm_structure *a, const struct pm_structure *b) {
    return are_equal_texts(a->isa, b->isa) && ARE_ALIKE(a, b, modules) &&
           ARE_ALIKE(a, b, routines) && ARE_ALIKE(a, b, blocks) && ARE_ALIKE(a, b, edges) &&
           ARE_ALIKE(a, b, scopes) && ARE_ALIKE(a, b, references) && ARE_ALIKE(a, b, groups);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Not of what every program has. */
static bool is_own_routine(const struct pm_structure *structure, const struct pm_routine *routine) {
    return routine->module == 0 && routine->state != PM_ROUTINE_REFUSED && routine->name &&
           pm_has_symbol(routine) && strcmp(routine->name, "main") != 0 &&
           strcmp(routine->name, "MAIN__") != 0 && structure->n_modules > 0;
}

bool pm_structures_share_names(const struct pm_structure *a, const struct pm_structure *b) {
    bool any = false;
    for (size_t i = 0; i < a->n_routines; i++) {
        if (!is_own_routine(a, &a->routines[i]))
            continue;
        any = true;
        uint32_t n_named;
        free(pm_routines_named(b, a->routines[i].name, &n_named));
        if (n_named)
            return true;
    }
    return !any && a->n_modules && b->n_modules &&
           are_equal_texts(a->modules[0].name, b->modules[0].name);
}
