/* `pmodel report --as plot`: a picture of one loop, or of the program, over sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/pictures/private.h"
#include "core/store/store.h"
#include "report/pictures/pictures.h"
#include "sched/sched.h"

struct request {
    const char *store_path, *loop, *output; /* loop: NULL the program */
    struct pm_size_design design;
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_block_sizes blocks;
    enum pm_picture_kind what;
    unsigned n_sizes;
};

struct plotting {
    struct request *request;
    struct pm_followed followed;
    struct pm_picture picture;
    bool *rows;
};

static const struct pm_machine *machine_of(const struct plotting *p) {
    return p->request->on.machines[0];
}

static bool has_predictions(const struct plotting *p) {
    return p->request->what != PM_PICTURE_HISTOGRAM && p->request->what != PM_PICTURE_SURFACE;
}

/* ---- what is pictured ------------------------------------------------------------------------ */

/* The rows of reports that the loop's name means; several are pictured as one. */
static bool find_rows(struct plotting *p, struct pm_error *err) {
    const struct pm_structure *structure = p->followed.subject.program.structure;
    const char *name = p->request->loop;
    if (!name) {
        p->picture.label = pm_picture_label(structure, NULL, NULL);
        return true;
    }
    uint32_t n_named;
    bool any = false;
    bool *named = pm_scopes_named(structure, name, &n_named);
    p->rows = pm_alloc(structure->n_scopes, sizeof *p->rows);
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        uint32_t row = pm_row_scope(structure, s);
        if (named[s] && pm_has_own_code(structure, s))
            any = p->rows[row] = true;
    }
    free(named);
    if (!any) {
        pm_fail(err,
                n_named ? "%s is inlined everywhere: name a loop in it, or what it is inlined in"
                        : "no routine or loop is called %s",
                name);
        return n_named ? false : pm_fail_nearest_scope(err, structure, name);
    }
    p->picture.rows = p->rows;
    p->picture.label = pm_picture_label(structure, p->rows, name);
    return true;
}

/* Block sizes of the histograms: of --block, else those of the machine's levels, each once. */
static void find_block_sizes(struct plotting *p) {
    const struct request *request = p->request;
    for (size_t i = 0; i < request->blocks.n; i++)
        *PM_PUSH(&p->picture, block_sizes) = request->blocks.bytes[i];
    for (size_t l = 0; request->blocks.n == 0 && l < machine_of(p)->n_levels; l++) {
        uint64_t bytes = machine_of(p)->levels[l].block_bytes;
        if (!pm_has_block_size(p->picture.block_sizes, p->picture.n_block_sizes, bytes))
            *PM_PUSH(&p->picture, block_sizes) = bytes;
    }
}

/* ---- its points ------------------------------------------------------------------------------ */

static bool check_blocks(const struct plotting *p, const struct pm_profile *profile,
                         struct pm_error *err) {
    if (has_predictions(p))
        return true;
    if (pm_profile_is_without_memory(profile))
        return pm_fail(err, "no reuse distances were measured: measure without --no-memory");
    for (size_t b = 0; b < p->request->blocks.n; b++)
        if (!pm_query_check_blocks(profile, p->request->blocks.bytes[b], err))
            return false;
    return p->request->blocks.n ||
           pm_need_machine_blocks(&p->followed.subject, profile, machine_of(p), false, err);
}

/* Predictions only where the picture shows any. */
static struct pm_question question_of(const struct plotting *p) {
    return (struct pm_question){.machines = p->request->on.machines,
                                .n_machines = has_predictions(p) ? 1 : 0,
                                .predict = p->request->predict,
                                .without_ends = true};
}

/* Adds ANSWER, which it frees; NULL: nothing. */
static bool add_point(struct plotting *p, double value, struct pm_answer *answer,
                      struct pm_error *err) {
    bool ok = !answer || check_blocks(p, answer->profile, err);
    if (answer && ok)
        pm_picture_add(&p->picture, value, answer->profile,
                       answer->n_predictions ? answer->predictions[0] : NULL,
                       answer->profile->predicted ? NULL : answer->times);
    pm_answer_free(answer);
    return ok;
}

