/* `pmodel report --as roofline`: a machine's roofs, and the loops of a program, or of two, under
 * them. */
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/progress.h"

enum { MOST_STORES = 2 };

struct request {
    struct pm_parameters at;
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_report_options options;
    bool svg;
};

/* A store with what is shown of it. */
struct side {
    struct pm_subject subject;
    struct pm_rooflined_program shown;
};

static bool find_points(const struct request *request, const char *path,
                        const struct pm_signature *signature, struct side *side,
                        struct pm_warnings *warnings, struct pm_error *err) {
    const struct pm_question question = {.at = &request->at,
                                         .machines = request->on.machines,
                                         .n_machines = 1,
                                         .predict = request->predict,
                                         .without_ends = true,
                                         .needs_misses = true};
    struct pm_answer *answer = pm_subject_open(&side->subject, path, NULL, err)
                                   ? pm_ask_and_say(&side->subject, &question, err)
                                   : NULL;
    side->shown.structure = side->subject.program.structure;
    side->shown.name = pm_base_name(path);
    bool ok = answer && pm_roofline_of(side->shown.structure, answer->profile, signature,
                                       answer->predictions[0], &side->shown.roofline, err);
    if (ok) {
        side->shown.at = answer->profile->parameters;
        pm_answer_warn(answer, request->on.machines, warnings);
    }
    pm_answer_free(answer);
    return ok;
}

static void print(const struct request *request, const struct pm_signature *signature,
                  const struct pm_rooflined_program *programs, size_t n,
                  const struct pm_warnings *warnings) {
    struct pm_report_options options = request->options;
    struct pm_roofs roofs;
    options.warnings = warnings;
    pm_roofs_of(signature, &roofs);
    if (request->svg)
        pm_report_roofline_svg(stdout, signature, &roofs, programs, n,
                               request->options.min_percent);
    else
        pm_report_roofline(stdout, signature, &roofs, programs, n, &options);
    pm_roofs_free(&roofs);
}

static bool roofline(const struct request *request, char *const *paths, size_t n,
                     struct pm_error *err) {
    struct side sides[MOST_STORES] = {0};
    struct pm_rooflined_program programs[MOST_STORES];
    struct pm_signature signature;
    struct pm_warnings warnings = {0};
    bool ok = pm_signature_make(request->on.machines[0], &signature, err);
    for (size_t i = 0; i < n && ok; i++) {
        ok = find_points(request, paths[i], &signature, &sides[i], &warnings, err);
        programs[i] = sides[i].shown;
    }
    if (ok)
        print(request, &signature, programs, n, &warnings);
    for (size_t i = 0; i < n; i++) {
        free(sides[i].shown.roofline.points);
        pm_subject_close(&sides[i].subject);
    }
    pm_warnings_free(&warnings);
    pm_signature_free(&signature);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which run"),
    PM_OPTION_SIZE(AT(at)),
    PM_HEADING("machine"),
    PM_OPTIONS_ONE_MACHINE(AT(on)),
    PM_OPTION_TIME(AT(predict)),
    PM_HEADING("what is shown"),
    PM_OPTION_MIN_PERCENT(AT(options), "leaves out loops with less of the time (1)"),
    PM_OPTIONS_DRAWN(AT(options), AT(svg)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    request.options.min_percent = 1;
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && (line.n_arguments < 1 || line.n_arguments > MOST_STORES))
        status = pm_usage_error(pm_command_report_roofline.name,
                                "give one store, or two: before and after");
    else if (status == 0 && request.on.n_machines != 1)
        status = pm_usage_error(pm_command_report_roofline.name, "name one machine with -m NAME");
    if (status == 0 && !roofline(&request, line.arguments, line.n_arguments, &err))
        status = pm_complain(&err);
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_report_roofline = {
    .name = "report --as roofline",
    .purpose = "loops under a machine's roofs, before and after a change",
    .usage = "-m MACHINE [OPTION]... STORE [STORE]",
    .examples = "pmodel report --as roofline heat.pmdb -m sapphire-rapids",
    .options = options,
    .run = run,
};
