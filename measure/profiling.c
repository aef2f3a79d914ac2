/* See profiling.h. */
#include "measure/profiling.h"

#include <stdlib.h>
#include <string.h>

#include "core/probe_abi.h"

/* As MetaSim's last addresses; enough for the references of most innermost loops. */
enum { USUAL_WINDOW = 8 };

static unsigned window_of(const struct pm_profiling_request *request) {
    return request->window ? request->window : USUAL_WINDOW;
}

static bool is_cache(const struct pm_level *level) { return level->kind == PM_LEVEL_CACHE; }

static size_t count_caches(const struct pm_machine *machine) {
    size_t n = 0;
    while (n < machine->n_levels && is_cache(&machine->levels[n]))
        n++;
    return n;
}

static size_t count_levels(const struct pm_profiling_request *request) {
    size_t n = 0;
    for (size_t i = 0; i < request->n_machines; i++)
        n += count_caches(request->machines[i]);
    return n;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Of a level with a response so many whole sets as come nearest to where it serves half: what
   neighbours do to it, access by access, is not known. */
static uint64_t simulated_bytes(const struct pm_level *level) {
    uint64_t set_bytes = level->block_bytes * (level->associativity ? level->associativity : 1);
    uint64_t bytes = (uint64_t)pm_level_capacity_blocks(level) * level->block_bytes;
    if (!level->serves.n_points)
        return level->size_bytes;
    return bytes < set_bytes ? set_bytes : bytes / set_bytes * set_bytes;
}

/* Why LEVEL, behind BEFORE (NULL: the first), cannot be simulated; NULL: it can. */
static const char *fault_of(const struct pm_level *level, const struct pm_level *before) {
    enum { LEAST_LINE = 8, MOST_LINE = 4096 };
    if (level->block_bytes & (level->block_bytes - 1) || level->block_bytes < LEAST_LINE ||
        level->block_bytes > MOST_LINE)
        return "its lines are not a power of two from 8 to 4096 bytes";
    if (before && before->block_bytes > level->block_bytes)
        return "its lines are smaller than those of the level before it";
    if (level->inclusion == PM_INCLUSION_EXCLUSIVE &&
        (!before || before->block_bytes != level->block_bytes))
        return "an exclusive level needs one before it with lines of the same size";
    if (simulated_bytes(level) / level->block_bytes >= 1ull << 31)
        return "it has too many lines";
    return NULL;
}

static bool check_machine(const struct pm_machine *machine, struct pm_error *err) {
    enum { MOST_CACHES = 8 };
    const size_t n = count_caches(machine);
    if (n == 0)
        return pm_fail(err, "%s: the machine has no caches to simulate", machine->path);
    if (n > MOST_CACHES)
        return pm_fail(err, "%s: more than %d caches cannot be simulated", machine->path,
                       MOST_CACHES);
    for (size_t l = 0; l < n; l++) {
        const char *fault = fault_of(&machine->levels[l], l ? &machine->levels[l - 1] : NULL);
        if (fault)
            return pm_fail(err, "%s: %s cannot be simulated: %s", machine->path,
                           machine->levels[l].name, fault);
    }
    return true;
}

bool pm_profiling_check(const struct pm_profiling_request *request, struct pm_error *err) {
    enum { MOST_MACHINES = 16, MOST_WINDOW = 4096 };
    if (request->n_machines > MOST_MACHINES)
        return pm_fail(err, "--simulate takes up to %d machines at a time", MOST_MACHINES);
    if (request->window > MOST_WINDOW)
        return pm_fail(err, "--stride-window takes up to %d addresses, not %u", MOST_WINDOW,
                       request->window);
    for (size_t i = 0; i < request->n_machines; i++) {
        if (!check_machine(request->machines[i], err))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(request->machines[i]->name, request->machines[k]->name) == 0)
                return pm_fail(err, "--simulate names %s twice", request->machines[i]->name);
    }
    return true;
}

/* ---- for the runtime ------------------------------------------------------------------------- */

