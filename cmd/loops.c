/* `pmodel loops`: what the lifter finds in a program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "cmd/blocks/blocks.h"
#include "cmd/cmd.h"
#include "cmd/loops_dump.h"
#include "cmd/measuring.h"
#include "cmd/progress.h"
#include "core/structure/structure.h"
#include "machines/probe/clock/clock.h"

static bool has_routine(const struct pm_structure *structure, const char *name) {
    uint32_t n_named;
    free(pm_routines_named(structure, name, &n_named));
    return n_named > 0;
}

/* `--check`: two lifts beside what the compiler wrote about the program.  COPY: the same code,
   perhaps without symbols; PATH itself if there is none. */
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
        struct pm_strides_check strides = {0};
        struct pm_check *of_plain = pm_check_cfg(lifted, plain);
        struct pm_check_report report = {pm_lifted_structure(lifted), copy == path ? NULL : copy,
                                         with_metadata, of_plain, &strides};
        pm_check_strides(lifted, &strides);
        pm_report_check(stdout, &report, options);
        pm_strides_check_free(&strides);
        pm_check_free(of_plain);
    }
    pm_check_free(with_metadata);
    pm_lifted_free(plain);
    pm_lifted_free(lifted);
    return good ? PM_EXIT_OK : pm_complain(&err);
}

/* `--summary`: a line for each of PATHS that can be read; a sentence for each other one. */
static int summarise(char **paths, size_t n_paths, const struct pm_lift_options *lift_options,
                     const struct pm_report_options *options) {
    struct pm_summary *summaries = pm_alloc(n_paths, sizeof *summaries);
    struct pm_lift_options for_summary = *lift_options;
    size_t n = 0;
    int status = PM_EXIT_OK;
    for_summary.end = PM_LIFT_SUMMARY;
    for (size_t i = 0; i < n_paths; i++) {
        struct pm_error err = {0};
        struct pm_lifted *lifted = pm_lift(paths[i], &for_summary, &err);
        if (!lifted) {
            status = pm_complain(&err);
            continue;
        }
        const struct pm_module *module = pm_lifted_structure(lifted)->modules;
        summaries[n++] = (struct pm_summary){.path = paths[i],
                                             .statistics = *pm_lifted_statistics(lifted),
                                             .text_bytes = module->text_bytes,
                                             .lifted_bytes = module->lifted_bytes,
                                             .has_metadata = module->has_metadata,
                                             .has_lines = module->has_lines};
        pm_lifted_free(lifted);
    }
    pm_report_summaries(stdout, summaries, n, options);
    free(summaries);
    return status;
}

/* `--time`: loops run alone on this machine. */
static bool show_times(const char *path, struct pm_structure *structure, const char *routine,
                       const struct pm_report_options *options, struct pm_error *err) {
    uint32_t n_named;
    bool *routines = pm_routines_named(structure, routine, &n_named);
    struct pm_loop_set *set = pm_loop_set_new(structure, NULL, routines, err);
    free(routines);
    double before = pm_core_share(PM_GAUGE_SECONDS);
    bool good = set && pm_loops_run(set, NULL, err);
    pm_say_core_share("loops", before, pm_core_share(PM_GAUGE_SECONDS));
    if (good)
        pm_report_loop_times(stdout, structure, set, options);
    else
        pm_fail_in(err, "%s", path);
    pm_loop_set_free(set);
    return good;
}

struct request {
    const char *path, *copy; /* copy: of --check; the same pointer if there is none */
    char **paths;            /* all, of --summary */
    size_t n_paths;
    struct pm_report_options options;
    struct pm_lift_options lift;
    struct pm_event_choice events; /* intervals only */
    bool with_groups, check, mix, time, instructions, summary;
    enum pm_mix_level level;
    const char *routine, *svg, *blocks;
    struct pm_machine_list on; /* with blocks */
    struct pm_dumping dump;
    enum pm_dump_format dump_format;
    unsigned max_blocks;
};

static int read_dump_format(const struct pm_option_use *use) {
    struct request *request = use->to;
    if (pm_dump_format_from_name(use->value, &request->dump_format))
        return 0;
    return pm_usage_error("loops", "--dump-format is text or dot, not \"%s\"", use->value);
}

