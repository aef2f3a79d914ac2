/* Up to which size reuses hit, for `pmodel query --fits` and `pmodel report --fits`. */
#include <stdlib.h>
#include <string.h>

#include "cmd/progress.h"
#include "cmd/query/private.h"

bool pm_print_fits(const struct pm_program *program, const struct pm_query_surface *surface,
                   const struct pm_query_parts *parts, const struct pm_query_caches *on,
                   const struct pm_report_options *options, struct pm_error *err) {
    const struct pm_query_groups **groups = pm_query_parts_groups(parts);
    struct pm_query_cache *caches = pm_alloc(on->n_caches, sizeof *caches);
    size_t n = parts->n_parts * on->n_caches;
    struct pm_query_fits *fits = pm_alloc(n, sizeof *fits);
    for (size_t i = 0; i < on->n_caches; i++)
        caches[i] = on->caches[i].cache;
    pm_work_begin("looking for sizes that fit");
    bool ok = pm_query_fits(surface, program->models, groups, parts->n_parts, caches, on->n_caches,
                            fits, err);
    pm_work_end();
    struct pm_query_report report = {
        .kind = PM_QUERY_FITS,
        .structure = program->structure,
        .parts = parts,
        .measured_up_to = program->measured_up_to,
        .models = program->models,
        .caches = on,
        .fits = fits,
        .fixed = surface->fixed,
    };
    pm_query_report_range(&report, surface);
    if (ok)
        pm_report_query(stdout, &report, options);
    for (size_t i = 0; i < n; i++)
        pm_query_fits_free(&fits[i]);
    free(fits);
    free(caches);
    free(groups);
    return ok;
}

/* ---- pmodel report --------------------------------------------------------------------------- */

static bool print_machine(struct pm_program *program, const struct pm_query_surface *surface,
                          const struct pm_machine *machine, const struct pm_report_options *options,
                          struct pm_error *err) {
    struct pm_query_caches levels = {0};
    struct pm_query_parts parts = {0};
    struct pm_profile *profile = pm_query_profile(surface, surface->largest_measured, err);
    bool ok = profile && pm_check_block_sizes(profile, machine, err) &&
              pm_query_find_parts(program->structure, PM_QUERY_LOOP, NULL, 0, &parts, err);
    if (ok) {
        pm_query_add_levels(&levels, machine);
        pm_query_weigh(&parts, program->structure, profile, &levels);
        pm_query_keep_shown(&parts, options);
        fputc('\n', stdout);
        ok = pm_print_fits(program, surface, &parts, &levels, options, err);
    }
    if (profile)
        pm_profile_free(profile);
    pm_query_parts_free(&parts);
    pm_query_caches_free(&levels);
    return ok;
}

struct pm_parameters pm_parameters_without(const struct pm_parameters *at, const char *name) {
    struct pm_parameters rest = {0};
    for (size_t i = 0; i < at->n; i++)
        if (strcmp(at->names[i], name) != 0)
            pm_parameters_set(&rest, at->names[i], at->values[i], NULL);
    return rest;
}

bool pm_print_fits_of_loops(struct pm_program *program, const struct pm_parameters *at,
                            const struct pm_machine_list *on,
                            const struct pm_report_options *options, struct pm_error *err) {
    bool ok = pm_query_needs_models(program, err);
    const struct pm_parameters *measured = ok ? &program->models->high : NULL;
    for (size_t p = 0; ok && p < measured->n; p++) {
        if (!pm_query_depends_on(program->models, measured->names[p]))
            continue;
        struct pm_parameters fixed =
            pm_parameters_without(at->n ? at : measured, measured->names[p]);
        struct pm_query_surface surface;
        ok = pm_query_find_surface(program, &fixed, NULL, NULL, &surface, err);
        for (size_t m = 0; m < on->n_machines && ok; m++)
            ok = print_machine(program, &surface, on->machines[m], options, err);
    }
    return ok;
}
