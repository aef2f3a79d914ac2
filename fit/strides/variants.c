/* The ways in which a walk goes on from time to time (core/strides/strides.h), as functions of the
   size.

   How many there are may grow with the size, as the passes of a Fourier transform do.  So each is
   modelled twice: as the i-th by time, counted from the first one on, and counted back from the
   last.  At a size one of the two is taken that all measured sizes agree with.  Where neither is,
   as where windows of the run met some passes of many, walks are as they usually are.  A pass's
   stride is proportional to the size in one of the two, and constant in the other. */
#include <math.h>

#include "fit/strides/strides.h"

/* The one of OF that comes RANK-th by time; FROM_LAST: counted from the last one; NULL: there are
   not as many. */
static const struct pm_stride_variant *variant_at(const struct pm_run_strides *run,
                                                  const struct pm_reference_strides *of,
                                                  uint32_t rank, bool from_last) {
    if (!of || rank >= of->n_variants)
        return NULL;
    const struct pm_stride_variant *variants = &run->variants[of->first_variant];
    rank = from_last ? of->n_variants - 1 - rank : rank;
    for (uint32_t v = 0; v < of->n_variants; v++) {
        uint32_t before = 0;
        for (uint32_t u = 0; u < of->n_variants; u++)
            before += variants[u].since < variants[v].since ||
                      (u < v && variants[u].since == variants[v].since);
        if (before == rank)
            return &variants[v];
    }
    return NULL;
}

/* Levels that it lasts for. */
static uint32_t levels_of(const struct pm_stride_variant *variant) {
    uint32_t n = 0;
    for (double spanned = 1; n < variant->n_levels && spanned < variant->phase; n++)
        spanned *= variant->levels[n].count;
    return n;
}

/* Which variant of a reference is modelled, and its figures at all sizes. */
struct sought {
    const struct pm_fit_job *job;
    struct pm_series_workspace *workspace;
    double *series; /* two values for each size */
    uint32_t reference, rank;
    bool from_last;
};

static const struct pm_stride_variant *variant_of_size(const struct sought *sought, size_t k,
                                                       const struct pm_reference_strides **of) {
    const struct pm_run_strides *run = &sought->job->profiles[k]->strides;
    *of = pm_strides_of_reference(run, sought->reference);
    return variant_at(run, *of, sought->rank, sought->from_last);
}

/* False if too few sizes have the level, or its directions differ. */
static bool fit_level(const struct sought *sought, uint32_t l,
                      struct pm_stride_level_model *level) {
    const size_t n = sought->job->n;
    const struct pm_reference_strides *of;
    size_t n_with = 0;
    bool upwards = false, downwards = false;
    for (size_t k = 0; k < n; k++) {
        const struct pm_stride_variant *variant = variant_of_size(sought, k, &of);
        bool has = variant && l < levels_of(variant);
        double stride = has ? variant->levels[l].stride_bytes : NAN;
        sought->series[k] = fabs(stride);
        sought->series[n + k] = has ? variant->levels[l].count : NAN;
        upwards |= stride > 0;
        downwards |= stride < 0;
        n_with += has;
    }
    if (n_with < PM_FIT_LEAST_SIZES || (upwards && downwards))
        return false;
    level->downwards = downwards;
    level->stride_share = level->count_share = 1;
    pm_series_fit(sought->workspace, sought->series, PM_SERIES_COUNT, &level->stride);
    pm_series_fit(sought->workspace, sought->series + n, PM_SERIES_COUNT, &level->count);
    return true;
}

static void fit_variant(const struct sought *sought, struct pm_stride_variant_model *model) {
    const size_t n = sought->job->n;
    const struct pm_reference_strides *of;
    size_t n_with = 0;
    for (size_t k = 0; k < n; k++) {
        const struct pm_stride_variant *variant = variant_of_size(sought, k, &of);
        sought->series[k] = variant ? variant->phase : NAN;
        sought->series[n + k] = variant ? fmax(0, variant->lowest - of->lowest) : NAN;
        n_with += variant != NULL;
    }
    const struct pm_stride_variant *largest = variant_of_size(sought, n - 1, &of);
    model->share = largest->share;
    model->since = largest->since;
    model->known = n_with >= PM_FIT_LEAST_SIZES;
    if (!model->known)
        return;
    pm_series_fit(sought->workspace, sought->series, PM_SERIES_COUNT, &model->phase);
    pm_series_fit(sought->workspace, sought->series + n, PM_SERIES_COUNT, &model->offset);
    const uint32_t n_levels = levels_of(largest);
    while (model->n_levels < n_levels &&
           fit_level(sought, model->n_levels, &model->levels[model->n_levels]))
        model->n_levels++;
    model->known = model->n_levels > 0;
}

static double median_phase(const struct pm_stride_variant *variants, uint32_t n) {
    double phases[PM_MOST_STRIDE_VARIANTS] = {0};
    for (uint32_t v = 0; v < n; v++)
        phases[v] = variants[v].phase;
    PM_SORT(phases, n, pm_compare_doubles);
    return phases[n / 2];
}

/* SERIES gets the executions of one phase of each variant, and those behind them the usual phase:
   small numbers of variants would not show how they grow.  False if too few sizes have any, or
   phases do not tell how many. */
