/* Loads that miss; see misses.h.

   A load misses level l in iteration i if  frac(i · φ + phase) < share of l,  φ the golden ratio:
   such numbers are spread as evenly as can be, so that few iterations have the right share, and a
   miss of an outer level is one of the inner ones, too.  A miss waits until one of as many as a
   level can have under way is done. */
#include "sched/window/misses.h"

#include <math.h>

double pm_even_place(double number, double phase) {
    double place = number * PM_GOLDEN_RATIO + phase;
    return place - floor(place);
}

double pm_load_begun(struct pm_misses_under_way *misses, const struct pm_load_misses *load,
                     unsigned iteration, double begun) {
    double place = pm_even_place(iteration, load->phase), more = 0;
    for (size_t l = 0; l < misses->n_levels; l++) {
        if (place >= load->share[l])
            continue;
        more += load->cycles[l];
        if (misses->most[l])
            begun = fmax(begun, misses->done[l][misses->next[l] % misses->most[l]]);
    }
    for (size_t l = 0; l < misses->n_levels && more > 0; l++)
        if (place < load->share[l] && misses->most[l])
            misses->done[l][misses->next[l]++ % misses->most[l]] = begun + more;
    return begun + more;
}
