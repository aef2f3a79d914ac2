/* The modelling stage: measured profiles → models.  Checks the profiles, and chooses those that are
   fitted; parallel.c fits them. */
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "fit/prepare/prepare.h"
#include "fit/private.h"

void pm_fit_note(struct pm_fit_statistics *statistics, const char *format, ...) {
    if (!statistics || statistics->n_notes == PM_FIT_MAX_NOTES)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(statistics->notes[statistics->n_notes++], PM_FIT_NOTE_SIZE, format, arguments);
    va_end(arguments);
}

static bool check_profiles(const struct pm_structure *structure,
                           const struct pm_profile *const *profiles, size_t n,
                           struct pm_error *err) {
    if (n < PM_FIT_LEAST_SIZES)
        return pm_fail(err,
                       "models need runs at 3 sizes at least, and there %s %zu: run more, "
                       "as in `pmodel run -P N=24,32,40,48,56`",
                       n == 1 ? "is" : "are", n);
    for (size_t i = 0; i < n; i++) {
        const struct pm_parameters *p = &profiles[i]->parameters;
        if (profiles[i]->n_edges != structure->n_edges)
            return pm_fail(err,
                           "a run belongs to another build of the program: it has %zu edges "
                           "where the structure has %zu",
                           profiles[i]->n_edges, structure->n_edges);
        bool same = p->n == profiles[0]->parameters.n;
        for (size_t k = 0; same && k < p->n; k++) {
            double value;
            same = pm_parameters_get(&profiles[0]->parameters, p->names[k], &value);
        }
        if (!same)
            return pm_fail(err, "the runs do not all have the same parameters: use a store of its "
                                "own for each set of parameters");
        for (size_t j = 0; j < i; j++)
            if (pm_parameters_equal(p, &profiles[j]->parameters))
                return pm_fail(err, "two runs have the same parameters");
    }
    return true;
}

void pm_fit_widen_range(struct pm_model_set *set, const struct pm_profile *profile) {
    for (size_t k = 0; k < set->low.n; k++) {
        double value = set->low.values[k];
        pm_parameters_get(&profile->parameters, set->low.names[k], &value);
        set->low.values[k] = fmin(set->low.values[k], value);
        set->high.values[k] = fmax(set->high.values[k], value);
    }
}

static void note_idle(const char *name, struct pm_fit_statistics *statistics) {
    if (!statistics)
        return;
    struct pm_fit_parameter *idle = &statistics->parameters[statistics->n_parameters++];
    *idle = (struct pm_fit_parameter){.role = PM_PARAMETER_IDLE, .error = NAN};
    snprintf(idle->name, sizeof idle->name, "%s", name);
}

/* Takes runs out of KEPT that differ from an earlier one only in a parameter that changes nothing;
   how many are left. */
static size_t drop_repeats(const struct pm_profile **kept, size_t n,
                           struct pm_fit_statistics *statistics) {
    const struct pm_parameters *all = &kept[0]->parameters;
    bool *repeats = pm_alloc(n, sizeof *repeats);
    size_t n_given = n;
    for (size_t p = 0; p < all->n && all->n > 1; p++) {
        struct pm_fit_sample *sample = pm_fit_sample_new(kept, n);
        bool idle = pm_fit_sample_ignores(sample, all->names[p], repeats);
        pm_fit_sample_free(sample);
        size_t n_left = 0;
        for (size_t k = 0; idle && k < n; k++)
            n_left += !repeats[k];
        if (n_left < PM_FIT_LEAST_SIZES)
            continue;
        note_idle(all->names[p], statistics);
        for (size_t k = 0, left = 0; k < n_given && k < n; k++)
            if (!repeats[k])
                kept[left++] = kept[k];
        n = n_left;
    }
    free(repeats);
    return n;
}

/* Models of the N profiles KEPT, without outlier sizes if OPTIONS say so. */
static struct pm_model_set *fit_kept(const struct pm_structure *structure,
                                     const struct pm_profile **kept, size_t n,
                                     const struct pm_fit_options *options,
                                     struct pm_fit_statistics *statistics, struct pm_error *err) {
    const char *names[PM_MAX_PARAMETERS];
    size_t n_names = pm_fit_varying(kept, n, options, names, statistics, err), n_left = 0;
    bool drop = options && options->drop_outliers;
    if (n_names == 0)
        return NULL;
    bool *is_outlier = pm_alloc(n, sizeof *is_outlier);
    if ((drop || statistics) && n_names == 1)
        pm_fit_find_outlier_sizes(kept, n, names[0], is_outlier, options ? options->n_threads : 0,
                                  statistics);
    for (size_t k = 0; k < n; k++)
        if (!drop || !is_outlier[k])
            kept[n_left++] = kept[k];
    free(is_outlier);
    if (statistics)
        statistics->outliers_dropped = drop && statistics->n_outliers > 0;
    return pm_fit_profiles(structure, kept, n_left, names, n_names, options, statistics, err);
}

struct pm_model_set *pm_fit(const struct pm_structure *structure,
                            const struct pm_profile *const *profiles, size_t n_profiles,
                            const struct pm_fit_options *options,
                            struct pm_fit_statistics *statistics, struct pm_error *err) {
    double started = omp_get_wtime();
    if (statistics)
        *statistics = (struct pm_fit_statistics){0};
    if (!pm_heuristics_read(err) || !check_profiles(structure, profiles, n_profiles, err))
        return NULL;
    const struct pm_profile **kept = pm_alloc(n_profiles, sizeof *kept);
    memcpy(kept, profiles, n_profiles * sizeof *kept);
    size_t n_kept = drop_repeats(kept, n_profiles, statistics);
    struct pm_model_set *set = fit_kept(structure, kept, n_kept, options, statistics, err);
    if (set) {
        for (size_t k = 0; k < n_profiles && n_kept < n_profiles; k++)
            pm_fit_widen_range(set, profiles[k]);
        set->n_runs_dropped = n_profiles - set->n_runs;
    }
    if (set && options)
        pm_dump_runs(options->dumping, profiles, n_profiles, set, statistics);
    if (statistics)
        statistics->seconds = omp_get_wtime() - started;
    free(kept);
    return set;
}
