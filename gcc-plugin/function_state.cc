/* The state of the function that is being compiled, and its references by identity. */
#include "function_state.h"

static struct pm_function_state *state;
static int next_identity = 1;

struct pm_function_state *pm_state() {
    if (state && state->function != current_function_decl)
        pm_state_drop();
    if (!state) {
        state = new pm_function_state;
        state->function = current_function_decl;
        state->first_identity = next_identity;
    }
    return state;
}

void pm_state_drop() {
    delete state;
    state = NULL;
}

int pm_add_reference(const struct pm_marked_reference &reference) {
    pm_state()->references.push_back(reference);
    return next_identity++;
}

struct pm_marked_reference *pm_find_reference(int identity) {
    struct pm_function_state *s = pm_state();
    if (identity < s->first_identity || identity >= next_identity)
        return NULL;
    return &s->references[identity - s->first_identity];
}

/* With -flto the compiler's own language is "GNU GIMPLE"; the function's unit knows better. */
const char *pm_language() {
    const_tree unit = get_ultimate_context(current_function_decl);
    if (unit && TREE_CODE(unit) == TRANSLATION_UNIT_DECL && TRANSLATION_UNIT_LANGUAGE(unit))
        return TRANSLATION_UNIT_LANGUAGE(unit);
    return lang_hooks.name;
}

bool pm_is_fortran() { return strncmp(pm_language(), "GNU Fortran", strlen("GNU Fortran")) == 0; }
