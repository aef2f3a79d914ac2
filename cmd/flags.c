/* `pmodel flags`: what to add to a compiler's command line. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"

int pm_cmd_flags(int argc, char **argv) {
    if (argc > 1)
        return pm_usage_error("flags", "unexpected argument \"%s\"", argv[1]);
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
