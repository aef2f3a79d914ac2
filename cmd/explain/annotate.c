/* `pmodel report --as source`: a source file with the time and misses of its lines.  Which
   instruction is of which line is read from the program's own file; where that is not there any
   more, or is of another build, basic blocks count at the lines that the store has for them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask/ask.h"
#include "binlift/binlift.h"
#include "cmd/cmd.h"
#include "cmd/explain/explain.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "report/report.h"

struct request {
    const char *store_path, *file;
    struct pm_parameters at;
    struct pm_machine_list on;
    struct pm_predict_options predict;
    struct pm_source_folders folders;
    struct pm_report_options options;
    bool interpolate;
};

/* ---- lines of instructions ------------------------------------------------------------------- */

static bool is_same_build(const struct pm_structure *a, const struct pm_structure *b) {
    const struct pm_module *x = &a->modules[0], *y = &b->modules[0];
    return x->build_id_bytes == y->build_id_bytes && x->build_id_bytes > 0 &&
           memcmp(x->build_id, y->build_id, x->build_id_bytes) == 0;
}

/* *NOTE: why they are of basic blocks only; NULL: they are of instructions. */
static struct pm_code_lines *find_lines(const struct pm_structure *structure, char **note) {
    struct pm_lift_options options = {.end = PM_LIFT_CFG};
    struct pm_error ignored = {0};
    const char *path = structure->modules[0].path;
    struct pm_lifted *lifted = access(path, R_OK) == 0 ? pm_lift(path, &options, &ignored) : NULL;
    struct pm_code_lines *lines = NULL;
    if (lifted && is_same_build(pm_lifted_structure(lifted), structure))
        lines = pm_code_lines_read(lifted);
    else
        *note = pm_sprintf("%s is %s, so that a basic block counts whole at its first line.", path,
                           lifted ? "of another build" : "not there");
    pm_lifted_free(lifted);
    return lines ? lines : pm_code_lines_of_blocks(structure);
}

/* ---- the source ------------------------------------------------------------------------------ */

/* Is FILE the end of PATH, from a slash on? */
static bool is_end_of(const char *path, const char *file) {
    size_t n = strlen(path), k = strlen(file);
    return k <= n && strcmp(path + n - k, file) == 0 && (k == n || path[n - k - 1] == '/');
}

/* For each file of LINES whether the one that was asked for is it; by its name alone if its path
   says no more.  NULL with a sentence: none is. */
static bool *find_files(const struct request *request, const struct pm_code_lines *lines,
                        const char **path, struct pm_error *err) {
    bool *is_it = pm_alloc(lines->n_files + 1, sizeof *is_it);
    struct pm_nearest nearest = {0};
    const char *base = pm_base_name(request->file);
    bool by_path = false;
    *path = NULL;
    for (size_t f = 0; f < lines->n_files; f++)
        by_path |= is_end_of(lines->files[f], request->file);
    for (size_t f = 0; f < lines->n_files; f++) {
        is_it[f] = is_end_of(lines->files[f], by_path ? request->file : base);
        if (is_it[f])
            *path = lines->files[f];
        pm_nearest_try(&nearest, base, pm_base_name(lines->files[f]));
    }
    if (*path)
        return is_it;
    free(is_it);
    pm_fail(err, "%s: nothing of this program was compiled from a file called %s",
            request->store_path, base);
    pm_fail_nearest(err, &nearest);
    return NULL;
}

/* The file that was named, if it is there, else where it was compiled. */
static struct pm_source *read_source(const struct request *request, const char *path,
                                     struct pm_error *err) {
    bool is_here = access(request->file, R_OK) == 0;
    return pm_source_read(is_here ? request->file : path, &request->folders, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool annotate(const struct request *request, struct pm_error *err) {
    struct pm_subject subject;
    const struct pm_question question = {.at = &request->at,
                                         .machines = request->on.machines,
                                         .n_machines = 1,
                                         .predict = request->predict,
                                         .can_interpolate = true,
                                         .interpolate = request->interpolate};
    struct pm_answer *answer = pm_subject_open(&subject, request->store_path, NULL, err)
                                   ? pm_ask_and_say(&subject, &question, err)
                                   : NULL;
    bool ok = answer != NULL;
    const struct pm_structure *structure = subject.program.structure;
    char *note = NULL;
    const char *path = NULL;
    struct pm_line_costs costs = {0};
    struct pm_code_lines *lines = ok ? find_lines(structure, &note) : NULL;
    bool *is_it = lines ? find_files(request, lines, &path, err) : NULL;
    struct pm_source *source = is_it ? read_source(request, path, err) : NULL;
    struct pm_warnings warnings = {0};
    struct pm_report_options options = request->options;
    options.warnings = &warnings;
    if (source) {
        pm_answer_warn(answer, request->on.machines, &warnings);
        pm_line_costs_make(structure, answer->profile, request->on.machines[0],
                           answer->predictions[0], lines, &costs);
        pm_report_annotation(stdout,
                             &(struct pm_annotation){.prediction = answer->predictions[0],
                                                     .file = request->file,
                                                     .is_it = is_it,
                                                     .costs = &costs,
                                                     .source = source,
                                                     .note = note},
                             &options);
    }
    ok = source != NULL;
    pm_warnings_free(&warnings);
    free(costs.rows);
    free(is_it);
    free(note);
    pm_source_free(source);
    pm_code_lines_free(lines);
    pm_answer_free(answer);
    pm_subject_close(&subject);
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
    PM_OPTION_SOURCE_DIR(AT(folders)),
    PM_OPTION_MIN_PERCENT(AT(options), "leaves out lines with less of the time (0.5)"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

/* ---- the command line ------------------------------------------------------------------------ */

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 2)
        status = pm_usage_error(pm_command_report_source.name,
                                "give one store, and a source file of its program");
    else if (status == 0 && request.on.n_machines != 1)
        status = pm_usage_error(pm_command_report_source.name, "give one machine (-m)");
    if (status == 0) {
        request.store_path = line.arguments[0];
        request.file = line.arguments[1];
        if (!annotate(&request, &err))
            status = pm_complain(&err);
    }
    free(request.folders.folders);
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_report_source = {
    .name = "report --as source",
    .purpose = "a source file with the time and misses of its lines",
    .usage = "-m MACHINE [OPTION]... STORE FILE",
    .examples =
        "pmodel report --as source heat.pmdb heat.c -m r12000 -P N=256    # the source, by line",
    .options = options,
    .run = run,
};
