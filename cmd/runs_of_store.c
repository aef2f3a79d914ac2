/* Runs of a store; see runs_of_store.h. */
#include "cmd/runs_of_store.h"

#include <stdlib.h>

#include "core/base/base.h"

bool pm_run_matches(const struct pm_parameters *run, const struct pm_parameters *wanted) {
    for (size_t i = 0; i < wanted->n; i++) {
        double value;
        if (!pm_parameters_get(run, wanted->names[i], &value) || value != wanted->values[i])
            return false;
    }
    return true;
}

bool pm_check_parameter_names(const struct pm_parameters *known, const struct pm_parameters *wanted,
                              struct pm_error *err) {
    for (size_t i = 0; i < wanted->n; i++) {
        double ignored;
        if (pm_parameters_get(known, wanted->names[i], &ignored))
            continue;
        char *text = pm_strdup("");
        for (size_t k = 0; k < known->n; k++) {
            pm_append(&text, "%s%s", k ? ", " : "", known->names[k]);
        }
        if (known->n)
            pm_fail(err, "no parameter \"%s\" in this store: its runs have %s", wanted->names[i],
                    text);
        else
            pm_fail(err, "no parameter \"%s\" in this store: its run was made without -P",
                    wanted->names[i]);
        free(text);
        return false;
    }
    return true;
}

void pm_profiles_free(struct pm_profile **profiles, size_t n) {
    for (size_t i = 0; profiles && i < n; i++)
        pm_profile_free(profiles[i]);
    free(profiles);
}

struct pm_profile **pm_read_profiles(struct pm_store *store, const struct pm_structure *structure,
                                     const struct pm_parameters *sizes, size_t n,
                                     struct pm_error *err) {
    struct pm_profile **profiles = pm_alloc(n, sizeof(struct pm_profile *));
    for (size_t i = 0; i < n; i++) {
        profiles[i] = pm_store_profile(store, &sizes[i], err);
        if (profiles[i] && pm_profile_fits(profiles[i], structure, err))
            continue;
        if (!profiles[i] && err->kind == PM_ERROR_NONE) {
            char *size = pm_parameters_text(&sizes[i]);
            pm_fail(err,
                    "the run %s that the models were made from is no longer there: call "
                    "`pmodel fit` again",
                    size);
            free(size);
        }
        pm_profiles_free(profiles, n);
        return NULL;
    }
    return profiles;
}
