/* Reuse patterns of a run as misses; see report_carried.h. */
#include "cmd/report_carried.h"

#include <stdlib.h>

#include "cmd/runs_of_store.h"
#include "core/base/base.h"
#include "sched/sched.h"

/* A run as --carry left it in the store. */
struct carried_run {
    struct pm_profile *profile;
    struct pm_run_patterns *patterns;
};

static bool read_run(struct pm_store *store, const struct pm_structure *structure,
                     const struct pm_parameters *at, struct carried_run *run,
                     struct pm_error *err) {
    run->patterns = pm_store_patterns(store, at, err);
    if (!run->patterns)
        return err->kind == PM_ERROR_NONE;
    run->profile = pm_store_profile(store, at, err);
    return run->profile && pm_profile_fits(run->profile, structure, err) &&
           pm_run_patterns_fit(run->patterns, structure, err);
}

static bool find_run(struct pm_store *store, const struct pm_structure *structure,
                     const struct pm_parameters *at, struct carried_run *run,
                     struct pm_error *err) {
    struct pm_parameters *runs;
    size_t n_runs;
    if (!pm_store_runs(store, &runs, &n_runs, err))
        return false;
    bool ok = n_runs > 0 || pm_fail(err, "the store holds no run yet: measure with `pmodel run`");
    ok = ok && pm_check_parameter_names(&runs[n_runs - 1], at, err);
    for (size_t i = n_runs; ok && i-- > 0 && !run->profile;)
        if (pm_run_matches(&runs[i], at))
            ok = read_run(store, structure, &runs[i], run, err);
    free(runs);
    return ok && (run->profile ||
                  pm_fail(err, "no run of this size was made with --carry, which is needed to tell "
                               "what carries its misses: `pmodel run --carry`"));
}

bool pm_report_store_carried(struct pm_store *store, const struct pm_parameters *at,
                             const struct pm_machine_list *on,
                             const struct pm_report_options *options, struct pm_error *err) {
    struct pm_structure *structure = pm_store_structure(store, err);
    struct carried_run run = {0};
    bool ok = structure && find_run(store, structure, at, &run, err);
    for (size_t i = 0; ok && i < on->n_machines; i++)
        ok = pm_check_block_sizes(run.profile, on->machines[i], err);
    if (ok)
        pm_report_carried(stdout,
                          &(struct pm_carried_report){
                              .structure = structure,
                              .profile = run.profile,
                              .patterns = run.patterns,
                              .machines = (const struct pm_machine *const *)on->machines,
                              .n_machines = on->n_machines,
                          },
                          options);
    if (run.profile)
        pm_profile_free(run.profile);
    pm_run_patterns_free(run.patterns);
    if (structure)
        pm_structure_free(structure);
    return ok;
}