static bool take_phases(const struct pm_fit_job *job, uint32_t reference, double *series,
                        bool *same_number) {
    size_t n_with = 0;
    uint32_t number = 0;
    bool phases_tell = true;
    *same_number = true;
    for (size_t k = 0; k < job->n; k++) {
        const struct pm_run_strides *run = &job->profiles[k]->strides;
        const struct pm_reference_strides *of = pm_strides_of_reference(run, reference);
        series[k] = series[job->n + k] = NAN;
        if (!of || !of->n_variants)
            continue;
        series[k] = 0;
        for (uint32_t v = 0; v < of->n_variants; v++)
            series[k] += run->variants[of->first_variant + v].phase;
        series[job->n + k] = median_phase(&run->variants[of->first_variant], of->n_variants);
        phases_tell &= round(series[k] / series[job->n + k]) == of->n_variants;
        *same_number &= !number || number == of->n_variants;
        number = of->n_variants;
        n_with++;
    }
    return n_with >= PM_FIT_LEAST_SIZES && (*same_number || phases_tell);
}

void pm_fit_stride_variants(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t i) {
    struct pm_stride_model *model = &job->set->strides[i];
    const struct pm_reference_strides *largest = &job->profiles[job->n - 1]->strides.references[i];
    uint32_t group = job->structure->references[largest->reference].group;
    size_t design =
        group == PM_NONE ? 0 : pm_fit_design_of_group(&job->bases, job->structure, group);
    struct pm_series_workspace *workspace = pm_partition_series(worker->partitions[design]);
    if (!model->known || !largest->n_variants ||
        !take_phases(job, largest->reference, worker->series, &model->same_number))
        return;
    pm_series_fit(workspace, worker->series, PM_SERIES_COUNT, &model->all_phases);
    pm_series_fit(workspace, worker->series + job->n, PM_SERIES_COUNT, &model->usual_phase);
    model->n_variants = largest->n_variants;
    model->variants = pm_alloc(2 * (size_t)model->n_variants, sizeof *model->variants);
    for (uint32_t v = 0; v < 2 * model->n_variants; v++) {
        bool from_last = v >= model->n_variants;
        const struct sought sought = {.job = job,
                                      .workspace = workspace,
                                      .series = worker->series,
                                      .reference = largest->reference,
                                      .rank = v % model->n_variants,
                                      .from_last = from_last};
        fit_variant(&sought, &model->variants[v]);
    }
}

/* ---- at a size ------------------------------------------------------------------------------- */

/* Does it have the values of all sizes? */
static bool holds(const struct pm_model *model) {
    return model->exact || model->relative_error == 0;
}

/* How many levels it has; 0: it is none that all sizes agree on. */
static uint32_t known_levels(const struct pm_stride_variant_model *model) {
    bool known = model && model->known && holds(&model->phase) && holds(&model->offset);
    for (uint32_t l = 0; known && l < model->n_levels; l++)
        known = holds(&model->levels[l].stride) && holds(&model->levels[l].count);
    return known ? model->n_levels : 0;
}

/* The RANK-th of N; NULL: not known. */
static const struct pm_stride_variant_model *choose(const struct pm_stride_model *model,
                                                    uint32_t rank, uint32_t n) {
    const uint32_t most = model->n_variants, back = n - 1 - rank;
    const struct pm_stride_variant_model *first = rank < most ? &model->variants[rank] : NULL,
                                         *last = back < most ? &model->variants[most + back] : NULL;
    if (!known_levels(first) && !known_levels(last))
        return NULL;
    return known_levels(first) >= known_levels(last) ? first : last;
}

/* A time for the RANK-th: behind those of the largest size are others as far apart. */
static double since(const struct pm_stride_model *model, uint32_t rank) {
    const uint32_t n = model->n_variants;
    const double last = model->variants[n - 1].since;
    return rank < n ? model->variants[rank].since
                    : last + (rank - n + 1) * (last - model->variants[0].since + 1);
}

static uint32_t number_at(const struct pm_stride_model *model, const struct pm_model_point *point) {
    if (model->same_number)
        return model->n_variants;
    if (!holds(&model->all_phases) || !holds(&model->usual_phase))
        return 0;
    double usual = pm_model_value_at(&model->usual_phase, point);
    double n = usual > 0 ? round(pm_model_value_at(&model->all_phases, point) / usual) : 0;
    return (uint32_t)fmin(PM_MOST_STRIDE_VARIANTS, fmax(0, n));
}

void pm_fit_predict_variants(const struct pm_stride_model *model,
                             const struct pm_model_point *point, struct pm_reference_strides *one,
                             struct pm_run_strides *strides) {
    if (!model->n_variants)
        return;
    const uint32_t n = number_at(model, point);
    double shares = 0, sum = 0;
    for (uint32_t v = 0; v < model->n_variants; v++)
        shares += model->variants[v].share;
    one->first_variant = strides->n_variants;
    for (uint32_t rank = 0; rank < n; rank++) {
        const struct pm_stride_variant_model *from = choose(model, rank, n);
        if (!from)
            continue;
        struct pm_stride_variant *variant = PM_PUSH(strides, variants);
        *variant = (struct pm_stride_variant){
            .share = from->share,
            .since = since(model, rank),
            .phase = fmax(1, pm_model_value_at(&from->phase, point)),
            .lowest = one->lowest + round(pm_model_value_at(&from->offset, point)),
            .n_levels = from->n_levels};
        double span = 0;
        for (uint32_t l = 0; l < from->n_levels; l++) {
            const struct pm_stride_level_model *level = &from->levels[l];
            double stride = round(pm_model_value_at(&level->stride, point));
            double count = fmax(1, pm_model_value_at(&level->count, point));
            variant->levels[l] =
                (struct pm_variant_level){level->downwards ? -stride : stride, count};
            span += stride * (count - 1);
        }
        variant->highest = variant->lowest + span;
        sum += from->share;
    }
    one->n_variants = (uint32_t)(strides->n_variants - one->first_variant);
    for (uint32_t v = 0; v < one->n_variants; v++)
        strides->variants[one->first_variant + v].share *= fmin(1, shares) / sum;
}
