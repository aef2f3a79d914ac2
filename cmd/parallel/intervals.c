/* `pmodel report --as intervals`: the kinds of intervals of a measured size, and what they take. */
#include <stdlib.h>

#include "cmd/parallel/parallel.h"
#include "cmd/progress.h"
#include "report/parallel/parallel.h"

/* What a listing of one run is made from. */
struct listing {
    const struct pm_parallel_request *request;
    const struct pm_parameters *run;
    struct pm_call_paths paths;
    char **names; /* of ends (pm_interval_end_names) */
    struct pm_intervals *intervals;
    struct pm_intervals_report *reports; /* one for each machine */
};

static double instructions_of(const struct pm_structure *structure, const double *edge_counts) {
    double *blocks = pm_block_executions(structure, edge_counts), sum = 0;
    for (size_t b = 0; b < structure->n_blocks; b++)
        sum += blocks[b] * structure->blocks[b].n_instructions;
    free(blocks);
    return sum;
}

/* Adds KIND to the report of machine M. */
static void add_kind(struct listing *l, size_t m, const struct pm_interval_kind *kind, double n,
                     const struct pm_answer *answer) {
    const struct pm_structure *structure = l->request->subject->program.structure;
    struct pm_interval_row *row = PM_PUSH(&l->reports[m], rows);
    row->kind = kind->number;
    row->begin = pm_strdup(pm_interval_begin(l->names, kind));
    row->end = pm_strdup(pm_interval_end(l->names, kind));
    row->begin_path = pm_call_path_text(structure, &l->paths, kind->begin);
    row->end_path = pm_call_path_text(structure, &l->paths, kind->end);
    l->reports[m].without_memory = pm_profile_is_without_memory(answer->profile);
    row->n = n;
    row->seconds = answer->predictions[m]->seconds;
    row->instructions = instructions_of(structure, answer->profile->edge_counts);
}

static double count_intervals(const struct pm_intervals *intervals, uint32_t kind) {
    double n = 0;
    for (size_t i = 0; i < intervals->n_rows; i++)
        if (intervals->rows[i].kind == kind)
            n += (double)intervals->rows[i].n;
    return n;
}

static bool list_kind(struct listing *l, const struct pm_interval_kind *kind,
                      struct pm_error *err) {
    struct pm_subject *subject = l->request->subject;
    struct pm_selection selection = l->request->selection;
    struct pm_question question = *l->request->question;
    double n = count_intervals(l->intervals, kind->number);
    if (!(n > 0))
        return true; /* of other runs */
    selection.kind = kind->number;
    question.at = l->run;
    question.source = PM_FROM_RUN;
    question.predict.without_doubts = true;
    struct pm_answer *answer = pm_subject_select(subject, &selection, err)
                                   ? pm_ask_and_say(subject, &question, err)
                                   : NULL;
    if (!answer)
        return false;
    pm_warn(&(struct pm_origin){subject->program.structure, NULL, answer->profile},
            l->request->warnings);
    for (size_t m = 0; m < l->request->on->n_machines; m++)
        add_kind(l, m, kind, n, answer);
    pm_answer_free(answer);
    return true;
}

static bool list_kinds(struct listing *l, struct pm_error *err) {
    struct pm_store *store = l->request->subject->store;
    struct pm_interval_kinds kinds = {0};
    bool has_histograms = false;
    l->intervals = pm_store_intervals(store, l->run, PM_NONE, false, err);
    bool ok = l->intervals ||
              (err->kind == PM_ERROR_NONE &&
               pm_fail(err, "the store has no intervals of this size: measure it with `pmodel run "
                            "--interval`"));
    ok = ok && pm_store_call_paths(store, &l->paths, err) &&
         pm_store_interval_kinds(store, &kinds, err) &&
         pm_store_has_intervals(store, l->run, true, &has_histograms, err);
    if (ok)
        l->names = pm_interval_end_names(l->request->subject->program.structure, &l->paths, &kinds);
    for (size_t k = 0; ok && k < kinds.n_kinds; k++)
        ok = list_kind(l, &kinds.kinds[k], err);
    for (size_t m = 0; ok && m < l->request->on->n_machines; m++)
        l->reports[m].has_histograms = has_histograms;
    free(kinds.kinds);
    return pm_subject_select(l->request->subject, &l->request->selection, ok ? err : NULL) && ok;
}

bool pm_print_intervals(const struct pm_parallel_request *request, struct pm_error *err) {
    size_t n = request->on->n_machines;
    struct listing l = {.request = request,
                        .run = pm_program_run(&request->subject->program, request->at, false),
                        .reports = pm_alloc(n, sizeof *l.reports)};
    bool ok = l.run ? list_kinds(&l, err)
                    : pm_fail(err, "--intervals lists those of a size that was measured; "
                                   "--interval KIND asks the models of one kind");
    for (size_t m = 0; ok && m < n; m++) {
        l.reports[m].structure = request->subject->program.structure;
        l.reports[m].at = *l.run;
        l.reports[m].machine = pm_strdup(request->on->machines[m]->name);
        l.reports[m].machine_title = pm_strdup(request->on->machines[m]->title);
        pm_intervals_report_complete(&l.reports[m]);
    }
    if (ok)
        pm_report_intervals(stdout, l.reports, n, request->options);
    for (size_t m = 0; m < n; m++)
        pm_intervals_report_free(&l.reports[m]);
    pm_intervals_free(l.intervals);
    if (l.names)
        pm_call_path_names_free(l.names, &l.paths);
    pm_call_paths_free(&l.paths);
    free(l.reports);
    return ok;
}
