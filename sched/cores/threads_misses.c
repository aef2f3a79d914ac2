/* Misses of threads and of both ends of their intervals, which are looked for together; see
   cores.h. */
#include <stdlib.h>

#include "fit/sets/sets.h"
#include "sched/cores/cores.h"

/* The misses of a thread: by level, those of the profile's histograms, then those of its ends'. */
struct thread_misses {
    size_t n_levels;
    double **of_levels; /* NULL: not asked for yet */
};

struct pm_threads_misses {
    const struct pm_profile *profile;
    struct pm_profile *const *ends;
    unsigned n_cores; /* that they were asked for */
    struct thread_misses *threads;
};

struct pm_threads_misses *pm_threads_misses_new(const struct pm_profile *profile,
                                                struct pm_profile *const *ends) {
    struct pm_threads_misses *misses = pm_alloc(1, sizeof *misses);
    misses->profile = profile;
    misses->ends = ends;
    misses->threads = pm_alloc(profile->n_threads, sizeof *misses->threads);
    return misses;
}

void pm_threads_misses_free(struct pm_threads_misses *misses) {
    if (!misses)
        return;
    for (size_t t = 0; t < misses->profile->n_threads; t++)
        if (misses->threads[t].of_levels)
            pm_set_misses_free(misses->threads[t].of_levels, misses->threads[t].n_levels);
    free(misses->threads);
    free(misses);
}

static bool have_same_threads(const struct pm_threads_misses *misses) {
    return misses->ends && misses->ends[0]->n_threads == misses->profile->n_threads &&
           misses->ends[1]->n_threads == misses->profile->n_threads;
}

static void find(struct pm_threads_misses *misses, const struct pm_structure *structure, size_t t,
                 const struct pm_profile *thread, const struct pm_machine *machine,
                 const struct pm_machine *share) {
    const struct pm_machine *both[] = {machine, share};
    struct pm_profile *ends[2] = {0};
    for (int end = 0; have_same_threads(misses) && end < 2; end++)
        ends[end] = misses->ends[end]->threads[t];
    misses->threads[t] = (struct thread_misses){
        .n_levels = (t == 0 ? machine->n_levels : 0) + share->n_levels,
        .of_levels = pm_set_misses_of_machines(structure, thread, ends[0] ? ends : NULL,
                                               t == 0 ? both : both + 1, t == 0 ? 2 : 1)};
}

bool pm_threads_misses_of(struct pm_threads_misses *misses, const struct pm_structure *structure,
                          const struct pm_profile *of, size_t t, const struct pm_profile *thread,
                          const struct pm_machine *machine, const struct pm_machine *share,
                          unsigned n_cores, double **levels) {
    size_t first = 0;
    if (of == misses->profile) {
        misses->n_cores = n_cores;
        if (!misses->threads[t].of_levels)
            find(misses, structure, t, thread, machine, share);
    } else {
        if (misses->n_cores != n_cores || !have_same_threads(misses))
            return false;
        first = misses->profile->threads[t]->n_histograms;
        if (of == misses->ends[1])
            first += misses->ends[0]->threads[t]->n_histograms;
    }
    for (size_t l = 0; l < misses->threads[t].n_levels; l++)
        levels[l] = misses->threads[t].of_levels[l] + first;
    return true;
}
