/* `pmodel report --as loop`: all that a store knows of one loop at one size on one machine.

   The steps: the prediction → which loop → its counts as formulas → its misses by group, and what
   carries them → the sizes at which it falls out of each level → what is gained without each
   level's misses → what may be tried → one screen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "cmd/cmd.h"
#include "cmd/explain/explain.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "cmd/query/query.h"
#include "fit/warnings/warnings.h"
#include "report/report.h"

struct request {
    const char *store_path, *loop; /* LOOP: NULL, the one with most time */
    struct pm_parameters at;
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_source_folders folders;
    struct pm_report_options options;
    bool interpolate, source, code;
};

struct explaining {
    const struct request *request;
    struct pm_subject subject;
    struct pm_answer *answer;
    const struct pm_structure *structure;
    const struct pm_machine *machine;
    struct pm_explanation explanation;
    struct pm_cost_sum self; /* of the loop */
    double gains[PM_N_CAUSES];
    /* What the explanation borrows. */
    struct pm_run_patterns *patterns;
    struct pm_profile *carried_profile, *bytes_profile;
    struct pm_carried_report carried_report;
    struct pm_carried_rows *carried;
    struct pm_query_parts parts; /* the loop */
    struct pm_query_caches levels;
    struct pm_query_surface *surfaces; /* one for each of its fits */
    struct pm_source *source;
    struct pm_error no_source;
};

/* ---- which loop ------------------------------------------------------------------------------ */

static double cycles_of_row(const struct explaining *x, uint32_t row) {
    double cycles = 0;
    for (uint32_t s = 0; s < x->structure->n_scopes; s++)
        if (pm_row_scope(x->structure, s) == row)
            cycles += x->answer->predictions[0]->scopes[s].self.cycles;
    return cycles;
}

static bool choose_loop(struct explaining *x, struct pm_error *err) {
    const struct request *request = x->request;
    bool *rows = pm_rows_named(x->structure, request->loop, request->store_path, err);
    double most = -1;
    if (!rows)
        return false;
    for (uint32_t s = 0; s < x->structure->n_scopes; s++) {
        double cycles = rows[s] ? cycles_of_row(x, s) : -1;
        if (cycles > most) {
            most = cycles;
            x->explanation.scope = s;
        }
    }
    for (uint32_t s = 0; request->loop && s < x->structure->n_scopes; s++)
        if (rows[s] && s != x->explanation.scope && pm_scope_is_counted(x->structure, s) &&
            cycles_of_row(x, s) > 0)
            *PM_PUSH(&x->explanation, also) = s;
    free(rows);
    if (most > 0)
        return true;
    return pm_fail(err,
                   request->loop ? "%s: %s was never executed at this size, or not counted"
                                 : "%s: nothing was executed at this size",
                   request->store_path, request->loop);
}

