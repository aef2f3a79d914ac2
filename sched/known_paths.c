/* Schedules of paths that were worked out before.

   A prediction asks for the same schedule again and again: of a region first without and then with
   its causes, beside its misses, for the elasticity of figures, at both ends of the models'
   intervals, on each thread.  Between these only counts and misses differ, so that most paths go
   through the same steps with the same latencies.  What is asked for again is taken from here:

       key        steps of the path, its loop, and all options that the time hangs on
       kept       the schedule; causes and gains, if somebody asked for these

   The schedule of a path is a function of the key and of the target alone, so one table is for one
   target. */
#include <stdlib.h>
#include <string.h>

#include "sched/schedule.h"

struct known_path {
    char *key; /* owned */
    size_t n_bytes;
    bool with_causes, with_gains;
    struct pm_path_schedule schedule;
};

/* Of the machine as one of so many cores sees it. */
struct share_paths {
    unsigned n_cores;
    struct pm_known_paths *known;
};

struct pm_known_paths {
    struct pm_map map;
    PM_ARRAY(struct known_path, paths);
    PM_ARRAY(char, key); /* of the path at hand */
    struct pm_known_windows *windows;
    struct pm_map traces_map;
    PM_ARRAY(struct pm_trace_time, traces);
    PM_ARRAY(struct share_paths, shares);
};

struct pm_known_paths *pm_known_paths_new(const struct pm_known_paths *beside) {
    struct pm_known_paths *known = pm_alloc(1, sizeof *known);
    known->windows = beside ? pm_known_windows_take(beside->windows) : pm_known_windows_new();
    return known;
}

void pm_known_paths_free(struct pm_known_paths *known) {
    if (!known)
        return;
    for (size_t i = 0; i < known->n_shares; i++)
        pm_known_paths_free(known->shares[i].known);
    free(known->shares);
    for (size_t i = 0; i < known->n_paths; i++)
        free(known->paths[i].key);
    free(known->paths);
    free(known->key);
    pm_map_free(&known->map);
    pm_known_windows_free(known->windows);
    free(known->traces);
    pm_map_free(&known->traces_map);
    free(known);
}

struct pm_known_paths *pm_known_paths_of_share(struct pm_known_paths *known, unsigned n_cores) {
    for (size_t i = 0; i < known->n_shares; i++)
        if (known->shares[i].n_cores == n_cores)
            return known->shares[i].known;
    struct share_paths *share = PM_PUSH(known, shares);
    *share = (struct share_paths){n_cores, pm_known_paths_new(known)};
    return share->known;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void put(struct pm_known_paths *known, const void *bytes, size_t n) {
    if (known->n_key + n > known->cap_key) {
        known->cap_key = 2 * (known->n_key + n);
        known->key = pm_realloc(known->key, known->cap_key, 1);
    }
    memcpy(known->key + known->n_key, bytes, n);
    known->n_key += n;
}

/* One of the arrays of options; those that are not there are apart from all that are. */
static void put_array(struct pm_known_paths *known, const void *array, size_t n, size_t size) {
    const uint8_t is_there = array != NULL;
    put(known, &is_there, sizeof is_there);
    if (is_there)
        put(known, array, n * size);
}

static void make_key(struct pm_known_paths *known, const struct pm_structure *structure,
                     const struct pm_path_step *path, size_t n_steps,
                     const struct pm_schedule_options *options) {
    const double numbers[] = {options->trips, options->iterations};
    const uint32_t words[] = {options->loop,        options->without,    options->pessimistic,
                              options->with_modulo, options->bound_only, options->nearest_trips,
                              options->is_brief,    (uint32_t)n_steps};
    size_t n_references = 0;
    for (size_t i = 0; i < n_steps; i++)
        if (path[i].block != PM_NONE)
            n_references += structure->blocks[path[i].block].n_references;
    known->n_key = 0;
    put(known, numbers, sizeof numbers);
    put(known, words, sizeof words);
    put(known, path, n_steps * sizeof *path);
    put_array(known, options->load_latency_cycles, n_references, sizeof(double));
    put_array(known, options->crossings, n_references, sizeof *options->crossings);
    put_array(known, options->misses, n_references, sizeof *options->misses);
    put_array(known, options->wrong, n_steps, sizeof *options->wrong);
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct known_path *find(const struct pm_known_paths *known, uint64_t hash) {
    for (struct pm_map_entry at = pm_map_find(&known->map, hash); at.found;
         pm_map_next(&known->map, &at)) {
        struct known_path *path = &known->paths[at.item];
        if (path->n_bytes == known->n_key && memcmp(path->key, known->key, known->n_key) == 0)
            return path;
    }
    return NULL;
}

static struct known_path *add(struct pm_known_paths *known, uint64_t hash) {
    struct known_path *path = PM_PUSH(known, paths);
    path->key = pm_alloc(known->n_key, 1);
    path->n_bytes = known->n_key;
    memcpy(path->key, known->key, known->n_key);
    pm_map_add(&known->map, hash, (uint32_t)known->n_paths - 1);
    return path;
}

void pm_schedule_known_path(struct pm_known_paths *known, const struct pm_target_machine *target,
                            const struct pm_path_step *path, size_t n_steps,
                            const struct pm_schedule_options *options,
                            struct pm_path_schedule *schedule) {
    if (!known) {
        pm_schedule_path(target, path, n_steps, options, schedule);
        return;
    }
    make_key(known, target->structure, path, n_steps, options);
    uint64_t hash = pm_hash_bytes(known->key, known->n_key);
    struct known_path *found = find(known, hash);
    bool is_enough = found && found->with_causes >= options->with_causes &&
                     found->with_gains >= options->with_gains;
    if (!found)
        found = add(known, hash);
    if (!is_enough) {
        struct pm_schedule_options with_windows = *options;
        with_windows.windows = known->windows;
        pm_schedule_path(target, path, n_steps, &with_windows, &found->schedule);
        found->with_causes = options->with_causes;
        found->with_gains = options->with_gains;
    }
    *schedule = found->schedule;
}

/* ---- interprocedural traces ------------------------------------------------------------------ */

struct pm_trace_time *pm_known_trace(struct pm_known_paths *known, struct pm_digest trace,
                                     bool *is_new) {
    *is_new = false;
    for (struct pm_map_entry at = pm_map_find(&known->traces_map, trace.low); at.found;
         pm_map_next(&known->traces_map, &at))
        if (pm_digests_equal(known->traces[at.item].trace, trace))
            return &known->traces[at.item];
    *is_new = true;
    struct pm_trace_time *time = PM_PUSH(known, traces);
    time->trace = trace;
    pm_map_add(&known->traces_map, trace.low, (uint32_t)known->n_traces - 1);
    return time;
}
