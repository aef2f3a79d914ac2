/* `pmodel show --as branches`: how predictable the branches of a run are, as `pmodel run` put it
   into the store. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/export/private.h"
#include "cmd/options.h"

struct request {
    struct pm_parameters at; /* -P; none: the largest run that has branches */
    struct pm_report_options options;
};

static void *read_branches(struct pm_store *store, const struct pm_parameters *at,
                           struct pm_error *err) {
    struct pm_profile *profile = pm_store_profile(store, at, err);
    if (profile && profile->behaviour.n_branches == 0) {
        pm_profile_free(profile);
        return NULL;
    }
    return profile;
}

static struct pm_profile *find_profile(const struct pm_program *program, const char *path,
                                       struct pm_parameters *at, struct pm_error *err) {
    struct pm_profile *profile = pm_find_of_run(program, path, at, read_branches, err);
    if (profile && !pm_profile_fits(profile, program->structure, err)) {
        pm_profile_free(profile);
        return NULL;
    }
    if (profile || err->kind != PM_ERROR_NONE)
        return profile;
    char *size = pm_parameters_text(at);
    pm_fail(err,
            "%s%s%s has no branches: `pmodel run -o %s` with its command measures them, unless "
            "--no-behaviour says not to",
            path, *size ? ", " : "", size, path);
    free(size);
    return NULL;
}

static bool report(struct request *request, const char *path, struct pm_error *err) {
    struct pm_program program = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    struct pm_profile *profile = NULL;
    if (store && pm_program_open(&program, store, err))
        profile = find_profile(&program, path, &request->at, err);
    if (profile)
        pm_report_branches(stdout, program.structure, &request->at, &profile->behaviour,
                           &request->options);
    pm_profile_free(profile);
    pm_program_close(&program);
    pm_store_close(store);
    return profile != NULL;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which runs"),
    PM_OPTION_SIZE(AT(at)),
    PM_HEADING("what is shown"),
    PM_OPTION_MIN_PERCENT(AT(options), "leaves out those below this share of mispredictions (0.5)"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status)
        return status;
    if (line.n_arguments != 1)
        return pm_usage_error(self->name, "give one store");
    return report(&request, line.arguments[0], &err) ? PM_EXIT_OK : pm_complain(&err);
}

const struct pm_command pm_command_show_branches = {
    .name = "show --as branches",
    .purpose = "how often reference predictors are wrong at each conditional branch",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel show --as branches cg.pmdb",
    .options = options,
    .run = run,
};