char *pm_profiling_window_setting(const struct pm_profiling_request *request) {
    return pm_sprintf(PM_ENV_PROFILE "=%u", window_of(request));
}

static void append_level(char **text, const struct pm_level *level) {
    static const char policies[] = {[PM_REPLACEMENT_LRU] = 'l',
                                    [PM_REPLACEMENT_PLRU] = 'p',
                                    [PM_REPLACEMENT_FIFO] = 'f',
                                    [PM_REPLACEMENT_RANDOM] = 'r'};
    pm_append(text, "%llu/%llu/%u%c%s%s%s%s%s", (unsigned long long)simulated_bytes(level),
              (unsigned long long)level->block_bytes, level->associativity,
              policies[level->replacement], level->indexed == PM_INDEXED_PHYSICAL ? "P" : "",
              level->inclusion == PM_INCLUSION_INCLUSIVE ? "I" : "",
              level->inclusion == PM_INCLUSION_EXCLUSIVE ? "X" : "",
              level->write == PM_WRITE_THROUGH ? "T" : "", level->write_allocate ? "" : "N");
}

char *pm_profiling_machines_setting(const struct pm_profiling_request *request) {
    char *text = pm_strdup(PM_ENV_SIMULATE "=");
    for (size_t i = 0; i < request->n_machines; i++) {
        const struct pm_machine *machine = request->machines[i];
        for (size_t l = 0; l < count_caches(machine); l++) {
            pm_append(&text, "%s", l ? "," : i ? ";" : "");
            append_level(&text, &machine->levels[l]);
        }
    }
    return text;
}

/* ---- what it counted ------------------------------------------------------------------------- */

static struct pm_simulated_level level_of(const struct pm_machine *machine, size_t l) {
    const struct pm_level *level = &machine->levels[l];
    return (struct pm_simulated_level){.machine = pm_strdup(machine->name),
                                       .name = pm_strdup(level->name),
                                       .size_bytes = simulated_bytes(level),
                                       .line_bytes = level->block_bytes,
                                       .ways = level->associativity,
                                       .replacement = level->replacement};
}

/* A machine's counts, of references that its second level served, …, and memory, become the misses
   of the first level, …: those that were served farther away. */
static void make_misses(double *counts, size_t n_levels) {
    for (size_t l = n_levels; l-- > 1;)
        counts[l - 1] += counts[l];
}

bool pm_profiling_complete(const struct pm_profiling_request *request,
                           struct pm_block_profile *profile, size_t n_served,
                           struct pm_error *err) {
    if (n_served != count_levels(request))
        return pm_fail(err, "a profile of other caches than those that were asked for");
    for (size_t i = 0, first = 0; i < request->n_machines; i++) {
        const size_t n = count_caches(request->machines[i]);
        for (size_t l = 0; l < n; l++)
            *PM_PUSH(profile, levels) = level_of(request->machines[i], l);
        for (size_t b = 0; b < profile->n_blocks; b++)
            make_misses(profile->blocks[b].misses + first, n);
        first += n;
    }
    return true;
}

static bool is_same_level(const struct pm_simulated_level *there, const struct pm_machine *machine,
                          const struct pm_level *level) {
    return strcmp(there->machine, machine->name) == 0 && strcmp(there->name, level->name) == 0 &&
           there->size_bytes == simulated_bytes(level) && there->line_bytes == level->block_bytes &&
           there->ways == level->associativity && there->replacement == level->replacement;
}

bool pm_profiling_is_same(const struct pm_profiling_request *request,
                          const struct pm_block_profile *profile) {
    if (profile->stride_window != window_of(request) || profile->n_levels != count_levels(request))
        return false;
    for (size_t i = 0, at = 0; i < request->n_machines; i++)
        for (size_t l = 0; l < count_caches(request->machines[i]); l++)
            if (!is_same_level(&profile->levels[at++], request->machines[i],
                               &request->machines[i]->levels[l]))
                return false;
    return true;
}