static bool add_size(struct plotting *p, const struct pm_followed_size *size,
                     struct pm_error *err) {
    struct pm_answer *predicted, *measured;
    return pm_followed_predicted(&p->followed, size, question_of(p), &predicted, err) &&
           add_point(p, size->value, predicted, err) &&
           pm_followed_measured(&p->followed, size, question_of(p), &measured, err) &&
           add_point(p, size->value, measured, err);
}

/* The size of a picture of a single size: that of -P, else the largest measured one. */
static const struct pm_followed_size *one_size(const struct plotting *p, struct pm_error *err) {
    const struct pm_followed_size *size = NULL;
    for (size_t i = 0; i < p->followed.n_sizes; i++) {
        const struct pm_followed_size *s = &p->followed.sizes[i];
        if (s->is_given || ((!size || !size->is_given) &&
                            pm_program_run(&p->followed.subject.program, &s->at, true)))
            size = s;
    }
    if (!size)
        pm_fail(err, "say which size with -P");
    return size;
}

/* As a report has it: what was measured comes first. */
static struct pm_answer *answer_at(struct plotting *p, const struct pm_followed_size *size,
                                   struct pm_error *err) {
    struct pm_answer *answer = NULL;
    (void)(pm_followed_measured(&p->followed, size, question_of(p), &answer, err) && !answer &&
           pm_followed_predicted(&p->followed, size, question_of(p), &answer, err));
    return answer;
}

static bool add_one_size(struct plotting *p, char **at, struct pm_error *err) {
    const struct pm_followed_size *size = one_size(p, err);
    struct pm_answer *answer = size ? answer_at(p, size, err) : NULL;
    if (!answer)
        return false;
    *at = pm_parameters_text(&size->at);
    return add_point(p, size->value, answer, err);
}

static bool add_points(struct plotting *p, char **at, struct pm_error *err) {
    if (p->request->what == PM_PICTURE_HISTOGRAM)
        return add_one_size(p, at, err);
    struct pm_picture_progress progress = pm_picture_progress_begin("plot");
    bool ok = true;
    for (size_t i = 0; ok && i < p->followed.n_sizes; i++) {
        pm_picture_progress_show(&progress, (double)i / (double)p->followed.n_sizes);
        ok = add_size(p, &p->followed.sizes[i], err);
    }
    pm_picture_progress_end(&progress);
    return ok && (p->picture.n_points > 0 || pm_fail(err, "no size could be pictured"));
}

/* ---- the roofline ---------------------------------------------------------------------------- */

/* Only points of the rows that are pictured. */
static void keep_rows(const struct plotting *p, struct pm_roofline *roofline) {
    size_t n = 0;
    for (size_t i = 0; i < roofline->n_points; i++)
        if (!p->rows ||
            p->rows[pm_row_scope(p->followed.subject.program.structure, roofline->points[i].scope)])
            roofline->points[n++] = roofline->points[i];
    roofline->n_points = n;
}

static bool find_points(const struct plotting *p, const struct pm_answer *answer,
                        const struct pm_signature *signature, struct pm_roofline *roofline,
                        struct pm_error *err) {
    if (!pm_roofline_of(p->followed.subject.program.structure, answer->profile, signature,
                        answer->predictions[0], roofline, err))
        return false;
    keep_rows(p, roofline);
    return roofline->n_points > 0 ||
           pm_fail(
               err,
               "%s has no floating-point operations of its own, so that it has no place under a "
               "roof of these",
               p->request->loop);
}

