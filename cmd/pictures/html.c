/* `pmodel report --as page`: a store as a page for a browser: all sizes of the slider on all
   machines, the source beside. */
#include <stdlib.h>
#include <string.h>

#include "cmd/explain/explain.h"
#include "cmd/pictures/private.h"
#include "core/store/store.h"
#include "fit/warnings/warnings.h"
#include "report/page/page.h"
#include "sched/sched.h"

struct request {
    const char *store_path, *output;
    struct pm_size_design design;
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_source_folders folders;
    unsigned n_sizes;
};

struct making {
    struct request *request;
    struct pm_followed followed;
    struct pm_html_page *page;
    struct pm_warnings warnings;
    /* For each machine; a machine of which no signature can be made has no roofs. */
    struct pm_signature *signatures;
    struct pm_roofs *roofs;
};

/* ---- roofs ----------------------------------------------------------------------------------- */

static void make_roofs(struct making *m) {
    size_t n = m->request->on.n_machines;
    m->signatures = pm_alloc(n, sizeof *m->signatures);
    m->roofs = pm_alloc(n, sizeof *m->roofs);
    for (size_t i = 0; i < n; i++) {
        struct pm_error err = {0};
        if (pm_signature_make(m->request->on.machines[i], &m->signatures[i], &err))
            pm_roofs_of(&m->signatures[i], &m->roofs[i]);
    }
}

