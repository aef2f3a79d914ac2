/* Which routine each part or clone was made from; see tree.h.  Needs routines.

   GCC names what it makes of a routine by a suffix: `.cold` and `.part.N` are parts of it,
   `.constprop.N` and `.isra.N` are variants, `._omp_fn.N` is the body of a parallel region in it.
   The source routine is the one that has the name without the last suffix, or without the last two
   …; of several (static routines of different files) the nearest one.  If all of it is gone (every
   call was inlined, or goes to a clone), the clone stands for itself. */
#include "binlift/elf/elf.h"
#include "binlift/scopes/tree.h"

#include <stdlib.h>
#include <string.h>

static uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

/* The routine whose name is the first LENGTH bytes of NAME, nearest to ADDRESS, of two as near the
   first; PM_NONE. */
static uint32_t find(const struct pm_structure *structure, const struct pm_map *names,
                     const char *name, size_t length, uint64_t address) {
    const struct pm_routine *routines = structure->routines;
    uint32_t found = PM_NONE;
    for (struct pm_map_entry at = pm_map_find(names, pm_hash_bytes(name, length)); at.found;
         pm_map_next(names, &at)) {
        if (strncmp(routines[at.item].name, name, length) != 0 || routines[at.item].name[length])
            continue;
        uint64_t away = distance(routines[at.item].address, address);
        uint64_t nearest = found == PM_NONE ? 0 : distance(routines[found].address, address);
        if (found == PM_NONE || away < nearest || (away == nearest && at.item < found))
            found = at.item;
    }
    return found;
}

uint32_t *pm_find_source_routines(const struct pm_structure *structure) {
    uint32_t *sources = pm_alloc(structure->n_routines, sizeof *sources);
    struct pm_map names = {0};
    for (uint32_t r = 0; r < structure->n_routines; r++)
        pm_map_add(&names, pm_hash_text(structure->routines[r].name), r);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        size_t length = strlen(routine->name), shorter;
        sources[r] = PM_NONE;
        while (sources[r] == PM_NONE &&
               (shorter = pm_source_name_length(routine->name, length)) != length) {
            length = shorter;
            sources[r] = find(structure, &names, routine->name, length, routine->address);
        }
    }
    pm_map_free(&names);
    return sources;
}
