/* Which loops and routines are events in an instrumented copy, and which calls end an interval. */
#include <stdlib.h>
#include <string.h>

#include "binlift/elf/elf.h"
#include "core/probe_abi.h"
#include "measure/command/command.h"
#include "measure/copies/private.h"

void pm_event_choice_add(struct pm_event_choice *choice, const char *name, uint8_t flag) {
    *PM_PUSH(choice, routines) = (struct pm_event_routine){.name = name, .flag = flag};
}

void pm_event_choice_copy(struct pm_event_choice *to, const struct pm_event_choice *from) {
    *to = (struct pm_event_choice){.kinds = from->kinds};
    for (size_t i = 0; i < from->n_routines; i++)
        pm_event_choice_add(to, from->routines[i].name, from->routines[i].flag);
    for (size_t i = 0; i < from->n_intervals; i++)
        *PM_PUSH(to, intervals) = pm_strdup(from->intervals[i]);
    for (size_t i = 0; i < from->n_interval_names; i++) {
        struct pm_interval_names *names = PM_PUSH(to, interval_names);
        *names = from->interval_names[i];
        names->file = names->file ? pm_strdup(names->file) : NULL;
    }
}

/* ---- calls that end an interval -------------------------------------------------------------- */

static struct pm_interval_names *begin_names(struct pm_event_choice *choice, const char *file,
                                             enum pm_interval_need need) {
    struct pm_interval_names *names = PM_PUSH(choice, interval_names);
    *names = (struct pm_interval_names){
        .first = choice->n_intervals, .file = file ? pm_strdup(file) : NULL, .need = need};
    return names;
}

bool pm_event_choice_add_interval_file(struct pm_event_choice *choice, const char *path,
                                       enum pm_interval_need need, struct pm_error *err) {
    char *content = pm_read_text(path, err), *rest = content, *text;
    if (!content)
        return false;
    struct pm_interval_names *names = begin_names(choice, path, need);
    while ((text = strsep(&rest, "\n"))) {
        const char *name = pm_trim_line(text);
        if (*name)
            *PM_PUSH(choice, intervals) = pm_strdup(name);
    }
    names->n = choice->n_intervals - names->first;
    free(content);
    return names->n > 0 || pm_fail(err, "%s: names no routine", path);
}

bool pm_event_choice_add_intervals(struct pm_event_choice *choice, const char *value,
                                   struct pm_error *err) {
    if (strchr(value, '/'))
        return pm_event_choice_add_interval_file(choice, value, PM_INTERVALS_ONE, err);
    struct pm_interval_names *names = begin_names(choice, NULL, PM_INTERVALS_EACH);
    char *copy = pm_strdup(value), *at = copy;
    for (bool more = true; more;) {
        char *end = pm_end_of_name(at);
        more = *end;
        *end = '\0';
        if (*at)
            *PM_PUSH(choice, intervals) = pm_strdup(at);
        at = end + 1;
    }
    names->n = choice->n_intervals - names->first;
    free(copy);
    return names->n > 0 ||
           pm_fail(err, "--interval and --sockets take names of routines, not nothing");
}

bool pm_event_choice_add_sockets(struct pm_event_choice *choice, const char *value,
                                 struct pm_error *err) {
    if (!pm_event_choice_add_intervals(choice, value, err))
        return false;
    return choice->interval_names[choice->n_interval_names - 1].on_sockets = true;
}

char *pm_event_choice_sockets(const struct pm_event_choice *choice) {
    char *text = NULL;
    for (size_t i = 0; i < choice->n_interval_names; i++) {
        const struct pm_interval_names *names = &choice->interval_names[i];
        for (size_t k = 0; k < names->n && names->on_sockets; k++) {
            const char *name = choice->intervals[names->first + k];
            char *readable = pm_display_name(name); /* as calls within a module have it */
            pm_append(&text, "%s%s", text ? ";" : "", name);
            if (strcmp(readable, name) != 0)
                pm_append(&text, ";%s", readable);
            free(readable);
        }
    }
    return text;
}

bool pm_event_choice_ends_intervals(const struct pm_event_choice *choice) {
    bool found = false;
    for (size_t i = 0; i < choice->n_intervals; i++)
        found |= choice->interval_found && choice->interval_found[i];
    return found;
}

