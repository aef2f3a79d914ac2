/* `pmodel show --as profile`: what each basic block of a run did with memory, as `pmodel run
   --profile` put it into the store. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"

struct request {
    struct pm_parameters at; /* -P; none: the largest run that has a profile */
    struct pm_profile_request show;
    bool strides, mix;
    struct pm_report_options options;
};

static void *read_profile(struct pm_store *store, const struct pm_parameters *at,
                          struct pm_error *err) {
    return pm_store_block_profile(store, at, err);
}

/* pm_find_of_run, of what fits the program.  NULL with a sentence. */
static struct pm_block_profile *find_profile(const struct pm_program *program, const char *path,
                                             struct pm_parameters *at, struct pm_error *err) {
    struct pm_block_profile *profile = pm_find_of_run(program, path, at, read_profile, err);
    if (profile && !pm_block_profile_fits(profile, program->structure, err)) {
        pm_block_profile_free(profile);
        return NULL;
    }
    if (profile || err->kind != PM_ERROR_NONE)
        return profile;
    char *size = pm_parameters_text(at);
    if (at->n == 0)
        pm_fail(err,
                "%s has no profile of basic blocks: `pmodel run --profile -o %s -- COMMAND` "
                "measures it",
                path, path);
    else
        pm_fail(err,
                "%s: the run with %s has no profile of basic blocks: `pmodel run --profile -o %s` "
                "with its command measures it",
                path, size, path);
    free(size);
    return NULL;
}

static bool report(struct request *request, const char *path, struct pm_error *err) {
    struct pm_program program = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    struct pm_block_profile *profile = NULL;
    if (store && pm_program_open(&program, store, err))
        profile = find_profile(&program, path, &request->at, err);
    if (profile)
        pm_report_block_profile(stdout, program.structure, &request->at, profile, &request->show,
                                &request->options);
    pm_block_profile_free(profile);
    pm_program_close(&program);
    pm_store_close(store);
    return profile != NULL;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which runs"),
    PM_OPTION_SIZE(AT(at)),
    PM_HEADING("what is shown"),
    PM_FLAG("strides", 0, AT(strides), "shares of the references by stride", .excludes = "mix",
            .because = "they are two tables"),
    PM_FLAG("mix", 0, AT(mix), "the dynamic mix of operations"),
    PM_FLAG("random", 0, AT(show.only_random), "only basic blocks with random references"),
    PM_OPTION_MIN_PERCENT(AT(options), "sums up blocks below this share of references (0.5)"),
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
        return pm_usage_error(pm_command_show_profile.name, "give one store");
    request.show.view = request.strides ? PM_PROFILE_STRIDES
                        : request.mix   ? PM_PROFILE_MIX
                                        : PM_PROFILE_BLOCKS;
    return report(&request, line.arguments[0], &err) ? PM_EXIT_OK : pm_complain(&err);
}

const struct pm_command pm_command_show_profile = {
    .name = "show --as profile",
    .purpose =
        "what each basic block does with memory: strides, operations, hits in simulated caches",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel show --as profile heat.pmdb    # of a run with `pmodel run --profile`",
    .options = options,
    .run = run,
};
