/* `pmodel run`: measure a program at one or more problem sizes.

   The steps: options (run_request.c) → sizes (run_design.c) → measuring them (run_session.c). */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/run_command.h"
#include "cmd/run_request.h"
#include "cmd/run_session.h"
#include "cmd/run_substitute.h"

static int print_commands(const struct pm_run_request *request, const struct pm_parameters *sizes,
                          size_t n_sizes) {
    for (size_t i = 0; i < n_sizes; i++) {
        struct pm_error err = {0};
        char **argv =
            pm_substitute_all(request->argv, pm_count_strings(request->argv), &sizes[i], &err);
        if (!argv)
            return pm_complain(&err);
        char *size = pm_parameters_text(&sizes[i]), *command = pm_command_text(argv);
        char *build = request->build ? pm_substitute(request->build, &sizes[i], &err) : NULL;
        bool ok = build || !request->build;
        if (ok)
            printf("%s%s%s%s%s\n", size, *size ? ": " : "", build ? build : "", build ? " && " : "",
                   command);
        free(build);
        free(command);
        free(size);
        pm_free_strings(argv);
        if (!ok)
            return pm_complain(&err);
    }
    return PM_EXIT_OK;
}

static int run_request(const struct pm_run_request *request) {
    struct pm_error err = {0};
    struct pm_parameters *sizes = NULL;
    size_t n_sizes = 0;
    if (!pm_run_design_sizes(&request->design, &sizes, &n_sizes, &err))
        return pm_complain(&err);
    int status;
    if (request->dry_run) {
        status = print_commands(request, sizes, n_sizes);
    } else {
        struct pm_run_session *session = pm_run_session_new(request, &sizes[0], &err);
        status = session ? pm_run_session_measure(session, sizes, n_sizes) : pm_complain(&err);
        pm_run_session_free(session);
    }
    free(sizes);
    return status;
}

int pm_cmd_run(int argc, char **argv) {
    struct pm_run_request request = {0};
    int status = pm_read_run_request(&request, argc, argv);
    if (status == 0)
        status = run_request(&request);
    pm_run_request_free(&request);
    return status;
}
