/* `pmodel run-one`: what jobs of `pmodel run --launcher` execute on their nodes. */
#include <string.h>

#include "cmd/cmd.h"
#include "measure/launchers/launchers.h"

/* run-one FOLDER, or run-one --rank FOLDER NAME [ARGUMENT]... */
int pm_run_one(int argc, char **argv) {
    struct pm_error err = {0};
    if (argc == 2 && argv[1][0] != '-') {
        int status = pm_job_run(argv[1], &err) ? PM_EXIT_OK : pm_complain(&err);
        pm_die_of_interruption();
        return status;
    }
    if (argc < 4 || strcmp(argv[1], "--rank") != 0)
        return pm_usage_error("run", "`pmodel run-one` is for jobs that `pmodel run --launcher` "
                                     "made");
    pm_job_become_rank(argv[2], argv + 3, &err);
    return pm_complain(&err);
}
