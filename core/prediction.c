/* Freeing a prediction; see prediction.h. */
#include "core/prediction.h"

#include <stdlib.h>

void pm_prediction_free(struct pm_prediction *prediction) {
    if (!prediction)
        return;
    for (size_t i = 0; i < prediction->n_levels; i++)
        free(prediction->level_names[i]);
    for (size_t i = 0; i < prediction->n_units; i++)
        free(prediction->unit_names[i]);
    for (size_t i = 0; i < prediction->n_notes; i++)
        free(prediction->notes[i]);
    free(prediction->notes);
    pm_prediction_free(prediction->low);
    pm_prediction_free(prediction->high);
    free(prediction->scopes);
    free(prediction->program);
    free(prediction->machine_title);
    free(prediction->machine_name);
    free(prediction->measured_up_to);
    free(prediction);
}