static void free_roofs(struct making *m) {
    for (size_t i = 0; m->roofs && i < m->request->on.n_machines; i++) {
        pm_roofs_free(&m->roofs[i]);
        pm_signature_free(&m->signatures[i]);
    }
    free(m->roofs);
    free(m->signatures);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Warnings are of the last size by the models, which is the least sure. */
static void warn(struct making *m, const struct pm_answer *answer) {
    if (!answer->profile->predicted && m->followed.models)
        return;
    pm_warnings_free(&m->warnings);
    m->warnings = (struct pm_warnings){0};
    pm_answer_warn(answer, m->request->on.machines, &m->warnings);
}

/* Adds what ANSWER, which it frees, says of SIZE on all machines; NULL: nothing. */
static void add_answer(struct making *m, const struct pm_followed_size *size,
                       struct pm_answer *answer) {
    const struct pm_machine_list *on = &m->request->on;
    if (!answer)
        return;
    struct pm_roofline *rooflines = pm_alloc(on->n_machines, sizeof *rooflines);
    for (size_t i = 0; i < on->n_machines; i++) {
        struct pm_error none = {0}; /* no floating-point operations: no points */
        if (m->roofs[i].n_roofs)
            (void)pm_roofline_of(m->followed.subject.program.structure, answer->profile,
                                 &m->signatures[i], answer->predictions[i], &rooflines[i], &none);
    }
    pm_page_add(m->page, &(struct pm_page_size){.value = size->value,
                                                .is_given = size->is_given,
                                                .profile = answer->profile,
                                                .predictions = answer->predictions,
                                                .rooflines = rooflines,
                                                .times = answer->times});
    warn(m, answer);
    for (size_t i = 0; i < on->n_machines; i++)
        free(rooflines[i].points);
    free(rooflines);
    pm_answer_free(answer);
}

static bool add_size(struct making *m, const struct pm_followed_size *size, struct pm_error *err) {
    const struct pm_question question = {.machines = m->request->on.machines,
                                         .n_machines = m->request->on.n_machines,
                                         .predict = m->request->predict,
                                         .without_ends = true};
    struct pm_answer *predicted = NULL, *measured = NULL;
    bool ok = pm_followed_predicted(&m->followed, size, question, &predicted, err) &&
              pm_followed_measured(&m->followed, size, question, &measured, err);
    add_answer(m, size, predicted);
    add_answer(m, size, measured);
    return ok;
}

static bool add_sizes(struct making *m, struct pm_error *err) {
    struct pm_picture_progress progress = pm_picture_progress_begin("page");
    bool ok = true;
    for (size_t i = 0; ok && i < m->followed.n_sizes; i++) {
        pm_picture_progress_show(&progress, (double)i / (double)m->followed.n_sizes);
        ok = add_size(m, &m->followed.sizes[i], err);
    }
    pm_picture_progress_end(&progress);
    return ok;
}

/* ---- source ---------------------------------------------------------------------------------- */

enum { MOST_SOURCE_LINES = 20000 }; /* of a file; what is longer was hardly written by hand */

/* A file that is not found is left out; the page says so where it would stand. */
static void add_sources(struct making *m) {
    const struct pm_structure *structure = m->followed.subject.program.structure;
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        const char *file = structure->scopes[s].file;
        bool is_new = file != NULL;
        for (uint32_t i = 0; is_new && i < s; i++)
            is_new = !structure->scopes[i].file || strcmp(structure->scopes[i].file, file) != 0;
        struct pm_error err = {0};
        struct pm_source *source = is_new ? pm_source_read(file, &m->request->folders, &err) : NULL;
        if (source && source->n_lines <= MOST_SOURCE_LINES)
            pm_page_add_source(m->page, file, source);
        pm_source_free(source);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool make(FILE *to, void *context, struct pm_error *err) {
    struct making *m = context;
    struct request *request = m->request;
    bool ok = pm_follow(&m->followed, request->store_path, &request->design, request->n_sizes, err);
    if (ok) {
        make_roofs(m);
        m->page = pm_page_new(&(struct pm_page_subject){
            .structure = m->followed.subject.program.structure,
            .parameter = m->followed.parameter,
            .measured_low = m->followed.measured_low,
            .measured_high = m->followed.measured_high,
            .machines = (const struct pm_machine *const *)request->on.machines,
            .n_machines = request->on.n_machines,
            .roofs = m->roofs,
        });
        add_sources(m);
        ok = add_sizes(m, err) && pm_page_write(to, m->page, &m->warnings, err);
    }
    pm_page_free(m->page);
    free_roofs(m);
    pm_warnings_free(&m->warnings);
    pm_followed_free(&m->followed);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which sizes"),
    PM_ADDED(NULL, 'P', "NAME=VALUES", pm_add_size_list, AT(design), "sizes that get a button",
             .repeats = true),
    PM_READ("sizes", 0, "N", pm_read_count, AT(n_sizes), "how many are spaced evenly (60)"),
    PM_HEADING("machine"),
    PM_OPTIONS_MACHINES(AT(on)),
    PM_OPTION_TIME(AT(predict)),
    PM_HEADING("output"),
    PM_OPTION_SOURCE_DIR(AT(folders)),
    PM_OPTION_OUTPUT("FILE.html", AT(output), "the page"),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.n_sizes = PM_USUAL_SIZES};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    request.predict.without_doubts = true;
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 1)
        status = pm_usage_error(pm_command_report_page.name, "give one store");
    else if (status == 0 && !request.output)
        status = pm_usage_error(pm_command_report_page.name, "name the page with -o FILE.html");
    else if (status == 0 && request.on.n_machines == 0)
        status =
            pm_usage_error(pm_command_report_page.name, "name one or more machines with -m NAME");
    if (status == 0) {
        struct making m = {.request = &request};
        request.store_path = line.arguments[0];
        if (!pm_write_file(request.output, make, &m, &err))
            status = pm_complain(&err);
    }
    pm_size_design_free(&request.design);
    pm_free_machines(&request.on);
    free(request.folders.folders);
    return status;
}

const struct pm_command pm_command_report_page = {
    .name = "report --as page",
    .purpose = "one page with the loops, their source and pictures, for a browser",
    .usage = "-m MACHINE -o FILE.html [OPTION]... STORE",
    .examples =
        "pmodel report --as page -m r12000 -o heat.html heat.pmdb    # one page, for a browser",
    .options = options,
    .run = run,
};
