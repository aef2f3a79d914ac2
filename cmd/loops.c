/* `pmodel loops`: what the lifter finds in a program. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "binlift/binlift.h"
#include "cmd/cmd.h"

static bool has_routine(const struct pm_structure *structure, const char *name) {
    for (size_t i = 0; i < structure->n_routines; i++)
        if (strcmp(structure->routines[i].name, name) == 0 ||
            strcmp(structure->routines[i].display_name, name) == 0)
            return true;
    return false;
}

int pm_cmd_loops(int argc, char **argv) {
    enum { OPT_GROUPS = 256, OPT_ROUTINE, OPT_PLAIN, OPT_FORMAT };
    static const struct option long_options[] = {
        {"groups", no_argument, NULL, OPT_GROUPS},
        {"routine", required_argument, NULL, OPT_ROUTINE},
        {"plain", no_argument, NULL, OPT_PLAIN},
        {"format", required_argument, NULL, OPT_FORMAT},
        {0},
    };
    struct pm_report_options options = pm_default_report_options();
    struct pm_lift_options lift_options = {0};
    bool with_groups = false;
    const char *routine = NULL;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        switch (c) {
        case OPT_GROUPS:
            with_groups = true;
            break;
        case OPT_ROUTINE:
            routine = optarg;
            break;
        case OPT_PLAIN:
            lift_options.ignore_metadata = true;
            break;
        case OPT_FORMAT:
            if (!pm_option_format("loops", optarg, &options.format))
                return PM_EXIT_INPUT;
            break;
        default:
            return pm_usage_error("loops", "cannot read option \"%s\"", argv[optind - 1]);
        }
    if (argc - optind != 1)
        return pm_usage_error("loops", "give one program");
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(argv[optind], &lift_options, &err);
    if (!lifted)
        return pm_complain(&err);
    if (routine && !has_routine(pm_lifted_structure(lifted), routine)) {
        pm_fail(&err, "%s: no routine is called \"%s\" (`pmodel loops %s` lists them)",
                argv[optind], routine, argv[optind]);
        pm_lifted_free(lifted);
        return pm_complain(&err);
    }
    pm_report_loops(stdout, pm_lifted_structure(lifted), pm_lifted_statistics(lifted), with_groups,
                    routine, &options);
    if (pm_lifted_refusal(lifted))
        fprintf(stderr, "pmodel: %s\n", pm_lifted_refusal(lifted));
    pm_lifted_free(lifted);
    return PM_EXIT_OK;
}
