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

/* `--check`: two lifts beside what the compiler told of the program.  COPY: the same code, perhaps
   without symbols; PATH itself if there is none. */
static int check_program(const char *path, const char *copy,
                         const struct pm_report_options *options) {
    const struct pm_lift_options ignore = {.ignore_metadata = true};
    struct pm_error err = {0};
    struct pm_lifted *lifted = pm_lift(path, NULL, &err);
    struct pm_lifted *plain = lifted ? pm_lift(copy, &ignore, &err) : NULL;
    struct pm_check *with_metadata = plain ? pm_check_cfg(lifted, lifted) : NULL;
    if (with_metadata && with_metadata->n_routines == 0)
        pm_fail(&err,
                "%s: there is no compiler metadata (.pmodel) to compare with; compile and link "
                "with $(pmodel flags)",
                path);
    bool good = with_metadata && with_metadata->n_routines;
    if (good) {
        struct pm_check *of_plain = pm_check_cfg(lifted, plain);
        struct pm_check_report report = {pm_lifted_structure(lifted), copy == path ? NULL : copy,
                                         with_metadata, of_plain};
        pm_report_check(stdout, &report, options);
        pm_check_free(of_plain);
    }
    pm_check_free(with_metadata);
    pm_lifted_free(plain);
    pm_lifted_free(lifted);
    return good ? PM_EXIT_OK : pm_complain(&err);
}

int pm_cmd_loops(int argc, char **argv) {
    enum {
        OPT_GROUPS = 256,
        OPT_ROUTINE,
        OPT_PLAIN,
        OPT_CLASSES,
        OPT_FORMAT,
        OPT_CHECK,
        OPT_MIX,
        OPT_LEVEL
    };
    static const struct option long_options[] = {
        {"groups", no_argument, NULL, OPT_GROUPS},
        {"routine", required_argument, NULL, OPT_ROUTINE},
        {"plain", no_argument, NULL, OPT_PLAIN},
        {"classes", required_argument, NULL, OPT_CLASSES},
        {"format", required_argument, NULL, OPT_FORMAT},
        {"check", no_argument, NULL, OPT_CHECK},
        {"mix", no_argument, NULL, OPT_MIX},
        {"level", required_argument, NULL, OPT_LEVEL},
        {0},
    };
    struct pm_report_options options = pm_default_report_options();
    struct pm_lift_options lift_options = {0};
    bool with_groups = false, check = false, mix = false, has_level = false;
    enum pm_mix_level level = PM_MIX_LOOP;
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
        case OPT_CHECK:
            check = true;
            break;
        case OPT_MIX:
            mix = true;
            break;
        case OPT_LEVEL:
            has_level = true;
            if (!pm_mix_level_from_name(optarg, &level))
                return pm_usage_error("loops", "--level is block, loop or routine, not \"%s\"",
                                      optarg);
            break;
        case OPT_CLASSES:
            lift_options.classes_file = optarg;
            break;
        case OPT_FORMAT:
            if (!pm_option_format("loops", optarg, &options.format))
                return PM_EXIT_INPUT;
            break;
        default:
            return pm_usage_error("loops", "cannot read option \"%s\"", argv[optind - 1]);
        }
    if (has_level && !mix)
        return pm_usage_error("loops", "--level belongs to --mix");
    if (mix && (with_groups || check))
        return pm_usage_error("loops", "--mix is a table of its own, without --groups or --check");
    if (check && (with_groups || routine || lift_options.ignore_metadata))
        return pm_usage_error("loops", "--check compares all routines with metadata and without");
    if (check && argc - optind == 2)
        return check_program(argv[optind], argv[optind + 1], &options);
    if (argc - optind != 1)
        return pm_usage_error("loops", "give one program");
    if (check)
        return check_program(argv[optind], argv[optind], &options);
    struct pm_error err = {0};
    struct pm_lifted *lifted = NULL;
    if (pm_find_classes(&lift_options, &err))
        lifted = pm_lift(argv[optind], &lift_options, &err);
    if (!lifted)
        return pm_complain(&err);
    if (routine && !has_routine(pm_lifted_structure(lifted), routine)) {
        pm_fail(&err, "%s: no routine is called \"%s\" (`pmodel loops %s` lists them)",
                argv[optind], routine, argv[optind]);
        pm_lifted_free(lifted);
        return pm_complain(&err);
    }
    if (mix)
        pm_report_mix(stdout, pm_lifted_structure(lifted), level, routine, &options);
    else
        pm_report_loops(stdout, pm_lifted_structure(lifted), pm_lifted_statistics(lifted),
                        with_groups, routine, &options);
    if (pm_lifted_refusal(lifted))
        fprintf(stderr, "pmodel: %s\n", pm_lifted_refusal(lifted));
    pm_lifted_free(lifted);
    return PM_EXIT_OK;
}
