/* `pmodel diff`: two builds of a program, before and after a change. */
#include "cmd/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "cmd/explain/explain.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "report/report.h"

struct request {
    const char *before, *after;
    struct pm_parameters at;
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_report_options options;
    struct pm_diff_report fields; /* only which are shown */
    bool interpolate;
};

/* A store with what it answers. */
struct side {
    struct pm_subject subject;
    struct pm_answer *answer;
};

static bool open_side(const struct request *request, const char *path,
                      const struct pm_parameters *at, struct side *side, struct pm_error *err) {
    const struct pm_question question = {.at = at,
                                         .machines = request->on.machines,
                                         .n_machines = 1,
                                         .predict = request->predict,
                                         .can_interpolate = true,
                                         .interpolate = request->interpolate};
    if (pm_subject_open(&side->subject, path, NULL, err))
        side->answer = pm_ask_and_say(&side->subject, &question, err);
    return side->answer != NULL;
}

static void close_side(struct side *side) {
    pm_answer_free(side->answer);
    pm_subject_close(&side->subject);
}

static struct pm_diff_side side_of(const struct side *side, const char *name) {
    return (struct pm_diff_side){.name = name,
                                 .structure = side->subject.program.structure,
                                 .prediction = side->answer->predictions[0]};
}

static bool read_runs(const char *path, struct pm_parameters **runs, size_t *n,
                      struct pm_error *err) {
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    bool ok = store && pm_store_runs(store, runs, n, err);
    pm_store_close(store);
    return ok;
}

/* AT: as asked for, else the largest size that was measured in both, if there is one. */
static bool find_size(const struct request *request, struct pm_parameters *at,
                      struct pm_error *err) {
    struct pm_parameters *before = NULL, *after = NULL;
    size_t n_before = 0, n_after = 0;
    *at = request->at;
    bool ok = at->n || (read_runs(request->before, &before, &n_before, err) &&
                        read_runs(request->after, &after, &n_after, err));
    for (size_t i = n_before; at->n == 0 && i-- > 0;)
        for (size_t k = 0; at->n == 0 && k < n_after; k++)
            if (pm_parameters_equal(&before[i], &after[k]))
                *at = before[i];
    free(before);
    free(after);
    return ok;
}

static bool diff_stores(const struct request *request, struct pm_error *err) {
    struct side before = {0}, after = {0};
    struct pm_parameters at;
    bool ok = find_size(request, &at, err) &&
              open_side(request, request->before, &at, &before, err) &&
              open_side(request, request->after, &at, &after, err);
    if (ok) {
        struct pm_diff_report report = request->fields;
        struct pm_warnings warnings = {0};
        struct pm_report_options options = request->options;
        pm_answer_warn(before.answer, request->on.machines, &warnings);
        pm_answer_warn(after.answer, request->on.machines, &warnings);
        options.warnings = &warnings;
        report.before = side_of(&before, request->before);
        report.after = side_of(&after, request->after);
        bool *rows_before = pm_rows_named(report.before.structure, NULL, request->before, err);
        bool *rows_after = pm_rows_named(report.after.structure, NULL, request->after, err);
        struct pm_scope_pairs pairs = pm_scope_pairs_make(report.before.structure, rows_before,
                                                          report.after.structure, rows_after);
        report.pairs = &pairs;
        pm_report_diff(stdout, &report, &options);
        pm_warnings_free(&warnings);
        pm_scope_pairs_free(&pairs);
        free(rows_before);
        free(rows_after);
    }
    close_side(&before);
    close_side(&after);
    return ok;
}

static bool diff(const struct request *request, struct pm_error *err) {
    if (pm_is_store(request->before))
        return diff_stores(request, err);
    return pm_diff_code(request->before, request->after,
                        request->on.n_machines ? request->on.machines[0] : NULL, &request->options,
                        err);
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool add_field(void *to, char *name, struct pm_error *err) {
    struct pm_diff_report *fields = to;
    bool *field = strcmp(name, "time") == 0     ? &fields->time
                  : strcmp(name, "misses") == 0 ? &fields->misses
                  : strcmp(name, "counts") == 0 ? &fields->counts
                  : strcmp(name, "causes") == 0 ? &fields->causes
                                                : NULL;
    if (!field)
        return pm_fail(err, "--fields takes time, misses, counts and causes, not \"%.100s\"", name);
    *field = true;
    return true;
}

static int check(const struct request *request) {
    bool is_store = pm_is_store(request->before);
    if (is_store != pm_is_store(request->after))
        return pm_usage_error("diff", "%s is a store, %s is none: give two stores, or two programs",
                              is_store ? request->before : request->after,
                              is_store ? request->after : request->before);
    if (request->on.n_machines > 1 || (is_store && request->on.n_machines == 0))
        return pm_usage_error("diff", "give one machine (-m)");
    if (!is_store && request->at.n)
        return pm_usage_error("diff", "-P is for stores: programs have no runs");
    return 0;
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
    PM_LIST("fields", 0, "time|misses|counts|causes[,...]", add_field, AT(fields),
            "what the table shows the changes of", .repeats = true),
    PM_OPTION_MIN_PERCENT(AT(options), "sums up rows with less of all changes (0.5)"),
    PM_OPTION_TOP(AT(options), "at most N rows"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 2)
        status = pm_usage_error("diff", "give two stores, or two programs: before and after");
    if (status == 0) {
        const struct pm_diff_report *fields = &request.fields;
        request.before = line.arguments[0];
        request.after = line.arguments[1];
        request.fields.time |= !fields->misses && !fields->counts && !fields->causes;
        status = check(&request);
    }
    if (status == 0 && !diff(&request, &err))
        status = pm_complain(&err);
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_diff = {
    .name = "diff",
    .purpose = "what a change of a program did to each loop, or what a compiler made otherwise",
    .usage = "-m MACHINE [OPTION]... STORE STORE\n[-m MACHINE] [OPTION]... PROGRAM PROGRAM",
    .examples = "pmodel diff before.pmdb after.pmdb -m r12000 -P N=256",
    .options = options,
    .run = run,
};
