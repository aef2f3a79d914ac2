/* `pmodel report`: a store at one size, on one or more machines. */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "cmd/cmd.h"
#include "cmd/measuring.h"
#include "cmd/options.h"
#include "cmd/parallel/parallel.h"
#include "cmd/progress.h"
#include "cmd/query/query.h"
#include "core/store/store.h"
#include "fit/fit.h"
#include "fit/query/query.h"
#include "fit/warnings/warnings.h"
#include "sched/sched.h"

struct request {
    struct pm_machine_list on;
    struct pm_size_design design; /* of -P */
    struct pm_parameters *sizes; /* that it stands for; of none, n == 0, the largest measured one */
    size_t n_sizes;
    struct pm_report_options options;
    struct pm_predict_options predict;
    struct pm_dumping dump;
    struct pm_selection_words selection;
    bool carried;
    bool threads;
    bool ranks;
    bool intervals;
    bool fits;
    bool interpolate;
    bool
        names_machines; /* -m was given; else those whose block sizes were all measured are shown */
    char *left_out;     /* the others, "itanium2, r12000"; owned */
};

/* ---- machines ---------------------------------------------------------------------------------
 */

static bool fail_all_left_out(const struct request *request, struct pm_error *err) {
    return pm_fail(err,
                   "of no machine (%s) all block sizes were measured: -m NAME says what measures "
                   "them%s",
                   request->left_out,
                   request->threads || request->carried || request->fits
                       ? ""
                       : ", --interpolate takes the nearest that were");
}

/* False with a sentence if PROFILE lacks block sizes of a machine that was named; others that it
   lacks some of are left out. */
static bool keep_machines(struct request *request, const struct pm_subject *subject,
                          const struct pm_profile *profile, struct pm_error *err) {
    struct pm_machine_list *on = &request->on;
    bool can_interpolate = !request->threads && !request->carried && !request->fits;
    size_t n = 0;
    if (pm_profile_is_without_memory(profile))
        return true;
    for (size_t m = 0; m < on->n_machines; m++) {
        struct pm_error why = {0};
        struct pm_machine *machine = on->machines[m];
        if (pm_check_block_sizes(profile, machine, &why)) {
            on->machines[n++] = machine;
            continue;
        }
        if (request->names_machines)
            return pm_need_machine_blocks(subject, profile, machine, can_interpolate, err);
        pm_append(&request->left_out, "%s%s", request->left_out ? ", " : "", machine->name);
        pm_machine_free(machine);
    }
    on->n_machines = n;
    return n > 0 || fail_all_left_out(request, err);
}

static char *left_out_text(const struct request *request) {
    return pm_sprintf(
        "Left out, since not all of their block sizes were measured: %s. -m NAME says "
        "what measures them, --interpolate takes the nearest that were.",
        request->left_out);
}

/* Where the report itself has no place for it. */
static void say_left_out(const struct request *request) {
    if (!request->left_out)
        return;
    char *text = left_out_text(request);
    fprintf(stderr, "pmodel report: %s\n", text);
    free(text);
}

/* ---- --carried: which loops carry the misses of a run -----------------------------------------
 */

/* Of the largest run that has the values of -P and was made with --carry. */
static bool report_carried(struct request *request, const struct pm_subject *subject,
                           struct pm_error *err) {
    const struct pm_program *program = &subject->program;
    const struct pm_machine_list *on = &request->on;
    struct pm_profile *profile = NULL;
    struct pm_run_patterns *patterns = pm_patterns_at(program, &request->sizes[0], &profile, err);
    bool ok = patterns != NULL;
    if (ok && pm_profile_is_without_memory(profile))
        ok = pm_check_block_sizes(profile, on->machines[0], err);
    ok = ok && keep_machines(request, subject, profile, err);
    if (ok)
        pm_report_carried(stdout,
                          &(struct pm_carried_report){
                              .structure = program->structure,
                              .profile = profile,
                              .patterns = patterns,
                              .machines = (const struct pm_machine *const *)on->machines,
                              .n_machines = on->n_machines,
                          },
                          &request->options);
    if (ok)
        say_left_out(request);
    if (profile)
        pm_profile_free(profile);
    pm_run_patterns_free(patterns);
    return ok;
}

