/* `pmodel report --as convolution`: what the signatures of machines say of a program.

   The steps: a signature for each machine → what the program does, basic block by basic block of a
   profile, or loop by loop at a size → for each part and stride the rate at the point of the curve
   with its hit rates → equations (1) and (2), and the sum of times → a table, JSON or CSV. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/signature/parts.h"

struct request {
    struct pm_parts_request parts;
    struct pm_machine_list on;
    struct pm_report_options options;
};

static bool convolve_all(const struct request *request, const struct pm_stored_parts *stored,
                         const struct pm_signature *signatures, struct pm_error *err) {
    size_t n = request->on.n_machines;
    struct pm_convolution *convolutions = pm_alloc(n, sizeof *convolutions);
    struct pm_program_parts *parts = pm_alloc(n, sizeof *parts);
    bool ok = true;
    for (size_t m = 0; m < n && ok; m++)
        ok = pm_stored_parts_on(stored, &signatures[m], &parts[m], err) &&
             pm_convolve(&signatures[m], &parts[m], &convolutions[m], err);
    struct pm_warnings warnings = {0};
    struct pm_report_options options = request->options;
    if (ok && stored->answer)
        pm_answer_warn(stored->answer, NULL, &warnings);
    options.warnings = &warnings;
    if (ok)
        pm_report_convolutions(stdout, &stored->shown, convolutions, n, &options);
    pm_warnings_free(&warnings);
    for (size_t m = 0; m < n; m++) {
        pm_convolution_free(&convolutions[m]);
        pm_program_parts_free(&parts[m]);
    }
    free(convolutions);
    free(parts);
    return ok;
}

static bool convolve(const struct request *request, struct pm_error *err) {
    struct pm_stored_parts stored;
    bool ok = pm_stored_parts_open(&request->parts, &stored, err);
    struct pm_signature *signatures = ok ? pm_signatures_of(&request->on, err) : NULL;
    ok = signatures && convolve_all(request, &stored, signatures, err);
    if (signatures)
        pm_signatures_free(signatures, request->on.n_machines);
    pm_stored_parts_close(&stored);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which run"),
    PM_OPTION_SIZE(AT(parts.at)),
    PM_HEADING("machine"),
    PM_OPTIONS_MACHINES(AT(on)),
    PM_HEADING("what is shown"),
    PM_FLAG("by-loops", 0, AT(parts.by_models), "loops, also with a profile of basic blocks"),
    PM_OPTION_MIN_PERCENT(AT(options), "leaves out parts with less of words and time (1)"),
    PM_OPTION_TOP(AT(options), "at most N parts"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    request.options.min_percent = 1;
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 1)
        status = pm_usage_error(pm_command_report_convolution.name, "give one store");
    else if (status == 0 && request.on.n_machines == 0)
        status = pm_usage_error(pm_command_report_convolution.name,
                                "name one or more machines with -m NAME");
    if (status == 0) {
        request.parts.store_path = line.arguments[0];
        if (!convolve(&request, &err))
            status = pm_complain(&err);
    }
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_report_convolution = {
    .name = "report --as convolution",
    .purpose = "what the signatures of machines say of a program: rates, time, their ratio",
    .usage = "-m MACHINE [OPTION]... STORE",
    .examples = "pmodel report --as convolution heat.pmdb -m sapphire-rapids",
    .options = options,
    .run = run,
};