static int read_level(const struct pm_option_use *use) {
    struct request *request = use->to;
    if (pm_mix_level_from_name(use->value, &request->level))
        return 0;
    return pm_usage_error("loops", "--level is block, loop, routine, module or program, not \"%s\"",
                          use->value);
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("what is shown, if not the list of loops and counters"),
    PM_FLAG("mix", 0, AT(mix), "the mix of instructions",
            .excludes = "check time dump summary svg groups"),
    PM_FLAG("time", 0, AT(time), "each innermost loop run alone: cycles of an iteration",
            .excludes = "check dump summary svg groups interval"),
    PM_TEXT("blocks", 0, "FILE", AT(blocks), "of --time: basic blocks as bytes, not a program",
            .needs = "time", .excludes = "mix routine plain classes interval"),
    PM_OPTIONS_MACHINE(AT(on), "MACHINE", "predicts --blocks for it, too", .needs = "blocks"),
    PM_FLAG("check", 0, AT(check), "what is lifted beside the compiler's own facts",
            .excludes = "dump summary svg groups routine plain interval",
            .because = "all routines are compared, with metadata and without"),
    PM_OPTION_DUMP(AT(dump), "what a pass of the lifter made, of all or of some routines",
                   .excludes = "summary svg groups classes format wide interval"),
    PM_READ("dump-format", 0, "text|dot", read_dump_format, 0, "how --dump prints it",
            .needs = "dump"),
    PM_TEXT("svg", 0, "NAME", AT(svg), "a drawing of one routine",
            .excludes = "summary groups routine classes format wide interval"),
    PM_FLAG("summary", 0, AT(summary), "a line for each file",
            .excludes = "groups routine interval"),
    PM_HEADING("what of it"),
    PM_FLAG("groups", 0, AT(with_groups), "also data, strides, loads and stores of each loop"),
    PM_READ("level", 0, "block|loop|routine|module|program", read_level, 0,
            "what a row of --mix stands for", .needs = "mix"),
    PM_TEXT("routine", 0, "NAMES", AT(routine), "only these routines"),
    PM_FLAG("plain", 0, AT(lift.ignore_metadata), "as if it had been built without the plugin"),
    PM_TEXT("classes", 0, "FILE", AT(lift.classes_file), "instruction classes of your own"),
    PM_ADDED("interval", 0, "NAMES", pm_add_interval, AT(events),
             "counters as they are when calls of these routines end an interval", .repeats = true),
    PM_FLAG("instructions", 0, AT(instructions), "draws the instructions of basic blocks",
            .needs = "svg"),
    PM_READ("max-blocks", 0, "N", pm_read_count, AT(max_blocks),
            "draws only the loops of routines with more blocks (500)", .needs = "svg"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

/* 0, or the exit status after complaining. */
static int read_options(const struct pm_command *self, int argc, char **argv,
                        struct request *request) {
    struct pm_command_line line = {.command = self, .request = request};
    int status = pm_read_options(&line, argc, argv);
    if (status)
        return status;
    size_t n = line.n_arguments;
    if (request->blocks && (n || request->on.n_machines > 1))
        return pm_usage_error("loops", n ? "--blocks are code themselves, without a program"
                                         : "--blocks are predicted for one machine");
    if (request->blocks)
        return 0;
    bool may_be_several = request->summary || (request->check && n == 2);
    if (request->dump.list)
        return 0;
    if (n == 0 || (n != 1 && !may_be_several))
        return pm_usage_error("loops", "give one program");
    request->paths = line.arguments;
    request->n_paths = n;
    request->path = line.arguments[0];
    request->copy = line.arguments[n - 1];
    return 0;
}

static int show_program(struct request *request) {
    struct pm_lift_options lift = request->lift;
    struct pm_error err = {0};
    struct pm_lifted *lifted = NULL;
    pm_event_choice_lift(&request->events, &lift);
    pm_work_begin("reading %s", request->path);
    if (pm_find_classes(&lift, &err))
        lifted = pm_lift(request->path, &lift, &err);
    pm_work_end();
    if (!lifted || !pm_event_choice_check(&request->events, &err)) {
        pm_lifted_free(lifted);
        return pm_complain(&err);
    }
    if (request->routine && !has_routine(pm_lifted_structure(lifted), request->routine)) {
        pm_fail(&err, "%s: no routine is called \"%s\" (`pmodel loops %s` lists them)",
                request->path, request->routine, request->path);
        pm_fail_nearest_routine(&err, pm_lifted_structure(lifted), request->routine);
        pm_lifted_free(lifted);
        return pm_complain(&err);
    }
    bool good = true;
    if (request->time)
        good = show_times(request->path, pm_lifted_structure(lifted), request->routine,
                          &request->options, &err);
    else if (request->mix)
        pm_report_mix(stdout, pm_lifted_structure(lifted), request->level, request->routine,
                      &request->options);
    else
        pm_report_loops(stdout, pm_lifted_structure(lifted), pm_lifted_statistics(lifted),
                        request->with_groups, request->routine, &request->options);
    if (good && !request->time && pm_lifted_refusal(lifted))
        fprintf(stderr, "pmodel: %s\n", pm_lifted_refusal(lifted));
    pm_lifted_free(lifted);
    return good ? PM_EXIT_OK : pm_complain(&err);
}

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options(),
                              .level = PM_MIX_LOOP,
                              .dump.passes = pm_lift_passes};
    int status = read_options(self, argc, argv, &request);
    if (status)
        return status;
    if (request.dump.list)
        return pm_list_passes(&request.dump);
    if (request.blocks) {
        status =
            pm_show_blocks(request.blocks, true,
                           request.on.n_machines ? request.on.machines[0] : NULL, &request.options);
        pm_free_machines(&request.on);
        return status;
    }
    if (request.summary)
        return summarise(request.paths, request.n_paths, &request.lift, &request.options);
    if (request.check)
        return check_program(request.path, request.copy, &request.options);
    if (request.dump.pass)
        return pm_dump_program(
            request.path, &(struct pm_dump_request){
                              .pass = request.dump.pass,
                              .format = request.dump_format,
                              .routine = request.dump.part ? request.dump.part : request.routine,
                              .ignore_metadata = request.lift.ignore_metadata,
                          });
    if (request.svg)
        return pm_draw_routine(request.path, &(struct pm_draw_request){
                                                 .routine = request.svg,
                                                 .instructions = request.instructions,
                                                 .ignore_metadata = request.lift.ignore_metadata,
                                                 .max_blocks = request.max_blocks,
                                             });
    status = show_program(&request);
    pm_event_choice_free(&request.events);
    return status;
}

static const struct pm_command *const views[] = {&pm_command_loops_schedule, NULL};
const struct pm_command pm_command_loops = {
    .name = "loops",
    .purpose = "what the lifter finds in a program: routines, loops, reference groups, counters",
    .usage = "[OPTION]... PROGRAM\n--time --blocks FILE [OPTION]...\n--check [OPTION]... PROGRAM "
             "[COPY]\n--summary [OPTION]... FILE...",
    .examples = "pmodel loops --groups ./heat    # loops, their data and strides",
    .options = options,
    .run = run,
    .views = views,
};
