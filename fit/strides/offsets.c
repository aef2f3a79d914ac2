/* Where references are relative to each other, as far as the size tells.

   References of one space have lowest addresses whose differences an exact model gives.  Each new
   one is tried against the first of the latest spaces; where none goes with it, it begins another.
   What the allocator decides is unknown, but for what it keeps to: a space whose begin has the same
   place in its page at every size has it at all sizes, and data that are whole pages apart at
   every size, and do not overlap, stay so: large arrays are given pages of their own. */
#include <math.h>
#include <stdlib.h>

#include "fit/strides/strides.h"

enum { MOST_TRIED = 16 }; /* of the latest spaces */

struct space {
    size_t first; /* model whose lowest address is its origin */
};
struct spaces {
    PM_ARRAY(struct space, spaces);
};

static const struct pm_reference_strides *strides_at(const struct pm_fit_job *job, size_t i,
                                                     size_t k) {
    return pm_strides_of_reference(&job->profiles[k]->strides, job->set->strides[i].reference);
}

/* SERIES gets the differences without their sign; false if some differ in it. */
static bool take_offsets(const struct pm_fit_job *job, size_t from, size_t to, double *series,
                         struct pm_stride_model *model) {
    size_t n = 0;
    bool above = false, below = false, pages = true;
    for (size_t k = 0; k < job->n; k++) {
        const struct pm_reference_strides *a = strides_at(job, from, k),
                                          *b = strides_at(job, to, k);
        series[k] = NAN;
        if (!a || !b)
            continue;
        double offset = b->lowest - a->lowest;
        series[k] = fabs(offset);
        above |= offset > 0;
        below |= offset < 0;
        pages &= offset != 0 && fmod(offset, PM_FIT_LEAST_PAGE) == 0 &&
                 (b->lowest > a->highest || a->lowest > b->highest);
        n++;
    }
    model->below = below;
    model->whole_pages = pages;
    return n >= PM_FIT_LEAST_SIZES && !(above && below);
}

static bool is_constant(const double *series, size_t n) {
    double value = NAN;
    for (size_t k = 0; k < n; k++) {
        if (!isnan(value) && !isnan(series[k]) && series[k] != value)
            return false;
        value = isnan(value) ? series[k] : value;
    }
    return true;
}

static bool goes_with(const struct pm_fit_job *job, struct pm_fit_worker *worker, size_t first,
                      size_t i) {
    struct pm_stride_model *model = &job->set->strides[i];
    if (!take_offsets(job, first, i, worker->series, model))
        return false;
    pm_series_fit(pm_partition_series(worker->partitions[0]), worker->series, PM_SERIES_COUNT,
                  &model->offset);
    return model->offset.exact || is_constant(worker->series, job->n);
}

/* Its lowest address's place in its page; NAN: not the same at all sizes. */
static double place_in_page(const struct pm_fit_job *job, size_t i) {
    double place = NAN;
    for (size_t k = 0; k < job->n; k++) {
        const struct pm_reference_strides *strides = strides_at(job, i, k);
        if (!strides)
            continue;
        double here = fmod(strides->lowest, PM_FIT_LEAST_PAGE);
        if (!isnan(place) && here != place)
            return NAN;
        place = here;
    }
    return place;
}

void pm_fit_stride_offsets(const struct pm_fit_job *job, struct pm_fit_worker *worker) {
    struct spaces spaces = {0};
    for (size_t i = 0; i < job->set->n_strides; i++) {
        struct pm_stride_model *model = &job->set->strides[i];
        bool found = false;
        if (!model->known)
            continue;
        for (size_t tried = 0; tried < MOST_TRIED && tried < spaces.n_spaces && !found; tried++) {
            size_t s = spaces.n_spaces - 1 - tried;
            found = goes_with(job, worker, spaces.spaces[s].first, i);
            if (found) {
                model->space = (uint32_t)s;
                model->place_in_page = job->set->strides[spaces.spaces[s].first].place_in_page;
            }
        }
        if (found)
            continue;
        model->space = (uint32_t)spaces.n_spaces;
        model->offset = pm_model_zero(job->n);
        model->below = model->whole_pages = false;
        model->place_in_page = place_in_page(job, i);
        PM_PUSH(&spaces, spaces)->first = i;
    }
    free(spaces.spaces);
}
