/* A store that questions are put to, and what of its runs they are about. */
#include <stdlib.h>

#include "ask/ask.h"

bool pm_subject_open(struct pm_subject *subject, const char *path,
                     const struct pm_selection_words *words, struct pm_error *err) {
    *subject = (struct pm_subject){.store_path = path};
    subject->store = pm_store_open(path, PM_STORE_READ, err);
    return subject->store &&
           (!words || pm_select_words(subject->store, words, &subject->selected, err)) &&
           pm_program_open(&subject->program, subject->store, err);
}

bool pm_subject_at_hand(struct pm_subject *subject, struct pm_store *store,
                        struct pm_structure *structure, struct pm_error *err) {
    *subject = (struct pm_subject){.store = store, .is_at_hand = true};
    return pm_program_open_as(&subject->program, store, structure, err);
}

void pm_subject_close(struct pm_subject *subject) {
    for (size_t i = 0; i < subject->n_paths; i++)
        pm_known_paths_free(subject->paths[i].known);
    free(subject->paths);
    if (subject->is_at_hand)
        subject->program.structure = NULL;
    else
        pm_store_close(subject->store);
    pm_program_close(&subject->program);
    free(subject->selected);
}

void pm_subject_interpolate(struct pm_subject *subject, struct pm_machine *const *machines,
                            size_t n_machines) {
    for (size_t m = 0; m < n_machines; m++)
        for (size_t l = 0; l < machines[m]->n_levels; l++) {
            uint64_t bytes = machines[m]->levels[l].block_bytes;
            if (!pm_has_block_size(subject->program.interpolate, subject->program.n_interpolate,
                                   bytes))
                *PM_PUSH(&subject->program, interpolate) = bytes;
        }
}

bool pm_subject_select(struct pm_subject *subject, const struct pm_selection *selection,
                       struct pm_error *err) {
    pm_program_forget_models(&subject->program);
    return pm_store_select(subject->store, selection, err);
}
