/* Which machines' caches are simulated, and how far back strides are looked for: what the
   environment says (core/probe_abi.h). */
#include <stdlib.h>
#include <string.h>

#include "runtime/notes.h"
#include "runtime/profiler/profiler_state.h"

struct pm_profiler_settings pm_profiler_settings;

/* A number at *TEXT, behind which END stands; false: there is none. */
static bool take_number(const char **text, char end, uint64_t *number) {
    char *behind;
    *number = strtoull(*text, &behind, 10);
    if (**text < '0' || **text > '9' || (end && *behind != end))
        return false;
    *text = behind + (end != 0);
    return true;
}

/* The letters of a level. */
static bool take_letters(const char **text, struct pm_cache_shape *shape) {
    static const char policies[] = "lpfr"; /* in the order of enum pm_cache_policy */
    for (; **text && **text != ',' && **text != ';'; ++*text) {
        const char *policy = strchr(policies, **text);
        if (policy)
            shape->policy = (enum pm_cache_policy)(policy - policies);
        else if (**text == 'P')
            shape->physical = true;
        else if (**text == 'I')
            shape->inclusive = true;
        else if (**text == 'X')
            shape->exclusive = true;
        else if (**text == 'T')
            shape->write_through = true;
        else if (**text == 'N')
            shape->no_write_allocate = true;
        else
            return false;
    }
    return true;
}

static bool take_level(const char **text, struct pm_profiler_machine *machine) {
    if (machine->n_levels == PM_MOST_CACHES)
        return false;
    struct pm_cache_shape *shape = &machine->levels[machine->n_levels++];
    return take_number(text, '/', &shape->size_bytes) &&
           take_number(text, '/', &shape->line_bytes) && take_number(text, 0, &shape->ways) &&
           take_letters(text, shape);
}

static bool take_machine(const char **text) {
    struct pm_profiler_settings *settings = &pm_profiler_settings;
    if (settings->n_machines == PM_MOST_SIMULATED)
        return false;
    struct pm_profiler_machine *machine = &settings->machines[settings->n_machines];
    do {
        if (!take_level(text, machine))
            return false;
    } while (**text == ',' && ++*text);
    if (!pm_caches_can_be(machine->levels, machine->n_levels))
        return false;
    const unsigned shift = (unsigned)__builtin_ctzll(machine->levels[0].line_bytes);
    if (settings->n_machines == 0 || shift < settings->least_line_shift)
        settings->least_line_shift = shift;
    settings->n_machines++;
    machine->first_served = settings->n_served;
    settings->n_served += machine->n_levels;
    return true;
}

bool pm_profiler_wanted(void) {
    struct pm_profiler_settings *settings = &pm_profiler_settings;
    const char *window = getenv(PM_ENV_PROFILE), *machines = getenv(PM_ENV_SIMULATE);
    uint64_t number;
    if (!window || !*window)
        return false;
    if (!take_number(&window, 0, &number) || *window || number == 0 ||
        number > PM_MOST_STRIDE_WINDOW) {
        pm_note_add(PM_NOTE_BAD_SETTING, 1);
        return false;
    }
    *settings = (struct pm_profiler_settings){.window = (uint32_t)number, .least_line_shift = 6};
    while (machines && *machines) {
        if (!take_machine(&machines) || (*machines && *machines++ != ';')) {
            pm_note_add(PM_NOTE_BAD_SETTING, 1);
            return false;
        }
    }
    return true;
}
