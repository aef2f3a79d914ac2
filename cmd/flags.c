/* `pmodel flags`: what to add to a compiler's command line. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/options.h"

static int run(const struct pm_command *self, int argc, char **argv) {
    if (argc > 1)
        return pm_usage_error(self->name, "unexpected argument \"%s\"", argv[1]);
    struct pm_error err = {0};
    char *plugin = pm_library_path("pmodel.so", &err);
    if (!plugin)
        return pm_complain(&err);
    /* A name with a dot goes to plain dlopen, so the whole path is the option.  Linking needs
       nothing more: the runtime comes in when `pmodel run` instruments the program. */
    printf("-fplugin=%s\n", plugin);
    free(plugin);
    return PM_EXIT_OK;
}

const struct pm_command pm_command_flags = {
    .name = "flags",
    .purpose = "compiler flags that mark a program at compile time",
    .usage = "",
    .examples = "gcc -O3 -g $(pmodel flags) -o heat heat.c    # the code stays the same",
    .run = run,
};
