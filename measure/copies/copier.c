/* The lift and the copy of one module, as a request says. */
#include <stdlib.h>

#include "measure/copies/private.h"

bool pm_copier_new(struct pm_copier *copier, const struct pm_copies_request *request,
                   struct pm_error *err) {
    *copier = (struct pm_copier){
        .request = request,
        .lift = {.classes_folder = request->classes_folder,
                 .own_classes_folder = request->own_classes_folder,
                 .classes_file = request->classes_file},
    };
    pm_event_choice_copy(&copier->events, &request->events);
    pm_event_choice_lift(&copier->events, &copier->lift);
    if (request->weights_store) {
        copier->weights = pm_edge_weights_read(request->weights_store, err);
        if (!copier->weights)
            return false;
        copier->lift.weights = &copier->weights->known;
    }
    if (!request->include_file && !request->exclude_file)
        return true;
    copier->lists = pm_routine_lists_read(request->include_file, request->exclude_file, err);
    return copier->lists != NULL;
}

void pm_copier_free(struct pm_copier *copier) {
    pm_edge_weights_free(copier->weights);
    pm_routine_lists_free(copier->lists);
    pm_event_choice_free(&copier->events);
}

bool pm_copier_write(struct pm_copier *copier, struct pm_lifted *lifted,
                     struct pm_instrument_options *options, const char *to, size_t *n_events,
                     struct pm_error *err) {
    const struct pm_structure *structure = pm_lifted_structure(lifted);
    uint8_t *events = pm_event_choice_flags(&copier->events, structure);
    uint8_t *probed = pm_alloc(structure->n_scopes, sizeof *probed);
    options->memory_records = !copier->request->no_memory;
    options->branches = copier->request->behaviour;
    options->calls_move = copier->request->calls == PM_CALLS_MOVED;
    options->runtime_path = copier->request->runtime;
    options->describe_counters = copier->request->for_handler;
    options->scope_events = events;
    options->probed = probed;
    bool ok = pm_instrument(lifted, options, to, err);
    if (ok)
        pm_event_choice_probed(&copier->events, structure, probed);
    for (size_t s = 0; n_events && s < structure->n_scopes; s++)
        *n_events += probed[s] != 0;
    free(probed);
    free(events);
    options->scope_events = options->probed = NULL;
    return ok;
}
