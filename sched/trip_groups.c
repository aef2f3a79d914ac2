/* Entries of a loop in groups by how long they are.

   The cycles of an iteration hang on how many entries are in the window at once: in short entries a
   chain, as of a sum, runs beside that of the next entry, in long ones alone.  Where many entries
   are short and few long, as rows of a graph's matrix are, the mean trip count is that of none of
   them.  So each group of entries of similar length is scheduled by itself:

       cycles = Σ over groups of  iterations(group) · cycles an iteration(trips of the group)

   Entries are known by their trips where that was measured (core/behaviour/behaviour.h).  Of a loop
   all of whose entries are in one group the mean is that of the counts. */
#include "core/behaviour/behaviour.h"
#include "sched/constants.h"
#include "sched/schedule.h"

/* The rows of the only way out of LOOP. */
static const struct pm_measured_trips *rows_of(const struct pm_frequencies *f, uint32_t loop,
                                               size_t *n) {
    const struct pm_lists *regions = &f->regions;
    *n = 0;
    for (uint32_t k = regions->first[loop]; f->behaviour && k < regions->first[loop + 1]; k++) {
        const struct pm_measured_trips *rows =
            pm_behaviour_trips(f->behaviour, regions->items[k], n);
        if (*n)
            return rows;
    }
    return NULL;
}

unsigned pm_trip_groups(const struct pm_frequencies *frequencies, uint32_t region,
                        struct pm_trip_group groups[PM_MOST_TRIP_GROUPS]) {
    bool is_loop = frequencies->structure->scopes[region].kind == PM_SCOPE_LOOP;
    struct {
        double entries, iterations, shortest;
    } sums[PM_MOST_TRIP_GROUPS] = {{0}};
    double iterations = 0;
    size_t n_rows = 0;
    const struct pm_measured_trips *rows = is_loop ? rows_of(frequencies, region, &n_rows) : NULL;
    unsigned n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        double trips = rows[i].iterations / rows[i].entries;
        if (n == 0 || (n < PM_MOST_TRIP_GROUPS &&
                       trips > pm_sched_constants.trips_apart * sums[n - 1].shortest))
            sums[n++].shortest = trips;
        sums[n - 1].entries += rows[i].entries;
        sums[n - 1].iterations += rows[i].iterations;
        iterations += rows[i].iterations;
    }
    if (n < 2) {
        groups[0] = (struct pm_trip_group){is_loop ? pm_mean_trips(frequencies, region) : 0, 1};
        return 1;
    }
    for (unsigned g = 0; g < n; g++)
        groups[g] = (struct pm_trip_group){.trips = sums[g].iterations / sums[g].entries,
                                           .share = sums[g].iterations / iterations};
    return n;
}
