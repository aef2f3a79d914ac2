/* `pmodel merge`: the runs of several stores in one. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "core/store/store.h"

static void say(void *context, const char *sentence) {
    if (!*(const bool *)context)
        fprintf(stderr, "pmodel merge: %s\n", sentence);
}

struct request {
    const char *to;
    bool quiet;
};

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_OPTION_OUTPUT("STORE", AT(to), "the store to be made"),
    PM_OPTION_QUIET(AT(quiet)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {0};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && !request.to)
        status = pm_usage_error("merge", "name the store to be made with -o NAME.pmdb");
    if (status == 0 && line.n_arguments == 0)
        status = pm_usage_error("merge", "name the stores to be joined");
    if (status == 0 &&
        !pm_store_merge(request.to, line.arguments, line.n_arguments, say, &request.quiet, &err))
        status = pm_complain(&err);
    return status;
}

const struct pm_command pm_command_merge = {
    .name = "merge",
    .purpose = "join the runs of one program that were measured in different places",
    .usage = "-o STORE [OPTION]... STORE...",
    .examples = "pmodel merge -o heat.pmdb node1/heat.pmdb node2/heat.pmdb",
    .options = options,
    .run = run,
};