static void sum_costs(struct explaining *x) {
    const struct pm_prediction *p = x->answer->predictions[0];
    for (uint32_t s = 0; s < x->structure->n_scopes; s++) {
        if (pm_row_scope(x->structure, s) != x->explanation.scope)
            continue;
        pm_cost_sum_add(&x->self, &p->scopes[s].self);
        if (pm_has_own_code(x->structure, s))
            for (int c = 0; c < PM_N_CAUSES; c++)
                x->gains[c] += p->scopes[s].gains[c];
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

static bool explain_counts(struct explaining *x, struct pm_error *err) {
    struct pm_program *program = &x->subject.program;
    const struct pm_model_set *models = pm_program_models(program, err);
    if (err->kind != PM_ERROR_NONE)
        return false;
    struct pm_profile **profiles =
        models ? pm_read_profiles(x->subject.store, x->structure, models->runs, models->n_runs, err)
               : NULL;
    if (models && !profiles)
        return false;
    x->explanation.has_models = models != NULL;
    pm_loop_counts_make(x->structure, x->explanation.scope, x->answer->profile, models,
                        (const struct pm_profile *const *)profiles, x->explanation.counts);
    pm_profiles_free(profiles, models ? models->n_runs : 0);
    x->explanation.trips =
        pm_loop_trips(x->structure, x->explanation.scope, &x->answer->profile->behaviour);
    return true;
}

/* ---- misses ---------------------------------------------------------------------------------- */

/* What carries reuse, if a run with all block sizes of the machine tells it. */
static void explain_carriers(struct explaining *x) {
    const struct pm_parameters any = {0};
    struct pm_error ignored = {0};
    x->patterns = pm_patterns_at(&x->subject.program, &any, &x->carried_profile, &ignored);
    if (!x->patterns || !pm_check_block_sizes(x->carried_profile, x->machine, &ignored))
        return;
    x->carried_report = (struct pm_carried_report){.structure = x->structure,
                                                   .profile = x->carried_profile,
                                                   .patterns = x->patterns,
                                                   .by_group = true};
    x->carried = pm_carried_rows_new(&x->carried_report, x->machine);
    x->explanation.carried = x->carried;
    x->explanation.carried_at = pm_parameters_text(&x->carried_profile->parameters);
}

/* The largest run that counted bytes. */
static bool find_bytes(struct explaining *x, struct pm_error *err) {
    const struct pm_program *program = &x->subject.program;
    bool found = false;
    if (pm_profile_is_without_memory(x->answer->profile))
        return true;
    for (size_t i = program->n_runs; !found && i-- > 0;) {
        if (!pm_store_has_bytes(x->subject.store, &program->runs[i], &found, err))
            return false;
        if (!found)
            continue;
        x->bytes_profile = pm_store_profile(x->subject.store, &program->runs[i], err);
        if (!x->bytes_profile || !pm_profile_fits(x->bytes_profile, x->structure, err))
            return false;
        x->explanation.bytes_at = pm_parameters_text(&program->runs[i]);
    }
    return true;
}

static bool explain_misses(struct explaining *x, struct pm_error *err) {
    if (!find_bytes(x, err))
        return false;
    explain_carriers(x);
    pm_loop_groups_make(x->structure, x->explanation.scope, x->answer->profile, x->machine,
                        &x->self, x->bytes_profile, &x->explanation.groups);
    return true;
}

/* Of the loop where the level's misses cost nothing. */
static double cycles_without_level(const struct explaining *x, size_t level, struct pm_error *err) {
    struct pm_machine *machine = pm_machine_without_level(x->machine, level);
    double cycles = NAN;
    pm_work_begin("predicting without the misses of %s", x->machine->levels[level].name);
    struct pm_prediction *p = pm_answer_what_if(x->answer, machine, &x->request->predict, err);
    pm_work_end();
    if (p) {
        cycles = 0;
        for (uint32_t s = 0; s < x->structure->n_scopes; s++)
            if (pm_row_scope(x->structure, s) == x->explanation.scope)
                cycles += p->scopes[s].self.cycles;
        pm_prediction_free(p);
    }
    pm_machine_copy_free(machine);
    return cycles;
}

static bool explain_gains(struct explaining *x, struct pm_error *err) {
    for (size_t l = 0; l < x->machine->n_levels; l++) {
        double *gain = &x->explanation.level_gains[l];
        *gain = x->self.level_cycles[l] > 0 ? 0 : x->self.level_cycles[l];
        if (x->self.level_cycles[l] > 0)
            *gain = fmax(0, x->self.cycles - cycles_without_level(x, l, err));
    }
    return err->kind == PM_ERROR_NONE;
}

/* ---- what fits ------------------------------------------------------------------------------- */

static void make_part(struct explaining *x) {
    struct pm_query_part *part = PM_PUSH(&x->parts, parts);
    x->parts.level = PM_QUERY_LOOP;
    *part = (struct pm_query_part){.scope = x->explanation.scope, .group = PM_NONE};
    for (size_t i = 0; i < x->explanation.groups.n_groups; i++)
        *PM_PUSH(&part->groups, groups) = x->explanation.groups.groups[i].group;
    pm_query_add_levels(&x->levels, x->machine);
}

static bool add_fits(struct explaining *x, const struct pm_query_surface *surface,
                     struct pm_error *err) {
    const struct pm_model_set *models = x->subject.program.models;
    const struct pm_query_groups *groups = &x->parts.parts[0].groups;
    size_t n = x->levels.n_caches;
    struct pm_query_cache *caches = pm_alloc(n, sizeof *caches);
    struct pm_query_fits *fits = pm_alloc(n, sizeof *fits);
    for (size_t c = 0; c < n; c++)
        caches[c] = x->levels.caches[c].cache;
    pm_work_begin("looking for sizes that fit");
    bool ok = pm_query_fits(surface, models, &groups, 1, caches, n, fits, err);
    pm_work_end();
    free(caches);
    struct pm_query_report *report = PM_PUSH(&x->explanation, fits);
    *report = (struct pm_query_report){.kind = PM_QUERY_FITS,
                                       .structure = x->structure,
                                       .parts = &x->parts,
                                       .measured_up_to = x->subject.program.measured_up_to,
                                       .models = models,
                                       .caches = &x->levels,
                                       .fits = fits,
                                       .fixed = surface->fixed};
    pm_query_report_range(report, surface);
    return ok;
}

/* Of several parameters each in turn. */
static bool explain_fits(struct explaining *x, struct pm_error *err) {
    struct pm_program *program = &x->subject.program;
    const struct pm_profile *profile = x->answer->profile;
    if (!x->explanation.has_models || pm_profile_is_without_memory(profile))
        return true;
    make_part(x);
    const struct pm_parameters *measured = &program->models->high;
    x->surfaces = pm_alloc(measured->n, sizeof *x->surfaces);
    for (size_t p = 0; p < measured->n; p++) {
        if (!pm_query_depends_on(program->models, measured->names[p]))
            continue;
        struct pm_query_surface *surface = &x->surfaces[x->explanation.n_fits];
        struct pm_parameters fixed =
            pm_parameters_without(&profile->parameters, measured->names[p]);
        if (!pm_query_find_surface(program, &fixed, NULL, NULL, surface, err) ||
            !add_fits(x, surface, err))
            return false;
    }
    return true;
}

/* ---- source and code ------------------------------------------------------------------------- */

static void explain_source(struct explaining *x) {
    const char *file = x->structure->scopes[x->explanation.scope].file;
    if (!x->request->source)
        return;
    if (file)
        x->source = pm_source_read(file, &x->request->folders, &x->no_source);
    else
        pm_fail(&x->no_source, "the loop has no line information: compile with -g");
    x->explanation.source = x->source;
    x->explanation.source_missing = x->source ? NULL : x->no_source.text;
}

/* Of the loops in the row the one with most cycles. */
static uint32_t hottest_member(const struct explaining *x) {
    const struct pm_prediction *p = x->answer->predictions[0];
    uint32_t hottest = x->explanation.scope;
    for (uint32_t s = 0; s < x->structure->n_scopes; s++)
        if (x->structure->scopes[s].kind == PM_SCOPE_LOOP &&
            pm_row_scope(x->structure, s) == x->explanation.scope &&
            p->scopes[s].self.cycles > p->scopes[hottest].self.cycles)
            hottest = s;
    return hottest;
}

static void print_with_code(struct explaining *x, const struct pm_report_options *options) {
    struct pm_target_machine target = pm_target_of(x->structure, x->machine);
    struct pm_schedule_options how = {.pessimistic =
                                          x->request->predict.dependences == PM_DEPS_PESSIMISTIC};
    bool *wanted = pm_alloc(x->structure->n_scopes, sizeof *wanted);
    struct pm_loop_schedules schedules;
    struct pm_path_detail detail;
    how.loop = hottest_member(x);
    wanted[how.loop] = true;
    pm_schedule_loops(&target, x->answer->profile->edge_counts, wanted, &how, &schedules);
    struct pm_code_files *files = pm_code_files_open(x->structure);
    const struct pm_schedules_report report = {
        .structure = x->structure, .machine = x->machine, .schedules = &schedules, .files = files};
    bool has_path = schedules.n_items == 1 && schedules.items[0].n_steps > 0;
    if (has_path) {
        struct pm_loop_schedule *item = &schedules.items[0];
        pm_schedule_path_detail(&target, &schedules.steps[item->first_step], item->n_steps, &how,
                                &item->schedule, &detail);
        x->explanation.code_detail = &detail;
    }
    x->explanation.code = &report;
    pm_report_explanation(stdout, &x->explanation, options);
    if (has_path)
        pm_path_detail_free(&detail);
    pm_code_files_close(files);
    pm_loop_schedules_free(&schedules);
    free(wanted);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void print_explanation(struct explaining *x) {
    struct pm_warnings warnings = {0};
    struct pm_report_options options = x->request->options;
    pm_answer_warn(x->answer, x->request->on.machines, &warnings);
    options.warnings = &warnings;
    if (x->request->code && options.format == PM_REPORT_TABLE)
        print_with_code(x, &options);
    else
        pm_report_explanation(stdout, &x->explanation, &options);
    pm_warnings_free(&warnings);
}

static bool explain(const struct request *request, struct pm_error *err) {
    struct explaining x = {.request = request};
    struct pm_question question = {.at = &request->at,
                                   .machines = request->on.machines,
                                   .n_machines = 1,
                                   .predict = request->predict,
                                   .can_interpolate = true,
                                   .interpolate = request->interpolate};
    question.predict.with_gains = true;
    if (pm_subject_open(&x.subject, request->store_path, NULL, err))
        x.answer = pm_ask_and_say(&x.subject, &question, err);
    bool ok = x.answer != NULL;
    struct pm_explanation *e = &x.explanation;
    if (ok) {
        x.structure = e->structure = x.subject.program.structure;
        x.machine = e->machine = request->on.machines[0];
        e->prediction = x.answer->predictions[0];
        ok = choose_loop(&x, err);
    }
    if (ok)
        sum_costs(&x);
    ok = ok && explain_counts(&x, err) && explain_misses(&x, err) && explain_gains(&x, err) &&
         explain_fits(&x, err);
    if (ok) {
        pm_suggest(x.structure, e->scope, x.machine, &x.self, x.gains, &e->groups, x.carried,
                   &e->suggestions);
        explain_source(&x);
        print_explanation(&x);
    }
    pm_loop_counts_free(e->counts);
    for (size_t i = 0; i < e->n_fits; i++) {
        for (size_t c = 0; c < x.levels.n_caches; c++)
            pm_query_fits_free((struct pm_query_fits *)(uintptr_t)&e->fits[i].fits[c]);
        free((struct pm_query_fits *)(uintptr_t)e->fits[i].fits);
    }
    free(e->fits);
    free(e->also);
    free(e->groups.groups);
    free(e->suggestions.list);
    free(e->bytes_at);
    free(e->carried_at);
    free(x.surfaces);
    pm_query_parts_free(&x.parts);
    pm_query_caches_free(&x.levels);
    if (x.carried)
        pm_carried_rows_free(x.carried);
    pm_run_patterns_free(x.patterns);
    pm_profile_free(x.carried_profile);
    pm_profile_free(x.bytes_profile);
    pm_source_free(x.source);
    pm_answer_free(x.answer);
    pm_subject_close(&x.subject);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which run"),
    PM_OPTION_SIZE(AT(at)),
    PM_OPTION_INTERPOLATE(AT(interpolate)),
    PM_HEADING("machine"),
    PM_OPTIONS_ONE_MACHINE(AT(on)),
    PM_OPTION_DEPS(AT(predict)),
    PM_OPTION_TIME(AT(predict)),
    PM_HEADING("what is shown"),
    PM_FLAG("source", 0, AT(source), "the lines of the loop, too"),
    PM_OPTION_SOURCE_DIR(AT(folders)),
    PM_FLAG("asm", 0, AT(code), "the instructions of its most frequent path, too"),
    PM_OPTION_MIN_PERCENT(AT(options), "counts groups below this share of its misses (0.5)"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

/* ---- the command line ------------------------------------------------------------------------ */

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && (line.n_arguments < 1 || line.n_arguments > 2))
        status = pm_usage_error(pm_command_report_loop.name, "give one store, and one loop of it");
    else if (status == 0 && request.on.n_machines != 1)
        status = pm_usage_error(pm_command_report_loop.name, "give one machine (-m)");
    if (status == 0) {
        request.store_path = line.arguments[0];
        request.loop = line.n_arguments > 1 ? line.arguments[1] : NULL;
        request.source |= request.folders.n_folders > 0;
        if (!explain(&request, &err))
            status = pm_complain(&err);
    }
    free(request.folders.folders);
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_report_loop = {
    .name = "report --as loop",
    .purpose = "all that is known of one loop, and what may be tried",
    .usage = "-m MACHINE [OPTION]... STORE [LOOP]",
    .examples = "pmodel report --as loop heat.pmdb step/4 -m r12000 -P N=256    # all of one loop",
    .options = options,
    .run = run,
};
