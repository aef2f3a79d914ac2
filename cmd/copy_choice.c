/* What decides how a program is instrumented; see copy_choice.h. */
#include "cmd/copy_choice.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/run_weights.h"

bool pm_copy_choice_read(struct pm_copy_choice *choice, const struct pm_copy_files *files,
                         struct pm_error *err) {
    choice->lift.classes_file = files->classes;
    choice->runtime = pm_library_path("libpmodel-rt.so", err);
    if (!choice->runtime || !pm_find_classes(&choice->lift, err))
        return false;
    if (files->weights_store) {
        choice->weights = pm_run_weights_read(files->weights_store, err);
        if (!choice->weights)
            return false;
        choice->lift.weights = &choice->weights->known;
    }
    if (!files->include && !files->exclude)
        return true;
    choice->lists = pm_routine_lists_read(files->include, files->exclude, err);
    return choice->lists != NULL;
}

void pm_copy_choice_free(struct pm_copy_choice *choice) {
    free(choice->runtime);
    pm_run_weights_free(choice->weights);
    pm_routine_lists_free(choice->lists);
}