/* ---- --threads: the misses of each thread of a measured run ------------------------------------
 */

/* Of the run that PROFILE is of, straight from its histograms. */
static bool report_threads(const struct pm_program *program, const struct pm_profile *profile,
                           const struct pm_machine_list *on,
                           const struct pm_report_options *options, struct pm_error *err) {
    for (size_t m = 0; m < on->n_machines; m++)
        if (!pm_check_block_sizes(profile, on->machines[m], err))
            return false;
    struct pm_histogram_cursor *cursor =
        pm_store_histograms(program->store, &profile->parameters, err);
    if (!cursor)
        return false;
    size_t n;
    struct pm_thread_misses *threads = pm_misses_by_thread(
        program->structure, profile, cursor, (const struct pm_machine *const *)on->machines,
        on->n_machines, &n, err);
    bool ok = threads != NULL;
    for (size_t m = 0; ok && m < on->n_machines; m++)
        pm_report_threads(stdout, on->machines[m], threads + m * n, n, options);
    free(threads);
    pm_histogram_cursor_free(cursor);
    return ok;
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* What is asked of each size; machines are added once it is known which can be. */
static struct pm_question question_of(const struct request *request) {
    struct pm_question question = {.machines = request->on.machines,
                                   .n_machines = request->on.n_machines,
                                   .predict = request->predict,
                                   .can_interpolate = true};
    question.predict.with_gains = request->options.format == PM_REPORT_JSON;
    return question;
}

static void note_left_out(const struct request *request, struct pm_prediction *last) {
    if (!request->left_out || request->options.format == PM_REPORT_CSV) {
        say_left_out(request);
        return;
    }
    char *text = left_out_text(request);
    pm_prediction_note_of(last, NAN, "%s", text);
    free(text);
}

/* The answers, one a size, as a report takes them: [machine * n_sizes + size]. */
static bool print_answers(const struct request *request, struct pm_answer *const *answers,
                          struct pm_error *err) {
    size_t n_machines = request->on.n_machines, n_sizes = request->n_sizes;
    const struct pm_subject *subject = answers[0]->subject;
    struct pm_sized_prediction *predictions = pm_alloc(n_machines * n_sizes, sizeof *predictions);
    struct pm_warnings warnings = {0};
    struct pm_report_options options = request->options;
    options.warnings = &warnings;
    options.selection = subject->selected;
    for (size_t s = 0; s < n_sizes; s++) {
        for (size_t m = 0; m < n_machines; m++)
            predictions[m * n_sizes + s] = (struct pm_sized_prediction){
                answers[s]->predictions[m], answers[s]->times, answers[s]->bounds};
        pm_answer_warn(answers[s], request->on.machines, &warnings);
    }
    note_left_out(request, answers[n_sizes - 1]->predictions[n_machines - 1]);
    const struct pm_predictions_report report = {subject->program.structure, predictions,
                                                 n_machines, n_sizes};
    bool ok = pm_subject_warn_of_outside(subject, &warnings, err) &&
              pm_report_predictions(stdout, &report, &options, err);
    pm_warnings_free(&warnings);
    free(predictions);
    return ok;
}

static bool report_sizes(struct request *request, struct pm_subject *subject,
                         struct pm_error *err) {
    struct pm_answer **answers = pm_alloc(request->n_sizes, sizeof *answers);
    bool ok = true;
    for (size_t s = 0; ok && s < request->n_sizes; s++) {
        answers[s] = pm_ask_and_say(subject, &(struct pm_question){.at = &request->sizes[s]}, err);
        ok = answers[s] && keep_machines(request, subject, answers[s]->profile, err);
    }
    const struct pm_question question = question_of(request);
    for (size_t s = 0; ok && s < request->n_sizes; s++)
        ok = pm_predict_and_say(answers[s], &question, err);
    const struct pm_profile *first = ok ? answers[0]->profile : NULL;
    if (ok && request->threads && first->predicted)
        ok = pm_fail(err, "--threads is for sizes that were measured: models are of all threads "
                          "together");
    ok = ok && (request->dump.pass || print_answers(request, answers, err));
    if (ok && request->threads)
        ok = report_threads(&subject->program, first, &request->on, &request->options, err);
    if (ok && request->fits)
        ok = pm_print_fits_of_loops(&subject->program, &first->parameters, &request->on,
                                    &request->options, err);
    for (size_t s = 0; s < request->n_sizes; s++)
        pm_answer_free(answers[s]);
    free(answers);
    return ok;
}

/* ---- --ranks, --intervals: what parallel programs have beside loops ----------------------------
 */

/* On machines whose block sizes the largest run has, where none were named. */
static bool report_parallel(struct request *request, struct pm_subject *subject,
                            bool (*print)(const struct pm_parallel_request *, struct pm_error *),
                            struct pm_error *err) {
    struct pm_program *program = &subject->program;
    struct pm_answer *largest = pm_ask_and_say(
        subject, &(struct pm_question){.at = &program->runs[program->n_runs - 1]}, err);
    struct pm_warnings warnings = {0};
    struct pm_report_options options = request->options;
    options.warnings = &warnings;
    options.selection = subject->selected;
    const struct pm_question question = question_of(request);
    bool ok = largest && keep_machines(request, subject, largest->profile, err) &&
              print(&(struct pm_parallel_request){.subject = subject,
                                                  .selection = pm_store_selection(subject->store),
                                                  .at = &request->sizes[0],
                                                  .on = &request->on,
                                                  .question = &question,
                                                  .options = &options,
                                                  .warnings = &warnings},
                    err);
    if (ok)
        say_left_out(request);
    pm_warnings_free(&warnings);
    pm_answer_free(largest);
    return ok;
}

static bool report(struct request *request, const char *store_path, struct pm_error *err) {
    struct pm_subject subject;
    request->names_machines = request->on.n_machines > 0;
    bool ok = pm_subject_open(&subject, store_path, &request->selection, err) &&
              (request->names_machines || pm_add_all_machines(&request->on, err));
    if (ok && request->dump.pass) {
        ok = pm_dumping_begin(&request->dump, subject.program.structure, stdout, err);
        request->predict.dumping = &request->dump;
    }
    if (ok && request->interpolate)
        pm_subject_interpolate(&subject, request->on.machines, request->on.n_machines);
    if (ok && (request->ranks || request->intervals))
        ok = report_parallel(request, &subject,
                             request->ranks ? pm_print_ranks : pm_print_intervals, err);
    else if (ok)
        ok = request->carried ? report_carried(request, &subject, err)
                              : report_sizes(request, &subject, err);
    pm_dumping_end(&request->dump);
    free(request->left_out);
    pm_subject_close(&subject);
    return ok;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* -P N=64,128 or -P A=1,B=2, or both: a new name begins another list.  TO: struct pm_size_design.
 */
static bool add_sizes(void *to, char *value, struct pm_error *err) {
    size_t name = strcspn(value, ",=");
    if (value[name] == ',') /* points of several parameters, A,B=1:2,3:4 */
        return pm_add_size_list(to, value, err);
    char *copy = pm_strdup(value), *rest = copy, *list = NULL;
    bool ok = true;
    for (char *item; ok && (item = strsep(&rest, ","));) {
        if (list && strchr(item, '=')) {
            ok = pm_add_size_list(to, list, err);
            free(list);
            list = NULL;
        }
        pm_append(&list, "%s%s", list ? "," : "", item);
    }
    ok = ok && pm_add_size_list(to, list, err);
    free(list);
    free(copy);
    return ok;
}

/* What contradicts itself on the command line and hangs on a value; NULL: nothing. */
static const char *find_contradiction(const struct request *request) {
    bool is_table = request->options.format == PM_REPORT_TABLE;
    bool is_of_one_size = request->threads || request->carried || request->ranks ||
                          request->intervals || request->options.tree;
    if (request->n_sizes > 1 && is_of_one_size)
        return "it is of one size";
    if (request->n_sizes > 1 && request->fits)
        return "--fits is of one size";
    if (request->options.tree && !is_table)
        return "it is a table; JSON of `pmodel report` has the tree in \"scopes\"";
    if (request->fits && !is_table)
        return "--fits is a table; `pmodel query --fits` writes JSON and CSV";
    return NULL;
}

#define AT(field) offsetof(struct request, field)
#define SIZES                                                                                      \
    PM_HEADING("which runs"),                                                                      \
        PM_ADDED(NULL, 'P', "NAME=VALUES", add_sizes, AT(design),                                  \
                 "sizes, as N=64,128; without it the largest one that was measured",               \
                 .repeats = true)
#define MACHINES                                                                                   \
    PM_HEADING("machine"), PM_OPTIONS_MACHINES(AT(on)), PM_OPTION_DEPS(AT(predict)),               \
        PM_OPTION_TIME(AT(predict))
#define CORES                                                                                      \
    PM_READ("cores", 0, "P", pm_read_count, AT(predict.n_cores), "deals the threads to P cores")
#define ROWS                                                                                       \
    PM_OPTION_MIN_PERCENT(AT(options), "sums up rows below this share of the time (0.5)"),         \
        PM_OPTION_TOP(AT(options), "at most N rows")
#define COLUMNS                                                                                    \
    PM_TEXT("fields", 0, "LIST", AT(options.fields), "the columns; +LIST: beside the usual ones"), \
        PM_TEXT("sort", 0, "FIELD", AT(options.sort), "sorts rows by FIELD, the largest first"),   \
        PM_TEXT("filter", 0, "PATTERN", AT(options.filter),                                        \
                "only routines, loops, files that fit"),                                           \
        PM_FLAG("notes", 0, AT(options.all_notes), "all notes")

static const struct pm_option of_loops[] = {
    SIZES,
    PM_OPTIONS_SELECTION(AT(selection)),
    PM_FLAG("interpolate", 0, AT(interpolate), PM_INTERPOLATE_HELP, .excludes = "fits"),
    MACHINES,
    CORES,
    PM_HEADING("what is shown"),
    COLUMNS,
    ROWS,
    PM_FLAG("fits", 0, AT(fits), "also up to which size each loop's data fits each level"),
    PM_OPTION_DUMP(AT(dump), "instead what a pass of the prediction made, of all or of a loop",
                   .excludes = "fits fields sort filter notes top min-percent format wide"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static const struct pm_option of_threads[] = {
    SIZES,
    MACHINES,
    CORES,
    PM_HEADING("what is shown"),
    COLUMNS,
    ROWS,
    PM_HEADING("output"),
    PM_OPTION_WIDE(AT(options)),
    {0},
};

static const struct pm_option of_carriers[] = {
    SIZES, MACHINES, PM_HEADING("what is shown"), ROWS, PM_OPTIONS_TABLES(AT(options)), {0},
};

static const struct pm_option of_ranks[] = {
    SIZES,
    PM_TEXT("interval", 0, "KIND", AT(selection.interval),
            "one kind of interval, all of them added up"),
    PM_TEXT("ordinal", 0, "NAME", AT(selection.ordinal), "the interval's number is parameter NAME"),
    PM_OPTION_INTERPOLATE(AT(interpolate)),
    MACHINES,
    PM_HEADING("what is shown"),
    ROWS,
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static const struct pm_option of_intervals[] = {
    SIZES,
    PM_TEXT("role", 0, "NAME", AT(selection.role), "the mean rank of a role of an MPI program"),
    PM_OPTION_INTERPOLATE(AT(interpolate)),
    MACHINES,
    PM_HEADING("what is shown"),
    ROWS,
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options(),
                              .dump.passes = pm_predict_passes};
    request.options.tree = self == &pm_command_report_tree;
    request.threads = self == &pm_command_report_threads;
    request.carried = self == &pm_command_report_carried;
    request.ranks = self == &pm_command_report_ranks;
    request.intervals = self == &pm_command_report_intervals;
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    const char *contradiction = NULL;
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && request.dump.list)
        return pm_list_passes(&request.dump);
    if (status == 0 && line.n_arguments != 1)
        status = pm_usage_error(self->name, "give one store");
    else if (status == 0 &&
             !pm_size_design_expand(&request.design, &request.sizes, &request.n_sizes, &err))
        status = pm_complain(&err);
    else if (status == 0 && (contradiction = find_contradiction(&request)))
        status = pm_usage_error(self->name, "%s", contradiction);
    else if (status == 0 && !report(&request, line.arguments[0], &err))
        status = pm_complain(&err);
    pm_free_machines(&request.on);
    pm_size_design_free(&request.design);
    free(request.sizes);
    return status;
}

const struct pm_command pm_command_report_table = {
    .name = "report",
    .view = "table",
    .purpose = "time, misses and what limits each loop, at a size, on a machine",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel report heat.pmdb -m r12000 -P N=64,128,256    # sizes side by side\n"
                "pmodel report heat.pmdb -m r12000 --fields +L1/ki",
    .options = of_loops,
    .run = run,
};

const struct pm_command pm_command_report_tree = {
    .name = "report --as tree",
    .page = "report",
    .purpose = "the same, with loops under what they are in",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel report --as tree heat.pmdb -m r12000 --filter 'step*'",
    .options = of_loops,
    .run = run,
};

const struct pm_command pm_command_report_threads = {
    .name = "report --as threads",
    .page = "report",
    .purpose = "of a measured run, what each of its threads misses",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel report --as threads stencil.pmdb -m r12000",
    .options = of_threads,
    .run = run,
};

const struct pm_command pm_command_report_carried = {
    .name = "report --as carried",
    .page = "report",
    .purpose = "what carries the misses of a run that was made with --carry",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel report --as carried heat.pmdb -m r12000 --top 10",
    .options = of_carriers,
    .run = run,
};

const struct pm_command pm_command_report_ranks = {
    .name = "report --as ranks",
    .page = "report",
    .purpose = "groups of ranks of an MPI program: time, imbalance, waiting",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel report --as ranks chain.pmdb -m zen4 -P N=200,p=64",
    .options = of_ranks,
    .run = run,
};

const struct pm_command pm_command_report_intervals = {
    .name = "report --as intervals",
    .page = "report",
    .purpose = "what lies between two calls that end intervals, by kind",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel report --as intervals chain.pmdb -m zen4",
    .options = of_intervals,
    .run = run,
};

static const struct pm_command *const views[] = {
    &pm_command_report_table,    &pm_command_report_tree,        &pm_command_report_loop,
    &pm_command_report_source,   &pm_command_report_page,        &pm_command_report_plot,
    &pm_command_report_roofline, &pm_command_report_convolution, &pm_command_report_formulas,
    &pm_command_report_scaling,  &pm_command_report_callgrind,   &pm_command_report_folded,
    &pm_command_report_extrap,   &pm_command_report_ranks,       &pm_command_report_intervals,
    &pm_command_report_threads,  &pm_command_report_carried,     NULL};

const struct pm_command pm_command_report = {
    .name = "report",
    .purpose = "what is predicted at a size, on a machine: tables, one loop, the source, pictures",
    .usage = "[--as VIEW] [OPTION]... STORE",
    .examples = "pmodel report heat.pmdb -m r12000 -P N=256\n"
                "pmodel report --as loop heat.pmdb step/4 -m r12000 -P N=256",
    .views = views,
};
