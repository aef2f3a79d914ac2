/* Routines by name, see structure.h. */
#include "core/structure/structure.h"

#include <stdlib.h>
#include <string.h>

static bool has_name(const struct pm_routine *routine, const char *name, bool exactly) {
    const char *names[] = {routine->name, routine->display_name};
    for (int i = 0; i < 2; i++)
        if (names[i] && (exactly ? strcmp(name, names[i]) == 0 : pm_matches(name, names[i])))
            return true;
    return false;
}

static void add_named(const struct pm_structure *structure, const char *name, bool *named) {
    bool found = false;
    for (int exactly = 1; exactly >= 0 && !found; exactly--)
        for (size_t r = 0; r < structure->n_routines; r++)
            if (has_name(&structure->routines[r], name, exactly))
                named[r] = found = true;
}

char *pm_end_of_name(char *name) {
    int depth = 0;
    for (; *name && (*name != ',' || depth > 0); name++) {
        if (*name == '(' || *name == '<')
            depth++;
        else if (*name == ')' || *name == '>')
            depth--;
    }
    return name;
}

bool *pm_routines_named(const struct pm_structure *structure, const char *name, uint32_t *n_named) {
    bool *named = pm_alloc(structure->n_routines, sizeof *named);
    char *names = pm_strdup(name ? name : "*"), *at = names;
    for (bool more = true; more;) {
        char *end = pm_end_of_name(at);
        more = *end;
        *end = 0;
        add_named(structure, at, named);
        at = end + 1;
    }
    free(names);
    *n_named = 0;
    for (size_t r = 0; r < structure->n_routines; r++)
        *n_named += named[r];
    return named;
}

void pm_nearest_routine(const struct pm_structure *structure, const char *name,
                        struct pm_nearest *nearest) {
    for (size_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        const char *names[] = {routine->display_name, routine->name};
        for (int i = 0; i < 2; i++)
            if (names[i])
                pm_nearest_try(nearest, name, names[i]);
    }
}

bool pm_fail_nearest_routine(struct pm_error *err, const struct pm_structure *structure,
                             const char *name) {
    struct pm_nearest nearest = {0};
    pm_nearest_routine(structure, name, &nearest);
    return pm_fail_nearest(err, &nearest);
}
