/* `pmodel machines --curves`: the curves of machines, and where the parts of a program lie on them.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/signature/parts.h"

struct request {
    struct pm_parts_request parts; /* of --profile; its path is NULL: none */
    struct pm_machine_list on;
    struct pm_report_options options;
    bool svg;
};

static void print(const struct request *request, const struct pm_signature *signatures,
                  const struct pm_convolved_program *program,
                  const struct pm_convolution *convolutions) {
    if (request->svg)
        pm_report_signature_svg(stdout, &signatures[0], program, convolutions);
    else
        pm_report_signatures(stdout, signatures, request->on.n_machines, program, convolutions,
                             &request->options);
}

static bool place_and_print(const struct request *request, const struct pm_signature *signatures,
                            struct pm_error *err) {
    struct pm_stored_parts stored;
    size_t n = request->on.n_machines;
    struct pm_convolution *convolutions = pm_alloc(n, sizeof *convolutions);
    struct pm_program_parts *parts = pm_alloc(n, sizeof *parts);
    bool ok = pm_stored_parts_open(&request->parts, &stored, err);
    for (size_t m = 0; m < n && ok; m++)
        ok = pm_stored_parts_on(&stored, &signatures[m], &parts[m], err) &&
             pm_convolve(&signatures[m], &parts[m], &convolutions[m], err);
    if (ok)
        print(request, signatures, &stored.shown, convolutions);
    for (size_t m = 0; m < n; m++) {
        pm_convolution_free(&convolutions[m]);
        pm_program_parts_free(&parts[m]);
    }
    free(convolutions);
    free(parts);
    pm_stored_parts_close(&stored);
    return ok;
}

static bool show(const struct request *request, struct pm_error *err) {
    struct pm_signature *signatures = pm_signatures_of(&request->on, err);
    bool ok = signatures != NULL;
    if (ok && request->parts.store_path)
        ok = place_and_print(request, signatures, err);
    else if (ok)
        print(request, signatures, NULL, NULL);
    if (signatures)
        pm_signatures_free(signatures, request->on.n_machines);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("the program"),
    PM_TEXT("profile", 0, "STORE", AT(parts.store_path),
            "places the parts of the program of STORE"),
    PM_OPTION_SIZE(AT(parts.at)),
    PM_FLAG("by-loops", 0, AT(parts.by_models), "loops, also with a profile of basic blocks"),
    PM_HEADING("what is shown"),
    PM_OPTION_SET(AT(on)),
    PM_OPTION_MIN_PERCENT(AT(options), "leaves out parts with less of the references (1)"),
    PM_OPTIONS_DRAWN(AT(options), AT(svg)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    request.options.min_percent = 1;
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments == 0)
        status =
            pm_usage_error(pm_command_machines_curves.name, "name a machine, or a machine file");
    else if (status == 0 && request.svg && line.n_arguments > 1)
        status = pm_usage_error(pm_command_machines_curves.name, "a drawing is of one machine");
    for (size_t i = 0; status == 0 && i < line.n_arguments; i++)
        pm_add_machine(&request.on, line.arguments[i], &err);
    if (status == 0 && (!pm_read_machines(&request.on, &err) || !show(&request, &err)))
        status = pm_complain(&err);
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_machines_curves = {
    .name = "machines --curves",
    .purpose = "curves of a machine against the working set, and where a program lies on them",
    .usage = "[OPTION]... MACHINE...",
    .examples = "pmodel machines --curves sapphire-rapids",
    .options = options,
    .run = run,
};
