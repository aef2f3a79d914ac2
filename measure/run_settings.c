/* What must be equal for a run not to be repeated: command, environment, inputs' contents. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/probe_abi.h"
#include "measure/command/command.h"
#include "measure/private.h"

void pm_settings_add_intervals(char **text, const struct pm_measure_request *request) {
    XXH64_hash_t hash = 0;
    for (size_t i = 0; i < request->copies.events.n_intervals; i++) {
        const char *name = request->copies.events.intervals[i];
        hash = XXH3_64bits_withSeed(name, strlen(name), hash);
    }
    char *sockets = pm_event_choice_sockets(&request->copies.events);
    if (sockets)
        pm_append(text, "\nsockets %016llx",
                  (unsigned long long)XXH3_64bits(sockets, strlen(sockets)));
    free(sockets);
    pm_append(text, "\nintervals %016llx%s", (unsigned long long)hash,
              request->interval_memory ? " with memory" : "");
}

char *pm_settings_text(const struct pm_measure_request *request, struct pm_error *err) {
    char *command = pm_command_text(request->argv);
    char *text = pm_sprintf("command %s", command);
    free(command);
    if (request->build)
        pm_append(&text, "\nbuild %s", request->build);
    for (size_t i = 0; i < request->n_environment; i++) {
        pm_append(&text, "\nenv %s", request->environment[i]);
    }
    if (request->shared)
        pm_append(&text, "\nshared");
    if (request->bin_width)
        pm_append(&text, "\nbin-width %s", request->bin_width);
    if (request->sample > 1)
        pm_append(&text, "\nsample 1/%u", request->sample);
    if (request->max_blocks)
        pm_append(&text, "\nmax-blocks %u", request->max_blocks);
    for (size_t i = 0; i < request->copies.events.n_routines; i++) {
        const struct pm_event_routine *routine = &request->copies.events.routines[i];
        pm_append(&text, "\n%s %s",
                  routine->flag == PM_PROBE_SCOPE_STARTS ? "start-at" : "stop-after",
                  routine->name);
    }
    for (size_t i = 0; i < request->n_inputs; i++) {
        char *content = pm_read_text(request->inputs[i].from, err);
        if (!content) {
            free(text);
            return NULL;
        }
        pm_append(&text, "\ninput %s %016llx", request->inputs[i].to,
                  (unsigned long long)XXH3_64bits(content, strlen(content)));
        free(content);
    }
    return text;
}
