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

int pm_cmd_merge(int argc, char **argv) {
    const char *to = NULL;
    bool quiet = false;
    const struct pm_option options[] = {
        PM_OPTION_TEXT(NULL, 'o', &to), PM_OPTION_FLAG("quiet", 'q', &quiet), {0}};
    struct pm_command_line line = {.command = "merge", .options = options};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && !to)
        status = pm_usage_error("merge", "name the store to be made with -o NAME.pmdb");
    if (status == 0 && line.n_arguments == 0)
        status = pm_usage_error("merge", "name the stores to be joined");
    if (status == 0 && !pm_store_merge(to, line.arguments, line.n_arguments, say, &quiet, &err))
        status = pm_complain(&err);
    return status;
}