static bool draw_roofline(FILE *to, struct plotting *p, struct pm_error *err) {
    struct pm_signature signature;
    struct pm_roofs roofs;
    struct pm_rooflined_program shown = {.structure = p->followed.subject.program.structure,
                                         .name = pm_base_name(p->request->store_path)};
    const struct pm_followed_size *size = one_size(p, err);
    struct pm_answer *answer = size ? answer_at(p, size, err) : NULL;
    bool ok = answer && pm_signature_make(machine_of(p), &signature, err);
    if (ok) {
        const double all_points = 0;
        shown.at = answer->profile->parameters;
        ok = find_points(p, answer, &signature, &shown.roofline, err);
        pm_roofs_of(&signature, &roofs);
        if (ok)
            pm_report_roofline_svg(to, &signature, &roofs, &shown, 1, all_points);
        pm_roofs_free(&roofs);
        pm_signature_free(&signature);
    }
    free(shown.roofline.points);
    pm_answer_free(answer);
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool draw(FILE *to, void *context, struct pm_error *err) {
    struct plotting *p = context;
    char *at = NULL;
    bool ok = pm_follow(&p->followed, p->request->store_path, &p->request->design,
                        p->request->n_sizes, err) &&
              find_rows(p, err);
    if (ok) {
        p->picture.structure = p->followed.subject.program.structure;
        p->picture.parameter = p->followed.parameter;
        p->picture.machine = machine_of(p);
        p->picture.measured_high = p->followed.measured_high;
        find_block_sizes(p);
        ok = p->request->what == PM_PICTURE_ROOFLINE ? draw_roofline(to, p, err)
                                                     : add_points(p, &at, err);
    }
    if (ok && p->request->what != PM_PICTURE_ROOFLINE)
        pm_picture_draw(to, &p->picture, p->request->what, at);
    free(at);
    pm_picture_free(&p->picture);
    pm_followed_free(&p->followed);
    free(p->rows);
    return ok;
}

static int read_what(const struct pm_option_use *use) {
    if (pm_picture_kind_from_word(use->value, use->to))
        return 0;
    return pm_usage_error(pm_command_report_plot.name, "--what is one of %s, not \"%s\"",
                          pm_picture_words(), use->value);
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("what is drawn"),
    PM_READ("what", 0, "time|misses|histogram|surface|roofline", read_what, AT(what),
            "which picture"),
    PM_ADDED(NULL, 'P', "NAME=VALUES", pm_add_size_list, AT(design), "sizes that are wanted",
             .repeats = true),
    PM_READ("sizes", 0, "N", pm_read_count, AT(n_sizes), "how many are spaced evenly (60)"),
    PM_LIST("block", 0, "SIZES", pm_add_block_size, AT(blocks),
            "distances in blocks of these sizes, not of the machine's levels"),
    PM_HEADING("machine"),
    PM_OPTIONS_ONE_MACHINE(AT(on)),
    PM_OPTION_TIME(AT(predict)),
    PM_HEADING("output"),
    PM_OPTION_OUTPUT("FILE.svg", AT(output), "writes to FILE.svg, not to standard output"),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.n_sizes = PM_USUAL_SIZES, .what = PM_N_PICTURES};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    request.predict.without_doubts = true;
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && request.what == PM_N_PICTURES)
        status = pm_usage_error(pm_command_report_plot.name, "say with --what which picture: %s",
                                pm_picture_words());
    else if (status == 0 && (line.n_arguments < 1 || line.n_arguments > 2))
        status = pm_usage_error(pm_command_report_plot.name,
                                "give a store, and the loop unless the program is meant");
    else if (status == 0 && request.on.n_machines != 1)
        status = pm_usage_error(pm_command_report_plot.name, "name one machine with -m NAME");
    if (status == 0) {
        struct plotting p = {.request = &request};
        request.store_path = line.arguments[0];
        request.loop = line.arguments[1];
        if (!pm_write_file(request.output, draw, &p, &err))
            status = pm_complain(&err);
    }
    pm_size_design_free(&request.design);
    pm_free_machines(&request.on);
    free(request.blocks.bytes);
    return status;
}

const struct pm_command pm_command_report_plot = {
    .name = "report --as plot",
    .purpose = "a picture of a loop over sizes: time by cause, misses, reuse distances",
    .usage = "--what PICTURE -m MACHINE [OPTION]... STORE [LOOP]",
    .examples = "pmodel report --as plot heat.pmdb step/4 --what histogram -m r12000 -o step.svg",
    .options = options,
    .run = run,
};
