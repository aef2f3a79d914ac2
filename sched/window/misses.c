/* Loads that miss; see misses.h.

   A load misses level l in iteration i if  frac(i · φ + phase) < share of l,  φ the golden ratio:
   such numbers are spread as evenly as can be, so that few iterations have the right share, and a
   miss of an outer level is one of the inner ones, too.  A miss waits until one of as many as a
   level can have under way is done. */
#include "sched/window/misses.h"

#include <math.h>

static const double golden_ratio = 0.6180339887498949;

double pm_load_begun(struct pm_misses_under_way *misses, const struct pm_load_misses *load,
                     unsigned iteration, double begun) {
    double place = iteration * golden_ratio + load->phase, more = 0;
    place -= floor(place);
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
