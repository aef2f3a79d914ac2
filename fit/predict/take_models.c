/* Profiles from the models in a store, which are read one after the other, and forgotten when their
   values at the size are known: those of a program with thousands of loops take hundreds of
   megabytes. */
#include <stdlib.h>

#include "core/base/base.h"
#include "fit/predict/predict.h"

struct taking {
    const struct pm_structure *structure;
    const struct pm_parameters *at;
    bool with_others; /* what sets that were held out say is wanted */
    struct pm_instance *instance[PM_N_MODELS_ROLES]; /* by role; NULL: not begun, or not wanted */
    struct pm_instance *into; /* what is added goes there; NULL: nobody wants it */
    struct pm_other_misses others;
    struct pm_error *err;
};

static void begin(void *context, enum pm_model_set_role role, const struct pm_model_set *set) {
    struct taking *taking = context;
    struct pm_error ignored = {0};
    const bool is_wanted =
        role == PM_MODELS_OF_ALL ||
        (taking->instance[PM_MODELS_OF_ALL] && (role != PM_MODELS_HELD_OUT || taking->with_others));
    taking->into =
        is_wanted ? pm_instance_new(taking->structure, set, taking->at, role == PM_MODELS_OF_DIRTY,
                                    role == PM_MODELS_HELD_OUT ? &ignored : taking->err)
                  : NULL;
    taking->instance[role] = taking->into;
}

static void take_histogram(void *context, const struct pm_histogram_model *histogram) {
    struct taking *taking = context;
    if (taking->into)
        pm_instance_add_histogram(taking->into, histogram);
}

static void take_strides(void *context, const struct pm_stride_model *strides) {
    struct taking *taking = context;
    if (taking->into)
        pm_instance_add_strides(taking->into, strides);
}

/* The one of all is left for when it is known that all could be read. */
static void end(void *context, enum pm_model_set_role role, const struct pm_model_set *set) {
    struct taking *taking = context;
    struct pm_instance *instance = taking->instance[role];
    if (!instance || role == PM_MODELS_OF_ALL)
        return;
    taking->instance[role] = NULL;
    if (role == PM_MODELS_OF_DIRTY) {
        pm_instance_add_dirty(taking->instance[PM_MODELS_OF_ALL], instance, set);
        return;
    }
    struct pm_error ignored = {0};
    struct pm_profile *profile = pm_instance_profile(instance, set, &ignored);
    if (profile)
        pm_other_misses_add(&taking->others, profile);
    pm_profile_free(profile);
}

static bool make_ends(const struct taking *taking, const struct pm_model_set *set, double level,
                      struct pm_predicted *predicted, struct pm_error *err) {
    bool ok = true;
    for (int end = 0; ok && end < 2; end++) {
        predicted->ends[end] = pm_profile_copy(predicted->profile);
        ok = pm_fit_move_to_end(taking->structure, set, &taking->others, level, end == 1,
                                predicted->ends[end], err);
    }
    return ok;
}

struct pm_model_set *pm_fit_take_models(struct pm_store *store,
                                        const struct pm_structure *structure,
                                        const struct pm_parameters *at, double level,
                                        struct pm_predicted *predicted, struct pm_error *err) {
    struct pm_error refused = {0};
    struct taking taking = {
        .structure = structure, .at = at, .with_others = level > 0, .err = &refused};
    const struct pm_model_taker taker = {&taking, begin, take_histogram, take_strides, end};
    *predicted = (struct pm_predicted){0};
    struct pm_model_set *set = pm_store_take_models(store, &taker, err);
    bool ok = set != NULL;
    if (ok && refused.kind != PM_ERROR_NONE) {
        *err = refused;
        ok = false;
    }
    if (ok) {
        predicted->profile = pm_instance_profile(taking.instance[PM_MODELS_OF_ALL], set, err);
        taking.instance[PM_MODELS_OF_ALL] = NULL;
        ok = predicted->profile != NULL;
    }
    if (ok) {
        ok = level <= 0 || !set->held_out_tried || make_ends(&taking, set, level, predicted, err);
    }
    for (int role = 0; role < PM_N_MODELS_ROLES; role++)
        pm_instance_free(taking.instance[role]);
    free(taking.others.curves);
    if (ok)
        return set;
    pm_predicted_free(predicted);
    pm_model_set_free(set);
    return NULL;
}

void pm_predicted_free(struct pm_predicted *predicted) {
    pm_profile_free(predicted->profile);
    pm_profile_free(predicted->ends[0]);
    pm_profile_free(predicted->ends[1]);
    *predicted = (struct pm_predicted){0};
}