static bool check_intervals(const struct pm_event_choice *choice,
                            const struct pm_interval_names *names, struct pm_error *err) {
    const char *option = names->on_sockets ? "--sockets" : "--interval";
    size_t n_found = 0;
    for (size_t i = names->first; i < names->first + names->n; i++) {
        bool found = choice->interval_found && choice->interval_found[i];
        if (!found && names->need == PM_INTERVALS_EACH)
            return pm_fail(err, "%s %s: the program calls no routine of this name", option,
                           choice->intervals[i]);
        n_found += found;
    }
    return n_found || names->need != PM_INTERVALS_ONE ||
           pm_fail(err, "%s %s: the program calls none of the routines that it names", option,
                   names->file);
}

/* ---- what a lift must know, and what it found -------------------------------------------------
 */

void pm_event_choice_lift(struct pm_event_choice *choice, struct pm_lift_options *options) {
    free(choice->interval_found);
    choice->interval_found = pm_alloc(choice->n_intervals, sizeof *choice->interval_found);
    options->intervals = (const char *const *)choice->intervals;
    options->n_intervals = choice->n_intervals;
    options->interval_found = choice->interval_found;
}

uint8_t *pm_event_choice_flags(struct pm_event_choice *choice,
                               const struct pm_structure *structure) {
    if (!choice->kinds && !choice->n_routines)
        return NULL;
    uint8_t *flags = pm_alloc(structure->n_scopes, sizeof *flags);
    for (size_t s = 0; s < structure->n_scopes; s++) {
        uint8_t kind = structure->scopes[s].kind;
        if ((kind == PM_SCOPE_ROUTINE && choice->kinds & PM_EVENTS_ROUTINES) ||
            (kind == PM_SCOPE_LOOP && choice->kinds & PM_EVENTS_LOOPS))
            flags[s] = PM_PROBE_SCOPE_PROBED;
        if (kind == PM_SCOPE_LOOP && choice->kinds & PM_EVENTS_ITERATIONS)
            flags[s] |= PM_PROBE_SCOPE_ITERATES;
    }
    for (size_t i = 0; i < choice->n_routines; i++) {
        uint32_t n_named;
        bool *named = pm_routines_named(structure, choice->routines[i].name, &n_named);
        for (size_t r = 0; r < structure->n_routines; r++)
            if (named[r])
                flags[structure->routines[r].scope] |= choice->routines[i].flag;
        choice->routines[i].found |= n_named > 0;
        pm_nearest_routine(structure, choice->routines[i].name, &choice->routines[i].nearest);
        free(named);
    }
    return flags;
}

void pm_event_choice_probed(struct pm_event_choice *choice, const struct pm_structure *structure,
                            const uint8_t *probed) {
    for (size_t i = 0; i < choice->n_routines; i++) {
        uint32_t n_named;
        bool *named = pm_routines_named(structure, choice->routines[i].name, &n_named);
        for (size_t r = 0; r < structure->n_routines; r++)
            if (named[r] && probed[structure->routines[r].scope])
                choice->routines[i].probed = true;
        free(named);
    }
}

bool pm_event_choice_check(const struct pm_event_choice *choice, struct pm_error *err) {
    for (size_t i = 0; i < choice->n_routines; i++) {
        const struct pm_event_routine *routine = &choice->routines[i];
        const char *option = routine->flag == PM_PROBE_SCOPE_STARTS ? "--start-at" : "--stop-after";
        if (!routine->found) {
            pm_fail(err, "%s %s: no routine is called so (`pmodel loops` lists them)", option,
                    routine->name);
            return pm_fail_nearest(err, &routine->nearest);
        }
        if (!routine->probed)
            return pm_fail(err,
                           "%s %s: this routine's entries and exits cannot all be told, because it "
                           "is left out, was not understood or has a way out that no probe can "
                           "stand on; name one that calls it",
                           option, routine->name);
    }
    for (size_t i = 0; i < choice->n_interval_names; i++)
        if (!check_intervals(choice, &choice->interval_names[i], err))
            return false;
    return true;
}

void pm_event_choice_free(struct pm_event_choice *choice) {
    for (size_t i = 0; i < choice->n_intervals; i++)
        free(choice->intervals[i]);
    for (size_t i = 0; i < choice->n_interval_names; i++)
        free(choice->interval_names[i].file);
    free(choice->routines);
    free(choice->intervals);
    free(choice->interval_names);
    free(choice->interval_found);
    *choice = (struct pm_event_choice){0};
}
