/* Which routine each part or clone was made from; see tree.h.  Needs routines.

   GCC names what it makes of a routine by a suffix: `.cold` and `.part.N` are pieces of it,
   `.constprop.N` and `.isra.N` are variants, `._omp_fn.N` is the body of a parallel region in it.
   The source routine is the one that has the name without the last suffix, or without the last two
   …; of several (static routines of different files) the nearest one.  If all of it is gone (every
   call was inlined, or goes to a clone), the clone stands for itself. */
#include "binlift/elf/elf.h"
#include "binlift/scopes/tree.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct named {
    const char *name;
    uint64_t hash;
    uint32_t routine;
};

static int by_hash(const void *left, const void *right) {
    const struct named *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->routine < b->routine ? -1 : a->routine > b->routine;
}

static uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

/* The routine whose name is the first LENGTH bytes of NAME, nearest to ADDRESS; PM_NONE. */
static uint32_t find(const struct pm_structure *structure, const struct named *names,
                     const char *name, size_t length, uint64_t address) {
    uint64_t hash = XXH3_64bits(name, length);
    size_t low = 0, high = structure->n_routines;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t found = PM_NONE;
    for (; low < structure->n_routines && names[low].hash == hash; low++) {
        uint32_t r = names[low].routine;
        if (strncmp(names[low].name, name, length) != 0 || names[low].name[length])
            continue;
        if (found == PM_NONE || distance(structure->routines[r].address, address) <
                                    distance(structure->routines[found].address, address))
            found = r;
    }
    return found;
}

uint32_t *pm_find_source_routines(const struct pm_structure *structure) {
    uint32_t *sources = pm_alloc(structure->n_routines, sizeof *sources);
    struct named *names = pm_alloc(structure->n_routines, sizeof *names);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const char *name = structure->routines[r].name;
        names[r] = (struct named){name, XXH3_64bits(name, strlen(name)), r};
    }
    if (structure->n_routines)
        qsort(names, structure->n_routines, sizeof *names, by_hash);
    for (uint32_t r = 0; r < structure->n_routines; r++) {
        const struct pm_routine *routine = &structure->routines[r];
        size_t length = strlen(routine->name), shorter;
        sources[r] = PM_NONE;
        while (sources[r] == PM_NONE &&
               (shorter = pm_source_name_length(routine->name, length)) != length) {
            length = shorter;
            sources[r] = find(structure, names, routine->name, length, routine->address);
        }
    }
    free(names);
    return sources;
}
