/* The state of the function that is being compiled, and its references by identity. */
#include "state.h"

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

int pm_add_reference(const struct pm_reference &reference) {
    pm_state()->references.push_back(reference);
    return next_identity++;
}

struct pm_reference *pm_find_reference(int identity) {
    struct pm_function_state *s = pm_state();
    if (identity < s->first_identity || identity >= next_identity)
        return NULL;
    return &s->references[identity - s->first_identity];
}
