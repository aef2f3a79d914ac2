/* `pmodel show`: what a store holds as it was measured; without a view, which runs it has. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/export/private.h"
#include "cmd/options.h"
#include "core/store/store.h"

static char *blocks_of(struct pm_store *store, const struct pm_parameters *at,
                       struct pm_error *err) {
    struct pm_profile *profile = pm_store_profile(store, at, err);
    char *text = profile ? pm_strdup("") : NULL;
    for (size_t i = 0; profile && i < profile->n_block_sizes; i++)
        pm_append(&text, "%s%llu", i ? "," : "", (unsigned long long)profile->block_sizes[i]);
    if (profile)
        pm_profile_free(profile);
    return text;
}

/* "times, carriers", beside counts. */
static char *extras_of(struct pm_store *store, const struct pm_parameters *at,
                       struct pm_error *err) {
    bool bytes = false, dirty = false, patterns = false, communication = false, intervals = false,
         behaviour = false;
    bool ok = pm_store_has_bytes(store, at, &bytes, err) &&
              pm_store_has_dirty(store, at, &dirty, err) &&
              pm_store_has_behaviour(store, at, &behaviour, err) &&
              pm_store_has_patterns(store, at, NULL, 0, &patterns, err) &&
              pm_store_has_communication(store, at, &communication, err) &&
              pm_store_has_intervals(store, at, false, &intervals, err);
    struct pm_times *times = ok ? pm_store_times(store, at, err) : NULL;
    struct pm_bounds *bounds = ok ? pm_store_bounds(store, at, err) : NULL;
    struct pm_block_profile *profile = ok ? pm_store_block_profile(store, at, err) : NULL;
    const struct {
        bool has;
        const char *name;
    } extras[] = {{times, "times"},     {bounds, "bounds"},       {patterns, "carriers"},
                  {bytes, "bytes"},     {dirty, "write-backs"},   {behaviour, "behaviour"},
                  {profile, "profile"}, {intervals, "intervals"}, {communication, "communication"}};
    char *text = pm_strdup("");
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        if (extras[i].has)
            pm_append(&text, "%s%s", *text ? ", " : "", extras[i].name);
    pm_times_free(times);
    pm_bounds_free(bounds);
    pm_block_profile_free(profile);
    if (err->kind == PM_ERROR_NONE)
        return text;
    free(text);
    return NULL;
}

static bool show_runs(const char *path, const struct pm_report_options *options,
                      struct pm_error *err) {
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    struct pm_parameters *runs = NULL;
    size_t n = 0;
    bool ok = store && pm_store_runs(store, &runs, &n, err);
    struct pm_stored_run *rows = pm_alloc(n + 1, sizeof *rows);
    for (size_t i = 0; i < n && ok; i++) {
        rows[i].size = pm_parameters_text(&runs[i]);
        rows[i].blocks = blocks_of(store, &runs[i], err);
        rows[i].extras = rows[i].blocks ? extras_of(store, &runs[i], err) : NULL;
        ok = rows[i].extras && pm_store_truncation(store, &runs[i], &rows[i].truncated, err);
    }
    if (ok)
        pm_report_stored_runs(stdout, rows, n, options);
    for (size_t i = 0; i < n; i++) {
        free(rows[i].size);
        free(rows[i].blocks);
        free(rows[i].extras);
        free(rows[i].truncated);
    }
    free(rows);
    free(runs);
    pm_store_close(store);
    return ok;
}

static const struct pm_option options[] = {PM_OPTIONS_TABLES(0), {0}};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct pm_report_options request = pm_default_report_options();
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 1)
        status = pm_usage_error(self->name, "give one store");
    if (status == 0 && !show_runs(line.arguments[0], &request, &err))
        status = pm_complain(&err);
    return status;
}

const struct pm_command pm_command_show_runs = {
    .name = "show",
    .view = "runs",
    .purpose = "which sizes a store has, and what was measured of each",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel show heat.pmdb",
    .options = options,
    .run = run,
};

static const struct pm_command *const views[] = {
    &pm_command_show_runs,    &pm_command_show_histograms,    &pm_command_show_strides,
    &pm_command_show_carried, &pm_command_show_intervals,     &pm_command_show_branches,
    &pm_command_show_profile, &pm_command_show_communication, NULL};

const struct pm_command pm_command_show = {
    .name = "show",
    .purpose = "what a store holds as it was measured: runs, histograms, profiles, messages",
    .usage = "[--as VIEW] [OPTION]... STORE",
    .examples = "pmodel show heat.pmdb\npmodel show --as histograms heat.pmdb -P N=64 >heat.json",
    .views = views,
};
